/* SPDX-License-Identifier: Apache-2.0 */
/* Sorting items by key: three stable passes of a radix sort over 24-bit genes.
 *
 * An item is packed as (inverted gene << 32 | item), so that ascending order is
 * descending priority, and equal genes stay in the order of their items.
 */
#ifndef REGAL_DECODE_RANK_H
#define REGAL_DECODE_RANK_H

#include "cost/model/running_cost.h"
#include "decode/decoder.h"

#define REGAL_RANKING_FEW 384

typedef struct regal_ranking {
  uint64_t *packed, *spare;   /* [items] */
  uint32_t histogram[3][256]; /* of the keys' first, last, middle byte */
  uint16_t few[256];          /* of the first byte, for few items */
} regal_ranking;

static inline void regal_ranking_layout(regal_ranking *ranking,
                                        regal_carver *carver, size_t items) {
  ranking->packed = regal_carve(carver, items, 8);
  ranking->spare = regal_carve(carver, items, 8);
}

/* `few`: there will be at most REGAL_RANKING_FEW items. */
REGAL_INLINE void regal_ranking_begin(regal_ranking *ranking, bool few) {
  if (few)
    memset(ranking->few, 0, sizeof ranking->few);
  else
    memset(ranking->histogram, 0, sizeof ranking->histogram);
}

/* Adds the next item. With `wanted` = 0 it is written but not counted, and the
 * next one takes its place: no branch. */
REGAL_INLINE void regal_ranking_add_if(regal_ranking *ranking, uint32_t item,
                                       regal_gene gene, uint32_t wanted,
                                       bool few) {
  uint32_t key = REGAL_GENE_LARGEST - gene;
  ranking->packed[item] = (uint64_t)key << 32 | item;
  if (few) {
    ranking->few[key >> 16] += (uint16_t)wanted;
    return;
  }
  ranking->histogram[0][key >> 16] += wanted;
  ranking->histogram[1][key & 255] += wanted;
  ranking->histogram[2][key >> 8 & 255] += wanted;
}

REGAL_INLINE void regal_ranking_scatter(const uint64_t *from, uint64_t *to,
                                        uint32_t items, uint32_t *bucket,
                                        int shift) {
  for (uint32_t i = 0; i < items; i++) {
    uint64_t value = from[i];
    to[bucket[value >> shift & 255]++] = value;
  }
}

/* Counts become the sums of all before them, four at a time: a multiplication
 * adds up the 16-bit lanes of a word. */
static inline void regal_ranking_sum_few(uint16_t count[256]) {
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  const uint64_t ones = UINT64_C(0x0001000100010001);
  uint64_t sum = 0;
  for (int b = 0; b < 256; b += 4) {
    uint64_t word;
    memcpy(&word, count + b, sizeof word);
    uint64_t sums = word * ones; /* lane k: counts 0 .. k */
    word = (sums << 16) + sum * ones;
    memcpy(count + b, &word, sizeof word);
    sum += sums >> 48;
  }
#else
  uint16_t sum = 0;
  for (int b = 0; b < 256; b++) {
    uint16_t before = sum;
    sum = (uint16_t)(sum + count[b]);
    count[b] = before;
  }
#endif
}

/* For few items: one pass by the first byte leaves them nearly in order. */
static inline const uint64_t *regal_ranking_sort_few(regal_ranking *ranking,
                                                     uint32_t items) {
  uint64_t *sorted = ranking->spare;
  regal_ranking_sum_few(ranking->few);
  for (uint32_t i = 0; i < items; i++) {
    uint64_t value = ranking->packed[i];
    sorted[ranking->few[value >> 48]++] = value;
  }
  for (uint32_t i = 1; i < items; i++) {
    uint64_t value = sorted[i];
    uint32_t at = i;
    for (; at > 0 && sorted[at - 1] > value; at--)
      sorted[at] = sorted[at - 1];
    sorted[at] = value;
  }
  return sorted;
}

/* Sorts; afterwards the low half of result[rank] is the item. The result lies
 * in one of the two buffers. */
REGAL_INLINE const uint64_t *regal_ranking_sort(regal_ranking *ranking,
                                                uint32_t items, bool few) {
  uint32_t(*bucket)[256] = ranking->histogram, sum[3] = {0, 0, 0};
  if (few)
    return regal_ranking_sort_few(ranking, items);
  for (int b = 0; b < 256; b++)
    for (int pass = 0; pass < 3; pass++) {
      uint32_t count = bucket[pass][b];
      bucket[pass][b] = sum[pass];
      sum[pass] += count;
    }
  regal_ranking_scatter(ranking->packed, ranking->spare, items, bucket[1], 32);
  regal_ranking_scatter(ranking->spare, ranking->packed, items, bucket[2], 40);
  regal_ranking_scatter(ranking->packed, ranking->spare, items, bucket[0], 48);
  return ranking->spare;
}

/* Sorts, and writes down who has which rank and which rank each item has. */
REGAL_INLINE void regal_ranking_number(regal_ranking *ranking, uint32_t items,
                                       bool few, uint32_t *by_rank,
                                       uint32_t *rank) {
  const uint64_t *sorted = regal_ranking_sort(ranking, items, few);
  for (uint32_t r = 0; r < items; r++) {
    by_rank[r] = (uint32_t)sorted[r];
    rank[by_rank[r]] = r;
  }
}

#endif
