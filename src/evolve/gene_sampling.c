/* SPDX-License-Identifier: Apache-2.0 */
/* The inner loops of BRKGA besides decoding: drawing genes and crossover.
 *
 * Number k of a stream serves two uniform genes (24 of 32 bits each), four Beta
 * genes (10 of 16 bits choose a quantile), or four crossover decisions.
 */
#include "evolve/proposal.h"

void regal_sample_uniform(uint64_t key, uint64_t first, regal_gene *genes,
                          size_t count) {
  size_t i = 0;
  uint64_t number = first;
  for (; i + 2 <= count; i += 2) {
    uint64_t bits = regal_random_at(key, number++);
    genes[i] = (uint32_t)bits >> 8;
    genes[i + 1] = (uint32_t)(bits >> 40);
  }
  if (i < count)
    genes[i] = (uint32_t)regal_random_at(key, number) >> 8;
}

void regal_sample_tables(uint64_t key, uint64_t first, const regal_gene *tables,
                         const uint32_t *table_of, regal_gene *genes,
                         size_t count) {
  const uint64_t quantile = REGAL_BETA_QUANTILES - 1;
  size_t i = 0;
  uint64_t number = first;
  for (; i + 4 <= count; i += 4) {
    uint64_t bits = regal_random_at(key, number++);
    genes[i] = tables[table_of[i] + (bits & quantile)];
    genes[i + 1] = tables[table_of[i + 1] + (bits >> 16 & quantile)];
    genes[i + 2] = tables[table_of[i + 2] + (bits >> 32 & quantile)];
    genes[i + 3] = tables[table_of[i + 3] + (bits >> 48 & quantile)];
  }
  uint64_t bits = regal_random_at(key, number);
  for (; i < count; i++, bits >>= 16)
    genes[i] = tables[table_of[i] + (bits & quantile)];
}

/* All ones when the low 16 bits are below `bias`, else 0. */
static inline regal_gene take_elite(uint64_t bits, uint32_t bias) {
  return -(regal_gene)((uint32_t)(bits & 0xffff) < bias);
}

static inline regal_gene mix_genes(regal_gene elite, regal_gene other,
                                   regal_gene mask) {
  return other ^ ((elite ^ other) & mask);
}

void regal_crossover(uint64_t key, uint32_t bias, const regal_gene *elite,
                     const regal_gene *other, regal_gene *restrict child,
                     size_t count) {
  size_t i = 0;
  uint64_t number = 0;
  for (; i + 4 <= count; i += 4) {
    uint64_t bits = regal_random_at(key, number++);
    for (size_t k = 0; k < 4; k++, bits >>= 16)
      child[i + k] =
          mix_genes(elite[i + k], other[i + k], take_elite(bits, bias));
  }
  uint64_t bits = regal_random_at(key, number);
  for (; i < count; i++, bits >>= 16)
    child[i] = mix_genes(elite[i], other[i], take_elite(bits, bias));
}

void regal_crossover_biased(uint64_t key, const uint16_t *limit,
                            const regal_gene *elite, const regal_gene *other,
                            regal_gene *restrict child, size_t count) {
  uint64_t bits = 0;
  for (size_t i = 0; i < count; i++, bits >>= 16) {
    if (i % 4 == 0)
      bits = regal_random_at(key, i / 4);
    child[i] = mix_genes(elite[i], other[i], take_elite(bits, limit[i] + 1u));
  }
}
