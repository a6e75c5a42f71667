/* SPDX-License-Identifier: Apache-2.0 */
/* The earliest-finish decoder: list scheduling whose priorities, preferences
 * for devices and settings are genes (HEFT, with a search on top).
 *
 * The runnable op with the best key goes to the device where it ends first,
 * counting the transfers that it would need one by one. With blocking transfers
 * a share of the delay that these inflict on other devices counts too, and a
 * gene for each op and device can tip the scales. Costs are then counted
 * exactly by decode/walk.h: batched for blocking transfers, which is never
 * later than one by one, late where there are links.
 *
 * Where memory is limited, a device that the op would bring beyond its limit,
 * by the estimate of decode/memory_estimate.h, is only chosen when all would
 * be.
 */
#include "decode/decoder.h"
#include "decode/genes.h"
#include "decode/levels.h"
#include "decode/memory_estimate.h"
#include "decode/rank.h"
#include "decode/ready.h"
#include "decode/walk.h"

/* Where the genes that are not tied to an op stand, behind the others. */
enum { BLEND, DELAY, PREFERENCE, TRANSFERS };

/* What an op would do to the clocks if it ran on a device. */
typedef struct trial {
  int64_t clock_ns[REGAL_MAX_DEVICES];
  int64_t end_ns;
  int64_t delay_ns; /* of other devices */
} trial;

typedef struct scratch {
  /* Fixed for the problem. */
  regal_gene *level;         /* [ops] chains of run times */
  regal_gene *level_sending; /* [ops] chains with half of the transfers */
  int64_t mean_ns;           /* run time of an op */
  /* Of one chromosome. */
  uint32_t *by_rank;   /* [ops] */
  uint32_t *rank;      /* [ops] */
  uint32_t *missing;   /* [ops] inputs and waits that have not run */
  int64_t *ready_ns;   /* [ops] when the last awaited op ended */
  int64_t *end_ns;     /* [ops] */
  int64_t *arrival_ns; /* [tensors * devices] overlapped: when it is there */
  uint64_t *present;   /* [tensors] bit per device that has it */
  int64_t *link_ns;    /* [devices * devices] overlapped: the link is free */
  int64_t *tried_ns;   /* the same, for the device that is tried */
  int64_t clock_ns[REGAL_MAX_DEVICES];
  uint32_t *order;    /* [ops] */
  uint8_t *placement; /* [ops] */
  uint8_t *placed;    /* [ops] at a group's first op: the group has a device */
  regal_ranking ranking;
  regal_ready ready;
  regal_memory_estimate estimate; /* where memory is limited */
  regal_walk walk;
} scratch;

static void layout(scratch *made, regal_carver *carver,
                   const regal_problem *problem) {
  size_t ops = problem->ops, d = problem->devices;
  made->level = regal_carve(carver, ops, sizeof(regal_gene));
  made->level_sending = regal_carve(carver, ops, sizeof(regal_gene));
  made->by_rank = regal_carve(carver, ops, 4);
  made->rank = regal_carve(carver, ops, 4);
  made->missing = regal_carve(carver, ops, 4);
  made->ready_ns = regal_carve(carver, ops, 8);
  made->end_ns = regal_carve(carver, ops, 8);
  made->arrival_ns = regal_carve(carver, problem->tensors * d, 8);
  made->present = regal_carve(carver, problem->tensors, 8);
  made->link_ns = regal_carve(carver, d * d, 8);
  made->tried_ns = regal_carve(carver, d * d, 8);
  made->order = regal_carve(carver, ops, 4);
  made->placement = regal_carve(carver, ops, 1);
  made->placed = regal_carve(carver, ops, 1);
  regal_ranking_layout(&made->ranking, carver, ops);
  regal_ready_layout(&made->ready, carver, ops + 1);
  regal_memory_estimate_layout(&made->estimate, carver, problem);
  regal_walk_layout(&made->walk, carver, problem);
}

static void fill(scratch *made, const regal_problem *problem) {
  regal_levels_fill(problem, 1, made->ready_ns, made->level_sending);
  made->mean_ns = regal_levels_fill(problem, 0, made->ready_ns, made->level);
  regal_memory_estimate_fill(&made->estimate, problem);
}

REGAL_DEFINE_CREATE_SCRATCH(scratch, layout, fill)

static void rank_ops(const regal_problem *problem, scratch *s,
                     const regal_gene *priority, const regal_gene *global) {
  bool few = problem->ops <= REGAL_RANKING_FEW;
  uint64_t share = regal_levels_share(global[BLEND]);
  uint64_t sending = global[TRANSFERS] >> (REGAL_GENE_BITS - 16);
  regal_ranking_begin(&s->ranking, few);
  for (uint32_t op = 0; op < problem->ops; op++) {
    regal_gene level =
        regal_levels_blend(s->level[op], s->level_sending[op], sending);
    regal_gene key = regal_levels_blend(level, priority[op], share);
    regal_ranking_add_if(&s->ranking, op, key, 1, few);
  }
  regal_ranking_number(&s->ranking, problem->ops, few, s->by_rank, s->rank);
}

static void begin(const regal_problem *problem, scratch *s) {
  size_t ops = problem->ops, d = problem->devices;
  memcpy(s->missing, problem->needs, ops * sizeof *s->missing);
  memset(s->ready_ns, 0, ops * sizeof *s->ready_ns);
  memset(s->clock_ns, 0, d * sizeof *s->clock_ns);
  memset(s->link_ns, 0, d * d * sizeof *s->link_ns);
  memset(s->placed, 0, ops);
}

/* Overlapped: when the op's last input is there, links being used in turn. */
static int64_t fetch_overlapped(const regal_problem *problem, scratch *s,
                                uint32_t op, uint32_t device, int64_t start,
                                bool commit) {
  uint32_t d = problem->devices;
  for (uint32_t from = 0; from < d; from++)
    s->tried_ns[from] = s->link_ns[from * d + device];
  for (REGAL_ROW(i, problem->input_begin, op)) {
    uint32_t t = problem->input[i], made_by = problem->producer[t];
    uint32_t home = s->placement[made_by];
    if (home == device)
      continue;
    int64_t *arrival = &s->arrival_ns[(size_t)t * d + device];
    if (s->present[t] >> device & 1) {
      start = regal_later(start, *arrival);
      continue;
    }
    int64_t there = regal_later(s->end_ns[made_by], s->tried_ns[home]) +
                    regal_problem_transfer_ns(problem, t, home, device);
    s->tried_ns[home] = there;
    start = regal_later(start, there);
    if (commit) {
      *arrival = there;
      s->present[t] |= UINT64_C(1) << device;
      s->link_ns[home * d + device] = there;
    }
  }
  return start;
}

/* Blocking: each missing input stops the device and the one that has it. */
static void fetch_blocking(const regal_problem *problem, scratch *s,
                           uint32_t op, uint32_t device, trial *made,
                           bool commit) {
  for (REGAL_ROW(i, problem->input_begin, op)) {
    uint32_t t = problem->input[i];
    uint32_t home = s->placement[problem->producer[t]];
    if (home == device || (s->present[t] >> device & 1))
      continue;
    int64_t *clock = made->clock_ns;
    int64_t end = regal_later(clock[home], clock[device]) +
                  regal_problem_transfer_ns(problem, t, home, device);
    made->delay_ns += end - clock[home];
    clock[home] = clock[device] = end;
    if (commit)
      s->present[t] |= UINT64_C(1) << device;
  }
}

static void try_device(const regal_problem *problem, scratch *s, uint32_t op,
                       uint32_t device, trial *made, bool commit) {
  uint32_t d = problem->devices;
  made->delay_ns = 0;
  memcpy(made->clock_ns, s->clock_ns, d * sizeof *s->clock_ns);
  if (problem->machine->overlapped)
    made->clock_ns[device] = fetch_overlapped(problem, s, op, device,
                                              made->clock_ns[device], commit);
  else
    fetch_blocking(problem, s, op, device, made, commit);
  made->end_ns = regal_later(made->clock_ns[device], s->ready_ns[op]) +
                 regal_problem_run_ns(problem, op, device);
  made->clock_ns[device] = made->end_ns;
}

/* Of those devices the ones that the op brings least beyond their limits. */
static uint64_t within_limit(const regal_problem *problem, scratch *s,
                             uint32_t op, uint64_t devices) {
  int64_t reused = regal_memory_estimate_reused(&s->estimate, problem, op);
  int64_t least = INT64_MAX;
  uint64_t found = 0;
  for (; devices; devices &= devices - 1) {
    uint32_t device = (uint32_t)__builtin_ctzll(devices);
    regal_device_memory made =
        regal_memory_estimate_try(&s->estimate, problem, op, device, reused);
    int64_t excess =
        regal_memory_estimate_excess(&s->estimate, problem, device, made);
    found = excess < least ? 0 : found;
    least = excess < least ? excess : least;
    found |= (uint64_t)(excess == least) << device;
  }
  return found;
}

REGAL_INLINE uint32_t choose_device(const regal_problem *problem, scratch *s,
                                    uint32_t op, const regal_gene *preference,
                                    double delay_weight, double preference_ns) {
  uint64_t left = regal_devices_left(problem, s->placed, s->placement, op);
  if (problem->limited && (left & (left - 1)))
    left = within_limit(problem, s, op, left);
  uint32_t best = (uint32_t)__builtin_ctzll(left);
  double least = 0;
  if (!(left & (left - 1)))
    return best;
  for (bool first = true; left; left &= left - 1, first = false) {
    uint32_t device = (uint32_t)__builtin_ctzll(left);
    trial made;
    try_device(problem, s, op, device, &made, false);
    double score = (double)made.end_ns + delay_weight * (double)made.delay_ns -
                   preference_ns * regal_gene_unit(preference[device]);
    if (first || score < least ||
        (score == least && s->clock_ns[device] < s->clock_ns[best])) {
      best = device;
      least = score;
    }
  }
  return best;
}

REGAL_INLINE void tell(scratch *s, uint32_t op, int levels) {
  if (--s->missing[op] == 0)
    regal_ready_push(&s->ready, s->rank[op], levels);
}

static void run_op(const regal_problem *problem, scratch *s, uint32_t op,
                   uint32_t device, int levels) {
  trial made;
  try_device(problem, s, op, device, &made, true);
  memcpy(s->clock_ns, made.clock_ns, problem->devices * sizeof *s->clock_ns);
  s->end_ns[op] = made.end_ns;
  regal_place_op(problem, s->placed, s->placement, op, device);
  for (REGAL_ROW(t, problem->output_begin, op)) {
    s->present[t] = UINT64_C(1) << device;
    for (REGAL_ROW(u, problem->use_begin, t))
      tell(s, problem->consumer[u], levels);
  }
  for (REGAL_ROW(w, problem->wait_begin, op)) {
    uint32_t waiter = problem->waiter[w];
    s->ready_ns[waiter] = regal_later(s->ready_ns[waiter], made.end_ns);
    tell(s, waiter, levels);
  }
}

static void schedule(const regal_problem *problem, scratch *s,
                     const regal_gene *preference, const regal_gene *global) {
  int levels = regal_ready_levels((size_t)problem->ops + 1);
  double delay = regal_gene_unit(global[DELAY]),
         bias = regal_gene_unit(global[PREFERENCE]);
  begin(problem, s);
  if (problem->limited)
    regal_memory_estimate_begin(&s->estimate, problem);
  for (uint32_t op = 0; op < problem->ops; op++)
    if (!s->missing[op])
      regal_ready_push(&s->ready, s->rank[op], levels);
  for (uint32_t i = 0; i < problem->ops; i++) {
    uint32_t rank = regal_ready_lowest(&s->ready, levels);
    regal_ready_remove(&s->ready, rank, levels);
    uint32_t op = s->by_rank[rank];
    uint32_t device = choose_device(
        problem, s, op, preference + (size_t)op * problem->devices,
        2 * delay * delay, 4 * bias * bias * (double)s->mean_ns);
    if (problem->limited)
      regal_memory_estimate_take(&s->estimate, problem, op, device);
    s->order[i] = op;
    run_op(problem, s, op, device, levels);
  }
}

static regal_fitness decode(const regal_problem *problem, void *memory,
                            const regal_gene *genes, regal_plan *plan) {
  scratch *s = memory;
  const regal_gene *preference = genes + problem->ops;
  const regal_gene *global =
      preference + (size_t)problem->ops * problem->devices;
  rank_ops(problem, s, genes, global);
  schedule(problem, s, preference, global);
  if (problem->machine->overlapped)
    return regal_walk_late(problem, &s->walk, s->order, s->placement, plan);
  return regal_walk_within_limit(problem, &s->walk, s->order, s->placement,
                                 plan);
}

/* The plan's order as priorities and its devices as strong preferences. */
static void encode(const regal_problem *problem, const regal_plan *plan,
                   regal_gene *genes) {
  regal_gene *preference = genes + problem->ops;
  regal_gene *global = preference + (size_t)problem->ops * problem->devices;
  regal_encode_order(plan, genes);
  regal_encode_devices(problem, plan, NULL, preference);
  global[BLEND] = REGAL_GENE_LARGEST;
  global[DELAY] = 0;
  global[PREFERENCE] = REGAL_GENE_LARGEST;
  global[TRANSFERS] = 0;
}

const regal_decoder regal_decoder_eft = {
    .name = "eft",
    .help = "best key first, each op where it ends first, transfers counted",
    .classes = {{"priority", REGAL_GENE_OP},
                {"preference", REGAL_GENE_OP_DEVICE},
                {"blend", REGAL_GENE_GLOBAL},
                {"delay", REGAL_GENE_GLOBAL},
                {"weight", REGAL_GENE_GLOBAL},
                {"transfers", REGAL_GENE_GLOBAL}},
    .create_scratch = create_scratch,
    .decode = decode,
    .encode = encode,
};
