/* SPDX-License-Identifier: Apache-2.0 */
/* The machine as the options describe it (devices, speeds, links, limits), and
 * the times that it gives. Transfer times are computed exactly in 128 bits and
 * rounded up; run times on devices of another speed are rounded to nearest.
 */
#include "cost/model/machine.h"

#include <math.h>

typedef unsigned __int128 wide;

regal_status regal_machine_from_options(regal_context *context,
                                        const regal_options *options,
                                        regal_machine **machine) {
  if (options->devices < 1 || options->devices > REGAL_MAX_DEVICES)
    return regal_fail(context, REGAL_MISUSE, "a machine has 1 to %d devices",
                      REGAL_MAX_DEVICES);
  if (options->memory_limit < 0 || options->latency < 0 ||
      options->bandwidth < 0)
    return regal_fail(context, REGAL_MISUSE,
                      "memory limit, latency and bandwidth are never negative");
  regal_machine *made = regal_alloc(context, 1, sizeof *made);
  if (!made)
    return regal_fail_memory(context);
  made->context = context;
  made->devices = (uint32_t)options->devices;
  made->overlapped = options->transfers == 1;
  made->control_transfers = options->control == 1;
  for (uint32_t a = 0; a < REGAL_MAX_DEVICES; a++) {
    made->memory_limit[a] =
        options->memory_limit ? options->memory_limit : REGAL_UNLIMITED;
    made->speed[a] = 1;
    for (uint32_t b = 0; b < REGAL_MAX_DEVICES; b++) {
      made->latency_ns[a][b] = options->latency;
      made->bandwidth[a][b] = options->bandwidth;
    }
  }
  *machine = made;
  return REGAL_OK;
}

void regal_machine_free(regal_machine *machine) {
  if (!machine)
    return;
  for (uint32_t a = 0; a < REGAL_MAX_DEVICES; a++)
    regal_release(machine->context, machine->name[a]);
  regal_release(machine->context, machine->timed_op);
  regal_release(machine->context, machine->timed_ns);
  regal_release(machine->context, machine->group);
  regal_release(machine->context, machine->pin);
  regal_release(machine->context, machine);
}

/* The op's row in timed_op, or timed_ops. */
static uint32_t find_timed(const regal_machine *machine, uint32_t op) {
  uint32_t low = 0, high = machine->timed_ops;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (machine->timed_op[middle] < op)
      low = middle + 1;
    else
      high = middle;
  }
  bool found = low < machine->timed_ops && machine->timed_op[low] == op;
  return found ? low : machine->timed_ops;
}

int64_t regal_machine_run_ns(const regal_machine *machine,
                             const regal_graph *graph, uint32_t op,
                             uint32_t device) {
  uint32_t row = find_timed(machine, op);
  int64_t own = REGAL_USUAL;
  if (row < machine->timed_ops)
    own = machine->timed_ns[(size_t)row * machine->devices + device];
  if (own != REGAL_USUAL)
    return own;
  double speed = machine->speed[device];
  if (speed == 1)
    return graph->run_ns[op];
  double ns = round((double)graph->run_ns[op] / speed);
  return ns < 0x1p63 ? (int64_t)ns : REGAL_NEVER - 1;
}

int64_t regal_machine_transfer_ns(const regal_machine *machine, int64_t bytes,
                                  uint32_t from, uint32_t to) {
  int64_t latency = machine->latency_ns[from][to];
  uint64_t bandwidth = (uint64_t)machine->bandwidth[from][to];
  if (!bandwidth)
    return latency;
  wide ns = ((wide)(uint64_t)bytes * 1000000000 + bandwidth - 1) / bandwidth;
  ns += (uint64_t)latency;
  return ns > INT64_MAX ? INT64_MAX : (int64_t)ns;
}
