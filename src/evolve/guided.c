/* SPDX-License-Identifier: Apache-2.0 */
/* Methods that a policy guides: `regal` (and `gas`, the same with a policy of
 * that kind), which runs BRKGA on its proposal, and for comparison `idrs`,
 * which only draws from it, and `direct`, which takes its means for the answer.
 *
 * As in the paper BRKGA begins with a fresh population: nothing of what the
 * policy's own evaluations found goes into it. Their best plan counts all the
 * same: `regal` offers it at the end. The other two do not, since they measure
 * the policy alone.
 */
#include <string.h>

#include "evolve/methods.h"
#include "evolve/proposer.h"

static regal_status fail_without(regal_search *search) {
  return regal_fail(search->context, REGAL_MISUSE,
                    "method %s needs a policy, and the search has none",
                    search->method->name);
}

static regal_status ask(regal_search *search, bool greedy,
                        regal_guidance *guidance) {
  *guidance = (regal_guidance){.seen_fitness = REGAL_FITNESS_WORST};
  return search->proposer->propose(search->proposer->state, search, greedy,
                                   guidance);
}

/* Puts what the policy did before the method's own account. */
static void account_for(regal_search *search, const regal_guidance *guidance) {
  char rest[sizeof search->account];
  memcpy(rest, search->account, sizeof rest);
  if (guidance->evaluations)
    regal_search_account(search,
                         "policy %.80s%s after %llu evaluations, then %.100s",
                         search->proposer->name, search->proposer->made_for,
                         (unsigned long long)guidance->evaluations, rest);
  else
    regal_search_account(search, "policy %.80s%s, then %.100s",
                         search->proposer->name, search->proposer->made_for,
                         rest);
}

static bool is_greedy(const regal_search *search) {
  return search->options->actions == 0;
}

regal_status regal_method_regal(regal_search *search) {
  regal_brkga_settings settings = regal_brkga_settings_of(search->options);
  regal_guidance guidance;
  if (!search->proposer)
    return fail_without(search);
  REGAL_TRY(ask(search, is_greedy(search), &guidance));
  regal_status status = REGAL_OK;
  if (guidance.seen)
    regal_search_note(search, guidance.seen_fitness);
  if (!guidance.seen || !regal_search_should_stop(search))
    status = regal_brkga_run(search, &settings, guidance.proposal);
  else
    regal_search_account(search, "nothing: the search was over");
  account_for(search, &guidance);
  regal_proposal_free(guidance.proposal);
  if (status == REGAL_OK && guidance.seen)
    return regal_search_offer(search, guidance.seen);
  regal_plan_free(guidance.seen);
  return status;
}

regal_status regal_method_idrs(regal_search *search) {
  regal_brkga_settings settings = regal_brkga_settings_of(search->options);
  regal_guidance guidance;
  if (!search->proposer)
    return regal_method_random(search);
  REGAL_TRY(ask(search, is_greedy(search), &guidance));
  regal_status status = regal_random_run(search, &settings, guidance.proposal);
  account_for(search, &guidance);
  regal_proposal_free(guidance.proposal);
  regal_plan_free(guidance.seen);
  return status;
}

static regal_status offer_means(regal_search *search,
                                const regal_proposal *proposal) {
  regal_context *context = search->context;
  const regal_decoder *decoder = proposal->decoder;
  regal_plan *plan = NULL;
  void *scratch = NULL;
  regal_gene *genes = regal_alloc(context, proposal->genes, sizeof *genes);
  regal_status status = genes ? REGAL_OK : regal_fail_memory(context);
  if (status == REGAL_OK)
    status = decoder->create_scratch(context, search->problem, &scratch);
  if (status == REGAL_OK)
    status = regal_plan_create(context, regal_plan_most_steps(search->problem),
                               &plan);
  if (status == REGAL_OK) {
    regal_proposal_means(proposal, genes);
    decoder->decode(search->problem, scratch, genes, plan);
    search->budget.used++;
    status = regal_search_offer(search, plan);
  }
  regal_release(context, scratch);
  regal_release(context, genes);
  return status;
}

regal_status regal_method_direct(regal_search *search) {
  regal_guidance guidance;
  if (!search->proposer)
    return fail_without(search);
  REGAL_TRY(ask(search, true, &guidance));
  regal_status status = offer_means(search, guidance.proposal);
  regal_search_account(search, "its means on decoder %s",
                       guidance.proposal->decoder->name);
  account_for(search, &guidance);
  regal_proposal_free(guidance.proposal);
  regal_plan_free(guidance.seen);
  return status;
}
