/* SPDX-License-Identifier: Apache-2.0 */
/* Forward, backward, weights: which op belongs to which pass.
 *
 * The results of a training step are the gradients of its weights. The loss
 * depends on every op of the forward pass, and every gradient on the loss: so
 * the ops of the forward pass are those from which all results can be reached.
 * The backward pass goes from the last layer to the first, and gradients of
 * weights branch off on its way: from an op of it only those that are still to
 * come can be reached. An op from which a single result can be reached is there
 * for nothing but the gradient of one weight.
 *
 * So it is enough to count, for each op, the results that it leads to. That
 * needs neither names nor the order of the file. It is done for 64 results at a
 * time by a sweep over the graph with a 64-bit set for each op. All parts are
 * counted in the same sweep, since edges between parts do not count:
 * O((ops + edges) * ceil(results of a part / 64)).
 *
 * Results of the forward pass itself (statistics of batch normalization) would
 * spoil that: later layers do not lead to them. Where too few ops are left as
 * forward, results before the turn do not count. The turn is where most tensors
 * are alive: the forward pass makes activations, and the backward pass frees
 * them.
 *
 * A result that all others depend on ends the forward pass (the gradient of the
 * last layer's weights and input, if one op makes both), and what depends on it
 * is not forward either. Ops that lead to no result (statistics) belong to the
 * pass of what they read.
 */
#include "pipeline/pipeline.h"

#include "base/carve.h"

typedef struct counter {
  const regal_graph *graph;
  const uint32_t *part;
  uint32_t parts, most; /* results of the part with most of them */
  uint8_t *is_result;   /* [ops] */
  uint32_t *number;     /* [ops] of a result in its part */
  uint32_t *found;      /* [parts] results; then the largest count of an op */
  uint32_t *count;      /* [ops] results that it leads to */
  uint64_t *reached;    /* [ops] those of the present 64 */
  uint32_t *alive, *most_alive; /* [parts] tensors, for the turn */
  uint32_t *turn;               /* [parts] an op */
  uint32_t *left;               /* [tensors] readers to come */
  uint32_t *forward, *before;   /* [parts] ops: forward, and before the turn */
} counter;

static void layout(void *made, regal_carver *carver) {
  counter *c = made;
  c->number = regal_carve(carver, c->graph->ops, sizeof *c->number);
  c->count = regal_carve(carver, c->graph->ops, sizeof *c->count);
  c->found = regal_carve(carver, c->parts, sizeof *c->found);
  c->reached = regal_carve(carver, c->graph->ops, sizeof *c->reached);
  c->is_result = regal_carve(carver, c->graph->ops, 1);
  c->alive = regal_carve(carver, c->parts, sizeof *c->alive);
  c->most_alive = regal_carve(carver, c->parts, sizeof *c->most_alive);
  c->turn = regal_carve(carver, c->parts, sizeof *c->turn);
  c->left = regal_carve(carver, c->graph->tensors, sizeof *c->left);
  c->forward = regal_carve(carver, c->parts, sizeof *c->forward);
  c->before = regal_carve(carver, c->parts, sizeof *c->before);
}

static void number_results(counter *c) {
  c->most = 0;
  memset(c->found, 0, c->parts * sizeof *c->found);
  for (uint32_t op = 0; op < c->graph->ops; op++) {
    if (c->part[op] == REGAL_NONE || !c->is_result[op])
      continue;
    c->number[op] = c->found[c->part[op]]++;
    if (c->found[c->part[op]] > c->most)
      c->most = c->found[c->part[op]];
  }
}

/* What the ops that depend on `op`, in its part, reach. */
static uint64_t reached_after(const counter *c, uint32_t op) {
  const regal_graph *graph = c->graph;
  uint64_t reached = 0;
  for (REGAL_ROW(t, graph->output_begin, op))
    for (REGAL_ROW(u, graph->use_begin, t))
      if (c->part[graph->consumer[u]] == c->part[op])
        reached |= c->reached[graph->consumer[u]];
  for (REGAL_ROW(i, graph->control_out_begin, op))
    if (c->part[graph->control_out[i]] == c->part[op])
      reached |= c->reached[graph->control_out[i]];
  return reached;
}

static void count_64(counter *c, uint32_t first) {
  for (uint32_t op = c->graph->ops; op-- > 0;) {
    if (c->part[op] == REGAL_NONE)
      continue;
    uint64_t reached = reached_after(c, op);
    if (c->is_result[op] && c->number[op] / 64 == first / 64)
      reached |= UINT64_C(1) << c->number[op] % 64;
    c->reached[op] = reached;
    c->count[op] += (uint32_t)__builtin_popcountll(reached);
  }
}

/* found[] becomes the most results that an op of the part leads to. */
static void find_most(counter *c) {
  memset(c->found, 0, c->parts * sizeof *c->found);
  for (uint32_t op = 0; op < c->graph->ops; op++)
    if (c->part[op] != REGAL_NONE && c->count[op] > c->found[c->part[op]])
      c->found[c->part[op]] = c->count[op];
}

/* Whether an op that it depends on, in its part, is not forward. */
static bool follows_backward(const counter *c, const uint8_t *pass,
                             uint32_t op) {
  const regal_graph *graph = c->graph;
  for (REGAL_ROW(i, graph->input_begin, op)) {
    uint32_t before = graph->producer[graph->input[i]];
    if (c->part[before] == c->part[op] && pass[before] != REGAL_PASS_FORWARD)
      return true;
  }
  for (REGAL_ROW(i, graph->control_in_begin, op)) {
    uint32_t before = graph->control_in[i];
    if (c->part[before] == c->part[op] && pass[before] != REGAL_PASS_FORWARD)
      return true;
  }
  return false;
}

static regal_pass pass_of(const counter *c, const uint8_t *pass, uint32_t op) {
  uint32_t count = c->count[op], most = c->found[c->part[op]];
  if (!count)
    return follows_backward(c, pass, op) ? REGAL_PASS_WEIGHT
                                         : REGAL_PASS_FORWARD;
  if (count == most && !c->is_result[op] && !follows_backward(c, pass, op))
    return REGAL_PASS_FORWARD;
  return count == 1 ? REGAL_PASS_WEIGHT : REGAL_PASS_BACKWARD;
}

/* Ops are in topological order. */
static void sort_ops(counter *c, uint8_t *pass) {
  number_results(c);
  memset(c->count, 0, c->graph->ops * sizeof *c->count);
  for (uint32_t first = 0; first < c->most; first += 64)
    count_64(c, first);
  find_most(c);
  for (uint32_t op = 0; op < c->graph->ops; op++)
    pass[op] = c->part[op] == REGAL_NONE ? REGAL_PASS_NONE
                                         : (uint8_t)pass_of(c, pass, op);
}

/* -- The turn -------------------------------------------------------------- */

/* Tensors that an op makes and others of its part read are alive until the last
 * of those. */
static void count_alive(counter *c, uint32_t op) {
  const regal_graph *graph = c->graph;
  uint32_t *alive = &c->alive[c->part[op]];
  for (REGAL_ROW(t, graph->output_begin, op)) {
    for (REGAL_ROW(u, graph->use_begin, t))
      c->left[t] += c->part[graph->consumer[u]] == c->part[op];
    *alive += c->left[t] > 0;
  }
  if (*alive > c->most_alive[c->part[op]]) {
    c->most_alive[c->part[op]] = *alive;
    c->turn[c->part[op]] = op;
  }
  for (REGAL_ROW(i, graph->input_begin, op)) {
    uint32_t t = graph->input[i];
    if (c->part[graph->producer[t]] == c->part[op])
      *alive -= --c->left[t] == 0;
  }
}

/* Returns whether a result was dropped. */
static bool drop_forward_results(counter *c, const uint8_t *pass) {
  bool dropped = false;
  for (uint32_t op = 0; op < c->graph->ops; op++)
    if (c->part[op] != REGAL_NONE)
      count_alive(c, op);
  for (uint32_t op = 0; op < c->graph->ops; op++) {
    if (c->part[op] == REGAL_NONE)
      continue;
    c->forward[c->part[op]] += pass[op] == REGAL_PASS_FORWARD;
    c->before[c->part[op]] += op < c->turn[c->part[op]];
  }
  for (uint32_t op = 0; op < c->graph->ops; op++) {
    uint32_t part = c->part[op];
    if (part == REGAL_NONE || !c->is_result[op] || op >= c->turn[part] ||
        c->forward[part] >= c->before[part] / 2)
      continue;
    c->is_result[op] = false;
    dropped = true;
  }
  return dropped;
}

static void count_passes(const counter *c, const uint8_t *pass,
                         regal_pass_counts *counts) {
  *counts = (regal_pass_counts){.results = c->most};
  for (uint32_t op = 0; op < c->graph->ops; op++)
    counts->ops[pass[op]]++;
}

regal_status regal_find_passes(regal_context *context, const regal_graph *graph,
                               const uint32_t *part, const uint8_t *is_result,
                               uint8_t *pass, regal_pass_counts *counts) {
  counter plain = {.graph = graph, .part = part};
  for (uint32_t op = 0; op < graph->ops; op++)
    if (part[op] != REGAL_NONE && part[op] >= plain.parts)
      plain.parts = part[op] + 1;
  counter *c = regal_carve_struct(context, &plain, sizeof plain, layout);
  if (!c)
    return regal_fail_memory(context);
  memcpy(c->is_result, is_result, graph->ops);
  sort_ops(c, pass);
  if (drop_forward_results(c, pass))
    sort_ops(c, pass);
  count_passes(c, pass, counts);
  regal_release(context, c);
  return REGAL_OK;
}
