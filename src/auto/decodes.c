/* SPDX-License-Identifier: Apache-2.0 */
/* Good plans at once, by decoders that choose order and devices together: among
 * their first plans there is a good one, and annealing goes on from there.
 *
 * `closure` goes by what devices hold. List schedules for memory know one
 * device, cuts know no shared parameters, and of annealing's single moves
 * nearly all copy a parameter or come too few on a large graph.
 *
 * `eft` lets ops end early. Within a memory limit moves are slow, a fast plan
 * may not come within it, and list schedules that keep it cost many passes.
 */
#include "auto/decodes.h"

#include <math.h>
#include <stdio.h>

#include "auto/whole.h"
#include "evolve/methods.h"

/* Where the budget is evaluations, so many decodes as take so long. */
#define DECODES_SECONDS 0.05
#define MOST_DECODES 1000
/* On large graphs few are decoded, and chromosomes are large. */
#define MOST_GENES 3e7 /* of a population */

typedef struct decoding {
  const regal_decoder *decoder;
  double share;          /* of what is left of the budget */
  double seconds_per_op; /* of a decode, for each op and device */
} decoding;

static const decoding closures = {&regal_decoder_closure, 0.05, 1e-7};
static const decoding earliest = {&regal_decoder_eft, 0.1, 4e-8};

static regal_brkga_settings choose(const regal_brkga_settings *given,
                                   const regal_decoder *decoder,
                                   const regal_problem *problem) {
  regal_brkga_settings chosen = *given;
  double genes = (double)problem->ops * (problem->devices + 1);
  if (!given->decoder) {
    chosen.decoder = decoder;
    chosen.population = (uint32_t)fmax(4, fmin(30, MOST_GENES / genes));
    chosen.elites = 0.3;
    chosen.mutants = 0.1;
  }
  return chosen;
}

/* From nothing: the best plan so far would be decoded first, and on a large
 * graph nothing else. */
static regal_status run(regal_search *search, const decoding *by,
                        const regal_brkga_settings *given,
                        regal_account *account) {
  regal_brkga_settings settings = choose(given, by->decoder, search->problem);
  regal_search child;
  char what[64];
  snprintf(what, sizeof what, "brkga on %.40s", settings.decoder->name);
  regal_search_anew(search, by->share, &child);
  regal_auto_cap_plans(&child, DECODES_SECONDS,
                       by->seconds_per_op * child.problem->devices,
                       MOST_DECODES);
  REGAL_TRY(
      regal_search_hand_over(&child, regal_brkga_run(&child, &settings, NULL)));
  regal_account_add(account, search, what);
  return REGAL_OK;
}

regal_status regal_auto_closures(regal_search *search,
                                 const regal_brkga_settings *given,
                                 regal_account *account) {
  return run(search, &closures, given, account);
}

regal_status regal_auto_earliest(regal_search *search,
                                 const regal_brkga_settings *given,
                                 regal_account *account) {
  return run(search, &earliest, given, account);
}
