/* SPDX-License-Identifier: Apache-2.0 */
/* The handmade rules: an order of the ops, by the mean order of a BRKGA run or
 * by depth, and priorities by its halves. What a learned policy is compared
 * with. */
#include "policy/rule.h"

#include <stdio.h>
#include <stdlib.h>

#include "policy/features.h"

void regal_rule_config(regal_rule rule, uint32_t devices, uint32_t objective,
                       const char *decoder, regal_policy_config *config) {
  *config = (regal_policy_config){
      .head_count = 1,
      .heads = {{.gene_class = REGAL_RULE_CLASS,
                 .domain = REGAL_HEAD_NODE,
                 .genes = 1,
                 .mean_levels = REGAL_RULE_LEVELS,
                 .variance_levels = REGAL_RULE_LEVELS}},
      .devices = devices,
      .objective = objective,
  };
  if (rule == REGAL_RULE_ORDER) {
    regal_features_add(&config->features, "position");
    config->node_features = 1;
  }
  snprintf(config->decoder, sizeof config->decoder, "%s", decoder);
}

typedef struct place {
  float at;
  uint32_t op;
} place;

static int compare_places(const void *a, const void *b) {
  const place *x = a, *y = b;
  if (x->at != y->at)
    return x->at < y->at ? -1 : 1;
  return x->op < y->op ? -1 : 1;
}

static uint32_t follow(const regal_encoding *encoding, uint32_t op,
                       uint32_t edge, place *places) {
  for (; edge < encoding->edges && encoding->from[edge] == op; edge++) {
    place *next = &places[encoding->to[edge]];
    if (next->at <= places[op].at)
      next->at = places[op].at + 1;
  }
  return edge;
}

/* The number of ops on the longest way to an op, from zero: nodes are in
 * topological order, and so are the producers of the tensors' edges and of the
 * control edges. */
static void add_depth(const regal_encoding *encoding, place *places) {
  uint32_t tensor_edge = 0;
  uint32_t control_edge = encoding->tensor_edge[encoding->tensors];
  for (uint32_t op = 0; op < encoding->nodes; op++) {
    tensor_edge = follow(encoding, op, tensor_edge, places);
    control_edge = follow(encoding, op, control_edge, places);
  }
}

regal_status regal_rule_actions(regal_context *context, regal_rule rule,
                                const regal_encoding *encoding,
                                uint8_t *actions) {
  uint32_t nodes = encoding->nodes;
  place *places = regal_alloc(context, nodes, sizeof *places);
  if (!places)
    return regal_fail_memory(context);
  for (uint32_t op = 0; op < nodes; op++)
    places[op] = (place){rule == REGAL_RULE_ORDER ? encoding->node[op] : 0, op};
  if (rule == REGAL_RULE_DEPTH)
    add_depth(encoding, places);
  qsort(places, nodes, sizeof *places, compare_places);
  for (uint32_t i = 0; i < nodes; i++) {
    uint8_t *action = actions + 2 * (size_t)places[i].op;
    action[0] = i < (nodes + 1) / 2 ? REGAL_RULE_LEVELS - 1 : 0;
    action[1] = REGAL_RULE_LEVELS - 1;
  }
  regal_release(context, places);
  return REGAL_OK;
}
