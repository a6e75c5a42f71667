/* SPDX-License-Identifier: Apache-2.0 */
/* What the other kinds of policy put on top of the graph network's states.
 *
 * Experts: several graph networks on the same graph. A gate reads the pooled
 * features of the graph, and the heads read the states mixed by its softmax
 * (Jacobs et al. 1991).
 *
 * Sequence: an LSTM over the nodes in topological order. It is the encoder of
 * the kind gas, and of an autoregressive policy (the paper's A.8), where it
 * also reads what the node before chose. So a step is two calls: the gates'
 * sums, to which the rows of those choices may be added, and their effect. */
#include <string.h>

#include "nn/categorical.h"
#include "nn/matrix.h"
#include "nn/recurrent.h"
#include "policy/network_parts.h"

/* -- Experts --------------------------------------------------------------- */

static void gate_forward(const regal_network *network,
                         regal_graph_state *graph) {
  const regal_network_plan *plan = network->plan;
  size_t n = graph->encoding->nodes, w = network->config.width;
  regal_real logits[REGAL_MOST_EXPERTS], log_gate[REGAL_MOST_EXPERTS];
  regal_dense_forward(&plan->gate_node, network->parameters, n, graph->node_x,
                      graph->gate_hidden);
  regal_relu_forward(n * w, graph->gate_hidden);
  regal_mean_forward(n, w, graph->gate_hidden, graph->gate_pooled);
  regal_mlp_forward(&plan->gate, network->parameters, 1, graph->gate_pooled,
                    graph->gate_second, logits);
  regal_categorical_forward(plan->encoders, logits, graph->gate, log_gate);
}

static void mix(size_t count, regal_real share, const regal_real *from,
                bool first, regal_real *to) {
  for (size_t i = 0; i < count; i++)
    to[i] = (first ? 0 : to[i]) + share * from[i];
}

void regal_experts_forward(const regal_network *network,
                           regal_graph_state *graph) {
  const regal_network_plan *plan = network->plan;
  size_t n = graph->encoding->nodes, e = graph->encoding->edges;
  size_t w = network->config.width;
  gate_forward(network, graph);
  for (uint32_t i = 0; i < plan->encoders; i++) {
    regal_gnn_state *state = &graph->encoder[i];
    regal_gnn_forward(&plan->encoder[i], network->parameters, graph, state);
    mix(n * w, graph->gate[i], regal_gnn_states(&plan->encoder[i], state, n),
        i == 0, graph->mixed_node);
    if (plan->has_tensor_head)
      mix(e * w, graph->gate[i], state->edge, i == 0, graph->mixed_edge);
  }
}

static double dot(size_t count, const regal_real *a, const regal_real *b) {
  double sum = 0;
  for (size_t i = 0; i < count; i++)
    sum += (double)a[i] * b[i];
  return sum;
}

/* From the gradient of the gate's shares. */
static void gate_backward(const regal_network *network,
                          const regal_graph_state *graph, const double *d_share,
                          regal_network_scratch *scratch) {
  const regal_network_plan *plan = network->plan;
  size_t n = graph->encoding->nodes, w = network->config.width;
  regal_real d_logits[REGAL_MOST_EXPERTS];
  double mean = 0;
  for (uint32_t i = 0; i < plan->encoders; i++)
    mean += graph->gate[i] * d_share[i];
  for (uint32_t i = 0; i < plan->encoders; i++)
    d_logits[i] = (regal_real)(graph->gate[i] * (d_share[i] - mean));
  regal_real *d_pooled = scratch->small, *d_hidden = scratch->back.d_hidden;
  regal_mlp_backward(&plan->gate, &scratch->back, 1, graph->gate_pooled,
                     graph->gate_second, d_logits, d_pooled, false);
  memset(d_hidden, 0, n * w * sizeof *d_hidden);
  regal_mean_backward(n, w, d_pooled, d_hidden);
  regal_relu_backward(n * w, graph->gate_hidden, d_hidden);
  regal_dense_backward(&plan->gate_node, &scratch->back, n, graph->node_x,
                       d_hidden, NULL, false);
}

void regal_experts_backward(const regal_network *network,
                            const regal_graph_state *graph,
                            const regal_real *d_node, const regal_real *d_edge,
                            regal_network_scratch *scratch) {
  const regal_network_plan *plan = network->plan;
  size_t n = graph->encoding->nodes, e = graph->encoding->edges;
  size_t w = network->config.width;
  double d_share[REGAL_MOST_EXPERTS];
  for (uint32_t i = 0; i < plan->encoders; i++) {
    const regal_gnn_state *state = &graph->encoder[i];
    d_share[i] =
        dot(n * w, d_node, regal_gnn_states(&plan->encoder[i], state, n));
    mix(n * w, graph->gate[i], d_node, true, scratch->d_state);
    if (plan->has_tensor_head) {
      d_share[i] += dot(e * w, d_edge, state->edge);
      mix(e * w, graph->gate[i], d_edge, true, scratch->d_edge_state);
    } else {
      memset(scratch->d_edge_state, 0, e * w * sizeof(regal_real));
    }
    regal_gnn_backward(&plan->encoder[i], graph, state, scratch->d_state,
                       scratch->d_edge_state, scratch);
  }
  gate_backward(network, graph, d_share, scratch);
}

/* -- Sequence -------------------------------------------------------------- */

void regal_sequence_begin(const regal_sequence_plan *plan,
                          const regal_real *parameters, size_t v,
                          const regal_sequence_state *state) {
  size_t w = plan->input.in;
  regal_real *gates = state->gates + v * 4 * w;
  memcpy(gates, state->input + v * 4 * w, 4 * w * sizeof *gates);
  if (v)
    regal_multiply_rows(1, w, 4 * w, state->out + (v - 1) * w,
                        parameters + plan->recurrent, NULL, true, gates, 4 * w);
}

void regal_sequence_finish(const regal_sequence_plan *plan, size_t v,
                           const regal_sequence_state *state) {
  size_t w = plan->input.in;
  regal_lstm_forward(w, state->gates + v * 4 * w,
                     v ? state->cell + (v - 1) * w : NULL, state->cell + v * w,
                     state->out + v * w);
}

void regal_sequence_backward(const regal_sequence_plan *plan, size_t nodes,
                             const regal_sequence_state *state,
                             regal_real *d_out,
                             regal_network_scratch *scratch) {
  size_t w = plan->input.in;
  const regal_backprop *back = &scratch->back;
  regal_real *d_cell = scratch->small, *d_gates = scratch->d_gates;
  memset(d_cell, 0, w * sizeof *d_cell);
  regal_transpose(w, 4 * w, back->parameters + plan->recurrent,
                  scratch->recurrent);
  for (size_t v = nodes; v-- > 0;) {
    regal_real *d = d_gates + v * 4 * w;
    regal_lstm_backward(w, state->gates + v * 4 * w,
                        v ? state->cell + (v - 1) * w : NULL,
                        state->cell + v * w, d_out + v * w, d_cell, d);
    if (v)
      regal_multiply_rows(1, 4 * w, w, d, scratch->recurrent, NULL, true,
                          d_out + (v - 1) * w, w);
  }
  if (nodes)
    regal_weight_backward(plan->recurrent, w, 4 * w, back, nodes - 1,
                          state->out, d_gates + 4 * w, 4 * w, NULL, false);
}
