/* SPDX-License-Identifier: Apache-2.0 */
/* Depth-first, with a stack of our own: graphs may be deep. */
#include "format/onnx/order.h"

#include "graph/builder.h"

enum { NEW, OPEN, TAKEN };

/* -- What a node needs ------------------------------------------------------
 */

static regal_status index_outputs(regal_onnx_sorter *s) {
  size_t capacity = 0, number;
  for (uint32_t i = 0; i < s->graph->n_node; i++)
    for (size_t k = 0; k < s->graph->node[i]->n_output; k++) {
      if (!regal_names_add(&s->names, s->graph->node[i]->output[k], &number) ||
          !REGAL_RESERVE(s->context, s->maker, number, capacity))
        return regal_fail_memory(s->context);
      s->maker[number] = i;
    }
  return REGAL_OK;
}

/* The node that makes a value; REGAL_NONE: none does. */
static uint32_t maker_of(const regal_onnx_sorter *s, const char *name) {
  size_t number = *name ? regal_names_find(&s->names, name) : REGAL_NO_NAME;
  return number == REGAL_NO_NAME ? REGAL_NONE : s->maker[number];
}

static regal_status push(regal_onnx_sorter *s, uint32_t node) {
  if (!REGAL_RESERVE(s->context, s->stack, s->stacked, s->stack_capacity))
    return regal_fail_memory(s->context);
  s->stack[s->stacked++] = node;
  return REGAL_OK;
}

/* Pushes the node that makes a value, if it must still come before `reader`. A
 * value of a body may have the name of a later one outside: the rank tells. */
static regal_status need_value(regal_onnx_sorter *s, const char *name,
                               uint32_t reader) {
  uint32_t maker = maker_of(s, name);
  if (maker == REGAL_NONE || s->state[maker] != NEW ||
      (s->rank && s->rank[maker] >= s->rank[reader]))
    return REGAL_OK;
  return push(s, maker);
}

/* Bodies nest as deep as the file's check allows. */
static regal_status need_inputs(regal_onnx_sorter *s,
                                const regal_onnx_node *node, uint32_t reader) {
  for (size_t i = 0; i < node->n_input; i++)
    REGAL_TRY(need_value(s, node->input[i], reader));
  for (size_t i = 0; i < node->n_attribute; i++) {
    const regal_onnx_attribute *attribute = node->attribute[i];
    for (size_t b = 0; b < attribute->n_graphs + (attribute->g != NULL); b++) {
      const regal_onnx_graph *body =
          b < attribute->n_graphs ? attribute->graphs[b] : attribute->g;
      for (size_t k = 0; k < body->n_node; k++)
        REGAL_TRY(need_inputs(s, body->node[k], reader));
      for (size_t k = 0; k < body->n_output; k++)
        REGAL_TRY(need_value(s, body->output[k]->name, reader));
    }
  }
  return REGAL_OK;
}

regal_status regal_onnx_sorter_take(regal_onnx_sorter *s, uint32_t node) {
  REGAL_TRY(push(s, node));
  while (s->stacked) {
    uint32_t top = s->stack[s->stacked - 1];
    size_t before = s->stacked;
    if (s->state[top] != TAKEN) {
      s->state[top] = OPEN;
      REGAL_TRY(need_inputs(s, s->graph->node[top], top));
    }
    if (s->stacked > before)
      continue;
    s->stacked--;
    if (s->state[top] != TAKEN)
      s->order[s->count++] = top;
    s->state[top] = TAKEN;
  }
  return REGAL_OK;
}

/* -- The first order --------------------------------------------------------
 */

static bool is_sorted(const regal_onnx_sorter *s) {
  for (uint32_t i = 0; i < s->graph->n_node; i++)
    for (size_t k = 0; k < s->graph->node[i]->n_input; k++) {
      uint32_t maker = maker_of(s, s->graph->node[i]->input[k]);
      if (maker != REGAL_NONE && maker >= i)
        return false;
    }
  return true;
}

/* Ranks by the file's order, or else by the order of taking all. */
static regal_status rank_nodes(regal_onnx_sorter *s, uint32_t *rank) {
  uint32_t nodes = (uint32_t)s->graph->n_node;
  bool sorted = is_sorted(s);
  for (uint32_t i = 0; i < nodes && !sorted; i++)
    REGAL_TRY(regal_onnx_sorter_take(s, i));
  for (uint32_t i = 0; i < nodes; i++)
    rank[sorted ? i : s->order[i]] = i;
  for (uint32_t i = 0; i < nodes; i++)
    s->state[i] = NEW;
  s->count = 0;
  return REGAL_OK;
}

regal_status regal_onnx_sorter_open(regal_onnx_sorter *s,
                                    regal_context *context,
                                    const regal_onnx_graph *graph) {
  *s = (regal_onnx_sorter){.context = context, .graph = graph};
  regal_names_init(&s->names, context);
  s->order = regal_alloc(context, graph->n_node, sizeof *s->order);
  s->state = regal_alloc(context, graph->n_node, sizeof *s->state);
  uint32_t *rank = regal_alloc(context, graph->n_node, sizeof *rank);
  regal_status status = s->order && s->state && rank
                            ? index_outputs(s)
                            : regal_fail_memory(context);
  if (status == REGAL_OK)
    status = rank_nodes(s, rank);
  s->rank = rank; /* from now on */
  return status;
}

void regal_onnx_sorter_free(regal_onnx_sorter *s) {
  regal_names_free(&s->names);
  regal_release(s->context, s->order);
  regal_release(s->context, s->rank);
  regal_release(s->context, s->state);
  regal_release(s->context, s->maker);
  regal_release(s->context, s->stack);
}

regal_status regal_onnx_sort(regal_context *context,
                             const regal_onnx_graph *graph, uint32_t *order) {
  regal_onnx_sorter sorter;
  regal_status status = regal_onnx_sorter_open(&sorter, context, graph);
  for (uint32_t i = 0; i < graph->n_node && status == REGAL_OK; i++)
    order[sorter.rank[i]] = i;
  regal_onnx_sorter_free(&sorter);
  return status;
}
