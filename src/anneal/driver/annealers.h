/* SPDX-License-Identifier: Apache-2.0 */
/* All annealers (anneal/driver/annealer.h), the more special ones first: where
 * several suit a problem, the first of them is the default. Each row declares
 * regal_annealer_NAME. */
#ifndef REGAL_ANNEAL_DRIVER_ANNEALERS_H
#define REGAL_ANNEAL_DRIVER_ANNEALERS_H

#include "anneal/driver/annealer.h"

#define REGAL_ANNEALERS(ROW)                                                   \
  ROW(memory)                                                                  \
  ROW(phase)                                                                   \
  ROW(order)                                                                   \
  ROW(steps)

#define REGAL_DECLARE_ANNEALER(name)                                           \
  extern const regal_annealer regal_annealer_##name;
REGAL_ANNEALERS(REGAL_DECLARE_ANNEALER)

#endif
