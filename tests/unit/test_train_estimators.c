/* SPDX-License-Identifier: Apache-2.0 */
/* Where the gradient of a training step comes from: advantages, perturbation,
 * the entropy bonus, a teacher. */
#include "learn/advantages.h"
#include "support/training.h"

/* -- Advantages ------------------------------------------------------------ */

static void assert_advantages(regal_advantage kind, const double *expected) {
  const double rewards[] = {-3, -1, -2, -8, -8, -2};
  const double baselines[] = {-2, -5};
  regal_real advantages[6];
  regal_reinforce_advantages(kind, 2, 3, rewards, baselines, advantages);
  for (size_t i = 0; i < 6; i++)
    assert_true(fabs(advantages[i] - expected[i]) < 1e-6);
}

static void test_advantages(void **state) {
  (void)state;
  /* less the mean of the other two */
  const double raw[] = {-1.5, 1.5, 0, -3, -3, 6};
  double batch[6], graph[6];
  double all = sqrt((4.5 + 54) / 6), first = sqrt(4.5 / 3), second = sqrt(18);
  for (size_t i = 0; i < 6; i++) {
    batch[i] = raw[i] / all;
    graph[i] = raw[i] / (i < 3 ? first : second);
  }
  assert_advantages(REGAL_ADVANTAGE_RAW, raw);
  assert_advantages(REGAL_ADVANTAGE_BATCH, batch);
  assert_advantages(REGAL_ADVANTAGE_GRAPH, graph);
  assert_advantages(REGAL_ADVANTAGE_LEARNED, (double[]){-1, 1, 0, -3, -3, 3});
}

static void test_spread(void **state) {
  (void)state;
  const double rewards[] = {-3, -1, -2, -8, -8, -2};
  /* variances 1 and 12 */
  assert_true(fabs(regal_reward_spread(2, 3, rewards) - sqrt(6.5)) < 1e-12);
  assert_true(isnan(regal_reward_spread(6, 1, rewards)));
}

static void test_equal_rewards(void **state) {
  (void)state;
  const double rewards[] = {-1, -1, -1, -1};
  regal_real advantages[4];
  regal_reinforce_advantages(REGAL_ADVANTAGE_GRAPH, 2, 2, rewards, NULL,
                             advantages);
  for (size_t i = 0; i < 4; i++)
    assert_true(advantages[i] == 0);
}

/* -- Runs ------------------------------------------------------------------ */

typedef struct curve {
  double first, last; /* mean improvement of the first and last 20 steps */
} curve;

static void follow(void *state, const regal_training *now) {
  curve *c = state;
  if (now->validated)
    return;
  if (now->step <= 20)
    c->first += now->improvement / 20;
  if (now->step > now->steps - 20)
    c->last += now->improvement / 20;
}

/* What no one may forget: that the reward improves at all. */
static regal_training assert_learns(regal_context *context,
                                    regal_options *options) {
  curve c = {0};
  regal_training made;
  options->samples = 8;
  options->learning_rate = 1e-2;
  options->valid_graphs = 0;
  assert_int_equal(
      regal_train(context, "set.zip", options, NULL, follow, &c, &made),
      REGAL_OK);
  if (!(c.last > c.first + 2))
    fail_msg("improvement %.2f%%, then %.2f%%", c.first, c.last);
  return made;
}

static void test_learns(void **state) {
  regal_options options = quick_training("learns.policy");
  options.steps = 150;
  regal_training made = assert_learns(*state, &options);
  assert_true(made.finished);
  assert_int_equal(made.step, 150);
  assert_int_equal(made.evaluations, 150 * 3 * 8 * 20);
  assert_true(isnan(made.best_valid));
}

static void test_perturbs(void **state) {
  regal_options options = quick_training("learns.policy");
  options.estimator = 1; /* perturb */
  options.steps = 100;
  assert_learns(*state, &options);
}

static void test_threads_of_perturbation(void **state) {
  regal_options one = quick_training("one.policy"),
                three = quick_training("three.policy");
  one.estimator = three.estimator = 1; /* perturb */
  one.samples = three.samples = 4;
  three.threads = 3;
  run_training(*state, &one);
  run_training(*state, &three);
  assert_same_files("one.policy.checkpoint", "three.policy.checkpoint");
  assert_same_logs("one.policy.csv", "three.policy.csv");
}

/* Above the floor there is no bonus; one that is never reached is as none. */
static void test_entropy_floor(void **state) {
  regal_options plain = quick_training("plain.policy"),
                high = quick_training("high.policy");
  regal_options low = quick_training("low.policy"),
                none = quick_training("none.policy");
  plain.entropy = high.entropy = low.entropy = 0.5;
  high.entropy_floor = 1000;
  low.entropy_floor = 1e-6;
  none.entropy = 0;
  run_training(*state, &plain);
  run_training(*state, &high);
  run_training(*state, &low);
  run_training(*state, &none);
  assert_same_logs("plain.policy.csv", "high.policy.csv");
  assert_same_logs("none.policy.csv", "low.policy.csv");
}

typedef struct copying {
  uint64_t copied;    /* steps */
  double first, last; /* entropy in the first and last of them */
  bool mixed;         /* a figure was there that should not, or the reverse */
} copying;

static void watch(void *state, const regal_training *now) {
  copying *c = state;
  if (now->validated)
    return;
  c->mixed |= now->imitating != isnan(now->improvement);
  if (!now->imitating)
    return;
  c->first = c->copied++ ? c->first : now->entropy;
  c->last = now->entropy;
}

/* Copying a teacher takes no episodes, and makes the policy surer. */
static void test_imitates(void **state) {
  regal_options options = quick_training("copies.policy");
  copying c = {0};
  regal_training made;
  options.steps = 62;
  options.imitate = 60;
  options.heads = 3; /* all */
  options.learning_rate = 1e-2;
  options.entropy = 0;
  options.valid_graphs = 0;
  assert_int_equal(
      regal_train(*state, "set.zip", &options, NULL, watch, &c, &made),
      REGAL_OK);
  assert_int_equal(c.copied, 60);
  assert_false(c.mixed);
  assert_int_equal(made.evaluations, 2 * 3 * 3 * 20);
  if (!(c.last < c.first - 1))
    fail_msg("entropy %.3f, then %.3f", c.first, c.last);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_advantages),
      cmocka_unit_test(test_spread),
      cmocka_unit_test(test_equal_rewards),
      CONTEXT_TEST(test_learns),
      CONTEXT_TEST(test_perturbs),
      CONTEXT_TEST(test_threads_of_perturbation),
      CONTEXT_TEST(test_entropy_floor),
      CONTEXT_TEST(test_imitates),
  };
  return cmocka_run_group_tests_name("train_estimators", tests, training_enter,
                                     files_leave);
}
