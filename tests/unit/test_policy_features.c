/* SPDX-License-Identifier: Apache-2.0 */
/* The paper's data encoding, number by number. */
#include <math.h>
#include <string.h>

#include "support/toy_graph.h"

#include "learn/guide/propose.h"
#include "policy/features.h"
#include "support/random_cases.h"

static const float *node_of(const regal_encoding *e, uint32_t op) {
  return e->node + (size_t)op * e->node_features;
}

static const float *edge_of(const regal_encoding *e, uint32_t edge) {
  return e->edge + (size_t)edge * e->edge_features;
}

static void check_row(const float *found, const double *expected, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (fabs((double)found[i] - expected[i]) > 1e-6)
      fail_msg("feature %zu: found %g, expected %g", i, (double)found[i],
               expected[i]);
}

/* a feeds b and c; d reads b and c and waits for a; c uses temporary bytes. */
static const toy_op diamond[] = {
    {.run_ns = 10, .bytes = 100},
    {.run_ns = 40, .bytes = 20, .reads = "a"},
    {.run_ns = 20, .bytes = 50, .reads = "a", .temporary = 200},
    {.run_ns = 5, .bytes = 10, .reads = "bc", .waits = "a", .resident = 80},
};

static regal_encoding *encode(regal_context *context, const regal_graph *graph,
                              uint32_t devices, bool control_transfers,
                              enum regal_objective objective,
                              const regal_brkga_features *features) {
  regal_machine *machine = toy_machine(context, devices);
  machine->control_transfers = control_transfers;
  regal_problem *problem = toy_problem(context, graph, machine, objective);
  regal_encoding *encoding;
  regal_feature_list all = regal_features_of(REGAL_FEATURES_PAPER);
  assert_int_equal(
      regal_encode_problem(
          context, problem, &all, devices,
          &(regal_feature_runs){features ? features->placement : NULL,
                                features ? features->position : NULL, NULL},
          &encoding),
      REGAL_OK);
  regal_problem_free(problem);
  return encoding;
}

static void test_nodes(void **state) {
  regal_context *context = *state;
  regal_graph *graph = TOY_GRAPH(context, diamond);
  float placement[] = {1, 0, .25f, .75f, .5f, .5f, 0, 1};
  float position[] = {0, .25f, .5f, .75f};
  regal_brkga_features features = {.placement = placement,
                                   .position = position};
  regal_encoding *e =
      encode(context, graph, 2, false, REGAL_RUNTIME, &features);
  /* memory by 200, the temporary bytes of c; time by 40, b's */
  const double expected[4][11] = {
      {0, .5, 0, 0, 0, 65 / 40.0, .25, 0, 1, 0, 0},
      {.5, .1, 0, 0, .25, .125, 1, 1, .25, .75, .25},
      {.5, .25, 1, 1, .25, .125, .5, 0, .5, .5, .5},
      {.35, .05, .4, 0, 1.75, 0, .125, 0, 0, 1, .75},
  };
  assert_int_equal(e->nodes, 4);
  assert_int_equal(e->node_features, 11);
  for (uint32_t op = 0; op < 4; op++)
    check_row(node_of(e, op), expected[op], 11);
  regal_encoding_free(context, e);
  regal_graph_free(graph);
}

static void test_edges(void **state) {
  regal_context *context = *state;
  regal_graph *graph = TOY_GRAPH(context, diamond);
  regal_encoding *e = encode(context, graph, 2, false, REGAL_RUNTIME, NULL);
  const uint32_t from[] = {0, 0, 1, 2, 0}, to[] = {1, 2, 3, 3, 3};
  /* hyperedges by producer: a's tensor, a's control edge, b's, c's, d's */
  const double expected[5][3] = {
      {.5, 0, 0}, {.5, 0, 0}, {.1, 0, .4}, {.25, 0, .6}, {0, 1, .2}};
  assert_int_equal(e->edges, 5);
  assert_int_equal(e->edge_features, 3);
  for (uint32_t i = 0; i < 5; i++) {
    assert_int_equal(e->from[i], from[i]);
    assert_int_equal(e->to[i], to[i]);
    check_row(edge_of(e, i), expected[i], 3);
  }
  const uint32_t first[] = {0, 2, 3, 4, 4};
  assert_int_equal(e->tensors, 4);
  for (uint32_t t = 0; t <= 4; t++)
    assert_int_equal(e->tensor_edge[t], first[t]);
  for (uint32_t t = 0; t < 4; t++)
    assert_int_equal(e->tensor_node[t], t);
  regal_encoding_free(context, e);
  regal_graph_free(graph);
}

/* The objective memory does not use run times. */
static void test_memory(void **state) {
  regal_context *context = *state;
  regal_graph *graph = TOY_GRAPH(context, diamond);
  regal_encoding *e = encode(context, graph, 4, false, REGAL_MEMORY, NULL);
  assert_int_equal(e->node_features, 13);
  for (uint32_t op = 0; op < 4; op++)
    for (uint32_t i = 4; i < 13; i++)
      assert_true(node_of(e, op)[i] == 0);
  assert_true(node_of(e, 2)[3] == 1);
  regal_encoding_free(context, e);
  regal_graph_free(graph);
}

/* Nothing is divided by zero. */
static void test_nothing(void **state) {
  regal_context *context = *state;
  static const toy_op ops[] = {{0}};
  regal_graph *graph = TOY_GRAPH(context, ops);
  regal_encoding *e = encode(context, graph, 1, false, REGAL_RUNTIME, NULL);
  const double expected[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0};
  assert_int_equal(e->node_features, 10);
  check_row(node_of(e, 0), expected, 10);
  assert_int_equal(e->edges, 0);
  regal_encoding_free(context, e);
  regal_graph_free(graph);
}

/* Whether a control edge is a tensor of zero bytes or none, it looks the same;
 * only its place among the edges differs. */
static bool has_edge(const regal_encoding *e, const regal_encoding *other,
                     uint32_t edge) {
  for (uint32_t i = 0; i < e->edges; i++)
    if (e->from[i] == other->from[edge] && e->to[i] == other->to[edge] &&
        !memcmp(edge_of(e, i), edge_of(other, edge), 3 * sizeof(float)))
      return true;
  return false;
}

static void test_control(void **state) {
  regal_context *context = *state;
  for (uint64_t seed = 0; seed < 60; seed++) {
    regal_graph *graph;
    regal_test_random_graph(context, seed, 30, &graph);
    regal_encoding *wait =
        encode(context, graph, 2, false, REGAL_RUNTIME, NULL);
    regal_encoding *send = encode(context, graph, 2, true, REGAL_RUNTIME, NULL);
    assert_int_equal(wait->edges, send->edges);
    assert_memory_equal(wait->node, send->node,
                        (size_t)wait->nodes * 11 * sizeof(float));
    for (uint32_t i = 0; i < wait->edges; i++)
      assert_true(has_edge(send, wait, i));
    assert_int_equal(send->tensor_edge[send->tensors], send->edges);
    regal_encoding_free(context, wait);
    regal_encoding_free(context, send);
    regal_graph_free(graph);
  }
}

/* The op that is fixed on device 0 is the one that the policy sees marked. */
static void test_symmetry(void **state) {
  regal_context *context = *state;
  for (uint64_t seed = 0; seed < 100; seed++) {
    regal_graph *graph;
    regal_encoding *encoding;
    regal_test_random_graph(context, seed, 30, &graph);
    enum regal_objective objective = seed % 2 ? REGAL_MEMORY : REGAL_RUNTIME;
    regal_problem *problem =
        toy_problem(context, graph, toy_machine(context, 3), objective);
    regal_feature_list all = regal_features_of(REGAL_FEATURES_PAPER);
    assert_int_equal(regal_encode_problem(
                         context, problem, &all, problem->devices,
                         &(regal_feature_runs){NULL, NULL, NULL}, &encoding),
                     REGAL_OK);
    for (uint32_t op = 0; op < problem->ops; op++)
      assert_true(node_of(encoding, op)[seed % 2 ? 3 : 7] ==
                  (op == problem->pinned));
    regal_encoding_free(context, encoding);
    regal_problem_free(problem);
    regal_graph_free(graph);
  }
}

/* Times that differ between devices: their mean over those that can. */
static void test_devices(void **state) {
  regal_context *context = *state;
  static const toy_op ops[] = {{.run_ns = 1}, {.run_ns = 1, .reads = "a"}};
  const int64_t times[] = {10, 30, 10, REGAL_NEVER};
  regal_graph *graph = TOY_GRAPH(context, ops);
  regal_machine *machine = toy_machine(context, 2);
  toy_times(machine, graph, times);
  regal_problem *problem = toy_problem(context, graph, machine, REGAL_RUNTIME);
  regal_encoding *e;
  regal_feature_list all = regal_features_of(REGAL_FEATURES_PAPER);
  assert_int_equal(
      regal_encode_problem(context, problem, &all, problem->devices,
                           &(regal_feature_runs){NULL, NULL, NULL}, &e),
      REGAL_OK);
  assert_true(node_of(e, 0)[6] == 1);
  assert_true(node_of(e, 1)[6] == 0.5f);
  regal_encoding_free(context, e);
  regal_problem_free(problem);
  regal_graph_free(graph);
}

/* A policy reads the columns that it lists, in its order. */
/* Without a run of BRKGA a policy costs no evaluations. */
static void test_of_graph(void **state) {
  (void)state;
  regal_feature_list all = regal_features_of(REGAL_FEATURES_PAPER);
  regal_feature_list graph = regal_features_of(REGAL_FEATURES_GRAPH);
  assert_true(regal_features_need(&all, REGAL_FEATURE_FROM_POPULATION));
  assert_false(regal_features_need(&graph, REGAL_FEATURE_FROM_POPULATION));
  assert_true(graph.count > 5 && graph.count < all.count);
}

static void test_list(void **state) {
  regal_context *context = *state;
  regal_graph *graph = TOY_GRAPH(context, diamond);
  regal_problem *problem =
      toy_problem(context, graph, toy_machine(context, 2), REGAL_RUNTIME);
  const char *const names[] = {"tensor_number", "placement", "run_ns",
                               "tensor_bytes"};
  float placement[] = {1, 0, .25f, .75f, .5f, .5f, 0, 1};
  regal_feature_list list = {0};
  regal_encoding *e;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    assert_true(regal_features_add(&list, names[i]));
  assert_false(regal_features_add(&list, "colour"));
  assert_int_equal(list.count, 4);
  assert_true(regal_features_need(&list, REGAL_FEATURE_FROM_POPULATION));
  assert_int_equal(
      regal_encode_problem(context, problem, &list, 2,
                           &(regal_feature_runs){placement, NULL, NULL}, &e),
      REGAL_OK);
  const double nodes[4][3] = {
      {1, 0, .25}, {.25, .75, 1}, {.5, .5, .5}, {0, 1, .125}};
  const double edges[5][2] = {{0, .5}, {0, .5}, {.4, .1}, {.6, .25}, {.2, 0}};
  assert_int_equal(e->node_features, 3);
  assert_int_equal(e->edge_features, 2);
  for (uint32_t op = 0; op < 4; op++)
    check_row(node_of(e, op), nodes[op], 3);
  for (uint32_t i = 0; i < 5; i++)
    check_row(edge_of(e, i), edges[i], 2);
  regal_encoding_free(context, e);
  regal_problem_free(problem);
  regal_graph_free(graph);
}

/* Names differ and fit into a file. */
static void test_table(void **state) {
  (void)state;
  for (size_t i = 0; i < regal_features_of(REGAL_FEATURES_ALL).count; i++) {
    const char *name = regal_feature_at(i)->name;
    assert_true(strlen(name) > 0 && strlen(name) < 24);
    for (size_t j = 0; j < i; j++)
      assert_string_not_equal(name, regal_feature_at(j)->name);
  }
}

/* Of a policy for two devices, on three and on one. */
static void test_other_devices(void **state) {
  regal_context *context = *state;
  regal_graph *graph = TOY_GRAPH(context, diamond);
  const float placement[] = {1,   0,   0, .25f, .25f, .5f,
                             .5f, .5f, 0, 0,    .75f, .25f};
  const double folded[2][4][2] = {{{1, 0}, {.25, .75}, {.5, .5}, {0, 1}},
                                  {{1, 0}, {0, 0}, {0, 0}, {.25, 0}}};
  for (uint32_t i = 0; i < 2; i++) {
    regal_problem *problem = toy_problem(
        context, graph, toy_machine(context, i ? 1 : 3), REGAL_RUNTIME);
    regal_feature_list list = {0};
    regal_encoding *e;
    assert_true(regal_features_add(&list, "placement"));
    assert_int_equal(
        regal_encode_problem(context, problem, &list, 2,
                             &(regal_feature_runs){placement, NULL, NULL}, &e),
        REGAL_OK);
    assert_int_equal(e->node_features, 2);
    for (uint32_t op = 0; op < 4; op++)
      check_row(node_of(e, op), folded[i][op], 2);
    regal_encoding_free(context, e);
    regal_problem_free(problem);
  }
  regal_graph_free(graph);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TOY_TEST(test_nodes),    TOY_TEST(test_edges),
      TOY_TEST(test_memory),   TOY_TEST(test_nothing),
      TOY_TEST(test_control),  TOY_TEST(test_symmetry),
      TOY_TEST(test_devices),  TOY_TEST(test_list),
      TOY_TEST(test_table),    TOY_TEST(test_other_devices),
      TOY_TEST(test_of_graph),
  };
  return cmocka_run_group_tests_name("policy_features", tests, NULL, NULL);
}
