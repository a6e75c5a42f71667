/* SPDX-License-Identifier: Apache-2.0 */
/* The annealers that there are (anneal/driver/annealer.h): one line each. */
#ifndef REGAL_ANNEAL_DRIVER_ANNEALERS_H
#define REGAL_ANNEAL_DRIVER_ANNEALERS_H

#include "anneal/driver/annealer.h"

extern const regal_annealer regal_annealer_memory;
extern const regal_annealer regal_annealer_order;
extern const regal_annealer regal_annealer_phase;

#endif
