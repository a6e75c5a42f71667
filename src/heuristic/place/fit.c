/* SPDX-License-Identifier: Apache-2.0 */
/* `fit`: a fast plan within the memory limits, in one pass of list scheduling
 * or many.
 *
 * Every candidate (heuristic/place/candidates.h) gets the settings of the
 * table; then, round by round, the better half gets twice as many passes, until
 * one is left. `auto` ends this when nothing better was found for as long again
 * as it took to find the best; the method uses what it is given. A pass counts
 * as an evaluation.
 */
#include "heuristic/heuristics.h"
#include "heuristic/place/candidates.h"

/* Passes for a candidate before it may be called stalled. */
#define PATIENCE 256

typedef struct fitting {
  regal_search *search;
  regal_fit_candidates found;
  regal_fit_candidate *ranked[REGAL_MOST_CANDIDATES]; /* best first */
  uint32_t passes;
  bool until_stalled;
} fitting;

static void rank_candidates(fitting *f, uint32_t count) {
  for (uint32_t i = 1; i < count; i++) {
    regal_fit_candidate *moved = f->ranked[i];
    uint32_t at = i;
    for (; at > 0 && moved->sweep.best_ns < f->ranked[at - 1]->sweep.best_ns;
         at--)
      f->ranked[at] = f->ranked[at - 1];
    f->ranked[at] = moved;
  }
}

/* The same order with transfers in batches, or in time: where they block, both
 * devices wait less often. */
static regal_status offer_batched(fitting *f, const regal_plan *late) {
  regal_search *search = f->search;
  regal_fit_candidates *found = &f->found;
  regal_plan *plan;
  REGAL_TRY(regal_plan_create(search->context,
                              regal_plan_most_steps(search->problem), &plan));
  regal_plan_ops(late, found->order, found->tried);
  regal_walk_within_limit(search->problem, &found->walk, found->order,
                          found->tried, plan);
  return regal_search_offer(search, plan);
}

/* Makes the plan of a candidate's best setting; offers it. */
static regal_status offer(fitting *f, regal_fit_candidate *candidate) {
  regal_search *search = f->search;
  regal_status status = REGAL_OK;
  regal_plan *plan;
  REGAL_TRY(regal_plan_create(search->context,
                              regal_plan_most_steps(search->problem), &plan));
  regal_fit_schedule(&f->found.fit, &candidate->sweep.best, INT64_MAX, plan);
  if (!search->problem->machine->overlapped)
    status = offer_batched(f, plan);
  if (status == REGAL_OK)
    return regal_search_offer(search, plan);
  regal_plan_free(plan);
  return status;
}

static bool is_stalled(const fitting *f, const regal_fit_sweep *sweep) {
  return f->until_stalled && sweep->passes > PATIENCE &&
         sweep->passes > 2 * sweep->improved_at;
}

/* So many passes more for a candidate, or until it stalls. */
static regal_status sweep(fitting *f, regal_fit_candidate *candidate,
                          uint32_t passes) {
  regal_search *search = f->search;
  bool better = false;
  regal_fit_begin(&f->found.fit, candidate->order, candidate->placement);
  for (uint32_t k = 0; k < passes && !is_stalled(f, &candidate->sweep) &&
                       !(f->passes && regal_search_should_stop(search));
       k++) {
    better |= regal_fit_sweep_pass(&candidate->sweep, &f->found.fit);
    search->budget.used++;
    f->passes++;
  }
  return better ? offer(f, candidate) : REGAL_OK;
}

static regal_status run_rounds(fitting *f) {
  uint32_t count = f->found.count, passes = REGAL_FIT_TABLE;
  for (uint32_t k = 0; k < count; k++)
    f->ranked[k] = &f->found.list[k];
  while (count && !regal_search_should_stop(f->search)) {
    for (uint32_t k = 0; k < count; k++)
      REGAL_TRY(sweep(f, f->ranked[k], count > 1 ? passes : UINT32_MAX));
    rank_candidates(f, count);
    if (count == 1)
      break;
    count = (count + 1) / 2;
    passes *= 2;
  }
  return REGAL_OK;
}

regal_status regal_fit_within_limits(regal_search *search, bool until_stalled) {
  fitting f = {.search = search, .until_stalled = until_stalled};
  if (!search->best) /* in case that nothing fits */
    REGAL_TRY(regal_method_single(search));
  if (!regal_safe_suits(search->problem))
    return REGAL_OK;
  REGAL_TRY(regal_fit_candidates_find(search, &f.found));
  regal_status status = run_rounds(&f);
  if (f.found.count)
    regal_search_account(search,
                         "best of %u list schedules within the limits, on %s",
                         f.passes, f.ranked[0]->name);
  else
    regal_search_account(search, "no serial order fits any placement");
  regal_fit_candidates_free(&f.found);
  return status;
}

regal_status regal_method_fit(regal_search *search) {
  return regal_fit_within_limits(search, false);
}
