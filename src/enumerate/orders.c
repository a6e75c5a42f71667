/* SPDX-License-Identifier: Apache-2.0 */
/* All orders of ops and transfers for one placement, depth first.
 *
 * A set of steps that are done says what is in memory and what may come next.
 * The order in which they were done shows only in a few numbers: clocks, links,
 * when inputs arrive, peaks. They are the label of a way to the set, and a way
 * that is nowhere better than one before it is given up (labels.h). So is one
 * that cannot lead to a plan better than the best so far: each device has its
 * work before it, and each op the chain behind it.
 *
 * Labels hold only what still matters: a link on which nothing is to be sent,
 * the end of an op whose outputs are sent, the arrival of inputs of an op that
 * has run are left out (0).
 */
#include "enumerate/orders.h"

#include "base/compare.h"
#include "cost/model/plan.h"

static uint32_t label_width(const regal_problem *problem) {
  uint32_t d = problem->devices;
  return 2 * d + d * d + 2 * problem->ops;
}

static void layout_states(regal_orders *o, regal_carver *carver) {
  for (uint32_t i = 0; i <= REGAL_MOST_ENUMERATED_STEPS; i++) {
    regal_running_cost *state = o->at ? &o->at[i] : &(regal_running_cost){0};
    regal_running_cost_layout(state, carver, o->problem);
  }
}

void regal_orders_layout(void *orders, regal_carver *carver) {
  regal_orders *o = orders;
  const regal_problem *problem = o->problem;
  size_t d = problem->devices;
  o->table.width = label_width(problem);
  o->placement = regal_carve(carver, problem->ops, 1);
  o->sends_of = regal_carve(carver, problem->ops, 8);
  o->link_sends = regal_carve(carver, d * d, 8);
  o->send_step = regal_carve(carver, problem->tensors * d, 4);
  o->tail_ns = regal_carve(carver, problem->ops, 8);
  o->label = regal_carve(carver, o->table.width, 8);
  o->at = regal_carve(carver, REGAL_MOST_ENUMERATED_STEPS + 1, sizeof *o->at);
  regal_label_layout(&o->table, carver);
  layout_states(o, carver);
}

/* -- The steps of a placement ---------------------------------------------- */

static uint64_t bit_of(uint32_t step) {
  return UINT64_C(1) << step;
}

/* Step `op` runs the op; sends come after all ops. */
static void add_send(regal_orders *o, uint32_t tensor, uint32_t to) {
  uint32_t op = o->problem->producer[tensor], from = o->placement[op];
  o->send_step[(size_t)tensor * o->problem->devices + to] = o->count;
  o->sends_of[op] |= bit_of(o->count);
  o->link_sends[from * o->problem->devices + to] |= bit_of(o->count);
  o->steps[o->count++] = (regal_orders_step){tensor, (uint16_t)from,
                                             (uint16_t)to, false, bit_of(op)};
}

static void add_run(regal_orders *o, uint32_t op) {
  const regal_problem *problem = o->problem;
  uint32_t device = o->placement[op];
  regal_orders_step *step = &o->steps[op];
  *step = (regal_orders_step){op, (uint16_t)device, (uint16_t)device, true, 0};
  for (REGAL_ROW(i, problem->input_begin, op)) {
    uint32_t tensor = problem->input[i], maker = problem->producer[tensor];
    uint32_t *send = &o->send_step[(size_t)tensor * problem->devices + device];
    if (o->placement[maker] != device && *send == REGAL_NONE)
      add_send(o, tensor, device);
    step->needs |= bit_of(o->placement[maker] == device ? maker : *send);
  }
}

static void list_steps(regal_orders *o) {
  const regal_problem *problem = o->problem;
  size_t d = problem->devices;
  o->count = problem->ops;
  memset(o->sends_of, 0, problem->ops * sizeof *o->sends_of);
  memset(o->link_sends, 0, d * d * sizeof *o->link_sends);
  memset(o->send_step, 0xff, problem->tensors * d * sizeof *o->send_step);
  for (uint32_t op = 0; op < problem->ops; op++)
    add_run(o, op);
  for (uint32_t op = 0; op < problem->ops; op++)
    for (REGAL_ROW(w, problem->wait_begin, op))
      o->steps[problem->waiter[w]].needs |= bit_of(op);
}

/* Ops are in a topological order. */
static void find_tails(regal_orders *o) {
  const regal_problem *problem = o->problem;
  for (uint32_t op = problem->ops; op-- > 0;) {
    uint32_t home = o->placement[op];
    int64_t behind = 0;
    for (REGAL_ROW(t, problem->output_begin, op))
      for (REGAL_ROW(u, problem->use_begin, t)) {
        uint32_t reader = problem->consumer[u], to = o->placement[reader];
        int64_t sent =
            to == home ? 0 : regal_problem_transfer_ns(problem, t, home, to);
        behind = regal_larger(behind, sent + o->tail_ns[reader]);
      }
    for (REGAL_ROW(w, problem->wait_begin, op))
      behind = regal_larger(behind, o->tail_ns[problem->waiter[w]]);
    o->tail_ns[op] = behind + regal_problem_run_ns(problem, op, home);
  }
}

/* -- What is known of a way ------------------------------------------------ */

/* No plan that goes on from here ends earlier. */
static int64_t least_end_ns(const regal_orders *o,
                            const regal_running_cost *state, uint64_t done) {
  const regal_problem *problem = o->problem;
  int64_t busy[REGAL_MAX_DEVICES], least = 0;
  memcpy(busy, state->clock_ns, problem->devices * sizeof *busy);
  for (uint64_t left = ~done; left; left &= left - 1) {
    uint32_t k = (uint32_t)__builtin_ctzll(left);
    if (k >= o->count)
      break;
    const regal_orders_step *step = &o->steps[k];
    if (step->runs) {
      int64_t start = state->clock_ns[step->to];
      if (o->overlapped || problem->has_waits)
        start = regal_larger(start, state->ready_ns[step->what]);
      least = regal_larger(least, start + o->tail_ns[step->what]);
      busy[step->to] += regal_problem_run_ns(problem, step->what, step->to);
    } else if (!o->overlapped) {
      int64_t ns =
          regal_problem_transfer_ns(problem, step->what, step->from, step->to);
      busy[step->from] += ns;
      busy[step->to] += ns;
    }
  }
  for (uint32_t a = 0; a < problem->devices; a++)
    least = regal_larger(least, busy[a]);
  return least;
}

static bool is_promising(const regal_orders *o, const regal_running_cost *state,
                         uint64_t done) {
  const regal_problem *problem = o->problem;
  regal_fitness least = regal_running_cost_fitness(state, problem, o->memory);
  int64_t end_ns = least_end_ns(o, state, done);
  if (problem->objective == REGAL_MEMORY)
    least.tie = end_ns;
  else
    least.value = end_ns;
  return regal_fitness_less(least, o->search->plan_fitness);
}

/* Peaks within the limit are all the same for run time. */
static int64_t *write_peaks(const regal_orders *o,
                            const regal_running_cost *state, int64_t *to) {
  const regal_problem *problem = o->problem;
  bool runtime = problem->objective == REGAL_RUNTIME;
  for (uint32_t a = 0; a < problem->devices; a++)
    *to++ = runtime ? regal_larger(state->peak[a], problem->limit[a])
                    : state->peak[a];
  return to;
}

static int64_t *write_times(const regal_orders *o,
                            const regal_running_cost *state, uint64_t done,
                            int64_t *to) {
  const regal_problem *problem = o->problem;
  for (uint32_t op = 0; op < problem->ops; op++)
    *to++ = done >> op & 1 ? 0
                           : regal_larger(state->ready_ns[op],
                                          state->clock_ns[o->placement[op]]);
  if (!o->overlapped)
    return to;
  for (uint32_t op = 0; op < problem->ops; op++)
    *to++ =
        (done >> op & 1) && (o->sends_of[op] & ~done) ? state->end_ns[op] : 0;
  for (uint32_t link = 0; link < problem->devices * problem->devices; link++)
    *to++ = o->link_sends[link] & ~done ? state->link_ns[link] : 0;
  return to;
}

static bool is_new(regal_orders *o, const regal_running_cost *state,
                   uint64_t done) {
  const regal_problem *problem = o->problem;
  int64_t *to = o->label;
  for (uint32_t a = 0; a < problem->devices; a++)
    *to++ = state->clock_ns[a];
  if (o->overlapped || problem->has_waits)
    to = write_times(o, state, done, to);
  if (o->memory)
    to = write_peaks(o, state, to);
  o->table.width = (uint32_t)(to - o->label);
  return regal_label_add(&o->table, done, o->label);
}

/* -- Depth first ----------------------------------------------------------- */

static void copy_state(const regal_orders *o, regal_running_cost *to,
                       const regal_running_cost *from) {
  const regal_problem *problem = o->problem;
  size_t d = problem->devices;
  memcpy(to->clock_ns, from->clock_ns, d * sizeof *to->clock_ns);
  if (o->overlapped || problem->has_waits)
    memcpy(to->ready_ns, from->ready_ns, problem->ops * sizeof *to->ready_ns);
  if (o->overlapped) {
    memcpy(to->end_ns, from->end_ns, problem->ops * sizeof *to->end_ns);
    memcpy(to->link_ns, from->link_ns, d * d * sizeof *to->link_ns);
  }
  if (!o->memory)
    return;
  memcpy(to->memory, from->memory, d * sizeof *to->memory);
  memcpy(to->peak, from->peak, d * sizeof *to->peak);
  memcpy(to->left, from->left, problem->tensors * d * sizeof *to->left);
}

static void take_step(const regal_orders *o, regal_running_cost *state,
                      const regal_orders_step *step) {
  if (step->runs)
    regal_running_cost_run(state, o->problem, step->what, step->to, o->memory,
                           o->overlapped);
  else
    regal_running_cost_send(state, o->problem, o->placement, step->what,
                            step->from, step->to, o->memory, o->overlapped);
}

static regal_status offer(regal_orders *o) {
  regal_plan *plan;
  REGAL_TRY(regal_plan_create(o->search->context, o->count, &plan));
  for (uint32_t i = 0; i < o->count; i++) {
    const regal_orders_step *step = &o->steps[o->order[i]];
    if (step->runs)
      regal_plan_add_run(plan, step->what, step->to);
    else
      regal_plan_add_send(plan, o->problem, step->what, step->from, step->to);
  }
  return regal_search_offer(o->search, plan);
}

#define NODES_PER_LOOK 256

static bool is_over(regal_orders *o) {
  if (o->nodes == o->most_nodes || (o->nodes % NODES_PER_LOOK == 0 &&
                                    regal_budget_is_cut(&o->search->budget)))
    o->cut = true;
  return o->cut;
}

static regal_status go_on(regal_orders *o, uint32_t made, uint64_t done) {
  regal_running_cost *state = &o->at[made];
  if (is_over(o))
    return REGAL_OK;
  o->nodes++;
  if (!is_promising(o, state, done) || !is_new(o, state, done))
    return REGAL_OK;
  if (made == o->count)
    return offer(o);
  for (uint32_t k = 0; k < o->count && !o->cut; k++) {
    const regal_orders_step *step = &o->steps[k];
    if ((done & bit_of(k)) || (step->needs & ~done))
      continue;
    copy_state(o, state + 1, state);
    take_step(o, state + 1, step);
    o->order[made] = (uint8_t)k;
    REGAL_TRY(go_on(o, made + 1, done | bit_of(k)));
  }
  return REGAL_OK;
}

regal_status regal_orders_run(regal_orders *o) {
  list_steps(o);
  find_tails(o);
  regal_label_clear(&o->table);
  regal_running_cost_begin(&o->at[0], o->problem, o->placement, o->memory,
                           o->overlapped);
  return go_on(o, 0, 0);
}
