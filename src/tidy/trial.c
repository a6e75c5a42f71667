/* SPDX-License-Identifier: Apache-2.0 */
/* Ops on other devices, and the plan that follows.
 *
 * The steps stay in their order. A transfer that is still needed stays where it
 * is, from the device that makes the tensor now; one that is not needed any
 * more is left out; a new one goes just before its first reader. So a plan
 * keeps what its transfers were placed for, and one without new transfers
 * cannot need more memory for tensors that wait to be sent.
 */
#include "tidy/parts.h"

void regal_tidier_layout(regal_tidier *t, regal_carver *carver) {
  const regal_problem *problem = t->problem;
  size_t n = problem->ops, slots = (size_t)problem->tensors * problem->devices;
  t->placement = regal_carve(carver, n, sizeof *t->placement);
  t->readers = regal_carve(carver, slots, sizeof *t->readers);
  t->next_member =
      regal_carve(carver, problem->leader ? n : 0, sizeof *t->next_member);
  t->arrived = regal_carve(carver, problem->tensors, sizeof *t->arrived);
  t->flips = regal_carve(carver, 3 * n, sizeof *t->flips);
}

/* Ops of a group, from its leader on; placement is scratch before it is read.
 */
static void link_groups(regal_tidier *t) {
  const uint32_t *leader = t->problem->leader;
  for (uint32_t op = t->problem->ops; leader && op-- > 0;) {
    uint32_t first = leader[op];
    if (first == op)
      continue;
    /* behind the leader, before those that are there */
    t->next_member[op] = t->next_member[first];
    t->next_member[first] = op;
  }
}

void regal_tidier_read(regal_tidier *t) {
  const regal_problem *problem = t->problem;
  for (uint32_t op = 0; problem->leader && op < problem->ops; op++)
    t->next_member[op] = REGAL_NONE;
  link_groups(t);
  regal_plan_ops(t->plan, NULL, t->placement);
  for (uint32_t tensor = 0; tensor < problem->tensors; tensor++)
    for (REGAL_ROW(u, problem->use_begin, tensor))
      t->readers[(size_t)tensor * problem->devices +
                 t->placement[problem->consumer[u]]]++;
}

/* -- Flips ----------------------------------------------------------------- */

static void count(regal_tidier *t, uint32_t tensor, int transfers) {
  t->change.transfers += transfers;
  t->change.bytes += (__int128)transfers * t->problem->bytes[tensor];
}

static void change_device(regal_tidier *t, uint32_t op, uint32_t to) {
  const regal_problem *problem = t->problem;
  uint32_t d = problem->devices, from = t->placement[op];
  for (REGAL_ROW(i, problem->input_begin, op)) {
    uint32_t tensor = problem->input[i];
    uint32_t home = t->placement[problem->producer[tensor]];
    uint32_t *readers = t->readers + (size_t)tensor * d;
    count(t, tensor, -(--readers[from] == 0 && from != home));
    count(t, tensor, readers[to]++ == 0 && to != home);
  }
  for (REGAL_ROW(tensor, problem->output_begin, op)) {
    const uint32_t *readers = t->readers + (size_t)tensor * d;
    count(t, tensor, (readers[from] > 0) - (readers[to] > 0));
  }
  t->placement[op] = (uint8_t)to;
}

static void flip(regal_tidier *t, uint32_t op, uint32_t to) {
  if (t->placement[op] == to)
    return;
  t->flips[t->flip_count++] = (regal_tidy_flip){op, t->placement[op]};
  change_device(t, op, to);
}

void regal_tidier_flip(regal_tidier *t, uint32_t op, uint32_t to) {
  if (!t->problem->leader) {
    flip(t, op, to);
    return;
  }
  for (uint32_t k = t->problem->leader[op]; k != REGAL_NONE;
       k = t->next_member[k])
    flip(t, k, to);
}

void regal_tidier_take_back(regal_tidier *t, uint32_t count) {
  while (t->flip_count > count) {
    const regal_tidy_flip *last = &t->flips[--t->flip_count];
    change_device(t, last->op, last->from);
  }
}

/* -- Plans ----------------------------------------------------------------- */

/* Sends a tensor, unless it is there. */
static void send(regal_tidier *t, uint32_t tensor, uint32_t to) {
  uint32_t home = t->placement[t->problem->producer[tensor]];
  uint64_t bit = UINT64_C(1) << to;
  if (to == home || t->arrived[tensor] & bit)
    return;
  t->arrived[tensor] |= bit;
  regal_plan_add_send(t->trial, t->problem, tensor, home, to);
}

static void run(regal_tidier *t, uint32_t op) {
  const regal_problem *problem = t->problem;
  uint32_t device = t->placement[op];
  for (REGAL_ROW(i, problem->input_begin, op))
    send(t, problem->input[i], device);
  regal_plan_add_run(t->trial, op, device);
}

static void rewrite(regal_tidier *t) {
  const regal_problem *problem = t->problem;
  memset(t->arrived, 0, problem->tensors * sizeof *t->arrived);
  t->trial->step_count = 0;
  for (uint32_t i = 0; i < t->plan->step_count; i++) {
    const regal_step *step = &t->plan->steps[i];
    if (regal_step_runs(step)) {
      run(t, step->op);
      continue;
    }
    uint32_t tensor = regal_plan_tensor(problem, step);
    if (t->readers[(size_t)tensor * problem->devices + step->to])
      send(t, tensor, step->to);
  }
}

static void keep(regal_tidier *t, regal_fitness fitness) {
  regal_plan *old = t->plan;
  t->plan = t->trial;
  t->trial = old;
  t->fitness = fitness;
  t->now.transfers += t->change.transfers;
  t->now.bytes += t->change.bytes;
  t->flip_count = 0;
}

regal_status regal_tidier_settle(regal_tidier *t, bool *kept) {
  regal_cost cost;
  rewrite(t);
  REGAL_TRY(regal_search_cost(t->search, t->trial, &cost));
  regal_fitness fitness = regal_fitness_of(t->problem, &cost);
  *kept = !regal_fitness_less(t->fitness, fitness);
  if (*kept)
    keep(t, fitness);
  else
    regal_tidier_take_back(t, 0);
  return REGAL_OK;
}
