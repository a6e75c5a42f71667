/* SPDX-License-Identifier: Apache-2.0 */
/* Search that a policy guides: features, rules and networks, from options to a
 * verified plan. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "learn/guide/policies.h"
#include "policy/features.h"
#include "support/failing_allocator.h"
#include "support/files.h"
#include "support/search_bench.h"

/* -- The features of a short BRKGA ----------------------------------------- */

static regal_brkga_features *run_features(search_bench *b, const char *decoder,
                                          uint64_t evaluations) {
  regal_brkga_features *features;
  search_begin(b);
  regal_brkga_settings settings = regal_brkga_settings_of(&b->options);
  settings.decoder = regal_decoder_find(decoder);
  if (regal_brkga_features_run(&b->search, &settings, evaluations, &features))
    fail_msg("%s", regal_error(b->context));
  return features;
}

/* Shares of devices add up to 1, places to those of a whole order, and the
 * largest op is on device 0, whatever the decoder calls its devices. */
static void check_features(search_bench *b, const char *decoder) {
  const regal_problem *problem = b->problem;
  regal_brkga_features *features = run_features(b, decoder, 400);
  assert_int_equal(features->evaluations, 400);
  assert_int_equal(b->search.budget.used, 400);
  assert_null(b->search.best);
  assert_non_null(features->best);
  assert_true(features->chromosomes > 60 && features->chromosomes <= 100);
  double places = 0, elsewhere = 0;
  for (uint32_t op = 0; op < problem->ops; op++) {
    double sum = 0;
    for (uint32_t a = 0; a < problem->devices; a++)
      sum += features->placement[op * problem->devices + a];
    assert_true(fabs(sum - 1) < 1e-5);
    assert_true(features->position[op] >= 0 && features->position[op] < 1);
    elsewhere += features->placement[op * problem->devices + 1];
    places += features->position[op];
  }
  assert_true(fabs(places - (problem->ops - 1) / 2.0) < 1e-3);
  assert_true(elsewhere > 1); /* not everything is on device 0 */
  assert_true(features->placement[problem->pinned * problem->devices] == 1);
  regal_brkga_features_free(b->context, features);
}

static void test_features(void **state) {
  search_bench *b = *state;
  static const char *const decoders[] = {"paper", "batched", "clock", "eft"};
  for (int i = 0; i < 4; i++) {
    set_option(b, "devices", i % 2 ? "3" : "2");
    use_synthetic(b, 40, (uint64_t)i);
    check_features(b, decoders[i]);
  }
}

/* The same by hand: the plans of the population, decoded and counted. */
static void test_features_by_hand(void **state) {
  search_bench *b = *state;
  use_synthetic(b, 30, 3);
  regal_brkga_features *features = run_features(b, "paper", 100);
  assert_int_equal(features->chromosomes, 100);
  regal_options options = b->options;
  b->options.seed =
      (int64_t)(regal_random_key(1, REGAL_PURPOSE_FEATURES, 0, 0) >> 1);
  search_begin(b);
  regal_brkga *brkga = begin_brkga(b, regal_decoder_find("paper"));
  assert_true(regal_brkga_step(brkga));
  double on_one = 0, first = 0; /* of op 1 */
  regal_plan *plan;
  assert_int_equal(
      regal_plan_create(b->context, regal_plan_most_steps(b->problem), &plan),
      REGAL_OK);
  for (uint32_t i = 0; i < 100; i++) {
    brkga->decoder->decode(b->problem, brkga->scratch[0],
                           regal_brkga_chromosome(brkga, i), plan);
    uint32_t place = 0;
    for (uint32_t s = 0; s < plan->step_count; s++) {
      if (regal_step_runs(&plan->steps[s]) && plan->steps[s].op == 1) {
        on_one += plan->steps[s].device;
        first += (double)place / b->problem->ops;
      }
      place += regal_step_runs(&plan->steps[s]);
    }
  }
  assert_true(fabs(features->placement[3] - on_one / 100) < 1e-5);
  assert_true(fabs(features->position[1] - first / 100) < 1e-5);
  regal_plan_free(plan);
  regal_brkga_free(brkga);
  regal_brkga_features_free(b->context, features);
  b->options = options;
}

static void test_feature_budget(void **state) {
  (void)state;
  regal_policy_config config = {.features =
                                    regal_features_of(REGAL_FEATURES_PAPER)};
  assert_int_equal(regal_guide_feature_evaluations(&config, 5000), 400);
  assert_int_equal(regal_guide_feature_evaluations(&config, UINT64_MAX), 400);
  assert_int_equal(regal_guide_feature_evaluations(&config, 800), 400);
  assert_int_equal(regal_guide_feature_evaluations(&config, 300), 150);
  assert_int_equal(regal_guide_feature_evaluations(&config, 1), 0);
  config.kind = REGAL_POLICY_BLIND;
  assert_int_equal(regal_guide_feature_evaluations(&config, 5000), 0);
  config = (regal_policy_config){0};
  assert_true(regal_features_add(&config.features, "run_ns"));
  assert_int_equal(regal_guide_feature_evaluations(&config, 5000), 0);
}

/* -- Methods --------------------------------------------------------------- */

static void set_method(search_bench *b, const char *method, const char *policy,
                       const char *evaluations) {
  set_option(b, "method", method);
  strcpy(b->options.policy, policy);
  set_option(b, "evaluations", evaluations);
}

static int64_t run_method(search_bench *b, const char *method,
                          const char *policy, const char *evaluations,
                          const char *account) {
  set_method(b, method, policy, evaluations);
  regal_result *result = optimize(b);
  assert_string_equal(result->method, method);
  if (account)
    assert_string_equal(result->account, account);
  assert_true(result->evaluations <= (uint64_t)b->options.evaluations);
  int64_t cost = result->cost.runtime_ns;
  regal_result_free(result);
  return cost;
}

static void test_accounts(void **state) {
  search_bench *b = *state;
  use_synthetic(b, 60, 5);
  run_method(b, "regal", "rule", "2000",
             "policy rule after 400 evaluations, then BRKGA on decoder paper: "
             "20 generations of 1 x 100");
  run_method(b, "regal", "rule-depth", "500",
             "policy rule-depth, then BRKGA on decoder paper: 6 generations of "
             "1 x 100");
  run_method(b, "regal", "rule", "100",
             "policy rule after 50 evaluations, then BRKGA on decoder paper: 1 "
             "generation of 1 x 100");
  run_method(b, "regal", "rule", "1", NULL);
  run_method(b, "idrs", "rule", "600",
             "policy rule after 300 evaluations, then random chromosomes on "
             "decoder paper");
  run_method(b, "idrs", "", "500", "random chromosomes on decoder paper");
  run_method(b, "direct", "rule", "1000",
             "policy rule after 400 evaluations, then its means on decoder "
             "paper");
  run_method(b, "direct", "rule-depth", "1000",
             "policy rule-depth, then its means on decoder paper");
}

/* A policy without a method is for regal; all evaluations count. */
static void test_default_method(void **state) {
  search_bench *b = *state;
  use_synthetic(b, 60, 6);
  set_option(b, "policy", "rule");
  set_option(b, "evaluations", "1000");
  regal_result *result = optimize(b);
  assert_string_equal(result->method, "regal");
  assert_int_equal(result->evaluations, 1000);
  regal_result_free(result);
}

/* What a policy saw on the way is offered by `regal`, and by it alone: with
 * next to nothing left `regal` is still as good as its features' best. */
static void test_seen_plan(void **state) {
  search_bench *b = *state;
  use_synthetic(b, 80, 7);
  regal_brkga_features *features = run_features(b, "paper", 400);
  int64_t seen = features->best_fitness.value;
  regal_brkga_features_free(b->context, features);
  assert_true(run_method(b, "regal", "rule", "801", NULL) <= seen);
  assert_true(run_method(b, "direct", "rule", "801", NULL) > seen);
}

/* On one device every plan meets the bound: no BRKGA after the features. */
static void test_early_end(void **state) {
  search_bench *b = *state;
  set_option(b, "devices", "1");
  use_synthetic(b, 30, 1);
  set_method(b, "regal", "rule", "5000");
  regal_result *result = optimize(b);
  assert_int_equal(result->stop, REGAL_STOP_BOUND);
  assert_int_equal(result->evaluations, 100);
  assert_string_equal(result->account,
                      "policy rule after 100 evaluations, then nothing: the "
                      "search was over");
  regal_result_free(result);
}

/* A start is never lost, though no population begins with the features' best.
 */
static void test_start(void **state) {
  search_bench *b = *state;
  use_synthetic(b, 60, 9);
  set_method(b, "brkga", "", "20000");
  regal_result *good = optimize(b);
  assert_int_equal(regal_plan_save(b->context, good, "good.plan"), REGAL_OK);
  set_option(b, "start", "good.plan");
  assert_true(run_method(b, "regal", "rule", "900", NULL) <=
              good->cost.runtime_ns);
  regal_result_free(good);
}

/* The rule is what FINDINGS says it is: several percent better at equal
 * evaluations, on average over graphs. */
static void test_rule_helps(void **state) {
  search_bench *b = *state;
  double gain = 0;
  for (uint64_t seed = 0; seed < 6; seed++) {
    use_synthetic(b, 100, seed);
    double plain = (double)run_method(b, "brkga", "", "3000", NULL);
    double ruled = (double)run_method(b, "regal", "rule", "3000", NULL);
    gain += 100 * (plain - ruled) / plain / 6;
  }
  assert_true(gain > 2);
}

static void check_error(search_bench *b, regal_status expected,
                        const char *message) {
  regal_result *result = NULL;
  assert_int_equal(regal_optimize(b->context, b->problem, &b->options, &result),
                   expected);
  assert_string_equal(regal_error(b->context), message);
  assert_null(result);
}

static void test_errors(void **state) {
  search_bench *b = *state;
  use_synthetic(b, 30, 1);
  set_method(b, "brkga", "rule", "100");
  check_error(b, REGAL_BAD_INPUT,
              "--policy: method brkga takes none; regal, gas, idrs and direct "
              "do");
  set_method(b, "gas", "rule", "100");
  check_error(b, REGAL_BAD_INPUT,
              "rule: found a policy of kind rule, expected gas");
  set_method(b, "regal", "none.policy", "100");
  check_error(b, REGAL_IO, "none.policy: No such file or directory");
}

/* -- Networks -------------------------------------------------------------- */

/* Saves a policy with weights of a seed, for the bench's problem. */
static void save_policy(search_bench *b, const char *path,
                        regal_policy_kind kind, const char *decoder,
                        uint64_t seed) {
  regal_policy_config config = {.kind = kind,
                                .update = REGAL_UPDATE_GRU,
                                .mean_aggregation = true,
                                .rounds = 2,
                                .width = 8,
                                .experts = 2};
  const regal_decoder *found = regal_decoder_find(decoder);
  regal_policy_provenance provenance = {0};
  regal_network *network;
  regal_config_for(b->problem, found, &config);
  for (size_t c = 0; c < regal_decoder_class_count(found); c++)
    assert_int_equal(regal_config_add_head(b->context, found,
                                           found->classes[c].name, 4, 4,
                                           c == 1 ? 3 : 0, &config),
                     REGAL_OK);
  if (regal_network_create(b->context, &config, seed, &network))
    fail_msg("%s", regal_error(b->context));
  for (size_t i = 0; i < network->parameter_count; i++)
    network->parameters[i] *= 3; /* so that choices differ */
  assert_int_equal(regal_policy_save(b->context, network, &provenance, path),
                   REGAL_OK);
  regal_network_free(b->context, network);
}

/* Heads that the decoder has no genes for: the message names the policy. */
static void test_foreign_heads(void **state) {
  search_bench *b = *state;
  static const struct {
    regal_policy_head head;
    const char *message;
  } cases[] = {
      {{.gene_class = "colour", .domain = REGAL_HEAD_NODE, .genes = 1},
       "heads.policy: found a head for gene class \"colour\", which decoder "
       "paper does not have"},
      {{.gene_class = "priority", .domain = REGAL_HEAD_TENSOR, .genes = 2},
       "heads.policy: found a head for 2 genes of each tensor of class "
       "\"priority\", expected 1 of each op"}};
  use_synthetic(b, 30, 1);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    regal_policy_config config = {.kind = REGAL_POLICY_BLIND, .width = 8};
    regal_policy_provenance provenance = {0};
    regal_network *network;
    regal_guide *guide;
    regal_config_for(b->problem, regal_decoder_find("paper"), &config);
    config.heads[0] = cases[i].head;
    config.heads[0].mean_levels = config.heads[0].variance_levels = 4;
    config.head_count = 1;
    if (regal_network_create(b->context, &config, 1, &network) ||
        regal_policy_save(b->context, network, &provenance, "heads.policy"))
      fail_msg("%s", regal_error(b->context));
    regal_network_free(b->context, network);
    set_method(b, "regal", "heads.policy", "500");
    assert_int_equal(
        regal_policies_open(b->context, &b->options, b->problem, "", &guide),
        REGAL_BAD_INPUT);
    assert_string_equal(regal_error(b->context), cases[i].message);
  }
}

static const char *const decoders[] = {"paper", "batched", "clock", "eft"};

/* Every kind on every decoder, with heads for all of its classes: a plan that
 * the verifier passes, the same for any number of threads. */
static void test_networks(void **state) {
  search_bench *b = *state;
  for (int i = 0; i < 20; i++) {
    set_option(b, "devices", i % 3 ? "2" : "4");
    set_option(b, "control", i % 4 ? "wait" : "transfer");
    set_option(b, "objective", i % 5 ? "runtime" : "memory");
    set_option(b, "actions", i % 2 ? "greedy" : "sample");
    use_synthetic(b, 30, (uint64_t)i);
    regal_policy_kind kind = (regal_policy_kind)(i / 4);
    save_policy(b, "any.policy", kind, decoders[i % 4], (uint64_t)i);
    set_method(b, kind == REGAL_POLICY_GAS ? "gas" : "regal", "any.policy",
               "700");
    b->options.threads = 1;
    regal_result *one = optimize(b);
    b->options.threads = 3;
    regal_result *three = optimize(b);
    assert_true(same_plan(one->plan, three->plan));
    if (one->stop == REGAL_STOP_BUDGET)
      assert_int_equal(one->evaluations, 700);
    regal_result_free(one);
    regal_result_free(three);
  }
}

/* Drawn actions depend on the seed, the likeliest do not; and a policy with
 * other weights is another policy. */
static void test_actions_option(void **state) {
  search_bench *b = *state;
  use_synthetic(b, 40, 2);
  regal_encoding *encoding;
  regal_guide *guide;
  save_policy(b, "a.policy", REGAL_POLICY_GNN, "paper", 1);
  set_method(b, "regal", "a.policy", "500");
  if (regal_policies_open(b->context, &b->options, b->problem, "", &guide))
    fail_msg("%s", regal_error(b->context));
  assert_int_equal(
      regal_encode_problem(b->context, b->problem, &guide->config.features, 2,
                           &(regal_feature_runs){NULL, NULL, NULL}, &encoding),
      REGAL_OK);
  regal_gene means[3][40 * 2 + 60];
  size_t genes = 2 * b->problem->ops;
  assert_true(genes <= sizeof means[0] / sizeof(regal_gene));
  for (int i = 0; i < 3; i++) {
    regal_guidance guidance = {0};
    b->options.seed = 1; /* of the features */
    search_begin(b);
    b->search.budget.limit = 500;
    assert_int_equal(
        guide->proposer.propose(guide, &b->search, i > 0, &guidance), REGAL_OK);
    assert_int_equal(guidance.evaluations, 250);
    regal_gene *all = calloc(guidance.proposal->genes, sizeof(regal_gene));
    regal_proposal_means(guidance.proposal, all);
    memcpy(means[i], all, genes * sizeof(regal_gene));
    free(all);
    regal_proposal_free(guidance.proposal);
    regal_plan_free(guidance.seen);
  }
  assert_memory_equal(means[1], means[2], genes * sizeof(regal_gene));
  assert_memory_not_equal(means[0], means[1], genes * sizeof(regal_gene));
  regal_encoding_free(b->context, encoding);
  regal_guide_free(guide);
}

/* All weights of a block. */
static void set_block(regal_network *network, const char *name, float weight) {
  for (uint32_t i = 0; i < network->block_count; i++) {
    const regal_network_block *block = &network->blocks[i];
    for (size_t k = 0;
         strstr(block->name, name) && k < block->columns * (size_t)block->rows;
         k++)
      network->parameters[block->at + k] = weight;
  }
}

/* Its output is 2e38 times the run time of an op's predecessors, as a share of
 * the longest: finite for a share of 1, but not for each op of a graph. */
static void test_overflow(void **state) {
  search_bench *b = *state;
  use_synthetic(b, 40, 2);
  const regal_decoder *paper = regal_decoder_find("paper");
  regal_policy_config config = {.kind = REGAL_POLICY_GNN, .width = 1};
  regal_policy_provenance provenance = {0};
  regal_network *network;
  assert_true(regal_features_add(&config.features, "predecessors_ns"));
  assert_true(regal_features_add(&config.features, "tensor_bytes"));
  regal_config_for(b->problem, paper, &config);
  assert_int_equal(
      regal_config_add_head(b->context, paper, "priority", 2, 2, 0, &config),
      REGAL_OK);
  assert_int_equal(regal_network_create(b->context, &config, 1, &network),
                   REGAL_OK);
  set_block(network, "", 0);
  set_block(network, "weight", 1);
  set_block(network, "node/0/weight", 1e19f);
  set_block(network, "node/1/weight", 2e19f);
  assert_int_equal(
      regal_policy_save(b->context, network, &provenance, "large.policy"),
      REGAL_OK);
  regal_network_free(b->context, network);
  set_method(b, "regal", "large.policy", "100");
  check_error(b, REGAL_BAD_INPUT,
              "large.policy: the policy's output for this graph overflows, "
              "expected finite outputs");
}

static void test_wrong_policy(void **state) {
  search_bench *b = *state;
  use_synthetic(b, 30, 1);
  save_policy(b, "two.policy", REGAL_POLICY_GNN, "paper", 1);
  set_method(b, "gas", "two.policy", "100");
  check_error(b, REGAL_BAD_INPUT,
              "two.policy: found a policy of kind gnn, expected gas");
  set_method(b, "regal", "two.policy", "100");
  set_option(b, "decoder", "clock");
  check_error(b, REGAL_BAD_INPUT,
              "two.policy: found a policy for decoder paper, expected one for "
              "clock");
  set_option(b, "decoder", "paper");
  set_option(b, "objective", "memory");
  use_synthetic(b, 30, 1);
  check_error(b, REGAL_BAD_INPUT,
              "two.policy: found a policy for objective runtime, expected one "
              "for memory");
  set_option(b, "objective", "runtime");
}

/* Without a name: one that comes with regal, or a line that says what to do. */
static void test_no_policy(void **state) {
  search_bench *b = *state;
  use_synthetic(b, 30, 1);
  set_option(b, "decoder", "clock");
  set_method(b, "regal", "", "100");
  check_error(b, REGAL_BAD_INPUT,
              "no policy for objective runtime and decoder clock comes with "
              "regal; --policy names a file or rule, and 'regal train DATASET "
              "--devices 2 --decoder clock -o FILE' makes one");
  set_option(b, "objective", "memory");
  set_option(b, "devices", "5");
  use_synthetic(b, 30, 1);
  set_option(b, "decoder", "paper");
  set_method(b, "gas", "", "100");
  check_error(b, REGAL_BAD_INPUT,
              "no gas policy for objective memory and decoder paper comes with "
              "regal; --policy names a file, and 'regal train DATASET "
              "--devices 5 --objective memory --decoder paper --policy-kind "
              "gas -o FILE' makes one");
}

/* -- Other numbers of devices ---------------------------------------------- */

static void save_heads(search_bench *b, const char *path, const char *first,
                       const char *second) {
  regal_policy_config config = {.kind = REGAL_POLICY_GNN, .width = 4};
  const regal_decoder *paper = regal_decoder_find("paper");
  const char *const classes[] = {first, second};
  regal_policy_provenance provenance = {0};
  regal_network *network;
  regal_config_for(b->problem, paper, &config);
  for (int i = 0; i < 2 && classes[i]; i++)
    assert_int_equal(
        regal_config_add_head(b->context, paper, classes[i], 4, 4, 0, &config),
        REGAL_OK);
  assert_int_equal(regal_network_create(b->context, &config, 3, &network),
                   REGAL_OK);
  assert_int_equal(regal_policy_save(b->context, network, &provenance, path),
                   REGAL_OK);
  regal_network_free(b->context, network);
}

/* Priorities are as the policy chooses, affinities uniform: for each op and
 * device there is one, before the priorities. */
static void check_proposal(search_bench *b, const char *policy) {
  regal_guide *guide;
  regal_guidance guidance = {0};
  set_method(b, "regal", policy, "500");
  if (regal_policies_open(b->context, &b->options, b->problem, "", &guide))
    fail_msg("%s", regal_error(b->context));
  search_begin(b);
  b->search.budget.limit = 500;
  assert_int_equal(guide->proposer.propose(guide, &b->search, true, &guidance),
                   REGAL_OK);
  size_t ops = b->problem->ops, placed = ops * b->problem->devices;
  regal_gene *means = calloc(guidance.proposal->genes, sizeof *means);
  regal_proposal_means(guidance.proposal, means);
  for (size_t i = 0; i < placed; i++)
    assert_int_equal(means[i], (REGAL_GENE_LARGEST + 1) / 2);
  bool chosen = false;
  for (size_t i = placed; i < placed + ops; i++)
    chosen |= means[i] != means[0];
  assert_true(chosen);
  free(means);
  regal_proposal_free(guidance.proposal);
  regal_plan_free(guidance.seen);
  regal_guide_free(guide);
}

static void test_other_devices(void **state) {
  search_bench *b = *state;
  char devices[16];
  use_synthetic(b, 30, 1);
  save_heads(b, "both.policy", "affinity", "priority");
  save_heads(b, "places.policy", "affinity", NULL);
  for (int d = 1; d <= 5; d += d == 1 ? 2 : 1) {
    snprintf(devices, sizeof devices, "%d", d);
    set_option(b, "devices", devices);
    use_synthetic(b, 30, 1);
    check_proposal(b, "both.policy");
    set_method(b, "regal", "", "600"); /* one that comes with regal */
    regal_result *result = optimize(b);
    if (d > 1)
      assert_non_null(strstr(result->account, " for 2 devices after "));
    regal_result_free(result);
  }
  set_method(b, "regal", "places.policy", "100");
  check_error(
      b, REGAL_BAD_INPUT,
      "places.policy: found a policy that chooses for each of 2 devices "
      "only, expected one for 5 devices");
}

/* Those that come with regal can be read, and serve what they are for. */
static void test_shipped(void **state) {
  search_bench *b = *state;
  for (const regal_shipped_policy *s = regal_shipped_policies; s->name; s++) {
    regal_policy *policy;
    if (regal_policy_read(b->context, s->name, s->bytes, s->size, &policy))
      fail_msg("%s", regal_error(b->context));
    assert_non_null(regal_decoder_find(policy->network->config.decoder));
    regal_policy_free(policy);
  }
}

/* -- Memory ---------------------------------------------------------------- */

static regal_status solve(regal_context *context, const void *policy) {
  regal_graph *graph;
  regal_options options;
  regal_result *result;
  regal_options_init(&options);
  options.threads = 1;
  options.evaluations = 60;
  options.population = 10;
  strcpy(options.method, "regal");
  strcpy(options.policy, policy);
  REGAL_TRY(
      regal_synthetic_graph(context, (regal_graph_model)0, 12, 3, &graph));
  regal_status status = regal_solve(context, graph, &options, &result);
  if (status == REGAL_OK)
    regal_result_free(result);
  regal_graph_free(graph);
  return status;
}

static void test_allocation(void **state) {
  search_bench *b = *state;
  use_synthetic(b, 12, 3);
  save_policy(b, "m.policy", REGAL_POLICY_GNN, "paper", 1);
  static const char *const policies[] = {"rule", "m.policy"};
  for (int i = 0; i < 2; i++)
    assert_in_range(fail_each_allocation(solve, policies[i]), 1, 999);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      SEARCH_TEST(test_features),       SEARCH_TEST(test_features_by_hand),
      SEARCH_TEST(test_feature_budget), SEARCH_TEST(test_accounts),
      SEARCH_TEST(test_default_method), SEARCH_TEST(test_seen_plan),
      SEARCH_TEST(test_early_end),      SEARCH_TEST(test_start),
      SEARCH_TEST(test_rule_helps),     SEARCH_TEST(test_errors),
      SEARCH_TEST(test_foreign_heads),  SEARCH_TEST(test_networks),
      SEARCH_TEST(test_actions_option), SEARCH_TEST(test_overflow),
      SEARCH_TEST(test_wrong_policy),   SEARCH_TEST(test_no_policy),
      SEARCH_TEST(test_other_devices),  SEARCH_TEST(test_shipped),
      SEARCH_TEST(test_allocation),
  };
  return cmocka_run_group_tests_name("guided", tests, files_enter, files_leave);
}
