/* SPDX-License-Identifier: Apache-2.0 */
/* Figures of graphs: diameter against all shortest paths, width, in-degrees,
 * and which graphs leave no room for improvement. */
#include <stdlib.h>
#include <string.h>

#include "dataset/figures.h"
#include "dataset/synthetic/synthetic.h"
#include "support/failing_allocator.h"
#include "support/random_cases.h"
#include "support/toy_graph.h"

/* A row of a toy graph. */
#define NODE(time, size, read, wait, last, scratch, kept)                      \
  {                                                                            \
    .run_ns = (time), .bytes = (size), .reads = (read), .waits = (wait),       \
    .is_final = (last), .temporary = (scratch), .resident = (kept)             \
  }

#define FAR 1000000u

/* Floyd and Warshall, over data edges taken either way. */
static uint32_t slow_diameter(const regal_graph *graph) {
  size_t n = graph->ops;
  uint32_t *far = malloc(n * n * sizeof *far), longest = 0;
  for (size_t i = 0; i < n * n; i++)
    far[i] = i % (n + 1) ? FAR : 0;
  for (uint32_t op = 0; op < n; op++)
    for (uint32_t i = graph->input_begin[op]; i < graph->input_begin[op + 1];
         i++) {
      uint32_t from = graph->producer[graph->input[i]];
      far[op * n + from] = far[from * n + op] = 1;
    }
  for (size_t k = 0; k < n; k++)
    for (size_t i = 0; i < n; i++)
      for (size_t j = 0; j < n; j++)
        if (far[i * n + k] + far[k * n + j] < far[i * n + j])
          far[i * n + j] = far[i * n + k] + far[k * n + j];
  for (size_t i = 0; i < n * n; i++)
    if (far[i] < FAR && far[i] > longest)
      longest = far[i];
  free(far);
  return longest;
}

static void check_diameter(regal_context *context, regal_graph *graph) {
  uint32_t diameter;
  assert_int_equal(regal_graph_diameter(context, graph, &diameter), REGAL_OK);
  assert_int_equal(diameter, slow_diameter(graph));
  regal_graph_free(graph);
}

static void diameter_of_random_graphs(void **state) {
  regal_graph *graph;
  for (uint64_t seed = 0; seed < 300; seed++) {
    regal_test_random_graph(*state, seed, 40, &graph);
    check_diameter(*state, graph);
  }
  for (uint64_t seed = 0; seed < 12; seed++) {
    assert_int_equal(regal_synthetic_graph(*state,
                                           (regal_graph_model)(seed % 4), 80,
                                           seed, &graph),
                     REGAL_OK);
    check_diameter(*state, graph);
  }
}

static regal_figures figures_of(void **state, regal_graph *graph) {
  regal_figures figures;
  assert_int_equal(regal_figures_of(*state, graph, &figures), REGAL_OK);
  regal_graph_free(graph);
  return figures;
}

/* a -> b -> d -> e, a -> c -> d, and f, which waits for e. */
static void figures_of_a_diamond(void **state) {
  static const toy_op ops[] = {
      NODE(10, 1, "", "", false, 0, 0),  NODE(20, 2, "a", "", false, 0, 0),
      NODE(30, 4, "a", "", false, 0, 0), NODE(40, 8, "bc", "", false, 0, 0),
      NODE(50, 16, "d", "", true, 0, 0), NODE(60, 0, "", "e", false, 0, 0)};
  regal_graph *graph = TOY_GRAPH(*state, ops);
  uint64_t checksum = graph->checksum;
  regal_figures figures = figures_of(state, graph);
  assert_int_equal(figures.ops, 6);
  assert_int_equal(figures.tensors, 6);
  assert_int_equal(figures.edges, 5);
  assert_int_equal(figures.controls, 1);
  assert_int_equal(figures.diameter, 3);
  assert_int_equal(figures.width, 2);
  assert_int_equal(figures.work_ns, 210);
  assert_int_equal(figures.critical_ns, 190);
  assert_int_equal(figures.tensor_bytes, 31);
  assert_int_equal(figures.runtime_room, REGAL_ROOM_YES);
  assert_int_equal(figures.memory_room, REGAL_ROOM_YES);
  assert_true(figures.checksum == checksum);
}

/* Costs and names do not matter, nor does the order; edges do. */
static void degrees(void **state) {
  static const toy_op fork[] = {
      NODE(1, 1, "", "", false, 0, 0), NODE(1, 1, "a", "", false, 0, 0),
      NODE(1, 1, "a", "", false, 0, 0), NODE(1, 1, "bc", "", false, 0, 0)};
  static const toy_op other_costs[] = {
      NODE(5, 9, "", "", true, 1, 0), NODE(6, 8, "a", "", false, 2, 0),
      NODE(7, 7, "", "a", false, 3, 4), NODE(8, 6, "bc", "", true, 4, 0)};
  static const toy_op other_order[] = {
      NODE(1, 1, "", "", false, 0, 0), NODE(1, 1, "a", "", false, 0, 0),
      NODE(1, 1, "ab", "", false, 0, 0), NODE(1, 1, "c", "", false, 0, 0)};
  static const toy_op chain[] = {
      NODE(1, 1, "", "", false, 0, 0), NODE(1, 1, "a", "", false, 0, 0),
      NODE(1, 1, "b", "", false, 0, 0), NODE(1, 1, "c", "", false, 0, 0)};
  uint64_t one = figures_of(state, TOY_GRAPH(*state, fork)).degrees;
  assert_true(figures_of(state, TOY_GRAPH(*state, other_costs)).degrees == one);
  assert_true(figures_of(state, TOY_GRAPH(*state, other_order)).degrees == one);
  assert_true(figures_of(state, TOY_GRAPH(*state, chain)).degrees != one);
  assert_true(one == UINT64_C(0x76C024988D4F31CD));
}

static void no_room(void **state) {
  static const toy_op free_ops[] = {NODE(0, 0, "", "", false, 0, 5),
                                    NODE(0, 0, "a", "", false, 0, 0)};
  static const toy_op single[] = {NODE(0, 0, "", "", false, 0, 0),
                                  NODE(5, 3, "a", "", false, 0, 0),
                                  NODE(0, 0, "b", "", false, 0, 0)};
  static const toy_op chain[] = {
      NODE(1, 1, "", "", false, 0, 0), NODE(0, 1, "a", "", false, 0, 0),
      NODE(0, 1, "a", "", false, 0, 0), NODE(3, 1, "bc", "", false, 0, 0)};
  static const toy_op waiting[] = {NODE(1, 0, "", "", false, 7, 0),
                                   NODE(2, 0, "", "a", false, 0, 0)};
  static const toy_op apart[] = {NODE(1, 1, "", "", false, 0, 0),
                                 NODE(1, 1, "", "", false, 0, 0)};
  static const struct {
    const toy_op *ops;
    size_t count;
    regal_room runtime, memory;
  } cases[] = {
      {free_ops, 2, REGAL_ROOM_NO_COST, REGAL_ROOM_NO_COST},
      {single, 3, REGAL_ROOM_SINGLE_OP, REGAL_ROOM_SINGLE_OP},
      {chain, 4, REGAL_ROOM_CHAIN, REGAL_ROOM_YES},
      {waiting, 2, REGAL_ROOM_CHAIN, REGAL_ROOM_SINGLE_OP},
      {apart, 2, REGAL_ROOM_YES, REGAL_ROOM_YES},
      {apart, 1, REGAL_ROOM_SINGLE_OP, REGAL_ROOM_SINGLE_OP},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    regal_figures figures =
        figures_of(state, toy_graph(*state, cases[i].ops, cases[i].count));
    assert_int_equal(figures.runtime_room, cases[i].runtime);
    assert_int_equal(figures.memory_room, cases[i].memory);
  }
  assert_string_equal(regal_room_name(REGAL_ROOM_CHAIN), "chain");
}

static void failing_memory(void **state) {
  regal_graph *graph;
  assert_int_equal(
      regal_synthetic_graph(*state, REGAL_ERDOS_RENYI, 20, 1, &graph),
      REGAL_OK);
  for (size_t n = 1;; n++) {
    failing_allocator memory = {.fail_at = n + 1};
    regal_allocator allocator = failing_allocator_of(&memory);
    regal_context *context;
    regal_figures figures;
    assert_int_equal(regal_context_create(&context, &allocator), REGAL_OK);
    regal_status status = regal_figures_of(context, graph, &figures);
    regal_context_free(context);
    assert_int_equal(memory.blocks, 0);
    if (!memory.failed)
      break;
    assert_int_equal(status, REGAL_NO_MEMORY);
  }
  regal_graph_free(graph);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TOY_TEST(diameter_of_random_graphs),
      TOY_TEST(figures_of_a_diamond),
      TOY_TEST(degrees),
      TOY_TEST(no_room),
      TOY_TEST(failing_memory),
  };
  return cmocka_run_group_tests_name("figures", tests, NULL, NULL);
}
