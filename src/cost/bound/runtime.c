/* SPDX-License-Identifier: Apache-2.0 */
/* Lower bounds on the run time.
 *
 * Let m_j be the shortest time of op j on a device that it may use, head_j the
 * longest chain of such times before j, tail_j the longest after it. Where
 * transfers take time, transfer.c raises heads and tails to what they
 * are then; all else holds for blocking and overlapped transfers and for both
 * readings of control edges, and is larger with larger heads and tails.
 *  - Critical path: head_j + m_j + tail_j.
 *  - Energy (Fernandez and Bussell 1973): the ops with head >= h and tail >= q
 * all run between h and T - q. For any weights w_a >= 0 of the devices with sum
 * W, the devices offer W * (T - h - q) there, and op j takes at least c_j =
 * min_a w_a r_ja (the dual of the linear program that shares the work out). So
 *    T >= h + q + ceil(sum c_j / W). Weights 1 give "work over devices";
 *    weights in proportion to the speeds are better for devices of unequal
 *    speed; weights of 0 outside a set of devices bound the ops that can run
 *    nowhere else.
 *  - Pigeonhole: among the k*d + 1 longest ops some device runs k + 1.
 *  - Devices: ops that cannot share a device have a transfer between them
 *    (devices.c).
 *  - One at a time: ops that must share a device, and transfers that a device
 *    or a link cannot avoid, each between its head and its tail (single.c).
 *  - Memory limits: the ops of a path that fits no device have a transfer
 *    between them (crossing.c), and a device does no more work than what its
 *    memory allows (capacity.c).
 *  - Groups: the ops of a group run one after the other, on the best device.
 */
#include "base/carve.h"
#include "cost/bound/bound.h"
#include "cost/bound/parts.h"

#define FINEST_WEIGHT (1 << 20)
#define MOST_MASKS 16
/* Energy passes over restricted ops, times ops: keeps them below a second. */
#define MASK_EFFORT 4000000
/* Steps of the bound that counts transfers, 3 to 5 ns each: at least, for each
 * op, and at most. */
#define TRANSFER_EFFORT 1000000
#define TRANSFER_EFFORT_BY_OP 3000
#define MOST_TRANSFER_EFFORT 5000000

typedef __int128 wide;
#define WIDE_NEVER (-((wide)1 << 120))

typedef struct runtime_bound {
  regal_context *context;
  const regal_problem *problem;
  int64_t *shortest, *head, *tail; /* [ops] */
  regal_keyed *by_head;            /* [ops] ascending */
  regal_keyed *scratch;            /* [ops] */
  uint32_t *leaf;                  /* [ops] rank by tail, ascending */
  uint32_t leaves;                 /* a power of two, at least ops */
  wide *work, *best;               /* [2 * leaves] see energy_insert */
  int64_t found;                   /* the largest bound so far */
} runtime_bound;

static void find_critical_path(runtime_bound *state) {
  const regal_problem *problem = state->problem;
  const int64_t *shortest = state->shortest;
  for (uint32_t op = 0; op < problem->ops; op++)
    for (REGAL_ROW(s, problem->successor_begin, op)) {
      uint32_t next = problem->successor[s];
      state->head[next] =
          regal_larger(state->head[next], state->head[op] + shortest[op]);
    }
  for (uint32_t op = problem->ops; op-- > 0;) {
    for (REGAL_ROW(s, problem->successor_begin, op)) {
      uint32_t next = problem->successor[s];
      state->tail[op] =
          regal_larger(state->tail[op], state->tail[next] + shortest[next]);
    }
  }
}

static void find_longest_chain(runtime_bound *state) {
  for (uint32_t op = 0; op < state->problem->ops; op++)
    state->found = regal_larger(
        state->found, state->head[op] + state->shortest[op] + state->tail[op]);
}

/* Adds an op to the tree over tails: a node knows the work of its leaves and,
 * over its leaves' tails q, the best of W * q + the work at or right of q
 * inside the node. */
static void energy_insert(runtime_bound *state, uint32_t op, wide tail,
                          wide work) {
  uint32_t node = state->leaves + state->leaf[op];
  state->work[node] = work;
  state->best[node] = tail + work;
  for (node /= 2; node; node /= 2) {
    uint32_t left = 2 * node, right = left + 1;
    wide through = state->best[left] + state->work[right];
    state->work[node] = state->work[left] + state->work[right];
    state->best[node] =
        through > state->best[right] ? through : state->best[right];
  }
}

static wide weighted_work(const runtime_bound *state, uint32_t op,
                          const int64_t *weight) {
  wide least = -1;
  for (uint64_t left = state->problem->allowed[op]; left; left &= left - 1) {
    uint32_t device = (uint32_t)__builtin_ctzll(left);
    wide work =
        (wide)weight[device] * regal_problem_run_ns(state->problem, op, device);
    if (least < 0 || work < least)
      least = work;
  }
  return least;
}

/* The energy bound for one choice of weights, over all thresholds of heads and
 * tails: ops enter by falling head. O(n (d + log n)). */
static void apply_energy(runtime_bound *state, const int64_t *weight) {
  wide total = 0;
  bool equal = true;
  for (uint32_t a = 0; a < state->problem->devices; a++) {
    total += weight[a];
    equal = equal && weight[a] == weight[0];
  }
  for (uint32_t node = 0; node < 2 * state->leaves; node++) {
    state->work[node] = 0;
    state->best[node] = WIDE_NEVER;
  }
  for (uint32_t i = state->problem->ops; i-- > 0;) {
    uint32_t op = state->by_head[i].op;
    wide work = equal ? (wide)weight[0] * state->shortest[op]
                      : weighted_work(state, op, weight);
    energy_insert(state, op, total * state->tail[op], work);
    wide energy = total * state->head[op] + state->best[1];
    state->found =
        regal_larger(state->found, (int64_t)((energy + total - 1) / total));
  }
}

/* Weights of the devices in `mask`, alike and by speed. */
static void apply_mask(runtime_bound *state, uint64_t mask) {
  const regal_problem *problem = state->problem;
  const double *speed = problem->machine->speed;
  int64_t alike[REGAL_MAX_DEVICES] = {0}, by_speed[REGAL_MAX_DEVICES] = {0};
  double fastest = 0;
  bool differs = false;
  for (uint64_t left = mask; left; left &= left - 1) {
    uint32_t device = (uint32_t)__builtin_ctzll(left);
    alike[device] = 1;
    differs = differs || (fastest > 0 && speed[device] != fastest);
    if (speed[device] > fastest)
      fastest = speed[device];
  }
  apply_energy(state, alike);
  if (!differs)
    return;
  for (uint64_t left = mask; left; left &= left - 1) {
    uint32_t device = (uint32_t)__builtin_ctzll(left);
    by_speed[device] =
        1 + (int64_t)(speed[device] / fastest * (FINEST_WEIGHT - 1));
  }
  apply_energy(state, by_speed);
}

static void apply_restrictions(runtime_bound *state) {
  const regal_problem *problem = state->problem;
  uint64_t masks[MOST_MASKS];
  uint64_t all = UINT64_MAX >> (64 - problem->devices);
  uint32_t count = 0, most = MASK_EFFORT / (problem->ops + 1);
  if (most > MOST_MASKS)
    most = MOST_MASKS;
  for (uint32_t op = 0; op < problem->ops && count < most; op++) {
    uint64_t mask = problem->allowed[op];
    uint32_t known = 0;
    while (known < count && masks[known] != mask)
      known++;
    if (known < count || mask == all || regal_has_one_device(mask))
      continue; /* one device: single.c */
    masks[count++] = mask;
    apply_mask(state, mask);
  }
}

/* Any device that runs k + 1 of the k*d + 1 longest ops takes at least as long
 * as the k + 1 shortest of them. */
static void apply_pigeonhole(runtime_bound *state, regal_keyed *by_time) {
  const regal_problem *problem = state->problem;
  size_t n = problem->ops, d = problem->devices;
  for (uint32_t op = 0; op < n; op++)
    by_time[op] = (regal_keyed){state->shortest[op], op};
  regal_keyed_sort(by_time, n);
  int64_t *sum = state->shortest; /* of the i + 1 shortest; not needed now */
  for (size_t i = 0; i < n; i++)
    sum[i] = by_time[i].key + (i ? sum[i - 1] : 0);
  for (size_t k = 1; k * d < n; k++) {
    size_t first = n - 1 - k * d;
    int64_t before = first ? sum[first - 1] : 0;
    state->found = regal_larger(state->found, sum[first + k] - before);
  }
}

typedef struct group_sums {
  int64_t *here, *least, *head, *tail; /* [ops] at the group's leader */
} group_sums;

static void sum_groups(const runtime_bound *state, group_sums *sums) {
  const regal_problem *problem = state->problem;
  for (uint32_t op = 0; op < problem->ops; op++)
    sums->least[op] = sums->head[op] = sums->tail[op] = INT64_MAX;
  for (uint32_t a = 0; a < problem->devices; a++) {
    for (uint32_t op = 0; op < problem->ops; op++) {
      uint32_t leader = problem->leader[op];
      if (leader == op)
        sums->here[op] = 0;
      if (problem->allowed[op] >> a & 1)
        sums->here[leader] += regal_problem_run_ns(problem, op, a);
    }
    for (uint32_t op = 0; op < problem->ops; op++)
      if (problem->allowed[op] >> a & 1 && sums->here[op] < sums->least[op])
        sums->least[op] = sums->here[op];
  }
  for (uint32_t op = 0; op < problem->ops; op++) {
    uint32_t leader = problem->leader[op];
    if (state->head[op] < sums->head[leader])
      sums->head[leader] = state->head[op];
    if (state->tail[op] < sums->tail[leader])
      sums->tail[leader] = state->tail[op];
  }
}

static regal_status apply_groups(runtime_bound *state) {
  const regal_problem *problem = state->problem;
  if (!problem->leader)
    return REGAL_OK;
  int64_t *block = regal_alloc(state->context, problem->ops, 4 * sizeof *block);
  if (!block)
    return regal_fail_memory(state->context);
  size_t n = problem->ops;
  group_sums sums = {block, block + n, block + 2 * n, block + 3 * n};
  sum_groups(state, &sums);
  for (uint32_t op = 0; op < n; op++)
    if (problem->leader[op] == op)
      state->found = regal_larger(state->found, sums.head[op] + sums.least[op] +
                                                    sums.tail[op]);
  regal_release(state->context, block);
  return REGAL_OK;
}

/* Orders by head and by tail; `by_tail` is scratch. */
static void rank_ops(runtime_bound *state, regal_keyed *by_tail) {
  uint32_t n = state->problem->ops;
  for (uint32_t op = 0; op < n; op++) {
    state->by_head[op] = (regal_keyed){state->head[op], op};
    by_tail[op] = (regal_keyed){state->tail[op], op};
  }
  regal_keyed_sort(state->by_head, n);
  regal_keyed_sort(by_tail, n);
  for (uint32_t i = 0; i < n; i++)
    state->leaf[by_tail[i].op] = i;
}

static uint64_t transfer_effort(const regal_problem *problem) {
  uint64_t effort =
      TRANSFER_EFFORT + (uint64_t)TRANSFER_EFFORT_BY_OP * problem->ops;
  return effort < MOST_TRANSFER_EFFORT ? effort : MOST_TRANSFER_EFFORT;
}

/* With what transfers force. */
static regal_status apply_lags(runtime_bound *state, uint64_t effort,
                               regal_lags *lags) {
  const regal_problem *problem = state->problem;
  bool modest = regal_lags_find(lags, problem, state->shortest);
  if (modest && effort)
    REGAL_TRY(regal_bound_windows(state->context, problem, state->shortest,
                                  effort, lags, state->head, state->tail));
  if (modest)
    REGAL_TRY(regal_bound_devices(state->context, problem, lags, state->head,
                                  state->tail, &state->found));
  if (modest)
    REGAL_TRY(regal_bound_crossing(state->context, problem, lags,
                                   state->shortest, state->head));
  return regal_bound_single(state->context, problem, modest ? lags : NULL,
                            state->shortest, state->head, state->tail,
                            &state->found);
}

static regal_status apply_transfers(runtime_bound *state, bool windows) {
  const regal_problem *problem = state->problem;
  regal_lags lags = {.most_found = windows ? 4 * problem->ops : 0};
  uint64_t effort = windows ? transfer_effort(problem) : 0;
  if (problem->free_transfers || problem->devices < 2)
    return regal_bound_single(state->context, problem, NULL, state->shortest,
                              state->head, state->tail, &state->found);
  regal_carver carver = {NULL, 0};
  REGAL_TRY(REGAL_CARVE_BLOCK(state->context, carver,
                              regal_lags_layout(&lags, &carver, problem)));
  regal_status status = apply_lags(state, effort, &lags);
  regal_release(state->context, carver.base);
  return status;
}

static regal_status bound_runtime(runtime_bound *state, bool windows) {
  const regal_problem *problem = state->problem;
  for (uint32_t op = 0; op < problem->ops; op++)
    state->shortest[op] = regal_problem_least_run_ns(problem, op);
  find_critical_path(state);
  REGAL_TRY(apply_transfers(state, windows));
  find_longest_chain(state);
  rank_ops(state, state->scratch);
  apply_mask(state, UINT64_MAX >> (64 - problem->devices));
  apply_restrictions(state);
  REGAL_TRY(apply_groups(state));
  REGAL_TRY(regal_bound_capacity(state->context, problem, &state->found));
  apply_pigeonhole(state, state->scratch);
  return REGAL_OK;
}

static void layout(runtime_bound *state, regal_carver *carver) {
  size_t n = state->problem->ops, nodes = 2 * (size_t)state->leaves;
  state->shortest = regal_carve(carver, n, 8);
  state->head = regal_carve(carver, n, 8);
  state->tail = regal_carve(carver, n, 8);
  state->by_head = regal_carve(carver, n, sizeof *state->by_head);
  state->scratch = regal_carve(carver, n, sizeof *state->scratch);
  state->leaf = regal_carve(carver, n, 4);
  state->work = regal_carve(carver, nodes, sizeof *state->work);
  state->best = regal_carve(carver, nodes, sizeof *state->best);
}

static regal_status compute(regal_context *context,
                            const regal_problem *problem, bool windows,
                            int64_t *runtime_ns) {
  runtime_bound state = {.context = context, .problem = problem, .leaves = 1};
  while (state.leaves < problem->ops)
    state.leaves *= 2;
  regal_carver carver = {NULL, 0};
  REGAL_TRY(REGAL_CARVE_BLOCK(context, carver, layout(&state, &carver)));
  regal_status status = bound_runtime(&state, windows);
  regal_release(context, carver.base);
  if (status == REGAL_OK)
    *runtime_ns = state.found;
  return status;
}

regal_status regal_bound_runtime(regal_context *context,
                                 const regal_problem *problem,
                                 int64_t *runtime_ns) {
  return compute(context, problem, true, runtime_ns);
}

regal_status regal_bound_runtime_quick(regal_context *context,
                                       const regal_problem *problem,
                                       int64_t *runtime_ns) {
  return compute(context, problem, false, runtime_ns);
}
