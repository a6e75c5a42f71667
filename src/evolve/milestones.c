/* SPDX-License-Identifier: Apache-2.0 */
/* Milestones: the best fitness after each of several budgets, from one run.
 *
 * A run with a smaller budget is the beginning of a longer one (brkga.c), so
 * the answers are read off while the longest one goes on, also for budgets that
 * end in the middle of a generation.
 */
#include "evolve/milestones.h"

#include <string.h>

#include "evolve/brkga.h"

typedef struct run {
  regal_brkga *brkga;
  uint32_t *slots; /* [p] where this generation's members are made, in order */
  const uint64_t *budgets;
  regal_fitness *best;
  size_t count, next; /* milestones, and the first that is still ahead */
} run;

static regal_status check(const regal_search *search,
                          const regal_brkga_settings *settings,
                          const uint64_t *budgets, size_t count) {
  regal_context *context = search->context;
  if (settings->islands != 1 || settings->restart != 0)
    return regal_fail(context, REGAL_MISUSE,
                      "milestones are of one island without restarts");
  for (size_t i = 0; i < count; i++)
    if (budgets[i] <= (i ? budgets[i - 1] : 0))
      return regal_fail(context, REGAL_MISUSE,
                        "the budgets of milestones ascend, from 1");
  if (!count || search->budget.limit != budgets[count - 1])
    return regal_fail(context, REGAL_MISUSE,
                      "the last milestone is not the end of the budget");
  return REGAL_OK;
}

/* One generation, and the milestones that end in it. Members stay in the slots
 * in which they were made, whatever their ranks become, so what had been found
 * after the i-th of them can be read off when the generation is complete. */
static bool pass_generation(run *run) {
  regal_brkga *brkga = run->brkga;
  bool first = brkga->generation == 0;
  uint32_t made = brkga->population - (first ? 0 : brkga->elites);
  uint64_t evaluations = brkga->search->budget.used;
  regal_fitness best = brkga->best_fitness;
  memcpy(run->slots, first ? brkga->ranked : brkga->spare,
         made * sizeof *run->slots);
  if (!regal_brkga_step(brkga))
    return false;
  for (uint32_t i = 0; i < made && run->next < run->count; i++) {
    regal_fitness fitness = brkga->fitness[run->slots[i]];
    if (regal_fitness_less(fitness, best))
      best = fitness;
    if (++evaluations == run->budgets[run->next])
      run->best[run->next++] = best;
  }
  return true;
}

static regal_status follow(run *run) {
  regal_context *context = run->brkga->search->context;
  run->slots = regal_alloc(context, run->brkga->population, sizeof *run->slots);
  if (!run->slots)
    return regal_fail_memory(context);
  while (pass_generation(run))
    ;
  /* a run that ends early, at its target, would not find more */
  while (run->next < run->count)
    run->best[run->next++] = run->brkga->best_fitness;
  return REGAL_OK;
}

regal_status regal_brkga_milestones(regal_search *search,
                                    const regal_brkga_settings *settings,
                                    const uint64_t *budgets, size_t count,
                                    regal_fitness *best) {
  run run = {.budgets = budgets, .best = best, .count = count};
  REGAL_TRY(check(search, settings, budgets, count));
  REGAL_TRY(regal_brkga_create(search, settings, NULL, &run.brkga));
  regal_status status = follow(&run);
  regal_release(search->context, run.slots);
  regal_brkga_free(run.brkga);
  return status;
}
