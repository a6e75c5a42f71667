/* SPDX-License-Identifier: Apache-2.0 */
/* Little memory at once. List schedules know one device, cuts know no shared
 * parameters, and of annealing's single moves nearly all copy a parameter or
 * come too few on a large graph. The decoder `closure` chooses order and
 * devices by what they hold: among its first plans there is a good one, and
 * annealing goes on from there.
 */
#include "auto/closures.h"

#include <math.h>
#include <stdio.h>

#include "auto/whole.h"
#include "evolve/methods.h"

#define SHARE 0.05
/* Where the budget is evaluations, so many decodes as take so long; one takes
 * so long for each op and device. */
#define DECODES_SECONDS 0.05
#define DECODE_SECONDS_PER_OP 1e-7
#define MOST_DECODES 1000
/* On large graphs few are decoded, and chromosomes are large. */
#define MOST_GENES 3e7 /* of a population */

static regal_brkga_settings choose(const regal_brkga_settings *given,
                                   const regal_problem *problem) {
  regal_brkga_settings chosen = *given;
  double genes = (double)problem->ops * (problem->devices + 1);
  if (!given->decoder) {
    chosen.decoder = &regal_decoder_closure;
    chosen.population = (uint32_t)fmax(4, fmin(30, MOST_GENES / genes));
    chosen.elites = 0.3;
    chosen.mutants = 0.1;
  }
  return chosen;
}

/* From nothing: the best plan so far would be decoded first, and on a large
 * graph nothing else. */
regal_status regal_auto_closures(regal_search *search,
                                 const regal_brkga_settings *given,
                                 regal_account *account) {
  regal_brkga_settings settings = choose(given, search->problem);
  regal_search child;
  char what[64];
  snprintf(what, sizeof what, "brkga on %.40s", settings.decoder->name);
  regal_search_anew(search, SHARE, &child);
  regal_auto_cap_plans(&child, DECODES_SECONDS,
                       DECODE_SECONDS_PER_OP * child.problem->devices,
                       MOST_DECODES);
  REGAL_TRY(
      regal_search_hand_over(&child, regal_brkga_run(&child, &settings, NULL)));
  regal_account_add(account, search, what);
  return REGAL_OK;
}
