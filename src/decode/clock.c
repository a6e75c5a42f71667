/* SPDX-License-Identifier: Apache-2.0 */
/* The clock decoder: priorities only; devices choose ops.
 *
 * The device whose clock lags takes the runnable op with the best key that
 * needs no exchange. An exchange happens only when there is no such op, or when
 * the clocks are within a threshold of each other, so that it costs little, and
 * a better op waits behind it. Keys blend the longest chain of run times that
 * hangs on an op with its gene. Threshold and blend are genes too.
 *
 * Made for wide graphs and blocking transfers of little cost, the paper's own
 * task: there every transfer is a barrier, and between two barriers the labels
 * of the devices are free. Costs of transfers, links and memory do not guide
 * it, but are counted exactly, by decode/walk.h, once order and placement
 * stand. Only where memory is limited a device passes over ops that would bring
 * it beyond its limit, by the estimate of decode/memory_estimate.h, while there
 * are others, there or elsewhere.
 */
#include "decode/decoder.h"
#include "decode/genes.h"
#include "decode/levels.h"
#include "decode/memory_estimate.h"
#include "decode/rank.h"
#include "decode/walk.h"

typedef struct scratch {
  /* Fixed for the problem. */
  regal_gene *level;    /* [ops] longest chain after the op, as a gene */
  int64_t threshold_ns; /* the largest threshold */
  /* Of one chromosome. */
  uint32_t *by_rank;   /* [ops] */
  uint32_t *rank;      /* [ops] */
  uint64_t *ready;     /* bit per rank: runnable, not yet run */
  uint32_t *missing;   /* [ops] inputs and waits that have not run */
  uint32_t *latest;    /* [ops * devices] position of the latest input */
  uint32_t *exchanged; /* [devices * devices] position of the last exchange */
  int64_t *ready_ns;   /* [ops] when the last awaited op ended */
  int64_t clock_ns[REGAL_MAX_DEVICES];
  uint32_t *order;    /* [ops] */
  uint8_t *placement; /* [ops] */
  uint8_t *placed;    /* [ops] at a group's first op: the group has a device */
  regal_ranking ranking;
  regal_memory_estimate estimate; /* where memory is limited */
  regal_walk walk;
} scratch;

/* Ops beyond the limit that a device looks at before it gives up, so that wide
 * graphs that do not fit take no quadratic time. */
#define MOST_TRIED 32

static size_t words_of(const regal_problem *problem) {
  return (size_t)problem->ops / 64 + 1;
}

static void layout(scratch *made, regal_carver *carver,
                   const regal_problem *problem) {
  size_t ops = problem->ops, d = problem->devices;
  made->level = regal_carve(carver, ops, sizeof(regal_gene));
  made->by_rank = regal_carve(carver, ops, 4);
  made->rank = regal_carve(carver, ops, 4);
  made->ready = regal_carve(carver, words_of(problem), 8);
  made->missing = regal_carve(carver, ops, 4);
  made->latest = regal_carve(carver, ops * d, 4);
  made->exchanged = regal_carve(carver, d * d, 4);
  made->ready_ns = regal_carve(carver, ops, 8);
  made->order = regal_carve(carver, ops, 4);
  made->placement = regal_carve(carver, ops, 1);
  made->placed = regal_carve(carver, ops, 1);
  regal_ranking_layout(&made->ranking, carver, ops);
  regal_memory_estimate_layout(&made->estimate, carver, problem);
  regal_walk_layout(&made->walk, carver, problem);
}

static void fill(scratch *made, const regal_problem *problem) {
  int64_t mean_ns = regal_levels_fill(problem, 0, made->ready_ns, made->level);
  made->threshold_ns = 2 * mean_ns;
  regal_memory_estimate_fill(&made->estimate, problem);
}

REGAL_DEFINE_CREATE_SCRATCH(scratch, layout, fill)

/* Ranks the ops by (1 - u^2) * level + u^2 * gene, u the blend. */
REGAL_INLINE void rank_ops(const regal_problem *problem, scratch *s,
                           const regal_gene *priority, regal_gene blend,
                           bool few) {
  uint64_t share = regal_levels_share(blend);
  regal_ranking_begin(&s->ranking, few);
  for (uint32_t op = 0; op < problem->ops; op++) {
    regal_gene key = regal_levels_blend(s->level[op], priority[op], share);
    regal_ranking_add_if(&s->ranking, op, key, 1, few);
  }
  regal_ranking_number(&s->ranking, problem->ops, few, s->by_rank, s->rank);
}

static void begin(const regal_problem *problem, scratch *s) {
  size_t ops = problem->ops, d = problem->devices;
  memcpy(s->missing, problem->needs, ops * sizeof *s->missing);
  memset(s->latest, 0, ops * d * sizeof *s->latest);
  memset(s->exchanged, 0, d * d * sizeof *s->exchanged);
  memset(s->ready_ns, 0, ops * sizeof *s->ready_ns);
  memset(s->clock_ns, 0, d * sizeof *s->clock_ns);
  memset(s->placed, 0, ops);
  for (uint32_t op = 0; op < problem->ops; op++)
    if (!s->missing[op])
      s->ready[s->rank[op] / 64] |= UINT64_C(1) << s->rank[op] % 64;
}

/* As regal_devices_left says, with fewer instructions for one device. */
static bool may_run(const regal_problem *problem, const scratch *s, uint32_t op,
                    uint32_t device) {
  if (problem->leader && s->placed[problem->leader[op]])
    return s->placement[problem->leader[op]] == device;
  return problem->allowed[op] >> device & 1;
}

/* Whether all inputs are there, or can be without another exchange. */
REGAL_INLINE bool is_free(const regal_problem *problem, const scratch *s,
                          uint32_t op, uint32_t device) {
  uint32_t d = problem->devices;
  if (d == 2)
    return s->latest[op * 2 + 1 - device] <= s->exchanged[1];
  for (uint32_t from = 0; from < d; from++)
    if (from != device &&
        s->latest[(size_t)op * d + from] > s->exchanged[from * d + device])
      return false;
  return true;
}

typedef struct choice {
  uint32_t best; /* rank of the best runnable op, or REGAL_NONE */
  uint32_t free; /* rank of the best that needs no exchange */
} choice;

/* How far the op would bring the device beyond its limit. */
static int64_t excess_on(const regal_problem *problem, scratch *s, uint32_t op,
                         uint32_t device) {
  int64_t reused = regal_memory_estimate_reused(&s->estimate, problem, op);
  regal_device_memory made =
      regal_memory_estimate_try(&s->estimate, problem, op, device, reused);
  return regal_memory_estimate_excess(&s->estimate, problem, device, made);
}

/* What is beyond the limit on every device: the least of it. */
typedef struct overflow {
  int64_t least;
  uint32_t rank, device;
} overflow;

/* No rank below that word is ready. */
REGAL_INLINE choice look_for(const regal_problem *problem, scratch *s,
                             uint32_t device, size_t first_word,
                             overflow *beyond, bool limited) {
  choice found = {REGAL_NONE, REGAL_NONE};
  int tried = 0;
  size_t words = words_of(problem);
  for (size_t w = first_word; w < words; w++)
    for (uint64_t left = s->ready[w]; left; left &= left - 1) {
      uint32_t rank = (uint32_t)(w * 64) + (uint32_t)__builtin_ctzll(left);
      uint32_t op = s->by_rank[rank];
      if (!may_run(problem, s, op, device))
        continue;
      if (limited) {
        int64_t excess = excess_on(problem, s, op, device);
        if (excess < beyond->least)
          *beyond = (overflow){excess, rank, device};
        if (excess && ++tried == MOST_TRIED)
          return found;
        if (excess)
          continue;
      }
      if (found.best == REGAL_NONE)
        found.best = rank;
      if (!is_free(problem, s, op, device))
        continue;
      found.free = rank;
      return found;
    }
  return found;
}

/* The device with the least clock that is not in `passed`. */
static uint32_t find_lagging(const regal_problem *problem, const scratch *s,
                             uint64_t passed) {
  uint32_t lagging = REGAL_NONE;
  for (uint32_t a = 0; a < problem->devices; a++)
    if (!(passed >> a & 1) &&
        (lagging == REGAL_NONE || s->clock_ns[a] < s->clock_ns[lagging]))
      lagging = a;
  return lagging;
}

/* How far the clocks are ahead of the device's. */
static int64_t spread_of(const regal_problem *problem, const scratch *s,
                         uint32_t device) {
  int64_t latest = 0;
  for (uint32_t a = 0; a < problem->devices; a++)
    latest = regal_later(latest, s->clock_ns[a]);
  return latest - s->clock_ns[device];
}

/* The devices' clocks meet where the op misses an input. */
static void exchange(const regal_problem *problem, scratch *s, uint32_t op,
                     uint32_t device, uint32_t position) {
  uint32_t d = problem->devices;
  for (uint32_t from = 0; from < d; from++) {
    uint32_t there = from * d + device, back = device * d + from;
    if (from == device ||
        s->latest[(size_t)op * d + from] <= s->exchanged[there])
      continue;
    s->exchanged[there] = s->exchanged[back] = position - 1;
    s->clock_ns[from] = s->clock_ns[device] =
        regal_later(s->clock_ns[from], s->clock_ns[device]);
  }
}

REGAL_INLINE void tell(scratch *s, uint32_t op) {
  if (--s->missing[op] == 0)
    s->ready[s->rank[op] / 64] |= UINT64_C(1) << s->rank[op] % 64;
}

static void run_op(const regal_problem *problem, scratch *s, uint32_t op,
                   uint32_t device, uint32_t position) {
  uint32_t d = problem->devices;
  int64_t end = regal_later(s->clock_ns[device], s->ready_ns[op]) +
                regal_problem_run_ns(problem, op, device);
  s->clock_ns[device] = end;
  s->ready[s->rank[op] / 64] &= ~(UINT64_C(1) << s->rank[op] % 64);
  s->order[position - 1] = op;
  regal_place_op(problem, s->placed, s->placement, op, device);
  uint32_t use_end = problem->use_begin[problem->output_begin[op + 1]];
  for (uint32_t u = problem->use_begin[problem->output_begin[op]]; u < use_end;
       u++) {
    s->latest[(size_t)problem->consumer[u] * d + device] = position;
    tell(s, problem->consumer[u]);
  }
  for (REGAL_ROW(w, problem->wait_begin, op)) {
    uint32_t waiter = problem->waiter[w];
    s->ready_ns[waiter] = regal_later(s->ready_ns[waiter], end);
    tell(s, waiter);
  }
}

/* Finds the next op and its device. A device that can run nothing is passed
 * over; some device always can, if only beyond its limit. */
REGAL_INLINE uint32_t choose(const regal_problem *problem, scratch *s,
                             int64_t threshold_ns, size_t first_word,
                             uint32_t *device, bool limited) {
  uint64_t passed = 0;
  overflow beyond = {INT64_MAX, 0, 0};
  for (;;) {
    *device = find_lagging(problem, s, passed);
    if (limited && *device == REGAL_NONE) {
      *device = beyond.device;
      return s->by_rank[beyond.rank];
    }
    choice found = look_for(problem, s, *device, first_word, &beyond, limited);
    if (found.best == REGAL_NONE) {
      passed |= UINT64_C(1) << *device;
      continue;
    }
    bool exchanges = found.free == REGAL_NONE ||
                     (found.free != found.best &&
                      spread_of(problem, s, *device) <= threshold_ns);
    return s->by_rank[exchanges ? found.best : found.free];
  }
}

REGAL_INLINE void schedule(const regal_problem *problem, scratch *s,
                           int64_t threshold_ns, bool limited) {
  begin(problem, s);
  if (limited)
    regal_memory_estimate_begin(&s->estimate, problem);
  for (uint32_t position = 1; position <= problem->ops; position++) {
    uint32_t device;
    size_t first_word = 0;
    while (!s->ready[first_word])
      first_word++;
    uint32_t op =
        choose(problem, s, threshold_ns, first_word, &device, limited);
    if (limited)
      regal_memory_estimate_take(&s->estimate, problem, op, device);
    exchange(problem, s, op, device, position);
    run_op(problem, s, op, device, position);
  }
}

static regal_fitness decode(const regal_problem *problem, void *memory,
                            const regal_gene *genes, regal_plan *plan) {
  scratch *s = memory;
  const regal_gene *global = genes + problem->ops;
  if (problem->ops <= REGAL_RANKING_FEW)
    rank_ops(problem, s, genes, global[0], true);
  else
    rank_ops(problem, s, genes, global[0], false);
  double share = (double)global[1] / REGAL_GENE_LARGEST;
  int64_t threshold_ns = (int64_t)(share * share * (double)s->threshold_ns);
  if (problem->limited)
    schedule(problem, s, threshold_ns, true);
  else
    schedule(problem, s, threshold_ns, false);
  return regal_walk_within_limit(problem, &s->walk, s->order, s->placement,
                                 plan);
}

/* The plan's order as priorities, unblended; devices are the decoder's. */
static void encode(const regal_problem *problem, const regal_plan *plan,
                   regal_gene *genes) {
  regal_encode_order(plan, genes);
  genes[problem->ops] = REGAL_GENE_LARGEST;
  genes[problem->ops + 1] = 0;
}

const regal_decoder regal_decoder_clock = {
    .name = "clock",
    .help = "priorities only: the device that lags takes the best op it can",
    .classes = {{"priority", REGAL_GENE_OP},
                {"blend", REGAL_GENE_GLOBAL},
                {"threshold", REGAL_GENE_GLOBAL}},
    .create_scratch = create_scratch,
    .decode = decode,
    .encode = encode,
};
