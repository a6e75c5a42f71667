/* SPDX-License-Identifier: Apache-2.0 */
/* Kahn's algorithm with a binary heap of positions in the file, so that the
 * order is the file's own wherever that is topological.
 */
#include "graph/topology.h"

#include <string.h>

/* -- A heap of positions, smallest first ----------------------------------- */

typedef struct heap {
  uint32_t *item;
  uint32_t size;
} heap;

static void heap_push(heap *heap, uint32_t value) {
  uint32_t hole = heap->size++;
  while (hole > 0 && heap->item[(hole - 1) / 2] > value) {
    heap->item[hole] = heap->item[(hole - 1) / 2];
    hole = (hole - 1) / 2;
  }
  heap->item[hole] = value;
}

static uint32_t heap_pop(heap *heap) {
  uint32_t top = heap->item[0], last = heap->item[--heap->size];
  uint32_t hole = 0;
  for (;;) {
    size_t child = 2 * (size_t)hole + 1;
    if (child >= heap->size)
      break;
    if (child + 1 < heap->size && heap->item[child + 1] < heap->item[child])
      child++;
    if (heap->item[child] >= last)
      break;
    heap->item[hole] = heap->item[child];
    hole = (uint32_t)child;
  }
  heap->item[hole] = last;
  return top;
}

/* -- Cycles ---------------------------------------------------------------- */

/* Every op that is still waiting has a waiting predecessor, so that walking
 * back along them must come round. Fills `cycle` with the ops of the first
 * cycle met, each before its successor; returns their number. */
static uint32_t find_cycle(const regal_topology *topology, uint32_t *cycle,
                           uint32_t *back, uint32_t *visited) {
  uint32_t at = REGAL_NONE;
  for (uint32_t p = topology->positions; p-- > 0;) {
    uint32_t op = topology->op_at[p];
    if (op == REGAL_NONE || !topology->needs[op])
      continue;
    at = op;
    for (REGAL_ROW(i, topology->begin, op))
      back[topology->successor[i]] = op;
  }
  while (!visited[at]) {
    visited[at] = 1;
    at = back[at];
  }
  uint32_t length = 0, op = at;
  do
    length++;
  while ((op = back[op]) != at);
  for (uint32_t i = length; i-- > 0; op = back[op])
    cycle[i] = op;
  return length;
}

/* Turns the cycle so that the op that comes first in the file leads. Uses
 * `copy`, of the same size. */
static void lead_with_first(const regal_builder *builder, uint32_t *cycle,
                            uint32_t length, uint32_t *copy) {
  uint32_t first = 0;
  for (uint32_t i = 1; i < length; i++)
    if (builder->ops[cycle[i]].position < builder->ops[cycle[first]].position)
      first = i;
  memcpy(copy, cycle, length * sizeof *copy);
  for (uint32_t i = 0; i < length; i++)
    cycle[i] = copy[(first + i) % length];
}

static bool is_back_edge_name(const char *name) {
  return strstr(name, "NextIteration") || strstr(name, "next_iteration");
}

/* Appends to a message that may become too long; it is then cut. */
static void append(char *text, size_t capacity, const char *more) {
  size_t used = strlen(text);
  snprintf(text + used, capacity - used, "%s", more);
}

static regal_status fail_cycle(const regal_builder *builder,
                               const uint32_t *cycle, uint32_t length) {
  enum { SHOWN = 6 }; /* names at most: three from each end */
  char text[REGAL_MESSAGE_CAPACITY] = "", more[64];
  uint32_t hidden = length > SHOWN ? length - SHOWN : 0;
  bool loop = false;
  for (uint32_t i = 0; i < length; i++) {
    const char *name = regal_built_name(builder, cycle[i]);
    loop |= is_back_edge_name(name);
    if (hidden && i == SHOWN / 2) {
      snprintf(more, sizeof more, "... %u more ... -> ", hidden);
      append(text, sizeof text, more);
    }
    if (hidden && i >= SHOWN / 2 && i < SHOWN / 2 + hidden)
      continue;
    append(text, sizeof text, regal_quote(name).text);
    append(text, sizeof text, " -> ");
  }
  append(text, sizeof text,
         regal_quote(regal_built_name(builder, cycle[0])).text);
  const char *hint =
      loop ? "; a while loop? --loops cut drops its back edges" : "";
  return regal_builder_fail(builder, cycle[0], REGAL_BAD_INPUT, "cycle: %s%s",
                            text, hint);
}

static regal_status report_cycle(const regal_topology *topology) {
  regal_context *context = topology->builder->context;
  size_t ops = topology->ops;
  uint32_t *scratch = regal_alloc(context, 3 * ops, sizeof *scratch);
  if (!scratch)
    return regal_fail_memory(context);
  uint32_t *cycle = scratch, *back = scratch + ops, *visited = back + ops;
  uint32_t length = find_cycle(topology, cycle, back, visited);
  lead_with_first(topology->builder, cycle, length, back);
  regal_status status = fail_cycle(topology->builder, cycle, length);
  regal_release(context, scratch);
  return status;
}

/* -- Sorting --------------------------------------------------------------- */

static uint32_t sort(regal_topology *topology, heap *ready) {
  const regal_built_op *ops = topology->builder->ops;
  uint32_t sorted = 0;
  for (uint32_t op = 0; op < topology->ops; op++)
    if (!topology->needs[op])
      heap_push(ready, ops[op].position);
  while (ready->size) {
    uint32_t op = topology->op_at[heap_pop(ready)];
    topology->order[sorted++] = op;
    for (REGAL_ROW(i, topology->begin, op)) {
      uint32_t next = topology->successor[i];
      if (--topology->needs[next] == 0)
        heap_push(ready, ops[next].position);
    }
  }
  return sorted;
}

regal_status regal_topology_sort(regal_topology *topology) {
  regal_context *context = topology->builder->context;
  heap ready = {regal_alloc(context, topology->ops, sizeof *ready.item), 0};
  if (!ready.item)
    return regal_fail_memory(context);
  uint32_t sorted = sort(topology, &ready);
  regal_release(context, ready.item);
  return sorted == topology->ops ? REGAL_OK : report_cycle(topology);
}
