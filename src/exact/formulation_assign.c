/* SPDX-License-Identifier: Apache-2.0 */
/* What a plan means for the variables: the hint of the solver, and the proof in
 * tests that every plan is a solution.
 *
 * The plan is replayed on both axes, which gives starts and ends of all steps;
 * every literal then follows from its definition. Devices are renamed where
 * they are interchangeable, so that the pinned op is on device 0.
 */
#include <string.h>

#include "base/carve.h"
#include "base/compare.h"
#include "exact/formulation.h"

typedef regal_formulation form;

/* When steps of the plan start and end, on one axis. */
typedef struct times {
  const regal_exact_axis *axis;
  int64_t *start, *end;           /* [ops] */
  int64_t *sent_start, *sent_end; /* [tensors * devices] */
  int64_t *ready;                 /* [ops] */
  int64_t *link;                  /* [devices * devices] */
} times;

typedef struct assignment {
  const form *form;
  const regal_cost *cost;
  int64_t *values;
  uint8_t *placement; /* [ops] */
  times clock, places;
  uint8_t relabel[REGAL_MAX_DEVICES]; /* see regal_plan_relabel */
} assignment;

static void layout_times(const regal_problem *problem, times *times,
                         regal_carver *carver) {
  size_t n = problem->ops, d = problem->devices, routes = problem->tensors * d;
  times->start = regal_carve(carver, n, 8);
  times->end = regal_carve(carver, n, 8);
  times->ready = regal_carve(carver, n, 8);
  times->sent_start = regal_carve(carver, routes, 8);
  times->sent_end = regal_carve(carver, routes, 8);
  times->link = regal_carve(carver, d * d, 8);
}

static void layout(assignment *a, regal_carver *carver) {
  a->placement = regal_carve(carver, a->form->problem->ops, 1);
  layout_times(a->form->problem, &a->clock, carver);
  layout_times(a->form->problem, &a->places, carver);
}

static void set(assignment *a, int32_t variable, int64_t value) {
  if (variable >= 0)
    a->values[variable] = value;
}

static void set_literal(assignment *a, int32_t literal, bool value) {
  if (literal == REGAL_CP_NONE || literal == REGAL_CP_TRUE ||
      literal == REGAL_CP_FALSE)
    return;
  if (literal >= 0)
    a->values[literal] = value;
  else
    a->values[regal_cp_not(literal)] = !value;
}

static bool is_needed(const assignment *a, uint32_t tensor, uint32_t to) {
  return regal_exact_needs(a->form->problem, a->placement, tensor, to);
}

/* -- Steps ----------------------------------------------------------------- */

static void run_op(const assignment *a, times *s, uint32_t op, uint32_t device,
                   int64_t *clock) {
  const regal_problem *problem = a->form->problem;
  s->start[op] = regal_larger(clock[device], s->ready[op]);
  s->end[op] = s->start[op] + regal_exact_run(a->form, s->axis, op, device);
  clock[device] = s->end[op];
  for (REGAL_ROW(w, problem->wait_begin, op)) {
    uint32_t waiter = problem->waiter[w];
    s->ready[waiter] = regal_larger(s->ready[waiter], s->end[op]);
  }
}

static void send(const assignment *a, times *s, uint32_t tensor, uint32_t from,
                 uint32_t to, int64_t *clock) {
  const regal_problem *problem = a->form->problem;
  size_t at = (size_t)tensor * problem->devices + to;
  int64_t *link = &s->link[from * problem->devices + to];
  bool overlapped = problem->machine->overlapped;
  int64_t start = overlapped
                      ? regal_larger(*link, s->end[problem->producer[tensor]])
                      : regal_larger(clock[from], clock[to]);
  int64_t end = start + regal_exact_send(a->form, s->axis, tensor, from, to);
  s->sent_start[at] = start;
  s->sent_end[at] = end;
  if (!overlapped) {
    clock[from] = clock[to] = end;
    return;
  }
  *link = end;
  for (REGAL_ROW(u, problem->use_begin, tensor)) {
    uint32_t op = problem->consumer[u];
    if (a->placement[op] == to)
      s->ready[op] = regal_larger(s->ready[op], end);
  }
}

/* Starts and ends of all steps: by clocks, or by their places in the plan. */
static void walk(const assignment *a, const regal_plan *plan, times *s) {
  const form *form = a->form;
  int64_t clock[REGAL_MAX_DEVICES] = {0};
  for (uint32_t i = 0; i < plan->step_count; i++) {
    const regal_step *step = &plan->steps[i];
    uint32_t from = a->relabel[step->device], to = a->relabel[step->to];
    if (!s->axis->timed)
      for (uint32_t k = 0; k < form->devices; k++)
        clock[k] = s->link[from * form->devices + to] = i;
    if (regal_step_runs(step))
      run_op(a, s, step->op, to, clock);
    else
      send(a, s, regal_plan_tensor(form->problem, step), from, to, clock);
  }
}

static void assign_transfer(assignment *a, uint32_t tensor, uint32_t to) {
  const form *form = a->form;
  uint32_t d = form->devices, producer = form->problem->producer[tensor];
  size_t at = (size_t)tensor * d + to;
  bool needed = is_needed(a, tensor, to);
  bool other = form->both_ways && form->sent[at] == form->sent[at ^ 1];
  if (!needed && other && is_needed(a, tensor, to ^ 1))
    return; /* the same variables say the other way */
  set_literal(a, form->sent[at], needed);
  for (int i = 0; i < 2; i++) {
    const times *s = i ? &a->places : &a->clock;
    if (i ? form->memory : form->timed)
      set(a, s->axis->sent[at], needed ? s->sent_start[at] : s->end[producer]);
  }
  for (uint32_t from = 0; d > 2 && from < d; from++)
    if (form->leaves_if[at * d + from] != form->sent[at])
      set_literal(a, form->leaves_if[at * d + from],
                  needed && from == a->placement[producer]);
}

static void assign_steps(assignment *a) {
  const form *form = a->form;
  const regal_problem *problem = form->problem;
  uint32_t d = form->devices;
  for (uint32_t op = 0; op < problem->ops; op++) {
    if (form->timed)
      set(a, form->clock.start[op], a->clock.start[op]);
    if (form->memory)
      set(a, form->places.start[op], a->places.start[op]);
    for (uint32_t b = 0; b < d; b++)
      set_literal(a, form->on[(size_t)op * d + b], a->placement[op] == b);
  }
  for (uint32_t t = 0; t < problem->tensors; t++)
    for (uint32_t to = 0; to < d; to++)
      assign_transfer(a, t, to);
}

static int64_t place_of(const assignment *a, uint32_t step) {
  return a->values[regal_exact_start(a->form, &a->form->places, step)];
}

static void assign_pairs(assignment *a) {
  const form *form = a->form;
  for (size_t i = 0; i < form->pair_count; i++) {
    const regal_exact_pair *pair = &form->pairs[i];
    bool meet = false;
    for (uint32_t r = 0; !meet && r < regal_exact_resources(form); r++)
      meet =
          regal_cp_holds(a->values, regal_exact_uses(form, pair->step[0], r)) &&
          regal_cp_holds(a->values, regal_exact_uses(form, pair->step[1], r));
    bool first = place_of(a, pair->step[0]) < place_of(a, pair->step[1]);
    set_literal(a, pair->first[0], meet && first);
    set_literal(a, pair->first[1], meet && !first);
  }
}

/* -- Memory ---------------------------------------------------------------- */

/* When the tensor is on the device. */
static void assign_tensor(assignment *a, uint32_t tensor, uint32_t device) {
  const form *form = a->form;
  const regal_problem *problem = form->problem;
  const times *s = &a->places;
  uint32_t d = form->devices, op = problem->producer[tensor];
  size_t at = (size_t)tensor * d + device;
  bool home = a->placement[op] == device;
  if (form->until[at] == REGAL_CP_NONE)
    return;
  int64_t from = home ? s->start[op] : s->sent_start[at];
  int64_t until = home ? s->end[op] : 0;
  bool held = home;
  for (REGAL_ROW(u, problem->use_begin, tensor))
    if (a->placement[problem->consumer[u]] == device) {
      until = regal_larger(until, s->end[problem->consumer[u]]);
      held = true;
    }
  for (uint32_t to = 0; home && to < d; to++)
    if (is_needed(a, tensor, to))
      until = regal_larger(until, s->sent_end[(size_t)tensor * d + to]);
  if (home && problem->is_final[tensor])
    until = form->places.horizon;
  if (!held)
    from = until = form->places.head[op];
  set_literal(a, form->held[at], held);
  set(a, form->from[at], from);
  set(a, form->until[at], until);
  set(a, form->length[at], until - from);
}

/* First fit, as the model of memory wants it. */
static void assign_reuse(assignment *a, size_t number) {
  const form *form = a->form;
  const regal_problem *problem = form->problem;
  const regal_exact_reuse *pair = &form->reuse[number];
  uint32_t op = problem->producer[pair->output], d = form->devices;
  uint32_t device = a->placement[op];
  size_t out = (size_t)pair->output * d + device;
  size_t in = (size_t)pair->input * d + device;
  bool final = problem->is_final[pair->input] &&
               a->placement[problem->producer[pair->input]] == device;
  bool taken = !final && a->values[form->until[in]] == a->places.end[op];
  for (size_t k = number; taken && k-- > 0;) {
    const regal_exact_reuse *other = &form->reuse[k];
    if (problem->producer[other->output] != op)
      break;
    if (other->input == pair->input || other->output == pair->output)
      taken = !a->values[other->taken];
  }
  set_literal(a, pair->taken, taken);
  if (!taken)
    return;
  set(a, form->made[pair->output], a->places.end[op]);
  set(a, form->from[out], a->places.end[op]);
  set(a, form->length[out], a->values[form->until[out]] - a->places.end[op]);
}

/* An op's outputs that take nothing begin with it. The literal that one of
 * the inputs is taken comes right after `made`. */
static void assign_made(assignment *a) {
  const form *form = a->form;
  for (size_t i = 0; i < form->reuse_count; i++) {
    uint32_t op = form->problem->producer[form->reuse[i].output];
    set(a, form->made[form->reuse[i].output], a->places.start[op]);
  }
  for (size_t i = 0; i < form->reuse_count; i++)
    assign_reuse(a, i);
  for (size_t i = 0; i < form->reuse_count; i++) {
    int32_t made = form->made[form->reuse[i].output];
    uint32_t op = form->problem->producer[form->reuse[i].output];
    set(a, made + 1, a->values[made] > a->places.start[op]);
  }
}

static bool lives_on(const assignment *a, const regal_exact_life *life) {
  const regal_problem *problem = a->form->problem;
  uint32_t here = a->placement[life->op];
  int64_t start = a->places.start[life->op];
  if (life->reader == REGAL_NONE)
    return a->placement[problem->producer[life->input]] == here;
  uint32_t there = a->placement[life->reader];
  if (life->to == REGAL_NONE)
    return there == here && a->places.start[life->reader] > start;
  size_t at = (size_t)life->input * a->form->devices + life->to;
  return there == life->to && there != here &&
         a->placement[problem->producer[life->input]] == here &&
         a->places.sent_start[at] > start;
}

static void assign_lives(assignment *a) {
  for (size_t i = 0; i < a->form->life_count; i++)
    set_literal(a, a->form->lives[i].literal, lives_on(a, &a->form->lives[i]));
}

static int64_t resident(const assignment *a, uint32_t device) {
  const form *form = a->form;
  const regal_problem *problem = form->problem;
  int64_t bytes = 0;
  for (uint32_t op = 0; op < problem->ops; op++)
    if (a->placement[op] == device)
      bytes += problem->resident_bytes[op];
  for (uint32_t p = 0; p < problem->shared; p++)
    if (regal_cp_holds(a->values,
                       form->hold[(size_t)p * form->devices + device]))
      bytes += problem->shared_bytes[p];
  return bytes;
}

static void assign_parameters(assignment *a) {
  const regal_problem *problem = a->form->problem;
  uint32_t d = a->form->devices;
  for (uint32_t p = 0; p < problem->shared; p++)
    for (REGAL_ROW(r, problem->reader_begin, p))
      set_literal(
          a, a->form->hold[(size_t)p * d + a->placement[problem->reader[r]]],
          true);
}

/* The largest working set on each device. */
static void assign_held(assignment *a) {
  const form *form = a->form;
  assign_parameters(a);
  for (uint32_t op = 0; op < form->problem->ops; op++) {
    int32_t room = form->room[a->placement[op]];
    int64_t bytes = regal_exact_working_set(form->problem, op);
    if (room != REGAL_CP_NONE)
      set(a, room, regal_larger(a->values[room], bytes / form->unit_bytes));
  }
}

static void assign_devices(assignment *a) {
  const form *form = a->form;
  const regal_problem *problem = form->problem;
  uint32_t d = form->devices;
  assign_parameters(a);
  for (uint32_t b = 0; b < d; b++) {
    int64_t peak = a->cost->peak_bytes[a->relabel[b]];
    int64_t limit = problem->limit[b] / form->unit_bytes;
    set(a, form->room[b], (peak - resident(a, b)) / form->unit_bytes);
    set(a, form->excess[b], regal_larger(0, peak / form->unit_bytes - limit));
  }
  set(a, form->peak, a->cost->max_peak_bytes / form->unit_bytes);
}

static void assign_all(assignment *a, const regal_plan *plan) {
  const form *form = a->form;
  a->values[REGAL_CP_TRUE] = 1;
  for (uint32_t i = 0; i < plan->step_count; i++) {
    const regal_step *step = &plan->steps[i];
    if (regal_step_runs(step))
      a->placement[step->op] = a->relabel[step->to];
  }
  walk(a, plan, &a->clock);
  walk(a, plan, &a->places);
  assign_steps(a);
  int64_t makespan = 0;
  for (uint32_t op = 0; op < form->problem->ops; op++)
    makespan = regal_larger(makespan, a->clock.end[op]);
  set(a, form->makespan, makespan);
  if (form->limits_held)
    assign_held(a);
  if (!form->memory)
    return;
  assign_pairs(a);
  for (uint32_t t = 0; t < form->problem->tensors; t++)
    for (uint32_t b = 0; b < form->devices; b++)
      assign_tensor(a, t, b);
  assign_made(a);
  assign_lives(a);
  assign_devices(a);
}

regal_status regal_formulation_assign(const regal_formulation *formulation,
                                      const regal_plan *plan,
                                      const regal_cost *cost, int64_t *values) {
  regal_context *context = formulation->model.context;
  assignment a = {.form = formulation, .cost = cost, .values = values};
  regal_carver carver = {NULL, 0};
  REGAL_TRY(REGAL_CARVE_BLOCK(context, carver, layout(&a, &carver)));
  a.clock.axis = &formulation->clock;
  a.places.axis = &formulation->places;
  memset(values, 0, formulation->model.variables * sizeof *values);
  regal_plan_relabel(formulation->problem, plan, a.relabel);
  assign_all(&a, plan);
  regal_release(context, carver.base);
  return REGAL_OK;
}
