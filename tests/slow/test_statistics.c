/* SPDX-License-Identifier: Apache-2.0 */
/* The paper's statistics, of which docs/results.md has a larger sample: BRKGA
 * on 120 synthetic graphs, in the setting that is this project's standard, and
 * in two others that must not match the paper.
 *
 * Tolerances are three to four standard errors of the difference to what is
 * expected, which is itself known to one. The numbers are the same on every
 * run: only a change of the model, of a decoder or of the search moves them.
 */
#include "support/brkga_statistics.h"
#include "support/graph_sketch.h"

#include <math.h>

enum { GRAPHS = 120 };

static void assert_near(const char *what, double value, double expected,
                        double tolerance) {
  if (!(fabs(value - expected) <= tolerance))
    fail_msg("%s: %.2f is not within %.2f of %.2f", what, value, tolerance,
             expected);
}

typedef struct expectation {
  double improvement, passing, passing_improvement, gap, passing_gap;
} expectation;

static void check(regal_context *context, const brkga_setting *setting,
                  const expectation *expected) {
  brkga_statistics s;
  if (brkga_statistics_measure(context, setting, GRAPHS, &s) != REGAL_OK)
    fail_msg("%s", regal_error(context));
  double passing = 100 * s.passing_improvement.count / GRAPHS;
  assert_near("improvement", brkga_mean_of(&s.improvement),
              expected->improvement, 1.2);
  assert_near("passing", passing, expected->passing, 16);
  assert_near("improvement of those", brkga_mean_of(&s.passing_improvement),
              expected->passing_improvement, 1.4);
  assert_near("gap", brkga_mean_of(&s.gap), expected->gap, 4);
  assert_near("gap of those", brkga_mean_of(&s.passing_gap),
              expected->passing_gap, 5);
}

static void test_standard(void **state) {
  check(*state, &(brkga_setting){"wait", 100, .20, .15, NULL},
        &(expectation){20.2, 85, 21.0, 27.0, 26.1});
}

static void test_control_as_transfers(void **state) {
  check(*state, &(brkga_setting){"transfer", 100, .20, .15, NULL},
        &(expectation){20.8, 82, 22.1, 40.2, 36.9});
}

static void test_half_the_population(void **state) {
  check(*state, &(brkga_setting){"wait", 50, .20, .15, NULL},
        &(expectation){15.1, 15, 20.2, 24.5, 21.4});
}

int main(void) {
  const struct CMUnitTest tests[] = {
      CONTEXT_TEST(test_standard),
      CONTEXT_TEST(test_control_as_transfers),
      CONTEXT_TEST(test_half_the_population),
  };
  return cmocka_run_group_tests_name("statistics", tests, NULL, NULL);
}
