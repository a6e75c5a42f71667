/* SPDX-License-Identifier: Apache-2.0 */
/* `memory`: annealing for peak memory.
 *
 * A solution is an order of the ops, a device for each, and for each tensor
 * whether it travels early, late or after some op. anneal/memory/memory.h finds
 * what a move changes: the peak is exact after every move, without simulating
 * the plan.
 *
 * The energy. The peak is reached at one position, so that nearly all moves
 * leave it as it is, and a chain that saw nothing else would walk at random.
 * The energy is therefore
 *
 *   the largest peak
 *   + a price for each byte beyond a memory limit
 *   + a little for each byte, position and device above a reference, which is
 *     somewhat below the best peak so far.
 *
 * The third part is a slope towards plans whose crowded stretches are lower and
 * shorter. Only positions above the reference count: blocks below it are
 * skipped when a move is costed, and most moves are made where it is exceeded
 * (anneal/peak/choice.c). The reference follows the best peak between stretches
 * of moves, which costs one O(ops) pass.
 *
 * Acceptance. The random number of Metropolis' rule is drawn before the cost is
 * found. So the most energy that would be accepted is known, and the pass over
 * the profile stops once the energy so far exceeds it.
 *
 * A move costs O(degree) for events and the blocks between its first and last
 * event: O(sqrt(ops)) of them, since blocks grow with sqrt(ops), and
 * O(positions) for those that changed or are above the reference.
 */
#include "anneal/peak/peak.h"

#include <math.h>

#include "anneal/driver/annealers.h"

#define REFERENCE 0.98    /* of the best peak */
#define SOFT_WEIGHT 8.0   /* of the mean over positions */
#define MOST_BYTES 0x1p52 /* so that doubles count them exactly */

static bool suits(const regal_problem *problem) {
  const regal_graph *graph = problem->graph;
  double bytes =
      (double)graph->tensor_bytes + (double)graph->total_resident_bytes;
  double temporary = 0;
  for (uint32_t op = 0; op < problem->ops; op++)
    temporary = fmax(temporary, (double)graph->temporary_bytes[op]);
  bool groups = problem->devices > 1 && problem->leader;
  return problem->objective == REGAL_MEMORY && !groups &&
         bytes + temporary < MOST_BYTES;
}

/* -- Creation -------------------------------------------------------------- */

static void layout(void *state, regal_carver *carver) {
  regal_peak *chain = state;
  const regal_problem *problem = chain->problem;
  size_t ops = chain->ops, tensors = problem->tensors;
  chain->pred_begin = regal_carve(carver, ops + 1, 4);
  chain->pred = regal_carve(carver, problem->successor_begin[ops], 4);
  chain->order = regal_carve(carver, ops, 4);
  chain->position = regal_carve(carver, ops, 4);
  chain->best_order = regal_carve(carver, ops, 4);
  chain->best_placement = regal_carve(carver, ops, 1);
  chain->best_early = regal_carve(carver, tensors, 1);
  chain->best_kept_for = regal_carve(carver, tensors, 4);
  chain->member_mark = regal_carve(carver, ops, 8);
  chain->window = regal_carve(carver, ops, 4);
  chain->members = regal_carve(carver, ops, 4);
  chain->crowded = regal_carve(carver, ops, 4);
  chain->holding = regal_carve(carver, ops, 4);
  regal_memory_layout(&chain->memory, carver, problem);
  regal_memory_layout_profile(&chain->memory, carver);
  chain->memory.order = chain->order;
  chain->memory.position = chain->position;
}

static void link_predecessors(regal_peak *chain) {
  const regal_problem *problem = chain->problem;
  memset(chain->pred_begin, 0, ((size_t)chain->ops + 1) * 4);
  regal_rows_transpose(chain->ops, problem->successor_begin, problem->successor,
                       chain->ops, chain->pred_begin, chain->pred);
}

static void list_holding(regal_peak *chain) {
  chain->holding_count = 0;
  for (uint32_t op = 0; chain->devices > 1 && op < chain->ops; op++)
    if (chain->problem->resident_bytes[op] ||
        chain->memory.residents.shared_begin[op] <
            chain->memory.residents.shared_begin[op + 1])
      chain->holding[chain->holding_count++] = op;
}

void regal_peak_set_order(regal_peak *chain, const uint32_t *order) {
  if (order != chain->order)
    memcpy(chain->order, order, (size_t)chain->ops * sizeof *order);
  for (uint32_t i = 0; i < chain->ops; i++)
    chain->position[order[i]] = i;
  regal_memory_rebuild_events(&chain->memory);
  regal_memory_rebuild_profile(&chain->memory);
}

/* About what a good plan needs: the largest working set, or an equal share of
 * what one device needs in the file's order. */
static void set_unit(regal_peak *chain) {
  double most = 1;
  for (uint32_t op = 0; op < chain->ops; op++) {
    chain->order[op] = op;
    chain->memory.placement[op] = 0;
    most = fmax(most, (double)regal_problem_working_set(chain->problem, op));
  }
  regal_peak_set_order(chain, chain->order);
  chain->unit = fmax(most, chain->memory.cost.value / chain->devices);
}

static regal_status create(regal_context *context, const regal_problem *problem,
                           void **state) {
  regal_peak plain = {.context = context,
                      .problem = problem,
                      .ops = problem->ops,
                      .devices = problem->devices,
                      .memory = {.weight = SOFT_WEIGHT / problem->ops,
                                 .price = REGAL_EXCESS_PRICE}};
  regal_peak *chain = regal_carve_struct(context, &plain, sizeof plain, layout);
  if (!chain)
    return regal_fail_memory(context);
  link_predecessors(chain);
  regal_memory_create(&chain->memory);
  list_holding(chain);
  set_unit(chain);
  *state = chain;
  return REGAL_OK;
}

static void destroy(void *state) {
  regal_peak *chain = state;
  regal_release(chain->context, chain);
}

/* -- Beginning ------------------------------------------------------------- */

static void set_reference(regal_peak *chain) {
  chain->reference_of = chain->best_value;
  for (uint32_t b = 0; b < chain->devices; b++) {
    double limit = (double)chain->problem->limit[b];
    chain->memory.reference[b] =
        floor(fmin(REFERENCE * chain->best_value, limit));
  }
}

static void keep_best(regal_peak *chain) {
  chain->best_value = chain->memory.cost.value;
  chain->best_excess = chain->memory.cost.excess;
  memcpy(chain->best_order, chain->order, (size_t)chain->ops * 4);
  memcpy(chain->best_placement, chain->memory.placement, chain->ops);
  memcpy(chain->best_early, chain->memory.early, chain->problem->tensors);
  memcpy(chain->best_kept_for, chain->memory.kept_for,
         (size_t)chain->problem->tensors * 4);
}

static void begin(void *state, const regal_plan *plan, uint64_t key) {
  regal_peak *chain = state;
  chain->random = (regal_random){.key = key};
  regal_peak_read(chain, plan);
  regal_peak_set_order(chain, chain->order);
  keep_best(chain);
  set_reference(chain);
  regal_memory_rebuild_profile(&chain->memory);
  chain->crowded_count = chain->crowded_age = 0; /* to be listed */
}

/* -- Running --------------------------------------------------------------- */

static bool is_best(const regal_peak *chain) {
  if (chain->memory.cost.excess != chain->best_excess)
    return chain->memory.cost.excess < chain->best_excess;
  return chain->memory.cost.value < chain->best_value;
}

static void step(regal_peak *chain, double bytes) {
  regal_memory_cost cost;
  regal_memory_begin_move(&chain->memory);
  if (!regal_peak_move(chain))
    return;
  regal_memory_settle(&chain->memory);
  if (regal_memory_is_unchanged(&chain->memory))
    return;
  double chance = 1 - regal_random_unit(&chain->random);
  double allowed = chain->memory.cost.energy - bytes * log(chance);
  if (chain->memory.overflow ||
      !regal_memory_evaluate(&chain->memory, allowed, &cost)) {
    regal_peak_undo(chain);
    return;
  }
  regal_memory_commit(&chain->memory, &cost);
  if (is_best(chain))
    keep_best(chain);
}

/* The reference follows the best peak from stretch to stretch. */
static void run(void *state, const regal_anneal_stretch *stretch) {
  regal_peak *chain = state;
  if (chain->reference_of > chain->best_value) {
    set_reference(chain);
    regal_memory_rebuild_profile(&chain->memory);
  }
  regal_peak_find_crowded(chain, stretch->moves);
  double bytes = stretch->temperature * chain->unit;
  for (uint32_t i = 0; i < stretch->moves; i++)
    step(chain, bytes);
}

static double energy(const void *state) {
  const regal_peak *chain = state;
  return (chain->memory.cost.value +
          chain->memory.price * chain->memory.cost.excess) /
         chain->unit;
}

/* The run time is left to whoever costs the plan. */
static regal_fitness best(const void *state) {
  const regal_peak *chain = state;
  return (regal_fitness){(int64_t)chain->best_excess,
                         (int64_t)chain->best_value, INT64_MAX};
}

static void copy(void *to, const void *from) {
  regal_peak *chain = to;
  const regal_peak *other = from;
  memcpy(chain->memory.placement, other->memory.placement, chain->ops);
  memcpy(chain->memory.early, other->memory.early, chain->problem->tensors);
  memcpy(chain->memory.kept_for, other->memory.kept_for,
         (size_t)chain->problem->tensors * 4);
  memcpy(chain->memory.keeps, other->memory.keeps, (size_t)chain->ops * 4);
  regal_peak_set_order(chain, other->order);
  if (is_best(chain))
    keep_best(chain);
}

const regal_annealer regal_annealer_memory = {
    .name = "memory",
    .help = "order, placement and times of transfers, for peak memory",
    .hot = 0.01,
    .cold = 0.00003,
    .suits = suits,
    .create = create,
    .destroy = destroy,
    .begin = begin,
    .run = run,
    .energy = energy,
    .best = best,
    .copy = copy,
    .write = regal_peak_write};
