/* SPDX-License-Identifier: Apache-2.0 */
/* The end of `auto` on small graphs.
 *
 * The annealers for large graphs order ops, and a rule says when tensors are
 * sent: moves are cheap, but some of the best plans are out of reach. On small
 * graphs a move that looks at all steps takes a microsecond or less, and the
 * annealer `steps` (anneal/steps/steps.h) finds them.
 */
#include "auto/steps.h"

#include "anneal/driver/anneal.h"

/* Up to so many ops: any; those with blocking transfers that cost, without a
 * memory limit, where the rules that follow from orders lose most. */
#define SMALL_OPS 40
#define BLOCKING_OPS 100
#define SHARE 0.3
/* Temperatures in mean run times; it begins with a good plan. */
#define HOT 0.5
#define COLD 0.03

double regal_auto_steps_share(const regal_problem *problem) {
  bool blocking = !problem->machine->overlapped && !problem->free_transfers &&
                  !problem->limited;
  if (!regal_annealer_steps.suits(problem) ||
      problem->ops > (blocking ? BLOCKING_OPS : SMALL_OPS))
    return 0;
  return SHARE;
}

regal_status regal_auto_anneal_steps(regal_search *search,
                                     regal_account *account) {
  regal_anneal_job job = {.annealer = &regal_annealer_steps,
                          .start = search->best,
                          .hot = HOT,
                          .cold = COLD,
                          .stream = REGAL_STREAM_STEPS};
  regal_plan *best;
  REGAL_TRY(regal_anneal(search, search->problem, 1, &job, &best));
  REGAL_TRY(regal_search_offer(search, best));
  regal_account_add(account, search, "annealing of all steps");
  return REGAL_OK;
}
