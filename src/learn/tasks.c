/* SPDX-License-Identifier: Apache-2.0 */
/* Tasks: graphs loaded, studied (features and standard cost), encoded and
 * taught as they are needed. What takes evaluations runs on all threads and is
 * kept; what takes memory is dropped when too many tasks are held. */
#include "learn/tasks.h"

#include <math.h>
#include <string.h>

#include "base/carve.h"
#include "learn/guide/propose.h"
#include "learn/teacher.h"
#include "policy/features.h"

/* A kilobyte for an op, all in all; the paper's 10000 graphs fit. */
#define MOST_OPS_IN_MEMORY 1500000

struct regal_tasks {
  regal_context *context;
  regal_workers *workers;
  regal_task_source source;
  regal_task_plan plan;
  regal_task *tasks;
  /* Those in memory, oldest first, in a ring. */
  size_t *loaded;
  size_t first, count, ops;
  /* Those that the present call has to study or to teach. */
  size_t *todo;
  size_t todo_count;
};

uint64_t regal_tasks_seed(const regal_tasks *tasks, size_t index) {
  if (tasks->plan.plain_seeds)
    return (uint64_t)(index + 1) << 1;
  return regal_random_key(tasks->plan.seed, REGAL_PURPOSE_TRAIN, 1, index);
}

static void lay_out(void *made, regal_carver *carver) {
  regal_tasks *tasks = made;
  size_t count = tasks->source.count;
  tasks->tasks = regal_carve(carver, count, sizeof *tasks->tasks);
  tasks->loaded = regal_carve(carver, count, sizeof *tasks->loaded);
  tasks->todo = regal_carve(carver, count, sizeof *tasks->todo);
}

regal_status regal_tasks_create(regal_context *context, regal_workers *workers,
                                const regal_task_source *source,
                                const regal_task_plan *plan,
                                regal_tasks **tasks) {
  regal_tasks plain = {
      .context = context, .workers = workers, .source = *source, .plan = *plan};
  *tasks = regal_carve_struct(context, &plain, sizeof plain, lay_out);
  return *tasks ? REGAL_OK : regal_fail_memory(context);
}

static void drop(regal_tasks *tasks, regal_task *task) {
  if (!task->problem)
    return;
  tasks->ops -= task->problem->ops;
  regal_encoding_free(tasks->context, task->encoding);
  tasks->source.free(task->graph, task->problem);
  task->encoding = NULL;
  task->problem = NULL;
  task->graph = NULL;
}

void regal_tasks_free(regal_tasks *tasks) {
  if (!tasks)
    return;
  for (size_t i = 0; i < tasks->source.count; i++) {
    regal_task *task = &tasks->tasks[i];
    drop(tasks, task);
    regal_release(tasks->context, task->placement);
    regal_release(tasks->context, task->position);
    regal_release(tasks->context, task->draft);
    regal_release(tasks->context, task->taught);
  }
  regal_release(tasks->context, tasks);
}

size_t regal_tasks_count(const regal_tasks *tasks) {
  return tasks->source.count;
}

const regal_task *regal_tasks_at(const regal_tasks *tasks, size_t index) {
  return &tasks->tasks[index];
}

/* -- Loading --------------------------------------------------------------- */

static bool is_needed(const size_t *indices, size_t count, size_t index) {
  for (size_t i = 0; i < count; i++)
    if (indices[i] == index)
      return true;
  return false;
}

/* Makes room; what is needed now goes to the end of the ring. */
static void make_room(regal_tasks *tasks, const size_t *indices, size_t count) {
  for (size_t left = tasks->count; left > 0 && tasks->ops > MOST_OPS_IN_MEMORY;
       left--) {
    size_t oldest = tasks->loaded[tasks->first];
    tasks->first = (tasks->first + 1) % tasks->source.count;
    tasks->count--;
    if (is_needed(indices, count, oldest))
      tasks->loaded[(tasks->first + tasks->count++) % tasks->source.count] =
          oldest;
    else
      drop(tasks, &tasks->tasks[oldest]);
  }
}

static regal_status load(regal_tasks *tasks, size_t index) {
  regal_task *task = &tasks->tasks[index];
  if (task->problem)
    return REGAL_OK;
  REGAL_TRY(tasks->source.load(tasks->source.state, index, &task->graph,
                               &task->problem));
  tasks->ops += task->problem->ops;
  tasks->loaded[(tasks->first + tasks->count++) % tasks->source.count] = index;
  return REGAL_OK;
}

regal_status regal_tasks_problem(regal_tasks *tasks, size_t index,
                                 const regal_problem **problem) {
  REGAL_TRY(load(tasks, index));
  *problem = tasks->tasks[index].problem;
  return REGAL_OK;
}

/* -- Features and standard costs ------------------------------------------- */

static size_t draft_genes(const regal_problem *problem) {
  return regal_decoder_genes(regal_decoder_find("paper"), problem);
}

static void keep_features(regal_task *task,
                          const regal_brkga_features *features) {
  size_t ops = task->problem->ops, shares = ops * task->problem->devices;
  memcpy(task->placement, features->placement,
         shares * sizeof *task->placement);
  memcpy(task->position, features->position, ops * sizeof *task->position);
  task->seen = regal_episode_cost(features->best_fitness);
}

static regal_status study_population(const regal_worker *worker,
                                     const regal_episode *episode,
                                     regal_task *task) {
  regal_brkga_features *features;
  REGAL_TRY(regal_episode_features(worker, episode, &features));
  keep_features(task, features);
  regal_brkga_features_free(worker->context, features);
  return REGAL_OK;
}

static regal_status study_draft(const regal_worker *worker,
                                const regal_episode *episode,
                                regal_task *task) {
  regal_draft *draft;
  REGAL_TRY(regal_episode_draft(worker, episode, &draft));
  memcpy(task->draft, draft->genes,
         draft_genes(task->problem) * sizeof *task->draft);
  regal_draft_free(worker->context, draft);
  return REGAL_OK;
}

static regal_status study(void *state, size_t item,
                          const regal_worker *worker) {
  regal_tasks *tasks = state;
  size_t index = tasks->todo[item];
  regal_task *task = &tasks->tasks[index];
  const regal_task_plan *plan = &tasks->plan;
  regal_episode episode = {.problem = task->problem,
                           .settings = plan->brkga,
                           .seed = regal_tasks_seed(tasks, index),
                           .evaluations = plan->feature_evaluations,
                           .best_of = plan->best_of};
  task->seen = INFINITY;
  if (task->placement)
    REGAL_TRY(study_population(worker, &episode, task));
  if (task->draft)
    REGAL_TRY(study_draft(worker, &episode, task));
  episode.evaluations = plan->standard_evaluations;
  return regal_episode_run(worker, &episode, &task->standard);
}

static bool needs(const regal_tasks *tasks, regal_feature_origin from) {
  return tasks->plan.feature_evaluations &&
         regal_features_need(&tasks->plan.features, from);
}

static regal_status make_population(regal_tasks *tasks, regal_task *task) {
  size_t ops = task->problem->ops;
  task->placement = regal_alloc(tasks->context, ops * task->problem->devices,
                                sizeof *task->placement);
  task->position = regal_alloc(tasks->context, ops, sizeof *task->position);
  return task->placement && task->position ? REGAL_OK
                                           : regal_fail_memory(tasks->context);
}

static regal_status make_draft(regal_tasks *tasks, regal_task *task) {
  task->draft = regal_alloc(tasks->context, draft_genes(task->problem),
                            sizeof *task->draft);
  return task->draft ? REGAL_OK : regal_fail_memory(tasks->context);
}

static regal_status make_arrays(regal_tasks *tasks, regal_task *task) {
  if (!task->placement && needs(tasks, REGAL_FEATURE_FROM_POPULATION))
    REGAL_TRY(make_population(tasks, task));
  if (!task->draft && needs(tasks, REGAL_FEATURE_FROM_DRAFT))
    REGAL_TRY(make_draft(tasks, task));
  return REGAL_OK;
}

static void list_unknown(regal_tasks *tasks, const size_t *indices,
                         size_t count) {
  tasks->todo_count = 0;
  for (size_t i = 0; i < count; i++)
    if (!tasks->tasks[indices[i]].known &&
        !is_needed(tasks->todo, tasks->todo_count, indices[i]))
      tasks->todo[tasks->todo_count++] = indices[i];
}

static regal_status study_all(regal_tasks *tasks) {
  for (size_t i = 0; i < tasks->todo_count; i++)
    REGAL_TRY(make_arrays(tasks, &tasks->tasks[tasks->todo[i]]));
  REGAL_TRY(regal_workers_run(tasks->workers, tasks->todo_count, study, tasks));
  /* what a stop request cut short is not what it should be */
  if (regal_stop_requested(tasks->context))
    return REGAL_OK;
  for (size_t i = 0; i < tasks->todo_count; i++)
    tasks->tasks[tasks->todo[i]].known = true;
  return REGAL_OK;
}

static regal_status encode(regal_tasks *tasks, regal_task *task) {
  if (task->encoding || !task->known)
    return REGAL_OK;
  regal_feature_runs runs = {task->placement, task->position, task->draft};
  return regal_encode_problem(tasks->context, task->problem,
                              &tasks->plan.features, task->problem->devices,
                              &runs, &task->encoding);
}

regal_status regal_tasks_need(regal_tasks *tasks, const size_t *indices,
                              size_t count) {
  make_room(tasks, indices, count);
  for (size_t i = 0; i < count; i++)
    REGAL_TRY(load(tasks, indices[i]));
  list_unknown(tasks, indices, count);
  REGAL_TRY(study_all(tasks));
  for (size_t i = 0; i < count; i++)
    REGAL_TRY(encode(tasks, &tasks->tasks[indices[i]]));
  return REGAL_OK;
}

/* -- Teaching -------------------------------------------------------------- */

static regal_status teach(void *state, size_t item,
                          const regal_worker *worker) {
  regal_tasks *tasks = state;
  size_t index = tasks->todo[item];
  const regal_task *task = &tasks->tasks[index];
  return regal_teacher_genes(worker, tasks->plan.teacher, task->problem,
                             tasks->plan.brkga->decoder,
                             regal_tasks_seed(tasks, index), task->taught);
}

static regal_status list_untaught(regal_tasks *tasks, const size_t *indices,
                                  size_t count) {
  tasks->todo_count = 0;
  for (size_t i = 0; i < count; i++) {
    regal_task *task = &tasks->tasks[indices[i]];
    if (task->taught)
      continue;
    task->taught = regal_alloc(
        tasks->context,
        regal_decoder_genes(tasks->plan.brkga->decoder, task->problem),
        sizeof *task->taught);
    if (!task->taught)
      return regal_fail_memory(tasks->context);
    tasks->todo[tasks->todo_count++] = indices[i];
  }
  return REGAL_OK;
}

regal_status regal_tasks_teach(regal_tasks *tasks, const size_t *indices,
                               size_t count) {
  regal_status status = list_untaught(tasks, indices, count);
  if (status == REGAL_OK)
    status = regal_workers_run(tasks->workers, tasks->todo_count, teach, tasks);
  /* what was cut short is not what it should be */
  for (size_t i = 0; i < tasks->todo_count; i++)
    if (status != REGAL_OK || regal_stop_requested(tasks->context)) {
      regal_task *task = &tasks->tasks[tasks->todo[i]];
      regal_release(tasks->context, task->taught);
      task->taught = NULL;
    }
  return status;
}
