/* SPDX-License-Identifier: Apache-2.0 */
#include "support/needed_steps.h"

static bool can_run(const regal_machine *machine, uint32_t op,
                    uint32_t device) {
  if (machine->pin && machine->pin[op] != REGAL_NONE &&
      machine->pin[op] != device)
    return false;
  for (uint32_t k = 0; k < machine->timed_ops; k++)
    if (machine->timed_op[k] == op)
      return machine->timed_ns[(size_t)k * machine->devices + device] !=
             REGAL_NEVER;
  return true;
}

bool regal_test_may_place(const regal_graph *graph,
                          const regal_machine *machine,
                          const uint32_t *placement) {
  const uint32_t *group = machine->group;
  for (uint32_t op = 0; op < graph->ops; op++)
    if (!can_run(machine, op, placement[op]))
      return false;
  for (uint32_t a = 0; group && a < graph->ops; a++)
    for (uint32_t b = 0; b < a; b++)
      if (group[a] != REGAL_NONE && group[a] == group[b] &&
          placement[a] != placement[b])
        return false;
  return true;
}

size_t regal_test_most_steps(const regal_graph *graph,
                             const regal_machine *machine) {
  return graph->ops +
         ((size_t)graph->tensors + graph->ops) * (machine->devices - 1);
}

static bool reads(const regal_graph *graph, uint32_t op, uint32_t tensor) {
  for (uint32_t k = graph->input_begin[op]; k < graph->input_begin[op + 1]; k++)
    if (graph->input[k] == tensor)
      return true;
  return false;
}

static bool waits_for(const regal_graph *graph, uint32_t op, uint32_t before) {
  for (uint32_t k = graph->control_in_begin[op];
       k < graph->control_in_begin[op + 1]; k++)
    if (graph->control_in[k] == before)
      return true;
  return false;
}

/* Whether `op` needs output `port` (-1: the end) of `producer`. */
static bool needs(const regal_graph *graph, uint32_t op, uint32_t producer,
                  int32_t port) {
  if (port < 0)
    return waits_for(graph, op, producer);
  return reads(graph, op, graph->output_begin[producer] + (uint32_t)port);
}

static bool device_needs(const regal_graph *graph, const uint32_t *placement,
                         uint32_t device, uint32_t producer, int32_t port) {
  for (uint32_t op = 0; op < graph->ops; op++)
    if (placement[op] == device && needs(graph, op, producer, port))
      return true;
  return false;
}

uint32_t regal_test_needed_steps(const regal_graph *graph,
                                 const regal_machine *machine,
                                 const uint32_t *placement, regal_step *steps) {
  uint32_t count = 0;
  int32_t first_port = machine->control_transfers ? -1 : 0;
  for (uint32_t op = 0; op < graph->ops; op++) {
    uint16_t home = (uint16_t)placement[op];
    int32_t ports =
        (int32_t)(graph->output_begin[op + 1] - graph->output_begin[op]);
    steps[count++] = (regal_step){op, REGAL_RUN, home, home};
    for (int32_t port = first_port; port < ports; port++)
      for (uint16_t to = 0; to < machine->devices; to++)
        if (to != home && device_needs(graph, placement, to, op, port))
          steps[count++] = (regal_step){op, port, home, to};
  }
  return count;
}

bool regal_test_must_follow(const regal_graph *graph,
                            const regal_machine *machine,
                            const regal_step *step, const regal_step *other) {
  if (step->port != REGAL_RUN)
    return other->port == REGAL_RUN && other->op == step->op;
  if (other->port != REGAL_RUN)
    return other->to == step->device &&
           needs(graph, step->op, other->op, other->port);
  bool together = other->device == step->device;
  if ((together || !machine->control_transfers) &&
      waits_for(graph, step->op, other->op))
    return true;
  if (together)
    for (uint32_t t = graph->output_begin[other->op];
         t < graph->output_begin[other->op + 1]; t++)
      if (reads(graph, step->op, t))
        return true;
  return false;
}
