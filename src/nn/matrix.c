/* SPDX-License-Identifier: Apache-2.0 */
/* Products of small matrices. Panels of 4 rows and a few vectors of columns
 * stay in registers while the inner index runs; one row alone takes wider
 * panels. The 32-wide layers of a policy are too small for a BLAS to pay:
 * bench/nn.c compares the two. */
#include "nn/matrix.h"

#include "nn/target.h"

/* Vectors that need not be aligned. */
#define MATRIX_VECTOR(name, bytes)                                             \
  typedef regal_real name __attribute__((                                      \
      vector_size(bytes), aligned(sizeof(regal_real)), may_alias))
MATRIX_VECTOR(matrix_wide, 32);
MATRIX_VECTOR(matrix_narrow, 16);
typedef regal_real matrix_single __attribute__((may_alias));

/* Rows i .. i + ROWS - 1, columns j .. j + VECTORS * lanes - 1. */
#define MATRIX_PANEL(name, type, VECTORS, ROWS)                                \
  REGAL_INLINE void name(const regal_product *x, size_t i, size_t j) {         \
    enum { LANES = sizeof(type) / sizeof(regal_real) };                        \
    type sum[ROWS][VECTORS];                                                   \
    for (int r = 0; r < ROWS; r++)                                             \
      for (int v = 0; v < VECTORS; v++) {                                      \
        const regal_real *c = x->c + (i + r) * x->c_row + j + v * LANES;       \
        if (x->bias)                                                           \
          sum[r][v] = *(const type *)(x->bias + j + v * LANES);                \
        else                                                                   \
          sum[r][v] = x->add ? *(const type *)c : (type){0};                   \
      }                                                                        \
    const regal_real *a = x->a + i * x->a_row, *b = x->b + j;                  \
    size_t k = x->k, a_row = x->a_row, a_column = x->a_column;                 \
    size_t b_row = x->b_row;                                                   \
    for (size_t p = 0; p < k; p++, a += a_column, b += b_row)                  \
      for (int r = 0; r < ROWS; r++) {                                         \
        regal_real factor = a[r * a_row];                                      \
        for (int v = 0; v < VECTORS; v++)                                      \
          sum[r][v] = sum[r][v] + factor * *(const type *)(b + v * LANES);     \
      }                                                                        \
    for (int r = 0; r < ROWS; r++)                                             \
      for (int v = 0; v < VECTORS; v++)                                        \
        *(type *)(x->c + (i + r) * x->c_row + j + v * LANES) = sum[r][v];      \
  }

MATRIX_PANEL(matrix_panel_4x2, matrix_wide, 2, 4)
MATRIX_PANEL(matrix_panel_1x2, matrix_wide, 2, 1)
MATRIX_PANEL(matrix_panel_1x4, matrix_wide, 4, 1)
MATRIX_PANEL(matrix_panel_4x1, matrix_wide, 1, 4)
MATRIX_PANEL(matrix_panel_1x1, matrix_wide, 1, 1)
MATRIX_PANEL(matrix_narrow_4x1, matrix_narrow, 1, 4)
MATRIX_PANEL(matrix_narrow_1x1, matrix_narrow, 1, 1)
MATRIX_PANEL(matrix_single_4x1, matrix_single, 1, 4)
MATRIX_PANEL(matrix_single_1x1, matrix_single, 1, 1)

enum {
  MATRIX_WIDE = sizeof(matrix_wide) / sizeof(regal_real),
  MATRIX_NARROW = sizeof(matrix_narrow) / sizeof(regal_real)
};

REGAL_INLINE void matrix_four_rows(const regal_product *x, size_t i) {
  size_t j = 0;
  for (; j + 2 * MATRIX_WIDE <= x->n; j += 2 * MATRIX_WIDE)
    matrix_panel_4x2(x, i, j);
  if (j + MATRIX_WIDE <= x->n) {
    matrix_panel_4x1(x, i, j);
    j += MATRIX_WIDE;
  }
  for (; j + MATRIX_NARROW <= x->n; j += MATRIX_NARROW)
    matrix_narrow_4x1(x, i, j);
  for (; j < x->n; j++)
    matrix_single_4x1(x, i, j);
}

REGAL_INLINE void matrix_one_row(const regal_product *x, size_t i) {
  size_t j = 0;
  for (; j + 4 * MATRIX_WIDE <= x->n; j += 4 * MATRIX_WIDE)
    matrix_panel_1x4(x, i, j);
  if (j + 2 * MATRIX_WIDE <= x->n) {
    matrix_panel_1x2(x, i, j);
    j += 2 * MATRIX_WIDE;
  }
  if (j + MATRIX_WIDE <= x->n) {
    matrix_panel_1x1(x, i, j);
    j += MATRIX_WIDE;
  }
  for (; j + MATRIX_NARROW <= x->n; j += MATRIX_NARROW)
    matrix_narrow_1x1(x, i, j);
  for (; j < x->n; j++)
    matrix_single_1x1(x, i, j);
}

/* Slices of the inner index, so that what a panel reads of b stays in the
 * cache; sums rest in c between them, which changes no bit. */
#define MATRIX_SLICE 64

REGAL_INLINE void multiply_body(const regal_product *product) {
  regal_product x = *product;
  size_t left = x.k;
  do {
    x.k = left < MATRIX_SLICE ? left : MATRIX_SLICE;
    size_t i = 0;
    for (; i + 4 <= x.m; i += 4)
      matrix_four_rows(&x, i);
    for (; i < x.m; i++)
      matrix_one_row(&x, i);
    left -= x.k;
    x.a += x.k * x.a_column;
    x.b += x.k * x.b_row;
    x.bias = NULL;
    x.add = true;
  } while (left);
}
REGAL_KERNEL(regal_multiply, multiply, (const regal_product *product),
             (product))

void regal_transpose(size_t rows, size_t columns, const regal_real *from,
                     regal_real *to) {
  for (size_t i = 0; i < rows; i++)
    for (size_t j = 0; j < columns; j++)
      to[j * rows + i] = from[i * columns + j];
}

REGAL_INLINE void add_rows_body(size_t rows, size_t columns,
                                const regal_real *from, size_t from_row,
                                regal_real *sums) {
  for (size_t i = 0; i < rows; i++)
    for (size_t j = 0; j < columns; j++)
      sums[j] += from[i * from_row + j];
}
REGAL_KERNEL(regal_add_rows, add_rows,
             (size_t rows, size_t columns, const regal_real *from,
              size_t from_row, regal_real *sums),
             (rows, columns, from, from_row, sums))
