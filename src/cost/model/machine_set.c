/* SPDX-License-Identifier: Apache-2.0 */
/* The public calls that change a machine, with their checks. */
#include <inttypes.h>
#include <string.h>

#include "cost/model/machine.h"

#define MISUSE(machine, ...)                                                   \
  regal_fail((machine)->context, REGAL_MISUSE, __VA_ARGS__)

static regal_status check_device(const regal_machine *machine,
                                 uint32_t device) {
  if (!machine)
    return REGAL_MISUSE;
  if (device < machine->devices)
    return REGAL_OK;
  return MISUSE(machine, "there is no device %u; the machine has 0 to %u",
                device, machine->devices - 1);
}

static regal_status find_op(const regal_machine *machine, uint32_t id,
                            uint32_t *op) {
  const regal_graph *graph = machine->graph;
  if (id >= graph->file_nodes || graph->op_of_id[id] == REGAL_NONE)
    return MISUSE(machine, "there is no op with id %u", id);
  *op = graph->op_of_id[id];
  return REGAL_OK;
}

uint32_t regal_machine_devices(const regal_machine *machine) {
  return machine->devices;
}

regal_status regal_machine_set_transfers(regal_machine *machine,
                                         bool overlapped) {
  if (!machine)
    return REGAL_MISUSE;
  machine->overlapped = overlapped;
  return REGAL_OK;
}

regal_status regal_machine_set_control(regal_machine *machine, bool transfers) {
  if (!machine)
    return REGAL_MISUSE;
  machine->control_transfers = transfers;
  return REGAL_OK;
}

regal_status regal_machine_set_name(regal_machine *machine, uint32_t device,
                                    const char *name) {
  char *copy = NULL;
  REGAL_TRY(check_device(machine, device));
  if (name && *name) {
    copy = regal_copy_text(machine->context, name);
    if (!copy)
      return regal_fail_memory(machine->context);
  }
  regal_release(machine->context, machine->name[device]);
  machine->name[device] = copy;
  return REGAL_OK;
}

regal_status regal_machine_set_speed(regal_machine *machine, uint32_t device,
                                     double speed) {
  REGAL_TRY(check_device(machine, device));
  if (!(speed >= REGAL_SLOWEST && speed <= REGAL_FASTEST))
    return MISUSE(machine, "speed %g is not from %g to %g", speed,
                  REGAL_SLOWEST, REGAL_FASTEST);
  machine->speed[device] = speed;
  return REGAL_OK;
}

regal_status regal_machine_set_memory_limit(regal_machine *machine,
                                            uint32_t device, int64_t bytes) {
  REGAL_TRY(check_device(machine, device));
  if (bytes < 0)
    return MISUSE(machine, "memory limit %" PRId64 " is negative", bytes);
  machine->memory_limit[device] = bytes ? bytes : REGAL_UNLIMITED;
  return REGAL_OK;
}

regal_status regal_machine_set_link(regal_machine *machine, uint32_t from,
                                    uint32_t to, int64_t latency_ns,
                                    int64_t bytes_per_s) {
  REGAL_TRY(check_device(machine, from));
  REGAL_TRY(check_device(machine, to));
  if (from == to)
    return MISUSE(machine, "a link from device %u to itself", from);
  if (latency_ns < 0 || bytes_per_s < 0)
    return MISUSE(machine, "latency and bandwidth are never negative");
  machine->latency_ns[from][to] = latency_ns;
  machine->bandwidth[from][to] = bytes_per_s;
  return REGAL_OK;
}

regal_status regal_machine_get_link(const regal_machine *machine, uint32_t from,
                                    uint32_t to, int64_t *latency_ns,
                                    int64_t *bytes_per_s) {
  REGAL_TRY(check_device(machine, from));
  REGAL_TRY(check_device(machine, to));
  if (!latency_ns || !bytes_per_s)
    return MISUSE(machine, "a link needs a place for both its numbers");
  *latency_ns = machine->latency_ns[from][to];
  *bytes_per_s = machine->bandwidth[from][to];
  return REGAL_OK;
}

regal_status regal_machine_set_op_time(regal_machine *machine, uint32_t id,
                                       uint32_t device, int64_t run_ns) {
  uint32_t op = 0;
  REGAL_TRY(check_device(machine, device));
  REGAL_TRY(find_op(machine, id, &op));
  if (run_ns < 0)
    return MISUSE(machine, "run time %" PRId64 " is negative", run_ns);
  return regal_machine_set_time(machine, op, device, run_ns);
}

regal_status regal_machine_pin(regal_machine *machine, uint32_t id,
                               uint32_t device) {
  uint32_t op = 0;
  REGAL_TRY(check_device(machine, device));
  REGAL_TRY(find_op(machine, id, &op));
  return regal_machine_set_pin(machine, op, device);
}

regal_status regal_machine_group(regal_machine *machine, const uint32_t *ids,
                                 size_t count) {
  uint32_t first = 0, op = 0;
  if (!machine)
    return REGAL_MISUSE;
  if (!ids || !count)
    return MISUSE(machine, "the group is empty");
  for (size_t i = 0; i < count; i++) /* all or nothing */
    REGAL_TRY(find_op(machine, ids[i], &op));
  REGAL_TRY(find_op(machine, ids[0], &first));
  for (size_t i = 0; i < count; i++) {
    REGAL_TRY(find_op(machine, ids[i], &op));
    REGAL_TRY(regal_machine_join(machine, first, op));
  }
  return REGAL_OK;
}
