/* SPDX-License-Identifier: Apache-2.0 */
/* The annealer for peak memory: see memory_anneal.h.
 *
 * Energy = the largest peak, and a price for what is beyond memory limits, and
 * a little for every position and device above a reference somewhat below the
 * best peak: without it nearly all moves would look alike, as the peak is at
 * one position only.
 */
#include "anneal/peak/peak.h"

#include <math.h>

#include "anneal/driver/annealers.h"

#define HOT 0.01
#define COLD 0.00003
#define REFERENCE 0.98  /* of the best peak */
#define SOFT_WEIGHT 8.0 /* of the mean over positions */
#define TRAIL_ROOM 4096
#define MOST_BYTES 0x1p52 /* so that doubles count them exactly */

typedef regal_memory_chain chain_t;

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

static void layout_graph(chain_t *chain, regal_carver *carver) {
  const regal_problem *problem = chain->problem;
  size_t ops = chain->ops;
  size_t readers = problem->shared ? problem->reader_begin[problem->shared] : 0;
  chain->pred_begin = regal_carve(carver, ops + 1, 4);
  chain->pred = regal_carve(carver, problem->successor_begin[ops], 4);
  chain->live_begin = regal_carve(carver, ops + 1, 4);
  chain->live = regal_carve(carver, problem->uses, 4);
  chain->shared_begin = regal_carve(carver, ops + 1, 4);
  chain->shared = regal_carve(carver, readers, 4);
}

static void layout_solution(chain_t *chain, regal_carver *carver) {
  size_t ops = chain->ops, tensors = chain->problem->tensors;
  chain->order = regal_carve(carver, ops, 4);
  chain->position = regal_carve(carver, ops, 4);
  chain->placement = regal_carve(carver, ops, 1);
  chain->early = regal_carve(carver, tensors, 1);
  chain->best_order = regal_carve(carver, ops, 4);
  chain->best_placement = regal_carve(carver, ops, 1);
  chain->best_early = regal_carve(carver, tensors, 1);
}

static void layout_events(chain_t *chain, regal_carver *carver) {
  const regal_problem *problem = chain->problem;
  size_t ops = chain->ops, d = chain->devices, tensors = problem->tensors;
  size_t several = d > 1 ? tensors : 0;
  chain->gone = regal_carve(carver, tensors, 4);
  chain->sent = regal_carve(carver, several, 4);
  chain->home = regal_carve(carver, several, 4);
  chain->remote = regal_carve(carver, several, 8);
  chain->first = regal_carve(carver, several * d, 4);
  chain->last = regal_carve(carver, several * d, 4);
  chain->holders = regal_carve(carver, problem->shared * d, 4);
  chain->reused = regal_carve(carver, ops, 8);
  chain->add = regal_carve(carver, ops, 8);
  chain->net = regal_carve(carver, ops * d, 8);
  chain->before = regal_carve(carver, (ops + 1) * d, 8);
  chain->soft = regal_carve(carver, ops, 8);
  chain->block_peak = regal_carve(carver, d * chain->blocks, 8);
  chain->block_soft = regal_carve(carver, chain->blocks, 8);
}

static void layout_move(chain_t *chain, regal_carver *carver) {
  size_t ops = chain->ops, tensors = chain->problem->tensors;
  chain->tensor_mark = regal_carve(carver, tensors, 8);
  chain->reuse_mark = regal_carve(carver, ops, 8);
  chain->member_mark = regal_carve(carver, ops, 8);
  chain->block_mark = regal_carve(carver, chain->blocks, 8);
  chain->taken = regal_carve(carver, tensors, 8);
  chain->dirty = regal_carve(carver, tensors, 4);
  chain->rewrite = regal_carve(carver, ops, 4);
  chain->window = regal_carve(carver, ops, 4);
  chain->members = regal_carve(carver, ops, 4);
  chain->crowded = regal_carve(carver, ops, 4);
  chain->holding = regal_carve(carver, ops, 4);
  chain->trail_room = TRAIL_ROOM + 64 * chain->devices;
  chain->trail =
      regal_carve(carver, chain->trail_room, sizeof(regal_memory_undo));
}

static void layout(chain_t *chain, regal_carver *carver) {
  layout_graph(chain, carver);
  layout_solution(chain, carver);
  layout_events(chain, carver);
  layout_move(chain, carver);
}

static void link_predecessors(chain_t *chain) {
  const regal_problem *problem = chain->problem;
  uint32_t *begin = chain->pred_begin;
  memset(begin, 0, ((size_t)chain->ops + 1) * 4);
  for (uint32_t op = 0; op < chain->ops; op++)
    begin[op + 1] = begin[op] + problem->predecessors[op];
  uint32_t *filled = chain->members; /* scratch */
  memset(filled, 0, (size_t)chain->ops * 4);
  for (uint32_t op = 0; op < chain->ops; op++)
    for (uint32_t k = problem->successor_begin[op];
         k < problem->successor_begin[op + 1]; k++) {
      uint32_t to = problem->successor[k];
      chain->pred[begin[to] + filled[to]++] = op;
    }
}

static void link_inputs(chain_t *chain) {
  const regal_problem *problem = chain->problem;
  uint32_t count = 0;
  for (uint32_t op = 0; op < chain->ops; op++) {
    chain->live_begin[op] = count;
    for (uint32_t i = problem->input_begin[op];
         i < problem->input_begin[op + 1]; i++) {
      uint32_t t = problem->input[i];
      bool single = problem->use_begin[t + 1] - problem->use_begin[t] == 1;
      bool fixed = problem->devices == 1 && problem->is_final[t];
      if (problem->bytes[t] && !single && !fixed)
        chain->live[count++] = t;
    }
  }
  chain->live_begin[chain->ops] = count;
}

static void link_shared(chain_t *chain) {
  const regal_problem *problem = chain->problem;
  uint32_t *begin = chain->shared_begin;
  uint32_t readers =
      problem->shared ? problem->reader_begin[problem->shared] : 0;
  memset(begin, 0, ((size_t)chain->ops + 1) * 4);
  for (uint32_t r = 0; r < readers; r++)
    begin[problem->reader[r] + 1]++;
  for (uint32_t op = 0; op < chain->ops; op++)
    begin[op + 1] += begin[op];
  uint32_t *filled = chain->members;
  memset(filled, 0, (size_t)chain->ops * 4);
  for (uint32_t p = 0; p < problem->shared; p++)
    for (uint32_t r = problem->reader_begin[p];
         r < problem->reader_begin[p + 1]; r++) {
      uint32_t op = problem->reader[r];
      chain->shared[begin[op] + filled[op]++] = p;
    }
}

static void list_holding(chain_t *chain) {
  chain->holding_count = 0;
  for (uint32_t op = 0; chain->devices > 1 && op < chain->ops; op++)
    if (chain->problem->resident_bytes[op] ||
        chain->shared_begin[op] < chain->shared_begin[op + 1])
      chain->holding[chain->holding_count++] = op;
}

static void rebuild(chain_t *chain) {
  for (uint32_t i = 0; i < chain->ops; i++)
    chain->position[chain->order[i]] = i;
  regal_memory_rebuild_events(chain);
  regal_memory_rebuild_profile(chain);
}

/* About what a good plan needs: the largest working set, or an equal share of
 * what one device needs in the file's order. */
static void set_unit(chain_t *chain) {
  double most = 1;
  for (uint32_t op = 0; op < chain->ops; op++) {
    chain->order[op] = op;
    chain->placement[op] = 0;
    most = fmax(most, (double)regal_problem_working_set(chain->problem, op));
  }
  rebuild(chain);
  chain->unit = fmax(most, chain->cost.value / chain->devices);
}

static void set_blocks(chain_t *chain) {
  chain->shift = 4;
  while (chain->shift < 10 && chain->ops >> 2 * chain->shift > 16)
    chain->shift++;
  chain->blocks = ((chain->ops - 1) >> chain->shift) + 1;
}

static regal_status create(regal_context *context, const regal_problem *problem,
                           void **state) {
  chain_t measured = {.context = context,
                      .problem = problem,
                      .ops = problem->ops,
                      .devices = problem->devices,
                      .weight = SOFT_WEIGHT / problem->ops,
                      .price = REGAL_EXCESS_PRICE};
  regal_carver carver = {NULL, 0};
  set_blocks(&measured);
  regal_carve(&carver, 1, sizeof measured);
  layout(&measured, &carver);
  char *block = regal_alloc(context, carver.used, 1);
  if (!block)
    return regal_fail_memory(context);
  carver = (regal_carver){block, 0};
  chain_t *chain = regal_carve(&carver, 1, sizeof *chain);
  *chain = measured;
  layout(chain, &carver);
  link_predecessors(chain);
  link_inputs(chain);
  link_shared(chain);
  list_holding(chain);
  set_unit(chain);
  *state = chain;
  return REGAL_OK;
}

static void destroy(void *state) {
  chain_t *chain = state;
  if (chain)
    regal_release(chain->context, chain);
}

/* -- Beginning ------------------------------------------------------------- */

static void set_reference(chain_t *chain) {
  chain->reference_of = chain->best_value;
  for (uint32_t b = 0; b < chain->devices; b++) {
    double limit = (double)chain->problem->limit[b];
    chain->reference[b] = floor(fmin(REFERENCE * chain->best_value, limit));
  }
}

static void keep_best(chain_t *chain) {
  chain->best_value = chain->cost.value;
  chain->best_excess = chain->cost.excess;
  memcpy(chain->best_order, chain->order, (size_t)chain->ops * 4);
  memcpy(chain->best_placement, chain->placement, chain->ops);
  memcpy(chain->best_early, chain->early, chain->problem->tensors);
}

/* Whether the transfer, with `ran` ops before it, is nearer to where an early
 * one would be than to a late one. */
static bool is_early(const chain_t *chain, uint32_t tensor, uint32_t to,
                     uint32_t ran) {
  const regal_problem *problem = chain->problem;
  uint32_t sent = regal_memory_sent_after(problem, chain->position,
                                          chain->placement, tensor);
  if (sent == REGAL_NONE)
    return false;
  uint32_t first = UINT32_MAX, after = chain->position[sent] + 1;
  for (uint32_t u = problem->use_begin[tensor];
       u < problem->use_begin[tensor + 1]; u++) {
    uint32_t op = problem->consumer[u], at = chain->position[op];
    if (chain->placement[op] == to && at < first)
      first = at;
  }
  return (uint64_t)2 * ran < (uint64_t)after + first;
}

static void read_plan(chain_t *chain, const regal_plan *plan) {
  uint32_t ran = 0;
  for (uint32_t i = 0; i < plan->step_count; i++) {
    const regal_step *step = &plan->steps[i];
    if (!regal_step_runs(step))
      continue;
    chain->order[ran] = step->op;
    chain->position[step->op] = ran++;
    chain->placement[step->op] = (uint8_t)step->device;
  }
  ran = 0;
  memset(chain->early, 0, chain->problem->tensors);
  for (uint32_t i = 0; i < plan->step_count; i++) {
    const regal_step *step = &plan->steps[i];
    if (regal_step_runs(step)) {
      ran++;
      continue;
    }
    uint32_t tensor = regal_plan_tensor(chain->problem, step);
    chain->early[tensor] = is_early(chain, tensor, step->to, ran);
  }
}

static void begin(void *state, const regal_plan *plan, uint64_t key) {
  chain_t *chain = state;
  chain->random = (regal_random){.key = key};
  read_plan(chain, plan);
  rebuild(chain);
  keep_best(chain);
  set_reference(chain);
  regal_memory_rebuild_profile(chain);
  chain->crowded_count = chain->crowded_age = 0; /* to be listed */
}

/* -- Running --------------------------------------------------------------- */

static bool is_best(const chain_t *chain) {
  if (chain->cost.excess != chain->best_excess)
    return chain->cost.excess < chain->best_excess;
  return chain->cost.value < chain->best_value;
}

static void step(chain_t *chain, double bytes) {
  regal_memory_cost cost;
  regal_memory_begin_move(chain);
  if (!regal_memory_move(chain))
    return;
  regal_memory_settle(chain);
  if (chain->low > chain->high)
    return; /* no event: the same plan, by another name */
  double chance = 1 - regal_random_unit(&chain->random);
  double allowed = chain->cost.energy - bytes * log(chance);
  if (chain->overflow || !regal_memory_evaluate(chain, allowed, &cost)) {
    regal_memory_undo_move(chain);
    return;
  }
  regal_memory_commit(chain, &cost);
  if (is_best(chain))
    keep_best(chain);
}

/* The reference follows the best peak from stretch to stretch. */
static void run(void *state, const regal_anneal_stretch *stretch) {
  chain_t *chain = state;
  if (chain->reference_of > chain->best_value) {
    set_reference(chain);
    regal_memory_rebuild_profile(chain);
  }
  regal_memory_find_crowded(chain, stretch->moves);
  double bytes = stretch->temperature * chain->unit;
  for (uint32_t i = 0; i < stretch->moves; i++)
    step(chain, bytes);
}

static double energy(const void *state) {
  const chain_t *chain = state;
  return (chain->cost.value + chain->price * chain->cost.excess) / chain->unit;
}

/* The run time is left to whoever costs the plan. */
static regal_fitness best(const void *state) {
  const chain_t *chain = state;
  return (regal_fitness){(int64_t)chain->best_excess,
                         (int64_t)chain->best_value, INT64_MAX};
}

static void copy(void *to, const void *from) {
  chain_t *chain = to;
  const chain_t *other = from;
  memcpy(chain->order, other->order, (size_t)chain->ops * 4);
  memcpy(chain->placement, other->placement, chain->ops);
  memcpy(chain->early, other->early, chain->problem->tensors);
  rebuild(chain);
  if (is_best(chain))
    keep_best(chain);
}

/* -- Writing --------------------------------------------------------------- */

/* The best solution, while it is written down. */
typedef struct writer {
  const regal_problem *problem;
  const uint32_t *position;
  const uint8_t *placement, *early;
  uint64_t *gone_to; /* [tensors] devices that have got it */
  regal_plan *plan;
} writer;

static uint32_t sent_after(const writer *w, uint32_t tensor) {
  bool may = w->early[tensor] && w->problem->bytes[tensor];
  return may ? regal_memory_sent_after(w->problem, w->position, w->placement,
                                       tensor)
             : REGAL_NONE;
}

static void send(writer *w, uint32_t tensor, uint32_t to) {
  uint32_t home = w->placement[w->problem->producer[tensor]];
  uint64_t bit = UINT64_C(1) << to;
  if (home == to || (w->gone_to[tensor] & bit))
    return;
  w->gone_to[tensor] |= bit;
  w->plan->steps[w->plan->step_count++] =
      regal_plan_send(w->problem, tensor, home, to);
}

/* To every reader's device, if it travels early and its time has come. */
static void send_early(writer *w, uint32_t tensor, uint32_t after) {
  const regal_problem *problem = w->problem;
  if (!w->early[tensor] || sent_after(w, tensor) != after)
    return;
  for (uint32_t u = problem->use_begin[tensor];
       u < problem->use_begin[tensor + 1]; u++)
    send(w, tensor, w->placement[problem->consumer[u]]);
}

static void write_op(writer *w, uint32_t op) {
  const regal_problem *problem = w->problem;
  uint32_t device = w->placement[op];
  for (uint32_t i = problem->input_begin[op]; i < problem->input_begin[op + 1];
       i++)
    send(w, problem->input[i], device);
  w->plan->steps[w->plan->step_count++] =
      (regal_step){op, REGAL_RUN, (uint16_t)device, (uint16_t)device};
  for (uint32_t i = problem->input_begin[op]; i < problem->input_begin[op + 1];
       i++)
    send_early(w, problem->input[i], op);
  for (uint32_t t = problem->output_begin[op];
       t < problem->output_begin[op + 1]; t++)
    send_early(w, t, op);
}

static void write(void *state, regal_plan *plan) {
  chain_t *chain = state;
  /* Marks of moves are free between moves: `taken` only has to be at most
   * taken_now. */
  uint32_t *position = chain->members;
  for (uint32_t i = 0; i < chain->ops; i++)
    position[chain->best_order[i]] = i;
  memset(chain->taken, 0, (size_t)chain->problem->tensors * 8);
  writer w = {chain->problem,    position,     chain->best_placement,
              chain->best_early, chain->taken, plan};
  plan->step_count = 0;
  for (uint32_t i = 0; i < chain->ops; i++)
    write_op(&w, chain->best_order[i]);
  memset(chain->taken, 0, (size_t)chain->problem->tensors * 8);
}

const regal_annealer regal_annealer_memory = {
    .name = "memory",
    .help = "order, placement and times of transfers, for peak memory",
    .hot = HOT,
    .cold = COLD,
    .suits = suits,
    .create = create,
    .destroy = destroy,
    .begin = begin,
    .run = run,
    .energy = energy,
    .best = best,
    .copy = copy,
    .write = write};
