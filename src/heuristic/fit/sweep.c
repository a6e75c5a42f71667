/* SPDX-License-Identifier: Apache-2.0 */
/* Settings to try: a table, random draws, and variations of the best
 * (heuristic/fit/sweep.h).
 */
#include "heuristic/fit/sweep.h"

/* Between them these are within a few percent on most problems that were
 * tried: pipelines of one and two parts a device, layers in order, training
 * graphs, with much and with little memory. */
static const regal_fit_setting table[REGAL_FIT_TABLE] = {
    {0.5, 2, 0.5, 1},  {0.5, 0, 1, 1}, {0.25, 1, 0, 1}, {0, 0, 0, 1},
    {0.45, 3, 0.5, 1}, {0.5, 2, 1, 1}, {0.5, 1, 0, 1},  {0.3, 1.2, 0.45, 0.55},
};

/* Draws of the whole range before variations get the larger part, and after. */
#define FIRST_DRAWS 64
#define VARIED_EARLY 0.4
#define VARIED_LATE 0.85

void regal_fit_sweep_begin(regal_fit_sweep *sweep, uint64_t seed,
                           uint64_t number) {
  *sweep = (regal_fit_sweep){
      .random = {regal_random_key(seed, REGAL_PURPOSE_FIT, number, 0), 0},
      .best_ns = INT64_MAX};
}

static double between(regal_random *random, double low, double high) {
  return low + (high - low) * regal_random_unit(random);
}

static regal_fit_setting draw(regal_random *random) {
  regal_fit_setting drawn = {.lead = between(random, 0, 0.8),
                             .slack = between(random, 0, 4),
                             .patience = between(random, 0, 1.2),
                             .reach = 1};
  if (regal_random_below(random, 2))
    drawn.reach = between(random, 0.05, 1);
  return drawn;
}

static void vary(regal_random *random, double *value, double step) {
  if (regal_random_below(random, 2))
    *value *= between(random, 1 - step, 1 + step);
}

static regal_fit_setting variation(regal_random *random,
                                   regal_fit_setting best) {
  double step = regal_random_below(random, 2) ? 0.25 : 0.05;
  vary(random, &best.lead, step);
  vary(random, &best.slack, step);
  vary(random, &best.patience, step);
  vary(random, &best.reach, step);
  if (best.reach > 1)
    best.reach = 1;
  return best;
}

bool regal_fit_sweep_pass(regal_fit_sweep *sweep, regal_fit *fit) {
  uint32_t pass = sweep->passes++;
  regal_random *random = &sweep->random;
  double varied = pass < FIRST_DRAWS ? VARIED_EARLY : VARIED_LATE;
  regal_fit_setting setting = pass < REGAL_FIT_TABLE ? table[pass]
                              : regal_random_unit(random) < varied
                                  ? variation(random, sweep->best)
                                  : draw(random);
  int64_t allowed =
      sweep->best_ns == INT64_MAX ? INT64_MAX : sweep->best_ns - 1;
  int64_t ns = regal_fit_schedule(fit, &setting, allowed, NULL);
  if (ns >= sweep->best_ns)
    return false;
  sweep->best = setting;
  sweep->best_ns = ns;
  sweep->improved_at = pass;
  return true;
}
