/* SPDX-License-Identifier: Apache-2.0 */
/* List scheduling by critical path, each op on the device where it ends first:
 * HEFT (Topcuoglu, Hariri, Wu 2002) without its insertion into gaps, because a
 * device runs its steps in plan order.
 *
 * Ops go by falling rank: mean run time and the longest chain of ranks after
 * it, with a share of the mean transfer time of each tensor on the way. For
 * each op and device the transfers that it would need are simulated one by one,
 * those that can start first going first. Blocking transfers also delay the
 * senders; a part of that delay counts against the device. One pass takes
 * O(n log n + (n + u) d) for n ops and u uses of tensors.
 *
 * How much of the transfers belongs into the rank, and how much of the delay
 * into the choice, depends on the graph: after HEFT itself (all, and none) the
 * method sweeps other settings and keeps the best plan.
 */
#include <string.h>

#include "base/carve.h"
#include "base/compare.h"
#include "heuristic/heuristics.h"
#include "heuristic/list/holding.h"
#include "heuristic/list/orders.h"
#include "search/search.h"

/* The delay counts k^2 / DELAY_UNIT times, for k = 0 .. DELAY_STEPS - 1. */
#define DELAY_UNIT 32
#define DELAY_STEPS 8
/* Passes times (ops + uses); HEFT itself runs whatever the size. */
#define SWEEP_EFFORT 20000000

typedef __int128 wide;

typedef struct setting {
  int transfer_halves; /* share of transfer times in the rank, in halves */
  int delay_weight;    /* of the senders' delay, in 1 / DELAY_UNIT */
} setting;

/* A tensor that the op at hand reads. */
typedef struct arrival {
  int64_t ready_ns; /* when its transfer could begin, if the receiver is free */
  int64_t saved_ns; /* its link's time, while a device is tried */
  uint32_t tensor;
  uint16_t from; /* the producer's device */
} arrival;

typedef struct heft {
  const regal_problem *problem;
  int64_t *transfer_ns; /* [tensors] mean over links, or NULL: all free */
  regal_keyed *by_rank; /* [ops] ascending minus rank */
  int64_t *rank;        /* [ops] */
  int64_t *ready_ns;    /* [ops] when the last control edge lets it start */
  int64_t *end_ns;      /* [ops] */
  uint8_t *placement;   /* [ops] */
  uint8_t *placed;      /* [ops] at a group's first op: the group is placed */
  uint64_t *present;    /* [tensors] devices where it is, or was */
  arrival *arrivals;    /* [most inputs of an op] */
  uint32_t arrival_count;
  int64_t *link_ns; /* [from * devices + to] a link is free, overlapped */
  /* Of a limit, what may be held for the whole plan; 0: limits are ignored. */
  double memory_share;
  regal_holding holding;
  int64_t clock_ns[REGAL_MAX_DEVICES];
} heft;

/* What it means to run an op on a device. */
typedef struct outcome {
  int64_t end_ns;
  wide delay_ns; /* of the other devices' clocks */
} outcome;

static int64_t mean_transfer_ns(const regal_problem *problem, uint32_t tensor) {
  uint32_t d = problem->devices;
  if (problem->link_classes == 1)
    return regal_problem_transfer_ns(problem, tensor, 0, 1);
  wide sum = 0;
  for (uint32_t a = 0; a < d; a++)
    for (uint32_t b = 0; b < d; b++)
      if (a != b)
        sum += regal_problem_transfer_ns(problem, tensor, a, b);
  return (int64_t)(sum / (d * (d - 1)));
}

/* Ranks fit into 64 bits: run times and transfer times each add up to at most
 * INT64_MAX / 2 (regal_problem_bind). */
static int64_t rank_of(const heft *pass, uint32_t op, int transfer_halves) {
  const regal_problem *problem = pass->problem;
  int64_t longest = 0;
  for (REGAL_ROW(t, problem->output_begin, op)) {
    if (problem->use_begin[t] == problem->use_begin[t + 1])
      continue;
    int64_t after = 0;
    for (REGAL_ROW(u, problem->use_begin, t))
      after = regal_larger(after, pass->rank[problem->consumer[u]]);
    if (pass->transfer_ns)
      after += pass->transfer_ns[t] * transfer_halves / 2;
    longest = regal_larger(longest, after);
  }
  for (REGAL_ROW(w, problem->wait_begin, op))
    longest = regal_larger(longest, pass->rank[problem->waiter[w]]);
  return regal_problem_usual_run_ns(problem, op) + longest;
}

/* No op ranks below its successors, and equal ranks go by index, so ops by
 * falling rank are in a topological order. */
static void rank_ops(heft *pass, int transfer_halves) {
  for (uint32_t op = pass->problem->ops; op-- > 0;) {
    pass->rank[op] = rank_of(pass, op, transfer_halves);
    pass->by_rank[op] = (regal_keyed){-pass->rank[op], op};
  }
  regal_keyed_sort(pass->by_rank, pass->problem->ops);
}

static int compare_arrivals(const void *left, const void *right) {
  const arrival *a = left, *b = right;
  if (a->ready_ns != b->ready_ns)
    return a->ready_ns < b->ready_ns ? -1 : 1;
  if (a->from != b->from)
    return a->from < b->from ? -1 : 1;
  return (a->tensor > b->tensor) - (a->tensor < b->tensor);
}

/* The op's inputs in the order in which their transfers would go, wherever the
 * op runs: by the sender's clock, or on links by when they were produced. */
static void list_arrivals(heft *pass, uint32_t op) {
  const regal_problem *problem = pass->problem;
  bool overlapped = problem->machine->overlapped;
  uint32_t count = 0;
  for (REGAL_ROW(i, problem->input_begin, op)) {
    uint32_t tensor = problem->input[i];
    uint32_t producer = problem->producer[tensor];
    uint16_t from = pass->placement[producer];
    int64_t ready = overlapped ? pass->end_ns[producer] : pass->clock_ns[from];
    pass->arrivals[count++] = (arrival){ready, 0, tensor, from};
  }
  pass->arrival_count = count;
  if (count > 1)
    qsort(pass->arrivals, count, sizeof *pass->arrivals, compare_arrivals);
}

static bool must_travel(const heft *pass, const arrival *input,
                        uint32_t device) {
  return !(pass->present[input->tensor] >> device & 1);
}

/* Sends an input to the device; returns when it is there. Time that the sender
 * loses is added to `delay`. */
static int64_t send_input(heft *pass, const arrival *input, uint32_t device,
                          wide *delay) {
  const regal_problem *problem = pass->problem;
  uint32_t from = input->from;
  int64_t takes =
      regal_problem_transfer_ns(problem, input->tensor, from, device);
  if (problem->machine->overlapped) {
    int64_t *link = &pass->link_ns[from * problem->devices + device];
    return *link = regal_larger(*link, input->ready_ns) + takes;
  }
  int64_t *clock = pass->clock_ns;
  int64_t end = regal_larger(clock[from], clock[device]) + takes;
  *delay += end - clock[from];
  return clock[from] = clock[device] = end;
}

/* Runs the listed op on the device. What is on the device already was there
 * before the device's clock, so only new transfers are waited for. */
static outcome run_op(heft *pass, uint32_t op, uint32_t device) {
  outcome result = {0, 0};
  int64_t start = pass->ready_ns[op];
  for (uint32_t i = 0; i < pass->arrival_count; i++)
    if (must_travel(pass, &pass->arrivals[i], device))
      start = regal_larger(start, send_input(pass, &pass->arrivals[i], device,
                                             &result.delay_ns));
  start = regal_larger(start, pass->clock_ns[device]);
  result.end_ns = start + regal_problem_run_ns(pass->problem, op, device);
  pass->clock_ns[device] = result.end_ns;
  return result;
}

/* The same, undone. */
static outcome try_op(heft *pass, uint32_t op, uint32_t device) {
  uint32_t d = pass->problem->devices;
  bool overlapped = pass->problem->machine->overlapped;
  int64_t clock = pass->clock_ns[device];
  if (overlapped)
    for (uint32_t i = 0; i < pass->arrival_count; i++)
      pass->arrivals[i].saved_ns =
          pass->link_ns[pass->arrivals[i].from * d + device];
  outcome result = run_op(pass, op, device);
  for (uint32_t i = 0; i < pass->arrival_count; i++) {
    const arrival *input = &pass->arrivals[i];
    if (overlapped)
      pass->link_ns[input->from * d + device] = input->saved_ns;
    else
      pass->clock_ns[input->from] = input->ready_ns;
  }
  pass->clock_ns[device] = clock;
  return result;
}

static bool has_room(const heft *pass, uint32_t leader, uint32_t device) {
  int64_t limit = pass->problem->limit[device];
  return limit == REGAL_UNLIMITED ||
         (double)pass->holding.held[device] +
                 (double)regal_holding_added(&pass->holding, leader, device) <=
             pass->memory_share * (double)limit;
}

/* Devices that may run the op, and where there is such a one, with room for
 * what its group holds. */
static uint64_t devices_for(const heft *pass, uint32_t op) {
  uint64_t allowed = pass->problem->allowed[op], roomy = 0;
  uint32_t leader = regal_problem_leader(pass->problem, op);
  if (pass->memory_share == 0)
    return allowed;
  for (uint64_t left = allowed; left; left &= left - 1)
    if (has_room(pass, leader, (uint32_t)__builtin_ctzll(left)))
      roomy |= left & -left;
  return roomy ? roomy : allowed;
}

/* Ties go to the device with the smaller clock, then to the first. */
static uint32_t choose_device(heft *pass, uint32_t op, int delay_weight) {
  uint32_t best = REGAL_NONE;
  wide best_score = 0;
  for (uint64_t left = devices_for(pass, op); left; left &= left - 1) {
    uint32_t device = (uint32_t)__builtin_ctzll(left);
    outcome tried = try_op(pass, op, device);
    wide score =
        (wide)DELAY_UNIT * tried.end_ns + delay_weight * tried.delay_ns;
    if (best == REGAL_NONE || score < best_score ||
        (score == best_score &&
         pass->clock_ns[device] < pass->clock_ns[best])) {
      best = device;
      best_score = score;
    }
  }
  return best;
}

static void append_steps(heft *pass, uint32_t op, uint32_t device,
                         regal_plan *plan) {
  for (uint32_t i = 0; i < pass->arrival_count; i++) {
    const arrival *input = &pass->arrivals[i];
    if (must_travel(pass, input, device))
      regal_plan_add_send(plan, pass->problem, input->tensor, input->from,
                          device);
  }
  regal_plan_add_run(plan, op, device);
}

static void place_op(heft *pass, uint32_t op, uint32_t device,
                     regal_plan *plan) {
  const regal_problem *problem = pass->problem;
  append_steps(pass, op, device, plan);
  int64_t end = run_op(pass, op, device).end_ns;
  pass->end_ns[op] = end;
  pass->placement[op] = (uint8_t)device;
  uint64_t bit = UINT64_C(1) << device;
  for (uint32_t i = 0; i < pass->arrival_count; i++)
    pass->present[pass->arrivals[i].tensor] |= bit;
  for (REGAL_ROW(t, problem->output_begin, op))
    pass->present[t] = bit;
  for (REGAL_ROW(w, problem->wait_begin, op)) {
    uint32_t next = problem->waiter[w];
    pass->ready_ns[next] = regal_larger(pass->ready_ns[next], end);
  }
}

static void schedule(heft *pass, setting set, regal_plan *plan) {
  const regal_problem *problem = pass->problem;
  size_t n = problem->ops, d = problem->devices;
  memset(pass->clock_ns, 0, sizeof pass->clock_ns);
  memset(pass->link_ns, 0, d * d * sizeof *pass->link_ns);
  memset(pass->ready_ns, 0, n * sizeof *pass->ready_ns);
  memset(pass->placed, 0, n);
  rank_ops(pass, set.transfer_halves);
  if (pass->memory_share > 0)
    regal_holding_begin(&pass->holding);
  for (uint32_t i = 0; i < n; i++) {
    uint32_t op = pass->by_rank[i].op;
    uint32_t leader = regal_problem_leader(problem, op);
    list_arrivals(pass, op);
    uint32_t device = pass->placed[leader]
                          ? pass->placed[leader] - 1U
                          : choose_device(pass, op, set.delay_weight);
    if (pass->memory_share > 0 && !pass->placed[leader])
      regal_holding_put(&pass->holding, leader, device);
    pass->placed[leader] = (uint8_t)(device + 1);
    place_op(pass, op, device, plan);
  }
}

/* HEFT itself first. Without costs or with overlapped transfers some settings
 * make no difference and are left out. */
static uint32_t list_settings(const regal_problem *problem, setting *settings) {
  bool costs = !problem->free_transfers && problem->devices > 1;
  bool delays = !problem->machine->overlapped && problem->devices > 1;
  size_t size = (size_t)problem->ops + problem->uses + 1;
  uint32_t count = 0;
  for (int k = 0; k < (delays ? DELAY_STEPS : 1); k++)
    for (int halves = costs ? 2 : 0; halves >= 0; halves--)
      if (!count || (count + 1) * size <= SWEEP_EFFORT)
        settings[count++] = (setting){halves, k * k};
  return count;
}

static regal_status sweep(regal_search *search, heft *pass) {
  setting settings[3 * DELAY_STEPS];
  uint32_t count = list_settings(pass->problem, settings), passes = 0;
  while (passes < count && !(passes && regal_search_should_stop(search))) {
    regal_plan *plan;
    REGAL_TRY(regal_plan_create(search->context,
                                regal_plan_most_steps(pass->problem), &plan));
    schedule(pass, settings[passes++], plan);
    REGAL_TRY(regal_search_offer(search, plan));
  }
  if (passes == 1)
    regal_search_account(search, "list schedule by critical path, each op "
                                 "where it ends first");
  else
    regal_search_account(search,
                         "best of %u list schedules by critical path, "
                         "each op where it ends first",
                         passes);
  return REGAL_OK;
}

static void layout(heft *pass, regal_carver *carver, uint32_t inputs) {
  const regal_problem *problem = pass->problem;
  size_t n = problem->ops, t = problem->tensors, d = problem->devices;
  pass->transfer_ns = NULL;
  if (!problem->free_transfers && d > 1)
    pass->transfer_ns = regal_carve(carver, t, sizeof *pass->transfer_ns);
  pass->by_rank = regal_carve(carver, n, sizeof *pass->by_rank);
  pass->rank = regal_carve(carver, n, sizeof *pass->rank);
  pass->ready_ns = regal_carve(carver, n, sizeof *pass->ready_ns);
  pass->end_ns = regal_carve(carver, n, sizeof *pass->end_ns);
  pass->placement = regal_carve(carver, n, 1);
  pass->placed = regal_carve(carver, n, 1);
  pass->present = regal_carve(carver, t, sizeof *pass->present);
  pass->arrivals = regal_carve(carver, inputs, sizeof *pass->arrivals);
  pass->link_ns = regal_carve(carver, d * d, sizeof *pass->link_ns);
  if (pass->memory_share > 0)
    regal_holding_layout(&pass->holding, carver, problem);
}

static regal_status begin(regal_context *context, heft *pass,
                          regal_carver *carver) {
  const regal_problem *problem = pass->problem;
  uint32_t inputs = regal_problem_most_inputs(problem);
  REGAL_TRY(REGAL_CARVE_BLOCK(context, *carver, layout(pass, carver, inputs)));
  if (pass->transfer_ns)
    for (uint32_t t = 0; t < problem->tensors; t++)
      pass->transfer_ns[t] = mean_transfer_ns(problem, t);
  return REGAL_OK;
}

regal_status regal_heft_place(regal_context *context,
                              const regal_problem *problem, double memory_share,
                              uint8_t *placement) {
  heft pass = {.problem = problem, .memory_share = memory_share};
  regal_carver carver = {NULL, 0};
  REGAL_TRY(begin(context, &pass, &carver));
  schedule(&pass, (setting){2, 0}, NULL);
  memcpy(placement, pass.placement, problem->ops);
  regal_release(context, carver.base);
  return REGAL_OK;
}

regal_status regal_heft(regal_search *search) {
  heft pass = {.problem = search->problem};
  regal_carver carver = {NULL, 0};
  REGAL_TRY(begin(search->context, &pass, &carver));
  regal_status status = sweep(search, &pass);
  regal_release(search->context, carver.base);
  return status;
}
