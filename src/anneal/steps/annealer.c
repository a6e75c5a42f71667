/* SPDX-License-Identifier: Apache-2.0 */
/* `steps`: annealing of a plan's steps, its transfers among them
 * (anneal/steps/steps.h). Energy is the run time, and a price for each byte
 * beyond a memory limit.
 */
#include <math.h>

#include "anneal/driver/annealers.h"
#include "anneal/steps/steps.h"

static bool suits(const regal_problem *problem) {
  return problem->objective == REGAL_RUNTIME && problem->devices > 1;
}

static void layout(void *state, regal_carver *carver) {
  regal_steps *s = state;
  const regal_problem *problem = s->problem;
  size_t ops = problem->ops, steps = regal_plan_most_steps(problem);
  s->now.entries = regal_carve(carver, steps, sizeof *s->now.entries);
  s->trial.entries = regal_carve(carver, steps, sizeof *s->now.entries);
  s->best.entries = regal_carve(carver, steps, sizeof *s->now.entries);
  s->placement = regal_carve(carver, ops, 1);
  s->best_placement = regal_carve(carver, ops, 1);
  s->at = regal_carve(carver, ops, 4);
  s->next_member = regal_carve(carver, ops, 4);
  s->flipped = regal_carve(carver, ops, 4);
  s->flipped_from = regal_carve(carver, ops, 1);
  s->sent = regal_carve(carver, problem->tensors, 8);
  s->ran = regal_carve(carver, ops, 1);
  regal_running_cost_layout(&s->running, carver, problem);
}

/* Ops of a group, from its leader on. */
static void link_groups(regal_steps *s) {
  const regal_problem *problem = s->problem;
  for (uint32_t op = 0; op < problem->ops; op++)
    s->next_member[op] = REGAL_NONE;
  for (uint32_t op = problem->ops; problem->leader && op-- > 0;) {
    uint32_t leader = problem->leader[op];
    if (leader == op)
      continue;
    s->next_member[op] = s->next_member[leader];
    s->next_member[leader] = op;
  }
}

static void set_scales(regal_steps *s) {
  const regal_problem *problem = s->problem;
  double work = 0, limit = 0;
  for (uint32_t op = 0; op < problem->ops; op++)
    work += regal_problem_mean_run_ns(problem, op);
  for (uint32_t a = 0; a < problem->devices; a++)
    if (problem->limit[a] != REGAL_UNLIMITED)
      limit = fmax(limit, (double)problem->limit[a]);
  s->unit_ns = fmax(work / problem->ops, 1e-3);
  s->price = REGAL_EXCESS_PRICE * (work + 1) / (limit + 1);
}

static regal_status create(regal_context *context, const regal_problem *problem,
                           void **state) {
  regal_steps plain = {.context = context, .problem = problem};
  regal_steps *s = regal_carve_struct(context, &plain, sizeof plain, layout);
  if (!s)
    return regal_fail_memory(context);
  link_groups(s);
  set_scales(s);
  *state = s;
  return REGAL_OK;
}

static void destroy(void *state) {
  regal_steps *s = state;
  regal_release(s->context, s);
}

static double energy_of(const regal_steps *s, regal_fitness fitness) {
  return (double)fitness.value + s->price * (double)fitness.excess;
}

static void swap(regal_steps *s) {
  regal_steps_list before = s->now;
  s->now = s->trial;
  s->trial = before;
}

static void copy_list(regal_steps_list *to, const regal_steps_list *from) {
  to->count = from->count;
  memcpy(to->entries, from->entries, from->count * sizeof *from->entries);
}

static void keep_best(regal_steps *s) {
  s->best_fitness = s->fitness;
  copy_list(&s->best, &s->now);
  memcpy(s->best_placement, s->placement, s->problem->ops);
}

/* What was replayed becomes the present solution. */
static void keep(regal_steps *s, regal_fitness fitness) {
  swap(s);
  regal_steps_index(s);
  s->fitness = fitness;
  s->energy = energy_of(s, fitness);
}

static void begin(void *state, const regal_plan *plan, uint64_t key) {
  regal_steps *s = state;
  s->random = (regal_random){key, 0};
  regal_plan_ops(plan, NULL, s->placement);
  s->now.count = plan->step_count;
  for (uint32_t i = 0; i < plan->step_count; i++) {
    const regal_step *step = &plan->steps[i];
    s->now.entries[i] =
        regal_step_runs(step)
            ? (regal_steps_entry){step->op, REGAL_STEPS_RUN}
            : (regal_steps_entry){regal_plan_tensor(s->problem, step),
                                  step->to};
  }
  keep(s, regal_steps_replay(s, INT64_MAX));
  keep_best(s);
}

static void step(regal_steps *s, double temperature) {
  regal_steps_move(s);
  double chance = 1 - regal_random_unit(&s->random);
  double allowed = s->energy - temperature * log(chance);
  int64_t most = allowed < 9e18 ? (int64_t)allowed : INT64_MAX;
  regal_fitness fitness = regal_steps_replay(s, most);
  if (fitness.value > most || energy_of(s, fitness) > allowed) {
    regal_steps_take_back(s);
    return;
  }
  keep(s, fitness);
  if (regal_fitness_less(fitness, s->best_fitness))
    keep_best(s);
}

static void run(void *state, const regal_anneal_stretch *stretch) {
  regal_steps *s = state;
  for (uint32_t i = 0; i < stretch->moves; i++)
    step(s, stretch->temperature * s->unit_ns);
}

static double energy(const void *state) {
  const regal_steps *s = state;
  return s->energy / s->unit_ns;
}

static regal_fitness best(const void *state) {
  return ((const regal_steps *)state)->best_fitness;
}

static void copy(void *to, const void *from) {
  regal_steps *s = to;
  const regal_steps *other = from;
  if (s == other)
    return;
  copy_list(&s->now, &other->now);
  memcpy(s->placement, other->placement, s->problem->ops);
  regal_steps_index(s);
  s->fitness = other->fitness;
  s->energy = other->energy;
  if (regal_fitness_less(s->fitness, s->best_fitness))
    keep_best(s);
}

static void write(void *state, regal_plan *plan) {
  const regal_steps *s = state;
  plan->step_count = 0;
  for (uint32_t i = 0; i < s->best.count; i++) {
    regal_steps_entry entry = s->best.entries[i];
    uint32_t what = entry.what;
    if (entry.to == REGAL_STEPS_RUN)
      regal_plan_add_run(plan, what, s->best_placement[what]);
    else
      regal_plan_add_send(plan, s->problem, what,
                          s->best_placement[s->problem->producer[what]],
                          entry.to);
  }
}

const regal_annealer regal_annealer_steps = {
    .name = "steps",
    .help = "all steps of a plan, transfers among them",
    .hot = 2,
    .cold = 0.05,
    .suits = suits,
    .create = create,
    .destroy = destroy,
    .begin = begin,
    .run = run,
    .energy = energy,
    .best = best,
    .copy = copy,
    .write = write,
};
