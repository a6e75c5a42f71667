/* SPDX-License-Identifier: Apache-2.0 */
/* `fit`: a fast plan within the memory limits, in one pass of list scheduling
 * or many.
 *
 * Every candidate (heuristic/place/candidates.h) gets the settings of the
 * table; then, round by round, the better half gets twice as many passes, until
 * one is left. From there on whole units also move from device to device, where
 * parameters join ops to units. `auto` ends this when nothing better was found
 * for as long again as it took to find the best; the method uses what it is
 * given. A pass counts as an evaluation.
 */
#include <string.h>

#include "heuristic/heuristics.h"
#include "heuristic/place/candidates.h"

/* Passes for a candidate before it may be called stalled. */
#define PATIENCE 256
/* Of the last candidate. */
#define SETTINGS_IN_TURN 16
#define MOVES_IN_TURN 48

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

static bool is_stalled(const fitting *f, const regal_fit_sweep *sweep) {
  return f->until_stalled && sweep->passes > PATIENCE &&
         sweep->passes > 2 * sweep->improved_at;
}

static bool goes_on(const fitting *f, const regal_fit_candidate *candidate) {
  return !is_stalled(f, &candidate->sweep) &&
         !(f->passes && regal_search_should_stop(f->search));
}

static void count_pass(fitting *f) {
  f->search->budget.used++;
  f->passes++;
}

/* So many settings more for a candidate; whether one is better. */
static bool try_settings(fitting *f, regal_fit_candidate *candidate,
                         uint32_t passes) {
  bool better = false;
  regal_fit_begin(&f->found.fit, candidate->order, candidate->placement);
  for (uint32_t k = 0; k < passes && goes_on(f, candidate); k++) {
    better |= regal_fit_sweep_pass(&candidate->sweep, &f->found.fit);
    count_pass(f);
  }
  return better;
}

/* One unit to another device, or two units that trade places, in `tried`.
 * Whether that is possible. */
static bool draw_move(fitting *f, const regal_fit_candidate *candidate,
                      regal_random *random) {
  regal_fit_candidates *found = &f->found;
  const regal_units *units = found->units;
  uint32_t a = (uint32_t)regal_random_below(random, units->count);
  uint32_t b = (uint32_t)regal_random_below(random, units->count);
  uint32_t to = (uint32_t)regal_random_below(random, found->problem->devices);
  bool swap = regal_random_below(random, 2);
  uint32_t from = candidate->placement[units->first[a]];
  uint32_t other = swap ? candidate->placement[units->first[b]] : to;
  if (from == other || !(units->allowed[a] >> other & 1) ||
      (swap && !(units->allowed[b] >> from & 1)))
    return false;
  for (uint32_t op = 0; op < found->problem->ops; op++) {
    uint32_t unit = units->unit[op];
    found->tried[op] =
        (uint8_t)(unit == a           ? other
                  : swap && unit == b ? from
                                      : candidate->placement[op]);
  }
  return true;
}

/* Moves of whole units, each judged by one pass with the best setting; whether
 * one was better. What is as good is kept, too. */
static bool try_moves(fitting *f, regal_fit_candidate *candidate,
                      uint32_t passes) {
  regal_fit_candidates *found = &f->found;
  regal_fit_sweep *sweep = &candidate->sweep;
  bool better = false;
  for (uint32_t k = 0; k < passes && goes_on(f, candidate); k++) {
    count_pass(f);
    sweep->passes++;
    if (!draw_move(f, candidate, &sweep->random) ||
        !regal_fit_begin(&found->fit, candidate->order, found->tried))
      continue;
    int64_t ns =
        regal_fit_schedule(&found->fit, &sweep->best, sweep->best_ns, NULL);
    if (ns > sweep->best_ns)
      continue;
    memcpy(candidate->placement, found->tried, found->problem->ops);
    if (ns < sweep->best_ns)
      sweep->improved_at = sweep->passes;
    better |= ns < sweep->best_ns;
    sweep->best_ns = ns;
  }
  return better;
}

/* A placement that units may still change: not where every op is pinned, and
 * only one that keeps units together. */
static bool is_movable(const fitting *f, const regal_fit_candidate *candidate) {
  const regal_units *units = f->found.units;
  bool movable = false;
  for (uint32_t op = 0; units && op < f->found.problem->ops; op++) {
    uint32_t unit = units->unit[op];
    if (candidate->placement[op] != candidate->placement[units->first[unit]])
      return false;
    movable |= (units->allowed[unit] & (units->allowed[unit] - 1)) != 0;
  }
  return movable;
}

/* Settings and moves of the last candidate in turn. */
static regal_status finish(fitting *f, regal_fit_candidate *candidate) {
  bool movable = is_movable(f, candidate);
  while (goes_on(f, candidate)) {
    bool better = try_settings(f, candidate, SETTINGS_IN_TURN);
    if (movable)
      better |= try_moves(f, candidate, MOVES_IN_TURN);
    if (!better)
      continue;
    regal_fit_begin(&f->found.fit, candidate->order, candidate->placement);
    REGAL_TRY(regal_fit_candidate_offer(&f->found, candidate));
  }
  return REGAL_OK;
}

/* So many settings for each of the best, and half of them go on. */
static regal_status run_rounds(fitting *f) {
  uint32_t count = f->found.count, passes = REGAL_FIT_TABLE;
  for (uint32_t k = 0; k < count; k++)
    f->ranked[k] = &f->found.list[k];
  for (; count > 1; count = (count + 1) / 2, passes *= 2) {
    for (uint32_t k = 0; k < count; k++)
      if (try_settings(f, f->ranked[k], passes))
        REGAL_TRY(regal_fit_candidate_offer(&f->found, f->ranked[k]));
    rank_candidates(f, count);
  }
  return count ? finish(f, f->ranked[0]) : REGAL_OK;
}

regal_status regal_fit_within_limits(regal_search *search, bool until_stalled) {
  fitting f = {.search = search, .until_stalled = until_stalled};
  regal_search_doing(search, "list schedules");
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
