/* SPDX-License-Identifier: Apache-2.0 */
/* regal_train: the graphs of a dataset, handed to the trainer of src/learn. */
#include "regal_train.h"

#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory/limit.h"
#include "cost/model/problem.h"
#include "learn/train_run.h"
#include "learn/train_settings.h"
#include "regal_data.h"

/* One graph of a split, or an augmented copy of it. */
typedef struct item {
  uint32_t entry, copy;
} item;

/* The graphs of one split. */
typedef struct part {
  regal_context *context;
  regal_dataset *dataset;
  const regal_options *options;
  item *items;
  size_t count, capacity;
} part;

static regal_status load_item(void *state, size_t index, regal_graph **graph,
                              regal_problem **problem) {
  part *p = state;
  const item *wanted = &p->items[index];
  REGAL_TRY(regal_dataset_load(p->dataset, wanted->entry, wanted->copy,
                               p->options, graph));
  regal_status status =
      regal_problem_create(p->context, *graph, p->options, problem);
  if (status != REGAL_OK)
    regal_graph_free(*graph);
  return status;
}

static void free_item(regal_graph *graph, regal_problem *problem) {
  regal_problem_free(problem);
  regal_graph_free(graph);
}

static regal_task_source source_of(part *p) {
  return (regal_task_source){
      .state = p, .count = p->count, .load = load_item, .free = free_item};
}

static regal_status add_item(part *p, size_t entry, uint32_t copy) {
  if (!REGAL_RESERVE(p->context, p->items, p->count, p->capacity))
    return regal_fail_memory(p->context);
  p->items[p->count++] = (item){(uint32_t)entry, copy};
  return REGAL_OK;
}

static regal_status collect(part *p, const char *split, bool copies) {
  for (size_t i = 0; i < regal_dataset_count(p->dataset); i++) {
    const regal_entry *entry = regal_dataset_entry(p->dataset, i);
    uint32_t most = !copies               ? 0
                    : p->options->augment ? (uint32_t)p->options->augment
                                          : entry->copies;
    if (strcmp(entry->split, split) != 0)
      continue;
    for (uint32_t copy = 0; copy <= most; copy++)
      REGAL_TRY(add_item(p, i, copy));
  }
  return REGAL_OK;
}

/* Graphs from all over the split. */
static void thin_out(part *p, size_t most) {
  if (p->count <= most)
    return;
  for (size_t i = 0; i < most; i++)
    p->items[i] = p->items[i * p->count / most];
  p->count = most;
}

static regal_status collect_all(part *train, part *valid, const char *path) {
  REGAL_TRY(collect(train, "train", true));
  if (!train->count)
    return regal_fail(train->context, REGAL_BAD_INPUT,
                      "%s: found no graph of split train; 'regal dataset "
                      "split' makes one",
                      path);
  if (!valid->options->valid_graphs)
    return REGAL_OK;
  REGAL_TRY(collect(valid, "valid", false));
  if (!valid->count)
    return regal_fail(train->context, REGAL_BAD_INPUT,
                      "%s: found no graph of split valid; 'regal dataset "
                      "split' makes one, --valid-graphs 0 does without",
                      path);
  thin_out(valid, (size_t)valid->options->valid_graphs);
  return REGAL_OK;
}

/* Of names, splits and what the index knows of the graphs. */
static uint64_t checksum_of(const regal_dataset *dataset) {
  uint64_t hash = REGAL_HASH_BASIS;
  for (size_t i = 0; i < regal_dataset_count(dataset); i++) {
    const regal_entry *entry = regal_dataset_entry(dataset, i);
    hash = regal_hash_text(hash, entry->name);
    hash = regal_hash_text(hash, entry->split);
    hash = regal_mix(hash ^ (entry->known ? entry->figures.checksum : 0));
    hash = regal_mix(hash ^ entry->copies ^ entry->seed << 32);
  }
  return hash;
}

static void name_file(char *name, size_t capacity, const char *given,
                      const char *output, const char *ending) {
  if (given[0])
    snprintf(name, capacity, "%s", given);
  else
    snprintf(name, capacity, "%s%s", output, ending);
}

static regal_status run(regal_context *context, regal_ranks *ranks, part *train,
                        part *valid, regal_train_job *job,
                        regal_training *training) {
  const regal_options *options = train->options;
  char checkpoint[1100], log[1100];
  regal_task_source train_source = source_of(train);
  regal_task_source valid_source = source_of(valid);
  regal_trainer *trainer;
  name_file(checkpoint, sizeof checkpoint, options->checkpoint, options->output,
            ".checkpoint");
  name_file(log, sizeof log, options->log, options->output, ".csv");
  job->output = options->output;
  job->checkpoint = checkpoint;
  job->log = log;
  REGAL_TRY(regal_trainer_create(context, ranks, options, &train_source,
                                 &valid_source, &trainer));
  regal_status status = regal_train_run(trainer, job);
  if (status == REGAL_OK && training)
    *training = trainer->report;
  regal_trainer_free(trainer);
  return status;
}

static regal_status run_on(regal_context *context, regal_ranks *ranks,
                           const char *path, const regal_options *options,
                           regal_train_job *job, regal_training *training) {
  regal_dataset *dataset;
  regal_options filled = *options; /* a preset may say something of devices */
  REGAL_TRY(regal_train_fill(context, &filled));
  REGAL_TRY(regal_dataset_open(context, path, &dataset));
  part train = {.context = context, .dataset = dataset, .options = &filled};
  part valid = train;
  regal_status status = collect_all(&train, &valid, path);
  job->dataset = checksum_of(dataset);
  if (status == REGAL_OK)
    status = run(context, ranks, &train, &valid, job, training);
  regal_release(context, valid.items);
  regal_release(context, train.items);
  regal_dataset_free(dataset);
  return status;
}

regal_status regal_train(regal_context *context, const char *dataset,
                         const regal_options *options, const char *command,
                         regal_training_fn progress, void *state,
                         regal_training *training) {
  regal_ranks ranks;
  REGAL_TRY(regal_need(context, dataset && options,
                       "training needs a dataset and options"));
  if (!options->output[0])
    return regal_fail(context, REGAL_BAD_INPUT,
                      "training needs a file for the policy: -o FILE.policy");
  if (options->resume && options->overwrite)
    return regal_fail(context, REGAL_BAD_INPUT,
                      "--resume, --overwrite: found both, expected one");
  regal_train_job job = {.command = command ? command : "",
                         .progress = progress,
                         .progress_state = state};
  REGAL_TRY(regal_ranks_join(context, &ranks));
  size_t before = regal_memory_limit(context, options);
  regal_status status =
      run_on(context, &ranks, dataset, options, &job, training);
  regal_memory_restore(context, before);
  REGAL_TRY(status);
  regal_ranks_leave(&ranks);
  return REGAL_OK;
}
