/* SPDX-License-Identifier: Apache-2.0 */
/* `split`: the file's order, cut into one stage for each device, in the order
 * of the devices: what users of pipelines and device maps have.
 *
 * Ops run in the file's order, stages may be empty, and an op that its stage's
 * device cannot run, or whose group is elsewhere, goes to the nearest stage
 * that can. Transfers follow: together at the first need where they block (and
 * memory does not count), else each just before its first reader.
 *
 * Of all these plans the best is found
 * - by trying every one, while that takes no more than EFFORT;
 * - for peak memory by dynamic programming otherwise, up to EXACT_SIZE ops and
 *   uses: peaks of stages do not depend on each other there, and only grow with
 *   the stage (except for outputs that take over inputs, and ops that are
 * moved). Else cuts are proposed by dynamic programming on the grid, and moved
 * one at a time until none gets better or EFFORT is spent.
 */
#include <string.h>

#include "heuristic/cut/parts.h"
#include "heuristic/heuristics.h"
#include "search/search.h"

#define EFFORT 100000000 /* ops and uses that walks visit: about a second */
#define EXACT_SIZE 300000

typedef struct split {
  const regal_problem *problem;
  regal_cut_order order;
  regal_cut_axis axis;
  uint8_t device[REGAL_MAX_DEVICES];
  uint32_t *every; /* [ops + 1] all places to cut */
  uint32_t *counts;
  int64_t *sums;
  regal_cut_bench bench;
  regal_cut_plan best;
} split;

static void layout(split *made, regal_carver *carver) {
  size_t n = made->problem->ops;
  made->order.order = regal_carve(carver, n, 4);
  made->axis.rank = regal_carve(carver, n, 4);
  made->every = regal_carve(carver, n + 1, 4);
  made->counts = regal_carve(carver, n + 1, 4);
  made->sums = regal_carve(carver, n + 2, 8);
  regal_cut_bench_layout(&made->bench, carver, made->problem);
}

/* Ways to cut n ops into d stages, (n+1) (n+2) .. (n+d-1) / (d-1)!; UINT64_MAX
 * when there are more than `most`. */
static uint64_t count_ways(uint32_t n, uint32_t d, uint64_t most) {
  uint64_t ways = 1;
  for (uint32_t k = 1; k < d; k++) {
    if (ways > most)
      return UINT64_MAX;
    ways = (uint64_t)((unsigned __int128)ways * (n + k) / k);
  }
  return ways > most ? UINT64_MAX : ways;
}

static void try_all(split *s) {
  uint32_t d = s->problem->devices, n = s->problem->ops, k;
  regal_cut_plan tried = s->best;
  memset(tried.cuts, 0, sizeof tried.cuts);
  tried.cuts[d] = n;
  do { /* the next one, as a number whose digits never fall */
    regal_cut_try(&s->bench, &tried, &s->best);
    for (k = d - 1; k > 0 && tried.cuts[k] == n; k--)
      ;
    tried.cuts[k]++;
    for (uint32_t after = k + 1; after < d; after++)
      tried.cuts[after] = tried.cuts[k];
  } while (k > 0);
}

/* By every place to cut, not only those of the grid. */
static void try_least_peak(split *s) {
  regal_cut_grid every = s->bench.grid;
  regal_cut_plan tried = s->best;
  every.points = s->problem->ops + 1;
  every.at = s->every;
  regal_cuts_least_peak(&every, &s->bench.stages, s->device, UINT32_MAX,
                        tried.cuts);
  regal_cut_try(&s->bench, &tried, &s->best);
}

static void run(split *s, regal_search *search) {
  const regal_problem *problem = s->problem;
  uint64_t size = (uint64_t)problem->ops + problem->uses + 1;
  uint64_t walks = EFFORT / size;
  uint64_t ways = count_ways(problem->ops, problem->devices, walks);
  regal_cut_grid_fill(&s->bench.grid, problem, &s->axis, REGAL_CUT_POINTS,
                      s->sums, s->counts);
  regal_cut_begin(&s->bench, &s->axis, &s->order, &s->best);
  s->best.device = s->device;
  if (ways <= walks) {
    try_all(s);
    regal_search_account(search,
                         "the best of all %llu cuts of the file's "
                         "order",
                         (unsigned long long)ways);
    return;
  }
  if (size <= EXACT_SIZE)
    try_least_peak(s);
  regal_cut_try_starts(&s->bench, s->device, 8, &s->best);
  regal_cut_scan(&s->bench, &s->best, walks < 2000 ? (uint32_t)walks : 2000);
  bool exact = problem->objective == REGAL_MEMORY && size <= EXACT_SIZE &&
               s->axis.along && !problem->reuses && s->best.fitness.excess == 0;
  if (exact)
    regal_search_account(search, "the file's order, cut for the least peak");
  else
    regal_search_account(search, "the file's order, best of %u cuts",
                         s->bench.walks);
}

regal_status regal_split_file(regal_search *search) {
  split s = {.problem = search->problem,
             .order = {.name = "file order"},
             .axis = {.name = "file rank"}};
  regal_carver carver = {NULL, 0};
  REGAL_TRY(REGAL_CARVE_BLOCK(search->context, carver, layout(&s, &carver)));
  regal_cuts_file_order(s.problem, s.order.order);
  regal_cuts_rank_along(s.problem, &s.order, &s.axis);
  regal_cut_bench_begin(&s.bench, s.problem);
  for (uint32_t op = 0; op <= s.problem->ops; op++)
    s.every[op] = op;
  for (uint32_t d = 0; d < s.problem->devices; d++)
    s.device[d] = (uint8_t)d;
  run(&s, search);
  regal_plan *plan;
  regal_status status =
      regal_cut_write(&s.bench, search->context, &s.best, &plan);
  if (status == REGAL_OK)
    status = regal_search_offer(search, plan);
  regal_release(search->context, carver.base);
  return status;
}
