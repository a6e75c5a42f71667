/* SPDX-License-Identifier: Apache-2.0 */
/* One step of training: REINFORCE (Williams 1992) as in sections 4.1 and 4.2 of
 * the paper.
 *
 * The setting is a contextual bandit. The context is a graph, the action a
 * vector of levels, two or three for each gene of the classes that the policy
 * chooses for, and the reward comes once: BRKGA runs with the Betas that the
 * vector stands for, and the reward is minus its cost, divided by the cost that
 * standard BRKGA reaches on the same graph with the same evaluations. So
 * rewards of graphs of all sizes are near -1.
 *
 * The gradient of the expected reward is the mean of
 *
 *   advantage * gradient of log p(actions | graph)
 *
 * over sampled vectors. All levels of a vector share one advantage, which is
 * the reward less a baseline: anything that does not depend on the sample keeps
 * the estimate unbiased. The paper has one sample of each graph and lets the
 * network predict the reward (REGAL_ADVANTAGE_LEARNED). We draw several samples
 * of each graph and take the mean of the others off each: samples of one graph
 * differ only by their actions, which removes most of the variance at once. The
 * advantages are then divided by their deviation over the batch, so that the
 * learning rate means the same on graphs where actions matter much or little.
 * An entropy bonus keeps the policy from becoming certain too early.
 *
 * A step goes: choose graphs; load and study those that are new (tasks.h);
 * forward passes, which draw the samples; episodes; advantages; backward
 * passes; one update by Adam. With REGAL_ESTIMATOR_PERTURB there is no backward
 * pass: parameters are moved instead of actions sampled (perturb.h). Ranks
 * divide the episodes and the backward passes, and gather the results before
 * anything is summed, in order of graphs.
 *
 * The first steps may copy a teacher (teacher.h) instead: its actions take the
 * place of the samples, with advantage 1, and there are no episodes. */
#include <math.h>
#include <string.h>

#include "learn/advantages.h"
#include "learn/perturb.h"
#include "learn/teacher.h"
#include "learn/trainer_parts.h"

/* -- Which graphs ---------------------------------------------------------- */

/* Each epoch visits every graph once, in an order of its own. */
static void order_epoch(regal_trainer *t, uint64_t epoch) {
  size_t count = regal_tasks_count(t->tasks);
  if (t->ordered && t->epoch == epoch)
    return;
  regal_random random = {
      regal_random_key(t->settings.seed, REGAL_PURPOSE_TRAIN, 0, epoch), 0};
  for (size_t i = 0; i < count; i++) {
    size_t j = (size_t)regal_random_below(&random, i + 1);
    t->order[i] = t->order[j];
    t->order[j] = i;
  }
  t->ordered = true;
  t->epoch = epoch;
}

static void choose(regal_trainer *t) {
  uint64_t count = regal_tasks_count(t->tasks);
  for (uint32_t g = 0; g < t->settings.graphs; g++) {
    uint64_t at = t->state.step * t->settings.graphs + g;
    order_epoch(t, at / count);
    t->chosen[g] = t->order[at % count];
  }
}

/* -- Shares of the ranks --------------------------------------------------- */

/* A rank needs the graphs that it runs episodes of, and those whose gradient
 * it computes. */
static void list_mine(regal_trainer *t) {
  regal_share episodes = regal_trainer_episodes(t),
              graphs = regal_ranks_share(t->ranks, t->settings.graphs);
  size_t samples = t->settings.samples;
  t->mine_count = 0;
  for (size_t g = 0; g < t->settings.graphs; g++) {
    bool runs =
        g * samples < episodes.end && (g + 1) * samples > episodes.first;
    bool owns = g >= graphs.first && g < graphs.end;
    if (runs || owns)
      t->mine[t->mine_count++] = g;
  }
}

/* -- A teacher's actions --------------------------------------------------- */

static regal_status copy_teacher(regal_trainer *t) {
  for (size_t i = 0; i < t->mine_count; i++) {
    size_t g = t->mine[i];
    const regal_batch_slot *slot = &t->slots[g];
    regal_teacher_actions(&t->network->config, slot->task->problem,
                          t->settings.brkga.decoder, slot->task->taught,
                          regal_trainer_key(t, REGAL_STREAM_ACT, g),
                          slot->actions);
  }
  for (uint32_t g = 0; g < t->settings.graphs; g++)
    t->advantages[g] = 1;
  return REGAL_OK;
}

/* -- Advantages ------------------------------------------------------------ */

static void find_advantages(regal_trainer *t) {
  const regal_train_settings *s = &t->settings;
  double baselines[REGAL_MOST_STEP_GRAPHS];
  if (s->estimator == REGAL_ESTIMATOR_PERTURB) {
    regal_pair_advantages(s->advantage, s->graphs, s->samples, t->rewards,
                          t->advantages);
    return;
  }
  for (uint32_t g = 0; g < s->graphs; g++)
    baselines[g] = t->figures[g].baseline;
  regal_reinforce_advantages(s->advantage, s->graphs, s->samples, t->rewards,
                             baselines, t->advantages);
}

/* -- Update ---------------------------------------------------------------- */

/* With a floor the bonus is there only while the entropy is below it. */
static regal_real entropy_weight(const regal_trainer *t, size_t g) {
  double floor = t->settings.entropy_floor;
  bool enough = floor > 0 && t->figures[g].entropy >= floor;
  return enough ? 0 : (regal_real)t->settings.entropy;
}

/* Action vectors of each graph that the step learns from. */
static uint32_t vectors(const regal_trainer *t) {
  return regal_trainer_imitates(t) ? 1 : t->settings.samples;
}

static void go_back(regal_trainer *t, size_t g, regal_real *gradient) {
  const regal_train_settings *s = &t->settings;
  regal_batch_slot *slot = &t->slots[g];
  const uint8_t *actions = slot->actions;
  uint32_t samples = vectors(t);
  const double *rewards = t->rewards + g * samples;
  bool baseline = regal_trainer_has_baseline(t) && !regal_trainer_imitates(t);
  double sum = 0;
  for (uint32_t i = 0; i < samples; i++)
    sum += rewards[i];
  regal_real target = (regal_real)(sum / samples);
  regal_network_terms terms = {.samples = samples,
                               .actions = &actions,
                               .advantages = t->advantages + g * samples,
                               .entropy_weight = entropy_weight(t, g),
                               .baseline_targets = baseline ? &target : NULL,
                               .baseline_weight =
                                   (regal_real)s->baseline_weight,
                               .batch_graphs = s->graphs};
  regal_network_backward(t->network, slot->work, &terms, gradient, NULL);
}

static regal_status learn(void *state, size_t item,
                          const regal_worker *worker) {
  regal_trainer *t = state;
  const regal_train_settings *s = &t->settings;
  size_t g = regal_ranks_share(t->ranks, s->graphs).first + item;
  size_t count = t->network->parameter_count;
  regal_real *gradient = t->gradients + g * count;
  (void)worker;
  memset(gradient, 0, count * sizeof *gradient);
  if (regal_trainer_perturbs(t))
    regal_perturb_gradient(
        t->network, regal_trainer_key(t, REGAL_STREAM_ACT, g), s->samples,
        s->perturbation, t->advantages + g * s->samples,
        1.0 / s->graphs / s->samples, gradient);
  else
    go_back(t, g, gradient);
  /* it is a part of the mean already */
  regal_clip_norm(s->clip_graph / s->graphs, count, gradient);
  return REGAL_OK;
}

static regal_status update(regal_trainer *t) {
  size_t count = t->network->parameter_count, graphs = t->settings.graphs;
  regal_share mine = regal_ranks_share(t->ranks, graphs);
  REGAL_TRY(regal_workers_run(t->workers, mine.end - mine.first, learn, t));
  REGAL_TRY(regal_ranks_gather(t->ranks, t->context, t->gradients, graphs,
                               count * sizeof *t->gradients));
  memset(t->gradient, 0, count * sizeof *t->gradient);
  for (size_t g = 0; g < graphs; g++)
    for (size_t i = 0; i < count; i++)
      t->gradient[i] += t->gradients[g * count + i];
  t->report.learning_rate =
      regal_adam_learning_rate(&t->settings.adam, t->adam.steps);
  t->report.gradient_norm = regal_adam_step(
      &t->settings.adam, &t->adam, count, t->gradient, t->network->parameters);
  if (!isfinite(t->report.gradient_norm))
    return regal_fail(t->context, REGAL_INTERNAL,
                      "the gradient of step %llu is not finite",
                      (unsigned long long)t->state.step);
  return REGAL_OK;
}

static void report_episodes(regal_trainer *t) {
  const regal_train_settings *s = &t->settings;
  size_t episodes = (size_t)s->graphs * s->samples;
  double sum = 0;
  for (size_t i = 0; i < episodes; i++)
    sum += t->rewards[i];
  t->report.reward = sum / (double)episodes;
  t->report.spread =
      100 * regal_reward_spread(s->graphs, s->samples, t->rewards);
  t->report.improvement = 100 * (1 + t->report.reward);
  t->state.evaluations += episodes * s->episode_evaluations;
}

static void report(regal_trainer *t) {
  double entropy = 0;
  t->report.imitating = regal_trainer_imitates(t);
  t->report.reward = t->report.improvement = t->report.spread = NAN;
  if (!regal_trainer_imitates(t))
    report_episodes(t);
  for (uint32_t g = 0; g < t->settings.graphs; g++)
    entropy += t->figures[g].entropy;
  t->report.entropy = entropy / t->settings.graphs;
  t->state.step++;
}

static regal_status prepare(regal_trainer *t, bool *stopped) {
  size_t needed[REGAL_MOST_STEP_GRAPHS];
  double began = regal_seconds();
  choose(t);
  list_mine(t);
  for (size_t i = 0; i < t->mine_count; i++)
    needed[i] = t->chosen[t->mine[i]];
  REGAL_TRY(regal_tasks_need(t->tasks, needed, t->mine_count));
  if (regal_trainer_imitates(t))
    REGAL_TRY(regal_tasks_teach(t->tasks, needed, t->mine_count));
  REGAL_TRY(regal_trainer_agree(t, stopped));
  t->report.prepare_seconds += regal_seconds() - began;
  return REGAL_OK;
}

regal_status regal_trainer_step(regal_trainer *t, bool *stopped) {
  REGAL_TRY(prepare(t, stopped));
  double began = regal_seconds();
  if (*stopped)
    return REGAL_OK;
  REGAL_TRY(regal_trainer_act(t));
  REGAL_TRY(regal_trainer_imitates(t) ? copy_teacher(t) : regal_trainer_try(t));
  REGAL_TRY(regal_trainer_agree(t, stopped));
  if (*stopped)
    return REGAL_OK;
  if (!regal_trainer_imitates(t))
    find_advantages(t);
  REGAL_TRY(update(t));
  report(t);
  t->report.step_seconds += regal_seconds() - began;
  return REGAL_OK;
}
