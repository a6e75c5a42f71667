/* SPDX-License-Identifier: Apache-2.0 */
/* Validation: the policy at work, as `regal optimize --method regal` runs it,
 * against standard BRKGA, at the same number of evaluations, those of the
 * features included. */
#include <math.h>
#include <string.h>

#include "learn/guide/guide.h"
#include "learn/trainer.h"

typedef struct examination {
  regal_trainer *trainer;
  size_t first; /* graph of this rank */
} examination;

/* Sampled actions are those that `regal optimize` draws with the seed, which an
 * episode's is twice of (learn/episode.c). */
static regal_status propose(const regal_trainer *t, const regal_task *task,
                            const regal_worker *worker, uint64_t seed,
                            regal_proposal **proposal) {
  uint64_t key = regal_random_key(seed >> 1, REGAL_PURPOSE_POLICY, 1, 0);
  uint8_t *actions =
      regal_alloc(worker->context,
                  regal_policy_actions(&t->network->config, task->encoding), 1);
  if (!actions)
    return regal_fail_memory(worker->context);
  regal_status status =
      regal_guide_act(worker->context, "validation", t->network, task->encoding,
                      t->settings.sampled ? &key : NULL, actions, NULL);
  if (status == REGAL_OK)
    status = regal_propose(worker->context, t->betas, task->problem,
                           task->encoding, actions, proposal);
  regal_release(worker->context, actions);
  return status;
}

static regal_status examine(void *state, size_t item,
                            const regal_worker *worker) {
  const examination *e = state;
  regal_trainer *t = e->trainer;
  size_t index = e->first + item;
  const regal_task *task = regal_tasks_at(t->valid, index);
  uint64_t budget = t->settings.valid_evaluations;
  uint64_t spent = regal_guide_feature_runs(&t->settings.config) *
                   regal_guide_feature_evaluations(&t->settings.config, budget);
  regal_proposal *proposal;
  double cost;
  uint64_t seed = regal_tasks_seed(t->valid, index);
  REGAL_TRY(propose(t, task, worker, seed, &proposal));
  regal_episode episode = {.problem = task->problem,
                           .settings = &t->settings.brkga,
                           .proposal = proposal,
                           .seed = seed,
                           .evaluations = budget - spent,
                           .best_of = 1};
  regal_status status = regal_episode_run(worker, &episode, &cost);
  regal_proposal_free(proposal);
  REGAL_TRY(status);
  if (cost > task->seen)
    cost = task->seen;
  t->gains[index] = task->standard > 0 ? 100 * (1 - cost / task->standard) : 0;
  return REGAL_OK;
}

static regal_status need_all(regal_trainer *t, size_t first, size_t end) {
  size_t *needed = regal_alloc(t->context, end - first, sizeof *needed);
  if (!needed)
    return regal_fail_memory(t->context);
  for (size_t i = first; i < end; i++)
    needed[i - first] = i;
  regal_status status = regal_tasks_need(t->valid, needed, end - first);
  regal_release(t->context, needed);
  return status;
}

static void keep_best(regal_trainer *t, double gain) {
  regal_train_state *state = &t->state;
  t->report.valid = gain;
  if (state->has_best && !(gain > state->best_valid))
    return;
  state->has_best = true;
  state->best_valid = gain;
  state->best_step = state->step;
  memcpy(t->best, t->network->parameters,
         t->network->parameter_count * sizeof *t->best);
}

regal_status regal_trainer_validate(regal_trainer *t, bool *stopped) {
  size_t count = regal_tasks_count(t->valid);
  regal_share mine = regal_ranks_share(t->ranks, count);
  examination e = {t, mine.first};
  double sum = 0;
  REGAL_TRY(need_all(t, mine.first, mine.end));
  REGAL_TRY(regal_trainer_agree(t, stopped));
  if (*stopped)
    return REGAL_OK;
  REGAL_TRY(regal_workers_run(t->workers, mine.end - mine.first, examine, &e));
  REGAL_TRY(regal_ranks_gather(t->ranks, t->context, t->gains, count,
                               sizeof *t->gains));
  REGAL_TRY(regal_trainer_agree(t, stopped));
  if (*stopped)
    return REGAL_OK;
  for (size_t i = 0; i < count; i++)
    sum += t->gains[i];
  keep_best(t, sum / (double)count);
  t->state.next_validation = t->state.step + t->settings.valid_every;
  if (t->state.step < t->settings.steps &&
      t->state.next_validation > t->settings.steps)
    t->state.next_validation = t->settings.steps;
  return REGAL_OK;
}
