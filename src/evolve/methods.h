/* SPDX-License-Identifier: Apache-2.0 */
/* Methods that search on chromosomes, alone or guided by a policy. */
#ifndef REGAL_EVOLVE_METHODS_H
#define REGAL_EVOLVE_METHODS_H

#include "evolve/settings.h"

/* With all that is left of the budget, on a proposal or uniform genes (NULL).
 * `random` draws every generation anew: BRKGA without heredity. */
regal_status regal_brkga_run(regal_search *search,
                             const regal_brkga_settings *settings,
                             const regal_proposal *proposal);
regal_status regal_random_run(regal_search *search,
                              const regal_brkga_settings *settings,
                              const regal_proposal *proposal);

regal_status regal_method_brkga(regal_search *search);
regal_status regal_method_random(regal_search *search);
regal_status regal_method_tuned(regal_search *search); /* evolve/methods.c */
regal_status regal_method_regal(regal_search *search);
regal_status regal_method_idrs(regal_search *search);
regal_status regal_method_direct(regal_search *search); /* evolve/guided.c */

#endif
