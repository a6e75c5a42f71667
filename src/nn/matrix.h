/* SPDX-License-Identifier: Apache-2.0 */
/* Products of small matrices, row-major.
 *
 * Every element of a product is one chain of additions in the order of the
 * inner index, whatever the number of rows: rows can be cut into batches
 * without changing a bit.
 */
#ifndef REGAL_NN_MATRIX_H
#define REGAL_NN_MATRIX_H

#include <stdbool.h>
#include <stddef.h>

#include "nn/real.h"

/* c[m][n] = start + a[m][k] b[k][n]. Element (i, p) of a is
 * a[i * a_row + p * a_column], so a may be read transposed; rows of b and c are
 * b_row and c_row apart. start is the vector bias[n] in every row if there is
 * one, else c itself if `add`, else zero. */
typedef struct regal_product {
  size_t m, n, k;
  const regal_real *a;
  size_t a_row, a_column;
  const regal_real *b;
  size_t b_row;
  regal_real *c;
  size_t c_row;
  const regal_real *bias; /* or NULL */
  bool add;
} regal_product;

void regal_multiply(const regal_product *product);

/* c[rows][n] (c_row apart) = a[rows][k] b[k][n]; + bias, or + c if `add`. */
static inline void regal_multiply_rows(size_t rows, size_t k, size_t n,
                                       const regal_real *a, const regal_real *b,
                                       const regal_real *bias, bool add,
                                       regal_real *c, size_t c_row) {
  regal_multiply(&(regal_product){.m = rows,
                                  .n = n,
                                  .k = k,
                                  .a = a,
                                  .a_row = k,
                                  .a_column = 1,
                                  .b = b,
                                  .b_row = n,
                                  .c = c,
                                  .c_row = c_row,
                                  .bias = bias,
                                  .add = add});
}

/* to[columns][rows] = from[rows][columns] transposed. */
void regal_transpose(size_t rows, size_t columns, const regal_real *from,
                     regal_real *to);
/* sums[columns] += the sum of all rows, in order. */
void regal_add_rows(size_t rows, size_t columns, const regal_real *from,
                    size_t from_row, regal_real *sums);

#endif
