/* SPDX-License-Identifier: Apache-2.0 */
/* The graph and its builder: order, arrays, edges both ways, and what happens
 * when memory runs out. Messages are in test_graph_errors.c. */
#include "base/random.h"
#include "support/failing_allocator.h"
#include "support/graph_sketch.h"

static void assert_order(regal_context *context, const char *names,
                         const char *edges, const char *expected) {
  regal_graph *graph = sketch(context, names, edges);
  assert_int_equal(graph->ops, strlen(expected));
  for (uint32_t op = 0; op < graph->ops; op++)
    assert_int_equal(*regal_graph_name(graph, op), expected[op]);
  regal_graph_free(graph);
}

static void assert_rows(const uint32_t *begin, const uint32_t *item,
                        uint32_t row, size_t count, const uint32_t *expected) {
  assert_int_equal(begin[row + 1] - begin[row], count);
  for (size_t i = 0; i < count; i++)
    assert_int_equal(item[begin[row] + i], expected[i]);
}
#define ROW(begin, item, row, ...)                                             \
  assert_rows(begin, item, row,                                                \
              sizeof(uint32_t[]){__VA_ARGS__} / sizeof(uint32_t),              \
              (uint32_t[]){__VA_ARGS__})

/* -- What finish makes ----------------------------------------------------- */

static void test_order_is_the_files_where_it_can_be(void **state) {
  assert_order(*state, "abcd", "", "abcd");
  assert_order(*state, "abcd", "a>b b>c c>d", "abcd");
  assert_order(*state, "abcd", "d>a", "bcda");
  assert_order(*state, "abcd", "d>c c>b b>a", "dcba");
  assert_order(*state, "abcdef", "e:a f>b", "cdeafb");
  assert_order(*state, "abcdef", "c>a c:b a>d", "cabdef");
}

static void test_every_array(void **state) {
  regal_context *context = *state;
  regal_builder *builder;
  uint32_t a, b, c;
  assert_int_equal(regal_builder_create(context, &builder), REGAL_OK);
  regal_builder_add_op(builder, "late", 3, 30, 300, &a);
  regal_builder_add_input(builder, a, 2, 1);
  regal_builder_add_input(builder, a, 1, 0);
  regal_builder_add_input(builder, a, 2, 1);
  regal_builder_add_op(builder, "first", 5, 50, 500, &b);
  regal_builder_add_op(builder, "second", 7, 70, 700, &c);
  regal_builder_add_output(builder, c, 1, false);
  regal_builder_add_output(builder, b, 2, false);
  regal_builder_add_output(builder, c, 4, true);
  regal_builder_add_input(builder, c, b, 0);
  regal_builder_add_control(builder, c, a);
  regal_builder_add_control(builder, b, a);
  regal_builder_add_control(builder, c, a);
  regal_graph *g;
  assert_int_equal(regal_builder_finish(builder, &g), REGAL_OK);

  assert_int_equal(g->ops, 3);
  assert_int_equal(g->tensors, 3);
  assert_int_equal(g->uses, 3);
  assert_int_equal(g->controls, 2);
  assert_int_equal(g->file_nodes, 3);
  static const char *const names[] = {"first", "second", "late"};
  static const int64_t runs[] = {5, 7, 3};
  static const uint32_t ids[] = {1, 2, 0}, places[] = {2, 0, 1};
  for (uint32_t op = 0; op < 3; op++) {
    assert_string_equal(regal_graph_name(g, op), names[op]);
    assert_int_equal(g->run_ns[op], runs[op]);
    assert_int_equal(g->temporary_bytes[op], 10 * runs[op]);
    assert_int_equal(g->resident_bytes[op], 100 * runs[op]);
    assert_int_equal(g->id[op], ids[op]);
    assert_int_equal(g->op_of_id[op], places[op]);
  }
  assert_memory_equal(g->output_begin, ((uint32_t[]){0, 1, 3, 3}), 16);
  assert_memory_equal(g->producer, ((uint32_t[]){0, 1, 1}), 12);
  assert_memory_equal(g->bytes, ((int64_t[]){2, 1, 4}), 24);
  assert_memory_equal(g->is_final, ((uint8_t[]){0, 0, 1}), 3);
  assert_memory_equal(g->input_begin, ((uint32_t[]){0, 0, 1, 3}), 16);
  ROW(g->input_begin, g->input, 1, 0);
  ROW(g->input_begin, g->input, 2, 2, 0);
  assert_memory_equal(g->use_begin, ((uint32_t[]){0, 2, 2, 3}), 16);
  ROW(g->use_begin, g->consumer, 0, 1, 2);
  ROW(g->use_begin, g->consumer, 2, 2);
  assert_memory_equal(g->control_in_begin, ((uint32_t[]){0, 0, 0, 2}), 16);
  ROW(g->control_in_begin, g->control_in, 2, 0, 1);
  assert_memory_equal(g->control_out_begin, ((uint32_t[]){0, 1, 2, 2}), 16);
  ROW(g->control_out_begin, g->control_out, 0, 2);
  ROW(g->control_out_begin, g->control_out, 1, 2);
  regal_graph_free(g);
}

static void test_describe_and_op(void **state) {
  regal_graph *graph = sketch(*state, "abcd", "a>b a>c b:d a>b c>d");
  regal_graph_info info;
  regal_graph_describe(graph, &info);
  assert_int_equal(info.ops, 4);
  assert_int_equal(info.tensors, 4);
  assert_int_equal(info.data_edges, 3);
  assert_int_equal(info.control_edges, 1);
  assert_int_equal(info.file_nodes, 4);
  assert_int_equal(info.work_ns, 40);
  assert_int_equal(info.critical_ns, 30);
  assert_int_equal(info.tensor_bytes, 4);
  assert_int_equal(info.resident_bytes, 0);
  assert_true(info.checksum == graph->checksum);
  regal_op_info op;
  regal_graph_op(graph, 3, &op);
  assert_string_equal(op.name, "d");
  assert_int_equal(op.id, 3);
  assert_int_equal(op.run_ns, 10);
  assert_int_equal(op.outputs, 1);
  assert_int_equal(op.inputs, 1);
  regal_graph_free(graph);
}

/* Numbers of adding, for the ops "xyz" that are sorted to "yzx". */
static void test_parameters_and_marks(void **state) {
  regal_builder *builder;
  regal_graph *g;
  regal_graph_info info;
  uint32_t last;
  regal_builder_create(*state, &builder);
  assert_int_equal(regal_builder_add_parameter_use(builder, 2, 3), REGAL_OK);
  assert_int_equal(regal_builder_set_may_reuse(builder, 0, 1), REGAL_OK);
  assert_int_equal(add_sketch(builder, "xyz", "z>x"), REGAL_OK);
  regal_builder_add_output(builder, 0, 5, false);
  for (uint32_t p = 0; p < 4; p++) {
    assert_int_equal(regal_builder_add_parameter(builder, 100 + p, &last),
                     REGAL_OK);
    assert_int_equal(last, p);
  }
  regal_builder_add_op(builder, "w", 10, 0, 1000, NULL);
  static const uint32_t uses[][2] = {{2, 0}, {0, 3}, {0, 0}, {2, 3}, {0, 3}};
  for (int i = 0; i < 5; i++)
    regal_builder_add_parameter_use(builder, uses[i][0], uses[i][1]);
  regal_builder_add_parameter_use(builder, 3, 1);
  regal_builder_set_may_reuse(builder, 2, 0);
  regal_builder_set_may_reuse(builder, 0, 1);
  assert_int_equal(regal_builder_finish(builder, &g), REGAL_OK);
  assert_int_equal(g->parameters, 4);
  assert_memory_equal(g->parameter_bytes, ((int64_t[]){100, 101, 102, 103}),
                      32);
  assert_memory_equal(g->parameter_begin, ((uint32_t[]){0, 0, 2, 4, 5}), 20);
  ROW(g->parameter_begin, g->parameter, 1, 0, 3);
  ROW(g->parameter_begin, g->parameter, 2, 0, 3);
  ROW(g->parameter_begin, g->parameter, 3, 1);
  assert_memory_equal(g->may_reuse, ((uint8_t[]){0, 1, 0, 1}), 4);
  regal_graph_describe(g, &info);
  assert_int_equal(info.parameters, 4);
  assert_int_equal(info.reusing_tensors, 2);
  assert_int_equal(info.resident_bytes, 1000 + 100 + 101 + 103);
  regal_graph_free(g);
}

static void test_critical_path_follows_control_edges(void **state) {
  regal_graph *graph = sketch(*state, "abcde", "a:b b:c c:d");
  assert_int_equal(graph->critical_ns, 40);
  regal_graph_free(graph);
}

static void test_notes(void **state) {
  regal_graph *graph = sketch(*state, "a", "");
  assert_int_equal(regal_graph_note_count(graph), 0);
  for (int i = 0; i < 40; i++)
    assert_int_equal(
        regal_graph_add_note(graph, REGAL_NOTE_DROPPED, "%d of %s", i, "them"),
        REGAL_OK);
  assert_int_equal(regal_graph_note_count(graph), 40);
  assert_int_equal(regal_graph_note(graph, 39).kind, REGAL_NOTE_DROPPED);
  assert_string_equal(regal_graph_note(graph, 39).text, "39 of them");
  regal_graph_free(graph);
}

static void test_positions_of_a_reader(void **state) {
  regal_context *context = *state;
  regal_builder *builder;
  regal_graph *graph;
  uint32_t id;
  regal_builder_create(context, &builder);
  static const uint32_t positions[] = {7, 2, 4};
  for (int i = 0; i < 3; i++) {
    regal_builder_set_next_id(builder, positions[i]);
    regal_builder_add_op(builder, (char[]){(char)('x' + i), 0}, 1, 0, 0, &id);
    assert_int_equal(id, i);
  }
  regal_builder_add_control(builder, 2, 1);
  regal_builder_set_file_nodes(builder, 10);
  assert_int_equal(regal_builder_finish(builder, &graph), REGAL_OK);
  assert_int_equal(graph->file_nodes, 10);
  assert_string_equal(graph->names + graph->name_begin[0], "z");
  assert_memory_equal(graph->id, ((uint32_t[]){4, 2, 7}), 12);
  for (uint32_t i = 0; i < 10; i++)
    assert_int_equal(graph->op_of_id[i], i == 4   ? 0
                                         : i == 2 ? 1
                                         : i == 7 ? 2
                                                  : REGAL_NONE);
  regal_graph_free(graph);
}

/* -- Checksum -------------------------------------------------------------- */

static uint64_t checksum_of(regal_context *context, const char *names,
                            const char *edges) {
  regal_graph *graph = sketch(context, names, edges);
  uint64_t checksum = graph->checksum;
  regal_graph_free(graph);
  return checksum;
}

/* One op and one output, each property in turn raised by one. */
static uint64_t checksum_varied(regal_context *context, int varied) {
  regal_builder *builder;
  regal_graph *graph;
  regal_builder_create(context, &builder);
  if (varied == 1)
    regal_builder_set_next_id(builder, 1);
  regal_builder_add_op(builder, varied == 2 ? "long name 2" : "long name 1",
                       varied == 3, varied == 4, varied == 5, NULL);
  regal_builder_add_output(builder, 0, varied == 6, varied == 7);
  if (varied == 8)
    regal_builder_add_output(builder, 0, 0, false);
  if (varied == 9)
    regal_builder_set_file_nodes(builder, 2);
  if (varied >= 10 && varied < 14)
    regal_builder_add_parameter(builder, varied == 11, NULL);
  if (varied == 12)
    regal_builder_add_parameter_use(builder, 0, 0);
  if (varied == 13)
    regal_builder_add_parameter(builder, 0, NULL);
  if (varied == 14)
    regal_builder_set_may_reuse(builder, 0, 0);
  regal_builder_finish(builder, &graph);
  uint64_t checksum = graph->checksum;
  regal_graph_free(graph);
  return checksum;
}

static void test_checksum_depends_on_everything(void **state) {
  uint64_t base = checksum_of(*state, "abc", "a>b b:c");
  assert_true(base == checksum_of(*state, "abc", "a>b a>b b:c b:c"));
  assert_true(base != checksum_of(*state, "abd", "a>b b:d"));
  assert_true(base != checksum_of(*state, "abc", "a:b b:c"));
  assert_true(base != checksum_of(*state, "abc", "a>b a:c"));
  uint64_t sums[15];
  for (int i = 0; i < 15; i++) {
    sums[i] = checksum_varied(*state, i);
    for (int j = 0; j < i; j++)
      assert_true(sums[i] != sums[j]);
  }
}

/* Plans carry the checksum: it must not change between versions. */
static void test_checksum_is_pinned(void **state) {
  uint64_t sum = checksum_of(*state, "abc", "a>b b:c");
  assert_true(sum == UINT64_C(0x6f90bee7baf1689c));
  assert_true(checksum_varied(*state, 12) == UINT64_C(0x810725d255e47796));
  assert_true(checksum_varied(*state, 14) == UINT64_C(0xb5e953b064d8dc93));
}

/* -- Properties ------------------------------------------------------------ */

static bool row_has(const uint32_t *begin, const uint32_t *item, uint32_t row,
                    uint32_t value) {
  for (uint32_t i = begin[row]; i < begin[row + 1]; i++)
    if (item[i] == value)
      return true;
  return false;
}

/* Both directions hold the same pairs; the rows of the second ascend. */
static void check_transposed(uint32_t rows, const uint32_t *begin,
                             const uint32_t *item, uint32_t columns,
                             const uint32_t *other_begin,
                             const uint32_t *other) {
  assert_int_equal(begin[0], 0);
  assert_int_equal(other_begin[0], 0);
  assert_int_equal(begin[rows], other_begin[columns]);
  for (uint32_t row = 0; row < rows; row++)
    for (uint32_t i = begin[row]; i < begin[row + 1]; i++)
      assert_true(row_has(other_begin, other, item[i], row));
  for (uint32_t column = 0; column < columns; column++)
    for (uint32_t i = other_begin[column]; i + 1 < other_begin[column + 1]; i++)
      assert_true(other[i] < other[i + 1]);
}

static void check_graph(const regal_graph *graph) {
  check_transposed(graph->ops, graph->input_begin, graph->input, graph->tensors,
                   graph->use_begin, graph->consumer);
  check_transposed(graph->ops, graph->control_in_begin, graph->control_in,
                   graph->ops, graph->control_out_begin, graph->control_out);
  check_transposed(graph->ops, graph->control_out_begin, graph->control_out,
                   graph->ops, graph->control_in_begin, graph->control_in);
  for (uint32_t op = 0; op < graph->ops; op++) {
    assert_int_equal(graph->op_of_id[graph->id[op]], op);
    for (uint32_t t = graph->output_begin[op]; t < graph->output_begin[op + 1];
         t++)
      assert_int_equal(graph->producer[t], op);
    for (uint32_t i = graph->input_begin[op]; i < graph->input_begin[op + 1];
         i++)
      assert_true(graph->producer[graph->input[i]] < op);
    for (uint32_t i = graph->control_in_begin[op];
         i < graph->control_in_begin[op + 1]; i++)
      assert_true(graph->control_in[i] < op);
  }
}

/* The order by the definition, the slow way: again and again the first op of
 * the file that is not yet placed and needs nothing unplaced. */
static void check_order(const regal_graph *graph) {
  bool placed[64] = {false};
  for (uint32_t place = 0; place < graph->ops; place++) {
    uint32_t chosen = REGAL_NONE;
    for (uint32_t id = 0; id < graph->ops && chosen == REGAL_NONE; id++) {
      uint32_t op = graph->op_of_id[id];
      bool ready = !placed[op];
      for (uint32_t before = 0; before < graph->ops; before++) {
        bool needed =
            row_has(graph->control_in_begin, graph->control_in, op, before);
        for (uint32_t t = graph->output_begin[before];
             t < graph->output_begin[before + 1]; t++)
          needed |= row_has(graph->input_begin, graph->input, op, t);
        ready &= !needed || placed[before];
      }
      if (ready)
        chosen = op;
    }
    assert_int_equal(chosen, place);
    placed[chosen] = true;
  }
}

/* Random edges that agree with a hidden random order, many of them twice. */
static regal_graph *random_graph(regal_context *context, uint32_t ops,
                                 uint64_t seed, uint32_t *inputs) {
  regal_random random = {regal_random_key(seed, REGAL_PURPOSE_TEST, 0, 0), 0};
  uint32_t rank[64], outputs[64];
  regal_builder *builder;
  regal_graph *graph;
  regal_builder_create(context, &builder);
  for (uint32_t op = 0; op < ops; op++) {
    uint32_t j = (uint32_t)regal_random_below(&random, op + 1);
    rank[op] = rank[j];
    rank[j] = op;
    outputs[op] = (uint32_t)regal_random_below(&random, 4);
    regal_builder_add_op(builder, "op", 1, 0, 0, NULL);
    for (uint32_t port = 0; port < outputs[op]; port++)
      regal_builder_add_output(builder, op, 1, false);
  }
  bool read[64][64][4] = {{{false}}};
  for (uint32_t edge = 0; edge < 4 * ops; edge++) {
    uint32_t a = (uint32_t)regal_random_below(&random, ops);
    uint32_t b = (uint32_t)regal_random_below(&random, ops);
    if (rank[a] >= rank[b])
      continue;
    if (outputs[a] && edge % 3) {
      uint32_t port = (uint32_t)regal_random_below(&random, outputs[a]);
      regal_builder_add_input(builder, b, a, port);
      *inputs += !read[b][a][port];
      read[b][a][port] = true;
    } else {
      regal_builder_add_control(builder, a, b);
    }
  }
  assert_int_equal(regal_builder_finish(builder, &graph), REGAL_OK);
  return graph;
}

static void test_random_graphs(void **state) {
  for (uint64_t seed = 0; seed < 1000; seed++) {
    uint32_t inputs = 0;
    regal_graph *graph =
        random_graph(*state, 2 + (uint32_t)(seed % 40), seed, &inputs);
    assert_int_equal(graph->uses, inputs);
    check_graph(graph);
    check_order(graph);
    regal_graph_free(graph);
  }
}

/* -- Memory and size ------------------------------------------------------- */

static regal_status build_with(regal_context *context, const char *edges,
                               regal_graph **graph) {
  regal_builder *builder;
  REGAL_TRY(regal_builder_create(context, &builder));
  regal_status status =
      add_sketch(builder, "abcdefghijklmnopqrstuvwxyz", edges);
  if (status == REGAL_OK)
    status = regal_builder_add_parameter(builder, 10, NULL);
  if (status == REGAL_OK)
    status = regal_builder_add_parameter_use(builder, 3, 0);
  if (status == REGAL_OK)
    status = regal_builder_set_may_reuse(builder, 0, 0);
  if (status == REGAL_OK)
    return regal_builder_finish(builder, graph);
  regal_builder_free(builder);
  return status;
}

/* Fails each allocation in turn; returns how many there were. */
static size_t fail_allocations(const char *edges, regal_status expected) {
  for (size_t n = 1;; n++) {
    failing_allocator memory = {.fail_at = n + 1}; /* the first: the context */
    regal_allocator allocator = failing_allocator_of(&memory);
    regal_context *context;
    assert_int_equal(regal_context_create(&context, &allocator), REGAL_OK);
    regal_graph *graph = NULL;
    regal_status status = build_with(context, edges, &graph);
    if (status == REGAL_OK)
      status =
          regal_graph_add_note(graph, REGAL_NOTE_WARNING, "%s", "a warning");
    if (memory.failed) {
      assert_int_equal(status, REGAL_NO_MEMORY);
      assert_string_equal(regal_error(context), "out of memory");
    } else {
      assert_int_equal(status, expected);
    }
    regal_graph_free(graph);
    assert_int_equal(regal_bytes_in_use(context), 0);
    regal_context_free(context);
    assert_int_equal(memory.blocks, 0);
    if (!memory.failed)
      return n - 1;
  }
}

static void test_failing_allocations(void **state) {
  (void)state;
  assert_in_range(fail_allocations("z>a b>c c:d", REGAL_OK), 30, 60);
  assert_in_range(fail_allocations("z>a b>c a:z", REGAL_BAD_INPUT), 12, 60);
}

static void test_a_million_ops(void **state) {
  enum { OPS = 1000000, READS = 3 };
  regal_context *context = *state;
  regal_builder *builder;
  regal_graph *graph;
  regal_random random = {1, 0};
  regal_builder_create(context, &builder);
  for (uint32_t op = 0; op < OPS; op++) {
    char name[32];
    snprintf(name, sizeof name, "op_%u", op);
    if (regal_builder_add_op(builder, name, 2, 1, 1, NULL) ||
        regal_builder_add_output(builder, op, 4, false))
      fail_msg("%s", regal_error(context));
    /* Backwards in the file: the last op runs first. */
    for (int i = 0; i < READS && op + 1 < OPS; i++) {
      uint64_t from = op + (i ? 1 + regal_random_below(&random, 100) : 1);
      if (from < OPS)
        regal_builder_add_input(builder, op, (uint32_t)from, 0);
    }
  }
  assert_int_equal(regal_builder_finish(builder, &graph), REGAL_OK);
  assert_int_equal(graph->ops, OPS);
  assert_int_equal(graph->id[0], OPS - 1);
  assert_int_equal(graph->critical_ns, 2 * OPS);
  assert_int_equal(graph->work_ns, 2 * OPS);
  assert_true(regal_bytes_peak(context) < OPS * (size_t)400);
  regal_graph_free(graph);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      CONTEXT_TEST(test_order_is_the_files_where_it_can_be),
      CONTEXT_TEST(test_every_array),
      CONTEXT_TEST(test_describe_and_op),
      CONTEXT_TEST(test_parameters_and_marks),
      CONTEXT_TEST(test_critical_path_follows_control_edges),
      CONTEXT_TEST(test_notes),
      CONTEXT_TEST(test_positions_of_a_reader),
      CONTEXT_TEST(test_checksum_depends_on_everything),
      CONTEXT_TEST(test_checksum_is_pinned),
      CONTEXT_TEST(test_random_graphs),
      CONTEXT_TEST(test_failing_allocations),
      CONTEXT_TEST(test_a_million_ops),
  };
  return cmocka_run_group_tests_name("graph", tests, NULL, NULL);
}
