/* SPDX-License-Identifier: Apache-2.0 */
/* Levels of ops: one pass backwards along the topological order. The level is
 * the "bottom level" or "upward rank" of list scheduling, as in HEFT
 * (Topcuoglu, Hariri and Wu 2002), with the least run time of each op.
 */
#include "decode/levels.h"

/* Of a transfer between the first two devices: links differ little enough for
 * a priority. */
static int64_t typical_transfer_ns(const regal_problem *problem,
                                   uint32_t tensor) {
  if (problem->devices < 2 || problem->free_transfers)
    return 0;
  return regal_problem_transfer_ns(problem, tensor, 0, 1);
}

static int64_t longest_after(const regal_problem *problem, uint32_t op,
                             int halves, const int64_t *chain) {
  int64_t longest = 0;
  for (REGAL_ROW(t, problem->output_begin, op)) {
    int64_t transfer = typical_transfer_ns(problem, t) / 2 * halves;
    for (REGAL_ROW(u, problem->use_begin, t)) {
      int64_t after = chain[problem->consumer[u]] + transfer;
      longest = after > longest ? after : longest;
    }
  }
  for (REGAL_ROW(w, problem->wait_begin, op)) {
    int64_t after = chain[problem->waiter[w]];
    longest = after > longest ? after : longest;
  }
  return longest;
}

int64_t regal_levels_fill(const regal_problem *problem, int halves,
                          int64_t *chain, regal_gene *level) {
  int64_t longest = 1, work = 0;
  for (uint32_t op = problem->ops; op-- > 0;) {
    int64_t own = regal_problem_least_run_ns(problem, op);
    chain[op] = own + longest_after(problem, op, halves, chain);
    longest = chain[op] > longest ? chain[op] : longest;
    work += own;
  }
  for (uint32_t op = 0; op < problem->ops; op++)
    level[op] =
        (regal_gene)((double)chain[op] / (double)longest * REGAL_GENE_LARGEST);
  return work / problem->ops;
}
