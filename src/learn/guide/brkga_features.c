/* SPDX-License-Identifier: Apache-2.0 */
#include "learn/guide/brkga_features.h"

#include "evolve/brkga.h"

static regal_status make(regal_search *search,
                         regal_brkga_features **features) {
  const regal_problem *problem = search->problem;
  regal_context *context = search->context;
  regal_brkga_features *made = regal_alloc(context, 1, sizeof *made);
  if (!made)
    return regal_fail_memory(context);
  made->placement = regal_alloc(
      context, (size_t)problem->ops * problem->devices, sizeof(float));
  made->position = regal_alloc(context, problem->ops, sizeof(float));
  if (!made->placement || !made->position) {
    regal_brkga_features_free(context, made);
    return regal_fail_memory(context);
  }
  *features = made;
  return REGAL_OK;
}

void regal_brkga_features_free(regal_context *context,
                               regal_brkga_features *features) {
  if (!features)
    return;
  regal_plan_free(features->best);
  regal_release(context, features->placement);
  regal_release(context, features->position);
  regal_release(context, features);
}

/* The device that the largest op is on trades its name with device 0. */
static uint32_t rename_device(uint32_t device, uint32_t pinned_on) {
  if (device == pinned_on)
    return 0;
  return device == 0 ? pinned_on : device;
}

static uint32_t find_pinned(const regal_problem *problem,
                            const regal_plan *plan) {
  if (problem->pinned == REGAL_NONE)
    return 0;
  for (uint32_t i = 0; i < plan->step_count; i++)
    if (regal_step_runs(&plan->steps[i]) &&
        plan->steps[i].op == problem->pinned)
      return plan->steps[i].device;
  return 0;
}

static void add_plan(const regal_problem *problem, const regal_plan *plan,
                     regal_brkga_features *features) {
  uint32_t pinned_on = find_pinned(problem, plan), place = 0;
  for (uint32_t i = 0; i < plan->step_count; i++) {
    const regal_step *step = &plan->steps[i];
    if (!regal_step_runs(step))
      continue;
    uint32_t device = rename_device(step->device, pinned_on);
    features->placement[(size_t)step->op * problem->devices + device] += 1;
    features->position[step->op] += (float)place++ / (float)problem->ops;
  }
  features->chromosomes++;
}

static void divide(const regal_problem *problem,
                   regal_brkga_features *features) {
  float count = features->chromosomes ? (float)features->chromosomes : 1;
  for (size_t i = 0; i < (size_t)problem->ops * problem->devices; i++)
    features->placement[i] /= count;
  for (uint32_t op = 0; op < problem->ops; op++)
    features->position[op] /= count;
}

/* Decodes the population once more, for the plans. */
static void aggregate(regal_brkga *brkga, regal_plan *plan,
                      regal_brkga_features *features) {
  const regal_problem *problem = brkga->search->problem;
  for (uint32_t i = 0; i < brkga->islands * brkga->population; i++) {
    uint32_t slot = brkga->ranked[i];
    if (brkga->fitness[slot].excess == INT64_MAX)
      continue; /* never evaluated */
    plan->step_count = 0;
    brkga->decoder->decode(problem, brkga->scratch[0],
                           regal_brkga_chromosome(brkga, slot), plan);
    add_plan(problem, plan, features);
  }
  divide(problem, features);
}

static regal_status run(regal_search *short_search,
                        const regal_decoder *decoder,
                        regal_brkga_features *features) {
  regal_context *context = short_search->context;
  regal_brkga *brkga;
  regal_plan *plan;
  REGAL_TRY(regal_plan_create(
      context, regal_plan_most_steps(short_search->problem), &plan));
  regal_status status = regal_brkga_create(short_search, decoder, &brkga);
  if (status == REGAL_OK) {
    while (regal_brkga_step(brkga))
      ;
    aggregate(brkga, plan, features);
    status = regal_brkga_offer(brkga);
    regal_brkga_free(brkga);
  }
  regal_plan_free(plan);
  return status;
}

regal_status regal_brkga_features_run(regal_search *search,
                                      const regal_decoder *decoder,
                                      uint64_t evaluations,
                                      regal_brkga_features **features) {
  regal_brkga_features *made = NULL;
  REGAL_TRY(make(search, &made));
  regal_options options = *search->options;
  options.seed = (int64_t)(regal_random_key((uint64_t)options.seed,
                                            REGAL_PURPOSE_FEATURES, 0, 0) >>
                           1);
  options.restart = 0;
  regal_search part = *search;
  part.options = &options;
  part.proposal = NULL;
  part.best = NULL;
  if (part.budget - part.evaluations > evaluations)
    part.budget = part.evaluations + evaluations;
  regal_status status = run(&part, decoder, made);
  made->best = part.best;
  made->best_fitness = part.plan_fitness;
  made->evaluations = part.evaluations - search->evaluations;
  search->evaluations = part.evaluations;
  search->last_report = part.last_report;
  if (status != REGAL_OK) {
    regal_brkga_features_free(search->context, made);
    return status;
  }
  *features = made;
  return REGAL_OK;
}
