/* SPDX-License-Identifier: Apache-2.0 */
/* Several partitions made one graph.
 *
 * TensorFlow cuts an edge between devices into a _Send and a _Recv, which have
 * no edge between them but names of one stem: X/_4 and X/_5 in one process,
 * X_S4 and X_S5 between processes. A _Recv that finds its _Send is dropped, and
 * its consumers read the tensor that the _Send reads. The sources and the sinks
 * of the later partitions become part of the first ones.
 */
#include <stdlib.h>
#include <string.h>

#include "format/tensorflow/cost_graph.h"

/* Control edges that joining may add for each edge of the file; real files need
 * less than one. It keeps memory in proportion to the file. */
#define MOST_WAITS_PER_EDGE 16

/* A name that ends in "/_12" or "_S12". */
typedef struct numbered {
  const char *name;
  size_t stem;     /* bytes before the number, which tell both forms apart */
  uint64_t number; /* below 2^63 */
  uint32_t node;
} numbered;

typedef struct joining {
  regal_cost_graph *cost;
  numbered *sends; /* sorted by stem and number */
  uint32_t send_count;
  uint32_t *send_of; /* [nodes] of a _Recv that is dropped, or REGAL_NONE */
} joining;

/* -- Names ----------------------------------------------------------------- */

static bool parse_name(const char *name, uint32_t node, numbered *parsed) {
  size_t size = strlen(name), stem = size;
  while (stem > 0 && name[stem - 1] >= '0' && name[stem - 1] <= '9')
    stem--;
  if (stem == size || size - stem > 18 || stem < 2 ||
      (memcmp(name + stem - 2, "/_", 2) && memcmp(name + stem - 2, "_S", 2)))
    return false;
  *parsed = (numbered){name, stem, 0, node};
  for (size_t i = stem; i < size; i++)
    parsed->number = parsed->number * 10 + (uint64_t)(name[i] - '0');
  return true;
}

static int compare_names(const numbered *a, const numbered *b) {
  if (a->stem != b->stem)
    return a->stem < b->stem ? -1 : 1;
  int order = memcmp(a->name, b->name, a->stem);
  if (order)
    return order;
  return a->number < b->number ? -1 : a->number > b->number;
}

/* By name, then by position. */
static int compare_sends(const void *left, const void *right) {
  const numbered *a = left, *b = right;
  int order = compare_names(a, b);
  return order ? order : a->node < b->node ? -1 : a->node > b->node;
}

/* -- Pairs ----------------------------------------------------------------- */

static bool is_send(const regal_cost_node *node) {
  return node->n_input_info == 1 && node->n_output_info == 0;
}

static bool is_receive(const regal_cost_node *node) {
  return node->n_input_info == 0 && node->n_output_info == 1;
}

static void list_sends(joining *joining) {
  const regal_cost_graph *cost = joining->cost;
  for (uint32_t i = 0; i < cost->nodes; i++) {
    const regal_cost_node *node = regal_cost_node_at(cost, i);
    if (is_send(node) && cost->input[cost->input_begin[i]].node != REGAL_NONE &&
        parse_name(node->name, i, &joining->sends[joining->send_count]))
      joining->send_count++;
  }
  qsort(joining->sends, joining->send_count, sizeof *joining->sends,
        compare_sends);
}

/* The _Send of another partition whose number is one less. */
static uint32_t find_send(const joining *joining, const numbered *receive) {
  const uint32_t *partition = joining->cost->partition;
  numbered wanted = *receive;
  uint32_t low = 0, high = joining->send_count;
  if (!wanted.number--)
    return REGAL_NONE;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (compare_names(&joining->sends[middle], &wanted) < 0)
      low = middle + 1;
    else
      high = middle;
  }
  for (; low < joining->send_count &&
         !compare_names(&joining->sends[low], &wanted);
       low++)
    if (partition[joining->sends[low].node] != partition[receive->node])
      return joining->sends[low].node;
  return REGAL_NONE;
}

static void pair(joining *joining) {
  regal_cost_graph *cost = joining->cost;
  for (uint32_t i = 0; i < cost->nodes; i++) {
    const regal_cost_node *node = regal_cost_node_at(cost, i);
    numbered receive;
    joining->send_of[i] = REGAL_NONE;
    if (!is_receive(node) || !parse_name(node->name, i, &receive))
      continue;
    joining->send_of[i] = find_send(joining, &receive);
    if (joining->send_of[i] == REGAL_NONE)
      continue;
    cost->becomes[i] = REGAL_NONE;
    cost->counts.joined++;
  }
}

/* -- Sources and sinks ----------------------------------------------------- */

/* Merges all later nodes of this name, with their costs, into the first. One
 * that has outputs is left alone: they could not be distinguished. */
static void merge_named(regal_cost_graph *cost, const char *name) {
  uint32_t first = REGAL_NONE;
  for (uint32_t i = 0; i < cost->nodes; i++) {
    const regal_cost_node *node = regal_cost_node_at(cost, i);
    if (strcmp(node->name, name) || node->n_output_info)
      continue;
    if (first == REGAL_NONE) {
      first = i;
      continue;
    }
    cost->becomes[i] = first;
    regal_cost_add_up(&cost->run_ns[first], cost->run_ns[i]);
    regal_cost_add_up(&cost->resident[first], cost->resident[i]);
    cost->counts.merged++;
  }
}

/* -- Edges ----------------------------------------------------------------- */

static size_t most_waits(const regal_cost_graph *cost) {
  return MOST_WAITS_PER_EDGE * ((size_t)cost->input_begin[cost->nodes] +
                                cost->control_begin[cost->nodes]);
}

/* What a node that waited for `node` waits for now. */
static uint32_t stand_in(const joining *joining, uint32_t node) {
  uint32_t send = joining->send_of[node];
  return send == REGAL_NONE ? node : send;
}

/* `after` waits for what a dropped _Recv waited for. */
static regal_status inherit_waits(const joining *joining, uint32_t receive,
                                  uint32_t after) {
  regal_cost_graph *cost = joining->cost;
  for (REGAL_ROW(i, cost->control_begin, receive)) {
    if (cost->wait_count > most_waits(cost))
      return regal_cost_fail(cost, receive,
                             "too many nodes would inherit its control inputs");
    REGAL_TRY(
        regal_cost_add_wait(cost, stand_in(joining, cost->control[i]), after));
  }
  return REGAL_OK;
}

/* Follows an input through dropped nodes to the tensor that is really read. A
 * _Send may read a _Recv in its turn. */
static regal_status follow_input(const joining *joining, uint32_t consumer,
                                 regal_source *source) {
  regal_cost_graph *cost = joining->cost;
  uint64_t hops = 0;
  while (source->node != REGAL_NONE &&
         joining->send_of[source->node] != REGAL_NONE) {
    uint32_t receive = source->node;
    if (hops++ == cost->counts.joined)
      return regal_cost_fail(cost, receive,
                             "the pairs of _Send and _Recv form a cycle");
    REGAL_TRY(inherit_waits(joining, receive, consumer));
    *source = cost->input[cost->input_begin[joining->send_of[receive]]];
  }
  return REGAL_OK;
}

/* A control edge from a dropped _Recv comes from its _Send. */
static regal_status follow_control(const joining *joining, uint32_t after,
                                   uint32_t *before) {
  if (joining->send_of[*before] == REGAL_NONE)
    return REGAL_OK;
  REGAL_TRY(inherit_waits(joining, *before, after));
  *before = stand_in(joining, *before);
  return REGAL_OK;
}

/* The new inputs go to an array of their own: a chain of pairs must be followed
 * as it stands in the file, or what is inherited would depend on the order. */
static regal_status rewire(const joining *joining) {
  regal_cost_graph *cost = joining->cost;
  uint32_t inputs = cost->input_begin[cost->nodes];
  regal_source *input = regal_arena_alloc(&cost->arena, inputs, sizeof *input);
  if (!input)
    return regal_fail_memory(cost->context);
  memcpy(input, cost->input, inputs * sizeof *input);
  for (uint32_t i = 0; i < cost->nodes; i++) {
    if (cost->becomes[i] == REGAL_NONE)
      continue;
    for (REGAL_ROW(j, cost->input_begin, i))
      REGAL_TRY(follow_input(joining, i, &input[j]));
    for (REGAL_ROW(j, cost->control_begin, i))
      REGAL_TRY(follow_control(joining, i, &cost->control[j]));
  }
  cost->input = input;
  return REGAL_OK;
}

/* -- Parts ----------------------------------------------------------------- */

static uint32_t find_part(uint32_t *part, uint32_t partition) {
  while (part[partition] != partition)
    partition = part[partition] = part[part[partition]];
  return partition;
}

/* How many parts the partitions form, joined by their pairs. */
static regal_status count_parts(const joining *joining) {
  regal_cost_graph *cost = joining->cost;
  uint32_t *part =
      regal_arena_alloc(&cost->arena, cost->partitions, sizeof *part);
  if (!part)
    return regal_fail_memory(cost->context);
  for (uint32_t i = 0; i < cost->partitions; i++)
    part[i] = i;
  cost->counts.parts = cost->partitions;
  for (uint32_t i = 0; i < cost->nodes; i++) {
    if (joining->send_of[i] == REGAL_NONE)
      continue;
    uint32_t to = find_part(part, cost->partition[i]);
    uint32_t from = find_part(part, cost->partition[joining->send_of[i]]);
    cost->counts.parts -= to != from;
    part[to] = from;
  }
  return REGAL_OK;
}

regal_status regal_cost_join(regal_cost_graph *cost) {
  joining joining = {.cost = cost};
  if (cost->partitions < 2)
    return REGAL_OK;
  joining.sends =
      regal_arena_alloc(&cost->arena, cost->nodes, sizeof *joining.sends);
  joining.send_of =
      regal_arena_alloc(&cost->arena, cost->nodes, sizeof *joining.send_of);
  if (!joining.sends || !joining.send_of)
    return regal_fail_memory(cost->context);
  list_sends(&joining);
  pair(&joining);
  merge_named(cost, "_SOURCE");
  merge_named(cost, "_SINK");
  REGAL_TRY(rewire(&joining));
  return count_parts(&joining);
}
