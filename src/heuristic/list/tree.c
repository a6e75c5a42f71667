/* SPDX-License-Identifier: Apache-2.0 */
/* The order of least peak memory of a tree (Liu 1987), for any graph.
 *
 * What a subtree holds while it runs rises to hills and falls to valleys. Cut
 * after the last highest hill at the lowest valley behind it, again from there,
 * and so on, it becomes segments: hills fall, valleys rise. Of several subtrees
 * the segment with the most between hill and valley goes first. That is optimal
 * where every result has one reader.
 *
 * Elsewhere an op belongs to the first of those that depend on it, as if nobody
 * else did, and a tensor is freed by its last reader in the file's order.
 * Then each op comes after its predecessors, in that order (walk.c).
 */
#include "base/carve.h"
#include "base/compare.h"
#include "heuristic/list/orders.h"

/* More segments of a subtree are rare; the last of them are joined. */
#define MOST_SEGMENTS 64

/* Ops that run one after the other. Each op makes one, which has its number. */
typedef struct segment {
  int64_t hill, valley; /* bytes, from where the segment begins */
  uint32_t head, tail;  /* ops */
  uint32_t next;        /* segment of the same subtree, or NONE */
} segment;

typedef struct forest {
  const regal_problem *problem;
  segment *segments;     /* [ops] */
  uint32_t *first;       /* [ops+1] segment of the subtree; last: of all */
  uint32_t *child;       /* [ops+1] first op whose parent this is, or NONE */
  uint32_t *sibling;     /* [ops] */
  uint32_t *after;       /* [ops] op behind it in its segment */
  regal_keyed *merged;   /* [ops] segments of the children, by key */
  uint32_t *stack;       /* [ops] segments of the subtree in the making */
  uint32_t *last_reader; /* [tensors], or NONE */
} forest;

static void layout(forest *f, regal_carver *carver) {
  size_t n = f->problem->ops;
  f->segments = regal_carve(carver, n, sizeof *f->segments);
  f->first = regal_carve(carver, n + 1, 4);
  f->child = regal_carve(carver, n + 1, 4);
  f->sibling = regal_carve(carver, n, 4);
  f->after = regal_carve(carver, n, 4);
  f->merged = regal_carve(carver, n, sizeof *f->merged);
  f->stack = regal_carve(carver, n, 4);
  f->last_reader = regal_carve(carver, f->problem->tensors, 4);
}

static void find_parents(forest *f) {
  const regal_problem *problem = f->problem;
  uint32_t n = problem->ops;
  for (uint32_t op = 0; op <= n; op++)
    f->child[op] = REGAL_NONE;
  for (uint32_t op = n; op-- > 0;) {
    uint32_t parent = n;
    for (REGAL_ROW(s, problem->successor_begin, op))
      parent = problem->successor[s] < parent ? problem->successor[s] : parent;
    f->sibling[op] = f->child[parent];
    f->child[parent] = op;
  }
  for (uint32_t t = 0; t < problem->tensors; t++) {
    f->last_reader[t] = REGAL_NONE;
    for (REGAL_ROW(u, problem->use_begin, t)) {
      uint32_t reader = problem->consumer[u], last = f->last_reader[t];
      f->last_reader[t] = last == REGAL_NONE || reader > last ? reader : last;
    }
  }
}

static int64_t freed_by(const forest *f, uint32_t op) {
  const regal_problem *problem = f->problem;
  int64_t bytes = 0;
  for (REGAL_ROW(i, problem->input_begin, op)) {
    uint32_t t = problem->input[i];
    bytes += f->last_reader[t] == op && !problem->is_final[t]
                 ? problem->bytes[t]
                 : 0;
  }
  for (REGAL_ROW(t, problem->output_begin, op))
    bytes += f->last_reader[t] == REGAL_NONE && !problem->is_final[t]
                 ? problem->bytes[t]
                 : 0;
  return bytes;
}

static segment segment_of(const forest *f, uint32_t op) {
  const regal_problem *problem = f->problem;
  int64_t made = 0;
  for (REGAL_ROW(t, problem->output_begin, op))
    made += problem->bytes[t];
  return (segment){.hill = made + problem->graph->temporary_bytes[op],
                   .valley = made - freed_by(f, op),
                   .head = op,
                   .tail = op,
                   .next = REGAL_NONE};
}

/* The segments of all children, those with most between hill and valley first.
 */
static uint32_t merge(forest *f, uint32_t parent) {
  uint32_t count = 0;
  for (uint32_t op = f->child[parent]; op != REGAL_NONE; op = f->sibling[op])
    for (uint32_t s = f->first[op]; s != REGAL_NONE; s = f->segments[s].next)
      f->merged[count++] =
          (regal_keyed){f->segments[s].valley - f->segments[s].hill, s};
  regal_keyed_sort(f->merged, count);
  return count;
}

/* The first goes on with the second. */
static void join(forest *f, uint32_t to, uint32_t with) {
  segment *first = &f->segments[to];
  const segment *second = &f->segments[with];
  first->hill = regal_larger(first->hill, first->valley + second->hill);
  first->valley += second->valley;
  f->after[first->tail] = second->head;
  first->tail = second->tail;
}

/* Hills are to fall and valleys to rise: in bytes from where the segment on top
 * begins. */
static uint32_t push(forest *f, uint32_t count, uint32_t added) {
  f->stack[count++] = added;
  while (count > 1) {
    const segment *top = &f->segments[f->stack[count - 1]];
    const segment *below = &f->segments[f->stack[count - 2]];
    bool falls = below->valley + top->hill < below->hill;
    if (falls && top->valley > 0 && count <= MOST_SEGMENTS)
      break;
    join(f, f->stack[count - 2], f->stack[count - 1]);
    count--;
  }
  return count;
}

/* The subtree of an op, or of all that have none above them. */
static void make_subtree(forest *f, uint32_t parent) {
  uint32_t merged = merge(f, parent), count = 0;
  for (uint32_t k = 0; k < merged; k++)
    count = push(f, count, f->merged[k].op);
  if (parent < f->problem->ops) {
    f->segments[parent] = segment_of(f, parent);
    count = push(f, count, parent);
  }
  f->first[parent] = count ? f->stack[0] : REGAL_NONE;
  for (uint32_t k = 0; k < count; k++)
    f->segments[f->stack[k]].next =
        k + 1 < count ? f->stack[k + 1] : REGAL_NONE;
}

static void rank(const forest *f, int64_t *key) {
  int64_t rank = 0;
  for (uint32_t s = f->first[f->problem->ops]; s != REGAL_NONE;
       s = f->segments[s].next)
    for (uint32_t op = f->segments[s].head;; op = f->after[op]) {
      key[op] = rank++;
      if (op == f->segments[s].tail)
        break;
    }
}

static regal_status rank_by_tree(regal_context *context,
                                 const regal_problem *problem, int64_t *key) {
  forest f = {.problem = problem};
  regal_carver carver = {NULL, 0};
  REGAL_TRY(REGAL_CARVE_BLOCK(context, carver, layout(&f, &carver)));
  find_parents(&f);
  for (uint32_t op = 0; op <= problem->ops; op++)
    make_subtree(&f, op);
  rank(&f, key);
  regal_release(context, carver.base);
  return REGAL_OK;
}

regal_status regal_order_tree(regal_context *context,
                              const regal_problem *problem, uint32_t *order) {
  int64_t *key = regal_alloc(context, problem->ops, sizeof *key);
  if (!key)
    return regal_fail_memory(context);
  regal_status status = rank_by_tree(context, problem, key);
  if (status == REGAL_OK)
    status = regal_order_depth_first(context, problem, key, order);
  regal_release(context, key);
  return status;
}
