/* SPDX-License-Identifier: Apache-2.0 */
/* Where a plan's time and memory go, for a person: the critical chain, why
 * devices are idle, and what is in memory at each device's peak. Everything is
 * read off the verifier's timeline.
 */
#include "report/explain.h"

#include <string.h>

#include "cost/model/problem.h"

#define LONGEST_NAME 48 /* bytes of a name that are shown */

static void put_name(regal_explanation *explanation, uint32_t op) {
  const char *name = regal_graph_name(explanation->reading.graph, op);
  size_t length = strlen(name), shown = length;
  if (length > LONGEST_NAME) {
    shown = LONGEST_NAME - 3;
    while (shown && ((unsigned char)name[shown] & 0xC0) == 0x80)
      shown--; /* never cut a character of UTF-8 in two */
  }
  regal_text_format(&explanation->text, "\"");
  regal_layout_name(&explanation->text, name, shown);
  regal_text_format(&explanation->text, shown < length ? "...\"" : "\"");
}

void regal_explain_tensor(regal_explanation *explanation, uint32_t tensor) {
  const regal_graph *graph = explanation->reading.graph;
  uint32_t op = graph->producer[tensor];
  put_name(explanation, op);
  regal_text_format(&explanation->text, ":%u (id %u)",
                    tensor - graph->output_begin[op], graph->id[op]);
}

/* " from gpu0 to gpu1", or by numbers: " from device 0 to 1" */
static void put_route(regal_explanation *explanation, const regal_step *step) {
  const regal_machine *machine = explanation->reading.machine;
  regal_text_format(&explanation->text, " from %s to ",
                    regal_machine_label(machine, step->device).text);
  if (machine->name[step->to])
    regal_text_format(&explanation->text, "%s",
                      regal_machine_label(machine, step->to).text);
  else
    regal_text_format(&explanation->text, "%u", step->to);
}

void regal_explain_step(regal_explanation *explanation, uint32_t i) {
  const regal_graph *graph = explanation->reading.graph;
  const regal_step *step = &explanation->reading.plan->steps[i];
  regal_text *text = &explanation->text;
  if (step->port >= 0) {
    regal_explain_tensor(explanation, regal_verify_item(graph, step));
    put_route(explanation, step);
    return;
  }
  bool runs = step->port == REGAL_RUN;
  regal_text_format(text, runs ? "op " : "the end of ");
  put_name(explanation, step->op);
  regal_text_format(text, " (id %u)", graph->id[step->op]);
  if (runs)
    regal_text_format(
        text, " on %s",
        regal_machine_label(explanation->reading.machine, step->device).text);
  else
    put_route(explanation, step);
}

static regal_status read_plan(regal_explanation *explanation) {
  regal_context *context = explanation->context;
  regal_reading *reading = &explanation->reading;
  uint32_t steps = reading->plan->step_count;
  REGAL_TRY(regal_verify_plan(context, reading->graph, reading->machine,
                              reading->plan, &explanation->cost,
                              &explanation->timeline));
  REGAL_TRY(regal_verify_rules(reading));
  explanation->cause = regal_alloc(context, steps, sizeof *explanation->cause);
  explanation->reason =
      regal_alloc(context, steps, sizeof *explanation->reason);
  if (!explanation->cause || !explanation->reason)
    return regal_fail_memory(context);
  regal_explain_find_causes(explanation);
  return REGAL_OK;
}

regal_status regal_explain_begin(regal_explanation *explanation,
                                 regal_context *context,
                                 const regal_problem *problem,
                                 const regal_plan *plan) {
  *explanation = (regal_explanation){.context = context,
                                     .reading = {.context = context,
                                                 .graph = problem->graph,
                                                 .machine = problem->machine,
                                                 .plan = plan},
                                     .timeline = {.context = context}};
  regal_text_init(&explanation->text, context);
  return read_plan(explanation);
}

void regal_explain_end(regal_explanation *explanation) {
  regal_reading_free(&explanation->reading);
  regal_timeline_free(&explanation->timeline);
  regal_release(explanation->context, explanation->cause);
  regal_release(explanation->context, explanation->reason);
}

regal_status regal_explain_tell(regal_explanation *explanation) {
  REGAL_TRY(regal_explain_chain(explanation));
  regal_explain_idle(explanation);
  regal_explain_memory(explanation);
  return REGAL_OK;
}

regal_status regal_report_explain(regal_context *context,
                                  const regal_problem *problem,
                                  const regal_plan *plan, FILE *stream) {
  regal_explanation explanation;
  REGAL_TRY(regal_need(context, problem && plan && stream,
                       "an explanation needs a problem, a plan and a stream"));
  regal_status status =
      regal_explain_begin(&explanation, context, problem, plan);
  if (status == REGAL_OK)
    status = regal_explain_tell(&explanation);
  regal_explain_end(&explanation);
  return regal_layout_finish(context, status, &explanation.text, stream);
}
