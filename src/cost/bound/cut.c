/* SPDX-License-Identifier: Apache-2.0 */
/* The network of CUT(v): an op is on the source's side if it is in D. Ancestors
 * of v are the source, v and its descendants the sink, all others are nodes.
 *  - An op in D has its predecessors there: an endless arc to each of them.
 *  - A tensor whose producer is in D and one of whose readers is not costs its
 *    bytes: an arc from the producer to a node of its own, and endless arcs
 *    from there to the readers. One reader needs no such node; a reader at the
 *    sink, or being final, is an arc to the sink.
 * Source to sink directly is LIVE(v), which is summed, not sent through.
 */
#include "cost/bound/parts.h"

#include "cost/bound/flow.h"

enum { SOURCE = 0, SINK = 1, FIRST_OP = 2 };

typedef struct cut_bound {
  const regal_problem *problem;
  uint32_t *node;         /* [ops] in the network; SOURCE or SINK */
  regal_keyed *promising; /* [ops] by minus an upper bound of CUT */
  uint32_t *readers;      /* [tensors] scratch */
  regal_flow flow;
} cut_bound;

/* Numbers the ops that can run before and after v. Returns the first number
 * that is free. */
static uint32_t number_ops(cut_bound *state, uint32_t v) {
  const regal_problem *problem = state->problem;
  uint32_t nodes = FIRST_OP;
  for (uint32_t op = 0; op < problem->ops; op++)
    state->node[op] = FIRST_OP;
  state->node[v] = SINK;
  for (uint32_t op = v; op < problem->ops; op++)
    for (uint32_t s = problem->successor_begin[op];
         state->node[op] == SINK && s < problem->successor_begin[op + 1]; s++)
      state->node[problem->successor[s]] = SINK;
  for (uint32_t op = v; op-- > 0;)
    for (REGAL_ROW(s, problem->successor_begin, op))
      if (problem->successor[s] == v ||
          state->node[problem->successor[s]] == SOURCE)
        state->node[op] = SOURCE;
  for (uint32_t op = 0; op < problem->ops; op++)
    if (state->node[op] == FIRST_OP)
      state->node[op] = nodes++;
  return nodes;
}

/* Adds a tensor of an op before or beside v. Its bytes, if they are there in
 * any case. */
static int64_t join_tensor(cut_bound *state, uint32_t t, uint32_t *nodes) {
  const regal_problem *problem = state->problem;
  uint32_t from = state->node[problem->producer[t]], readers = 0, reader = 0;
  bool after = problem->is_final[t];
  int64_t bytes = problem->bytes[t];
  for (REGAL_ROW(u, problem->use_begin, t)) {
    uint32_t node = state->node[problem->consumer[u]];
    after = after || node == SINK;
    if (node != SOURCE) {
      readers++;
      reader = node;
    }
  }
  if (after && from == SOURCE)
    return bytes;
  if (after)
    regal_flow_join(&state->flow, from, SINK, bytes, 0);
  else if (readers == 1)
    regal_flow_join(&state->flow, from, reader, bytes, 0);
  if (after || readers < 2)
    return 0;
  uint32_t all = (*nodes)++;
  regal_flow_join(&state->flow, from, all, bytes, 0);
  for (REGAL_ROW(u, problem->use_begin, t)) {
    uint32_t node = state->node[problem->consumer[u]];
    if (node != SOURCE)
      regal_flow_join(&state->flow, all, node, REGAL_FLOW_ENDLESS, 0);
  }
  return 0;
}

static void join_successors(cut_bound *state, uint32_t op) {
  const regal_problem *problem = state->problem;
  for (REGAL_ROW(s, problem->successor_begin, op)) {
    uint32_t next = state->node[problem->successor[s]];
    if (next >= FIRST_OP)
      regal_flow_join(&state->flow, next, state->node[op], REGAL_FLOW_ENDLESS,
                      0);
  }
}

/* As in live.c: the inputs that no descendant needs may die with v. */
static int64_t most_reused(const cut_bound *state, uint32_t v) {
  const regal_problem *problem = state->problem;
  regal_dying dying = {0, 0};
  if (!regal_may_reuse(problem, v))
    return 0;
  for (REGAL_ROW(i, problem->input_begin, v)) {
    uint32_t t = problem->input[i];
    bool needed = problem->is_final[t];
    for (uint32_t u = problem->use_begin[t];
         !needed && u < problem->use_begin[t + 1]; u++)
      needed = problem->consumer[u] != v &&
               state->node[problem->consumer[u]] == SINK;
    if (!needed)
      regal_dying_add(&dying, problem->bytes[t]);
  }
  return regal_most_reused(problem, v, dying);
}

static int64_t cut_of(cut_bound *state, uint32_t v, uint64_t effort) {
  const regal_problem *problem = state->problem;
  uint32_t nodes = number_ops(state, v);
  __int128 bytes = problem->graph->temporary_bytes[v];
  regal_flow_begin(&state->flow, nodes + problem->tensors);
  for (uint32_t op = 0; op < problem->ops; op++) {
    uint32_t node = state->node[op];
    if (node >= FIRST_OP)
      join_successors(state, op);
    for (REGAL_ROW(t, problem->output_begin, op)) {
      if (op == v)
        bytes += problem->bytes[t];
      else if (node != SINK && problem->bytes[t])
        bytes += join_tensor(state, t, &nodes);
    }
  }
  state->flow.nodes = nodes;
  bytes += regal_flow_run(&state->flow, effort);
  bytes -= most_reused(state, v);
  return bytes < INT64_MAX ? (int64_t)bytes : INT64_MAX;
}

static int64_t largest_cut(cut_bound *state, uint64_t effort, int64_t found) {
  const regal_problem *problem = state->problem;
  uint64_t fixed = problem->ops + problem->uses + problem->tensors +
                   problem->successor_begin[problem->ops];
  for (uint32_t i = 0; i < problem->ops; i++) {
    if (-state->promising[i].key <= found || effort <= fixed)
      break;
    uint64_t before = state->flow.work;
    int64_t bytes = cut_of(state, state->promising[i].op, effort);
    if (bytes > found)
      found = bytes;
    uint64_t spent = state->flow.work - before + fixed;
    effort -= spent < effort ? spent : effort;
  }
  return found;
}

static void layout(cut_bound *state, regal_carver *carver) {
  const regal_problem *problem = state->problem;
  uint32_t pairs =
      problem->successor_begin[problem->ops] + problem->uses + problem->tensors;
  state->node = regal_carve(carver, problem->ops, 4);
  state->promising =
      regal_carve(carver, problem->ops, sizeof *state->promising);
  state->readers = regal_carve(carver, problem->tensors, 4);
  regal_flow_layout(&state->flow, carver,
                    FIRST_OP + problem->ops + problem->tensors, pairs);
}

regal_status regal_bound_cut(regal_context *context,
                             const regal_problem *problem, uint64_t effort,
                             int64_t at_least, int64_t *bytes) {
  cut_bound state = {.problem = problem};
  regal_carver carver = {NULL, 0};
  REGAL_TRY(REGAL_CARVE_BLOCK(context, carver, layout(&state, &carver)));
  regal_rank_by_file_order(problem, state.readers, state.promising);
  *bytes = largest_cut(&state, effort, at_least);
  regal_release(context, carver.base);
  return REGAL_OK;
}
