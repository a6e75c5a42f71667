/* SPDX-License-Identifier: Apache-2.0 */
/* Units by union of sets: groups first, then the readers of parameters, the
 * largest parameters first (heuristic/place/units.h).
 */
#include "heuristic/place/units.h"

#include "base/carve.h"
#include "base/compare.h"

/* What the parameters that are left out may take of the smallest limit. */
#define SPREAD_SHARE 0.02

typedef struct joining {
  const regal_problem *problem;
  uint32_t *parent;     /* [ops] towards the first op of its set */
  double *work;         /* [ops] of the set, at its first op */
  uint64_t *allowed;    /* [ops] */
  regal_keyed *by_size; /* [shared] */
  double most_work;
} joining;

static void lay_out_joining(joining *j, regal_carver *carver) {
  size_t n = j->problem->ops;
  j->parent = regal_carve(carver, n, 4);
  j->work = regal_carve(carver, n, sizeof *j->work);
  j->allowed = regal_carve(carver, n, 8);
  j->by_size = regal_carve(carver, j->problem->shared, sizeof *j->by_size);
}

static uint32_t find_first(joining *j, uint32_t op) {
  while (j->parent[op] != op)
    op = j->parent[op] = j->parent[j->parent[op]];
  return op;
}

static void join(joining *j, uint32_t a, uint32_t b) {
  a = find_first(j, a);
  b = find_first(j, b);
  if (a == b)
    return;
  uint32_t first = a < b ? a : b, other = a ^ b ^ first;
  j->parent[other] = first;
  j->work[first] += j->work[other];
  j->allowed[first] &= j->allowed[other];
}

static double join_groups(joining *j) {
  const regal_problem *problem = j->problem;
  double work = 0;
  for (uint32_t op = 0; op < problem->ops; op++) {
    j->parent[op] = op;
    j->work[op] = regal_problem_mean_run_ns(problem, op);
    j->allowed[op] = problem->allowed[op];
    work += j->work[op];
    join(j, op, regal_problem_leader(problem, op));
  }
  return work;
}

/* Whether all readers of a parameter may be in one unit. */
static bool may_join(joining *j, uint32_t parameter) {
  const regal_problem *problem = j->problem;
  uint64_t allowed = UINT64_MAX;
  double work = 0;
  uint32_t last = REGAL_NONE;
  for (REGAL_ROW(r, problem->reader_begin, parameter)) {
    uint32_t first = find_first(j, problem->reader[r]);
    allowed &= j->allowed[first];
    /* sets that come more than once in a row count once: readers of a layer
     * were mostly joined by its largest parameter */
    work += first == last ? 0 : j->work[first];
    last = first;
  }
  return allowed && work <= j->most_work;
}

/* The parameters that are worth it, the largest first; how many there are. */
static uint32_t list_parameters(joining *j) {
  const regal_problem *problem = j->problem;
  int64_t limit = REGAL_UNLIMITED;
  double spread = 0;
  uint32_t count = problem->shared;
  for (uint32_t a = 0; a < problem->devices; a++)
    limit = regal_smaller(limit, problem->limit[a]);
  for (uint32_t p = 0; p < count; p++)
    j->by_size[p] = (regal_keyed){-problem->shared_bytes[p], p};
  regal_keyed_sort(j->by_size, count);
  while (count && (spread -= (double)j->by_size[count - 1].key) <=
                      SPREAD_SHARE * (double)limit)
    count--;
  return count;
}

static uint32_t join_readers(joining *j) {
  const regal_problem *problem = j->problem;
  uint32_t count = list_parameters(j), joined = 0;
  for (uint32_t k = 0; k < count; k++) {
    uint32_t parameter = j->by_size[k].op;
    if (!may_join(j, parameter))
      continue;
    uint32_t first = problem->reader[problem->reader_begin[parameter]];
    for (REGAL_ROW(r, problem->reader_begin, parameter))
      join(j, first, problem->reader[r]);
    joined++;
  }
  return joined;
}

/* -- Units ----------------------------------------------------------------- */

static void lay_out_units(void *made, regal_carver *carver) {
  regal_units *units = made;
  size_t n = units->problem->ops;
  units->unit = regal_carve(carver, n, 4);
  units->size = regal_carve(carver, n, 4);
  units->first = regal_carve(carver, n, 4);
  units->allowed = regal_carve(carver, n, 8);
  units->bytes = regal_carve(carver, n, 8);
  units->place = regal_carve(carver, n, sizeof *units->place);
  units->by_place = regal_carve(carver, n, 4);
}

static void number_units(regal_units *units, joining *j) {
  const regal_problem *problem = units->problem;
  for (uint32_t op = 0; op < problem->ops; op++) {
    uint32_t first = find_first(j, op);
    if (first == op) {
      units->allowed[units->count] = j->allowed[op];
      units->first[units->count] = op;
      units->unit[op] = units->count++;
    }
    uint32_t unit = units->unit[op] = units->unit[first];
    units->size[unit]++;
    units->bytes[unit] += problem->resident_bytes[op];
  }
}

/* A parameter counts in each unit that reads it. */
static void add_parameters(regal_units *units) {
  const regal_problem *problem = units->problem;
  for (uint32_t p = 0; p < problem->shared; p++) {
    uint32_t last = REGAL_NONE;
    for (REGAL_ROW(r, problem->reader_begin, p)) {
      uint32_t unit = units->unit[problem->reader[r]];
      if (unit != last)
        units->bytes[unit] += problem->shared_bytes[p];
      last = unit;
    }
  }
}

regal_status regal_units_create(regal_context *context,
                                const regal_problem *problem,
                                double fair_shares, regal_units **result) {
  regal_units plain = {.context = context, .problem = problem};
  joining j = {.problem = problem};
  regal_carver carver = {NULL, 0};
  REGAL_TRY(REGAL_CARVE_BLOCK(context, carver, lay_out_joining(&j, &carver)));
  regal_units *units =
      regal_carve_struct(context, &plain, sizeof plain, lay_out_units);
  if (units) {
    j.most_work = join_groups(&j) * fair_shares / problem->devices;
    units->joined = join_readers(&j);
    number_units(units, &j);
    add_parameters(units);
  }
  regal_release(context, carver.base);
  *result = units;
  return units ? REGAL_OK : regal_fail_memory(context);
}

void regal_units_free(regal_units *units) {
  if (units)
    regal_release(units->context, units);
}
