/* SPDX-License-Identifier: Apache-2.0 */
/* One pass of list scheduling within memory limits (heuristic/fit/fit.h).
 *
 * A device looks at its ready ops by priority, until it sees one that can start
 * at once: nothing behind it can be better. Its pick stays until something
 * changes that concerns the device: an op becomes ready or runs there, memory
 * is freed there, or, where transfers block, any clock moves.
 */
#include "heuristic/fit/fit.h"

#include <string.h>

#include "base/compare.h"

/* So many ready ops a device looks at. */
#define WINDOW 64

void regal_fit_layout(regal_fit *fit, regal_carver *carver,
                      const regal_problem *problem) {
  size_t n = problem->ops, d = problem->devices;
  fit->problem = problem;
  regal_safe_layout(&fit->safe, carver, problem);
  fit->before = regal_carve(carver, n, sizeof *fit->before);
  fit->head = regal_carve(carver, n, sizeof *fit->head);
  fit->tail = regal_carve(carver, n, sizeof *fit->tail);
  fit->key = regal_carve(carver, n, sizeof *fit->key);
  fit->ready = regal_carve(carver, n, 4);
  fit->waits_for = regal_carve(carver, n, 4);
  fit->refused_at = regal_carve(carver, n, 4);
  fit->ready_ns = regal_carve(carver, n, 8);
  fit->end_ns = regal_carve(carver, n, 8);
  fit->arrival_ns =
      regal_carve(carver, (size_t)problem->tensors + problem->uses, 8);
  fit->link_ns = regal_carve(carver, d * d, 8);
  fit->travels = regal_carve(carver, regal_problem_most_inputs(problem),
                             sizeof *fit->travels);
}

/* -- Priorities ------------------------------------------------------------ */

static double run_ns(const regal_fit *fit, uint32_t op) {
  return (double)regal_problem_run_ns(fit->problem, op, fit->placement[op]);
}

/* What a tensor takes from op to op. */
static double travel_ns(const regal_fit *fit, uint32_t tensor, uint32_t to) {
  uint32_t a = fit->placement[fit->problem->producer[tensor]];
  uint32_t b = fit->placement[to];
  return a == b ? 0
                : (double)regal_problem_transfer_ns(fit->problem, tensor, a, b);
}

static double later(double a, double b) {
  return a > b ? a : b;
}

static void find_heads(regal_fit *fit, const uint32_t *order) {
  const regal_problem *problem = fit->problem;
  fit->work = 0;
  memset(fit->head, 0, problem->ops * sizeof *fit->head);
  for (uint32_t at = 0; at < problem->ops; at++) {
    uint32_t op = order[at];
    double *head = &fit->head[op];
    fit->before[op] = fit->work;
    fit->work += run_ns(fit, op);
    for (REGAL_ROW(i, problem->input_begin, op)) {
      uint32_t producer = problem->producer[problem->input[i]];
      *head = later(*head, fit->head[producer] + run_ns(fit, producer) +
                               travel_ns(fit, problem->input[i], op));
    }
    for (REGAL_ROW(w, problem->wait_begin, op)) {
      double *next = &fit->head[problem->waiter[w]];
      *next = later(*next, *head + run_ns(fit, op));
    }
  }
}

static void find_tails(regal_fit *fit, const uint32_t *order) {
  const regal_problem *problem = fit->problem;
  fit->longest = 0;
  for (uint32_t at = problem->ops; at-- > 0;) {
    uint32_t op = order[at];
    double after = 0;
    for (REGAL_ROW(t, problem->output_begin, op))
      for (REGAL_ROW(u, problem->use_begin, t)) {
        uint32_t reader = problem->consumer[u];
        after = later(after, fit->tail[reader] + travel_ns(fit, t, reader));
      }
    for (REGAL_ROW(w, problem->wait_begin, op))
      after = later(after, fit->tail[problem->waiter[w]]);
    fit->tail[op] = after + run_ns(fit, op);
    fit->longest = later(fit->longest, fit->head[op] + fit->tail[op]);
  }
}

static void set_keys(regal_fit *fit) {
  double lead = fit->setting.lead / fit->problem->devices;
  for (uint32_t op = 0; op < fit->problem->ops; op++) {
    double late = fit->longest - fit->head[op] - fit->tail[op];
    fit->key[op] =
        lead * fit->before[op] + fit->head[op] + fit->setting.slack * late;
  }
}

bool regal_fit_begin(regal_fit *fit, const uint32_t *order,
                     const uint8_t *placement) {
  fit->placement = placement;
  if (!regal_safe_begin(&fit->safe, order, placement))
    return false;
  find_heads(fit, order);
  find_tails(fit, order);
  return true;
}

/* -- Ready ops ------------------------------------------------------------- */

static bool goes_first(const regal_fit *fit, uint32_t a, uint32_t b) {
  if (fit->key[a] != fit->key[b])
    return fit->key[a] < fit->key[b];
  return fit->before[a] < fit->before[b] ||
         (fit->before[a] == fit->before[b] && a < b);
}

/* The place of an op in a device's ready ops, or where it belongs. */
static uint32_t find_place(const regal_fit *fit, const regal_fit_device *device,
                           uint32_t op) {
  uint32_t low = 0, high = device->count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (goes_first(fit, device->ready[middle], op))
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static void make_ready(regal_fit *fit, uint32_t op) {
  regal_fit_device *device = &fit->device[fit->placement[op]];
  uint32_t at = find_place(fit, device, op);
  memmove(device->ready + at + 1, device->ready + at,
          (device->count++ - at) * sizeof *device->ready);
  device->ready[at] = op;
  device->stale = true;
}

static void remove_ready(regal_fit *fit, uint32_t op) {
  regal_fit_device *device = &fit->device[fit->placement[op]];
  uint32_t at = find_place(fit, device, op);
  memmove(device->ready + at, device->ready + at + 1,
          (--device->count - at) * sizeof *device->ready);
}

/* -- Time ------------------------------------------------------------------ */

#define NOT_SENT (-1)

/* When an input is on the op's device, if it is sent now; clocks and links stay
 * as they are. `start` is when the device is free for a blocking transfer. */
static int64_t arrival_of(const regal_fit *fit, uint32_t input, uint32_t to,
                          int64_t start) {
  const regal_problem *problem = fit->problem;
  uint32_t tensor = problem->input[input];
  uint32_t producer = problem->producer[tensor];
  uint32_t from = fit->placement[producer];
  int64_t there = fit->arrival_ns[fit->safe.slot_of_input[input]];
  if (from == to)
    return fit->end_ns[producer];
  if (there != NOT_SENT)
    return there;
  int64_t takes = regal_problem_transfer_ns(problem, tensor, from, to);
  if (!problem->machine->overlapped)
    return regal_larger(start, fit->clock_ns[from]) + takes;
  return takes + regal_larger(fit->end_ns[producer],
                              fit->link_ns[from * problem->devices + to]);
}

/* When a ready op can start. */
static int64_t start_of(const regal_fit *fit, uint32_t op) {
  const regal_problem *problem = fit->problem;
  uint32_t device = fit->placement[op];
  int64_t start = fit->clock_ns[device];
  for (REGAL_ROW(i, problem->input_begin, op))
    start = regal_larger(start, arrival_of(fit, i, device, start));
  return regal_larger(start, fit->ready_ns[op]);
}

static void send(regal_fit *fit, uint32_t input, uint32_t to,
                 regal_plan *plan) {
  const regal_problem *problem = fit->problem;
  uint32_t tensor = problem->input[input];
  uint32_t from = fit->placement[problem->producer[tensor]];
  int64_t arrival = arrival_of(fit, input, to, fit->clock_ns[to]);
  regal_plan_add_send(plan, problem, tensor, from, to);
  fit->arrival_ns[fit->safe.slot_of_input[input]] = arrival;
  if (problem->machine->overlapped)
    fit->link_ns[from * problem->devices + to] = arrival;
  else
    fit->clock_ns[from] = fit->clock_ns[to] = arrival;
}

/* Sends what the op needs, that first which can leave first. */
static void send_inputs(regal_fit *fit, uint32_t op, regal_plan *plan) {
  const regal_problem *problem = fit->problem;
  uint32_t to = fit->placement[op], count = 0;
  for (REGAL_ROW(i, problem->input_begin, op)) {
    uint32_t producer = problem->producer[problem->input[i]];
    uint32_t from = fit->placement[producer];
    if (from == to || fit->arrival_ns[fit->safe.slot_of_input[i]] != NOT_SENT)
      continue;
    int64_t leaves = problem->machine->overlapped ? fit->end_ns[producer]
                                                  : fit->clock_ns[from];
    fit->travels[count++] = (regal_keyed){leaves, i};
  }
  if (count > 1)
    regal_keyed_sort(fit->travels, count);
  for (uint32_t k = 0; k < count; k++)
    send(fit, fit->travels[k].op, to, plan);
}

/* -- Picks ----------------------------------------------------------------- */

static bool may_run(const regal_fit *fit, uint32_t op, uint32_t device) {
  uint32_t next = regal_safe_next(&fit->safe);
  return fit->refused_at[op] != fit->safe.version[device] &&
         fit->before[op] - fit->before[next] <= fit->setting.reach * fit->work;
}

static bool must_fetch(const regal_fit *fit, uint32_t op) {
  const regal_problem *problem = fit->problem;
  if (problem->machine->overlapped)
    return false;
  for (REGAL_ROW(i, problem->input_begin, op))
    if (fit->placement[problem->producer[problem->input[i]]] !=
            fit->placement[op] &&
        fit->arrival_ns[fit->safe.slot_of_input[i]] == NOT_SENT)
      return true;
  return false;
}

/* The ready op that can start first, or a better one that starts soon after. */
static void choose_pick(regal_fit *fit, uint32_t device) {
  regal_fit_device *at = &fit->device[device];
  uint32_t seen[WINDOW], count = 0, early = 0;
  int64_t start_ns[WINDOW];
  at->stale = false;
  at->pick = REGAL_NONE;
  for (uint32_t k = 0; k < at->count && count < WINDOW; k++) {
    uint32_t op = at->ready[k];
    if (!may_run(fit, op, device))
      continue;
    seen[count] = op;
    start_ns[count] = start_of(fit, op);
    if (start_ns[count] < start_ns[early]) /* of the first one: not less */
      early = count;
    if (start_ns[count++] <= fit->clock_ns[device])
      break;
  }
  if (!count)
    return;
  int64_t until = start_ns[early] +
                  (int64_t)(fit->setting.patience * run_ns(fit, seen[early]));
  uint32_t pick = 0;
  while (pick < early && start_ns[pick] >= until)
    pick++;
  at->pick = seen[pick];
  at->start_ns = start_ns[pick];
  at->fetches = must_fetch(fit, seen[pick]);
}

/* Which of two picks goes first. Where transfers block, one that fetches an
 * input goes before one of the same start that does not: that one might keep
 * the sender busy. */
static bool is_before(const regal_fit *fit, const regal_fit_device *a,
                      const regal_fit_device *b) {
  if (a->start_ns != b->start_ns)
    return a->start_ns < b->start_ns;
  if (a->fetches != b->fetches)
    return a->fetches;
  return goes_first(fit, a->pick, b->pick);
}

/* The device whose pick starts first, or REGAL_NONE. */
static uint32_t choose_device(regal_fit *fit) {
  uint32_t best = REGAL_NONE;
  for (uint32_t a = 0; a < fit->problem->devices; a++) {
    regal_fit_device *at = &fit->device[a];
    if (at->stale)
      choose_pick(fit, a);
    if (at->pick == REGAL_NONE)
      continue;
    if (best == REGAL_NONE || is_before(fit, at, &fit->device[best]))
      best = a;
  }
  return best;
}

/* -- The pass -------------------------------------------------------------- */

static void begin_pass(regal_fit *fit) {
  const regal_problem *problem = fit->problem;
  uint32_t count[REGAL_MAX_DEVICES] = {0}, n = problem->ops;
  set_keys(fit);
  memset(fit->clock_ns, 0, sizeof fit->clock_ns);
  memset(fit->link_ns, 0,
         (size_t)problem->devices * problem->devices * sizeof *fit->link_ns);
  memset(fit->ready_ns, 0, n * sizeof *fit->ready_ns);
  memset(fit->arrival_ns, 0xff, /* NOT_SENT */
         fit->safe.slot_begin[problem->tensors] * sizeof *fit->arrival_ns);
  memset(fit->refused_at, 0, n * sizeof *fit->refused_at);
  for (uint32_t op = 0; op < n; op++)
    count[fit->placement[op]]++;
  uint32_t *ready = fit->ready;
  for (uint32_t a = 0; a < problem->devices; a++) {
    fit->device[a] = (regal_fit_device){.ready = ready, .stale = true};
    ready += count[a];
  }
  for (uint32_t op = 0; op < n; op++) {
    fit->device[fit->placement[op]].work_left += run_ns(fit, op);
    fit->waits_for[op] = problem->predecessors[op];
    if (!fit->waits_for[op])
      make_ready(fit, op);
  }
}

/* Picks of devices whose memory has changed, or all of them. */
static void make_stale(regal_fit *fit, uint32_t op, uint32_t next_before) {
  const regal_problem *problem = fit->problem;
  bool all = !problem->machine->overlapped ||
             (fit->setting.reach < 1 && next_before != fit->safe.next);
  fit->device[fit->placement[op]].stale = true;
  for (uint32_t a = 0; all && a < problem->devices; a++)
    fit->device[a].stale = true;
  for (uint32_t k = 0; k < fit->safe.change_count; k++)
    fit->device[fit->safe.changes[k].old.device].stale = true;
}

static void run_op(regal_fit *fit, uint32_t op, regal_plan *plan) {
  const regal_problem *problem = fit->problem;
  uint32_t device = fit->placement[op];
  send_inputs(fit, op, plan);
  fit->clock_ns[device] = fit->end_ns[op] =
      start_of(fit, op) + regal_problem_run_ns(problem, op, device);
  fit->device[device].work_left -= run_ns(fit, op);
  regal_plan_add_run(plan, op, device);
  remove_ready(fit, op);
  for (REGAL_ROW(w, problem->wait_begin, op)) {
    int64_t *ready = &fit->ready_ns[problem->waiter[w]];
    *ready = regal_larger(*ready, fit->end_ns[op]);
  }
  for (REGAL_ROW(s, problem->successor_begin, op))
    if (--fit->waits_for[problem->successor[s]] == 0)
      make_ready(fit, problem->successor[s]);
}

/* The pick of some device that may run; else what the safe order has next. */
static uint32_t run_next(regal_fit *fit) {
  for (;;) {
    uint32_t device = choose_device(fit);
    uint32_t op = device == REGAL_NONE ? regal_safe_next(&fit->safe)
                                       : fit->device[device].pick;
    if (regal_safe_run(&fit->safe, op) || device == REGAL_NONE)
      return op;
    fit->refused_at[op] = fit->safe.version[device];
    fit->device[device].stale = true;
  }
}

/* Of the whole plan, as far as this op tells, which has just run: the longest
 * chain from it, and all that its device still has to run. */
static double soonest_end(const regal_fit *fit, uint32_t op) {
  double after = later(fit->tail[op] - run_ns(fit, op),
                       fit->device[fit->placement[op]].work_left);
  return (double)fit->end_ns[op] + after;
}

int64_t regal_fit_schedule(regal_fit *fit, const regal_fit_setting *setting,
                           int64_t allowed, regal_plan *plan) {
  const regal_problem *problem = fit->problem;
  int64_t runtime = 0;
  fit->setting = *setting;
  regal_safe_begin(&fit->safe, fit->safe.order, fit->placement);
  begin_pass(fit);
  for (uint32_t ran = 0; ran < problem->ops; ran++) {
    uint32_t next = fit->safe.next;
    uint32_t op = run_next(fit);
    run_op(fit, op, plan);
    if (soonest_end(fit, op) > (double)allowed)
      return INT64_MAX;
    make_stale(fit, op, next);
  }
  for (uint32_t a = 0; a < problem->devices; a++)
    runtime = regal_larger(runtime, fit->clock_ns[a]);
  return runtime;
}
