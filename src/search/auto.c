/* `auto`: heuristics first, so that there is a plan at once; then BRKGA where a
 * decoder is strong; then annealing by the recipe that was tuned for problems
 * of this kind and size and for this budget (search/recipes.h).
 */
#include <math.h>
#include <string.h>

#include "search/anneal.h"
#include "search/cuts.h"
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

/* -- The account: what was done, and how the gap fell ------------------------
 */

typedef struct story {
  char text[sizeof((regal_search *)0)->account];
  size_t length;
} story;

static double gap_of(const regal_search *search) {
  int64_t bound = search->problem->objective == REGAL_MEMORY
                      ? search->bound.peak_bytes
                      : search->bound.runtime_ns;
  double value = (double)search->best_fitness.value;
  return bound > 0 ? 100 * (value / (double)bound - 1) : 0;
}

/* How far into the budget; by the clock only if that is the budget. */
static void tell_when(const regal_search *search, char *when, size_t room) {
  if (search->budget == UINT64_MAX)
    snprintf(when, room, "%.3f s", regal_seconds() - search->began);
  else
    snprintf(when, room, "%llu evaluations",
             (unsigned long long)search->evaluations);
}

/* "heft: 12.30% after 0.004 s; " */
static void tell(story *story, const regal_search *search, const char *what) {
  char when[48];
  size_t room = sizeof story->text - story->length;
  tell_when(search, when, sizeof when);
  int wrote =
      snprintf(story->text + story->length, room, "%s%s: %s%.2f%% after %s",
               story->length ? "; " : "", what,
               search->best_fitness.excess ? "beyond the limit, " : "",
               gap_of(search), when);
  if (wrote > 0 && (size_t)wrote < room)
    story->length += (size_t)wrote;
}

/* -- The stages ---------------------------------------------------------------
 */

/* Tells which heuristic led. */
static regal_status run_quick(regal_search *search, story *story) {
  const char *best = search->best ? "the given plan" : "";
  for (size_t i = 0; i < sizeof quick / sizeof *quick; i++) {
    regal_fitness before = search->best_fitness;
    REGAL_TRY(quick[i].run(search));
    if (regal_fitness_less(search->best_fitness, before))
      best = quick[i].name;
  }
  tell(story, search, best);
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
static regal_status run_brkga(regal_search *search, story *story) {
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
    tell(story, search, what);
  return status;
}

/* -- Memory limits ------------------------------------------------------------
 */

/* Of the budget, for a plan that ignores the memory limit, and then for one
 * that fits at all. */
#define UNLIMITED_SHARE 0.25
#define FITTING_SHARE 0.3
/* Temperatures to anneal a fast plan with so that it fits: much more would
 * throw away what is good about it. And the patience with it (search/anneal.h).
 */
#define FAST_HOT 0.2
#define FAST_COLD 0.003
#define PATIENCE 0.1

static regal_status run_without(regal_search *search, regal_search *free) {
  regal_context *context = search->context;
  regal_progress_fn progress = context->progress;
  context->progress = NULL; /* of another problem */
  regal_status status =
      regal_simulator_create(context, free->problem, &free->simulator);
  if (status == REGAL_OK) {
    status = regal_method_auto(free);
    regal_simulator_free(free->simulator);
  }
  context->progress = progress;
  search->evaluations += free->evaluations;
  return status;
}

/* All of this method for the problem without its limit: what knows no memory is
 * far faster. Where the limit hardly matters, this is the best plan with it. */
static regal_status run_unlimited(regal_search *search, story *story,
                                  regal_plan **fast) {
  regal_problem view = regal_problem_unlimited(search->problem);
  regal_anneal_job grant;
  regal_anneal_grant(search, UNLIMITED_SHARE, &grant);
  regal_search free = *search;
  free.problem = &view;
  free.best = NULL;
  free.best_fitness = free.plan_fitness = REGAL_FITNESS_WORST;
  free.evaluations = 0;
  free.budget = grant.evaluations;
  free.deadline = grant.deadline;
  regal_status status = run_without(search, &free);
  *fast = free.best;
  REGAL_TRY(status);
  regal_plan *copy;
  REGAL_TRY(regal_plan_copy(search->context, *fast, &copy));
  REGAL_TRY(regal_search_offer(search, copy));
  tell(story, search, "without the limit");
  return REGAL_OK;
}

/* What an annealing finds is offered to the search, which knows what it is
 * worth. */
static regal_status run_job(regal_search *search, regal_anneal_job *job,
                            double share) {
  regal_plan *best;
  regal_anneal_grant(search, share, job);
  REGAL_TRY(regal_anneal(job, &best));
  return regal_search_offer(search, best);
}

/* Beyond the memory limit: look for less memory. */
static regal_status run_fitting(regal_search *search, story *story) {
  regal_problem view = *search->problem; /* owns nothing */
  view.objective = REGAL_MEMORY;
  const regal_annealer *annealer = regal_annealer_for(&view);
  if (!annealer)
    return REGAL_OK;
  regal_anneal_job job = {.search = search,
                          .problem = &view,
                          .annealer = annealer,
                          .start = search->best,
                          .hot = annealer->hot,
                          .cold = annealer->cold,
                          .until_fits = true,
                          .stream = UINT32_MAX};
  REGAL_TRY(run_job(search, &job, FITTING_SHARE));
  tell(story, search, "memory annealing");
  return REGAL_OK;
}

/* From a plan that is faster than the limit allows; for all that is left, if it
 * comes to fit in time. */
static regal_status run_shrinking(regal_search *search, story *story,
                                  const regal_plan *fast) {
  const regal_options *options = search->options;
  regal_anneal_job job = {.search = search,
                          .problem = search->problem,
                          .annealer = regal_annealer_for(search->problem),
                          .start = fast,
                          .hot = options->hot > 0 ? options->hot : FAST_HOT,
                          .cold = options->cold > 0 ? options->cold : FAST_COLD,
                          .patience = PATIENCE,
                          .stream = UINT32_MAX - 1};
  REGAL_TRY(run_job(search, &job, 1));
  tell(story, search, "annealing of that");
  return REGAL_OK;
}

static bool wants_limited(const regal_search *search) {
  const regal_problem *problem = search->problem;
  return problem->limited && problem->objective == REGAL_RUNTIME &&
         regal_annealer_for(problem);
}

static regal_status run_limited(regal_search *search, story *story) {
  regal_plan *fast = NULL;
  regal_status status = run_unlimited(search, story, &fast);
  if (status == REGAL_OK && search->best_fitness.excess > 0 &&
      !regal_search_should_stop(search))
    status = run_fitting(search, story);
  if (status == REGAL_OK && !regal_search_should_stop(search))
    status = run_shrinking(search, story, fast);
  regal_plan_free(fast);
  return status;
}

static regal_status run_annealing(regal_search *search, story *story) {
  regal_anneal_recipe recipe;
  const regal_annealer *annealer = regal_recipe_for(search, &recipe);
  if (!annealer)
    return REGAL_OK;
  REGAL_TRY(regal_anneal_by(search, &recipe, annealer));
  tell(story, search, search->account);
  return REGAL_OK;
}

regal_status regal_method_auto(regal_search *search) {
  story story = {.length = 0};
  REGAL_TRY(run_quick(search, &story));
  if (wants_brkga(search) && !regal_search_should_stop(search))
    REGAL_TRY(run_brkga(search, &story));
  if (wants_limited(search) && !regal_search_should_stop(search))
    REGAL_TRY(run_limited(search, &story));
  else if (search->best_fitness.excess > 0 && !regal_search_should_stop(search))
    REGAL_TRY(run_fitting(search, &story));
  if (!regal_search_should_stop(search))
    REGAL_TRY(run_annealing(search, &story));
  regal_search_account(search, "%s", story.text);
  return REGAL_OK;
}
