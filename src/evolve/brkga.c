/* SPDX-License-Identifier: Apache-2.0 */
/* The biased random-key genetic algorithm (Goncalves and Resende 2011), with a
 * distribution for each gene as in REGAL (Paliwal et al. 2020, section 3.2).
 *
 * A chromosome is a vector of numbers in [0, 1). Only the decoder knows what
 * they mean, and any vector decodes to a valid plan, so crossover and mutation
 * need no knowledge of plans. One generation of an island of p chromosomes:
 *   - the p_e best, the elites, stay as they are;
 *   - p_m mutants are drawn from the proposal;
 *   - the others are children of an elite and a non-elite: each gene is the
 *     elite's with probability rho, more than one half, hence "biased".
 * Standard BRKGA draws genes uniformly and has one rho. REGAL's policy chooses
 * a Beta distribution for each gene, from which the first population and all
 * mutants are drawn, and may choose rho for each gene, too: both are in the
 * proposal (proposal.h). Where the paper is silent: docs/algorithm.md.
 *
 * Islands evolve apart; now and then the best of each replaces the worst of the
 * next. An island without gain for `restart` generations is drawn anew.
 *
 * Random numbers are functions of (seed, purpose, generation, individual), not
 * states that are passed on (base/random.h). Who is made by which thread, and
 * in which order, cannot matter: a run gives the same plan for any number of
 * threads, and a run with a smaller budget is the beginning of a longer one
 * (milestones.h).
 *
 * Slots. Chromosomes are large and never move. Each island has 2p - p_e slots:
 * p for the ranked population, p - p_e for the children in the making, which
 * therefore never overwrite a parent. When a generation is complete, children
 * and non-elites trade slots, and only numbers of slots are sorted. Nothing is
 * allocated after set-up. Members that budget or interrupt leave unmade have
 * the worst fitness, and their slots old genes.
 */
#include "evolve/brkga.h"

#include <math.h>
#include <string.h>

static regal_status set_proposal(regal_brkga *brkga) {
  regal_search *search = brkga->search;
  if (brkga->proposal && brkga->proposal->problem != search->problem)
    return regal_fail(search->context, REGAL_MISUSE,
                      "the proposal was made for another problem");
  if (!brkga->proposal) {
    REGAL_TRY(regal_proposal_create(search->context, search->problem,
                                    brkga->decoder->name,
                                    &brkga->own_proposal));
    brkga->proposal = brkga->own_proposal;
  }
  brkga->genes = brkga->proposal->genes;
  if (!brkga->proposal->bias)
    return REGAL_OK;
  brkga->gene_bias = regal_alloc(search->context, brkga->genes, 2);
  if (!brkga->gene_bias)
    return regal_fail_memory(search->context);
  for (size_t i = 0; i < brkga->genes; i++)
    brkga->gene_bias[i] = brkga->proposal->bias[i]
                              ? brkga->proposal->bias[i]
                              : (uint16_t)(brkga->bias - 1);
  return REGAL_OK;
}

static void layout(regal_brkga *brkga, regal_carver *carver) {
  size_t islands = brkga->islands, p = brkga->population;
  size_t slots = islands * regal_brkga_slots(brkga);
  brkga->chromosomes =
      regal_carve(carver, slots * brkga->genes, sizeof(regal_gene));
  brkga->fitness = regal_carve(carver, slots, sizeof(regal_fitness));
  brkga->ranked = regal_carve(carver, islands * p, 4);
  brkga->spare = regal_carve(carver, islands * (p - brkga->elites), 4);
  brkga->members = regal_carve(carver, islands * p, 4);
  brkga->improved = regal_carve(carver, islands, 8);
  brkga->best_of = regal_carve(carver, islands, sizeof(regal_fitness));
  brkga->fresh = regal_carve(carver, islands, sizeof(bool));
  brkga->best = regal_carve(carver, brkga->genes, sizeof(regal_gene));
  brkga->scratch = regal_carve(carver, (size_t)brkga->threads, sizeof(void *));
}

static regal_status allocate(regal_brkga *brkga) {
  regal_context *context = brkga->search->context;
  regal_carver carver = {NULL, 0};
  REGAL_TRY(REGAL_CARVE_BLOCK(context, carver, layout(brkga, &carver)));
  brkga->block = carver.base;
  for (int i = 0; i < brkga->threads; i++)
    REGAL_TRY(brkga->decoder->create_scratch(context, brkga->search->problem,
                                             &brkga->scratch[i]));
  return REGAL_OK;
}

/* Numbers the slots: the ranks own the first p of an island, children the
 * rest. */
static void number_slots(regal_brkga *brkga) {
  uint32_t p = brkga->population, kept = brkga->elites;
  for (uint32_t k = 0; k < brkga->islands; k++) {
    uint32_t first = k * regal_brkga_slots(brkga);
    for (uint32_t i = 0; i < p; i++)
      brkga->ranked[k * p + i] = first + i;
    for (uint32_t i = 0; i < p - kept; i++)
      brkga->spare[k * (p - kept) + i] = first + p + i;
    brkga->fresh[k] = true;
    brkga->best_of[k] = REGAL_FITNESS_WORST;
  }
}

static regal_status set_up(regal_brkga *brkga,
                           const regal_brkga_settings *settings) {
  brkga->bias = (uint32_t)lround(settings->elite_bias * 65536);
  brkga->exchange = settings->exchange;
  brkga->restart = settings->restart;
  REGAL_TRY(set_proposal(brkga));
  REGAL_TRY(regal_brkga_set_sizes(brkga, settings));
  REGAL_TRY(allocate(brkga));
  number_slots(brkga);
  brkga->best_fitness = REGAL_FITNESS_WORST;
  return REGAL_OK;
}

regal_status regal_brkga_create(regal_search *search,
                                const regal_brkga_settings *settings,
                                const regal_proposal *proposal,
                                regal_brkga **brkga) {
  const regal_decoder *decoder =
      proposal ? proposal->decoder : regal_brkga_decoder(settings);
  regal_brkga *made = regal_alloc(search->context, 1, sizeof *made);
  if (!made)
    return regal_fail_memory(search->context);
  made->search = search;
  made->proposal = proposal;
  made->decoder = decoder;
  made->threads = regal_pool_threads(search->pool);
  regal_status status = set_up(made, settings);
  if (status != REGAL_OK) {
    regal_brkga_free(made);
    return status;
  }
  if (search->best)
    decoder->encode(search->problem, search->best,
                    regal_brkga_chromosome(made, made->ranked[0]));
  *brkga = made;
  return REGAL_OK;
}

void regal_brkga_free(regal_brkga *brkga) {
  if (!brkga)
    return;
  regal_context *context = brkga->search->context;
  for (int i = 0; brkga->block && i < brkga->threads; i++)
    regal_release(context, brkga->scratch[i]);
  regal_release(context, brkga->block);
  regal_release(context, brkga->gene_bias);
  regal_proposal_free(brkga->own_proposal);
  regal_release(context, brkga);
}

/* The slot in which member `m` of an island is made. */
static uint32_t slot_of(const regal_brkga *brkga, uint32_t island,
                        uint32_t member) {
  uint32_t p = brkga->population, kept = brkga->elites;
  if (brkga->fresh[island])
    return brkga->ranked[island * p + member];
  return brkga->spare[island * (p - kept) + member - kept];
}

static uint64_t key_of(const regal_brkga *brkga, enum regal_purpose purpose,
                       uint32_t individual) {
  return regal_random_key(brkga->search->seed, purpose, brkga->generation,
                          individual);
}

static void make_child(const regal_brkga *brkga, uint32_t island,
                       uint32_t individual, regal_gene *child) {
  uint32_t p = brkga->population, kept = brkga->elites;
  regal_random random = {key_of(brkga, REGAL_PURPOSE_PARENTS, individual), 0};
  uint32_t first = (uint32_t)regal_random_below(&random, kept);
  uint32_t second = kept + (uint32_t)regal_random_below(&random, p - kept);
  const uint32_t *ranked = brkga->ranked + (size_t)island * p;
  const regal_gene *elite = regal_brkga_chromosome(brkga, ranked[first]);
  const regal_gene *other = regal_brkga_chromosome(brkga, ranked[second]);
  uint64_t key = key_of(brkga, REGAL_PURPOSE_CROSSOVER, individual);
  if (brkga->gene_bias)
    regal_crossover_biased(key, brkga->gene_bias, elite, other, child,
                           brkga->genes);
  else
    regal_crossover(key, brkga->bias, elite, other, child, brkga->genes);
}

/* One item of the pool's job: makes and evaluates one member. */
static void make_member(void *state, size_t index, int thread) {
  regal_brkga *brkga = state;
  uint32_t individual = brkga->members[index], p = brkga->population;
  uint32_t island = individual / p, member = individual % p;
  uint32_t slot = slot_of(brkga, island, member);
  regal_gene *genes = regal_brkga_chromosome(brkga, slot);
  brkga->fitness[slot] = REGAL_FITNESS_WORST;
  /* the first member always counts, so that there is a plan to return */
  if (index > 0 && regal_budget_is_cut(&brkga->search->budget))
    return;
  bool warm = brkga->generation == 0 && individual == 0 && brkga->search->best;
  bool mutant = brkga->fresh[island] || member >= p - brkga->mutants;
  if (mutant && !warm)
    regal_proposal_sample(brkga->proposal,
                          key_of(brkga, REGAL_PURPOSE_SAMPLE, individual),
                          genes);
  else if (!mutant)
    make_child(brkga, island, individual, genes);
  brkga->fitness[slot] = brkga->decoder->decode(
      brkga->search->problem, brkga->scratch[thread], genes, NULL);
}

/* Lists who is made in this generation, no more than the budget allows. */
static void list_members(regal_brkga *brkga) {
  uint32_t p = brkga->population, count = 0;
  for (uint32_t k = 0; k < brkga->islands; k++)
    for (uint32_t m = brkga->fresh[k] ? 0 : brkga->elites; m < p; m++)
      brkga->members[count++] = k * p + m;
  uint64_t left = regal_budget_left(&brkga->search->budget);
  brkga->member_count = left < count ? (uint32_t)left : count;
}

/* Order inside an island: by fitness, then by place. A heap sort of the places,
 * since qsort may allocate. */
static bool comes_later(const regal_brkga *brkga, const uint32_t *ranked,
                        uint32_t a, uint32_t b) {
  const regal_fitness *fitness = brkga->fitness;
  regal_fitness fa = fitness[ranked[a]], fb = fitness[ranked[b]];
  if (regal_fitness_less(fa, fb) || regal_fitness_less(fb, fa))
    return regal_fitness_less(fb, fa);
  return ranked[a] > ranked[b];
}

static void swap_places(uint32_t *ranked, uint32_t a, uint32_t b) {
  uint32_t slot = ranked[a];
  ranked[a] = ranked[b];
  ranked[b] = slot;
}

static void sift_down(const regal_brkga *brkga, uint32_t *ranked, uint32_t root,
                      uint32_t count) {
  for (uint32_t child; (child = 2 * root + 1) < count; root = child) {
    if (child + 1 < count && comes_later(brkga, ranked, child + 1, child))
      child++;
    if (!comes_later(brkga, ranked, child, root))
      return;
    swap_places(ranked, child, root);
  }
}

static void sort_island(regal_brkga *brkga, uint32_t island) {
  uint32_t p = brkga->population;
  uint32_t *ranked = brkga->ranked + (size_t)island * p;
  for (uint32_t root = p / 2; root-- > 0;)
    sift_down(brkga, ranked, root, p);
  for (uint32_t count = p; --count > 0;) {
    swap_places(ranked, 0, count);
    sift_down(brkga, ranked, 0, count);
  }
}

/* Children take the ranks below the elites; the slots of those who held them
 * become the next children's. */
static void succeed(regal_brkga *brkga, uint32_t island) {
  uint32_t p = brkga->population, kept = brkga->elites;
  uint32_t *ranked = brkga->ranked + (size_t)island * p + kept;
  uint32_t *spare = brkga->spare + (size_t)island * (p - kept);
  if (!brkga->fresh[island])
    for (uint32_t i = 0; i < p - kept; i++) {
      uint32_t slot = ranked[i];
      ranked[i] = spare[i];
      spare[i] = slot;
    }
  brkga->fresh[island] = false;
  sort_island(brkga, island);
}

/* Members that the budget or an interrupt left out count as worst. */
static void mark_unmade(regal_brkga *brkga) {
  uint32_t p = brkga->population, made = 0;
  for (uint32_t k = 0; k < brkga->islands; k++)
    for (uint32_t m = brkga->fresh[k] ? 0 : brkga->elites; m < p; m++)
      if (made < brkga->member_count)
        made++;
      else
        brkga->fitness[slot_of(brkga, k, m)] = REGAL_FITNESS_WORST;
}

static uint64_t count_made(const regal_brkga *brkga) {
  uint64_t made = 0;
  for (uint32_t i = 0; i < brkga->member_count; i++) {
    uint32_t individual = brkga->members[i], p = brkga->population;
    uint32_t slot = slot_of(brkga, individual / p, individual % p);
    made += brkga->fitness[slot].excess != INT64_MAX;
  }
  return made;
}

/* Keeps the best chromosome of all, and decides on a restart. */
static void follow_best(regal_brkga *brkga, uint32_t island) {
  uint32_t slot = brkga->ranked[(size_t)island * brkga->population];
  regal_fitness fitness = brkga->fitness[slot];
  if (regal_fitness_less(fitness, brkga->best_fitness)) {
    brkga->best_fitness = fitness;
    memcpy(brkga->best, regal_brkga_chromosome(brkga, slot),
           brkga->genes * sizeof(regal_gene));
  }
  if (regal_fitness_less(fitness, brkga->best_of[island])) {
    brkga->best_of[island] = fitness;
    brkga->improved[island] = brkga->generation;
  }
  if (brkga->restart &&
      brkga->generation - brkga->improved[island] >= brkga->restart) {
    brkga->fresh[island] = true;
    brkga->best_of[island] = REGAL_FITNESS_WORST; /* the next one improves */
  }
}

/* The best of each island replaces the worst of the next. */
static void exchange(regal_brkga *brkga) {
  uint32_t p = brkga->population, islands = brkga->islands;
  for (uint32_t k = 0; k < islands; k++) {
    uint32_t best = brkga->ranked[(size_t)k * p];
    uint32_t worst = brkga->ranked[(size_t)((k + 1) % islands) * p + p - 1];
    memcpy(regal_brkga_chromosome(brkga, worst),
           regal_brkga_chromosome(brkga, best),
           brkga->genes * sizeof(regal_gene));
    brkga->fitness[worst] = brkga->fitness[best];
  }
  for (uint32_t k = 0; k < islands; k++)
    sort_island(brkga, k);
}

bool regal_brkga_step(regal_brkga *brkga) {
  regal_search *search = brkga->search;
  if (brkga->generation > 0 && regal_search_should_stop(search))
    return false;
  list_members(brkga);
  regal_pool_run(search->pool, brkga->member_count, make_member, brkga);
  mark_unmade(brkga);
  search->budget.used += count_made(brkga);
  for (uint32_t k = 0; k < brkga->islands; k++) {
    succeed(brkga, k);
    follow_best(brkga, k);
  }
  if (brkga->islands > 1 && (brkga->generation + 1) % brkga->exchange == 0)
    exchange(brkga);
  brkga->generation++;
  regal_search_note(search, brkga->best_fitness);
  regal_search_report(search, false);
  return true;
}

regal_status regal_brkga_offer(regal_brkga *brkga) {
  regal_search *search = brkga->search;
  if (brkga->best_fitness.excess == INT64_MAX)
    return REGAL_OK; /* no evaluation was allowed */
  regal_plan *plan;
  REGAL_TRY(regal_plan_create(search->context,
                              regal_plan_most_steps(search->problem), &plan));
  brkga->decoder->decode(search->problem, brkga->scratch[0], brkga->best, plan);
  return regal_search_offer(search, plan);
}
