/* SPDX-License-Identifier: Apache-2.0 */
/* The verifier's rules: whether a plan is one at all. Each rule is a small
 * function with its own message; the first that is broken ends the check.
 *
 * First every step is looked at alone, then who runs and who sends is known,
 * then every step is looked at beside what it needs.
 */
#include <string.h>

#include "cost/verify/parts.h"

/* Names come from files: shown in quotes, shortened, control bytes hidden. */
typedef struct label {
  char text[256];
} label;

static label quoted(const regal_graph *graph, uint32_t op) {
  label label;
  snprintf(label.text, sizeof label.text, "\"%.200s\"",
           regal_graph_name(graph, op));
  for (char *c = label.text; *c; c++)
    if ((unsigned char)*c < ' ' || *c == 127)
      *c = '?';
  return label;
}

/* "conv1" (id 17) */
static label op_label(const regal_graph *graph, uint32_t op) {
  label label = quoted(graph, op);
  size_t used = strlen(label.text);
  snprintf(label.text + used, sizeof label.text - used, " (id %u)",
           graph->id[op]);
  return label;
}

/* "conv1":0 (id 17), or: the end of "conv1" (id 17) */
static label item_label(const regal_graph *graph, uint32_t item) {
  uint32_t op = regal_verify_producer(graph, item);
  label name = quoted(graph, op), label;
  if (item < graph->tensors)
    snprintf(label.text, sizeof label.text, "%.210s:%u (id %u)", name.text,
             item - graph->output_begin[op], graph->id[op]);
  else
    snprintf(label.text, sizeof label.text, "the end of %.210s (id %u)",
             name.text, graph->id[op]);
  return label;
}

#define BROKEN(reading, ...)                                                   \
  regal_fail((reading)->context, REGAL_INVALID_PLAN, __VA_ARGS__)

/* -- Each step alone ------------------------------------------------------- */

static regal_status check_device(const regal_reading *reading, uint32_t i,
                                 uint32_t device) {
  uint32_t devices = reading->machine->devices;
  if (device < devices)
    return REGAL_OK;
  return BROKEN(reading, "step %u: there is no device %u: the machine has %u",
                i, device, devices);
}

static regal_status check_pin(const regal_reading *reading, uint32_t i) {
  const uint32_t *pin = reading->machine->pin;
  const regal_step *step = &reading->plan->steps[i];
  if (!pin || pin[step->op] == REGAL_NONE || pin[step->op] == step->device)
    return REGAL_OK;
  return BROKEN(reading,
                "step %u: op %s runs on device %u, but it is pinned to device "
                "%u",
                i, op_label(reading->graph, step->op).text, step->device,
                pin[step->op]);
}

static regal_status check_run(const regal_reading *reading, uint32_t i) {
  const regal_graph *graph = reading->graph;
  const regal_step *step = &reading->plan->steps[i];
  if (step->to != step->device)
    return BROKEN(reading,
                  "step %u: op %s runs on device %u, but the step also names "
                  "device %u",
                  i, op_label(graph, step->op).text, step->device, step->to);
  if (reading->run_step[step->op] != REGAL_NONE)
    return BROKEN(reading, "step %u: op %s runs twice: it ran at step %u", i,
                  op_label(graph, step->op).text, reading->run_step[step->op]);
  if (regal_verify_run_ns(graph, reading->machine, step->op, step->device) ==
      REGAL_NEVER)
    return BROKEN(reading, "step %u: op %s cannot run on device %u", i,
                  op_label(graph, step->op).text, step->device);
  return check_pin(reading, i);
}

static regal_status check_port(const regal_reading *reading, uint32_t i) {
  const regal_graph *graph = reading->graph;
  const regal_step *step = &reading->plan->steps[i];
  uint32_t outputs =
      graph->output_begin[step->op + 1] - graph->output_begin[step->op];
  if (step->port == -1) {
    if (reading->machine->control_transfers)
      return REGAL_OK;
    return BROKEN(reading,
                  "step %u: a control transfer from op %s, but with control = "
                  "wait there are none",
                  i, op_label(graph, step->op).text);
  }
  if (step->port >= 0 && (uint32_t)step->port < outputs)
    return REGAL_OK;
  return BROKEN(reading, "step %u: op %s has no output %d: it has %u", i,
                op_label(graph, step->op).text, (int)step->port, outputs);
}

static regal_status check_step_alone(regal_reading *reading, uint32_t i) {
  const regal_step *step = &reading->plan->steps[i];
  uint32_t ops = reading->graph->ops;
  if (step->op >= ops)
    return BROKEN(reading, "step %u: there is no op %u: the graph has %u", i,
                  step->op, ops);
  REGAL_TRY(check_device(reading, i, step->device));
  REGAL_TRY(check_device(reading, i, step->to));
  if (step->port != REGAL_RUN)
    return check_port(reading, i);
  REGAL_TRY(check_run(reading, i));
  reading->run_step[step->op] = i;
  return REGAL_OK;
}

/* -- All ops, and where ---------------------------------------------------- */

static regal_status check_all_run(const regal_reading *reading) {
  uint32_t missing = 0, first = REGAL_NONE;
  for (uint32_t op = reading->graph->ops; op-- > 0;)
    if (reading->run_step[op] == REGAL_NONE)
      first = op, missing++;
  if (!missing)
    return REGAL_OK;
  return BROKEN(reading,
                "step %u: the plan ends, but %u of %u ops never ran; the first "
                "is %s",
                reading->plan->step_count, missing, reading->graph->ops,
                op_label(reading->graph, first).text);
}

static regal_status check_groups_with(const regal_reading *reading,
                                      uint32_t *first_of_group) {
  const regal_graph *graph = reading->graph;
  for (uint32_t i = 0; i < reading->plan->step_count; i++) {
    const regal_step *step = &reading->plan->steps[i];
    uint32_t group = reading->machine->group[step->op];
    if (step->port != REGAL_RUN || group == REGAL_NONE)
      continue;
    if (group >= graph->ops)
      return regal_fail(reading->context, REGAL_MISUSE,
                        "machine: group %u is not below the number of ops",
                        group);
    uint32_t *first = &first_of_group[group];
    if (*first == REGAL_NONE)
      *first = step->op;
    if (regal_verify_device(reading, *first) != step->device)
      return BROKEN(reading,
                    "step %u: op %s runs on device %u, but op %s of the same "
                    "group runs on device %u",
                    i, op_label(graph, step->op).text, step->device,
                    op_label(graph, *first).text,
                    regal_verify_device(reading, *first));
  }
  return REGAL_OK;
}

static regal_status check_groups(const regal_reading *reading) {
  uint32_t ops = reading->graph->ops;
  if (!reading->machine->group)
    return REGAL_OK;
  uint32_t *first = regal_alloc(reading->context, ops, sizeof *first);
  if (!first)
    return regal_fail_memory(reading->context);
  memset(first, 0xff, ops * sizeof *first);
  regal_status status = check_groups_with(reading, first);
  regal_release(reading->context, first);
  return status;
}

/* -- Each transfer beside its producer and its readers --------------------- */

/* Whether `device` runs an op that reads the item or waits for it. */
static bool is_wanted(const regal_reading *reading, uint32_t item,
                      uint32_t device) {
  const regal_graph *graph = reading->graph;
  bool data = item < graph->tensors;
  uint32_t row = data ? item : item - graph->tensors;
  const uint32_t *begin = data ? graph->use_begin : graph->control_out_begin;
  const uint32_t *readers = data ? graph->consumer : graph->control_out;
  for (REGAL_ROW(k, begin, row))
    if (regal_verify_device(reading, readers[k]) == device)
      return true;
  return false;
}

static regal_status check_transfer(const regal_reading *reading, uint32_t i) {
  const regal_graph *graph = reading->graph;
  const regal_step *step = &reading->plan->steps[i];
  uint32_t item = regal_verify_item(graph, step);
  uint32_t made = reading->run_step[step->op];
  uint32_t home = regal_verify_device(reading, step->op);
  if (step->device != home)
    return BROKEN(reading,
                  "step %u: device %u sends %s, which is made on device %u", i,
                  step->device, item_label(graph, item).text, home);
  if (step->to == home)
    return BROKEN(reading, "step %u: %s is sent to device %u, where it is made",
                  i, item_label(graph, item).text, home);
  if (made > i)
    return BROKEN(reading,
                  "step %u: %s is sent before it is made: its producer runs "
                  "at step %u",
                  i, item_label(graph, item).text, made);
  if (!is_wanted(reading, item, step->to))
    return BROKEN(reading,
                  "step %u: %s is sent to device %u, where no op %s it", i,
                  item_label(graph, item).text, step->to,
                  item < graph->tensors ? "reads" : "waits for");
  return REGAL_OK;
}

/* No item may reach a device twice. */
static regal_status check_sent_once(const regal_reading *reading,
                                    uint32_t item) {
  uint32_t sent_at[REGAL_MAX_DEVICES];
  memset(sent_at, 0xff, sizeof sent_at);
  for (REGAL_ROW(k, reading->send_begin, item)) {
    uint32_t i = reading->send_step[k], to = reading->plan->steps[i].to;
    if (sent_at[to] != REGAL_NONE)
      return BROKEN(reading,
                    "step %u: %s is sent to device %u twice: it was sent at "
                    "step %u",
                    i, item_label(reading->graph, item).text, to, sent_at[to]);
    sent_at[to] = i;
  }
  return REGAL_OK;
}

static regal_status check_transfers(const regal_reading *reading) {
  const regal_plan *plan = reading->plan;
  uint32_t items = reading->graph->tensors + reading->graph->ops;
  for (uint32_t item = 0; item < items; item++)
    REGAL_TRY(check_sent_once(reading, item));
  for (uint32_t i = 0; i < plan->step_count; i++)
    if (plan->steps[i].port != REGAL_RUN)
      REGAL_TRY(check_transfer(reading, i));
  return REGAL_OK;
}

/* -- Each op beside what it needs ------------------------------------------ */

/* Step `i` needs the item on its device: says why it is not there yet. */
static regal_status check_arrived(const regal_reading *reading, uint32_t i,
                                  uint32_t item) {
  const regal_graph *graph = reading->graph;
  const regal_step *step = &reading->plan->steps[i];
  uint32_t made = reading->run_step[regal_verify_producer(graph, item)];
  uint32_t arrived = regal_verify_arrival(reading, item, step->device);
  if (arrived < i)
    return REGAL_OK;
  char why[80];
  if (made > i)
    snprintf(why, sizeof why, "its producer runs later, at step %u", made);
  else if (arrived == REGAL_NONE)
    snprintf(why, sizeof why, "it is never sent there");
  else
    snprintf(why, sizeof why, "it is sent later, at step %u", arrived);
  if (item >= graph->tensors)
    return BROKEN(reading,
                  "step %u: op %s runs on device %u before it knows of %s: %s",
                  i, op_label(graph, step->op).text, step->device,
                  item_label(graph, item).text, why);
  return BROKEN(reading,
                "step %u: op %s runs on device %u before its input %s is "
                "there: %s",
                i, op_label(graph, step->op).text, step->device,
                item_label(graph, item).text, why);
}

static regal_status check_control(const regal_reading *reading, uint32_t i,
                                  uint32_t before) {
  const regal_graph *graph = reading->graph;
  if (reading->machine->control_transfers)
    return check_arrived(reading, i, graph->tensors + before);
  if (reading->run_step[before] < i)
    return REGAL_OK;
  return BROKEN(reading,
                "step %u: op %s must run after op %s (a control edge), which "
                "runs at step %u",
                i, op_label(graph, reading->plan->steps[i].op).text,
                op_label(graph, before).text, reading->run_step[before]);
}

static regal_status check_needs(const regal_reading *reading) {
  const regal_graph *graph = reading->graph;
  for (uint32_t i = 0; i < reading->plan->step_count; i++) {
    uint32_t op = reading->plan->steps[i].op;
    if (reading->plan->steps[i].port != REGAL_RUN)
      continue;
    for (REGAL_ROW(k, graph->input_begin, op))
      REGAL_TRY(check_arrived(reading, i, graph->input[k]));
    for (REGAL_ROW(k, graph->control_in_begin, op))
      REGAL_TRY(check_control(reading, i, graph->control_in[k]));
  }
  return REGAL_OK;
}

regal_status regal_verify_rules(regal_reading *reading) {
  REGAL_TRY(regal_reading_begin(reading));
  for (uint32_t i = 0; i < reading->plan->step_count; i++)
    REGAL_TRY(check_step_alone(reading, i));
  REGAL_TRY(check_all_run(reading));
  REGAL_TRY(check_groups(reading));
  REGAL_TRY(regal_reading_list_sends(reading));
  REGAL_TRY(check_transfers(reading));
  return check_needs(reading);
}
