/* SPDX-License-Identifier: Apache-2.0 */
/* bench_phase: phase annealing by itself: microseconds for a move on layered
 * graphs.
 *
 *   build/bench/bench_phase
 *
 * `regal bench --methods anneal` says what it is worth.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "anneal/driver/annealers.h"
#include "dataset/synthetic/synthetic.h"
#include "support/timing.h"

static const regal_annealer *const phase = &regal_annealer_phase;

static void check(regal_context *context, regal_status status) {
  if (status == REGAL_OK)
    return;
  fprintf(stderr, "bench_phase: %s\n", regal_error(context));
  exit(2);
}

static regal_plan *single_plan(regal_context *context,
                               const regal_problem *problem,
                               regal_options *options) {
  regal_result *result;
  regal_plan *plan;
  check(context, regal_options_set(context, options, "method", "single"));
  check(context, regal_optimize(context, problem, options, &result));
  check(context, regal_plan_copy(context, result->plan, &plan));
  regal_result_free(result);
  return plan;
}

/* A geometric schedule of so many seconds of CPU time; returns the moves. */
static double anneal(void *state, double hot, double cold, double seconds) {
  enum { MOVES = 1000 };
  double began = bench_seconds(), moves = 0;
  for (double now = 0; now < 1; now = (bench_seconds() - began) / seconds) {
    double temperature = hot * pow(cold / hot, now);
    phase->run(state, &(regal_anneal_stretch){temperature, now, MOVES, false});
    moves += MOVES;
  }
  return moves;
}

static double microseconds(regal_context *context, uint32_t ops, bool costs) {
  regal_graph *graph;
  regal_problem *problem;
  regal_options options;
  void *state;
  regal_options_init(&options);
  options.threads = 1;
  if (costs)
    check(context, regal_options_set(context, &options, "latency", "10us"));
  check(context, regal_layered_graph(context, ops, 16, 2, 1, &graph));
  check(context, regal_problem_create(context, graph, &options, &problem));
  regal_plan *single = single_plan(context, problem, &options);
  check(context, phase->create(context, problem, &state));
  phase->begin(state, single, 1);
  double moves = anneal(state, phase->hot, phase->cold, 0.5);
  phase->destroy(state);
  regal_plan_free(single);
  regal_problem_free(problem);
  regal_graph_free(graph);
  return 0.5e6 / moves;
}

int main(void) {
  static const uint32_t sizes[] = {125, 1000, 5000, 100000};
  regal_context *context;
  if (regal_context_create(&context, NULL) != REGAL_OK)
    return 2;
  for (int costs = 0; costs < 2; costs++)
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
      printf("%u ops, %s: %.3f us a move\n", sizes[i],
             costs ? "transfers cost" : "free transfers",
             microseconds(context, sizes[i], costs));
  regal_context_free(context);
  return 0;
}
