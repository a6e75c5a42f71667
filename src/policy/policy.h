/* SPDX-License-Identifier: Apache-2.0 */
/* What a policy is, apart from its weights: the graph as it reads it, and the
 * actions that it takes.
 *
 * A policy reads one graph (an encoding) and chooses, for every gene of the
 * classes that it has heads for, a level for the mean of the gene's Beta, one
 * for its variance, and perhaps one for its crossover bias. It knows gene
 * classes by their names and domains only, never a decoder.
 */
#ifndef REGAL_POLICY_POLICY_H
#define REGAL_POLICY_POLICY_H

#include "base/context.h"

#define REGAL_MOST_FEATURES 32
#define REGAL_MOST_HEADS 8

/* One graph: a node for each op, in topological order; an edge for each
 * (producer, tensor, consumer) and each control edge; normalised features. */
typedef struct regal_encoding {
  uint32_t nodes, edges, tensors;
  uint32_t node_features, edge_features;
  float *node;           /* [nodes * node_features] */
  float *edge;           /* [edges * edge_features] */
  uint32_t *from, *to;   /* [edges] */
  uint32_t *tensor_node; /* [tensors] producer */
  uint32_t *tensor_edge; /* [tensors + 1] its first edge: edges of a tensor
                            are consecutive, tensors in order; the edges from
                            tensor_edge[tensors] on are control edges */
  float *draft;          /* genes of a plan (policy/features.h), or NULL */
  uint32_t draft_devices;
} regal_encoding;

/* Features that a policy reads, in the order of their columns: rows of the
 * table in policy/features.c. */
typedef struct regal_feature_list {
  uint32_t count;
  uint8_t row[REGAL_MOST_FEATURES];
} regal_feature_list;

/* What a head's genes belong to. */
typedef enum regal_head_domain {
  REGAL_HEAD_GRAPH, /* global genes: reads the pooled state */
  REGAL_HEAD_NODE,  /* op, and (op, device): reads the node's state */
  REGAL_HEAD_TENSOR /* (tensor, device): the producer's and its edges' */
} regal_head_domain;

typedef struct regal_policy_head {
  char gene_class[24];
  regal_head_domain domain;
  uint32_t genes; /* of one item: d for (op, device), 1 for op */
  uint32_t mean_levels, variance_levels;
  uint32_t bias_levels; /* 0: BRKGA's own crossover bias */
  bool relative;        /* levels of means are shifts from the draft's genes */
} regal_policy_head;

typedef enum regal_policy_kind {
  REGAL_POLICY_GNN,
  REGAL_POLICY_GAS,            /* an LSTM over the topological order */
  REGAL_POLICY_AUTOREGRESSIVE, /* an LSTM over the GNN's node states */
  REGAL_POLICY_EXPERTS,        /* small GNNs and a gate on the pooled graph */
  REGAL_POLICY_BLIND           /* one learned distribution for all nodes */
} regal_policy_kind;

typedef enum regal_node_update {
  REGAL_UPDATE_RESIDUAL,
  REGAL_UPDATE_MLP,
  REGAL_UPDATE_GRU
} regal_node_update;

typedef struct regal_policy_config {
  regal_policy_kind kind;
  regal_node_update update;
  bool mean_aggregation; /* else sum */
  uint32_t rounds;       /* T */
  uint32_t width;        /* of node and edge states */
  uint32_t experts;
  regal_feature_list features;
  uint32_t node_features, edge_features; /* their columns */
  float neutral_bias; /* on the initial logit of the level nearest Beta(1,1) */
  uint32_t head_count;
  regal_policy_head heads[REGAL_MOST_HEADS];
  /* What it was trained for; it is used for nothing else. */
  uint32_t devices;
  uint32_t objective;
  char decoder[24];
} regal_policy_config;

/* Items of a head in a graph: 1, its nodes or its tensors. */
static inline size_t regal_head_items(const regal_policy_head *head,
                                      size_t nodes, size_t tensors) {
  return head->domain == REGAL_HEAD_NODE     ? nodes
         : head->domain == REGAL_HEAD_TENSOR ? tensors
                                             : 1;
}

/* Genes that a head chooses for in a graph. */
static inline size_t regal_head_genes(const regal_policy_head *head,
                                      const regal_encoding *encoding) {
  return regal_head_items(head, encoding->nodes, encoding->tensors) *
         head->genes;
}

/* Actions of one graph are one array of bytes: head by head, item by item,
 * gene by gene: mean level, variance level, and bias level if there is one.
 * These are the bytes of a gene, of a head and of all heads. */
static inline size_t regal_head_levels(const regal_policy_head *head) {
  return head->bias_levels ? 3 : 2;
}

static inline size_t regal_head_actions(const regal_policy_head *head,
                                        const regal_encoding *encoding) {
  return regal_head_items(head, encoding->nodes, encoding->tensors) *
         head->genes * regal_head_levels(head);
}

static inline size_t regal_policy_actions(const regal_policy_config *config,
                                          const regal_encoding *encoding) {
  size_t actions = 0;
  for (uint32_t i = 0; i < config->head_count; i++)
    actions += regal_head_actions(&config->heads[i], encoding);
  return actions;
}

#endif
