/* SPDX-License-Identifier: Apache-2.0 */
/* Transfers that memory limits force on long paths.
 *
 * If what the ops of a path hold (resident bytes of their groups, parameters,
 * and the largest working set) fits no device that may run them all, some edge
 * of the path goes from one device to another, and its transfer takes at least
 * the shortest of the path. So if the path goes from op u to op v,
 *
 *   head[v] >= head[u] + run times and lags of the path
 *              + min over its edges of (apart - the smaller of same and apart).
 *
 * Ops v are visited in topological order. The path is the one that gives
 * head[v] its value without this, followed back until it fits nowhere. The next
 * path that is counted begins where this one ended, with head[v]. */
#include "cost/bound/held.h"
#include "cost/bound/parts.h"

/* Steps on all paths, about 10 ns each. */
#define EFFORT 1000000

typedef struct crossing {
  const regal_problem *problem;
  const regal_lags *lags;
  const int64_t *shortest;
  int64_t *head;
  regal_held held;
  regal_wide least_room; /* of all devices, beside what pins hold there */
  uint32_t *last;        /* [ops] the edge that gives its head, or REGAL_NONE */
  int64_t *group_bytes;  /* [ops] at the leader; pinned groups 0 */
  uint32_t *read_begin;  /* [ops+1] at the leader */
  uint32_t *read;        /* parameters that no device must hold anyway */
  uint32_t *seen;        /* [ops + shared] the op whose path has counted it */
  uint32_t effort;
} crossing;

/* What a path has so far. */
typedef struct held_by_path {
  uint32_t mark; /* in `seen` */
  uint64_t devices;
  regal_wide bytes;
  int64_t working_set;
} held_by_path;

/* The readers of each parameter, turned round. */
static void find_reads(crossing *c) {
  const regal_problem *problem = c->problem;
  uint32_t n = problem->ops;
  for (int pass = 0; pass < 2; pass++) {
    for (uint32_t p = 0; p < problem->shared; p++) {
      if (regal_held_by(problem, p))
        continue;
      for (REGAL_ROW(r, problem->reader_begin, p)) {
        uint32_t leader = regal_problem_leader(problem, problem->reader[r]);
        if (pass)
          c->read[--c->read_begin[leader]] = p;
        else
          c->read_begin[leader]++;
      }
    }
    for (uint32_t op = 0; !pass && op < n; op++)
      c->read_begin[op + 1] += c->read_begin[op];
  }
}

static void find_groups(crossing *c) {
  const regal_problem *problem = c->problem;
  for (uint32_t op = 0; op < problem->ops; op++)
    if (!regal_has_one_device(problem->allowed[op]))
      c->group_bytes[regal_problem_leader(problem, op)] +=
          problem->resident_bytes[op];
}

static void mark(crossing *c, held_by_path *path, uint32_t item,
                 int64_t bytes) {
  if (c->seen[item] == path->mark)
    return;
  c->seen[item] = path->mark;
  path->bytes += bytes;
}

static void add_op(crossing *c, held_by_path *path, uint32_t op) {
  const regal_problem *problem = c->problem;
  uint32_t leader = regal_problem_leader(problem, op);
  path->working_set =
      regal_larger(path->working_set, regal_held_working_set(problem, op));
  mark(c, path, leader, c->group_bytes[leader]);
  for (REGAL_ROW(k, c->read_begin, leader))
    mark(c, path, problem->ops + c->read[k], problem->shared_bytes[c->read[k]]);
  path->devices &= problem->allowed[op];
  if (path->bytes + path->working_set <= c->least_room)
    return;
  for (uint64_t left = path->devices; left; left &= left - 1) {
    uint32_t a = (uint32_t)__builtin_ctzll(left);
    if (path->bytes + path->working_set + c->held.resident[a] >
        problem->limit[a])
      path->devices &= ~(UINT64_C(1) << a);
  }
}

/* Back from v, until the path fits nowhere. */
static void follow(crossing *c, uint32_t v) {
  held_by_path path = {v + 1, UINT64_MAX, 0, 0};
  int64_t length = 0, extra = INT64_MAX;
  add_op(c, &path, v);
  if (!path.devices)
    return; /* v alone fits nowhere: there is no plan */
  for (uint32_t op = v; c->last[op] != REGAL_NONE && c->effort;) {
    const regal_lag *lag = &c->lags->edge[c->last[op]];
    length += regal_lag_least(lag) + (op == v ? 0 : c->shortest[op]);
    extra = regal_smaller(extra, lag->apart - regal_lag_least(lag));
    if (!extra)
      return;
    op = lag->from;
    add_op(c, &path, op);
    c->effort--;
    if (path.devices)
      continue;
    int64_t start = c->head[op] + c->shortest[op] + length + extra;
    c->head[v] = regal_larger(c->head[v], start);
    return;
  }
}

static void visit(crossing *c, uint32_t v) {
  int64_t latest = -1;
  c->last[v] = REGAL_NONE;
  for (REGAL_ROW(k, c->lags->edge_begin, v)) {
    const regal_lag *lag = &c->lags->edge[k];
    int64_t start =
        c->head[lag->from] + c->shortest[lag->from] + regal_lag_least(lag);
    if (start > latest) {
      latest = start;
      c->last[v] = k;
    }
  }
  c->head[v] = regal_larger(c->head[v], latest);
  uint32_t leader = regal_problem_leader(c->problem, v);
  if (c->group_bytes[leader] ||
      c->read_begin[leader] < c->read_begin[leader + 1])
    follow(c, v);
}

/* Whether all that is held, with the largest working set, fits any device. */
static bool fits_anywhere(const crossing *c) {
  const regal_problem *problem = c->problem;
  int64_t smallest = INT64_MAX, working_set = 0;
  for (uint32_t a = 0; a < problem->devices; a++)
    smallest = regal_smaller(smallest, problem->limit[a]);
  for (uint32_t op = 0; op < problem->ops; op++)
    working_set =
        regal_larger(working_set, regal_held_working_set(problem, op));
  return c->held.all_resident + working_set <= smallest;
}

static void layout(crossing *c, regal_carver *carver) {
  const regal_problem *problem = c->problem;
  size_t n = problem->ops, shared = problem->shared;
  size_t readers = shared ? problem->reader_begin[shared] : 0;
  c->last = regal_carve(carver, n, 4);
  c->group_bytes = regal_carve(carver, n, 8);
  c->read_begin = regal_carve(carver, n + 1, 4);
  c->read = regal_carve(carver, readers, 4);
  c->seen = regal_carve(carver, n + shared, 4);
}

regal_status regal_bound_crossing(regal_context *context,
                                  const regal_problem *problem,
                                  const regal_lags *lags,
                                  const int64_t *shortest, int64_t *head) {
  crossing c = {.problem = problem,
                .lags = lags,
                .shortest = shortest,
                .head = head,
                .effort = EFFORT};
  if (!problem->limited)
    return REGAL_OK;
  regal_held_find(problem, &c.held);
  if (fits_anywhere(&c))
    return REGAL_OK;
  regal_carver carver = {NULL, 0};
  REGAL_TRY(REGAL_CARVE_BLOCK(context, carver, layout(&c, &carver)));
  find_reads(&c);
  find_groups(&c);
  c.least_room = INT64_MAX;
  for (uint32_t a = 0; a < problem->devices; a++)
    if (problem->limit[a] - c.held.resident[a] < c.least_room)
      c.least_room = problem->limit[a] - c.held.resident[a];
  for (uint32_t v = 0; v < problem->ops; v++)
    visit(&c, v);
  regal_release(context, carver.base);
  return REGAL_OK;
}
