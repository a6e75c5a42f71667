/* `auto`: the list schedulers first, so that there is a plan at once, then
 * BRKGA from the best of them, on the decoder that suits the problem. */
#include <string.h>

#include "search/search.h"

static const struct {
  const char *name;
  regal_method_fn run;
} quick[] = {
    {"single", regal_method_single}, {"heft", regal_method_heft},
    {"lpmf", regal_method_lpmf},     {"dfs", regal_method_dfs},
    {"bfs", regal_method_bfs},       {"xla-list", regal_method_xla_list},
};

regal_status regal_method_auto(regal_search *search) {
  const char *best = search->best ? "the given plan" : "";
  for (size_t i = 0; i < sizeof quick / sizeof *quick; i++) {
    regal_fitness before = search->best_fitness;
    REGAL_TRY(quick[i].run(search));
    if (regal_fitness_less(search->best_fitness, before))
      best = quick[i].name;
  }
  if (regal_search_should_stop(search)) {
    regal_search_account(search, "best of the list schedulers: %s", best);
    return REGAL_OK;
  }
  regal_options options = *search->options;
  const regal_options *given = search->options;
  if (!options.decoder[0])
    strcpy(options.decoder, "batched");
  search->options = &options;
  int64_t first = search->best_fitness.value;
  regal_status status = regal_method_brkga(search);
  search->options = given;
  REGAL_TRY(status);
  double gain = first ? 100.0 * (double)(first - search->best_fitness.value) /
                            (double)first
                      : 0;
  char account[sizeof search->account];
  memcpy(account, search->account, sizeof account);
  regal_search_account(search, "%s, then %.180s (%.1f%% better)", best, account,
                       gain);
  return REGAL_OK;
}
