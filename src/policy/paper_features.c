/* SPDX-License-Identifier: Apache-2.0 */
/* The paper's features (appendix, "Data encoding"): 9 + d for a node, which are
 * its 11 for two devices, and 3 for an edge.
 *
 *   input_bytes       sum of the sizes of its inputs     \
 *   output_bytes      sum of the sizes of its outputs     | divided by the
 *   own_bytes         temporary, resident and parameters /  largest number
 *   uses_most_memory  1 for the op with the largest working set, else 0
 *   predecessors_ns   sum of the run times of its direct predecessors \
 *   successors_ns     the same for its direct successors               | by the
 *   run_ns            its own run time                                / longest
 *   runs_longest      1 for the op with the longest run time, else 0
 *   placement         share of chromosomes that place it on device 0, 1, ...
 *   position          its mean place in the order, from 0 to 1
 *
 *   tensor_bytes      size of the tensor, divided as above
 *   is_control        1 for a control edge
 *   tensor_number     number of the hyperedge (a tensor, or the control edges
 *                     out of an op, by producer), divided by how many there are
 *
 * Run times are 0 for the objective memory, which does not use them.
 *
 * Where the paper is silent: "the largest memory number" is the largest size of
 * a tensor or of an op's own memory, so that sums may exceed 1, as those of run
 * times do; the op that uses the most memory is the first with the largest sum
 * of inputs, outputs and temporary bytes, which is the one that is fixed on
 * device 0 to break the symmetry; a run time is the mean over the devices that
 * can run the op. */
#include "policy/features.h"

/* -- Memory of nodes ------------------------------------------------------- */

void regal_feature_input_bytes(const regal_feature_source *source,
                               float *column, size_t stride) {
  const regal_problem *problem = source->problem;
  for (uint32_t op = 0; op < problem->ops; op++) {
    int64_t bytes = 0;
    for (REGAL_ROW(i, problem->input_begin, op))
      bytes += problem->bytes[problem->input[i]];
    column[op * stride] = (float)((double)bytes / source->largest_bytes);
  }
}

void regal_feature_output_bytes(const regal_feature_source *source,
                                float *column, size_t stride) {
  const regal_problem *problem = source->problem;
  for (uint32_t op = 0; op < problem->ops; op++) {
    int64_t bytes = 0;
    for (REGAL_ROW(t, problem->output_begin, op))
      bytes += problem->bytes[t];
    column[op * stride] = (float)((double)bytes / source->largest_bytes);
  }
}

void regal_feature_own_bytes(const regal_feature_source *source, float *column,
                             size_t stride) {
  for (uint32_t op = 0; op < source->problem->ops; op++)
    column[op * stride] =
        (float)((double)regal_feature_own_memory(source->problem, op) /
                source->largest_bytes);
}

void regal_feature_uses_most_memory(const regal_feature_source *source,
                                    float *column, size_t stride) {
  uint32_t largest = 0;
  int64_t most = -1;
  for (uint32_t op = 0; op < source->problem->ops; op++) {
    int64_t used = regal_problem_working_set(source->problem, op);
    if (used > most) {
      most = used;
      largest = op;
    }
  }
  column[largest * stride] = 1;
}

/* -- Run times of nodes ---------------------------------------------------- */

void regal_feature_predecessors_ns(const regal_feature_source *source,
                                   float *column, size_t stride) {
  const regal_problem *problem = source->problem;
  for (uint32_t op = 0; source->run_ns && op < problem->ops; op++)
    for (REGAL_ROW(s, problem->successor_begin, op))
      column[problem->successor[s] * stride] +=
          (float)(source->run_ns[op] / source->longest_ns);
}

void regal_feature_successors_ns(const regal_feature_source *source,
                                 float *column, size_t stride) {
  const regal_problem *problem = source->problem;
  for (uint32_t op = 0; source->run_ns && op < problem->ops; op++) {
    double after = 0;
    for (REGAL_ROW(s, problem->successor_begin, op))
      after += source->run_ns[problem->successor[s]];
    column[op * stride] = (float)(after / source->longest_ns);
  }
}

void regal_feature_run_ns(const regal_feature_source *source, float *column,
                          size_t stride) {
  for (uint32_t op = 0; source->run_ns && op < source->problem->ops; op++)
    column[op * stride] = (float)(source->run_ns[op] / source->longest_ns);
}

void regal_feature_runs_longest(const regal_feature_source *source,
                                float *column, size_t stride) {
  uint32_t longest = 0;
  if (!source->run_ns)
    return;
  for (uint32_t op = 1; op < source->problem->ops; op++)
    if (source->run_ns[op] > source->run_ns[longest])
      longest = op;
  column[longest * stride] = 1;
}

/* -- Nodes in the population of a short BRKGA run -------------------------- */

/* A policy that was made for fewer devices reads its last ones together: for
 * two, the share of device 0 and that of all others. */
void regal_feature_placement(const regal_feature_source *source, float *column,
                             size_t stride) {
  uint32_t devices = source->problem->devices, last = source->devices - 1;
  for (uint32_t op = 0; source->runs.placement && op < source->problem->ops;
       op++)
    for (uint32_t a = 0; a < devices; a++)
      column[op * stride + (a < last ? a : last)] +=
          source->runs.placement[(size_t)op * devices + a];
}

void regal_feature_position(const regal_feature_source *source, float *column,
                            size_t stride) {
  for (uint32_t op = 0; source->runs.position && op < source->problem->ops;
       op++)
    column[op * stride] = source->runs.position[op];
}

/* -- Edges ----------------------------------------------------------------- */

void regal_feature_tensor_bytes(const regal_feature_source *source,
                                float *column, size_t stride) {
  const uint32_t *begin = source->graph->tensor_edge;
  for (uint32_t t = 0; t < source->problem->tensors; t++)
    for (REGAL_ROW(e, begin, t))
      column[e * stride] =
          (float)((double)source->problem->bytes[t] / source->largest_bytes);
}

/* Control edges are tensors of their own kind, or come after all tensors. */
void regal_feature_is_control(const regal_feature_source *source, float *column,
                              size_t stride) {
  const regal_problem *problem = source->problem;
  const uint32_t *begin = source->graph->tensor_edge;
  for (uint32_t t = 0; problem->control_tensor && t < problem->tensors; t++)
    for (REGAL_ROW(e, begin, t))
      column[e * stride] = problem->control_tensor[t] != 0;
  for (uint32_t e = begin[problem->tensors]; e < source->graph->edges; e++)
    column[e * stride] = 1;
}

/* By producer, its control edges last, so that both ways to treat control edges
 * give the same numbers. */
void regal_feature_tensor_number(const regal_feature_source *source,
                                 float *column, size_t stride) {
  const regal_problem *problem = source->problem;
  const regal_encoding *graph = source->graph;
  uint32_t number = 0, control = graph->tensor_edge[problem->tensors];
  for (uint32_t op = 0; op < problem->ops; op++) {
    for (uint32_t t = problem->output_begin[op];
         t < problem->output_begin[op + 1]; t++, number++)
      for (REGAL_ROW(e, graph->tensor_edge, t))
        column[e * stride] = (float)number;
    if (control == graph->edges || graph->from[control] != op)
      continue;
    for (; control < graph->edges && graph->from[control] == op; control++)
      column[control * stride] = (float)number;
    number++;
  }
  for (uint32_t e = 0; e < graph->edges; e++)
    column[e * stride] /= (float)number;
}
