/* Where a plan's time and memory go, for a person: the critical chain, why
 * devices are idle, and what is in memory at each device's peak. Everything is
 * read off the verifier's timeline.
 */
#include "report/explain.h"

#include <string.h>

#include "cost/problem.h"

#define LONGEST_NAME 48 /* bytes of a name that are shown */

static void put_name(regal_story *story, uint32_t op) {
  const char *name = regal_graph_name(story->reading.graph, op);
  size_t length = strlen(name), shown = length;
  if (length > LONGEST_NAME) {
    shown = LONGEST_NAME - 3;
    while (shown && ((unsigned char)name[shown] & 0xC0) == 0x80)
      shown--; /* never cut a character of UTF-8 in two */
  }
  regal_text_format(&story->text, "\"");
  regal_layout_name(&story->text, name, shown);
  regal_text_format(&story->text, shown < length ? "...\"" : "\"");
}

void regal_explain_tensor(regal_story *story, uint32_t tensor) {
  const regal_graph *graph = story->reading.graph;
  uint32_t op = graph->producer[tensor];
  put_name(story, op);
  regal_text_format(&story->text, ":%u (id %u)",
                    tensor - graph->output_begin[op], graph->id[op]);
}

void regal_explain_step(regal_story *story, uint32_t i) {
  const regal_graph *graph = story->reading.graph;
  const regal_step *step = &story->reading.plan->steps[i];
  regal_text *text = &story->text;
  if (step->port >= 0) {
    regal_explain_tensor(story, regal_verify_item(graph, step));
    regal_text_format(text, " from device %u to %u", step->device, step->to);
    return;
  }
  bool runs = step->port == REGAL_RUN;
  regal_text_format(text, runs ? "op " : "the end of ");
  put_name(story, step->op);
  regal_text_format(text, " (id %u)", graph->id[step->op]);
  if (runs)
    regal_text_format(text, " on device %u", step->device);
  else
    regal_text_format(text, " from device %u to %u", step->device, step->to);
}

static regal_status tell(regal_story *story) {
  regal_context *context = story->context;
  uint32_t steps = story->reading.plan->step_count;
  story->cause = regal_alloc(context, steps, sizeof *story->cause);
  story->reason = regal_alloc(context, steps, sizeof *story->reason);
  if (!story->cause || !story->reason)
    return regal_fail_memory(context);
  regal_explain_find_causes(story);
  REGAL_TRY(regal_explain_chain(story));
  regal_explain_idle(story);
  regal_explain_memory(story);
  return REGAL_OK;
}

static regal_status read_and_tell(regal_story *story) {
  regal_reading *reading = &story->reading;
  REGAL_TRY(regal_verify_plan(story->context, reading->graph, reading->machine,
                              reading->plan, &story->cost, &story->timeline));
  REGAL_TRY(regal_verify_rules(reading));
  return tell(story);
}

regal_status regal_report_explain(regal_context *context,
                                  const regal_problem *problem,
                                  const regal_plan *plan, FILE *stream) {
  regal_story story = {.context = context,
                       .reading = {.context = context,
                                   .graph = problem->graph,
                                   .machine = problem->machine,
                                   .plan = plan},
                       .timeline = {.context = context}};
  regal_text_init(&story.text, context);
  regal_status status = read_and_tell(&story);
  regal_reading_free(&story.reading);
  regal_timeline_free(&story.timeline);
  regal_release(context, story.cause);
  regal_release(context, story.reason);
  if (status == REGAL_OK)
    return regal_layout_finish(context, &story.text, stream);
  regal_text_free(&story.text);
  return status;
}
