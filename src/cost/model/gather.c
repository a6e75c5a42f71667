/* SPDX-License-Identifier: Apache-2.0 */
/* Binds a copy of the machine, with units as its groups, to the same graph. */
#include "cost/model/gather.h"

#include <string.h>

static void *copy_of(regal_context *context, const void *from, size_t count,
                     size_t size) {
  void *copy = from ? regal_alloc(context, count, size) : NULL;
  if (copy)
    memcpy(copy, from, count * size);
  return copy;
}

/* Names of devices are for people, and stay behind. */
static regal_status copy_machine(regal_context *context,
                                 const regal_machine *machine, uint32_t ops,
                                 const uint32_t *group,
                                 regal_machine **result) {
  regal_machine *copy = copy_of(context, machine, 1, sizeof *machine);
  if (!copy)
    return regal_fail_memory(context);
  size_t rows = machine->timed_ops;
  copy->context = context;
  memset(copy->name, 0, sizeof copy->name);
  copy->timed_op = copy_of(context, machine->timed_op, rows, 4);
  copy->timed_ns =
      copy_of(context, machine->timed_ns, rows * machine->devices, 8);
  copy->group = copy_of(context, group, ops, 4);
  if (!copy->group || (rows && (!copy->timed_op || !copy->timed_ns))) {
    regal_machine_free(copy);
    return regal_fail_memory(context);
  }
  *result = copy;
  return REGAL_OK;
}

regal_status regal_problem_gather(regal_context *context,
                                  const regal_problem *problem,
                                  const uint32_t *unit,
                                  regal_problem **gathered) {
  regal_machine *machine = NULL;
  REGAL_TRY(
      copy_machine(context, problem->machine, problem->ops, unit, &machine));
  return regal_problem_bind(context, problem->graph, machine,
                            problem->objective, gathered);
}
