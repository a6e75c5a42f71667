/* SPDX-License-Identifier: Apache-2.0 */
/* Annealing of an order of ops and a device for each (anneal/order/order.h):
 * shifts, changes of device of single ops, of connected clusters, and of runs
 * of ops that stand together in the file or in its fold.
 *
 * Under a memory limit a plan's excess costs extra. Only moves that are fast
 * enough pay for memory: on two devices with blocking transfers by what they
 * change (anneal/order/memory.h), elsewhere by a walk over the whole order.
 */
#include <math.h>
#include <string.h>

#include "anneal/driver/annealers.h"
#include "anneal/order/memory.h"
#include "base/random.h"
#include "heuristic/cut/fold.h"

#define SMALL_CLUSTER 8
#define LARGE_CLUSTER 40
/* All of the work for this share of the limit. */
#define EXCESS_PRICE 3.0
/* It is so many times doubled and halved, so often, until this far; or, until
 * the plan fits, it rises from so many times halved to so many times doubled.
 */
#define SWING 3.0
#define SWINGS 6.0
#define SWING_END 0.8
#define LEAST_RISE -3.0
#define MOST_RISE 4.0
#define PI 3.14159265358979323846
#define MEMORY_SHARE 0.3   /* of moves for memory, where it is counted */
#define CROWDED_SHARE 0.75 /* of moves where a limit is passed, if one is */
/* Of moves of long runs, first and last; these are fewer under a limit, where
 * they cost much more than others. */
#define FIRST_RUNS 0.1
#define LAST_RUNS 0.02
#define LIMITED_RUNS 0.5
#define TRADE_REACH 32 /* positions */

typedef struct chain {
  regal_context *context;
  const regal_problem *problem;
  regal_order order;
  regal_random random;
  uint32_t *by_fold, *fold_at; /* [ops] each other's inverse */
  uint32_t *best_order;        /* [ops] */
  uint8_t *best_placement;     /* [ops] */
  regal_fitness fitness, best;
  double unit_ns;            /* mean run time */
  double usual_price, price; /* of a byte beyond the limit */
  double burden;             /* bytes beyond the limit, and how often */
  double energy;
  /* Under a memory limit. */
  bool walks;                /* memory needs a walk */
  regal_order_memory memory; /* else */
  uint32_t toggled;          /* as regal_order_memory_try has it */
  uint8_t *best_early;       /* [tensors] */
  uint8_t *placement;        /* [ops] */
  regal_walk walk;
} chain;

static void layout(chain *made, regal_carver *carver) {
  const regal_problem *problem = made->problem;
  size_t ops = problem->ops;
  regal_order_layout(&made->order, carver, problem);
  made->by_fold = regal_carve(carver, ops, 4);
  made->fold_at = regal_carve(carver, ops, 4);
  made->best_order = regal_carve(carver, ops, 4);
  made->best_placement = regal_carve(carver, ops, 1);
  made->placement = regal_carve(carver, ops, 1);
  regal_walk_layout(&made->walk, carver, problem);
  made->walks = !regal_order_memory_suits(problem);
  if (made->walks)
    return;
  regal_order_memory_layout(&made->memory, carver, &made->order);
  made->best_early = regal_carve(carver, problem->tensors, 1);
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
  regal_carver carver = {NULL, 0};
  regal_carve(&carver, 1, sizeof plain);
  layout(&plain, &carver);
  char *block = regal_alloc(context, carver.used, 1);
  if (!block)
    return regal_fail_memory(context);
  chain *made = (chain *)block;
  *made = plain;
  carver = (regal_carver){block, 0};
  regal_carve(&carver, 1, sizeof plain);
  layout(made, &carver);
  regal_status status = regal_fold_order(context, problem, made->by_fold);
  if (status != REGAL_OK) {
    destroy(made);
    return status;
  }
  for (uint32_t i = 0; i < problem->ops; i++)
    made->fold_at[made->by_fold[i]] = i;
  if (!made->walks)
    regal_order_memory_create(&made->memory);
  *state = made;
  return REGAL_OK;
}

/* -- Cost -------------------------------------------------------------------
 */

static regal_fitness walk(chain *c, const uint32_t *order,
                          const uint8_t *placement, regal_plan *plan) {
  return c->problem->machine->overlapped
             ? regal_walk_late(c->problem, &c->walk, order, placement, plan)
             : regal_walk_within_limit(c->problem, &c->walk, order, placement,
                                       plan);
}

static double energy_at(const chain *c, double price) {
  return (double)c->fitness.value + price * c->burden;
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
  c->usual_price = c->price = EXCESS_PRICE * (work + 1) / (limit + 1);
}

static void keep_best(chain *c) {
  if (!regal_fitness_less(c->fitness, c->best))
    return;
  c->best = c->fitness;
  memcpy(c->best_order, c->order.op_at, c->problem->ops * 4);
  for (uint32_t op = 0; op < c->problem->ops; op++)
    c->best_placement[op] = (uint8_t)c->order.cells[op].device;
  if (!c->walks)
    memcpy(c->best_early, c->memory.early, c->problem->tensors);
}

/* Of the order at hand. */
static regal_fitness walk_now(chain *c) {
  for (uint32_t op = 0; op < c->problem->ops; op++)
    c->placement[op] = (uint8_t)c->order.cells[op].device;
  return walk(c, c->order.op_at, c->placement, NULL);
}

static void begin(void *state, const regal_plan *plan, uint64_t key) {
  chain *c = state;
  regal_order_read(&c->order, plan, c->best_order, c->best_placement);
  c->random = (regal_random){key, 0};
  regal_order_set(&c->order, c->best_order, c->best_placement);
  set_scales(c);
  c->fitness = (regal_fitness){0, c->order.runtime_ns, 0};
  c->burden = 0;
  if (!c->walks) {
    regal_order_memory_read(&c->memory, plan);
    memcpy(c->best_early, c->memory.early, c->problem->tensors);
    regal_order_excess excess = regal_order_memory_excess(&c->memory);
    c->fitness.excess = excess.bytes;
    c->burden = regal_order_memory_burden(&c->memory, excess);
  } else if (c->problem->limited) {
    c->fitness = walk_now(c);
    c->burden = (double)c->fitness.excess;
  }
  c->best = c->fitness;
  c->energy = energy_at(c, c->price);
}

/* -- Moves ------------------------------------------------------------------
 */

static uint32_t draw(chain *c, uint32_t below) {
  return (uint32_t)regal_random_below(&c->random, below);
}

/* By up to 2^k positions, k random; or, `far`, anywhere. */
static void shift(chain *c, uint32_t op, bool far) {
  uint32_t first, last, at = c->order.position[op];
  regal_order_range(&c->order, op, &first, &last);
  if (!far) {
    uint32_t reach = 1u << draw(c, 7);
    first = at > first + reach ? at - reach : first;
    last = last > at + reach ? at + reach : last;
  }
  regal_order_shift(&c->order, op, first + draw(c, last - first + 1));
}

static bool may_flip(const chain *c, uint32_t op, uint32_t device) {
  return c->order.cells[op].device != device &&
         (c->problem->allowed[op] >> device & 1);
}

/* Groups stay together: a change of device is one of the whole group. */
static void flip(chain *c, uint32_t op, uint32_t device) {
  const uint32_t *leader = c->problem->leader;
  if (!leader) {
    regal_order_flip(&c->order, op, device);
    return;
  }
  for (uint32_t k = leader[op]; k < c->problem->ops; k++)
    if (leader[k] == leader[op])
      regal_order_flip(&c->order, k, device);
}

static uint32_t other_device(chain *c, uint32_t op) {
  uint32_t from = c->order.cells[op].device;
  uint32_t device = draw(c, c->problem->devices - 1);
  return device + (device >= from);
}

/* A random neighbour of an op: the producer of an input, or a successor. */
static uint32_t neighbour(chain *c, uint32_t op) {
  const regal_problem *problem = c->problem;
  uint32_t ins = problem->input_begin[op + 1] - problem->input_begin[op];
  uint32_t outs =
      problem->successor_begin[op + 1] - problem->successor_begin[op];
  if (ins + outs == 0)
    return op;
  uint32_t k = draw(c, ins + outs);
  return k < ins
             ? problem->producer[problem->input[problem->input_begin[op] + k]]
             : problem->successor[problem->successor_begin[op] + k - ins];
}

/* A cluster of ops of one device, grown by random steps from the op. */
static void flip_cluster(chain *c, uint32_t op, uint32_t device,
                         uint32_t size) {
  regal_order *order = &c->order;
  uint32_t from = order->cells[op].device;
  if (!may_flip(c, op, device))
    return;
  flip(c, op, device);
  for (uint32_t tries = 0; tries < 2 * size && order->flips < size; tries++) {
    uint32_t next = neighbour(c, order->flipped[draw(c, order->flips)]);
    if (order->cells[next].device == from && may_flip(c, next, device))
      flip(c, next, device);
  }
}

/* A run of ops that stand together in the file, or in its fold: those on the
 * op's device; one time in eight all of them. */
static void flip_run(chain *c, uint32_t op, uint32_t device) {
  const regal_problem *problem = c->problem;
  bool fold = draw(c, 2), all = draw(c, 8) == 0;
  uint32_t most = 1, from = c->order.cells[op].device;
  while ((2u << most) < problem->ops)
    most++;
  uint32_t length = 2u << draw(c, most), at = fold ? c->fold_at[op] : op;
  for (uint32_t i = at; i < problem->ops && i - at < length; i++) {
    uint32_t next = fold ? c->by_fold[i] : i;
    if ((all || c->order.cells[next].device == from) &&
        may_flip(c, next, device))
      flip(c, next, device);
  }
}

static uint32_t cluster_size(chain *c) {
  uint32_t kind = draw(c, 64);
  if (kind == 0)
    return c->problem->ops / 4 > 2 ? c->problem->ops / 4 : 2;
  return 2 + draw(c, kind < 26 ? LARGE_CLUSTER : SMALL_CLUSTER);
}

/* With an op nearby of the other device: what a device has to run stays about
 * the same, what it holds does not. */
static void trade(chain *c, uint32_t op) {
  uint32_t at = c->order.position[op], device = c->order.cells[op].device ^ 1u;
  uint32_t low = at > TRADE_REACH ? at - TRADE_REACH : 0;
  uint32_t high = at + TRADE_REACH;
  high = high < c->problem->ops ? high : c->problem->ops - 1;
  uint32_t other = c->order.op_at[low + draw(c, high - low + 1)];
  if (c->order.cells[other].device != device || !may_flip(c, op, device) ||
      !may_flip(c, other, device ^ 1u))
    return;
  flip(c, op, device);
  if (may_flip(c, other, device ^ 1u)) /* unless it went along */
    flip(c, other, device ^ 1u);
}

/* Devices change their roles in the phase of the op, and maybe in some that
 * follow. Between alike devices this costs no time, as all meet at exchanges,
 * but moves what they hold. */
static void swap_roles(chain *c, uint32_t op) {
  uint32_t first, end, more = draw(c, 2) ? 0 : draw(c, 8);
  if (c->problem->leader)
    return; /* groups reach beyond phases */
  regal_order_memory_phase(&c->memory, c->order.position[op], &first, &end);
  for (uint32_t begun; more > 0 && end < c->problem->ops; more--)
    regal_order_memory_phase(&c->memory, end, &begun, &end);
  for (uint32_t i = first; i < end; i++) {
    uint32_t moved = c->order.op_at[i];
    uint32_t device = c->order.cells[moved].device ^ 1u;
    if (may_flip(c, moved, device))
      regal_order_flip(&c->order, moved, device);
  }
}

/* One of the tensors that the op reads or makes leaves its device early, or no
 * longer. */
static uint32_t draw_toggled(chain *c, uint32_t op) {
  const regal_problem *problem = c->problem;
  uint32_t ins = problem->input_begin[op + 1] - problem->input_begin[op];
  uint32_t outs = problem->output_begin[op + 1] - problem->output_begin[op];
  if (ins + outs == 0)
    return REGAL_NONE;
  uint32_t k = draw(c, ins + outs);
  uint32_t tensor = k < ins ? problem->input[problem->input_begin[op] + k]
                            : problem->output_begin[op] + k - ins;
  return regal_order_memory_may_toggle(&c->memory, tensor) ? tensor
                                                           : REGAL_NONE;
}

/* Moves for what is held, not for what is run. To swap roles changes many ops,
 * and takes as long as many other moves. */
static void move_memory(chain *c, uint32_t op) {
  uint32_t kind = draw(c, 24);
  if (kind < 2)
    swap_roles(c, op);
  else if (kind < 13)
    trade(c, op);
  else
    c->toggled = draw_toggled(c, op);
}

/* Any, or where memory is beyond its limit. */
static uint32_t draw_op(chain *c) {
  if (!c->walks && c->burden > 0 &&
      regal_random_unit(&c->random) < CROWDED_SHARE)
    return regal_order_memory_draw(&c->memory, &c->random);
  return draw(c, c->problem->ops);
}

/* Of sixteen: six shifts (one of them far), then shifts with a change of device
 * and single changes, the rest changes of clusters; and before, runs, fewer of
 * them as the search goes on, and under a memory limit moves for memory. With
 * links clusters cost more to try, since little of what they change is known
 * before they end. */
static void move(chain *c, double run_share) {
  bool links = c->problem->machine->overlapped;
  uint32_t shifts = 6, both = shifts + (links ? 4 : 2);
  uint32_t singles = both + (links ? 4 : 3);
  uint32_t op = draw_op(c);
  uint64_t dice = regal_random_next(&c->random);
  uint32_t device = other_device(c, op);
  double share = (double)(dice >> 11) * 0x1p-53;
  if (share < run_share) {
    flip_run(c, op, device);
    return;
  }
  if (!c->walks && share > 1 - MEMORY_SHARE) {
    move_memory(c, op);
    return;
  }
  uint32_t kind = dice & 15;
  if (kind < both)
    shift(c, op, kind == 5);
  if (kind >= shifts && kind < singles && may_flip(c, op, device))
    flip(c, op, device);
  if (kind >= singles)
    flip_cluster(c, op, device, cluster_size(c));
}

/* -- The chain --------------------------------------------------------------
 */

/* Whether the changed order, of the run time in `fitness`, is within `allowed`
 * with its memory, too; sets the fitness and the burden. Where it walks,
 * transfers may be late ones, which take longer. */
static bool fits(chain *c, double allowed, regal_fitness *fitness,
                 double *burden) {
  if (!c->problem->limited)
    return true;
  if (c->walks) {
    *fitness = walk_now(c);
    *burden = (double)fitness->excess;
    return (double)fitness->value + c->price * *burden <= allowed;
  }
  double most = (allowed - (double)fitness->value) / c->price;
  regal_order_excess excess =
      regal_order_memory_try(&c->memory, c->toggled, most);
  fitness->excess = excess.bytes;
  *burden = regal_order_memory_burden(&c->memory, excess);
  if (*burden <= most) {
    regal_order_memory_keep(&c->memory);
    return true;
  }
  regal_order_memory_take_back(&c->memory);
  return false;
}

static void step(chain *c, double temperature, double run_share) {
  regal_order_begin_move(&c->order);
  c->toggled = REGAL_NONE;
  move(c, run_share);
  double luck = 1 - regal_random_unit(&c->random);
  double allowed = c->energy - temperature * log(luck);
  int64_t most = allowed < 9e18 ? (int64_t)allowed : INT64_MAX;
  int64_t runtime = regal_order_cost(&c->order, most);
  regal_fitness fitness = {0, runtime, 0};
  double burden = 0;
  if (runtime > most || !fits(c, allowed, &fitness, &burden)) {
    regal_order_take_back(&c->order);
    return;
  }
  regal_order_keep(&c->order, runtime);
  c->fitness = fitness;
  c->burden = burden;
  c->energy = energy_at(c, c->price);
  keep_best(c);
}

/* No single move may lead from a plan that is a little beyond the limit to one
 * within it, however dear that is. So the price falls and rises: on the way
 * down the chain goes astray, on the way up it looks for another way in. A fast
 * plan that is far beyond the limit must not lose what is good about it at
 * once: for it the price begins low. */
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
  regal_order_copy(&c->order, &other->order);
  if (!c->walks) {
    memcpy(c->memory.early, other->memory.early, c->problem->tensors);
    regal_order_memory_set(&c->memory);
  }
  c->unit_ns = other->unit_ns;
  c->usual_price = other->usual_price;
  c->price = other->price;
  c->fitness = other->fitness;
  c->burden = other->burden;
  c->energy = other->energy;
  keep_best(c);
}

static void write(void *state, regal_plan *plan) {
  chain *c = state;
  if (c->walks)
    walk(c, c->best_order, c->best_placement, plan);
  else
    regal_walk_timely(c->problem, &c->walk, c->best_order, c->best_placement,
                      c->best_early, plan);
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
