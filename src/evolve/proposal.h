/* SPDX-License-Identifier: Apache-2.0 */
/* Proposals: how genes are drawn and how parents mix.
 *
 * Uniform unless a gene has a Beta of its own. Sampling is O(genes), from
 * counter-based random numbers, and allocates nothing.
 */
#ifndef REGAL_EVOLVE_PROPOSAL_H
#define REGAL_EVOLVE_PROPOSAL_H

#include "base/random.h"
#include "evolve/beta_tables.h"

typedef struct regal_beta_shape {
  double a, b;
} regal_beta_shape;

struct regal_proposal {
  regal_context *context;
  const regal_problem *problem;
  const regal_decoder *decoder;
  size_t genes, class_begin[REGAL_MOST_CLASSES + 1];
  uint32_t *table_of[REGAL_MOST_CLASSES]; /* [genes of class] first quantile in
                                             `tables`; NULL: class is uniform */
  regal_gene *tables;       /* REGAL_BETA_QUANTILES for each shape */
  regal_beta_shape *shapes; /* [shape_count] what the tables hold */
  size_t shape_count, shape_capacity;
  bool borrowed; /* tables and shapes belong to someone else, and stay */
  /* [genes] a child takes the elite's gene if 16 random bits are not above it;
   * 0 or a NULL array: BRKGA's own elite bias. */
  uint16_t *bias;
};

/* A proposal on tables that exist already and outlive it: `count` shapes and
 * REGAL_BETA_QUANTILES genes for each. Making tables is what takes time. */
regal_status regal_proposal_borrow(regal_context *context,
                                   const regal_problem *problem,
                                   const char *decoder, regal_gene *tables,
                                   regal_beta_shape *shapes, size_t count,
                                   regal_proposal **proposal);
/* The first quantiles of a class's genes, to be set by the caller: shape number
 * times REGAL_BETA_QUANTILES. Genes that are left alone have the first. */
regal_status regal_proposal_tables_of(regal_proposal *proposal,
                                      const char *gene_class,
                                      uint32_t **table_of);
/* A chromosome of means: each gene that of its Beta, or 1/2. */
void regal_proposal_means(const regal_proposal *proposal, regal_gene *genes);

/* Draws a whole chromosome from the stream of `key`. */
void regal_proposal_sample(const regal_proposal *proposal, uint64_t key,
                           regal_gene *genes);

/* The kernels behind it, for benchmarks and tests. Numbers come from the
 * stream's counters first, first + 1, ... */
void regal_sample_uniform(uint64_t key, uint64_t first, regal_gene *genes,
                          size_t count);
void regal_sample_tables(uint64_t key, uint64_t first, const regal_gene *tables,
                         const uint32_t *table_of, regal_gene *genes,
                         size_t count);
/* child[i] = elite[i] with probability bias / 65536, else other[i]. */
void regal_crossover(uint64_t key, uint32_t bias, const regal_gene *elite,
                     const regal_gene *other, regal_gene *child, size_t count);
/* The same with a limit for each gene: elite[i] when 16 bits are <= limit[i].
 */
void regal_crossover_biased(uint64_t key, const uint16_t *limit,
                            const regal_gene *elite, const regal_gene *other,
                            regal_gene *child, size_t count);

#endif
