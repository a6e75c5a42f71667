/* SPDX-License-Identifier: Apache-2.0 */
/* The closure decoder, for memory: which ops to run next is read off the bytes
 * that they leave alive; genes only disturb it.
 *
 * The candidate with the best score (decode/closure_candidates.h) runs with all
 * that it still needs. Each op then goes to the device where it costs least, by
 * the estimate of decode/memory_estimate.h: bytes that the device holds more
 * afterwards, and, with a weight that is a gene, bytes by which the largest
 * peak grows. (A device where peaks never grow first is too greedy: what will
 * be there to the end has to be balanced while it does not hurt yet.) Where run
 * time is the objective the op's end counts instead. Memory limits come before
 * all that, and a gene for each op and device can tip the scales. Transfers are
 * late. Costs are counted exactly, by decode/walk.h, once order and placement
 * stand.
 */
#include "decode/closure_candidates.h"
#include "decode/decoder.h"
#include "decode/genes.h"
#include "decode/memory_estimate.h"
#include "decode/walk.h"

/* Where the genes that are not tied to an op stand, behind the others. */
enum { WEIGHT, BIAS, PEAK };

/* Of bytes beyond a limit, against bytes within: outweighed by very few genes,
 * but by those of a plan that was encoded. */
#define EXCESS_WEIGHT 1024.0

typedef struct scratch {
  /* Fixed for the problem. */
  double mean_bytes; /* of a tensor that has some */
  double mean_ns;    /* of an op that takes some */
  /* Of one chromosome. */
  double *noise;      /* [ops] bytes */
  int64_t *ready_ns;  /* [ops] when the last op before it ended; run time */
  uint32_t *order;    /* [ops] */
  uint8_t *placement; /* [ops] */
  int64_t worst;      /* peak of any device */
  double peak_weight; /* of growing it */
  double bias;        /* of genes for devices */
  int64_t clock_ns[REGAL_MAX_DEVICES]; /* run time */
  regal_closure_candidates candidates;
  regal_memory_estimate estimate;
  regal_walk walk;
} scratch;

static void layout(scratch *made, regal_carver *carver,
                   const regal_problem *problem) {
  size_t ops = problem->ops;
  made->noise = regal_carve(carver, ops, sizeof(double));
  made->ready_ns = regal_carve(carver, ops, 8);
  made->order = regal_carve(carver, ops, 4);
  made->placement = regal_carve(carver, ops, 1);
  regal_closure_candidates_layout(&made->candidates, carver, problem);
  regal_memory_estimate_layout(&made->estimate, carver, problem);
  regal_walk_layout(&made->walk, carver, problem);
}

static double mean_of(const int64_t *values, size_t count) {
  double sum = 0, positive = 0;
  for (size_t i = 0; i < count; i++) {
    sum += (double)values[i];
    positive += values[i] > 0;
  }
  return positive > 0 ? sum / positive : 1;
}

static void fill(scratch *made, const regal_problem *problem) {
  made->mean_bytes = mean_of(problem->bytes, problem->tensors);
  made->mean_ns = mean_of(problem->graph->run_ns, problem->ops);
  regal_closure_candidates_fill(&made->candidates, problem);
  regal_memory_estimate_fill(&made->estimate, problem);
}

REGAL_DEFINE_CREATE_SCRATCH(scratch, layout, fill)

/* From 0 over 1 in the middle to as much as outweighs everything. */
static double weight_of(regal_gene gene) {
  return regal_gene_unit(gene) / (1 - regal_gene_unit(gene));
}

static int64_t end_on(const regal_problem *problem, const scratch *s,
                      uint32_t op, uint32_t device) {
  return regal_later(s->clock_ns[device], s->ready_ns[op]) +
         regal_problem_run_ns(problem, op, device);
}

/* What it costs to run the op there, in mean tensors or mean ops. */
REGAL_INLINE double cost_on(const regal_problem *problem, const scratch *s,
                            uint32_t op, uint32_t device,
                            regal_device_memory made, regal_gene affinity) {
  const regal_memory_estimate *h = &s->estimate;
  double bytes = 0, cost = -s->bias * regal_gene_unit(affinity);
  if (problem->limited)
    bytes += EXCESS_WEIGHT *
             (double)regal_memory_estimate_excess(h, problem, device, made);
  if (problem->objective == REGAL_RUNTIME)
    cost += (double)end_on(problem, s, op, device) / s->mean_ns;
  else
    bytes += (double)(made.memory - h->memory[device]) +
             s->peak_weight * (double)regal_later(0, made.peak - s->worst);
  return cost + bytes / s->mean_bytes;
}

static uint32_t choose_device(const regal_problem *problem, scratch *s,
                              uint32_t op, const regal_gene *affinity,
                              regal_device_memory *chosen) {
  int64_t reused = regal_memory_estimate_reused(&s->estimate, problem, op);
  uint64_t left =
      regal_devices_left(problem, s->estimate.placed, s->placement, op);
  uint32_t best = REGAL_NONE;
  double least = 0;
  for (; left; left &= left - 1) {
    uint32_t device = (uint32_t)__builtin_ctzll(left);
    regal_device_memory made =
        regal_memory_estimate_try(&s->estimate, problem, op, device, reused);
    double cost = cost_on(problem, s, op, device, made, affinity[device]);
    if (best != REGAL_NONE && cost >= least)
      continue;
    best = device;
    least = cost;
    *chosen = made;
  }
  return best;
}

/* Clocks that know nothing of transfers: for the choice of devices only. */
static void run_clock(const regal_problem *problem, scratch *s, uint32_t op,
                      uint32_t device) {
  int64_t end = end_on(problem, s, op, device);
  s->clock_ns[device] = end;
  for (REGAL_ROW(k, problem->successor_begin, op)) {
    int64_t *ready = &s->ready_ns[problem->successor[k]];
    *ready = regal_later(*ready, end);
  }
}

static void place(const regal_problem *problem, scratch *s, uint32_t op,
                  const regal_gene *affinity) {
  regal_device_memory chosen;
  uint32_t device = choose_device(problem, s, op, affinity, &chosen);
  regal_memory_estimate_run(&s->estimate, problem, op, device, chosen);
  s->worst = regal_later(s->worst, chosen.peak);
  regal_place_op(problem, s->estimate.placed, s->placement, op, device);
  if (problem->objective == REGAL_RUNTIME)
    run_clock(problem, s, op, device);
}

static void begin(const regal_problem *problem, scratch *s,
                  const regal_gene *noise, const regal_gene *global) {
  double weight = weight_of(global[WEIGHT]) * s->mean_bytes;
  s->peak_weight = weight_of(global[PEAK]);
  s->bias = weight_of(global[BIAS]);
  s->worst = 0;
  for (uint32_t op = 0; op < problem->ops; op++)
    s->noise[op] = -weight * regal_gene_unit(noise[op]);
  memset(s->clock_ns, 0, problem->devices * sizeof *s->clock_ns);
  memset(s->ready_ns, 0, problem->ops * sizeof *s->ready_ns);
  regal_closure_candidates_begin(&s->candidates, problem, s->noise);
  regal_memory_estimate_begin(&s->estimate, problem);
}

static void schedule(const regal_problem *problem, scratch *s,
                     const regal_gene *affinity) {
  for (uint32_t done = 0; done < problem->ops;) {
    regal_closure closure = regal_closure_candidates_best(&s->candidates);
    for (uint32_t k = 0; k < closure.size; k++) {
      uint32_t op = closure.op[k];
      s->order[done++] = op;
      place(problem, s, op, affinity + (size_t)op * problem->devices);
      regal_closure_candidates_run(&s->candidates, problem, op);
    }
    regal_closure_candidates_refresh(&s->candidates, problem);
  }
}

static regal_fitness decode(const regal_problem *problem, void *memory,
                            const regal_gene *genes, regal_plan *plan) {
  scratch *s = memory;
  const regal_gene *affinity = genes + problem->ops;
  begin(problem, s, genes, affinity + (size_t)problem->ops * problem->devices);
  schedule(problem, s, affinity);
  return regal_walk_late(problem, &s->walk, s->order, s->placement, plan);
}

/* The plan's order and its devices, outweighing all bytes. */
static void encode(const regal_problem *problem, const regal_plan *plan,
                   regal_gene *genes) {
  regal_gene *affinity = genes + problem->ops;
  regal_gene *global = affinity + (size_t)problem->ops * problem->devices;
  regal_encode_order(plan, genes);
  regal_encode_devices(problem, plan, NULL, affinity);
  global[WEIGHT] = REGAL_GENE_LARGEST;
  global[BIAS] = REGAL_GENE_LARGEST;
  global[PEAK] = 0;
}

const regal_decoder regal_decoder_closure = {
    .name = "closure",
    .help = "for memory: ops with what they need, by the bytes they leave "
            "alive, where peaks grow least",
    .classes = {{"noise", REGAL_GENE_OP},
                {"affinity", REGAL_GENE_OP_DEVICE},
                {"weight", REGAL_GENE_GLOBAL},
                {"bias", REGAL_GENE_GLOBAL},
                {"peak", REGAL_GENE_GLOBAL}},
    .create_scratch = create_scratch,
    .decode = decode,
    .encode = encode,
};
