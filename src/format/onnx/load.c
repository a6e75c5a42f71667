/* SPDX-License-Identifier: Apache-2.0 */
/* Loading an ONNX model: the stages of onnx.h in their order, and what all of
 * them use: names of nodes, attributes, messages.
 */
#include "format/onnx/onnx.h"

#include <stdarg.h>
#include <string.h>

#include "base/plain.h"
#include "graph/builder.h"

/* -- What the stages share ------------------------------------------------- */

bool regal_onnx_is(const regal_onnx_node *node, const char *op_type) {
  return !strcmp(node->op_type, op_type);
}

const char *regal_onnx_node_name(const regal_onnx_node *node) {
  if (*node->name)
    return node->name;
  for (size_t i = 0; i < node->n_output; i++)
    if (*node->output[i])
      return node->output[i];
  return node->op_type;
}

const regal_onnx_attribute *regal_onnx_attribute_of(const regal_onnx_node *node,
                                                    const char *name) {
  for (size_t i = 0; i < node->n_attribute; i++)
    if (!strcmp(node->attribute[i]->name, name))
      return node->attribute[i];
  return NULL;
}

int64_t regal_onnx_attribute_int(const regal_onnx_node *node, const char *name,
                                 int64_t fallback) {
  const regal_onnx_attribute *attribute = regal_onnx_attribute_of(node, name);
  return attribute ? attribute->i : fallback;
}

void regal_onnx_count(regal_onnx_names *names, const char *name) {
  names->count++;
  for (size_t i = 0; i < REGAL_ONNX_NAMED; i++) {
    if (!names->name[i])
      names->name[i] = name;
    if (!strcmp(names->name[i], name)) {
      names->times[i]++;
      return;
    }
  }
}

regal_status regal_onnx_fail(const regal_onnx *onnx, const char *format, ...) {
  char message[REGAL_MESSAGE_CAPACITY / 2], graph[160] = "", node[160] = "";
  va_list arguments;
  va_start(arguments, format);
  regal_print_list(message, sizeof message, format, arguments);
  va_end(arguments);
  if (onnx->graph != onnx->model->graph)
    snprintf(graph, sizeof graph,
             "body %s: ", regal_quote(onnx->graph->name).text);
  if (onnx->node)
    snprintf(node, sizeof node, "node %u %s: ", onnx->node_index,
             regal_quote(regal_onnx_node_name(onnx->node)).text);
  return regal_fail(onnx->context, REGAL_BAD_INPUT, "%s: %s%s%s", onnx->path,
                    graph, node, message);
}

/* -- Loading --------------------------------------------------------------- */

static regal_status interpret(regal_onnx *onnx, const void *bytes,
                              size_t size) {
  onnx->assumes_sizes =
      regal_option_given(onnx->options, "assume-unknown-bytes");
  REGAL_TRY(regal_onnx_read_sizes(onnx));
  REGAL_TRY(regal_onnx_read_shapes(onnx));
  REGAL_TRY(regal_roofline_load(onnx->context, onnx->options->roofline,
                                &onnx->roofline));
  REGAL_TRY(regal_onnx_read(onnx, bytes, size));
  REGAL_TRY(regal_onnx_set_sizes(onnx));
  REGAL_TRY(regal_onnx_check_sizes(onnx));
  REGAL_TRY(regal_onnx_walk(onnx));
  REGAL_TRY(regal_onnx_infer(onnx));
  REGAL_TRY(regal_onnx_check_known(onnx));
  return regal_onnx_measure(onnx);
}

static regal_status load(regal_onnx *onnx, const void *bytes, size_t size,
                         regal_graph **graph) {
  regal_graph *made;
  REGAL_TRY(interpret(onnx, bytes, size));
  REGAL_TRY(regal_onnx_build(onnx, &made));
  regal_status status = regal_onnx_add_advice(onnx, made);
  if (status == REGAL_OK)
    status = regal_onnx_add_notes(onnx, made);
  if (status == REGAL_OK)
    *graph = made;
  else
    regal_graph_free(made);
  return status;
}

regal_status regal_onnx_load(regal_context *context, const char *path,
                             const void *bytes, size_t size,
                             const regal_options *options,
                             regal_graph **graph) {
  regal_onnx onnx = {.context = context,
                     .path = path,
                     .options = options,
                     .budget = {REGAL_ONNX_SECONDS, 0}};
  regal_arena_init(&onnx.arena, context);
  regal_arena_init(&onnx.keep, context);
  regal_names_init(&onnx.names, context);
  regal_status status = load(&onnx, bytes, size, graph);
  regal_release(context, onnx.sizes);
  regal_release(context, onnx.shapes);
  regal_release(context, onnx.values);
  regal_names_free(&onnx.names);
  regal_release(context, onnx.parents);
  regal_release(context, onnx.reads);
  regal_arena_free(&onnx.arena);
  regal_arena_free(&onnx.keep);
  return status;
}
