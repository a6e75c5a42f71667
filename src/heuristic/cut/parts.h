/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of stage cuts (heuristic/cut/cuts.h) and of `split`: axes of ranks,
 * what a stage holds in memory, and cuts by dynamic programming.
 *
 * A stage is the set of ops whose rank is in low .. high-1. Cuts of d stages
 * are d+1 ranks, from 0 to the number of ops, that never fall; stages may be
 * empty. Stage s runs on device[s].
 */
#ifndef REGAL_HEURISTIC_CUT_PARTS_H
#define REGAL_HEURISTIC_CUT_PARTS_H

#include "decode/walk.h"

/* -- Axes and orders (axis.c) ---------------------------------------------- */

/* Ops in the order in which they run. */
typedef struct regal_cut_order {
  const char *name; /* "file order" */
  uint32_t *order;  /* [ops] */
} regal_cut_order;

typedef struct regal_cut_axis {
  const char *name; /* "fold rank" */
  uint32_t *rank;   /* [ops] below the number of ops; alike within a group */
  const regal_cut_order *along; /* whose positions the ranks are, or NULL */
} regal_cut_axis;

/* The file's order. */
void regal_cuts_file_order(const regal_problem *problem, uint32_t *order);
/* By falling longest chain of mean run times to the end of the graph. */
regal_status regal_cuts_list_order(regal_context *context,
                                   const regal_problem *problem,
                                   uint32_t *order);
/* Ranks along an order; sets `rank` and `along`. */
void regal_cuts_rank_along(const regal_problem *problem,
                           const regal_cut_order *order, regal_cut_axis *axis);
/* The fold rank around the op at which the file's order has its peak. */
void regal_cuts_rank_fold(const regal_problem *problem, uint32_t peak,
                          regal_cut_axis *axis);

/* -- Stages (stage.c) ------------------------------------------------------ */

/* What stages hold, for one axis and one order in time. */
typedef struct regal_cut_stages {
  const regal_problem *problem;
  const regal_cut_axis *axis;
  const uint32_t *order; /* [ops] in which ops run */
  bool contiguous;       /* a stage is a run of `order` */
  regal_running_cost *running;
  uint32_t *arrived; /* [tensors] number of the last look that saw it here */
  uint8_t *sent;     /* [tensors] */
  uint32_t looks;
  uint32_t peak_at; /* place in `order` of the peak that was seen last */
} regal_cut_stages;

/* `running` is scratch, laid out for the problem; arrived and sent are zero at
 * first. */
void regal_cuts_stages_begin(regal_cut_stages *stages,
                             const regal_cut_axis *axis,
                             const regal_cut_order *order);
/* Peak of a device that runs the stage: its resident bytes, outputs until their
 * last use here or their first elsewhere, and copies of inputs from their first
 * use here to their last, when each is sent just before its first reader.
 *
 * Exact for two devices, and for any number where the axis goes along the
 * order: then other stages read only later, when this one has passed its peak.
 * Otherwise it leaves out that a tensor may wait for its second reader's
 * device. Never falls when the stage grows, except for outputs that take over
 * inputs. O(n + e). */
int64_t regal_cuts_stage_peak(regal_cut_stages *stages, uint32_t low,
                              uint32_t high);

/* -- The grid and dynamic programming (dp.c) ------------------------------- */

/* Places where an axis may be cut, and costs that add up between them. */
typedef struct regal_cut_grid {
  uint32_t points;   /* first at rank 0, last at rank `ops` */
  uint32_t *at;      /* [points] rank */
  int64_t *work_ns;  /* [rows * points] run time of the ranks before */
  uint32_t rows;     /* devices, or 1 when they are alike */
  int64_t *cross_ns; /* [points] transfers across, each tensor once */
  uint32_t *reach;   /* [devices * points] of a stage that begins here and fits
                        on the device: the last point where it may end */
} regal_cut_grid;

enum { REGAL_CUT_POINTS = 151 }; /* at most */

void regal_cut_grid_layout(regal_cut_grid *grid, regal_carver *carver,
                           const regal_problem *problem);
/* At most `most` points, which part the ops evenly; all of them where that is
 * enough. No limits: the reach is the whole axis. `sums` [ops + 2] and
 * `counts` [ops + 1] are scratch. */
void regal_cut_grid_fill(regal_cut_grid *grid, const regal_problem *problem,
                         const regal_cut_axis *axis, uint32_t most,
                         int64_t *sums, uint32_t *counts);
/* Sets the reach by each device's memory limit: about two looks at a stage for
 * each point and each different limit. */
void regal_cut_grid_limit(regal_cut_grid *grid, regal_cut_stages *stages);

typedef enum regal_cut_aim {
  REGAL_CUT_BALANCE, /* least largest stage: work and transfers at both ends */
  REGAL_CUT_CHEAP    /* least transfers, summed over cuts */
} regal_cut_aim;

/* The best cuts within the reach, stage s on device[s]; false when there are
 * none. `cuts` [devices + 1] gets ranks. O(d points^2). */
bool regal_cuts_plan_stages(const regal_cut_grid *grid,
                            const regal_problem *problem, const uint8_t *device,
                            regal_cut_aim aim, uint32_t *cuts);
/* The value of cuts between points that plan_stages minimises. */
int64_t regal_cuts_stages_value(const regal_cut_grid *grid,
                                const uint8_t *device, uint32_t stages,
                                const uint32_t *points, regal_cut_aim aim);
/* The cuts with the least largest peak within the limits; where there are none,
 * with the least largest excess over a limit. At most `rounds` guesses of that
 * peak. Returns it, or minus one minus the excess. */
int64_t regal_cuts_least_peak(const regal_cut_grid *grid,
                              regal_cut_stages *stages, const uint8_t *device,
                              uint32_t rounds, uint32_t *cuts);

/* -- Placements ------------------------------------------------------------ */

/* Each op where its rank falls, or on the nearest stage's device that can run
 * it. */
void regal_cuts_place(const regal_problem *problem, const uint32_t *rank,
                      const uint32_t *cuts, const uint8_t *device,
                      uint8_t *placement);

/* -- Trying cuts (scan.c) -------------------------------------------------- */

/* Cuts with an order, and what they cost. */
typedef struct regal_cut_plan {
  regal_fitness fitness;
  const regal_cut_axis *axis;
  const regal_cut_order *order;
  const uint8_t *device; /* [devices] of each stage */
  bool batched;          /* how transfers follow: see decode/walk.h */
  uint32_t cuts[REGAL_MAX_DEVICES + 1];
} regal_cut_plan;

typedef struct regal_cut_bench {
  const regal_problem *problem;
  uint8_t *placement; /* [ops] scratch */
  regal_walk walk;
  regal_cut_stages stages;
  regal_cut_grid grid;
  uint32_t walks; /* made so far */
} regal_cut_bench;

void regal_cut_bench_layout(regal_cut_bench *bench, regal_carver *carver,
                            const regal_problem *problem);
void regal_cut_bench_begin(regal_cut_bench *bench,
                           const regal_problem *problem);
void regal_cut_place_plan(const regal_cut_bench *bench,
                          const regal_cut_plan *plan, uint8_t *placement);
regal_status regal_cut_write(regal_cut_bench *bench, regal_context *context,
                             const regal_cut_plan *found, regal_plan **plan);

/* Turns to an axis, whose grid is filled, and an order; `best` is then worse
 * than anything. */
void regal_cut_begin(regal_cut_bench *bench, const regal_cut_axis *axis,
                     const regal_cut_order *order, regal_cut_plan *best);
/* Costs the cuts; true when they replace a worse best. */
bool regal_cut_try(regal_cut_bench *bench, regal_cut_plan *tried,
                   regal_cut_plan *best);
/* Tries what dynamic programming proposes, and all in the first stage. */
void regal_cut_try_starts(regal_cut_bench *bench, const uint8_t *device,
                          uint32_t rounds, regal_cut_plan *best);
/* Moves cut after cut, each to the best of some places between its neighbours,
 * until none moves or the walks are used up. */
void regal_cut_scan(regal_cut_bench *bench, regal_cut_plan *best,
                    uint32_t walks);

static inline int64_t regal_cuts_add(int64_t a, int64_t b) {
  int64_t sum;
  return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

#endif
