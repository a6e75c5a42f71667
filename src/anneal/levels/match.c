/* SPDX-License-Identifier: Apache-2.0 */
/* Pairs of ops to merge, best first. An edge from p to v may be contracted when
 * v is the only successor of p, or p the only predecessor of v: then no other
 * way leads from p to v, and no cycle can come about. The condition survives
 * the merges of other pairs, which never give an op another successor or
 * predecessor; so all pairs of one level can be merged one after the other.
 *
 * Ops of one group may be merged, and an op of no group with one of a group
 * that is allowed nowhere else; the pair then belongs to the group, whose
 * devices stay the same. Ops of two groups are never merged: that would tie the
 * groups together, for good on all coarser levels.
 */
#include "anneal/levels/match.h"

#include <stdlib.h>

#include "base/carve.h"

typedef struct edge {
  double score;
  uint32_t from, to;
} edge;

static int by_score(const void *a, const void *b) {
  const edge *x = a, *y = b;
  if (x->score != y->score)
    return x->score < y->score ? 1 : -1;
  if (x->from != y->from)
    return x->from < y->from ? -1 : 1;
  return (x->to > y->to) - (x->to < y->to);
}

/* What it costs to cut the edge: time for run time, bytes for memory. */
static double price_of(const regal_problem *problem, uint32_t tensor) {
  if (problem->objective == REGAL_MEMORY || problem->free_transfers)
    return (double)problem->bytes[tensor];
  return (double)regal_problem_transfer_ns(problem, tensor, 0, 1);
}

static double mean_work(const regal_problem *problem) {
  double sum = 0;
  for (uint32_t op = 0; op < problem->ops; op++)
    sum += (double)regal_problem_least_run_ns(problem, op);
  return sum / problem->ops;
}

/* Marks the ops that share their group with others. */
static void mark_grouped(const regal_problem *problem, uint8_t *grouped) {
  for (uint32_t op = 0; problem->leader && op < problem->ops; op++)
    if (problem->leader[op] != op)
      grouped[op] = grouped[problem->leader[op]] = 1;
}

static bool may_join(const regal_problem *problem, const uint8_t *grouped,
                     uint32_t from, uint32_t to) {
  uint64_t a = problem->allowed[from], b = problem->allowed[to];
  if (grouped[from] && grouped[to])
    return problem->leader[from] == problem->leader[to];
  if (grouped[from] || grouped[to])
    return (a & b) == (grouped[from] ? a : b);
  return a == b;
}

/* Contractible edges with their scores; expensive edges between short ops
 * first. */
static size_t list_edges(const regal_problem *problem, const uint8_t *grouped,
                         edge *edges) {
  double floor = 0.05 * mean_work(problem) + 1;
  size_t count = 0;
  for (uint32_t t = 0; t < problem->tensors; t++) {
    uint32_t from = problem->producer[t];
    bool only = problem->successor_begin[from + 1] ==
                problem->successor_begin[from] + 1;
    for (REGAL_ROW(u, problem->use_begin, t)) {
      uint32_t to = problem->consumer[u];
      if (!only && problem->predecessors[to] != 1)
        continue;
      if (!may_join(problem, grouped, from, to))
        continue;
      double a = (double)regal_problem_least_run_ns(problem, from);
      double b = (double)regal_problem_least_run_ns(problem, to);
      double score = price_of(problem, t) / ((a < b ? a : b) + floor);
      edges[count++] = (edge){score, from, to};
    }
  }
  return count;
}

static uint32_t match(const regal_problem *problem, int64_t most_ns,
                      const edge *edges, size_t count, uint32_t *partner) {
  uint32_t pairs = 0;
  for (uint32_t op = 0; op < problem->ops; op++)
    partner[op] = op;
  for (size_t i = 0; i < count; i++) {
    uint32_t from = edges[i].from, to = edges[i].to;
    if (partner[from] != from || partner[to] != to)
      continue;
    if (regal_problem_least_run_ns(problem, from) >
        most_ns - regal_problem_least_run_ns(problem, to))
      continue;
    partner[from] = to;
    partner[to] = from;
    pairs++;
  }
  return pairs;
}

regal_status regal_contract_match(regal_context *context,
                                  const regal_problem *problem, int64_t most_ns,
                                  uint32_t *partner, uint32_t *pairs) {
  edge *edges = NULL;
  uint8_t *grouped = NULL;
  regal_carver carver = {NULL, 0};
  REGAL_TRY(REGAL_CARVE_BLOCK(
      context, carver,
      (edges = regal_carve(&carver, problem->uses, sizeof *edges),
       grouped = regal_carve(&carver, problem->ops, sizeof *grouped))));
  mark_grouped(problem, grouped);
  size_t count = list_edges(problem, grouped, edges);
  qsort(edges, count, sizeof *edges, by_score);
  *pairs = match(problem, most_ns, edges, count, partner);
  regal_release(context, carver.base);
  return REGAL_OK;
}
