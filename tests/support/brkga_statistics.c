/* SPDX-License-Identifier: Apache-2.0 */
#include "support/brkga_statistics.h"

#include <math.h>

#include "base/parallel/children.h"
#include "cost/bound/bound.h"
#include "dataset/synthetic/recipe.h"
#include "evolve/milestones.h"

enum { AT_1K, AT_5K, AT_10K, MILESTONES };
static const uint64_t budgets[MILESTONES] = {1000, 5000, 10000};
static const regal_recipe recipe = {.seed = 2020};

typedef struct outcome {
  regal_status status;
  regal_fitness best[MILESTONES];
  int64_t bound_ns;
} outcome;

typedef struct measurement {
  regal_options options;
  regal_children *contexts; /* one for each thread */
  outcome *outcomes;        /* [graphs] */
} measurement;

double brkga_mean_of(const brkga_mean *mean) {
  return mean->sum / mean->count;
}

double brkga_deviation_of(const brkga_mean *mean) {
  double value = brkga_mean_of(mean);
  double variance = (mean->squares - mean->sum * value) / (mean->count - 1);
  return sqrt(variance);
}

static void observe(brkga_mean *mean, double value) {
  mean->count++;
  mean->sum += value;
  mean->squares += value * value;
}

static regal_status run_problem(regal_context *context,
                                const regal_options *options,
                                const regal_problem *problem,
                                outcome *outcome) {
  regal_brkga_settings settings = regal_brkga_settings_of(options);
  regal_search search;
  regal_pool *pool;
  REGAL_TRY(regal_bound_runtime(context, problem, &outcome->bound_ns));
  REGAL_TRY(regal_pool_create(context, 1, &pool));
  regal_search_open(&search, context, problem, pool, (uint64_t)options->seed,
                    budgets[MILESTONES - 1]);
  regal_status status = regal_brkga_milestones(&search, &settings, budgets,
                                               MILESTONES, outcome->best);
  regal_search_close(&search);
  regal_pool_free(pool);
  return status;
}

static regal_status run_graph(regal_context *context, regal_options options,
                              regal_draw draw, outcome *outcome) {
  regal_graph *graph;
  regal_problem *problem = NULL;
  options.seed = (int64_t)draw.seed;
  REGAL_TRY(regal_recipe_graph(context, &recipe, draw, &graph));
  regal_status status =
      regal_problem_create(context, graph, &options, &problem);
  if (status == REGAL_OK)
    status = run_problem(context, &options, problem, outcome);
  regal_problem_free(problem);
  regal_graph_free(graph);
  return status;
}

static void run_item(void *state, size_t item, int thread) {
  measurement *measurement = state;
  outcome *outcome = &measurement->outcomes[item];
  outcome->status = run_graph(regal_children_at(measurement->contexts, thread),
                              measurement->options,
                              regal_recipe_draw(&recipe, item), outcome);
}

static void evaluate(const outcome *outcome, brkga_statistics *statistics) {
  double at_1k = (double)outcome->best[AT_1K].value;
  double at_5k = (double)outcome->best[AT_5K].value;
  double at_10k = (double)outcome->best[AT_10K].value;
  double improvement = 100 * (1 - at_10k / at_1k);
  double gap = 100 * (at_5k / (double)outcome->bound_ns - 1);
  observe(&statistics->improvement, improvement);
  observe(&statistics->gap, gap);
  if (improvement < 18)
    return;
  observe(&statistics->passing_improvement, improvement);
  observe(&statistics->passing_gap, gap);
}

static regal_status run_all(regal_context *context, measurement *measurement,
                            size_t graphs) {
  regal_pool *pool;
  REGAL_TRY(regal_pool_create(context, 0, &pool));
  regal_status status = regal_children_create(context, regal_pool_threads(pool),
                                              &measurement->contexts);
  if (status == REGAL_OK)
    regal_pool_run(pool, graphs, run_item, measurement);
  regal_children_free(measurement->contexts);
  regal_pool_free(pool);
  return status;
}

regal_status brkga_statistics_measure(regal_context *context,
                                      const brkga_setting *setting,
                                      size_t graphs,
                                      brkga_statistics *statistics) {
  measurement measurement = {0};
  regal_options *options = &measurement.options;
  regal_options_init(options);
  REGAL_TRY(regal_options_set(context, options, "control", setting->control));
  if (setting->decoder)
    REGAL_TRY(regal_options_set(context, options, "decoder", setting->decoder));
  options->population = setting->population;
  options->elites = setting->elites;
  options->mutants = setting->mutants;
  options->elite_bias = .7;
  measurement.outcomes =
      regal_alloc(context, graphs, sizeof *measurement.outcomes);
  if (!measurement.outcomes)
    return regal_fail_memory(context);
  regal_status status = run_all(context, &measurement, graphs);
  *statistics = (brkga_statistics){0};
  for (size_t i = 0; i < graphs && status == REGAL_OK; i++) {
    status = measurement.outcomes[i].status;
    if (status == REGAL_OK)
      evaluate(&measurement.outcomes[i], statistics);
  }
  regal_release(context, measurement.outcomes);
  return status;
}
