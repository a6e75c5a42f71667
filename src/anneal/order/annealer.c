/* SPDX-License-Identifier: Apache-2.0 */
/* `order`: annealing of an order of ops with a device for each, for run time.
 *
 * A move (anneal/order/moves.c) changes the order in place. Its run time is
 * found from what it changed (anneal/order/order.h). The random number of
 * Metropolis' rule is drawn before that, so that the largest run time that
 * would be accepted is known: most moves are refused, and the simulation stops
 * as soon as a lower bound says so.
 *
 * Under a memory limit the energy is the run time plus a price for each byte of
 * the violation (the excess, and how many blocks of the order exceed the
 * limit). Memory is looked at only when the run time alone would be accepted,
 * and then by what the move changed (anneal/order/within.h), exactly.
 */
#include <math.h>
#include <string.h>

#include "anneal/driver/annealers.h"
#include "anneal/order/chain.h"
#include "heuristic/cut/fold.h"

/* The price of an excess is so many times doubled and halved, so often, until
 * this far; or, until the plan fits, it rises from so many times halved to so
 * many times doubled.
 */
#define SWING 3.0
#define SWINGS 6.0
#define SWING_END 0.8
#define LEAST_RISE -3.0
#define MOST_RISE 4.0
#define PI 3.14159265358979323846
/* Of moves of long runs, first and last; these are fewer under a limit, where
 * they cost much more than others. */
#define FIRST_RUNS 0.1
#define LAST_RUNS 0.02
#define LIMITED_RUNS 0.5

typedef regal_order_chain chain;

/* Whether tensors travel early or late, as the annealing wants it. */
static bool has_exchanges(const chain *c) {
  return c->within.by == REGAL_ORDER_EXCHANGES;
}

static void layout(void *state, regal_carver *carver) {
  chain *made = state;
  const regal_problem *problem = made->problem;
  size_t ops = problem->ops;
  regal_order_layout(&made->order, carver, problem);
  made->by_fold = regal_carve(carver, ops, 4);
  made->fold_at = regal_carve(carver, ops, 4);
  made->best_order = regal_carve(carver, ops, 4);
  made->best_placement = regal_carve(carver, ops, 1);
  regal_order_within_layout(&made->within, carver, &made->order);
  made->best_early =
      regal_carve(carver, has_exchanges(made) ? problem->tensors : 0, 1);
}

static bool suits(const regal_problem *problem) {
  return problem->objective == REGAL_RUNTIME && problem->devices > 1;
}

static void destroy(void *state) {
  chain *made = state;
  regal_release(made->context, made);
}

static regal_status create(regal_context *context, const regal_problem *problem,
                           void **state) {
  chain plain = {.context = context, .problem = problem};
  chain *made = regal_carve_struct(context, &plain, sizeof plain, layout);
  if (!made)
    return regal_fail_memory(context);
  regal_status status = regal_fold_order(context, problem, made->by_fold);
  if (status != REGAL_OK) {
    destroy(made);
    return status;
  }
  for (uint32_t i = 0; i < problem->ops; i++)
    made->fold_at[made->by_fold[i]] = i;
  regal_order_within_create(&made->within);
  *state = made;
  return REGAL_OK;
}

/* -- Cost ------------------------------------------------------------------ */

static double energy_at(const chain *c, double price) {
  return (double)c->fitness.value + price * c->violation;
}

static void set_scales(chain *c) {
  const regal_problem *problem = c->problem;
  double work = 0, limit = 0;
  for (uint32_t op = 0; op < problem->ops; op++)
    work += (double)c->order.cells[op].run_ns;
  for (uint32_t a = 0; a < problem->devices; a++)
    if (problem->limit[a] != REGAL_UNLIMITED)
      limit = fmax(limit, (double)problem->limit[a]);
  c->unit_ns = fmax(work / problem->ops, 1e-3);
  c->usual_price = c->price = REGAL_EXCESS_PRICE * (work + 1) / (limit + 1);
}

static void keep_best(chain *c) {
  if (!regal_fitness_less(c->fitness, c->best))
    return;
  c->best = c->fitness;
  memcpy(c->best_order, c->order.op_at, c->problem->ops * 4);
  memcpy(c->best_placement, c->order.device_of, c->problem->ops);
  if (has_exchanges(c))
    memcpy(c->best_early, c->within.exchanges.early, c->problem->tensors);
}

static void begin(void *state, const regal_plan *plan, uint64_t key) {
  chain *c = state;
  regal_order_read(&c->order, plan, c->best_order, c->best_placement);
  c->random = (regal_random){key, 0};
  c->order.late = false;
  regal_order_set(&c->order, c->best_order, c->best_placement);
  if (regal_order_within_wants_late(&c->within)) {
    c->order.late = true;
    regal_order_set(&c->order, c->best_order, c->best_placement);
  }
  set_scales(c);
  c->fitness = (regal_fitness){0, c->order.runtime_ns, 0};
  c->violation = regal_order_within_set(&c->within, plan, &c->fitness);
  if (has_exchanges(c))
    memcpy(c->best_early, c->within.exchanges.early, c->problem->tensors);
  c->best = c->fitness;
  c->energy = energy_at(c, c->price);
}

/* -- The chain ------------------------------------------------------------- */

static void take(chain *c, int64_t runtime, regal_fitness fitness,
                 double violation) {
  regal_order_keep(&c->order, runtime);
  c->fitness = fitness;
  c->violation = violation;
  c->energy = energy_at(c, c->price);
  keep_best(c);
}

static void step(chain *c, double temperature, double run_share) {
  regal_order_begin_move(&c->order);
  c->toggled = REGAL_NONE;
  regal_order_move(c, run_share);
  double chance = 1 - regal_random_unit(&c->random);
  double allowed = c->energy - temperature * log(chance);
  int64_t most = allowed < 9e18 ? (int64_t)allowed : INT64_MAX;
  int64_t runtime = regal_order_cost(&c->order, most);
  regal_fitness fitness = {0, runtime, 0};
  double violation = 0;
  if (runtime > most) {
    regal_order_take_back(&c->order);
    return;
  }
  if (!c->problem->limited) {
    take(c, runtime, fitness, 0);
    return;
  }
  if (regal_order_within_try(&c->within, c->toggled, allowed, c->price,
                             &fitness, &violation))
    take(c, runtime, fitness, violation);
  else
    regal_order_take_back(&c->order);
  regal_order_within_done(&c->within);
}

/* Often no single move leads from a plan that is a little beyond the limit to
 * one within it, however high the price. So the price falls and rises: while it
 * is low the chain leaves the local optimum, while it rises it looks for
 * another way within the limit. A fast plan that is far beyond the limit must
 * not lose its good parts at once: for it the price begins low. */
static void set_price(chain *c, const regal_anneal_stretch *stretch) {
  double progress = stretch->progress;
  double turns = progress < SWING_END ? SWINGS * progress : 0;
  double doubled = stretch->until_fits
                       ? LEAST_RISE + (MOST_RISE - LEAST_RISE) * progress
                       : SWING * sin(2 * PI * turns);
  c->price = c->usual_price * exp2(doubled);
  c->energy = energy_at(c, c->price);
}

static void run(void *state, const regal_anneal_stretch *stretch) {
  chain *c = state;
  if (c->problem->limited)
    set_price(c, stretch);
  double temperature = stretch->temperature * c->unit_ns;
  c->progress = stretch->progress;
  double run_share = FIRST_RUNS + (LAST_RUNS - FIRST_RUNS) * stretch->progress;
  if (c->problem->limited)
    run_share *= LIMITED_RUNS;
  for (uint32_t i = 0; i < stretch->moves; i++)
    step(c, temperature, run_share);
}

static double energy(const void *state) {
  const chain *c = state;
  return energy_at(c, c->usual_price) / c->unit_ns;
}

static regal_fitness best(const void *state) {
  const chain *c = state;
  return c->best;
}

static void copy(void *to, const void *from) {
  chain *c = to;
  const chain *other = from;
  c->order.late = other->order.late;
  regal_order_set(&c->order, other->order.op_at, other->order.device_of);
  regal_order_within_copy(&c->within, &other->within);
  c->unit_ns = other->unit_ns;
  c->usual_price = other->usual_price;
  c->price = other->price;
  c->fitness = other->fitness;
  c->violation = other->violation;
  c->energy = other->energy;
  keep_best(c);
}

/* Transfers that were late in the annealing need not be so in the plan. */
static void write(void *state, regal_plan *plan) {
  chain *c = state;
  regal_walk *walk = &c->within.walk;
  const regal_problem *problem = c->problem;
  const uint32_t *order = c->best_order;
  const uint8_t *placement = c->best_placement;
  if (has_exchanges(c)) {
    regal_walk_timely(problem, walk, order, placement, c->best_early, plan);
    return;
  }
  regal_fitness fitness =
      regal_order_walk(problem, walk, order, placement, plan);
  if (c->order.late && regal_fitness_less(c->best, fitness))
    regal_walk_late(problem, walk, order, placement, plan);
}

const regal_annealer regal_annealer_order = {
    .name = "order",
    .help = "an order of ops and a device for each",
    .hot = 2,
    .cold = 0.005,
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
