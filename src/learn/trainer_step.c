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
 * passes; one update by Adam. Ranks divide the episodes and the backward
 * passes, and gather the results before anything is summed, in order of graphs.
 *
 * The first steps may copy a teacher (teacher.h) instead: its actions take the
 * place of the samples, with advantage 1, and there are no episodes. */
#include <math.h>
#include <string.h>

#include "learn/teacher.h"
#include "learn/trainer.h"

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

typedef struct share {
  size_t first, end;
} share;

static share share_of(const regal_trainer *t, size_t items) {
  return (share){regal_ranks_first(t->ranks, items, t->ranks->rank),
                 regal_ranks_first(t->ranks, items, t->ranks->rank + 1)};
}

static share my_episodes(const regal_trainer *t) {
  return share_of(t, (size_t)t->settings.graphs * t->settings.samples);
}

/* A rank needs the graphs that it runs episodes of, and those whose gradient
 * it computes. */
static void list_mine(regal_trainer *t) {
  share episodes = my_episodes(t), graphs = share_of(t, t->settings.graphs);
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

static bool imitates(const regal_trainer *t) {
  return t->state.step < t->settings.imitate;
}

/* Action vectors of each graph that the step learns from. */
static uint32_t vectors(const regal_trainer *t) {
  return imitates(t) ? 1 : t->settings.samples;
}

static uint64_t step_key(const regal_trainer *t) {
  return regal_random_key(t->settings.seed, REGAL_PURPOSE_TRAIN, 2,
                          t->state.step);
}

/* -- Actions --------------------------------------------------------------- */

static bool is_large_enough(const regal_network_sizes *have,
                            const regal_network_sizes *need) {
  return have->nodes >= need->nodes && have->edges >= need->edges &&
         have->tensors >= need->tensors;
}

static void enlarge(regal_network_sizes *have,
                    const regal_network_sizes *need) {
  have->nodes = have->nodes > need->nodes ? have->nodes : need->nodes;
  have->edges = have->edges > need->edges ? have->edges : need->edges;
  have->tensors = have->tensors > need->tensors ? have->tensors : need->tensors;
  have->graphs = 1;
}

static regal_status fit_workspace(regal_trainer *t, regal_batch_slot *slot) {
  regal_network_sizes need = {0};
  regal_network_add_sizes(&need, slot->task->encoding);
  if (slot->work && is_large_enough(&slot->capacity, &need))
    return REGAL_OK;
  regal_network_workspace_free(t->context, slot->work);
  slot->work = NULL;
  enlarge(&slot->capacity, &need);
  return regal_network_workspace_create(t->context, t->network, &slot->capacity,
                                        &slot->work);
}

static regal_status fit_slot(regal_trainer *t, size_t g) {
  regal_batch_slot *slot = &t->slots[g];
  slot->task = regal_tasks_at(t->tasks, t->chosen[g]);
  REGAL_TRY(fit_workspace(t, slot));
  slot->vector =
      regal_policy_actions(&t->network->config, slot->task->encoding);
  size_t bytes = slot->vector * t->settings.samples;
  if (bytes <= slot->actions_capacity)
    return REGAL_OK;
  uint8_t *actions = regal_grow(t->context, slot->actions, bytes, 1);
  if (!actions)
    return regal_fail_memory(t->context);
  slot->actions = actions;
  slot->actions_capacity = bytes;
  return REGAL_OK;
}

/* Mean entropy of the samples, for an op. */
static double entropy_of(const regal_network_draw *draws, uint32_t samples,
                         uint32_t nodes) {
  double sum = 0;
  for (uint32_t s = 0; s < samples; s++)
    sum += draws[s].entropy;
  return sum / samples / (nodes ? nodes : 1);
}

static regal_status act(void *state, size_t item, const regal_worker *worker) {
  regal_trainer *t = state;
  size_t g = t->mine[item];
  regal_batch_slot *slot = &t->slots[g];
  const regal_encoding *encoding = slot->task->encoding;
  uint32_t samples = t->settings.samples;
  bool baseline = t->settings.advantage == REGAL_ADVANTAGE_LEARNED;
  regal_network_draw *draws =
      regal_alloc(worker->context, samples, sizeof *draws);
  if (!draws)
    return regal_fail_memory(worker->context);
  regal_status status = regal_network_forward(
      worker->context, t->network, slot->work, &encoding, 1, baseline);
  if (status == REGAL_OK) {
    regal_network_sample(t->network, slot->work, 0,
                         regal_random_at(step_key(t), g), samples,
                         slot->actions, draws);
    t->figures[g] = (regal_batch_figures){
        entropy_of(draws, samples, encoding->nodes),
        baseline ? regal_network_baseline(slot->work, 0) : 0};
  }
  regal_release(worker->context, draws);
  return status;
}

/* -- Episodes -------------------------------------------------------------- */

static regal_status run_episode(void *state, size_t item,
                                const regal_worker *worker) {
  regal_trainer *t = state;
  const regal_train_settings *s = &t->settings;
  size_t number = my_episodes(t).first + item;
  const regal_batch_slot *slot = &t->slots[number / s->samples];
  const regal_task *task = slot->task;
  const uint8_t *actions = slot->actions + number % s->samples * slot->vector;
  regal_proposal *proposal;
  double cost;
  REGAL_TRY(regal_propose(worker->context, t->betas, task->problem,
                          task->encoding, actions, &proposal));
  regal_episode episode = {
      .problem = task->problem,
      .settings = &s->brkga,
      .proposal = proposal,
      .seed = regal_random_at(step_key(t), (UINT64_C(1) << 32) + number),
      .evaluations = s->episode_evaluations,
      .best_of = s->best_of};
  regal_status status = regal_episode_run(worker, &episode, &cost);
  regal_proposal_free(proposal);
  if (status == REGAL_OK)
    t->rewards[number] = task->standard > 0 ? -cost / task->standard : -1;
  return status;
}

static regal_status run_episodes(regal_trainer *t) {
  share mine = my_episodes(t);
  size_t episodes = (size_t)t->settings.graphs * t->settings.samples;
  REGAL_TRY(
      regal_workers_run(t->workers, mine.end - mine.first, run_episode, t));
  return regal_ranks_gather(t->ranks, t->context, t->rewards, episodes,
                            sizeof *t->rewards);
}

/* -- A teacher's actions --------------------------------------------------- */

static regal_status copy_teacher(regal_trainer *t) {
  for (size_t i = 0; i < t->mine_count; i++) {
    size_t g = t->mine[i];
    const regal_batch_slot *slot = &t->slots[g];
    regal_teacher_actions(&t->network->config, slot->task->problem,
                          t->settings.brkga.decoder, slot->task->taught,
                          regal_random_at(step_key(t), g), slot->actions);
  }
  for (uint32_t g = 0; g < t->settings.graphs; g++)
    t->advantages[g] = 1;
  return REGAL_OK;
}

/* -- Advantages ------------------------------------------------------------ */

/* The reward less the mean of the graph's other samples: an unbiased baseline,
 * since it does not depend on the sample itself. */
static double leave_one_out(const double *rewards, uint32_t samples,
                            uint32_t s) {
  double others = 0;
  for (uint32_t i = 0; i < samples; i++)
    others += i == s ? 0 : rewards[i];
  return rewards[s] - others / (samples - 1);
}

static void scale(regal_real *advantages, size_t count) {
  double square = 0;
  for (size_t i = 0; i < count; i++)
    square += (double)advantages[i] * advantages[i];
  double deviation = sqrt(square / (double)count);
  for (size_t i = 0; i < count && deviation > 0; i++)
    advantages[i] = (regal_real)(advantages[i] / deviation);
}

void regal_reinforce_advantages(regal_advantage kind, uint32_t graphs,
                                uint32_t samples, const double *rewards,
                                const double *baselines,
                                regal_real *advantages) {
  for (uint32_t g = 0; g < graphs; g++) {
    const double *of_graph = rewards + (size_t)g * samples;
    for (uint32_t s = 0; s < samples; s++)
      advantages[(size_t)g * samples + s] =
          (regal_real)(kind == REGAL_ADVANTAGE_LEARNED
                           ? of_graph[s] - baselines[g]
                           : leave_one_out(of_graph, samples, s));
    if (kind == REGAL_ADVANTAGE_GRAPH)
      scale(advantages + (size_t)g * samples, samples);
  }
  if (kind == REGAL_ADVANTAGE_BATCH)
    scale(advantages, (size_t)graphs * samples);
}

static void find_advantages(regal_trainer *t) {
  const regal_train_settings *s = &t->settings;
  double baselines[REGAL_MOST_STEP_GRAPHS];
  for (uint32_t g = 0; g < s->graphs; g++)
    baselines[g] = t->figures[g].baseline;
  regal_reinforce_advantages(s->advantage, s->graphs, s->samples, t->rewards,
                             baselines, t->advantages);
}

/* -- Update ---------------------------------------------------------------- */

static regal_status learn(void *state, size_t item,
                          const regal_worker *worker) {
  regal_trainer *t = state;
  const regal_train_settings *s = &t->settings;
  size_t g = share_of(t, s->graphs).first + item;
  size_t count = t->network->parameter_count;
  regal_batch_slot *slot = &t->slots[g];
  const uint8_t *actions = slot->actions;
  uint32_t samples = vectors(t);
  const double *rewards = t->rewards + g * samples;
  bool has_baseline = s->advantage == REGAL_ADVANTAGE_LEARNED && !imitates(t);
  double sum = 0;
  for (uint32_t i = 0; i < samples; i++)
    sum += rewards[i];
  regal_real target = (regal_real)(sum / samples);
  regal_network_terms terms = {.samples = samples,
                               .actions = &actions,
                               .advantages = t->advantages + g * samples,
                               .entropy_weight = (regal_real)s->entropy,
                               .baseline_targets =
                                   has_baseline ? &target : NULL,
                               .baseline_weight = 1,
                               .batch_graphs = s->graphs};
  memset(t->gradients + g * count, 0, count * sizeof *t->gradients);
  regal_network_backward(t->network, slot->work, &terms,
                         t->gradients + g * count, NULL);
  (void)worker;
  return REGAL_OK;
}

static regal_status update(regal_trainer *t) {
  size_t count = t->network->parameter_count, graphs = t->settings.graphs;
  share mine = share_of(t, graphs);
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
  t->report.improvement = 100 * (1 + t->report.reward);
  t->state.evaluations += episodes * s->episode_evaluations;
}

static void report(regal_trainer *t) {
  double entropy = 0;
  t->report.imitating = imitates(t);
  t->report.reward = t->report.improvement = NAN;
  if (!imitates(t))
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
  if (imitates(t))
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
  for (size_t i = 0; i < t->mine_count; i++)
    REGAL_TRY(fit_slot(t, t->mine[i]));
  REGAL_TRY(regal_workers_run(t->workers, t->mine_count, act, t));
  REGAL_TRY(regal_ranks_gather(t->ranks, t->context, t->figures,
                               t->settings.graphs, sizeof *t->figures));
  REGAL_TRY(imitates(t) ? copy_teacher(t) : run_episodes(t));
  REGAL_TRY(regal_trainer_agree(t, stopped));
  if (*stopped)
    return REGAL_OK;
  if (!imitates(t))
    find_advantages(t);
  REGAL_TRY(update(t));
  report(t);
  t->report.step_seconds += regal_seconds() - began;
  return REGAL_OK;
}
