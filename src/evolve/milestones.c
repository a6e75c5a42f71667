/* SPDX-License-Identifier: Apache-2.0 */
#include "evolve/milestones.h"

#include <math.h>
#include <string.h>

#include "evolve/brkga.h"

typedef struct run {
  regal_search search;
  regal_brkga *brkga;
  uint32_t *slots; /* [p] where this generation's members are made, in order */
  const uint64_t *budgets;
  regal_fitness *best;
  size_t count, next; /* milestones, and the first that is still ahead */
} run;

static regal_status check(regal_context *context, const regal_options *options,
                          const uint64_t *budgets, size_t count) {
  if (options->islands != 1 || options->restart != 0)
    return regal_fail(context, REGAL_MISUSE,
                      "milestones are of one island without restarts");
  for (size_t i = 0; i < count; i++)
    if (budgets[i] <= (i ? budgets[i - 1] : 0))
      return regal_fail(context, REGAL_MISUSE,
                        "the budgets of milestones ascend, from 1");
  return REGAL_OK;
}

/* One generation, and the milestones that end in it. Members stay in the slots
 * in which they were made, whatever their ranks become, so what had been found
 * after the i-th of them can be read off when the generation is complete. */
static bool pass_generation(run *run) {
  regal_brkga *brkga = run->brkga;
  bool first = brkga->generation == 0;
  uint32_t made = brkga->population - (first ? 0 : brkga->elites);
  uint64_t evaluations = run->search.evaluations;
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
  regal_context *context = run->search.context;
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

regal_status regal_brkga_milestones(regal_context *context,
                                    const regal_problem *problem,
                                    const regal_options *options,
                                    regal_pool *pool, const uint64_t *budgets,
                                    size_t count, regal_fitness *best,
                                    bool *complete) {
  const char *name = options->decoder[0] ? options->decoder : "paper";
  const regal_decoder *decoder = regal_decoder_find(name);
  if (!decoder)
    return regal_fail(context, REGAL_BAD_INPUT, "there is no decoder \"%s\"",
                      name);
  REGAL_TRY(check(context, options, budgets, count));
  run run = {.search = {.context = context,
                        .problem = problem,
                        .options = options,
                        .pool = pool,
                        .budget = count ? budgets[count - 1] : 0,
                        .deadline = INFINITY,
                        .best_fitness = REGAL_FITNESS_WORST},
             .budgets = budgets,
             .best = best,
             .count = count};
  REGAL_TRY(regal_brkga_create(&run.search, decoder, &run.brkga));
  regal_status status = follow(&run);
  *complete = run.search.stop != REGAL_STOP_INTERRUPT;
  regal_release(context, run.slots);
  regal_brkga_free(run.brkga);
  return status;
}
