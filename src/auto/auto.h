/* SPDX-License-Identifier: Apache-2.0 */
/* `auto`, the default method: the best that we have for the given budget. */
#ifndef REGAL_AUTO_AUTO_H
#define REGAL_AUTO_AUTO_H

#include "anneal/schedules.h"
#include "evolve/settings.h"

typedef struct regal_auto_settings {
  regal_brkga_settings brkga; /* without a decoder: those that auto prefers */
  regal_schedule annealing;   /* what is given of it: anneal/schedules.h */
} regal_auto_settings;

regal_auto_settings regal_auto_settings_of(const regal_options *options);
regal_status regal_auto(regal_search *search,
                        const regal_auto_settings *settings);
/* With the settings of the search's options. */
regal_status regal_method_auto(regal_search *search);

#endif
