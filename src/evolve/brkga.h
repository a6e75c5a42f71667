/* SPDX-License-Identifier: Apache-2.0 */
/* BRKGA, one generation at a time; brkga.c explains the algorithm.
 *
 * Letters as in the paper: population p, elites p_e, mutants p_m, elite bias
 * rho.
 */
#ifndef REGAL_EVOLVE_BRKGA_H
#define REGAL_EVOLVE_BRKGA_H

#include "evolve/settings.h"

typedef struct regal_brkga {
  regal_search *search;
  const regal_decoder *decoder;
  const regal_proposal *proposal;
  regal_proposal *own_proposal; /* uniform, when none is given */

  size_t genes;
  uint32_t population, elites, mutants, islands;
  uint64_t exchange, restart; /* generations; restart 0: never */
  uint32_t bias;              /* rho in 1/65536 */
  uint16_t *gene_bias;        /* [genes] or NULL: limits for crossover */

  /* Chromosomes stay where they are; each island has 2p - p_e slots, so that
   * children never overwrite a parent. */
  regal_gene *chromosomes; /* [islands * slots * genes] */
  regal_fitness *fitness;  /* [islands * slots] */
  uint32_t *ranked;        /* [islands * p] slots, best first */
  uint32_t *spare;         /* [islands * (p - p_e)] slots for children */
  uint32_t *members;       /* [islands * p] island * p + member to make */
  uint64_t *improved;      /* [islands] generation of the last improvement */
  regal_fitness *best_of;  /* [islands] since its last (re)start */
  bool *fresh;             /* [islands] draw all of it in this generation */
  uint32_t member_count;   /* members to make in this generation */

  void **scratch; /* [threads] */
  int threads;
  void *block; /* with all of these arrays */

  uint64_t generation;        /* the next one to make */
  regal_gene *best;           /* [genes] the best chromosome so far */
  regal_fitness best_fitness; /* of it */
} regal_brkga;

/* Sets up a run with the search's budget and its best plan so far (warm start).
 * Without a proposal genes are uniform; with one the decoder is its own. */
regal_status regal_brkga_create(regal_search *search,
                                const regal_brkga_settings *settings,
                                const regal_proposal *proposal,
                                regal_brkga **brkga);
void regal_brkga_free(regal_brkga *brkga);
/* One generation, cut short by the budget; allocates nothing. False when the
 * search has to end. */
bool regal_brkga_step(regal_brkga *brkga);
/* Offers the plan of the best chromosome to the search. */
regal_status regal_brkga_offer(regal_brkga *brkga);

/* The numbers of chromosomes, for a run whose genes are known. Fails when they
 * need too much memory: evolve/brkga_sizes.c. */
regal_status regal_brkga_set_sizes(regal_brkga *brkga,
                                   const regal_brkga_settings *settings);

static inline uint32_t regal_brkga_slots(const regal_brkga *brkga) {
  return 2 * brkga->population - brkga->elites;
}

/* The chromosome in a slot (slots of island k begin at k * slots). */
static inline regal_gene *regal_brkga_chromosome(const regal_brkga *brkga,
                                                 size_t slot) {
  return brkga->chromosomes + slot * brkga->genes;
}

#endif
