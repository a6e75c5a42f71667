/* SPDX-License-Identifier: Apache-2.0 */
/* A training run that was stopped or killed goes on as if it had not been;
 * checkpoints and logs that are wrong, and every message about them. */
#include "base/hash.h"
#include "base/text.h"
#include "policy/policy_file.h"
#include "support/training.h"

typedef struct interrupter {
  regal_context *context;
  uint64_t step;
  bool validated;
} interrupter;

static void interrupt(void *state, const regal_training *now) {
  const interrupter *i = state;
  if (now->step == i->step && now->validated == i->validated)
    regal_stop_request(i->context);
}

/* A run is stopped after some step and after the validation of another. */
static void resume_after(regal_context *context, uint64_t step,
                         bool validated) {
  regal_options options = quick_training("broken.policy");
  interrupter i = {context, step, validated};
  regal_training made;
  assert_int_equal(regal_train(context, "set.zip", &options, "a command",
                               interrupt, &i, &made),
                   REGAL_OK);
  regal_stop_clear(context);
  assert_false(made.finished);
  assert_int_equal(made.step, step);
  resume_training(&options);
  options.threads = 2;
  made = run_training(context, &options);
  assert_true(made.finished);
  assert_same_files("whole.policy", "broken.policy");
  assert_same_files("whole.policy.checkpoint", "broken.policy.checkpoint");
  assert_same_logs("whole.policy.csv", "broken.policy.csv");
}

static void test_resume(void **state) {
  regal_options options = quick_training("whole.policy");
  run_training(*state, &options);
  resume_after(*state, 0, true);
  resume_after(*state, 2, false);
  resume_after(*state, 3, false);
  resume_after(*state, 6, true);
}

/* What a process that is killed here leaves behind. */
static void copy_files(void *state, const regal_training *now) {
  const interrupter *i = state;
  if (now->step == i->step && now->validated == i->validated)
    assert_int_equal(
        system("cp broken.policy.csv killed.policy.csv && cp "
               "broken.policy.checkpoint killed.policy.checkpoint"),
        0);
}

/* Every step has a checkpoint, written after its row: only the row of a
 * validation can be ahead of it. */
static void resume_killed(regal_context *context, uint64_t step,
                          bool validated) {
  regal_options options = quick_training("broken.policy");
  interrupter i = {context, step, validated};
  options.checkpoint_every = 0;
  assert_int_equal(regal_train(context, "set.zip", &options, "a command",
                               copy_files, &i, NULL),
                   REGAL_OK);
  options = quick_training("killed.policy");
  resume_training(&options);
  assert_true(run_training(context, &options).finished);
  assert_same_files("whole.policy", "killed.policy");
  assert_same_logs("whole.policy.csv", "killed.policy.csv");
}

static void test_resume_after_kill(void **state) {
  regal_options options = quick_training("whole.policy");
  run_training(*state, &options);
  resume_killed(*state, 0, true);
  resume_killed(*state, 2, false);
  resume_killed(*state, 6, true);
  resume_killed(*state, 7, false);
  resume_killed(*state, 8, true);
}

/* It is stopped while it copies, and goes on with another number of threads. */
static void test_resumes_imitation(void **state) {
  regal_options options = quick_training("whole.policy");
  interrupter i = {*state, 2, false};
  options.imitate = 5;
  run_training(*state, &options);
  snprintf(options.output, sizeof options.output, "broken.policy");
  assert_int_equal(regal_train(*state, "set.zip", &options, "a command",
                               interrupt, &i, NULL),
                   REGAL_OK);
  regal_stop_clear(*state);
  resume_training(&options);
  options.threads = 2;
  assert_true(run_training(*state, &options).finished);
  assert_same_files("whole.policy", "broken.policy");
  assert_same_logs("whole.policy.csv", "broken.policy.csv");
}

/* What is no log is not taken for one that was cut short. */
static void test_foreign_log(void **state) {
  regal_options options = quick_training("logged.policy");
  options.steps = 1;
  options.valid_graphs = 0;
  run_training(*state, &options);
  files_write_text("notes", "step by step\n");
  resume_training(&options);
  snprintf(options.log, sizeof options.log, "notes");
  assert_refused(*state, "set.zip", &options,
                 "notes: this is no log of a training run");
  char *text = files_read("notes");
  assert_string_equal(text, "step by step\n");
  free(text);
}

static void test_checkpoint_messages(void **state) {
  regal_options options = quick_training("done.policy");
  options.steps = 1;
  options.valid_graphs = 0;
  run_training(*state, &options);
  resume_training(&options);
  options.samples = 4;
  assert_refused(*state, "set.zip", &options,
                 "done.policy.checkpoint: was made with --samples=3, found "
                 "--samples=4; a run goes on with its own options");
  options.samples = 3;
  snprintf(options.checkpoint, sizeof options.checkpoint, "done.policy");
  assert_refused(*state, "set.zip", &options,
                 "done.policy: this is no checkpoint of a training run");
  assert_int_equal(system("head -c 5000 done.policy.checkpoint > cut"), 0);
  snprintf(options.checkpoint, sizeof options.checkpoint, "cut");
  assert_refused(*state, "set.zip", &options,
                 "cut: the checkpoint is damaged or cut short");
}

/* A checkpoint with other bytes and a checksum that fits them; `bytes` are
 * written at `at`, from the end when it is negative. */
static void assert_lie(regal_context *context, const regal_options *options,
                       long at, const void *bytes, size_t size,
                       const char *expected) {
  regal_text text;
  assert_int_equal(regal_read_file(context, "sound.policy.checkpoint", &text),
                   REGAL_OK);
  memcpy(text.bytes + (at < 0 ? (long)text.size + at : at), bytes, size);
  uint64_t sum = regal_hash_bytes(REGAL_HASH_BASIS, text.bytes, text.size - 8);
  for (size_t i = 0; i < 8; i++)
    text.bytes[text.size - 8 + i] = (char)(sum >> 8 * i);
  files_write("lies", text.bytes, text.size);
  regal_text_free(&text);
  assert_refused(context, "set.zip", options, expected);
}

/* Where the numbers of a checkpoint are: after the options. */
static long find_state(regal_context *context) {
  regal_text text;
  assert_int_equal(regal_read_file(context, "sound.policy.checkpoint", &text),
                   REGAL_OK);
  const unsigned char *length = (unsigned char *)text.bytes + 20;
  long at = 24 + length[0] + 256 * length[1];
  regal_text_free(&text);
  return at;
}

static void test_checkpoint_lies(void **state) {
  static const unsigned char far[8] = {77};
  static const unsigned char nan[] = {0, 0, 192, 127},
                             minus[] = {0, 0, 128, 191};
  static const unsigned char infinite[8] = {[6] = 240, 127};
  regal_options options = quick_training("sound.policy");
  options.steps = 3;
  regal_training made = run_training(*state, &options);
  long at = find_state(*state);
  regal_policy *policy;
  assert_int_equal(regal_policy_load(*state, "sound.policy", &policy),
                   REGAL_OK);
  long reals = 4 * (long)policy->network->parameter_count;
  regal_policy_free(policy);
  resume_training(&options);
  snprintf(options.checkpoint, sizeof options.checkpoint, "lies");
  assert_lie(*state, &options, at, far, 8,
             "lies: found step 77, expected at most 3");
  assert_lie(*state, &options, at + 16, far, 8,
             "lies: found a validation at step 77, expected at most 6");
  assert_lie(*state, &options, at + 28, infinite, 8,
             "lies: found a best validation of inf%, expected a finite number");
  assert_lie(*state, &options, at + 36, far, 8,
             "lies: found a best policy of step 77, expected at most 3");
  assert_lie(*state, &options, at + 44, far, 8,
             "lies: found an optimiser of step 77, expected at most 3");
  assert_lie(*state, &options, -8 - 4 * reals, nan, 4,
             "lies: found parameter 0 to be nan, expected a finite number");
  assert_lie(*state, &options, -8 - 3 * reals + 4, nan, 4,
             "lies: found mean gradient 1 to be nan, expected a finite number");
  assert_lie(*state, &options, -8 - 2 * reals, minus, 4,
             "lies: found squared gradient 0 to be -1, expected a finite "
             "number, 0 or more");
  assert_lie(*state, &options, -8 - reals, nan, 4,
             "lies: found parameter of the best policy 0 to be nan, expected a "
             "finite number");
  options.checkpoint[0] = 0;
  assert_int_equal(run_training(*state, &options).step, made.step);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      CONTEXT_TEST(test_resume),
      CONTEXT_TEST(test_resume_after_kill),
      CONTEXT_TEST(test_resumes_imitation),
      CONTEXT_TEST(test_foreign_log),
      CONTEXT_TEST(test_checkpoint_messages),
      CONTEXT_TEST(test_checkpoint_lies),
  };
  return cmocka_run_group_tests_name("train_resume", tests, training_enter,
                                     files_leave);
}
