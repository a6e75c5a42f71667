/* SPDX-License-Identifier: Apache-2.0 */
/* Constants and variables whose memory is resident: it is counted by the node
 * that holds it, so the tensors that show it to readers cost nothing.
 */
#include <string.h>

#include "format/tensorflow/cost_graph.h"

enum { VARIABLES_TENSORS, VARIABLES_RESIDENT }; /* choices of --variables */

/* A constant or a reference variable is persistent and repeats its size as that
 * of its output; it would count twice. */
void regal_cost_settle_constants(regal_cost_graph *cost) {
  for (uint32_t i = 0; i < cost->nodes; i++) {
    const regal_cost_node *node = regal_cost_node_at(cost, i);
    if (node->n_input_info || node->persistent_memory_size <= 0)
      continue;
    for (size_t port = 0; port < node->n_output_info; port++) {
      const regal_cost_output *output = node->output_info[port];
      if (!output->shape || output->size != node->persistent_memory_size)
        continue;
      cost->bytes[cost->output_begin[i] + port] = 0;
      cost->counts.constants++;
      cost->counts.constant_bytes += (uint64_t)output->size;
    }
  }
}

/* "dense/MatMul/ReadVariableOp", "ReadVariableOp_3". */
static bool is_read(const char *name) {
  static const char type[] = "ReadVariableOp";
  const char *slash = strrchr(name, '/');
  const char *last = slash ? slash + 1 : name;
  if (strncmp(last, type, sizeof type - 1))
    return false;
  last += sizeof type - 1;
  if (*last == '_')
    return last[1] && !last[1 + strspn(last + 1, "0123456789")];
  return !*last;
}

/* Makes the outputs of a read resident; the first read of a handle holds the
 * variable's bytes for all. Handles reach a read through switches and the
 * entries of loops, which alias them, so that the alias's root is the handle.
 */
static void settle_read(regal_cost_graph *cost, uint32_t node,
                        const uint32_t *root, uint8_t *seen) {
  regal_source source = cost->input[cost->input_begin[node]];
  if (source.node == REGAL_NONE)
    return;
  uint32_t handle = root[regal_cost_tensor(cost, source)];
  cost->counts.reads++;
  cost->counts.handles += !seen[handle];
  for (REGAL_ROW(t, cost->output_begin, node)) {
    if (!seen[handle]) {
      cost->counts.variable_bytes += (uint64_t)cost->bytes[t];
      regal_cost_add_up(&cost->resident[node], cost->bytes[t]);
    }
    cost->bytes[t] = 0;
  }
  seen[handle] = 1;
}

regal_status regal_cost_settle_variables(regal_cost_graph *cost,
                                         const uint32_t *root) {
  if (cost->options->variables != VARIABLES_RESIDENT)
    return REGAL_OK;
  uint8_t *seen =
      regal_arena_alloc(&cost->arena, cost->output_begin[cost->nodes], 1);
  if (!seen)
    return regal_fail_memory(cost->context);
  for (uint32_t i = 0; i < cost->nodes; i++) {
    const regal_cost_node *node = regal_cost_node_at(cost, i);
    if (node->n_input_info && is_read(node->name))
      settle_read(cost, i, root, seen);
  }
  return REGAL_OK;
}
