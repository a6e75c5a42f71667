/* SPDX-License-Identifier: Apache-2.0 */
/* Sweeps over the ops whose tensors are sent or received, in random order. Each
 * of them, alone, with a part of its neighbourhood on the same device, or in
 * exchange for an op of the other device, goes to the device of a neighbour.
 * The change of transfers is known at once from the number of readers on each
 * device. Only what makes them fewer is costed, by a simulation of the whole
 * plan, and kept if the plan is no worse. As long as that works, several such
 * moves are costed together, so that plans of many thousand ops are tidied,
 * too.
 *
 * The pass ends when some sweeps in a row have gained nothing, when no transfer
 * is left, or with its budget. A simulation counts as an evaluation.
 */
#include "tidy/tidy.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/text.h"
#include "tidy/parts.h"

/* Of the budget: this share, but no more than this. An evaluation is a whole
 * plan here, and a single move where annealing counts. */
#define SHARE 0.03
#define COSTLY_SHARE 0.01 /* transfers cost: few are left that gain nothing */
#define MOST_SECONDS 0.2
#define EVALUATIONS_SHARE 0.01
#define MOST_EVALUATIONS 5000
#define MOST_OPS 3000000 /* in all of them together */
/* Sweeps without a gain before it ends. */
#define PATIENCE 10
#define MOST_CLUSTER 64
#define PARTNERS 4
/* Moves that are costed together, at most. */
#define MOST_TOGETHER 256

typedef struct sweeper {
  regal_tidier tidier;
  regal_random random;
  uint32_t *border, borders; /* [ops] with transfers */
  uint32_t *member, members; /* [ops] of a cluster */
  uint32_t *seen, mark;      /* [ops] */
  uint32_t pending;          /* moves that wait for their cost */
  uint32_t together;         /* so many are costed together now */
  uint64_t used, most;       /* evaluations */
  bool gained, ended;
} sweeper;

static void layout(void *state, regal_carver *carver) {
  sweeper *s = state;
  size_t n = s->tidier.problem->ops;
  regal_tidier_layout(&s->tidier, carver);
  s->border = regal_carve(carver, n, 4);
  s->member = regal_carve(carver, n, 4);
  s->seen = regal_carve(carver, n, 4);
}

/* -- Costs ----------------------------------------------------------------- */

static regal_status settle(sweeper *s) {
  bool kept;
  REGAL_TRY(regal_tidier_settle(&s->tidier, &kept));
  s->used++;
  s->gained = s->gained || kept;
  s->together = kept ? 2 * s->together : (s->together + 3) / 4;
  if (s->together > MOST_TOGETHER)
    s->together = MOST_TOGETHER;
  s->pending = 0;
  s->tidier.change = (regal_crossings){0, 0};
  s->ended = s->used >= s->most || s->tidier.now.transfers == 0 ||
             regal_budget_is_cut(&s->tidier.search->budget);
  return REGAL_OK;
}

static bool is_due(const sweeper *s) {
  return s->pending >= s->together ||
         s->tidier.flip_count >= s->tidier.problem->ops;
}

/* The flips since `before` are one move. Whether it makes transfers fewer. */
static bool is_worth_it(sweeper *s, regal_crossings before, uint32_t flips) {
  if (regal_crossings_less(s->tidier.change, before)) {
    s->pending++;
    return true;
  }
  regal_tidier_take_back(&s->tidier, flips);
  s->tidier.change = before;
  return false;
}

/* -- Moves ----------------------------------------------------------------- */

static bool may_run(const sweeper *s, uint32_t op, uint32_t device) {
  return s->tidier.problem->allowed[op] >> device & 1;
}

static bool try_alone(sweeper *s, uint32_t op, uint32_t to) {
  regal_crossings before = s->tidier.change;
  uint32_t flips = s->tidier.flip_count;
  regal_tidier_flip(&s->tidier, op, to);
  return is_worth_it(s, before, flips);
}

static void join(sweeper *s, uint32_t op, uint32_t from, uint32_t to) {
  if (s->seen[op] == s->mark || s->tidier.placement[op] != from ||
      !may_run(s, op, to))
    return;
  s->seen[op] = s->mark;
  s->member[s->members++] = op;
}

/* Ops around this one on its device, by distance, up to `most`. */
static void grow(sweeper *s, uint32_t op, uint32_t to, uint32_t most) {
  const regal_problem *problem = s->tidier.problem;
  uint32_t from = s->tidier.placement[op];
  s->mark++;
  s->members = 0;
  join(s, op, from, to);
  for (uint32_t k = 0; k < s->members && s->members < most; k++) {
    uint32_t at = s->member[k];
    for (REGAL_ROW(i, problem->input_begin, at))
      join(s, problem->producer[problem->input[i]], from, to);
    for (REGAL_ROW(k2, problem->successor_begin, at))
      join(s, problem->successor[k2], from, to);
  }
  s->members = s->members < most ? s->members : most;
}

static bool try_cluster(sweeper *s, uint32_t op, uint32_t to) {
  regal_crossings before = s->tidier.change;
  uint32_t flips = s->tidier.flip_count;
  grow(s, op, to, 2u << regal_random_below(&s->random, 6));
  if (s->members < 2)
    return false; /* try_alone has tried it */
  for (uint32_t k = 0; k < s->members; k++)
    regal_tidier_flip(&s->tidier, s->member[k], to);
  return is_worth_it(s, before, flips);
}

/* An op of device `to` with transfers, with about the run time of the op. */
static uint32_t find_partner(sweeper *s, uint32_t op, uint32_t to) {
  const regal_problem *problem = s->tidier.problem;
  uint32_t found = REGAL_NONE, from = s->tidier.placement[op];
  int64_t run = regal_problem_run_ns(problem, op, from), least = INT64_MAX;
  for (int i = 0; i < PARTNERS; i++) {
    uint32_t other = s->border[regal_random_below(&s->random, s->borders)];
    if (s->tidier.placement[other] != to || !may_run(s, other, from))
      continue;
    int64_t differs = llabs(regal_problem_run_ns(problem, other, to) - run);
    found = differs < least ? other : found;
    least = differs < least ? differs : least;
  }
  return found;
}

static bool try_exchange(sweeper *s, uint32_t op, uint32_t to) {
  regal_crossings before = s->tidier.change;
  uint32_t flips = s->tidier.flip_count;
  uint32_t from = s->tidier.placement[op], other = find_partner(s, op, to);
  if (other == REGAL_NONE)
    return false;
  regal_tidier_flip(&s->tidier, op, to);
  regal_tidier_flip(&s->tidier, other, from);
  return is_worth_it(s, before, flips);
}

/* -- Sweeps ---------------------------------------------------------------- */

/* Devices of ops that it has tensors from or for. */
static uint64_t devices_around(const sweeper *s, uint32_t op) {
  const regal_problem *problem = s->tidier.problem;
  uint64_t devices = 0;
  for (REGAL_ROW(i, problem->input_begin, op)) {
    uint32_t producer = problem->producer[problem->input[i]];
    devices |= UINT64_C(1) << s->tidier.placement[producer];
  }
  for (REGAL_ROW(t, problem->output_begin, op))
    for (REGAL_ROW(u, problem->use_begin, t))
      devices |= UINT64_C(1) << s->tidier.placement[problem->consumer[u]];
  return devices;
}

static uint64_t other_devices(const sweeper *s, uint32_t op) {
  return devices_around(s, op) & ~(UINT64_C(1) << s->tidier.placement[op]);
}

static void find_border(sweeper *s) {
  s->borders = 0;
  for (uint32_t op = 0; op < s->tidier.problem->ops; op++)
    if (other_devices(s, op))
      s->border[s->borders++] = op;
  for (uint32_t i = s->borders; i > 1; i--) {
    uint32_t k = (uint32_t)regal_random_below(&s->random, i);
    uint32_t kept = s->border[i - 1];
    s->border[i - 1] = s->border[k];
    s->border[k] = kept;
  }
}

typedef bool (*move_fn)(sweeper *s, uint32_t op, uint32_t to);

static regal_status try_op(sweeper *s, uint32_t op) {
  static const move_fn moves[] = {try_alone, try_cluster, try_exchange};
  uint64_t devices = other_devices(s, op) & s->tidier.problem->allowed[op];
  for (; devices; devices &= devices - 1)
    for (size_t k = 0; k < sizeof moves / sizeof *moves && !s->ended; k++) {
      uint32_t to = (uint32_t)__builtin_ctzll(devices);
      if (s->tidier.placement[op] == to)
        break; /* it has moved there */
      if (moves[k](s, op, to) && is_due(s))
        REGAL_TRY(settle(s));
    }
  return REGAL_OK;
}

static regal_status sweep(sweeper *s) {
  s->gained = false;
  find_border(s);
  for (uint32_t i = 0; i < s->borders && !s->ended; i++)
    REGAL_TRY(try_op(s, s->border[i]));
  return s->pending ? settle(s) : REGAL_OK;
}

static regal_status sweep_all(sweeper *s) {
  for (uint32_t idle = 0; idle < PATIENCE && !s->ended;) {
    REGAL_TRY(sweep(s));
    idle = s->gained ? 0 : idle + 1;
  }
  return REGAL_OK;
}

/* -- The pass -------------------------------------------------------------- */

static double share_of(const regal_problem *problem) {
  bool costly = problem->objective == REGAL_RUNTIME && !problem->free_transfers;
  return costly ? COSTLY_SHARE : SHARE;
}

static double most_evaluations(const regal_problem *problem) {
  return fmin(MOST_EVALUATIONS, ceil((double)MOST_OPS / problem->ops));
}

regal_budget regal_tidy_reserve(regal_search *search) {
  regal_budget whole = search->budget;
  if (regal_budget_is_counted(&whole)) {
    double kept = fmin(EVALUATIONS_SHARE * (double)whole.limit,
                       most_evaluations(search->problem));
    search->budget.limit -= (uint64_t)kept;
  }
  if (isfinite(whole.deadline)) {
    double left = fmax(whole.deadline - regal_seconds(), 0);
    search->budget.deadline -=
        fmin(share_of(search->problem) * left, MOST_SECONDS);
  }
  return whole;
}

/* What was kept, or more of it if the search ended early. */
static void restore_budget(regal_search *search, const regal_budget *whole) {
  search->budget.limit = whole->limit;
  search->budget.deadline = whole->deadline;
}

static regal_status run(sweeper *s, const regal_budget *whole) {
  regal_tidier *t = &s->tidier;
  regal_search *search = t->search;
  uint32_t steps = regal_plan_most_steps(t->problem);
  REGAL_TRY(regal_plan_create(search->context, steps, &t->trial));
  REGAL_TRY(regal_plan_create(search->context, steps, &t->plan));
  t->plan->step_count = search->best->step_count;
  memcpy(t->plan->steps, search->best->steps,
         t->plan->step_count * sizeof *t->plan->steps);
  regal_tidier_read(t);
  t->fitness = search->plan_fitness;
  t->now = regal_plan_crossings(t->problem, t->plan);
  s->random = (regal_random){search->seed, 0};
  s->together = 1;
  restore_budget(search, whole);
  s->most = regal_budget_left(&search->budget);
  if (regal_budget_is_counted(whole))
    s->most = (uint64_t)fmin((double)s->most, most_evaluations(t->problem));
  if (isfinite(whole->deadline)) /* else the clock may not matter */
    search->budget.deadline =
        fmin(whole->deadline, regal_seconds() + MOST_SECONDS);
  s->ended = s->most == 0 || regal_budget_is_cut(&search->budget);
  regal_status status = sweep_all(s);
  restore_budget(search, whole);
  search->budget.used += s->used;
  return status;
}

/* The search keeps the plan if it is no worse. */
static regal_status finish(sweeper *s, regal_crossings before) {
  regal_tidier *t = &s->tidier;
  regal_plan *copy;
  if (!regal_crossings_less(t->now, before))
    return REGAL_OK;
  REGAL_TRY(regal_plan_copy(t->search->context, t->plan, &copy));
  return regal_search_offer(t->search, copy);
}

/* Not when the user wants it to end, nor where nothing can move. */
static bool applies(const regal_search *search) {
  return search->best && search->problem->devices > 1 &&
         !regal_stop_requested(search->context) &&
         regal_plan_crossings(search->problem, search->best).transfers > 0;
}

static regal_status tidy(regal_search *search, const regal_budget *whole,
                         regal_crossings before) {
  sweeper plain = {.tidier = {.search = search, .problem = search->problem}};
  sweeper *s =
      regal_carve_struct(search->context, &plain, sizeof plain, layout);
  if (!s)
    return regal_fail_memory(search->context);
  regal_status status = run(s, whole);
  if (status == REGAL_OK)
    status = finish(s, before);
  regal_plan_free(s->tidier.plan);
  regal_plan_free(s->tidier.trial);
  regal_release(search->context, s);
  return status;
}

static regal_shown show(__int128 bytes) {
  return regal_show_bytes(bytes < INT64_MAX ? (int64_t)bytes : INT64_MAX);
}

static void tell(regal_crossings before, regal_crossings after, char *what,
                 size_t size) {
  if (after.transfers < before.transfers)
    snprintf(what, size, "tidied: %lld to %lld transfers",
             (long long)before.transfers, (long long)after.transfers);
  else if (regal_crossings_less(after, before))
    snprintf(what, size, "tidied: %s to %s sent", show(before.bytes).text,
             show(after.bytes).text);
}

regal_status regal_tidy(regal_search *search, const regal_budget *whole,
                        char *what, size_t size) {
  what[0] = 0;
  restore_budget(search, whole);
  if (!applies(search))
    return REGAL_OK;
  regal_search_doing(search, "fewer transfers");
  regal_crossings before = regal_plan_crossings(search->problem, search->best);
  REGAL_TRY(tidy(search, whole, before));
  tell(before, regal_plan_crossings(search->problem, search->best), what, size);
  return REGAL_OK;
}
