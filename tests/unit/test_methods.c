/* SPDX-License-Identifier: Apache-2.0 */
/* Every method of the table on every kind of machine, for both objectives; and
 * what a budget of evaluations means, which is the same for all that search. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "learn/guide/policies.h"
#include "support/every_method.h"
#include "support/files.h"
#include "support/machine_options.h"

/* An untrained policy of kind gas for the bench's problem. */
static void save_gas(search_bench *b, const char *path) {
  regal_policy_config config = {.kind = REGAL_POLICY_GAS, .width = 8};
  const regal_decoder *decoder = regal_decoder_find("paper");
  regal_policy_provenance provenance = {0};
  regal_network *network;
  regal_config_for(b->problem, decoder, &config);
  assert_int_equal(
      regal_config_add_head(b->context, decoder, "priority", 4, 4, 0, &config),
      REGAL_OK);
  assert_int_equal(regal_network_create(b->context, &config, 1, &network),
                   REGAL_OK);
  assert_int_equal(regal_policy_save(b->context, network, &provenance, path),
                   REGAL_OK);
  regal_network_free(b->context, network);
}

/* False for cp-sat, which does the same in tests/slow/test_cp_sat.c, and for
 * methods that need pipelines. */
static bool choose_method(search_bench *b, size_t method) {
  const char *name = regal_method_at(method).name;
  bool gas = !strcmp(name, "gas");
  if (!give_policy(name, &b->options) && !gas)
    return false;
  if (gas) {
    save_gas(b, "gas.policy");
    strcpy(b->options.policy, "gas.policy");
  }
  set_option(b, "method", name);
  return true;
}

static int fits_on(search_bench *b, const machine_option *option) {
  int fits = 0;
  use_machine(b, option);
  for (size_t m = 0; m < regal_method_count(); m++) {
    char name[100];
    if (!choose_method(b, m))
      continue;
    snprintf(name, sizeof name, "%.20s on %s, objective %d", b->options.method,
             option->name, (int)b->options.objective);
    regal_result *result = NULL;
    if (regal_optimize(b->context, b->problem, &b->options, &result))
      fail_msg("%s: %s", name, regal_error(b->context));
    check_plan_of(b, result, name);
    fits += result->fits;
    regal_result_free(result);
  }
  return fits;
}

static void test_machines(void **state) {
  search_bench *b = *state;
  b->options.evaluations = 500;
  for (int objective = 0; objective < 2; objective++) {
    set_option(b, "objective", objective ? "memory" : "runtime");
    use_synthetic(b, 22, 5 + (uint64_t)objective);
    for (int i = 0; i < MACHINE_OPTIONS; i++) {
      const machine_option *option = &machine_options[i];
      int fits = fits_on(b, option);
      int all = (int)regal_method_count() - 5; /* cp-sat, pipelines */
      if (option->limit == 0)
        assert_int_equal(fits, all);
      else if (option->limit < 1)
        assert_int_equal(fits, 0);
      else /* some find a plan within it, and some know nothing of limits */
        assert_true(fits > 1 && fits < all);
    }
  }
}

/* -- Evaluations ----------------------------------------------------------- */

static bool searches(const regal_method_info *method) {
  return strstr(method->budget, "--evaluations") != NULL;
}

/* Returns whether it had to use all. */
static bool check_budget(search_bench *b, uint64_t budget) {
  const char *name = b->options.method;
  b->options.evaluations = (int64_t)budget;
  regal_result *result = optimize(b);
  if (result->evaluations > budget)
    fail_msg("%s: %llu evaluations of %llu", name,
             (unsigned long long)result->evaluations,
             (unsigned long long)budget);
  bool proven = result->stop == REGAL_STOP_BOUND;
  if (!proven && (result->stop != REGAL_STOP_BUDGET ||
                  result->evaluations < budget - budget / 20))
    fail_msg("%s: stopped (%s) after %llu evaluations of %llu", name,
             regal_stop_name(result->stop),
             (unsigned long long)result->evaluations,
             (unsigned long long)budget);
  regal_result_free(result);
  return !proven;
}

/* All that search use what they are given, whether it is a whole number of
 * generations or not, and no more, unless they meet the bound. */
static void test_budgets(void **state) {
  search_bench *b = *state;
  static const uint64_t budgets[] = {1, 2, 99, 100, 777, 3001};
  int methods = 0, used = 0;
  for (int objective = 0; objective < 2; objective++) {
    set_option(b, "objective", objective ? "memory" : "runtime");
    use_synthetic(b, 60, 9);
    use_machine(b, &machine_options[2]);
    for (size_t m = 0; m < regal_method_count(); m++) {
      regal_method_info method = regal_method_at(m);
      if (!searches(&method) || !choose_method(b, m))
        continue;
      methods++;
      for (size_t i = 0; i < sizeof budgets / sizeof *budgets; i++)
        used += check_budget(b, budgets[i]);
    }
  }
  assert_int_equal(methods, 2 * 12);
  assert_true(used > methods * 5);
}

/* Those that make one pass use none of it, and do not fail for want of it. */
static void test_one_pass(void **state) {
  search_bench *b = *state;
  use_synthetic(b, 60, 9);
  b->options.evaluations = 1;
  for (size_t m = 0; m < regal_method_count(); m++) {
    regal_method_info method = regal_method_at(m);
    if (searches(&method) || strcmp(method.budget, "none: one pass") != 0 ||
        is_for_pipelines(method.name))
      continue;
    set_option(b, "method", method.name);
    regal_result *result = optimize(b);
    assert_int_equal(result->evaluations, 0);
    assert_true(result->stop == REGAL_STOP_DONE ||
                result->stop == REGAL_STOP_BOUND);
    regal_result_free(result);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      SEARCH_TEST(test_machines),
      SEARCH_TEST(test_budgets),
      SEARCH_TEST(test_one_pass),
  };
  return cmocka_run_group_tests_name("methods", tests, files_enter,
                                     files_leave);
}
