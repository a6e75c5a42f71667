/* SPDX-License-Identifier: Apache-2.0 */
/* bench_limits: what a memory limit that hardly matters costs the order
 * annealer.
 *
 *   build/bench/bench_limits [--rounds N] [GRAPH...]
 *
 * For every graph (layered ones where none are given) and every machine (2, 4
 * and 8 devices; free, blocking and overlapped transfers) a plan is found
 * without a limit. Annealing then goes on from this plan, warm to cold, without
 * a limit and with limits of 1.1, 1.5, 2 and 3 times the plan's peak. Prints
 * moves per second (CPU time) without a limit, and with limits as a share of
 * that (1000x: no account of memory, but the mix of moves under a limit). All
 * of them take turns; rounds have different random numbers.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "anneal/driver/annealers.h"
#include "cost/model/simulate.h"
#include "dataset/synthetic/synthetic.h"
#include "heuristic/list/orders.h"
#include "support/timing.h"

enum { LIMITS = 6, STRETCH = 500, STRETCHES = 60, FIRST_STRETCHES = 400 };

static const double factors[LIMITS] = {0, 1.1, 1.5, 2, 3, 1000};
static const char *const transfers[] = {"free", "transfers=blocking",
                                        "transfers=overlapped"};

static void check(regal_context *context, regal_status status) {
  if (status == REGAL_OK)
    return;
  fprintf(stderr, "bench_limits: %s\n", regal_error(context));
  exit(2);
}

/* A graph on a machine. */
typedef struct work {
  regal_context *context;
  regal_options options;
  regal_problem *problem[LIMITS];
  void *chain[LIMITS];
  regal_plan *plan;
  double seconds[LIMITS]; /* over all rounds */
} work;

static void set(work *w, const char *name, const char *value) {
  check(w->context, regal_options_set(w->context, &w->options, name, value));
}

/* Geometric, so many stretches; returns CPU seconds. */
static double anneal(void *chain, double hot, double cold, int stretches) {
  double began = bench_seconds();
  for (int i = 0; i < stretches; i++) {
    double progress = (double)i / stretches;
    regal_anneal_stretch stretch = {hot * pow(cold / hot, progress), progress,
                                    STRETCH, false};
    regal_annealer_order.run(chain, &stretch);
  }
  return bench_seconds() - began;
}

static void create_chain(work *w, const regal_graph *graph, int i) {
  check(w->context,
        regal_problem_create(w->context, graph, &w->options, &w->problem[i]));
  check(w->context,
        regal_annealer_order.create(w->context, w->problem[i], &w->chain[i]));
}

/* The plan that is found without a limit; returns its peak. */
static int64_t find_plan(work *w) {
  regal_simulator *simulator;
  regal_cost cost;
  regal_plan *single;
  const regal_problem *problem = w->problem[0];
  check(w->context, regal_plan_single(w->context, problem, &single));
  check(w->context, regal_plan_create(
                        w->context, regal_plan_most_steps(problem), &w->plan));
  regal_annealer_order.begin(w->chain[0], single, 1);
  anneal(w->chain[0], 1, 0.01, FIRST_STRETCHES);
  regal_annealer_order.write(w->chain[0], w->plan);
  check(w->context, regal_simulator_create(w->context, problem, &simulator));
  regal_simulate(simulator, w->plan, &cost);
  regal_simulator_free(simulator);
  regal_plan_free(single);
  int64_t peak = 0;
  for (uint32_t a = 0; a < problem->devices; a++)
    peak = cost.peak_bytes[a] > peak ? cost.peak_bytes[a] : peak;
  return peak;
}

static void create(work *w, const regal_graph *graph) {
  char bytes[32];
  create_chain(w, graph, 0);
  int64_t peak = find_plan(w);
  for (int i = 1; i < LIMITS; i++) {
    snprintf(bytes, sizeof bytes, "%.0f", factors[i] * (double)peak);
    set(w, "memory-limit", bytes);
    create_chain(w, graph, i);
  }
}

static void destroy(work *w) {
  for (int i = 0; i < LIMITS; i++) {
    regal_annealer_order.destroy(w->chain[i]);
    regal_problem_free(w->problem[i]);
  }
  regal_plan_free(w->plan);
}

static void race(work *w, int rounds) {
  for (int i = 0; i < LIMITS; i++)
    w->seconds[i] = 0;
  for (int round = 0; round < rounds; round++)
    for (int i = 0; i < LIMITS; i++) {
      regal_annealer_order.begin(w->chain[i], w->plan, (uint64_t)round);
      w->seconds[i] += anneal(w->chain[i], 0.1, 0.003, STRETCHES) / rounds;
    }
}

static void measure(regal_context *context, const regal_graph *graph,
                    const char *name, const char *kind, const char *devices,
                    int rounds) {
  work w = {.context = context};
  regal_options_init(&w.options);
  set(&w, "devices", devices);
  const char *value = strchr(kind, '=');
  if (value) {
    set(&w, "transfers", value + 1);
    set(&w, "latency", "10us");
    set(&w, "bandwidth", "25GB");
  }
  create(&w, graph);
  race(&w, rounds);
  printf("%-28s %-10s %s devices %8.0f moves/s", name, value ? value + 1 : kind,
         devices, STRETCH * STRETCHES / w.seconds[0]);
  for (int i = 1; i < LIMITS; i++)
    printf("  %gx %.3f", factors[i], w.seconds[0] / w.seconds[i]);
  printf("\n");
  fflush(stdout);
  destroy(&w);
}

static void measure_graph(regal_context *context, regal_graph *graph,
                          const char *name, int rounds) {
  static const char *const devices[] = {"2", "4", "8"};
  for (size_t k = 0; k < sizeof transfers / sizeof *transfers; k++)
    for (size_t d = 0; d < sizeof devices / sizeof *devices; d++)
      measure(context, graph, name, transfers[k], devices[d], rounds);
  regal_graph_free(graph);
}

static void measure_file(regal_context *context, const char *path, int rounds) {
  regal_options options;
  regal_graph *graph;
  regal_options_init(&options);
  const char *colon = strrchr(path, ':');
  check(context, regal_graph_load(context, path, &options, &graph));
  measure_graph(context, graph, colon ? colon + 1 : path, rounds);
}

static void measure_layered(regal_context *context, uint32_t ops, int rounds) {
  regal_graph *graph;
  char name[32];
  snprintf(name, sizeof name, "layered, %u ops", ops);
  check(context, regal_layered_graph(context, ops, 16, 2, 1, &graph));
  measure_graph(context, graph, name, rounds);
}

int main(int argc, char **argv) {
  regal_context *context;
  int rounds = 5, first = 1;
  if (argc > 2 && strcmp(argv[1], "--rounds") == 0) {
    rounds = atoi(argv[2]);
    first = 3;
  }
  if (regal_context_create(&context, NULL) != REGAL_OK)
    return 2;
  for (int i = first; i < argc; i++)
    measure_file(context, argv[i], rounds);
  if (first == argc) {
    measure_layered(context, 250, rounds);
    measure_layered(context, 2000, rounds);
  }
  regal_context_free(context);
  return 0;
}
