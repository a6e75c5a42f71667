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

/* Anneals a view of the problem, one with other goals, from the best plan. What
 * it finds is offered to the search, which knows what it is worth. */
static regal_status anneal_view(regal_search *search, const regal_problem *view,
                                double share, bool until_fits,
                                uint64_t stream) {
  const regal_annealer *annealer = regal_annealer_for(view);
  if (!annealer)
    return REGAL_OK;
  regal_anneal_job job = {.search = search,
                          .problem = view,
                          .annealer = annealer,
                          .start = search->best,
                          .hot = annealer->hot,
                          .cold = annealer->cold,
                          .until_fits = until_fits,
                          .stream = stream};
  regal_plan *best;
  regal_anneal_grant(search, share, &job);
  REGAL_TRY(regal_anneal(&job, &best));
  return regal_search_offer(search, best);
}

/* Of the budget, for a plan that ignores the memory limit, and then for one
 * that fits at all. */
#define UNLIMITED_SHARE 0.15
#define FITTING_SHARE 0.3

/* Where the limit hardly matters the best plan without it is the best with it,
 * and annealers that know no memory are far faster. */
static regal_status run_unlimited(regal_search *search, story *story) {
  regal_problem view = *search->problem; /* owns nothing */
  view.limited = false;
  for (uint32_t a = 0; a < view.devices; a++)
    view.limit[a] = REGAL_UNLIMITED;
  REGAL_TRY(anneal_view(search, &view, UNLIMITED_SHARE, false, UINT32_MAX - 1));
  tell(story, search, "without the limit");
  return REGAL_OK;
}

/* Beyond the memory limit: look for less memory. */
static regal_status run_fitting(regal_search *search, story *story) {
  regal_problem view = *search->problem; /* owns nothing */
  view.objective = REGAL_MEMORY;
  REGAL_TRY(anneal_view(search, &view, FITTING_SHARE, true, UINT32_MAX));
  tell(story, search, "memory annealing");
  return REGAL_OK;
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
  if (search->problem->limited && search->problem->objective == REGAL_RUNTIME &&
      !regal_search_should_stop(search))
    REGAL_TRY(run_unlimited(search, &story));
  if (search->best_fitness.excess > 0 && !regal_search_should_stop(search))
    REGAL_TRY(run_fitting(search, &story));
  if (!regal_search_should_stop(search))
    REGAL_TRY(run_annealing(search, &story));
  regal_search_account(search, "%s", story.text);
  return REGAL_OK;
}
