/* SPDX-License-Identifier: Apache-2.0 */
/* The account of `auto`: one clause for each stage, with the gap to the lower
 * bound that it reached.
 */
#include "auto/account.h"

#include <stdio.h>

static double gap_of(const regal_search *search) {
  int64_t bound = search->problem->objective == REGAL_MEMORY
                      ? search->bound.peak_bytes
                      : search->bound.runtime_ns;
  double value = (double)search->best_fitness.value;
  return bound > 0 ? 100 * (value / (double)bound - 1) : 0;
}

/* How far into the budget; by the clock only if that is the budget. */
static void tell_when(const regal_search *search, char *when, size_t room) {
  if (!regal_budget_is_counted(&search->budget))
    snprintf(when, room, "%.3f s", regal_seconds() - search->began);
  else
    snprintf(when, room, "%llu evaluations",
             (unsigned long long)search->budget.used);
}

void regal_account_add(regal_account *account, regal_search *search,
                       const char *what) {
  char when[48];
  regal_search_mark(search, what);
  size_t room = sizeof account->text - account->length;
  tell_when(search, when, sizeof when);
  int wrote =
      snprintf(account->text + account->length, room, "%s%s: %s%.2f%% after %s",
               account->length ? "; " : "", what,
               search->best_fitness.excess ? "beyond the limit, " : "",
               gap_of(search), when);
  if (wrote > 0 && (size_t)wrote < room)
    account->length += (size_t)wrote;
  else
    account->text[account->length] = 0; /* rather nothing than half of it */
}
