/* SPDX-License-Identifier: Apache-2.0 */
/* The first half of a step of training: action vectors for each graph, and an
 * episode for each vector. Actions are sampled, or the likeliest ones of
 * networks with perturbed parameters (perturb.h). */
#include <stdlib.h>
#include <string.h>

#include "learn/perturb.h"
#include "learn/trainer_parts.h"

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

static regal_status draw_samples(regal_trainer *t, size_t g,
                                 const regal_worker *worker) {
  regal_batch_slot *slot = &t->slots[g];
  const regal_encoding *encoding = slot->task->encoding;
  uint32_t samples = t->settings.samples;
  bool baseline = regal_trainer_has_baseline(t);
  regal_network_draw *draws =
      regal_alloc(worker->context, samples, sizeof *draws);
  if (!draws)
    return regal_fail_memory(worker->context);
  regal_status status = regal_network_forward(
      worker->context, t->network, slot->work, &encoding, 1, baseline);
  if (status == REGAL_OK) {
    regal_network_sample(t->network, slot->work, 0,
                         regal_trainer_key(t, REGAL_STREAM_ACT, g), samples,
                         slot->actions, draws);
    t->figures[g] = (regal_batch_figures){
        entropy_of(draws, samples, encoding->nodes),
        baseline ? regal_network_baseline(slot->work, 0) : 0};
  }
  regal_release(worker->context, draws);
  return status;
}

/* The likeliest actions of perturbed networks, whose parameters lie where the
 * gradient of the graph will. */
static regal_status act_perturbed(regal_trainer *t, size_t g,
                                  const regal_worker *worker) {
  regal_batch_slot *slot = &t->slots[g];
  const regal_encoding *encoding = slot->task->encoding;
  regal_network moved = *t->network;
  regal_network_draw draw = {0};
  double entropy = 0;
  moved.parameters = t->gradients + g * moved.parameter_count;
  for (uint32_t s = 0; s < t->settings.samples; s++) {
    regal_perturb(t->network, regal_trainer_key(t, REGAL_STREAM_ACT, g), s,
                  t->settings.perturbation, moved.parameters);
    REGAL_TRY(regal_network_forward(worker->context, &moved, slot->work,
                                    &encoding, 1, false));
    regal_network_greedy(&moved, slot->work, 0,
                         slot->actions + s * slot->vector, &draw);
    entropy += draw.entropy / t->settings.samples;
  }
  t->figures[g] = (regal_batch_figures){
      entropy / (encoding->nodes ? encoding->nodes : 1), 0};
  return REGAL_OK;
}

static regal_status act(void *state, size_t item, const regal_worker *worker) {
  regal_trainer *t = state;
  size_t g = t->mine[item];
  return regal_trainer_perturbs(t) ? act_perturbed(t, g, worker)
                                   : draw_samples(t, g, worker);
}

regal_status regal_trainer_act(regal_trainer *t) {
  for (size_t i = 0; i < t->mine_count; i++)
    REGAL_TRY(fit_slot(t, t->mine[i]));
  REGAL_TRY(regal_workers_run(t->workers, t->mine_count, act, t));
  return regal_ranks_gather(t->ranks, t->context, t->figures,
                            t->settings.graphs, sizeof *t->figures);
}

/* -- Episodes -------------------------------------------------------------- */

/* The two episodes of a pair differ by their actions only. */
static uint64_t episode_seed(const regal_trainer *t, size_t number) {
  return regal_trainer_key(t, REGAL_STREAM_EPISODE,
                           regal_trainer_perturbs(t) ? number / 2 * 2 : number);
}

static regal_status run_episode(void *state, size_t item,
                                const regal_worker *worker) {
  regal_trainer *t = state;
  const regal_train_settings *s = &t->settings;
  size_t number = t->queue[item].number;
  const regal_batch_slot *slot = &t->slots[number / s->samples];
  const regal_task *task = slot->task;
  const uint8_t *actions = slot->actions + number % s->samples * slot->vector;
  regal_proposal *proposal;
  double cost;
  REGAL_TRY(regal_propose(worker->context, t->betas, task->problem,
                          task->encoding, actions, &proposal));
  regal_episode episode = {.problem = task->problem,
                           .settings = &s->brkga,
                           .proposal = proposal,
                           .seed = episode_seed(t, number),
                           .evaluations = s->episode_evaluations,
                           .best_of = s->best_of};
  regal_status status = regal_episode_run(worker, &episode, &cost);
  regal_proposal_free(proposal);
  if (status == REGAL_OK)
    t->rewards[number] = task->standard > 0 ? -cost / task->standard : -1;
  return status;
}

static int largest_first(const void *left, const void *right) {
  const regal_batch_item *a = left, *b = right;
  if (a->ops != b->ops)
    return a->ops > b->ops ? -1 : 1;
  return (a->number > b->number) - (a->number < b->number);
}

/* A step ends with its last episode: the longest ones begin first, so that
 * threads do not wait for one that began late. */
static size_t queue_episodes(regal_trainer *t) {
  regal_share mine = regal_trainer_episodes(t);
  size_t count = mine.end - mine.first;
  for (size_t i = 0; i < count; i++) {
    size_t number = mine.first + i;
    const regal_task *task = t->slots[number / t->settings.samples].task;
    t->queue[i] = (regal_batch_item){number, task->problem->ops};
  }
  qsort(t->queue, count, sizeof *t->queue, largest_first);
  return count;
}

regal_status regal_trainer_try(regal_trainer *t) {
  size_t episodes = (size_t)t->settings.graphs * t->settings.samples;
  REGAL_TRY(regal_workers_run(t->workers, queue_episodes(t), run_episode, t));
  return regal_ranks_gather(t->ranks, t->context, t->rewards, episodes,
                            sizeof *t->rewards);
}
