/* SPDX-License-Identifier: Apache-2.0 */
/* Multilevel annealing: anneal/levels/multilevel.c. */
#ifndef REGAL_ANNEAL_LEVELS_MULTILEVEL_H
#define REGAL_ANNEAL_LEVELS_MULTILEVEL_H

#include "anneal/driver/anneal.h"
#include "anneal/levels/contract.h"

typedef struct regal_multilevel_settings {
  regal_status (*start)(regal_search *coarse); /* offers plans of its problem */
  double hot, cold; /* on the coarsest level; in mean run times of fine ops */
  double fall;      /* of the heat, from level to level */
  double coarse_share; /* of the budget, for all but the finest level */
  uint32_t target_ops; /* of the coarsest level */
} regal_multilevel_settings;

/* From nothing but the problem; offers what it finds. */
regal_status regal_multilevel(regal_search *search,
                              const regal_annealer *annealer,
                              const regal_multilevel_settings *settings);

#endif
