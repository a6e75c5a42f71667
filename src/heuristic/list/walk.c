/* SPDX-License-Identifier: Apache-2.0 */
/* Orders that follow the graph's shape: depth first and breadth first, as in
 * the memory reordering passes of PyTorch Inductor (torch/_inductor/memory.py:
 * topological_sort_dfs, topological_sort_bfs).
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
  for (uint32_t op = 0; op < problem->ops; op++)
    walk->visits[op] = (regal_keyed){bytes_touched(problem, op), op};
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

regal_status regal_order_dfs(regal_context *context,
                             const regal_problem *problem, uint32_t *order) {
  uint32_t n = problem->ops;
  depth_first walk = {.problem = problem};
  walk.visits = regal_alloc(context, n, sizeof *walk.visits);
  walk.begin = regal_alloc(context, (size_t)n + 1, 4);
  walk.predecessor = regal_alloc(context, problem->successor_begin[n], 4);
  walk.next = regal_alloc(context, n, 4);
  walk.stack = regal_alloc(context, n, 4);
  walk.seen = regal_alloc(context, n, 1);
  regal_status status = REGAL_OK;
  if (!walk.visits || !walk.begin || !walk.predecessor || !walk.next ||
      !walk.stack || !walk.seen) {
    status = regal_fail_memory(context);
  } else {
    sort_visits(&walk);
    uint32_t count = 0;
    for (uint32_t i = 0; i < n; i++)
      count = visit(&walk, walk.visits[i].op, order, count);
  }
  regal_release(context, walk.visits);
  regal_release(context, walk.begin);
  regal_release(context, walk.predecessor);
  regal_release(context, walk.next);
  regal_release(context, walk.stack);
  regal_release(context, walk.seen);
  return status;
}

/* Positions of the predecessors that have run: since ops run in the order of
 * their positions, each row is ascending. */
typedef struct breadth_first {
  uint32_t *begin;    /* [ops+1] rows as long as there are predecessors */
  uint32_t *position; /* filled from each row's begin */
  uint32_t *end;      /* [ops] of what is filled */
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
                              regal_tournament *ready, uint32_t *order) {
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

regal_status regal_order_bfs(regal_context *context,
                             const regal_problem *problem, uint32_t *order) {
  uint32_t n = problem->ops;
  breadth_first walk = {NULL, NULL, NULL};
  regal_tournament ready;
  REGAL_TRY(regal_tournament_init(context, &ready, n, ran_before, &walk));
  walk.begin = regal_alloc(context, (size_t)n + 1, 4);
  walk.position = regal_alloc(context, problem->successor_begin[n], 4);
  walk.end = regal_alloc(context, n, 4);
  regal_status status = REGAL_OK;
  if (!walk.begin || !walk.position || !walk.end)
    status = regal_fail_memory(context);
  else
    run_breadth_first(problem, &walk, &ready, order);
  regal_release(context, walk.begin);
  regal_release(context, walk.position);
  regal_release(context, walk.end);
  regal_tournament_free(context, &ready);
  return status;
}
