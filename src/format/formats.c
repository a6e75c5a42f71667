/* SPDX-License-Identifier: Apache-2.0 */
/* The table of graph formats, and what follows from it: which format a file is
 * read in (by its content) and written in (by its ending).
 *
 * A CostGraphDef has no magic number. So the first row takes what no other row
 * does, and later rows are asked first.
 */
#include "format/formats.h"

#include <string.h>

#include "format/json/graph.h"
#include "format/json/json.h"
#include "format/onnx/load.h"
#include "format/tensorflow/cost_graph.h"

/* A binary CostGraphDef may begin like this too: with a node of 123 bytes. */
static bool is_json(const void *bytes, size_t size) {
  return regal_json_detect(bytes, size) && !regal_cost_is_binary(bytes, size);
}

static const regal_format formats[] = {
    {"binary",
     {".pb"},
     regal_cost_is_binary,
     regal_cost_graph_load,
     regal_cost_graph_save_binary,
     REGAL_GRAPH_BINARY},
    {"text",
     {".pbtxt", ".txt"},
     regal_cost_is_text,
     regal_cost_graph_load,
     regal_cost_graph_save_text,
     REGAL_GRAPH_TEXT},
    {"json",
     {".json"},
     is_json,
     regal_json_graph_load,
     regal_json_graph_save,
     REGAL_GRAPH_JSON},
    {"onnx", {".onnx"}, regal_onnx_detect, regal_onnx_load, NULL, 0},
};
#define FORMATS (sizeof formats / sizeof *formats)

const regal_format *regal_format_at(size_t row) {
  return row < FORMATS ? &formats[row] : NULL;
}

const regal_format *regal_format_written(regal_graph_format format) {
  for (size_t i = 0; i < FORMATS; i++)
    if (formats[i].save && formats[i].written_as == format)
      return &formats[i];
  return NULL;
}

static bool ends_with(const char *text, const char *ending) {
  size_t length = strlen(text), tail = strlen(ending);
  return length >= tail && !strcmp(text + length - tail, ending);
}

const regal_format *regal_format_by_ending(const char *path) {
  for (size_t i = 0; i < FORMATS; i++)
    for (size_t k = 0; k < REGAL_MOST_ENDINGS && formats[i].endings[k]; k++)
      if (formats[i].save && ends_with(path, formats[i].endings[k]))
        return &formats[i];
  return NULL;
}

regal_status regal_format_load(regal_context *context, const char *name,
                               const void *bytes, size_t size,
                               const regal_options *options,
                               regal_graph **graph) {
  regal_options defaults;
  if (!options) {
    regal_options_init(&defaults);
    options = &defaults;
  }
  size_t row = FORMATS - 1;
  while (row && !formats[row].detect(bytes, size))
    row--;
  return formats[row].load(context, name, bytes, size, options, graph);
}

regal_status regal_format_load_packed(regal_context *context, const char *name,
                                      const void *bytes, size_t size,
                                      const regal_options *options,
                                      regal_graph **graph) {
  regal_text text;
  REGAL_TRY(regal_inflate(context, name, bytes, size, &text));
  regal_status status =
      regal_format_load(context, name, text.bytes, text.size, options, graph);
  regal_text_free(&text);
  return status;
}
