/* SPDX-License-Identifier: Apache-2.0 */
/* Ties between the two gradients of a layer.
 *
 * In most frameworks the backward pass of a layer is one function, which
 * computes the gradients of weights and of the input: the layers before it
 * start when both are there. In a graph of ops these are apart, and the
 * gradients of weights could run much later. A tie puts this back: the op w
 * that makes the gradient of a weight runs before the ops of the backward pass
 * which read what the same op (its anchor) made as w does.
 *
 * A weight's gradient may take several ops in a row. The first of them reads
 * what the anchor made, and the last is tied. A tie that would close a cycle is
 * left out: an op's descendants, along edges and ties, are searched for that.
 * O(ties * (ops + edges)).
 */
#include "base/carve.h"
#include "pipeline/step.h"

typedef struct tie {
  uint32_t after, next; /* the next tie with the same op before, or NONE */
} tie;

typedef struct binder {
  regal_context *context;
  const regal_graph *graph;
  const regal_step_roles *roles;
  uint32_t *anchor;  /* [ops] an op, or REGAL_NONE */
  uint32_t *first;   /* [ops] tie with this op before, or REGAL_NONE */
  uint32_t *seen;    /* [ops] the search that last came here */
  uint32_t *stack;   /* [ops] */
  uint32_t searches; /* so far */
  tie *ties;
  size_t count, capacity;
} binder;

static void layout(void *made, regal_carver *carver) {
  binder *b = made;
  size_t ops = b->graph->ops;
  b->anchor = regal_carve(carver, ops, 4);
  b->first = regal_carve(carver, ops, 4);
  b->seen = regal_carve(carver, ops, 4);
  b->stack = regal_carve(carver, ops, 4);
}

static bool is_weight(const binder *b, uint32_t op) {
  return b->roles->pass[op] == REGAL_PASS_WEIGHT;
}

/* The backward pass does, and the gradient of the loss: a forward op that no
 * other forward op reads. */
static bool makes_gradients(const binder *b, uint32_t op) {
  const regal_graph *graph = b->graph;
  if (b->roles->pass[op] != REGAL_PASS_FORWARD)
    return b->roles->pass[op] == REGAL_PASS_BACKWARD;
  for (REGAL_ROW(t, graph->output_begin, op))
    for (REGAL_ROW(u, graph->use_begin, t))
      if (b->roles->pass[graph->consumer[u]] == REGAL_PASS_FORWARD)
        return false;
  return true;
}

/* The op from whose gradients a weight's gradient is made: the first that it
 * reads, or that of a weight's op before it. */
static uint32_t find_anchor(const binder *b, uint32_t op) {
  const regal_graph *graph = b->graph;
  for (REGAL_ROW(i, graph->input_begin, op)) {
    uint32_t producer = graph->producer[graph->input[i]];
    if (makes_gradients(b, producer))
      return producer;
    if (is_weight(b, producer) && b->anchor[producer] != REGAL_NONE)
      return b->anchor[producer];
  }
  return REGAL_NONE;
}

static void visit(binder *b, uint32_t op, uint32_t *depth) {
  if (b->seen[op] == b->searches)
    return;
  b->seen[op] = b->searches;
  b->stack[(*depth)++] = op;
}

static void visit_after(binder *b, uint32_t op, uint32_t *depth) {
  const regal_graph *graph = b->graph;
  for (REGAL_ROW(t, graph->output_begin, op))
    for (REGAL_ROW(u, graph->use_begin, t))
      visit(b, graph->consumer[u], depth);
  for (REGAL_ROW(i, graph->control_out_begin, op))
    visit(b, graph->control_out[i], depth);
  for (uint32_t i = b->first[op]; i != REGAL_NONE; i = b->ties[i].next)
    visit(b, b->ties[i].after, depth);
}

/* Whether `to` depends on `from`. */
static bool leads(binder *b, uint32_t from, uint32_t to) {
  uint32_t depth = 0;
  b->searches++;
  visit(b, from, &depth);
  while (depth > 0 && b->seen[to] != b->searches)
    visit_after(b, b->stack[--depth], &depth);
  return b->seen[to] == b->searches;
}

static regal_status tie_up(binder *b, uint32_t before, uint32_t after) {
  if (leads(b, after, before))
    return REGAL_OK;
  if (!REGAL_RESERVE(b->context, b->ties, b->count, b->capacity))
    return regal_fail_memory(b->context);
  b->ties[b->count] = (tie){after, b->first[before]};
  b->first[before] = (uint32_t)b->count++;
  return REGAL_OK;
}

static regal_status find_ties(binder *b) {
  const regal_graph *graph = b->graph;
  for (uint32_t op = 0; op < graph->ops; op++) {
    b->anchor[op] = is_weight(b, op) ? find_anchor(b, op) : REGAL_NONE;
    b->first[op] = REGAL_NONE;
  }
  for (uint32_t op = 0; op < graph->ops; op++) {
    if (b->anchor[op] == REGAL_NONE || !b->roles->is_result[op])
      continue;
    for (REGAL_ROW(t, graph->output_begin, b->anchor[op]))
      for (REGAL_ROW(u, graph->use_begin, t))
        if (b->roles->pass[graph->consumer[u]] == REGAL_PASS_BACKWARD)
          REGAL_TRY(tie_up(b, op, graph->consumer[u]));
  }
  return REGAL_OK;
}

static regal_status add_ties(const binder *b, regal_tie_fn add, void *state) {
  for (uint32_t op = 0; op < b->graph->ops; op++)
    for (uint32_t i = b->first[op]; i != REGAL_NONE; i = b->ties[i].next)
      REGAL_TRY(add(state, op, b->ties[i].after));
  return REGAL_OK;
}

regal_status regal_step_ties(regal_context *context, const regal_graph *graph,
                             const regal_step_roles *roles, regal_tie_fn add,
                             void *state) {
  binder plain = {.context = context, .graph = graph, .roles = roles};
  binder *b = regal_carve_struct(context, &plain, sizeof plain, layout);
  if (!b)
    return regal_fail_memory(context);
  regal_status status = find_ties(b);
  if (status == REGAL_OK)
    status = add_ties(b, add, state);
  regal_release(context, b->ties);
  regal_release(context, b);
  return status;
}
