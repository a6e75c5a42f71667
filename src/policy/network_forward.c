/* SPDX-License-Identifier: Apache-2.0 */
/* Forward: features to states, states to logits and probabilities, and the
 * baseline b(G) = MLP_b(mean of MLP_g(h_v)) of the paper's 4.2, which has a
 * graph network of its own. Graph by graph, so that a graph's states stay in
 * the cache: its rows are enough for the kernels. */
#include <string.h>

#include "policy/network_parts.h"

static regal_status check_graphs(regal_context *context,
                                 const regal_network *network,
                                 const regal_network_workspace *work,
                                 const regal_encoding *const *encodings,
                                 uint32_t graphs) {
  const regal_network_sizes *room = &work->capacity;
  regal_network_sizes sizes = {0};
  for (uint32_t i = 0; i < graphs; i++) {
    const regal_encoding *encoding = encodings[i];
    regal_network_add_sizes(&sizes, encoding);
    if (encoding->node_features != network->config.node_features ||
        encoding->edge_features != network->config.edge_features)
      return regal_fail(context, REGAL_MISUSE,
                        "a graph has %u node and %u edge features, the policy "
                        "reads %u and %u",
                        encoding->node_features, encoding->edge_features,
                        network->config.node_features,
                        network->config.edge_features);
  }
  if (sizes.graphs > room->graphs || sizes.nodes > room->nodes ||
      sizes.edges > room->edges || sizes.tensors > room->tensors)
    return regal_fail(context, REGAL_MISUSE,
                      "%u graphs of %zu nodes, %zu edges and %zu tensors in a "
                      "workspace for %u, %zu, %zu and %zu",
                      sizes.graphs, sizes.nodes, sizes.edges, sizes.tensors,
                      room->graphs, room->nodes, room->edges, room->tensors);
  return REGAL_OK;
}

static void copy_features(size_t count, const float *from, regal_real *to) {
  for (size_t i = 0; i < count; i++)
    to[i] = from[i];
}

static void read_graph(const regal_network *network, regal_graph_state *graph) {
  const regal_encoding *encoding = graph->encoding;
  copy_features((size_t)encoding->nodes * encoding->node_features,
                encoding->node, graph->node_x);
  copy_features((size_t)encoding->edges * encoding->edge_features,
                encoding->edge, graph->edge_x);
  memset(graph->share, 0, 2 * encoding->nodes * sizeof *graph->share);
  for (uint32_t e = 0; e < encoding->edges; e++) {
    graph->share[2 * encoding->to[e]] += 1;
    graph->share[2 * encoding->from[e] + 1] += 1;
  }
  for (uint32_t v = 0; v < encoding->nodes; v++) {
    regal_real *share = graph->share + 2 * v, degree = share[0] + share[1];
    graph->scale[v] =
        network->config.mean_aggregation && degree > 0 ? 1 / degree : 1;
    share[0] *= graph->scale[v];
    share[1] *= graph->scale[v];
  }
}

static void run_sequence(const regal_network *network,
                         regal_graph_state *graph) {
  const regal_network_plan *plan = network->plan;
  size_t n = graph->encoding->nodes;
  regal_dense_forward(&plan->sequence.input, network->parameters, n,
                      graph->node, graph->sequence.input);
  if (plan->has_choices_in_sequence)
    return;
  for (size_t v = 0; v < n; v++) {
    regal_sequence_begin(&plan->sequence, network->parameters, v,
                         &graph->sequence);
    regal_sequence_finish(&plan->sequence, v, &graph->sequence);
  }
  graph->node = graph->sequence.out;
}

/* Sets graph->node and graph->edge. */
static void encode(const regal_network *network, regal_graph_state *graph) {
  const regal_network_plan *plan = network->plan;
  if (!plan->encoders)
    return;
  if (plan->has_gate) {
    regal_experts_forward(network, graph);
    graph->node = graph->mixed_node;
    graph->edge = graph->mixed_edge;
  } else {
    const regal_gnn_plan *gnn = &plan->encoder[0];
    regal_gnn_forward(gnn, network->parameters, graph, &graph->encoder[0]);
    graph->node =
        regal_gnn_states(gnn, &graph->encoder[0], graph->encoding->nodes);
    graph->edge = graph->encoder[0].edge;
  }
  if (plan->has_sequence)
    run_sequence(network, graph);
}

/* [items][2w]: the producer's state, and the mean of its edges'. */
static void read_tensors(const regal_graph_state *graph, size_t w,
                         regal_real *in) {
  const regal_encoding *encoding = graph->encoding;
  for (uint32_t t = 0; t < encoding->tensors; t++, in += 2 * w) {
    uint32_t first = encoding->tensor_edge[t];
    memcpy(in, graph->node + encoding->tensor_node[t] * w, w * sizeof *in);
    regal_mean_forward(encoding->tensor_edge[t + 1] - first, w,
                       graph->edge + first * w, in + w);
  }
}

static void run_heads(const regal_network *network, regal_graph_state *graph) {
  const regal_policy_config *config = &network->config;
  size_t w = config->width;
  bool blind = config->kind == REGAL_POLICY_BLIND;
  graph->entropy = 0;
  for (uint32_t i = 0; i < config->head_count; i++) {
    regal_head_domain domain = config->heads[i].domain;
    const regal_head_plan *plan = &network->plan->head[i];
    regal_head_state *state = &graph->head[i];
    if (plan->in_sequence) {
      state->logits = NULL;
      continue;
    }
    if (!blind && domain == REGAL_HEAD_TENSOR)
      read_tensors(graph, w, state->in);
    else if (!blind && domain == REGAL_HEAD_GRAPH)
      regal_mean_forward(graph->encoding->nodes, w, graph->node, state->in);
    graph->entropy += regal_head_forward(
        plan, network->parameters, blind,
        domain == REGAL_HEAD_NODE ? graph->node : state->in, state);
  }
}

static void run_baseline(const regal_network *network,
                         regal_graph_state *graph) {
  const regal_network_plan *plan = network->plan;
  const regal_real *parameters = network->parameters;
  size_t n = graph->encoding->nodes, w = network->config.width;
  regal_gnn_forward(&plan->baseline, parameters, graph, &graph->baseline);
  regal_mlp_forward(&plan->baseline_node, parameters, n,
                    regal_gnn_states(&plan->baseline, &graph->baseline, n),
                    graph->baseline_hidden, graph->baseline_node);
  regal_mean_forward(n, w, graph->baseline_node, graph->baseline_pooled);
  regal_mlp_forward(&plan->baseline_head, parameters, 1, graph->baseline_pooled,
                    graph->baseline_second, graph->baseline_value);
}

regal_status regal_network_forward(regal_context *context,
                                   const regal_network *network,
                                   regal_network_workspace *work,
                                   const regal_encoding *const *encodings,
                                   uint32_t graphs, bool with_baseline) {
  REGAL_TRY(check_graphs(context, network, work, encodings, graphs));
  regal_carver carver = {.base = work->states};
  work->graphs = graphs;
  for (uint32_t i = 0; i < graphs; i++) {
    regal_graph_state *graph = &work->graph[i];
    graph->encoding = encodings[i];
    regal_network_carve_state(network, encodings[i]->nodes, encodings[i]->edges,
                              encodings[i]->tensors, &carver, graph);
    read_graph(network, graph);
    encode(network, graph);
    run_heads(network, graph);
    if (with_baseline)
      run_baseline(network, graph);
  }
  return REGAL_OK;
}

const regal_real *regal_network_logits(const regal_network_workspace *work,
                                       uint32_t graph, uint32_t head) {
  return work->graph[graph].head[head].logits;
}

regal_real regal_network_baseline(const regal_network_workspace *work,
                                  uint32_t graph) {
  return work->graph[graph].baseline_value[0];
}
