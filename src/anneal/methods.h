/* Methods that make single moves. */
#ifndef REGAL_ANNEAL_METHODS_H
#define REGAL_ANNEAL_METHODS_H

#include "search/search.h"

regal_status regal_method_anneal(regal_search *search);
regal_status regal_method_multilevel(regal_search *search);

#endif
