/* SPDX-License-Identifier: Apache-2.0 */
/* How `auto` goes about memory limits: fast plans first, then those of them
 * that can be made to fit. */
#ifndef REGAL_AUTO_LIMIT_H
#define REGAL_AUTO_LIMIT_H

#include "auto/account.h"
#include "evolve/settings.h"

/* Uses a part of what is left of the budget, or all of it if that leads to a
 * plan that needs no other search. */
regal_status regal_auto_within_limit(regal_search *search,
                                     const regal_brkga_settings *brkga,
                                     regal_account *account);

#endif
