#include "search/story.h"

#include <stdio.h>

static double gap_of(const regal_search *search) {
  int64_t bound = search->problem->objective == REGAL_MEMORY
                      ? search->bound.peak_bytes
                      : search->bound.runtime_ns;
  double value = (double)search->best_fitness.value;
  return bound > 0 ? 100 * (value / (double)bound - 1) : 0;
}

/* How far into the budget; by the clock only if that is the budget. */
static void tell_when(const regal_search *search, char *when, size_t room) {
  if (search->budget == UINT64_MAX)
    snprintf(when, room, "%.3f s", regal_seconds() - search->began);
  else
    snprintf(when, room, "%llu evaluations",
             (unsigned long long)search->evaluations);
}

void regal_story_tell(regal_story *story, const regal_search *search,
                      const char *what) {
  char when[48];
  size_t room = sizeof story->text - story->length;
  tell_when(search, when, sizeof when);
  int wrote =
      snprintf(story->text + story->length, room, "%s%s: %s%.2f%% after %s",
               story->length ? "; " : "", what,
               search->best_fitness.excess ? "beyond the limit, " : "",
               gap_of(search), when);
  if (wrote > 0 && (size_t)wrote < room)
    story->length += (size_t)wrote;
  else
    story->text[story->length] = 0; /* rather nothing than half of it */
}
