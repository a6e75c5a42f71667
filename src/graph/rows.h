/* SPDX-License-Identifier: Apache-2.0 */
/* Compressed sparse rows: row i is item[begin[i]] .. item[begin[i+1] - 1].
 *
 * Rows are filled by counting: begin[i] first holds row i's count, then (after
 * regal_rows_sum) its end, and placing items from the last to the first moves
 * it down to the row's begin. That needs no cursors and keeps the order.
 */
#ifndef REGAL_GRAPH_ROWS_H
#define REGAL_GRAPH_ROWS_H

#include <stdint.h>

/* The head of a loop over a row: for (REGAL_ROW(i, begin, row)). */
#define REGAL_ROW(i, begin, row)                                               \
  uint32_t i = (begin)[row];                                                   \
  i < (begin)[(row) + 1];                                                      \
  i++

/* Turns counts into ends; begin[rows] becomes the number of items. */
static inline void regal_rows_sum(uint32_t *begin, uint32_t rows) {
  uint32_t sum = 0;
  for (uint32_t row = 0; row < rows; row++)
    begin[row] = sum += begin[row];
  begin[rows] = sum;
}

/* Rows of the other side: to_item lists, ascending, the rows of `from` in which
 * an item occurs. `to_begin` must be zero. O(rows + items). */
static inline void regal_rows_transpose(uint32_t from_rows,
                                        const uint32_t *from_begin,
                                        const uint32_t *from_item,
                                        uint32_t to_rows, uint32_t *to_begin,
                                        uint32_t *to_item) {
  for (uint32_t i = 0; i < from_begin[from_rows]; i++)
    to_begin[from_item[i]]++;
  regal_rows_sum(to_begin, to_rows);
  for (uint32_t row = from_rows; row-- > 0;)
    for (uint32_t i = from_begin[row + 1]; i-- > from_begin[row];)
      to_item[--to_begin[from_item[i]]] = row;
}

/* Keeps the first of equal items in each row, in place. `seen` has a zero for
 * each possible item. */
static inline void regal_rows_unique(uint32_t rows, uint32_t *begin,
                                     uint32_t *item, uint32_t *seen) {
  uint32_t kept = 0, i = 0;
  for (uint32_t row = 0; row < rows; row++) {
    uint32_t end = begin[row + 1];
    begin[row] = kept;
    for (; i < end; i++) {
      if (seen[item[i]] == row + 1)
        continue;
      seen[item[i]] = row + 1;
      item[kept++] = item[i];
    }
  }
  begin[rows] = kept;
}

#endif
