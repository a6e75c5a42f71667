/* SPDX-License-Identifier: Apache-2.0 */
/* The order of transfers on links.
 *
 * The annealers send a tensor just before its first reader, so that links serve
 * transfers in the order of their readers. A link may then be idle, because the
 * next tensor is not made yet, while one for a later reader could travel. On
 * large graphs a search for other orders is too slow (anneal/steps/steps.h);
 * one pass over the best plan is not.
 *
 * The pass keeps the placement and the order of the ops on each device, and
 * simulates by time: when a link is free, of the tensors that are made it takes
 * the one with the longest tail, the time from its start to the end of the plan
 * on any path through readers and the ops behind them. A link is never idle
 * while something could be sent. The steps of the new plan are in the order in
 * which they start, so that it is valid. The search keeps it if it is better,
 * memory limits included; then the tails have changed, and it is done again.
 *
 * O((steps + uses) log steps) for a pass.
 */
#include "auto/links.h"

#include "base/compare.h"
#include "base/tournament.h"

#define MOST_PASSES 8

/* Actors are the devices, then the links from * devices + to. An actor does one
 * step at a time. */
typedef struct sorter {
  const regal_problem *problem;
  const regal_plan *from; /* as it was */
  regal_plan *to;         /* made anew */
  uint32_t devices, actors, sends;
  uint8_t *placement; /* [ops] */
  uint32_t *missing;  /* [ops] inputs and waits that are not there yet */
  uint32_t *queue;    /* [ops] of each device */
  uint32_t *next;     /* [devices] in the queue */
  uint32_t *last;     /* [devices] the end of its queue */
  int64_t *tail_out;  /* [ops] from the op's end */
  int64_t *tail;      /* [steps] from the step's start */
  uint32_t *step_of;  /* [ops] that runs it */
  uint32_t *first_send, *next_send; /* [tensors], [steps] steps that send it */
  uint32_t *place;                  /* [steps] of a send, among its link's */
  uint32_t *range;                  /* [actors + 1] places of a link */
  int64_t *end_ns;                  /* [actors] of what it does */
  uint32_t *doing;                  /* [actors] a step, or REGAL_NONE */
  uint32_t *look;     /* [actors] that may have something to do now */
  uint8_t *is_looked; /* [actors] */
  uint32_t looks;
  regal_tournament running; /* actors by end_ns */
  regal_tournament waiting; /* sends that are made, by tail */
} sorter;

static void layout(sorter *s, regal_carver *carver) {
  const regal_problem *problem = s->problem;
  uint32_t steps = s->from->step_count;
  s->placement = regal_carve(carver, problem->ops, 1);
  s->missing = regal_carve(carver, problem->ops, 4);
  s->queue = regal_carve(carver, problem->ops, 4);
  s->next = regal_carve(carver, s->devices, 4);
  s->last = regal_carve(carver, s->devices, 4);
  s->tail_out = regal_carve(carver, problem->ops, 8);
  s->tail = regal_carve(carver, steps, 8);
  s->step_of = regal_carve(carver, problem->ops, 4);
  s->first_send = regal_carve(carver, problem->tensors, 4);
  s->next_send = regal_carve(carver, steps, 4);
  s->place = regal_carve(carver, steps, 4);
  s->range = regal_carve(carver, (size_t)s->actors + 1, 4);
  s->end_ns = regal_carve(carver, s->actors, 8);
  s->doing = regal_carve(carver, s->actors, 4);
  s->look = regal_carve(carver, s->actors, 4);
  s->is_looked = regal_carve(carver, s->actors, 1);
  regal_tournament_layout(&s->running, carver, s->actors);
  regal_tournament_layout(&s->waiting, carver, s->sends);
}

static uint32_t link_of(const sorter *s, const regal_step *step) {
  return s->devices + step->device * s->devices + step->to;
}

/* -- What is known of the plan --------------------------------------------- */

/* Queues of devices, and places of sends in the order of links. */
static void read_queues(sorter *s) {
  const regal_plan *plan = s->from;
  memset(s->range, 0, ((size_t)s->actors + 1) * 4);
  memset(s->first_send, 0xff, (size_t)s->problem->tensors * 4);
  regal_plan_ops(plan, NULL, s->placement);
  for (uint32_t i = 0; i < plan->step_count; i++) {
    const regal_step *step = &plan->steps[i];
    s->range[(regal_step_runs(step) ? step->device : link_of(s, step)) + 1]++;
  }
  for (uint32_t a = 0; a < s->actors; a++)
    s->range[a + 1] += s->range[a];
  for (uint32_t a = 0; a < s->devices; a++)
    s->next[a] = s->last[a] = s->range[a];
}

static void read_steps(sorter *s) {
  const regal_plan *plan = s->from;
  uint32_t *filled = s->doing; /* [actors] */
  memset(filled, 0, s->actors * sizeof *filled);
  for (uint32_t i = 0; i < plan->step_count; i++) {
    const regal_step *step = &plan->steps[i];
    if (regal_step_runs(step)) {
      s->queue[s->last[step->device]++] = step->op;
      s->step_of[step->op] = i;
      s->missing[step->op] = s->problem->needs[step->op];
      continue;
    }
    uint32_t tensor = regal_plan_tensor(s->problem, step);
    uint32_t link = link_of(s, step);
    s->next_send[i] = s->first_send[tensor];
    s->first_send[tensor] = i;
    s->place[i] = s->range[link] + filled[link]++ - s->problem->ops;
  }
}

static int64_t tail_of_send(const sorter *s, const regal_step *step) {
  const regal_problem *problem = s->problem;
  uint32_t tensor = regal_plan_tensor(problem, step);
  int64_t behind = 0;
  for (REGAL_ROW(u, problem->use_begin, tensor)) {
    uint32_t reader = problem->consumer[u];
    if (s->placement[reader] == step->to)
      behind = regal_larger(behind, s->tail[s->step_of[reader]]);
  }
  return behind +
         regal_problem_transfer_ns(problem, tensor, step->device, step->to);
}

static void raise_tail(sorter *s, uint32_t op, int64_t tail) {
  s->tail_out[op] = regal_larger(s->tail_out[op], tail);
}

/* Of an op; tells those before it, on its device or by edges. */
static void find_op_tail(sorter *s, uint32_t op, uint32_t before) {
  const regal_problem *problem = s->problem;
  const regal_graph *graph = problem->graph;
  int64_t tail =
      s->tail_out[op] + regal_problem_run_ns(problem, op, s->placement[op]);
  s->tail[s->step_of[op]] = tail;
  if (before != REGAL_NONE)
    raise_tail(s, before, tail);
  for (REGAL_ROW(i, graph->control_in_begin, op))
    raise_tail(s, graph->control_in[i], tail);
}

/* Backwards: all that a step's tail depends on comes after it. Queues at links
 * are not counted: they are what is to be changed. */
static void find_tails(sorter *s) {
  const regal_plan *plan = s->from;
  memset(s->tail_out, 0, s->problem->ops * sizeof *s->tail_out);
  uint32_t *at = s->look; /* [devices] how much of the queue is left */
  for (uint32_t a = 0; a < s->devices; a++)
    at[a] = s->last[a];
  for (uint32_t i = plan->step_count; i-- > 0;) {
    const regal_step *step = &plan->steps[i];
    if (regal_step_runs(step)) {
      uint32_t here = --at[step->device];
      bool first = here == s->next[step->device];
      find_op_tail(s, step->op, first ? REGAL_NONE : s->queue[here - 1]);
    } else {
      s->tail[i] = tail_of_send(s, step);
      raise_tail(s, step->op, s->tail[i]);
    }
  }
}

/* -- Simulation ------------------------------------------------------------ */

static bool ends_before(const void *state, uint32_t a, uint32_t b) {
  const sorter *s = state;
  return s->end_ns[a] < s->end_ns[b];
}

static bool is_more_urgent(const void *state, uint32_t a, uint32_t b) {
  const sorter *s = state;
  return s->tail[a] > s->tail[b];
}

static void look_at(sorter *s, uint32_t actor) {
  if (!s->is_looked[actor])
    s->look[s->looks++] = actor;
  s->is_looked[actor] = 1;
}

static void begin_simulation(sorter *s) {
  s->to->step_count = 0;
  s->looks = 0;
  memset(s->is_looked, 0, s->actors);
  regal_tournament_begin(&s->running, ends_before, s);
  regal_tournament_begin(&s->waiting, is_more_urgent, s);
  for (uint32_t actor = 0; actor < s->actors; actor++)
    s->doing[actor] = REGAL_NONE;
  for (uint32_t a = 0; a < s->devices; a++)
    look_at(s, a);
}

static void supply(sorter *s, uint32_t op) {
  if (--s->missing[op] == 0)
    look_at(s, s->placement[op]);
}

/* To the readers on a device. */
static void supply_readers(sorter *s, uint32_t tensor, uint32_t device) {
  for (REGAL_ROW(u, s->problem->use_begin, tensor))
    if (s->placement[s->problem->consumer[u]] == device)
      supply(s, s->problem->consumer[u]);
}

static void end_op(sorter *s, uint32_t op) {
  const regal_problem *problem = s->problem;
  for (REGAL_ROW(t, problem->output_begin, op)) {
    supply_readers(s, t, s->placement[op]);
    for (uint32_t i = s->first_send[t]; i != REGAL_NONE; i = s->next_send[i]) {
      regal_tournament_set(&s->waiting, s->place[i], i);
      look_at(s, link_of(s, &s->from->steps[i]));
    }
  }
  for (REGAL_ROW(w, problem->wait_begin, op))
    supply(s, problem->waiter[w]);
}

static void end_step(sorter *s, uint32_t actor) {
  const regal_step *step = &s->from->steps[s->doing[actor]];
  s->doing[actor] = REGAL_NONE;
  regal_tournament_set(&s->running, actor, REGAL_NONE);
  look_at(s, actor);
  if (regal_step_runs(step))
    end_op(s, step->op);
  else
    supply_readers(s, regal_plan_tensor(s->problem, step), step->to);
}

static void start(sorter *s, uint32_t actor, uint32_t i, int64_t end_ns) {
  s->to->steps[s->to->step_count++] = s->from->steps[i];
  s->doing[actor] = i;
  s->end_ns[actor] = end_ns;
  regal_tournament_set(&s->running, actor, actor);
}

static void start_op(sorter *s, uint32_t device, int64_t now) {
  uint32_t at = s->next[device];
  if (at == s->last[device] || s->missing[s->queue[at]])
    return;
  uint32_t op = s->queue[s->next[device]++];
  start(s, device, s->step_of[op],
        now + regal_problem_run_ns(s->problem, op, device));
}

static void start_send(sorter *s, uint32_t link, int64_t now) {
  const regal_problem *problem = s->problem;
  uint32_t ops = problem->ops;
  uint32_t i = regal_tournament_best(&s->waiting, s->range[link] - ops,
                                     s->range[link + 1] - ops);
  if (i == REGAL_NONE)
    return;
  const regal_step *step = &s->from->steps[i];
  uint32_t tensor = regal_plan_tensor(problem, step);
  regal_tournament_set(&s->waiting, s->place[i], REGAL_NONE);
  start(s, link, i,
        now +
            regal_problem_transfer_ns(problem, tensor, step->device, step->to));
}

/* All that ends at one time, then all that can begin. */
static void simulate(sorter *s) {
  int64_t now = 0;
  begin_simulation(s);
  for (;;) {
    while (s->looks > 0) {
      uint32_t actor = s->look[--s->looks];
      s->is_looked[actor] = 0;
      if (s->doing[actor] == REGAL_NONE)
        (actor < s->devices ? start_op : start_send)(s, actor, now);
    }
    uint32_t actor = regal_tournament_best(&s->running, 0, s->actors);
    if (actor == REGAL_NONE)
      return;
    now = s->end_ns[actor];
    while (actor != REGAL_NONE && s->end_ns[actor] == now) {
      end_step(s, actor);
      actor = regal_tournament_best(&s->running, 0, s->actors);
    }
  }
}

/* -- Passes ---------------------------------------------------------------- */

static regal_status sort_once(regal_search *search) {
  sorter s = {.problem = search->problem, .from = search->best};
  regal_carver carver = {NULL, 0};
  s.devices = s.problem->devices;
  s.actors = s.devices + s.devices * s.devices;
  s.sends = s.from->step_count - s.problem->ops;
  REGAL_TRY(REGAL_CARVE_BLOCK(search->context, carver, layout(&s, &carver)));
  regal_status status =
      regal_plan_create(search->context, s.from->step_count, &s.to);
  if (status == REGAL_OK) {
    read_queues(&s);
    read_steps(&s);
    find_tails(&s);
    simulate(&s);
    status = regal_search_offer(search, s.to);
  }
  regal_release(search->context, carver.base);
  return status;
}

static bool has_sends(const regal_search *search) {
  return search->best && search->best->step_count > search->problem->ops;
}

regal_status regal_auto_sort_links(regal_search *search,
                                   regal_account *account) {
  const regal_problem *problem = search->problem;
  if (!problem->machine->overlapped || problem->objective != REGAL_RUNTIME)
    return REGAL_OK;
  regal_fitness first = search->plan_fitness, before;
  for (uint32_t pass = 0; pass < MOST_PASSES && has_sends(search); pass++) {
    before = search->plan_fitness;
    REGAL_TRY(sort_once(search));
    if (!regal_fitness_less(search->plan_fitness, before))
      break;
  }
  if (regal_fitness_less(search->plan_fitness, first))
    regal_account_add(account, search, "order of links");
  return REGAL_OK;
}
