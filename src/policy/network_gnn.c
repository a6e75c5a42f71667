/* SPDX-License-Identifier: Apache-2.0 */
/* The graph network of the paper (4.2 and A.7), forward and backward.
 *
 * For N nodes with features x_v and E edges with features x_e, states of width
 * w and T rounds:
 *
 *   h_v(0)  = MLP_n(x_v)                            [N][w]
 *   h_e     = MLP_e(x_e)                            [E][w]
 *   m_e     = MLP_msg ([h_source, h_target, h_e])   along the edge
 *   m_e'    = MLP_msg'([h_source, h_target, h_e])   against it
 *   M_v     = sum of m_e into v + sum of m_e' out of v, or their mean
 *   h_v(t+1) = MLP_node([h_v(t), M_v])              or h_v(t) + that
 * (residual), or GRU(h_v(t), M_v)
 *
 * All perceptrons have two layers, with a ReLU between them. After T rounds a
 * state knows the neighbourhood of T edges around its node, both ways.
 *
 * Written as above, a message costs two products of [3w][w] for each edge and
 * round. Two identities leave only additions and a ReLU for each edge:
 *
 * 1. The first layer of a message is linear in its three parts:
 *      [h_s, h_t, h_e] W = h_s W_s + h_t W_t + h_e W_e.
 *    h_s W_s and h_t W_t are computed once for each node and round (`ends`),
 *    h_e W_e once for each edge, before all rounds (`edge_part`).
 * 2. The second layer is linear, so it commutes with the sum over messages:
 *      sum of (r_e V + c) = (sum of r_e) V + degree c.
 *    The hidden layers r_e are summed at the nodes (`sums`), and V is applied
 *    once for each node. The bias c counts as often as messages arrive (`share`
 *    is that number, divided by the degree where the mean is taken).
 *
 * Both directions of an edge read the same three vectors: the W of the two
 * message perceptrons are the columns of one matrix [3w][2w], and their V are
 * the rows of one matrix [2w][w].
 *
 * Backward goes through the rounds in reverse. What forward keeps of each round
 * is in regal_gnn_state; the hidden layers of messages are computed again from
 * `ends` and `edge_part`, which takes less time than to store and load them
 * (nn/segment.c). */
#include <string.h>

#include "nn/matrix.h"
#include "nn/recurrent.h"
#include "policy/network_parts.h"

static regal_message_edges gnn_edges(const regal_graph_state *graph) {
  const regal_encoding *e = graph->encoding;
  return (regal_message_edges){e->edges, e->from, e->to};
}

/* -- Messages: states [N][w] to messages [N][w] ---------------------------- */

static void scale_rows(size_t rows, size_t columns, const regal_real *scale,
                       regal_real *values) {
  for (size_t i = 0; i < rows; i++)
    for (size_t j = 0; j < columns; j++)
      values[i * columns + j] *= scale[i];
}

static void arrive_forward(const regal_gnn_plan *plan,
                           const regal_real *parameters,
                           const regal_graph_state *graph,
                           const regal_real *sums, regal_real *message) {
  size_t n = graph->encoding->nodes, w = plan->width;
  const regal_real *along = parameters + plan->summed_bias;
  for (size_t v = 0; v < n; v++)
    for (size_t j = 0; j < w; j++)
      message[v * w + j] = graph->share[2 * v] * along[j] +
                           graph->share[2 * v + 1] * along[w + j];
  regal_multiply_rows(n, 2 * w, w, sums, parameters + plan->summed_weight, NULL,
                      true, message, w);
}

static void messages_forward(const regal_gnn_plan *plan,
                             const regal_real *parameters,
                             const regal_graph_state *graph,
                             const regal_gnn_state *state, uint32_t round) {
  size_t n = graph->encoding->nodes, w = plan->width;
  const regal_real *weight = parameters + plan->message_weight;
  const regal_real *h = state->node + round * n * w;
  regal_real *ends = state->ends + round * n * 4 * w;
  regal_real *sums = state->sums + round * n * 2 * w;
  regal_message_edges edges = gnn_edges(graph);
  regal_multiply_rows(n, w, 2 * w, h, weight, NULL, false, ends, 4 * w);
  regal_multiply_rows(n, w, 2 * w, h, weight + 2 * w * w, NULL, false,
                      ends + 2 * w, 4 * w);
  memset(sums, 0, n * 2 * w * sizeof *sums);
  regal_messages_forward(&edges, w, ends, state->edge_part, sums);
  if (plan->mean)
    scale_rows(n, 2 * w, graph->scale, sums);
  arrive_forward(plan, parameters, graph, sums, state->message + round * n * w);
}

static void
arrive_backward(const regal_gnn_plan *plan, const regal_real *parameters,
                const regal_graph_state *graph, const regal_real *sums,
                regal_network_scratch *scratch, regal_real *gradient) {
  size_t n = graph->encoding->nodes, w = plan->width;
  const regal_real *d = scratch->d_message;
  regal_real *d_along = gradient + plan->summed_bias;
  for (size_t v = 0; v < n; v++)
    for (size_t j = 0; j < w; j++) {
      d_along[j] += graph->share[2 * v] * d[v * w + j];
      d_along[w + j] += graph->share[2 * v + 1] * d[v * w + j];
    }
  regal_weight_backward(n, 2 * w, w, sums, d, w,
                        gradient + plan->summed_weight);
  regal_input_backward(n, 2 * w, w, d, w, parameters + plan->summed_weight,
                       scratch->d_sums, false, scratch->transposed);
}

/* From scratch->d_message; adds to d_state and to the edges' parts. */
static void
messages_backward(const regal_gnn_plan *plan, const regal_real *parameters,
                  const regal_graph_state *graph, const regal_gnn_state *state,
                  uint32_t round, regal_real *d_state,
                  regal_network_scratch *scratch, regal_real *gradient) {
  size_t n = graph->encoding->nodes, w = plan->width;
  const regal_real *h = state->node + round * n * w;
  regal_message_edges edges = gnn_edges(graph);
  arrive_backward(plan, parameters, graph, state->sums + round * n * 2 * w,
                  scratch, gradient);
  if (plan->mean)
    scale_rows(n, 2 * w, graph->scale, scratch->d_sums);
  memset(scratch->d_ends, 0, n * 4 * w * sizeof(regal_real));
  regal_messages_backward(&edges, w, state->ends + round * n * 4 * w,
                          state->edge_part, scratch->d_sums, scratch->d_ends,
                          scratch->d_edge_part);
  for (int end = 0; end < 2; end++) {
    size_t at = plan->message_weight + end * 2 * w * w;
    const regal_real *d = scratch->d_ends + end * 2 * w;
    regal_weight_backward(n, w, 2 * w, h, d, 4 * w, gradient + at);
    regal_input_backward(n, w, 2 * w, d, 4 * w, parameters + at, d_state, true,
                         scratch->transposed);
  }
}

/* -- The node update: state and message to the next state ------------------ */

static void update_forward(const regal_gnn_plan *plan,
                           const regal_real *parameters, size_t n,
                           const regal_gnn_state *state, uint32_t round) {
  size_t w = plan->width;
  const regal_real *h = state->node + round * n * w;
  const regal_real *message = state->message + round * n * w;
  regal_real *next = state->node + (round + 1) * n * w;
  if (plan->update == REGAL_UPDATE_GRU) {
    regal_real *gates = state->gates + round * n * 3 * w;
    regal_real *gate_state = state->gate_state + round * n * 3 * w;
    regal_dense_forward(&plan->gru_input, parameters, n, message, gates);
    regal_dense_forward(&plan->gru_state, parameters, n, h, gate_state);
    regal_gru_forward(n, w, gates, gate_state, h, next);
    return;
  }
  const regal_mlp *mlp = &plan->update_mlp;
  const regal_real *weight = parameters + mlp->first.weight;
  regal_real *hidden = state->update + round * n * w;
  regal_multiply_rows(n, w, w, h, weight, parameters + mlp->first.bias, false,
                      hidden, w);
  regal_multiply_rows(n, w, w, message, weight + w * w, NULL, true, hidden, w);
  regal_relu_forward(n * w, hidden);
  regal_dense_forward(&mlp->second, parameters, n, hidden, next);
  if (plan->update == REGAL_UPDATE_RESIDUAL)
    for (size_t i = 0; i < n * w; i++)
      next[i] += h[i];
}

static void gru_update_backward(const regal_gnn_plan *plan,
                                const regal_real *parameters, size_t n,
                                const regal_gnn_state *state, uint32_t round,
                                const regal_real *d_next, regal_real *d_state,
                                regal_network_scratch *scratch,
                                regal_real *gradient) {
  size_t w = plan->width;
  const regal_real *h = state->node + round * n * w;
  const regal_real *message = state->message + round * n * w;
  regal_gru_backward(n, w, state->gates + round * n * 3 * w,
                     state->gate_state + round * n * 3 * w, h, d_next,
                     scratch->d_gru_input, scratch->d_gru_state, d_state);
  regal_dense_backward(&plan->gru_input, parameters, n, message,
                       scratch->d_gru_input, gradient, scratch->d_message,
                       false, scratch->transposed);
  regal_dense_backward(&plan->gru_state, parameters, n, h, scratch->d_gru_state,
                       gradient, d_state, true, scratch->transposed);
}

static void mlp_update_backward(const regal_gnn_plan *plan,
                                const regal_real *parameters, size_t n,
                                const regal_gnn_state *state, uint32_t round,
                                const regal_real *d_next, regal_real *d_state,
                                regal_network_scratch *scratch,
                                regal_real *gradient) {
  size_t w = plan->width;
  const regal_mlp *mlp = &plan->update_mlp;
  const regal_real *h = state->node + round * n * w;
  const regal_real *message = state->message + round * n * w;
  const regal_real *hidden = state->update + round * n * w;
  const regal_real *weight = parameters + mlp->first.weight;
  regal_real *d_weight = gradient + mlp->first.weight, *d = scratch->d_hidden;
  regal_dense_backward(&mlp->second, parameters, n, hidden, d_next, gradient, d,
                       false, scratch->transposed);
  regal_relu_backward(n * w, hidden, d);
  regal_add_rows(n, w, d, w, gradient + mlp->first.bias);
  regal_weight_backward(n, w, w, h, d, w, d_weight);
  regal_weight_backward(n, w, w, message, d, w, d_weight + w * w);
  bool residual = plan->update == REGAL_UPDATE_RESIDUAL;
  if (residual)
    memcpy(d_state, d_next, n * w * sizeof *d_state);
  regal_input_backward(n, w, w, d, w, weight, d_state, residual,
                       scratch->transposed);
  regal_input_backward(n, w, w, d, w, weight + w * w, scratch->d_message, false,
                       scratch->transposed);
}

/* -- The whole ------------------------------------------------------------- */

void regal_gnn_forward(const regal_gnn_plan *plan, const regal_real *parameters,
                       const regal_graph_state *graph, regal_gnn_state *state) {
  size_t n = graph->encoding->nodes, e = graph->encoding->edges;
  size_t w = plan->width;
  regal_mlp_forward(&plan->node, parameters, n, graph->node_x,
                    state->node_hidden, state->node);
  if (plan->reads_edges)
    regal_mlp_forward(&plan->edge, parameters, e, graph->edge_x,
                      state->edge_hidden, state->edge);
  if (plan->rounds)
    regal_multiply_rows(
        e, w, 2 * w, state->edge, parameters + plan->message_weight + 4 * w * w,
        parameters + plan->message_bias, false, state->edge_part, 2 * w);
  for (uint32_t round = 0; round < plan->rounds; round++) {
    messages_forward(plan, parameters, graph, state, round);
    update_forward(plan, parameters, n, state, round);
  }
}

/* Adds to d_edge what the messages of all rounds had from the edges. */
static void edge_part_backward(const regal_gnn_plan *plan,
                               const regal_real *parameters, size_t e,
                               const regal_gnn_state *state, regal_real *d_edge,
                               regal_network_scratch *scratch,
                               regal_real *gradient) {
  size_t w = plan->width, at = plan->message_weight + 4 * w * w;
  const regal_real *d = scratch->d_edge_part;
  regal_weight_backward(e, w, 2 * w, state->edge, d, 2 * w, gradient + at);
  regal_add_rows(e, 2 * w, d, 2 * w, gradient + plan->message_bias);
  regal_input_backward(e, w, 2 * w, d, 2 * w, parameters + at, d_edge, true,
                       scratch->transposed);
}

void regal_gnn_backward(const regal_gnn_plan *plan,
                        const regal_real *parameters,
                        const regal_graph_state *graph,
                        const regal_gnn_state *state, regal_real *d_node,
                        regal_real *d_edge, regal_network_scratch *scratch,
                        regal_real *gradient) {
  size_t n = graph->encoding->nodes, e = graph->encoding->edges;
  regal_real *d = d_node, *d_before = scratch->d_previous;
  if (plan->rounds)
    memset(scratch->d_edge_part, 0, e * 2 * plan->width * sizeof(regal_real));
  for (uint32_t round = plan->rounds; round-- > 0;) {
    if (plan->update == REGAL_UPDATE_GRU)
      gru_update_backward(plan, parameters, n, state, round, d, d_before,
                          scratch, gradient);
    else
      mlp_update_backward(plan, parameters, n, state, round, d, d_before,
                          scratch, gradient);
    messages_backward(plan, parameters, graph, state, round, d_before, scratch,
                      gradient);
    regal_real *swap = d;
    d = d_before;
    d_before = swap;
  }
  regal_mlp_backward(&plan->node, parameters, n, graph->node_x,
                     state->node_hidden, d, gradient, scratch->d_hidden, NULL,
                     false, scratch->transposed);
  if (plan->rounds)
    edge_part_backward(plan, parameters, e, state, d_edge, scratch, gradient);
  if (plan->reads_edges)
    regal_mlp_backward(&plan->edge, parameters, e, graph->edge_x,
                       state->edge_hidden, d_edge, gradient, scratch->d_hidden,
                       NULL, false, scratch->transposed);
}
