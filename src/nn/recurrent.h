/* SPDX-License-Identifier: Apache-2.0 */
/* Gated cells, forward and backward in pairs: what happens after the products
 * with the weights, item by item.
 *
 *   GRU (gates r, z, n):     r = sigmoid(ir + hr)   z = sigmoid(iz + hz)
 *                            n = tanh(in + r hn)    h' = (1 - z) n + z h
 *   LSTM (gates i, f, g, o): c' = f c + i g         h' = o tanh(c')
 */
#ifndef REGAL_NN_RECURRENT_H
#define REGAL_NN_RECURRENT_H

#include <stddef.h>

#include "nn/real.h"

/* input[rows][3 width] = x Wx + bx, of which the gates take the place, and
 * state[rows][3 width] = h Wh + bh, of which hn is needed by backward. */
void regal_gru_forward(size_t rows, size_t width, regal_real *input,
                       const regal_real *state, const regal_real *h,
                       regal_real *next);
/* d_input and d_state are set, dh is set to the part that comes straight from
 * h; that through d_state is the caller's to add. */
void regal_gru_backward(size_t rows, size_t width, const regal_real *gates,
                        const regal_real *state, const regal_real *h,
                        const regal_real *d_next, regal_real *d_input,
                        regal_real *d_state, regal_real *dh);

/* One step of one sequence. gates[4 width] hold their sums and get their
 * values; c is the cell before the step (NULL: zero), next_c after it. */
void regal_lstm_forward(size_t width, regal_real *gates, const regal_real *c,
                        regal_real *next_c, regal_real *h);
/* dh is the whole gradient of h; dc is that of next_c on entry and that of c
 * on return. */
void regal_lstm_backward(size_t width, const regal_real *gates,
                         const regal_real *c, const regal_real *next_c,
                         const regal_real *dh, regal_real *dc,
                         regal_real *d_gates);

#endif
