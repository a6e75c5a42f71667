/* SPDX-License-Identifier: Apache-2.0 */
/* Writer of plan files: one step per line, so that plans can be compared with
 * diff; the rest is in front of them. */
#include "cost/model/plan.h"
#include "format/plan/machine.h"
#include "format/plan/plan.h"

static void write_cost(regal_text *text, const regal_result *result) {
  const regal_cost *cost = &result->cost;
  uint32_t devices = result->problem->devices;
  regal_text_format(text, " \"cost\": {\"runtime_ns\": %lld, \"peak_bytes\": [",
                    (long long)cost->runtime_ns);
  for (uint32_t a = 0; a < devices; a++)
    regal_text_format(text, "%s%lld", a ? ", " : "",
                      (long long)cost->peak_bytes[a]);
  regal_text_format(text, "]},\n");
}

static void write_rates(regal_text *text, const regal_result *result) {
  regal_rates rates = regal_result_rates(result);
  if (rates.microbatches)
    regal_text_format(text,
                      " \"pipeline\": {\"microbatches\": %u, \"bubble_rate\": "
                      "%.6f, \"microbatches_per_second\": %.6g},\n",
                      rates.microbatches, rates.bubble,
                      rates.microbatches_per_second);
}

/* null where sizes were assumed: nothing is proven then. */
static void write_bound(regal_text *text, const regal_result *result) {
  if (result->problem->graph->assumed_sizes)
    regal_text_format(text, " \"bound\": null,\n");
  else
    regal_text_format(
        text, " \"bound\": {\"runtime_ns\": %lld, \"peak_bytes\": %lld},\n",
        (long long)result->bound.runtime_ns,
        (long long)result->bound.peak_bytes);
}

/* What the compiler's own order needs on one device, if it left one behind. */
static void write_schedule(regal_text *text, const regal_graph *graph) {
  if (!graph->has_schedule)
    return;
  regal_text_format(text, " \"schedule_peak_bytes\": %lld,",
                    (long long)graph->schedule_peak_bytes);
  if (graph->reported_peak_bytes)
    regal_text_format(text, " \"reported_peak_bytes\": %lld,",
                      (long long)graph->reported_peak_bytes);
  regal_text_format(text, "\n");
}

void regal_plan_write_head(regal_text *text, const regal_result *result) {
  const regal_problem *problem = result->problem;
  const regal_graph *graph = problem->graph;
  bool memory = problem->objective == REGAL_MEMORY;
  regal_text_format(text,
                    "{\"regal_plan\": 1,\n"
                    " \"graph\": {\"ops\": %u, \"checksum\": \"%016llx\"},\n"
                    " \"machine\": ",
                    graph->ops, (unsigned long long)graph->checksum);
  regal_machine_json(text, problem->machine, graph, "             ");
  regal_text_format(text, ",\n \"objective\": \"%s\", \"method\": ",
                    memory ? "memory" : "runtime");
  regal_text_json(text, result->method ? result->method : "");
  regal_text_format(text,
                    ", \"seed\": %llu, \"evaluations\": %llu, "
                    "\"seconds\": %.6f,\n",
                    (unsigned long long)result->seed,
                    (unsigned long long)result->evaluations, result->seconds);
  write_cost(text, result);
  write_rates(text, result);
  write_bound(text, result);
  write_schedule(text, graph);
  regal_text_format(text,
                    " \"fits\": %s, \"stop\": \"%s\", \"threads\": %d, "
                    "\"version\": \"%s\"",
                    result->fits ? "true" : "false",
                    regal_stop_name(result->stop), result->threads,
                    regal_version());
}

static void write_step(regal_text *text, const regal_graph *graph,
                       const regal_step *step) {
  bool runs = regal_step_runs(step);
  regal_text_format(text, "\n  {\"%s\": ", runs ? "op" : "send");
  regal_text_json(text, regal_graph_name(graph, step->op));
  regal_text_format(text, ", \"id\": %u, ", graph->id[step->op]);
  if (runs)
    regal_text_format(text, "\"device\": %u", step->device);
  else
    regal_text_format(text, "\"port\": %d, \"from\": %u, \"to\": %u",
                      step->port, step->device, step->to);
}

static void write_steps(regal_text *text, const regal_result *result,
                        const int64_t *start_ns, const int64_t *end_ns) {
  const regal_plan *plan = result->plan;
  regal_text_format(text, ",\n \"steps\": [");
  for (uint32_t i = 0; i < plan->step_count; i++) {
    regal_text_format(text, i ? "," : "");
    write_step(text, result->problem->graph, &plan->steps[i]);
    if (start_ns)
      regal_text_format(text, ", \"start_ns\": %lld, \"end_ns\": %lld",
                        (long long)start_ns[i], (long long)end_ns[i]);
    regal_text_format(text, "}");
  }
  regal_text_format(text, "\n ]");
}

static regal_status finish(regal_context *context, regal_text *text,
                           const char *path) {
  regal_text_format(text, "}\n");
  regal_status status = regal_text_save(context, text, path);
  regal_text_free(text);
  return status;
}

regal_status regal_plan_write(regal_context *context,
                              const regal_result *result,
                              const int64_t *start_ns, const int64_t *end_ns,
                              const char *path) {
  regal_text text;
  if (regal_plan_is_order(path))
    return regal_plan_write_order(context, result, path);
  regal_text_init(&text, context);
  regal_plan_write_head(&text, result);
  write_steps(&text, result, start_ns, end_ns);
  return finish(context, &text, path);
}

regal_status regal_plan_save(regal_context *context, const regal_result *result,
                             const char *path) {
  REGAL_TRY(regal_need(context, result && path,
                       "saving a plan needs a result and a path"));
  return regal_plan_write(context, result, NULL, NULL, path);
}

regal_status regal_result_save_json(regal_context *context,
                                    const regal_result *result,
                                    const char *path) {
  regal_text text;
  REGAL_TRY(regal_need(context, result && path,
                       "saving a result needs it and a path"));
  regal_text_init(&text, context);
  regal_plan_write_head(&text, result);
  return finish(context, &text, path);
}
