/* SPDX-License-Identifier: Apache-2.0 */
/* A problem: a graph on a machine with an objective, laid out for the fast
 * code (decoders, simulator, bounds). The verifier does not use it.
 *
 * With control = transfer every op that others wait for gets one more tensor,
 * its last, of zero bytes; the fast code then sees no control edges at all.
 * Tensor numbers are therefore the problem's own; problem->control_tensor says
 * which tensors are such.
 */
#ifndef REGAL_COST_MODEL_PROBLEM_H
#define REGAL_COST_MODEL_PROBLEM_H

#include "cost/model/machine.h"

struct regal_problem {
  regal_context *context;
  const regal_graph *graph;
  regal_machine *machine; /* owned */
  enum regal_objective objective;
  uint32_t ops, tensors, uses, devices;

  /* Flow of tensors; shapes as in graph.h, with control tensors if any. */
  const uint32_t *output_begin, *producer, *use_begin, *consumer;
  const uint32_t *input_begin, *input;
  const int64_t *bytes;
  const uint8_t *is_final;
  const uint8_t *may_reuse;      /* [tensors] */
  const uint8_t *reuses;         /* [ops] an output may take over an input; or
                                    NULL: nowhere */
  const uint8_t *control_tensor; /* [tensors], or NULL: none is */
  const uint32_t *wait_begin;    /* [ops+1] control edges, control = wait */
  const uint32_t *waiter;        /* ops that wait for this one's end */
  bool has_waits;

  uint32_t *needs;           /* [ops] inputs and control edges into an op */
  uint32_t *successor_begin; /* [ops+1] distinct ops that depend on an op */
  uint32_t *successor;
  uint32_t *predecessors; /* [ops] number of distinct ops it depends on */

  /* Run times: run_ns[op * run_stride + device * run_step]. */
  const int64_t *run_ns;
  uint32_t run_stride, run_step; /* 1, 0 when all devices are alike */

  /* Transfer times: transfer_ns[class * tensors + tensor], where class is
   * link_class[from * devices + to]. NULL when every transfer is free, or when
   * so many links differ that the table would outgrow the graph. */
  int64_t *transfer_ns;
  bool free_transfers;
  uint16_t link_class[REGAL_MAX_DEVICES * REGAL_MAX_DEVICES];
  uint32_t link_classes;

  int64_t limit[REGAL_MAX_DEVICES];
  bool limited;   /* some device has a memory limit */
  bool symmetric; /* devices are interchangeable */

  uint64_t *allowed; /* [ops] bit per device that may run the op's group */
  bool restricted;   /* some op may not run on every device */
  uint32_t *leader;  /* [ops] first op of the group; NULL without groups */
  uint32_t pinned;   /* op fixed on device 0 to break symmetry, or NONE */

  /* Bytes that an op's device holds for the whole plan: its own, and the
   * parameters that no op outside its group reads. The others are held
   * once by each device of their readers. */
  const int64_t *resident_bytes; /* [ops] */
  uint32_t shared;               /* parameters of several readers */
  int64_t *shared_bytes;         /* [shared] more than 0 */
  uint32_t *reader_begin;        /* [shared+1] */
  uint32_t *reader;              /* ops, one of each group */

  void *owned[32]; /* blocks to release with the problem */
  uint32_t owned_count;
};

static inline int64_t regal_problem_run_ns(const regal_problem *problem,
                                           uint32_t op, uint32_t device) {
  return problem->run_ns[(size_t)op * problem->run_stride +
                         (size_t)device * problem->run_step];
}

/* Its run times on all devices that may run it, summed, and their mean. */
static inline __int128 regal_problem_sum_run_ns(const regal_problem *problem,
                                                uint32_t op) {
  __int128 sum = 0;
  for (uint64_t left = problem->allowed[op]; left; left &= left - 1)
    sum += regal_problem_run_ns(problem, op, (uint32_t)__builtin_ctzll(left));
  return sum;
}

static inline double regal_problem_mean_run_ns(const regal_problem *problem,
                                               uint32_t op) {
  int count = __builtin_popcountll(problem->allowed[op]);
  return count ? (double)regal_problem_sum_run_ns(problem, op) / count : 0;
}

/* The same, rounded down. */
static inline int64_t regal_problem_usual_run_ns(const regal_problem *problem,
                                                 uint32_t op) {
  if (!problem->run_step)
    return regal_problem_run_ns(problem, op, 0);
  return (int64_t)(regal_problem_sum_run_ns(problem, op) /
                   __builtin_popcountll(problem->allowed[op]));
}

/* The least of the devices that can run the op. */
static inline int64_t regal_problem_least_run_ns(const regal_problem *problem,
                                                 uint32_t op) {
  if (!problem->run_step)
    return regal_problem_run_ns(problem, op, 0);
  int64_t least = INT64_MAX;
  for (uint64_t left = problem->allowed[op]; left; left &= left - 1) {
    int64_t ns =
        regal_problem_run_ns(problem, op, (uint32_t)__builtin_ctzll(left));
    least = ns < least ? ns : least;
  }
  return least;
}

/* The first op of the op's group. */
static inline uint32_t regal_problem_leader(const regal_problem *problem,
                                            uint32_t op) {
  return problem->leader ? problem->leader[op] : op;
}

/* Straight from the machine, without the table. */
int64_t regal_problem_link_ns(const regal_problem *problem, uint32_t tensor,
                              uint32_t from, uint32_t to);

static inline int64_t regal_problem_transfer_ns(const regal_problem *problem,
                                                uint32_t tensor, uint32_t from,
                                                uint32_t to) {
  if (problem->free_transfers)
    return 0;
  if (!problem->transfer_ns)
    return regal_problem_link_ns(problem, tensor, from, to);
  uint32_t class = problem->link_class[from * problem->devices + to];
  return problem->transfer_ns[(size_t) class * problem->tensors + tensor];
}

/* What an op holds while it runs: its inputs, outputs and temporary bytes. They
 * are distinct, so that the graph's checked total bounds the sum. */
static inline int64_t regal_problem_working_set(const regal_problem *problem,
                                                uint32_t op) {
  int64_t bytes = problem->graph->temporary_bytes[op];
  for (REGAL_ROW(i, problem->input_begin, op))
    bytes += problem->bytes[problem->input[i]];
  for (REGAL_ROW(t, problem->output_begin, op))
    bytes += problem->bytes[t];
  return bytes;
}

/* The most inputs of any op. */
static inline uint32_t regal_problem_most_inputs(const regal_problem *problem) {
  uint32_t most = 0;
  for (uint32_t op = 0; op < problem->ops; op++)
    if (problem->input_begin[op + 1] - problem->input_begin[op] > most)
      most = problem->input_begin[op + 1] - problem->input_begin[op];
  return most;
}

/* Bytes of the op's outputs that take over an input which dies as it runs: each
 * output the first that is large enough and not yet taken. left[t * stride] is
 * the number of uses of tensor t to come; it is changed only meanwhile. */
int64_t regal_problem_reuse(const regal_problem *problem, uint32_t op,
                            uint32_t *left, size_t stride);

/* Whether the cost of a plan needs its memory, or only its run time. */
static inline bool regal_problem_needs_memory(const regal_problem *problem) {
  return problem->objective == REGAL_MEMORY || problem->limited;
}

/* The same without memory limits; it owns nothing, and lives as long as the
 * problem. */
static inline regal_problem
regal_problem_unlimited(const regal_problem *problem) {
  regal_problem view = *problem;
  view.limited = false;
  for (uint32_t a = 0; a < view.devices; a++)
    view.limit[a] = REGAL_UNLIMITED;
  return view;
}

/* The same with a share of each limit that no plan has to keep, but that an
 * annealer may come near: anneal/phase/held.h. */
static inline regal_problem
regal_problem_towards_limits(const regal_problem *problem, double share) {
  regal_problem view = *problem;
  view.limited = false;
  for (uint32_t a = 0; a < view.devices; a++)
    if (view.limit[a] != REGAL_UNLIMITED)
      view.limit[a] = (int64_t)(share * (double)view.limit[a]);
  return view;
}

/* Takes the machine over, also when it fails. */
regal_status regal_problem_bind(regal_context *context,
                                const regal_graph *graph,
                                regal_machine *machine,
                                enum regal_objective objective,
                                regal_problem **problem);

#endif
