/* SPDX-License-Identifier: Apache-2.0 */
/* A plan in the data of a page: its steps with their times and causes, memory
 * during and after each, the figures of the summary as text and as numbers, the
 * texts of `regal evaluate`, and how the search went.
 *
 * "result" is what `evaluate --json` prints, by the same code. */
#include "cost/model/problem.h"
#include "format/plan/plan.h"
#include "report/explain.h"
#include "report/page.h"
#include "report/summary.h"

/* -- Figures --------------------------------------------------------------- */

/* "KEY":["12.3 ms",12300000], for the table. */
static void put_figure(regal_text *text, const char *key, regal_shown shown,
                       int64_t value) {
  regal_text_format(text, "\"%s\":[\"%s\",%lld],", key, shown.text,
                    (long long)value);
}

static void put_gap(regal_text *text, const char *key, int64_t value,
                    int64_t bound) {
  if (bound > 0)
    regal_text_format(text, "\"%s\":[\"%.1f%%\",%.6f],", key,
                      regal_layout_percent(value - bound, bound),
                      regal_layout_percent(value - bound, bound));
}

static void put_figures(regal_text *text, const regal_result *result,
                        const regal_usage *used) {
  const regal_cost *cost = &result->cost;
  const regal_bound *bound = &result->bound;
  regal_text_format(text, ",\n\"figures\":{");
  put_figure(text, "runtime", regal_show_duration(cost->runtime_ns),
             cost->runtime_ns);
  if (result->expected_ns > 0)
    put_figure(text, "expected", regal_show_duration(result->expected_ns),
               result->expected_ns);
  put_figure(text, "peak", regal_show_bytes(cost->max_peak_bytes),
             cost->max_peak_bytes);
  put_figure(text, "moved", regal_show_bytes(used->bytes), used->bytes);
  if (bound->runtime_ns > 0)
    put_figure(text, "runtime_bound", regal_show_duration(bound->runtime_ns),
               bound->runtime_ns);
  if (bound->peak_bytes > 0)
    put_figure(text, "peak_bound", regal_show_bytes(bound->peak_bytes),
               bound->peak_bytes);
  put_figure(text, "excess", regal_show_bytes(cost->excess_bytes),
             cost->excess_bytes);
  put_gap(text, "runtime_gap", cost->runtime_ns, bound->runtime_ns);
  put_gap(text, "peak_gap", cost->max_peak_bytes, bound->peak_bytes);
  regal_text_format(text, "\"steps\":[\"%u\",%u],\"transfers\":[\"%u\",%u]}",
                    result->plan->step_count, result->plan->step_count,
                    used->transfers, used->transfers);
}

/* -- Devices --------------------------------------------------------------- */

static int64_t resident_bytes(const regal_reading *reading, uint32_t device) {
  int64_t sum = 0; /* the verifier has counted as far */
  for (uint32_t op = 0; op < reading->graph->ops; op++)
    if (regal_verify_device(reading, op) == device)
      sum += reading->graph->resident_bytes[op];
  return sum;
}

static void put_device(regal_text *text, const regal_result *result,
                       const regal_explanation *told, const regal_usage *used,
                       uint32_t d) {
  const regal_machine *machine = result->problem->machine;
  const regal_timeline *timeline = &told->timeline;
  int64_t busy = timeline->busy_ns[d], peak = result->cost.peak_bytes[d];
  int64_t limit = machine->memory_limit[d];
  regal_text_format(text, "%s\n{\"name\":", d ? "," : "");
  regal_text_json(text, machine->name[d] ? machine->name[d] : "");
  regal_text_format(text, ",");
  put_figure(text, "busy", regal_show_duration(busy), busy);
  put_figure(text, "peak", regal_show_bytes_like(limit, peak), peak);
  if (limit != REGAL_UNLIMITED)
    put_figure(text, "limit", regal_show_given_bytes(limit), limit);
  regal_text_format(text, "\"ops\":%u,\"load\":\"%.1f%%\"", used->ops[d],
                    regal_layout_percent(busy, result->cost.runtime_ns));
  regal_text_format(
      text,
      ",\"parameters\":%u,\"parameter_bytes\":%lld,\"resident_bytes\":%lld,"
      "\"peak_step\":%lld}",
      timeline->parameters[d], (long long)timeline->parameter_bytes[d],
      (long long)resident_bytes(&told->reading, d),
      timeline->peak_step[d] == REGAL_NONE ? -1LL
                                           : (long long)timeline->peak_step[d]);
}

static void put_devices(regal_text *text, const regal_result *result,
                        const regal_explanation *told,
                        const regal_usage *used) {
  regal_text_format(text, ",\n\"overlapped\":%s,\"devices\":[",
                    result->problem->machine->overlapped ? "true" : "false");
  for (uint32_t d = 0; d < result->problem->devices; d++)
    put_device(text, result, told, used, d);
  regal_text_format(text, "]");
}

/* -- Steps ----------------------------------------------------------------- */

#define PUT_STEPS(key, value)                                                  \
  do {                                                                         \
    regal_text_format(text, ",\n\"" key "\":[");                               \
    for (uint32_t i = 0; i < steps; i++)                                       \
      regal_text_format(text, "%s%lld", i ? "," : "", (long long)(value));     \
    regal_text_format(text, "]");                                              \
  } while (0)

/* For runs "port" is null in meaning, -2 in the list; -1 is the end of an op.
 * "to" is that of transfers only, in their order. */
static void put_steps(regal_text *text, const regal_plan *plan,
                      const regal_explanation *told) {
  const regal_timeline *line = &told->timeline;
  const regal_step *step = plan->steps;
  uint32_t steps = plan->step_count;
  bool first = true;
  PUT_STEPS("op", step[i].op);
  PUT_STEPS("port", step[i].port == REGAL_RUN ? -2 : step[i].port);
  PUT_STEPS("device", step[i].device);
  PUT_STEPS("start", line->start_ns[i]);
  PUT_STEPS("takes", line->end_ns[i] - line->start_ns[i]);
  PUT_STEPS("reason", told->reason[i]);
  PUT_STEPS("during", line->during_bytes[i][0]);
  PUT_STEPS("after", line->after_bytes[i][0]);
  regal_text_format(text, ",\n");
  regal_page_indices(text, "cause", told->cause, steps);
  regal_text_format(text, ",\n\"sends\":[");
  for (uint32_t i = 0; i < steps; i++)
    if (step[i].port != REGAL_RUN) {
      regal_text_format(text, "%s%u,%lld,%lld", first ? "" : ",", step[i].to,
                        (long long)line->during_bytes[i][1],
                        (long long)line->after_bytes[i][1]);
      first = false;
    }
  regal_text_format(text, "]");
}

/* Pairs: a tensor, and the input that it is written over. */
static void put_reused(regal_text *text, const regal_graph *graph,
                       const uint32_t *reused) {
  bool first = true;
  regal_text_format(text, ",\n\"reused\":[");
  for (uint32_t t = 0; t < graph->tensors; t++)
    if (reused[t] != REGAL_NONE) {
      regal_text_format(text, "%s%u,%u", first ? "" : ",", t, reused[t]);
      first = false;
    }
  regal_text_format(text, "]");
}

/* -- Texts and history ----------------------------------------------------- */

static regal_status put_texts(regal_context *context, regal_text *text,
                              const regal_result *result,
                              regal_explanation *told) {
  regal_text summary;
  regal_text_init(&summary, context);
  regal_status status = regal_summary_text(context, result, &summary);
  if (status == REGAL_OK)
    status = regal_explain_tell(told);
  if (status == REGAL_OK && !summary.failed && !told->text.failed) {
    regal_text_format(text, ",\n\"summary\":");
    regal_text_json(text, summary.bytes);
    regal_text_format(text, ",\n\"explanation\":");
    regal_text_json(text, told->text.bytes);
  }
  text->failed = text->failed || summary.failed || told->text.failed;
  regal_text_free(&summary);
  return status;
}

static void put_history(regal_text *text, const regal_result *result) {
  regal_text_format(text, ",\n\"history\":[");
  for (size_t i = 0; i < result->history_count; i++) {
    const regal_search_point *point = &result->history[i];
    regal_text_format(
        text, "%s[%.6f,%llu,%lld,%lld,%d,", i ? "," : "", point->at.seconds,
        (unsigned long long)point->at.evaluations, (long long)point->at.best,
        (long long)point->at.bound, point->at.fits);
    regal_text_json(text, point->stage);
    regal_text_format(text, "]");
  }
  regal_text_format(text, "]");
}

static regal_status put_plan(regal_context *context,
                             const regal_page_plan *plan,
                             regal_explanation *told, regal_text *text) {
  const regal_result *result = plan->result;
  regal_usage used = regal_usage_of(result);
  regal_text_format(text, "{\"name\":");
  regal_text_json(text, plan->name);
  regal_text_format(text, ",\n\"result\":");
  regal_plan_write_head(text, result);
  regal_text_format(text, "}");
  put_figures(text, result, &used);
  put_devices(text, result, told, &used);
  put_steps(text, result->plan, told);
  put_reused(text, result->problem->graph, told->timeline.reused);
  put_history(text, result);
  REGAL_TRY(put_texts(context, text, result, told));
  regal_text_format(text, "}");
  return REGAL_OK;
}

regal_status regal_page_plan_data(regal_context *context,
                                  const regal_page_plan *plan,
                                  regal_text *text) {
  regal_explanation told;
  regal_status status = regal_explain_begin(
      &told, context, plan->result->problem, plan->result->plan);
  if (status == REGAL_OK)
    status = put_plan(context, plan, &told, text);
  regal_explain_end(&told);
  regal_text_free(&told.text);
  return status;
}
