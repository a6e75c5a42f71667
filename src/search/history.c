/* SPDX-License-Identifier: Apache-2.0 */
/* The history of a search. Of many improvements enough are kept for a curve:
 * dropping every second one again and again leaves them spread over all of the
 * search. */
#include "search/history.h"

#include <stdio.h>
#include <string.h>

/* Stages stay; the first improvement, too. */
static void thin_out(regal_history *history) {
  size_t kept = 0, improvements = 0;
  for (size_t i = 0; i < history->count; i++)
    if (history->points[i].stage[0] || improvements++ % 2 == 0)
      history->points[kept++] = history->points[i];
  history->count = kept;
}

void regal_history_add(regal_history *history, const regal_progress *at,
                       const char *stage) {
  if (!history)
    return;
  if (history->count == REGAL_HISTORY_POINTS)
    thin_out(history);
  if (history->count == REGAL_HISTORY_POINTS)
    return; /* all are stages */
  regal_search_point *point = &history->points[history->count++];
  point->at = *at;
  snprintf(point->stage, sizeof point->stage, "%s", stage);
}

regal_status regal_history_copy(regal_context *context,
                                const regal_history *history,
                                regal_search_point **points, size_t *count) {
  regal_search_point *made = regal_alloc(context, history->count, sizeof *made);
  if (!made)
    return regal_fail_memory(context);
  memcpy(made, history->points, history->count * sizeof *made);
  *points = made;
  *count = history->count;
  return REGAL_OK;
}
