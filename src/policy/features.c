/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/features.h"

#include "base/carve.h"

enum {
  NODE_INPUTS,
  NODE_OUTPUTS,
  NODE_OWN_MEMORY,
  NODE_LARGEST_MEMORY,
  NODE_BEFORE_NS,
  NODE_AFTER_NS,
  NODE_RUN_NS,
  NODE_LARGEST_NS,
  NODE_PLACEMENT
};
enum { EDGE_BYTES, EDGE_CONTROL, EDGE_HYPEREDGE };

static uint32_t waits_of(const regal_encoder_input *in, uint32_t op) {
  return in->wait_begin ? in->wait_begin[op + 1] - in->wait_begin[op] : 0;
}

static size_t count_edges(const regal_encoder_input *in) {
  size_t edges = in->use_begin[in->tensors];
  return edges + (in->wait_begin ? in->wait_begin[in->ops] : 0);
}

static void layout(regal_encoding *made, regal_carver *carver) {
  size_t nodes = made->nodes, edges = made->edges, tensors = made->tensors;
  regal_carve(carver, 1, sizeof *made);
  made->node = regal_carve(carver, nodes * made->node_features, sizeof(float));
  made->edge = regal_carve(carver, edges * made->edge_features, sizeof(float));
  made->from = regal_carve(carver, edges, sizeof(uint32_t));
  made->to = regal_carve(carver, edges, sizeof(uint32_t));
  made->tensor_node = regal_carve(carver, tensors, sizeof(uint32_t));
  made->tensor_edge = regal_carve(carver, tensors + 1, sizeof(uint32_t));
}

static float *node_of(regal_encoding *made, uint32_t op) {
  return made->node + (size_t)op * made->node_features;
}

/* -- Edges ----------------------------------------------------------------- */

static void add_edge(regal_encoding *made, uint32_t from, uint32_t to,
                     double bytes, bool control, uint32_t hyperedge) {
  uint32_t e = made->edges++;
  float *edge = made->edge + (size_t)e * made->edge_features;
  made->from[e] = from;
  made->to[e] = to;
  edge[EDGE_BYTES] = (float)bytes;
  edge[EDGE_CONTROL] = control;
  edge[EDGE_HYPEREDGE] = (float)hyperedge; /* divided at the end */
}

/* The edges of all tensors, then the control edges. Hyperedges are numbered by
 * producer, its control edges last, so that both ways to treat control edges
 * give the same features. */
static void fill_edges(regal_encoding *made, const regal_encoder_input *in,
                       double unit) {
  uint32_t hyperedges = 0;
  made->edges = 0;
  for (uint32_t op = 0; op < in->ops; op++) {
    for (uint32_t t = in->output_begin[op]; t < in->output_begin[op + 1]; t++) {
      made->tensor_node[t] = op;
      made->tensor_edge[t] = made->edges;
      bool control = in->control_tensor && in->control_tensor[t];
      for (uint32_t u = in->use_begin[t]; u < in->use_begin[t + 1]; u++)
        add_edge(made, op, in->consumer[u], (double)in->bytes[t] / unit,
                 control, hyperedges);
      hyperedges++;
    }
    hyperedges += waits_of(in, op) > 0;
  }
  made->tensor_edge[in->tensors] = made->edges;
  uint32_t passed = 0; /* hyperedges before the op's control edges */
  for (uint32_t op = 0; op < in->ops; op++) {
    passed += in->output_begin[op + 1] - in->output_begin[op];
    for (uint32_t w = 0; w < waits_of(in, op); w++)
      add_edge(made, op, in->waiter[in->wait_begin[op] + w], 0, true, passed);
    passed += waits_of(in, op) > 0;
  }
  for (uint32_t e = 0; e < made->edges; e++)
    made->edge[(size_t)e * made->edge_features + EDGE_HYPEREDGE] /=
        (float)hyperedges;
}

/* -- Nodes ----------------------------------------------------------------- */

static double own_memory(const regal_encoder_input *in, uint32_t op) {
  return (double)in->temporary[op] + (double)in->resident[op];
}

/* What memory is divided by; 1 where nothing has a size. */
static double memory_unit(const regal_encoder_input *in) {
  double largest = 0;
  for (uint32_t t = 0; t < in->tensors; t++)
    largest = (double)in->bytes[t] > largest ? (double)in->bytes[t] : largest;
  for (uint32_t op = 0; op < in->ops; op++)
    largest = own_memory(in, op) > largest ? own_memory(in, op) : largest;
  return largest > 0 ? largest : 1;
}

static int64_t input_bytes(const regal_encoder_input *in, uint32_t op) {
  int64_t bytes = 0;
  for (uint32_t i = in->input_begin[op]; i < in->input_begin[op + 1]; i++)
    bytes += in->bytes[in->input[i]];
  return bytes;
}

static int64_t output_bytes(const regal_encoder_input *in, uint32_t op) {
  int64_t bytes = 0;
  for (uint32_t t = in->output_begin[op]; t < in->output_begin[op + 1]; t++)
    bytes += in->bytes[t];
  return bytes;
}

static void fill_memory(regal_encoding *made, const regal_encoder_input *in,
                        double unit) {
  uint32_t largest = 0;
  int64_t most = -1;
  for (uint32_t op = 0; op < in->ops; op++) {
    float *node = node_of(made, op);
    int64_t inputs = input_bytes(in, op), outputs = output_bytes(in, op);
    int64_t used = inputs + outputs + in->temporary[op];
    node[NODE_INPUTS] = (float)((double)inputs / unit);
    node[NODE_OUTPUTS] = (float)((double)outputs / unit);
    node[NODE_OWN_MEMORY] = (float)(own_memory(in, op) / unit);
    if (used > most) {
      most = used;
      largest = op;
    }
  }
  node_of(made, largest)[NODE_LARGEST_MEMORY] = 1;
}

static void fill_run_times(regal_encoding *made,
                           const regal_encoder_input *in) {
  uint32_t largest = 0;
  for (uint32_t op = 1; op < in->ops; op++)
    if (in->run_ns[op] > in->run_ns[largest])
      largest = op;
  double unit = in->run_ns[largest] > 0 ? in->run_ns[largest] : 1;
  for (uint32_t op = 0; op < in->ops; op++) {
    double after = 0;
    for (uint32_t s = in->successor_begin[op]; s < in->successor_begin[op + 1];
         s++) {
      after += in->run_ns[in->successor[s]];
      node_of(made, in->successor[s])[NODE_BEFORE_NS] +=
          (float)(in->run_ns[op] / unit);
    }
    node_of(made, op)[NODE_AFTER_NS] = (float)(after / unit);
    node_of(made, op)[NODE_RUN_NS] = (float)(in->run_ns[op] / unit);
  }
  node_of(made, largest)[NODE_LARGEST_NS] = 1;
}

static void fill_brkga(regal_encoding *made, const regal_encoder_input *in) {
  for (uint32_t op = 0; op < in->ops; op++) {
    float *node = node_of(made, op);
    for (uint32_t a = 0; in->placement && a < in->devices; a++)
      node[NODE_PLACEMENT + a] = in->placement[(size_t)op * in->devices + a];
    if (in->position)
      node[NODE_PLACEMENT + in->devices] = in->position[op];
  }
}

regal_status regal_encoding_create(regal_context *context,
                                   const regal_encoder_input *input,
                                   regal_encoding **encoding) {
  size_t edges = count_edges(input);
  if (edges > UINT32_MAX)
    return regal_fail(context, REGAL_BAD_INPUT,
                      "%zu edges are too many for a policy", edges);
  regal_encoding measured = {.nodes = input->ops,
                             .edges = (uint32_t)edges,
                             .tensors = input->tensors,
                             .node_features =
                                 regal_node_features(input->devices),
                             .edge_features = REGAL_EDGE_FEATURES};
  regal_encoding sizes = measured;
  regal_carver carver = {0};
  layout(&sizes, &carver);
  regal_encoding *made = regal_alloc(context, carver.used, 1);
  if (!made)
    return regal_fail_memory(context);
  carver = (regal_carver){.base = (char *)made};
  *made = measured;
  layout(made, &carver);
  double unit = memory_unit(input);
  fill_edges(made, input, unit);
  fill_memory(made, input, unit);
  if (input->run_ns)
    fill_run_times(made, input);
  fill_brkga(made, input);
  *encoding = made;
  return REGAL_OK;
}

void regal_encoding_free(regal_context *context, regal_encoding *encoding) {
  regal_release(context, encoding);
}
