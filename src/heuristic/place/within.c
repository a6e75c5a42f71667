/* SPDX-License-Identifier: Apache-2.0 */
/* The methods `heft`, `cut` and `split` under memory limits. Their plans
 * without list scheduling are offered first. If none fits, their placements go
 * to the list scheduler that keeps the limits (heuristic/fit/fit.h): those of
 * the problem, and those of the problem whose units (heuristic/place/units.h)
 * are groups.
 */
#include "heuristic/heuristics.h"
#include "heuristic/place/candidates.h"

static regal_status schedule_all(regal_fit_candidates *found) {
  for (uint32_t k = 0; k < found->count; k++) {
    regal_fit_candidate *candidate = &found->list[k];
    regal_fit_begin(&found->fit, candidate->order, candidate->placement);
    for (uint32_t pass = 0; pass < REGAL_FIT_TABLE; pass++)
      regal_fit_sweep_pass(&candidate->sweep, &found->fit);
    REGAL_TRY(regal_fit_candidate_offer(found, candidate));
  }
  return REGAL_OK;
}

static regal_status run_within(regal_search *search, const char *name,
                               regal_method_fn plain, regal_fit_source source) {
  regal_fit_candidates found;
  REGAL_TRY(plain(search));
  if (!search->problem->limited || search->best_fitness.excess == 0 ||
      !regal_safe_suits(search->problem))
    return REGAL_OK;
  REGAL_TRY(regal_fit_candidates_from(search, source, &found));
  regal_status status = schedule_all(&found);
  if (found.count)
    regal_search_account(
        search, "list schedules within the limits on %u placements of %s",
        found.count, name);
  regal_fit_candidates_free(&found);
  return status;
}

/* Splits of a gathered problem keep each unit on one device. */
static regal_status add_split(regal_fit_candidates *found,
                              const regal_problem *problem) {
  regal_search child;
  regal_search_child(found->search, problem, 1, &child);
  regal_status status = regal_split_file(&child);
  if (status == REGAL_OK) {
    regal_plan_ops(child.best, found->order, found->tried);
    regal_fit_candidates_add(found, "a split", found->order);
  }
  regal_search_close(&child);
  return status;
}

regal_status regal_method_heft(regal_search *search) {
  return run_within(search, "heft", regal_heft, regal_fit_add_heft);
}

regal_status regal_method_cut(regal_search *search) {
  return run_within(search, "cuts", regal_cut, regal_fit_add_cuts);
}

regal_status regal_method_split(regal_search *search) {
  return run_within(search, "splits", regal_split_file, add_split);
}
