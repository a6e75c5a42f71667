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
                   s->gradient + plan->bias);
    return;
  }
  bool node = domain == REGAL_HEAD_NODE;
  regal_mlp_backward(&plan->mlp, p->network->parameters, state->items,
                     node ? p->graph->node : state->in, state->hidden,
                     s->d_logits, s->gradient, s->d_hidden,
                     node ? s->d_node : s->d_in, node, s->transposed);
  if (domain == REGAL_HEAD_TENSOR)
    into_tensors(p, s->d_in);
  else if (domain == REGAL_HEAD_GRAPH)
    regal_mean_backward(n, w, s->d_in, s->d_node);
}

static void free_heads_backward(const pass *p) {
  const regal_policy_config *config = &p->network->config;
  const uint8_t *actions = p->actions;
  for (uint32_t h = 0; h < config->head_count; h++) {
    const regal_head_plan *plan = &p->network->plan->head[h];
    const regal_head_state *state = &p->graph->head[h];
    regal_head_domain domain = config->heads[h].domain;
    if (domain != REGAL_HEAD_NODE ||
        !p->network->plan->has_choices_in_sequence) {
      regal_head_loss(plan, state,
                      &(regal_head_terms){actions, p->action_count, p->samples,
                                          p->advantages, p->sample_share,
                                          p->entropy_weight},
                      p->scratch->taken, p->scratch->d_logits);
      head_backward(p, plan, domain, state);
    }
    actions += state->items * plan->choices;
  }
}

/* -- Autoregressive: each sample has a sequence of its own ----------------- */

static void choices_backward(const pass *p, const regal_head_plan *plan,
                             const uint8_t *actions) {
  size_t n = p->graph->encoding->nodes, w4 = 4 * p->network->config.width;
  const regal_real *d_gates = p->scratch->d_gates;
  regal_real *gradient =
      p->scratch->gradient + p->network->plan->sequence.actions;
  for (size_t v = 1; v < n; v++) {
    size_t row = plan->action_row;
    for (uint32_t choice = 0; choice < plan->choices; choice++) {
      regal_add_rows(1, w4, d_gates + v * w4, w4,
                     gradient + (row + *actions++) * w4);
      row += plan->levels[choice % plan->parts];
    }
  }
}

/* The node heads of one sample, onto d_state: the gradient of the outputs. */
static void sequence_heads_backward(const pass *p, const uint8_t *actions,
                                    const regal_real *advantage) {
  const regal_policy_config *config = &p->network->config;
  regal_network_scratch *s = p->scratch;
  size_t n = p->graph->encoding->nodes;
  memset(s->d_state, 0, n * config->width * sizeof(regal_real));
  for (uint32_t h = 0; h < config->head_count; h++) {
    const regal_head_plan *plan = &p->network->plan->head[h];
    if (config->heads[h].domain == REGAL_HEAD_NODE) {
      regal_head_state state = s->head[h];
      state.items = n;
      regal_head_loss(
          plan, &state,
          &(regal_head_terms){actions, 0, 1, advantage, p->sample_share,
                              p->entropy_weight / (regal_real)p->samples},
          s->taken, s->d_logits);
      regal_mlp_backward(&plan->mlp, p->network->parameters, n, s->sequence.out,
                         state.hidden, s->d_logits, s->gradient, s->d_hidden,
                         s->d_state, true, s->transposed);
    }
    actions += p->graph->head[h].items * plan->choices;
  }
}

static void sample_backward(const pass *p, const uint8_t *actions,
                            const regal_real *advantage) {
  const regal_network *network = p->network;
  regal_network_scratch *s = p->scratch;
  size_t n = p->graph->encoding->nodes, w = network->config.width;
  sequence_heads_backward(p, actions, advantage);
  regal_sequence_backward(&network->plan->sequence, (uint32_t)w,
                          network->parameters, n, &s->sequence, s->d_state,
                          s->d_gates, s, s->gradient);
  for (uint32_t h = 0; h < network->config.head_count; h++) {
    const regal_head_plan *plan = &network->plan->head[h];
    if (network->config.heads[h].domain == REGAL_HEAD_NODE)
      choices_backward(p, plan, actions);
    actions += p->graph->head[h].items * plan->choices;
  }
  regal_add_rows(1, n * 4 * w, s->d_gates, n * 4 * w, s->d_gates_sum);
}

/* -- Both: log-probabilities for the loss, gradients for the states -------- */

typedef struct sums {
  double policy, entropy;
} sums;

static sums heads_backward(const pass *p) {
  regal_network_scratch *s = p->scratch;
  const regal_network_plan *plan = p->network->plan;
  size_t n = p->graph->encoding->nodes, w4 = 4 * p->network->config.width;
  sums sum = {0};
  if (plan->has_choices_in_sequence)
    memset(s->d_gates_sum, 0, n * w4 * sizeof(regal_real));
  for (uint32_t i = 0; i < p->samples; i++) {
    const uint8_t *actions = p->actions + i * p->action_count;
    regal_network_draw draw =
        regal_network_replay(p->network, p->graph, actions, s);
    sum.policy -= p->advantages[i] * draw.log_probability * p->sample_share;
    sum.entropy -= p->entropy_weight * draw.entropy / p->samples;
    if (plan->has_choices_in_sequence)
      sample_backward(p, actions, &p->advantages[i]);
  }
  free_heads_backward(p);
  return sum;
}

static void states_backward(const pass *p) {
  const regal_network *network = p->network;
  const regal_network_plan *plan = network->plan;
  regal_network_scratch *s = p->scratch;
  size_t n = p->graph->encoding->nodes;
  if (plan->has_sequence) {
    bool choices = plan->has_choices_in_sequence;
    if (!choices)
      regal_sequence_backward(&plan->sequence, network->config.width,
                              network->parameters, n, &p->graph->sequence,
                              s->d_node, s->d_gates, s, s->gradient);
    /* The sequence read the states of the graph network, and so did the other
     * heads of an autoregressive policy. */
    const regal_gnn_plan *gnn = &plan->encoder[0];
    regal_dense_backward(&plan->sequence.input, network->parameters, n,
                         p->graph->encoder[0].node +
                             gnn->rounds * n * gnn->width,
                         choices ? s->d_gates_sum : s->d_gates, s->gradient,
                         s->d_node, choices, s->transposed);
  }
  if (plan->has_gate)
    regal_experts_backward(network, p->graph, s->d_node, s->d_edge, s,
                           s->gradient);
  else if (plan->encoders)
    regal_gnn_backward(&plan->encoder[0], network->parameters, p->graph,
                       &p->graph->encoder[0], s->d_node, s->d_edge, s,
                       s->gradient);
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
  const regal_real *parameters = p->network->parameters;
  const regal_graph_state *graph = p->graph;
  regal_network_scratch *s = p->scratch;
  size_t n = graph->encoding->nodes, w = p->network->config.width;
  double error = graph->baseline_value[0] - target;
  regal_real d_value = (regal_real)(2 * weight * p->share * error);
  regal_real *d_pooled = s->small, *d_second = d_pooled + w;
  regal_mlp_backward(&plan->baseline_head, parameters, 1,
                     graph->baseline_pooled, graph->baseline_second, &d_value,
                     s->gradient, d_second, d_pooled, false, s->transposed);
  clear_states(p);
  regal_mean_backward(n, w, d_pooled, s->d_node);
  regal_mlp_backward(&plan->baseline_node, parameters, n,
                     graph->baseline.node + plan->baseline.rounds * n * w,
                     graph->baseline_hidden, s->d_node, s->gradient,
                     s->d_hidden, s->d_state, false, s->transposed);
  regal_gnn_backward(&plan->baseline, parameters, graph, &graph->baseline,
                     s->d_state, s->d_edge, s, s->gradient);
  return weight * p->share * error * error;
}

/* -- The whole ------------------------------------------------------------- */

static void add_gradient(size_t count, const regal_real *from,
                         regal_real *gradient) {
  regal_add_rows(1, count, from, count, gradient);
}

void regal_network_backward(const regal_network *network,
                            regal_network_workspace *work,
                            const regal_network_terms *terms,
                            regal_real *gradient, regal_network_loss *loss) {
  regal_network_loss total = {0};
  uint32_t batch = terms->batch_graphs ? terms->batch_graphs : work->graphs;
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
    memset(p.scratch->gradient, 0,
           network->parameter_count * sizeof(regal_real));
    clear_states(&p);
    sums sum = heads_backward(&p);
    states_backward(&p);
    total.policy += sum.policy;
    total.entropy += sum.entropy;
    if (terms->baseline_targets)
      total.baseline += baseline_backward(&p, terms->baseline_targets[g],
                                          terms->baseline_weight);
    add_gradient(network->parameter_count, p.scratch->gradient, gradient);
  }
  if (loss)
    *loss = total;
}
