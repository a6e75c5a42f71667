/* SPDX-License-Identifier: Apache-2.0 */
/* Drafts: the short search, its features, and actions relative to it. */
#include <math.h>
#include <string.h>

#include "support/toy_graph.h"

#include "learn/guide/guide.h"
#include "policy/actions.h"
#include "policy/features.h"
#include "support/search_bench.h"

/* -- The run --------------------------------------------------------------- */

static regal_draft *run_draft(search_bench *b, uint64_t evaluations) {
  regal_draft *draft;
  search_begin(b);
  regal_brkga_settings settings = regal_brkga_settings_of(&b->options);
  settings.decoder = regal_decoder_find("paper");
  if (regal_draft_run(&b->search, &settings, evaluations, &draft))
    fail_msg("%s", regal_error(b->context));
  return draft;
}

/* The genes are those of the plan, and the search's own plan is untouched. */
static void check_draft(search_bench *b) {
  const regal_decoder *paper = regal_decoder_find("paper");
  size_t count = regal_decoder_genes(paper, b->problem);
  regal_draft *draft = run_draft(b, 400), *again = run_draft(b, 400);
  assert_int_equal(draft->evaluations, 400);
  assert_int_equal(b->search.budget.used, 400);
  assert_null(b->search.best);
  assert_memory_equal(draft->genes, again->genes, count * sizeof(float));
  regal_gene *genes = regal_alloc(b->context, count, sizeof *genes);
  paper->encode(b->problem, draft->plan, genes);
  for (size_t i = 0; i < count; i++)
    assert_true(fabs((double)draft->genes[i] - genes[i] * 0x1p-24) < 1e-6);
  assert_true(draft->genes[(size_t)b->problem->pinned * b->problem->devices] >
              0.9f);
  regal_release(b->context, genes);
  regal_draft_free(b->context, draft);
  regal_draft_free(b->context, again);
}

static void test_run(void **state) {
  search_bench *b = *state;
  use_synthetic(b, 40, 1);
  check_draft(b);
  set_option(b, "devices", "3");
  set_option(b, "objective", "memory");
  use_synthetic(b, 40, 2);
  check_draft(b);
}

/* Out of no evaluations there is no plan: zeros. */
static void test_no_evaluations(void **state) {
  search_bench *b = *state;
  use_synthetic(b, 10, 1);
  regal_draft *draft = run_draft(b, 0);
  assert_int_equal(draft->evaluations, 0);
  assert_null(draft->plan);
  assert_true(draft->genes[0] == 0);
  regal_draft_free(b->context, draft);
}

static void test_budget(void **state) {
  (void)state;
  regal_policy_config config = {.features =
                                    regal_features_of(REGAL_FEATURES_DRAFT)};
  assert_int_equal(regal_guide_feature_runs(&config), 1);
  assert_int_equal(regal_guide_feature_evaluations(&config, 5000), 400);
  config.features = regal_features_of(REGAL_FEATURES_ALL);
  assert_int_equal(regal_guide_feature_runs(&config), 2);
  assert_int_equal(regal_guide_feature_evaluations(&config, 5000), 400);
  assert_int_equal(regal_guide_feature_evaluations(&config, 800), 200);
  config.features = regal_features_of(REGAL_FEATURES_GRAPH);
  assert_int_equal(regal_guide_feature_runs(&config), 0);
}

/* -- Features and actions ---------------------------------------------------
 */

static const toy_op chain[] = {
    {.run_ns = 10, .bytes = 100},
    {.run_ns = 40, .bytes = 20, .reads = "a"},
    {.run_ns = 20, .bytes = 50, .reads = "b"},
};

/* Affinities of three ops, their priorities, transfers of three tensors. */
static const float genes[] = {1,    0,   0,    1,   1,    0,   .75f, .5f,
                              .25f, .7f, .65f, .4f, .45f, .2f, .2f};

typedef struct draft_case {
  regal_graph *graph;
  regal_problem *problem;
  regal_encoding *encoding;
  regal_feature_list list;
} draft_case;

static draft_case open_case(regal_context *context, bool with_draft) {
  draft_case c = {.graph = TOY_GRAPH(context, chain)};
  regal_feature_runs runs = {NULL, NULL, with_draft ? genes : NULL};
  c.problem =
      toy_problem(context, c.graph, toy_machine(context, 2), REGAL_RUNTIME);
  assert_true(regal_features_add(&c.list, "draft_transfer"));
  assert_true(regal_features_add(&c.list, "draft_priority"));
  assert_true(regal_features_add(&c.list, "draft_affinity"));
  assert_int_equal(
      regal_encode_problem(context, c.problem, &c.list, 2, &runs, &c.encoding),
      REGAL_OK);
  return c;
}

static void close_case(regal_context *context, draft_case *c) {
  regal_encoding_free(context, c->encoding);
  regal_problem_free(c->problem);
  regal_graph_free(c->graph);
}

static void test_columns(void **state) {
  draft_case c = open_case(*state, true);
  const float nodes[] = {.75f, 1, 0, .5f, 0, 1, .25f, 1, 0};
  const float edges[] = {.7f, .65f, .4f, .45f};
  assert_int_equal(c.encoding->node_features, 3);
  assert_int_equal(c.encoding->edge_features, 2);
  assert_memory_equal(c.encoding->node, nodes, sizeof nodes);
  assert_memory_equal(c.encoding->edge, edges, sizeof edges);
  close_case(*state, &c);
  c = open_case(*state, false);
  assert_null(c.encoding->draft);
  for (size_t i = 0; i < 9; i++)
    assert_true(c.encoding->node[i] == 0);
  close_case(*state, &c);
}

/* The middle level is the gene; others are beside it, within the means. */
static void test_levels(void **state) {
  (void)state;
  regal_policy_head head = {
      .mean_levels = 5, .variance_levels = 8, .relative = true};
  const float drafted[] = {0, .5f, 1};
  assert_int_equal(regal_action_mean(&head, drafted, 1, 2), 128);
  assert_int_equal(regal_action_mean(&head, drafted, 1, 0), 120);
  assert_int_equal(regal_action_mean(&head, drafted, 1, 3), 132);
  assert_int_equal(regal_action_mean(&head, drafted, 0, 0), 0);
  assert_int_equal(regal_action_mean(&head, drafted, 2, 4), 255);
  assert_int_equal(regal_action_mean(&head, NULL, 7, 2), 128);
  assert_true(fabs(regal_action_strength(&head, 0) - 65536) < 1e-6);
  assert_true(fabs(regal_action_strength(&head, 7) - 2) < 1e-9);
  head.relative = false;
  assert_int_equal(regal_action_mean(&head, drafted, 1, 3), 3);
  assert_true(fabs(regal_action_strength(&head, 0) - 8) < 1e-9);
}

static const char *const classes[] = {"affinity", "priority", "transfer"};

/* All heads, as a new policy of --means draft has them. */
static regal_policy_config relative_config(regal_context *context,
                                           const draft_case *c) {
  const regal_decoder *paper = regal_decoder_find("paper");
  regal_policy_config config = {.features = c->list,
                                .kind = REGAL_POLICY_GNN,
                                .width = 4,
                                .neutral_bias = 1};
  regal_config_for(c->problem, paper, &config);
  for (int h = 0; h < 3; h++) {
    assert_int_equal(
        regal_config_add_head(context, paper, classes[h], 3, 8, 0, &config),
        REGAL_OK);
    config.heads[h].relative = true;
  }
  return config;
}

/* A new network proposes the draft: each Beta is narrow, and around its gene.
 */
static void test_proposal(void **state) {
  regal_context *context = *state;
  draft_case c = open_case(context, true);
  regal_policy_config config = relative_config(context, &c);
  regal_network *network;
  regal_beta_tables *betas;
  regal_proposal *proposal;
  uint8_t actions[2 * 15];
  regal_gene means[15];
  assert_int_equal(regal_policy_actions(&config, c.encoding), sizeof actions);
  assert_int_equal(regal_network_create(context, &config, 1, &network),
                   REGAL_OK);
  assert_int_equal(
      regal_guide_act(context, "x", network, c.encoding, NULL, actions, NULL),
      REGAL_OK);
  assert_int_equal(regal_beta_tables_create(context, &config, &betas),
                   REGAL_OK);
  regal_beta_tables_fill_for(betas, c.encoding, actions);
  assert_int_equal(
      regal_propose(context, betas, c.problem, c.encoding, actions, &proposal),
      REGAL_OK);
  regal_proposal_means(proposal, means);
  for (size_t i = 0; i < 15; i++) {
    assert_true(fabs(means[i] * 0x1p-24 - (double)genes[i]) < 0.01);
    assert_int_equal(actions[2 * i], 1);
    assert_int_equal(actions[2 * i + 1], 1);
  }
  regal_proposal_free(proposal);
  regal_release(context, betas);
  regal_network_free(context, network);
  close_case(context, &c);
}

/* Of three devices, the last two are told what the head says of its second. */
static void test_more_devices(void **state) {
  (void)state;
  float drafted[2 * 3] = {1, 0, 0, 0, 0, 1};
  regal_encoding encoding = {.nodes = 2, .draft = drafted, .draft_devices = 3};
  regal_policy_head head = {.gene_class = "affinity",
                            .domain = REGAL_HEAD_NODE,
                            .genes = 2,
                            .mean_levels = 3,
                            .variance_levels = 8,
                            .relative = true};
  const uint8_t actions[2 * 2 * 2] = {1, 0, 1, 1, 1, 2, 1, 3};
  const uint8_t variances[] = {0, 1, 1, 2, 3, 3};
  const float *found = regal_draft_of(&head, &encoding);
  assert_ptr_equal(found, drafted);
  uint32_t reach = regal_head_reach(&head, found, &encoding);
  assert_int_equal(reach, 3);
  for (size_t i = 0; i < 6; i++)
    assert_int_equal(regal_action_of(&head, reach, i, actions)[1],
                     variances[i]);
  assert_true(regal_head_serves(&head, regal_decoder_find("paper"), 3));
  assert_false(regal_head_serves(&head, regal_decoder_find("paper"), 1));
  encoding.draft_devices = 1;
  assert_null(regal_draft_of(&head, &encoding));
  assert_int_equal(regal_head_reach(&head, NULL, &encoding), 2);
  head.relative = false;
  assert_false(regal_head_serves(&head, regal_decoder_find("paper"), 3));
}

int main(void) {
  const struct CMUnitTest searches[] = {
      SEARCH_TEST(test_run),
      SEARCH_TEST(test_no_evaluations),
  };
  const struct CMUnitTest tests[] = {
      TOY_TEST(test_budget),       TOY_TEST(test_columns),
      TOY_TEST(test_levels),       TOY_TEST(test_proposal),
      TOY_TEST(test_more_devices),
  };
  return cmocka_run_group_tests_name("draft_run", searches, NULL, NULL) +
         cmocka_run_group_tests_name("draft", tests, NULL, NULL);
}
