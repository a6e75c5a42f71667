/* SPDX-License-Identifier: Apache-2.0 */
/* bench_phase: phase annealing by itself, with the plainest schedule.
 *
 *   build/bench/bench_phase
 *       moves per second on layered graphs
 *   build/bench/bench_phase ARCHIVE LIST SECONDS [OPTION VALUE]...
 *       mean gap to the lower bound, %, after SECONDS of CPU time on each graph
 *       in LIST: half of them from every op in its own phase, half from heft's
 *       plan
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "anneal/driver/annealers.h"
#include "base/text.h"
#include "cost/model/simulate.h"
#include "dataset/archive/catalog.h"
#include "dataset/synthetic/synthetic.h"
#include "support/timing.h"

static const regal_annealer *const phase = &regal_annealer_phase;

static void check(regal_context *context, regal_status status) {
  if (status == REGAL_OK)
    return;
  fprintf(stderr, "bench_phase: %s\n", regal_error(context));
  exit(2);
}

/* What a run works on. */
typedef struct work {
  regal_context *context;
  regal_problem *problem;
  regal_options options;
  regal_plan *single, *heft; /* starts */
  double bound, single_ns;
} work;

static regal_plan *plan_by(work *w, const char *method) {
  regal_result *result;
  regal_plan *plan;
  check(w->context,
        regal_options_set(w->context, &w->options, "method", method));
  check(w->context,
        regal_optimize(w->context, w->problem, &w->options, &result));
  check(w->context, regal_plan_copy(w->context, result->plan, &plan));
  w->bound = (double)result->bound.runtime_ns;
  w->single_ns = (double)result->before.runtime_ns;
  regal_result_free(result);
  return plan;
}

static void begin_work(work *w, const regal_graph *graph) {
  w->options.threads = 1;
  check(w->context,
        regal_problem_create(w->context, graph, &w->options, &w->problem));
  w->single = plan_by(w, "single");
  w->heft = plan_by(w, "heft");
}

static void end_work(work *w) {
  regal_plan_free(w->single);
  regal_plan_free(w->heft);
  regal_problem_free(w->problem);
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

static double plan_cost(work *w, void *state) {
  regal_plan *plan;
  regal_simulator *simulator;
  regal_cost cost;
  check(w->context, regal_plan_create(
                        w->context, regal_plan_most_steps(w->problem), &plan));
  check(w->context, regal_simulator_create(w->context, w->problem, &simulator));
  phase->write(state, plan);
  regal_simulate(simulator, plan, &cost);
  regal_simulator_free(simulator);
  regal_plan_free(plan);
  return (double)cost.runtime_ns;
}

static double gap_percent(double cost, double bound) {
  return bound > 0 ? 100 * (cost / bound - 1) : 0;
}

/* Adds gaps of: one device, heft, from own phases, from heft, the better. */
static double measure(work *w, double seconds, double *sums) {
  bool costs = !w->problem->free_transfers;
  double hot = costs ? 2 : 0.5, cold = costs ? 0.02 : 0.005;
  double warm = costs ? 0.5 : 0.1, moves;
  void *state;
  check(w->context, phase->create(w->context, w->problem, &state));
  phase->begin(state, w->heft, 1);
  double heft = (double)phase->best(state).value;
  moves = anneal(state, warm, 0.005, seconds / 2);
  double from_heft = plan_cost(w, state);
  phase->begin(state, w->single, 2);
  moves += anneal(state, hot, cold, seconds / 2);
  double from_single = plan_cost(w, state);
  phase->destroy(state);
  sums[0] += gap_percent(w->single_ns, w->bound);
  sums[1] += gap_percent(heft, w->bound);
  sums[2] += gap_percent(from_single, w->bound);
  sums[3] += gap_percent(from_heft, w->bound);
  sums[4] += gap_percent(fmin(from_heft, from_single), w->bound);
  return moves;
}

static int measure_quality(int argc, char **argv) {
  work w;
  regal_text names;
  double sums[5] = {0}, moves = 0, seconds = atof(argv[3]);
  int graphs = 0;
  if (regal_context_create(&w.context, NULL) != REGAL_OK)
    return 2;
  regal_options_init(&w.options);
  for (int i = 4; i + 1 < argc; i += 2)
    check(w.context,
          regal_options_set(w.context, &w.options, argv[i], argv[i + 1]));
  regal_text_init(&names, w.context);
  check(w.context, regal_read_input(w.context, argv[2], &names));
  char *rest = names.bytes, path[512];
  for (char *name; (name = strtok_r(rest, "\n", &rest)); graphs++) {
    regal_graph *graph;
    snprintf(path, sizeof path, "%s:%s", argv[1], name);
    check(w.context, regal_graph_load(w.context, path, &w.options, &graph));
    begin_work(&w, graph);
    moves += measure(&w, seconds, sums);
    end_work(&w);
    regal_graph_free(graph);
  }
  printf("%d graphs, %g s each: one device %.2f, heft %.2f, from own phases "
         "%.2f, from heft %.2f, the better %.2f %%; %.2f M moves/s\n",
         graphs, seconds, sums[0] / graphs, sums[1] / graphs, sums[2] / graphs,
         sums[3] / graphs, sums[4] / graphs, 1e-6 * moves / seconds / graphs);
  regal_text_free(&names);
  regal_context_free(w.context);
  return 0;
}

static int measure_speed(void) {
  static const uint32_t sizes[] = {125, 1000, 5000, 100000};
  for (int costs = 0; costs < 2; costs++)
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
      work w;
      regal_graph *graph;
      void *state;
      if (regal_context_create(&w.context, NULL) != REGAL_OK)
        return 2;
      regal_options_init(&w.options);
      if (costs)
        check(w.context,
              regal_options_set(w.context, &w.options, "latency", "10us"));
      check(w.context,
            regal_layered_graph(w.context, sizes[i], 16, 2, 1, &graph));
      begin_work(&w, graph);
      check(w.context, phase->create(w.context, w.problem, &state));
      phase->begin(state, w.single, 1);
      double moves = anneal(state, phase->hot, phase->cold, 0.5);
      printf("%u ops, %s: %.3f us a move\n", sizes[i],
             costs ? "transfers cost" : "free transfers", 0.5e6 / moves);
      phase->destroy(state);
      end_work(&w);
      regal_graph_free(graph);
      regal_context_free(w.context);
    }
  return 0;
}

int main(int argc, char **argv) {
  if (argc == 1)
    return measure_speed();
  if (argc >= 4)
    return measure_quality(argc, argv);
  fputs("usage: bench_phase [ARCHIVE LIST SECONDS [OPTION VALUE]...]\n",
        stderr);
  return 1;
}
