/* SPDX-License-Identifier: Apache-2.0 */
/* Short training runs for tests, on a small dataset of their own. */
#ifndef REGAL_TESTS_TRAINING_H
#define REGAL_TESTS_TRAINING_H

#include <math.h>

#include "regal_data.h"
#include "regal_train.h"
#include "support/files.h"
#include "support/graph_sketch.h"

/* A small dataset: ten graphs, split 3-1-1. */
static inline int training_enter(void **state) {
  regal_context *context;
  regal_options options;
  regal_dataset *dataset;
  if (files_enter(state) || regal_context_create(&context, NULL))
    return -1;
  regal_options_init(&options);
  options.count = 10;
  options.nodes = 30;
  options.seed = 5;
  options.threads = 1;
  regal_status status =
      regal_generate(context, "plain", &options, NULL, NULL, NULL);
  if (status == REGAL_OK)
    status = regal_dataset_open(context, "plain", &dataset);
  if (status == REGAL_OK)
    status = regal_dataset_measure(dataset, &options);
  if (status == REGAL_OK)
    status = regal_dataset_split(dataset, 1);
  if (status == REGAL_OK)
    status = regal_dataset_save(dataset, "set.zip");
  if (status != REGAL_OK) {
    fprintf(stderr, "%s\n", regal_error(context));
    return -1;
  }
  regal_dataset_free(dataset);
  regal_context_free(context);
  return 0;
}

static inline regal_options quick_training(const char *output) {
  regal_options options;
  regal_options_init(&options);
  options.steps = 8;
  options.graphs_per_step = 3;
  options.samples = 3;
  options.episode_evaluations = 20;
  options.valid_every = 3;
  options.valid_graphs = 2;
  options.valid_evaluations = 300;
  options.state_width = 8;
  options.rounds = 1;
  options.threads = 1;
  options.overwrite = true; /* tests use names again */
  snprintf(options.output, sizeof options.output, "%s", output);
  return options;
}

static inline void resume_training(regal_options *options) {
  options->overwrite = false;
  options->resume = true;
}

static inline regal_training run_training(regal_context *context,
                                          const regal_options *options) {
  regal_training made;
  if (regal_train(context, "set.zip", options, "a command", NULL, NULL,
                  &made) != REGAL_OK)
    fail_msg("%s", regal_error(context));
  return made;
}

static inline void assert_same_files(const char *a, const char *b) {
  char command[256];
  snprintf(command, sizeof command, "cmp %s %s", a, b);
  if (system(command))
    fail_msg("%s and %s differ", a, b);
}

/* The columns of a log that do not depend on the clock. */
static inline void assert_same_logs(const char *a, const char *b) {
  char command[512];
  snprintf(command, sizeof command,
           "cut -d, -f1,3- %s > a.cut && cut -d, -f1,3- %s > b.cut", a, b);
  assert_int_equal(system(command), 0);
  assert_same_files("a.cut", "b.cut");
}

static inline void assert_refused(regal_context *context, const char *dataset,
                                  const regal_options *options,
                                  const char *expected) {
  assert_int_equal(
      regal_train(context, dataset, options, NULL, NULL, NULL, NULL),
      REGAL_BAD_INPUT);
  assert_string_equal(regal_error(context), expected);
}

#endif
