/* SPDX-License-Identifier: Apache-2.0 */
/* The reports about a plan: exact text on small examples; on random plans, that
 * their figures add up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cost/model/problem.h"
#include "support/failing_allocator.h"
#include "support/plan_bench.h"

/* Reports look only at the graph and the machine of a problem. */
static regal_problem problem_of(const regal_graph *graph,
                                regal_machine *machine) {
  return (regal_problem){.graph = graph, .machine = machine};
}

typedef struct report {
  char *text;
  size_t size;
  FILE *stream;
} report;

static regal_status explain(regal_context *context, regal_problem *problem,
                            regal_plan *plan, report *report) {
  report->stream = open_memstream(&report->text, &report->size);
  assert_non_null(report->stream);
  regal_status status =
      regal_report_explain(context, problem, plan, report->stream);
  fclose(report->stream);
  return status;
}

static void expect_explained(bench *b, const regal_step *steps, uint32_t count,
                             const char *expected) {
  regal_plan plan = {b->context, count, (regal_step *)steps};
  regal_problem problem = problem_of(b->graph, &b->machine);
  report report = {0};
  assert_int_equal(explain(b->context, &problem, &plan, &report), REGAL_OK);
  assert_string_equal(report.text, expected);
  free(report.text);
}

static void expect_drawn(bench *b, const regal_step *steps, uint32_t count,
                         int columns, const char *expected) {
  regal_plan plan = {b->context, count, (regal_step *)steps};
  regal_problem problem = problem_of(b->graph, &b->machine);
  report report = {0};
  report.stream = open_memstream(&report.text, &report.size);
  assert_int_equal(regal_report_timeline(b->context, &problem, &plan, columns,
                                         report.stream),
                   REGAL_OK);
  fclose(report.stream);
  assert_string_equal(report.text, expected);
  free(report.text);
}

static void make_machine_with_costs(bench *b) {
  b->machine.latency_ns[0][1] = b->machine.latency_ns[1][0] = 4;
  b->machine.memory_limit[0] = 20;
  b->machine.memory_limit[1] = 100;
}

static void test_explain_paper_example(void **state) {
  make_paper_graph(*state);
  make_machine_with_costs(*state);
  expect_explained(
      *state, paper_plan, COUNT(paper_plan),
      "critical chain: 6 of 7 steps, 48 ns: 83.3% in 4 ops, 16.7% in 2 "
      "transfers\n"
      "  its steps waited for: input (3), device (1), receiver (1)\n"
      "  step    start      takes       share  waited for    what\n"
      "  0       0 ns       10 ns       20.8%  -             op \"1\" (id 0) "
      "on device 0\n"
      "  1       10 ns      4 ns         8.3%  input         \"1\":1 (id 0) "
      "from device 0 to 1\n"
      "  2       14 ns      10 ns       20.8%  device        op \"2\" (id 1) "
      "on device 0\n"
      "  4       24 ns      10 ns       20.8%  input         op \"4\" (id 3) "
      "on device 0\n"
      "  5       34 ns      4 ns         8.3%  receiver      \"3\":0 (id 2) "
      "from device 1 to 0\n"
      "  6       38 ns      10 ns       20.8%  input         op \"5\" (id 4) "
      "on device 0\n"
      "\n"
      "how each device spends the run time\n"
      "                   ops transfers   inputs*  control*  partner*      "
      "done\n"
      "  device 0       83.3%     16.7%      0.0%      0.0%      0.0%      "
      "0.0%\n"
      "  device 1       20.8%     16.7%      0.0%      0.0%     41.7%     "
      "20.8%\n"
      "  * idle: an input has not arrived, a control edge holds an op back, "
      "the\n"
      "    other device of a transfer is busy\n"
      "\n"
      "peak of device 0: 24 B (BEYOND the limit of 20 B) at step 5: \"3\":0 "
      "(id 2) from device 1 to 0\n"
      "  16 B         66.7%  \"4\":0 (id 3)\n"
      "  8 B          33.3%  \"3\":0 (id 2)\n"
      "\n"
      "peak of device 1: 10 B (limit 100 B) at step 3: op \"3\" (id 2) on "
      "device 1\n"
      "  8 B          80.0%  \"3\":0 (id 2)\n"
      "  2 B          20.0%  \"1\":1 (id 0)\n");
}

static void test_explain_overlapped(void **state) {
  bench *b = *state;
  make_paper_graph(b);
  make_machine_with_costs(b);
  b->machine.overlapped = true;
  b->machine.devices = 3;
  expect_explained(
      b, paper_plan, COUNT(paper_plan),
      "critical chain: 4 of 7 steps, 40 ns: 100.0% in 4 ops, 0.0% in 0 "
      "transfers\n"
      "  its steps waited for: input (3)\n"
      "  step    start      takes       share  waited for    what\n"
      "  0       0 ns       10 ns       25.0%  -             op \"1\" (id 0) "
      "on device 0\n"
      "  2       10 ns      10 ns       25.0%  input         op \"2\" (id 1) "
      "on device 0\n"
      "  4       20 ns      10 ns       25.0%  input         op \"4\" (id 3) "
      "on device 0\n"
      "  6       30 ns      10 ns       25.0%  input         op \"5\" (id 4) "
      "on device 0\n"
      "\n"
      "how each device spends the run time\n"
      "                   ops transfers   inputs*  control*  partner*      "
      "done\n"
      "  device 0      100.0%      0.0%      0.0%      0.0%      0.0%      "
      "0.0%\n"
      "  device 1       25.0%      0.0%     35.0%      0.0%      0.0%     "
      "40.0%\n"
      "  device 2        0.0%      0.0%      0.0%      0.0%      0.0%    "
      "100.0%\n"
      "  * idle: an input has not arrived, a control edge holds an op back, "
      "the\n"
      "    other device of a transfer is busy\n"
      "\n"
      "peak of device 0: 24 B (BEYOND the limit of 20 B) at step 5: \"3\":0 "
      "(id 2) from device 1 to 0\n"
      "  16 B         66.7%  \"4\":0 (id 3)\n"
      "  8 B          33.3%  \"3\":0 (id 2)\n"
      "\n"
      "peak of device 1: 10 B (limit 100 B) at step 3: op \"3\" (id 2) on "
      "device 1\n"
      "  8 B          80.0%  \"3\":0 (id 2)\n"
      "  2 B          20.0%  \"1\":1 (id 0)\n"
      "\n"
      "peak of device 2: not used\n");
}

/* A long chain is summed up; long names and control characters are tamed. */
static void test_explain_long_chain(void **state) {
  static const char letters[] = "abcdefghijklmnopqrst";
  regal_step steps[20];
  bench *b = *state;
  for (uint32_t op = 0; op < 20; op++) {
    char name[80] = "\tblock/layer/with/a/name/that/is/longer/than/48/bytes";
    if (op)
      snprintf(name, sizeof name, "%c", letters[op]);
    add_op(b, name, op ? 1 + op * op % 13 : 40, op == 9 ? 300 : 0,
           op == 9 ? 100 : 0);
    if (op < 19)
      add_output(b, op, 1 + op * 7 % 20);
    if (op)
      add_input(b, op, op - 1, 0);
    if (op)
      add_input(b, op, 0, 0);
    steps[op] = (regal_step)RUN(op, 0);
  }
  /* Twelve more outputs that stay to the end. */
  for (int port = 0; port < 12; port++)
    add_final(b, 3, 10 + port);
  finish(b);
  expect_explained(
      b, steps, 20,
      "critical chain: 20 of 20 steps, 176 ns: 100.0% in 20 ops, 0.0% in 0 "
      "transfers\n"
      "  its steps waited for: input (19)\n"
      "  the 10 longest of them:\n"
      "  step    start      takes       share  waited for    what\n"
      "  0       0 ns       40 ns       22.7%  -             op "
      "\"?block/layer/with/a/name/that/is/longer/than/...\" (id 0) on device "
      "0\n"
      "  3       47 ns      10 ns        5.7%  input         op \"d\" (id 3) "
      "on device 0\n"
      "  5       61 ns      13 ns        7.4%  input         op \"f\" (id 5) "
      "on device 0\n"
      "  6       74 ns      11 ns        6.2%  input         op \"g\" (id 6) "
      "on device 0\n"
      "  7       85 ns      11 ns        6.2%  input         op \"h\" (id 7) "
      "on device 0\n"
      "  8       96 ns      13 ns        7.4%  input         op \"i\" (id 8) "
      "on device 0\n"
      "  10      113 ns     10 ns        5.7%  input         op \"k\" (id 10) "
      "on device 0\n"
      "  16      138 ns     10 ns        5.7%  input         op \"q\" (id 16) "
      "on device 0\n"
      "  18      152 ns     13 ns        7.4%  input         op \"s\" (id 18) "
      "on device 0\n"
      "  19      165 ns     11 ns        6.2%  input         op \"t\" (id 19) "
      "on device 0\n"
      "\n"
      "how each device spends the run time\n"
      "                   ops transfers   inputs*  control*  partner*      "
      "done\n"
      "  device 0      100.0%      0.0%      0.0%      0.0%      0.0%      "
      "0.0%\n"
      "  device 1        0.0%      0.0%      0.0%      0.0%      0.0%    "
      "100.0%\n"
      "  * idle: an input has not arrived, a control edge holds an op back, "
      "the\n"
      "    other device of a transfer is busy\n"
      "\n"
      "peak of device 0: 608 B at step 9: op \"j\" (id 9) on device 0\n"
      "  100 B        16.4%  resident\n"
      "  300 B        49.3%  temporary\n"
      "  21 B          3.5%  \"d\":12 (id 3)\n"
      "  20 B          3.3%  \"d\":11 (id 3)\n"
      "  19 B          3.1%  \"d\":10 (id 3)\n"
      "  18 B          3.0%  \"d\":9 (id 3)\n"
      "  17 B          2.8%  \"d\":8 (id 3)\n"
      "  17 B          2.8%  \"i\":0 (id 8)\n"
      "  16 B          2.6%  \"d\":7 (id 3)\n"
      "  15 B          2.5%  \"d\":6 (id 3)\n"
      "  14 B          2.3%  \"d\":5 (id 3)\n"
      "  13 B          2.1%  \"d\":4 (id 3)\n"
      "  38 B          6.2%  5 more tensors\n"
      "\n"
      "peak of device 1: not used\n");
}

static void test_timeline_blocking(void **state) {
  make_paper_graph(*state);
  make_machine_with_costs(*state);
  expect_drawn(
      *state, paper_plan, COUNT(paper_plan), 80,
      "device 0  ████████████═════▓███████████████████████▓═════████████████ "
      "83.3%\n"
      "  memory  ▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▂▂▂▂▂▂▂▂▂▂▂▂▇▇▇▇▇▇▇▇▇▇▇▇██████████████████ "
      "24 B\n"
      "device 1              ═════▓███████████▒           ══════             "
      "20.8%\n"
      "  memory              ▂▂▂▂▂█████████████▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇             "
      "10 B\n"
      "          └───────────────────────┴────────────────────────┴─────────\n"
      "          0                       20 ns                    40 ns\n"
      "          █ ops  ═ transfers  ▁▃▅█ memory, relative to its peak\n");
}

static void test_timeline_narrow(void **state) {
  bench *b = *state;
  make_paper_graph(b);
  b->machine.overlapped = true;
  b->machine.latency_ns[0][1] = 30;
  expect_drawn(
      b, paper_plan, COUNT(paper_plan), 0,
      "device 0  █████████════  ░███ 66.7%\n"
      "  memory  ▁▁▁▂▂▂▇▇▇▇▆▆▆▆▆████ 24 B\n"
      "device 1     ══════════██▓    16.7%\n"
      "  memory     ▂▂▂▂▂▂▂▂▂████    10 B\n"
      "          └──────────────┴───\n"
      "          0              50 ns\n"
      "          █ ops  ═ transfers  ▁▃▅█ memory, relative to its peak\n");
}

static void test_timeline_of_nothing(void **state) {
  static const regal_step plan[] = {RUN(0, 0)};
  bench *b = *state;
  add_op(b, "a", 0, 5, 5);
  finish(b);
  expect_drawn(b, plan, 1, 80, "the plan takes no time\n");
}

/* -- Figures add up -------------------------------------------------------- */

/* The line after the one that `text` points into; NULL after the last. */
static const char *next_line(const char *text) {
  const char *end = strchr(text, '\n');
  return end && end[1] ? end + 1 : NULL;
}

static void check_chain(const char *text) {
  double ops, transfers;
  const char *shares = strstr(text, "s: ");
  assert_non_null(shares);
  assert_int_equal(
      sscanf(shares, "s: %lf%% in %*u op%*[s,] %lf%%", &ops, &transfers), 2);
  assert_true(ops + transfers > 99.85 && ops + transfers < 100.15);
}

static void check_days(const char *text, uint32_t devices) {
  const char *line = strstr(text, "how each device");
  line = next_line(next_line(line));
  for (uint32_t d = 0; d < devices; d++, line = next_line(line)) {
    double s[6];
    assert_int_equal(sscanf(line,
                            " device %*u %lf%% %lf%% %lf%% %lf%% %lf%% "
                            "%lf%%",
                            &s[0], &s[1], &s[2], &s[3], &s[4], &s[5]),
                     6);
    double sum = s[0] + s[1] + s[2] + s[3] + s[4] + s[5];
    assert_true(sum > 99.65 && sum < 100.35);
  }
}

/* Below 1024 bytes every figure is exact, so the parts must give the peak. */
static void check_peaks(const char *text, const regal_cost *cost,
                        uint32_t devices) {
  for (uint32_t d = 0; d < devices; d++) {
    char heading[64];
    long long part, sum = 0;
    snprintf(heading, sizeof heading, "\npeak of device %u: ", d);
    const char *line = strstr(text, heading);
    assert_non_null(line);
    line = next_line(line + 1);
    for (; line && sscanf(line, "  %lld B", &part) == 1; line = next_line(line))
      sum += part;
    assert_int_equal(sum, cost->peak_bytes[d]);
  }
}

static void test_figures_add_up(void **state) {
  bench *b = *state;
  for (uint64_t seed = 0; seed < 400; seed++) {
    regal_graph *graph;
    regal_machine *machine;
    regal_plan *plan;
    regal_test_random_graph(b->context, seed, 30, &graph);
    regal_test_random_small_machine(b->context, seed, 4, graph, &machine);
    regal_test_random_plan(b->context, seed, graph, machine, &plan);
    regal_problem problem = problem_of(graph, machine);
    report report = {0};
    assert_int_equal(explain(b->context, &problem, plan, &report), REGAL_OK);
    assert_int_equal(
        regal_verify_plan(b->context, graph, machine, plan, &b->cost, NULL),
        REGAL_OK);
    if (b->cost.runtime_ns) {
      check_chain(report.text);
      check_days(report.text, machine->devices);
    }
    if (b->cost.max_peak_bytes < 1024)
      check_peaks(report.text, &b->cost, machine->devices);
    free(report.text);
    regal_plan_free(plan);
    regal_machine_free(machine);
    regal_graph_free(graph);
  }
}

static void test_invalid_plan(void **state) {
  bench *b = *state;
  make_paper_graph(b);
  regal_plan plan = {b->context, 1, (regal_step *)paper_plan};
  regal_problem problem = problem_of(b->graph, &b->machine);
  report report = {0};
  assert_int_equal(explain(b->context, &problem, &plan, &report),
                   REGAL_INVALID_PLAN);
  assert_int_equal(report.size, 0);
  free(report.text);
  assert_int_equal(
      regal_report_timeline(b->context, &problem, &plan, 80, stdout),
      REGAL_INVALID_PLAN);
  assert_string_equal(regal_error(b->context),
                      "step 1: the plan ends, but 4 of 5 ops never ran; the "
                      "first is \"2\" (id 1)");
}

static regal_status try_report(regal_context *context, bench *b, bool drawn) {
  regal_plan plan = {context, COUNT(paper_plan), (regal_step *)paper_plan};
  regal_problem problem = problem_of(b->graph, &b->machine);
  report report = {0};
  if (!drawn) {
    regal_status status = explain(context, &problem, &plan, &report);
    free(report.text);
    return status;
  }
  report.stream = open_memstream(&report.text, &report.size);
  regal_status status =
      regal_report_timeline(context, &problem, &plan, 80, report.stream);
  fclose(report.stream);
  free(report.text);
  return status;
}

static void test_failing_allocations(void **state) {
  bench *b = *state;
  make_paper_graph(b);
  for (int drawn = 0; drawn < 2; drawn++)
    for (size_t n = 2;; n++) {
      failing_allocator memory = {.fail_at = n};
      regal_allocator allocator = failing_allocator_of(&memory);
      regal_context *context;
      assert_int_equal(regal_context_create(&context, &allocator), REGAL_OK);
      regal_status status = try_report(context, b, drawn);
      regal_context_free(context);
      assert_int_equal(memory.blocks, 0);
      assert_int_equal(status, memory.failed ? REGAL_NO_MEMORY : REGAL_OK);
      if (!memory.failed)
        break;
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(test_explain_paper_example), TEST(test_explain_overlapped),
      TEST(test_explain_long_chain),    TEST(test_timeline_blocking),
      TEST(test_timeline_narrow),       TEST(test_timeline_of_nothing),
      TEST(test_figures_add_up),        TEST(test_invalid_plan),
      TEST(test_failing_allocations),
  };
  return cmocka_run_group_tests_name("report", tests, NULL, NULL);
}
