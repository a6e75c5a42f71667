/* The annealers that there are (search/annealer.h): one line each. */
#ifndef REGAL_SEARCH_ANNEALERS_H
#define REGAL_SEARCH_ANNEALERS_H

#include "search/annealer.h"

extern const regal_annealer regal_annealer_memory;
extern const regal_annealer regal_annealer_order;
extern const regal_annealer regal_annealer_phase;

#endif
