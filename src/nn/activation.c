/* SPDX-License-Identifier: Apache-2.0 */
/* Elementwise functions, forward and backward. */
#include "nn/activation.h"

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
