/* SPDX-License-Identifier: Apache-2.0 */
/* Training with every kind of policy, decoder and preset; threads change
 * nothing. */
#include "learn/train_settings.h"
#include "policy/policy_file.h"
#include "support/training.h"

static void test_threads(void **state) {
  regal_options one = quick_training("one.policy"),
                three = quick_training("three.policy");
  three.threads = 3;
  regal_training a = run_training(*state, &one),
                 b = run_training(*state, &three);
  assert_true(a.best_valid == b.best_valid);
  assert_same_files("one.policy", "three.policy");
  assert_same_files("one.policy.checkpoint", "three.policy.checkpoint");
  assert_same_logs("one.policy.csv", "three.policy.csv");
}

static void test_every_kind(void **state) {
  for (int64_t kind = 0; kind < 5; kind++) {
    regal_options options = quick_training("kind.policy");
    options.policy_kind = kind;
    options.heads = 3; /* all */
    options.bias_levels = 3;
    options.steps = 2;
    regal_training made = run_training(*state, &options);
    assert_true(made.finished && isfinite(made.gradient_norm) &&
                made.gradient_norm > 0);
  }
}

static void test_every_decoder(void **state) {
  for (size_t i = 0; i < regal_decoder_count(); i++) {
    regal_options options = quick_training("decoder.policy");
    snprintf(options.decoder, sizeof options.decoder, "%s",
             regal_decoder_at(i).name);
    options.heads = 3; /* all */
    options.steps = 2;
    options.objective = i % 2;
    assert_true(run_training(*state, &options).finished);
  }
}

/* The paper's: one sample, a learned baseline, which moves. */
static void test_paper(void **state) {
  regal_options options = quick_training("paper.policy");
  options.preset = 1;
  options.samples = 0;
  options.episode_evaluations = 120;
  regal_training made = run_training(*state, &options);
  assert_true(made.learning_rate == 1e-4);
  assert_int_equal(made.evaluations, 8 * 3 * 120);
}

/* Every preset is a whole recipe; what is given stays. */
static void test_presets(void **state) {
  enum { DEFAULT, PAPER, PAPER_TF };
  for (int preset = DEFAULT; preset <= PAPER_TF; preset++)
    for (int objective = 0; objective < 2; objective++) {
      regal_options o;
      regal_options_init(&o);
      o.preset = preset;
      o.objective = objective;
      o.clip = 7;
      assert_int_equal(regal_train_fill(*state, &o), REGAL_OK);
      bool tf = preset == PAPER_TF;
      assert_true(o.baseline_weight == (preset ? 1e-4 : 1));
      assert_int_equal(o.steps, preset ? 100000 : 6000);
      assert_int_equal(o.actions, preset != DEFAULT);
      assert_int_equal(o.rounds, tf ? 16 : 2);
      assert_int_equal(o.update, tf ? objective : 2); /* residual, mlp, gru */
      assert_int_equal(o.aggregation, tf && !objective);
      assert_int_equal(o.placement_levels, 2);
      assert_int_equal(o.schedule_levels, tf && objective ? 2 : 16);
      assert_int_equal(o.memory_limit,
                       tf && !objective ? INT64_C(16) << 30 : 0);
      assert_int_equal(o.graphs_per_step, 4);
      assert_true(o.clip == 7);
    }
}

/* The paper's network and action space: two heads, transfer genes uniform. */
static void test_paper_tf(void **state) {
  regal_options options = quick_training("tf.policy");
  regal_policy *policy;
  options.preset = 2;
  options.samples = 0;
  options.steps = 2;
  options.state_width = 4;
  assert_true(run_training(*state, &options).finished);
  assert_int_equal(regal_policy_load(*state, "tf.policy", &policy), REGAL_OK);
  assert_int_equal(policy->network->config.update, REGAL_UPDATE_RESIDUAL);
  assert_false(policy->network->config.mean_aggregation);
  assert_int_equal(policy->network->config.head_count, 2);
  regal_policy_free(policy);
}

/* A baseline of no weight stays as it was made: only the policy's part of the
 * gradient is left. */
static void test_baseline_weight(void **state) {
  double norm[2];
  for (int i = 0; i < 2; i++) {
    regal_options options = quick_training("weight.policy");
    options.preset = 1;
    options.samples = 0;
    options.steps = 1;
    options.overwrite = true;
    options.baseline_weight = i;
    norm[i] = run_training(*state, &options).gradient_norm;
  }
  assert_true(norm[0] > 0 && norm[0] < norm[1]);
}

/* The mean of gradients that are at most so long is no longer. */
static void test_clip_graph(void **state) {
  const double most[] = {0, 1e-3};
  double norm[2];
  for (int i = 0; i < 2; i++) {
    regal_options options = quick_training("clipped.policy");
    options.steps = 1;
    options.overwrite = true;
    options.clip_graph = most[i];
    norm[i] = run_training(*state, &options).gradient_norm;
  }
  assert_true(norm[0] > 2 * most[1]);
  assert_true(norm[1] > 0 && norm[1] <= most[1] * (1 + 1e-6));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      CONTEXT_TEST(test_threads),         CONTEXT_TEST(test_every_kind),
      CONTEXT_TEST(test_every_decoder),   CONTEXT_TEST(test_paper),
      CONTEXT_TEST(test_presets),         CONTEXT_TEST(test_paper_tf),
      CONTEXT_TEST(test_baseline_weight), CONTEXT_TEST(test_clip_graph),
  };
  return cmocka_run_group_tests_name("train", tests, training_enter,
                                     files_leave);
}
