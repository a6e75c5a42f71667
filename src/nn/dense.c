/* SPDX-License-Identifier: Apache-2.0 */
/* Dense layers and perceptrons of two of them, forward and backward.
 *
 * With y = x W + b the gradients are dW += x^T dy, db += the sum of the rows of
 * dy, and dx = dy W^T. The transposed W is written out first: the kernel of
 * nn/matrix.c reads the rows of its second factor. */
#include "nn/dense.h"

#include "nn/matrix.h"
#include "nn/target.h"

/* -- ReLU ------------------------------------------------------------------ */

REGAL_INLINE void relu_forward_body(size_t count, regal_real *y) {
  for (size_t i = 0; i < count; i++)
    y[i] = y[i] > 0 ? y[i] : 0;
}
REGAL_KERNEL(regal_relu_forward, relu_forward, (size_t count, regal_real *y),
             (count, y))

REGAL_INLINE void relu_backward_body(size_t count, const regal_real *y,
                                     regal_real *dy) {
  for (size_t i = 0; i < count; i++)
    dy[i] = y[i] > 0 ? dy[i] : 0;
}
REGAL_KERNEL(regal_relu_backward, relu_backward,
             (size_t count, const regal_real *y, regal_real *dy),
             (count, y, dy))

/* -- Dense layers ---------------------------------------------------------- */

void regal_dense_forward(const regal_dense *layer, const regal_real *parameters,
                         size_t rows, const regal_real *x, regal_real *y) {
  regal_multiply_rows(rows, layer->in, layer->out, x,
                      parameters + layer->weight, parameters + layer->bias,
                      false, y, layer->out);
}

void regal_weight_backward(size_t weight, size_t in, size_t out,
                           const regal_backprop *back, size_t rows,
                           const regal_real *x, const regal_real *dy,
                           size_t dy_row, regal_real *dx, bool add) {
  regal_multiply(&(regal_product){.m = in,
                                  .n = out,
                                  .k = rows,
                                  .a = x,
                                  .a_row = 1,
                                  .a_column = in,
                                  .b = dy,
                                  .b_row = dy_row,
                                  .c = back->gradient + weight,
                                  .c_row = out,
                                  .add = true});
  if (!dx)
    return;
  regal_transpose(in, out, back->parameters + weight, back->transposed);
  regal_multiply(&(regal_product){.m = rows,
                                  .n = in,
                                  .k = out,
                                  .a = dy,
                                  .a_row = dy_row,
                                  .a_column = 1,
                                  .b = back->transposed,
                                  .b_row = in,
                                  .c = dx,
                                  .c_row = in,
                                  .add = add});
}

void regal_dense_backward(const regal_dense *layer, const regal_backprop *back,
                          size_t rows, const regal_real *x,
                          const regal_real *dy, regal_real *dx, bool add) {
  regal_weight_backward(layer->weight, layer->in, layer->out, back, rows, x, dy,
                        layer->out, dx, add);
  regal_add_rows(rows, layer->out, dy, layer->out,
                 back->gradient + layer->bias);
}

/* -- Perceptrons ----------------------------------------------------------- */

void regal_mlp_forward(const regal_mlp *mlp, const regal_real *parameters,
                       size_t rows, const regal_real *x, regal_real *hidden,
                       regal_real *y) {
  regal_dense_forward(&mlp->first, parameters, rows, x, hidden);
  regal_relu_forward(rows * mlp->first.out, hidden);
  regal_dense_forward(&mlp->second, parameters, rows, hidden, y);
}

void regal_mlp_backward(const regal_mlp *mlp, const regal_backprop *back,
                        size_t rows, const regal_real *x,
                        const regal_real *hidden, const regal_real *dy,
                        regal_real *dx, bool add) {
  regal_dense_backward(&mlp->second, back, rows, hidden, dy, back->d_hidden,
                       false);
  regal_relu_backward(rows * mlp->first.out, hidden, back->d_hidden);
  regal_dense_backward(&mlp->first, back, rows, x, back->d_hidden, dx, add);
}
