/* SPDX-License-Identifier: Apache-2.0 */
/* `cut`: pipeline stages. Ops are ranked along an axis (axis.c), the axis is
 * cut into one stage for each device, and ops run in one of a few orders. For
 * each axis and order dynamic programming proposes cuts (dp.c), these are
 * costed exactly and moved one at a time (scan.c), and the best plan is kept.
 */
#include "heuristic/cut/cuts.h"

#include <string.h>

#include "heuristic/cut/parts.h"
#include "heuristic/heuristics.h"
#include "heuristic/list/orders.h"

/* Ops and uses that all walks together may visit, and bounds on their number:
 * measured as what still pays on real graphs, and a second for a million ops.
 */
#define EFFORT 3000000
#define MOST_WALKS 900
#define FEWEST_WALKS 24
#define FEWEST_POINTS 12
/* Guesses of the least peak. */
#define ROUNDS(walks) (1 + (walks) / 16)

enum { AXES = 3, MOST_ORDERS = 3, MOST_MACHINES = 4 };

struct regal_cuts {
  regal_context *context;
  const regal_problem *problem;
  regal_cut_order orders[MOST_ORDERS];
  regal_cut_axis axes[AXES];
  uint32_t order_count, axis_count;
  uint8_t devices[MOST_MACHINES][REGAL_MAX_DEVICES]; /* for stages, in order */
  uint32_t device_orders;
  uint8_t *other;   /* [ops] scratch */
  uint32_t *counts; /* [ops + 1] scratch */
  int64_t *sums;    /* [ops + 2] scratch */
  regal_cut_bench bench;
  uint32_t most_walks;
  regal_cut_plan found[AXES * MOST_ORDERS];
  uint32_t count;
};

static void layout(regal_cuts *cuts, regal_carver *carver) {
  const regal_problem *problem = cuts->problem;
  size_t n = problem->ops;
  regal_carve(carver, 1, sizeof *cuts);
  for (uint32_t i = 0; i < cuts->order_count; i++)
    cuts->orders[i].order = regal_carve(carver, n, 4);
  for (uint32_t i = 0; i < cuts->axis_count; i++)
    cuts->axes[i].rank = regal_carve(carver, n, 4);
  cuts->other = regal_carve(carver, n, 1);
  cuts->counts = regal_carve(carver, n + 1, 4);
  cuts->sums = regal_carve(carver, n + 2, 8);
  regal_cut_bench_layout(&cuts->bench, carver, problem);
}

/* -- What to try ----------------------------------------------------------- */

/* The list orders: critical path for run time, least peak memory first where
 * memory counts. */
static regal_status make_orders(regal_cuts *cuts) {
  const regal_problem *problem = cuts->problem;
  regal_cuts_file_order(problem, cuts->orders[0].order);
  for (uint32_t i = 1; i < cuts->order_count; i++) {
    bool lean = problem->objective == REGAL_MEMORY || i == 2;
    cuts->orders[i].name =
        lean ? "least-peak-memory-first order" : "critical-path order";
    REGAL_TRY((lean ? regal_order_lpmf : regal_cuts_list_order)(
        cuts->context, problem, cuts->orders[i].order));
  }
  return REGAL_OK;
}

static void make_axes(regal_cuts *cuts) {
  regal_cut_axis *axes = cuts->axes;
  regal_cuts_rank_along(cuts->problem, &cuts->orders[0], &axes[0]);
  if (cuts->axis_count == 1)
    return;
  regal_cuts_stages_begin(&cuts->bench.stages, &axes[0], &cuts->orders[0]);
  regal_cuts_stage_peak(&cuts->bench.stages, 0, cuts->problem->ops);
  regal_cuts_rank_fold(cuts->problem, cuts->bench.stages.peak_at, &axes[1]);
  regal_cuts_rank_along(cuts->problem, &cuts->orders[1], &axes[2]);
}

/* By what devices go to stages, where they differ. */
static int64_t device_key(const regal_problem *problem, uint32_t kind,
                          uint32_t device) {
  int64_t work = 0;
  switch (kind) {
  case 0: /* as they are numbered */
    return device;
  case 1: /* backwards */
    return -(int64_t)device;
  case 2: /* large memory first */
    return -problem->limit[device];
  default: /* fast first; what cannot run there costs nothing there */
    for (uint32_t op = 0; op < problem->ops; op++)
      if (problem->allowed[op] >> device & 1)
        work += regal_problem_run_ns(problem, op, device);
    return work;
  }
}

static void order_devices(regal_cuts *cuts) {
  const regal_problem *problem = cuts->problem;
  uint32_t d = problem->devices;
  uint32_t kinds = problem->symmetric ? 1 : MOST_MACHINES;
  for (uint32_t kind = 0; kind < kinds; kind++) {
    uint8_t *device = cuts->devices[cuts->device_orders];
    int64_t key[REGAL_MAX_DEVICES];
    for (uint32_t a = 0; a < d; a++) {
      uint32_t at = a;
      key[a] = device_key(problem, kind, a);
      for (; at > 0 && key[device[at - 1]] > key[a]; at--)
        device[at] = device[at - 1];
      device[at] = (uint8_t)a;
    }
    bool known = false;
    for (uint32_t i = 0; i < cuts->device_orders; i++)
      known |= !memcmp(cuts->devices[i], device, d);
    cuts->device_orders += !known;
  }
}

/* -- The search ------------------------------------------------------------ */

/* The best cuts of one axis for one order. */
static void search_pair(regal_cuts *cuts, const regal_cut_axis *axis,
                        const regal_cut_order *order, uint32_t walks) {
  regal_cut_bench *bench = &cuts->bench;
  regal_cut_plan best;
  uint32_t begun = bench->walks;
  regal_cut_begin(bench, axis, order, &best);
  for (uint32_t i = 0; i < cuts->device_orders; i++)
    regal_cut_try_starts(bench, cuts->devices[i], ROUNDS(walks), &best);
  uint32_t used = bench->walks - begun;
  regal_cut_scan(bench, &best, walks > used ? walks - used : 0);
  regal_cut_plan other = best;
  other.batched = !best.batched;
  regal_cut_try(bench, &other, &best);
  cuts->found[cuts->count++] = best;
}

/* Where a graph is so large that there are few walks, and memory counts, each
 * axis goes with its own order only: looking at stages costs most there. */
static bool is_worth_it(const regal_cuts *cuts, uint32_t axis, uint32_t order) {
  return cuts->most_walks > FEWEST_WALKS ||
         !regal_problem_needs_memory(cuts->problem) ||
         order == (axis == 2 ? 1 : 0);
}

static void search_all(regal_cuts *cuts) {
  const regal_problem *problem = cuts->problem;
  uint32_t pairs = cuts->axis_count * cuts->order_count;
  uint32_t each = cuts->most_walks / pairs;
  uint32_t points = each > FEWEST_POINTS ? each : FEWEST_POINTS;
  for (uint32_t a = 0; a < cuts->axis_count; a++) {
    regal_cut_grid_fill(&cuts->bench.grid, problem, &cuts->axes[a], points,
                        cuts->sums, cuts->counts);
    for (uint32_t o = 0; o < cuts->order_count; o++)
      if (is_worth_it(cuts, a, o) &&
          (!cuts->count || !regal_stop_requested(cuts->context)))
        search_pair(cuts, &cuts->axes[a], &cuts->orders[o], each);
  }
}

/* -- Results --------------------------------------------------------------- */

static bool same_plan(regal_cuts *cuts, const regal_cut_plan *a,
                      const regal_cut_plan *b) {
  size_t n = cuts->problem->ops;
  if (memcmp(a->order->order, b->order->order, n * sizeof(uint32_t)))
    return false;
  regal_cut_place_plan(&cuts->bench, a, cuts->bench.placement);
  regal_cut_place_plan(&cuts->bench, b, cuts->other);
  return !memcmp(cuts->bench.placement, cuts->other, n);
}

/* Best first; of the same plans the best one stays. */
static void sort_found(regal_cuts *cuts) {
  regal_cut_plan *found = cuts->found;
  uint32_t kept = 0;
  for (uint32_t i = 1; i < cuts->count; i++) {
    regal_cut_plan moved = found[i];
    uint32_t at = i;
    for (; at > 0 && regal_fitness_less(moved.fitness, found[at - 1].fitness);
         at--)
      found[at] = found[at - 1];
    found[at] = moved;
  }
  for (uint32_t i = 0; i < cuts->count; i++) {
    bool known = false;
    for (uint32_t k = 0; k < kept && !known; k++)
      known = same_plan(cuts, &found[k], &found[i]);
    if (!known)
      found[kept++] = found[i];
  }
  cuts->count = kept;
}

static void choose_sizes(regal_cuts *cuts) {
  const regal_problem *problem = cuts->problem;
  bool lean = problem->limited && problem->objective == REGAL_RUNTIME;
  uint64_t size = (uint64_t)problem->ops + problem->uses + 1;
  /* Counting bytes takes three times as long. Under a limit cuts are
   * only a start for annealing, which improves them greatly. */
  uint64_t slower = lean ? 12 : regal_problem_needs_memory(problem) ? 3 : 1;
  uint64_t walks = EFFORT / (slower * size);
  walks = walks > MOST_WALKS ? MOST_WALKS : walks;
  cuts->most_walks = walks < FEWEST_WALKS ? FEWEST_WALKS : (uint32_t)walks;
  cuts->order_count = lean ? 3 : 2;
  cuts->axis_count = problem->devices > 1 ? AXES : 1;
  cuts->orders[0].name = "file order";
  cuts->axes[0].name = "file rank";
  cuts->axes[1].name = "fold rank";
  cuts->axes[2].name = "list rank";
}

regal_status regal_cuts_find(regal_context *context,
                             const regal_problem *problem,
                             regal_cuts **result) {
  regal_cuts measured = {.context = context, .problem = problem};
  regal_carver carver = {NULL, 0};
  choose_sizes(&measured);
  REGAL_TRY(REGAL_CARVE_BLOCK(context, carver, layout(&measured, &carver)));
  regal_cuts *cuts = (regal_cuts *)carver.base;
  *cuts = measured;
  regal_cut_bench_begin(&cuts->bench, problem);
  regal_status status = make_orders(cuts);
  if (status != REGAL_OK) {
    regal_cuts_free(cuts);
    return status;
  }
  make_axes(cuts);
  order_devices(cuts);
  search_all(cuts);
  sort_found(cuts);
  *result = cuts;
  return REGAL_OK;
}

void regal_cuts_free(regal_cuts *cuts) {
  if (cuts)
    regal_release(cuts->context, cuts); /* the first thing in its block */
}

uint32_t regal_cuts_count(const regal_cuts *cuts) {
  return cuts->count;
}

regal_fitness regal_cuts_fitness(const regal_cuts *cuts, uint32_t k) {
  return cuts->found[k].fitness;
}

bool regal_cuts_read(regal_cuts *cuts, uint32_t k, uint32_t *order,
                     uint8_t *placement) {
  const regal_cut_plan *plan = &cuts->found[k];
  memcpy(order, plan->order->order, cuts->problem->ops * sizeof *order);
  regal_cut_place_plan(&cuts->bench, plan, placement);
  return plan->batched;
}

regal_status regal_cuts_plan(regal_cuts *cuts, uint32_t k, regal_plan **plan) {
  return regal_cut_write(&cuts->bench, cuts->context, &cuts->found[k], plan);
}

regal_status regal_cut(regal_search *search) {
  regal_cuts *cuts;
  regal_plan *plan;
  REGAL_TRY(regal_cuts_find(search->context, search->problem, &cuts));
  regal_status status = regal_cuts_plan(cuts, 0, &plan);
  if (status == REGAL_OK)
    status = regal_search_offer(search, plan);
  regal_search_account(search, "best of %u stage cuts: %s, %s",
                       cuts->bench.walks, cuts->found[0].axis->name,
                       cuts->found[0].order->name);
  regal_cuts_free(cuts);
  return status;
}
