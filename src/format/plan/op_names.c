/* SPDX-License-Identifier: Apache-2.0 */
/* Finding ops by name or id. Names need not be unique in a graph; an ambiguous
 * one is an error only where it is used alone. */
#include "format/plan/op_names.h"

#include <string.h>

void regal_op_names_init(regal_op_names *names, regal_context *context,
                         const regal_graph *graph) {
  *names = (regal_op_names){.context = context, .graph = graph};
}

void regal_op_names_free(regal_op_names *names) {
  regal_name_index_free(&names->index);
}

static regal_status index_names(regal_op_names *names) {
  uint32_t ops = names->graph->ops;
  const char **list = regal_alloc(names->context, ops, sizeof *list);
  if (!list)
    return regal_fail_memory(names->context);
  for (uint32_t op = 0; op < ops; op++)
    list[op] = regal_graph_name(names->graph, op);
  regal_status status =
      regal_name_index_create(names->context, list, ops, &names->index);
  regal_release(names->context, list);
  return status;
}

regal_status regal_op_names_lookup(regal_op_names *names, const char *name,
                                   uint32_t *op) {
  if (!names->index.context)
    REGAL_TRY(index_names(names));
  *op = regal_name_index_find(&names->index, name);
  return REGAL_OK;
}

bool regal_op_names_has(regal_op_names *names, const char *name) {
  uint32_t op;
  return regal_op_names_lookup(names, name, &op) == REGAL_OK &&
         op != REGAL_NAME_ABSENT;
}

static regal_status find_name(regal_op_names *names, const regal_json *json,
                              uint32_t node, uint32_t *op) {
  const char *name = json->nodes[node].text;
  uint32_t found;
  REGAL_TRY(regal_op_names_lookup(names, name, &found));
  if (found == REGAL_NAME_ABSENT)
    return regal_json_fail(json, node, "there is no op \"%.200s\" in the graph",
                           name);
  if (found == REGAL_NAME_AMBIGUOUS)
    return regal_json_fail(json, node,
                           "the graph has more than one op \"%.200s\", say "
                           "which by its id",
                           name);
  *op = found;
  return REGAL_OK;
}

static regal_status find_id(const regal_op_names *names, const regal_json *json,
                            uint32_t node, uint32_t *op) {
  const regal_graph *graph = names->graph;
  int64_t id;
  REGAL_TRY(regal_json_integer(json, node, 0, INT64_MAX, &id));
  if (id >= graph->file_nodes || graph->op_of_id[id] == REGAL_NONE)
    return regal_json_fail(json, node,
                           "there is no op with id %lld in the "
                           "graph",
                           (long long)id);
  *op = graph->op_of_id[id];
  return REGAL_OK;
}

regal_status regal_op_names_find(regal_op_names *names, const regal_json *json,
                                 uint32_t node, uint32_t *op) {
  switch (json->nodes[node].kind) {
  case REGAL_JSON_STRING:
    return find_name(names, json, node, op);
  case REGAL_JSON_NUMBER:
    return find_id(names, json, node, op);
  default:
    return regal_json_fail_value(json, node, "the name or id of an op");
  }
}

/* Equal as written to JSON, where bytes that are not UTF-8 were replaced. */
static regal_status check_name(const regal_op_names *names,
                               const regal_json *json, uint32_t node,
                               uint32_t op) {
  const char *said = json->nodes[node].text;
  const char *name = regal_graph_name(names->graph, op);
  if (!strcmp(said, name))
    return REGAL_OK;
  regal_text one, other;
  regal_text_init(&one, names->context);
  regal_text_init(&other, names->context);
  regal_text_json(&one, said);
  regal_text_json(&other, name);
  regal_status status = REGAL_OK;
  if (one.failed || other.failed)
    status = regal_fail_memory(names->context);
  else if (strcmp(one.bytes, other.bytes))
    status = regal_json_fail(json, node,
                             "op %.200s has id %u here, but in the "
                             "graph that is %.200s",
                             one.bytes, names->graph->id[op], other.bytes);
  regal_text_free(&one);
  regal_text_free(&other);
  return status;
}

regal_status regal_op_names_resolve(regal_op_names *names,
                                    const regal_json *json, uint32_t object,
                                    uint32_t name, uint32_t id, uint32_t *op) {
  if (name)
    REGAL_TRY(regal_json_expect(json, name, REGAL_JSON_STRING));
  if (!id && !name)
    return regal_json_fail(json, object, "expected an \"id\"");
  if (!id)
    return find_name(names, json, name, op);
  REGAL_TRY(find_id(names, json, id, op));
  return name ? check_name(names, json, name, *op) : REGAL_OK;
}
