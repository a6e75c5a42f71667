/* SPDX-License-Identifier: Apache-2.0 */
/* A plan at once, from a decoder that is strong where annealing is slow. */
#ifndef REGAL_AUTO_DECODES_H
#define REGAL_AUTO_DECODES_H

#include "auto/account.h"
#include "evolve/settings.h"

/* BRKGA with a small share of what is left: on `closure` for little memory, on
 * `eft` for run time within memory limits, or on the decoder that the user has
 * named. At least one chromosome is decoded. What it finds is offered. */
regal_status regal_auto_closures(regal_search *search,
                                 const regal_brkga_settings *given,
                                 regal_account *account);
regal_status regal_auto_earliest(regal_search *search,
                                 const regal_brkga_settings *given,
                                 regal_account *account);

#endif
