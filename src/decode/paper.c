/* SPDX-License-Identifier: Apache-2.0 */
/* The paper's decoder (sections 3.2 and A.5): affinities choose the devices,
 * then one topological sort over ops and transfers, highest priority first.
 *
 * How it is fast. Items (ops, then the transfers that the placement needs, by
 * tensor and device) are sorted once by key; the ready set is a bitmap over
 * ranks. An op is treated as a transfer from its device to itself: with
 * blocking transfers both then are `t = max(clock[from], clock[to]) + cost`,
 * and both end by telling the consumers on `to`. So the loop has no branch on
 * what kind an item is.
 */
#include "cost/model/running_cost.h"
#include "decode/decoder.h"
#include "decode/edges.h"
#include "decode/genes.h"
#include "decode/rank.h"
#include "decode/ready.h"
#include "decode/step_memory.h"

/* An item, at its rank. */
typedef struct item {
  int64_t cost_ns;
  uint32_t edge_begin, edge_end; /* whom to tell */
  uint32_t send_begin, send_end; /* transfers that become ready (ops only) */
  uint32_t subject;              /* the op, or ops + the transfer's number */
  uint8_t from, to;
} item;

/* What the loop over edges touches of an op, side by side. */
typedef struct node {
  uint32_t missing; /* inputs and waits that are not yet there */
  uint32_t rank;
  uint32_t device;
} node;

typedef struct scratch {
  /* Fixed for the problem. */
  regal_edges edges;
  regal_step_memory memory;
  size_t most_items;
  /* Of one chromosome. */
  uint8_t *placement;    /* [ops] */
  node *nodes;           /* [ops] */
  uint32_t *on_one;      /* [uses+1] consumers on device 1 so far; 2 devices */
  uint32_t *sends_until; /* [tensors+1] transfers of earlier tensors */
  uint32_t *send_tensor; /* [transfers] */
  uint8_t *send_to;      /* [transfers] */
  uint32_t *rank;        /* [items] */
  item *items;           /* [items] by rank */
  regal_ranking ranking;
  regal_ready ready;
  regal_running_cost running;
} scratch;

static void layout(scratch *made, regal_carver *carver,
                   const regal_problem *problem) {
  size_t ops = problem->ops, tensors = problem->tensors;
  size_t items = regal_plan_most_steps(problem), sends = items - ops;
  made->most_items = items;
  regal_edges_layout(&made->edges, carver, problem);
  regal_step_memory_layout(&made->memory, carver, problem);
  made->placement = regal_carve(carver, ops, 1);
  made->nodes = regal_carve(carver, ops, sizeof(node));
  made->on_one = regal_carve(carver, (size_t)problem->uses + 1, 4);
  made->sends_until = regal_carve(carver, tensors + 1, 4);
  made->send_tensor = regal_carve(carver, sends + 1, 4);
  made->send_to = regal_carve(carver, sends + 1, 1);
  made->rank = regal_carve(carver, items + 1, 4);
  made->items = regal_carve(carver, items, sizeof(item));
  regal_ranking_layout(&made->ranking, carver, items + 1);
  regal_ready_layout(&made->ready, carver, items + 1);
  regal_running_cost_layout(&made->running, carver, problem);
}

static void fill(scratch *made, const regal_problem *problem) {
  regal_edges_fill(&made->edges, problem);
  regal_step_memory_fill(&made->memory, problem);
}

REGAL_DEFINE_CREATE_SCRATCH(scratch, layout, fill)

/* Lists the transfers that the placement needs, by tensor, then device, and
 * adds them to the ranking. Returns how many there are. With two devices a
 * tensor is sent if not all of its consumers are at home: running counts tell
 * that without a loop over each tensor's consumers, or a branch. */
REGAL_INLINE uint32_t list_for_two(const regal_problem *problem, scratch *s,
                                   const regal_gene *priority, bool few,
                                   bool memory) {
  uint32_t ones = 0, sends = 0, ops = problem->ops;
  for (uint32_t u = 0; u < problem->uses; u++) {
    s->on_one[u] = ones;
    ones += s->placement[problem->consumer[u]];
  }
  s->on_one[problem->uses] = ones;
  for (uint32_t t = 0; t < problem->tensors; t++) {
    uint32_t first = problem->use_begin[t], end = problem->use_begin[t + 1];
    uint32_t on_one = s->on_one[end] - s->on_one[first];
    uint32_t home = s->placement[problem->producer[t]], to = 1 - home;
    uint32_t remote =
        (uint32_t)regal_choose(home, end - first - on_one, on_one);
    s->sends_until[t] = sends;
    s->send_tensor[sends] = t;
    s->send_to[sends] = (uint8_t)to;
    regal_ranking_add_if(&s->ranking, ops + sends, priority[(size_t)t * 2 + to],
                         remote != 0, few);
    sends += remote != 0;
    if (memory) { /* as regal_running_cost_count_uses does */
      uint32_t *left = s->running.left + (size_t)t * 2;
      left[to] = remote;
      left[home] = end - first - remote + (remote != 0) + problem->is_final[t];
    }
  }
  s->sends_until[problem->tensors] = sends;
  return sends;
}

REGAL_INLINE uint32_t list_for_many(const regal_problem *problem, scratch *s,
                                    const regal_gene *priority, bool few) {
  uint32_t d = problem->devices, sends = 0, ops = problem->ops;
  for (uint32_t t = 0; t < problem->tensors; t++) {
    uint64_t mask = 0;
    for (REGAL_ROW(u, problem->use_begin, t))
      mask |= UINT64_C(1) << s->placement[problem->consumer[u]];
    mask &= ~(UINT64_C(1) << s->placement[problem->producer[t]]);
    s->sends_until[t] = sends;
    for (; mask; mask &= mask - 1, sends++) {
      uint32_t to = (uint32_t)__builtin_ctzll(mask);
      s->send_tensor[sends] = t;
      s->send_to[sends] = (uint8_t)to;
      regal_ranking_add_if(&s->ranking, ops + sends,
                           priority[(size_t)t * d + to], 1, few);
    }
  }
  s->sends_until[problem->tensors] = sends;
  return sends;
}

/* Sorts ops and transfers by priority; sets their ranks. Returns the number of
 * transfers. */
REGAL_INLINE uint32_t rank_items(const regal_problem *problem, scratch *s,
                                 const regal_gene *priority, bool few) {
  const regal_gene *transfer = priority + problem->ops;
  regal_ranking_begin(&s->ranking, few);
  for (uint32_t op = 0; op < problem->ops; op++)
    regal_ranking_add_if(&s->ranking, op, priority[op], 1, few);
  bool memory = regal_problem_needs_memory(problem);
  uint32_t sends;
  if (problem->devices != 2)
    sends = list_for_many(problem, s, transfer, few);
  else if (memory)
    sends = list_for_two(problem, s, transfer, few, true);
  else
    sends = list_for_two(problem, s, transfer, few, false);
  uint32_t items = problem->ops + sends;
  const uint64_t *sorted = regal_ranking_sort(&s->ranking, items, few);
  for (uint32_t r = 0; r < items; r++)
    s->rank[(uint32_t)sorted[r]] = r;
  return sends;
}

/* Writes each item's record at its rank. */
static void place_items(const regal_problem *problem, scratch *s,
                        uint32_t sends) {
  uint32_t ops = problem->ops;
  for (uint32_t op = 0; op < ops; op++) {
    uint8_t device = s->placement[op];
    s->nodes[op] = (node){problem->needs[op], s->rank[op], device};
    s->items[s->rank[op]] = (item){
        .cost_ns = regal_problem_run_ns(problem, op, device),
        .edge_begin = s->edges.of_op[op],
        .edge_end = s->edges.of_op[op + 1],
        .send_begin = s->sends_until[problem->output_begin[op]],
        .send_end = s->sends_until[problem->output_begin[op + 1]],
        .subject = op,
        .from = device,
        .to = device,
    };
  }
  for (uint32_t k = 0; k < sends; k++) {
    uint32_t t = s->send_tensor[k], begin = s->edges.of_tensor[t];
    uint8_t from = s->placement[problem->producer[t]], to = s->send_to[k];
    s->items[s->rank[ops + k]] = (item){
        .cost_ns = regal_problem_transfer_ns(problem, t, from, to),
        .edge_begin = begin,
        .edge_end = begin + problem->use_begin[t + 1] - problem->use_begin[t],
        .subject = ops + k,
        .from = from,
        .to = to,
    };
  }
}

/* Blocking transfers: an op is a transfer to itself. Setting the
 * earliest start of everybody who is told is harmless where it is not a wait: a
 * clock that they must pass is already there. (Who reads the tensor on a third
 * device is not told, and does not wait for this transfer.) */
REGAL_INLINE int64_t take_blocking(scratch *s, const item *next, uint32_t ops,
                                   bool waits) {
  int64_t *clock = s->running.clock_ns;
  int64_t start = regal_later(clock[next->from], clock[next->to]);
  if (waits) {
    uint32_t slot = next->subject < ops ? next->subject : ops;
    start = regal_later(start, s->running.ready_ns[slot]);
  }
  int64_t end = start + next->cost_ns;
  clock[next->from] = end;
  clock[next->to] = end;
  return end;
}

REGAL_INLINE void book_memory(const regal_problem *problem, scratch *s,
                              const item *next) {
  const regal_step_memory_entry *entry =
      next->subject < problem->ops
          ? &s->memory.of_op[next->subject]
          : &s->memory.of_tensor[s->send_tensor[next->subject - problem->ops]];
  regal_step_memory_take(&s->memory, &s->running, problem, entry, next->from,
                         next->to);
}

REGAL_INLINE void take_any(const regal_problem *problem, scratch *s,
                           const item *next, bool memory, bool overlapped) {
  if (next->subject < problem->ops)
    regal_running_cost_run(&s->running, problem, next->subject, next->to,
                           memory, overlapped);
  else
    regal_running_cost_send(&s->running, problem, s->placement,
                            s->send_tensor[next->subject - problem->ops],
                            next->from, next->to, memory, overlapped);
}

static void record_step(const regal_problem *problem, const scratch *s,
                        const item *next, regal_plan *plan) {
  if (next->subject < problem->ops)
    regal_plan_add_run(plan, next->subject, next->to);
  else
    regal_plan_add_send(plan, problem,
                        s->send_tensor[next->subject - problem->ops],
                        next->from, next->to);
}

/* What differs between the variants; constants where they are inlined. */
typedef struct variant {
  bool memory;
  bool simple; /* blocking, and no output is written over an input */
  bool waits;  /* control edges make ops wait */
  int levels;  /* of the ready set */
} variant;

/* Takes one step and tells all who depend on it. Returns the lowest rank that
 * has become ready, or REGAL_NONE. */
REGAL_INLINE uint32_t take_step(const regal_problem *problem, scratch *s,
                                regal_ready *ready, const item next,
                                variant v) {
  node *nodes = s->nodes;
  const regal_edge *edges = s->edges.edge;
  int64_t *ready_ns = s->running.ready_ns, end = 0;
  uint32_t lowest = REGAL_NONE;
  if (v.simple)
    end = take_blocking(s, &next, problem->ops, v.waits);
  else
    take_any(problem, s, &next, v.memory, problem->machine->overlapped);
  if (v.simple && v.memory)
    book_memory(problem, s, &next);
  for (uint32_t e = next.edge_begin; e < next.edge_end; e++) {
    uint32_t op = regal_edge_op(edges[e]);
    node *told = &nodes[op];
    uint32_t is_told = (told->device == next.to) | regal_edge_waits(edges[e]);
    if (v.simple && v.waits)
      ready_ns[op] =
          regal_choose(is_told & (end > ready_ns[op]), end, ready_ns[op]);
    uint32_t missing = told->missing - is_told;
    told->missing = missing;
    uint32_t is_ready = is_told & (missing == 0), rank = told->rank;
    uint32_t fresh = rank | (is_ready - 1);
    lowest = fresh < lowest ? fresh : lowest;
    regal_ready_push_if(ready, rank, is_ready, v.levels);
  }
  /* the first one without a branch: few ops have more */
  uint32_t sends = next.send_end != next.send_begin;
  uint32_t rank = s->rank[problem->ops + next.send_begin];
  uint32_t fresh = rank | (sends - 1);
  lowest = fresh < lowest ? fresh : lowest;
  regal_ready_push_if(ready, rank, sends, v.levels);
  for (uint32_t k = next.send_begin + 1; k < next.send_end; k++) {
    rank = s->rank[problem->ops + k];
    lowest = rank < lowest ? rank : lowest;
    regal_ready_push(ready, rank, v.levels);
  }
  return lowest;
}

REGAL_INLINE void sort_topologically(const regal_problem *problem, scratch *s,
                                     uint32_t items, regal_plan *plan,
                                     variant v) {
  regal_ready ready = s->ready;
  regal_running_cost_begin_time(&s->running, problem, !v.simple);
  if (v.memory)
    regal_running_cost_place_resident(&s->running, problem, s->placement);
  if (v.memory && problem->devices != 2)
    regal_running_cost_count_uses(&s->running, problem, s->placement);
  for (uint32_t op = 0; op < problem->ops; op++)
    if (!s->nodes[op].missing)
      regal_ready_push(&ready, s->nodes[op].rank, v.levels);
  regal_ready_push(&ready, items, v.levels);
  uint32_t rank = regal_ready_lowest(&ready, v.levels);
  for (uint32_t done = 0; done < items; done++) {
    const item *next = &s->items[rank];
    regal_ready_remove(&ready, rank, v.levels);
    uint32_t lowest = regal_ready_lowest(&ready, v.levels);
    uint32_t fresh = take_step(problem, s, &ready, *next, v);
    rank = fresh < lowest ? fresh : lowest;
    if (plan)
      record_step(problem, s, next, plan);
  }
  regal_ready_remove(&ready, items, v.levels);
}

REGAL_INLINE void sort_at_levels(const regal_problem *problem, scratch *s,
                                 uint32_t items, regal_plan *plan, int levels) {
  bool memory = regal_problem_needs_memory(problem);
  if (problem->machine->overlapped || (memory && problem->reuses))
    sort_topologically(problem, s, items, plan,
                       (variant){memory, false, true, levels});
  else if (memory)
    sort_topologically(problem, s, items, plan,
                       (variant){true, true, problem->has_waits, levels});
  else if (problem->has_waits)
    sort_topologically(problem, s, items, plan,
                       (variant){false, true, true, levels});
  else
    sort_topologically(problem, s, items, plan,
                       (variant){false, true, false, levels});
}

static void sort_any(const regal_problem *problem, scratch *s, uint32_t items,
                     regal_plan *plan) {
  int levels = regal_ready_levels((size_t)items + 1);
  if (levels == 2)
    sort_at_levels(problem, s, items, plan, 2);
  else if (levels == 3)
    sort_at_levels(problem, s, items, plan, 3);
  else
    sort_at_levels(problem, s, items, plan, REGAL_READY_LEVELS);
}

static regal_fitness decode(const regal_problem *problem, void *memory,
                            const regal_gene *genes, regal_plan *plan) {
  scratch *s = memory;
  const regal_gene *priority = genes + (size_t)problem->ops * problem->devices;
  regal_place_by_affinity(problem, genes, s->placement);
  uint32_t sends = s->most_items <= REGAL_RANKING_FEW
                       ? rank_items(problem, s, priority, true)
                       : rank_items(problem, s, priority, false);
  place_items(problem, s, sends);
  if (plan)
    plan->step_count = 0;
  sort_any(problem, s, problem->ops + sends, plan);
  return regal_running_cost_fitness(&s->running, problem,
                                    regal_problem_needs_memory(problem));
}

/* Transfers that the plan does not need would leave as soon as they could. */
static void encode_transfers(const regal_problem *problem,
                             const regal_gene *priority, regal_gene *transfer) {
  uint32_t d = problem->devices;
  for (uint32_t op = 0; op < problem->ops; op++)
    for (REGAL_ROW(t, problem->output_begin, op))
      for (uint32_t a = 0; a < d; a++)
        transfer[(size_t)t * d + a] = priority[op];
}

/* Priorities fall along the plan, so that it is the only order which the
 * topological sort can find (up to 2^24 steps). */
static void encode(const regal_problem *problem, const regal_plan *plan,
                   regal_gene *genes) {
  uint32_t d = problem->devices;
  uint8_t relabel[REGAL_MAX_DEVICES];
  regal_gene *priority = genes + (size_t)problem->ops * d;
  regal_gene *transfer = priority + problem->ops;
  regal_encode_placement(problem, plan, genes, relabel);
  regal_encode_order(plan, priority);
  encode_transfers(problem, priority, transfer);
  regal_encode_transfers(problem, plan, relabel, transfer);
}

const regal_decoder regal_decoder_paper = {
    .name = "paper",
    .help = "the paper's: devices by affinity, one order of ops and transfers",
    .classes = {{"affinity", REGAL_GENE_OP_DEVICE},
                {"priority", REGAL_GENE_OP},
                {"transfer", REGAL_GENE_TENSOR_DEVICE}},
    .create_scratch = create_scratch,
    .decode = decode,
    .encode = encode,
};
