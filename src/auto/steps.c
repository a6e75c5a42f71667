/* SPDX-License-Identifier: Apache-2.0 */
/* The end of `auto` on small graphs, and where transfers block on several
 * devices.
 *
 * The other annealers order ops, and a rule says when tensors are sent: moves
 * are cheap, but some of the best plans are out of reach. On small graphs a
 * move that looks at all steps takes a microsecond or less, and the annealer
 * `steps` (anneal/steps/steps.h) finds them. Shares and temperatures were
 * compared on random graphs of 20 to 240 ops (2 to 4 devices, half a second,
 * three seeds): on larger graphs with overlapped transfers it is not worth its
 * time, with blocking ones on several devices plans get 1.5 to 3% faster.
 */
#include "auto/steps.h"

#include "anneal/driver/anneal.h"

/* Temperatures are in mean run times; it begins with a good plan. */
typedef struct schedule {
  uint32_t most_ops;
  double share; /* of the budget */
  double hot, cold;
} schedule;

static const schedule none = {0, 0, 1, 1};
static const schedule small = {40, 0.3, 0.5, 0.03};
/* Blocking transfers between several devices, where orders lose most: an
 * exchange of two devices need not be one of all that is pending. */
static const schedule large = {2000, 0.1, 0.1, 0.005};

static const schedule *schedule_for(const regal_problem *problem) {
  bool exchanges = !problem->machine->overlapped && !problem->free_transfers &&
                   problem->devices > 2 && !problem->limited;
  if (!regal_annealer_steps.suits(problem))
    return &none;
  if (problem->ops <= small.most_ops)
    return &small;
  return exchanges && problem->ops <= large.most_ops ? &large : &none;
}

double regal_auto_steps_share(const regal_problem *problem) {
  return schedule_for(problem)->share;
}

regal_status regal_auto_anneal_steps(regal_search *search,
                                     regal_account *account) {
  const schedule *schedule = schedule_for(search->problem);
  regal_anneal_job job = {.annealer = &regal_annealer_steps,
                          .start = search->best,
                          .hot = schedule->hot,
                          .cold = schedule->cold,
                          .stream = REGAL_STREAM_STEPS};
  regal_plan *best;
  REGAL_TRY(regal_anneal(search, search->problem, 1, &job, &best));
  REGAL_TRY(regal_search_offer(search, best));
  regal_account_add(account, search, "annealing of all steps");
  return REGAL_OK;
}
