/* SPDX-License-Identifier: Apache-2.0 */
/* The network of a policy: from graphs to a distribution over actions, and
 * from rewards back to a gradient.
 *
 *   regal_network_create(context, &config, seed, &net);
 *   regal_network_sizes sizes = {0};
 *   for each graph of a batch: regal_network_add_sizes(&sizes, encoding);
 *   regal_network_workspace_create(context, net, &sizes, &work);
 *   repeat:
 *     regal_network_forward(context, net, work, encodings, graphs, true);
 *     for each graph: regal_network_sample(net, work, graph, key, ...);
 *     ... rewards, advantages ...
 *     memset(gradient, 0, net->parameter_count * sizeof *gradient);
 *     regal_network_backward(net, work, &terms, gradient, &loss);
 *     regal_adam_step(...)                                    (nn/adam.h)
 *
 * A network is only read by these calls: threads share it, each with its own
 * workspace. Graphs do not influence each other: the gradient is the sum of the
 * graphs' own gradients, added in their order, so that a batch cut in pieces,
 * added up in the same order, gives the same bits. Loss, as a mean over the
 * graphs g of the batch and their samples s:
 *
 *   - advantage(g, s) * log p(actions(g, s))
 *   - entropy_weight * entropy(g, s) / nodes(g)
 *   + baseline_weight * (baseline(g) - target(g))^2
 */
#ifndef REGAL_POLICY_NETWORK_H
#define REGAL_POLICY_NETWORK_H

#include <math.h>

#include "nn/real.h"
#include "policy/policy.h"

/* A matrix or a vector (rows = 1) within the parameters, by a name that stays
 * the same between releases: "policy/message_in/0/weight". */
typedef struct regal_network_block {
  char name[48];
  size_t at; /* its first parameter */
  uint32_t rows, columns;
} regal_network_block;

typedef struct regal_network_plan regal_network_plan; /* where layers lie */

typedef struct regal_network {
  regal_policy_config config;
  size_t parameter_count; /* the policy's, then the baseline's */
  size_t policy_count;
  regal_real *parameters; /* [parameter_count] */
  uint32_t block_count;
  regal_network_block *blocks; /* in order, without gaps */
  regal_network_plan *plan;
} regal_network;

/* Fails as REGAL_BAD_INPUT with "NAME: found X, expected Y" where a number of
 * the configuration is out of its range. */
regal_status regal_policy_config_check(regal_context *context, const char *name,
                                       const regal_policy_config *config);
/* Weights are drawn from the seed; output layers are near zero, with
 * config->neutral_bias on the levels nearest Beta(1,1). A configuration that
 * makes no sense is REGAL_BAD_INPUT. */
regal_status regal_network_create(regal_context *context,
                                  const regal_policy_config *config,
                                  uint64_t seed, regal_network **made);
void regal_network_free(regal_context *context, regal_network *network);

/* What a workspace holds: totals over all graphs of a batch. */
typedef struct regal_network_sizes {
  size_t nodes, edges, tensors;
  uint32_t graphs;
} regal_network_sizes;

void regal_network_add_sizes(regal_network_sizes *sizes,
                             const regal_encoding *encoding);

typedef struct regal_network_workspace regal_network_workspace;

regal_status regal_network_workspace_create(regal_context *context,
                                            const regal_network *network,
                                            const regal_network_sizes *sizes,
                                            regal_network_workspace **made);
void regal_network_workspace_free(regal_context *context,
                                  regal_network_workspace *work);

/* The encodings must outlive the calls that follow. Fails with REGAL_MISUSE
 * when the workspace is too small or an encoding has other features. */
regal_status regal_network_forward(regal_context *context,
                                   const regal_network *network,
                                   regal_network_workspace *work,
                                   const regal_encoding *const *encodings,
                                   uint32_t graphs, bool with_baseline);

/* After forward: logits [items][genes][mean, variance and bias levels] of a
 * head; NULL for a node head of an autoregressive policy, which has none
 * before the actions of earlier nodes are known. */
const regal_real *regal_network_logits(const regal_network_workspace *work,
                                       uint32_t graph, uint32_t head);
/* After forward with the baseline. */
regal_real regal_network_baseline(const regal_network_workspace *work,
                                  uint32_t graph);

typedef struct regal_network_draw {
  double log_probability; /* of all actions of the graph together */
  double entropy;         /* summed over all choices, in nats; where choices
                             depend on earlier ones: given those */
} regal_network_draw;

/* Whether all outputs behind the choices are finite numbers. */
static inline bool regal_network_is_finite(const regal_network_draw *draw) {
  return isfinite(draw->log_probability) && isfinite(draw->entropy);
}

/* After forward: `samples` action vectors of one graph, of
 * regal_policy_actions() bytes each, one after the other. Sample s depends on
 * the key, s and the graph alone. draws may be NULL. */
void regal_network_sample(const regal_network *network,
                          regal_network_workspace *work, uint32_t graph,
                          uint64_t key, uint32_t samples, uint8_t *actions,
                          regal_network_draw *draws);
/* The likeliest level of each choice (the lowest where several are). */
void regal_network_greedy(const regal_network *network,
                          regal_network_workspace *work, uint32_t graph,
                          uint8_t *actions, regal_network_draw *draw);

/* After actions were chosen: log-probabilities of all levels, laid out as
 * logits are; those of the last action vector, where choices depend on earlier
 * ones. */
const regal_real *
regal_network_log_probabilities(const regal_network *network,
                                const regal_network_workspace *work,
                                uint32_t graph, uint32_t head);

typedef struct regal_network_terms {
  uint32_t samples;
  const uint8_t *const *actions; /* of each graph: its samples' action vectors,
                                    as regal_network_sample writes them */
  const regal_real *advantages;  /* [graphs][samples] */
  regal_real entropy_weight;
  const regal_real *baseline_targets; /* [graphs]; NULL: no baseline term */
  regal_real baseline_weight;
  uint32_t batch_graphs; /* that the loss is a mean over; 0: those of forward */
} regal_network_terms;

/* The three terms as they enter the loss, with their signs and weights. */
typedef struct regal_network_loss {
  double policy, entropy, baseline;
} regal_network_loss;

/* After forward (and any sampling), once: ADDS the loss's gradient to
 * `gradient` [parameter_count] and sets the loss, which may be NULL. A baseline
 * term needs a forward with the baseline. */
void regal_network_backward(const regal_network *network,
                            regal_network_workspace *work,
                            const regal_network_terms *terms,
                            regal_real *gradient, regal_network_loss *loss);

#endif
