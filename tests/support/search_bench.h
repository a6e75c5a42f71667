/* SPDX-License-Identifier: Apache-2.0 */
/* A search on the bench: set up as regal_optimize does, but open to be looked
 * into between generations. Include after cmocka.h. */
#ifndef REGAL_TESTS_SEARCH_BENCH_H
#define REGAL_TESTS_SEARCH_BENCH_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dataset/synthetic/synthetic.h"
#include "evolve/brkga.h"

typedef struct search_bench {
  regal_context *context;
  regal_graph *graph;
  regal_problem *problem;
  regal_options options;
  regal_search search;
} search_bench;

static inline void set_option(search_bench *b, const char *name,
                              const char *value) {
  if (regal_options_set(b->context, &b->options, name, value))
    fail_msg("%s", regal_error(b->context));
}

static inline int search_setup(void **state) {
  search_bench *b = calloc(1, sizeof *b);
  if (!b || regal_context_create(&b->context, NULL))
    return -1;
  regal_options_init(&b->options);
  b->options.threads = 1;
  *state = b;
  return 0;
}

/* Ends the search and forgets its best plan, but keeps graph and options. */
static inline void search_end(search_bench *b) {
  regal_pool *pool = b->search.pool;
  regal_search_close(&b->search);
  regal_pool_free(pool);
  memset(&b->search, 0, sizeof b->search);
}

static inline void problem_end(search_bench *b) {
  search_end(b);
  regal_problem_free(b->problem);
  regal_graph_free(b->graph);
  b->problem = NULL;
  b->graph = NULL;
}

static inline int search_teardown(void **state) {
  search_bench *b = *state;
  problem_end(b);
  bool leaked = regal_bytes_in_use(b->context) != 0;
  regal_context_free(b->context);
  free(b);
  return leaked;
}

static inline void make_problem(search_bench *b) {
  regal_problem_free(b->problem);
  b->problem = NULL;
  if (regal_problem_create(b->context, b->graph, &b->options, &b->problem))
    fail_msg("%s", regal_error(b->context));
}

/* A graph of the paper's kind, far from trivial, on the options' machine. */
static inline void use_synthetic(search_bench *b, uint32_t nodes,
                                 uint64_t seed) {
  problem_end(b);
  if (regal_synthetic_graph(b->context,
                            (regal_graph_model)(seed % REGAL_GRAPH_MODELS),
                            nodes, seed, &b->graph))
    fail_msg("%s", regal_error(b->context));
  make_problem(b);
}

/* Without a bound, so that nothing ends before the test says so. */
static inline void search_begin(search_bench *b) {
  regal_pool *pool;
  search_end(b);
  assert_int_equal(
      regal_pool_create(b->context, (int)b->options.threads, &pool), REGAL_OK);
  regal_search_open(&b->search, b->context, b->problem, pool,
                    (uint64_t)b->options.seed, REGAL_NO_LIMIT);
  b->search.options = &b->options;
}

static inline regal_brkga *begin_brkga(search_bench *b,
                                       const regal_decoder *decoder) {
  regal_brkga_settings settings = regal_brkga_settings_of(&b->options);
  regal_brkga *brkga;
  settings.decoder = decoder;
  if (regal_brkga_create(&b->search, &settings, b->search.proposal, &brkga))
    fail_msg("%s", regal_error(b->context));
  return brkga;
}

static inline regal_result *optimize(search_bench *b) {
  regal_result *result = NULL;
  if (regal_optimize(b->context, b->problem, &b->options, &result))
    fail_msg("%s", regal_error(b->context));
  return result;
}

static inline bool same_fitness(regal_fitness a, regal_fitness b) {
  return !regal_fitness_less(a, b) && !regal_fitness_less(b, a);
}

static inline bool same_plan(const regal_plan *a, const regal_plan *b) {
  return a->step_count == b->step_count &&
         !memcmp(a->steps, b->steps, a->step_count * sizeof *a->steps);
}

#define SEARCH_TEST(name)                                                      \
  cmocka_unit_test_setup_teardown(name, search_setup, search_teardown)

#endif
