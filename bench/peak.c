/* SPDX-License-Identifier: Apache-2.0 */
/* bench_peak: annealing for peak memory by itself: moves a second (CPU time) on
 * layered graphs of 8 ops a layer.
 *
 *   build/bench/bench_peak
 *
 * `regal bench --objective memory --methods anneal` says what it is worth.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "anneal/driver/annealers.h"
#include "dataset/synthetic/synthetic.h"
#include "support/timing.h"

static void check(regal_context *context, regal_status status) {
  if (status == REGAL_OK)
    return;
  fprintf(stderr, "bench_peak: %s\n", regal_error(context));
  exit(2);
}

/* Geometric, from hot to cold within CPU seconds; returns moves. */
static double anneal(const regal_annealer *annealer, void *state, double hot,
                     double cold, double seconds) {
  double began = bench_seconds(), moves = 0;
  uint32_t stretch = 64;
  for (;;) {
    double progress = (bench_seconds() - began) / seconds;
    if (progress >= 1)
      return moves;
    regal_anneal_stretch s = {hot * pow(cold / hot, progress), progress,
                              stretch, false};
    annealer->run(state, &s);
    moves += stretch;
    stretch = stretch < 512 ? 2 * stretch : stretch;
  }
}

static double moves_per_second(regal_context *context, uint32_t ops,
                               const char *devices) {
  regal_graph *graph;
  regal_problem *problem;
  regal_plan *plan;
  regal_options options;
  void *state;
  const regal_annealer *a = &regal_annealer_memory;
  regal_options_init(&options);
  check(context, regal_options_set(context, &options, "objective", "memory"));
  check(context, regal_options_set(context, &options, "devices", devices));
  check(context, regal_layered_graph(context, ops, 8, 2, 1, &graph));
  check(context, regal_problem_create(context, graph, &options, &problem));
  uint32_t *order = regal_alloc(context, problem->ops, 4);
  uint8_t *placement = regal_alloc(context, problem->ops, 1);
  for (uint32_t op = 0; op < problem->ops; op++)
    order[op] = op;
  check(context,
        regal_plan_from_order(context, problem, order, placement, &plan));
  check(context, a->create(context, problem, &state));
  a->begin(state, plan, 1);
  double moves = anneal(a, state, a->hot, a->cold, .5) / .5;
  a->destroy(state);
  regal_plan_free(plan);
  regal_release(context, order);
  regal_release(context, placement);
  regal_problem_free(problem);
  regal_graph_free(graph);
  return moves;
}

static void speed(regal_context *context) {
  static const uint32_t ops[] = {125, 1000, 5000};
  static const char *const devices[] = {"1", "2", "4"};
  puts("| ops | d = 1 | d = 2 | d = 4 |\n|---|---|---|---|");
  for (int i = 0; i < 3; i++) {
    printf("| %u |", ops[i]);
    for (int k = 0; k < 3; k++)
      printf(" %.0f |", moves_per_second(context, ops[i], devices[k]));
    puts("");
  }
}

int main(void) {
  regal_context *context;
  if (regal_context_create(&context, NULL) != REGAL_OK)
    return 2;
  speed(context);
  regal_context_free(context);
  return 0;
}
