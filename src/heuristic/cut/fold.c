/* SPDX-License-Identifier: Apache-2.0 */
/* Fold ranks. The file's order of a training graph runs the forward layers, has
 * its peak of memory about where the backward pass begins, and then runs the
 * backward layers in the opposite direction. Folding the order at the peak puts
 * each backward op beside the forward layer whose activations it reads, so that
 * one cut parts both.
 */
#include "heuristic/cut/fold.h"

/* The op at which the file's order on one device holds most bytes. */
static uint32_t find_peak(const regal_problem *problem, uint32_t *left) {
  int64_t memory = 0, peak = -1;
  uint32_t at = 0;
  for (uint32_t t = 0; t < problem->tensors; t++)
    left[t] = problem->use_begin[t + 1] - problem->use_begin[t] +
              problem->is_final[t];
  for (uint32_t op = 0; op < problem->ops; op++) {
    for (REGAL_ROW(t, problem->output_begin, op))
      memory += problem->bytes[t];
    int64_t during = memory + problem->graph->temporary_bytes[op];
    if (during > peak) {
      peak = during;
      at = op;
    }
    for (REGAL_ROW(i, problem->input_begin, op))
      if (--left[problem->input[i]] == 0)
        memory -= problem->bytes[problem->input[i]];
    for (REGAL_ROW(t, problem->output_begin, op))
      memory -= left[t] ? 0 : problem->bytes[t];
  }
  return at;
}

void regal_fold_rank(const regal_problem *problem, uint32_t peak,
                     uint32_t *rank) {
  for (uint32_t op = 0; op < problem->ops; op++)
    rank[op] = op <= peak ? op : REGAL_NONE;
  for (uint32_t op = 0; op < problem->ops; op++) {
    if (rank[op] == REGAL_NONE) /* depends on nothing */
      rank[op] = peak;
    for (REGAL_ROW(s, problem->successor_begin, op)) {
      uint32_t next = problem->successor[s];
      if (next > peak && rank[op] < rank[next])
        rank[next] = rank[op];
    }
  }
}

/* Counting sort of ops by rank. */
static void sort_by_rank(uint32_t ops, const uint32_t *rank, uint32_t *begin,
                         uint32_t *by_fold) {
  for (uint32_t i = 0; i <= ops; i++)
    begin[i] = 0;
  for (uint32_t op = 0; op < ops; op++)
    begin[rank[op] + 1]++;
  for (uint32_t i = 0; i < ops; i++)
    begin[i + 1] += begin[i];
  for (uint32_t op = 0; op < ops; op++)
    by_fold[begin[rank[op]]++] = op;
}

regal_status regal_fold_order(regal_context *context,
                              const regal_problem *problem, uint32_t *by_fold) {
  uint32_t ops = problem->ops;
  uint32_t most = problem->tensors > ops + 1 ? problem->tensors : ops + 1;
  uint32_t *rank = regal_alloc(context, ops, sizeof *rank);
  uint32_t *scratch = regal_alloc(context, most, sizeof *scratch);
  bool had = rank && scratch;
  if (had) {
    uint32_t peak = find_peak(problem, scratch);
    regal_fold_rank(problem, peak, rank);
    sort_by_rank(ops, rank, scratch, by_fold);
  }
  regal_release(context, scratch);
  regal_release(context, rank);
  return had ? REGAL_OK : regal_fail_memory(context);
}
