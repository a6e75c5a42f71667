/* SPDX-License-Identifier: Apache-2.0 */
/* Which event is inside which, and whose kernels are whose.
 *
 * On one thread of the host an event is inside those that began before and have
 * not ended. The trace does not say so; sorted by thread and time, with the
 * longer first where two begin at once, a stack tells.
 *
 * A kernel has the number of the call of the runtime that started it
 * ("correlation"). That call is inside the op that made it. Where the trace
 * has no such call, the kernel may have the number of the op itself ("External
 * id").
 */
#include <stdlib.h>
#include <string.h>

#include "format/costs/trace.h"

/* -- Parents --------------------------------------------------------------- */

static int by_thread(const regal_trace_event *a, const regal_trace_event *b) {
  int order = strcmp(a->process, b->process);
  return order ? order : strcmp(a->thread, b->thread);
}

/* Kernels come last: they are on the device, and in nothing. */
static int by_nesting(const void *first, const void *second) {
  const regal_trace_event *a = first, *b = second;
  int order = (a->kind == REGAL_TRACE_KERNEL) - (b->kind == REGAL_TRACE_KERNEL);
  if (!order)
    order = by_thread(a, b);
  if (!order)
    order = (a->start_ns > b->start_ns) - (a->start_ns < b->start_ns);
  if (!order)
    order = (a->end_ns < b->end_ns) - (a->end_ns > b->end_ns);
  if (!order)
    order = (a->node > b->node) - (a->node < b->node);
  return order;
}

/* What an event takes over from the one that it is inside of. */
static void inherit(regal_trace *trace, uint32_t event, uint32_t parent) {
  regal_trace_event *inner = &trace->events[event];
  if (parent != REGAL_NONE) {
    inner->parent = parent;
    inner->op = trace->events[parent].op;
    inner->is_outside = trace->events[parent].is_outside;
  }
  if (inner->kind == REGAL_TRACE_OP)
    inner->op = event;
  inner->is_outside |= inner->kind == REGAL_TRACE_OUTSIDE;
}

/* The stack is the chain of parents of the event before. */
static void find_parents(regal_trace *trace) {
  regal_trace_event *events = trace->events;
  uint32_t top = REGAL_NONE;
  for (uint32_t i = 0; i < trace->count; i++) {
    if (events[i].kind == REGAL_TRACE_KERNEL)
      return;
    while (top != REGAL_NONE && (by_thread(&events[top], &events[i]) != 0 ||
                                 events[top].end_ns <= events[i].start_ns))
      top = events[top].parent;
    inherit(trace, i, top);
    top = i;
  }
}

/* -- Kernels --------------------------------------------------------------- */

typedef struct numbered {
  int64_t id;
  uint32_t event;
} numbered;

static int by_id(const void *first, const void *second) {
  const numbered *a = first, *b = second;
  return (a->id > b->id) - (a->id < b->id);
}

typedef struct numbers {
  numbered *items;
  size_t count;
} numbers;

static int64_t id_of(const regal_trace_event *event) {
  return event->kind == REGAL_TRACE_OP       ? event->external
         : event->kind == REGAL_TRACE_LAUNCH ? event->correlation
                                             : REGAL_TRACE_NO_ID;
}

/* The events of a kind that have a number, sorted by it. */
static bool sort_numbers(const regal_trace *trace, regal_trace_kind kind,
                         numbers *found) {
  found->items = regal_alloc(trace->context, trace->count, sizeof(numbered));
  if (!found->items)
    return false;
  for (uint32_t i = 0; i < trace->count; i++) {
    const regal_trace_event *event = &trace->events[i];
    if (event->kind == kind && id_of(event) != REGAL_TRACE_NO_ID)
      found->items[found->count++] = (numbered){id_of(event), i};
  }
  if (found->count)
    qsort(found->items, found->count, sizeof *found->items, by_id);
  return true;
}

static uint32_t find_number(const numbers *numbers, int64_t id) {
  numbered wanted = {id, 0};
  const numbered *found = numbers->count && id != REGAL_TRACE_NO_ID
                              ? bsearch(&wanted, numbers->items, numbers->count,
                                        sizeof wanted, by_id)
                              : NULL;
  return found ? found->event : REGAL_NONE;
}

static void give_kernels(regal_trace *trace, const numbers *launches,
                         const numbers *ops) {
  for (size_t i = trace->count; i-- > 0;) {
    const regal_trace_event *kernel = &trace->events[i];
    if (kernel->kind != REGAL_TRACE_KERNEL)
      return;
    uint32_t launch = find_number(launches, kernel->correlation);
    uint32_t op = launch == REGAL_NONE ? launch : trace->events[launch].op;
    if (op == REGAL_NONE)
      op = find_number(ops, kernel->external);
    int64_t *sum = op == REGAL_NONE ? NULL : &trace->events[op].device_ns;
    if (sum &&
        __builtin_add_overflow(*sum, kernel->end_ns - kernel->start_ns, sum))
      *sum = INT64_MAX;
  }
}

static bool find_launchers(regal_trace *trace) {
  numbers launches = {0}, ops = {0};
  bool enough = sort_numbers(trace, REGAL_TRACE_LAUNCH, &launches) &&
                sort_numbers(trace, REGAL_TRACE_OP, &ops);
  if (enough)
    give_kernels(trace, &launches, &ops);
  regal_release(trace->context, launches.items);
  regal_release(trace->context, ops.items);
  return enough;
}

regal_status regal_trace_nest(regal_trace *trace) {
  if (!trace->count)
    return REGAL_OK;
  qsort(trace->events, trace->count, sizeof *trace->events, by_nesting);
  find_parents(trace);
  return !trace->has_kernels || find_launchers(trace)
             ? REGAL_OK
             : regal_fail_memory(trace->context);
}
