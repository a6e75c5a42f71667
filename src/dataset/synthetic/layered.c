/* SPDX-License-Identifier: Apache-2.0 */
/* Layered graphs of any size. An op reads from the few layers before its own,
 * always also from the very last of them, so that there are as many ops in a
 * row as there are layers.
 *
 * The ops that it may read from are cut into `fan_in` equal parts, and it reads
 * one of each part: distinct inputs without a search, hence linear time.
 */
#include "dataset/synthetic/random_models.h"

#include <inttypes.h>

enum { REACH = 3 }; /* layers that an op may read from */

typedef struct layered {
  regal_builder *builder;
  int64_t *bytes;  /* [ops] size of each op's output */
  uint32_t *reads; /* [fan_in] what the present op reads */
  uint32_t width, fan_in;
  regal_random edges;
  regal_normal costs;
} layered;

static uint32_t draw_between(regal_random *random, uint32_t begin,
                             uint32_t end) {
  return begin + (uint32_t)regal_random_below(random, end - begin);
}

/* Fills reads with distinct producers, ascending; returns their number. */
static uint32_t draw_reads(layered *layered, uint32_t op) {
  uint32_t layer = op / layered->width;
  if (layer == 0 || layered->fan_in == 0)
    return 0;
  uint32_t end = layer * layered->width;
  uint32_t begin = layer > REACH ? end - REACH * layered->width : 0;
  uint64_t room = end - begin;
  uint32_t count = layered->fan_in < room ? layered->fan_in : (uint32_t)room;
  for (uint32_t i = 0; i < count; i++) {
    uint32_t low = begin + (uint32_t)(room * i / count);
    uint32_t high = begin + (uint32_t)(room * (i + 1) / count);
    if (i == count - 1 && low < end - layered->width)
      low = end - layered->width;
    layered->reads[i] = draw_between(&layered->edges, low, high);
  }
  return count;
}

static regal_status add_op(layered *layered, uint32_t op) {
  regal_builder *builder = layered->builder;
  uint32_t count = draw_reads(layered, op);
  layered->bytes[op] = regal_random_bytes(&layered->costs);
  int64_t touched = layered->bytes[op];
  for (uint32_t i = 0; i < count; i++)
    touched += layered->bytes[layered->reads[i]];
  int64_t run_ns = regal_random_run_ns(&layered->costs, touched);
  char name[64];
  snprintf(name, sizeof name, "layer_%" PRIu32 "/op_%" PRIu32,
           op / layered->width, op % layered->width);
  REGAL_TRY(regal_builder_add_op(builder, name, run_ns, 0, 0, NULL));
  REGAL_TRY(regal_builder_add_output(builder, op, layered->bytes[op], false));
  for (uint32_t i = 0; i < count; i++)
    REGAL_TRY(regal_builder_add_input(builder, op, layered->reads[i], 0));
  return REGAL_OK;
}

static regal_status add_ops(regal_context *context, layered *layered,
                            uint32_t ops) {
  uint32_t most_reads = layered->fan_in < ops ? layered->fan_in : ops;
  layered->bytes = regal_alloc(context, ops, sizeof *layered->bytes);
  layered->reads = regal_alloc(context, most_reads, sizeof *layered->reads);
  if (!layered->bytes || !layered->reads)
    return regal_fail_memory(context);
  REGAL_TRY(regal_builder_create(context, &layered->builder));
  for (uint32_t op = 0; op < ops; op++)
    REGAL_TRY(add_op(layered, op));
  return REGAL_OK;
}

regal_status regal_layered_graph(regal_context *context, uint32_t ops,
                                 uint32_t width, uint32_t fan_in, uint64_t seed,
                                 regal_graph **graph) {
  if (ops == 0 || width == 0)
    return regal_fail(context, REGAL_MISUSE,
                      "a layered graph needs at least one op in a layer");
  /* Models are generations 0 .. REGAL_GRAPH_MODELS-1 of the random key. */
  const uint64_t generation = REGAL_GRAPH_MODELS;
  layered layered = {.width = width, .fan_in = fan_in};
  layered.edges.key =
      regal_random_key(seed, REGAL_PURPOSE_GENERATE, generation, 0);
  layered.costs.random.key =
      regal_random_key(seed, REGAL_PURPOSE_GENERATE, generation, 1);
  regal_status status = add_ops(context, &layered, ops);
  regal_release(context, layered.bytes);
  regal_release(context, layered.reads);
  return regal_builder_end(layered.builder, status, graph);
}
