/* SPDX-License-Identifier: Apache-2.0 */
/* The table of graph formats, and what follows from it: which format a file is
 * read in (by its content) and written in (by its ending).
 *
 * A CostGraphDef has no magic number. So the first row takes what no other row
 * does, and later rows are asked first. The first rows are in the order of
 * regal_graph_format and of the choices of --format; a format of a later row is
 * written by its ending alone.
 */
#include "format/formats.h"

#include <string.h>

#include "base/options/options.h"
#include "format/costs/costs.h"
#include "format/costs/trace.h"
#include "format/json/graph.h"
#include "format/json/json.h"
#include "format/onnx/onnx.h"
#include "format/tensorflow/cost_graph.h"

/* A binary CostGraphDef may begin like this too: with a node of 123 bytes. */
static bool is_json(const void *bytes, size_t size) {
  return regal_json_detect(bytes, size) && !regal_cost_is_binary(bytes, size);
}

/* What readers heed of the options that say how to read. */
#define NO_OPTIONS ""
#define TENSORFLOW_OPTIONS "loops|variables|aliases|costs"
#define HLO_OPTIONS "roofline"
#define ONNX_OPTIONS "dim|shape|assume-unknown-bytes|roofline|costs"

/* clang-format off */
#define FORMATS(WRITTEN, READ) \
  /*      name    ending    or      options             detect                load                   save */ \
  WRITTEN(binary, ".pb",    NULL,   TENSORFLOW_OPTIONS, regal_cost_is_binary, regal_cost_graph_load, regal_cost_graph_save_binary) \
  WRITTEN(text,   ".pbtxt", ".txt", TENSORFLOW_OPTIONS, regal_cost_is_text,   regal_cost_graph_load, regal_cost_graph_save_text) \
  WRITTEN(json,   ".json",  NULL,   NO_OPTIONS,         is_json,              regal_json_graph_load, regal_json_graph_save) \
  READ(   onnx,   ".onnx",  NULL,   ONNX_OPTIONS,       regal_onnx_detect,    regal_onnx_load) \
  READ(   hlo_proto, ".hlopb", NULL, HLO_OPTIONS,      regal_hlo_proto_detect, regal_hlo_proto_load) \
  READ(   hlo_text, ".hlo", NULL,   HLO_OPTIONS,        regal_hlo_text_detect, regal_hlo_text_load) \
  READ(   stablehlo, ".mlir", NULL, HLO_OPTIONS,       regal_stablehlo_detect, regal_stablehlo_load)
/* clang-format on */

/* A row declares its functions. */
#define DECLARE_READ(name, ending, other, options, detect, load)               \
  regal_format_detect_fn detect;                                               \
  regal_format_load_fn load;
#define DECLARE_WRITTEN(name, ending, other, options, detect, load, save)      \
  DECLARE_READ(name, ending, other, options, detect, load)                     \
  regal_format_save_fn save;
#define DEFINE_READ(name, ending, other, options, detect, load)                \
  {#name, {ending, other}, detect, load, NULL, options},
#define DEFINE_WRITTEN(name, ending, other, options, detect, load, save)       \
  {#name, {ending, other}, detect, load, save, options},

FORMATS(DECLARE_WRITTEN, DECLARE_READ)

static const regal_format formats[] = {FORMATS(DEFINE_WRITTEN, DEFINE_READ)};
#define COUNT (sizeof formats / sizeof *formats)

const regal_format *regal_format_at(size_t row) {
  return row < COUNT ? &formats[row] : NULL;
}

const regal_format *regal_format_written(regal_graph_format format) {
  size_t row = (size_t)format;
  return row < COUNT && formats[row].save ? &formats[row] : NULL;
}

static bool ends_with(const char *text, const char *ending) {
  size_t length = strlen(text), tail = strlen(ending);
  return length >= tail && !strcmp(text + length - tail, ending);
}

bool regal_format_by_ending(const char *path, regal_graph_format *format) {
  for (size_t i = 0; i < COUNT; i++)
    for (size_t k = 0; k < REGAL_MOST_ENDINGS && formats[i].endings[k]; k++)
      if (formats[i].save && ends_with(path, formats[i].endings[k])) {
        *format = (regal_graph_format)i;
        return true;
      }
  return false;
}

/* -- Loading --------------------------------------------------------------- */

static bool heeds(const regal_format *format, const char *option) {
  return regal_choice_index(format->options, option) >= 0;
}

/* Whether the option is given, and neither the reader nor we make use of it. */
static bool is_ignored(const regal_format *format, const regal_options *options,
                       const regal_option_info *info) {
  return !strcmp(info->group, "reading") && !heeds(format, info->name) &&
         strcmp(info->name, "costs") != 0 &&
         regal_option_given(options, info->name);
}

/* An option in vain is a mistake, of which the user should hear. */
static regal_status note_ignored(const regal_format *format,
                                 const regal_options *options,
                                 regal_graph *graph) {
  char list[400] = "";
  size_t at = 0;
  for (size_t i = 0; i < regal_option_count(); i++) {
    const regal_option_info *info = regal_option_at(i);
    if (is_ignored(format, options, info) && at < sizeof list)
      at += (size_t)snprintf(list + at, sizeof list - at, "%s--%s",
                             at ? ", " : "", info->name);
  }
  return at ? regal_graph_add_note(graph, REGAL_NOTE_WARNING,
                                   "%s: no effect on a graph in format %s",
                                   list, format->name)
            : REGAL_OK;
}

/* `trace` is what --costs names, if that is one and not a CSV. */
static regal_status load(regal_context *context, const regal_format *format,
                         const char *name, const void *bytes, size_t size,
                         const regal_options *options, regal_trace *trace,
                         regal_graph **graph) {
  regal_graph *made;
  REGAL_TRY(format->load(context, name, bytes, size, options, &made));
  made->source = regal_copy_text(context, name);
  regal_status status = made->source ? note_ignored(format, options, made)
                                     : regal_fail_memory(context);
  if (status == REGAL_OK && trace)
    status = regal_trace_apply(trace, made);
  else if (status == REGAL_OK && options->costs[0] && !heeds(format, "costs"))
    status = regal_costs_apply(context, options->costs, made);
  if (status == REGAL_OK)
    *graph = made;
  else
    regal_graph_free(made);
  return status;
}

/* What can be read more than once may be a trace; a pipe is read by readers
 * alone, as a CSV. */
static bool may_be_trace(const char *path) {
  return path[0] && strcmp(path, "-") != 0 && !regal_may_block(path);
}

/* A trace is applied to the graph, and readers see no --costs. */
static regal_status load_with_costs(regal_context *context,
                                    const regal_format *format,
                                    const char *name, const void *bytes,
                                    size_t size, const regal_options *options,
                                    regal_graph **graph) {
  regal_trace trace;
  bool is_trace = false;
  if (may_be_trace(options->costs))
    REGAL_TRY(regal_trace_open(context, options->costs, &trace, &is_trace));
  if (!is_trace)
    return load(context, format, name, bytes, size, options, NULL, graph);
  regal_options others = *options;
  others.costs[0] = 0;
  regal_status status =
      load(context, format, name, bytes, size, &others, &trace, graph);
  regal_trace_free(&trace);
  return status;
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
  size_t row = COUNT - 1;
  while (row && !formats[row].detect(bytes, size))
    row--;
  return load_with_costs(context, &formats[row], name, bytes, size, options,
                         graph);
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
