/* SPDX-License-Identifier: Apache-2.0 */
/* Heads, and the actions that are chosen by them: p(a|G) of the paper's 4.2.
 *
 * A head is a perceptron (MLP_a) on each of its items: nodes, tensors or the
 * pooled graph. Its logits are one group for each choice: the level of a gene's
 * mean, that of its variance, and perhaps that of its crossover bias; a choice
 * is the softmax of its group. Given the states, choices are independent: the
 * log-probability of an action vector is a sum over choices, and so is the
 * entropy. In an autoregressive policy (A.8) the node heads read an LSTM that
 * reads what the nodes before chose, so they are run node by node.
 *
 * Actions are drawn, the likeliest, or given (replayed, for backward). The
 * number behind choice i of an action vector is number i of the sample's
 * stream, in whatever order choices are made. */
#include <string.h>

#include "base/random.h"
#include "nn/categorical.h"
#include "nn/matrix.h"
#include "policy/network_parts.h"

/* -- Probabilities and their gradient -------------------------------------- */

/* Probabilities of one item from its logits; returns the entropy. */
static double item_forward(const regal_head_plan *plan, size_t item,
                           const regal_head_state *state) {
  double entropy = 0;
  size_t at = item * plan->logits;
  for (uint32_t choice = 0; choice < plan->choices; choice++) {
    uint32_t levels = plan->levels[choice % plan->parts];
    entropy += regal_categorical_forward(levels, state->logits + at,
                                         state->p + at, state->log_p + at);
    at += levels;
  }
  return entropy;
}

double regal_head_forward(const regal_head_plan *plan,
                          const regal_real *parameters, bool blind,
                          const regal_real *in, regal_head_state *state) {
  double entropy = 0;
  size_t logits = plan->logits;
  if (!blind)
    regal_mlp_forward(&plan->mlp, parameters, state->items, in, state->hidden,
                      state->logits);
  for (size_t i = 0; i < state->items; i++) {
    if (blind)
      memcpy(state->logits + i * logits, parameters + plan->bias,
             logits * sizeof *state->logits);
    entropy += item_forward(plan, i, state);
  }
  return entropy;
}

void regal_head_loss(const regal_head_plan *plan, const regal_head_state *state,
                     const regal_head_terms *terms, regal_real *taken,
                     regal_real *d_logits) {
  const uint8_t *actions = terms->actions;
  size_t at = 0;
  for (size_t i = 0; i < state->items; i++)
    for (uint32_t choice = 0; choice < plan->choices; choice++, actions++) {
      uint32_t levels = plan->levels[choice % plan->parts];
      memset(taken, 0, levels * sizeof *taken);
      for (uint32_t s = 0; s < terms->samples; s++)
        taken[actions[s * terms->stride]] +=
            terms->advantages[s] * terms->share;
      regal_categorical_backward(levels, state->p + at, state->log_p + at,
                                 taken, terms->entropy_weight, d_logits + at);
      at += levels;
    }
}

/* -- Choices --------------------------------------------------------------- */

/* Actions of one graph, and how they are chosen: by random numbers, the
 * likeliest, or as given. */
typedef struct chooser {
  const regal_network *network;
  const regal_graph_state *graph;
  regal_network_scratch *scratch;
  uint8_t *actions;
  enum { ACTIONS_DRAWN, ACTIONS_LIKELIEST, ACTIONS_GIVEN } how;
  uint64_t key; /* of the drawn ones */
} chooser;

/* The choices of one item of a head, whose first action is number `at`;
 * returns their log-probability. */
static double choose(const chooser *c, const regal_head_plan *plan,
                     const regal_head_state *state, size_t at, size_t item) {
  const regal_real *p = state->p + item * plan->logits;
  const regal_real *log_p = state->log_p + item * plan->logits;
  double sum = 0;
  at += item * plan->choices;
  for (uint32_t choice = 0; choice < plan->choices; choice++, at++) {
    uint32_t levels = plan->levels[choice % plan->parts];
    if (c->how == ACTIONS_DRAWN)
      c->actions[at] = (uint8_t)regal_categorical_draw(
          levels, p, regal_random_at(c->key, at));
    else if (c->how == ACTIONS_LIKELIEST)
      c->actions[at] = (uint8_t)regal_categorical_best(levels, p);
    sum += log_p[c->actions[at]];
    p += levels;
    log_p += levels;
  }
  return sum;
}

/* Choices that do not depend on each other. */
static double choose_all(const chooser *c, const regal_head_plan *plan,
                         const regal_head_state *state) {
  double sum = 0;
  for (size_t i = 0; i < state->items; i++)
    sum += choose(c, plan, state, state->action, i);
  return sum;
}

/* -- Node by node ---------------------------------------------------------- */

/* Adds, to the gates of a node, the rows of what the node before chose. */
static void add_choices(const regal_network *network,
                        const regal_head_plan *plan, const uint8_t *actions,
                        regal_real *gates) {
  size_t w4 = 4 * network->config.width, row = plan->action_row;
  const regal_real *rows =
      network->parameters + network->plan->sequence.actions;
  for (uint32_t choice = 0; choice < plan->choices; choice++) {
    regal_add_rows(1, w4, rows + (row + actions[choice]) * w4, w4, gates);
    row += plan->levels[choice % plan->parts];
  }
}

static void step(const chooser *c, size_t v,
                 const regal_sequence_state *sequence) {
  const regal_network_plan *plan = c->network->plan;
  size_t w = c->network->config.width;
  regal_sequence_begin(&plan->sequence, c->network->parameters, v, sequence);
  for (uint32_t h = 0; v && h < c->network->config.head_count; h++)
    if (plan->head[h].in_sequence)
      add_choices(c->network, &plan->head[h],
                  c->actions + c->graph->head[h].action +
                      (v - 1) * plan->head[h].choices,
                  sequence->gates + v * 4 * w);
  regal_sequence_finish(&plan->sequence, v, sequence);
}

static void choose_in_sequence(const chooser *c, regal_network_draw *draw) {
  const regal_network *network = c->network;
  size_t w = network->config.width;
  regal_sequence_state sequence = c->scratch->sequence;
  sequence.input = c->graph->sequence.input;
  for (size_t v = 0; v < c->graph->encoding->nodes; v++) {
    step(c, v, &sequence);
    for (uint32_t h = 0; h < network->config.head_count; h++) {
      const regal_head_plan *plan = &network->plan->head[h];
      const regal_head_state *state = &c->scratch->head[h];
      if (!plan->in_sequence)
        continue;
      regal_mlp_forward(&plan->mlp, network->parameters, 1,
                        sequence.out + v * w, state->hidden + v * w,
                        state->logits + v * plan->logits);
      draw->entropy += item_forward(plan, v, state);
      draw->log_probability +=
          choose(c, plan, state, c->graph->head[h].action, v);
    }
  }
}

/* -- The whole ------------------------------------------------------------- */

static regal_network_draw run_choices(const chooser *c) {
  const regal_network_plan *plan = c->network->plan;
  regal_network_draw draw = {.entropy = c->graph->entropy};
  for (uint32_t h = 0; h < c->network->config.head_count; h++)
    if (!plan->head[h].in_sequence)
      draw.log_probability += choose_all(c, &plan->head[h], &c->graph->head[h]);
  if (plan->has_choices_in_sequence)
    choose_in_sequence(c, &draw);
  return draw;
}

void regal_network_sample(const regal_network *network,
                          regal_network_workspace *work, uint32_t graph,
                          uint64_t key, uint32_t samples, uint8_t *actions,
                          regal_network_draw *draws) {
  const regal_graph_state *state = &work->graph[graph];
  size_t count = regal_policy_actions(&network->config, state->encoding);
  for (uint32_t s = 0; s < samples; s++) {
    regal_network_draw draw = run_choices(&(chooser){
        network, state, &work->scratch, actions + s * count, ACTIONS_DRAWN,
        regal_random_key(key, REGAL_PURPOSE_POLICY, 1, s)});
    if (draws)
      draws[s] = draw;
  }
}

void regal_network_greedy(const regal_network *network,
                          regal_network_workspace *work, uint32_t graph,
                          uint8_t *actions, regal_network_draw *draw) {
  regal_network_draw made =
      run_choices(&(chooser){network, &work->graph[graph], &work->scratch,
                             actions, ACTIONS_LIKELIEST, 0});
  if (draw)
    *draw = made;
}

regal_network_draw regal_network_replay(const regal_network *network,
                                        const regal_graph_state *graph,
                                        const uint8_t *actions,
                                        regal_network_scratch *scratch) {
  return run_choices(&(chooser){network, graph, scratch,
                                (uint8_t *)actions /* not written */,
                                ACTIONS_GIVEN, 0});
}

const regal_real *
regal_network_log_probabilities(const regal_network *network,
                                const regal_network_workspace *work,
                                uint32_t graph, uint32_t head) {
  return network->plan->head[head].in_sequence
             ? work->scratch.head[head].log_p
             : work->graph[graph].head[head].log_p;
}
