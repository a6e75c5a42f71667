/* Methods that search on chromosomes, alone or guided by a policy. */
#ifndef REGAL_EVOLVE_EVOLVE_H
#define REGAL_EVOLVE_EVOLVE_H

#include "search/search.h"

regal_status regal_method_brkga(regal_search *search);
regal_status regal_method_random(regal_search *search); /* evolve/genetic.c */
regal_status regal_method_tuned(regal_search *search);  /* evolve/tuned.c */
regal_status regal_method_regal(regal_search *search);
regal_status regal_method_gas(regal_search *search);
regal_status regal_method_idrs(regal_search *search);
regal_status regal_method_direct(regal_search *search); /* evolve/guided.c */

#endif
