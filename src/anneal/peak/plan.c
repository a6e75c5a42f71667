/* SPDX-License-Identifier: Apache-2.0 */
/* Annealing for peak memory: a solution from a plan, and a plan from the best
 * solution. In a solution a tensor travels early or late, and to all devices of
 * its readers alike; a plan may send it at any time, which is read as the
 * nearer of the two. */
#include "anneal/peak/peak.h"

/* -- Reading --------------------------------------------------------------- */

/* Whether the transfer, with `ran` ops before it, is nearer to where an early
 * one would be than to a late one. */
static bool is_early(const regal_peak *chain, uint32_t tensor, uint32_t to,
                     uint32_t ran) {
  const regal_problem *problem = chain->problem;
  uint32_t sent = regal_memory_sent_after(problem, chain->position,
                                          chain->memory.placement, tensor);
  if (sent == REGAL_NONE)
    return false;
  uint32_t first = UINT32_MAX, after = chain->position[sent] + 1;
  for (REGAL_ROW(u, problem->use_begin, tensor)) {
    uint32_t op = problem->consumer[u], at = chain->position[op];
    if (chain->memory.placement[op] == to && at < first)
      first = at;
  }
  return (uint64_t)2 * ran < (uint64_t)after + first;
}

void regal_peak_read(regal_peak *chain, const regal_plan *plan) {
  uint32_t ran = 0;
  regal_plan_ops(plan, chain->order, chain->memory.placement);
  for (uint32_t i = 0; i < chain->ops; i++)
    chain->position[chain->order[i]] = i;
  memset(chain->memory.early, 0, chain->problem->tensors);
  for (uint32_t i = 0; i < plan->step_count; i++) {
    const regal_step *step = &plan->steps[i];
    if (regal_step_runs(step)) {
      ran++;
      continue;
    }
    uint32_t tensor = regal_plan_tensor(chain->problem, step);
    chain->memory.early[tensor] = is_early(chain, tensor, step->to, ran);
  }
}

/* -- Writing --------------------------------------------------------------- */

/* The best solution, while it is written down. */
typedef struct writer {
  const regal_problem *problem;
  const uint32_t *position;
  const uint8_t *placement, *early;
  uint64_t *gone_to; /* [tensors] devices that have got it */
  regal_plan *plan;
} writer;

static uint32_t sent_after(const writer *w, uint32_t tensor) {
  if (!w->problem->bytes[tensor])
    return REGAL_NONE;
  return regal_memory_sent_after(w->problem, w->position, w->placement, tensor);
}

static void send(writer *w, uint32_t tensor, uint32_t to) {
  uint32_t home = w->placement[w->problem->producer[tensor]];
  uint64_t bit = UINT64_C(1) << to;
  if (home == to || (w->gone_to[tensor] & bit))
    return;
  w->gone_to[tensor] |= bit;
  regal_plan_add_send(w->plan, w->problem, tensor, home, to);
}

/* To every reader's device, if it travels early and its time has come. */
static void send_early(writer *w, uint32_t tensor, uint32_t after) {
  const regal_problem *problem = w->problem;
  if (!w->early[tensor] || sent_after(w, tensor) != after)
    return;
  for (REGAL_ROW(u, problem->use_begin, tensor))
    send(w, tensor, w->placement[problem->consumer[u]]);
}

static void write_op(writer *w, uint32_t op) {
  const regal_problem *problem = w->problem;
  uint32_t device = w->placement[op];
  for (REGAL_ROW(i, problem->input_begin, op))
    send(w, problem->input[i], device);
  regal_plan_add_run(w->plan, op, device);
  for (REGAL_ROW(i, problem->input_begin, op))
    send_early(w, problem->input[i], op);
  for (REGAL_ROW(t, problem->output_begin, op))
    send_early(w, t, op);
}

void regal_peak_write(void *state, regal_plan *plan) {
  regal_peak *chain = state;
  /* Marks of moves are free between moves: `taken` only has to be at most
   * taken_now. */
  uint32_t *position = chain->members;
  for (uint32_t i = 0; i < chain->ops; i++)
    position[chain->best_order[i]] = i;
  memset(chain->memory.taken, 0, (size_t)chain->problem->tensors * 8);
  writer w = {chain->problem,        position,
              chain->best_placement, chain->best_early,
              chain->memory.taken,   plan};
  plan->step_count = 0;
  for (uint32_t i = 0; i < chain->ops; i++)
    write_op(&w, chain->best_order[i]);
  memset(chain->memory.taken, 0, (size_t)chain->problem->tensors * 8);
}
