/* SPDX-License-Identifier: Apache-2.0 */
/* Annealers by name, by number and for a problem. */
#include "anneal/driver/anneal.h"

#include <string.h>

#define ADDRESS(name) &regal_annealer_##name,
static const regal_annealer *const annealers[] = {REGAL_ANNEALERS(ADDRESS)};

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
