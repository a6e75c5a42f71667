/* SPDX-License-Identifier: Apache-2.0 */
/* Inside the network: where its layers lie in the parameters, what forward
 * keeps for backward, and the parts that both are made of.
 *
 * N nodes, E edges, T rounds, w width. A plan belongs to a network and is only
 * read. A workspace belongs to one thread: the states of the graphs of the last
 * forward, carved each time out of one block, and scratch for backward.
 */
#ifndef REGAL_POLICY_NETWORK_PARTS_H
#define REGAL_POLICY_NETWORK_PARTS_H

#include "base/carve.h"
#include "nn/dense.h"
#include "nn/segment.h"
#include "policy/network.h"

/* -- Where layers lie ------------------------------------------------------ */

/* A graph network. The two message perceptrons share matrices: columns 0 .. w-1
 * of the first layer are along an edge, w .. 2w-1 against it. The second
 * layer, being linear, is applied once to the sum of what arrives at a node
 * rather than to each message. */
typedef struct regal_gnn_plan {
  bool reads_edges;
  uint32_t rounds, width;
  bool mean;
  regal_node_update update;
  regal_mlp node, edge;
  size_t message_weight; /* [3w][2w]: rows of the source, target, edge */
  size_t message_bias;   /* [2w] */
  size_t summed_weight;  /* [2w][w]: rows of along, against */
  size_t summed_bias;    /* [2][w] */
  regal_dense gru_input, gru_state; /* w to 3w */
  regal_mlp update_mlp;             /* 2w, state and message, to w to w */
} regal_gnn_plan;

/* An LSTM over the nodes in topological order. */
typedef struct regal_sequence_plan {
  regal_dense input; /* w to 4w */
  size_t recurrent;  /* [w][4w] */
  size_t actions;    /* [action_rows][4w], one row for each level that the node
                        before may have chosen; autoregressive only */
  uint32_t action_rows;
} regal_sequence_plan;

typedef struct regal_head_plan {
  regal_mlp mlp;  /* not of a blind policy */
  size_t bias;    /* [logits] of a blind policy */
  uint32_t parts; /* 2, or 3 with a crossover bias */
  uint32_t levels[3];
  uint32_t gene_logits; /* the levels' sum */
  uint32_t logits;      /* of one item */
  uint32_t choices;     /* of one item */
  uint32_t action_row;  /* of its first level, in the sequence */
  bool in_sequence;     /* its choices are read by the node after */
} regal_head_plan;

struct regal_network_plan {
  uint32_t encoders; /* graph networks of the policy: 0, 1, or the experts */
  regal_gnn_plan encoder[REGAL_MOST_EXPERTS];
  bool has_gate, has_sequence, has_choices_in_sequence, has_tensor_head;
  regal_dense gate_node; /* features to w */
  regal_mlp gate;        /* w to w to experts */
  regal_sequence_plan sequence;
  regal_head_plan head[REGAL_MOST_HEADS];
  regal_gnn_plan baseline;
  regal_mlp baseline_node, baseline_head;
  size_t largest_block;
  uint32_t most_logits; /* of one item of a head */
};

regal_status regal_network_make_plan(regal_context *context, uint64_t seed,
                                     regal_network *network);

/* -- What forward keeps ---------------------------------------------------- */

typedef struct regal_gnn_state {
  regal_real *node_hidden; /* [N][w] */
  regal_real *node;        /* [T + 1][N][w] */
  regal_real *edge_hidden; /* [E][w] */
  regal_real *edge;        /* [E][w] */
  regal_real *edge_part;   /* [E][2w]: its part of the messages' first layer */
  regal_real *ends;        /* [T][N][4w]: the nodes' parts */
  regal_real *sums;        /* [T][N][2w] of hidden messages, or means */
  regal_real *message;     /* [T][N][w] */
  regal_real *gates;       /* [T][N][3w] */
  regal_real *gate_state;  /* [T][N][3w] */
  regal_real *update;      /* [T][N][w] */
} regal_gnn_state;

typedef struct regal_sequence_state {
  regal_real *input; /* [N][4w]: the gates' sums before the recurrent part */
  regal_real *gates; /* [N][4w] */
  regal_real *cell;  /* [N][w] */
  regal_real *out;   /* [N][w] */
} regal_sequence_state;

typedef struct regal_head_state {
  size_t items;
  size_t action;         /* its first one, in an action vector */
  regal_real *in;        /* [items][in]; the nodes' states are not copied */
  regal_real *hidden;    /* [items][w] */
  regal_real *logits;    /* [items][logits] */
  regal_real *p, *log_p; /* [items][logits] */
} regal_head_state;

typedef struct regal_graph_state {
  const regal_encoding *encoding;
  regal_real *node_x, *edge_x; /* features */
  regal_real *scale;           /* [N]: 1, or 1 / degree */
  regal_real *share;           /* [N][2]: scale * in-degree, * out-degree */
  regal_gnn_state encoder[REGAL_MOST_EXPERTS];
  regal_real *gate_hidden;             /* [N][w] */
  regal_real *gate_pooled;             /* [w] */
  regal_real *gate_second;             /* [w] */
  regal_real *gate;                    /* [experts] */
  regal_real *mixed_node, *mixed_edge; /* [N][w], [E][w] */
  regal_sequence_state sequence; /* gas; of autoregressive only the input */
  regal_real *node, *edge;       /* states as the heads read them */
  regal_head_state head[REGAL_MOST_HEADS];
  double entropy; /* of the choices known after forward */
  regal_gnn_state baseline;
  regal_real *baseline_hidden, *baseline_node;   /* [N][w] */
  regal_real *baseline_pooled, *baseline_second; /* [w] */
  regal_real *baseline_value;                    /* [1] */
} regal_graph_state;

/* -- Scratch, for the largest graph ---------------------------------------- */

typedef struct regal_network_scratch {
  regal_backprop back;   /* the gradient of one graph, d_hidden
                            [items, N or E][w] */
  regal_real *recurrent; /* [4w][w] */
  regal_real *d_node, *d_state, *d_previous, *d_message; /* [N][w] */
  regal_real *d_sums;                                    /* [N][2w] */
  regal_real *d_ends, *d_gates, *d_gates_sum;            /* [N][4w] */
  regal_real *d_gru_input, *d_gru_state;                 /* [N][3w] */
  regal_real *d_edge, *d_edge_state;                     /* [E][w] */
  regal_real *d_edge_part;                               /* [E][2w] */
  regal_real *d_in;                                      /* [items][2w] */
  regal_real *d_logits;                                  /* [items][logits] */
  regal_real *taken;                       /* [logits] of one item */
  regal_real *small;                       /* [w] */
  regal_sequence_state sequence;           /* of one sample */
  regal_head_state head[REGAL_MOST_HEADS]; /* of its node heads */
} regal_network_scratch;

struct regal_network_workspace {
  regal_network_sizes capacity;
  uint32_t graphs; /* of the last forward */
  regal_graph_state *graph;
  char *states; /* carved by forward */
  regal_network_scratch scratch;
  void *block;
};

/* Sets the pointers of one graph's state (base NULL: only measures). */
void regal_network_carve_state(const regal_network *network, size_t nodes,
                               size_t edges, size_t tensors,
                               regal_carver *carver, regal_graph_state *state);

/* -- Parts, forward and backward in pairs ---------------------------------- */

void regal_gnn_forward(const regal_gnn_plan *plan, const regal_real *parameters,
                       const regal_graph_state *graph, regal_gnn_state *state);
/* d_node [N][w] and d_edge [E][w] are the gradients of the final states; both
 * are used up. d_edge is not read when the plan reads no edges. */
void regal_gnn_backward(const regal_gnn_plan *plan,
                        const regal_graph_state *graph,
                        const regal_gnn_state *state, regal_real *d_node,
                        regal_real *d_edge, regal_network_scratch *scratch);
/* The states [N][w] after the last round. */
static inline regal_real *regal_gnn_states(const regal_gnn_plan *plan,
                                           const regal_gnn_state *state,
                                           size_t nodes) {
  return state->node + plan->rounds * nodes * plan->width;
}

/* Mixes the experts' states by the gate, and back: sets d_node and d_edge of
 * every expert in turn and runs its backward. */
void regal_experts_forward(const regal_network *network,
                           regal_graph_state *graph);
void regal_experts_backward(const regal_network *network,
                            const regal_graph_state *graph,
                            const regal_real *d_node, const regal_real *d_edge,
                            regal_network_scratch *scratch);

/* Node v of a sequence whose input is known, in two steps: the gates' sums
 * (to which the rows of earlier choices may be added), and their effect. */
void regal_sequence_begin(const regal_sequence_plan *plan,
                          const regal_real *parameters, size_t v,
                          const regal_sequence_state *state);
void regal_sequence_finish(const regal_sequence_plan *plan, size_t v,
                           const regal_sequence_state *state);
/* d_out [N][w] is used up; scratch->d_gates [N][4w] is set; adds to the
 * gradient of the recurrent weights. */
void regal_sequence_backward(const regal_sequence_plan *plan, size_t nodes,
                             const regal_sequence_state *state,
                             regal_real *d_out, regal_network_scratch *scratch);

/* A head on all its items: logits, probabilities; returns the entropy. */
double regal_head_forward(const regal_head_plan *plan,
                          const regal_real *parameters, bool blind,
                          const regal_real *in, regal_head_state *state);

/* share * advantages[s] * -log p(sample s) - entropy_weight * entropy, where
 * the actions of sample s start at actions + s * stride. */
typedef struct regal_head_terms {
  const uint8_t *actions;
  size_t stride;
  uint32_t samples;
  const regal_real *advantages;
  regal_real share, entropy_weight;
} regal_head_terms;

/* Sets d_logits of all items; taken is scratch. */
void regal_head_loss(const regal_head_plan *plan, const regal_head_state *state,
                     const regal_head_terms *terms, regal_real *taken,
                     regal_real *d_logits);

/* The log-probability of given actions of one graph, and the entropy. Leaves
 * the sequence and the node heads of an autoregressive policy in the scratch.
 */
regal_network_draw regal_network_replay(const regal_network *network,
                                        const regal_graph_state *graph,
                                        const uint8_t *actions,
                                        regal_network_scratch *scratch);

#endif
