/* SPDX-License-Identifier: Apache-2.0 */
/* Gated cells, forward and backward: the GRU (Cho et al. 2014) of the node
 * update and the LSTM (Hochreiter and Schmidhuber 1997) over the nodes.
 * Backward uses the gates' values that forward left in place of their sums. */
#include "nn/recurrent.h"

#include "nn/activation.h"

REGAL_INLINE void gru_forward_body(size_t rows, size_t width,
                                   regal_real *restrict input,
                                   const regal_real *restrict state,
                                   const regal_real *restrict h,
                                   regal_real *restrict next) {
  for (size_t i = 0; i < rows; i++) {
    regal_real *restrict r = input + 3 * width * i, *z = r + width;
    regal_real *restrict n = z + width;
    const regal_real *restrict hr = state + 3 * width * i;
    const regal_real *hn = hr + 2 * width;
    for (size_t j = 0; j < 2 * width; j++)
      r[j] = regal_sigmoid(r[j] + hr[j]);
    for (size_t j = 0; j < width; j++)
      n[j] = regal_tanh(n[j] + r[j] * hn[j]);
    for (size_t j = 0; j < width; j++)
      next[width * i + j] = (1 - z[j]) * n[j] + z[j] * h[width * i + j];
  }
}
REGAL_KERNEL(regal_gru_forward, gru_forward,
             (size_t rows, size_t width, regal_real *input,
              const regal_real *state, const regal_real *h, regal_real *next),
             (rows, width, input, state, h, next))

REGAL_INLINE void gru_backward_body(
    size_t rows, size_t width, const regal_real *restrict gates,
    const regal_real *restrict state, const regal_real *restrict h,
    const regal_real *restrict d_next, regal_real *restrict d_input,
    regal_real *restrict d_state, regal_real *restrict dh) {
  for (size_t i = 0; i < rows; i++) {
    const regal_real *r = gates + 3 * width * i, *z = r + width, *n = z + width;
    const regal_real *hn = state + 3 * width * i + 2 * width;
    for (size_t j = 0; j < width; j++) {
      size_t at = 3 * width * i + j;
      regal_real d = d_next[width * i + j];
      regal_real dn = d * (1 - z[j]) * (1 - n[j] * n[j]);
      regal_real dz = d * (h[width * i + j] - n[j]) * z[j] * (1 - z[j]);
      regal_real dr = dn * hn[j] * r[j] * (1 - r[j]);
      d_input[at] = d_state[at] = dr;
      d_input[at + width] = d_state[at + width] = dz;
      d_input[at + 2 * width] = dn;
      d_state[at + 2 * width] = dn * r[j];
      dh[width * i + j] = d * z[j];
    }
  }
}
REGAL_KERNEL(regal_gru_backward, gru_backward,
             (size_t rows, size_t width, const regal_real *gates,
              const regal_real *state, const regal_real *h,
              const regal_real *d_next, regal_real *d_input,
              regal_real *d_state, regal_real *dh),
             (rows, width, gates, state, h, d_next, d_input, d_state, dh))

REGAL_INLINE void lstm_forward_body(size_t width, regal_real *restrict gates,
                                    const regal_real *c,
                                    regal_real *restrict next_c,
                                    regal_real *restrict h) {
  regal_real *i = gates, *f = i + width, *g = f + width, *o = g + width;
  for (size_t j = 0; j < 2 * width; j++)
    gates[j] = regal_sigmoid(gates[j]);
  for (size_t j = 0; j < width; j++)
    g[j] = regal_tanh(g[j]);
  for (size_t j = 0; j < width; j++)
    o[j] = regal_sigmoid(o[j]);
  for (size_t j = 0; j < width; j++)
    next_c[j] = (c ? f[j] * c[j] : 0) + i[j] * g[j];
  for (size_t j = 0; j < width; j++)
    h[j] = o[j] * regal_tanh(next_c[j]);
}
REGAL_KERNEL(regal_lstm_forward, lstm_forward,
             (size_t width, regal_real *gates, const regal_real *c,
              regal_real *next_c, regal_real *h),
             (width, gates, c, next_c, h))

REGAL_INLINE void
lstm_backward_body(size_t width, const regal_real *restrict gates,
                   const regal_real *c, const regal_real *restrict next_c,
                   const regal_real *restrict dh, regal_real *restrict dc,
                   regal_real *restrict d_gates) {
  const regal_real *i = gates, *f = i + width, *g = f + width, *o = g + width;
  for (size_t j = 0; j < width; j++) {
    regal_real t = regal_tanh(next_c[j]);
    regal_real d = dc[j] + dh[j] * o[j] * (1 - t * t);
    regal_real before = c ? c[j] : 0;
    d_gates[j] = d * g[j] * i[j] * (1 - i[j]);
    d_gates[width + j] = d * before * f[j] * (1 - f[j]);
    d_gates[2 * width + j] = d * i[j] * (1 - g[j] * g[j]);
    d_gates[3 * width + j] = dh[j] * t * o[j] * (1 - o[j]);
    dc[j] = d * f[j];
  }
}
REGAL_KERNEL(regal_lstm_backward, lstm_backward,
             (size_t width, const regal_real *gates, const regal_real *c,
              const regal_real *next_c, const regal_real *dh, regal_real *dc,
              regal_real *d_gates),
             (width, gates, c, next_c, dh, dc, d_gates))
