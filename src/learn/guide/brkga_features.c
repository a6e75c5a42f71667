/* SPDX-License-Identifier: Apache-2.0 */
/* BRKGA-based features (paper, 4.2): a run of standard BRKGA, whose last
 * population is decoded once more, for the share of each device and the mean
 * place in the order of each op. */
#include "learn/guide/brkga_features.h"

#include "base/carve.h"
#include "evolve/brkga.h"

static void lay_out(void *made, regal_carver *carver) {
  regal_brkga_features *f = made;
  size_t ops = f->problem->ops;
  f->placement =
      regal_carve(carver, ops * f->problem->devices, sizeof *f->placement);
  f->position = regal_carve(carver, ops, sizeof *f->position);
}

void regal_brkga_features_free(regal_context *context,
                               regal_brkga_features *features) {
  if (!features)
    return;
  regal_plan_free(features->best);
  regal_release(context, features);
}

static void add_plan(const regal_plan *plan, regal_brkga_features *features) {
  const regal_problem *problem = features->problem;
  uint8_t relabel[REGAL_MAX_DEVICES];
  uint32_t place = 0;
  regal_plan_relabel(problem, plan, relabel);
  for (uint32_t i = 0; i < plan->step_count; i++) {
    const regal_step *step = &plan->steps[i];
    if (!regal_step_runs(step))
      continue;
    uint32_t device = relabel[step->device];
    features->placement[(size_t)step->op * problem->devices + device] += 1;
    features->position[step->op] += (float)place++ / (float)problem->ops;
  }
  features->chromosomes++;
}

static void divide(regal_brkga_features *features) {
  const regal_problem *problem = features->problem;
  float count = features->chromosomes ? (float)features->chromosomes : 1;
  for (size_t i = 0; i < (size_t)problem->ops * problem->devices; i++)
    features->placement[i] /= count;
  for (uint32_t op = 0; op < problem->ops; op++)
    features->position[op] /= count;
}

/* Decodes the population once more, for the plans. */
static void aggregate(regal_brkga *brkga, regal_plan *plan,
                      regal_brkga_features *features) {
  for (uint32_t i = 0; i < brkga->islands * brkga->population; i++) {
    uint32_t slot = brkga->ranked[i];
    if (brkga->fitness[slot].excess == INT64_MAX)
      continue; /* never evaluated */
    plan->step_count = 0;
    brkga->decoder->decode(features->problem, brkga->scratch[0],
                           regal_brkga_chromosome(brkga, slot), plan);
    add_plan(plan, features);
  }
  divide(features);
}

static regal_status run(regal_search *child,
                        const regal_brkga_settings *settings,
                        regal_brkga_features *features) {
  regal_context *context = child->context;
  regal_brkga *brkga;
  regal_plan *plan;
  REGAL_TRY(
      regal_plan_create(context, regal_plan_most_steps(child->problem), &plan));
  regal_status status = regal_brkga_create(child, settings, NULL, &brkga);
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
                                      const regal_brkga_settings *settings,
                                      uint64_t evaluations,
                                      regal_brkga_features **features) {
  regal_brkga_settings standard = *settings;
  regal_brkga_features plain = {.problem = search->problem}, *made;
  regal_search child;
  made = regal_carve_struct(search->context, &plain, sizeof plain, lay_out);
  if (!made)
    return regal_fail_memory(search->context);
  regal_search_child(search, search->problem, 1, &child);
  regal_budget_cap(&child.budget, evaluations);
  child.seed =
      regal_random_key(search->seed, REGAL_PURPOSE_FEATURES, 0, 0) >> 1;
  standard.restart = 0;
  regal_status status = run(&child, &standard, made);
  made->best = child.best;
  made->best_fitness = child.plan_fitness;
  made->evaluations = child.budget.used;
  child.best = NULL;
  regal_search_close(&child);
  if (status != REGAL_OK) {
    regal_brkga_features_free(search->context, made);
    return status;
  }
  *features = made;
  return REGAL_OK;
}
