/* SPDX-License-Identifier: Apache-2.0 */
/* Networks as their callers see them: first weights, blocks, samples, greedy
 * actions, batches cut in pieces, memory that runs out, misuse. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "policy/network.h"
#include "support/failing_allocator.h"
#include "support/random_encoding.h"

#define GRAPHS 3
#define SAMPLES 4

typedef struct bench {
  regal_context *context;
  regal_network *network;
  regal_network_workspace *work;
  regal_encoding graphs[GRAPHS];
  const regal_encoding *encodings[GRAPHS];
  uint8_t *actions[GRAPHS];
  const uint8_t *taken[GRAPHS];
  float advantages[GRAPHS * SAMPLES], targets[GRAPHS];
} bench;

static void start(bench *b, const regal_policy_config *config) {
  static const uint32_t nodes[GRAPHS] = {9, 1, 17};
  regal_network_sizes sizes = {0};
  assert_int_equal(regal_context_create(&b->context, NULL), REGAL_OK);
  assert_int_equal(regal_network_create(b->context, config, 3, &b->network),
                   REGAL_OK);
  for (size_t i = 0; i < b->network->parameter_count; i++)
    b->network->parameters[i] +=
        (float)(regal_random_at(11, i) >> 40) * 0x1p-24f - 0.5f;
  for (int g = 0; g < GRAPHS; g++) {
    b->graphs[g] = random_encoding(40 + g, nodes[g], 3);
    b->encodings[g] = &b->graphs[g];
    regal_network_add_sizes(&sizes, &b->graphs[g]);
    b->taken[g] = b->actions[g] =
        calloc(SAMPLES, regal_policy_actions(config, &b->graphs[g]) + 1);
    b->targets[g] = (float)g;
  }
  for (int i = 0; i < GRAPHS * SAMPLES; i++)
    b->advantages[i] = 0.3f * (float)(i % 5) - 0.5f;
  assert_int_equal(
      regal_network_workspace_create(b->context, b->network, &sizes, &b->work),
      REGAL_OK);
}

static void finish(bench *b) {
  regal_network_workspace_free(b->context, b->work);
  regal_network_free(b->context, b->network);
  regal_context_free(b->context);
  for (int g = 0; g < GRAPHS; g++) {
    free_encoding(&b->graphs[g]);
    free(b->actions[g]);
  }
}

static void forward(bench *b, int first, int count) {
  assert_int_equal(regal_network_forward(b->context, b->network, b->work,
                                         b->encodings + first, (uint32_t)count,
                                         true),
                   REGAL_OK);
}

/* -- The parameters -------------------------------------------------------- */

static void test_blocks_tile_the_parameters(void **state) {
  (void)state;
  for (int kind = REGAL_POLICY_GNN; kind <= REGAL_POLICY_BLIND; kind++) {
    regal_policy_config config = small_policy((regal_policy_kind)kind, 6);
    bench b;
    start(&b, &config);
    size_t at = 0;
    for (uint32_t i = 0; i < b.network->block_count; i++) {
      const regal_network_block *block = &b.network->blocks[i];
      assert_int_equal(block->at, at);
      at += (size_t)block->rows * block->columns;
      bool baseline = !strncmp(block->name, "baseline/", 9);
      assert_int_equal(baseline, block->at >= b.network->policy_count);
      for (uint32_t j = 0; j < i; j++)
        assert_string_not_equal(block->name, b.network->blocks[j].name);
    }
    assert_int_equal(at, b.network->parameter_count);
    finish(&b);
  }
}

static const regal_network_block *find_block(const regal_network *network,
                                             const char *name) {
  for (uint32_t i = 0; i < network->block_count; i++)
    if (!strcmp(network->blocks[i].name, name))
      return &network->blocks[i];
  fail_msg("no block %s", name);
  return NULL;
}

static void test_first_weights(void **state) {
  regal_policy_config config = small_policy(REGAL_POLICY_GNN, 32);
  regal_context *context;
  regal_network *network, *again, *other;
  (void)state;
  config.neutral_bias = 3;
  config.heads[0] =
      (regal_policy_head){"order", REGAL_HEAD_NODE, 1, 16, 16, 0, false};
  config.heads[1] =
      (regal_policy_head){"place", REGAL_HEAD_NODE, 2, 2, 2, 0, false};
  regal_context_create(&context, NULL);
  regal_network_create(context, &config, 1, &network);
  regal_network_create(context, &config, 1, &again);
  regal_network_create(context, &config, 2, &other);
  size_t bytes = network->parameter_count * sizeof(float);
  assert_memory_equal(network->parameters, again->parameters, bytes);
  assert_memory_not_equal(network->parameters, other->parameters, bytes);
  /* Means 8/17 and 9/17 are equally near 1/2; the variance's 6/17 is nearest
   * 1/3. Of two levels, 1/3 is exact, and the means share again. */
  const float *order =
      network->parameters + find_block(network, "policy/head_order/1/bias")->at;
  for (int i = 0; i < 32; i++)
    assert_true(order[i] == (i == 7 || i == 8 || i == 16 + 5 ? 3 : 0));
  const float *place =
      network->parameters + find_block(network, "policy/head_place/1/bias")->at;
  for (int i = 0; i < 8; i++)
    assert_true(place[i] == (i % 4 < 3 ? 3 : 0));
  const regal_network_block *out =
      find_block(network, "policy/head_order/1/weight");
  for (size_t i = 0; i < (size_t)out->rows * out->columns; i++)
    assert_true(fabsf(network->parameters[out->at + i]) < 0.01f);
  regal_network_free(context, network);
  regal_network_free(context, again);
  regal_network_free(context, other);
  regal_context_free(context);
}

/* -- Actions --------------------------------------------------------------- */

/* Levels in range, the same from the same key, others from another; and what
 * sampling says of their probability is what backward says. */
static void check_samples(bench *b, int g) {
  const regal_policy_config *config = &b->network->config;
  size_t count = regal_policy_actions(config, &b->graphs[g]);
  regal_network_draw draws[SAMPLES];
  uint8_t *again = calloc(SAMPLES, count + 1), *at = b->actions[g];
  regal_network_sample(b->network, b->work, g, 5, SAMPLES, at, draws);
  regal_network_sample(b->network, b->work, g, 5, 2, again, NULL);
  assert_memory_equal(again, at, 2 * count);
  assert_memory_not_equal(at, at + count, count);
  regal_network_sample(b->network, b->work, g, 6, 1, again, NULL);
  assert_memory_not_equal(again, at, count);
  for (uint32_t h = 0; h < config->head_count; h++) {
    const regal_policy_head *head = &config->heads[h];
    uint32_t levels[] = {head->mean_levels, head->variance_levels,
                         head->bias_levels};
    size_t items = head->domain == REGAL_HEAD_NODE     ? b->graphs[g].nodes
                   : head->domain == REGAL_HEAD_TENSOR ? b->graphs[g].tensors
                                                       : 1;
    uint32_t parts = head->bias_levels ? 3 : 2;
    for (size_t i = 0; i < items * head->genes * parts; i++)
      assert_true(*at++ < levels[i % parts]);
  }
  assert_ptr_equal(at, b->actions[g] + count);
  for (int s = 0; s < SAMPLES; s++)
    assert_true(draws[s].log_probability < 0 && draws[s].entropy > 0);
  free(again);
}

static double sampled_score(bench *b, const regal_network_draw *draws) {
  double sum = 0;
  for (int i = 0; i < GRAPHS * SAMPLES; i++)
    sum -= b->advantages[i] * draws[i].log_probability / (GRAPHS * SAMPLES);
  return sum;
}

static void test_samples(void **state) {
  (void)state;
  for (int kind = REGAL_POLICY_GNN; kind <= REGAL_POLICY_BLIND; kind++) {
    regal_policy_config config = small_policy((regal_policy_kind)kind, 6);
    bench b;
    regal_network_draw draws[GRAPHS * SAMPLES];
    regal_network_loss loss;
    start(&b, &config);
    forward(&b, 0, GRAPHS);
    check_samples(&b, 0);
    for (int g = 0; g < GRAPHS; g++)
      regal_network_sample(b.network, b.work, g, 9, SAMPLES, b.actions[g],
                           draws + g * SAMPLES);
    regal_network_terms terms = {
        .samples = SAMPLES, .actions = b.taken, .advantages = b.advantages};
    float *gradient = calloc(b.network->parameter_count, sizeof *gradient);
    regal_network_backward(b.network, b.work, &terms, gradient, &loss);
    assert_true(fabs(loss.policy - sampled_score(&b, draws)) < 1e-5);
    free(gradient);
    finish(&b);
  }
}

/* Drawn as often as their probability says. */
static void test_frequencies(void **state) {
  enum { MANY = 20000 };
  regal_policy_config config = small_policy(REGAL_POLICY_BLIND, 4);
  regal_context *context;
  regal_network *network;
  regal_network_workspace *work;
  regal_network_sizes sizes = {0};
  regal_encoding graph = random_encoding(1, 1, 0);
  const regal_encoding *encoding = &graph;
  static uint8_t actions[2 * MANY];
  int seen[4] = {0};
  (void)state;
  config.head_count = 1;
  config.heads[0] =
      (regal_policy_head){"one", REGAL_HEAD_GRAPH, 1, 4, 2, 0, false};
  regal_network_add_sizes(&sizes, &graph);
  regal_context_create(&context, NULL);
  regal_network_create(context, &config, 1, &network);
  regal_network_workspace_create(context, network, &sizes, &work);
  const float logits[] = {0, -50, logf(2), logf(5), 0, -50};
  memcpy(network->parameters, logits, sizeof logits);
  regal_network_forward(context, network, work, &encoding, 1, false);
  regal_network_sample(network, work, 0, 77, MANY, actions, NULL);
  for (int i = 0; i < MANY; i++)
    seen[actions[2 * i]]++;
  assert_int_equal(seen[1], 0);
  assert_true(abs(seen[0] - MANY / 8) < 250);
  assert_true(abs(seen[2] - MANY / 4) < 300);
  regal_network_draw draw;
  regal_network_greedy(network, work, 0, actions, &draw);
  assert_int_equal(actions[0], 3);
  assert_true(fabs(draw.log_probability - log(5 / 8.0)) < 1e-6);
  regal_network_workspace_free(context, work);
  regal_network_free(context, network);
  regal_context_free(context);
  free_encoding(&graph);
}

/* -- Batches --------------------------------------------------------------- */

static void gradient_of(bench *b, int first, int count, float *gradient) {
  forward(b, first, count);
  for (int g = 0; g < count; g++)
    regal_network_sample(b->network, b->work, g, 100 + first + g, SAMPLES,
                         b->actions[first + g], NULL);
  regal_network_terms terms = {.samples = SAMPLES,
                               .actions = b->taken + first,
                               .advantages = b->advantages + first * SAMPLES,
                               .entropy_weight = 0.1f,
                               .baseline_targets = b->targets + first,
                               .baseline_weight = 0.2f,
                               .batch_graphs = GRAPHS};
  regal_network_backward(b->network, b->work, &terms, gradient, NULL);
}

/* The same bits in one call, in two, and one graph at a time. */
static void test_batches_can_be_cut(void **state) {
  (void)state;
  for (int kind = REGAL_POLICY_GNN; kind <= REGAL_POLICY_BLIND; kind++) {
    regal_policy_config config = small_policy((regal_policy_kind)kind, 6);
    bench b;
    start(&b, &config);
    size_t count = b.network->parameter_count, bytes = count * sizeof(float);
    float *whole = calloc(3 * count, sizeof *whole);
    float *halves = whole + count, *singles = halves + count;
    gradient_of(&b, 0, 3, whole);
    gradient_of(&b, 0, 2, halves);
    gradient_of(&b, 2, 1, halves);
    for (int g = 0; g < GRAPHS; g++)
      gradient_of(&b, g, 1, singles);
    assert_memory_equal(whole, halves, bytes);
    assert_memory_equal(whole, singles, bytes);
    free(whole);
    finish(&b);
  }
}

/* -- What can go wrong ----------------------------------------------------- */

static void test_memory_runs_out(void **state) {
  regal_policy_config config = small_policy(REGAL_POLICY_EXPERTS, 4);
  (void)state;
  for (size_t n = 1;; n++) {
    failing_allocator memory = {.fail_at = n};
    regal_allocator allocator = failing_allocator_of(&memory);
    regal_network_sizes sizes = {.nodes = 3, .edges = 3, .graphs = 1};
    regal_context *context = NULL;
    regal_network *network = NULL;
    regal_network_workspace *work = NULL;
    regal_status status = regal_context_create(&context, &allocator);
    if (status == REGAL_OK)
      status = regal_network_create(context, &config, 1, &network);
    if (status == REGAL_OK)
      status = regal_network_workspace_create(context, network, &sizes, &work);
    regal_network_workspace_free(context, work);
    regal_network_free(context, network);
    regal_context_free(context);
    assert_int_equal(memory.blocks, 0);
    if (!memory.failed) {
      assert_true(n > 6);
      break;
    }
    assert_int_equal(status, REGAL_NO_MEMORY);
  }
}

static void test_misuse(void **state) {
  regal_policy_config config = small_policy(REGAL_POLICY_GNN, 4);
  bench b;
  (void)state;
  start(&b, &config);
  const regal_encoding *twice[] = {b.encodings[2], b.encodings[2]};
  char wanted[256];
  uint32_t nodes = 0, edges = 0, tensors = 0;
  for (int g = 0; g < GRAPHS; g++) {
    nodes += b.graphs[g].nodes;
    edges += b.graphs[g].edges;
    tensors += b.graphs[g].tensors;
  }
  assert_int_equal(
      regal_network_forward(b.context, b.network, b.work, twice, 2, false),
      REGAL_MISUSE);
  snprintf(wanted, sizeof wanted,
           "2 graphs of %u nodes, %u edges and %u tensors in a workspace for "
           "3, %u, %u and %u",
           2 * b.graphs[2].nodes, 2 * b.graphs[2].edges,
           2 * b.graphs[2].tensors, nodes, edges, tensors);
  assert_string_equal(regal_error(b.context), wanted);
  b.graphs[0].node_features++;
  assert_int_equal(regal_network_forward(b.context, b.network, b.work,
                                         b.encodings, 1, false),
                   REGAL_MISUSE);
  assert_string_equal(regal_error(b.context),
                      "a graph has 12 node and 3 edge features, the policy "
                      "reads 11 and 3");
  finish(&b);
}

static void check_refused(regal_context *context,
                          const regal_policy_config *config,
                          const char *message) {
  regal_network *network;
  assert_int_equal(regal_network_create(context, config, 1, &network),
                   REGAL_BAD_INPUT);
  assert_null(network);
  assert_string_equal(regal_error(context), message);
}

static void test_refused_configurations(void **state) {
  const regal_policy_config good = small_policy(REGAL_POLICY_EXPERTS, 4);
  regal_policy_config bad;
  regal_context *context;
  (void)state;
  regal_context_create(&context, NULL);
  bad = good;
  bad.width = 0;
  check_refused(context, &bad, "policy: found width 0, expected 1 to 1024");
  bad = good;
  bad.kind = (regal_policy_kind)9;
  check_refused(context, &bad, "policy: found kind 9, expected 0 to 4");
  bad = good;
  bad.edge_features = 0;
  check_refused(context, &bad,
                "policy: found edge features 0, expected 1 to 4096");
  bad = good;
  bad.experts = 17;
  check_refused(context, &bad, "policy: found experts 17, expected 1 to 16");
  bad = good;
  bad.head_count = 9;
  check_refused(context, &bad, "policy: found heads 9, expected 1 to 8");
  bad = good;
  bad.heads[1].mean_levels = 0;
  check_refused(context, &bad,
                "policy: found mean levels 0, expected 2 to 255");
  bad = good;
  bad.heads[1].variance_levels = 256;
  check_refused(context, &bad,
                "policy: found variance levels 256, expected 2 to 255");
  bad = good;
  bad.heads[1].domain = (regal_head_domain)7;
  check_refused(context, &bad, "policy: found domain 7, expected 0 to 2");
  bad = good;
  bad.heads[3].gene_class[0] = 0;
  check_refused(context, &bad,
                "policy: found a head without a name, expected a gene class");
  regal_context_free(context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_blocks_tile_the_parameters),
      cmocka_unit_test(test_first_weights),
      cmocka_unit_test(test_samples),
      cmocka_unit_test(test_frequencies),
      cmocka_unit_test(test_batches_can_be_cut),
      cmocka_unit_test(test_memory_runs_out),
      cmocka_unit_test(test_misuse),
      cmocka_unit_test(test_refused_configurations),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
