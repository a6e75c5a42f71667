/* SPDX-License-Identifier: Apache-2.0 */
/* The probe of a network: forward on a diamond of four ops.
 *
 * Weights that are finite one by one can still overflow in a sum. Such a policy
 * chooses its actions by comparing what is not a number. A probe finds it when
 * its file is read. The rows of features are zeros, ones, and a ramp up and
 * down, so that no single row of weights can hide behind a zero. A network may
 * pass and overflow on another graph: whoever uses the actions asks the draw
 * again (regal_network_is_finite). Entropy and log-probability are sums over
 * all choices, so one of them shows an output that is not finite anywhere. */
#include "policy/probe.h"

#include "base/carve.h"

#define NODES 4
#define EDGES 5 /* the last is a control edge */
#define TENSORS 3

static const uint32_t from[EDGES] = {0, 0, 1, 2, 0};
static const uint32_t to[EDGES] = {1, 2, 3, 3, 3};
static const uint32_t tensor_node[TENSORS] = {0, 1, 2};
static const uint32_t tensor_edge[TENSORS + 1] = {0, 2, 3, 4};

typedef struct probe {
  regal_encoding encoding;
  uint8_t *actions;
  size_t action_count;
} probe;

static void lay_out(void *made, regal_carver *carver) {
  probe *p = made;
  regal_encoding *e = &p->encoding;
  e->node =
      regal_carve(carver, (size_t)NODES * e->node_features, sizeof(float));
  e->edge =
      regal_carve(carver, (size_t)EDGES * e->edge_features, sizeof(float));
  p->actions = regal_carve(carver, p->action_count, 1);
}

/* Row 0 is zeros, row 1 ones, the others ramps. */
static void fill(float *features, uint32_t rows, uint32_t columns) {
  for (uint32_t r = 0; r < rows; r++)
    for (uint32_t c = 0; c < columns; c++) {
      float ramp = (float)(c + 1) / (float)(columns + 1);
      features[r * columns + c] = r < 2        ? (float)r
                                  : r % 2 == 0 ? ramp
                                               : 1 - ramp;
    }
}

static regal_status run(regal_context *context, const regal_network *network,
                        probe *p, bool *finite) {
  const regal_encoding *encoding = &p->encoding;
  regal_network_sizes sizes = {0};
  regal_network_workspace *work;
  regal_network_draw draw;
  regal_network_add_sizes(&sizes, encoding);
  REGAL_TRY(regal_network_workspace_create(context, network, &sizes, &work));
  regal_status status =
      regal_network_forward(context, network, work, &encoding, 1, false);
  if (status == REGAL_OK) {
    regal_network_greedy(network, work, 0, p->actions, &draw);
    *finite = regal_network_is_finite(&draw);
  }
  regal_network_workspace_free(context, work);
  return status;
}

regal_status regal_network_probe(regal_context *context,
                                 const regal_network *network, bool *finite) {
  const regal_policy_config *config = &network->config;
  probe plain = {.encoding = {.nodes = NODES,
                              .edges = EDGES,
                              .tensors = TENSORS,
                              .node_features = config->node_features,
                              .edge_features = config->edge_features,
                              .from = (uint32_t *)from,
                              .to = (uint32_t *)to,
                              .tensor_node = (uint32_t *)tensor_node,
                              .tensor_edge = (uint32_t *)tensor_edge}};
  plain.action_count = regal_policy_actions(config, &plain.encoding);
  probe *p = regal_carve_struct(context, &plain, sizeof plain, lay_out);
  if (!p)
    return regal_fail_memory(context);
  fill(p->encoding.node, NODES, config->node_features);
  fill(p->encoding.edge, EDGES, config->edge_features);
  regal_status status = run(context, network, p, finite);
  regal_release(context, p);
  return status;
}
