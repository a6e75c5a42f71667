/* SPDX-License-Identifier: Apache-2.0 */
/* Adam: the first steps by hand, clipping, decay, descent, resuming; and the
 * exponential that networks use. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "nn/activation.h"
#include "nn/adam.h"

/* After one step both means are the gradient, so the step is the rate. */
static void test_first_step(void **state) {
  regal_adam_settings settings = regal_adam_paper();
  float mean[2] = {0}, deviation[2] = {0}, x[2] = {1, 1};
  const float gradient[2] = {3, -4};
  regal_adam adam = {0, mean, deviation};
  (void)state;
  assert_true(regal_adam_step(&settings, &adam, 2, gradient, x) == 5);
  assert_int_equal(adam.steps, 1);
  assert_true(fabs(x[0] - (1 - 1e-4)) < 1e-7);
  assert_true(fabs(x[1] - (1 + 1e-4)) < 1e-7);
  assert_true(fabs(mean[0] - 0.3) < 1e-6);
  assert_true(fabs(deviation[1] - 0.016) < 1e-7);
}

static void test_clipping(void **state) {
  regal_adam_settings settings = regal_adam_paper();
  float mean[2] = {0}, deviation[2] = {0}, x[2] = {0};
  const float gradient[2] = {30, 40};
  regal_adam adam = {0, mean, deviation};
  (void)state;
  assert_true(regal_adam_step(&settings, &adam, 2, gradient, x) == 50);
  assert_true(fabs(mean[0] - 0.6) < 1e-6); /* 0.1 * 30 * 10 / 50 */
  assert_true(fabs(mean[1] - 0.8) < 1e-6);
}

static void test_decay(void **state) {
  regal_adam_settings settings = regal_adam_paper();
  (void)state;
  assert_true(regal_adam_learning_rate(&settings, 1000) == 1e-4);
  settings.learning_rate = 3;
  settings.final_learning_rate = 1;
  settings.decay_steps = 10;
  assert_true(regal_adam_learning_rate(&settings, 0) == 3);
  assert_true(regal_adam_learning_rate(&settings, 5) == 2);
  assert_true(regal_adam_learning_rate(&settings, 10) == 1);
  assert_true(regal_adam_learning_rate(&settings, 99) == 1);
}

/* A gradient that is not finite changes nothing. */
static void test_not_finite(void **state) {
  regal_adam_settings settings = regal_adam_paper();
  float mean[2] = {1, 2}, deviation[2] = {3, 4}, x[2] = {5, 6};
  const float gradient[2] = {1, NAN};
  regal_adam adam = {7, mean, deviation};
  (void)state;
  assert_true(isnan(regal_adam_step(&settings, &adam, 2, gradient, x)));
  assert_int_equal(adam.steps, 7);
  assert_true(mean[0] == 1 && deviation[0] == 3 && x[0] == 5);
}

static void descend(const regal_adam_settings *settings, regal_adam *adam,
                    float x[2], int steps) {
  for (int i = 0; i < steps; i++) {
    const float gradient[2] = {2 * (x[0] - 3), 20 * (x[1] + 1)};
    regal_adam_step(settings, adam, 2, gradient, x);
  }
}

/* It finds a minimum, and a run continued from a copy of its state is the run
 * unbroken. */
static void test_descent_and_resume(void **state) {
  regal_adam_settings settings = regal_adam_paper();
  float mean[2] = {0}, deviation[2] = {0}, x[2] = {0};
  float mean2[2], deviation2[2], x2[2];
  regal_adam adam = {0, mean, deviation}, resumed = {0, mean2, deviation2};
  (void)state;
  settings.learning_rate = 0.1;
  settings.final_learning_rate = 1e-4;
  settings.decay_steps = 600;
  descend(&settings, &adam, x, 100);
  memcpy(mean2, mean, sizeof mean);
  memcpy(deviation2, deviation, sizeof deviation);
  memcpy(x2, x, sizeof x);
  resumed.steps = adam.steps;
  descend(&settings, &adam, x, 600);
  descend(&settings, &resumed, x2, 600);
  assert_true(fabs(x[0] - 3) < 1e-2 && fabs(x[1] + 1) < 1e-2);
  assert_memory_equal(x, x2, sizeof x);
  assert_memory_equal(deviation, deviation2, sizeof deviation);
}

static void test_exponential(void **state) {
  (void)state;
  for (double x = -86; x < 87; x += 0.0137)
    assert_true(fabs(regal_exp((float)x) / exp((float)x) - 1) < 3e-7);
  assert_true(regal_exp(0) == 1);
  assert_true(regal_exp(-1000) < 1e-37f && regal_exp(-1000) > 0);
  assert_true(isfinite(regal_exp(1000)) && isfinite(regal_exp(INFINITY)));
  assert_true(regal_exp(-INFINITY) == regal_exp(-87));
  assert_true(regal_exp(NAN) == regal_exp(-87)); /* never an integer of NaN */
  for (double x = -30; x < 30; x += 0.0137) {
    assert_true(fabs(regal_tanh((float)x) - tanh((float)x)) < 3e-7);
    assert_true(fabs(regal_sigmoid((float)x) - 1 / (1 + exp(-(float)x))) <
                3e-7);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_first_step),
      cmocka_unit_test(test_clipping),
      cmocka_unit_test(test_decay),
      cmocka_unit_test(test_not_finite),
      cmocka_unit_test(test_descent_and_resume),
      cmocka_unit_test(test_exponential),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
