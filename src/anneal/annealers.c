/* SPDX-License-Identifier: Apache-2.0 */
/* The table of annealers, the more special ones first. */
#include "anneal/driver/anneal.h"

#include <string.h>

static const regal_annealer *const annealers[] = {
    &regal_annealer_memory,
    &regal_annealer_phase,
    &regal_annealer_order,
};

size_t regal_annealer_count(void) {
  return sizeof annealers / sizeof *annealers;
}

const regal_annealer *regal_annealer_at(size_t index) {
  return annealers[index];
}

const regal_annealer *regal_annealer_for(const regal_problem *problem) {
  for (size_t i = 0; i < regal_annealer_count(); i++)
    if (annealers[i]->suits(problem))
      return annealers[i];
  return NULL;
}

const regal_annealer *regal_annealer_find(const char *name) {
  for (size_t i = 0; i < regal_annealer_count(); i++)
    if (strcmp(annealers[i]->name, name) == 0)
      return annealers[i];
  return NULL;
}
