/* SPDX-License-Identifier: Apache-2.0 */
/* A plan that needs little memory on several devices, at once. */
#ifndef REGAL_AUTO_CLOSURES_H
#define REGAL_AUTO_CLOSURES_H

#include "auto/account.h"
#include "evolve/settings.h"

/* BRKGA on decoder `closure` with a small share of what is left; at least one
 * chromosome is decoded. What it finds is offered. */
regal_status regal_auto_closures(regal_search *search,
                                 const regal_brkga_settings *given,
                                 regal_account *account);

#endif
