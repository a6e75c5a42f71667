/* SPDX-License-Identifier: Apache-2.0 */
/* The account of `auto`: one clause for each stage, with the gap to the lower
 * bound that it reached.
 */
#include "auto/account.h"

#include <stdio.h>

#include "base/plain.h"
#include "base/text.h"

/* "12.34%", the gap to the lower bound; where there is none, the cost. */
static void tell_cost(const regal_search *search, char *cost, size_t room) {
  bool memory = search->problem->objective == REGAL_MEMORY;
  int64_t bound = regal_search_known_bound(search);
  int64_t value = search->best_fitness.value;
  if (bound > 0 || !value)
    regal_print(cost, room, "%.2f%%",
                bound > 0 ? 100 * ((double)value / (double)bound - 1) : 0);
  else
    snprintf(cost, room, "%s",
             (memory ? regal_show_bytes : regal_show_duration)(value).text);
}

/* How far into the budget; by the clock only if that is the budget. */
static void tell_when(const regal_search *search, char *when, size_t room) {
  if (!regal_budget_is_counted(&search->budget))
    regal_print(when, room, "%.3f s", regal_seconds() - search->began);
  else
    snprintf(when, room, "%llu evaluations",
             (unsigned long long)regal_search_evaluations(search));
}

void regal_account_add(regal_account *account, regal_search *search,
                       const char *what) {
  char when[48], cost[48];
  regal_search_mark(search, what);
  size_t room = sizeof account->text - account->length;
  tell_when(search, when, sizeof when);
  tell_cost(search, cost, sizeof cost);
  int wrote = snprintf(account->text + account->length, room,
                       "%s%s: %s%s after %s", account->length ? "; " : "", what,
                       search->best_fitness.excess ? "beyond the limit, " : "",
                       cost, when);
  if (wrote > 0 && (size_t)wrote < room)
    account->length += (size_t)wrote;
  else
    account->text[account->length] = 0; /* rather nothing than half of it */
}
