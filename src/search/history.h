/* SPDX-License-Identifier: Apache-2.0 */
/* How a search went: its improvements and the ends of its stages. The room is
 * fixed, so that nothing allocates while a search runs. */
#ifndef REGAL_SEARCH_HISTORY_H
#define REGAL_SEARCH_HISTORY_H

#include "base/context.h"

#define REGAL_HISTORY_POINTS 512

typedef struct regal_history {
  regal_search_point points[REGAL_HISTORY_POINTS];
  size_t count;
} regal_history;

/* Adds a point; `stage` is "" for an improvement. When the room is used up,
 * every second improvement is dropped. NULL: nothing is kept. */
void regal_history_add(regal_history *history, const regal_progress *at,
                       const char *stage);
/* The points, in a block of their own; the caller releases it. */
regal_status regal_history_copy(regal_context *context,
                                const regal_history *history,
                                regal_search_point **points, size_t *count);

#endif
