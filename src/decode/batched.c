/* SPDX-License-Identifier: Apache-2.0 */
/* Batched transfers: affinities and op priorities only, no transfer genes.
 *
 * The paper's decoder (paper.c) gives every transfer a priority of its own:
 * tensors times devices more genes, most of which never matter, and plans in
 * which transfers interrupt devices at random moments. With blocking transfers
 * each one makes two devices wait for each other, so that few moments of
 * exchange are best. Here ops run in topological order, highest priority first,
 * and tensors travel by the rule of decode/pending.h: when an op needs one, all
 * that is pending between the two devices travels. The chromosome is shorter,
 * and the search converges sooner.
 *
 * How it is fast. Only when memory or links must be counted, or the plan is
 * asked for, are the pending tensors kept in lists; otherwise their transfer
 * times are summed up for each pair of devices. Two devices with free transfers
 * have a loop of their own, in which an exchange is a maximum of two registers.
 */
#include "cost/model/running_cost.h"
#include "decode/decoder.h"
#include "decode/edges.h"
#include "decode/genes.h"
#include "decode/pending.h"
#include "decode/rank.h"
#include "decode/ready.h"

/* An op, at its rank. */
typedef struct item {
  int64_t run_ns;
  uint32_t edge_begin, edge_end;
  uint32_t op, device;
} item;

/* What the loop over edges touches of an op, side by side. */
typedef struct node {
  uint32_t missing; /* inputs and waits that have not run */
  uint32_t rank;
  uint32_t device;
  uint32_t latest;  /* position of the latest remote input; two devices */
  int64_t ready_ns; /* earliest start; where no regal_running_cost is kept */
} node;

typedef struct scratch {
  regal_edges edges;
  uint8_t *placement; /* [ops] */
  node *nodes;        /* [ops] */
  item *items;        /* [ops] by rank */
  uint32_t *latest;   /* [ops * devices] position of the latest input from
                         there; more than two devices */
  regal_pending pending;
  regal_ranking ranking;
  regal_ready ready;
  regal_running_cost running;
} scratch;

static void layout(scratch *made, regal_carver *carver,
                   const regal_problem *problem) {
  size_t ops = problem->ops, d = problem->devices;
  regal_edges_layout(&made->edges, carver, problem);
  made->placement = regal_carve(carver, ops, 1);
  made->nodes = regal_carve(carver, ops, sizeof(node));
  made->items = regal_carve(carver, ops, sizeof(item));
  made->latest = regal_carve(carver, d == 2 ? 0 : ops * d, 4);
  regal_pending_layout(&made->pending, carver, problem);
  regal_ranking_layout(&made->ranking, carver, ops);
  regal_ready_layout(&made->ready, carver, ops + 1);
  regal_running_cost_layout(&made->running, carver, problem);
}

static void fill(scratch *made, const regal_problem *problem) {
  regal_edges_fill(&made->edges, problem);
}

REGAL_DEFINE_CREATE_SCRATCH(scratch, layout, fill)

/* What differs between the variants; constants where they are inlined. */
typedef struct variant {
  regal_pending_mode pending;
  bool waits; /* control edges make ops wait */
  bool pair;  /* two devices */
  int levels; /* of the ready set */
} variant;

/* Exchanges with every device from which the op misses an input. */
REGAL_INLINE void fetch_inputs(const regal_problem *problem, scratch *s,
                               const item *next, uint32_t position,
                               regal_plan *plan, variant v) {
  uint32_t d = problem->devices, device = next->device;
  for (uint32_t from = 0; from < d; from++) {
    uint32_t latest = v.pair ? s->nodes[next->op].latest
                             : s->latest[(size_t)next->op * d + from];
    if (from != device && latest > s->pending.exchanged[from * d + device])
      regal_pending_exchange(&s->pending, &s->running, problem, s->placement,
                             from, device, position, plan, v.pending);
  }
}

/* Runs the op on its clock. With blocking transfers, setting the earliest start
 * of everybody who depends on it is harmless where it is not a wait. */
REGAL_INLINE int64_t run_blocking(scratch *s, const item *next, bool waits) {
  int64_t *clock = &s->running.clock_ns[next->device];
  int64_t start = *clock;
  if (waits)
    start = regal_later(start, s->nodes[next->op].ready_ns);
  *clock = start + next->run_ns;
  return *clock;
}

/* Returns the lowest rank that has become ready, or REGAL_NONE. */
REGAL_INLINE uint32_t tell_all(const regal_problem *problem, scratch *s,
                               regal_ready *ready, const item next,
                               uint32_t position, int64_t end, variant v) {
  node *nodes = s->nodes;
  const regal_edge *edges = s->edges.edge;
  uint32_t d = problem->devices;
  bool simple = !v.pending.memory && !v.pending.overlapped;
  uint32_t lowest = REGAL_NONE;
  for (uint32_t e = next.edge_begin; e < next.edge_end; e++) {
    uint32_t op = regal_edge_op(edges[e]);
    node *told = &nodes[op];
    bool remote = (told->device != next.device) & !regal_edge_waits(edges[e]);
    if (v.pair)
      told->latest = (uint32_t)regal_choose(remote, position, told->latest);
    else if (remote)
      s->latest[(size_t)op * d + next.device] = position;
    if (simple && v.waits)
      told->ready_ns = regal_later(told->ready_ns, end);
    uint32_t missing = --told->missing, rank = told->rank;
    uint32_t fresh = rank | -(uint32_t)(missing != 0);
    lowest = fresh < lowest ? fresh : lowest;
    regal_ready_push_if(ready, rank, missing == 0, v.levels);
  }
  return lowest;
}

REGAL_INLINE uint32_t take_step(const regal_problem *problem, scratch *s,
                                regal_ready *ready, const item next,
                                uint32_t position, regal_plan *plan,
                                variant v) {
  int64_t end = 0;
  fetch_inputs(problem, s, &next, position, plan, v);
  if (v.pending.memory || v.pending.overlapped)
    regal_running_cost_run(&s->running, problem, next.op, next.device,
                           v.pending.memory, v.pending.overlapped);
  else
    end = run_blocking(s, &next, v.waits);
  regal_plan_add_run(plan, next.op, next.device);
  regal_pending_add(&s->pending, problem, s->placement, next.op, v.pending);
  return tell_all(problem, s, ready, next, position, end, v);
}

/* The ops that need nothing, and the sentinel. */
REGAL_INLINE void push_first(const regal_problem *problem, const scratch *s,
                             regal_ready *ready, int levels) {
  for (uint32_t op = 0; op < problem->ops; op++)
    if (!s->nodes[op].missing)
      regal_ready_push(ready, s->nodes[op].rank, levels);
  regal_ready_push(ready, problem->ops, levels);
}

REGAL_INLINE void run_ops(const regal_problem *problem, scratch *s,
                          regal_plan *plan, variant v) {
  regal_ready ready = s->ready;
  regal_pending_begin(&s->pending, problem->devices);
  if (!v.pair)
    memset(s->latest, 0,
           (size_t)problem->ops * problem->devices * sizeof *s->latest);
  regal_running_cost_begin(&s->running, problem, s->placement, v.pending.memory,
                           v.pending.overlapped);
  push_first(problem, s, &ready, v.levels);
  uint32_t rank = regal_ready_lowest(&ready, v.levels);
  for (uint32_t position = 1; position <= problem->ops; position++) {
    regal_ready_remove(&ready, rank, v.levels);
    uint32_t lowest = regal_ready_lowest(&ready, v.levels);
    uint32_t fresh =
        take_step(problem, s, &ready, s->items[rank], position, plan, v);
    rank = fresh < lowest ? fresh : lowest;
  }
  regal_ready_remove(&ready, problem->ops, v.levels);
}

/* The paper's own case, two devices and free transfers with nothing but run
 * time to account for, has a loop of its own: both clocks stay in registers and
 * an exchange takes no branch. */
REGAL_INLINE void run_two_for_free(const regal_problem *problem, scratch *s,
                                   bool waits, int levels) {
  const variant v = {.waits = waits, .pair = true, .levels = levels};
  regal_ready ready = s->ready;
  int64_t zero = 0, one = 0; /* the clocks of device 0 and device 1 */
  uint32_t exchanged = 0;
  push_first(problem, s, &ready, levels);
  uint32_t rank = regal_ready_lowest(&ready, levels);
  for (uint32_t position = 1; position <= problem->ops; position++) {
    regal_ready_remove(&ready, rank, levels);
    uint32_t lowest = regal_ready_lowest(&ready, levels);
    const item next = s->items[rank];
    const node *self = &s->nodes[next.op];
    int64_t needed = self->latest > exchanged, both = regal_later(zero, one);
    zero = regal_choose(needed, both, zero);
    one = regal_choose(needed, both, one);
    exchanged = (uint32_t)regal_choose(needed, position - 1, exchanged);
    int64_t end = regal_choose(next.device, one, zero);
    if (waits)
      end = regal_later(end, self->ready_ns);
    end += next.run_ns;
    zero = next.device ? zero : end;
    one = next.device ? end : one;
    uint32_t fresh = tell_all(problem, s, &ready, next, position, end, v);
    rank = fresh < lowest ? fresh : lowest;
  }
  regal_ready_remove(&ready, problem->ops, levels);
  s->running.clock_ns[0] = zero;
  s->running.clock_ns[1] = one;
}

REGAL_INLINE void run_at_levels(const regal_problem *problem, scratch *s,
                                regal_plan *plan, int levels) {
  bool pair = problem->devices == 2;
  bool memory = regal_problem_needs_memory(problem);
  bool overlapped = problem->machine->overlapped;
  variant full = {{memory, overlapped, true}, true, pair, levels};
  variant sums = {{false, false, false}, true, pair, levels};
  if (memory || overlapped || plan)
    run_ops(problem, s, plan, full);
  else if (!pair || !problem->free_transfers)
    run_ops(problem, s, NULL, sums);
  else if (problem->has_waits)
    run_two_for_free(problem, s, true, levels);
  else
    run_two_for_free(problem, s, false, levels);
}

static void run_any(const regal_problem *problem, scratch *s,
                    regal_plan *plan) {
  int levels = regal_ready_levels((size_t)problem->ops + 1);
  if (levels == 2)
    run_at_levels(problem, s, plan, 2);
  else if (levels == 3)
    run_at_levels(problem, s, plan, 3);
  else
    run_at_levels(problem, s, plan, REGAL_READY_LEVELS);
}

/* Sorts the ops by priority and writes each one's record at its rank. */
static void rank_ops(const regal_problem *problem, scratch *s,
                     const regal_gene *priority) {
  bool few = problem->ops <= REGAL_RANKING_FEW;
  regal_ranking_begin(&s->ranking, few);
  for (uint32_t op = 0; op < problem->ops; op++)
    regal_ranking_add_if(&s->ranking, op, priority[op], 1, few);
  const uint64_t *sorted = regal_ranking_sort(&s->ranking, problem->ops, few);
  for (uint32_t r = 0; r < problem->ops; r++) {
    uint32_t op = (uint32_t)sorted[r], device = s->placement[op];
    s->nodes[op] = (node){problem->needs[op], r, device, 0, 0};
    s->items[r] =
        (item){regal_problem_run_ns(problem, op, device), s->edges.of_op[op],
               s->edges.of_op[op + 1], op, device};
  }
}

static regal_fitness decode(const regal_problem *problem, void *memory,
                            const regal_gene *genes, regal_plan *plan) {
  scratch *s = memory;
  regal_place_by_affinity(problem, genes, s->placement);
  const regal_gene *priority = genes + (size_t)problem->ops * problem->devices;
  rank_ops(problem, s, priority);
  if (plan)
    plan->step_count = 0;
  run_any(problem, s, plan);
  return regal_running_cost_fitness(&s->running, problem,
                                    regal_problem_needs_memory(problem));
}

/* The plan's order of ops and its devices; transfers follow from these. */
static void encode(const regal_problem *problem, const regal_plan *plan,
                   regal_gene *genes) {
  uint8_t relabel[REGAL_MAX_DEVICES];
  regal_gene *priority = genes + (size_t)problem->ops * problem->devices;
  regal_encode_placement(problem, plan, genes, relabel);
  regal_encode_order(plan, priority);
}

const regal_decoder regal_decoder_batched = {
    .name = "batched",
    .help = "devices by affinity; what is pending between two devices travels "
            "together",
    .classes = {{"affinity", REGAL_GENE_OP_DEVICE},
                {"priority", REGAL_GENE_OP}},
    .create_scratch = create_scratch,
    .decode = decode,
    .encode = encode,
};
