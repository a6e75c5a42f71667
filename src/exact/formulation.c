/* SPDX-License-Identifier: Apache-2.0 */
/* The frame of the constraint model: units, variables, precedences, and the
 * parts put together. docs/cp-sat.md has the formulas.
 *
 * Units. Times are divided by the greatest common divisor of all run and
 * transfer times, bytes by that of all sizes: smaller numbers, the same plans.
 * What is then beyond 2^53 is rejected, because CP-SAT reports its objective
 * as a double.
 *
 * Variables. An op has a literal for each device that can run it. One choice
 * is a constant, two choices are one literal and its negation, more are
 * literals of which exactly one holds. Ops of a group share the literals of
 * their leader. The pinned op is on device 0: with interchangeable devices that
 * removes plans that differ only in the names of devices. Each (tensor, device)
 * has a literal `sent`, which holds if some reader is on the device and the
 * producer is not, and a start.
 *
 * Bounds of starts. head and tail, the longest chains of least times before and
 * after a step, narrow the range of each start. The hint's cost is the
 * horizon: what ends later is of no use.
 *
 * Precedences. A consumer starts after the end of its producer if both are on
 * one device, else after the end of the transfer, which starts after the
 * producer's end. With two devices and transfers that take the same time both
 * ways one variable serves both directions (`both_ways`). */
#include "exact/formulation.h"

#include "base/carve.h"
#include "base/compare.h"

#define MOST_OPS 20000
#define MOST_ROUTES ((size_t)4 << 20) /* tensors * devices * devices */
#define MOST_ROWS ((size_t)4 << 20)
#define MOST_PAIRS ((size_t)1 << 17)
/* CP-SAT reports its goal as a double, and adds up what it counts. */
#define LARGEST_NUMBER (INT64_C(1) << 53)

typedef regal_formulation form;

static int64_t gcd(int64_t a, int64_t b) {
  while (b) {
    int64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

/* -- Units and bounds ------------------------------------------------------ */

static int64_t unit_of_time(const regal_problem *problem) {
  int64_t unit = 0;
  for (uint32_t op = 0; op < problem->ops; op++)
    for (uint64_t left = problem->allowed[op]; left; left &= left - 1)
      unit = gcd(unit, regal_problem_run_ns(problem, op,
                                            (uint32_t)__builtin_ctzll(left)));
  uint32_t d = problem->devices;
  for (uint32_t t = 0; t < problem->tensors && !problem->free_transfers; t++)
    for (uint32_t a = 0; a < d; a++)
      for (uint32_t b = 0; b < d; b++)
        if (a != b)
          unit = gcd(unit, regal_problem_transfer_ns(problem, t, a, b));
  return unit ? unit : 1;
}

static void count_bytes(form *form, const int64_t *bytes, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    form->unit_bytes = gcd(form->unit_bytes, bytes[i]);
    form->all_bytes += bytes[i];
  }
}

/* The unit of bytes, and the sum of all sizes. */
static void measure_bytes(form *form) {
  const regal_problem *problem = form->problem;
  count_bytes(form, problem->bytes, problem->tensors);
  count_bytes(form, problem->resident_bytes, problem->ops);
  count_bytes(form, problem->graph->temporary_bytes, problem->ops);
  count_bytes(form, problem->shared_bytes, problem->shared);
  /* limits need not be whole units */
  if (form->request.goal == REGAL_EXACT_EXCESS || form->request.excess ||
      !form->unit_bytes)
    form->unit_bytes = 1;
}

/* Clock and places are tied together by pairs of steps. With too many of them
 * the model has no places, and only what is held is limited; its bound is still
 * valid. */
static bool can_keep_limits(const form *form) {
  const regal_problem *problem = form->problem;
  size_t ways = form->both_ways ? 1 : problem->devices;
  size_t steps = problem->ops + problem->tensors * ways;
  return steps * steps / 2 <= MOST_PAIRS;
}

static regal_status choose_axes(form *form) {
  const regal_problem *problem = form->problem;
  form->timed = form->request.goal == REGAL_EXACT_RUNTIME;
  form->both_ways = problem->devices == 2 &&
                    (!form->timed || (!problem->machine->overlapped &&
                                      problem->link_classes <= 1));
  form->memory =
      !form->timed || (form->request.limits && can_keep_limits(form));
  form->limits_kept = form->memory && form->request.limits;
  form->limits_held =
      !form->memory && form->request.limits && !form->request.excess;
  measure_bytes(form);
  form->unit_ns = unit_of_time(problem);
  form->clock.timed = true;
  form->clock.horizon = form->request.at_most / form->unit_ns;
  form->places.horizon = regal_plan_most_steps(problem);
  if ((form->timed && form->clock.horizon >= LARGEST_NUMBER) ||
      ((form->memory || form->limits_held) &&
       form->all_bytes / form->unit_bytes >= LARGEST_NUMBER))
    return regal_fail(form->model.context, REGAL_BAD_INPUT,
                      "cp-sat: times or sizes are beyond %lld, more than "
                      "CP-SAT can count; try --method auto",
                      (long long)LARGEST_NUMBER);
  return REGAL_OK;
}

/* -- Devices and starts ---------------------------------------------------- */

static void place_op(form *form, uint32_t op) {
  const regal_problem *problem = form->problem;
  regal_cp_model *model = &form->model;
  uint32_t d = form->devices;
  int32_t *on = form->on + (size_t)op * d;
  uint64_t allowed = problem->allowed[op];
  if (op == problem->pinned)
    allowed = 1;
  int choices = __builtin_popcountll(allowed);
  int32_t last = choices == 1 ? REGAL_CP_TRUE : regal_cp_literal(model);
  for (uint32_t a = 0; a < d; a++)
    if (!(allowed >> a & 1))
      on[a] = REGAL_CP_FALSE;
    else if (choices <= 2) {
      on[a] = last;
      last = regal_cp_not(last);
    } else {
      on[a] = last;
      if (allowed >> a >> 1)
        last = regal_cp_literal(model);
    }
  if (choices <= 2)
    return;
  regal_cp_begin(model, REGAL_CP_EXACTLY_ONE);
  for (uint32_t a = 0; a < d; a++)
    regal_cp_term(model, on[a], 0);
  regal_cp_end(model, 0, 0, NULL, 0);
}

static void place_ops(form *form) {
  const regal_problem *problem = form->problem;
  uint32_t d = form->devices;
  for (uint32_t op = 0; op < problem->ops; op++) {
    uint32_t leader = regal_problem_leader(problem, op);
    if (leader == op)
      place_op(form, op);
    else
      for (uint32_t a = 0; a < d; a++)
        form->on[(size_t)op * d + a] = form->on[(size_t)leader * d + a];
  }
}

static int64_t shortest(const form *form, const regal_exact_axis *axis,
                        uint32_t op) {
  int64_t least = INT64_MAX;
  for (uint32_t a = 0; a < form->devices; a++)
    if (regal_exact_can_run(form, op, a))
      least = regal_smaller(least, regal_exact_run(form, axis, op, a));
  return least;
}

/* Ops are numbered in topological order. */
static void measure_chains(const form *form, regal_exact_axis *axis) {
  const regal_problem *problem = form->problem;
  for (uint32_t op = 0; op < problem->ops; op++) {
    int64_t end = axis->head[op] + shortest(form, axis, op);
    for (REGAL_ROW(s, problem->successor_begin, op)) {
      uint32_t next = problem->successor[s];
      axis->head[next] = regal_larger(axis->head[next], end);
    }
  }
  for (uint32_t op = problem->ops; op-- > 0;) {
    int64_t after = 0;
    for (REGAL_ROW(s, problem->successor_begin, op))
      after = regal_larger(after, axis->tail[problem->successor[s]]);
    axis->tail[op] = after + shortest(form, axis, op);
  }
}

void regal_exact_after_op(regal_formulation *form, const regal_exact_axis *axis,
                          int32_t later, uint32_t op, int32_t condition) {
  regal_cp_model *model = &form->model;
  regal_cp_begin(model, REGAL_CP_LINEAR);
  regal_cp_term(model, later, 1);
  regal_cp_term(model, axis->start[op], -1);
  int64_t gap = 0;
  if (!axis->timed || !form->problem->run_step)
    gap = regal_exact_run(form, axis, op, 0);
  else
    for (uint32_t a = 0; a < form->devices; a++)
      if (regal_exact_can_run(form, op, a))
        regal_cp_literal_term(model, regal_exact_on(form, op, a),
                              -regal_exact_run(form, axis, op, a));
  regal_cp_end(model, gap, INT64_MAX, &condition, 1);
}

static void order_ops(form *form, regal_exact_axis *axis) {
  const regal_problem *problem = form->problem;
  measure_chains(form, axis);
  for (uint32_t op = 0; op < problem->ops; op++)
    axis->start[op] = regal_cp_variable(&form->model, axis->head[op],
                                        axis->horizon - axis->tail[op]);
  for (uint32_t op = 0; op < problem->ops; op++)
    for (REGAL_ROW(s, problem->successor_begin, op))
      regal_exact_after_op(form, axis, axis->start[problem->successor[s]], op,
                           REGAL_CP_TRUE);
}

/* -- Transfers ------------------------------------------------------------- */

static bool same_group(const regal_problem *problem, uint32_t a, uint32_t b) {
  return a == b ||
         (problem->leader && problem->leader[a] == problem->leader[b]);
}

/* The consumer may have to get the tensor there from elsewhere. */
static bool may_import(const form *form, uint32_t tensor, uint32_t consumer,
                       uint32_t device) {
  uint32_t producer = form->problem->producer[tensor];
  return regal_exact_can_run(form, consumer, device) &&
         regal_exact_on(form, producer, device) != REGAL_CP_TRUE &&
         !same_group(form->problem, producer, consumer);
}

/* The literal of the transfer of the tensor to the device, if it may be
 * needed. */
static void add_transfer(form *form, uint32_t tensor, uint32_t to) {
  const regal_problem *problem = form->problem;
  regal_cp_model *model = &form->model;
  size_t at = (size_t)tensor * form->devices + to;
  uint32_t producer = problem->producer[tensor];
  int32_t home = regal_exact_on(form, producer, to);
  for (REGAL_ROW(u, problem->use_begin, tensor)) {
    uint32_t consumer = problem->consumer[u];
    if (!may_import(form, tensor, consumer, to))
      continue;
    if (form->sent[at] == REGAL_CP_FALSE)
      form->sent[at] =
          form->both_ways && to == 1 && form->sent[at - 1] != REGAL_CP_FALSE
              ? form->sent[at - 1]
              : regal_cp_literal(model);
    int32_t there = regal_exact_on(form, consumer, to);
    int32_t clause[] = {form->sent[at], home, regal_cp_not(there)};
    regal_cp_clause(model, clause, 3);
  }
}

static void import_after(form *form, const regal_exact_axis *axis,
                         uint32_t tensor, uint32_t consumer, uint32_t to) {
  const regal_problem *problem = form->problem;
  uint32_t d = form->devices;
  const int32_t *home = form->on + (size_t)problem->producer[tensor] * d;
  int32_t there = form->on[(size_t)consumer * d + to];
  int32_t sent = axis->sent[(size_t)tensor * d + to];
  if (!axis->timed || problem->link_classes <= 1) {
    int32_t conditions[] = {there, regal_cp_not(home[to])};
    regal_cp_after(&form->model, axis->start[consumer], sent,
                   regal_exact_send(form, axis, tensor, !to, to), conditions,
                   2);
    return;
  }
  for (uint32_t from = 0; from < d; from++) {
    int32_t conditions[] = {there, home[from]};
    if (from != to && home[from] != REGAL_CP_FALSE)
      regal_cp_after(&form->model, axis->start[consumer], sent,
                     regal_exact_send(form, axis, tensor, from, to), conditions,
                     2);
  }
}

/* Between its producer and those that read it there. */
static void order_transfer(form *form, regal_exact_axis *axis, uint32_t tensor,
                           uint32_t to) {
  const regal_problem *problem = form->problem;
  size_t at = (size_t)tensor * form->devices + to;
  uint32_t producer = problem->producer[tensor];
  if (form->sent[at] == REGAL_CP_FALSE)
    return;
  if (regal_exact_is_twin(form, at)) {
    axis->sent[at] = axis->sent[at - 1];
  } else {
    axis->sent[at] = regal_cp_variable(
        &form->model, axis->head[producer] + shortest(form, axis, producer),
        axis->horizon);
    regal_exact_after_op(form, axis, axis->sent[at], producer, form->sent[at]);
  }
  for (REGAL_ROW(u, problem->use_begin, tensor))
    if (may_import(form, tensor, problem->consumer[u], to))
      import_after(form, axis, tensor, problem->consumer[u], to);
}

static void order_transfers(form *form, regal_exact_axis *axis) {
  for (uint32_t t = 0; t < form->problem->tensors; t++)
    for (uint32_t to = 0; to < form->devices; to++)
      order_transfer(form, axis, t, to);
}

/* Free transfers on links delay no op: then they are left out, and go when
 * their producer has ended. */
static bool has_transfers(const form *form) {
  return form->devices > 1 &&
         (form->memory || !form->problem->machine->overlapped ||
          !form->problem->free_transfers);
}

static void add_transfers(form *form) {
  if (!has_transfers(form))
    return;
  for (uint32_t t = 0; t < form->problem->tensors; t++)
    for (uint32_t to = 0; to < form->devices; to++)
      add_transfer(form, t, to);
}

/* -- All of it ------------------------------------------------------------- */

/* An array with `value` everywhere. */
static int32_t *carve(regal_carver *carver, size_t count, int32_t value) {
  int32_t *array = regal_carve(carver, count, sizeof *array);
  for (size_t i = 0; array && i < count; i++)
    array[i] = value;
  return array;
}

static void layout_axis(const regal_problem *problem, regal_exact_axis *axis,
                        regal_carver *carver) {
  size_t n = problem->ops, routes = (size_t)problem->tensors * problem->devices;
  axis->start = carve(carver, n, 0);
  axis->sent = carve(carver, routes, REGAL_CP_NONE);
  axis->head = regal_carve(carver, n, 8);
  axis->tail = regal_carve(carver, n, 8);
}

static void layout(form *form, regal_carver *carver) {
  const regal_problem *problem = form->problem;
  size_t n = problem->ops, t = problem->tensors, d = problem->devices;
  form->on = carve(carver, n * d, REGAL_CP_FALSE);
  form->runs = carve(carver, n * d, REGAL_CP_NONE);
  form->sent = carve(carver, t * d, REGAL_CP_FALSE);
  form->arrives = carve(carver, t * d, REGAL_CP_NONE);
  form->leaves = carve(carver, t * d * d, REGAL_CP_NONE);
  form->leaves_if = carve(carver, t * d * d, REGAL_CP_FALSE);
  form->held = carve(carver, t * d, REGAL_CP_FALSE);
  form->from = carve(carver, t * d, REGAL_CP_NONE);
  form->until = carve(carver, t * d, REGAL_CP_NONE);
  form->length = carve(carver, t * d, REGAL_CP_NONE);
  form->made = carve(carver, t, REGAL_CP_NONE);
  form->hold = carve(carver, problem->shared * d, REGAL_CP_FALSE);
  form->room = carve(carver, d, REGAL_CP_NONE);
  form->excess = carve(carver, d, REGAL_CP_NONE);
  layout_axis(problem, &form->clock, carver);
  layout_axis(problem, &form->places, carver);
}

static regal_status check_size(regal_context *context,
                               const regal_problem *problem) {
  size_t d = problem->devices;
  if (problem->ops > MOST_OPS || problem->tensors * d * d > MOST_ROUTES)
    return regal_fail(context, REGAL_BAD_INPUT,
                      "cp-sat: %u ops with %u tensors on %u devices are more "
                      "than CP-SAT can use; try --method auto",
                      problem->ops, problem->tensors, problem->devices);
  return REGAL_OK;
}

static regal_status build(form *form) {
  place_ops(form);
  add_transfers(form);
  if (form->timed) {
    order_ops(form, &form->clock);
    order_transfers(form, &form->clock);
    regal_formulate_time(form);
  }
  if (form->memory) {
    order_ops(form, &form->places);
    order_transfers(form, &form->places);
    regal_formulate_memory(form);
  }
  if (form->timed && form->memory)
    regal_formulate_order(form);
  if (form->limits_held)
    regal_formulate_held(form);
  return regal_cp_status(&form->model);
}

regal_status regal_formulate(regal_context *context,
                             const regal_problem *problem,
                             const regal_exact_request *request,
                             regal_formulation *formulation) {
  regal_formulation made = {.problem = problem,
                            .request = *request,
                            .devices = problem->devices,
                            .makespan = REGAL_CP_NONE,
                            .peak = REGAL_CP_NONE};
  REGAL_TRY(check_size(context, problem));
  made.model.context = context;
  REGAL_TRY(choose_axes(&made));
  regal_carver carver = {NULL, 0};
  REGAL_TRY(REGAL_CARVE_BLOCK(context, carver, layout(&made, &carver)));
  made.block = carver.base;
  regal_cp_init(&made.model, context, MOST_ROWS);
  regal_status status = build(&made);
  if (status != REGAL_OK)
    regal_formulation_free(&made);
  else
    *formulation = made;
  return status;
}

void regal_formulation_free(regal_formulation *formulation) {
  regal_context *context = formulation->model.context;
  regal_release(context, formulation->reuse);
  regal_release(context, formulation->lives);
  regal_release(context, formulation->pairs);
  regal_release(context, formulation->block);
  regal_cp_free(&formulation->model);
}

int64_t regal_formulation_goal(const regal_formulation *formulation,
                               int64_t value) {
  return value *
         (formulation->timed ? formulation->unit_ns : formulation->unit_bytes);
}
