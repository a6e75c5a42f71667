/* SPDX-License-Identifier: Apache-2.0 */
/* Greedy list orders: the ready op that does best for memory runs next.
 *
 * LPMF, least peak memory first, is PyTorch Inductor's topological_sort_lpmf
 * (torch/_inductor/memory.py). The other is the list scheduler of XLA
 * (hlo_memory_scheduler.cc: ListScheduler), whose ready queue gives the op that
 * was added last when several are equal.
 *
 * Both rank ops by how much memory they leave in use, outputs minus what dies.
 * That changes for an op only when it becomes the last reader of an input, so
 * all the ranks together change at most once per tensor.
 */
#include <string.h>

#include "base/compare.h"
#include "base/tournament.h"
#include "heuristic/list/orders.h"

enum op_state { OP_WAITS, OP_READY, OP_DONE };

typedef struct list_order {
  const regal_problem *problem;
  uint8_t *state;       /* [ops] enum op_state */
  uint32_t *waits_for;  /* [ops] predecessors that have not run */
  uint32_t *ready_at;   /* [ops] steps that ran before it was ready */
  uint32_t *readers;    /* [tensors] consumers that have not run */
  int64_t *net;         /* [ops] bytes in use after it, less before it */
  uint32_t *place;      /* [ops] place in the tournament */
  regal_keyed *by_size; /* [ops] by bytes allocated while it runs: places */
  regal_tournament ready;
} list_order;

static int64_t allocated_bytes(const regal_problem *problem, uint32_t op) {
  int64_t bytes = 0;
  for (REGAL_ROW(t, problem->output_begin, op))
    bytes += problem->bytes[t];
  return bytes;
}

/* Credits a tensor to the one reader that is left. */
static void credit_last_reader(list_order *list, uint32_t tensor) {
  const regal_problem *problem = list->problem;
  if (problem->is_final[tensor])
    return;
  uint32_t u = problem->use_begin[tensor];
  while (list->state[problem->consumer[u]] == OP_DONE)
    u++;
  uint32_t reader = problem->consumer[u];
  list->net[reader] -= problem->bytes[tensor];
  if (list->state[reader] == OP_READY)
    regal_tournament_set(&list->ready, list->place[reader], reader);
}

static void make_ready(list_order *list, uint32_t op, uint32_t step) {
  list->state[op] = OP_READY;
  list->ready_at[op] = step;
  regal_tournament_set(&list->ready, list->place[op], op);
}

static void begin_list(list_order *list) {
  const regal_problem *problem = list->problem;
  for (uint32_t op = 0; op < problem->ops; op++) {
    list->net[op] += allocated_bytes(problem, op);
    list->waits_for[op] = problem->predecessors[op];
    for (REGAL_ROW(t, problem->output_begin, op)) {
      list->readers[t] = problem->use_begin[t + 1] - problem->use_begin[t];
      if (list->readers[t] == 1)
        credit_last_reader(list, t);
      else if (!list->readers[t] && !problem->is_final[t])
        list->net[op] -= problem->bytes[t];
    }
  }
  for (uint32_t op = 0; op < problem->ops; op++)
    if (!list->waits_for[op])
      make_ready(list, op, 0);
}

static void run_op(list_order *list, uint32_t op, uint32_t step) {
  const regal_problem *problem = list->problem;
  regal_tournament_set(&list->ready, list->place[op], REGAL_NONE);
  list->state[op] = OP_DONE;
  for (REGAL_ROW(i, problem->input_begin, op))
    if (--list->readers[problem->input[i]] == 1)
      credit_last_reader(list, problem->input[i]);
  for (REGAL_ROW(s, problem->successor_begin, op))
    if (--list->waits_for[problem->successor[s]] == 0)
      make_ready(list, problem->successor[s], step + 1);
}

static bool leaves_less(const void *state, uint32_t a, uint32_t b) {
  const list_order *list = state;
  if (list->net[a] != list->net[b])
    return list->net[a] < list->net[b];
  return a < b;
}

/* Places by size, so that the ops that fit below the peak are a range. */
static void place_by_size(list_order *list) {
  const regal_problem *problem = list->problem;
  for (uint32_t op = 0; op < problem->ops; op++) {
    int64_t bytes = allocated_bytes(problem, op);
    if (__builtin_add_overflow(bytes, problem->graph->temporary_bytes[op],
                               &bytes))
      bytes = INT64_MAX;
    list->by_size[op] = (regal_keyed){bytes, op};
  }
  regal_keyed_sort(list->by_size, problem->ops);
  for (uint32_t i = 0; i < problem->ops; i++)
    list->place[list->by_size[i].op] = i;
}

/* The number of places with a size of at most `bytes`. */
static uint32_t places_within(const list_order *list, int64_t bytes) {
  uint32_t low = 0, high = list->problem->ops;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (list->by_size[middle].key <= bytes)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static void run_lpmf(list_order *list, uint32_t *order) {
  int64_t in_use = 0, peak = 0;
  place_by_size(list);
  begin_list(list);
  for (uint32_t step = 0; step < list->problem->ops; step++) {
    uint32_t op = regal_tournament_best(&list->ready, 0,
                                        places_within(list, peak - in_use));
    if (op == REGAL_NONE) { /* all raise the peak: the smallest */
      uint32_t lowest = regal_tournament_lowest(&list->ready);
      int64_t size = list->by_size[lowest].key;
      op = regal_tournament_best(&list->ready, lowest,
                                 places_within(list, size));
      if (__builtin_add_overflow(in_use, size, &peak))
        peak = INT64_MAX;
    }
    in_use += list->net[op];
    run_op(list, op, step);
    order[step] = op;
  }
}

static bool frees_more(const void *state, uint32_t a, uint32_t b) {
  const list_order *list = state;
  const uint32_t *begin = list->problem->successor_begin;
  uint32_t users_a = begin[a + 1] - begin[a], users_b = begin[b + 1] - begin[b];
  if (list->net[a] != list->net[b])
    return list->net[a] < list->net[b];
  if (users_a != users_b)
    return users_a > users_b;
  return list->ready_at[a] > list->ready_at[b];
}

static void run_xla_list(list_order *list, uint32_t *order) {
  uint32_t n = list->problem->ops;
  for (uint32_t op = 0; op < n; op++)
    list->place[op] = n - 1 - op; /* the later op when all else is equal */
  begin_list(list);
  for (uint32_t step = 0; step < n; step++) {
    order[step] = regal_tournament_best(&list->ready, 0, n);
    run_op(list, order[step], step);
  }
}

static void layout(list_order *list, regal_carver *carver) {
  size_t n = list->problem->ops;
  list->state = regal_carve(carver, n, 1);
  list->waits_for = regal_carve(carver, n, 4);
  list->ready_at = regal_carve(carver, n, 4);
  list->readers = regal_carve(carver, list->problem->tensors, 4);
  list->net = regal_carve(carver, n, 8);
  list->place = regal_carve(carver, n, 4);
  list->by_size = regal_carve(carver, n, sizeof *list->by_size);
  regal_tournament_layout(&list->ready, carver, list->problem->ops);
}

static regal_status make_list(regal_context *context,
                              const regal_problem *problem, uint32_t *order,
                              regal_before_fn before,
                              void (*run)(list_order *, uint32_t *)) {
  list_order list = {.problem = problem};
  regal_carver carver = {NULL, 0};
  REGAL_TRY(REGAL_CARVE_BLOCK(context, carver, layout(&list, &carver)));
  regal_tournament_begin(&list.ready, before, &list);
  run(&list, order);
  regal_release(context, carver.base);
  return REGAL_OK;
}

regal_status regal_order_lpmf(regal_context *context,
                              const regal_problem *problem, uint32_t *order) {
  return make_list(context, problem, order, leaves_less, run_lpmf);
}

regal_status regal_order_xla_list(regal_context *context,
                                  const regal_problem *problem,
                                  uint32_t *order) {
  return make_list(context, problem, order, frees_more, run_xla_list);
}
