/* SPDX-License-Identifier: Apache-2.0 */
/* Bare orders that are written: by names that can be read back. */
#include "support/files.h"
#include "support/loaded_graph.h"

static regal_context *context;

static int set_up(void **state) {
  return files_enter(state) || regal_context_create(&context, NULL) != REGAL_OK;
}

static int tear_down(void **state) {
  assert_int_equal(regal_bytes_in_use(context), 0);
  regal_context_free(context);
  return files_leave(state);
}

/* Names that are another's too (also with the device behind them: b on device
 * 1), none, numbers, comments, or begin or end with a blank are written by id;
 * others may have blanks and a number at their end. */
static const char *const strange[] = {"conv.1", "twin", "twin", "",      "17",
                                      "# a",    "b 1",  "b",    " c",    "d ",
                                      "e\nf",   "{",    "a#b",  "x # y", "g"};
#define OPS (sizeof strange / sizeof *strange)

static regal_graph *make_graph(void) {
  regal_builder *builder;
  regal_graph *graph;
  uint32_t id;
  assert_int_equal(regal_builder_create(context, &builder), REGAL_OK);
  for (size_t i = 0; i < OPS; i++)
    assert_int_equal(regal_builder_add_op(builder, strange[i], 1, 0, 0, &id),
                     REGAL_OK);
  assert_int_equal(regal_builder_finish(builder, &graph), REGAL_OK);
  return graph;
}

/* Writes the ops backwards, alternately on the devices, and reads them. */
static void write_and_read(const regal_graph *graph, const char *devices,
                           const char *expected) {
  regal_options options = loaded_options(context, "devices", devices, NULL);
  regal_problem *problem;
  regal_step steps[OPS];
  assert_int_equal(regal_problem_create(context, graph, &options, &problem),
                   REGAL_OK);
  uint16_t count = (uint16_t)regal_problem_devices(problem);
  for (uint16_t i = 0; i < OPS; i++)
    steps[i] = (regal_step){(uint32_t)OPS - 1 - i, REGAL_RUN,
                            (uint16_t)(i % count), (uint16_t)(i % count)};
  regal_plan plan = {context, OPS, steps}, *again;
  regal_result result = {.context = context, .problem = problem, .plan = &plan};
  assert_int_equal(regal_plan_save(context, &result, "x.order"), REGAL_OK);
  char *written = files_read("x.order");
  assert_string_equal(written, expected);
  free(written);
  if (regal_plan_load(context, problem, "x.order", &again) != REGAL_OK)
    fail_msg("%s", regal_error(context));
  assert_int_equal(again->step_count, OPS);
  assert_memory_equal(again->steps, steps, sizeof steps);
  regal_plan_free(again);
  regal_problem_free(problem);
}

static void orders_are_read_back(void **state) {
  (void)state;
  regal_graph *graph = make_graph();
  write_and_read(graph, "1",
                 "g\nx # y\na#b\n11 # {\n10 # e?f\n9 # d \n8 #  c\nb\nb 1\n"
                 "5 # # a\n4 # 17\n3 # \n2 # twin\n1 # twin\nconv.1\n");
  write_and_read(graph, "2",
                 "g 0\nx # y 1\na#b 0\n11 1 # {\n10 0 # e?f\n9 1 # d \n"
                 "8 0 #  c\n7 1 # b\nb 1 0\n5 1 # # a\n4 0 # 17\n3 1 # \n"
                 "2 0 # twin\n1 1 # twin\nconv.1 0\n");
  regal_graph_free(graph);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(orders_are_read_back, set_up, tear_down),
  };
  return cmocka_run_group_tests_name("order_write", tests, NULL, NULL);
}
