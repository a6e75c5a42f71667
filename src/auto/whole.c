/* SPDX-License-Identifier: Apache-2.0 */
/* Whole plans instead of moves: how many of them a budget of moves is worth. By
 * constants, not by the clock, so that plans do not depend on the machine.
 */
#include "auto/whole.h"

#include <math.h>

#include "anneal/schedules.h"

void regal_auto_cap_plans(regal_search *stage, double seconds,
                          double seconds_per_op, uint64_t most) {
  if (!regal_budget_is_counted(&stage->budget))
    return;
  double time = fmax(regal_schedule_seconds(stage), seconds);
  double plans = ceil(time / (seconds_per_op * stage->problem->ops));
  regal_budget_cap(&stage->budget,
                   plans < (double)most ? (uint64_t)plans : most);
}
