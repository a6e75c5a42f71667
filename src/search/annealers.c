/* The table of annealers, the more special ones first. */
#include "search/anneal.h"

#include <string.h>

static const regal_annealer *const annealers[] = {
    &regal_annealer_memory,
    &regal_annealer_phase,
    &regal_annealer_order,
};

const regal_annealer *regal_annealer_for(const regal_problem *problem) {
  for (size_t i = 0; i < sizeof annealers / sizeof *annealers; i++)
    if (annealers[i]->suits(problem))
      return annealers[i];
  return NULL;
}

const regal_annealer *regal_annealer_find(const char *name) {
  for (size_t i = 0; i < sizeof annealers / sizeof *annealers; i++)
    if (strcmp(annealers[i]->name, name) == 0)
      return annealers[i];
  return NULL;
}
