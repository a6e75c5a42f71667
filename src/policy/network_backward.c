/* SPDX-License-Identifier: Apache-2.0 */
/* Backward: from advantages and targets to the gradient, through the same parts
 * as forward in reverse: heads, sequence, experts or graph network, baseline.
 * Each graph's gradient is computed from zero and then added, so that it does
 * not matter how graphs are grouped into calls. The loss is in network.h. */
#include <string.h>

#include "nn/matrix.h"
#include "policy/network_parts.h"

/* What backward does for one graph. */
typedef struct pass {
  const regal_network *network;
  const regal_graph_state *graph;
  regal_network_scratch *scratch;
  const uint8_t *actions;
  size_t action_count; /* of one sample */
  uint32_t samples;
  const regal_real *advantages; /* [samples] */
  double share;                 /* of one graph in the loss */
  regal_real sample_share;      /* of one sample */
  regal_real entropy_weight;    /* of one nat in this graph */
} pass;

/* -- From the logits of a head to the states that it read ------------------ */

static void into_tensors(const pass *p, const regal_real *d_in) {
  const regal_encoding *encoding = p->graph->encoding;
  size_t w = p->network->config.width;
  for (uint32_t t = 0; t < encoding->tensors; t++, d_in += 2 * w) {
    uint32_t first = encoding->tensor_edge[t];
    regal_add_rows(1, w, d_in, w,
                   p->scratch->d_node + encoding->tensor_node[t] * w);
    regal_mean_backward(encoding->tensor_edge[t + 1] - first, w, d_in + w,
                        p->scratch->d_edge + first * w);
  }
}

static void head_backward(const pass *p, const regal_head_plan *plan,
                          regal_head_domain domain,
                          const regal_head_state *state) {
  regal_network_scratch *s = p->scratch;
  size_t n = p->graph->encoding->nodes, w = p->network->config.width;
  if (p->network->config.kind == REGAL_POLICY_BLIND) {
    regal_add_rows(state->items, plan->logits, s->d_logits, plan->logits,
                   s->back.gradient + plan->bias);
    return;
  }
  bool node = domain == REGAL_HEAD_NODE;
  regal_mlp_backward(&plan->mlp, &s->back, state->items,
                     node ? p->graph->node : state->in, state->hidden,
                     s->d_logits, node ? s->d_node : s->d_in, node);
  if (domain == REGAL_HEAD_TENSOR)
    into_tensors(p, s->d_in);
  else if (domain == REGAL_HEAD_GRAPH)
    regal_mean_backward(n, w, s->d_in, s->d_node);
}

static void free_heads_backward(const pass *p) {
  const regal_policy_config *config = &p->network->config;
  for (uint32_t h = 0; h < config->head_count; h++) {
    const regal_head_plan *plan = &p->network->plan->head[h];
    const regal_head_state *state = &p->graph->head[h];
    if (plan->in_sequence)
      continue;
    regal_head_loss(plan, state,
                    &(regal_head_terms){
                        p->actions + state->action, p->action_count, p->samples,
                        p->advantages, p->sample_share, p->entropy_weight},
                    p->scratch->taken, p->scratch->d_logits);
    head_backward(p, plan, config->heads[h].domain, state);
  }
}

/* -- Autoregressive: each sample has a sequence of its own ----------------- */

static void choices_backward(const pass *p, const regal_head_plan *plan,
                             const uint8_t *actions) {
  size_t n = p->graph->encoding->nodes, w4 = 4 * p->network->config.width;
  const regal_real *d_gates = p->scratch->d_gates;
  regal_real *gradient =
      p->scratch->back.gradient + p->network->plan->sequence.actions;
  for (size_t v = 1; v < n; v++) {
    size_t row = plan->action_row;
    for (uint32_t choice = 0; choice < plan->choices; choice++) {
      regal_add_rows(1, w4, d_gates + v * w4, w4,
                     gradient + (row + *actions++) * w4);
      row += plan->levels[choice % plan->parts];
    }
  }
}

/* A node head of one sample, onto d_state: the gradient of the outputs. */
static void sequence_head_backward(const pass *p, uint32_t head,
                                   const uint8_t *actions,
                                   const regal_real *advantage) {
  const regal_head_plan *plan = &p->network->plan->head[head];
  regal_network_scratch *s = p->scratch;
  regal_head_state state = s->head[head];
  state.items = p->graph->encoding->nodes;
  regal_head_loss(
      plan, &state,
      &(regal_head_terms){actions + p->graph->head[head].action, 0, 1,
                          advantage, p->sample_share,
                          p->entropy_weight / (regal_real)p->samples},
      s->taken, s->d_logits);
  regal_mlp_backward(&plan->mlp, &s->back, state.items, s->sequence.out,
                     state.hidden, s->d_logits, s->d_state, true);
}

static void sample_backward(const pass *p, const uint8_t *actions,
                            const regal_real *advantage) {
  const regal_network_plan *plan = p->network->plan;
  regal_network_scratch *s = p->scratch;
  uint32_t heads = p->network->config.head_count;
  size_t n = p->graph->encoding->nodes, w = p->network->config.width;
  memset(s->d_state, 0, n * w * sizeof(regal_real));
  for (uint32_t h = 0; h < heads; h++)
    if (plan->head[h].in_sequence)
      sequence_head_backward(p, h, actions, advantage);
  regal_sequence_backward(&plan->sequence, n, &s->sequence, s->d_state, s);
  for (uint32_t h = 0; h < heads; h++)
    if (plan->head[h].in_sequence)
      choices_backward(p, &plan->head[h], actions + p->graph->head[h].action);
  regal_add_rows(1, n * 4 * w, s->d_gates, n * 4 * w, s->d_gates_sum);
}

/* -- Both: log-probabilities for the loss, gradients for the states -------- */

/* Adds to the policy's and the entropy's part of the loss. */
static void heads_backward(const pass *p, regal_network_loss *loss) {
  regal_network_scratch *s = p->scratch;
  const regal_network_plan *plan = p->network->plan;
  size_t n = p->graph->encoding->nodes, w4 = 4 * p->network->config.width;
  double policy = 0, entropy = 0;
  if (plan->has_choices_in_sequence)
    memset(s->d_gates_sum, 0, n * w4 * sizeof(regal_real));
  for (uint32_t i = 0; i < p->samples; i++) {
    const uint8_t *actions = p->actions + i * p->action_count;
    regal_network_draw draw =
        regal_network_replay(p->network, p->graph, actions, s);
    policy -= p->advantages[i] * draw.log_probability * p->sample_share;
    entropy -= p->entropy_weight * draw.entropy / p->samples;
    if (plan->has_choices_in_sequence)
      sample_backward(p, actions, &p->advantages[i]);
  }
  free_heads_backward(p);
  loss->policy += policy;
  loss->entropy += entropy;
}

static void states_backward(const pass *p) {
  const regal_network_plan *plan = p->network->plan;
  const regal_graph_state *graph = p->graph;
  regal_network_scratch *s = p->scratch;
  size_t n = graph->encoding->nodes;
  if (plan->has_sequence) {
    bool choices = plan->has_choices_in_sequence;
    if (!choices)
      regal_sequence_backward(&plan->sequence, n, &graph->sequence, s->d_node,
                              s);
    /* The sequence read the states of the graph network, and so did the other
     * heads of an autoregressive policy. */
    regal_dense_backward(
        &plan->sequence.input, &s->back, n,
        regal_gnn_states(&plan->encoder[0], &graph->encoder[0], n),
        choices ? s->d_gates_sum : s->d_gates, s->d_node, choices);
  }
  if (plan->has_gate)
    regal_experts_backward(p->network, graph, s->d_node, s->d_edge, s);
  else if (plan->encoders)
    regal_gnn_backward(&plan->encoder[0], graph, &graph->encoder[0], s->d_node,
                       s->d_edge, s);
}

static void clear_states(const pass *p) {
  const regal_encoding *encoding = p->graph->encoding;
  size_t w = p->network->config.width;
  memset(p->scratch->d_node, 0, encoding->nodes * w * sizeof(regal_real));
  memset(p->scratch->d_edge, 0, encoding->edges * w * sizeof(regal_real));
}

/* -- The baseline ---------------------------------------------------------- */

static double baseline_backward(const pass *p, regal_real target,
                                regal_real weight) {
  const regal_network_plan *plan = p->network->plan;
  const regal_graph_state *graph = p->graph;
  regal_network_scratch *s = p->scratch;
  size_t n = graph->encoding->nodes, w = p->network->config.width;
  double error = graph->baseline_value[0] - target;
  regal_real d_value = (regal_real)(2 * weight * p->share * error);
  regal_mlp_backward(&plan->baseline_head, &s->back, 1, graph->baseline_pooled,
                     graph->baseline_second, &d_value, s->small, false);
  clear_states(p);
  regal_mean_backward(n, w, s->small, s->d_node);
  regal_mlp_backward(&plan->baseline_node, &s->back, n,
                     regal_gnn_states(&plan->baseline, &graph->baseline, n),
                     graph->baseline_hidden, s->d_node, s->d_state, false);
  regal_gnn_backward(&plan->baseline, graph, &graph->baseline, s->d_state,
                     s->d_edge, s);
  return weight * p->share * error * error;
}

/* -- The whole ------------------------------------------------------------- */

void regal_network_backward(const regal_network *network,
                            regal_network_workspace *work,
                            const regal_network_terms *terms,
                            regal_real *gradient, regal_network_loss *loss) {
  regal_network_loss total = {0};
  uint32_t batch = terms->batch_graphs ? terms->batch_graphs : work->graphs;
  regal_backprop *back = &work->scratch.back;
  size_t count = network->parameter_count;
  back->parameters = network->parameters;
  for (uint32_t g = 0; g < work->graphs; g++) {
    const regal_graph_state *graph = &work->graph[g];
    uint32_t nodes = graph->encoding->nodes;
    pass p = {
        .network = network,
        .graph = graph,
        .scratch = &work->scratch,
        .actions = terms->actions[g],
        .action_count = regal_policy_actions(&network->config, graph->encoding),
        .samples = terms->samples,
        .advantages = terms->advantages + (size_t)g * terms->samples,
        .share = 1.0 / batch,
        .sample_share = (regal_real)(1.0 / batch / terms->samples),
        .entropy_weight = nodes ? terms->entropy_weight / batch / nodes : 0};
    memset(back->gradient, 0, count * sizeof(regal_real));
    clear_states(&p);
    heads_backward(&p, &total);
    states_backward(&p);
    if (terms->baseline_targets)
      total.baseline += baseline_backward(&p, terms->baseline_targets[g],
                                          terms->baseline_weight);
    regal_add_rows(1, count, back->gradient, count, gradient);
  }
  if (loss)
    *loss = total;
}
