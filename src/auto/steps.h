/* SPDX-License-Identifier: Apache-2.0 */
/* The end of `auto`: annealing of all steps, transfers too. */
#ifndef REGAL_AUTO_STEPS_H
#define REGAL_AUTO_STEPS_H

#include "auto/account.h"

/* The share of the budget that it is worth; 0 where it is not. */
double regal_auto_steps_share(const regal_problem *problem);
/* From the best plan so far, with all that is left. */
regal_status regal_auto_anneal_steps(regal_search *search,
                                     regal_account *account);

#endif
