/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters and reuse, as the fast code wants them: what costs nothing in most
 * graphs must cost nothing in the decoders.
 *
 * A parameter of one reader (or of readers that share a device, being a group)
 * becomes resident bytes of that reader. Only the others need to be counted for
 * each placement.
 */

#include <string.h>

#include "cost/model/problem_parts.h"
#include "graph/rows.h"

/* Rows of distinct readers, for every parameter of the graph. `seen` has a zero
 * for each op. */
static void list_readers(const regal_problem *problem, uint32_t *begin,
                         uint32_t *reader, uint32_t *seen) {
  const regal_graph *graph = problem->graph;
  regal_rows_transpose(graph->ops, graph->parameter_begin, graph->parameter,
                       graph->parameters, begin, reader);
  for (uint32_t r = 0; problem->leader && r < begin[graph->parameters]; r++)
    reader[r] = problem->leader[reader[r]];
  regal_rows_unique(graph->parameters, begin, reader, seen);
}

/* Gives parameters of one reader to it and moves the others together. */
static void keep_shared(regal_problem *problem, int64_t *resident) {
  const regal_graph *graph = problem->graph;
  uint32_t *begin = problem->reader_begin, *reader = problem->reader;
  uint32_t shared = 0, kept = 0, r = 0;
  for (uint32_t p = 0; p < graph->parameters; p++) {
    uint32_t end = begin[p + 1], readers = end - r;
    int64_t bytes = graph->parameter_bytes[p];
    if (readers == 1)
      resident[reader[r]] += bytes;
    if (readers < 2 || !bytes) {
      r = end;
      continue;
    }
    problem->shared_bytes[shared] = bytes;
    begin[shared++] = kept;
    while (r < end)
      reader[kept++] = reader[r++];
  }
  begin[shared] = kept;
  problem->shared = shared;
}

regal_status regal_problem_share_parameters(regal_problem *problem) {
  const regal_graph *graph = problem->graph;
  problem->resident_bytes = graph->resident_bytes;
  size_t parameters = graph->parameters;
  if (!parameters)
    return REGAL_OK;
  int64_t *resident = regal_problem_own(problem, problem->ops, 8);
  problem->shared_bytes = regal_problem_own(problem, parameters, 8);
  problem->reader_begin = regal_problem_own(problem, parameters + 1, 4);
  problem->reader =
      regal_problem_own(problem, graph->parameter_begin[graph->ops], 4);
  uint32_t *seen = regal_alloc(problem->context, problem->ops, 4);
  if (!resident || !problem->shared_bytes || !problem->reader_begin ||
      !problem->reader || !seen) {
    regal_release(problem->context, seen);
    return regal_fail_memory(problem->context);
  }
  memcpy(resident, graph->resident_bytes, problem->ops * sizeof *resident);
  problem->resident_bytes = resident;
  list_readers(problem, problem->reader_begin, problem->reader, seen);
  keep_shared(problem, resident);
  regal_release(problem->context, seen);
  return REGAL_OK;
}

static int64_t largest_input(const regal_problem *problem, uint32_t op) {
  int64_t largest = 0;
  for (REGAL_ROW(i, problem->input_begin, op))
    if (problem->bytes[problem->input[i]] > largest)
      largest = problem->bytes[problem->input[i]];
  return largest;
}

static bool may_reuse_some(const regal_problem *problem, uint32_t op) {
  int64_t largest = largest_input(problem, op);
  for (REGAL_ROW(t, problem->output_begin, op))
    if (problem->may_reuse[t] && problem->bytes[t] > 0 &&
        problem->bytes[t] <= largest)
      return true;
  return false;
}

regal_status regal_problem_mark_reuse(regal_problem *problem) {
  if (!problem->graph->reusing_tensors)
    return REGAL_OK;
  uint8_t *reuses = regal_problem_own(problem, problem->ops, 1);
  if (!reuses)
    return regal_fail_memory(problem->context);
  for (uint32_t op = 0; op < problem->ops; op++)
    if (may_reuse_some(problem, op)) {
      reuses[op] = 1;
      problem->reuses = reuses;
    }
  return REGAL_OK;
}

int64_t regal_problem_reuse(const regal_problem *problem, uint32_t op,
                            uint32_t *left, size_t stride) {
  enum { TAKEN = 0, LAST_USE = 1 };
  const uint32_t *input = problem->input;
  uint32_t first = problem->input_begin[op], end = problem->input_begin[op + 1];
  int64_t reused = 0;
  for (REGAL_ROW(t, problem->output_begin, op)) {
    int64_t bytes = problem->may_reuse[t] ? problem->bytes[t] : 0;
    while (first < end && left[input[first] * stride] != LAST_USE)
      first++; /* so that many outputs over as many inputs take linear time */
    uint32_t i = bytes ? first : end;
    while (i < end && (left[input[i] * stride] != LAST_USE ||
                       problem->bytes[input[i]] < bytes))
      i++;
    if (i == end)
      continue;
    left[input[i] * stride] = TAKEN;
    reused += bytes;
  }
  for (REGAL_ROW(i, problem->input_begin, op))
    left[input[i] * stride] += left[input[i] * stride] == TAKEN;
  return reused;
}
