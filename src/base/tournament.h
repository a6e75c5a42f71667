/* SPDX-License-Identifier: Apache-2.0 */
/* A tournament of ops: which one comes first, also within a range of places.
 *
 * Each place is empty or holds one op. Changing a place and asking for the
 * first op of a range both take O(log places); nothing is allocated.
 */
#ifndef REGAL_BASE_TOURNAMENT_H
#define REGAL_BASE_TOURNAMENT_H

#include "base/carve.h"

/* True when op a goes before op b; of equal ops the one at the lower place
 * does. The answer may change only for an op that is set again afterwards. */
typedef bool (*regal_before_fn)(const void *state, uint32_t a, uint32_t b);

typedef struct regal_tournament {
  uint32_t leaves;  /* a power of two */
  uint32_t *winner; /* [2 * leaves] REGAL_NONE where all places are empty */
  regal_before_fn before;
  const void *state;
} regal_tournament;

void regal_tournament_layout(regal_tournament *tournament, regal_carver *carver,
                             uint32_t places);
/* All places are empty. */
void regal_tournament_begin(regal_tournament *tournament,
                            regal_before_fn before, const void *state);

/* `op` may be REGAL_NONE, to empty the place. */
void regal_tournament_set(regal_tournament *tournament, uint32_t place,
                          uint32_t op);
/* The first op of places begin .. end-1, or REGAL_NONE. */
uint32_t regal_tournament_best(const regal_tournament *tournament,
                               uint32_t begin, uint32_t end);
/* The lowest place that is not empty, or REGAL_NONE. */
uint32_t regal_tournament_lowest(const regal_tournament *tournament);

#endif
