/* SPDX-License-Identifier: Apache-2.0 */
/* Augmented copies: the same from the same (graph, seed, copy), each number
 * times its own uniform one in (0.5, 1.5). */
#include <math.h>
#include <string.h>

#include "dataset/synthetic/synthetic.h"
#include "graph/graph.h"
#include "regal_data.h"
#include "support/failing_allocator.h"
#include "support/random_cases.h"
#include "support/toy_graph.h"

/* A row of a toy graph. */
#define NODE(time, size, read, wait, last, scratch, kept)                      \
  {                                                                            \
    .run_ns = (time), .bytes = (size), .reads = (read), .waits = (wait),       \
    .is_final = (last), .temporary = (scratch), .resident = (kept)             \
  }

static regal_graph *augment(void **state, const regal_graph *graph,
                            uint64_t seed, uint32_t copy) {
  regal_graph *made = NULL;
  assert_int_equal(regal_graph_augment(*state, graph, seed, copy, &made),
                   REGAL_OK);
  return made;
}

static void assert_same(const regal_graph_info *a, const regal_graph_info *b) {
  assert_int_equal(a->ops, b->ops);
  assert_int_equal(a->tensors, b->tensors);
  assert_int_equal(a->data_edges, b->data_edges);
  assert_int_equal(a->control_edges, b->control_edges);
  assert_int_equal(a->file_nodes, b->file_nodes);
  assert_int_equal(a->work_ns, b->work_ns);
  assert_int_equal(a->critical_ns, b->critical_ns);
  assert_int_equal(a->tensor_bytes, b->tensor_bytes);
  assert_int_equal(a->resident_bytes, b->resident_bytes);
  assert_int_equal(a->parameters, b->parameters);
  assert_int_equal(a->reusing_tensors, b->reusing_tensors);
  assert_true(a->checksum == b->checksum);
}

static void copies_are_equal(void **state) {
  for (uint64_t seed = 0; seed < 200; seed++) {
    regal_graph *graph, *copy, *settled;
    regal_test_random_graph(*state, seed, 30, &graph);
    copy = augment(state, graph, 1, 0);
    assert_true(copy->checksum == graph->checksum);
    assert_int_equal(regal_graph_copy(*state, graph, &settled), REGAL_OK);
    assert_int_equal(regal_graph_settle(settled), REGAL_OK);
    regal_graph_info a, b, c;
    regal_graph_describe(graph, &a);
    regal_graph_describe(copy, &b);
    regal_graph_describe(settled, &c);
    assert_same(&a, &b);
    assert_same(&a, &c);
    for (uint32_t i = 0; i < graph->uses; i++)
      assert_int_equal(copy->consumer[i], graph->consumer[i]);
    for (uint32_t i = 0; i < graph->controls; i++)
      assert_int_equal(copy->control_out[i], graph->control_out[i]);
    for (uint32_t i = 0; i < graph->file_nodes; i++)
      assert_int_equal(copy->op_of_id[i], graph->op_of_id[i]);
    regal_graph_free(graph);
    regal_graph_free(copy);
    regal_graph_free(settled);
  }
}

static void deterministic(void **state) {
  regal_graph *graph, *one, *again, *other_copy, *other_seed;
  assert_int_equal(
      regal_synthetic_graph(*state, REGAL_WATTS_STROGATZ, 50, 7, &graph),
      REGAL_OK);
  one = augment(state, graph, 1, 1);
  again = augment(state, graph, 1, 1);
  other_copy = augment(state, graph, 1, 2);
  other_seed = augment(state, graph, 2, 1);
  assert_true(one->checksum == again->checksum);
  assert_true(one->checksum != graph->checksum);
  assert_true(one->checksum != other_copy->checksum);
  assert_true(one->checksum != other_seed->checksum);
  assert_true(other_copy->checksum != other_seed->checksum);
  regal_graph_free(graph);
  regal_graph_free(one);
  regal_graph_free(again);
  regal_graph_free(other_copy);
  regal_graph_free(other_seed);
}

/* The same numbers on every machine, today and later. */
static void pinned(void **state) {
  static const toy_op ops[] = {NODE(1000000, 1000000, "", "", false, 7, 9),
                               NODE(1000000, 1000000, "a", "", true, 0, 0)};
  regal_graph *graph = TOY_GRAPH(*state, ops);
  regal_graph *copy = augment(state, graph, 1, 1);
  assert_int_equal(copy->bytes[0], 1446140);
  assert_int_equal(copy->bytes[1], 1017732);
  assert_int_equal(copy->run_ns[0], 560324);
  assert_int_equal(copy->run_ns[1], 685485);
  assert_int_equal(copy->temporary_bytes[0], 7);
  assert_int_equal(copy->resident_bytes[0], 9);
  assert_int_equal(copy->tensor_bytes, copy->bytes[0] + copy->bytes[1]);
  assert_int_equal(copy->work_ns, copy->run_ns[0] + copy->run_ns[1]);
  assert_int_equal(copy->critical_ns, copy->work_ns);
  regal_graph_free(graph);
  regal_graph_free(copy);
}

/* Kolmogorov and Smirnov's distance of factors from uniform, times the square
 * root of their number; above 1.95 in one of a thousand cases. */
static int by_value(const void *left, const void *right) {
  double a = *(const double *)left, b = *(const double *)right;
  return (a > b) - (a < b);
}

static double distance(double *factors, size_t count) {
  double worst = 0;
  qsort(factors, count, sizeof *factors, by_value);
  for (size_t i = 0; i < count; i++) {
    double at = factors[i] - .5;
    worst = fmax(worst, fabs(at - (double)i / (double)count));
    worst = fmax(worst, fabs(at - (double)(i + 1) / (double)count));
  }
  return worst * sqrt((double)count);
}

enum { OPS = 64, COPIES = 200 };

static void uniform(void **state) {
  static double sizes[OPS * COPIES], times[OPS * COPIES];
  regal_builder *builder;
  regal_graph *graph;
  uint32_t id;
  assert_int_equal(regal_builder_create(*state, &builder), REGAL_OK);
  for (int i = 0; i < OPS; i++) {
    assert_int_equal(regal_builder_add_op(builder, "x", 1 << 30, 0, 0, &id),
                     REGAL_OK);
    assert_int_equal(regal_builder_add_output(builder, id, 1 << 30, false),
                     REGAL_OK);
  }
  assert_int_equal(regal_builder_finish(builder, &graph), REGAL_OK);
  double covariance = 0;
  for (uint32_t copy = 1; copy <= COPIES; copy++) {
    regal_graph *made = augment(state, graph, 5, copy);
    for (uint32_t i = 0; i < OPS; i++) {
      size_t at = (copy - 1) * OPS + i;
      sizes[at] = (double)made->bytes[i] / (1 << 30);
      times[at] = (double)made->run_ns[i] / (1 << 30);
      covariance += (sizes[at] - 1) * (times[at] - 1);
      assert_true(sizes[at] > .5 && sizes[at] < 1.5);
      assert_true(times[at] > .5 && times[at] < 1.5);
    }
    regal_graph_free(made);
  }
  /* Independent: the covariance is 0, with a standard error of 1/12/sqrt(n). */
  size_t count = OPS * COPIES;
  assert_true(fabs(covariance / (double)count) < 4. / 12 / sqrt((double)count));
  assert_true(distance(sizes, count) < 1.95);
  assert_true(distance(times, count) < 1.95);
  regal_graph_free(graph);
}

static void small_and_large(void **state) {
  static const toy_op small[] = {NODE(1, 1, "", "", false, 0, 0),
                                 NODE(0, 0, "a", "", false, 0, 0)};
  toy_op large[] = {NODE(INT64_C(1) << 61, 1, "", "", false, 0, 0),
                    NODE(INT64_C(1) << 60, 1, "a", "", false, 0, 0),
                    NODE(INT64_C(1) << 60, 1, "a", "", false, 0, 0)};
  large[2].run_ns -= 1;
  regal_graph *graph = TOY_GRAPH(*state, small), *made;
  bool refused = false;
  for (uint32_t copy = 1; copy < 20; copy++) {
    made = augment(state, graph, 1, copy);
    assert_int_equal(made->run_ns[0], 1);
    assert_int_equal(made->bytes[0], 1);
    assert_int_equal(made->run_ns[1], 0);
    assert_int_equal(made->bytes[1], 0);
    regal_graph_free(made);
  }
  regal_graph_free(graph);
  graph = TOY_GRAPH(*state, large);
  for (uint32_t copy = 1; copy < 20; copy++) {
    regal_status status = regal_graph_augment(*state, graph, 1, copy, &made);
    if (status == REGAL_OK) {
      regal_graph_free(made);
      continue;
    }
    refused = true;
    assert_int_equal(status, REGAL_BAD_INPUT);
    assert_string_equal(regal_error(*state),
                        "the graph's times or sizes add up to 2^62 or more");
  }
  assert_true(refused);
  regal_graph_free(graph);
}

static void failing_memory(void **state) {
  regal_graph *graph;
  regal_test_random_graph(*state, 3, 10, &graph);
  for (size_t n = 2;; n++) {
    failing_allocator memory = {.fail_at = n};
    regal_allocator allocator = failing_allocator_of(&memory);
    regal_context *context;
    regal_graph *made = NULL;
    assert_int_equal(regal_context_create(&context, &allocator), REGAL_OK);
    regal_status status = regal_graph_augment(context, graph, 1, 1, &made);
    regal_graph_free(made);
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
      TOY_TEST(copies_are_equal), TOY_TEST(deterministic),
      TOY_TEST(pinned),           TOY_TEST(uniform),
      TOY_TEST(small_and_large),  TOY_TEST(failing_memory),
  };
  return cmocka_run_group_tests_name("augment", tests, NULL, NULL);
}
