/* SPDX-License-Identifier: Apache-2.0 */
/* Stages of units (heuristic/place/units.h) for the least memory: with shared
 * parameters a good placement keeps the readers of each together, and then the
 * orders for the memory of one device do well on several, too.
 */
#include "base/carve.h"
#include "base/compare.h"
#include "heuristic/heuristics.h"
#include "heuristic/list/orders.h"
#include "heuristic/place/units.h"

#define MOST_TURNS 4

static const regal_order_fn makers[] = {regal_order_lpmf, regal_order_xla_list,
                                        regal_order_dfs, regal_order_tree,
                                        regal_order_of_file};
enum { ORDERS = sizeof makers / sizeof *makers };

/* What a device may hold for the whole plan, in fair shares: the less the
 * better, as long as all units find a place. */
static const double shares[] = {1.02, 1.1, 1.25, 1.5, 2, 4, REGAL_MAX_DEVICES};
enum { SHARES = sizeof shares / sizeof *shares };

typedef struct staging {
  regal_search *search;
  regal_problem view;                /* with a fair share as limit */
  uint32_t *order;                   /* [ops] */
  uint8_t *placement[MOST_TURNS][2]; /* [ops] */
  bool found[MOST_TURNS][2];
} staging;

static void layout(staging *s, regal_carver *carver) {
  size_t n = s->search->problem->ops;
  s->order = regal_carve(carver, n, 4);
  for (int turns = 0; turns < MOST_TURNS; turns++)
    for (int back = 0; back < 2; back++)
      s->placement[turns][back] = regal_carve(carver, n, 1);
}

/* A device's own limit may be less. */
static void limit_to_shares(staging *s) {
  const regal_problem *problem = s->search->problem;
  int64_t held = 0;
  for (uint32_t op = 0; op < problem->ops; op++)
    held += problem->resident_bytes[op];
  for (uint32_t p = 0; p < problem->shared; p++)
    held += problem->shared_bytes[p];
  s->view = *problem; /* owns nothing */
  for (uint32_t a = 0; a < problem->devices; a++)
    s->view.limit[a] =
        regal_smaller(problem->limit[a], held / problem->devices + 1);
}

static regal_status place(staging *s, const regal_units *units, uint32_t turns,
                          bool back) {
  bool *found = &s->found[turns - 1][back];
  for (int k = 0; k < SHARES && !*found; k++) {
    regal_stage_pattern pattern = {turns, back, shares[k]};
    REGAL_TRY(regal_units_place(units, &pattern, s->placement[turns - 1][back],
                                found));
  }
  return REGAL_OK;
}

/* Stages in one turn are the same there and back. */
static regal_status place_all(staging *s, const regal_units *units) {
  for (uint32_t turns = 1; turns <= MOST_TURNS; turns++) {
    REGAL_TRY(place(s, units, turns, false));
    if (turns > 1)
      REGAL_TRY(place(s, units, turns, true));
  }
  return REGAL_OK;
}

static regal_status offer_all(staging *s) {
  regal_search *search = s->search;
  for (size_t k = 0; k < ORDERS && !regal_search_should_stop(search); k++) {
    REGAL_TRY(makers[k](search->context, search->problem, s->order));
    for (int turns = 0; turns < MOST_TURNS; turns++)
      for (int back = 0; back < 2; back++)
        if (s->found[turns][back])
          REGAL_TRY(regal_search_offer_order(search, s->order,
                                             s->placement[turns][back]));
  }
  return REGAL_OK;
}

static regal_status run(staging *s, regal_units *units) {
  regal_context *context = s->search->context;
  regal_carver carver = {NULL, 0};
  REGAL_TRY(regal_units_arrange(units));
  REGAL_TRY(REGAL_CARVE_BLOCK(context, carver, layout(s, &carver)));
  regal_status status = place_all(s, units);
  if (status == REGAL_OK)
    status = offer_all(s);
  regal_release(context, carver.base);
  return status;
}

regal_status regal_start_units(regal_search *search) {
  const regal_problem *problem = search->problem;
  staging s = {.search = search};
  regal_units *units = NULL;
  if (problem->objective != REGAL_MEMORY || !problem->shared ||
      problem->devices == 1)
    return REGAL_OK;
  limit_to_shares(&s);
  /* a unit may be all the work of a device and more: only memory counts */
  REGAL_TRY(
      regal_units_create(search->context, &s.view, problem->devices, &units));
  regal_status status = units->joined ? run(&s, units) : REGAL_OK;
  regal_units_free(units);
  return status;
}
