/* SPDX-License-Identifier: Apache-2.0 */
/* bench_climb: hill climbing.
 *
 *   build/bench/bench_climb [ARCHIVE:GRAPH]...
 *       microseconds for a move, against a whole evaluation: by the paper's
 *       decoder (what BRKGA pays), and by a walk over an order (what a local
 *       search without incremental evaluation would pay). On a layered and a
 *       synthetic graph of 1000 ops, and on those that are named.
 *   build/bench/bench_climb grid [GRAPHS [BUDGET]]
 *       the grid search for --climb-restart: mean cost relative to BRKGA's, on
 *       synthetic graphs of the training stream, equal evaluations
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "anneal/climb/climb.h"
#include "dataset/synthetic/recipe.h"
#include "decode/decoder.h"
#include "decode/walk.h"
#include "evolve/proposal.h"
#include "support/timing.h"

#define CHROMOSOMES 64

static void check(regal_context *context, regal_status status) {
  if (status == REGAL_OK)
    return;
  fprintf(stderr, "bench_climb: %s\n", regal_error(context));
  exit(2);
}

static void *allocate(size_t count, size_t size) {
  void *made = calloc(count, size);
  if (!made)
    abort();
  return made;
}

/* -- Speed ----------------------------------------------------------------- */

typedef struct speed {
  const regal_problem *problem;
  const regal_decoder *decoder;
  void *scratch;
  regal_gene *genes; /* [CHROMOSOMES * length] */
  size_t length;
  regal_walk walk;
  char *walk_block;
  regal_climb_solution solution;
  regal_random random;
  regal_fitness fitness;
  uint64_t idle, patience, moves, kept;
  uint32_t *order;
  uint8_t *placement;
  int64_t sum; /* keeps the work from being optimised away */
} speed;

static void run_decoder(void *state, int repeats) {
  speed *s = state;
  for (int i = 0; i < repeats; i++)
    s->sum +=
        s->decoder
            ->decode(s->problem, s->scratch,
                     s->genes + (size_t)(i % CHROMOSOMES) * s->length, NULL)
            .value;
}

static void run_walk(void *state, int repeats) {
  speed *s = state;
  bool late =
      s->problem->machine->overlapped || s->problem->objective == REGAL_MEMORY;
  for (int i = 0; i < repeats; i++)
    s->sum += (late ? regal_walk_late : regal_walk_within_limit)(
                  s->problem, &s->walk, s->order, s->placement, NULL)
                  .value;
}

static void start(speed *s) {
  for (uint32_t op = 0; op < s->problem->ops; op++) {
    s->order[op] = op;
    s->placement[op] =
        (uint8_t)regal_climb_pick(s->problem->allowed[op], &s->random);
  }
  s->solution.engine->begin(s->solution.state, s->order, s->placement,
                            &s->fitness);
  s->idle = 0;
}

/* As the method does it, restarts and all. */
static void run_moves(void *state, int repeats) {
  speed *s = state;
  for (int i = 0; i < repeats; i++) {
    if (s->idle >= s->patience)
      start(s);
    bool better = regal_climb_step(&s->solution, &s->random, &s->fitness);
    s->idle = better ? 0 : s->idle + 1;
    s->kept += better;
    s->moves++;
  }
}

static void begin_speed(regal_context *context, speed *s,
                        const regal_problem *problem) {
  *s = (speed){.problem = problem, .decoder = &regal_decoder_paper};
  s->length = regal_decoder_genes(s->decoder, problem);
  check(context, s->decoder->create_scratch(context, problem, &s->scratch));
  s->genes = allocate(CHROMOSOMES * s->length, sizeof *s->genes);
  for (size_t c = 0; c < CHROMOSOMES; c++)
    regal_sample_uniform(regal_random_key(1, REGAL_PURPOSE_TEST, 0, c), 0,
                         s->genes + c * s->length, s->length);
  regal_carver carver = {NULL, 0};
  regal_walk_layout(&s->walk, &carver, problem);
  s->walk_block = allocate(carver.used, 1);
  carver = (regal_carver){s->walk_block, 0};
  regal_walk_layout(&s->walk, &carver, problem);
  s->order = allocate(problem->ops, sizeof *s->order);
  s->placement = allocate(problem->ops, 1);
  s->random.key = 1;
  s->patience = (uint64_t)regal_climb_restart(problem) * problem->ops;
  check(context, regal_climb_create(context, problem, &s->solution));
  start(s);
}

static void end_speed(regal_context *context, speed *s) {
  s->solution.engine->destroy(s->solution.state);
  regal_release(context, s->scratch);
  free(s->genes);
  free(s->walk_block);
  free(s->order);
  free(s->placement);
}

typedef struct setting {
  const char *name, *options[8];
} setting;

static const setting settings[] = {
    {"run time, free transfers", {NULL}},
    {"run time, 10 us and 25 GB/s",
     {"latency", "10us", "bandwidth", "25GB", NULL}},
    {"run time, overlapped",
     {"latency", "10us", "bandwidth", "25GB", "transfers", "overlapped", NULL}},
    {"run time, 4 devices", {"devices", "4", NULL}},
    {"peak memory", {"objective", "memory", NULL}},
    {"peak memory, 4 devices", {"objective", "memory", "devices", "4", NULL}},
};

static void race(regal_context *context, const regal_graph *graph,
                 const char *name) {
  for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
    regal_options options;
    regal_problem *problem;
    speed s;
    regal_options_init(&options);
    for (const char *const *o = settings[i].options; *o; o += 2)
      check(context, regal_options_set(context, &options, o[0], o[1]));
    check(context, regal_problem_create(context, graph, &options, &problem));
    begin_speed(context, &s, problem);
    bench_candidate candidates[] = {{"paper", run_decoder, &s, 0},
                                    {"walk", run_walk, &s, 0}};
    bench_race(candidates, 2, 20, 0.01);
    int moves = 100 * (int)problem->ops;
    double began = bench_seconds();
    run_moves(&s, moves);
    double move = (bench_seconds() - began) / moves;
    printf("%-26s %6u  %-28s %8.2f %8.2f %8.3f %7.1f %7.1f\n", name,
           problem->ops, settings[i].name, 1e6 * candidates[0].seconds,
           1e6 * candidates[1].seconds, 1e6 * move,
           candidates[0].seconds / move, candidates[1].seconds / move);
    if (s.sum == 42)
      puts("");
    end_speed(context, &s);
    regal_problem_free(problem);
  }
}

static void race_all(regal_context *context, int count, char **paths) {
  regal_graph *graph;
  regal_options options;
  regal_options_init(&options);
  printf("%s\nmicroseconds, one thread, two devices\n", regal_build_id());
  printf("%-26s %6s  %-28s %8s %8s %8s %7s %7s\n", "graph", "ops", "setting",
         "paper", "walk", "move", "paper/m", "walk/m");
  check(context, regal_layered_graph(context, 1000, 52, 2, 7, &graph));
  race(context, graph, "layered");
  regal_graph_free(graph);
  check(context,
        regal_synthetic_graph(context, REGAL_WATTS_STROGATZ, 998, 7, &graph));
  race(context, graph, "Watts-Strogatz");
  regal_graph_free(graph);
  for (int i = 0; i < count; i++) {
    const char *name = strrchr(paths[i], ':');
    check(context, regal_graph_load(context, paths[i], &options, &graph));
    race(context, graph, name ? name + 1 : paths[i]);
    regal_graph_free(graph);
  }
}

/* -- Grid ------------------------------------------------------------------ */

static double cost_by(regal_context *context, const regal_problem *problem,
                      regal_options *options, const char *method) {
  regal_result *result;
  check(context, regal_options_set(context, options, "method", method));
  check(context, regal_optimize(context, problem, options, &result));
  double cost = problem->objective == REGAL_MEMORY
                    ? (double)result->cost.max_peak_bytes
                    : (double)result->cost.runtime_ns;
  regal_result_free(result);
  return cost;
}

static const int restarts[] = {1, 2, 3, 5, 8, 12, 20, 40, 0};
enum { RESTARTS = sizeof restarts / sizeof *restarts };

/* Adds 100 (cost / BRKGA's - 1) for each number of moves. */
static void try_graph(regal_context *context, const regal_graph *graph,
                      const char *objective, int64_t budget, double *sums,
                      double *squares) {
  regal_options options;
  regal_problem *problem;
  regal_options_init(&options);
  options.threads = 1;
  options.evaluations = budget;
  check(context, regal_options_set(context, &options, "objective", objective));
  check(context, regal_problem_create(context, graph, &options, &problem));
  options.evaluations = 5000;
  double brkga = cost_by(context, problem, &options, "brkga");
  options.evaluations = budget;
  for (int i = 0; i < RESTARTS; i++) {
    options.climb_restart = restarts[i];
    double gap =
        100 * (cost_by(context, problem, &options, "climb") / brkga - 1);
    sums[i] += gap;
    squares[i] += gap * gap;
  }
  regal_problem_free(problem);
}

static void search_grid(regal_context *context, int graphs, int64_t budget) {
  static const char *const objectives[] = {"runtime", "memory"};
  regal_recipe recipe = {.model = REGAL_RECIPE_PAPER, .seed = 1};
  printf("%% above BRKGA at 5000 evaluations (standard error), %d graphs, %lld "
         "moves\nrestart after moves for each op without gain:\n%-10s",
         graphs, (long long)budget, "");
  for (int i = 0; i < RESTARTS; i++)
    printf(restarts[i] ? " %12d" : "        never", restarts[i]);
  putchar('\n');
  for (int o = 0; o < 2; o++) {
    double sums[RESTARTS] = {0}, squares[RESTARTS] = {0};
    for (int k = 0; k < graphs; k++) {
      regal_graph *graph;
      check(context, regal_recipe_graph(context, &recipe,
                                        regal_recipe_draw(&recipe, (uint64_t)k),
                                        &graph));
      try_graph(context, graph, objectives[o], budget, sums, squares);
      regal_graph_free(graph);
    }
    printf("%-10s", objectives[o]);
    for (int i = 0; i < RESTARTS; i++) {
      double mean = sums[i] / graphs;
      double spread = sqrt(fmax(squares[i] / graphs - mean * mean, 0));
      printf(" %6.2f (%.2f)", mean, spread / sqrt(graphs));
    }
    putchar('\n');
  }
}

int main(int argc, char **argv) {
  regal_context *context;
  if (regal_context_create(&context, NULL) != REGAL_OK)
    return 2;
  if (argc > 1 && strcmp(argv[1], "grid") == 0)
    search_grid(context, argc > 2 ? atoi(argv[2]) : 100,
                argc > 3 ? atoll(argv[3]) : 5000);
  else
    race_all(context, argc - 1, argv + 1);
  regal_context_free(context);
  return 0;
}
