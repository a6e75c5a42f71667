/* SPDX-License-Identifier: Apache-2.0 */
/* `phase`: annealing for blocking transfers, on phases between barriers; run
 * time only. anneal/phase/phase.h has the representation and why a move costs
 * O(degree).
 *
 * Three kinds of steps. Moves of one or a few ops (moves.c), several million a
 * second. After every `ops` moves or so, one of many ops (many.c), O(ops). And
 * after 40 moves for each op phases are numbered anew (tidy.c), which merges
 * neighbours. -log of a chance, for Metropolis' rule, is read from a table of
 * 1024 evenly spread chances.
 *
 * For a problem with limits that no plan has to keep, what is held beyond them
 * is part of the cost (held.h). Its price rises from the beginning to the end;
 * moves of many ops are left out, because they are costed in another way.
 *
 * The best solution is not copied when it is found, which is often, but when
 * the chain is about to leave it: then only the ops that changed since the last
 * copy are written (`changed`).
 */
#include <math.h>

#include "anneal/driver/annealers.h"
#include "anneal/phase/held.h"
#include "heuristic/cut/fold.h"

/* Of bytes beyond a limit: if a device is beyond it by the whole limit all the
 * time, so many times the run times of all ops. */
#define FIRST_PRICE 0.5
#define LAST_PRICE 5.0

static bool suits(const regal_problem *problem) {
  return problem->objective == REGAL_RUNTIME && !problem->limited &&
         !problem->machine->overlapped && !problem->leader &&
         problem->devices > 1 && problem->devices <= REGAL_PHASE_DEVICES &&
         problem->ops <= REGAL_PHASE_OPS;
}

static void layout(void *state, regal_carver *carver) {
  regal_phase *s = state;
  const regal_problem *problem = s->problem;
  size_t n = problem->ops, phases = 2 * n + 1;
  size_t edges = problem->successor_begin[n];
  s->near_begin = regal_carve(carver, 2 * n + 1, 4);
  s->near = regal_carve(carver, 2 * edges, 4);
  s->at = regal_carve(carver, n, 4);
  s->load = regal_carve(carver, phases << s->shift, 8);
  s->first = regal_carve(carver, phases, 4);
  s->next = regal_carve(carver, n, 4);
  s->before = regal_carve(carver, n, 4);
  if (!problem->free_transfers)
    s->readers = regal_carve(carver, (size_t)problem->tensors << s->shift, 4);
  if (!problem->free_transfers && problem->devices == 2)
    s->send_ns = regal_carve(carver, (size_t)problem->tensors * 2, 8);
  s->best_at = regal_carve(carver, n, 4);
  s->is_changed = regal_carve(carver, n, 1);
  s->changed = regal_carve(carver, n, 4);
  s->tried = regal_carve(carver, n, 4);
  s->tried_from = regal_carve(carver, n, 4);
  s->stamp = regal_carve(carver, n, 4);
  s->bucket = regal_carve(carver, phases + 2, 4);
  s->order = regal_carve(carver, n, 4);
  s->placement = regal_carve(carver, n, 1);
  s->by_fold = regal_carve(carver, n, 4);
  s->fold_at = regal_carve(carver, n, 4);
  s->draft = regal_carve(carver, n, 4);
  s->draft_load = regal_carve(carver, (n + 1) << s->shift, 8);
  s->held = regal_carve(carver, s->heeds ? 2 * REGAL_PHASE_BLOCKS : 0, 8);
  s->dirty = regal_carve(carver, s->heeds ? problem->tensors : 0, 4);
  s->dirty_stamp = regal_carve(carver, s->heeds ? problem->tensors : 0, 4);
  regal_walk_layout(&s->walk, carver, problem);
}

/* Successors are given; predecessors are their reverse, ascending. */
static void list_neighbours(regal_phase *s) {
  const regal_problem *problem = s->problem;
  uint32_t n = s->ops, end = 0;
  for (uint32_t op = 0; op < n; op++) {
    s->near_begin[2 * op] = end;
    end += problem->predecessors[op];
    s->near_begin[2 * op + 1] = end;
    end += problem->successor_begin[op + 1] - problem->successor_begin[op];
    s->bucket[op] = s->near_begin[2 * op];
  }
  s->near_begin[2 * n] = end;
  for (uint32_t op = 0; op < n; op++) {
    uint32_t put = s->near_begin[2 * op + 1];
    for (REGAL_ROW(k, problem->successor_begin, op)) {
      uint32_t next = problem->successor[k];
      s->near[put++] = next;
      s->near[s->bucket[next]++] = op;
    }
  }
}

/* The mean run time over ops and the devices that can run them. */
static double mean_of_ops(const regal_problem *problem) {
  double sum = 0;
  for (uint32_t op = 0; op < problem->ops; op++)
    sum += regal_problem_mean_run_ns(problem, op);
  return sum > 0 ? sum / problem->ops : 1;
}

static void destroy(void *state) {
  regal_phase *s = state;
  regal_release(s->context, s);
}

/* -log of evenly spread chances, and the costs of transfers of a pair. */
static void fill_tables(regal_phase *s) {
  const regal_problem *problem = s->problem;
  for (int i = 0; i < REGAL_PHASE_CHANCES; i++)
    s->minus_log[i] = (float)-log((i + 0.5) / REGAL_PHASE_CHANCES);
  for (uint32_t t = 0; s->send_ns && t < problem->tensors; t++)
    for (uint32_t from = 0; from < 2; from++)
      s->send_ns[2 * (size_t)t + from] =
          regal_problem_transfer_ns(problem, t, from, 1 - from);
}

static regal_status create(regal_context *context, const regal_problem *problem,
                           void **state) {
  regal_phase plain = {
      .context = context, .problem = problem, .ops = problem->ops};
  plain.heeds = regal_phase_heeds(problem);
  while (1u << plain.shift < problem->devices)
    plain.shift++;
  plain.mask = (1u << plain.shift) - 1;
  regal_phase *s = regal_carve_struct(context, &plain, sizeof plain, layout);
  if (!s)
    return regal_fail_memory(context);
  list_neighbours(s);
  fill_tables(s);
  for (uint32_t op = 0; op < s->ops; op++)
    s->restricted |=
        (uint32_t)__builtin_popcountll(problem->allowed[op]) < problem->devices;
  s->mean_ns = mean_of_ops(problem);
  regal_status status = regal_fold_order(context, problem, s->by_fold);
  if (status != REGAL_OK) {
    destroy(s);
    return status;
  }
  for (uint32_t i = 0; i < s->ops; i++)
    s->fold_at[s->by_fold[i]] = i;
  *state = s;
  return REGAL_OK;
}

static uint64_t tidy_interval(const regal_phase *s) {
  return 40 * (uint64_t)s->ops + 20000;
}

/* A move of many ops takes O(ops), so it is rare; and rarer as the search goes
 * on. */
static uint64_t many_interval(const regal_phase *s, double progress) {
  return 1 + (uint64_t)(s->ops * (1 + 2 * progress));
}

static void begin(void *state, const regal_plan *plan, uint64_t key) {
  regal_phase *s = state;
  s->random = (regal_random){key, 0};
  s->price = 0;
  regal_phase_read(s, plan);
  s->best_cost = s->cost;
  s->best_is_present = s->renumbered = true;
  regal_phase_tidy(s);
  s->until_tidy = tidy_interval(s);
  s->until_many = many_interval(s, 0);
}

/* What was the best solution at another price is not known to be so at this
 * one: it becomes the present one. At the end it is cold, and the present one
 * is good. */
static void set_price(regal_phase *s, double progress) {
  double scale = (double)(s->problem->limit[0] + 1) * s->blocks;
  int64_t before = regal_phase_penalty(s);
  regal_phase_save_best(s);
  s->price = FIRST_PRICE * pow(LAST_PRICE / FIRST_PRICE, progress) *
             s->mean_ns * s->ops / scale;
  s->cost += regal_phase_penalty(s) - before;
  s->best_cost = s->cost;
  s->best_is_present = true;
}

static void run(void *state, const regal_anneal_stretch *stretch) {
  regal_phase *s = state;
  s->temperature_ns = stretch->temperature * s->mean_ns;
  if (s->heeds)
    set_price(s, stretch->progress);
  for (uint32_t left = stretch->moves; left > 0;) {
    uint64_t next =
        s->until_tidy < s->until_many ? s->until_tidy : s->until_many;
    uint32_t moves = left < next ? left : (uint32_t)next;
    regal_phase_run(s, moves);
    left -= moves;
    s->until_tidy -= moves;
    s->until_many -= moves;
    if (s->until_many == 0) {
      if (!s->heeds)
        regal_phase_flip_many(s);
      s->until_many = many_interval(s, stretch->progress);
    }
    if (s->until_tidy == 0) {
      regal_phase_tidy(s);
      s->until_tidy = tidy_interval(s);
    }
  }
}

static double energy(const void *state) {
  const regal_phase *s = state;
  return (double)s->cost / s->mean_ns;
}

static regal_fitness best(const void *state) {
  const regal_phase *s = state;
  return (regal_fitness){0, s->best_cost, 0};
}

static void copy(void *to_state, const void *from_state) {
  regal_phase *to = to_state;
  const regal_phase *from = from_state;
  if (to == from)
    return;
  regal_phase_save_best(to);
  memcpy(to->at, from->at, to->ops * sizeof *to->at);
  to->phases = from->phases;
  to->until_tidy = from->until_tidy;
  to->renumbered = true;
  regal_phase_recompute(to);
  regal_phase_note_best(to);
}

const regal_annealer regal_annealer_phase = {
    .name = "phase",
    .help = "ops in phases between barriers; blocking transfers, run time",
    .hot = 0.5,
    .cold = 0.005,
    .suits = suits,
    .create = create,
    .destroy = destroy,
    .begin = begin,
    .run = run,
    .energy = energy,
    .best = best,
    .copy = copy,
    .write = regal_phase_write,
};
