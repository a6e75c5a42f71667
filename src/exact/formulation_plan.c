/* Between plans and values of variables, both ways. */
#include "exact/formulation.h"

#include <stdlib.h>
#include <string.h>

#include "base/carve.h"

typedef regal_formulation form;

/* -- From starts to a plan --------------------------------------------------
 */

typedef struct timed_step {
  int64_t start, end;
  uint64_t rank; /* an op, then the transfers of its outputs */
  regal_step step;
} timed_step;

static int compare_steps(const void *left, const void *right) {
  const timed_step *a = left, *b = right;
  if (a->start != b->start)
    return a->start < b->start ? -1 : 1;
  if (a->end != b->end)
    return a->end < b->end ? -1 : 1;
  if (a->rank != b->rank)
    return a->rank < b->rank ? -1 : 1;
  return 0;
}

static bool is_needed(const regal_problem *problem, const uint8_t *placement,
                      uint32_t tensor, uint32_t to) {
  if (placement[problem->producer[tensor]] == to)
    return false;
  for (uint32_t u = problem->use_begin[tensor];
       u < problem->use_begin[tensor + 1]; u++)
    if (placement[problem->consumer[u]] == to)
      return true;
  return false;
}

regal_status regal_exact_plan(regal_context *context,
                              const regal_problem *problem,
                              const uint8_t *placement, const int64_t *start,
                              const int64_t *end, const int64_t *sent_start,
                              const int64_t *sent_end, regal_plan **plan) {
  uint32_t d = problem->devices, count = 0;
  size_t most = regal_plan_most_steps(problem);
  timed_step *steps = regal_alloc(context, most, sizeof *steps);
  if (!steps)
    return regal_fail_memory(context);
  for (uint32_t op = 0; op < problem->ops; op++)
    steps[count++] =
        (timed_step){start[op],
                     end[op],
                     (uint64_t)op * 2,
                     {op, REGAL_RUN, placement[op], placement[op]}};
  for (uint32_t t = 0; t < problem->tensors; t++)
    for (uint32_t to = 0; to < d; to++)
      if (is_needed(problem, placement, t, to)) {
        uint32_t op = problem->producer[t];
        size_t at = (size_t)t * d + to;
        steps[count++] =
            (timed_step){sent_start[at], sent_end[at], (uint64_t)op * 2 + 1,
                         regal_plan_send(problem, t, placement[op], to)};
      }
  qsort(steps, count, sizeof *steps, compare_steps);
  regal_plan *made;
  regal_status status = regal_plan_create(context, count, &made);
  for (uint32_t i = 0; status == REGAL_OK && i < count; i++)
    made->steps[made->step_count++] = steps[i].step;
  regal_release(context, steps);
  if (status == REGAL_OK)
    *plan = made;
  return status;
}

/* What a plan is made of, on the axis. */
typedef struct schedule {
  uint8_t *placement;             /* [ops] */
  int64_t *start, *end;           /* [ops] */
  int64_t *sent_start, *sent_end; /* [tensors * devices] */
  int64_t *ready;                 /* [ops] */
  int64_t *link;                  /* [devices * devices] */
  void *block;
} schedule;

static void layout(const regal_problem *problem, schedule *schedule,
                   regal_carver *carver) {
  size_t n = problem->ops, d = problem->devices, routes = problem->tensors * d;
  schedule->placement = regal_carve(carver, n, 1);
  schedule->start = regal_carve(carver, n, 8);
  schedule->end = regal_carve(carver, n, 8);
  schedule->ready = regal_carve(carver, n, 8);
  schedule->sent_start = regal_carve(carver, routes, 8);
  schedule->sent_end = regal_carve(carver, routes, 8);
  schedule->link = regal_carve(carver, d * d, 8);
}

static regal_status schedule_create(const form *form, schedule *schedule) {
  regal_context *context = form->model.context;
  regal_carver carver = {NULL, 0};
  layout(form->problem, schedule, &carver);
  schedule->block = regal_alloc(context, carver.used, 1);
  if (!schedule->block)
    return regal_fail_memory(context);
  carver = (regal_carver){schedule->block, 0};
  layout(form->problem, schedule, &carver);
  return REGAL_OK;
}

static bool literal_holds(const int64_t *values, int32_t literal) {
  return literal >= 0 ? values[literal] : !values[regal_cp_not(literal)];
}

regal_status regal_formulation_plan(const regal_formulation *formulation,
                                    const int64_t *values, regal_plan **plan) {
  const regal_problem *problem = formulation->problem;
  uint32_t d = formulation->devices;
  schedule s;
  REGAL_TRY(schedule_create(formulation, &s));
  for (uint32_t op = 0; op < problem->ops; op++) {
    for (uint32_t a = 0; a < d; a++)
      if (literal_holds(values, formulation->on[(size_t)op * d + a]))
        s.placement[op] = (uint8_t)a;
    s.start[op] = values[formulation->start[op]];
    s.end[op] = s.start[op] + regal_exact_run(formulation, op, s.placement[op]);
  }
  for (uint32_t t = 0; t < problem->tensors; t++)
    for (uint32_t to = 0; to < d; to++) {
      size_t at = (size_t)t * d + to;
      uint32_t op = problem->producer[t], from = s.placement[op];
      int32_t variable = formulation->sent_start[at];
      s.sent_start[at] = variable < 0 ? s.end[op] : values[variable];
      s.sent_end[at] = s.sent_start[at];
      if (from != to && variable >= 0)
        s.sent_end[at] += regal_exact_send(formulation, t, from, to);
    }
  regal_status status =
      regal_exact_plan(formulation->model.context, problem, s.placement,
                       s.start, s.end, s.sent_start, s.sent_end, plan);
  regal_release(formulation->model.context, s.block);
  return status;
}

/* -- From a plan to values --------------------------------------------------
 */

typedef struct assignment {
  const form *form;
  const regal_cost *cost;
  int64_t *values;
  schedule s;
  uint32_t swapped; /* this device and device 0 change places */
} assignment;

static int64_t larger(int64_t a, int64_t b) {
  return a > b ? a : b;
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

static uint32_t relabel(const assignment *a, uint32_t device) {
  return device == 0 ? a->swapped : device == a->swapped ? 0 : device;
}

static void run_op(assignment *a, uint32_t op, uint32_t device,
                   int64_t *clock) {
  const regal_problem *problem = a->form->problem;
  schedule *s = &a->s;
  s->start[op] = larger(clock[device], s->ready[op]);
  s->end[op] = s->start[op] + regal_exact_run(a->form, op, device);
  clock[device] = s->end[op];
  for (uint32_t w = problem->wait_begin[op]; w < problem->wait_begin[op + 1];
       w++) {
    uint32_t waiter = problem->waiter[w];
    s->ready[waiter] = larger(s->ready[waiter], s->end[op]);
  }
}

static void send(assignment *a, uint32_t tensor, uint32_t from, uint32_t to,
                 int64_t *clock) {
  const regal_problem *problem = a->form->problem;
  schedule *s = &a->s;
  size_t at = (size_t)tensor * problem->devices + to;
  int64_t *link = &s->link[from * problem->devices + to];
  bool overlapped = problem->machine->overlapped;
  int64_t start = overlapped ? larger(*link, s->end[problem->producer[tensor]])
                             : larger(clock[from], clock[to]);
  int64_t end = start + regal_exact_send(a->form, tensor, from, to);
  s->sent_start[at] = start;
  s->sent_end[at] = end;
  if (!overlapped) {
    clock[from] = clock[to] = end;
    return;
  }
  *link = end;
  for (uint32_t u = problem->use_begin[tensor];
       u < problem->use_begin[tensor + 1]; u++) {
    uint32_t op = problem->consumer[u];
    if (s->placement[op] == to)
      s->ready[op] = larger(s->ready[op], end);
  }
}

/* Starts and ends of all steps: by clocks, or by their places in the plan. */
static void walk(assignment *a, const regal_plan *plan) {
  const form *form = a->form;
  schedule *s = &a->s;
  int64_t clock[REGAL_MAX_DEVICES] = {0};
  for (uint32_t i = 0; i < plan->step_count; i++) {
    const regal_step *step = &plan->steps[i];
    if (regal_step_runs(step))
      s->placement[step->op] = (uint8_t)relabel(a, step->to);
  }
  for (uint32_t i = 0; i < plan->step_count; i++) {
    const regal_step *step = &plan->steps[i];
    uint32_t from = relabel(a, step->device), to = relabel(a, step->to);
    if (!form->timed)
      for (uint32_t k = 0; k < form->devices; k++)
        clock[k] = s->link[from * form->devices + to] = i;
    if (regal_step_runs(step))
      run_op(a, step->op, to, clock);
    else
      send(a, regal_plan_tensor(form->problem, step), from, to, clock);
  }
}

static void assign_steps(assignment *a) {
  const form *form = a->form;
  const regal_problem *problem = form->problem;
  const schedule *s = &a->s;
  uint32_t d = form->devices;
  for (uint32_t op = 0; op < problem->ops; op++) {
    set(a, form->start[op], s->start[op]);
    for (uint32_t b = 0; b < d; b++)
      set_literal(a, form->on[(size_t)op * d + b], s->placement[op] == b);
  }
  for (uint32_t t = 0; t < problem->tensors; t++) {
    uint32_t home = s->placement[problem->producer[t]];
    for (uint32_t to = 0; to < d; to++) {
      size_t at = (size_t)t * d + to;
      bool needed = is_needed(problem, s->placement, t, to);
      bool other = form->both_ways && form->sent[at] == form->sent[at ^ 1];
      if (!needed && other && is_needed(problem, s->placement, t, to ^ 1))
        continue; /* the same variables say the other way */
      set_literal(a, form->sent[at], needed);
      set(a, form->sent_start[at],
          needed ? s->sent_start[at] : s->end[problem->producer[t]]);
      for (uint32_t from = 0; d > 2 && from < d; from++)
        if (form->leaves_if[at * d + from] != form->sent[at])
          set_literal(a, form->leaves_if[at * d + from],
                      needed && from == home);
    }
  }
}

/* When the tensor is on the device. */
static void assign_tensor(assignment *a, uint32_t tensor, uint32_t device) {
  const form *form = a->form;
  const regal_problem *problem = form->problem;
  const schedule *s = &a->s;
  uint32_t d = form->devices, op = problem->producer[tensor];
  size_t at = (size_t)tensor * d + device;
  bool home = s->placement[op] == device;
  if (form->until[at] == REGAL_CP_NONE)
    return;
  int64_t from = home ? s->start[op] : s->sent_start[at];
  int64_t until = home ? s->end[op] : 0;
  bool held = home;
  for (uint32_t u = problem->use_begin[tensor];
       u < problem->use_begin[tensor + 1]; u++)
    if (s->placement[problem->consumer[u]] == device) {
      until = larger(until, s->end[problem->consumer[u]]);
      held = true;
    }
  for (uint32_t to = 0; home && to < d; to++)
    if (is_needed(problem, s->placement, tensor, to))
      until = larger(until, s->sent_end[(size_t)tensor * d + to]);
  if (home && problem->is_final[tensor])
    until = form->horizon;
  if (!held)
    from = until = form->head[op];
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
  uint32_t device = a->s.placement[op];
  size_t out = (size_t)pair->output * d + device;
  size_t in = (size_t)pair->input * d + device;
  bool final = problem->is_final[pair->input] &&
               a->s.placement[problem->producer[pair->input]] == device;
  bool taken = !final && a->values[form->until[in]] == a->s.end[op];
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
  set(a, form->made[pair->output], a->s.end[op]);
  set(a, form->from[out], a->s.end[op]);
  set(a, form->length[out], a->values[form->until[out]] - a->s.end[op]);
}

/* An op's outputs that take nothing begin with it. The literal that one of
 * the inputs is taken comes right after `made`. */
static void assign_made(assignment *a) {
  const form *form = a->form;
  for (size_t i = 0; i < form->reuse_count; i++) {
    uint32_t op = form->problem->producer[form->reuse[i].output];
    set(a, form->made[form->reuse[i].output], a->s.start[op]);
  }
  for (size_t i = 0; i < form->reuse_count; i++)
    assign_reuse(a, i);
  for (size_t i = 0; i < form->reuse_count; i++) {
    int32_t made = form->made[form->reuse[i].output];
    uint32_t op = form->problem->producer[form->reuse[i].output];
    set(a, made + 1, a->values[made] > a->s.start[op]);
  }
}

static int64_t resident(const assignment *a, uint32_t device) {
  const form *form = a->form;
  const regal_problem *problem = form->problem;
  int64_t bytes = 0;
  for (uint32_t op = 0; op < problem->ops; op++)
    if (a->s.placement[op] == device)
      bytes += problem->resident_bytes[op];
  for (uint32_t p = 0; p < problem->shared; p++)
    if (literal_holds(a->values,
                      form->hold[(size_t)p * form->devices + device]))
      bytes += problem->shared_bytes[p];
  return bytes;
}

static void assign_devices(assignment *a) {
  const form *form = a->form;
  const regal_problem *problem = form->problem;
  uint32_t d = form->devices;
  for (uint32_t p = 0; p < problem->shared; p++)
    for (uint32_t r = problem->reader_begin[p];
         r < problem->reader_begin[p + 1]; r++)
      set_literal(
          a, form->hold[(size_t)p * d + a->s.placement[problem->reader[r]]],
          true);
  for (uint32_t b = 0; b < d; b++) {
    int64_t peak = a->cost->peak_bytes[relabel(a, b)];
    int64_t limit = problem->limit[b] / form->unit_bytes;
    set(a, form->room[b], (peak - resident(a, b)) / form->unit_bytes);
    set(a, form->excess[b], larger(0, peak / form->unit_bytes - limit));
  }
  set(a, form->peak, a->cost->max_peak_bytes / form->unit_bytes);
}

static void assign_all(assignment *a, const regal_plan *plan) {
  const form *form = a->form;
  int64_t makespan = 0;
  a->values[REGAL_CP_TRUE] = 1;
  walk(a, plan);
  assign_steps(a);
  for (uint32_t op = 0; op < form->problem->ops; op++)
    makespan = larger(makespan, a->s.end[op]);
  set(a, form->makespan, makespan);
  if (!form->memory)
    return;
  for (uint32_t t = 0; t < form->problem->tensors; t++)
    for (uint32_t b = 0; b < form->devices; b++)
      assign_tensor(a, t, b);
  assign_made(a);
  assign_devices(a);
}

regal_status regal_formulation_assign(const regal_formulation *formulation,
                                      const regal_plan *plan,
                                      const regal_cost *cost, int64_t *values) {
  const regal_problem *problem = formulation->problem;
  assignment a = {.form = formulation, .cost = cost, .values = values};
  REGAL_TRY(schedule_create(formulation, &a.s));
  memset(values, 0, formulation->model.variables * sizeof *values);
  for (uint32_t i = 0; problem->pinned != REGAL_NONE && i < plan->step_count;
       i++)
    if (regal_step_runs(&plan->steps[i]) &&
        plan->steps[i].op == problem->pinned)
      a.swapped = plan->steps[i].to;
  assign_all(&a, plan);
  regal_release(formulation->model.context, a.s.block);
  return REGAL_OK;
}
