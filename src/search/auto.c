/* `auto`: heuristics first, so that there is a plan at once; then BRKGA where a
 * decoder is strong; then annealing by the recipe that was tuned for problems
 * of this kind and size and for this budget (search/recipes.h).
 */
#include <math.h>
#include <string.h>

#include "search/anneal.h"
#include "search/cuts.h"
#include "search/limited.h"
#include "search/recipes.h"

static const struct {
  const char *name;
  regal_method_fn run;
} quick[] = {
    {"single", regal_method_single},     {"heft", regal_method_heft},
    {"cut", regal_cuts_offer},           {"lpmf", regal_method_lpmf},
    {"dfs", regal_method_dfs},           {"bfs", regal_method_bfs},
    {"xla-list", regal_method_xla_list},
};

regal_status regal_start_quickly(regal_search *search) {
  for (size_t i = 0; i < sizeof quick / sizeof *quick; i++)
    REGAL_TRY(quick[i].run(search));
  return REGAL_OK;
}

/* -- The stages ---------------------------------------------------------------
 */

/* Tells which heuristic led. */
static regal_status run_quick(regal_search *search, regal_story *story) {
  const char *best = search->best ? "the given plan" : "";
  for (size_t i = 0; i < sizeof quick / sizeof *quick; i++) {
    regal_fitness before = search->best_fitness;
    REGAL_TRY(quick[i].run(search));
    if (regal_fitness_less(search->best_fitness, before))
      best = quick[i].name;
  }
  regal_story_tell(story, search, best);
  return REGAL_OK;
}

/* On wide graphs the clock decoder is near the bound at once, and annealing
 * goes on from there; elsewhere annealing soon leaves it behind
 * (docs/results.md). */
#define WIDE_SHARE 0.3
#define NARROW_SHARE 0.1
#define MOST_DECODES 20000.0 /* where the budget is evaluations */

static double brkga_share(const regal_problem *problem) {
  return regal_is_wide(problem) ? WIDE_SHARE : NARROW_SHARE;
}

static bool wants_brkga(const regal_search *search) {
  const regal_problem *problem = search->problem;
  return problem->objective == REGAL_RUNTIME && !problem->machine->overlapped &&
         problem->free_transfers && problem->run_step == 0 &&
         !problem->limited && problem->devices > 1;
}

/* BRKGA with a share of what is left of the budget. */
static regal_status run_brkga(regal_search *search, regal_story *story) {
  const regal_options *given = search->options;
  uint64_t budget = search->budget;
  double deadline = search->deadline, now = regal_seconds();
  double share = brkga_share(search->problem);
  char what[64];
  regal_options options = *given;
  if (!options.decoder[0]) {
    strcpy(options.decoder, "clock");
    /* few and soon: measured on synthetic graphs at a twentieth of a second */
    options.population = 30;
    options.elites = 0.3;
    options.mutants = 0.1;
  }
  snprintf(what, sizeof what, "brkga on %.40s", options.decoder);
  search->options = &options;
  if (budget != UINT64_MAX) {
    /* a decode takes as long as many moves */
    double most = share * (double)(budget - search->evaluations);
    search->budget = search->evaluations + (uint64_t)fmin(most, MOST_DECODES);
  }
  if (given->time > 0)
    search->deadline = now + share * (deadline - now);
  regal_status status = regal_method_brkga(search);
  search->options = given;
  search->budget = budget;
  search->deadline = deadline;
  if (status == REGAL_OK)
    regal_story_tell(story, search, what);
  return status;
}

static regal_status run_annealing(regal_search *search, regal_story *story) {
  regal_anneal_recipe recipe;
  const regal_annealer *annealer = regal_recipe_for(search, &recipe);
  if (!annealer)
    return REGAL_OK;
  REGAL_TRY(regal_anneal_by(search, &recipe, annealer, false));
  regal_story_tell(story, search, search->account);
  return REGAL_OK;
}

regal_status regal_method_auto(regal_search *search) {
  regal_story story = {.length = 0};
  REGAL_TRY(run_quick(search, &story));
  if (wants_brkga(search) && !regal_search_should_stop(search))
    REGAL_TRY(run_brkga(search, &story));
  if (search->problem->limited && !regal_search_should_stop(search))
    REGAL_TRY(regal_search_within_limit(search, &story));
  if (!regal_search_should_stop(search))
    REGAL_TRY(run_annealing(search, &story));
  regal_search_account(search, "%s", story.text);
  return REGAL_OK;
}
