/* SPDX-License-Identifier: Apache-2.0 */
/* Simultaneous perturbation: what is moved, and that the expectation of the
 * estimate is the gradient of a reward that is known. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "learn/perturb.h"
#include "support/random_encoding.h"

typedef struct bench {
  regal_context *context;
  regal_network *network;
} bench;

static bench open_bench(void) {
  regal_policy_config config = small_policy(REGAL_POLICY_GNN, 4);
  bench b;
  assert_int_equal(regal_context_create(&b.context, NULL), REGAL_OK);
  assert_int_equal(regal_network_create(b.context, &config, 3, &b.network),
                   REGAL_OK);
  return b;
}

static void close_bench(bench *b) {
  regal_network_free(b->context, b->network);
  regal_context_free(b->context);
}

static void test_pairs(void **state) {
  bench b = open_bench();
  (void)state;
  const regal_network *n = b.network;
  float *one = calloc(n->parameter_count, sizeof *one);
  float *two = calloc(n->parameter_count, sizeof *two);
  size_t above = 0;
  regal_perturb(n, 4, 6, 0.25, one);
  regal_perturb(n, 4, 7, 0.25, two);
  for (uint32_t k = 0; k < n->block_count; k++) {
    const regal_network_block *block = &n->blocks[k];
    bool moves = block->at < n->policy_count;
    double by = moves ? 0.25 / sqrt(block->rows) : 0;
    for (size_t i = 0; i < (size_t)block->rows * block->columns; i++) {
      size_t at = block->at + i;
      assert_float_equal(fabs(one[at] - n->parameters[at]), by, 1e-6);
      assert_float_equal(one[at] + two[at], 2 * n->parameters[at], 1e-5);
      above += one[at] > n->parameters[at];
    }
  }
  assert_in_range(above, n->policy_count * 4 / 10, n->policy_count * 6 / 10);
  free(one);
  free(two);
  close_bench(&b);
}

/* A linear reward: its gradient is known, and so is the noise. */
static void test_perturb_gradient(void **state) {
  enum { SAMPLES = 4, ROUNDS = 2000 };
  bench b = open_bench();
  (void)state;
  const regal_network *n = b.network;
  size_t count = n->parameter_count, checked = n->policy_count;
  float *moved = calloc(count, sizeof *moved);
  float *gradient = calloc(count, sizeof *gradient);
  for (uint64_t key = 0; key < ROUNDS; key++) {
    double rewards[SAMPLES] = {0};
    regal_real advantages[SAMPLES];
    for (uint32_t s = 0; s < SAMPLES; s++) {
      regal_perturb(n, key, s, 0.1, moved);
      rewards[s] = 2 * moved[0] - 3 * moved[checked - 1];
    }
    regal_pair_advantages(REGAL_ADVANTAGE_RAW, 1, SAMPLES, rewards, advantages);
    regal_perturb_gradient(n, key, SAMPLES, 0.1, advantages, 1.0 / SAMPLES,
                           gradient);
  }
  for (size_t i = 0; i < count; i++) {
    double slope = i == 0 ? 2 : i == checked - 1 ? -3 : 0;
    double found = -gradient[i] / ROUNDS;
    /* of a pair: |2| + |-3| over the scale at most; four pairs to a round */
    assert_float_equal(found, slope,
                       i < checked ? 5 * 13 / sqrt(2 * ROUNDS) : 0);
  }
  free(moved);
  free(gradient);
  close_bench(&b);
}

static void test_pair_advantages(void **state) {
  (void)state;
  const double rewards[] = {-3, -1, -2, -8, 0, 0, -4, -6};
  const double raw[] = {-1, 1, 3, -3, 0, 0, 1, -1};
  regal_real found[8];
  regal_pair_advantages(REGAL_ADVANTAGE_RAW, 2, 4, rewards, found);
  for (size_t i = 0; i < 8; i++)
    assert_float_equal(found[i], raw[i], 1e-6);
  regal_pair_advantages(REGAL_ADVANTAGE_BATCH, 2, 4, rewards, found);
  for (size_t i = 0; i < 8; i++)
    assert_float_equal(found[i], raw[i] / sqrt(22 / 8.0), 1e-6);
  regal_pair_advantages(REGAL_ADVANTAGE_GRAPH, 2, 4, rewards, found);
  for (size_t i = 0; i < 8; i++)
    assert_float_equal(found[i], raw[i] / sqrt(i < 4 ? 5 : 0.5), 1e-6);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_pairs),
      cmocka_unit_test(test_perturb_gradient),
      cmocka_unit_test(test_pair_advantages),
  };
  return cmocka_run_group_tests_name("perturb", tests, NULL, NULL);
}
