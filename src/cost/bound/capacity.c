/* SPDX-License-Identifier: Apache-2.0 */
/* How much work devices can do under their memory limits.
 *
 * A device runs an op only if it holds the parameters and resident bytes of the
 * op's group. The work of each op is put down to the largest item that it needs
 * (regal_held_items). A device with limit L then does at most K, the value of
 * the fractional knapsack of items for L bytes, and at most what fits into the
 * time T. For weights w_a > 0 of the devices, as in runtime.c, op j counts c_j
 * = min_a w_a r_ja, and
 *
 *   sum of all c_j <= sum over a of min(w_a T, K_a).
 *
 * The least such T is found by halving. It is more than the work over all
 * devices where a small memory keeps a device idle: the others have to do the
 * rest. */
#include "cost/bound/held.h"
#include "cost/bound/parts.h"

#define FINEST_WEIGHT (1 << 20)

typedef struct capacity {
  const regal_problem *problem;
  int64_t weight[REGAL_MAX_DEVICES];
  regal_keyed *item; /* [ops + shared] */
  size_t items;
  int64_t *bytes;   /* [ops + shared] of an item, by its number */
  regal_wide *work; /* [ops + shared] that needs it, by its number */
  uint32_t *needs;  /* [ops] the largest item of a group, at its leader */
  regal_wide free_work, all_work;
  regal_wide most[REGAL_MAX_DEVICES]; /* K */
} capacity;

static void set_weights(capacity *c) {
  const double *speed = c->problem->machine->speed;
  double fastest = 0;
  for (uint32_t a = 0; a < c->problem->devices; a++)
    fastest = speed[a] > fastest ? speed[a] : fastest;
  for (uint32_t a = 0; a < c->problem->devices; a++)
    c->weight[a] = 1 + (int64_t)(speed[a] / fastest * (FINEST_WEIGHT - 1));
}

static regal_wide weighted_run(const capacity *c, uint32_t op) {
  regal_wide least = -1;
  if (!c->problem->run_step) /* all devices are alike */
    return (regal_wide)c->weight[0] * regal_problem_run_ns(c->problem, op, 0);
  for (uint64_t left = c->problem->allowed[op]; left; left &= left - 1) {
    uint32_t a = (uint32_t)__builtin_ctzll(left);
    regal_wide run =
        (regal_wide)c->weight[a] * regal_problem_run_ns(c->problem, op, a);
    least = least < 0 || run < least ? run : least;
  }
  return least;
}

static void find_largest_needs(capacity *c) {
  const regal_problem *problem = c->problem;
  for (uint32_t op = 0; op < problem->ops; op++)
    c->needs[op] = op; /* of 0 bytes, or more */
  for (uint32_t p = 0; p < problem->shared; p++)
    for (REGAL_ROW(r, problem->reader_begin, p)) {
      uint32_t *needs =
          &c->needs[regal_problem_leader(problem, problem->reader[r])];
      if (problem->shared_bytes[p] > c->bytes[*needs])
        *needs = problem->ops + p;
    }
}

static void find_items(capacity *c) {
  const regal_problem *problem = c->problem;
  c->items = regal_held_items(problem, c->item);
  for (size_t i = 0; i < c->items; i++)
    c->bytes[c->item[i].op] = c->item[i].key;
  find_largest_needs(c);
  for (uint32_t op = 0; op < problem->ops; op++) {
    uint32_t needs = c->needs[regal_problem_leader(problem, op)];
    regal_wide work = weighted_run(c, op);
    c->all_work += work;
    if (c->bytes[needs])
      c->work[needs] += work;
    else
      c->free_work += work;
  }
}

/* By falling work for each byte, rounded down. Work that takes next to no bytes
 * is free. */
static void sort_by_density(capacity *c) {
  size_t kept = 0;
  for (size_t i = 0; i < c->items; i++) {
    uint32_t item = c->item[i].op;
    regal_wide density = c->work[item] / c->bytes[item];
    if (density < INT64_MAX)
      c->item[kept++] = (regal_keyed){-(int64_t)density, item};
    else
      c->free_work += c->work[item];
  }
  c->items = kept;
  regal_keyed_sort(c->item, c->items);
}

/* The densest items, and for the bytes that are left the density `bar` of the
 * next one, rounded up. An item that was taken may be less dense than that by
 * one, so that its bytes are added. */
static regal_wide most_work(const capacity *c, int64_t limit) {
  regal_wide work = c->free_work;
  int64_t left = limit;
  size_t i = 0;
  for (; i < c->items && c->bytes[c->item[i].op] <= left; i++) {
    left -= c->bytes[c->item[i].op];
    work += c->work[c->item[i].op];
  }
  if (i == c->items)
    return work;
  regal_wide bar = -(regal_wide)c->item[i].key + 1;
  return work + bar * left + (limit - left);
}

static bool is_enough(const capacity *c, int64_t time) {
  regal_wide done = 0;
  for (uint32_t a = 0; a < c->problem->devices; a++) {
    regal_wide offered = (regal_wide)c->weight[a] * time;
    done += offered < c->most[a] ? offered : c->most[a];
  }
  return done >= c->all_work;
}

static int64_t least_time(const capacity *c, int64_t at_least) {
  int64_t low = at_least, high = INT64_MAX / 2;
  if (is_enough(c, low) || !is_enough(c, high))
    return low;
  while (high - low > 1) {
    int64_t middle = low + (high - low) / 2;
    if (is_enough(c, middle))
      high = middle;
    else
      low = middle;
  }
  return high;
}

static void layout(capacity *c, regal_carver *carver) {
  size_t most = (size_t)c->problem->ops + c->problem->shared;
  c->item = regal_carve(carver, most, sizeof *c->item);
  c->bytes = regal_carve(carver, most, sizeof *c->bytes);
  c->work = regal_carve(carver, most, sizeof *c->work);
  c->needs = regal_carve(carver, c->problem->ops, sizeof *c->needs);
}

regal_status regal_bound_capacity(regal_context *context,
                                  const regal_problem *problem,
                                  int64_t *found) {
  capacity c = {.problem = problem};
  if (!problem->limited || problem->devices < 2)
    return REGAL_OK;
  regal_carver carver = {NULL, 0};
  REGAL_TRY(REGAL_CARVE_BLOCK(context, carver, layout(&c, &carver)));
  set_weights(&c);
  find_items(&c);
  sort_by_density(&c);
  for (uint32_t a = 0; a < problem->devices; a++)
    c.most[a] = problem->limit[a] == REGAL_UNLIMITED
                    ? c.all_work
                    : most_work(&c, problem->limit[a]);
  *found = least_time(&c, *found);
  regal_release(context, carver.base);
  return REGAL_OK;
}
