/* SPDX-License-Identifier: Apache-2.0 */
/* Outputs that share the memory of an input (--aliases share).
 *
 * alias_input_port names an input of the same node; the input may be an alias
 * itself, so that chains must be followed to their root.
 */
#include "format/tensorflow/cost_graph.h"

/* A port beyond the inputs means none: 0 is what is read where nothing is set.
 */
regal_source regal_cost_aliased_input(const regal_cost_graph *cost,
                                      uint32_t node, size_t port) {
  int64_t input =
      regal_cost_node_at(cost, node)->output_info[port]->alias_input_port;
  uint32_t begin = cost->input_begin[node], end = cost->input_begin[node + 1];
  if (input < 0 || input >= end - begin)
    return (regal_source){REGAL_NONE, 0};
  return cost->input[begin + (uint32_t)input];
}

/* An alias cannot be larger than its input, unless sizes were not tracked. */
static bool is_larger(const regal_cost_graph *cost, uint32_t tensor,
                      regal_source input) {
  const regal_cost_node *from = regal_cost_node_at(cost, input.node);
  return from->output_info[input.port]->size >= 0 &&
         cost->bytes[tensor] > cost->bytes[regal_cost_tensor(cost, input)];
}

/* Fills next[] with the tensor that each one aliases directly, or itself. */
static void find_next(regal_cost_graph *cost, uint32_t *next) {
  for (uint32_t i = 0; i < cost->nodes; i++) {
    uint32_t begin = cost->output_begin[i], end = cost->output_begin[i + 1];
    for (uint32_t tensor = begin; tensor < end; tensor++) {
      regal_source input = regal_cost_aliased_input(cost, i, tensor - begin);
      next[tensor] = tensor;
      if (input.node == REGAL_NONE)
        continue;
      next[tensor] = regal_cost_tensor(cost, input);
      cost->counts.larger += is_larger(cost, tensor, input);
    }
  }
}

/* Replaces each step of a chain by its root; linear, for every chain is walked
 * once. A chain that comes back to itself can only be part of a cycle of the
 * graph, which is reported later: here it just ends. */
static void find_roots(uint32_t tensors, uint32_t *next, uint32_t *walk) {
  for (uint32_t start = 0; start < tensors; start++) {
    uint32_t at = start;
    while (!walk[at] && next[at] != at) {
      walk[at] = start + 1;
      at = next[at];
    }
    uint32_t root = walk[at] == start + 1 ? at : next[at];
    walk[at] = start + 1;
    for (at = start; at != root && next[at] != root;) {
      uint32_t step = next[at];
      next[at] = root;
      at = step;
    }
    next[root] = root;
  }
}

regal_status regal_cost_find_aliases(regal_cost_graph *cost, uint32_t **root) {
  uint32_t tensors = cost->output_begin[cost->nodes];
  uint32_t *next = regal_arena_alloc(&cost->arena, tensors, sizeof *next);
  uint32_t *walk = regal_arena_alloc(&cost->arena, tensors, sizeof *walk);
  if (!next || !walk)
    return regal_fail_memory(cost->context);
  find_next(cost, next);
  find_roots(tensors, next, walk);
  *root = next;
  return REGAL_OK;
}

/* -- Sharing --------------------------------------------------------------- */

/* A consumer of an alias reads the root, but still after the alias was made. */
static regal_status read_roots(regal_cost_graph *cost, const uint32_t *root,
                               const regal_source *source_of) {
  for (uint32_t i = 0; i < cost->nodes; i++)
    for (REGAL_ROW(j, cost->input_begin, i)) {
      regal_source *input = &cost->input[j];
      if (input->node == REGAL_NONE || cost->becomes[i] == REGAL_NONE)
        continue;
      uint32_t tensor = regal_cost_tensor(cost, *input);
      if (root[tensor] == tensor)
        continue;
      REGAL_TRY(regal_cost_add_wait(cost, input->node, i));
      *input = source_of[root[tensor]];
    }
  return REGAL_OK;
}

static void free_aliases(regal_cost_graph *cost, const uint32_t *root) {
  for (uint32_t t = 0; t < cost->output_begin[cost->nodes]; t++) {
    if (root[t] == t)
      continue;
    cost->counts.aliases++;
    cost->counts.alias_bytes += (uint64_t)cost->bytes[t];
    cost->is_final[root[t]] |= cost->is_final[t];
    cost->bytes[t] = 0;
  }
}

regal_status regal_cost_share_aliases(regal_cost_graph *cost,
                                      const uint32_t *root) {
  if (cost->options->aliases != REGAL_ALIASES_SHARE)
    return REGAL_OK;
  regal_source *source_of = regal_arena_alloc(
      &cost->arena, cost->output_begin[cost->nodes], sizeof *source_of);
  if (!source_of)
    return regal_fail_memory(cost->context);
  for (uint32_t i = 0; i < cost->nodes; i++)
    for (REGAL_ROW(t, cost->output_begin, i))
      source_of[t] = (regal_source){i, t - cost->output_begin[i]};
  free_aliases(cost, root);
  return read_roots(cost, root, source_of);
}
