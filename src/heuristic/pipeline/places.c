/* SPDX-License-Identifier: Apache-2.0 */
/* Places of ops along the model.
 *
 * The forward ops of a microbatch have places 0, 1, 2, ... in topological
 * order. A backward op reads gradients, which come from later layers, and
 * activations of its own layer. Its place is that of the last forward op which
 * reads one of these activations, but not behind the place of a gradient that
 * it reads: the backward pass only goes down. (What all layers read, such as a
 * mask, is read last at the end, and so does not pull an op away from its
 * gradients. The last
 * forward ops, which no other reads, are the gradient of the loss.)
 *
 * An op that runs once has the place of what it waits for, or else of the first
 * op that waits for it.
 */
#include "base/compare.h"
#include "heuristic/pipeline/parts.h"

typedef struct finder {
  const regal_graph *graph;
  const regal_pipeline *pipeline;
  regal_pipe *pipe;
  uint32_t *next; /* [microbatches] the next place */
  uint32_t *last; /* [tensors] last place that reads it in the forward pass */
  uint8_t *turns; /* [ops] forward, but no forward op reads it */
} finder;

static bool is_forward(const finder *f, uint32_t op) {
  return f->pipeline->pass[op] == REGAL_PASS_FORWARD;
}

static void place_forward(finder *f) {
  regal_pipe *pipe = f->pipe;
  for (uint32_t op = 0; op < f->graph->ops; op++) {
    pipe->place[op] = REGAL_NONE;
    if (!is_forward(f, op))
      continue;
    f->turns[op] = true;
    pipe->place[op] = f->next[f->pipeline->microbatch[op]]++;
    pipe->places = regal_larger32(pipe->places, pipe->place[op] + 1);
  }
}

static void find_last_readers(finder *f) {
  const regal_graph *graph = f->graph;
  for (uint32_t t = 0; t < graph->tensors; t++) {
    uint32_t producer = graph->producer[t];
    if (!is_forward(f, producer))
      continue;
    f->last[t] = f->pipe->place[producer];
    for (REGAL_ROW(u, graph->use_begin, t)) {
      uint32_t reader = graph->consumer[u];
      if (!is_forward(f, reader))
        continue;
      f->turns[producer] = false;
      f->last[t] = regal_larger32(f->last[t], f->pipe->place[reader]);
    }
  }
}

/* What an op depends on: the least place of gradients, and the largest of
 * activations, REGAL_NONE where there is none. */
typedef struct sources {
  uint32_t gradients, activations;
} sources;

static void add_source(const finder *f, uint32_t op, uint32_t before,
                       uint32_t place, sources *from) {
  if (f->pipeline->microbatch[before] != f->pipeline->microbatch[op])
    return;
  if (!is_forward(f, before) || f->turns[before])
    from->gradients = regal_smaller32(from->gradients, place);
  else if (from->activations == REGAL_NONE || place > from->activations)
    from->activations = place;
}

static sources find_sources(const finder *f, uint32_t op) {
  const regal_graph *graph = f->graph;
  sources from = {REGAL_NONE, REGAL_NONE};
  for (REGAL_ROW(i, graph->input_begin, op)) {
    uint32_t t = graph->input[i], before = graph->producer[t];
    add_source(f, op, before,
               is_forward(f, before) ? f->last[t] : f->pipe->place[before],
               &from);
  }
  for (REGAL_ROW(i, graph->control_in_begin, op)) {
    uint32_t before = graph->control_in[i];
    add_source(f, op, before, f->pipe->place[before], &from);
  }
  return from;
}

static void place_backward(finder *f) {
  for (uint32_t op = 0; op < f->graph->ops; op++) {
    if (f->pipeline->microbatch[op] == REGAL_NONE || is_forward(f, op))
      continue;
    sources from = find_sources(f, op);
    uint32_t place = regal_smaller32(from.gradients, from.activations);
    f->pipe->place[op] = regal_smaller32(place, f->pipe->places - 1);
  }
}

/* The place of the first op that it depends on and that has one. */
static uint32_t place_before(const finder *f, uint32_t op) {
  const regal_graph *graph = f->graph;
  uint32_t place = REGAL_NONE;
  for (uint32_t i = graph->input_begin[op];
       i < graph->input_begin[op + 1] && place == REGAL_NONE; i++)
    place = f->pipe->place[graph->producer[graph->input[i]]];
  for (uint32_t i = graph->control_in_begin[op];
       i < graph->control_in_begin[op + 1] && place == REGAL_NONE; i++)
    place = f->pipe->place[graph->control_in[i]];
  return place;
}

static uint32_t place_after(const finder *f, uint32_t op) {
  const regal_graph *graph = f->graph;
  uint32_t place = REGAL_NONE;
  for (REGAL_ROW(t, graph->output_begin, op))
    for (REGAL_ROW(u, graph->use_begin, t))
      place = regal_smaller32(place, f->pipe->place[graph->consumer[u]]);
  for (REGAL_ROW(i, graph->control_out_begin, op))
    place = regal_smaller32(place, f->pipe->place[graph->control_out[i]]);
  return place;
}

static void place_others(finder *f) {
  uint32_t *place = f->pipe->place;
  for (uint32_t op = 0; op < f->graph->ops; op++) {
    if (place[op] != REGAL_NONE)
      continue;
    place[op] = place_before(f, op);
    f->pipe->late[op] = place[op] != REGAL_NONE;
  }
  for (uint32_t op = f->graph->ops; op-- > 0;) {
    if (place[op] == REGAL_NONE)
      place[op] = place_after(f, op);
    if (place[op] == REGAL_NONE)
      place[op] = 0;
  }
}

regal_status regal_pipe_find_places(regal_pipe *pipe) {
  finder f = {
      .graph = pipe->problem->graph, .pipeline = pipe->pipeline, .pipe = pipe};
  f.next = regal_alloc(pipe->context, pipe->pipeline->microbatches, 4);
  f.last = regal_alloc(pipe->context, f.graph->tensors, 4);
  f.turns = regal_alloc(pipe->context, f.graph->ops, 1);
  bool had = f.next && f.last && f.turns;
  if (had) {
    place_forward(&f);
    find_last_readers(&f);
    place_backward(&f);
    place_others(&f);
  }
  regal_release(pipe->context, f.next);
  regal_release(pipe->context, f.last);
  regal_release(pipe->context, f.turns);
  return had ? REGAL_OK : regal_fail_memory(pipe->context);
}
