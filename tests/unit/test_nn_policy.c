/* SPDX-License-Identifier: Apache-2.0 */
/* Whole policies in double precision: every parameter's gradient against
 * central differences of the loss, for every kind, update and aggregation. */
#include "support/double_network.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "support/random_encoding.h"

#define GRAPHS 2
#define SAMPLES 3
#define STEP 1e-6

typedef struct bench {
  regal_context *context;
  regal_network *network;
  regal_network_workspace *work;
  regal_encoding graphs[GRAPHS];
  const regal_encoding *encodings[GRAPHS];
  uint8_t *actions[GRAPHS];
  const uint8_t *taken[GRAPHS];
  regal_real advantages[GRAPHS * SAMPLES], targets[GRAPHS];
  regal_network_terms terms;
} bench;

static void forward(bench *b) {
  assert_int_equal(regal_network_forward(b->context, b->network, b->work,
                                         b->encodings, GRAPHS, true),
                   REGAL_OK);
}

/* Weights away from the start, where output layers are nearly zero. */
static void shake(regal_network *network) {
  regal_random random = {regal_random_key(5, REGAL_PURPOSE_TEST, 0, 0), 0};
  for (size_t i = 0; i < network->parameter_count; i++)
    network->parameters[i] += regal_random_unit(&random) - 0.5;
}

static void start(bench *b, const regal_policy_config *config) {
  static const uint32_t nodes[GRAPHS] = {6, 3};
  regal_network_sizes sizes = {0};
  memset(b, 0, sizeof *b);
  assert_int_equal(regal_context_create(&b->context, NULL), REGAL_OK);
  assert_int_equal(regal_network_create(b->context, config, 3, &b->network),
                   REGAL_OK);
  shake(b->network);
  for (int g = 0; g < GRAPHS; g++) {
    b->graphs[g] = random_encoding(1 + g, nodes[g], 2);
    b->encodings[g] = &b->graphs[g];
    regal_network_add_sizes(&sizes, &b->graphs[g]);
    b->targets[g] = 0.5 - g;
  }
  assert_int_equal(
      regal_network_workspace_create(b->context, b->network, &sizes, &b->work),
      REGAL_OK);
  forward(b);
  for (int g = 0; g < GRAPHS; g++) {
    size_t count = regal_policy_actions(config, &b->graphs[g]);
    b->taken[g] = b->actions[g] = calloc(SAMPLES, count);
    regal_network_sample(b->network, b->work, g, 7 + g, SAMPLES, b->actions[g],
                         NULL);
  }
  for (int i = 0; i < GRAPHS * SAMPLES; i++)
    b->advantages[i] = 1.5 - i * 0.7;
  b->terms = (regal_network_terms){.samples = SAMPLES,
                                   .actions = b->taken,
                                   .advantages = b->advantages,
                                   .entropy_weight = 0.3,
                                   .baseline_targets = b->targets,
                                   .baseline_weight = 0.7};
}

static void finish(bench *b) {
  regal_network_workspace_free(b->context, b->work);
  regal_network_free(b->context, b->network);
  for (int g = 0; g < GRAPHS; g++) {
    free_encoding(&b->graphs[g]);
    free(b->actions[g]);
  }
  regal_context_free(b->context);
}

static double loss_at(bench *b, size_t i, double value, regal_real *unused) {
  regal_network_loss loss;
  regal_real kept = b->network->parameters[i];
  b->network->parameters[i] = value;
  forward(b);
  regal_network_backward(b->network, b->work, &b->terms, unused, &loss);
  b->network->parameters[i] = kept;
  return loss.policy + loss.entropy + loss.baseline;
}

/* `alive`: every block must get some gradient, as it does unless by chance all
 * of a layer's units are off. */
static void check_gradient(const regal_policy_config *config, bool alive) {
  bench b;
  start(&b, config);
  size_t count = b.network->parameter_count;
  regal_real *gradient = calloc(count, sizeof *gradient);
  regal_real *unused = calloc(count, sizeof *unused);
  assert_true(gradient && unused);
  forward(&b);
  regal_network_backward(b.network, b.work, &b.terms, gradient, NULL);
  double most = 0;
  for (size_t i = 0; i < count; i++) {
    double at = b.network->parameters[i];
    double slope = (loss_at(&b, i, at + STEP, unused) -
                    loss_at(&b, i, at - STEP, unused)) /
                   (2 * STEP);
    double error = fabs(slope - gradient[i]) / (1 + fabs(slope));
    if (error > 1e-7)
      fprintf(stderr, "kind %d update %d parameter %zu: %.9g, not %.9g\n",
              config->kind, config->update, i, gradient[i], slope);
    most = fmax(most, error);
  }
  assert_true(most < 1e-7);
  for (uint32_t i = 0; alive && i < b.network->block_count; i++) {
    const regal_network_block *block = &b.network->blocks[i];
    double sum = 0;
    for (size_t j = 0; j < (size_t)block->rows * block->columns; j++)
      sum += fabs(gradient[block->at + j]);
    if (sum == 0)
      fprintf(stderr, "kind %d: %s gets no gradient\n", config->kind,
              block->name);
    assert_true(sum > 0);
  }
  free(gradient);
  free(unused);
  finish(&b);
}

static void test_every_kind(void **state) {
  (void)state;
  for (int kind = REGAL_POLICY_GNN; kind <= REGAL_POLICY_BLIND; kind++) {
    regal_policy_config config = small_policy((regal_policy_kind)kind, 4);
    check_gradient(&config, true);
  }
}

static void test_every_update(void **state) {
  (void)state;
  for (int update = REGAL_UPDATE_RESIDUAL; update <= REGAL_UPDATE_GRU; update++)
    for (int mean = 0; mean < 2; mean++) {
      regal_policy_config config = small_policy(REGAL_POLICY_GNN, 5);
      config.update = (regal_node_update)update;
      config.mean_aggregation = mean;
      config.rounds = 3;
      check_gradient(&config, false);
    }
}

/* No rounds, and no head that reads edges. */
static void test_no_rounds(void **state) {
  (void)state;
  for (int heads = 2; heads <= 4; heads++)
    for (int kind = REGAL_POLICY_GNN; kind < REGAL_POLICY_BLIND; kind++) {
      regal_policy_config config = small_policy((regal_policy_kind)kind, 8);
      config.rounds = 0;
      config.head_count = heads;
      check_gradient(&config, false);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_kind),
      cmocka_unit_test(test_every_update),
      cmocka_unit_test(test_no_rounds),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
