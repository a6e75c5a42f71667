/* SPDX-License-Identifier: Apache-2.0 */
/* The public calls that read and write graphs and plans, and models with a
 * plan. */
#include <string.h>

#include "cost/model/problem.h"
#include "dataset/archive/catalog.h"
#include "format/formats.h"
#include "format/onnx/onnx.h"
#include "format/plan/plan.h"

/* What messages call the file. */
static const char *name_of(const char *path) {
  return strcmp(path, "-") ? path : "stdin";
}

/* -- Graphs ---------------------------------------------------------------- */

regal_status regal_graph_load(regal_context *context, const char *path,
                              const regal_options *options,
                              regal_graph **graph) {
  REGAL_TRY(regal_need(context, path && graph,
                       "loading a graph needs a path and a place to put it"));
  const char *member = regal_find_member_part(path);
  if (member)
    return regal_member_path_load(context, path, member, options, graph);
  regal_text text;
  REGAL_TRY(regal_read_file(context, path, &text));
  regal_status status = regal_format_load(context, name_of(path), text.bytes,
                                          text.size, options, graph);
  regal_text_free(&text);
  return status;
}

regal_status regal_graph_load_bytes(regal_context *context, const char *name,
                                    const void *bytes, size_t size,
                                    const regal_options *options,
                                    regal_graph **graph) {
  REGAL_TRY(regal_need(context, name && graph && (bytes || !size),
                       "loading a graph needs a name, its bytes and a place to "
                       "put it"));
  return regal_format_load_packed(context, name, bytes, size, options, graph);
}

/* ".pb, .pbtxt, .txt or .json" */
static void list_endings(char *list, size_t capacity) {
  const char *endings[16];
  size_t count = 0, at = 0;
  const regal_format *format;
  for (size_t row = 0; (format = regal_format_at(row)); row++)
    for (size_t i = 0; format->save && i < REGAL_MOST_ENDINGS; i++)
      if (format->endings[i] && count < sizeof endings / sizeof *endings)
        endings[count++] = format->endings[i];
  for (size_t i = 0; i < count && at < capacity; i++)
    at += (size_t)snprintf(list + at, capacity - at, "%s%s",
                           !i              ? ""
                           : i + 1 < count ? ", "
                                           : " or ",
                           endings[i]);
}

regal_status regal_graph_format_of(regal_context *context, const char *path,
                                   regal_graph_format *format) {
  REGAL_TRY(regal_need(context, path && format,
                       "a file's format needs a path and a place to put it"));
  if (!regal_format_by_ending(path, format)) {
    char list[128];
    list_endings(list, sizeof list);
    return regal_fail(context, REGAL_BAD_INPUT, "'%.200s' does not end in %s",
                      path, list);
  }
  return REGAL_OK;
}

regal_status regal_graph_save(regal_context *context, const regal_graph *graph,
                              const char *path, regal_graph_format format) {
  const regal_format *row = regal_format_written(format);
  REGAL_TRY(regal_need(context, graph && path && row,
                       "saving a graph needs a graph, a path and a format"));
  REGAL_TRY(regal_graph_check_sizes(context, graph, graph->unknown,
                                    "cannot be written"));
  regal_text text;
  regal_text_init(&text, context);
  regal_status status = row->save(context, path, graph, &text);
  if (status == REGAL_OK)
    status = regal_text_save(context, &text, path);
  regal_text_free(&text);
  return status;
}

/* -- Plans ----------------------------------------------------------------- */

regal_status regal_plan_load(regal_context *context,
                             const regal_problem *problem, const char *path,
                             regal_plan **plan) {
  regal_text text;
  REGAL_TRY(regal_need(context, problem && path && plan,
                       "loading a plan needs a problem, a path and a place to "
                       "put it"));
  REGAL_TRY(regal_read_input(context, path, &text));
  regal_status status =
      regal_plan_read(context, problem, name_of(path), &text, plan);
  regal_text_free(&text);
  return status;
}

regal_status regal_plan_options(regal_context *context, const char *path,
                                regal_options *options) {
  regal_text text;
  REGAL_TRY(regal_need(context, path && options,
                       "the options of a plan need its path and a place to put "
                       "them"));
  REGAL_TRY(regal_read_input(context, path, &text));
  regal_status status =
      regal_plan_read_options(context, path, name_of(path), &text, options);
  regal_text_free(&text);
  return status;
}

/* -- Models with a plan ---------------------------------------------------- */

/* Room for the two lists of an order; the caller releases them. */
static regal_status fill_order(regal_context *context,
                               const regal_result *result,
                               regal_onnx_place **places, uint32_t **by_step) {
  const regal_graph *graph = result->problem->graph;
  const regal_plan *plan = result->plan;
  *places =
      regal_alloc(context, (size_t)graph->file_nodes + 1, sizeof **places);
  *by_step = regal_alloc(context, plan->step_count, sizeof **by_step);
  if (!*places || !*by_step)
    return regal_fail_memory(context);
  for (uint32_t i = 0; i <= graph->file_nodes; i++)
    (*places)[i].step = REGAL_NONE;
  for (uint32_t i = 0; i < plan->step_count; i++) {
    const regal_step *step = &plan->steps[i];
    (*by_step)[i] = REGAL_NONE;
    if (step->port != REGAL_RUN)
      continue;
    (*by_step)[i] = graph->id[step->op];
    (*places)[graph->id[step->op]] = (regal_onnx_place){i, step->device};
  }
  return REGAL_OK;
}

static regal_status reorder(regal_context *context, const regal_result *result,
                            const char *model, const regal_text *bytes,
                            regal_text *out) {
  regal_onnx_place *places = NULL;
  uint32_t *by_step = NULL;
  regal_status status = fill_order(context, result, &places, &by_step);
  if (status == REGAL_OK)
    status = regal_onnx_reorder(
        context, name_of(model), bytes->bytes, bytes->size,
        &(regal_onnx_order){.places = places,
                            .by_step = by_step,
                            .ids = result->problem->graph->file_nodes,
                            .steps = result->plan->step_count},
        out);
  regal_release(context, places);
  regal_release(context, by_step);
  return status;
}

regal_status regal_plan_save_onnx(regal_context *context,
                                  const regal_result *result, const char *model,
                                  const char *path) {
  regal_text bytes, out;
  REGAL_TRY(regal_need(context, result && model && path,
                       "saving a model needs a result, the model and a path"));
  REGAL_TRY(regal_read_input(context, model, &bytes));
  regal_text_init(&out, context);
  regal_status status = reorder(context, result, model, &bytes, &out);
  if (status == REGAL_OK)
    status = regal_text_save(context, &out, path);
  regal_text_free(&bytes);
  regal_text_free(&out);
  return status;
}
