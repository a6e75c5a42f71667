/* SPDX-License-Identifier: Apache-2.0 */
/* What is in memory at the peak of each device. A tensor is there when it was
 * made or received there before, and a step from the peak on still needs it.
 * An output that the step at the peak writes over one of its inputs has no line
 * of its own: it is named on the input's.
 */
#include "report/explain.h"

#define LARGEST_SHOWN 10

typedef struct census {
  uint32_t tensors;                       /* in memory */
  uint32_t largest[LARGEST_SHOWN], shown; /* the largest first */
  int64_t bytes, shown_bytes;
  int64_t resident, temporary;
} census;

/* Whether a step at or after `step` still needs the tensor on the device. */
static bool is_needed(const regal_reading *reading, uint32_t tensor,
                      uint32_t device, uint32_t step) {
  const regal_graph *graph = reading->graph;
  uint32_t producer = graph->producer[tensor];
  if (regal_verify_device(reading, producer) == device) {
    if (graph->is_final[tensor] || reading->run_step[producer] >= step)
      return true;
    uint32_t sends = reading->send_begin[tensor + 1];
    if (sends > reading->send_begin[tensor] &&
        reading->send_step[sends - 1] >= step)
      return true;
  }
  for (REGAL_ROW(k, graph->use_begin, tensor))
    if (reading->run_step[graph->consumer[k]] >= step &&
        regal_verify_device(reading, graph->consumer[k]) == device)
      return true;
  return false;
}

static void count_tensor(const regal_graph *graph, uint32_t tensor,
                         census *census) {
  census->tensors++;
  census->bytes += graph->bytes[tensor];
  census->shown = regal_layout_rank(graph->bytes, tensor, LARGEST_SHOWN,
                                    census->largest, census->shown);
}

/* Whether the step writes the tensor over one of its inputs. */
static bool is_written_over(const regal_explanation *explanation,
                            uint32_t tensor, uint32_t step) {
  uint32_t made = explanation->reading
                      .run_step[explanation->reading.graph->producer[tensor]];
  return made == step && explanation->timeline.reused[tensor] != REGAL_NONE;
}

static census take_census(const regal_explanation *explanation, uint32_t device,
                          uint32_t step) {
  const regal_reading *reading = &explanation->reading;
  const regal_graph *graph = reading->graph;
  census census = {0};
  for (uint32_t t = 0; t < graph->tensors; t++) {
    uint32_t came = regal_verify_arrival(reading, t, device);
    if (graph->bytes[t] && came != REGAL_NONE && came <= step &&
        !is_written_over(explanation, t, step) &&
        is_needed(reading, t, device, step))
      count_tensor(graph, t, &census);
  }
  for (uint32_t k = 0; k < census.shown; k++)
    census.shown_bytes += graph->bytes[census.largest[k]];
  for (uint32_t op = 0; op < graph->ops; op++)
    if (regal_verify_device(reading, op) == device)
      census.resident += graph->resident_bytes[op];
  const regal_step *at = &reading->plan->steps[step];
  if (at->port == REGAL_RUN)
    census.temporary = graph->temporary_bytes[at->op];
  return census;
}

static void put_share(regal_explanation *explanation, int64_t bytes,
                      int64_t peak) {
  regal_text_format(&explanation->text, "  %-11s %5.1f%%  ",
                    regal_show_bytes_like(explanation->limit, bytes).text,
                    regal_layout_percent(bytes, peak));
}

/* Names the output that the step writes over the tensor, if there is one. */
static void put_reuser(regal_explanation *explanation, uint32_t tensor,
                       uint32_t step) {
  const regal_graph *graph = explanation->reading.graph;
  const regal_step *at = &explanation->reading.plan->steps[step];
  if (at->port != REGAL_RUN)
    return;
  for (REGAL_ROW(t, graph->output_begin, at->op))
    if (explanation->timeline.reused[t] == tensor) {
      regal_text_format(&explanation->text, ", over which ");
      regal_explain_tensor(explanation, t);
      regal_text_format(&explanation->text, " is written");
    }
}

static void put_tensors(regal_explanation *explanation, const census *census,
                        int64_t peak, uint32_t step) {
  const regal_graph *graph = explanation->reading.graph;
  for (uint32_t k = 0; k < census->shown; k++) {
    uint32_t tensor = census->largest[k];
    put_share(explanation, graph->bytes[tensor], peak);
    regal_explain_tensor(explanation, tensor);
    put_reuser(explanation, tensor, step);
    regal_text_format(&explanation->text, "\n");
  }
  if (census->tensors == census->shown)
    return;
  put_share(explanation, census->bytes - census->shown_bytes, peak);
  regal_text_format(&explanation->text, "%u more tensors\n",
                    census->tensors - census->shown);
}

static void put_parameters(regal_explanation *explanation, uint32_t device,
                           int64_t peak) {
  uint32_t count = explanation->timeline.parameters[device];
  if (!count)
    return;
  put_share(explanation, explanation->timeline.parameter_bytes[device], peak);
  regal_text_format(&explanation->text, "%u shared parameter%s\n", count,
                    count == 1 ? "" : "s");
}

static void put_limit(regal_explanation *explanation, uint32_t device) {
  int64_t limit = explanation->limit;
  if (limit == REGAL_UNLIMITED)
    return;
  bool exceeded = explanation->cost.peak_bytes[device] > limit;
  regal_text_format(&explanation->text, " (%s %s)",
                    exceeded ? "BEYOND the limit of" : "limit",
                    regal_show_given_bytes(limit).text);
}

static void put_peak(regal_explanation *explanation, uint32_t device,
                     uint32_t step) {
  regal_text *text = &explanation->text;
  int64_t peak = explanation->cost.peak_bytes[device];
  census census = take_census(explanation, device, step);
  explanation->limit = explanation->reading.machine->memory_limit[device];
  const regal_machine *machine = explanation->reading.machine;
  regal_text_format(text, "\npeak of %s: %s",
                    regal_machine_label(machine, device).text,
                    regal_show_bytes_like(explanation->limit, peak).text);
  put_limit(explanation, device);
  regal_text_format(text, " at step %u: ", step);
  regal_explain_step(explanation, step);
  regal_text_format(text, "\n");
  if (census.resident) {
    put_share(explanation, census.resident, peak);
    regal_text_format(text, "resident\n");
  }
  put_parameters(explanation, device, peak);
  if (census.temporary) {
    put_share(explanation, census.temporary, peak);
    regal_text_format(text, "temporary\n");
  }
  put_tensors(explanation, &census, peak, step);
}

void regal_explain_memory(regal_explanation *explanation) {
  for (uint32_t d = 0; d < explanation->reading.machine->devices; d++) {
    uint32_t step = explanation->timeline.peak_step[d];
    if (step == REGAL_NONE)
      regal_text_format(
          &explanation->text, "\npeak of %s: not used\n",
          regal_machine_label(explanation->reading.machine, d).text);
    else
      put_peak(explanation, d, step);
  }
}
