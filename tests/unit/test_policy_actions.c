/* SPDX-License-Identifier: Apache-2.0 */
/* From levels to Betas, from actions to proposals, and the rules' actions. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/toy_graph.h"

#include "learn/guide/propose.h"
#include "policy/actions.h"
#include "policy/features.h"
#include "policy/rule.h"

#define CLOSE(found, expected) assert_true(fabs((found) - (expected)) < 1e-12)

/* The paper's formulas as they stand there. */
static void test_paper_formulas(void **state) {
  (void)state;
  regal_policy_head head = {.mean_levels = 16, .variance_levels = 5};
  for (uint32_t m = 0; m < 16; m++)
    for (uint32_t v = 0; v < 5; v++) {
      double mean = (m + 1) / 17.0;
      double variance = mean * (1 - mean) * (v + 1) / 6.0;
      double b = mean * (1 - mean) * (1 - mean) / variance - 1 + mean;
      double a = b * mean / (1 - mean);
      regal_action_beta beta = regal_action_dequantise(&head, m, v);
      CLOSE(beta.alpha, a);
      CLOSE(beta.beta, b);
      /* and that they have the mean and the variance that they are named by */
      double sum = beta.alpha + beta.beta;
      CLOSE(beta.alpha / sum, mean);
      CLOSE(beta.alpha * beta.beta / (sum * sum * (sum + 1)), variance);
    }
}

static void test_known_levels(void **state) {
  (void)state;
  regal_policy_head head = {
      .mean_levels = 1, .variance_levels = 2, .bias_levels = 4};
  regal_action_beta uniform = regal_action_dequantise(&head, 0, 0);
  CLOSE(uniform.alpha, 1);
  CLOSE(uniform.beta, 1);
  head.mean_levels = head.variance_levels = 16;
  regal_action_beta last = regal_action_dequantise(&head, 15, 15);
  CLOSE(last.alpha, 1 / 17.0); /* nearly Bernoulli */
  CLOSE(last.beta, 1 / 272.0);
  const double biases[] = {0.625, 0.75, 0.875, 1};
  for (uint32_t i = 0; i < 4; i++)
    CLOSE(regal_action_bias(&head, i), biases[i]);
}

/* The Betas of 256 x 256 levels can be made: at the corners a table still has
 * its mean. */
static void test_extreme_levels(void **state) {
  (void)state;
  regal_policy_head head = {.mean_levels = 256, .variance_levels = 256};
  static const uint32_t levels[] = {0, 1, 127, 254, 255};
  regal_gene table[REGAL_BETA_QUANTILES];
  for (uint32_t i = 0; i < 25; i++) {
    uint32_t m = levels[i % 5];
    regal_action_beta beta = regal_action_dequantise(&head, m, levels[i / 5]);
    regal_beta_table(beta.alpha, beta.beta, table);
    double sum = 0;
    for (uint32_t k = 0; k < REGAL_BETA_QUANTILES; k++) {
      assert_true(table[k] <= REGAL_GENE_LARGEST);
      assert_true(!k || table[k - 1] <= table[k]);
      sum += table[k] * 0x1p-24 / REGAL_BETA_QUANTILES;
    }
    assert_true(fabs(sum - (m + 1) / 257.0) < 1e-3);
  }
}

/* -- Proposals ------------------------------------------------------------- */

static const toy_op diamond[] = {
    {.run_ns = 10, .bytes = 100},
    {.run_ns = 40, .bytes = 20, .reads = "a"},
    {.run_ns = 20, .bytes = 50, .reads = "a"},
    {.run_ns = 5, .bytes = 10, .reads = "bc"},
};

typedef struct bench {
  regal_context *context;
  regal_graph *graph;
  regal_problem *problem;
  regal_encoding *encoding;
} bench;

static bench open_bench(regal_context *context, uint32_t devices) {
  bench b = {.context = context, .graph = TOY_GRAPH(context, diamond)};
  b.problem = toy_problem(context, b.graph, toy_machine(context, devices),
                          REGAL_RUNTIME);
  regal_feature_list all = regal_features_of(REGAL_FEATURES_PAPER);
  assert_int_equal(regal_encode_problem(
                       context, b.problem, &all, b.problem->devices,
                       &(regal_feature_runs){NULL, NULL, NULL}, &b.encoding),
                   REGAL_OK);
  return b;
}

static void close_bench(bench *b) {
  regal_encoding_free(b->context, b->encoding);
  regal_problem_free(b->problem);
  regal_graph_free(b->graph);
}

static void add_head(bench *b, regal_policy_config *config, const char *class,
                     uint32_t mean, uint32_t variance, uint32_t bias) {
  if (regal_config_add_head(b->context, regal_decoder_find("paper"), class,
                            mean, variance, bias, config))
    fail_msg("%s", regal_error(b->context));
}

static void test_heads(void **state) {
  bench b = open_bench(*state, 3);
  const regal_decoder *paper = regal_decoder_find("paper");
  regal_policy_config config = {0};
  regal_config_for(b.problem, paper, &config);
  assert_int_equal(config.node_features, 12);
  assert_int_equal(config.edge_features, 3);
  assert_int_equal(config.devices, 3);
  assert_string_equal(config.decoder, "paper");
  add_head(&b, &config, "affinity", 2, 2, 0);
  add_head(&b, &config, "priority", 16, 16, 8);
  add_head(&b, &config, "transfer", 4, 4, 0);
  assert_int_equal(config.heads[0].genes, 3);
  assert_int_equal(config.heads[0].domain, REGAL_HEAD_NODE);
  assert_int_equal(config.heads[1].genes, 1);
  assert_int_equal(config.heads[2].genes, 3);
  assert_int_equal(config.heads[2].domain, REGAL_HEAD_TENSOR);
  assert_int_equal(regal_policy_actions(&config, b.encoding),
                   4 * 3 * 2 + 4 * 3 + 4 * 3 * 2);
  assert_int_equal(regal_config_add_head(b.context, regal_decoder_find("clock"),
                                         "blend", 4, 4, 0, &config),
                   REGAL_OK);
  assert_int_equal(config.heads[3].domain, REGAL_HEAD_GRAPH);
  assert_int_equal(
      regal_config_add_head(b.context, paper, "blend", 4, 4, 0, &config),
      REGAL_BAD_INPUT);
  assert_string_equal(regal_error(b.context),
                      "decoder \"paper\" has no gene class \"blend\"");
  close_bench(&b);
}

/* The Beta that a gene of the proposal has. */
static const regal_beta_shape *shape_at(const regal_proposal *proposal,
                                        size_t class, size_t gene) {
  return &proposal
              ->shapes[proposal->table_of[class][gene] / REGAL_BETA_QUANTILES];
}

static void test_propose(void **state) {
  bench b = open_bench(*state, 2);
  regal_policy_config config = {0};
  regal_config_for(b.problem, regal_decoder_find("paper"), &config);
  add_head(&b, &config, "priority", 16, 3, 4);
  add_head(&b, &config, "affinity", 2, 2, 0);
  uint8_t actions[4 * 3 + 4 * 2 * 2];
  assert_int_equal(regal_policy_actions(&config, b.encoding), sizeof actions);
  for (uint32_t op = 0; op < 4; op++) {
    actions[3 * op] = (uint8_t)(5 * op);
    actions[3 * op + 1] = (uint8_t)(op % 3);
    actions[3 * op + 2] = (uint8_t)op;
    for (uint32_t a = 0; a < 2; a++) {
      actions[12 + 4 * op + 2 * a] = op % 2;
      actions[12 + 4 * op + 2 * a + 1] = (uint8_t)a;
    }
  }
  regal_beta_tables *beta_tables;
  regal_proposal *proposal;
  assert_int_equal(regal_beta_tables_create(b.context, &config, &beta_tables),
                   REGAL_OK);
  regal_beta_tables_fill_for(beta_tables, b.encoding, actions);
  if (regal_propose(b.context, beta_tables, b.problem, b.encoding, actions,
                    &proposal))
    fail_msg("%s", regal_error(b.context));
  regal_gene means[4 * 2 + 4 + 4 * 2], table[REGAL_BETA_QUANTILES];
  regal_proposal_means(proposal, means);
  for (uint32_t op = 0; op < 4; op++) {
    regal_action_beta beta =
        regal_action_dequantise(&config.heads[0], 5 * op, op % 3);
    const regal_beta_shape *shape = shape_at(proposal, 1, op);
    CLOSE(shape->a, beta.alpha);
    CLOSE(shape->b, beta.beta);
    regal_beta_table(shape->a, shape->b, table);
    assert_memory_equal(proposal->tables + proposal->table_of[1][op], table,
                        sizeof table);
    assert_int_equal(means[8 + op], lround((5 * op + 1) / 17.0 * 0x1p24));
    assert_int_equal(proposal->bias[8 + op], 0xa000 + 0x2000 * op - 1);
    for (uint32_t a = 0; a < 2; a++) {
      beta = regal_action_dequantise(&config.heads[1], op % 2, a);
      CLOSE(shape_at(proposal, 0, 2 * op + a)->a, beta.alpha);
      assert_int_equal(means[2 * op + a], lround((op % 2 + 1) / 3.0 * 0x1p24));
      assert_int_equal(proposal->bias[2 * op + a], 0);
      assert_int_equal(means[12 + 2 * op + a], 1 << 23);
    }
  }
  assert_null(proposal->table_of[2]); /* transfers are uniform */
  regal_proposal_free(proposal);
  regal_release(b.context, beta_tables);
  close_bench(&b);
}

/* Heads of the same levels share their tables; what is filled for all actions
 * equals what is filled for those that are used. */
static void test_beta_tables(void **state) {
  bench b = open_bench(*state, 2);
  regal_policy_config config = {0};
  regal_config_for(b.problem, regal_decoder_find("paper"), &config);
  add_head(&b, &config, "priority", 4, 3, 0);
  add_head(&b, &config, "affinity", 2, 2, 0);
  add_head(&b, &config, "transfer", 4, 3, 0);
  regal_beta_tables *all, *used;
  uint8_t actions[4 * 2 + 4 * 4 + 4 * 4] = {0};
  assert_int_equal(regal_beta_tables_create(b.context, &config, &all),
                   REGAL_OK);
  assert_int_equal(regal_beta_tables_create(b.context, &config, &used),
                   REGAL_OK);
  assert_int_equal(all->count, 16);
  assert_int_equal(all->first[2], all->first[0]);
  actions[0] = 3, actions[1] = 2, actions[8] = 1;
  regal_beta_tables_fill(all);
  regal_beta_tables_fill_for(used, b.encoding, actions);
  size_t made = 0;
  for (size_t i = 0; i < 16; i++) {
    assert_true(all->made[i]);
    made += used->made[i];
    if (used->made[i])
      assert_memory_equal(used->tables + i * REGAL_BETA_QUANTILES,
                          all->tables + i * REGAL_BETA_QUANTILES,
                          REGAL_BETA_QUANTILES * sizeof *all->tables);
  }
  assert_int_equal(made, 4); /* (0,0) and (3,2) of one, (0,0), (1,0) */
  regal_release(b.context, all);
  regal_release(b.context, used);
  close_bench(&b);
}

/* Actions for each of two devices are not used on three. */
static void test_other_devices(void **state) {
  bench two = open_bench(*state, 2), three = open_bench(*state, 3);
  regal_policy_config config = {0};
  regal_config_for(two.problem, regal_decoder_find("paper"), &config);
  add_head(&two, &config, "affinity", 2, 2, 0);
  regal_beta_tables *beta_tables;
  regal_proposal *proposal;
  uint8_t actions[4 * 2 * 2] = {0};
  regal_gene means[64];
  assert_int_equal(regal_beta_tables_create(two.context, &config, &beta_tables),
                   REGAL_OK);
  assert_int_equal(regal_propose(three.context, beta_tables, three.problem,
                                 three.encoding, actions, &proposal),
                   REGAL_OK);
  assert_in_range(proposal->genes, 12, 64);
  regal_proposal_means(proposal, means);
  for (int i = 0; i < 12; i++)
    assert_int_equal(means[i], (REGAL_GENE_LARGEST + 1) / 2);
  regal_proposal_free(proposal);
  regal_release(two.context, beta_tables);
  close_bench(&two);
  close_bench(&three);
}

static void test_wrong_graph(void **state) {
  bench b = open_bench(*state, 2);
  regal_policy_config config = {0};
  regal_config_for(b.problem, regal_decoder_find("paper"), &config);
  add_head(&b, &config, "affinity", 2, 2, 0);
  regal_beta_tables *beta_tables;
  regal_proposal *proposal;
  regal_encoding other = *b.encoding;
  uint8_t actions[3 * 2 * 2] = {0};
  other.nodes = 3;
  assert_int_equal(regal_beta_tables_create(b.context, &config, &beta_tables),
                   REGAL_OK);
  assert_int_equal(regal_propose(b.context, beta_tables, b.problem, &other,
                                 actions, &proposal),
                   REGAL_MISUSE);
  assert_string_equal(
      regal_error(b.context),
      "found 6 actions for genes of class \"affinity\", expected 8");
  regal_release(b.context, beta_tables);
  close_bench(&b);
}

/* -- Rules ----------------------------------------------------------------- */

static void check_rule(bench *b, regal_rule rule, const float *position,
                       const char *early) {
  uint8_t actions[8];
  regal_policy_config config;
  regal_encoding *encoding;
  regal_rule_config(rule, 2, REGAL_RUNTIME, "paper", &config);
  assert_int_equal(regal_encode_problem(
                       b->context, b->problem, &config.features, 2,
                       &(regal_feature_runs){NULL, position, NULL}, &encoding),
                   REGAL_OK);
  assert_int_equal(encoding->node_features, config.node_features);
  assert_int_equal(regal_rule_actions(b->context, rule, encoding, actions),
                   REGAL_OK);
  regal_encoding_free(b->context, encoding);
  for (uint32_t op = 0; op < 4; op++) {
    assert_int_equal(actions[2 * op], early[op] == '1' ? 15 : 0);
    assert_int_equal(actions[2 * op + 1], 15);
  }
}

static void test_rules(void **state) {
  bench b = open_bench(*state, 2);
  const float falling[] = {.75f, .5f, .25f, 0}, tied[] = {.5f, .5f, .1f, .5f};
  check_rule(&b, REGAL_RULE_ORDER, falling, "0011");
  check_rule(&b, REGAL_RULE_ORDER, tied, "1010");
  check_rule(&b, REGAL_RULE_DEPTH, NULL, "1100"); /* b and c tie: b is first */
  close_bench(&b);
}

/* Depth runs over control edges as well, also where they alternate. */
static void test_depth(void **state) {
  static const toy_op ops[] = {
      {.run_ns = 1},               /* a */
      {.run_ns = 1, .waits = "a"}, /* b, 1 */
      {.run_ns = 1, .reads = "b"}, /* c, 2 */
      {.run_ns = 1, .waits = "c"}, /* d, 3 */
      {.run_ns = 1},               /* e, 0 */
      {.run_ns = 1, .reads = "e"}, /* f, 1 */
  };
  regal_context *context = *state;
  regal_graph *graph = TOY_GRAPH(context, ops);
  regal_problem *problem =
      toy_problem(context, graph, toy_machine(context, 2), REGAL_RUNTIME);
  regal_encoding *encoding;
  uint8_t actions[12];
  regal_feature_list none = {0};
  assert_int_equal(
      regal_encode_problem(context, problem, &none, problem->devices,
                           &(regal_feature_runs){NULL, NULL, NULL}, &encoding),
      REGAL_OK);
  assert_int_equal(
      regal_rule_actions(context, REGAL_RULE_DEPTH, encoding, actions),
      REGAL_OK);
  for (uint32_t op = 0; op < 6; op++) {
    char name = regal_graph_name(graph, op)[0];
    assert_int_equal(actions[2 * op], strchr("abe", name) ? 15 : 0);
  }
  regal_encoding_free(context, encoding);
  regal_problem_free(problem);
  regal_graph_free(graph);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TOY_TEST(test_paper_formulas), TOY_TEST(test_known_levels),
      TOY_TEST(test_extreme_levels), TOY_TEST(test_heads),
      TOY_TEST(test_propose),        TOY_TEST(test_beta_tables),
      TOY_TEST(test_other_devices),  TOY_TEST(test_wrong_graph),
      TOY_TEST(test_rules),          TOY_TEST(test_depth),
  };
  return cmocka_run_group_tests_name("policy_actions", tests, NULL, NULL);
}
