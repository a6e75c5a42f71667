/* Annealing of an order of ops and a device for each (search/order.h): shifts,
 * changes of device of single ops, of connected clusters, and of runs of ops
 * that stand together in the file or in its fold.
 *
 * Under a memory limit a plan's excess costs extra. The memory of a changed
 * order needs a walk over all of it, which only moves pay that are fast enough.
 */
#include <math.h>
#include <string.h>

#include "base/random.h"
#include "search/annealers.h"
#include "search/fold.h"
#include "search/order.h"

#define SMALL_CLUSTER 8
#define LARGE_CLUSTER 40
/* All of the work for this share of the limit. */
#define EXCESS_PRICE 3.0

typedef struct chain {
  regal_context *context;
  const regal_problem *problem;
  regal_order order;
  regal_random random;
  uint32_t *by_fold, *fold_at; /* [ops] each other's inverse */
  uint32_t *best_order;        /* [ops] */
  uint8_t *best_placement;     /* [ops] */
  regal_fitness fitness, best;
  double unit_ns, price; /* mean run time; of a byte beyond the limit */
  double energy;
  /* Under a memory limit. */
  uint8_t *placement; /* [ops] */
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

static double energy_of(const chain *c, regal_fitness fitness) {
  return (double)fitness.value + c->price * (double)fitness.excess;
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
  c->price = EXCESS_PRICE * (work + 1) / (limit + 1);
}

static void keep_best(chain *c) {
  if (!regal_fitness_less(c->fitness, c->best))
    return;
  c->best = c->fitness;
  memcpy(c->best_order, c->order.op_at, c->problem->ops * 4);
  for (uint32_t op = 0; op < c->problem->ops; op++)
    c->best_placement[op] = (uint8_t)c->order.cells[op].device;
}

static regal_fitness fitness_now(chain *c) {
  if (!c->problem->limited)
    return (regal_fitness){0, c->order.runtime_ns, 0};
  for (uint32_t op = 0; op < c->problem->ops; op++)
    c->placement[op] = (uint8_t)c->order.cells[op].device;
  return walk(c, c->order.op_at, c->placement, NULL);
}

static void begin(void *state, const regal_plan *plan, uint64_t key) {
  chain *c = state;
  uint32_t next = 0;
  for (uint32_t i = 0; i < plan->step_count; i++) {
    const regal_step *step = &plan->steps[i];
    if (!regal_step_runs(step))
      continue;
    c->best_order[next++] = step->op;
    c->best_placement[step->op] = (uint8_t)step->device;
  }
  c->random = (regal_random){key, 0};
  regal_order_set(&c->order, c->best_order, c->best_placement);
  set_scales(c);
  c->best = c->fitness = fitness_now(c);
  c->energy = energy_of(c, c->fitness);
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

/* Of sixteen: six shifts (one of them far), then shifts with a change of device
 * and single changes, the rest changes of clusters; and before, runs, fewer of
 * them as the search goes on. With links clusters cost more to try, since
 * little of what they change is known before they end. */
static void move(chain *c, double run_share) {
  bool links = c->problem->machine->overlapped;
  uint32_t shifts = 6, both = shifts + (links ? 4 : 2);
  uint32_t singles = both + (links ? 4 : 3);
  uint32_t op = draw(c, c->problem->ops);
  uint64_t dice = regal_random_next(&c->random);
  uint32_t device = other_device(c, op);
  if ((double)(dice >> 11) * 0x1p-53 < run_share) {
    flip_run(c, op, device);
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

/* Whether the changed order is within `allowed`; sets its run time and its
 * fitness. These differ in value only where batched transfers would exceed the
 * memory limit and late ones do not. */
static bool passes(chain *c, double allowed, int64_t *runtime,
                   regal_fitness *fitness) {
  int64_t most = allowed < 9e18 ? (int64_t)allowed : INT64_MAX;
  *runtime = regal_order_cost(&c->order, most);
  if (*runtime > most)
    return false;
  *fitness = (regal_fitness){0, *runtime, 0};
  if (!c->problem->limited)
    return true;
  *fitness = fitness_now(c);
  return energy_of(c, *fitness) <= allowed;
}

static void step(chain *c, double temperature, double run_share) {
  regal_fitness fitness;
  int64_t runtime;
  regal_order_begin_move(&c->order);
  move(c, run_share);
  double luck = 1 - regal_random_unit(&c->random);
  double allowed = c->energy - temperature * log(luck);
  if (!passes(c, allowed, &runtime, &fitness)) {
    regal_order_take_back(&c->order);
    return;
  }
  regal_order_keep(&c->order, runtime);
  c->fitness = fitness;
  c->energy = energy_of(c, fitness);
  keep_best(c);
}

static void run(void *state, const regal_anneal_stretch *stretch) {
  chain *c = state;
  double temperature = stretch->temperature * c->unit_ns;
  double run_share = 0.1 - 0.08 * stretch->progress;
  for (uint32_t i = 0; i < stretch->moves; i++)
    step(c, temperature, run_share);
}

static double energy(const void *state) {
  const chain *c = state;
  return c->energy / c->unit_ns;
}

static regal_fitness best(const void *state) {
  const chain *c = state;
  return c->best;
}

static void copy(void *to, const void *from) {
  chain *c = to;
  const chain *other = from;
  regal_order_copy(&c->order, &other->order);
  c->unit_ns = other->unit_ns;
  c->price = other->price;
  c->fitness = other->fitness;
  c->energy = other->energy;
  keep_best(c);
}

static void write(void *state, regal_plan *plan) {
  chain *c = state;
  walk(c, c->best_order, c->best_placement, plan);
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
