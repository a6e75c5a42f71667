/* SPDX-License-Identifier: Apache-2.0 */
/* A draft: BRKGA with uniform genes on the decoder of the objective, and the
 * genes of its best plan. */
#include "learn/guide/draft.h"

#include "evolve/brkga.h"

void regal_draft_free(regal_context *context, regal_draft *draft) {
  if (!draft)
    return;
  regal_plan_free(draft->plan);
  regal_release(context, draft->genes);
  regal_release(context, draft);
}

static regal_status run(regal_search *child,
                        const regal_brkga_settings *settings) {
  regal_brkga *brkga;
  REGAL_TRY(regal_brkga_create(child, settings, NULL, &brkga));
  while (regal_brkga_step(brkga))
    ;
  regal_status status = regal_brkga_offer(brkga);
  regal_brkga_free(brkga);
  return status;
}

static regal_status find_plan(regal_search *search,
                              const regal_brkga_settings *settings,
                              uint64_t evaluations, regal_draft *draft) {
  regal_brkga_settings plain = *settings;
  regal_search child;
  bool memory = search->problem->objective == REGAL_MEMORY;
  plain.decoder = regal_decoder_find(memory ? "closure" : "clock");
  plain.restart = 0;
  regal_search_child(search, search->problem, 1, &child);
  regal_budget_cap(&child.budget, evaluations);
  child.seed =
      regal_random_key(search->seed, REGAL_PURPOSE_FEATURES, 1, 0) >> 1;
  regal_status status = run(&child, &plain);
  draft->plan = child.best;
  draft->evaluations = child.budget.used;
  child.best = NULL;
  regal_search_close(&child);
  return status;
}

/* A run that was stopped at once has no plan; its genes are zeros. */
static regal_status encode(regal_context *context, const regal_problem *problem,
                           regal_draft *draft) {
  const regal_decoder *decoder = regal_decoder_find("paper");
  size_t count = regal_decoder_genes(decoder, problem);
  regal_gene *genes = regal_alloc(context, count, sizeof *genes);
  draft->genes = regal_alloc(context, count, sizeof *draft->genes);
  bool made = genes && draft->genes;
  if (made && draft->plan)
    decoder->encode(problem, draft->plan, genes);
  for (size_t i = 0; made && i < count; i++)
    draft->genes[i] = (float)regal_gene_unit(genes[i]);
  regal_release(context, genes);
  return made ? REGAL_OK : regal_fail_memory(context);
}

regal_status regal_draft_run(regal_search *search,
                             const regal_brkga_settings *settings,
                             uint64_t evaluations, regal_draft **draft) {
  regal_draft *made = regal_alloc(search->context, 1, sizeof *made);
  if (!made)
    return regal_fail_memory(search->context);
  regal_status status = find_plan(search, settings, evaluations, made);
  if (status == REGAL_OK)
    status = encode(search->context, search->problem, made);
  if (status == REGAL_OK)
    *draft = made;
  else
    regal_draft_free(search->context, made);
  return status;
}
