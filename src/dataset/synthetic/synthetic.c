/* SPDX-License-Identifier: Apache-2.0 */
/* The paper's synthetic graphs (appendix, synthetic dataset): a random
 * undirected graph, directed along a random order, between a source and a sink,
 * with random outputs, kinds of edges and costs.
 *
 * The source, the ops in their order, and the sink are added in this order, so
 * op number r of the random order has id r + 1. Topology, order, edges and
 * costs each have a random stream of their own.
 */
#include "dataset/synthetic/random_models.h"

#include <inttypes.h>

enum { FEWEST_NODES = 50, MOST_NODES = 200 }; /* drawn when none are given */
enum { MOST_OUTPUTS = 2 };
static const double no_output_p = 0.1, one_output_p = 0.8, control_p = 0.2;

/* Individual of the random key: one stream for each question. */
enum stream {
  STREAM_NODES,
  STREAM_PAIRS,
  STREAM_ORDER,
  STREAM_EDGES,
  STREAM_COSTS
};

typedef struct drawn_op {
  int64_t bytes[MOST_OUTPUTS];
  uint32_t node;   /* in the undirected graph */
  uint8_t outputs; /* how many of bytes[] there are */
  bool has_before, has_after;
} drawn_op;

typedef struct synthesis {
  regal_context *context;
  regal_builder *builder;
  regal_pairs pairs;
  drawn_op *ops; /* [nodes] in the random order */
  int8_t *reads; /* [nodes] what the present op takes from those before it */
  regal_random edges;
  regal_normal costs;
} synthesis;

enum reading { READS_NOTHING = -2, READS_CONTROL = -1 /* else a port */ };

static regal_random stream_of(uint64_t seed, regal_graph_model model,
                              enum stream stream) {
  return (regal_random){
      regal_random_key(seed, REGAL_PURPOSE_GENERATE, model, stream), 0};
}

static void shuffle(synthesis *synthesis, regal_random random) {
  drawn_op *ops = synthesis->ops;
  for (uint32_t i = 0; i < synthesis->pairs.nodes; i++) {
    uint32_t j = (uint32_t)regal_random_below(&random, i + 1);
    ops[i].node = ops[j].node;
    ops[j].node = i;
  }
}

static void draw_outputs(synthesis *synthesis, drawn_op *op) {
  double u = regal_random_unit(&synthesis->edges);
  op->outputs = u < no_output_p ? 0 : u < no_output_p + one_output_p ? 1 : 2;
  for (uint32_t port = 0; port < op->outputs; port++)
    op->bytes[port] = regal_random_bytes(&synthesis->costs);
}

/* A port of the producer, or control; its draws do not depend on the result. */
static int8_t draw_reading(synthesis *synthesis, const drawn_op *producer) {
  double u = regal_random_unit(&synthesis->edges);
  uint64_t port = regal_random_below(&synthesis->edges,
                                     producer->outputs ? producer->outputs : 1);
  return producer->outputs == 0 || u < control_p ? READS_CONTROL : (int8_t)port;
}

/* What the op takes from each op before it; returns the bytes that it reads. */
static int64_t draw_readings(synthesis *synthesis, uint32_t rank) {
  drawn_op *op = &synthesis->ops[rank];
  int64_t bytes = 0;
  for (uint32_t before = 0; before < rank; before++) {
    drawn_op *producer = &synthesis->ops[before];
    synthesis->reads[before] = READS_NOTHING;
    if (!regal_pairs_has(&synthesis->pairs, producer->node, op->node))
      continue;
    synthesis->reads[before] = draw_reading(synthesis, producer);
    producer->has_after = op->has_before = true;
    if (synthesis->reads[before] >= 0)
      bytes += producer->bytes[synthesis->reads[before]];
  }
  return bytes;
}

static regal_status add_readings(const synthesis *synthesis, uint32_t rank) {
  regal_builder *builder = synthesis->builder;
  for (uint32_t before = 0; before < rank; before++) {
    int8_t reads = synthesis->reads[before];
    if (reads >= 0)
      REGAL_TRY(regal_builder_add_input(builder, rank + 1, before + 1,
                                        (uint32_t)reads));
    else if (reads == READS_CONTROL)
      REGAL_TRY(regal_builder_add_control(builder, before + 1, rank + 1));
  }
  return REGAL_OK;
}

static regal_status add_op(synthesis *synthesis, uint32_t rank) {
  regal_builder *builder = synthesis->builder;
  drawn_op *op = &synthesis->ops[rank];
  draw_outputs(synthesis, op);
  int64_t touched = draw_readings(synthesis, rank);
  for (uint32_t port = 0; port < op->outputs; port++)
    touched += op->bytes[port];
  int64_t run_ns = regal_random_run_ns(&synthesis->costs, touched);
  char name[32];
  snprintf(name, sizeof name, "op_%" PRIu32, rank);
  REGAL_TRY(regal_builder_add_op(builder, name, run_ns, 0, 0, NULL));
  for (uint32_t port = 0; port < op->outputs; port++)
    REGAL_TRY(
        regal_builder_add_output(builder, rank + 1, op->bytes[port], false));
  return add_readings(synthesis, rank);
}

static regal_status add_ops(synthesis *synthesis) {
  regal_builder *builder = synthesis->builder;
  uint32_t nodes = synthesis->pairs.nodes, sink = nodes + 1;
  REGAL_TRY(regal_builder_add_op(builder, "_SOURCE", 0, 0, 0, NULL));
  for (uint32_t rank = 0; rank < nodes; rank++)
    REGAL_TRY(add_op(synthesis, rank));
  REGAL_TRY(regal_builder_add_op(builder, "_SINK", 0, 0, 0, NULL));
  for (uint32_t rank = 0; rank < nodes; rank++) {
    if (!synthesis->ops[rank].has_before)
      REGAL_TRY(regal_builder_add_control(builder, 0, rank + 1));
    if (!synthesis->ops[rank].has_after)
      REGAL_TRY(regal_builder_add_control(builder, rank + 1, sink));
  }
  return REGAL_OK;
}

static regal_status synthesize(synthesis *synthesis, regal_graph_model model,
                               uint32_t nodes, uint64_t seed) {
  regal_context *context = synthesis->context;
  REGAL_TRY(regal_pairs_create(context, nodes, &synthesis->pairs));
  synthesis->ops = regal_alloc(context, nodes, sizeof *synthesis->ops);
  synthesis->reads = regal_alloc(context, nodes, sizeof *synthesis->reads);
  if (!synthesis->ops || !synthesis->reads)
    return regal_fail_memory(context);
  regal_random random = stream_of(seed, model, STREAM_PAIRS);
  regal_random_model(model, &synthesis->pairs, &random);
  shuffle(synthesis, stream_of(seed, model, STREAM_ORDER));
  synthesis->edges = stream_of(seed, model, STREAM_EDGES);
  synthesis->costs.random = stream_of(seed, model, STREAM_COSTS);
  REGAL_TRY(regal_builder_create(context, &synthesis->builder));
  return add_ops(synthesis);
}

regal_status regal_synthetic_graph(regal_context *context,
                                   regal_graph_model model, uint32_t nodes,
                                   uint64_t seed, regal_graph **graph) {
  if ((unsigned)model >= REGAL_GRAPH_MODELS)
    return regal_fail(context, REGAL_MISUSE,
                      "there is no random graph model %d", (int)model);
  if (nodes == 0) {
    regal_random random = stream_of(seed, model, STREAM_NODES);
    nodes = FEWEST_NODES + (uint32_t)regal_random_below(
                               &random, MOST_NODES - FEWEST_NODES + 1);
  }
  if (nodes < REGAL_LEAST_NODES || nodes > REGAL_MOST_NODES)
    return regal_fail(context, REGAL_MISUSE,
                      "a synthetic graph has %d to %d nodes, not %" PRIu32,
                      REGAL_LEAST_NODES, REGAL_MOST_NODES, nodes);
  synthesis synthesis = {.context = context};
  regal_status status = synthesize(&synthesis, model, nodes, seed);
  regal_release(context, synthesis.pairs.bits);
  regal_release(context, synthesis.ops);
  regal_release(context, synthesis.reads);
  return regal_builder_end(synthesis.builder, status, graph);
}
