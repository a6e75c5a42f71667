/* SPDX-License-Identifier: Apache-2.0 */
/* Reader of plan files (docs/formats.md): the structure only. Whether the steps
 * keep the rules of the model is checked by the verifier.
 */
#include <string.h>

#include "cost/model/plan.h"
#include "format/plan/op_names.h"
#include "format/plan/plan.h"

enum plan_key { KEY_VERSION, KEY_GRAPH, KEY_STEPS, PLAN_KEYS };
static const char *const plan_keys[] = {"regal_plan", "graph", "steps", NULL};

/* The members that matter here; other keys are ignored. */
static regal_status find_members(const regal_json *json, uint32_t *found) {
  int64_t version;
  REGAL_TRY(regal_json_members(json, 0, false, plan_keys, found));
  if (!found[KEY_VERSION])
    return regal_json_fail(json, 0,
                           "not a plan file: it has no \"regal_plan\"");
  return regal_json_integer(json, found[KEY_VERSION], 1, 1, &version);
}

/* -- The graph ------------------------------------------------------------- */

enum graph_key { GRAPH_OPS, GRAPH_CHECKSUM, GRAPH_KEYS };
static const char *const graph_keys[] = {"ops", "checksum", NULL};

regal_status regal_plan_check_ops(const regal_json *json, uint32_t object,
                                  const regal_graph *graph) {
  uint32_t found[GRAPH_KEYS];
  int64_t ops = graph->ops;
  REGAL_TRY(regal_json_members(json, object, false, graph_keys, found));
  REGAL_TRY(regal_json_integer(json, found[GRAPH_OPS], 0, INT64_MAX, &ops));
  if (ops == graph->ops)
    return REGAL_OK;
  return regal_json_fail(json, found[GRAPH_OPS],
                         "the plan is for another graph: one with %lld ops, "
                         "this one has %u",
                         (long long)ops, graph->ops);
}

static regal_status check_graph(const regal_json *json, uint32_t object,
                                const regal_graph *graph) {
  uint32_t found[GRAPH_KEYS];
  char checksum[17];
  REGAL_TRY(regal_plan_check_ops(json, object, graph));
  REGAL_TRY(regal_json_members(json, object, false, graph_keys, found));
  if (!found[GRAPH_CHECKSUM])
    return REGAL_OK;
  REGAL_TRY(regal_json_expect(json, found[GRAPH_CHECKSUM], REGAL_JSON_STRING));
  snprintf(checksum, sizeof checksum, "%016llx",
           (unsigned long long)graph->checksum);
  const char *text = json->nodes[found[GRAPH_CHECKSUM]].text;
  if (!strcmp(text, checksum))
    return REGAL_OK;
  return regal_json_fail(json, found[GRAPH_CHECKSUM],
                         "the plan is for another graph: one with checksum "
                         "%.40s, this one has %s",
                         text, checksum);
}

/* -- Steps ----------------------------------------------------------------- */

typedef struct step_reader {
  const regal_json *json;
  const regal_graph *graph;
  uint32_t devices;
  regal_op_names names;
} step_reader;

enum step_key {
  STEP_OP,
  STEP_SEND,
  STEP_ID,
  STEP_DEVICE,
  STEP_PORT,
  STEP_FROM,
  STEP_TO,
  STEP_KEYS
};
static const char *const step_keys[] = {"op",   "send", "id", "device",
                                        "port", "from", "to", NULL};

/* A member of the step that is a device. */
static regal_status read_device(const step_reader *reader, uint32_t step,
                                const uint32_t *found, enum step_key key,
                                uint16_t *device) {
  const regal_json *json = reader->json;
  int64_t number;
  if (!found[key])
    return regal_json_fail(json, step, "the step has no \"%s\"",
                           step_keys[key]);
  REGAL_TRY(regal_json_integer(json, found[key], 0, INT64_MAX, &number));
  if (number >= reader->devices)
    return regal_json_fail(json, found[key],
                           "device %lld is out of range, the machine has %u "
                           "device%s",
                           (long long)number, reader->devices,
                           reader->devices == 1 ? "" : "s");
  *device = (uint16_t)number;
  return REGAL_OK;
}

static regal_status read_port(const step_reader *reader, uint32_t step,
                              uint32_t node, uint32_t op, int32_t *port) {
  const regal_graph *graph = reader->graph;
  int64_t number;
  if (!node)
    return regal_json_fail(reader->json, step, "the step has no \"port\"");
  REGAL_TRY(regal_json_integer(reader->json, node, -1, INT64_MAX, &number));
  uint32_t outputs = graph->output_begin[op + 1] - graph->output_begin[op];
  if (number >= outputs)
    return regal_json_fail(reader->json, node,
                           "port %lld of op \"%.200s\" is out of range, it "
                           "has %u output%s",
                           (long long)number, regal_graph_name(graph, op),
                           outputs, outputs == 1 ? "" : "s");
  *port = (int32_t)number;
  return REGAL_OK;
}

static regal_status read_step(step_reader *reader, uint32_t node,
                              regal_step *step) {
  const regal_json *json = reader->json;
  uint32_t found[STEP_KEYS];
  REGAL_TRY(regal_json_members(json, node, false, step_keys, found));
  if (!found[STEP_OP] == !found[STEP_SEND])
    return regal_json_fail(json, node, "the step has %s \"op\" %s \"send\"",
                           found[STEP_OP] ? "both" : "neither",
                           found[STEP_OP] ? "and" : "nor");
  uint32_t name = found[STEP_OP] ? found[STEP_OP] : found[STEP_SEND];
  REGAL_TRY(regal_op_names_resolve(&reader->names, json, node, name,
                                   found[STEP_ID], &step->op));
  if (found[STEP_OP]) {
    step->port = REGAL_RUN;
    REGAL_TRY(read_device(reader, node, found, STEP_DEVICE, &step->device));
    step->to = step->device;
    return REGAL_OK;
  }
  REGAL_TRY(read_port(reader, node, found[STEP_PORT], step->op, &step->port));
  REGAL_TRY(read_device(reader, node, found, STEP_FROM, &step->device));
  return read_device(reader, node, found, STEP_TO, &step->to);
}

static regal_status read_steps(step_reader *reader, uint32_t list,
                               regal_plan *plan) {
  REGAL_JSON_EACH (node, reader->json, list)
    REGAL_TRY(read_step(reader, node, &plan->steps[plan->step_count++]));
  return REGAL_OK;
}

static regal_status read_plan(regal_context *context,
                              const regal_problem *problem,
                              const regal_json *json, regal_plan **plan) {
  uint32_t found[PLAN_KEYS];
  REGAL_TRY(find_members(json, found));
  if (found[KEY_GRAPH])
    REGAL_TRY(check_graph(json, found[KEY_GRAPH], problem->graph));
  if (!found[KEY_STEPS])
    return regal_json_fail(json, 0, "the plan has no \"steps\"");
  REGAL_TRY(regal_json_expect(json, found[KEY_STEPS], REGAL_JSON_ARRAY));
  REGAL_TRY(regal_plan_create(context,
                              regal_json_length(json, found[KEY_STEPS]), plan));
  step_reader reader = {
      .json = json, .graph = problem->graph, .devices = problem->devices};
  regal_op_names_init(&reader.names, context, problem->graph);
  regal_status status = read_steps(&reader, found[KEY_STEPS], *plan);
  regal_op_names_free(&reader.names);
  if (status != REGAL_OK)
    regal_plan_free(*plan);
  return status;
}

static regal_status read_json(regal_context *context,
                              const regal_problem *problem, const char *name,
                              const regal_text *text, regal_plan **plan) {
  regal_json json;
  regal_plan *made;
  REGAL_TRY(regal_json_parse(context, name, text->bytes, text->size, &json));
  regal_status status = read_plan(context, problem, &json, &made);
  regal_json_free(&json);
  if (status == REGAL_OK)
    *plan = made;
  return status;
}

regal_status regal_plan_read(regal_context *context,
                             const regal_problem *problem, const char *name,
                             const regal_text *text, regal_plan **plan) {
  if (regal_json_detect(text->bytes, text->size))
    return read_json(context, problem, name, text, plan);
  return regal_plan_read_order(context, problem, name, text, plan);
}
