/* SPDX-License-Identifier: Apache-2.0 */
/* Where to cut an axis of ranks into one stage for each device.
 *
 * Grid. An axis of n ops has n + 1 places to cut. At most REGAL_CUT_POINTS of
 * them are looked at, chosen so that (nearly) equal numbers of ops lie between
 * two. For each point the work before it and the transfer time of the tensors
 * across it are known from prefix sums, so that a stage between two points has
 * a value in O(1). For a device with a memory limit, `reach` says how far a
 * stage that begins at a point may extend. Peaks do not fall as a stage grows,
 * so two pointers that only move forward find all of them in O(points) looks.
 *
 * Dynamic programming. after[s][end], the best value of s stages that end at a
 * point, is the best over all begins of after[s-1][begin] and the stage between
 * them: their maximum for balanced stages (the classical chains-on-chains
 * partitioning, Bokhari 1988), their sum for cheap cuts. O(d points^2).
 *
 * Least largest peak. A peak is not a sum and costs O(n + e) to look at. So the
 * value is guessed, and the stages are filled greedily: each ends as late as
 * the guess allows (bisection, by monotony), which is optimal for the guess.
 * Guesses are bisected between what was reached and the least peak that did not
 * fit; this needs far fewer looks than all pairs of points.
 */
#include <string.h>

#include "heuristic/cut/parts.h"

void regal_cut_grid_layout(regal_cut_grid *grid, regal_carver *carver,
                           const regal_problem *problem) {
  uint32_t most =
      problem->ops < REGAL_CUT_POINTS ? problem->ops + 1 : REGAL_CUT_POINTS;
  grid->rows = problem->run_step ? problem->devices : 1;
  grid->at = regal_carve(carver, most, 4);
  grid->work_ns = regal_carve(carver, (size_t)most * grid->rows, 8);
  grid->cross_ns = regal_carve(carver, most, 8);
  grid->reach = regal_carve(carver, (size_t)most * problem->devices, 4);
}

/* Points after (nearly) equal numbers of ops. A cut at rank c parts the ranks
 * below c from c; ranks that no op has are skipped. */
static void choose_points(regal_cut_grid *grid, const regal_problem *problem,
                          const regal_cut_axis *axis, uint32_t most,
                          uint32_t *counts) {
  uint32_t n = problem->ops, steps = most - 1;
  memset(counts, 0, n * sizeof *counts);
  for (uint32_t op = 0; op < n; op++)
    counts[axis->rank[op]]++;
  uint64_t before = 0, last = 0;
  grid->at[0] = 0;
  grid->points = 1;
  for (uint32_t rank = 1; rank < n; rank++) {
    before += counts[rank - 1];
    if (!counts[rank] || before == 0 || before * steps / n == last * steps / n)
      continue;
    if (grid->points == steps)
      break;
    grid->at[grid->points++] = rank;
    last = before;
  }
  grid->at[grid->points++] = n;
}

/* `counts` becomes the point at which each rank's work begins to count. */
static void sum_work(regal_cut_grid *grid, const regal_problem *problem,
                     const regal_cut_axis *axis, uint32_t *counts) {
  uint32_t points = grid->points;
  for (uint32_t g = 1; g < points; g++)
    for (uint32_t rank = grid->at[g - 1]; rank < grid->at[g]; rank++)
      counts[rank] = g;
  memset(grid->work_ns, 0, (size_t)grid->rows * points * 8);
  for (uint32_t row = 0; row < grid->rows; row++) {
    int64_t *work = grid->work_ns + (size_t)row * points;
    for (uint32_t op = 0; op < problem->ops; op++)
      if (problem->allowed[op] >> row & 1 || grid->rows == 1)
        work[counts[axis->rank[op]]] += regal_problem_run_ns(problem, op, row);
    for (uint32_t g = 1; g < points; g++)
      work[g] += work[g - 1];
  }
}

static void sum_transfers(regal_cut_grid *grid, const regal_problem *problem,
                          const regal_cut_axis *axis, int64_t *sums) {
  const uint32_t *rank = axis->rank;
  memset(grid->cross_ns, 0, grid->points * sizeof *grid->cross_ns);
  if (problem->free_transfers || problem->devices == 1)
    return;
  memset(sums, 0, ((size_t)problem->ops + 2) * sizeof *sums);
  for (uint32_t t = 0; t < problem->tensors; t++) {
    uint32_t low = rank[problem->producer[t]], high = low;
    for (REGAL_ROW(u, problem->use_begin, t)) {
      uint32_t at = rank[problem->consumer[u]];
      low = at < low ? at : low;
      high = at > high ? at : high;
    }
    int64_t takes = regal_problem_transfer_ns(problem, t, 0, 1);
    sums[low + 1] += takes; /* crosses the cuts low+1 .. high */
    sums[high + 1] -= takes;
  }
  int64_t across = 0;
  for (uint32_t rank_at = 0, g = 0; g < grid->points; g++) {
    for (; rank_at <= grid->at[g]; rank_at++)
      across += sums[rank_at];
    grid->cross_ns[g] = across;
  }
}

void regal_cut_grid_fill(regal_cut_grid *grid, const regal_problem *problem,
                         const regal_cut_axis *axis, uint32_t most,
                         int64_t *sums, uint32_t *counts) {
  if (most > REGAL_CUT_POINTS)
    most = REGAL_CUT_POINTS;
  if (most > problem->ops + 1)
    most = problem->ops + 1;
  choose_points(grid, problem, axis, most, counts);
  sum_work(grid, problem, axis, counts);
  sum_transfers(grid, problem, axis, sums);
  for (uint32_t i = 0; i < problem->devices * grid->points; i++)
    grid->reach[i] = grid->points - 1;
}

/* Two pointers along the axis: the ends of stages never decrease. */
static void limit_device(regal_cut_grid *grid, regal_cut_stages *stages,
                         uint32_t device, int64_t limit) {
  uint32_t points = grid->points, end = 0;
  uint32_t *reach = grid->reach + (size_t)device * points;
  for (uint32_t begin = 0; begin < points; begin++) {
    end = end < begin ? begin : end;
    while (end + 1 < points &&
           regal_cuts_stage_peak(stages, grid->at[begin], grid->at[end + 1]) <=
               limit)
      end++;
    reach[begin] = end;
  }
}

void regal_cut_grid_limit(regal_cut_grid *grid, regal_cut_stages *stages) {
  const regal_problem *problem = stages->problem;
  size_t points = grid->points;
  for (uint32_t d = 0; d < problem->devices; d++) {
    uint32_t same = 0;
    while (problem->limit[same] != problem->limit[d])
      same++;
    if (same < d)
      memcpy(grid->reach + d * points, grid->reach + same * points,
             points * sizeof *grid->reach);
    else if (problem->limit[d] != REGAL_UNLIMITED)
      limit_device(grid, stages, d, problem->limit[d]);
  }
}

static int64_t stage_value(const regal_cut_grid *grid, uint32_t device,
                           uint32_t begin, uint32_t end, regal_cut_aim aim) {
  if (begin == end)
    return 0;
  if (aim == REGAL_CUT_CHEAP)
    return grid->cross_ns[end];
  const int64_t *work =
      grid->work_ns + (grid->rows > 1 ? (size_t)device * grid->points : 0);
  return regal_cuts_add(
      work[end] - work[begin],
      regal_cuts_add(grid->cross_ns[begin], grid->cross_ns[end]));
}

static int64_t combine(int64_t a, int64_t b, regal_cut_aim aim) {
  return aim == REGAL_CUT_CHEAP ? regal_cuts_add(a, b) : regal_later(a, b);
}

int64_t regal_cuts_stages_value(const regal_cut_grid *grid,
                                const uint8_t *device, uint32_t stages,
                                const uint32_t *points, regal_cut_aim aim) {
  int64_t value = 0;
  for (uint32_t s = 0; s < stages; s++)
    value = combine(value,
                    stage_value(grid, device[s], points[s], points[s + 1], aim),
                    aim);
  return value;
}

/* The best way for one more stage to end at each point. */
static void add_stage(const regal_cut_grid *grid, uint32_t device,
                      regal_cut_aim aim, const int64_t *before, int64_t *after,
                      uint8_t *began) {
  const uint32_t *reach = grid->reach + (size_t)device * grid->points;
  for (uint32_t end = 0; end < grid->points; end++) {
    after[end] = INT64_MAX;
    began[end] = 0;
    for (uint32_t begin = end + 1; begin-- > 0 && reach[begin] >= end;) {
      if (before[begin] >= after[end])
        continue;
      int64_t value = combine(before[begin],
                              stage_value(grid, device, begin, end, aim), aim);
      if (value < after[end]) {
        after[end] = value;
        began[end] = (uint8_t)begin;
      }
    }
  }
}

bool regal_cuts_plan_stages(const regal_cut_grid *grid,
                            const regal_problem *problem, const uint8_t *device,
                            regal_cut_aim aim, uint32_t *cuts) {
  _Static_assert(REGAL_CUT_POINTS <= UINT8_MAX, "points fit into a byte");
  uint8_t began[REGAL_MAX_DEVICES][REGAL_CUT_POINTS];
  int64_t values[2][REGAL_CUT_POINTS];
  uint32_t d = problem->devices, last = grid->points - 1;
  for (uint32_t g = 0; g <= last; g++)
    values[0][g] = g ? INT64_MAX : 0;
  for (uint32_t s = 0; s < d; s++)
    add_stage(grid, device[s], aim, values[s & 1], values[~s & 1], began[s]);
  if (values[d & 1][last] == INT64_MAX)
    return false;
  for (uint32_t s = d, end = last; s > 0; s--) {
    cuts[s] = grid->at[end];
    end = began[s - 1][end];
  }
  cuts[0] = 0;
  return true;
}

/* -- The least largest peak ------------------------------------------------ */

/* A guess of the largest peak, or of the largest excess over a limit. */
typedef struct guess {
  int64_t bytes;
  bool excess;
  int64_t reached; /* the largest that the stages then have */
  int64_t next;    /* no guess below this makes a difference */
} guess;

static int64_t room_on(const regal_problem *problem, uint32_t device,
                       const guess *guess) {
  int64_t limit = problem->limit[device];
  if (guess->excess)
    return regal_cuts_add(limit, guess->bytes);
  return guess->bytes < limit ? guess->bytes : limit;
}

/* Ends a stage as late as its room allows; returns the point. Peaks do not
 * fall as stages grow, so bisection finds it. */
static uint32_t fill_stage(const regal_cut_grid *grid, regal_cut_stages *stages,
                           uint32_t device, uint32_t begin, guess *guess) {
  int64_t room = room_on(stages->problem, device, guess);
  int64_t limit = guess->excess ? stages->problem->limit[device] : 0;
  uint32_t low = begin, high = grid->points - 1;
  while (low < high) {
    uint32_t middle = (low + high + 1) / 2;
    int64_t peak =
        regal_cuts_stage_peak(stages, grid->at[begin], grid->at[middle]);
    if (peak <= room) {
      low = middle;
      guess->reached = regal_later(guess->reached, peak - limit);
    } else {
      high = middle - 1;
      if (peak - limit < guess->next && peak - limit > guess->bytes)
        guess->next = peak - limit;
    }
  }
  return low;
}

/* Fills stage after stage; true when all ops find room. */
static bool try_guess(const regal_cut_grid *grid, regal_cut_stages *stages,
                      const uint8_t *device, guess *guess, uint32_t *cuts) {
  uint32_t d = stages->problem->devices, end = 0;
  uint32_t tried[REGAL_MAX_DEVICES + 1] = {0};
  guess->reached = 0;
  guess->next = INT64_MAX;
  for (uint32_t s = 0; s < d; s++) {
    end = fill_stage(grid, stages, device[s], end, guess);
    tried[s + 1] = grid->at[end];
  }
  if (end != grid->points - 1)
    return false;
  memcpy(cuts, tried, (d + 1) * sizeof *cuts);
  return true;
}

int64_t regal_cuts_least_peak(const regal_cut_grid *grid,
                              regal_cut_stages *stages, const uint8_t *device,
                              uint32_t rounds, uint32_t *cuts) {
  guess guess = {.bytes = INT64_MAX};
  if (!try_guess(grid, stages, device, &guess, cuts)) {
    guess = (struct guess){.bytes = INT64_MAX, .excess = true};
    try_guess(grid, stages, device, &guess, cuts);
  }
  /* The first guesses are about what an even share would be. */
  int64_t low = 0, high = guess.reached;
  uint32_t share = stages->problem->devices;
  while (low < high && rounds-- > 0) {
    guess.bytes = low + (high - low) / (share > 2 ? share : 2);
    share /= 2;
    if (try_guess(grid, stages, device, &guess, cuts))
      high = guess.reached;
    else
      low = guess.next > guess.bytes + 1 && guess.next <= high
                ? guess.next
                : guess.bytes + 1;
  }
  return guess.excess ? -1 - high : high;
}
