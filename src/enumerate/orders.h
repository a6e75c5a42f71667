/* SPDX-License-Identifier: Apache-2.0 */
/* All orders of the steps of one placement (orders.c). */
#ifndef REGAL_ENUMERATE_ORDERS_H
#define REGAL_ENUMERATE_ORDERS_H

#include "cost/model/running_cost.h"
#include "enumerate/labels.h"
#include "search/search.h"

#define REGAL_MOST_ENUMERATED_STEPS 64 /* bits of a set */

/* A step: an op runs, or a tensor is sent. */
typedef struct regal_orders_step {
  uint32_t what; /* the op, or the tensor */
  uint16_t from, to;
  bool runs;
  uint64_t needs; /* bit k: step k comes before it */
} regal_orders_step;

typedef struct regal_orders {
  regal_search *search;
  const regal_problem *problem;
  bool memory, overlapped;
  uint64_t nodes, most_nodes; /* partial plans that were looked at */
  bool cut;                   /* some are left out */

  /* Of the present placement. */
  uint8_t *placement; /* [ops] */
  uint32_t count;
  regal_orders_step steps[REGAL_MOST_ENUMERATED_STEPS];
  uint64_t *sends_of;   /* [ops] its sends */
  uint64_t *link_sends; /* [devices * devices] overlapped only */
  uint32_t *send_step;  /* [tensors * devices] */
  int64_t *tail_ns;     /* [ops] from its start to the end of the plan */

  uint8_t order[REGAL_MOST_ENUMERATED_STEPS];
  regal_running_cost *at; /* [steps + 1] after so many of the order */
  int64_t *label;         /* scratch: [table.width] */
  regal_label_table table;
} regal_orders;

void regal_orders_layout(void *orders, regal_carver *carver);
/* Looks at all orders for `placement`, and offers those that are better. */
regal_status regal_orders_run(regal_orders *orders);

#endif
