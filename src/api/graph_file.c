/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs in files: which format, and the calls of the public interface. */
#include <string.h>

#include "dataset/archive/catalog.h"
#include "format/json/graph.h"
#include "format/onnx/load.h"
#include "format/tensorflow/cost_graph.h"

/* A binary file may begin like this too: with a node of 123 bytes. */
static bool is_json(const regal_text *text) {
  const char *bytes = text->bytes;
  size_t at = 0;
  while (at < text->size && bytes[at] && strchr(" \t\r\n", bytes[at]))
    at++;
  return at < text->size && bytes[at] == '{' &&
         !regal_cost_is_binary((const uint8_t *)bytes, text->size);
}

static regal_status load_plain(regal_context *context, const char *name,
                               const regal_text *text,
                               const regal_options *options,
                               regal_graph **graph) {
  regal_options defaults;
  if (is_json(text))
    return regal_json_graph_load(context, name, text->bytes, text->size, graph);
  if (!options) {
    regal_options_init(&defaults);
    options = &defaults;
  }
  if (regal_onnx_detect(text->bytes, text->size))
    return regal_onnx_load(context, name, text->bytes, text->size, options,
                           graph);
  return regal_cost_graph_load(context, name, text->bytes, text->size, options,
                               graph);
}

regal_status regal_graph_load(regal_context *context, const char *path,
                              const regal_options *options,
                              regal_graph **graph) {
  if (!context)
    return REGAL_MISUSE;
  if (!path || !graph)
    return regal_fail(context, REGAL_MISUSE,
                      "loading a graph needs a path and a place to put it");
  const char *member = regal_find_member_part(path);
  if (member)
    return regal_member_path_load(context, path, member, options, graph);
  regal_text text;
  REGAL_TRY(regal_read_file(context, path, &text));
  regal_status status = load_plain(context, strcmp(path, "-") ? path : "stdin",
                                   &text, options, graph);
  regal_text_free(&text);
  return status;
}

regal_status regal_graph_load_bytes(regal_context *context, const char *name,
                                    const void *bytes, size_t size,
                                    const regal_options *options,
                                    regal_graph **graph) {
  if (!context)
    return REGAL_MISUSE;
  if (!name || !graph || (!bytes && size))
    return regal_fail(context, REGAL_MISUSE,
                      "loading a graph needs a name, its bytes and a place to "
                      "put it");
  regal_text text;
  REGAL_TRY(regal_inflate(context, name, bytes, size, &text));
  regal_status status = load_plain(context, name, &text, options, graph);
  regal_text_free(&text);
  return status;
}

regal_status regal_graph_save(regal_context *context, const regal_graph *graph,
                              const char *path, regal_graph_format format) {
  if (!context)
    return REGAL_MISUSE;
  if (!graph || !path ||
      (format != REGAL_GRAPH_BINARY && format != REGAL_GRAPH_TEXT &&
       format != REGAL_GRAPH_JSON))
    return regal_fail(context, REGAL_MISUSE,
                      "saving a graph needs a graph, a path and a format");
  regal_text text;
  regal_text_init(&text, context);
  regal_status status =
      format == REGAL_GRAPH_JSON
          ? regal_json_graph_save(context, path, graph, &text)
          : regal_cost_graph_save(context, path, graph, format, &text);
  if (status == REGAL_OK)
    status = regal_text_save(context, &text, path);
  regal_text_free(&text);
  return status;
}
