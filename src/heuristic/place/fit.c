/* SPDX-License-Identifier: Apache-2.0 */
/* `fit`: a fast plan within the memory limits, in one pass of list scheduling
 * or many.
 *
 * Every candidate (heuristic/place/candidates.h) gets the settings of the
 * table; then, round by round, the better half gets twice as many passes, until
 * one is left. It ends when its sweep has not found anything better for as long
 * again as it took. A pass counts as an evaluation.
 */
#include "heuristic/heuristics.h"
#include "heuristic/place/candidates.h"

/* Passes of the last candidate after which the search ends if none was better
 * since half of them. */
#define PATIENCE 256

typedef struct fitting {
  regal_search *search;
  regal_candidates found;
  regal_candidate *ranked[REGAL_MOST_CANDIDATES]; /* best first */
  uint32_t passes;
} fitting;

static void rank_candidates(fitting *f, uint32_t count) {
  for (uint32_t i = 1; i < count; i++) {
    regal_candidate *moved = f->ranked[i];
    uint32_t at = i;
    for (; at > 0 && moved->sweep.best_ns < f->ranked[at - 1]->sweep.best_ns;
         at--)
      f->ranked[at] = f->ranked[at - 1];
    f->ranked[at] = moved;
  }
}

/* Makes the plan of a candidate's best setting; offers it. */
static regal_status offer(fitting *f, regal_candidate *candidate) {
  regal_search *search = f->search;
  regal_plan *plan;
  REGAL_TRY(regal_plan_create(search->context,
                              regal_plan_most_steps(search->problem), &plan));
  regal_fit_schedule(&f->found.fit, &candidate->sweep.best, INT64_MAX, plan);
  return regal_search_offer(search, plan);
}

static bool is_stalled(const regal_fit_sweep *sweep) {
  return sweep->passes > PATIENCE && sweep->passes > 2 * sweep->improved_at;
}

/* So many passes more for a candidate, or until it stalls. */
static regal_status sweep(fitting *f, regal_candidate *candidate,
                          uint32_t passes) {
  regal_search *search = f->search;
  bool better = false;
  regal_fit_begin(&f->found.fit, candidate->order, candidate->placement);
  for (uint32_t k = 0;
       k < passes && !is_stalled(&candidate->sweep) &&
       !(candidate->sweep.passes && regal_search_should_stop(search));
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

regal_status regal_method_fit(regal_search *search) {
  fitting f = {.search = search};
  if (!search->best) /* in case that nothing fits */
    REGAL_TRY(regal_method_single(search));
  if (!regal_safe_suits(search->problem))
    return REGAL_OK;
  REGAL_TRY(regal_candidates_find(search, &f.found));
  regal_status status = run_rounds(&f);
  if (f.found.count)
    regal_search_account(search,
                         "best of %u list schedules within the limits, on %s",
                         f.passes, f.ranked[0]->name);
  else
    regal_search_account(search, "no serial order fits any placement");
  regal_candidates_free(&f.found);
  return status;
}
