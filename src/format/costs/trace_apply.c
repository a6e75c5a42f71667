/* SPDX-License-Identifier: Apache-2.0 */
/* The times of a trace for the ops of a graph.
 *
 * An event counts as a call of an op if it has the name of one and is inside no
 * other such event: what aten::conv2d calls in turn is part of its time. The
 * time is that of the call on the host or, if the trace has kernels, the sum of
 * the kernels that were launched inside; a call that launched none does not
 * count. Of several calls of one op the median counts.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/memory/arena.h"
#include "base/text.h"
#include "format/costs/trace.h"
#include "graph/builder.h"

typedef struct applied {
  regal_trace *trace;
  regal_graph *graph;
  regal_arena arena;
  regal_names names; /* plain names of the trace's ops; keys */
  uint32_t *ops;     /* [op_count] those with a key */
  uint32_t *op_key;  /* [op_count] */
  uint32_t op_count;
  uint8_t *is_wanted; /* [keys] */
  uint32_t *calls;    /* [call_count] events, in the order of time */
  uint32_t call_count;
  uint32_t *match;      /* [call_count] places in ops */
  uint8_t *is_measured; /* [graph->ops] */
  uint32_t measured, runs;
} applied;

/* -- Keys ------------------------------------------------------------------ */

static bool name_events(applied *a) {
  regal_trace *trace = a->trace;
  char plain[REGAL_TRACE_NAME];
  for (size_t i = 0; i < trace->count; i++) {
    regal_trace_event *event = &trace->events[i];
    size_t key;
    if (event->kind != REGAL_TRACE_OP)
      continue;
    regal_trace_plain_name(event->name, true, plain);
    key = regal_names_find(&a->names, plain);
    if (key == REGAL_NO_NAME) {
      char *kept = regal_arena_alloc(&a->arena, strlen(plain) + 1, 1);
      if (!kept || !regal_names_add(&a->names, strcpy(kept, plain), &key))
        return false;
    }
    event->key = (uint32_t)key;
  }
  return true;
}

/* With its number where the trace has that, for kernels of Inductor. */
static size_t key_of(const applied *a, uint32_t op) {
  const char *name = regal_graph_name(a->graph, op);
  char plain[REGAL_TRACE_NAME];
  regal_trace_plain_name(name, true, plain);
  size_t key = regal_names_find(&a->names, plain);
  if (key != REGAL_NO_NAME)
    return key;
  regal_trace_plain_name(name, false, plain);
  return regal_names_find(&a->names, plain);
}

/* In the file's order. */
static void choose_ops(applied *a) {
  const regal_graph *graph = a->graph;
  for (uint32_t id = 0; id < graph->file_nodes; id++) {
    uint32_t op = graph->op_of_id[id];
    size_t key = op == REGAL_NONE ? REGAL_NO_NAME : key_of(a, op);
    if (key == REGAL_NO_NAME)
      continue;
    a->is_wanted[key] = 1;
    a->ops[a->op_count] = op;
    a->op_key[a->op_count++] = (uint32_t)key;
  }
}

/* -- Calls ----------------------------------------------------------------- */

static void add_time(int64_t *sum, int64_t ns) {
  if (__builtin_add_overflow(*sum, ns, sum))
    *sum = INT64_MAX;
}

/* Parents are before their children, so one pass does. */
static void mark_calls(applied *a) {
  regal_trace_event *events = a->trace->events;
  for (uint32_t i = 0; i < a->trace->count; i++) {
    regal_trace_event *event = &events[i];
    if (event->parent != REGAL_NONE)
      event->call = events[event->parent].call;
    if (event->kind != REGAL_TRACE_OP || event->is_outside)
      continue;
    if (event->call != REGAL_NONE)
      add_time(&events[event->call].device_ns, event->device_ns);
    else if (a->is_wanted[event->key])
      event->call = i;
  }
}

static bool collect_calls(applied *a) {
  const regal_trace *trace = a->trace;
  regal_keyed *sorted =
      regal_arena_alloc(&a->arena, trace->count, sizeof *sorted);
  if (!sorted)
    return false;
  for (uint32_t i = 0; i < trace->count; i++) {
    const regal_trace_event *event = &trace->events[i];
    if (event->call == i && (!trace->has_kernels || event->device_ns > 0))
      sorted[a->call_count++] = (regal_keyed){event->start_ns, i};
  }
  regal_keyed_sort(sorted, a->call_count);
  for (uint32_t i = 0; i < a->call_count; i++)
    a->calls[i] = sorted[i].op;
  return true;
}

static int64_t time_of(const regal_trace *trace, uint32_t call) {
  const regal_trace_event *event = &trace->events[call];
  return trace->has_kernels ? event->device_ns
                            : event->end_ns - event->start_ns;
}

/* -- Times ----------------------------------------------------------------- */

typedef struct sample {
  uint32_t place; /* in ops */
  int64_t ns;
} sample;

static int by_place(const void *first, const void *second) {
  const sample *a = first, *b = second;
  if (a->place != b->place)
    return a->place < b->place ? -1 : 1;
  return (a->ns > b->ns) - (a->ns < b->ns);
}

static void take_medians(applied *a, const sample *samples, uint32_t count) {
  for (uint32_t begin = 0, end; begin < count; begin = end) {
    uint32_t op = a->ops[samples[begin].place];
    for (end = begin;
         end < count && samples[end].place == samples[begin].place;)
      end++;
    a->graph->run_ns[op] = samples[begin + (end - begin - 1) / 2].ns;
    a->is_measured[op] = 1;
    a->measured++;
    a->runs = regal_larger32(a->runs, end - begin);
  }
}

static bool set_times(applied *a) {
  sample *samples =
      regal_arena_alloc(&a->arena, a->call_count, sizeof *samples);
  uint32_t count = 0;
  if (!samples)
    return false;
  for (uint32_t i = 0; i < a->call_count; i++)
    if (a->match[i] != REGAL_NONE)
      samples[count++] = (sample){a->match[i], time_of(a->trace, a->calls[i])};
  if (count)
    qsort(samples, count, sizeof *samples, by_place);
  take_medians(a, samples, count);
  return true;
}

/* -- Messages -------------------------------------------------------------- */

#define SHOWN 4

/* "a", "b", ...: the first few names of `count`. */
static void add_name(regal_text *list, uint32_t count, const char *name) {
  if (count < SHOWN)
    regal_text_format(list, "%s%s", count ? ", " : "", regal_quote(name).text);
  else if (count == SHOWN)
    regal_text_format(list, ", ...");
}

static uint32_t list_unmeasured(const applied *a, regal_text *list) {
  const regal_graph *graph = a->graph;
  uint32_t count = 0;
  for (uint32_t id = 0; id < graph->file_nodes; id++) {
    uint32_t op = graph->op_of_id[id];
    if (op != REGAL_NONE && !a->is_measured[op])
      add_name(list, count++, regal_graph_name(graph, op));
  }
  return count;
}

static regal_status fail_unmatched(const applied *a, regal_text *list) {
  regal_text_format(list, "the graph has ");
  list_unmeasured(a, list);
  regal_text_format(list, "; the trace has ");
  for (size_t i = 0; i < a->names.count; i++)
    add_name(list, (uint32_t)i, a->names.key[i].text);
  if (!a->names.count)
    regal_text_format(list, "no ops");
  if (list->failed)
    return regal_fail_memory(a->trace->context);
  return regal_fail(
      a->trace->context, REGAL_BAD_INPUT,
      "%s: no op of the graph has a time in the trace%s: %s", a->trace->path,
      a->op_count && a->trace->has_kernels ? " (its ops launched no kernels)"
                                           : "",
      list->bytes);
}

static regal_status add_notes(const applied *a, regal_text *list) {
  const regal_trace *trace = a->trace;
  REGAL_TRY(regal_graph_add_note(
      a->graph, REGAL_NOTE_ASSUMED,
      "run times of %u of %u ops as measured in %s: %s, %s of %u run%s",
      a->measured, a->graph->ops, trace->path,
      trace->has_kernels ? "kernels on the device" : "calls on the host",
      a->runs > 1 ? "the median" : "the time", a->runs, regal_plural(a->runs)));
  if (!trace->size_count)
    REGAL_TRY(regal_graph_add_note(
        a->graph, REGAL_NOTE_WARNING,
        "%s has no shapes (record_shapes=True): ops were matched by their "
        "names and order alone",
        trace->path));
  uint32_t missing = list_unmeasured(a, list);
  if (list->failed)
    return regal_fail_memory(trace->context);
  return missing
             ? regal_graph_add_note(
                   a->graph, REGAL_NOTE_WARNING,
                   "%s has no time of %u op%s: %s; %s", trace->path, missing,
                   regal_plural(missing), list->bytes,
                   missing == 1 ? "it keeps its own" : "they keep their own")
             : REGAL_OK;
}

static regal_status report(const applied *a) {
  regal_text list;
  regal_text_init(&list, a->trace->context);
  regal_status status =
      a->measured ? add_notes(a, &list) : fail_unmatched(a, &list);
  regal_text_free(&list);
  return status;
}

/* -- All of it ------------------------------------------------------------- */

static bool prepare(applied *a) {
  size_t ops = a->graph->ops, events = a->trace->count;
  if (!name_events(a))
    return false;
  a->ops = regal_arena_alloc(&a->arena, ops, sizeof *a->ops);
  a->op_key = regal_arena_alloc(&a->arena, ops, sizeof *a->op_key);
  a->is_measured = regal_arena_alloc(&a->arena, ops, 1);
  a->is_wanted = regal_arena_alloc(&a->arena, a->names.count, 1);
  a->calls = regal_arena_alloc(&a->arena, events, sizeof *a->calls);
  a->match = regal_arena_alloc(&a->arena, events, sizeof *a->match);
  if (a->arena.failed)
    return false;
  choose_ops(a);
  mark_calls(a);
  return collect_calls(a);
}

static regal_status apply(applied *a) {
  regal_context *context = a->trace->context;
  if (!prepare(a))
    return regal_fail_memory(context);
  regal_alignment alignment = {.context = context,
                               .trace = a->trace,
                               .graph = a->graph,
                               .ops = a->ops,
                               .op_key = a->op_key,
                               .op_count = a->op_count,
                               .calls = a->calls,
                               .call_count = a->call_count,
                               .match = a->match};
  REGAL_TRY(regal_trace_align(&alignment));
  if (!set_times(a))
    return regal_fail_memory(context);
  REGAL_TRY(report(a));
  return regal_graph_settle(a->graph);
}

regal_status regal_trace_apply(regal_trace *trace, regal_graph *graph) {
  applied a = {.trace = trace, .graph = graph};
  regal_arena_init(&a.arena, trace->context);
  regal_names_init(&a.names, trace->context);
  regal_status status = apply(&a);
  regal_names_free(&a.names);
  regal_arena_free(&a.arena);
  return status;
}
