/* SPDX-License-Identifier: Apache-2.0 */
/* The ready set: items by rank, smallest first.
 *
 * Ranks are known before the decoding starts (the items are sorted by key), so
 * the set is a bitmap with summaries above it: pushing sets a bit on each level
 * and popping follows the lowest ones down. A heap would mispredict at each
 * comparison of keys. The topmost level is a single word, in a register.
 */
#ifndef REGAL_DECODE_READY_H
#define REGAL_DECODE_READY_H

#include <string.h>

#include "base/carve.h"
#include "cost/model/running_cost.h"

#define REGAL_READY_LEVELS 6 /* 64^6 items: more than there can be */

typedef struct regal_ready {
  uint64_t top;
  uint64_t *level[REGAL_READY_LEVELS - 1]; /* level[0]: a bit per item */
} regal_ready;

/* Levels that `items` items need; 2, 3 or all, as the code is made for these.
 */
static inline int regal_ready_levels(size_t items) {
  return items <= 64 * 64 ? 2 : items <= 64 * 64 * 64 ? 3 : REGAL_READY_LEVELS;
}

static inline size_t regal_ready_words(size_t bits) {
  return bits / 64 + 1;
}

static inline void regal_ready_layout(regal_ready *ready, regal_carver *carver,
                                      size_t items) {
  for (int l = 0; l < REGAL_READY_LEVELS - 1; l++) {
    items = regal_ready_words(items);
    ready->level[l] = regal_carve(carver, items, 8);
  }
}

/* How a decoder walks through the set. Rank `items`, beyond all others, is a
 * sentinel that is always in it, so that it never is empty. The lowest rank is
 * looked up before the present item's successors are told; the next item is
 * that or the lowest of those who have just become ready. So the look-up runs
 * beside the telling instead of after it: the chain from one item to the next
 * is what limits the speed of decoding. When all is done only the sentinel is
 * left, and is removed: the block is clean for the next chromosome. */

/* Adds the rank if `wanted` is 1; nothing if it is 0, without a branch. */
REGAL_INLINE void regal_ready_push_if(regal_ready *ready, uint32_t rank,
                                      uint64_t wanted, int levels) {
  for (int l = 0; l < levels - 1; l++)
    ready->level[l][(uint64_t)rank >> (6 * l + 6)] |=
        wanted << ((uint64_t)rank >> (6 * l) & 63);
  ready->top |= wanted << ((uint64_t)rank >> (6 * levels - 6));
}

REGAL_INLINE void regal_ready_push(regal_ready *ready, uint32_t rank,
                                   int levels) {
  regal_ready_push_if(ready, rank, 1, levels);
}

/* The lowest rank; the set must not be empty. */
REGAL_INLINE uint32_t regal_ready_lowest(const regal_ready *ready, int levels) {
  uint32_t at = (uint32_t)__builtin_ctzll(ready->top);
  for (int l = levels - 2; l >= 0; l--)
    at = at << 6 | (uint32_t)__builtin_ctzll(ready->level[l][at]);
  return at;
}

REGAL_INLINE void regal_ready_remove(regal_ready *ready, uint32_t rank,
                                     int levels) {
  uint64_t rest = 0;
  for (int l = 0; l < levels - 1 && !rest; l++) {
    uint64_t *word = &ready->level[l][(uint64_t)rank >> (6 * l + 6)];
    rest = *word & ~(UINT64_C(1) << ((uint64_t)rank >> (6 * l) & 63));
    *word = rest;
  }
  ready->top &= ~((uint64_t)!rest << ((uint64_t)rank >> (6 * levels - 6)));
}

#endif
