/* SPDX-License-Identifier: Apache-2.0 */
/* Where the layers of a network lie in its parameters, and their first values.
 *
 * All parameters are one array; a layer is the place of its weight and bias in
 * it, and has a name that is the same in every release, for policy files. The
 * plan is made twice: once to count blocks and parameters, once to name the
 * blocks and draw the values. Weights and biases start uniform within
 * 1 / sqrt(inputs), output layers a hundredth of that, so that a new policy is
 * nearly uniform; neutral_bias is added to the levels nearest Beta(1,1)
 * or, of relative heads, the draft.
 */
#include <math.h>
#include <stdio.h>

#include "base/random.h"
#include "policy/network_parts.h"

typedef struct planner {
  regal_network *network;
  regal_network_plan *plan;
  regal_random random;
  const char *part; /* first half of names: "policy", "expert0" ... */
} planner;

/* Appends a block; `reach` is how far from zero its values may start. */
static size_t add_block(planner *p, const char *layer, const char *what,
                        size_t rows, size_t columns, double reach) {
  regal_network *network = p->network;
  size_t at = network->parameter_count, count = rows * columns;
  if (network->blocks) {
    regal_network_block *block = &network->blocks[network->block_count];
    snprintf(block->name, sizeof block->name, "%s/%s/%s", p->part, layer, what);
    block->at = at;
    block->rows = (uint32_t)rows;
    block->columns = (uint32_t)columns;
    for (size_t i = 0; i < count; i++)
      network->parameters[at + i] =
          (regal_real)(reach * (2 * regal_random_unit(&p->random) - 1));
  }
  network->block_count++;
  network->parameter_count += count;
  if (count > p->plan->largest_block)
    p->plan->largest_block = count;
  return at;
}

static regal_dense add_dense(planner *p, const char *layer, const char *weight,
                             const char *bias, uint32_t in, uint32_t out,
                             double gain) {
  double reach = gain / sqrt(in);
  regal_dense dense = {.in = in, .out = out};
  dense.weight = add_block(p, layer, weight, in, out, reach);
  dense.bias = add_block(p, layer, bias, 1, out, gain < 1 ? 0 : reach);
  return dense;
}

static regal_mlp add_mlp(planner *p, const char *layer, uint32_t in,
                         uint32_t hidden, uint32_t out, double gain) {
  regal_mlp mlp;
  mlp.first = add_dense(p, layer, "0/weight", "0/bias", in, hidden, 1);
  mlp.second = add_dense(p, layer, "1/weight", "1/bias", hidden, out, gain);
  return mlp;
}

static void plan_rounds(planner *p, regal_gnn_plan *gnn) {
  uint32_t w = gnn->width;
  double reach = 1 / sqrt(3.0 * w), second = 1 / sqrt(w);
  gnn->message_weight =
      add_block(p, "message", "0/weight", 3 * w, 2 * w, reach);
  gnn->message_bias = add_block(p, "message", "0/bias", 1, 2 * w, reach);
  gnn->summed_weight = add_block(p, "message", "1/weight", 2 * w, w, second);
  gnn->summed_bias = add_block(p, "message", "1/bias", 2, w, second);
  if (gnn->update == REGAL_UPDATE_GRU) {
    gnn->gru_input =
        add_dense(p, "update", "input/weight", "input/bias", w, 3 * w, 1);
    gnn->gru_state =
        add_dense(p, "update", "state/weight", "state/bias", w, 3 * w, 1);
  } else {
    gnn->update_mlp = add_mlp(p, "update", 2 * w, w, w, 1);
  }
}

static void plan_gnn(planner *p, uint32_t rounds, bool edge_states,
                     regal_gnn_plan *gnn) {
  const regal_policy_config *config = &p->network->config;
  uint32_t w = config->width;
  gnn->rounds = rounds;
  gnn->width = w;
  gnn->mean = config->mean_aggregation;
  gnn->update = config->update;
  gnn->reads_edges = rounds > 0 || edge_states;
  gnn->node = add_mlp(p, "node", config->node_features, w, w, 1);
  if (gnn->reads_edges)
    gnn->edge = add_mlp(p, "edge", config->edge_features, w, w, 1);
  if (rounds)
    plan_rounds(p, gnn);
}

static void plan_encoders(planner *p) {
  const regal_policy_config *config = &p->network->config;
  regal_network_plan *plan = p->plan;
  char name[24];
  if (config->kind == REGAL_POLICY_BLIND)
    return;
  plan->encoders = config->kind == REGAL_POLICY_EXPERTS ? config->experts : 1;
  for (uint32_t i = 0; i < plan->encoders; i++) {
    snprintf(name, sizeof name, "expert%u", i);
    p->part = config->kind == REGAL_POLICY_EXPERTS ? name : "policy";
    plan_gnn(p, config->kind == REGAL_POLICY_GAS ? 0 : config->rounds,
             plan->has_tensor_head, &plan->encoder[i]);
  }
  p->part = "policy";
  if (config->kind == REGAL_POLICY_EXPERTS) {
    uint32_t w = config->width;
    plan->has_gate = true;
    plan->gate_node = add_dense(p, "gate_node", "weight", "bias",
                                config->node_features, w, 1);
    plan->gate = add_mlp(p, "gate", w, w, config->experts, 1);
  }
}

/* A forget gate that starts open lets gradients reach far back. */
static void open_forget_gate(planner *p, const regal_sequence_plan *sequence,
                             uint32_t width) {
  if (p->network->parameters)
    for (uint32_t j = width; j < 2 * width; j++)
      p->network->parameters[sequence->input.bias + j] += 1;
}

static void plan_sequence(planner *p) {
  const regal_policy_config *config = &p->network->config;
  regal_sequence_plan *sequence = &p->plan->sequence;
  uint32_t w = config->width;
  bool feeds_back = config->kind == REGAL_POLICY_AUTOREGRESSIVE;
  if (config->kind != REGAL_POLICY_GAS && !feeds_back)
    return;
  p->plan->has_sequence = true;
  p->plan->has_choices_in_sequence = feeds_back;
  sequence->input =
      add_dense(p, "sequence", "input/weight", "input/bias", w, 4 * w, 1);
  sequence->recurrent =
      add_block(p, "sequence", "state/weight", w, 4 * w, 1 / sqrt(w));
  open_forget_gate(p, sequence, w);
  if (sequence->action_rows)
    sequence->actions = add_block(p, "sequence", "action/weight",
                                  sequence->action_rows, 4 * w, 1 / sqrt(w));
}

static void shape_head(const regal_policy_config *config,
                       const regal_policy_head *head, regal_network_plan *plan,
                       regal_head_plan *made) {
  *made = (regal_head_plan){
      .parts = head->bias_levels ? 3 : 2,
      .levels = {head->mean_levels, head->variance_levels, head->bias_levels},
      .gene_logits =
          head->mean_levels + head->variance_levels + head->bias_levels};
  made->logits = head->genes * made->gene_logits;
  made->choices = head->genes * made->parts;
  made->action_row = plan->sequence.action_rows;
  made->in_sequence = config->kind == REGAL_POLICY_AUTOREGRESSIVE &&
                      head->domain == REGAL_HEAD_NODE;
  if (made->in_sequence)
    plan->sequence.action_rows += made->logits;
  plan->has_tensor_head |= head->domain == REGAL_HEAD_TENSOR;
  if (made->logits > plan->most_logits)
    plan->most_logits = made->logits;
}

/* Adds the bias to every level i of n for which (i + 1) / (n + 1) is nearest
 * the share: two levels may be equally near, and neither is preferred. */
static void favour(regal_real *logits, uint32_t levels, double share,
                   float bias) {
  double nearest = 1;
  for (uint32_t i = 0; i < levels; i++)
    nearest = fmin(nearest, fabs((i + 1.0) / (levels + 1.0) - share));
  for (uint32_t i = 0; i < levels; i++)
    if (fabs((i + 1.0) / (levels + 1.0) - share) < nearest + 1e-9)
      logits[i] += bias;
}

/* Beta(1,1) has mean 1/2 and a third of the greatest variance. A relative head
 * starts with the draft's genes, quite sure of them. */
static void favour_neutral(regal_network *network,
                           const regal_policy_head *head,
                           const regal_head_plan *plan) {
  uint32_t means = plan->levels[0], variances = plan->levels[1];
  double mean = head->relative ? (means / 2 + 1.0) / (means + 1.0) : 1 / 2.0;
  double variance = head->relative ? 1 / 4.0 : 1 / 3.0;
  for (uint32_t g = 0; network->parameters && g < head->genes; g++) {
    regal_real *logits =
        network->parameters + plan->bias + g * plan->gene_logits;
    favour(logits, means, mean, network->config.neutral_bias);
    favour(logits + means, variances, variance, network->config.neutral_bias);
  }
}

static void plan_heads(planner *p) {
  const regal_policy_config *config = &p->network->config;
  uint32_t w = config->width;
  for (uint32_t i = 0; i < config->head_count; i++) {
    const regal_policy_head *head = &config->heads[i];
    regal_head_plan *made = &p->plan->head[i];
    char name[32];
    snprintf(name, sizeof name, "head_%s", head->gene_class);
    if (config->kind == REGAL_POLICY_BLIND) {
      made->bias = add_block(p, name, "1/bias", 1, made->logits, 0);
    } else {
      uint32_t in = head->domain == REGAL_HEAD_TENSOR ? 2 * w : w;
      made->mlp = add_mlp(p, name, in, w, made->logits, 0.01);
      made->bias = made->mlp.second.bias;
    }
    favour_neutral(p->network, head, made);
  }
}

static void plan_baseline(planner *p) {
  const regal_policy_config *config = &p->network->config;
  uint32_t w = config->width;
  p->part = "baseline";
  plan_gnn(p, config->rounds, false, &p->plan->baseline);
  p->plan->baseline_node = add_mlp(p, "pooled_node", w, w, w, 1);
  p->plan->baseline_head = add_mlp(p, "value", w, w, 1, 0.01);
}

static void make(regal_network *network, uint64_t seed) {
  planner p = {.network = network, .plan = network->plan, .part = "policy"};
  p.random.key = regal_random_key(seed, REGAL_PURPOSE_POLICY, 0, 0);
  *p.plan = (regal_network_plan){0};
  network->block_count = 0;
  network->parameter_count = 0;
  for (uint32_t i = 0; i < network->config.head_count; i++)
    shape_head(&network->config, &network->config.heads[i], p.plan,
               &p.plan->head[i]);
  plan_encoders(&p);
  plan_sequence(&p);
  plan_heads(&p);
  network->policy_count = network->parameter_count;
  plan_baseline(&p);
}

regal_status regal_network_make_plan(regal_context *context, uint64_t seed,
                                     regal_network *network) {
  network->plan = regal_alloc(context, 1, sizeof *network->plan);
  if (!network->plan)
    return regal_fail_memory(context);
  make(network, seed);
  network->blocks =
      regal_alloc(context, network->block_count, sizeof *network->blocks);
  network->parameters =
      regal_alloc(context, network->parameter_count, sizeof(regal_real));
  if (!network->blocks || !network->parameters)
    return regal_fail_memory(context);
  make(network, seed);
  return REGAL_OK;
}
