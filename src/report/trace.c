/* SPDX-License-Identifier: Apache-2.0 */
/* Chrome / Perfetto traces of a plan (docs/formats.md).
 *
 * Only the four kinds of events that every viewer shows: slices (X), counters
 * (C), metadata (M) and flows (s, f). A device is a track. A blocking transfer
 * is a slice on both of its devices, with a flow from one to the other; an
 * overlapped one is a slice on a track of its link, with a flow from its
 * producer to it and from it to its first reader.
 */
#include "cost/model/plan.h"
#include "cost/verify/verify.h"
#include "format/plan/machine.h"

#define PROCESS 1

typedef struct tracer {
  regal_text text;
  const regal_graph *graph;
  const regal_machine *machine;
  const regal_plan *plan;
  regal_timeline timeline;
  uint32_t *run_step; /* [ops] the step that runs the op */
  uint32_t flows;     /* begun so far */
  bool any;           /* an event was written */
} tracer;

static uint32_t device_track(uint32_t device) {
  return device + 1;
}

static uint32_t link_track(const tracer *t, const regal_step *step) {
  uint32_t devices = t->machine->devices;
  return 1 + devices + step->device * devices + step->to;
}

/* -- Events ---------------------------------------------------------------- */

/* Begins an event, of which the caller writes the rest and the brace. */
static void begin_event(tracer *t, char kind) {
  regal_text_format(&t->text, "%s\n  {\"ph\": \"%c\", \"pid\": %d",
                    t->any ? "," : "", kind, PROCESS);
  t->any = true;
}

/* Microseconds, with all three digits of the nanoseconds. */
static void write_time(tracer *t, const char *key, int64_t ns) {
  regal_text_format(&t->text, ", \"%s\": %lld.%03lld", key,
                    (long long)(ns / 1000), (long long)(ns % 1000));
}

static void write_metadata(tracer *t, const char *what, uint32_t track,
                           const char *name) {
  begin_event(t, 'M');
  regal_text_format(
      &t->text, ", \"tid\": %u, \"name\": \"%s\", \"args\": {\"name\": ", track,
      what);
  regal_text_json(&t->text, name);
  regal_text_format(&t->text, "}}");
}

static void write_flow(tracer *t, bool begins, uint32_t id, uint32_t track,
                       int64_t ns) {
  begin_event(t, begins ? 's' : 'f');
  regal_text_format(&t->text,
                    ", \"tid\": %u, \"cat\": \"transfer\", "
                    "\"name\": \"transfer\", \"id\": %u%s",
                    track, id, begins ? "" : ", \"bp\": \"e\"");
  write_time(t, "ts", ns);
  regal_text_format(&t->text, "}");
}

/* An arrow from a slice that begins at `from_ns` to one that begins later. */
static void write_arrow(tracer *t, uint32_t from_track, int64_t from_ns,
                        uint32_t to_track, int64_t to_ns) {
  write_flow(t, true, ++t->flows, from_track, from_ns);
  write_flow(t, false, t->flows, to_track, to_ns);
}

static void write_counter(tracer *t, uint32_t device, int64_t ns,
                          int64_t bytes) {
  begin_event(t, 'C');
  char name[160];
  snprintf(name, sizeof name, "memory of %s",
           regal_machine_label(t->machine, device).text);
  regal_text_format(&t->text, ", \"name\": ");
  regal_text_json(&t->text, name);
  write_time(t, "ts", ns);
  regal_text_format(&t->text, ", \"args\": {\"bytes\": %lld}}",
                    (long long)bytes);
}

static void write_slice(tracer *t, uint32_t i, uint32_t track) {
  const regal_step *step = &t->plan->steps[i];
  int64_t start = t->timeline.start_ns[i];
  bool runs = regal_step_runs(step);
  begin_event(t, 'X');
  regal_text_format(&t->text,
                    ", \"tid\": %u, \"cat\": \"%s\", \"name\": ", track,
                    runs ? "op" : "transfer");
  regal_text_json(&t->text, regal_graph_name(t->graph, step->op));
  write_time(t, "ts", start);
  write_time(t, "dur", t->timeline.end_ns[i] - start);
  regal_text_format(&t->text, ", \"args\": {\"step\": %u, \"id\": %u", i,
                    t->graph->id[step->op]);
  if (!runs) {
    uint32_t tensor = t->graph->output_begin[step->op] + (uint32_t)step->port;
    regal_text_format(&t->text,
                      ", \"port\": %d, \"bytes\": %lld, \"from\": %u, "
                      "\"to\": %u",
                      step->port,
                      step->port < 0 ? 0LL : (long long)t->graph->bytes[tensor],
                      step->device, step->to);
  }
  regal_text_format(&t->text, "}}");
}

/* -- Tracks ---------------------------------------------------------------- */

static void write_device_tracks(tracer *t) {
  char name[32];
  for (uint32_t a = 0; a < t->machine->devices; a++) {
    snprintf(name, sizeof name, "device %u", a);
    write_metadata(t, "thread_name", device_track(a),
                   t->machine->name[a] ? t->machine->name[a] : name);
  }
}

/* A track for each link that the plan uses. */
static void write_link_tracks(tracer *t) {
  uint64_t named[REGAL_MAX_DEVICES] = {0};
  char name[48];
  for (uint32_t i = 0; i < t->plan->step_count; i++) {
    const regal_step *step = &t->plan->steps[i];
    if (regal_step_runs(step) || (named[step->device] >> step->to & 1))
      continue;
    named[step->device] |= UINT64_C(1) << step->to;
    snprintf(name, sizeof name, "link %u to %u", step->device, step->to);
    write_metadata(t, "thread_name", link_track(t, step), name);
  }
}

/* -- Steps ----------------------------------------------------------------- */

/* Of the ops on the receiver that a transfer serves the first to run. */
static uint32_t first_reader(const tracer *t, const regal_step *step) {
  const regal_graph *graph = t->graph;
  uint32_t tensor = graph->output_begin[step->op] + (uint32_t)step->port;
  bool control = step->port < 0;
  const uint32_t *op =
      control ? graph->control_out + graph->control_out_begin[step->op]
              : graph->consumer + graph->use_begin[tensor];
  const uint32_t *end =
      control ? graph->control_out + graph->control_out_begin[step->op + 1]
              : graph->consumer + graph->use_begin[tensor + 1];
  uint32_t first = REGAL_NONE;
  for (; op < end; op++) {
    uint32_t i = t->run_step[*op];
    if (t->plan->steps[i].device == step->to && i < first)
      first = i;
  }
  return first;
}

static void write_blocking(tracer *t, uint32_t i) {
  const regal_step *step = &t->plan->steps[i];
  int64_t start = t->timeline.start_ns[i];
  uint32_t from = device_track(step->device), to = device_track(step->to);
  write_slice(t, i, from);
  write_slice(t, i, to);
  write_arrow(t, from, start, to, start);
}

static void write_overlapped(tracer *t, uint32_t i) {
  const regal_step *step = &t->plan->steps[i];
  const int64_t *start = t->timeline.start_ns;
  uint32_t track = link_track(t, step);
  uint32_t reader = first_reader(t, step);
  write_slice(t, i, track);
  write_arrow(t, device_track(step->device), start[t->run_step[step->op]],
              track, start[i]);
  if (reader != REGAL_NONE)
    write_arrow(t, track, start[i], device_track(step->to), start[reader]);
}

static void write_step(tracer *t, uint32_t i) {
  const regal_step *step = &t->plan->steps[i];
  const regal_timeline *line = &t->timeline;
  bool runs = regal_step_runs(step);
  if (runs)
    write_slice(t, i, device_track(step->device));
  else if (t->machine->overlapped)
    write_overlapped(t, i);
  else
    write_blocking(t, i);
  for (int side = 0; side < (runs ? 1 : 2); side++) {
    uint32_t device = side ? step->to : step->device;
    write_counter(t, device, line->start_ns[i], line->during_bytes[i][side]);
    write_counter(t, device, line->end_ns[i], line->after_bytes[i][side]);
  }
}

static void write_trace(tracer *t) {
  regal_text_format(&t->text, "{\"displayTimeUnit\": \"ns\", "
                              "\"traceEvents\": [");
  write_metadata(t, "process_name", 0, "regal");
  write_device_tracks(t);
  if (t->machine->overlapped)
    write_link_tracks(t);
  for (uint32_t i = 0; i < t->plan->step_count; i++)
    write_step(t, i);
  regal_text_format(&t->text, "\n]}\n");
}

static regal_status index_runs(regal_context *context, tracer *t) {
  t->run_step = regal_alloc(context, t->graph->ops, sizeof *t->run_step);
  if (!t->run_step)
    return regal_fail_memory(context);
  for (uint32_t i = 0; i < t->plan->step_count; i++)
    if (regal_step_runs(&t->plan->steps[i]))
      t->run_step[t->plan->steps[i].op] = i;
  return REGAL_OK;
}

regal_status regal_trace_save(regal_context *context,
                              const regal_problem *problem,
                              const regal_plan *plan, const char *path) {
  REGAL_TRY(regal_need(context, problem && plan && path,
                       "a trace needs a problem, a plan and a path"));
  tracer t = {
      .graph = problem->graph, .machine = problem->machine, .plan = plan};
  regal_cost cost;
  regal_text_init(&t.text, context);
  REGAL_TRY(
      regal_verify_plan(context, t.graph, t.machine, plan, &cost, &t.timeline));
  regal_status status = index_runs(context, &t);
  if (status == REGAL_OK) {
    write_trace(&t);
    status = regal_text_save(context, &t.text, path);
  }
  regal_release(context, t.run_step);
  regal_timeline_free(&t.timeline);
  regal_text_free(&t.text);
  return status;
}
