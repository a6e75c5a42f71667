/* `auto`: the list schedulers first, so that there is a plan at once; then
 * BRKGA from the best of them, on the decoder that suits the problem; then
 * annealing of order and placement from what that found.
 */
#include <string.h>

#include "search/search.h"

/* Of evaluations and of time; annealing gets the rest. */
#define BRKGA_SHARE 0.5

static const struct {
  const char *name;
  regal_method_fn run;
} quick[] = {
    {"single", regal_method_single}, {"heft", regal_method_heft},
    {"lpmf", regal_method_lpmf},     {"dfs", regal_method_dfs},
    {"bfs", regal_method_bfs},       {"xla-list", regal_method_xla_list},
};

/* Runs the list schedulers; `best` gets the name of the one that led. */
static regal_status run_quick(regal_search *search, const char **best) {
  *best = search->best ? "the given plan" : "";
  for (size_t i = 0; i < sizeof quick / sizeof *quick; i++) {
    regal_fitness before = search->best_fitness;
    REGAL_TRY(quick[i].run(search));
    if (regal_fitness_less(search->best_fitness, before))
      *best = quick[i].name;
  }
  return REGAL_OK;
}

/* Measured on real graphs (docs/results.md): `clock` where transfers are
 * barriers that cost nothing, `eft` where they take time, `batched` for memory,
 * also where nothing has been found yet that fits the limit. */
static const char *suitable_decoder(const regal_search *search) {
  const regal_problem *problem = search->problem;
  if (problem->objective == REGAL_MEMORY || search->best_fitness.excess > 0)
    return "batched";
  bool barriers = !problem->machine->overlapped && problem->free_transfers;
  return barriers && problem->run_step == 0 ? "clock" : "eft";
}

/* BRKGA with a share of what is left of the budget. */
static regal_status run_brkga(regal_search *search, double share) {
  const regal_options *given = search->options;
  uint64_t budget = search->budget;
  double deadline = search->deadline, now = regal_seconds();
  regal_options options = *given;
  if (!options.decoder[0])
    strcpy(options.decoder, suitable_decoder(search));
  search->options = &options;
  if (budget != UINT64_MAX)
    search->budget -=
        (uint64_t)((1 - share) * (double)(budget - search->evaluations));
  if (given->time > 0)
    search->deadline = now + share * (deadline - now);
  regal_status status = regal_method_brkga(search);
  search->options = given;
  search->budget = budget;
  search->deadline = deadline;
  return status;
}

regal_status regal_method_auto(regal_search *search) {
  const char *best;
  REGAL_TRY(run_quick(search, &best));
  if (regal_search_should_stop(search)) {
    regal_search_account(search, "best of the list schedulers: %s", best);
    return REGAL_OK;
  }
  int64_t first = search->best_fitness.value;
  REGAL_TRY(run_brkga(search, BRKGA_SHARE));
  char brkga[sizeof search->account], annealing[sizeof search->account] = "";
  memcpy(brkga, search->account, sizeof brkga);
  if (!regal_search_should_stop(search)) {
    REGAL_TRY(regal_method_anneal(search));
    memcpy(annealing, search->account, sizeof annealing);
  }
  double gain = first ? 100.0 * (double)(first - search->best_fitness.value) /
                            (double)first
                      : 0;
  regal_search_account(search, "%s, then %.100s%s%.80s: %.1f%% better", best,
                       brkga, annealing[0] ? ", then " : "", annealing, gain);
  return REGAL_OK;
}
