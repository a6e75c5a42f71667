/* SPDX-License-Identifier: Apache-2.0 */
/* Teachers: their genes decode to plans that BRKGA does not find as quickly,
 * and their actions say what the genes say. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "learn/episode.h"
#include "learn/teacher.h"
#include "support/random_cases.h"

enum { CASES = 12 };

typedef struct lesson {
  regal_auto_settings settings;
  const regal_decoder *decoder;
  const regal_problem *problem;
  regal_gene *genes;
  double brkga;
} lesson;

static regal_status teach(void *state, size_t item,
                          const regal_worker *worker) {
  lesson *l = state;
  regal_brkga_settings brkga = l->settings.brkga;
  brkga.decoder = l->decoder;
  regal_episode episode = {.problem = l->problem,
                           .settings = &brkga,
                           .seed = 2,
                           .evaluations = 200,
                           .best_of = 1};
  REGAL_TRY(regal_teacher_genes(worker, &l->settings, l->problem, l->decoder,
                                2 * item + 2, l->genes));
  return regal_episode_run(worker, &episode, &l->brkga);
}

static double decoded(regal_context *context, const lesson *l) {
  void *scratch;
  assert_int_equal(l->decoder->create_scratch(context, l->problem, &scratch),
                   REGAL_OK);
  regal_fitness fitness =
      l->decoder->decode(l->problem, scratch, l->genes, NULL);
  regal_release(context, scratch);
  return regal_episode_cost(fitness);
}

static void check_actions(const lesson *l) {
  regal_policy_config config = {.head_count = 2,
                                .heads = {{.gene_class = "affinity",
                                           .genes = 2,
                                           .mean_levels = 4,
                                           .variance_levels = 4,
                                           .bias_levels = 5},
                                          {.gene_class = "priority",
                                           .genes = 1,
                                           .mean_levels = 32,
                                           .variance_levels = 32}}};
  uint32_t ops = l->problem->ops;
  uint8_t *actions = calloc((size_t)ops * 8 + 1, 1);
  actions[(size_t)ops * 8] = 77; /* behind the last */
  regal_teacher_actions(&config, l->problem, l->decoder, l->genes, 3, actions);
  assert_int_equal(actions[(size_t)ops * 8], 77);
  for (size_t i = 0; i < (size_t)ops * 2; i++) {
    assert_int_equal(actions[3 * i], 2);     /* a mean of about 1/2 */
    assert_int_equal(actions[3 * i + 1], 1); /* about that of Beta(1,1) */
    assert_int_equal(actions[3 * i + 2], 2); /* a bias of about 0.7 */
  }
  for (uint32_t op = 0; op < ops; op++) {
    const uint8_t *action = actions + 6 * (size_t)ops + 2 * (size_t)op;
    regal_gene gene = l->genes[2 * (size_t)ops + op];
    assert_int_equal(action[0], gene >> (REGAL_GENE_BITS - 5));
    assert_true(action[1] < 4);
  }
  free(actions);
}

static void test_teacher(void **state) {
  (void)state;
  regal_context *context;
  regal_workers *workers;
  regal_options options;
  double ratio = 0;
  regal_context_create(&context, NULL);
  regal_options_init(&options);
  options.threads = 1;
  assert_int_equal(regal_workers_create(context, 1, &workers), REGAL_OK);
  for (uint64_t seed = 1; seed <= CASES; seed++) {
    lesson l = {.settings = regal_auto_settings_of(&options),
                .decoder = regal_decoder_find("paper")};
    l.settings.brkga.restart = 0;
    regal_graph *graph;
    regal_problem *problem;
    options.objective = seed % 2 ? REGAL_RUNTIME : REGAL_MEMORY;
    regal_test_random_graph(context, seed, 80, &graph);
    assert_int_equal(regal_problem_create(context, graph, &options, &problem),
                     REGAL_OK);
    l.problem = problem;
    l.genes = calloc(regal_decoder_genes(l.decoder, problem), sizeof *l.genes);
    assert_int_equal(regal_workers_run(workers, 1, teach, &l), REGAL_OK);
    double taught = decoded(context, &l);
    ratio += (l.brkga > 0 ? taught / l.brkga : 1) / CASES;
    check_actions(&l);
    free(l.genes);
    regal_problem_free(problem);
    regal_graph_free(graph);
  }
  if (!(ratio < 0.97))
    fail_msg("the teacher's cost is %.3f times BRKGA's", ratio);
  regal_workers_free(workers);
  regal_context_free(context);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_teacher)};
  return cmocka_run_group_tests_name("teacher", tests, NULL, NULL);
}
