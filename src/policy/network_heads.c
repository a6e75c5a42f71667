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

double regal_head_probabilities(const regal_head_plan *plan,
                                const regal_real *logits, regal_real *p,
                                regal_real *log_p) {
  double entropy = 0;
  size_t at = 0;
  for (uint32_t choice = 0; choice < plan->choices; choice++) {
    uint32_t levels = plan->levels[choice % plan->parts];
    entropy +=
        regal_categorical_forward(levels, logits + at, p + at, log_p + at);
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
    entropy += regal_head_probabilities(plan, state->logits + i * logits,
                                        state->p + i * logits,
                                        state->log_p + i * logits);
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

/* How actions are chosen: by random numbers, the likeliest, or as given. */
typedef struct action_source {
  enum { ACTIONS_DRAWN, ACTIONS_LIKELIEST, ACTIONS_GIVEN } how;
  uint64_t key;
} action_source;

/* The choices of one item: sets actions[choices] (or reads them) and returns
 * their log-probability. `at` is the place of actions[0] in the vector. */
static double choose(const regal_head_plan *plan, const action_source *source,
                     const regal_real *p, const regal_real *log_p, size_t at,
                     uint8_t *actions) {
  double sum = 0;
  for (uint32_t choice = 0; choice < plan->choices; choice++) {
    uint32_t levels = plan->levels[choice % plan->parts];
    if (source->how == ACTIONS_DRAWN)
      actions[choice] = (uint8_t)regal_categorical_draw(
          levels, p, regal_random_at(source->key, at + choice));
    else if (source->how == ACTIONS_LIKELIEST)
      actions[choice] = (uint8_t)regal_categorical_best(levels, p);
    sum += log_p[actions[choice]];
    p += levels;
    log_p += levels;
  }
  return sum;
}

static size_t first_action(const regal_network *network,
                           const regal_graph_state *graph, uint32_t head) {
  size_t at = 0;
  for (uint32_t i = 0; i < head; i++)
    at += graph->head[i].items * network->plan->head[i].choices;
  return at;
}

/* -- Choices that do not depend on each other ------------------------------ */

static double choose_all(const regal_head_plan *plan,
                         const action_source *source,
                         const regal_head_state *state, size_t at,
                         uint8_t *actions) {
  double sum = 0;
  for (size_t i = 0; i < state->items; i++)
    sum += choose(plan, source, state->p + i * plan->logits,
                  state->log_p + i * plan->logits, at + i * plan->choices,
                  actions + i * plan->choices);
  return sum;
}

/* -- Node by node ---------------------------------------------------------- */

/* Adds, to the gates of a node, the rows of what the node before chose. */
static void add_choices(const regal_network *network,
                        const regal_head_plan *plan, const uint8_t *actions,
                        regal_real *gates) {
  size_t w = network->config.width;
  size_t row = plan->action_row;
  for (uint32_t choice = 0; choice < plan->choices; choice++) {
    const regal_real *weight = network->parameters +
                               network->plan->sequence.actions +
                               (row + actions[choice]) * 4 * w;
    regal_add_rows(1, 4 * w, weight, 4 * w, gates);
    row += plan->levels[choice % plan->parts];
  }
}

static bool in_sequence(const regal_network *network, uint32_t head) {
  return network->plan->has_choices_in_sequence &&
         network->config.heads[head].domain == REGAL_HEAD_NODE;
}

static void step(const regal_network *network, const regal_graph_state *graph,
                 size_t v, const uint8_t *actions,
                 const regal_sequence_state *sequence) {
  const regal_network_plan *plan = network->plan;
  uint32_t w = network->config.width;
  regal_sequence_begin(&plan->sequence, w, network->parameters, v, sequence);
  for (uint32_t h = 0; v && h < network->config.head_count; h++)
    if (in_sequence(network, h))
      add_choices(network, &plan->head[h],
                  actions + first_action(network, graph, h) +
                      (v - 1) * plan->head[h].choices,
                  sequence->gates + v * 4 * w);
  regal_sequence_finish(w, v, sequence);
}

/* The choices of one head at node v, whose LSTM output is known. */
static regal_network_draw
choose_at(const regal_network *network, const regal_head_plan *plan,
          const action_source *source, size_t v, size_t at, uint8_t *actions,
          const regal_real *out, const regal_head_state *state) {
  size_t w = network->config.width, logits = plan->logits;
  regal_network_draw draw;
  regal_mlp_forward(&plan->mlp, network->parameters, 1, out,
                    state->hidden + v * w, state->logits + v * logits);
  draw.entropy = regal_head_probabilities(plan, state->logits + v * logits,
                                          state->p + v * logits,
                                          state->log_p + v * logits);
  at += v * plan->choices;
  draw.log_probability = choose(plan, source, state->p + v * logits,
                                state->log_p + v * logits, at, actions + at);
  return draw;
}

static void run_sequence_choices(const regal_network *network,
                                 const regal_graph_state *graph,
                                 const action_source *source, uint8_t *actions,
                                 regal_network_scratch *scratch,
                                 regal_network_draw *draw) {
  size_t w = network->config.width;
  regal_sequence_state sequence = scratch->sequence;
  sequence.input = graph->sequence.input;
  for (size_t v = 0; v < graph->encoding->nodes; v++) {
    step(network, graph, v, actions, &sequence);
    for (uint32_t h = 0; h < network->config.head_count; h++) {
      if (!in_sequence(network, h))
        continue;
      regal_network_draw one =
          choose_at(network, &network->plan->head[h], source, v,
                    first_action(network, graph, h), actions,
                    sequence.out + v * w, &scratch->head[h]);
      draw->log_probability += one.log_probability;
      draw->entropy += one.entropy;
    }
  }
}

/* -- The whole ------------------------------------------------------------- */

static regal_network_draw run_choices(const regal_network *network,
                                      const regal_graph_state *graph,
                                      const action_source *source,
                                      uint8_t *actions,
                                      regal_network_scratch *scratch) {
  regal_network_draw draw = {.entropy = graph->entropy};
  size_t at = 0;
  for (uint32_t h = 0; h < network->config.head_count; h++) {
    const regal_head_plan *plan = &network->plan->head[h];
    if (!in_sequence(network, h))
      draw.log_probability +=
          choose_all(plan, source, &graph->head[h], at, actions + at);
    at += graph->head[h].items * plan->choices;
  }
  if (network->plan->has_choices_in_sequence)
    run_sequence_choices(network, graph, source, actions, scratch, &draw);
  return draw;
}

void regal_network_sample(const regal_network *network,
                          regal_network_workspace *work, uint32_t graph,
                          uint64_t key, uint32_t samples, uint8_t *actions,
                          regal_network_draw *draws) {
  const regal_graph_state *state = &work->graph[graph];
  size_t count = regal_policy_actions(&network->config, state->encoding);
  for (uint32_t s = 0; s < samples; s++) {
    action_source source = {ACTIONS_DRAWN,
                            regal_random_key(key, REGAL_PURPOSE_POLICY, 1, s)};
    regal_network_draw draw = run_choices(network, state, &source,
                                          actions + s * count, &work->scratch);
    if (draws)
      draws[s] = draw;
  }
}

void regal_network_greedy(const regal_network *network,
                          regal_network_workspace *work, uint32_t graph,
                          uint8_t *actions, regal_network_draw *draw) {
  action_source source = {.how = ACTIONS_LIKELIEST};
  regal_network_draw made = run_choices(network, &work->graph[graph], &source,
                                        actions, &work->scratch);
  if (draw)
    *draw = made;
}

regal_network_draw regal_network_replay(const regal_network *network,
                                        const regal_graph_state *graph,
                                        const uint8_t *actions,
                                        regal_network_scratch *scratch) {
  action_source source = {.how = ACTIONS_GIVEN}; /* so they are not written */
  return run_choices(network, graph, &source, (uint8_t *)actions, scratch);
}
