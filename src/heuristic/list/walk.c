/* SPDX-License-Identifier: Apache-2.0 */
/* Orders that follow the graph's shape: depth first and breadth first, as in
 * the memory reordering passes of PyTorch Inductor (torch/_inductor/memory.py:
 * topological_sort_dfs, topological_sort_bfs); and depth first as in XLA's
 * memory scheduler (DFSMemoryScheduler).
 */
#include "base/compare.h"
#include "base/tournament.h"
#include "heuristic/list/orders.h"

/* A row per op, as long as it has predecessors. */
static void begin_rows(const regal_problem *problem, uint32_t *begin) {
  begin[0] = 0;
  for (uint32_t op = 0; op < problem->ops; op++)
    begin[op + 1] = begin[op] + problem->predecessors[op];
}

static int64_t bytes_touched(const regal_problem *problem, uint32_t op) {
  int64_t bytes = 0;
  for (REGAL_ROW(t, problem->output_begin, op))
    bytes += problem->bytes[t];
  for (REGAL_ROW(i, problem->input_begin, op))
    bytes += problem->bytes[problem->input[i]];
  return bytes;
}

typedef struct depth_first {
  const regal_problem *problem;
  regal_keyed *visits; /* [ops] all ops in the order of visiting */
  uint32_t *begin;     /* [ops+1] rows of predecessors in the same order */
  uint32_t *predecessor;
  uint32_t *next;  /* [ops] predecessor to visit next */
  uint32_t *stack; /* [ops] ops whose predecessors are being visited */
  uint8_t *seen;   /* [ops] */
} depth_first;

/* Going through the ops in the order of visiting and adding each to its
 * successors' rows leaves the rows in that order, without sorting them. */
static void sort_visits(depth_first *walk) {
  const regal_problem *problem = walk->problem;
  regal_keyed_sort(walk->visits, problem->ops);
  begin_rows(problem, walk->begin);
  for (uint32_t op = 0; op < problem->ops; op++)
    walk->next[op] = walk->begin[op];
  for (uint32_t i = 0; i < problem->ops; i++) {
    uint32_t op = walk->visits[i].op;
    for (REGAL_ROW(s, problem->successor_begin, op))
      walk->predecessor[walk->next[problem->successor[s]]++] = op;
  }
  for (uint32_t op = 0; op < problem->ops; op++)
    walk->next[op] = walk->begin[op];
}

/* Appends the op after all its unseen ancestors; returns the new count. */
static uint32_t visit(depth_first *walk, uint32_t root, uint32_t *order,
                      uint32_t count) {
  if (walk->seen[root])
    return count;
  uint32_t depth = 1;
  walk->stack[0] = root;
  walk->seen[root] = 1;
  while (depth) {
    uint32_t op = walk->stack[depth - 1];
    if (walk->next[op] == walk->begin[op + 1]) {
      order[count++] = op;
      depth--;
      continue;
    }
    uint32_t before = walk->predecessor[walk->next[op]++];
    if (!walk->seen[before]) {
      walk->seen[before] = 1;
      walk->stack[depth++] = before;
    }
  }
  return count;
}

static void lay_out_depth_first(depth_first *walk, regal_carver *carver) {
  size_t n = walk->problem->ops;
  walk->visits = regal_carve(carver, n, sizeof *walk->visits);
  walk->begin = regal_carve(carver, n + 1, 4);
  walk->predecessor = regal_carve(carver, walk->problem->successor_begin[n], 4);
  walk->next = regal_carve(carver, n, 4);
  walk->stack = regal_carve(carver, n, 4);
  walk->seen = regal_carve(carver, n, 1);
}

regal_status regal_order_depth_first(regal_context *context,
                                     const regal_problem *problem,
                                     const int64_t *key, uint32_t *order) {
  depth_first walk = {.problem = problem};
  regal_carver carver = {NULL, 0};
  REGAL_TRY(
      REGAL_CARVE_BLOCK(context, carver, lay_out_depth_first(&walk, &carver)));
  for (uint32_t op = 0; op < problem->ops; op++)
    walk.visits[op] = (regal_keyed){key[op], op};
  sort_visits(&walk);
  uint32_t count = 0;
  for (uint32_t i = 0; i < problem->ops; i++)
    count = visit(&walk, walk.visits[i].op, order, count);
  regal_release(context, carver.base);
  return REGAL_OK;
}

regal_status regal_order_dfs(regal_context *context,
                             const regal_problem *problem, uint32_t *order) {
  int64_t *key = regal_alloc(context, problem->ops, sizeof *key);
  if (!key)
    return regal_fail_memory(context);
  for (uint32_t op = 0; op < problem->ops; op++)
    key[op] = bytes_touched(problem, op);
  regal_status status = regal_order_depth_first(context, problem, key, order);
  regal_release(context, key);
  return status;
}

/* -- XLA's ----------------------------------------------------------------- */

/* Sums over an op and all that leads to it, along every path. XLA bounds them,
 * because paths are many: users by the number of ops, bytes by those of the ops
 * up to here. */
typedef struct history {
  int64_t extra_users; /* beyond the first of each op */
  int64_t bytes;
} history;

static void add_history(history *to, history from) {
  to->extra_users += from.extra_users;
  to->bytes += from.bytes;
}

/* Ops are numbered in a topological order: all that leads to an op has been
 * added to it when its turn comes. */
static void sum_histories(const regal_problem *problem, history *sums) {
  int64_t bytes_so_far = 0;
  for (uint32_t op = 0; op < problem->ops; op++) {
    uint32_t users =
        problem->successor_begin[op + 1] - problem->successor_begin[op];
    int64_t bytes = 0;
    for (REGAL_ROW(t, problem->output_begin, op))
      bytes += problem->bytes[t];
    bytes_so_far += bytes;
    add_history(&sums[op], (history){users > 1 ? users - 1 : 0, bytes});
    sums[op].extra_users = regal_smaller(sums[op].extra_users, problem->ops);
    sums[op].bytes = regal_smaller(sums[op].bytes, bytes_so_far);
    for (REGAL_ROW(s, problem->successor_begin, op))
      add_history(&sums[problem->successor[s]], sums[op]);
  }
}

/* Most extra users first, then most bytes, then by index. */
static void rank_visits(depth_first *walk, const history *sums) {
  int64_t ops = walk->problem->ops;
  for (uint32_t op = 0; op < ops; op++)
    walk->visits[op] = (regal_keyed){-sums[op].bytes, op};
  regal_keyed_sort(walk->visits, (size_t)ops);
  for (uint32_t i = 0; i < ops; i++)
    walk->visits[i].key = i - sums[walk->visits[i].op].extra_users * ops;
}

regal_status regal_order_xla_dfs(regal_context *context,
                                 const regal_problem *problem,
                                 uint32_t *order) {
  depth_first walk = {.problem = problem};
  regal_carver carver = {NULL, 0};
  history *sums = regal_alloc(context, problem->ops, sizeof *sums);
  lay_out_depth_first(&walk, &carver);
  if (!sums || !regal_carver_alloc(context, &carver)) {
    regal_release(context, sums);
    return regal_fail_memory(context);
  }
  lay_out_depth_first(&walk, &carver);
  sum_histories(problem, sums);
  rank_visits(&walk, sums);
  sort_visits(&walk);
  uint32_t count = 0;
  for (uint32_t op = 0; op < problem->ops; op++)
    if (problem->successor_begin[op] == problem->successor_begin[op + 1])
      count = visit(&walk, op, order, count);
  regal_release(context, sums);
  regal_release(context, carver.base);
  return REGAL_OK;
}

/* Positions of the predecessors that have run: since ops run in the order of
 * their positions, each row is ascending. */
typedef struct breadth_first {
  uint32_t *begin;    /* [ops+1] rows as long as there are predecessors */
  uint32_t *position; /* filled from each row's begin */
  uint32_t *end;      /* [ops] of what is filled */
  regal_tournament ready;
} breadth_first;

static bool ran_before(const void *state, uint32_t a, uint32_t b) {
  const breadth_first *walk = state;
  uint32_t i = walk->begin[a], k = walk->begin[b];
  for (; i < walk->end[a] && k < walk->end[b]; i++, k++)
    if (walk->position[i] != walk->position[k])
      return walk->position[i] < walk->position[k];
  return i == walk->end[a] && k < walk->end[b];
}

static void run_breadth_first(const regal_problem *problem, breadth_first *walk,
                              uint32_t *order) {
  regal_tournament *ready = &walk->ready;
  regal_tournament_begin(ready, ran_before, walk);
  begin_rows(problem, walk->begin);
  for (uint32_t op = 0; op < problem->ops; op++) {
    walk->end[op] = walk->begin[op];
    if (!problem->predecessors[op])
      regal_tournament_set(ready, op, op);
  }
  for (uint32_t i = 0; i < problem->ops; i++) {
    uint32_t op = regal_tournament_best(ready, 0, problem->ops);
    regal_tournament_set(ready, op, REGAL_NONE);
    order[i] = op;
    for (REGAL_ROW(s, problem->successor_begin, op)) {
      uint32_t next = problem->successor[s];
      walk->position[walk->end[next]++] = i;
      if (walk->end[next] == walk->begin[next + 1])
        regal_tournament_set(ready, next, next);
    }
  }
}

static void lay_out_breadth_first(breadth_first *walk, regal_carver *carver,
                                  const regal_problem *problem) {
  size_t n = problem->ops;
  walk->begin = regal_carve(carver, n + 1, 4);
  walk->position = regal_carve(carver, problem->successor_begin[n], 4);
  walk->end = regal_carve(carver, n, 4);
  regal_tournament_layout(&walk->ready, carver, problem->ops);
}

regal_status regal_order_bfs(regal_context *context,
                             const regal_problem *problem, uint32_t *order) {
  breadth_first walk;
  regal_carver carver = {NULL, 0};
  REGAL_TRY(REGAL_CARVE_BLOCK(context, carver,
                              lay_out_breadth_first(&walk, &carver, problem)));
  run_breadth_first(problem, &walk, order);
  regal_release(context, carver.base);
  return REGAL_OK;
}
