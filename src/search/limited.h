/* How `auto` goes about memory limits: fast plans first, then those of them
 * that can be made to fit. */
#ifndef REGAL_SEARCH_LIMITED_H
#define REGAL_SEARCH_LIMITED_H

#include "search/story.h"

/* Uses a part of what is left of the budget, or all of it if that leads to a
 * plan that needs no other search. */
regal_status regal_search_within_limit(regal_search *search,
                                       regal_story *story);

#endif
