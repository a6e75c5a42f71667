/* SPDX-License-Identifier: Apache-2.0 */
/* Annealing for peak memory: a solution from a plan, and a plan from the best
 * solution. In a solution a tensor travels early, late, or after an op of its
 * device that it is kept for, and to all devices of its readers alike. A plan
 * may send it at any time: if no op can keep it, that is read as the nearer of
 * early and late. */
#include "anneal/peak/peak.h"

/* -- Reading --------------------------------------------------------------- */

/* A transfer with `ran` ops before it, the last one on its device `by`. Kept
 * for that one if it is between where an early one would be and a late one;
 * else early if that is nearer. */
static void read_send(regal_peak *chain, uint32_t tensor, uint32_t to,
                      uint32_t ran, uint32_t by) {
  const regal_problem *problem = chain->problem;
  regal_memory *m = &chain->memory;
  uint32_t sent = regal_memory_sent_after(problem, chain->position,
                                          m->placement, tensor, REGAL_NONE);
  if (sent == REGAL_NONE)
    return;
  uint32_t first = UINT32_MAX, after = chain->position[sent] + 1;
  for (REGAL_ROW(u, problem->use_begin, tensor)) {
    uint32_t op = problem->consumer[u], at = chain->position[op];
    if (chain->memory.placement[op] == to && at < first)
      first = at;
  }
  bool keeps = ran > after && ran < first && by != sent &&
               m->keeps[by] == REGAL_NONE && m->kept_for[tensor] == REGAL_NONE;
  if (keeps && regal_memory_may_keep(problem, tensor)) {
    m->kept_for[tensor] = by;
    m->keeps[by] = tensor;
  }
  m->early[tensor] = m->kept_for[tensor] != REGAL_NONE ||
                     (uint64_t)2 * ran < (uint64_t)after + first;
}

void regal_peak_read(regal_peak *chain, const regal_plan *plan) {
  uint32_t ran = 0, by[REGAL_MAX_DEVICES];
  regal_plan_ops(plan, chain->order, chain->memory.placement);
  for (uint32_t i = 0; i < chain->ops; i++)
    chain->position[chain->order[i]] = i;
  regal_memory_all_late(&chain->memory);
  for (uint32_t i = 0; i < plan->step_count; i++) {
    const regal_step *step = &plan->steps[i];
    if (regal_step_runs(step)) {
      uint32_t op = chain->order[ran++];
      by[chain->memory.placement[op]] = op;
      continue;
    }
    uint32_t tensor = regal_plan_tensor(chain->problem, step);
    uint32_t made_by = chain->problem->producer[tensor];
    read_send(chain, tensor, step->to, ran,
              by[chain->memory.placement[made_by]]);
  }
}

/* -- Writing --------------------------------------------------------------- */

/* The best solution, while it is written down. */
typedef struct writer {
  const regal_problem *problem;
  const uint32_t *position;
  const uint8_t *placement, *early;
  const uint32_t *kept_for, *keeps;
  uint64_t *gone_to; /* [tensors] devices that have got it */
  regal_plan *plan;
} writer;

static uint32_t sent_after(const writer *w, uint32_t tensor) {
  if (!w->problem->bytes[tensor])
    return REGAL_NONE;
  return regal_memory_sent_after(w->problem, w->position, w->placement, tensor,
                                 w->kept_for[tensor]);
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
  if (w->keeps[op] != REGAL_NONE)
    send_early(w, w->keeps[op], op);
}

void regal_peak_write(void *state, regal_plan *plan) {
  regal_peak *chain = state;
  /* Marks of moves are free between moves: `taken` only has to be at most
   * taken_now. */
  uint32_t *position = chain->members, *keeps = chain->window;
  for (uint32_t i = 0; i < chain->ops; i++) {
    position[chain->best_order[i]] = i;
    keeps[i] = REGAL_NONE;
  }
  for (uint32_t t = 0; t < chain->problem->tensors; t++)
    if (chain->best_kept_for[t] != REGAL_NONE)
      keeps[chain->best_kept_for[t]] = t;
  memset(chain->memory.taken, 0, (size_t)chain->problem->tensors * 8);
  writer w = {
      chain->problem,       position, chain->best_placement, chain->best_early,
      chain->best_kept_for, keeps,    chain->memory.taken,   plan};
  plan->step_count = 0;
  for (uint32_t i = 0; i < chain->ops; i++)
    write_op(&w, chain->best_order[i]);
  memset(chain->memory.taken, 0, (size_t)chain->problem->tensors * 8);
}
