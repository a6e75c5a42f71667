/* SPDX-License-Identifier: Apache-2.0 */
/* Networks and workspaces: checked, created and freed.
 *
 * A workspace is one block of memory, cut into the states of the graphs of a
 * batch, which forward keeps for backward, and scratch for the largest graph.
 * The functions that cut it (carve_*) also measure it, so that sizes are
 * written once; network_parts.h has the shape of each piece. Forward, sampling
 * and backward allocate nothing. */
#include "policy/network.h"

#include <string.h>

#include "cost/model/problem.h"
#include "policy/network_parts.h"

/* -- Configurations -------------------------------------------------------- */

#define MOST_COLUMNS 4096 /* of features */

typedef struct range {
  const char *what;
  uint32_t found, low, high;
} range;

static regal_status check_ranges(regal_context *context, const char *name,
                                 const range *ranges, size_t count) {
  for (const range *r = ranges; r < ranges + count; r++)
    if (r->found < r->low || r->found > r->high)
      return regal_fail(context, REGAL_BAD_INPUT,
                        "%s: found %s %u, expected %u to %u", name, r->what,
                        r->found, r->low, r->high);
  return REGAL_OK;
}

static regal_status check_head(regal_context *context, const char *name,
                               const regal_policy_head *head,
                               uint32_t devices) {
  uint32_t most = head->domain == REGAL_HEAD_GRAPH ? 1 : devices;
  const range ranges[] = {
      {"domain", head->domain, 0, REGAL_HEAD_TENSOR},
      {"genes of an item", head->genes, 1, most},
      {"mean levels", head->mean_levels, REGAL_FEWEST_LEVELS,
       REGAL_MOST_LEVELS},
      {"variance levels", head->variance_levels, REGAL_FEWEST_LEVELS,
       REGAL_MOST_LEVELS},
      {"bias levels", head->bias_levels, 0, REGAL_MOST_LEVELS}};
  if (!head->gene_class[0])
    return regal_fail(context, REGAL_BAD_INPUT,
                      "%s: found a head without a name, expected a gene class",
                      name);
  return check_ranges(context, name, ranges, sizeof ranges / sizeof *ranges);
}

regal_status regal_policy_config_check(regal_context *context, const char *name,
                                       const regal_policy_config *config) {
  uint32_t fewest_experts = config->kind == REGAL_POLICY_EXPERTS;
  const range ranges[] = {
      {"kind", config->kind, 0, REGAL_POLICY_BLIND},
      {"update", config->update, 0, REGAL_UPDATE_GRU},
      {"rounds", config->rounds, 0, REGAL_MOST_MESSAGE_ROUNDS},
      {"width", config->width, 1, REGAL_MOST_STATE_WIDTH},
      {"experts", config->experts, fewest_experts, REGAL_MOST_EXPERTS},
      {"node features", config->node_features, 1, MOST_COLUMNS},
      {"edge features", config->edge_features, 1, MOST_COLUMNS},
      {"devices", config->devices, 1, REGAL_MAX_DEVICES},
      {"objective", config->objective, 0, REGAL_MEMORY},
      {"heads", config->head_count, 1, REGAL_MOST_HEADS}};
  REGAL_TRY(
      check_ranges(context, name, ranges, sizeof ranges / sizeof *ranges));
  for (uint32_t i = 0; i < config->head_count; i++)
    REGAL_TRY(check_head(context, name, &config->heads[i], config->devices));
  return REGAL_OK;
}

/* -- Networks -------------------------------------------------------------- */

regal_status regal_network_create(regal_context *context,
                                  const regal_policy_config *config,
                                  uint64_t seed, regal_network **made) {
  *made = NULL;
  REGAL_TRY(regal_policy_config_check(context, "policy", config));
  regal_network *network = regal_alloc(context, 1, sizeof *network);
  if (!network)
    return regal_fail_memory(context);
  network->config = *config;
  regal_status status = regal_network_make_plan(context, seed, network);
  if (status == REGAL_OK)
    *made = network;
  else
    regal_network_free(context, network);
  return status;
}

void regal_network_free(regal_context *context, regal_network *network) {
  if (!network)
    return;
  regal_release(context, network->parameters);
  regal_release(context, network->blocks);
  regal_release(context, network->plan);
  regal_release(context, network);
}

void regal_network_add_sizes(regal_network_sizes *sizes,
                             const regal_encoding *encoding) {
  sizes->nodes += encoding->nodes;
  sizes->edges += encoding->edges;
  sizes->tensors += encoding->tensors;
  sizes->graphs++;
}

/* -- What a workspace is cut into ------------------------------------------ */

static regal_real *carve(regal_carver *carver, size_t count) {
  return regal_carve(carver, count, sizeof(regal_real));
}

static void carve_gnn(const regal_gnn_plan *plan, size_t n, size_t e,
                      regal_carver *carver, regal_gnn_state *state) {
  size_t w = plan->width, t = plan->rounds, edges = plan->reads_edges ? e : 0;
  bool gru = plan->update == REGAL_UPDATE_GRU;
  state->node_hidden = carve(carver, n * w);
  state->node = carve(carver, (t + 1) * n * w);
  state->edge_hidden = carve(carver, edges * w);
  state->edge = carve(carver, edges * w);
  state->edge_part = carve(carver, t ? edges * 2 * w : 0);
  state->ends = carve(carver, t * n * 4 * w);
  state->sums = carve(carver, t * n * 2 * w);
  state->message = carve(carver, t * n * w);
  state->gates = carve(carver, gru ? t * n * 3 * w : 0);
  state->gate_state = carve(carver, gru ? t * n * 3 * w : 0);
  state->update = carve(carver, gru ? 0 : t * n * w);
}

static void carve_sequence(size_t n, size_t w, bool steps, regal_carver *carver,
                           regal_sequence_state *state) {
  state->input = carve(carver, n * 4 * w);
  state->gates = carve(carver, steps ? n * 4 * w : 0);
  state->cell = carve(carver, steps ? n * w : 0);
  state->out = carve(carver, steps ? n * w : 0);
}

static void carve_head(const regal_head_plan *plan, size_t items, size_t in,
                       size_t w, regal_carver *carver,
                       regal_head_state *state) {
  state->items = items;
  state->in = carve(carver, items * in);
  state->hidden = carve(carver, items * w);
  state->logits = carve(carver, items * plan->logits);
  state->p = carve(carver, items * plan->logits);
  state->log_p = carve(carver, items * plan->logits);
}

static void carve_gate(const regal_network *network, size_t n, size_t e,
                       regal_carver *carver, regal_graph_state *state) {
  size_t w = network->config.width, experts = network->plan->encoders;
  state->gate_hidden = carve(carver, n * w);
  state->gate_pooled = carve(carver, w);
  state->gate_second = carve(carver, w);
  state->gate = carve(carver, experts);
  state->mixed_node = carve(carver, n * w);
  state->mixed_edge = carve(carver, network->plan->has_tensor_head ? e * w : 0);
}

static void carve_baseline(const regal_network *network, size_t n, size_t e,
                           regal_carver *carver, regal_graph_state *state) {
  size_t w = network->config.width;
  carve_gnn(&network->plan->baseline, n, e, carver, &state->baseline);
  state->baseline_hidden = carve(carver, n * w);
  state->baseline_node = carve(carver, n * w);
  state->baseline_pooled = carve(carver, w);
  state->baseline_second = carve(carver, w);
  state->baseline_value = carve(carver, 1);
}

/* What a head reads that is not there already: pooled states, tensors'. */
static size_t copied_in(const regal_policy_head *head, size_t w) {
  return head->domain == REGAL_HEAD_NODE     ? 0
         : head->domain == REGAL_HEAD_TENSOR ? 2 * w
                                             : w;
}

void regal_network_carve_state(const regal_network *network, size_t nodes,
                               size_t edges, size_t tensors,
                               regal_carver *carver, regal_graph_state *state) {
  const regal_policy_config *config = &network->config;
  const regal_network_plan *plan = network->plan;
  size_t w = config->width, action = 0;
  state->node_x = carve(carver, nodes * config->node_features);
  state->edge_x = carve(carver, edges * config->edge_features);
  state->scale = carve(carver, nodes);
  state->share = carve(carver, 2 * nodes);
  for (uint32_t i = 0; i < plan->encoders; i++)
    carve_gnn(&plan->encoder[i], nodes, edges, carver, &state->encoder[i]);
  if (plan->has_gate)
    carve_gate(network, nodes, edges, carver, state);
  if (plan->has_sequence)
    carve_sequence(nodes, w, !plan->has_choices_in_sequence, carver,
                   &state->sequence);
  for (uint32_t i = 0; i < config->head_count; i++) {
    size_t items = regal_head_items(&config->heads[i], nodes, tensors);
    carve_head(&plan->head[i], items, copied_in(&config->heads[i], w), w,
               carver, &state->head[i]);
    state->head[i].action = action;
    action += items * plan->head[i].choices;
  }
  carve_baseline(network, nodes, edges, carver, state);
}

static size_t largest(size_t a, size_t b) {
  return a > b ? a : b;
}

static void carve_scratch(const regal_network *network,
                          const regal_network_sizes *sizes,
                          regal_carver *carver, regal_network_scratch *s) {
  const regal_network_plan *plan = network->plan;
  size_t w = network->config.width, n = sizes->nodes, e = sizes->edges;
  size_t items =
      largest(largest(n, plan->has_tensor_head ? sizes->tensors : 0), 1);
  s->back.gradient = carve(carver, network->parameter_count);
  s->back.transposed = carve(carver, plan->largest_block);
  s->back.d_hidden = carve(carver, largest(items, e) * w);
  s->recurrent = carve(carver, 4 * w * w);
  s->d_node = carve(carver, n * w);
  s->d_state = carve(carver, n * w);
  s->d_previous = carve(carver, n * w);
  s->d_message = carve(carver, n * w);
  s->d_sums = carve(carver, n * 2 * w);
  s->d_ends = carve(carver, n * 4 * w);
  s->d_gates = carve(carver, n * 4 * w);
  s->d_gates_sum = carve(carver, n * 4 * w);
  s->d_gru_input = carve(carver, n * 3 * w);
  s->d_gru_state = carve(carver, n * 3 * w);
  s->d_edge = carve(carver, e * w);
  s->d_edge_state = carve(carver, e * w);
  s->d_edge_part = carve(carver, e * 2 * w);
  s->d_in = carve(carver, items * 2 * w);
  s->d_logits = carve(carver, items * plan->most_logits);
  s->taken = carve(carver, plan->most_logits);
  s->small = carve(carver, w);
  if (!plan->has_choices_in_sequence)
    return;
  carve_sequence(n, w, true, carver, &s->sequence);
  for (uint32_t i = 0; i < network->config.head_count; i++)
    if (plan->head[i].in_sequence)
      carve_head(&plan->head[i], n, 0, w, carver, &s->head[i]);
}

/* A state takes at most its share of all nodes, edges and tensors, and what
 * one of each would take: that covers rounding and what every graph has. */
static size_t state_bytes(const regal_network *network,
                          const regal_network_sizes *sizes) {
  regal_graph_state state;
  regal_carver all = {0}, each = {0};
  regal_network_carve_state(network, sizes->nodes, sizes->edges, sizes->tensors,
                            &all, &state);
  regal_network_carve_state(network, 1, 1, 1, &each, &state);
  return all.used + sizes->graphs * each.used;
}

regal_status regal_network_workspace_create(regal_context *context,
                                            const regal_network *network,
                                            const regal_network_sizes *sizes,
                                            regal_network_workspace **made) {
  *made = NULL;
  regal_network_workspace *work = regal_alloc(context, 1, sizeof *work);
  if (!work)
    return regal_fail_memory(context);
  regal_carver carver = {0};
  carve_scratch(network, sizes, &carver, &work->scratch);
  size_t scratch = carver.used, states = state_bytes(network, sizes);
  work->graph = regal_alloc(context, sizes->graphs, sizeof *work->graph);
  work->block =
      regal_alloc(context, scratch + states + REGAL_CARVE_ALIGN, sizeof(char));
  if (!work->graph || !work->block) {
    regal_network_workspace_free(context, work);
    return regal_fail_memory(context);
  }
  size_t off = (uintptr_t)work->block % REGAL_CARVE_ALIGN;
  carver = (regal_carver){.base = (char *)work->block +
                                  (off ? REGAL_CARVE_ALIGN - off : 0)};
  carve_scratch(network, sizes, &carver, &work->scratch);
  work->states = carver.base + carver.used;
  work->capacity = *sizes;
  *made = work;
  return REGAL_OK;
}

void regal_network_workspace_free(regal_context *context,
                                  regal_network_workspace *work) {
  if (!work)
    return;
  regal_release(context, work->graph);
  regal_release(context, work->block);
  regal_release(context, work);
}
