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
/* Adds to the gradient of W and b. dx[rows][in] may be NULL; it is set, or
 * added to if `add`. transposed has room for in * out numbers. */
void regal_dense_backward(const regal_dense *layer,
                          const regal_real *parameters, size_t rows,
                          const regal_real *x, const regal_real *dy,
                          regal_real *gradient, regal_real *dx, bool add,
                          regal_real *transposed);

/* The parts of regal_dense_backward for a weight matrix [in][out] on its own:
 * dw += x^T dy, dx (+)= dy w^T. Rows of dy are dy_row apart. */
void regal_weight_backward(size_t rows, size_t in, size_t out,
                           const regal_real *x, const regal_real *dy,
                           size_t dy_row, regal_real *dw);
void regal_input_backward(size_t rows, size_t in, size_t out,
                          const regal_real *dy, size_t dy_row,
                          const regal_real *w, regal_real *dx, bool add,
                          regal_real *transposed);

/* y = relu(x W + b) V + c: the paper's MLP of two layers. */
typedef struct regal_mlp {
  regal_dense first, second;
} regal_mlp;

/* hidden[rows][first.out] is kept for backward. */
void regal_mlp_forward(const regal_mlp *mlp, const regal_real *parameters,
                       size_t rows, const regal_real *x, regal_real *hidden,
                       regal_real *y);
/* d_hidden[rows][first.out] is scratch. */
void regal_mlp_backward(const regal_mlp *mlp, const regal_real *parameters,
                        size_t rows, const regal_real *x,
                        const regal_real *hidden, const regal_real *dy,
                        regal_real *gradient, regal_real *d_hidden,
                        regal_real *dx, bool add, regal_real *transposed);

#endif
