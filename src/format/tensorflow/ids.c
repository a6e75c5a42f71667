/* SPDX-License-Identifier: Apache-2.0 */
/* Partitions, and ids turned into positions in the file.
 *
 * Ids are unique only inside a partition. A new one begins at a _SOURCE when
 * the present one has its own already, and at a repeated id 0.
 *
 * With --loops cut, data edges that leave a NextIteration node are dropped:
 * every cycle of a real file goes through one, and without them the body of a
 * loop counts once.
 */
#include <inttypes.h>
#include <string.h>

#include "format/tensorflow/cost_graph.h"
#include "graph/builder.h"

/* A node by its id. */
typedef struct entry {
  int32_t id;
  uint32_t node;
} entry;

/* The nodes of one partition. Ids mostly count up from the first; where they do
 * not, a sorted table finds them. */
typedef struct partition {
  const regal_cost_graph *cost;
  uint32_t begin, end;
  bool counts_up;
  entry *sorted; /* [end - begin], unless counts_up; as much room again */
} partition;

/* -- Splitting ------------------------------------------------------------- */

static void split(regal_cost_graph *cost) {
  bool has_source = false, has_zero = false;
  bool one = cost->def->regal_one_partition;
  for (uint32_t i = 0; i < cost->nodes; i++) {
    const regal_cost_node *node = regal_cost_node_at(cost, i);
    bool source = !strcmp(node->name, "_SOURCE");
    bool starts = (source && has_source) || (!node->id && has_zero);
    if (i == 0 || (starts && !one)) {
      cost->partitions++;
      has_source = has_zero = false;
    }
    has_source |= source;
    has_zero |= !node->id;
    cost->partition[i] = cost->partitions - 1;
  }
}

/* -- Index ----------------------------------------------------------------- */

/* Orders negative ids before positive ones. */
static uint32_t sort_key(int32_t id) {
  return (uint32_t)id ^ UINT32_C(0x80000000);
}

/* Sorts by id, equal ones by position: a radix sort, byte by byte, for its time
 * is the same whatever the ids are. `other` has the same room. */
static void sort_entries(entry *entries, entry *other, uint32_t count) {
  for (unsigned shift = 0; shift < 32; shift += 8) {
    uint32_t end[256] = {0};
    for (uint32_t i = 0; i < count; i++)
      end[sort_key(entries[i].id) >> shift & 0xFF]++;
    for (unsigned digit = 1; digit < 256; digit++)
      end[digit] += end[digit - 1];
    for (uint32_t i = count; i-- > 0;)
      other[--end[sort_key(entries[i].id) >> shift & 0xFF]] = entries[i];
    entry *swap = entries;
    entries = other;
    other = swap;
  }
}

static regal_status fail_duplicate(const regal_cost_graph *cost,
                                   const entry *first, const entry *second) {
  regal_quoted name = regal_quote(regal_cost_node_at(cost, first->node)->name);
  if (cost->lines)
    return regal_cost_fail(cost, second->node,
                           "id %" PRId32
                           " is already that of %s in line %" PRIu32,
                           second->id, name.text, cost->lines[first->node]);
  return regal_cost_fail(cost, second->node,
                         "id %" PRId32 " is already that of node %" PRIu32
                         " %s",
                         second->id, first->node, name.text);
}

static int64_t id_at(const partition *part, uint32_t node) {
  return regal_cost_node_at(part->cost, node)->id;
}

static regal_status index_partition(partition *part) {
  uint32_t count = part->end - part->begin, up = 1;
  while (up < count &&
         id_at(part, part->begin + up) == id_at(part, part->begin) + up)
    up++;
  part->counts_up = up == count;
  if (part->counts_up)
    return REGAL_OK;
  for (uint32_t i = 0; i < count; i++)
    part->sorted[i] =
        (entry){(int32_t)id_at(part, part->begin + i), part->begin + i};
  sort_entries(part->sorted, part->sorted + count, count);
  for (uint32_t i = 1; i < count; i++)
    if (part->sorted[i].id == part->sorted[i - 1].id)
      return fail_duplicate(part->cost, &part->sorted[i - 1], &part->sorted[i]);
  return REGAL_OK;
}

static uint32_t find_id(const partition *part, int32_t id) {
  uint32_t count = part->end - part->begin;
  if (part->counts_up) {
    int64_t offset = id - id_at(part, part->begin);
    return offset >= 0 && offset < count ? part->begin + (uint32_t)offset
                                         : REGAL_NONE;
  }
  uint32_t low = 0, high = count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (part->sorted[middle].id < id)
      low = middle + 1;
    else
      high = middle;
  }
  return low < count && part->sorted[low].id == id ? part->sorted[low].node
                                                   : REGAL_NONE;
}

/* -- Edges ----------------------------------------------------------------- */

static regal_status resolve_input(const partition *part, uint32_t node,
                                  size_t index, regal_source *source) {
  const regal_cost_graph *cost = part->cost;
  const regal_cost_input *input =
      regal_cost_node_at(cost, node)->input_info[index];
  uint32_t producer = find_id(part, input->preceding_node);
  if (producer == REGAL_NONE)
    return regal_cost_fail(cost, node,
                           "input %zu comes from node %" PRId32
                           ", which does not exist",
                           index, input->preceding_node);
  const regal_cost_node *from = regal_cost_node_at(cost, producer);
  if (producer == node)
    return regal_cost_fail(cost, node, "input %zu is the node's own output",
                           index);
  if (input->preceding_port < 0 ||
      (size_t)input->preceding_port >= from->n_output_info)
    return regal_cost_fail(
        cost, node,
        "input %zu is output %" PRId32 " of %s, which has %zu output%s", index,
        input->preceding_port, regal_quote(from->name).text,
        from->n_output_info, from->n_output_info == 1 ? "" : "s");
  *source = (regal_source){producer, (uint32_t)input->preceding_port};
  return REGAL_OK;
}

static regal_status resolve_node(regal_cost_graph *cost, const partition *part,
                                 uint32_t index) {
  const regal_cost_node *node = regal_cost_node_at(cost, index);
  for (size_t i = 0; i < node->n_input_info; i++)
    REGAL_TRY(resolve_input(part, index, i,
                            &cost->input[cost->input_begin[index] + i]));
  for (size_t i = 0; i < node->n_control_input; i++) {
    uint32_t before = find_id(part, node->control_input[i]);
    if (before == REGAL_NONE)
      return regal_cost_fail(cost, index,
                             "control input %" PRId32 " does not exist",
                             node->control_input[i]);
    if (before == index)
      return regal_cost_fail(cost, index,
                             "control input %" PRId32 " is the node itself",
                             node->control_input[i]);
    cost->control[cost->control_begin[index] + i] = before;
  }
  return REGAL_OK;
}

static regal_status resolve_partitions(regal_cost_graph *cost) {
  entry *sorted =
      regal_arena_alloc(&cost->arena, 2 * (size_t)cost->nodes, sizeof *sorted);
  if (!sorted)
    return regal_fail_memory(cost->context);
  partition part = {.cost = cost, .sorted = sorted};
  for (; part.begin < cost->nodes; part.begin = part.end) {
    part.end = part.begin;
    while (part.end < cost->nodes &&
           cost->partition[part.end] == cost->partition[part.begin])
      part.end++;
    REGAL_TRY(index_partition(&part));
    for (uint32_t node = part.begin; node < part.end; node++)
      REGAL_TRY(resolve_node(cost, &part, node));
  }
  return REGAL_OK;
}

/* -- Arrays ---------------------------------------------------------------- */

#define MAKE(cost, array, count)                                               \
  ((cost)->array =                                                             \
       regal_arena_alloc(&(cost)->arena, count, sizeof *(cost)->array))

/* Where the rows of each node begin; false when there are too many items. */
static bool count_rows(regal_cost_graph *cost) {
  uint64_t inputs = 0, controls = 0, outputs = 0;
  for (uint32_t i = 0; i < cost->nodes; i++) {
    const regal_cost_node *node = regal_cost_node_at(cost, i);
    cost->becomes[i] = i;
    inputs += node->n_input_info;
    controls += node->n_control_input;
    outputs += node->n_output_info;
    if (inputs >= REGAL_NONE || controls >= REGAL_NONE || outputs >= REGAL_NONE)
      return false;
    cost->input_begin[i + 1] = (uint32_t)inputs;
    cost->control_begin[i + 1] = (uint32_t)controls;
    cost->output_begin[i + 1] = (uint32_t)outputs;
  }
  return true;
}

static regal_status fail_too_many(const regal_cost_graph *cost) {
  return regal_fail(cost->context, REGAL_BAD_INPUT,
                    "%s: more than %" PRIu32 " nodes, edges or outputs",
                    cost->path, REGAL_NONE - 1);
}

static regal_status make_arrays(regal_cost_graph *cost) {
  size_t nodes = cost->nodes;
  MAKE(cost, partition, nodes);
  MAKE(cost, becomes, nodes);
  MAKE(cost, run_ns, nodes);
  MAKE(cost, resident, nodes);
  MAKE(cost, input_begin, nodes + 1);
  MAKE(cost, control_begin, nodes + 1);
  MAKE(cost, output_begin, nodes + 1);
  if (cost->arena.failed)
    return regal_fail_memory(cost->context);
  if (!count_rows(cost))
    return fail_too_many(cost);
  size_t outputs = cost->output_begin[nodes];
  MAKE(cost, input, cost->input_begin[nodes]);
  MAKE(cost, control, cost->control_begin[nodes]);
  MAKE(cost, bytes, outputs);
  MAKE(cost, is_final, outputs);
  MAKE(cost, may_reuse, outputs);
  return cost->arena.failed ? regal_fail_memory(cost->context) : REGAL_OK;
}

regal_status regal_cost_resolve(regal_cost_graph *cost) {
  if (cost->def->n_node >= REGAL_NONE)
    return fail_too_many(cost);
  cost->nodes = (uint32_t)cost->def->n_node;
  REGAL_TRY(make_arrays(cost));
  split(cost);
  return resolve_partitions(cost);
}

/* -- While loops ----------------------------------------------------------- */

enum { LOOPS_REJECT, LOOPS_CUT }; /* the choices of --loops */

static bool is_next_iteration(const char *name) {
  return strstr(name, "NextIteration") || strstr(name, "next_iteration");
}

void regal_cost_cut_loops(regal_cost_graph *cost) {
  if (cost->options->loops != LOOPS_CUT)
    return;
  for (uint32_t i = 0; i < cost->input_begin[cost->nodes]; i++) {
    regal_source *source = &cost->input[i];
    if (!is_next_iteration(regal_cost_node_at(cost, source->node)->name))
      continue;
    source->node = REGAL_NONE;
    cost->counts.cut++;
  }
}
