/* The annealers that there are: search/annealer.h says what each promises. */
#ifndef REGAL_SEARCH_ANNEALERS_H
#define REGAL_SEARCH_ANNEALERS_H

#include "search/annealer.h"

extern const regal_annealer regal_annealer_memory;

#endif
