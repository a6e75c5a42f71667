/* SPDX-License-Identifier: Apache-2.0 */
/* Binds a copy of the machine, with units as its groups, to the same graph. */
#include "cost/model/gather.h"

#include <string.h>

static regal_status set_groups(regal_machine *machine, const uint32_t *unit,
                               uint32_t ops) {
  if (!machine->group)
    machine->group = regal_alloc(machine->context, ops, sizeof *unit);
  if (!machine->group)
    return regal_fail_memory(machine->context);
  memcpy(machine->group, unit, ops * sizeof *unit);
  return REGAL_OK;
}

regal_status regal_problem_gather(regal_context *context,
                                  const regal_problem *problem,
                                  const uint32_t *unit,
                                  regal_problem **gathered) {
  regal_machine *machine = NULL;
  REGAL_TRY(regal_machine_copy(context, problem->machine, &machine));
  regal_status status = set_groups(machine, unit, problem->ops);
  if (status != REGAL_OK) {
    regal_machine_free(machine);
    return status;
  }
  return regal_problem_bind(context, problem->graph, machine,
                            problem->objective, gathered);
}
