/* SPDX-License-Identifier: Apache-2.0 */
/* `anneal` and `multilevel`: one annealer for the whole budget. */
#include <string.h>

#include "anneal/driver/anneal.h"
#include "anneal/methods.h"
#include "anneal/schedules.h"
#include "heuristic/heuristics.h"

static regal_status anneal(regal_search *search, bool levels) {
  regal_schedule given = regal_schedule_given(search->options), schedule;
  const regal_annealer *annealer =
      regal_schedule_for(search, &given, &schedule);
  if (!search->best)
    REGAL_TRY(regal_method_single(search));
  if (given.annealer[0] &&
      (!annealer || strcmp(annealer->name, given.annealer) != 0))
    return regal_fail(search->context, REGAL_BAD_INPUT,
                      "--annealer: \"%s\" is none of order, phase and memory, "
                      "or not for this problem",
                      given.annealer);
  if (!annealer || regal_search_should_stop(search))
    return REGAL_OK;
  if (!levels)
    schedule.coarse_share = 0;
  else if (schedule.coarse_share <= 0)
    schedule.coarse_share = 0.5;
  return regal_anneal_by(search, &schedule, annealer, given.annealer[0] != 0);
}

regal_status regal_method_anneal(regal_search *search) {
  return anneal(search, false);
}

regal_status regal_method_multilevel(regal_search *search) {
  return anneal(search, true);
}
