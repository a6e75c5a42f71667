/* SPDX-License-Identifier: Apache-2.0 */
/* What a machine file says about single ops: run times on each device, which
 * override speeds, and groups of ops that must share a device.
 */
#include <stdlib.h>
#include <string.h>

#include "format/plan/machine.h"

/* -- Times ----------------------------------------------------------------- */

/* One row of "op_times" with its place in the file, to be sorted by op. */
typedef struct timed {
  uint32_t op, node;
} timed;

static int compare_ops(const void *a, const void *b) {
  const timed *x = a, *y = b;
  if (x->op != y->op)
    return x->op < y->op ? -1 : 1;
  return x->node < y->node ? -1 : x->node > y->node;
}

static regal_status read_row(regal_machine_reader *reader, uint32_t op,
                             uint32_t list, int64_t *ns) {
  const regal_json *json = reader->json;
  REGAL_TRY(regal_machine_expect_row(reader, list));
  bool runs = false;
  REGAL_JSON_EACH (node, json, list) {
    bool runs_here = json->nodes[node].kind != REGAL_JSON_NULL;
    *ns = REGAL_NEVER;
    if (runs_here)
      REGAL_TRY(regal_json_duration(json, node, ns));
    if (runs_here && *ns == REGAL_NEVER)
      return regal_json_fail(json, node, "the time is too large");
    runs |= runs_here;
    ns++;
  }
  if (runs)
    return REGAL_OK;
  return regal_json_fail(json, list, "op \"%.200s\" can run on no device",
                         regal_graph_name(reader->graph, op));
}

/* Finds the rows' ops; node becomes that of "run_ns". */
static regal_status resolve_rows(regal_machine_reader *reader, uint32_t list,
                                 timed *rows) {
  static const char *const keys[] = {"op", "id", "run_ns", NULL};
  const regal_json *json = reader->json;
  uint32_t found[3];
  REGAL_JSON_EACH (node, json, list) {
    REGAL_TRY(regal_json_members(json, node, true, keys, found));
    REGAL_TRY(regal_op_names_resolve(&reader->names, json, node, found[0],
                                     found[1], &rows->op));
    if (!found[2])
      return regal_json_fail(json, node, "the row needs \"run_ns\"");
    rows++->node = found[2];
  }
  return REGAL_OK;
}

static regal_status store_rows(regal_machine_reader *reader, const timed *rows,
                               uint32_t count) {
  regal_machine *machine = reader->machine;
  machine->timed_op = regal_alloc(reader->context, count, sizeof(uint32_t));
  machine->timed_ns =
      regal_alloc(reader->context, count, machine->devices * sizeof(int64_t));
  if (!machine->timed_op || !machine->timed_ns)
    return regal_fail_memory(reader->context);
  for (uint32_t i = 0; i < count; i++) {
    if (i && rows[i].op == rows[i - 1].op)
      return regal_json_fail(reader->json, rows[i].node,
                             "op \"%.200s\" is in op_times twice, first on "
                             "line %u",
                             regal_graph_name(reader->graph, rows[i].op),
                             reader->json->nodes[rows[i - 1].node].line);
    machine->timed_op[i] = rows[i].op;
    REGAL_TRY(read_row(reader, rows[i].op, rows[i].node,
                       machine->timed_ns + (size_t)i * machine->devices));
  }
  machine->timed_ops = count;
  return REGAL_OK;
}

regal_status regal_machine_read_times(regal_machine_reader *reader,
                                      uint32_t list) {
  const regal_json *json = reader->json;
  REGAL_TRY(regal_json_expect(json, list, REGAL_JSON_ARRAY));
  uint32_t count = regal_json_length(json, list);
  if (!count)
    return REGAL_OK;
  timed *rows = regal_alloc(reader->context, count, sizeof *rows);
  if (!rows)
    return regal_fail_memory(reader->context);
  regal_status status = resolve_rows(reader, list, rows);
  if (status == REGAL_OK) {
    qsort(rows, count, sizeof *rows, compare_ops);
    status = store_rows(reader, rows, count);
  }
  regal_release(reader->context, rows);
  return status;
}

/* -- Groups ----------------------------------------------------------------
 * Groups that share an op are one group: union-find over ops, whose roots are
 * their smallest ops, then numbered in order of their roots. */

static uint32_t root_of(uint32_t *parent, uint32_t op) {
  while (parent[op] != op) {
    parent[op] = parent[parent[op]];
    op = parent[op];
  }
  return op;
}

/* A bit for each device that can run the op. */
static uint64_t devices_of(const regal_machine_reader *reader, uint32_t op) {
  uint64_t mask = 0;
  for (uint32_t a = 0; a < reader->machine->devices; a++)
    if (regal_machine_run_ns(reader->machine, reader->graph, op, a) !=
        REGAL_NEVER)
      mask |= UINT64_C(1) << a;
  return mask;
}

/* Joins the ops of one group; mask[root] is what they all can run on. */
static regal_status join_group(regal_machine_reader *reader, uint32_t list,
                               uint32_t *parent, uint64_t *mask) {
  const regal_json *json = reader->json;
  REGAL_TRY(regal_json_expect(json, list, REGAL_JSON_ARRAY));
  uint32_t first = REGAL_NONE;
  if (!json->nodes[list].child)
    return regal_json_fail(json, list, "the group is empty");
  REGAL_JSON_EACH (node, json, list) {
    uint32_t op;
    REGAL_TRY(regal_op_names_find(&reader->names, json, node, &op));
    if (parent[op] == REGAL_NONE) {
      parent[op] = op;
      mask[op] = devices_of(reader, op);
    }
    uint32_t a = root_of(parent, op);
    uint32_t b = first == REGAL_NONE ? a : root_of(parent, first);
    uint32_t low = a < b ? a : b, high = a < b ? b : a;
    parent[high] = low;
    mask[low] &= mask[high];
    first = low;
    if (!mask[low])
      return regal_json_fail(json, node,
                             "op \"%.200s\" has no device in common with its "
                             "group",
                             regal_graph_name(reader->graph, op));
  }
  return REGAL_OK;
}

static regal_status join_groups(regal_machine_reader *reader, uint32_t list,
                                uint32_t *parent, uint64_t *mask) {
  const regal_json *json = reader->json;
  REGAL_JSON_EACH (node, json, list)
    REGAL_TRY(join_group(reader, node, parent, mask));
  return REGAL_OK;
}

/* Replaces roots by group numbers, ascending; a root is visited first. */
static void number_groups(uint32_t *parent, uint32_t *group, uint32_t ops) {
  uint32_t groups = 0;
  for (uint32_t op = 0; op < ops; op++) {
    if (parent[op] == REGAL_NONE)
      continue;
    uint32_t root = root_of(parent, op);
    group[op] = root == op ? groups++ : group[root];
  }
}

regal_status regal_machine_read_groups(regal_machine_reader *reader,
                                       uint32_t list) {
  regal_context *context = reader->context;
  uint32_t ops = reader->graph->ops;
  REGAL_TRY(regal_json_expect(reader->json, list, REGAL_JSON_ARRAY));
  if (!reader->json->nodes[list].child)
    return REGAL_OK;
  uint32_t *parent = regal_alloc(context, ops, sizeof *parent);
  uint64_t *mask = regal_alloc(context, ops, sizeof *mask);
  uint32_t *group = regal_alloc(context, ops, sizeof *group);
  reader->machine->group = group;
  regal_status status = REGAL_OK;
  if (!parent || !mask || !group) {
    status = regal_fail_memory(context);
  } else {
    memset(parent, 0xFF, ops * sizeof *parent);
    memset(group, 0xFF, ops * sizeof *group);
    status = join_groups(reader, list, parent, mask);
  }
  if (status == REGAL_OK)
    number_groups(parent, group, ops);
  regal_release(context, parent);
  regal_release(context, mask);
  return status;
}
