/* SPDX-License-Identifier: Apache-2.0 */
/* Features of a draft: a plan of the very graph, made by a short search whose
 * decoder schedules well by itself, as genes of the paper's decoder.
 *
 *   draft_affinity  1 for the device of the op, 0 for the others
 *   draft_priority  of the op: 1 for the first step of the plan, 0 for the last
 *   draft_transfer  priority of the transfer of an edge's tensor to each
 *                   device; that of the producer where the plan has none
 *
 * The placement and position of a population (paper_features.c) are means over
 * plans that differ, and say little of a part of the graph that may go to
 * either device. A draft is one plan: its parts fit together. What a policy can
 * learn is how far to trust it. */
#include "policy/features.h"

#include <string.h>

#include "policy/actions.h"

/* A policy that was made for fewer devices reads its last ones together. */
static size_t column_of(const regal_feature_source *source, uint32_t device) {
  return device < source->devices ? device : source->devices - 1;
}

static void keep_larger(float *column, float value) {
  *column = value > *column ? value : *column;
}

void regal_feature_draft_affinity(const regal_feature_source *source,
                                  float *column, size_t stride) {
  const float *affinity = source->runs.draft;
  uint32_t devices = source->problem->devices;
  for (uint32_t op = 0; affinity && op < source->problem->ops; op++)
    for (uint32_t a = 0; a < devices; a++)
      keep_larger(&column[op * stride + column_of(source, a)], *affinity++);
}

void regal_feature_draft_priority(const regal_feature_source *source,
                                  float *column, size_t stride) {
  const regal_problem *problem = source->problem;
  const float *priority = source->runs.draft;
  for (uint32_t op = 0; priority && op < problem->ops; op++)
    column[op * stride] =
        priority[(size_t)problem->ops * problem->devices + op];
}

void regal_feature_draft_transfer(const regal_feature_source *source,
                                  float *column, size_t stride) {
  const regal_problem *problem = source->problem;
  uint32_t devices = problem->devices;
  if (!source->runs.draft)
    return;
  const float *transfer =
      source->runs.draft + (size_t)problem->ops * (devices + 1);
  for (uint32_t t = 0; t < problem->tensors; t++, transfer += devices)
    for (REGAL_ROW(e, source->graph->tensor_edge, t))
      for (uint32_t a = 0; a < devices; a++)
        keep_larger(&column[e * stride + column_of(source, a)], transfer[a]);
}

const float *regal_draft_of(const regal_policy_head *head,
                            const regal_encoding *encoding) {
  uint32_t devices = encoding->draft_devices, nodes = encoding->nodes;
  if (!head->relative || !encoding->draft)
    return NULL;
  if (!strcmp(head->gene_class, "priority"))
    return encoding->draft + (size_t)nodes * devices;
  if (head->genes > devices)
    return NULL;
  return !strcmp(head->gene_class, "transfer")
             ? encoding->draft + (size_t)nodes * (devices + 1)
             : encoding->draft;
}
