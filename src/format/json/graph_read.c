/* SPDX-License-Identifier: Apache-2.0 */
/* Reader of JSON graphs.
 *
 * Ops come first by name only, so that an op may refer to one that follows;
 * then each is given to the builder with all that it has. Messages name the
 * place of the value that is wrong, or, where only the builder can tell (a port
 * that does not exist, a cycle), of the op.
 */
#include <string.h>

#include "base/name_index.h"
#include "format/json/graph.h"
#include "format/json/json.h"

enum graph_key { GRAPH_VERSION, GRAPH_PARAMETERS, GRAPH_OPS, GRAPH_KEYS };
const char *const regal_json_graph_keys[] = {[GRAPH_VERSION] = "regal_graph",
                                             [GRAPH_PARAMETERS] = "parameters",
                                             [GRAPH_OPS] = "ops",
                                             [GRAPH_KEYS] = NULL};

enum op_key {
  OP_NAME,
  OP_RUN,
  OP_TEMPORARY,
  OP_RESIDENT,
  OP_OUTPUTS,
  OP_INPUTS,
  OP_CONTROL,
  OP_PARAMETERS,
  OP_DEVICE,
  OP_GROUP,
  OP_KEYS
};
const char *const regal_json_op_keys[] = {[OP_NAME] = "name",
                                          [OP_RUN] = "run_ns",
                                          [OP_TEMPORARY] = "temporary_bytes",
                                          [OP_RESIDENT] = "resident_bytes",
                                          [OP_OUTPUTS] = "outputs",
                                          [OP_INPUTS] = "inputs",
                                          [OP_CONTROL] = "control",
                                          [OP_PARAMETERS] = "parameters",
                                          [OP_DEVICE] = "device",
                                          [OP_GROUP] = "group",
                                          [OP_KEYS] = NULL};

enum output_key { OUTPUT_BYTES, OUTPUT_FINAL, OUTPUT_MAY_REUSE, OUTPUT_KEYS };
const char *const regal_json_output_keys[] = {[OUTPUT_BYTES] = "bytes",
                                              [OUTPUT_FINAL] = "final",
                                              [OUTPUT_MAY_REUSE] = "may_reuse",
                                              [OUTPUT_KEYS] = NULL};

enum parameter_key { PARAMETER_NAME, PARAMETER_BYTES, PARAMETER_KEYS };
const char *const regal_json_parameter_keys[] = {[PARAMETER_NAME] = "name",
                                                 [PARAMETER_BYTES] = "bytes",
                                                 [PARAMETER_KEYS] = NULL};

/* Ops or parameters: what can be referred to by name or position. */
typedef struct named_list {
  const char *noun; /* "op" */
  const char *expected;
  uint32_t count;
  uint32_t *node;     /* [count] in the document */
  const char **names; /* [count] NULL: it has none */
  regal_name_index index;
} named_list;

typedef struct graph_reader {
  regal_context *context;
  regal_json json;
  regal_builder *builder;
  named_list ops, parameters;
} graph_reader;

static const regal_json_node *node_at(const graph_reader *reader,
                                      uint32_t node) {
  return &reader->json.nodes[node];
}

/* -- References ------------------------------------------------------------ */

static void free_list(graph_reader *reader, named_list *list) {
  regal_name_index_free(&list->index);
  regal_release(reader->context, list->node);
  regal_release(reader->context, list->names);
}

/* The name of an op or parameter; NULL for one without. */
static regal_status read_name(graph_reader *reader, uint32_t node,
                              const char **name) {
  static const char *const keys[] = {"name", NULL};
  uint32_t found;
  REGAL_TRY(regal_json_members(&reader->json, node, false, keys, &found));
  if (!found)
    return REGAL_OK;
  REGAL_TRY(regal_json_expect(&reader->json, found, REGAL_JSON_STRING));
  *name = node_at(reader, found)->text;
  return REGAL_OK;
}

/* Makes the list of a JSON array; only parameters may be other than objects. */
static regal_status make_list(graph_reader *reader, uint32_t array,
                              named_list *list) {
  regal_context *context = reader->context;
  list->count = regal_json_length(&reader->json, array);
  list->node = regal_alloc(context, list->count, sizeof *list->node);
  list->names = regal_alloc(context, list->count, sizeof *list->names);
  if (!list->node || !list->names)
    return regal_fail_memory(context);
  uint32_t i = 0;
  REGAL_JSON_EACH (node, &reader->json, array) {
    list->node[i] = node;
    if (list == &reader->ops ||
        node_at(reader, node)->kind == REGAL_JSON_OBJECT)
      REGAL_TRY(read_name(reader, node, &list->names[i]));
    i++;
  }
  return regal_name_index_create(context, list->names, list->count,
                                 &list->index);
}

static regal_status find_name(const graph_reader *reader,
                              const named_list *list, uint32_t node,
                              uint32_t *number) {
  const char *name = node_at(reader, node)->text;
  *number = regal_name_index_find(&list->index, name);
  if (*number == REGAL_NAME_ABSENT)
    return regal_json_fail(&reader->json, node, "there is no %s \"%.200s\"",
                           list->noun, name);
  if (*number == REGAL_NAME_AMBIGUOUS)
    return regal_json_fail(&reader->json, node,
                           "there is more than one %s \"%.200s\", say which "
                           "by its position",
                           list->noun, name);
  return REGAL_OK;
}

static regal_status find_position(const graph_reader *reader,
                                  const named_list *list, uint32_t node,
                                  uint32_t *number) {
  int64_t position;
  if (!list->count)
    return regal_json_fail(&reader->json, node,
                           "there is no %s %.60s: none is listed", list->noun,
                           node_at(reader, node)->text);
  REGAL_TRY(regal_json_integer(&reader->json, node, 0, (int64_t)list->count - 1,
                               &position));
  *number = (uint32_t)position;
  return REGAL_OK;
}

static regal_status find(const graph_reader *reader, const named_list *list,
                         uint32_t node, uint32_t *number) {
  switch (node_at(reader, node)->kind) {
  case REGAL_JSON_STRING:
    return find_name(reader, list, node, number);
  case REGAL_JSON_NUMBER:
    return find_position(reader, list, node, number);
  default:
    return regal_json_fail_value(&reader->json, node, list->expected);
  }
}

/* -- Ops ------------------------------------------------------------------- */

/* Reads the index-th element of one of the op's lists. */
typedef regal_status (*element_fn)(graph_reader *reader, uint32_t op,
                                   uint32_t node, uint32_t index);

static regal_status read_list(graph_reader *reader, uint32_t op, uint32_t list,
                              element_fn read) {
  if (!list)
    return REGAL_OK;
  REGAL_TRY(regal_json_expect(&reader->json, list, REGAL_JSON_ARRAY));
  uint32_t index = 0;
  REGAL_JSON_EACH (node, &reader->json, list)
    REGAL_TRY(read(reader, op, node, index++));
  return REGAL_OK;
}

/* An object, or just the bytes. */
static regal_status read_output(graph_reader *reader, uint32_t op,
                                uint32_t node, uint32_t port) {
  const regal_json *json = &reader->json;
  uint32_t found[OUTPUT_KEYS] = {node};
  int64_t bytes;
  bool is_final = false, may_reuse = false;
  if (node_at(reader, node)->kind == REGAL_JSON_OBJECT) {
    REGAL_TRY(
        regal_json_members(json, node, true, regal_json_output_keys, found));
    if (!found[OUTPUT_BYTES])
      return regal_json_fail(json, node, "an output needs \"bytes\"");
  }
  REGAL_TRY(regal_json_bytes(json, found[OUTPUT_BYTES], &bytes));
  REGAL_TRY(regal_json_boolean(json, found[OUTPUT_FINAL], &is_final));
  REGAL_TRY(regal_json_boolean(json, found[OUTPUT_MAY_REUSE], &may_reuse));
  REGAL_TRY(regal_builder_add_output(reader->builder, op, bytes, is_final));
  if (!may_reuse)
    return REGAL_OK;
  return regal_builder_set_may_reuse(reader->builder, op, port);
}

/* An op and one of its outputs, or just the op: its first output. */
static regal_status read_input(graph_reader *reader, uint32_t op, uint32_t node,
                               uint32_t index) {
  uint32_t producer, from = node;
  int64_t port = 0;
  (void)index;
  if (node_at(reader, node)->kind == REGAL_JSON_ARRAY) {
    uint32_t length = regal_json_length(&reader->json, node);
    if (length != 2)
      return regal_json_fail(&reader->json, node,
                             "found a list of length %u, expected an op and "
                             "the number of its output: [\"conv1\", 0]",
                             length);
    from = node_at(reader, node)->child;
    REGAL_TRY(regal_json_integer(&reader->json, node_at(reader, from)->next, 0,
                                 UINT32_MAX, &port));
  }
  REGAL_TRY(find(reader, &reader->ops, from, &producer));
  return regal_builder_add_input(reader->builder, op, producer, (uint32_t)port);
}

static regal_status read_control(graph_reader *reader, uint32_t op,
                                 uint32_t node, uint32_t index) {
  uint32_t before;
  (void)index;
  REGAL_TRY(find(reader, &reader->ops, node, &before));
  return regal_builder_add_control(reader->builder, before, op);
}

static regal_status read_use(graph_reader *reader, uint32_t op, uint32_t node,
                             uint32_t index) {
  uint32_t parameter;
  (void)index;
  REGAL_TRY(find(reader, &reader->parameters, node, &parameter));
  return regal_builder_add_parameter_use(reader->builder, op, parameter);
}

static regal_status add_op(graph_reader *reader, uint32_t op,
                           const uint32_t *found) {
  const regal_json *json = &reader->json;
  const char *name = reader->ops.names[op];
  int64_t run_ns = 0, temporary = 0, resident = 0;
  REGAL_TRY(regal_json_duration(json, found[OP_RUN], &run_ns));
  REGAL_TRY(regal_json_bytes(json, found[OP_TEMPORARY], &temporary));
  REGAL_TRY(regal_json_bytes(json, found[OP_RESIDENT], &resident));
  return regal_builder_add_op(reader->builder, name ? name : "", run_ns,
                              temporary, resident, NULL);
}

/* A number or a name; what only the builder can tell gets the op's place. */
static regal_status read_device(graph_reader *reader, uint32_t op,
                                uint32_t node) {
  const regal_json *json = &reader->json;
  const char *device = node_at(reader, node)->text;
  char digits[24];
  int64_t number = 0;
  if (node_at(reader, node)->kind == REGAL_JSON_NUMBER) {
    REGAL_TRY(
        regal_json_integer(json, node, 0, REGAL_MAX_DEVICES - 1, &number));
    snprintf(digits, sizeof digits, "%d", (int)number);
    device = digits;
  } else if (node_at(reader, node)->kind != REGAL_JSON_STRING) {
    return regal_json_fail_value(json, node, "the number or name of a device");
  }
  return regal_builder_set_device(reader->builder, op, device);
}

static regal_status read_group(graph_reader *reader, uint32_t op,
                               uint32_t node) {
  REGAL_TRY(regal_json_expect(&reader->json, node, REGAL_JSON_STRING));
  return regal_builder_set_group(reader->builder, op,
                                 node_at(reader, node)->text);
}

static regal_status read_op(graph_reader *reader, uint32_t op) {
  static const struct {
    enum op_key key;
    element_fn read;
  } lists[] = {{OP_OUTPUTS, read_output},
               {OP_INPUTS, read_input},
               {OP_CONTROL, read_control},
               {OP_PARAMETERS, read_use}};
  uint32_t found[OP_KEYS];
  REGAL_TRY(regal_json_members(&reader->json, reader->ops.node[op], true,
                               regal_json_op_keys, found));
  REGAL_TRY(add_op(reader, op, found));
  for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
    REGAL_TRY(read_list(reader, op, found[lists[i].key], lists[i].read));
  if (found[OP_DEVICE])
    REGAL_TRY(read_device(reader, op, found[OP_DEVICE]));
  if (found[OP_GROUP])
    REGAL_TRY(read_group(reader, op, found[OP_GROUP]));
  return REGAL_OK;
}

/* -- Parameters ------------------------------------------------------------ */

/* An object, or just the bytes. */
static regal_status read_parameter(graph_reader *reader, uint32_t node) {
  const regal_json *json = &reader->json;
  uint32_t found[PARAMETER_KEYS] = {[PARAMETER_BYTES] = node};
  int64_t bytes;
  if (node_at(reader, node)->kind == REGAL_JSON_OBJECT) {
    REGAL_TRY(
        regal_json_members(json, node, true, regal_json_parameter_keys, found));
    if (!found[PARAMETER_BYTES])
      return regal_json_fail(json, node, "a parameter needs \"bytes\"");
  }
  REGAL_TRY(regal_json_bytes(json, found[PARAMETER_BYTES], &bytes));
  regal_status status =
      regal_builder_add_parameter(reader->builder, bytes, NULL);
  /* The builder knows where ops are, but not parameters. */
  if (status == REGAL_BAD_INPUT)
    return regal_json_fail(json, node, "%s", regal_error(reader->context));
  return status;
}

static regal_status read_parameters(graph_reader *reader, uint32_t array) {
  if (!array)
    return REGAL_OK;
  REGAL_TRY(regal_json_expect(&reader->json, array, REGAL_JSON_ARRAY));
  REGAL_TRY(make_list(reader, array, &reader->parameters));
  for (uint32_t i = 0; i < reader->parameters.count; i++)
    REGAL_TRY(read_parameter(reader, reader->parameters.node[i]));
  return REGAL_OK;
}

/* -- The file -------------------------------------------------------------- */

/* Files that are easily taken for one another get a message of their own. */
static regal_status check_kind(const regal_json *json) {
  static const char *const keys[] = {"regal_graph", "regal_plan",
                                     "regal_machine", NULL};
  uint32_t found[3];
  int64_t version;
  REGAL_TRY(regal_json_members(json, 0, false, keys, found));
  if (found[0])
    return regal_json_integer(json, found[0], 1, 1, &version);
  if (found[1] || found[2])
    return regal_json_fail(json, 0, "this is a %s file, expected a graph",
                           found[1] ? "plan" : "machine");
  return regal_json_fail(json, 0,
                         "not a graph: a graph in JSON has \"regal_graph\": 1");
}

/* Where an op stands, for messages of the builder. */
static void locate(const void *state, uint32_t op, char *text,
                   size_t capacity) {
  const graph_reader *reader = state;
  snprintf(text, capacity, "%s:%u: ops[%u]", reader->json.name,
           node_at(reader, reader->ops.node[op])->line, op);
}

static regal_status read_graph(graph_reader *reader) {
  const regal_json *json = &reader->json;
  uint32_t found[GRAPH_KEYS];
  REGAL_TRY(check_kind(json));
  REGAL_TRY(regal_json_members(json, 0, true, regal_json_graph_keys, found));
  if (!found[GRAPH_OPS])
    return regal_json_fail(json, 0, "the graph needs \"ops\"");
  REGAL_TRY(regal_json_expect(json, found[GRAPH_OPS], REGAL_JSON_ARRAY));
  REGAL_TRY(make_list(reader, found[GRAPH_OPS], &reader->ops));
  if (!reader->ops.count)
    return regal_json_fail(json, found[GRAPH_OPS], "the graph has no ops");
  REGAL_TRY(regal_builder_create(reader->context, &reader->builder));
  REGAL_TRY(read_parameters(reader, found[GRAPH_PARAMETERS]));
  regal_builder_set_locator(reader->builder, locate, reader);
  for (uint32_t op = 0; op < reader->ops.count; op++)
    REGAL_TRY(read_op(reader, op));
  return REGAL_OK;
}

regal_status regal_json_graph_load(regal_context *context, const char *name,
                                   const void *bytes, size_t size,
                                   const regal_options *options,
                                   regal_graph **graph) {
  (void)options; /* they are about what other formats leave open */
  graph_reader reader = {
      .context = context,
      .ops = {.noun = "op", .expected = "the name or position of an op"},
      .parameters = {.noun = "parameter",
                     .expected = "the name or position of a parameter"}};
  REGAL_TRY(regal_json_parse(context, name, bytes, size, &reader.json));
  regal_status status = read_graph(&reader);
  status = regal_builder_end(reader.builder, status, graph);
  free_list(&reader, &reader.ops);
  free_list(&reader, &reader.parameters);
  regal_json_free(&reader.json);
  return status;
}
