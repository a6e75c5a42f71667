/* SPDX-License-Identifier: Apache-2.0 */
/* One chain of the order annealer: shared by its moves (anneal/order/moves.c)
 * and the annealing itself (anneal/order/annealer.c). */
#ifndef REGAL_ANNEAL_ORDER_CHAIN_H
#define REGAL_ANNEAL_ORDER_CHAIN_H

#include "anneal/order/within.h"
#include "base/random.h"

typedef struct regal_order_chain {
  regal_context *context;
  const regal_problem *problem;
  regal_order order;
  regal_random random;
  double progress;             /* of the whole run, 0 to 1 */
  uint32_t *by_fold, *fold_at; /* [ops] each other's inverse */
  uint32_t *best_order;        /* [ops] */
  uint8_t *best_placement;     /* [ops] */
  regal_fitness fitness, best;
  double unit_ns;            /* mean run time */
  double usual_price, price; /* of a byte beyond the limit */
  double violation;          /* bytes beyond the limit, and how often */
  double energy;
  regal_order_within within; /* the memory limits */
  uint32_t toggled;          /* as regal_order_memory_try has it */
  uint8_t *best_early;       /* [tensors] with exchanges */
} regal_order_chain;

/* Makes a random move, without its cost. `run_share`: of moves of long runs. */
void regal_order_move(regal_order_chain *c, double run_share);

#endif
