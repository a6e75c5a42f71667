/* The account of a search: what was done, and how the gap fell. */
#ifndef REGAL_SEARCH_STORY_H
#define REGAL_SEARCH_STORY_H

#include "search/search.h"

typedef struct regal_story {
  char text[sizeof((regal_search *)0)->account];
  size_t length;
} regal_story;

/* "heft: 12.30% after 0.004 s; " */
void regal_story_tell(regal_story *story, const regal_search *search,
                      const char *what);

#endif
