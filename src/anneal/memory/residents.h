/* SPDX-License-Identifier: Apache-2.0 */
/* What devices hold from the first step to the last: the parameters of ops, and
 * shared parameters, held once by each device with a reader. */
#ifndef REGAL_ANNEAL_MEMORY_RESIDENTS_H
#define REGAL_ANNEAL_MEMORY_RESIDENTS_H

#include <string.h>

#include "base/carve.h"
#include "cost/model/problem.h"

typedef struct regal_residents {
  uint32_t *shared_begin, *shared; /* [ops+1], shared parameters it reads */
  uint32_t *holders;               /* [shared * devices] readers there */
} regal_residents;

void regal_residents_layout(regal_residents *residents, regal_carver *carver,
                            const regal_problem *problem);
/* Which op reads which parameter; once after the layout. */
void regal_residents_create(regal_residents *residents,
                            const regal_problem *problem);
/* Counts the holders; `held` gets the bytes on each device. */
void regal_residents_count(regal_residents *residents,
                           const regal_problem *problem,
                           const uint8_t *placement, int64_t *held);
/* The op changes its device; `held` follows. */
void regal_residents_move(regal_residents *residents,
                          const regal_problem *problem, uint32_t op,
                          uint32_t from, uint32_t to, int64_t *held);

#endif
