/* SPDX-License-Identifier: Apache-2.0 */
/* bench_peak: what annealing for peak memory is worth.
 *
 *   build/bench/bench_peak speed
 *   build/bench/bench_peak quality ARCHIVE LIST [SETTING=VALUE...]
 *
 * `speed` prints moves a second (CPU time) on layered graphs of 8 ops a layer.
 * `quality` anneals every graph of LIST (a file of names, maybe in the archive,
 * or NAME,NAME,...) from the best of quick starts, and prints for each graph
 * its peak over the bound, over the best quick start and over the order that
 * came with the graph (ARCHIVE:NAME.order, one device), in percent; then the
 * means. Plans are verified. Settings: devices=1, seconds=.5 (CPU), seed=1,
 * hot= and cold= (the annealer's own), every=1 (take each so-manieth graph),
 * aliases=ignore.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "anneal/driver/annealers.h"
#include "base/random.h"
#include "base/text.h"
#include "cost/bound/bound.h"
#include "cost/model/simulate.h"
#include "dataset/archive/catalog.h"
#include "dataset/synthetic/synthetic.h"
#include "decode/walk.h"
#include "heuristic/list/orders.h"
#include "support/timing.h"

typedef struct settings {
  double seconds, hot, cold;
  uint64_t seed;
  uint32_t every;
  regal_options options;
} settings;

static void check(regal_context *context, regal_status status) {
  if (status == REGAL_OK)
    return;
  fprintf(stderr, "bench_peak: %s\n", regal_error(context));
  exit(2);
}

/* -- The schedule ---------------------------------------------------------- */

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

/* -- Starts ---------------------------------------------------------------- */

typedef struct starts {
  regal_context *context;
  const regal_problem *problem;
  regal_walk walk;
  uint32_t *order, *rank, *best_order;
  uint8_t *placement, *best_placement;
  regal_fitness best;
} starts;

static void layout(starts *s, regal_carver *carver) {
  s->order = regal_carve(carver, s->problem->ops, 4);
  s->rank = regal_carve(carver, s->problem->ops, 4);
  s->best_order = regal_carve(carver, s->problem->ops, 4);
  s->placement = regal_carve(carver, s->problem->ops, 1);
  s->best_placement = regal_carve(carver, s->problem->ops, 1);
  regal_walk_layout(&s->walk, carver, s->problem);
}

static void place_by_cuts(starts *s, const uint32_t *cuts) {
  for (uint32_t op = 0; op < s->problem->ops; op++) {
    uint32_t device = 0;
    while (device + 1 < s->problem->devices && s->rank[op] >= cuts[device])
      device++;
    s->placement[op] = (uint8_t)device;
  }
}

static regal_fitness offer(starts *s) {
  regal_fitness found =
      regal_walk_late(s->problem, &s->walk, s->order, s->placement, NULL);
  if (regal_fitness_less(found, s->best)) {
    s->best = found;
    memcpy(s->best_order, s->order, s->problem->ops * 4);
    memcpy(s->best_placement, s->placement, s->problem->ops);
  }
  return found;
}

/* Cuts of the rank into stages, one after the other moved to its best place. */
static void scan_cuts(starts *s) {
  uint32_t n = s->problem->ops, d = s->problem->devices, cuts[64];
  for (uint32_t k = 0; k < d; k++)
    cuts[k] = (uint32_t)((uint64_t)n * (k + 1) / d);
  for (int round = 0; round < (d > 2 ? 3 : 1); round++)
    for (uint32_t k = 0; k + 1 < d; k++) {
      regal_fitness best = REGAL_FITNESS_WORST;
      uint32_t chosen = cuts[k];
      for (uint32_t i = 0; i <= 100; i++) {
        cuts[k] = (uint32_t)((uint64_t)n * i / 100);
        place_by_cuts(s, cuts);
        regal_fitness found = offer(s);
        if (regal_fitness_less(found, best)) {
          best = found;
          chosen = cuts[k];
        }
      }
      cuts[k] = chosen;
    }
}

/* Backward ops get the rank of the forward ops that they belong to. */
static void fold_ranks(starts *s, uint32_t turn) {
  const regal_problem *problem = s->problem;
  for (uint32_t i = turn; i < problem->ops; i++) {
    uint32_t op = s->order[i];
    for (uint32_t k = problem->input_begin[op];
         k < problem->input_begin[op + 1]; k++) {
      uint32_t from = s->rank[problem->producer[problem->input[k]]];
      s->rank[op] = from < s->rank[op] ? from : s->rank[op];
    }
  }
}

/* One device; contiguous cuts; folded ones, at a few turning points. */
static void offer_order(starts *s) {
  uint32_t n = s->problem->ops;
  memset(s->placement, 0, n);
  offer(s);
  if (s->problem->devices == 1)
    return;
  for (int turn = 3; turn <= 10; turn++) {
    for (uint32_t i = 0; i < n; i++)
      s->rank[s->order[i]] = i;
    fold_ranks(s, (uint32_t)((uint64_t)n * turn / 10));
    scan_cuts(s);
  }
}

static int64_t find_starts(starts *s) {
  static const regal_order_fn orders[] = {NULL, regal_order_lpmf,
                                          regal_order_dfs, regal_order_bfs,
                                          regal_order_xla_list};
  for (size_t k = 0; k < sizeof orders / sizeof *orders; k++) {
    if (k >= 2 && s->problem->devices > 1)
      break;
    for (uint32_t op = 0; op < s->problem->ops; op++)
      s->order[op] = op;
    if (orders[k])
      check(s->context, orders[k](s->context, s->problem, s->order));
    offer_order(s);
  }
  return s->best.value;
}

/* -- One graph ------------------------------------------------------------- */

typedef struct outcome {
  double gap, gain_quick, gain_own, moves; /* gains in percent */
} outcome;

/* The order that came with the graph: its peak, or 0. It joins the starts. */
static int64_t offer_own(starts *s, const char *path) {
  char name[600];
  regal_plan *plan;
  snprintf(name, sizeof name, "%s.order", path);
  if (s->problem->devices > 1 ||
      regal_plan_load(s->context, s->problem, name, &plan) != REGAL_OK)
    return 0;
  uint32_t next = 0;
  for (uint32_t i = 0; i < plan->step_count; i++)
    s->order[next++] = plan->steps[i].op;
  memset(s->placement, 0, s->problem->ops);
  regal_plan_free(plan);
  return offer(s).value;
}

static void anneal_graph(regal_context *context, const settings *with,
                         const char *path, outcome *out) {
  regal_graph *graph;
  regal_problem *problem;
  regal_plan *plan;
  regal_cost cost;
  void *state;
  int64_t bound;
  const regal_annealer *a = &regal_annealer_memory;
  check(context, regal_graph_load(context, path, &with->options, &graph));
  check(context,
        regal_problem_create(context, graph, &with->options, &problem));
  check(context, regal_bound_memory(context, problem, &bound));
  starts s = {.context = context, .problem = problem};
  s.best = REGAL_FITNESS_WORST;
  regal_carver carver = {NULL, 0};
  layout(&s, &carver);
  char *block = regal_alloc(context, carver.used, 1);
  carver = (regal_carver){block, 0};
  layout(&s, &carver);
  int64_t quick = find_starts(&s), own = offer_own(&s, path);
  check(context, regal_plan_from_order(context, problem, s.best_order,
                                       s.best_placement, &plan));
  check(context, a->create(context, problem, &state));
  a->begin(state, plan,
           regal_random_key(with->seed, REGAL_PURPOSE_ANNEAL, 0, 0));
  regal_plan_free(plan);
  out->moves = anneal(a, state, with->hot, with->cold, with->seconds);
  check(context,
        regal_plan_create(context, regal_plan_most_steps(problem), &plan));
  a->write(state, plan);
  check(context, regal_verify(context, problem, plan, &cost));
  if (cost.max_peak_bytes != a->best(state).value) {
    fprintf(stderr, "%s: %lld, but the verifier says %lld\n", path,
            (long long)a->best(state).value, (long long)cost.max_peak_bytes);
    exit(2);
  }
  /* One device holds all resident bytes whatever the order: gains leave them
   * out. */
  double peak = (double)cost.max_peak_bytes, held = 0;
  if (problem->devices == 1)
    held = (double)graph->total_resident_bytes;
  out->gap = 100 * (peak / (double)bound - 1);
  out->gain_quick = 100 * (1 - (peak - held) / ((double)quick - held));
  out->gain_own = own ? 100 * (1 - (peak - held) / ((double)own - held)) : 0;
  printf("%-28s %5u ops  gap %7.3f  start %7.3f  -quick %6.2f  -own %6.2f  "
         "%.0f moves/s\n",
         strrchr(path, ':') + 1, problem->ops, out->gap,
         100 * ((double)s.best.value / (double)bound - 1), out->gain_quick,
         out->gain_own, out->moves / with->seconds);
  regal_plan_free(plan);
  a->destroy(state);
  regal_release(context, block);
  regal_problem_free(problem);
  regal_graph_free(graph);
}

static void read_setting(regal_context *context, settings *with, char *text) {
  char *value = strchr(text, '=');
  if (!value) {
    fprintf(stderr, "bench_peak: \"%s\" is no setting\n", text);
    exit(1);
  }
  *value++ = 0;
  if (!strcmp(text, "seconds"))
    with->seconds = atof(value);
  else if (!strcmp(text, "hot"))
    with->hot = atof(value);
  else if (!strcmp(text, "cold"))
    with->cold = atof(value);
  else if (!strcmp(text, "seed"))
    with->seed = strtoull(value, NULL, 10);
  else if (!strcmp(text, "every"))
    with->every = (uint32_t)strtoul(value, NULL, 10);
  else
    check(context, regal_options_set(context, &with->options, text, value));
}

static void quality(regal_context *context, int argc, char **argv) {
  settings with = {.seconds = .5,
                   .hot = regal_annealer_memory.hot,
                   .cold = regal_annealer_memory.cold,
                   .seed = 1,
                   .every = 1};
  outcome sum = {0, 0, 0, 0}, one;
  uint32_t line = 0, graphs = 0;
  regal_text text;
  regal_options_init(&with.options);
  check(context,
        regal_options_set(context, &with.options, "objective", "memory"));
  check(context, regal_options_set(context, &with.options, "devices", "1"));
  for (int i = 4; i < argc; i++)
    read_setting(context, &with, argv[i]);
  regal_text_init(&text, context);
  char *rest = argv[3];
  if (!strchr(argv[3], ',')) {
    check(context, regal_read_input(context, argv[3], &text));
    rest = text.bytes;
  }
  for (char *name; (name = strtok_r(rest, "\n,", &rest));) {
    char path[512];
    if (line++ % with.every)
      continue;
    snprintf(path, sizeof path, "%s:%s", argv[2], name);
    anneal_graph(context, &with, path, &one);
    sum.gap += one.gap;
    sum.gain_quick += one.gain_quick;
    sum.gain_own += one.gain_own;
    sum.moves += one.moves;
    graphs++;
  }
  regal_text_free(&text);
  printf("mean of %u: gap %.3f  -quick %.3f  -own %.3f  %.0f moves/s\n", graphs,
         sum.gap / graphs, sum.gain_quick / graphs, sum.gain_own / graphs,
         sum.moves / graphs / with.seconds);
}

/* -- Speed ----------------------------------------------------------------- */

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

int main(int argc, char **argv) {
  regal_context *context;
  if (regal_context_create(&context, NULL) != REGAL_OK)
    return 2;
  if (argc == 2 && !strcmp(argv[1], "speed"))
    speed(context);
  else if (argc >= 4 && !strcmp(argv[1], "quality"))
    quality(context, argc, argv);
  else
    fputs("usage: bench_peak speed | quality ARCHIVE LIST "
          "[SETTING=VALUE...]\n",
          stderr);
  regal_context_free(context);
  return 0;
}
