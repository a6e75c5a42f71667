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

/* A graph network at work on one graph. */
typedef struct gnn_pass {
  const regal_gnn_plan *plan;
  const regal_real *parameters;
  const regal_graph_state *graph;
  const regal_gnn_state *state;
  regal_network_scratch *scratch; /* backward only */
  regal_message_edges edges;
  size_t n, w;
  uint32_t round;
} gnn_pass;

static gnn_pass gnn_begin(const regal_gnn_plan *plan,
                          const regal_real *parameters,
                          const regal_graph_state *graph,
                          const regal_gnn_state *state) {
  const regal_encoding *e = graph->encoding;
  return (gnn_pass){.plan = plan,
                    .parameters = parameters,
                    .graph = graph,
                    .state = state,
                    .edges = {e->edges, e->from, e->to},
                    .n = e->nodes,
                    .w = plan->width};
}

/* The part [N][widths * w] of the present round. */
static regal_real *of_round(const gnn_pass *p, regal_real *rounds,
                            size_t widths) {
  return rounds + p->round * p->n * widths * p->w;
}

/* -- Messages: states [N][w] to messages [N][w] ---------------------------- */

static void scale_rows(size_t rows, size_t columns, const regal_real *scale,
                       regal_real *values) {
  for (size_t i = 0; i < rows; i++)
    for (size_t j = 0; j < columns; j++)
      values[i * columns + j] *= scale[i];
}

static void arrive_forward(const gnn_pass *p, const regal_real *sums) {
  size_t n = p->n, w = p->w;
  const regal_real *along = p->parameters + p->plan->summed_bias;
  const regal_real *share = p->graph->share;
  regal_real *message = of_round(p, p->state->message, 1);
  for (size_t v = 0; v < n; v++)
    for (size_t j = 0; j < w; j++)
      message[v * w + j] =
          share[2 * v] * along[j] + share[2 * v + 1] * along[w + j];
  regal_multiply_rows(n, 2 * w, w, sums, p->parameters + p->plan->summed_weight,
                      NULL, true, message, w);
}

static void messages_forward(const gnn_pass *p) {
  size_t n = p->n, w = p->w;
  regal_real *ends = of_round(p, p->state->ends, 4);
  regal_real *sums = of_round(p, p->state->sums, 2);
  for (int end = 0; end < 2; end++)
    regal_multiply_rows(n, w, 2 * w, of_round(p, p->state->node, 1),
                        p->parameters + p->plan->message_weight +
                            end * 2 * w * w,
                        NULL, false, ends + end * 2 * w, 4 * w);
  memset(sums, 0, n * 2 * w * sizeof *sums);
  regal_messages_forward(&p->edges, w, ends, p->state->edge_part, sums);
  if (p->plan->mean)
    scale_rows(n, 2 * w, p->graph->scale, sums);
  arrive_forward(p, sums);
}

static void arrive_backward(const gnn_pass *p) {
  size_t n = p->n, w = p->w;
  const regal_real *d = p->scratch->d_message, *share = p->graph->share;
  regal_real *d_along = p->scratch->back.gradient + p->plan->summed_bias;
  for (size_t v = 0; v < n; v++)
    for (size_t j = 0; j < w; j++) {
      d_along[j] += share[2 * v] * d[v * w + j];
      d_along[w + j] += share[2 * v + 1] * d[v * w + j];
    }
  regal_weight_backward(p->plan->summed_weight, 2 * w, w, &p->scratch->back, n,
                        of_round(p, p->state->sums, 2), d, w,
                        p->scratch->d_sums, false);
}

/* From scratch->d_message; adds to d_state and to the edges' parts. */
static void messages_backward(const gnn_pass *p, regal_real *d_state) {
  regal_network_scratch *s = p->scratch;
  size_t n = p->n, w = p->w;
  arrive_backward(p);
  if (p->plan->mean)
    scale_rows(n, 2 * w, p->graph->scale, s->d_sums);
  memset(s->d_ends, 0, n * 4 * w * sizeof(regal_real));
  regal_messages_backward(&p->edges, w, of_round(p, p->state->ends, 4),
                          p->state->edge_part, s->d_sums, s->d_ends,
                          s->d_edge_part);
  for (int end = 0; end < 2; end++)
    regal_weight_backward(p->plan->message_weight + end * 2 * w * w, w, 2 * w,
                          &s->back, n, of_round(p, p->state->node, 1),
                          s->d_ends + end * 2 * w, 4 * w, d_state, true);
}

/* -- The node update: state and message to the next state ------------------ */

static void gru_forward(const gnn_pass *p) {
  const regal_real *h = of_round(p, p->state->node, 1);
  regal_real *gates = of_round(p, p->state->gates, 3);
  regal_real *gate_state = of_round(p, p->state->gate_state, 3);
  regal_dense_forward(&p->plan->gru_input, p->parameters, p->n,
                      of_round(p, p->state->message, 1), gates);
  regal_dense_forward(&p->plan->gru_state, p->parameters, p->n, h, gate_state);
  regal_gru_forward(p->n, p->w, gates, gate_state, h,
                    p->state->node + (p->round + 1) * p->n * p->w);
}

static void gru_backward(const gnn_pass *p, const regal_real *d_next,
                         regal_real *d_state) {
  regal_network_scratch *s = p->scratch;
  const regal_real *h = of_round(p, p->state->node, 1);
  regal_gru_backward(p->n, p->w, of_round(p, p->state->gates, 3),
                     of_round(p, p->state->gate_state, 3), h, d_next,
                     s->d_gru_input, s->d_gru_state, d_state);
  regal_dense_backward(&p->plan->gru_input, &s->back, p->n,
                       of_round(p, p->state->message, 1), s->d_gru_input,
                       s->d_message, false);
  regal_dense_backward(&p->plan->gru_state, &s->back, p->n, h, s->d_gru_state,
                       d_state, true);
}

static void mlp_forward(const gnn_pass *p) {
  size_t n = p->n, w = p->w;
  const regal_dense *first = &p->plan->update_mlp.first;
  const regal_real *weight = p->parameters + first->weight;
  const regal_real *h = of_round(p, p->state->node, 1);
  regal_real *hidden = of_round(p, p->state->update, 1);
  regal_real *next = p->state->node + (p->round + 1) * n * w;
  regal_multiply_rows(n, w, w, h, weight, p->parameters + first->bias, false,
                      hidden, w);
  regal_multiply_rows(n, w, w, of_round(p, p->state->message, 1),
                      weight + w * w, NULL, true, hidden, w);
  regal_relu_forward(n * w, hidden);
  regal_dense_forward(&p->plan->update_mlp.second, p->parameters, n, hidden,
                      next);
  if (p->plan->update == REGAL_UPDATE_RESIDUAL)
    for (size_t i = 0; i < n * w; i++)
      next[i] += h[i];
}

static void mlp_backward(const gnn_pass *p, const regal_real *d_next,
                         regal_real *d_state) {
  const regal_mlp *mlp = &p->plan->update_mlp;
  const regal_backprop *back = &p->scratch->back;
  size_t n = p->n, w = p->w;
  const regal_real *hidden = of_round(p, p->state->update, 1);
  regal_real *d = back->d_hidden;
  bool residual = p->plan->update == REGAL_UPDATE_RESIDUAL;
  regal_dense_backward(&mlp->second, back, n, hidden, d_next, d, false);
  regal_relu_backward(n * w, hidden, d);
  regal_add_rows(n, w, d, w, back->gradient + mlp->first.bias);
  if (residual)
    memcpy(d_state, d_next, n * w * sizeof *d_state);
  regal_weight_backward(mlp->first.weight, w, w, back, n,
                        of_round(p, p->state->node, 1), d, w, d_state,
                        residual);
  regal_weight_backward(mlp->first.weight + w * w, w, w, back, n,
                        of_round(p, p->state->message, 1), d, w,
                        p->scratch->d_message, false);
}

/* -- The whole ------------------------------------------------------------- */

void regal_gnn_forward(const regal_gnn_plan *plan, const regal_real *parameters,
                       const regal_graph_state *graph, regal_gnn_state *state) {
  gnn_pass p = gnn_begin(plan, parameters, graph, state);
  size_t e = p.edges.count, w = p.w;
  regal_mlp_forward(&plan->node, parameters, p.n, graph->node_x,
                    state->node_hidden, state->node);
  if (plan->reads_edges)
    regal_mlp_forward(&plan->edge, parameters, e, graph->edge_x,
                      state->edge_hidden, state->edge);
  if (plan->rounds)
    regal_multiply_rows(
        e, w, 2 * w, state->edge, parameters + plan->message_weight + 4 * w * w,
        parameters + plan->message_bias, false, state->edge_part, 2 * w);
  for (; p.round < plan->rounds; p.round++) {
    messages_forward(&p);
    (plan->update == REGAL_UPDATE_GRU ? gru_forward : mlp_forward)(&p);
  }
}

/* Adds to d_edge what the messages of all rounds had from the edges. */
static void edge_part_backward(const gnn_pass *p, regal_real *d_edge) {
  size_t e = p->edges.count, w = p->w;
  const regal_backprop *back = &p->scratch->back;
  const regal_real *d = p->scratch->d_edge_part;
  regal_add_rows(e, 2 * w, d, 2 * w, back->gradient + p->plan->message_bias);
  regal_weight_backward(p->plan->message_weight + 4 * w * w, w, 2 * w, back, e,
                        p->state->edge, d, 2 * w, d_edge, true);
}

void regal_gnn_backward(const regal_gnn_plan *plan,
                        const regal_graph_state *graph,
                        const regal_gnn_state *state, regal_real *d_node,
                        regal_real *d_edge, regal_network_scratch *scratch) {
  const regal_backprop *back = &scratch->back;
  gnn_pass p = gnn_begin(plan, back->parameters, graph, state);
  size_t e = p.edges.count;
  regal_real *d = d_node, *d_before = scratch->d_previous;
  p.scratch = scratch;
  if (plan->rounds)
    memset(scratch->d_edge_part, 0, e * 2 * plan->width * sizeof(regal_real));
  for (p.round = plan->rounds; p.round-- > 0;) {
    (plan->update == REGAL_UPDATE_GRU ? gru_backward : mlp_backward)(&p, d,
                                                                     d_before);
    messages_backward(&p, d_before);
    regal_real *swap = d;
    d = d_before;
    d_before = swap;
  }
  regal_mlp_backward(&plan->node, back, p.n, graph->node_x, state->node_hidden,
                     d, NULL, false);
  if (plan->rounds)
    edge_part_backward(&p, d_edge);
  if (plan->reads_edges)
    regal_mlp_backward(&plan->edge, back, e, graph->edge_x, state->edge_hidden,
                       d_edge, NULL, false);
}
