/* SPDX-License-Identifier: Apache-2.0 */
/* The summary of a result: for people, on one screen. */
#include "cost/model/problem.h"
#include "cost/verify/verify.h"
#include "report/layout.h"

#include <string.h>

#define LABEL_COLUMN 12

static void put_label(regal_text *text, const char *label) {
  regal_layout_label(text, label, LABEL_COLUMN);
}

/* -- The problem ----------------------------------------------------------- */

static void put_graph(regal_text *text, const regal_graph *graph) {
  put_label(text, "graph");
  regal_text_format(text, "%u ops, %u tensors (", graph->ops, graph->tensors);
  regal_text_bytes(text, graph->tensor_bytes);
  regal_text_format(text, "), %u data and %u control edges\n", graph->uses,
                    graph->controls);
}

/* Whether all links between two devices are alike. */
static bool links_alike(const regal_machine *machine) {
  for (uint32_t a = 0; a < machine->devices; a++)
    for (uint32_t b = 0; b < machine->devices; b++)
      if (a != b && (machine->latency_ns[a][b] != machine->latency_ns[0][1] ||
                     machine->bandwidth[a][b] != machine->bandwidth[0][1]))
        return false;
  return true;
}

static void put_links(regal_text *text, const regal_machine *machine) {
  if (!links_alike(machine)) {
    regal_text_format(text, ", links of several kinds");
    return;
  }
  int64_t latency = machine->latency_ns[0][1];
  int64_t bandwidth = machine->bandwidth[0][1];
  if (!latency && !bandwidth) {
    regal_text_format(text, " at no cost");
    return;
  }
  if (latency) {
    regal_text_format(text, ", latency ");
    regal_text_duration(text, latency);
  }
  if (bandwidth) {
    regal_text_format(text, ", ");
    regal_text_bytes(text, bandwidth);
    regal_text_format(text, "/s");
  }
}

static bool same_speed(const regal_machine *machine) {
  for (uint32_t d = 1; d < machine->devices; d++)
    if (machine->speed[d] != machine->speed[0])
      return false;
  return true;
}

static void put_machine(regal_text *text, const regal_machine *machine) {
  put_label(text, "machine");
  regal_text_format(text, "%u device%s", machine->devices,
                    machine->devices == 1 ? "" : "s");
  if (machine->devices > 1) {
    regal_text_format(text, ", %s transfers",
                      machine->overlapped ? "overlapped" : "blocking");
    put_links(text, machine);
    if (machine->control_transfers)
      regal_text_format(text, ", control transfers");
  }
  if (!same_speed(machine))
    regal_text_format(text, ", of several speeds");
  if (machine->timed_ops)
    regal_text_format(text, ", %u ops with times of their own",
                      machine->timed_ops);
  regal_text_format(text, "\n");
}

/* Or somebody else made the plan. */
static bool was_searched(const regal_result *result) {
  return result->threads > 0;
}

static void put_method(regal_text *text, const regal_result *result) {
  put_label(text, "method");
  regal_text_format(text, "%s, seed %llu, %d thread%s", result->method,
                    (unsigned long long)result->seed, result->threads,
                    result->threads == 1 ? "" : "s");
  regal_text_format(text, "\n");
  if (result->account && result->account[0]) {
    put_label(text, "account");
    regal_text_format(text, "%s\n", result->account);
  }
}

/* -- What it costs ---------------------------------------------------------
 * One row per figure: its value, and what there is to say about it. */

static int64_t figure(const regal_cost *cost, bool memory) {
  return memory ? cost->max_peak_bytes : cost->runtime_ns;
}

static void put_figure(regal_text *text, int64_t value, bool memory) {
  if (memory)
    regal_text_bytes(text, value);
  else
    regal_text_duration(text, value);
}

/* "9.0% above the lower bound": what the bound says about the objective. */
static void put_gap(regal_text *text, const regal_result *result) {
  bool memory = result->problem->objective == REGAL_MEMORY;
  int64_t value = figure(&result->cost, memory);
  int64_t bound = memory ? result->bound.peak_bytes : result->bound.runtime_ns;
  double gap = regal_layout_percent(value - bound, bound);
  put_label(text, "quality");
  if (value == bound)
    regal_text_format(text, "proven optimal: %s equals the lower bound\n",
                      memory ? "peak memory" : "run time");
  else if (bound <= 0)
    regal_text_format(text, "no lower bound is known\n");
  else if (gap < 0.1)
    regal_text_format(text, "less than 0.1%% above the lower bound\n");
  else
    regal_text_format(text, "%.1f%% above the lower bound\n", gap);
}

static void put_figure_row(regal_text *text, const regal_result *result,
                           bool memory) {
  int64_t before = figure(&result->before, memory);
  int64_t after = figure(&result->cost, memory);
  size_t begin = text->size;
  put_label(text, memory ? "peak memory" : "run time");
  put_figure(text, before, memory);
  regal_layout_pad(text, begin, LABEL_COLUMN + 12);
  put_figure(text, after, memory);
  regal_layout_pad(text, begin, LABEL_COLUMN + 24);
  put_figure(text, memory ? result->bound.peak_bytes : result->bound.runtime_ns,
             memory);
  regal_layout_pad(text, begin, LABEL_COLUMN + 36);
  regal_text_format(text, "%.1f%%\n",
                    regal_layout_percent(before - after, before));
}

static void put_costs(regal_text *text, const regal_result *result) {
  bool memory = result->problem->objective == REGAL_MEMORY;
  regal_text_format(text, "\n%-12s%-12s%-12s%-12s%s\n", "", "before*",
                    was_searched(result) ? "after" : "plan", "bound", "gained");
  put_figure_row(text, result, memory);
  put_figure_row(text, result, !memory);
  if (result->fits)
    put_gap(text, result);
}

static void put_limit_verdict(regal_text *text, const regal_result *result) {
  if (!result->problem->limited)
    return;
  put_label(text, "limit");
  if (result->fits) {
    regal_text_format(text, "every device stays within its memory limit\n");
    return;
  }
  regal_text_format(text, "NOT MET: ");
  regal_text_bytes(text, result->cost.excess_bytes);
  regal_text_format(text, " beyond the memory limit\n");
}

/* -- Devices --------------------------------------------------------------- */

typedef struct usage {
  uint32_t ops[REGAL_MAX_DEVICES];
  uint32_t transfers;
  double bytes; /* sent; as a double, for a sum that cannot overflow */
} usage;

static void count_steps(const regal_result *result, usage *used) {
  const regal_graph *graph = result->problem->graph;
  memset(used, 0, sizeof *used);
  for (uint32_t i = 0; i < result->plan->step_count; i++) {
    const regal_step *step = &result->plan->steps[i];
    if (step->port == REGAL_RUN) {
      used->ops[step->device]++;
      continue;
    }
    used->transfers++;
    if (step->port >= 0)
      used->bytes +=
          (double)graph
              ->bytes[graph->output_begin[step->op] + (uint32_t)step->port];
  }
}

static void put_device(regal_text *text, const regal_result *result,
                       const usage *used, int64_t busy_ns, uint32_t device) {
  int64_t limit = result->problem->limit[device];
  int64_t peak = result->cost.peak_bytes[device];
  size_t begin = text->size;
  regal_text_format(text, "device %u", device);
  regal_layout_pad(text, begin, LABEL_COLUMN);
  regal_text_format(text, "%u", used->ops[device]);
  regal_layout_pad(text, begin, LABEL_COLUMN + 12);
  regal_text_duration(text, busy_ns);
  regal_layout_pad(text, begin, LABEL_COLUMN + 24);
  regal_text_format(text, "%.1f%%",
                    regal_layout_percent(busy_ns, result->cost.runtime_ns));
  regal_layout_pad(text, begin, LABEL_COLUMN + 36);
  regal_text_bytes(text, peak);
  if (limit != REGAL_UNLIMITED) {
    regal_layout_pad(text, begin, LABEL_COLUMN + 48);
    regal_text_bytes(text, limit);
    regal_text_format(text, peak > limit ? "  EXCEEDED" : "");
  }
  regal_text_format(text, "\n");
}

static void put_devices(regal_text *text, const regal_result *result,
                        const regal_timeline *timeline) {
  usage used;
  count_steps(result, &used);
  regal_text_format(text, "\n%-12s%-12s%-12s%-12s%s\n", "", "ops", "busy",
                    "load",
                    result->problem->limited ? "peak        limit" : "peak");
  for (uint32_t d = 0; d < result->problem->devices; d++)
    put_device(text, result, &used, timeline->busy_ns[d], d);
  put_label(text, "transfers");
  regal_text_format(text, "%u", used.transfers);
  if (used.transfers) {
    regal_text_format(text, ", ");
    regal_text_bytes(text, used.bytes < 0x1p62 ? (int64_t)used.bytes
                                               : (int64_t)1 << 62);
  }
  regal_text_format(text, "\n");
}

/* -- The search ------------------------------------------------------------ */

static const char *stop_reason(regal_stop stop) {
  static const char *const reasons[] = {
      "the method was done",    "all evaluations were used", "the time was up",
      "the target was reached", "the bound was met",         "interrupted"};
  return (unsigned)stop < sizeof reasons / sizeof *reasons ? reasons[stop]
                                                           : "unknown";
}

static void put_search(regal_text *text, const regal_result *result) {
  put_label(text, "search");
  regal_text_format(text, "%.2f s, %llu evaluations", result->seconds,
                    (unsigned long long)result->evaluations);
  if (result->evaluations && result->seconds > 0)
    regal_text_format(text, ", %.0f per second",
                      (double)result->evaluations / result->seconds);
  regal_text_format(text, "\n");
  put_label(text, "stopped");
  regal_text_format(text, "%s\n", stop_reason(result->stop));
}

static void put_summary(regal_text *text, const regal_result *result,
                        const regal_timeline *timeline) {
  put_graph(text, result->problem->graph);
  put_machine(text, result->problem->machine);
  if (was_searched(result))
    put_method(text, result);
  put_costs(text, result);
  put_devices(text, result, timeline);
  put_limit_verdict(text, result);
  if (was_searched(result))
    put_search(text, result);
  regal_text_format(text, "* all ops on one device, in the file's order\n");
}

regal_status regal_report_summary(regal_context *context,
                                  const regal_result *result, FILE *stream) {
  const regal_problem *problem = result->problem;
  regal_timeline timeline;
  regal_cost cost;
  regal_text text;
  REGAL_TRY(regal_verify_plan(context, problem->graph, problem->machine,
                              result->plan, &cost, &timeline));
  regal_text_init(&text, context);
  put_summary(&text, result, &timeline);
  regal_timeline_free(&timeline);
  return regal_layout_finish(context, &text, stream);
}
