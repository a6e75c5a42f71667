/* SPDX-License-Identifier: Apache-2.0 */
/* What a machine says about single ops: their own times on devices, groups that
 * share a device, pins; and copies of a machine.
 *
 * Groups are built as a union-find forest in machine->group: an op's entry is
 * an op of its group that is not larger, a root's entry is the root itself, so
 * that the root is the smallest op. Settling replaces every entry by its root
 * in one ascending pass; then ops of a group have the same number, which is all
 * that readers of machine->group rely on.
 */
#include <string.h>

#include "cost/model/machine.h"

/* -- Times ----------------------------------------------------------------- */

static regal_status make_rows(regal_machine *machine) {
  uint32_t ops = machine->graph->ops;
  size_t times = (size_t)ops * machine->devices;
  uint32_t *timed_op = regal_alloc(machine->context, ops, sizeof *timed_op);
  int64_t *timed_ns = regal_alloc(machine->context, times, sizeof *timed_ns);
  if (!timed_op || !timed_ns) {
    regal_release(machine->context, timed_op);
    regal_release(machine->context, timed_ns);
    return regal_fail_memory(machine->context);
  }
  for (uint32_t op = 0; op < ops; op++)
    timed_op[op] = op;
  for (size_t i = 0; i < times; i++)
    timed_ns[i] = REGAL_USUAL;
  machine->timed_ops = ops;
  machine->timed_op = timed_op;
  machine->timed_ns = timed_ns;
  return REGAL_OK;
}

regal_status regal_machine_set_time(regal_machine *machine, uint32_t op,
                                    uint32_t device, int64_t ns) {
  if (!machine->timed_ns)
    REGAL_TRY(make_rows(machine));
  machine->timed_ns[(size_t)op * machine->devices + device] = ns;
  return REGAL_OK;
}

uint32_t regal_machine_count_timed(const regal_machine *machine) {
  uint32_t count = 0;
  const int64_t *ns = machine->timed_ns;
  for (uint32_t i = 0; i < machine->timed_ops; i++) {
    bool own = false;
    for (uint32_t a = 0; a < machine->devices; a++)
      own |= *ns++ != REGAL_USUAL;
    count += own;
  }
  return count;
}

/* -- Pins and groups ------------------------------------------------------- */

/* An entry for each op, all REGAL_NONE, unless they are there. */
static regal_status make_entries(regal_machine *machine, uint32_t **entries) {
  uint32_t ops = machine->graph->ops;
  if (*entries)
    return REGAL_OK;
  *entries = regal_alloc(machine->context, ops, sizeof **entries);
  if (!*entries)
    return regal_fail_memory(machine->context);
  memset(*entries, 0xFF, ops * sizeof **entries);
  return REGAL_OK;
}

regal_status regal_machine_set_pin(regal_machine *machine, uint32_t op,
                                   uint32_t device) {
  REGAL_TRY(make_entries(machine, &machine->pin));
  machine->pin[op] = device;
  return REGAL_OK;
}

/* An op that is in no group becomes a group of its own. */
static uint32_t root_of(uint32_t *group, uint32_t op) {
  if (group[op] == REGAL_NONE)
    group[op] = op;
  while (group[op] != op) {
    group[op] = group[group[op]];
    op = group[op];
  }
  return op;
}

uint32_t regal_machine_first_of_group(regal_machine *machine, uint32_t op) {
  return machine->group ? root_of(machine->group, op) : op;
}

regal_status regal_machine_join(regal_machine *machine, uint32_t a,
                                uint32_t b) {
  REGAL_TRY(make_entries(machine, &machine->group));
  a = root_of(machine->group, a);
  b = root_of(machine->group, b);
  if (a < b)
    machine->group[b] = a;
  else
    machine->group[a] = b;
  return REGAL_OK;
}

void regal_machine_settle(regal_machine *machine) {
  uint32_t *group = machine->group;
  for (uint32_t op = 0; group && op < machine->graph->ops; op++)
    if (group[op] != REGAL_NONE)
      group[op] = group[group[op]];
}

/* -- Copies ---------------------------------------------------------------- */

static void *copy_array(regal_context *context, const void *from, size_t count,
                        size_t size, bool *failed) {
  if (!from || *failed)
    return NULL;
  void *made = regal_alloc(context, count, size);
  *failed = !made;
  return made && count ? memcpy(made, from, count * size) : made;
}

static bool copy_arrays(const regal_machine *from, regal_machine *to) {
  regal_context *context = to->context;
  size_t ops = from->graph->ops, rows = from->timed_ops;
  bool failed = false;
  for (uint32_t a = 0; a < REGAL_MAX_DEVICES; a++)
    to->name[a] =
        copy_array(context, from->name[a],
                   from->name[a] ? strlen(from->name[a]) + 1 : 0, 1, &failed);
  to->timed_op = copy_array(context, from->timed_op, rows, 4, &failed);
  to->timed_ns =
      copy_array(context, from->timed_ns, rows * from->devices, 8, &failed);
  to->group = copy_array(context, from->group, ops, 4, &failed);
  to->pin = copy_array(context, from->pin, ops, 4, &failed);
  return !failed;
}

regal_status regal_machine_copy(regal_context *context,
                                const regal_machine *machine,
                                regal_machine **copy) {
  regal_machine *made = regal_alloc(context, 1, sizeof *made);
  if (!made)
    return regal_fail_memory(context);
  *made = *machine;
  made->context = context;
  if (!copy_arrays(machine, made)) {
    regal_machine_free(made);
    return regal_fail_memory(context);
  }
  *copy = made;
  return REGAL_OK;
}
