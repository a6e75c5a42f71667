/* SPDX-License-Identifier: Apache-2.0 */
/* A training run's parts, created and freed: tasks, network, optimiser, and the
 * arrays of a step. The steps themselves are in trainer_step.c and
 * validation.c.
 */
#include "learn/trainer.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/carve.h"
#include "base/memory/limit.h"
#include "learn/guide/guide.h"

/* A policy is used with a budget of thousands: the features of training are
 * those of such a run, whatever the episodes' budget. */
static regal_status make_tasks(regal_trainer *t, const regal_task_source *train,
                               const regal_task_source *valid) {
  const regal_train_settings *s = &t->settings;
  uint64_t budget = s->valid_evaluations;
  regal_task_plan plan = {
      .brkga = &s->brkga,
      .teacher = &s->teacher,
      .seed = s->seed,
      .features = s->config.features,
      .feature_evaluations =
          regal_guide_feature_evaluations(&s->config, budget),
      .standard_evaluations = s->episode_evaluations,
      .best_of = s->best_of};
  REGAL_TRY(
      regal_tasks_create(t->context, t->workers, train, &plan, &t->tasks));
  plan.plain_seeds = true;
  plan.standard_evaluations = budget;
  plan.best_of = 1;
  return regal_tasks_create(t->context, t->workers, valid, &plan, &t->valid);
}

/* The first graph says what all of them need of the policy. */
static regal_status make_network(regal_trainer *t) {
  const regal_problem *problem;
  REGAL_TRY(regal_tasks_problem(t->tasks, 0, &problem));
  REGAL_TRY(regal_train_settings_bind(t->context, &t->options, problem,
                                      &t->settings));
  REGAL_TRY(regal_network_create(t->context, &t->settings.config,
                                 t->settings.seed, &t->network));
  REGAL_TRY(
      regal_beta_tables_create(t->context, &t->network->config, &t->betas));
  regal_beta_tables_fill(t->betas);
  return REGAL_OK;
}

static void lay_out(regal_trainer *t, regal_carver *carver) {
  size_t graphs = t->settings.graphs, count = t->network->parameter_count;
  size_t episodes = graphs * t->settings.samples;
  t->adam.mean = regal_carve(carver, count, sizeof *t->adam.mean);
  t->adam.deviation = regal_carve(carver, count, sizeof *t->adam.deviation);
  t->best = regal_carve(carver, count, sizeof *t->best);
  t->gradient = regal_carve(carver, count, sizeof *t->gradient);
  t->gradients = regal_carve(carver, graphs * count, sizeof *t->gradients);
  t->order = regal_carve(carver, regal_tasks_count(t->tasks), sizeof *t->order);
  t->chosen = regal_carve(carver, graphs, sizeof *t->chosen);
  t->mine = regal_carve(carver, graphs, sizeof *t->mine);
  t->slots = regal_carve(carver, graphs, sizeof *t->slots);
  t->figures = regal_carve(carver, graphs, sizeof *t->figures);
  t->queue = regal_carve(carver, episodes, sizeof *t->queue);
  t->rewards = regal_carve(carver, episodes, sizeof *t->rewards);
  t->advantages = regal_carve(carver, episodes, sizeof *t->advantages);
  t->asked = regal_carve(carver, (size_t)t->ranks->size, sizeof *t->asked);
  t->gains = regal_carve(carver, regal_tasks_count(t->valid), sizeof *t->gains);
}

static regal_status check_memory(regal_trainer *t) {
  regal_carver carver = {NULL, 0};
  char what[80];
  snprintf(what, sizeof what, "--graphs-per-step %u and --state-width %u",
           t->settings.graphs, t->settings.config.width);
  lay_out(t, &carver);
  return regal_memory_check(t->context, what, carver.used);
}

static regal_status make_arrays(regal_trainer *t) {
  regal_carver carver = {NULL, 0};
  REGAL_TRY(check_memory(t));
  REGAL_TRY(REGAL_CARVE_BLOCK(t->context, carver, lay_out(t, &carver)));
  t->arrays = carver.base;
  return REGAL_OK;
}

static regal_status fill(regal_trainer *t, const regal_task_source *train,
                         const regal_task_source *valid) {
  REGAL_TRY(regal_train_fill(t->context, &t->options));
  REGAL_TRY(regal_train_settings_read(t->context, &t->options, &t->settings));
  REGAL_TRY(
      regal_workers_create(t->context, (int)t->options.threads, &t->workers));
  REGAL_TRY(make_tasks(t, train, valid));
  REGAL_TRY(make_network(t));
  REGAL_TRY(make_arrays(t));
  t->state.best_valid = NAN;
  t->report = (regal_training){.steps = t->settings.steps,
                               .rank = t->ranks->rank,
                               .ranks = t->ranks->size,
                               .valid = NAN,
                               .best_valid = NAN,
                               .seconds_left = NAN};
  return REGAL_OK;
}

regal_status regal_trainer_create(regal_context *context, regal_ranks *ranks,
                                  const regal_options *options,
                                  const regal_task_source *train,
                                  const regal_task_source *valid,
                                  regal_trainer **trainer) {
  regal_trainer *made = regal_alloc(context, 1, sizeof *made);
  if (!made)
    return regal_fail_memory(context);
  made->context = context;
  made->ranks = ranks;
  made->options = *options;
  made->began = regal_seconds();
  regal_status status = fill(made, train, valid);
  if (status == REGAL_OK)
    *trainer = made;
  else
    regal_trainer_free(made);
  return status;
}

static void free_slots(regal_trainer *t) {
  for (uint32_t g = 0; t->slots && g < t->settings.graphs; g++) {
    regal_network_workspace_free(t->context, t->slots[g].work);
    regal_release(t->context, t->slots[g].actions);
  }
}

void regal_trainer_free(regal_trainer *t) {
  if (!t)
    return;
  regal_context *context = t->context;
  free_slots(t);
  regal_release(context, t->arrays);
  regal_tasks_free(t->valid);
  regal_tasks_free(t->tasks);
  regal_release(context, t->betas);
  regal_network_free(context, t->network);
  regal_workers_free(t->workers);
  regal_release(context, t);
}

regal_status regal_trainer_agree(const regal_trainer *t, bool *stopped) {
  double limit = t->options.time;
  bool late = limit > 0 && regal_seconds() - t->began >= limit;
  t->asked[t->ranks->rank] = regal_stop_requested(t->context) || late;
  REGAL_TRY(regal_ranks_gather(t->ranks, t->context, t->asked,
                               (size_t)t->ranks->size, 1));
  *stopped = memchr(t->asked, 1, (size_t)t->ranks->size) != NULL;
  return REGAL_OK;
}
