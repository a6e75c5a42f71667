/* SPDX-License-Identifier: Apache-2.0 */
/* The summary of a result: for people, on one screen. */
#include "report/summary.h"

#include "base/plain.h"
#include "cost/model/problem.h"
#include "cost/verify/verify.h"
#include "report/layout.h"

#include <inttypes.h>

/* A label and the columns after it are 12 wide. */

/* -- The problem ----------------------------------------------------------- */

static void put_graph(regal_text *text, const regal_graph *graph) {
  regal_text_format(
      text, "%-12s%u op%s, %u tensor%s (%s), %u data and %u control edge%s\n",
      "graph", graph->ops, regal_plural(graph->ops), graph->tensors,
      regal_plural(graph->tensors), regal_show_bytes(graph->tensor_bytes).text,
      graph->uses, graph->controls, regal_plural(graph->controls));
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
  if (!latency && !bandwidth)
    regal_text_format(text, " at no cost");
  if (latency)
    regal_text_format(text, ", latency %s",
                      regal_show_given_duration(latency).text);
  if (bandwidth)
    regal_text_format(text, ", %s/s", regal_show_given_bytes(bandwidth).text);
}

static bool same_speed(const regal_machine *machine) {
  for (uint32_t d = 1; d < machine->devices; d++)
    if (machine->speed[d] != machine->speed[0])
      return false;
  return true;
}

/* Entries of ops that are not REGAL_NONE; none without a list. */
static uint32_t count_entries(const uint32_t *entries, uint32_t ops) {
  uint32_t count = 0;
  for (uint32_t op = 0; entries && op < ops; op++)
    count += entries[op] != REGAL_NONE;
  return count;
}

static void put_wishes(regal_text *text, const regal_machine *machine) {
  uint32_t ops = machine->graph->ops;
  uint32_t timed = regal_machine_count_timed(machine);
  uint32_t pinned = count_entries(machine->pin, ops);
  uint32_t grouped = count_entries(machine->group, ops);
  if (timed)
    regal_text_format(text, ", %u op%s with times of their own", timed,
                      regal_plural(timed));
  if (pinned)
    regal_text_format(text, ", %u op%s pinned", pinned, regal_plural(pinned));
  if (grouped)
    regal_text_format(text, ", %u op%s in groups", grouped,
                      regal_plural(grouped));
}

static void put_machine(regal_text *text, const regal_machine *machine) {
  regal_text_format(text, "%-12s%u device%s", "machine", machine->devices,
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
  put_wishes(text, machine);
  regal_text_format(text, "\n");
}

/* Or somebody else made the plan. */
static bool was_searched(const regal_result *result) {
  return result->threads > 0;
}

static void put_method(regal_text *text, const regal_result *result) {
  regal_text_format(text, "%-12s%s, seed %llu, %d thread%s\n", "method",
                    result->method, (unsigned long long)result->seed,
                    result->threads, result->threads == 1 ? "" : "s");
  if (result->account && result->account[0])
    regal_text_format(text, "%-12s%s\n", "account", result->account);
}

/* -- What it costs ---------------------------------------------------------
 * One row per figure: its value, and what there is to say about it. */

static int64_t figure(const regal_cost *cost, bool memory) {
  return memory ? cost->max_peak_bytes : cost->runtime_ns;
}

/* The first device's limit, in whose units memory is shown. */
static regal_shown show_memory(const regal_result *result, int64_t bytes) {
  return regal_show_bytes_like(result->problem->machine->memory_limit[0],
                               bytes);
}

static regal_shown show_figure(const regal_result *result, int64_t value,
                               bool memory) {
  return memory ? show_memory(result, value) : regal_show_duration(value);
}

/* "9.0% above the lower bound": what the bound says about the objective. */
static void put_gap(regal_text *text, const regal_result *result) {
  bool memory = result->problem->objective == REGAL_MEMORY;
  int64_t value = figure(&result->cost, memory);
  int64_t bound = memory ? result->bound.peak_bytes : result->bound.runtime_ns;
  double gap = regal_layout_percent(value - bound, bound);
  uint64_t assumed = result->problem->graph->assumed_sizes;
  regal_text_format(text, "%-12s", "quality");
  if (assumed)
    regal_text_format(
        text, "unknown: the size%s of %" PRIu64 " tensor%s assumed\n",
        assumed == 1 ? "" : "s", assumed, assumed == 1 ? " is" : "s are");
  else if (value == bound)
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
  int64_t bound = memory ? result->bound.peak_bytes : result->bound.runtime_ns;
  bool assumed = result->problem->graph->assumed_sizes > 0;
  regal_text_format(
      text, "%-12s%-12s%-12s%-12s%.1f%%\n", memory ? "peak memory" : "run time",
      show_figure(result, before, memory).text,
      show_figure(result, after, memory).text,
      assumed ? "unknown" : show_figure(result, bound, memory).text,
      regal_layout_percent(before - after, before));
}

static void put_rates(regal_text *text, const regal_result *result) {
  regal_rates rates = regal_result_rates(result);
  if (rates.microbatches)
    regal_text_format(text,
                      "%-12s%u microbatch%s, %.4g per second, bubble rate "
                      "%.1f%%\n",
                      "pipeline", rates.microbatches,
                      rates.microbatches == 1 ? "" : "es",
                      rates.microbatches_per_second, 100 * rates.bubble);
}

/* What the compiler's own order needs, on one device. */
static void put_schedule(regal_text *text, const regal_result *result) {
  const regal_graph *graph = result->problem->graph;
  if (!graph->has_schedule)
    return;
  regal_text_format(text, "%-12speak %s on one device", "XLA's order",
                    show_memory(result, graph->schedule_peak_bytes).text);
  if (graph->reported_peak_bytes)
    regal_text_format(text, "; XLA reports %s",
                      show_memory(result, graph->reported_peak_bytes).text);
  regal_text_format(text, "\n");
}

static void put_costs(regal_text *text, const regal_result *result) {
  bool memory = result->problem->objective == REGAL_MEMORY;
  regal_text_format(text, "\n%-12s%-12s%-12s%-12s%s\n", "", "before*",
                    was_searched(result) ? "after" : "plan", "bound", "gained");
  put_figure_row(text, result, memory);
  put_figure_row(text, result, !memory);
  if (result->fits)
    put_gap(text, result);
  put_schedule(text, result);
  put_rates(text, result);
}

static void put_limit_verdict(regal_text *text, const regal_result *result) {
  if (!result->problem->limited)
    return;
  if (result->fits)
    regal_text_format(text, "%-12severy device stays within its memory limit\n",
                      "limit");
  else
    regal_text_format(text, "%-12sNOT MET: %s beyond the memory limit\n",
                      "limit",
                      show_memory(result, result->cost.excess_bytes).text);
  if (result->shortage)
    regal_text_format(text, "%-12sno plan can meet it: %s\n", "",
                      result->shortage);
}

/* -- Devices --------------------------------------------------------------- */

regal_usage regal_usage_of(const regal_result *result) {
  const regal_graph *graph = result->problem->graph;
  regal_usage used = {0};
  double bytes = 0; /* a sum that cannot overflow */
  for (uint32_t i = 0; i < result->plan->step_count; i++) {
    const regal_step *step = &result->plan->steps[i];
    if (step->port == REGAL_RUN) {
      used.ops[step->device]++;
      continue;
    }
    used.transfers++;
    if (step->port >= 0)
      bytes +=
          (double)graph
              ->bytes[graph->output_begin[step->op] + (uint32_t)step->port];
  }
  used.bytes = bytes < 0x1p62 ? (int64_t)bytes : (int64_t)1 << 62;
  return used;
}

static void put_device(regal_text *text, const regal_result *result,
                       const regal_usage *used, int64_t busy_ns,
                       uint32_t device, uint32_t width) {
  regal_device_label label =
      regal_machine_label(result->problem->machine, device);
  int64_t limit = result->problem->limit[device];
  int64_t peak = result->cost.peak_bytes[device];
  char load[16];
  regal_print(load, sizeof load, "%.1f%%",
              regal_layout_percent(busy_ns, result->cost.runtime_ns));
  regal_text_format(text, "%s%*s%-12u%-12s%-12s", label.text,
                    (int)(width - label.width), "", used->ops[device],
                    regal_show_duration(busy_ns).text, load);
  if (limit == REGAL_UNLIMITED)
    regal_text_format(text, "%s\n", show_memory(result, peak).text);
  else
    regal_text_format(
        text, "%-12s%s%s\n", regal_show_bytes_like(limit, peak).text,
        regal_show_given_bytes(limit).text, peak > limit ? "  EXCEEDED" : "");
}

static void put_devices(regal_text *text, const regal_result *result,
                        const regal_timeline *timeline) {
  regal_usage used = regal_usage_of(result);
  uint32_t width = 1 + regal_machine_label_width(result->problem->machine, 11);
  regal_text_format(text, "\n%*s%-12s%-12s%-12s%s\n", (int)width, "", "ops",
                    "busy", "load",
                    result->problem->limited ? "peak        limit" : "peak");
  for (uint32_t d = 0; d < result->problem->devices; d++)
    put_device(text, result, &used, timeline->busy_ns[d], d, width);
  regal_text_format(text, "%-12s%u%s%s\n", "transfers", used.transfers,
                    used.transfers ? ", " : "",
                    used.transfers ? regal_show_bytes(used.bytes).text : "");
}

/* -- The search ------------------------------------------------------------ */

static const char *stop_reason(regal_stop stop) {
  static const char *const reasons[] = {
      "the method was done",    "all evaluations were used", "the time was up",
      "the target was reached", "the bound was met",         "interrupted",
      "no plan can fit"};
  return (unsigned)stop < sizeof reasons / sizeof *reasons ? reasons[stop]
                                                           : "unknown";
}

static void put_search(regal_text *text, const regal_result *result) {
  regal_text_format(text, "%-12s%.2f s, %llu evaluation%s", "search",
                    result->seconds, (unsigned long long)result->evaluations,
                    regal_plural(result->evaluations));
  if (result->evaluations && result->seconds > 0)
    regal_text_format(text, ", %.0f per second",
                      (double)result->evaluations / result->seconds);
  regal_text_format(text, "\n%-12s%s\n", "stopped", stop_reason(result->stop));
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

regal_status regal_summary_text(regal_context *context,
                                const regal_result *result, regal_text *text) {
  const regal_problem *problem = result->problem;
  regal_timeline timeline;
  regal_cost cost;
  REGAL_TRY(regal_verify_plan(context, problem->graph, problem->machine,
                              result->plan, &cost, &timeline));
  put_summary(text, result, &timeline);
  regal_timeline_free(&timeline);
  return REGAL_OK;
}

regal_status regal_report_summary(regal_context *context,
                                  const regal_result *result, FILE *stream) {
  regal_text text;
  REGAL_TRY(regal_need(context, result && stream,
                       "a summary needs a result and a stream"));
  regal_text_init(&text, context);
  regal_status status = regal_summary_text(context, result, &text);
  return regal_layout_finish(context, status, &text, stream);
}
