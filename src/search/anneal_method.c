/* `anneal`: one annealer from the best plan so far, for the whole budget. */
#include "search/anneal.h"

regal_status regal_method_anneal(regal_search *search) {
  const regal_annealer *annealer = regal_annealer_for(search->problem);
  if (!search->best)
    REGAL_TRY(regal_method_single(search));
  if (!annealer || regal_search_should_stop(search))
    return REGAL_OK;
  regal_anneal_job job = {.search = search,
                          .problem = search->problem,
                          .annealer = annealer,
                          .start = search->best,
                          .hot = annealer->hot,
                          .cold = annealer->cold};
  regal_anneal_grant(search, 1, &job);
  uint64_t before = search->evaluations;
  regal_plan *best;
  REGAL_TRY(regal_anneal(&job, &best));
  REGAL_TRY(regal_search_offer(search, best));
  regal_search_account(search, "annealing (%s): %llu moves", annealer->name,
                       (unsigned long long)(search->evaluations - before));
  return REGAL_OK;
}
