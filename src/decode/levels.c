/* SPDX-License-Identifier: Apache-2.0 */
#include "decode/levels.h"

static int64_t least_run_ns(const regal_problem *problem, uint32_t op) {
  int64_t least = INT64_MAX;
  for (uint64_t left = problem->allowed[op]; left; left &= left - 1) {
    int64_t ns =
        regal_problem_run_ns(problem, op, (uint32_t)__builtin_ctzll(left));
    least = ns < least ? ns : least;
  }
  return least;
}

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
  for (uint32_t t = problem->output_begin[op];
       t < problem->output_begin[op + 1]; t++) {
    int64_t transfer = typical_transfer_ns(problem, t) / 2 * halves;
    for (uint32_t u = problem->use_begin[t]; u < problem->use_begin[t + 1];
         u++) {
      int64_t after = chain[problem->consumer[u]] + transfer;
      longest = after > longest ? after : longest;
    }
  }
  for (uint32_t w = problem->wait_begin[op]; w < problem->wait_begin[op + 1];
       w++) {
    int64_t after = chain[problem->waiter[w]];
    longest = after > longest ? after : longest;
  }
  return longest;
}

int64_t regal_levels_fill(const regal_problem *problem, int halves,
                          int64_t *chain, regal_gene *level) {
  int64_t longest = 1, work = 0;
  for (uint32_t op = problem->ops; op-- > 0;) {
    int64_t own = least_run_ns(problem, op);
    chain[op] = own + longest_after(problem, op, halves, chain);
    longest = chain[op] > longest ? chain[op] : longest;
    work += own;
  }
  for (uint32_t op = 0; op < problem->ops; op++)
    level[op] =
        (regal_gene)((double)chain[op] / (double)longest * REGAL_GENE_LARGEST);
  return work / problem->ops;
}
