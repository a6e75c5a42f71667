/* SPDX-License-Identifier: Apache-2.0 */
/* Finds placements that fit in some serial order
 * (heuristic/place/candidates.h).
 *
 * The serial orders are those for the memory of one device, and that of the
 * best plan; the first that fits is taken. A placement that is known already,
 * or fits in none of them, is left out.
 */
#include "heuristic/place/candidates.h"

#include <string.h>

#include "cost/model/gather.h"
#include "heuristic/cut/cuts.h"
#include "heuristic/list/orders.h"
#include "heuristic/partition/partition.h"

static void layout(regal_fit_candidates *found, regal_carver *carver) {
  size_t n = found->problem->ops;
  for (uint32_t k = 0; k < REGAL_SAFE_ORDERS; k++)
    found->orders[k] = regal_carve(carver, n, 4);
  found->tried = regal_carve(carver, n, 1);
  found->order = regal_carve(carver, n, 4);
  for (uint32_t k = 0; k < REGAL_MOST_CANDIDATES; k++) {
    found->list[k].placement = regal_carve(carver, n, 1);
    found->list[k].order = regal_carve(carver, n, 4);
  }
  regal_fit_layout(&found->fit, carver, found->problem);
  if (!found->problem->machine->overlapped)
    regal_walk_layout(&found->walk, carver, found->problem);
}

static regal_status make_orders(regal_fit_candidates *found) {
  const regal_problem *problem = found->problem;
  regal_context *context = found->search->context;
  static const regal_order_fn makers[REGAL_SAFE_ORDERS - 1] = {
      regal_order_lpmf, regal_order_xla_list, regal_order_dfs};
  for (uint32_t k = 0; k < REGAL_SAFE_ORDERS - 1; k++)
    REGAL_TRY(makers[k](context, problem, found->orders[k]));
  for (uint32_t op = 0; op < problem->ops; op++)
    found->orders[REGAL_SAFE_ORDERS - 1][op] = op;
  return REGAL_OK;
}

static bool add_with(regal_fit_candidates *found, const char *name,
                     const uint32_t *order) {
  size_t n = found->problem->ops;
  if (!regal_fit_begin(&found->fit, order, found->tried))
    return false;
  regal_fit_candidate *candidate = &found->list[found->count];
  candidate->name = name;
  memcpy(candidate->order, order, n * sizeof *order);
  memcpy(candidate->placement, found->tried, n);
  regal_fit_sweep_begin(&candidate->sweep, found->search->seed, found->count);
  found->count++;
  return true;
}

bool regal_fit_candidates_add(regal_fit_candidates *found, const char *name,
                              const uint32_t *own) {
  if (found->count == REGAL_MOST_CANDIDATES)
    return false;
  for (uint32_t k = 0; k < found->count; k++)
    if (!memcmp(found->list[k].placement, found->tried, found->problem->ops))
      return true;
  for (uint32_t k = 0; k < REGAL_SAFE_ORDERS; k++)
    if (add_with(found, name, found->orders[k]))
      return true;
  return own && add_with(found, name, own);
}

/* The best plan so far is often one that fits where little does. */
static void add_best(regal_fit_candidates *found) {
  const regal_plan *best = found->search->best;
  if (!best)
    return;
  regal_plan_ops(best, found->order, found->tried);
  regal_fit_candidates_add(found, "the best plan", found->order);
}

/* Shares of a limit that parameters may take: as much as there is, or less
 * where activations need more. */
static const double memory_shares[] = {1, 0.8, 0.6, 0.4};
enum { SHARES = sizeof memory_shares / sizeof *memory_shares };

static regal_status add_stages(regal_fit_candidates *found,
                               const regal_units *units) {
  for (uint32_t turns = 1; turns <= 4; turns++)
    for (uint32_t back = 0; back < (turns > 1 ? 2 : 1); back++) {
      bool fits = false;
      for (size_t k = 0; k < SHARES && !fits; k++) {
        regal_stage_pattern pattern = {turns, back, memory_shares[k]};
        REGAL_TRY(regal_units_place(units, &pattern, found->tried, &fits));
        fits =
            fits && regal_fit_candidates_add(found,
                                             back ? "stages there and back"
                                             : turns > 1 ? "interleaved stages"
                                                         : "stages",
                                             NULL);
        if (turns > 1)
          break;
      }
    }
  return REGAL_OK;
}

#define MOST_CUTS 3

regal_status regal_fit_add_cuts(regal_fit_candidates *found,
                                const regal_problem *problem) {
  regal_cuts *cuts;
  REGAL_TRY(regal_cuts_find(found->search->context, problem, &cuts));
  for (uint32_t k = 0; k < MOST_CUTS && k < regal_cuts_count(cuts); k++) {
    regal_cuts_read(cuts, k, found->order, found->tried);
    regal_fit_candidates_add(found, "cuts", found->order);
  }
  regal_cuts_free(cuts);
  return REGAL_OK;
}

/* Where transfers block, heft uses few devices. As if they did not, it spreads
 * the ops of a layer over all of them, and their memory too. */
static regal_status add_spread(regal_fit_candidates *found,
                               const regal_problem *problem) {
  regal_machine overlapped = *problem->machine;
  regal_problem view = *problem; /* owns nothing */
  overlapped.overlapped = true;
  view.machine = &overlapped;
  REGAL_TRY(regal_heft_place(found->search->context, &view, 1, found->tried));
  regal_fit_candidates_add(found, "heft", NULL);
  return REGAL_OK;
}

regal_status regal_fit_add_heft(regal_fit_candidates *found,
                                const regal_problem *problem) {
  bool fits = false;
  for (size_t k = 0; k < SHARES && !fits; k++) {
    REGAL_TRY(regal_heft_place(found->search->context, problem,
                               memory_shares[k], found->tried));
    fits = regal_fit_candidates_add(found, "heft", NULL);
  }
  return fits || problem->machine->overlapped ? REGAL_OK
                                              : add_spread(found, problem);
}

/* Of the problem, or of a gathered one. */
static regal_status add_others(regal_fit_candidates *found,
                               const regal_problem *problem) {
  REGAL_TRY(regal_fit_add_heft(found, problem));
  if (regal_search_should_stop(found->search))
    return REGAL_OK;
  REGAL_TRY(regal_partition(found->search->context, problem, regal_bisect_fm,
                            REGAL_LOAD_COST, found->search->seed,
                            found->tried));
  regal_fit_candidates_add(found, "a partition", NULL);
  return regal_fit_add_cuts(found, problem);
}

/* Of the problem whose units are groups, if any parameter joins its readers. */
static regal_status add_gathered(regal_fit_candidates *found,
                                 const regal_units *units,
                                 regal_fit_source source) {
  regal_problem *gathered = NULL;
  if (!units->joined)
    return REGAL_OK;
  REGAL_TRY(regal_problem_gather(found->search->context, found->problem,
                                 units->unit, &gathered));
  regal_status status = source(found, gathered);
  regal_problem_free(gathered);
  return status;
}

static regal_status add_of_units(regal_fit_candidates *found,
                                 double fair_shares) {
  regal_units *units = NULL;
  REGAL_TRY(regal_units_create(found->search->context, found->problem,
                               fair_shares, &units));
  regal_status status = regal_units_arrange(units);
  if (status == REGAL_OK)
    status = add_stages(found, units);
  if (status == REGAL_OK)
    status = add_gathered(found, units, add_others);
  if (status == REGAL_OK && units->joined && !found->units)
    found->units = units;
  else
    regal_units_free(units);
  return status;
}

static regal_status find(regal_fit_candidates *found) {
  REGAL_TRY(regal_fit_add_heft(found, found->problem));
  if (found->count && regal_search_should_stop(found->search))
    return REGAL_OK;
  REGAL_TRY(add_of_units(found, 1));
  if (found->problem->shared && !found->count)
    REGAL_TRY(add_of_units(found, found->problem->devices));
  REGAL_TRY(add_others(found, found->problem));
  add_best(found);
  return REGAL_OK;
}

static regal_status begin(regal_search *search, regal_fit_candidates *found) {
  *found = (regal_fit_candidates){.search = search, .problem = search->problem};
  regal_carver carver = {NULL, 0};
  REGAL_TRY(REGAL_CARVE_BLOCK(search->context, carver, layout(found, &carver)));
  found->block = carver.base;
  return make_orders(found);
}

regal_status regal_fit_candidates_find(regal_search *search,
                                       regal_fit_candidates *found) {
  regal_status status = begin(search, found);
  if (status == REGAL_OK)
    status = find(found);
  if (status != REGAL_OK)
    regal_fit_candidates_free(found);
  return status;
}

static regal_status find_from(regal_fit_candidates *found,
                              regal_fit_source source) {
  regal_units *units = NULL;
  REGAL_TRY(source(found, found->problem));
  REGAL_TRY(
      regal_units_create(found->search->context, found->problem, 1, &units));
  regal_status status = add_gathered(found, units, source);
  regal_units_free(units);
  return status;
}

regal_status regal_fit_candidates_from(regal_search *search,
                                       regal_fit_source source,
                                       regal_fit_candidates *found) {
  regal_status status = begin(search, found);
  if (status == REGAL_OK)
    status = find_from(found, source);
  if (status != REGAL_OK)
    regal_fit_candidates_free(found);
  return status;
}

void regal_fit_candidates_free(regal_fit_candidates *found) {
  regal_units_free(found->units);
  regal_release(found->search->context, found->block);
}

/* The same order with transfers in batches, or in time: where they block, both
 * devices wait less often. */
static regal_status offer_batched(regal_fit_candidates *found,
                                  const regal_plan *late) {
  regal_search *search = found->search;
  regal_plan *plan;
  REGAL_TRY(regal_plan_create(search->context,
                              regal_plan_most_steps(search->problem), &plan));
  regal_plan_ops(late, found->order, found->tried);
  regal_walk_within_limit(search->problem, &found->walk, found->order,
                          found->tried, plan);
  return regal_search_offer(search, plan);
}

regal_status regal_fit_candidate_offer(regal_fit_candidates *found,
                                       const regal_fit_candidate *candidate) {
  regal_search *search = found->search;
  regal_status status = REGAL_OK;
  regal_plan *plan;
  REGAL_TRY(regal_plan_create(search->context,
                              regal_plan_most_steps(search->problem), &plan));
  regal_fit_schedule(&found->fit, &candidate->sweep.best, INT64_MAX, plan);
  if (!search->problem->machine->overlapped)
    status = offer_batched(found, plan);
  if (status == REGAL_OK)
    return regal_search_offer(search, plan);
  regal_plan_free(plan);
  return status;
}
