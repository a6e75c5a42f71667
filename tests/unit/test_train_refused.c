/* SPDX-License-Identifier: Apache-2.0 */
/* Training that is refused, with every message: options that do not fit, files
 * that would be replaced, too little memory. */
#include "support/failing_allocator.h"
#include "support/training.h"

static void test_messages(void **state) {
  regal_options options = quick_training("");
  assert_refused(*state, "set.zip", &options,
                 "training needs a file for the policy: -o FILE.policy");
  options = quick_training("x.policy");
  assert_refused(*state, "plain", &options,
                 "plain: found no graph of split train; 'regal dataset split' "
                 "makes one");
  options.samples = 1;
  assert_refused(*state, "set.zip", &options,
                 "--samples: found 1, expected at least 2, which are compared "
                 "with each other, or --advantage learned");
  options = quick_training("x.policy");
  options.estimator = 1; /* perturb */
  assert_refused(*state, "set.zip", &options,
                 "--samples: found 3, expected an even number, for --estimator "
                 "perturb compares pairs");
  options = quick_training("x.policy");
  options.episode_evaluations = 19;
  assert_refused(*state, "set.zip", &options,
                 "--episode-evaluations: found 19, expected at least the 20 "
                 "that the reward is a mean of");
  options = quick_training("x.policy");
  snprintf(options.decoder, sizeof options.decoder, "clock");
  options.heads = 0; /* placement */
  assert_refused(*state, "set.zip", &options,
                 "--heads: decoder \"clock\" has no genes of that kind");
  options = quick_training("x.policy");
  options.means = 1; /* draft */
  assert_refused(*state, "set.zip", &options,
                 "--means: found draft, expected absolute, or a draft among "
                 "the features: --features draft");
  options.features = 2; /* draft */
  options.imitate = 1;
  assert_refused(*state, "set.zip", &options,
                 "--imitate: found --means draft, expected --means absolute, "
                 "for a teacher's plan is none of the draft's");
  snprintf(options.decoder, sizeof options.decoder, "eft");
  assert_refused(*state, "set.zip", &options,
                 "--means: found draft for decoder eft, expected decoder paper "
                 "or paper-late");
  assert_int_equal(access("x.policy", F_OK), -1);
}

/* Every file that a run would replace is named, and none is touched. */
static void test_refuses_to_replace(void **state) {
  static const char *const files[] = {"kept.policy", "kept.policy.checkpoint",
                                      "kept.policy.csv"};
  static const char *const messages[] = {
      "kept.policy: exists already; --overwrite replaces it",
      ("kept.policy.checkpoint: exists already; --resume continues the run of "
       "kept.policy.checkpoint, --overwrite replaces it"),
      "kept.policy.csv: exists already; --overwrite replaces it"};
  regal_options options = quick_training("kept.policy");
  options.overwrite = false;
  for (size_t i = 0; i < 3; i++) {
    files_write_text(files[i], "precious");
    assert_refused(*state, "set.zip", &options, messages[i]);
    for (size_t k = 0; k < 3; k++) {
      char *text = files_read(files[k]);
      assert_true(k == i ? text && !strcmp(text, "precious") : !text);
      free(text);
    }
    remove(files[i]);
  }
  options.steps = 1;
  run_training(*state, &options);
  assert_refused(*state, "set.zip", &options,
                 "kept.policy: exists already; --resume continues the run of "
                 "kept.policy.checkpoint, --overwrite replaces it");
  options.resume = options.overwrite = true;
  assert_refused(*state, "set.zip", &options,
                 "--resume, --overwrite: found both, expected one");
  options.resume = false;
  run_training(*state, &options);
}

static void test_memory_of_settings(void **state) {
  regal_options options = quick_training("x.policy");
  options.graphs_per_step = 4096;
  options.state_width = 64;
  options.max_memory = 100 << 20;
  assert_int_equal(
      regal_train(*state, "set.zip", &options, NULL, NULL, NULL, NULL),
      REGAL_BAD_INPUT);
  assert_non_null(strstr(regal_error(*state),
                         "--graphs-per-step 4096 and --state-width 64 need "));
  options.graphs_per_step = 1;
  options.state_width = 1024;
  assert_int_equal(
      regal_train(*state, "set.zip", &options, NULL, NULL, NULL, NULL),
      REGAL_NO_MEMORY);
  assert_non_null(strstr(regal_error(*state), "out of memory: found "));
  assert_non_null(strstr(regal_error(*state),
                         " in use, expected at most 100.0 MiB (--max-memory)"));
  assert_int_equal(access("x.policy", F_OK), -1);
}

static void test_failing_allocations(void **state) {
  (void)state;
  regal_options options = quick_training("scarce.policy");
  options.steps = 1;
  options.graphs_per_step = 2;
  options.samples = 2;
  options.valid_graphs = 1;
  options.valid_evaluations = 40;
  options.schedule_levels = 2;
  for (size_t n = 2;; n += 1 + n / 60) {
    failing_allocator memory = {.fail_at = n};
    regal_allocator allocator = failing_allocator_of(&memory);
    regal_context *context;
    assert_int_equal(regal_context_create(&context, &allocator), REGAL_OK);
    regal_status status =
        regal_train(context, "set.zip", &options, NULL, NULL, NULL, NULL);
    assert_int_equal(status, memory.failed ? REGAL_NO_MEMORY : REGAL_OK);
    assert_int_equal(regal_bytes_in_use(context), 0);
    regal_context_free(context);
    assert_int_equal(memory.blocks, 0);
    if (!memory.failed)
      return assert_in_range(n, 200, 5000);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      CONTEXT_TEST(test_messages),
      CONTEXT_TEST(test_refuses_to_replace),
      CONTEXT_TEST(test_memory_of_settings),
      cmocka_unit_test(test_failing_allocations),
  };
  return cmocka_run_group_tests_name("train_refused", tests, training_enter,
                                     files_leave);
}
