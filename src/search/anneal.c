/* `anneal`: simulated annealing of an order of ops and a device for each.
 *
 * A move shifts an op within its legal range, changes its device, both, or
 * changes the device of a connected cluster of ops. Transfers follow from order
 * and placement (decode/walk.h), so that every state is a plan; one evaluation
 * costs one walk. The temperature falls geometrically with the budget, from
 * START to END times the mean run time of an op. Plans beyond the memory limit
 * pay for their excess.
 */
#include <math.h>
#include <string.h>

#include "base/random.h"
#include "decode/walk.h"
#include "search/placement.h"
#include "search/search.h"

#define START_TEMPERATURE 1.0
#define END_TEMPERATURE 0.005
#define LARGEST_CLUSTER 64
#define EXCESS_PRICE 3.0 /* all of the work for this share of the limit */

typedef struct anneal {
  regal_search *search;
  const regal_problem *problem;
  regal_random random;
  uint32_t *order, *position; /* [ops] each other's inverse */
  uint8_t *placement;         /* [ops] */
  uint32_t *best_order;       /* [ops] */
  uint8_t *best_placement;    /* [ops] */
  regal_fitness fitness, best_fitness;
  double energy;         /* of the present state */
  double mean_ns, price; /* price of a byte beyond the limit */
  /* The last move, for taking it back. */
  uint32_t moved_from, moved_to; /* positions; equal: no shift */
  uint32_t flipped[LARGEST_CLUSTER];
  uint8_t flipped_from[LARGEST_CLUSTER];
  uint32_t flips;
  uint64_t accepted;
  regal_walk walk;
} anneal;

static void layout(anneal *made, regal_carver *carver) {
  size_t ops = made->problem->ops;
  made->order = regal_carve(carver, ops, 4);
  made->position = regal_carve(carver, ops, 4);
  made->placement = regal_carve(carver, ops, 1);
  made->best_order = regal_carve(carver, ops, 4);
  made->best_placement = regal_carve(carver, ops, 1);
  regal_walk_layout(&made->walk, carver, made->problem);
}

/* -- State ----------------------------------------------------------------- */

static double energy_of(const anneal *a, regal_fitness fitness) {
  return (double)fitness.value + a->price * (double)fitness.excess;
}

static regal_fitness evaluate(anneal *a, regal_plan *plan,
                              const uint32_t *order, const uint8_t *placement) {
  bool batched = !a->problem->machine->overlapped &&
                 !regal_problem_needs_memory(a->problem);
  return batched
             ? regal_walk_batched(a->problem, &a->walk, order, placement, plan)
             : regal_walk_late(a->problem, &a->walk, order, placement, plan);
}

/* The best plan so far, or everything on one device. */
static void read_start(anneal *a) {
  const regal_plan *best = a->search->best;
  uint32_t next = 0;
  if (!best) {
    regal_place_single(a->problem, a->placement);
    for (; next < a->problem->ops; next++)
      a->order[next] = next;
  }
  for (uint32_t i = 0; best && i < best->step_count; i++) {
    const regal_step *step = &best->steps[i];
    if (!regal_step_runs(step))
      continue;
    a->order[next++] = step->op;
    a->placement[step->op] = (uint8_t)step->device;
  }
  for (uint32_t i = 0; i < a->problem->ops; i++)
    a->position[a->order[i]] = i;
}

static void set_scales(anneal *a) {
  const regal_problem *problem = a->problem;
  double work = 0, limit = 0;
  for (uint32_t op = 0; op < problem->ops; op++)
    work += (double)regal_problem_run_ns(problem, op, a->placement[op]);
  for (uint32_t k = 0; k < problem->devices; k++)
    if (problem->limit[k] != REGAL_UNLIMITED)
      limit = fmax(limit, (double)problem->limit[k]);
  a->price = EXCESS_PRICE * (work + 1) / (limit + 1);
  a->mean_ns = work / problem->ops;
  if (problem->objective == REGAL_MEMORY) {
    a->mean_ns = 0.003 * (double)a->fitness.value;
    a->price = EXCESS_PRICE;
  }
}

/* -- Moves ----------------------------------------------------------------- */

static void shift(anneal *a, uint32_t from, uint32_t to) {
  uint32_t op = a->order[from];
  if (from < to)
    memmove(a->order + from, a->order + from + 1,
            (to - from) * sizeof *a->order);
  else
    memmove(a->order + to + 1, a->order + to, (from - to) * sizeof *a->order);
  a->order[to] = op;
  uint32_t low = from < to ? from : to, high = from < to ? to : from;
  for (uint32_t i = low; i <= high; i++)
    a->position[a->order[i]] = i;
}

/* The first and last position to which the op can be shifted. */
static void find_range(const anneal *a, uint32_t op, uint32_t *first,
                       uint32_t *last) {
  const regal_problem *problem = a->problem;
  const regal_graph *graph = problem->graph;
  *first = 0;
  *last = problem->ops - 1;
  for (uint32_t i = problem->input_begin[op]; i < problem->input_begin[op + 1];
       i++) {
    uint32_t after = a->position[problem->producer[problem->input[i]]] + 1;
    *first = after > *first ? after : *first;
  }
  for (uint32_t i = graph->control_in_begin[op];
       i < graph->control_in_begin[op + 1]; i++) {
    uint32_t after = a->position[graph->control_in[i]] + 1;
    *first = after > *first ? after : *first;
  }
  for (uint32_t k = problem->successor_begin[op];
       k < problem->successor_begin[op + 1]; k++) {
    uint32_t before = a->position[problem->successor[k]] - 1;
    *last = before < *last ? before : *last;
  }
}

static uint32_t draw(anneal *a, uint32_t below) {
  return (uint32_t)regal_random_below(&a->random, below);
}

/* Shifts by up to 2^k positions, k random, or anywhere. */
static void shift_op(anneal *a, uint32_t op) {
  uint32_t first, last, at = a->position[op], k = draw(a, 9);
  find_range(a, op, &first, &last);
  if (k < 8) {
    uint32_t reach = 1u << k;
    first = at > first + reach ? at - reach : first;
    last = last > at + reach ? at + reach : last;
  }
  a->moved_from = at;
  a->moved_to = first + draw(a, last - first + 1);
  if (a->moved_to != at)
    shift(a, at, a->moved_to);
}

static void flip(anneal *a, uint32_t op, uint32_t device) {
  a->flipped[a->flips] = op;
  a->flipped_from[a->flips++] = a->placement[op];
  a->placement[op] = (uint8_t)device;
}

static bool may_flip(const anneal *a, uint32_t op, uint32_t device) {
  return a->placement[op] != device && (a->problem->allowed[op] >> device & 1);
}

/* A random neighbour of an op: a producer of an input, or a successor. */
static uint32_t neighbour(anneal *a, uint32_t op) {
  const regal_problem *problem = a->problem;
  uint32_t ins = problem->input_begin[op + 1] - problem->input_begin[op];
  uint32_t outs =
      problem->successor_begin[op + 1] - problem->successor_begin[op];
  if (ins + outs == 0)
    return op;
  uint32_t k = draw(a, ins + outs);
  return k < ins
             ? problem->producer[problem->input[problem->input_begin[op] + k]]
             : problem->successor[problem->successor_begin[op] + k - ins];
}

/* Moves a cluster, grown by random steps from the op, to one device. */
static void flip_cluster(anneal *a, uint32_t op, uint32_t device,
                         uint32_t size) {
  if (!may_flip(a, op, device))
    return;
  flip(a, op, device);
  for (uint32_t tries = 0; tries < 2 * size && a->flips < size; tries++) {
    uint32_t next = neighbour(a, a->flipped[draw(a, a->flips)]);
    if (may_flip(a, next, device))
      flip(a, next, device);
  }
}

/* Groups stay together: a change of device is one of the whole group. */
static void flip_op(anneal *a, uint32_t op, uint32_t size) {
  const regal_problem *problem = a->problem;
  uint32_t device = draw(a, problem->devices);
  if (!problem->leader) {
    flip_cluster(a, op, device, size);
    return;
  }
  uint32_t leader = problem->leader[op], members = 0;
  for (uint32_t k = 0; k < problem->ops; k++)
    members += problem->leader[k] == leader;
  if (members > LARGEST_CLUSTER || !may_flip(a, op, device))
    return;
  for (uint32_t k = 0; k < problem->ops; k++)
    if (problem->leader[k] == leader)
      flip(a, k, device);
}

/* Of sixteen: seven shifts, two with a change of device, three single changes
 * and four of clusters. */
static void move(anneal *a) {
  uint32_t op = draw(a, a->problem->ops), kind = draw(a, 16);
  a->flips = 0;
  a->moved_from = a->moved_to = a->position[op];
  if (kind < 9 || a->problem->devices == 1)
    shift_op(a, op);
  if (a->problem->devices == 1)
    return;
  if (kind >= 7 && kind < 12)
    flip_op(a, op, 1);
  else if (kind >= 12)
    flip_op(a, op, 2u << draw(a, 6));
}

static void take_back(anneal *a) {
  if (a->moved_from != a->moved_to)
    shift(a, a->moved_to, a->moved_from);
  while (a->flips > 0) {
    a->flips--;
    a->placement[a->flipped[a->flips]] = a->flipped_from[a->flips];
  }
}

/* -- The run --------------------------------------------------------------- */

static void keep_best(anneal *a) {
  if (!regal_fitness_less(a->fitness, a->best_fitness))
    return;
  a->best_fitness = a->fitness;
  memcpy(a->best_order, a->order, a->problem->ops * sizeof *a->order);
  memcpy(a->best_placement, a->placement, a->problem->ops);
  regal_search_note(a->search, a->fitness);
}

/* How much of the budget is used, from 0 to 1. */
static double progress_of(const regal_search *search, uint64_t before,
                          double began) {
  if (search->budget != UINT64_MAX)
    return (double)(search->evaluations - before) /
           (double)(search->budget - before);
  return (regal_seconds() - began) / (search->deadline - began);
}

static void step(anneal *a, double temperature) {
  move(a);
  regal_fitness fitness = evaluate(a, NULL, a->order, a->placement);
  double energy = energy_of(a, fitness), rise = energy - a->energy;
  a->search->evaluations++;
  if (rise <= 0 || regal_random_unit(&a->random) < exp(-rise / temperature)) {
    a->fitness = fitness;
    a->energy = energy;
    a->accepted++;
    keep_best(a);
  } else {
    take_back(a);
  }
}

/* The clock and the stop rules are looked at once in so many moves. */
#define MOVES_PER_LOOK 32

static void run(anneal *a) {
  regal_search *search = a->search;
  uint64_t before = search->evaluations;
  double began = regal_seconds();
  while (!regal_search_should_stop(search)) {
    double temperature = a->mean_ns * START_TEMPERATURE *
                         pow(END_TEMPERATURE / START_TEMPERATURE,
                             progress_of(search, before, began));
    for (int i = 0; i < MOVES_PER_LOOK && search->evaluations < search->budget;
         i++)
      step(a, temperature);
    regal_search_report(search, false);
  }
}

static regal_status offer_best(anneal *a) {
  regal_plan *plan;
  REGAL_TRY(regal_plan_create(a->search->context,
                              regal_plan_most_steps(a->problem), &plan));
  evaluate(a, plan, a->best_order, a->best_placement);
  return regal_search_offer(a->search, plan);
}

regal_status regal_method_anneal(regal_search *search) {
  anneal a = {.search = search, .problem = search->problem};
  regal_carver carver = {NULL, 0};
  layout(&a, &carver);
  carver = (regal_carver){regal_alloc(search->context, carver.used, 1), 0};
  if (!carver.base)
    return regal_fail_memory(search->context);
  layout(&a, &carver);
  a.random.key = regal_random_key((uint64_t)search->options->seed,
                                  REGAL_PURPOSE_ANNEAL, 0, 0);
  read_start(&a);
  a.fitness = evaluate(&a, NULL, a.order, a.placement);
  search->evaluations++;
  set_scales(&a);
  a.energy = energy_of(&a, a.fitness);
  a.best_fitness = REGAL_FITNESS_WORST;
  keep_best(&a);
  uint64_t before = search->evaluations;
  run(&a);
  regal_status status = offer_best(&a);
  regal_search_account(search, "annealing: %llu moves, %llu accepted",
                       (unsigned long long)(search->evaluations - before),
                       (unsigned long long)a.accepted);
  regal_release(search->context, carver.base);
  return status;
}
