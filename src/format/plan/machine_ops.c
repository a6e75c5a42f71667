/* SPDX-License-Identifier: Apache-2.0 */
/* What a machine file says about single ops: run times on devices, which
 * override speeds, pins, and groups of ops that must share a device.
 *
 * An op is given by its id, by its name, or with others by a pattern: a text
 * that is not itself a name and has a character that is special in patterns.
 */
#include <string.h>

#include "format/plan/machine.h"
#include "graph/pattern.h"

/* -- Ops ------------------------------------------------------------------- */

/* The ops that a text or number means, one after the other. */
typedef struct op_choice {
  const char *pattern; /* NULL: only one op */
  uint32_t op;         /* graph->ops: no more */
} op_choice;

static regal_status choose_ops(regal_machine_reader *reader, uint32_t node,
                               op_choice *choice) {
  const regal_json *json = reader->json;
  const char *text = json->nodes[node].text;
  *choice = (op_choice){NULL, 0};
  if (json->nodes[node].kind != REGAL_JSON_STRING || !regal_is_pattern(text) ||
      regal_op_names_has(&reader->names, text))
    return regal_op_names_find(&reader->names, json, node, &choice->op);
  choice->pattern = text;
  choice->op = regal_pattern_find(reader->graph, text, 0);
  if (choice->op < reader->graph->ops)
    return REGAL_OK;
  return regal_json_fail(json, node, "%s",
                         regal_pattern_no_match(reader->graph, text).text);
}

static void next_op(const regal_machine_reader *reader, op_choice *choice) {
  const regal_graph *graph = reader->graph;
  choice->op = choice->pattern
                   ? regal_pattern_find(graph, choice->pattern, choice->op + 1)
                   : graph->ops;
}

/* Called for each op that is meant at `node`. */
typedef regal_status (*op_fn)(regal_machine_reader *reader, uint32_t node,
                              uint32_t op, void *state);

static regal_status each_op(regal_machine_reader *reader, uint32_t node,
                            op_fn apply, void *state) {
  op_choice choice;
  REGAL_TRY(choose_ops(reader, node, &choice));
  for (; choice.op < reader->graph->ops; next_op(reader, &choice))
    REGAL_TRY(apply(reader, node, choice.op, state));
  return REGAL_OK;
}

/* -- Times ----------------------------------------------------------------- */

static regal_status set_time(regal_machine_reader *reader, uint32_t node,
                             uint32_t op, uint32_t device) {
  const regal_json *json = reader->json;
  int64_t ns = REGAL_NEVER;
  bool runs = json->nodes[node].kind != REGAL_JSON_NULL;
  if (runs)
    REGAL_TRY(regal_json_duration(json, node, &ns));
  if (runs && ns == REGAL_NEVER)
    return regal_json_fail(json, node, "the time is too large");
  return regal_machine_set_time(reader->machine, op, device, ns);
}

/* {"gpu1": 70, "2": null}: the other devices stay as they are. */
static regal_status set_some_times(regal_machine_reader *reader,
                                   uint32_t object, uint32_t op) {
  const regal_json *json = reader->json;
  uint64_t seen = 0;
  REGAL_JSON_EACH (node, json, object) {
    uint32_t device;
    REGAL_TRY(regal_machine_named_device(reader, node, json->nodes[node].key,
                                         &device));
    if (seen >> device & 1)
      return regal_json_fail(json, node, "device %u occurs twice", device);
    seen |= UINT64_C(1) << device;
    REGAL_TRY(set_time(reader, node, op, device));
  }
  return REGAL_OK;
}

static regal_status set_times(regal_machine_reader *reader, uint32_t times,
                              uint32_t op) {
  uint32_t device = 0;
  uint8_t kind = reader->json->nodes[times].kind;
  if (kind == REGAL_JSON_OBJECT)
    return set_some_times(reader, times, op);
  if (kind != REGAL_JSON_ARRAY)
    return regal_json_fail_value(reader->json, times,
                                 "a list with the time on each device, or an "
                                 "object with some of them");
  REGAL_TRY(regal_machine_expect_row(reader, times));
  REGAL_JSON_EACH (node, reader->json, times)
    REGAL_TRY(set_time(reader, node, op, device++));
  return REGAL_OK;
}

/* A bit for each device that may run the op. */
static uint64_t devices_of(const regal_machine_reader *reader, uint32_t op) {
  const regal_machine *machine = reader->machine;
  uint64_t mask = 0;
  for (uint32_t a = 0; a < machine->devices; a++)
    if (regal_machine_run_ns(machine, reader->graph, op, a) != REGAL_NEVER)
      mask |= UINT64_C(1) << a;
  if (machine->pin && machine->pin[op] != REGAL_NONE)
    mask &= UINT64_C(1) << machine->pin[op];
  return mask;
}

/* One row of "op_times". */
typedef struct time_row {
  uint32_t node, op, id, times; /* nodes; 0: absent */
} time_row;

static regal_status read_row(const regal_json *json, uint32_t node,
                             time_row *row) {
  static const char *const keys[] = {"op", "id", "run_ns", NULL};
  uint32_t found[3];
  REGAL_TRY(regal_json_members(json, node, true, keys, found));
  if (!found[2])
    return regal_json_fail(json, node, "the row needs \"run_ns\"");
  *row = (time_row){node, found[0], found[1], found[2]};
  return REGAL_OK;
}

/* Whether the row is for all ops that match. */
static bool has_pattern(regal_machine_reader *reader, const time_row *row) {
  const regal_json_node *op = &reader->json->nodes[row->op];
  return row->op && !row->id && op->kind == REGAL_JSON_STRING &&
         regal_is_pattern(op->text) &&
         !regal_op_names_has(&reader->names, op->text);
}

/* Rows while they are read. */
typedef struct timing {
  uint32_t *first; /* [ops] the times that the op's own row has; 0: none */
  uint32_t *last;  /* [ops] the last times that the op got; 0: none */
  uint32_t times;  /* of this row */
} timing;

static regal_status set_pattern_times(regal_machine_reader *reader,
                                      uint32_t node, uint32_t op, void *state) {
  const timing *row = state;
  (void)node;
  row->last[op] = row->times;
  return set_times(reader, row->times, op);
}

static regal_status set_named_times(regal_machine_reader *reader,
                                    const time_row *row, const timing *state) {
  const regal_json *json = reader->json;
  uint32_t op;
  REGAL_TRY(regal_op_names_resolve(&reader->names, json, row->node, row->op,
                                   row->id, &op));
  if (state->first[op])
    return regal_json_fail(
        json, row->times,
        "op \"%.200s\" is in op_times twice, first on line %u",
        regal_graph_name(reader->graph, op),
        json->nodes[state->first[op]].line);
  state->first[op] = state->last[op] = row->times;
  return set_times(reader, row->times, op);
}

/* Only what all rows leave counts. */
static regal_status check_times(const regal_machine_reader *reader,
                                const uint32_t *last) {
  for (uint32_t op = 0; op < reader->graph->ops; op++)
    if (last[op] && !devices_of(reader, op))
      return regal_json_fail(reader->json, last[op],
                             "op \"%.200s\" can run on no device",
                             regal_graph_name(reader->graph, op));
  return REGAL_OK;
}

/* Patterns first, whatever the order: what names an op wins. */
static regal_status read_rows(regal_machine_reader *reader, uint32_t list,
                              timing *state) {
  time_row row = {0, 0, 0, 0};
  for (int named = 0; named <= 1; named++)
    REGAL_JSON_EACH (node, reader->json, list) {
      REGAL_TRY(read_row(reader->json, node, &row));
      if (has_pattern(reader, &row) == named)
        continue;
      state->times = row.times;
      if (named)
        REGAL_TRY(set_named_times(reader, &row, state));
      else
        REGAL_TRY(each_op(reader, row.op, set_pattern_times, state));
    }
  return check_times(reader, state->last);
}

regal_status regal_machine_read_times(regal_machine_reader *reader,
                                      uint32_t list) {
  REGAL_TRY(regal_json_expect(reader->json, list, REGAL_JSON_ARRAY));
  uint32_t ops = reader->graph->ops;
  timing state = {regal_alloc(reader->context, ops, sizeof *state.first),
                  regal_alloc(reader->context, ops, sizeof *state.last), 0};
  regal_status status = state.first && state.last
                            ? read_rows(reader, list, &state)
                            : regal_fail_memory(reader->context);
  regal_release(reader->context, state.first);
  regal_release(reader->context, state.last);
  return status;
}

/* -- Pins ------------------------------------------------------------------ */

/* A pin while it is read. */
typedef struct pinning {
  uint32_t device;
  uint32_t *last; /* [ops] the node of the op's last pin; 0: none */
} pinning;

static regal_status pin_op(regal_machine_reader *reader, uint32_t node,
                           uint32_t op, void *state) {
  const pinning *pin = state;
  pin->last[op] = node;
  return regal_machine_set_pin(reader->machine, op, pin->device);
}

static regal_status read_pin(regal_machine_reader *reader, uint32_t object,
                             uint32_t *last) {
  static const char *const keys[] = {"ops", "device", NULL};
  const regal_json *json = reader->json;
  uint32_t found[2];
  pinning pin = {0, last};
  REGAL_TRY(regal_json_members(json, object, true, keys, found));
  if (!found[0] || !found[1])
    return regal_json_fail(json, object, "a pin needs \"ops\" and \"device\"");
  REGAL_TRY(regal_machine_read_device(reader, found[1], &pin.device));
  if (!regal_json_is_list(json, found[0]))
    return each_op(reader, found[0], pin_op, &pin);
  REGAL_JSON_EACH (node, json, found[0])
    REGAL_TRY(each_op(reader, node, pin_op, &pin));
  return REGAL_OK;
}

/* Only the last pin of an op counts, so that a pattern may name ops that later
 * entries take elsewhere. */
static regal_status check_pins(const regal_machine_reader *reader,
                               const uint32_t *last) {
  for (uint32_t op = 0; op < reader->graph->ops; op++)
    if (last[op] && !devices_of(reader, op))
      return regal_json_fail(
          reader->json, last[op], "op \"%.200s\" cannot run on device %u",
          regal_graph_name(reader->graph, op), reader->machine->pin[op]);
  return REGAL_OK;
}

static regal_status read_all_pins(regal_machine_reader *reader, uint32_t list,
                                  uint32_t *last) {
  REGAL_JSON_EACH (node, reader->json, list)
    REGAL_TRY(read_pin(reader, node, last));
  return check_pins(reader, last);
}

regal_status regal_machine_read_pins(regal_machine_reader *reader,
                                     uint32_t list) {
  REGAL_TRY(regal_json_expect(reader->json, list, REGAL_JSON_ARRAY));
  uint32_t *last =
      regal_alloc(reader->context, reader->graph->ops, sizeof *last);
  if (!last)
    return regal_fail_memory(reader->context);
  regal_status status = read_all_pins(reader, list, last);
  regal_release(reader->context, last);
  return status;
}

/* -- Groups ---------------------------------------------------------------- */

/* A group while it is read. */
typedef struct joining {
  uint32_t first; /* op, or REGAL_NONE */
  uint64_t *mask; /* [ops] of a group's first op: what all its ops can run on;
                     0: not yet known */
} joining;

static regal_status join_op(regal_machine_reader *reader, uint32_t node,
                            uint32_t op, void *state) {
  joining *group = state;
  regal_machine *machine = reader->machine;
  uint32_t first = group->first == REGAL_NONE ? op : group->first;
  if (!group->mask[op])
    group->mask[op] = devices_of(reader, op);
  uint64_t common = group->mask[regal_machine_first_of_group(machine, op)] &
                    group->mask[regal_machine_first_of_group(machine, first)];
  if (!common)
    return regal_json_fail(
        reader->json, node,
        "op \"%.200s\" has no device in common with its group",
        regal_graph_name(reader->graph, op));
  REGAL_TRY(regal_machine_join(machine, first, op));
  group->first = first;
  group->mask[regal_machine_first_of_group(machine, op)] = common;
  return REGAL_OK;
}

static regal_status join_groups(regal_machine_reader *reader, uint32_t list,
                                uint64_t *mask) {
  const regal_json *json = reader->json;
  REGAL_JSON_EACH (node, json, list) {
    joining group = {REGAL_NONE, mask};
    REGAL_TRY(regal_json_expect(json, node, REGAL_JSON_ARRAY));
    if (!json->nodes[node].child)
      return regal_json_fail(json, node, "the group is empty");
    REGAL_JSON_EACH (op, json, node)
      REGAL_TRY(each_op(reader, op, join_op, &group));
  }
  return REGAL_OK;
}

regal_status regal_machine_read_groups(regal_machine_reader *reader,
                                       uint32_t list) {
  REGAL_TRY(regal_json_expect(reader->json, list, REGAL_JSON_ARRAY));
  uint64_t *mask =
      regal_alloc(reader->context, reader->graph->ops, sizeof *mask);
  if (!mask)
    return regal_fail_memory(reader->context);
  regal_status status = join_groups(reader, list, mask);
  regal_release(reader->context, mask);
  regal_machine_settle(reader->machine);
  return status;
}
