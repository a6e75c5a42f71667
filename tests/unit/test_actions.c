/* SPDX-License-Identifier: Apache-2.0 */
/* Actions of a policy as data: odds against the network's own sums, entropies
 * of what is chosen against counting, and the table of all choices. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "learn/guide/guide.h"
#include "regal_train.h"
#include "support/failing_allocator.h"
#include "support/random_encoding.h"
#include "support/search_bench.h"

/* -- Odds ------------------------------------------------------------------ */

static void check_odds(regal_context *context, regal_policy_kind kind,
                       const uint64_t *key) {
  regal_policy_config config = small_policy(kind, 6);
  regal_encoding e = random_encoding(7, 30, 3);
  const regal_encoding *encoding = &e;
  regal_network_sizes sizes = {0};
  regal_network *network;
  regal_network_workspace *work;
  regal_network_draw draw;
  size_t genes = 0;
  for (uint32_t h = 0; h < config.head_count; h++)
    genes += regal_head_genes(&config.heads[h], &e);
  uint8_t *actions = calloc(regal_policy_actions(&config, &e), 1);
  uint8_t *again = calloc(regal_policy_actions(&config, &e), 1);
  regal_guide_odds *odds = calloc(genes, sizeof *odds);
  assert_true(actions && again && odds);
  assert_int_equal(regal_network_create(context, &config, 3, &network),
                   REGAL_OK);
  assert_int_equal(
      regal_guide_act(context, "test", network, &e, key, actions, odds),
      REGAL_OK);
  regal_network_add_sizes(&sizes, &e);
  assert_int_equal(
      regal_network_workspace_create(context, network, &sizes, &work),
      REGAL_OK);
  assert_int_equal(
      regal_network_forward(context, network, work, &encoding, 1, false),
      REGAL_OK);
  if (key)
    regal_network_sample(network, work, 0, *key, 1, again, &draw);
  else
    regal_network_greedy(network, work, 0, again, &draw);
  assert_memory_equal(actions, again, regal_policy_actions(&config, &e));
  double log_probability = 0, entropy = 0;
  for (size_t g = 0; g < genes; g++) {
    log_probability += log(odds[g].probability);
    entropy += odds[g].entropy;
  }
  assert_true(fabs(log_probability - draw.log_probability) < 1e-3);
  assert_true(fabs(entropy - draw.entropy) < 1e-3);
  assert_true(entropy > 10);
  regal_network_workspace_free(context, work);
  regal_network_free(context, network);
  free_encoding(&e);
  free(actions);
  free(again);
  free(odds);
}

static void test_odds_add_up(void **state) {
  search_bench *b = *state;
  uint64_t key = 5;
  for (int kind = REGAL_POLICY_GNN; kind <= REGAL_POLICY_BLIND; kind++) {
    check_odds(b->context, (regal_policy_kind)kind, NULL);
    check_odds(b->context, (regal_policy_kind)kind, &key);
  }
}

/* -- Summary and table ----------------------------------------------------- */

static regal_actions *create(search_bench *b) {
  regal_actions *actions;
  if (regal_actions_create(b->context, b->problem, &b->options, &actions))
    fail_msg("%s", regal_error(b->context));
  return actions;
}

/* The rule gives one half of the ops one action and the other half another. */
static void test_rule(void **state) {
  search_bench *b = *state;
  use_synthetic(b, 60, 3);
  set_option(b, "policy", "rule");
  regal_actions *actions = create(b);
  assert_string_equal(regal_actions_policy(actions), "rule");
  assert_string_equal(regal_actions_kind(actions), "rule");
  assert_int_equal(regal_actions_evaluations(actions), 400);
  assert_int_equal(regal_actions_class_count(actions), 1);
  regal_action_class class = regal_actions_class(actions, 0);
  assert_string_equal(class.name, "priority");
  assert_int_equal(class.items, b->problem->ops);
  assert_int_equal(class.genes, 1);
  assert_int_equal(class.different, 2);
  double half = (double)(b->problem->ops / 2) / b->problem->ops;
  double entropy = -half * log(half) - (1 - half) * log(1 - half);
  assert_true(fabs(class.chosen_entropy - entropy) < 1e-9);
  assert_true(class.policy_entropy == 0);
  regal_actions_free(actions);
}

static char *read_all(const char *path) {
  char *text = calloc(1 << 20, 1);
  FILE *file = fopen(path, "r");
  assert_non_null(text);
  assert_non_null(file);
  assert_true(fread(text, 1, (1 << 20) - 1, file) > 0);
  fclose(file);
  return text;
}

/* A line for each gene, whose levels mean its Beta. */
static void test_table(void **state) {
  search_bench *b = *state;
  char path[] = "/tmp/regal_actions_XXXXXX";
  int file = mkstemp(path);
  assert_true(file >= 0);
  close(file);
  use_synthetic(b, 60, 3);
  set_option(b, "policy", "synthetic_runtime");
  regal_actions *actions = create(b);
  assert_int_equal(regal_actions_save(b->context, actions, path), REGAL_OK);
  size_t genes = 0, lines = 0;
  for (size_t i = 0; i < regal_actions_class_count(actions); i++) {
    regal_action_class class = regal_actions_class(actions, i);
    genes += class.items * class.genes;
    assert_true(class.chosen_entropy <= log((double)class.different) + 1e-9);
    assert_true(class.different <= class.items);
  }
  char *text = read_all(path), *line = strchr(text, '\n') + 1;
  assert_memory_equal(text, "class,op,name,port,device,mean_level,", 37);
  double most = 0;
  for (; *line; line = strchr(line, '\n') + 1, lines++) {
    char class[24], rest[200];
    assert_int_equal(sscanf(line, "%23[^,],%199[^\n]", class, rest), 2);
    if (strcmp(class, "priority") != 0)
      continue;
    unsigned op, mean_level, variance_level;
    double mean, variance, alpha, beta, probability, entropy, memory;
    assert_int_equal(sscanf(rest,
                            "%u,%*[^,],,,%u,%u,,%lf,%lf,%lf,%lf,,%lf,%lf,%lf",
                            &op, &mean_level, &variance_level, &mean, &variance,
                            &alpha, &beta, &probability, &entropy, &memory),
                     10);
    assert_true(fabs(alpha / (alpha + beta) - mean) < 1e-4);
    assert_true(fabs(mean * (1 - mean) / (alpha + beta + 1) - variance) < 1e-4);
    assert_true(probability > 0 && probability <= 1.0001 && entropy >= 0);
    most = fmax(most, memory);
  }
  assert_int_equal(lines, genes);
  assert_true(most == 1);
  free(text);
  regal_actions_free(actions);
  unlink(path);
}

/* Sampled actions follow the seed, greedy ones differ from them. */
static void test_sampled(void **state) {
  search_bench *b = *state;
  regal_action_class classes[3];
  use_synthetic(b, 60, 3);
  set_option(b, "policy", "synthetic_memory");
  problem_end(b);
  set_option(b, "objective", "memory");
  use_synthetic(b, 60, 3);
  set_option(b, "actions", "sample");
  for (int i = 0; i < 3; i++) {
    b->options.seed = i == 2 ? 9 : 4;
    regal_actions *actions = create(b);
    classes[i] = regal_actions_class(actions, 0);
    regal_actions_free(actions);
  }
  assert_true(classes[0].chosen_entropy == classes[1].chosen_entropy);
}

static void test_bad_policy(void **state) {
  search_bench *b = *state;
  regal_actions *actions;
  use_synthetic(b, 20, 3);
  set_option(b, "policy", "synthetic_memory");
  assert_int_equal(
      regal_actions_create(b->context, b->problem, &b->options, &actions),
      REGAL_BAD_INPUT);
}

static void test_allocation_fails(void **state) {
  search_bench *b = *state;
  for (size_t n = 1;; n++) {
    failing_allocator memory = {0};
    regal_allocator allocator = failing_allocator_of(&memory);
    regal_context *context;
    regal_actions *actions = NULL;
    use_synthetic(b, 20, 3);
    set_option(b, "policy", "rule");
    assert_int_equal(regal_context_create(&context, &allocator), REGAL_OK);
    memory.fail_at = memory.allocations + n;
    regal_status status =
        regal_actions_create(context, b->problem, &b->options, &actions);
    bool failed = memory.failed != 0;
    assert_int_equal(status, failed ? REGAL_NO_MEMORY : REGAL_OK);
    regal_actions_free(actions);
    regal_context_free(context);
    assert_int_equal(memory.blocks, 0);
    if (!failed)
      break;
    assert_true(n < 100);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      SEARCH_TEST(test_odds_add_up), SEARCH_TEST(test_rule),
      SEARCH_TEST(test_table),       SEARCH_TEST(test_sampled),
      SEARCH_TEST(test_bad_policy),  SEARCH_TEST(test_allocation_fails),
  };
  return cmocka_run_group_tests_name("actions", tests, NULL, NULL);
}
