/* SPDX-License-Identifier: Apache-2.0 */
/* bench_fit: one pass of list scheduling within memory limits, on layered
 * graphs: microseconds for an op, with and without a limit that matters.
 *
 *   build/bench/bench_fit
 *
 * The placement is heft's, on eight devices with overlapped transfers, and the
 * safe order lpmf's. The tight limit is what the safe order needs on each
 * device: few ops may run ahead of it, and most trials are taken back. Best of
 * several rounds.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/options/options.h"
#include "dataset/synthetic/synthetic.h"
#include "decode/walk.h"
#include "heuristic/fit/fit.h"
#include "heuristic/list/orders.h"
#include "support/timing.h"

enum { WIDTH = 32, FAN_IN = 2, SEED = 7, ROUNDS = 7 };

static void check(regal_context *context, regal_status status) {
  if (status == REGAL_OK)
    return;
  fprintf(stderr, "bench_fit: %s\n", regal_error(context));
  exit(2);
}

typedef struct work {
  regal_context *context;
  regal_graph *graph;
  regal_problem *problem;
  uint32_t *order;
  uint8_t *placement;
  regal_fit fit;
  regal_walk walk;
  void *block;
} work;

static void layout(work *w, regal_carver *carver) {
  w->order = regal_carve(carver, w->problem->ops, 4);
  w->placement = regal_carve(carver, w->problem->ops, 1);
  regal_fit_layout(&w->fit, carver, w->problem);
  regal_walk_layout(&w->walk, carver, w->problem);
}

static void begin(work *w, uint32_t ops) {
  regal_options options;
  regal_options_init(&options);
  check(w->context, regal_options_set(w->context, &options, "devices", "8"));
  check(w->context,
        regal_options_set(w->context, &options, "transfers", "overlapped"));
  check(w->context, regal_options_set(w->context, &options, "latency", "10us"));
  check(w->context,
        regal_options_set(w->context, &options, "memory-limit", "1000000000"));
  check(w->context,
        regal_layered_graph(w->context, ops, WIDTH, FAN_IN, SEED, &w->graph));
  check(w->context,
        regal_problem_create(w->context, w->graph, &options, &w->problem));
  regal_carver carver = {NULL, 0};
  check(w->context, REGAL_CARVE_BLOCK(w->context, carver, layout(w, &carver)));
  w->block = carver.base;
  check(w->context, regal_order_lpmf(w->context, w->problem, w->order));
  check(w->context, regal_heft_place(w->context, w->problem, 0, w->placement));
}

/* Seconds of the fastest of several passes. */
static double time_pass(work *w) {
  static const regal_fit_setting setting = {0.5, 2, 0.5, 1};
  double best = 1e9;
  regal_fit_begin(&w->fit, w->order, w->placement);
  for (int round = 0; round < ROUNDS; round++) {
    double began = bench_seconds();
    regal_fit_schedule(&w->fit, &setting, INT64_MAX, NULL);
    double took = bench_seconds() - began;
    best = took < best ? took : best;
  }
  return best;
}

static void run(regal_context *context, uint32_t ops) {
  work w = {.context = context};
  begin(&w, ops);
  double loose = time_pass(&w);
  regal_walk_late(w.problem, &w.walk, w.order, w.placement, NULL);
  for (uint32_t a = 0; a < w.problem->devices; a++)
    w.problem->limit[a] = w.walk.running.peak[a];
  double tight = time_pass(&w);
  printf("%8u ops: loose limit %.2f us an op, tight limit %.2f\n", ops,
         loose * 1e6 / ops, tight * 1e6 / ops);
  regal_release(context, w.block);
  regal_problem_free(w.problem);
  regal_graph_free(w.graph);
}

int main(void) {
  regal_context *context;
  if (regal_context_create(&context, NULL) != REGAL_OK)
    return 2;
  for (uint32_t ops = 1000; ops <= 100000; ops *= 10)
    run(context, ops);
  regal_context_free(context);
  return 0;
}
