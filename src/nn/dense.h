/* SPDX-License-Identifier: Apache-2.0 */
/* Dense layers y = x W + b, perceptrons of two of them, and ReLU; forward and
 * backward in pairs.
 *
 * A layer is its shape and the places of its weights in a block of parameters;
 * gradients are at the same places in a block of the same size. Matrices are
 * row-major, a row for each item.
 */
#ifndef REGAL_NN_DENSE_H
#define REGAL_NN_DENSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nn/real.h"

/* y = max(y, 0) */
void regal_relu_forward(size_t count, regal_real *y);
/* dy = 0 where y, the output, is 0 */
void regal_relu_backward(size_t count, const regal_real *y, regal_real *dy);

typedef struct regal_dense {
  uint32_t in, out;
  size_t weight; /* [in][out] */
  size_t bias;   /* [out] */
} regal_dense;

/* y[rows][out] */
void regal_dense_forward(const regal_dense *layer, const regal_real *parameters,
                         size_t rows, const regal_real *x, regal_real *y);

/* What backward needs besides what forward has kept. */
typedef struct regal_backprop {
  const regal_real *parameters;
  regal_real *gradient;   /* is added to */
  regal_real *transposed; /* scratch: in * out of the largest layer */
  regal_real *d_hidden;   /* scratch: the hidden rows of a perceptron */
} regal_backprop;

/* Adds to the gradient of W and b. dx[rows][in] may be NULL; it is set, or
 * added to if `add`. */
void regal_dense_backward(const regal_dense *layer, const regal_backprop *back,
                          size_t rows, const regal_real *x,
                          const regal_real *dy, regal_real *dx, bool add);
/* The same for a weight matrix [in][out] at a place in the parameters. Rows of
 * dy are dy_row apart. */
void regal_weight_backward(size_t weight, size_t in, size_t out,
                           const regal_backprop *back, size_t rows,
                           const regal_real *x, const regal_real *dy,
                           size_t dy_row, regal_real *dx, bool add);

/* y = relu(x W + b) V + c: the paper's MLP of two layers. */
typedef struct regal_mlp {
  regal_dense first, second;
} regal_mlp;

/* hidden[rows][first.out] is kept for backward. */
void regal_mlp_forward(const regal_mlp *mlp, const regal_real *parameters,
                       size_t rows, const regal_real *x, regal_real *hidden,
                       regal_real *y);
void regal_mlp_backward(const regal_mlp *mlp, const regal_backprop *back,
                        size_t rows, const regal_real *x,
                        const regal_real *hidden, const regal_real *dy,
                        regal_real *dx, bool add);

#endif
