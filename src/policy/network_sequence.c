/* SPDX-License-Identifier: Apache-2.0 */
/* The LSTM over the nodes in topological order. */
#include <string.h>

#include "nn/matrix.h"
#include "nn/recurrent.h"
#include "policy/network_parts.h"

void regal_sequence_begin(const regal_sequence_plan *plan, uint32_t width,
                          const regal_real *parameters, size_t v,
                          const regal_sequence_state *state) {
  size_t w = width;
  regal_real *gates = state->gates + v * 4 * w;
  memcpy(gates, state->input + v * 4 * w, 4 * w * sizeof *gates);
  if (v)
    regal_multiply(&(regal_product){.m = 1,
                                    .n = 4 * w,
                                    .k = w,
                                    .a = state->out + (v - 1) * w,
                                    .a_row = w,
                                    .a_column = 1,
                                    .b = parameters + plan->recurrent,
                                    .b_row = 4 * w,
                                    .c = gates,
                                    .c_row = 4 * w,
                                    .add = true});
}

void regal_sequence_finish(uint32_t width, size_t v,
                           const regal_sequence_state *state) {
  size_t w = width;
  regal_lstm_forward(w, state->gates + v * 4 * w,
                     v ? state->cell + (v - 1) * w : NULL, state->cell + v * w,
                     state->out + v * w);
}

void regal_sequence_backward(const regal_sequence_plan *plan, uint32_t width,
                             const regal_real *parameters, size_t nodes,
                             const regal_sequence_state *state,
                             regal_real *d_out, regal_real *d_gates,
                             regal_network_scratch *scratch,
                             regal_real *gradient) {
  size_t w = width;
  regal_real *d_cell = scratch->small;
  memset(d_cell, 0, w * sizeof *d_cell);
  regal_transpose(w, 4 * w, parameters + plan->recurrent, scratch->recurrent);
  for (size_t v = nodes; v-- > 0;) {
    regal_real *d = d_gates + v * 4 * w;
    regal_lstm_backward(w, state->gates + v * 4 * w,
                        v ? state->cell + (v - 1) * w : NULL,
                        state->cell + v * w, d_out + v * w, d_cell, d);
    if (v)
      regal_multiply(&(regal_product){.m = 1,
                                      .n = w,
                                      .k = 4 * w,
                                      .a = d,
                                      .a_row = 4 * w,
                                      .a_column = 1,
                                      .b = scratch->recurrent,
                                      .b_row = w,
                                      .c = d_out + (v - 1) * w,
                                      .c_row = w,
                                      .add = true});
  }
  if (nodes)
    regal_weight_backward(nodes - 1, w, 4 * w, state->out, d_gates + 4 * w,
                          4 * w, gradient + plan->recurrent);
}
