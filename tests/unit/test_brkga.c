/* SPDX-License-Identifier: Apache-2.0 */
/* Inside BRKGA: what one generation does to the population, looked at member
 * by member. A genetic algorithm hides its bugs: it gets better anyway. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "support/search_bench.h"

/* The population before a generation: [islands * p] by rank. */
typedef struct snapshot {
  size_t genes;
  uint32_t members, *slots;
  regal_gene *chromosomes;
  regal_fitness *fitness, best;
  bool *fresh; /* [islands] */
  uint64_t evaluations, generation;
} snapshot;

static snapshot take_snapshot(const regal_brkga *brkga) {
  uint32_t members = brkga->islands * brkga->population;
  snapshot s = {.genes = brkga->genes,
                .members = members,
                .best = brkga->best_fitness,
                .evaluations = brkga->search->budget.used,
                .generation = brkga->generation};
  s.slots = calloc(members, sizeof *s.slots);
  s.fitness = calloc(members, sizeof *s.fitness);
  s.chromosomes = calloc(members * brkga->genes, sizeof(regal_gene));
  s.fresh = calloc(brkga->islands, sizeof(bool));
  assert_true(s.slots && s.fitness && s.chromosomes && s.fresh);
  memcpy(s.fresh, brkga->fresh, brkga->islands * sizeof(bool));
  for (uint32_t i = 0; i < members; i++) {
    s.slots[i] = brkga->ranked[i];
    s.fitness[i] = brkga->fitness[brkga->ranked[i]];
    memcpy(s.chromosomes + i * s.genes,
           regal_brkga_chromosome(brkga, brkga->ranked[i]),
           s.genes * sizeof(regal_gene));
  }
  return s;
}

static void free_snapshot(snapshot *s) {
  free(s->slots);
  free(s->fitness);
  free(s->chromosomes);
  free(s->fresh);
}

static bool same_genes(const regal_gene *a, const regal_gene *b, size_t genes) {
  return !memcmp(a, b, genes * sizeof *a);
}

/* Rank of a member with exactly these genes in an island, or REGAL_NONE. */
static uint32_t find_member(const regal_brkga *brkga, uint32_t island,
                            const regal_gene *genes) {
  for (uint32_t i = 0; i < brkga->population; i++) {
    uint32_t slot = brkga->ranked[island * brkga->population + i];
    if (same_genes(regal_brkga_chromosome(brkga, slot), genes, brkga->genes))
      return i;
  }
  return REGAL_NONE;
}

/* -- What always holds ----------------------------------------------------- */

/* Every slot of an island is a member or a spare, and only once. */
static void check_slots(const regal_brkga *brkga) {
  uint32_t slots = regal_brkga_slots(brkga), p = brkga->population;
  uint32_t spares = p - brkga->elites;
  for (uint32_t k = 0; k < brkga->islands; k++) {
    bool *seen = calloc(slots, sizeof *seen);
    assert_non_null(seen);
    for (uint32_t i = 0; i < slots; i++) {
      uint32_t slot =
          i < p ? brkga->ranked[k * p + i] : brkga->spare[k * spares + i - p];
      assert_in_range(slot, k * slots, (k + 1) * slots - 1);
      assert_false(seen[slot - k * slots]);
      seen[slot - k * slots] = true;
    }
    free(seen);
  }
}

/* Sorted by fitness, and the fitness is that of the member's own genes. */
static void check_members(const regal_brkga *brkga) {
  for (uint32_t i = 0; i < brkga->islands * brkga->population; i++) {
    uint32_t slot = brkga->ranked[i];
    const regal_gene *genes = regal_brkga_chromosome(brkga, slot);
    regal_fitness fitness = brkga->decoder->decode(
        brkga->search->problem, brkga->scratch[0], genes, NULL);
    assert_true(same_fitness(fitness, brkga->fitness[slot]));
    if (i % brkga->population)
      assert_false(
          regal_fitness_less(fitness, brkga->fitness[brkga->ranked[i - 1]]));
    for (size_t g = 0; g < brkga->genes; g++)
      assert_true(genes[g] <= REGAL_GENE_LARGEST);
  }
}

static void check_best(const regal_brkga *brkga, const snapshot *before) {
  regal_fitness fitness = brkga->decoder->decode(
      brkga->search->problem, brkga->scratch[0], brkga->best, NULL);
  assert_true(same_fitness(fitness, brkga->best_fitness));
  assert_false(regal_fitness_less(before->best, brkga->best_fitness));
  for (uint32_t k = 0; k < brkga->islands; k++) {
    uint32_t first = brkga->ranked[k * brkga->population];
    assert_false(
        regal_fitness_less(brkga->fitness[first], brkga->best_fitness));
  }
  assert_true(
      same_fitness(brkga->search->best_fitness, brkga->best_fitness) ||
      regal_fitness_less(brkga->search->best_fitness, brkga->best_fitness));
}

/* -- What a generation does ------------------------------------------------ */

/* Elites are where they were, as they were. (In the last rank an immigrant may
 * stand, so an island of elites only is not looked at.) */
static void check_elites(const regal_brkga *brkga, const snapshot *before,
                         uint32_t island) {
  uint32_t p = brkga->population;
  for (uint32_t e = 0; e < brkga->elites; e++) {
    uint32_t i = island * p + e;
    const regal_gene *genes = before->chromosomes + i * before->genes;
    assert_true(same_genes(regal_brkga_chromosome(brkga, before->slots[i]),
                           genes, before->genes));
    assert_true(
        same_fitness(brkga->fitness[before->slots[i]], before->fitness[i]));
    assert_int_not_equal(find_member(brkga, island, genes), REGAL_NONE);
  }
}

static bool is_mix(const regal_gene *child, const regal_gene *a,
                   const regal_gene *b, size_t genes) {
  for (size_t g = 0; g < genes; g++)
    if (child[g] != a[g] && child[g] != b[g])
      return false;
  return true;
}

/* Whether the child has one elite and one other parent. */
static bool has_parents(const regal_brkga *brkga, const snapshot *before,
                        uint32_t island, const regal_gene *child) {
  const regal_gene *first =
      before->chromosomes + (size_t)island * brkga->population * before->genes;
  for (uint32_t e = 0; e < brkga->elites; e++)
    for (uint32_t o = brkga->elites; o < brkga->population; o++)
      if (is_mix(child, first + e * before->genes, first + o * before->genes,
                 before->genes))
        return true;
  return false;
}

/* The stream of a newcomer: keyed by its number, never by who makes it. */
static uint64_t key_of(const regal_brkga *brkga, const snapshot *before,
                       enum regal_purpose purpose, uint32_t individual) {
  return regal_random_key(brkga->search->seed, purpose, before->generation,
                          individual);
}

/* Makes member m of an island again, from the population before. */
static void make_again(const regal_brkga *brkga, const snapshot *before,
                       uint32_t island, uint32_t m, regal_gene *genes) {
  uint32_t p = brkga->population, kept = brkga->elites;
  uint32_t individual = island * p + m;
  if (before->fresh[island] || m >= p - brkga->mutants) {
    regal_proposal_sample(
        brkga->proposal,
        key_of(brkga, before, REGAL_PURPOSE_SAMPLE, individual), genes);
    return;
  }
  regal_random random = {
      .key = key_of(brkga, before, REGAL_PURPOSE_PARENTS, individual)};
  const regal_gene *first =
      before->chromosomes + (size_t)island * p * before->genes;
  uint64_t elite = regal_random_below(&random, kept);
  uint64_t other = kept + regal_random_below(&random, p - kept);
  regal_crossover(key_of(brkga, before, REGAL_PURPOSE_CROSSOVER, individual),
                  brkga->bias, first + elite * before->genes,
                  first + other * before->genes, genes, before->genes);
}

/* Every newcomer is there, except for one who made room for an immigrant. */
static void check_streams(const regal_brkga *brkga, const snapshot *before,
                          uint32_t island, uint32_t immigrants) {
  uint32_t p = brkga->population, missing = 0;
  regal_gene *genes = calloc(before->genes, sizeof *genes);
  assert_non_null(genes);
  for (uint32_t m = before->fresh[island] ? 0 : brkga->elites; m < p; m++) {
    make_again(brkga, before, island, m, genes);
    missing += find_member(brkga, island, genes) == REGAL_NONE;
  }
  free(genes);
  assert_in_range(missing, 0, immigrants);
}

/* Of the newcomers p_m are mutants; the others have two parents. */
static void check_families(const regal_brkga *brkga, const snapshot *before,
                           uint32_t island, uint32_t immigrants) {
  uint32_t p = brkga->population, children = 0, strangers = 0;
  for (uint32_t i = 0; i < p; i++) {
    uint32_t slot = brkga->ranked[island * p + i];
    bool elite = false;
    for (uint32_t e = 0; e < brkga->elites; e++)
      elite |= slot == before->slots[island * p + e];
    if (elite)
      continue;
    bool child =
        has_parents(brkga, before, island, regal_brkga_chromosome(brkga, slot));
    children += child;
    strangers += !child;
  }
  assert_true(strangers + immigrants >= brkga->mutants);
  assert_true(strangers <= brkga->mutants + immigrants);
  assert_int_equal(children + strangers, p - brkga->elites);
}

static uint64_t newcomers_of(const regal_brkga *brkga, const snapshot *before) {
  uint64_t count = 0;
  for (uint32_t k = 0; k < brkga->islands; k++)
    count += before->fresh[k] ? brkga->population
                              : brkga->population - brkga->elites;
  return count;
}

static bool exchanged(const regal_brkga *brkga) {
  uint64_t every = brkga->exchange;
  return brkga->islands > 1 && brkga->generation % every == 0;
}

static void check_generation(regal_brkga *brkga) {
  snapshot before = take_snapshot(brkga);
  assert_true(regal_brkga_step(brkga));
  assert_int_equal(brkga->generation, before.generation + 1);
  assert_int_equal(brkga->search->budget.used,
                   before.evaluations + newcomers_of(brkga, &before));
  check_slots(brkga);
  check_members(brkga);
  check_best(brkga, &before);
  for (uint32_t k = 0; k < brkga->islands; k++) {
    check_streams(brkga, &before, k, exchanged(brkga));
    if (before.fresh[k])
      continue;
    check_elites(brkga, &before, k);
    check_families(brkga, &before, k, exchanged(brkga));
  }
  free_snapshot(&before);
}

static void check_run(search_bench *b, const char *decoder, int generations) {
  search_begin(b);
  regal_brkga *brkga = begin_brkga(b, regal_decoder_find(decoder));
  for (int g = 0; g < generations; g++)
    check_generation(brkga);
  assert_int_equal(regal_brkga_offer(brkga), REGAL_OK);
  assert_true(same_fitness(b->search.plan_fitness, brkga->best_fitness));
  regal_brkga_free(brkga);
}

static void test_generations(void **state) {
  search_bench *b = *state;
  for (uint64_t seed = 1; seed <= 4; seed++) {
    b->options.seed = (int64_t)seed;
    b->options.objective = seed % 2;
    use_synthetic(b, 30, seed);
    check_run(b, "paper", 12);
    check_run(b, "batched", 12);
  }
}

static void test_generations_of_islands(void **state) {
  search_bench *b = *state;
  b->options.population = 20;
  b->options.islands = 3;
  b->options.exchange = 4;
  b->options.restart = 3;
  use_synthetic(b, 20, 7);
  check_run(b, "paper", 60);
  check_run(b, "batched", 60);
}

/* Any sizes that fit: one elite, no mutants, no children, no non-elite but
 * one. */
static void test_sizes(void **state) {
  static const struct {
    int population;
    double elites, mutants;
  } sizes[] = {{4, 0, 0},      {4, 0.25, 0.75},  {4, 0.75, 0.25},
               {5, 0.2, 0.2},  {100, 0.99, 0},   {7, 0.5, 0.4},
               {10, 0.3, 0.7}, {33, 0.33, 0.33}, {4, 0.75, 0}};
  search_bench *b = *state;
  use_synthetic(b, 20, 3);
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    b->options.population = sizes[i].population;
    b->options.elites = sizes[i].elites;
    b->options.mutants = sizes[i].mutants;
    check_run(b, "batched", 6);
  }
}

static void test_sizes_that_do_not_fit(void **state) {
  static const struct {
    double elites, mutants;
    const char *message;
  } sizes[] = {
      {1, 0, "10 elites and 0 mutants do not fit a population of 10"},
      {0.5, 0.6, "5 elites and 6 mutants do not fit a population of 10"},
      {0, 1, "1 elites and 10 mutants do not fit a population of 10"},
  };
  search_bench *b = *state;
  regal_result *result = NULL;
  use_synthetic(b, 20, 3);
  set_option(b, "method", "brkga");
  b->options.population = 10;
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    b->options.elites = sizes[i].elites;
    b->options.mutants = sizes[i].mutants;
    assert_int_equal(
        regal_optimize(b->context, b->problem, &b->options, &result),
        REGAL_BAD_INPUT);
    assert_string_equal(regal_error(b->context), sizes[i].message);
    assert_null(result);
  }
}

/* -- Islands --------------------------------------------------------------- */

/* A plan far better than chance, offered to the search as its best so far. */
static void plant_good_plan(search_bench *b) {
  regal_options options = b->options;
  regal_result *result;
  regal_plan *plan;
  options.islands = 1;
  options.population = 100;
  options.elite_bias = 0.7;
  options.evaluations = 20000;
  strcpy(options.method, "brkga");
  strcpy(options.decoder, "paper");
  assert_int_equal(regal_optimize(b->context, b->problem, &options, &result),
                   REGAL_OK);
  assert_int_equal(regal_plan_copy(b->context, result->plan, &plan), REGAL_OK);
  regal_result_free(result);
  assert_int_equal(regal_search_offer(&b->search, plan), REGAL_OK);
}

/* The planted best arrives in the next island every `exchange` generations,
 * and not before. (With a bias of 1 children are copies, so that nothing better
 * comes up.) */
static void check_refused(search_bench *b, const char *message) {
  regal_result *result = NULL;
  size_t peak = regal_bytes_peak(b->context);
  assert_int_equal(regal_optimize(b->context, b->problem, &b->options, &result),
                   REGAL_BAD_INPUT);
  assert_string_equal(regal_error(b->context), message);
  assert_null(result);
  assert_true(regal_bytes_peak(b->context) < peak + 100000);
}

/* A million chromosomes need 0.5 GiB on 20 ops. */
static void test_memory_of_settings(void **state) {
  search_bench *b = *state;
  use_synthetic(b, 20, 3);
  set_option(b, "method", "brkga");
  set_option(b, "decoder", "batched");
  set_option(b, "population", "1000000");
  set_option(b, "islands", "1024");
  check_refused(b, "--population 1000000 and --islands 1024 need 505.8 GiB of "
                   "memory, expected no more chromosomes than evaluations: "
                   "5000");
  set_option(b, "evaluations", "999999999999999");
  set_option(b, "max-memory", "1GiB");
  check_refused(b, "--population 1000000 and --islands 1024 need 505.8 GiB of "
                   "memory, expected at most 1.0 GiB (--max-memory)");
  set_option(b, "islands", "1");
  set_option(b, "max-memory", "100MiB");
  check_refused(b, "--population 1000000 and --islands 1 need 505.8 MiB of "
                   "memory, expected at most 100.0 MiB (--max-memory)");
}

/* What the budget leaves unmade is not kept, and what is made is the same: the
 * plan of an even larger population. */
static void test_memory_of_budget(void **state) {
  search_bench *b = *state;
  regal_result *small, *large;
  use_synthetic(b, 20, 3);
  set_option(b, "method", "brkga");
  for (int evaluations = 1; evaluations < 300; evaluations += 37) {
    b->options.evaluations = evaluations;
    b->options.population = 100;
    b->options.islands = 4;
    assert_int_equal(
        regal_optimize(b->context, b->problem, &b->options, &small), REGAL_OK);
    size_t peak = regal_bytes_peak(b->context);
    b->options.islands = 400;
    assert_int_equal(
        regal_optimize(b->context, b->problem, &b->options, &large), REGAL_OK);
    assert_int_equal(small->evaluations, evaluations);
    assert_true(regal_bytes_peak(b->context) < peak + 10000);
    assert_memory_equal(&small->cost.runtime_ns, &large->cost.runtime_ns, 8);
    regal_result_free(small);
    regal_result_free(large);
  }
}

static void test_exchange(void **state) {
  search_bench *b = *state;
  b->options.islands = 4;
  b->options.population = 12;
  b->options.exchange = 3;
  b->options.elite_bias = 1;
  use_synthetic(b, 40, 2);
  search_begin(b);
  plant_good_plan(b);
  regal_brkga *brkga = begin_brkga(b, &regal_decoder_paper);
  for (uint64_t generation = 1; generation <= 9; generation++) {
    assert_true(regal_brkga_step(brkga));
    for (uint32_t k = 0; k < 4; k++) {
      regal_fitness best = brkga->fitness[brkga->ranked[k * brkga->population]];
      bool there = same_fitness(best, b->search.plan_fitness);
      assert_int_equal(there, k <= generation / 3);
      assert_int_equal(find_member(brkga, k, brkga->best) == 0, there);
    }
  }
  regal_brkga_free(brkga);
}

/* -- Restarts -------------------------------------------------------------- */

/* An island restarts exactly when it has gained nothing for so many
 * generations since its last start, and the best of all is kept. */
static void test_restarts(void **state) {
  enum { PATIENCE = 4, ISLANDS = 2 };
  search_bench *b = *state;
  b->options.islands = ISLANDS;
  b->options.population = 10;
  b->options.restart = PATIENCE;
  b->options.exchange = 1000;
  use_synthetic(b, 20, 5);
  search_begin(b);
  regal_brkga *brkga = begin_brkga(b, &regal_decoder_paper);
  regal_fitness best[ISLANDS], overall = REGAL_FITNESS_WORST;
  int idle[ISLANDS] = {0};
  uint64_t restarts = 0;
  for (int k = 0; k < ISLANDS; k++)
    best[k] = REGAL_FITNESS_WORST;
  for (int generation = 0; generation < 200; generation++) {
    assert_true(regal_brkga_step(brkga));
    for (uint32_t k = 0; k < ISLANDS; k++) {
      regal_fitness now = brkga->fitness[brkga->ranked[k * 10]];
      idle[k] = regal_fitness_less(now, best[k]) ? 0 : idle[k] + 1;
      best[k] = regal_fitness_less(now, best[k]) ? now : best[k];
      overall = regal_fitness_less(now, overall) ? now : overall;
      assert_int_equal(brkga->fresh[k], idle[k] == PATIENCE);
      if (brkga->fresh[k]) {
        restarts++;
        idle[k] = 0;
        best[k] = REGAL_FITNESS_WORST;
      }
    }
    assert_true(same_fitness(brkga->best_fitness, overall));
  }
  assert_true(restarts > 10);
  regal_brkga_free(brkga);
}

/* -- Warm start ------------------------------------------------------------ */

/* The plan so far is member 0 of the first generation, and only there. */
static void test_warm_start(void **state) {
  search_bench *b = *state;
  use_synthetic(b, 40, 9);
  search_begin(b);
  plant_good_plan(b);
  regal_brkga *brkga = begin_brkga(b, &regal_decoder_paper);
  size_t bytes = brkga->genes * sizeof(regal_gene);
  regal_gene *encoded = calloc(brkga->genes, sizeof(regal_gene));
  assert_non_null(encoded);
  regal_decoder_paper.encode(b->problem, b->search.best, encoded);
  assert_memory_equal(regal_brkga_chromosome(brkga, 0), encoded, bytes);
  assert_true(regal_brkga_step(brkga));
  assert_memory_equal(brkga->best, encoded, bytes);
  assert_true(same_fitness(brkga->best_fitness, b->search.plan_fitness));
  assert_int_equal(find_member(brkga, 0, encoded), 0);
  for (uint32_t i = 1; i < brkga->population; i++)
    assert_true(regal_fitness_less(brkga->best_fitness,
                                   brkga->fitness[brkga->ranked[i]]));
  free(encoded);
  regal_brkga_free(brkga);
}

/* -- The search's best ----------------------------------------------------- */

/* What is worse, or as good, changes nothing: no plan, no progress. */
static void count_calls(void *state, const regal_progress *progress) {
  (void)progress;
  ++*(int *)state;
}

static void test_only_gains_are_noted(void **state) {
  static const regal_fitness noted[] = {{5, 9, 0}, {5, 9, 0}, {6, 1, 0},
                                        {0, 7, 3}, {0, 7, 4}, {1, 0, 0}};
  search_bench *b = *state;
  int calls = 0;
  use_synthetic(b, 20, 1);
  search_begin(b);
  regal_set_progress(b->context, count_calls, &calls);
  for (size_t i = 0; i < sizeof noted / sizeof *noted; i++) {
    regal_search_note(&b->search, noted[i]);
    assert_true(same_fitness(b->search.best_fitness, noted[i < 3 ? 0 : 3]));
  }
  assert_int_equal(calls, 2);
  regal_set_progress(b->context, NULL, NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      SEARCH_TEST(test_generations),
      SEARCH_TEST(test_generations_of_islands),
      SEARCH_TEST(test_sizes),
      SEARCH_TEST(test_sizes_that_do_not_fit),
      SEARCH_TEST(test_memory_of_settings),
      SEARCH_TEST(test_memory_of_budget),
      SEARCH_TEST(test_exchange),
      SEARCH_TEST(test_restarts),
      SEARCH_TEST(test_warm_start),
      SEARCH_TEST(test_only_gains_are_noted),
  };
  return cmocka_run_group_tests_name("brkga", tests, NULL, NULL);
}
