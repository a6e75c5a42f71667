#include "search/recipes.h"
#include "search/anneal.h"

#include <math.h>

#include "search/multilevel.h"

static const regal_recipe table[] = {
#include "search/recipes_table.h"
};

/* So many seconds does an evaluation of annealing take about, for each op: only
 * to find the row for a budget of evaluations. */
#define SECONDS_PER_OP 5e-9

static regal_problem_kind kind_of(const regal_problem *problem) {
  if (problem->objective == REGAL_MEMORY)
    return problem->devices == 1 ? REGAL_KIND_ONE : REGAL_KIND_MEMORY;
  if (problem->limited)
    return REGAL_KIND_LIMITED;
  if (problem->machine->overlapped)
    return REGAL_KIND_LINKS;
  return problem->free_transfers ? REGAL_KIND_FREE : REGAL_KIND_COSTLY;
}

static double seconds_left(const regal_search *search) {
  double left = search->deadline - regal_seconds();
  if (search->budget == UINT64_MAX)
    return left;
  double moves = (double)(search->budget - search->evaluations);
  return fmin(left, moves * search->problem->ops * SECONDS_PER_OP);
}

static const regal_recipe *find_row(const regal_search *search) {
  regal_problem_kind kind = kind_of(search->problem);
  double seconds = seconds_left(search);
  for (size_t i = 0; i < sizeof table / sizeof *table; i++)
    if (table[i].kind == kind && search->problem->ops <= table[i].most_ops &&
        seconds <= table[i].most_seconds)
      return &table[i];
  return &table[0]; /* not reached: the last row of a kind fits all */
}

const regal_annealer *regal_recipe_for(const regal_search *search,
                                       regal_recipe *recipe) {
  const regal_options *options = search->options;
  *recipe = *find_row(search);
  const regal_annealer *annealer = regal_annealer_find(
      options->annealer[0] ? options->annealer : recipe->annealer);
  if (!annealer || !annealer->suits(search->problem)) {
    annealer = regal_annealer_for(search->problem);
    if (annealer) {
      recipe->hot = annealer->hot;
      recipe->cold = annealer->cold;
    }
  }
  if (options->hot > 0)
    recipe->hot = options->hot;
  if (options->cold > 0)
    recipe->cold = options->cold;
  if (options->fall > 0)
    recipe->fall = options->fall;
  if (options->coarsest > 0)
    recipe->coarsest = (uint32_t)options->coarsest;
  if (options->coarse_share >= 0)
    recipe->coarse_share = options->coarse_share;
  return annealer;
}

static regal_status anneal_flat(regal_search *search,
                                const regal_recipe *recipe,
                                const regal_annealer *annealer) {
  regal_anneal_job job = {.search = search,
                          .problem = search->problem,
                          .annealer = annealer,
                          .start = search->best,
                          .hot = recipe->hot,
                          .cold = recipe->cold};
  regal_plan *best;
  regal_anneal_grant(search, 1, &job);
  REGAL_TRY(regal_anneal(&job, &best));
  return regal_search_offer(search, best);
}

regal_status regal_anneal_by(regal_search *search, const regal_recipe *recipe,
                             const regal_annealer *annealer) {
  uint64_t before = search->evaluations;
  bool levels = recipe->coarse_share > 0;
  regal_multilevel_settings settings = {.start = regal_start_quickly,
                                        .hot = recipe->hot,
                                        .cold = recipe->cold,
                                        .fall = recipe->fall,
                                        .coarse_share = recipe->coarse_share,
                                        .target_ops = recipe->coarsest};
  REGAL_TRY(levels ? regal_multilevel(search, annealer, &settings)
                   : anneal_flat(search, recipe, annealer));
  regal_search_account(search, "%s%s annealing, %llu moves",
                       levels ? "multilevel " : "", annealer->name,
                       (unsigned long long)(search->evaluations - before));
  return REGAL_OK;
}
