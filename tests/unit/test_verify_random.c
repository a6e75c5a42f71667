/* SPDX-License-Identifier: Apache-2.0 */
/* The verifier on random plans, against a second and even plainer count of
 * memory; damaged plans; and brute force over all plans of tiny graphs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/brute_force.h"
#include "support/plan_bench.h"

/* A random problem with a plan. */
typedef struct random_case {
  regal_graph *graph;
  regal_machine *machine;
  regal_plan *plan;
} random_case;

static random_case make_case(regal_context *context, uint64_t seed,
                             uint32_t ops) {
  random_case c;
  regal_test_random_graph(context, seed, ops, &c.graph);
  regal_test_random_machine(context, seed, c.graph, &c.machine);
  regal_test_random_plan(context, seed, c.graph, c.machine, &c.plan);
  return c;
}

static void free_case(random_case *c) {
  regal_plan_free(c->plan);
  regal_machine_free(c->machine);
  regal_graph_free(c->graph);
}

/* -- Memory, from the definition ------------------------------------------- */

static uint32_t home_of(const regal_plan *plan, uint32_t op) {
  for (uint32_t i = 0; i < plan->step_count; i++)
    if (plan->steps[i].port == REGAL_RUN && plan->steps[i].op == op)
      return plan->steps[i].device;
  return REGAL_NONE;
}

/* Whether the step makes, receives, reads or sends the tensor on the device. */
static bool touches(const regal_graph *graph, const regal_step *step,
                    uint32_t tensor, uint32_t device) {
  if (step->port != REGAL_RUN)
    return step->port >= 0 &&
           graph->output_begin[step->op] + (uint32_t)step->port == tensor &&
           (step->device == device || step->to == device);
  if (step->device != device)
    return false;
  if (graph->producer[tensor] == step->op)
    return true;
  for (uint32_t k = graph->input_begin[step->op];
       k < graph->input_begin[step->op + 1]; k++)
    if (graph->input[k] == tensor)
      return true;
  return false;
}

/* Whether the device needs the tensor in a step from `first` to `end`. */
static bool touched_within(const random_case *c, uint32_t tensor,
                           uint32_t device, uint32_t first, uint32_t end) {
  for (uint32_t i = first; i < end; i++)
    if (touches(c->graph, &c->plan->steps[i], tensor, device))
      return true;
  return false;
}

static bool needed_later(const random_case *c, uint32_t tensor, uint32_t device,
                         uint32_t first) {
  if (c->graph->is_final[tensor] &&
      home_of(c->plan, c->graph->producer[tensor]) == device)
    return true;
  return touched_within(c, tensor, device, first, c->plan->step_count);
}

/* Bytes of outputs that step i writes over inputs. Every input is offered to
 * one output only: the offers are crossed out one by one. */
static int64_t bytes_saved(const random_case *c, uint32_t i) {
  const regal_graph *graph = c->graph;
  const regal_step *step = &c->plan->steps[i];
  int64_t saved = 0, offers[64] = {0};
  if (step->port != REGAL_RUN)
    return 0;
  uint32_t inputs =
      graph->input_begin[step->op + 1] - graph->input_begin[step->op];
  assert_true(inputs <= 64);
  for (uint32_t k = 0; k < inputs; k++) {
    uint32_t input = graph->input[graph->input_begin[step->op] + k];
    offers[k] =
        needed_later(c, input, step->device, i + 1) ? 0 : graph->bytes[input];
  }
  for (uint32_t t = graph->output_begin[step->op];
       t < graph->output_begin[step->op + 1]; t++) {
    uint32_t k = 0;
    while (k < inputs && offers[k] < graph->bytes[t])
      k++;
    if (!graph->may_reuse[t] || !graph->bytes[t] || k == inputs)
      continue;
    offers[k] = 0;
    saved += graph->bytes[t];
  }
  return saved;
}

/* What the device holds all the time. */
static int64_t bytes_resident(const random_case *c, uint32_t device) {
  const regal_graph *graph = c->graph;
  int64_t bytes = 0;
  for (uint32_t op = 0; op < graph->ops; op++)
    if (home_of(c->plan, op) == device)
      bytes += graph->resident_bytes[op];
  for (uint32_t p = 0; p < graph->parameters; p++) {
    bool read = false;
    for (uint32_t op = 0; op < graph->ops; op++)
      for (uint32_t k = graph->parameter_begin[op];
           k < graph->parameter_begin[op + 1]; k++)
        read |= graph->parameter[k] == p && home_of(c->plan, op) == device;
    bytes += read ? graph->parameter_bytes[p] : 0;
  }
  return bytes;
}

/* Bytes on the device during step i: each tensor counts from the first step
 * that touches it there to the last. */
static int64_t bytes_during(const random_case *c, uint32_t i, uint32_t device) {
  const regal_graph *graph = c->graph;
  const regal_step *step = &c->plan->steps[i];
  int64_t bytes = bytes_resident(c, device) - bytes_saved(c, i);
  if (step->port == REGAL_RUN)
    bytes += graph->temporary_bytes[step->op];
  for (uint32_t t = 0; t < graph->tensors; t++)
    if (touched_within(c, t, device, 0, i + 1) && needed_later(c, t, device, i))
      bytes += graph->bytes[t];
  return bytes;
}

static void check_timeline(const random_case *c, const regal_cost *cost,
                           const regal_timeline *timeline) {
  int64_t latest = 0, peak = 0;
  for (uint32_t i = 0; i < c->plan->step_count; i++) {
    const regal_step *step = &c->plan->steps[i];
    int64_t here = bytes_during(c, i, step->device);
    int64_t there = bytes_during(c, i, step->to);
    assert_int_equal(timeline->during_bytes[i][0], here);
    assert_int_equal(timeline->during_bytes[i][1], there);
    assert_true(timeline->start_ns[i] <= timeline->end_ns[i]);
    latest = latest > timeline->end_ns[i] ? latest : timeline->end_ns[i];
    peak = peak > here ? peak : here;
    peak = peak > there ? peak : there;
  }
  assert_int_equal(cost->runtime_ns, latest);
  assert_int_equal(cost->max_peak_bytes, peak);
}

static void test_random_plans(void **state) {
  bench *b = *state;
  for (uint64_t seed = 0; seed < 1500; seed++) {
    random_case c = make_case(b->context, seed, 12);
    regal_status status = regal_verify_plan(b->context, c.graph, c.machine,
                                            c.plan, &b->cost, &b->timeline);
    assert_string_equal(status ? regal_error(b->context) : "", "");
    check_timeline(&c, &b->cost, &b->timeline);
    regal_timeline_free(&b->timeline);
    free_case(&c);
  }
}

/* -- Damage ---------------------------------------------------------------- */

static regal_status judge(bench *b, const random_case *c) {
  return regal_verify_plan(b->context, c->graph, c->machine, c->plan, &b->cost,
                           NULL);
}

/* A plan without one of its steps, or with one twice, is never accepted. */
static void damage(bench *b, const random_case *c, uint32_t at) {
  regal_plan *plan = c->plan;
  uint32_t last = plan->step_count - 1;
  regal_step saved = plan->steps[at];
  plan->steps[at] = plan->steps[last];
  plan->step_count = last;
  assert_int_equal(judge(b, c), REGAL_INVALID_PLAN);
  plan->step_count = last + 1;
  if (last) {
    plan->steps[at] = plan->steps[(at + 1) % (last + 1)];
    assert_int_equal(judge(b, c), REGAL_INVALID_PLAN);
  }
  plan->steps[at] = saved;
  assert_int_equal(judge(b, c), REGAL_OK);
}

static void test_damaged_plans(void **state) {
  bench *b = *state;
  for (uint64_t seed = 0; seed < 1000; seed++) {
    random_case c = make_case(b->context, seed, 10);
    uint32_t at = (uint32_t)seed % c.plan->step_count;
    damage(b, &c, at);
    /* Nonsense is answered, too. */
    uint16_t devices = (uint16_t)(c.machine->devices + 1);
    c.plan->steps[at] = (regal_step){
        (uint32_t)seed % (c.graph->ops + 1), (int32_t)(seed / 3 % 5) - 2,
        (uint16_t)(seed / 5 % devices), (uint16_t)(seed / 7 % devices)};
    regal_status status = judge(b, &c);
    assert_true(status == REGAL_OK || status == REGAL_INVALID_PLAN);
    free_case(&c);
  }
}

/* -- Brute force ----------------------------------------------------------- */

static void expect_best(bench *b, uint64_t plans, int64_t runtime,
                        int64_t peak) {
  regal_test_best best;
  assert_true(regal_test_brute_force(b->context, b->graph, &b->machine, 1000000,
                                     &best));
  assert_int_equal(best.plans, plans);
  assert_int_equal(best.runtime.cost.runtime_ns, runtime);
  assert_int_equal(best.memory.cost.max_peak_bytes, peak);
}

static void test_brute_force_counts(void **state) {
  bench *b = *state;
  add_ops(b, 3);
  finish(b);
  b->machine.devices = 1;
  expect_best(b, 6, 30, 0);
  b->machine.devices = 2;
  expect_best(b, 8 * 6, 20, 0);
  b->machine.devices = 3;
  expect_best(b, 27 * 6, 10, 0);
}

/* a sends to b: 1 order together; apart a, send, b. */
static void test_brute_force_chain(void **state) {
  bench *b = *state;
  add_ops(b, 2);
  add_output(b, 0, 100);
  add_output(b, 1, 10);
  add_input(b, 1, 0, 0);
  add_control(b, 0, 1);
  finish(b);
  expect_best(b, 4, 20, 110);
  /* Apart the control transfer can come before or after the tensor's. */
  b->machine.control_transfers = true;
  expect_best(b, 6, 20, 110);
  uint32_t group[] = {0, 0};
  b->machine.group = group;
  expect_best(b, 2, 20, 110);
}

/* The paper's example: 1, 2, 4, 5 is a chain of 40 ns, and 5 holds D and E
 * wherever it runs. On one device 3 runs before, between or after 2 and 4, and
 * best after 4: B, E and D (otherwise C, E and D). */
static void test_brute_force_paper(void **state) {
  regal_test_best best;
  bench *b = *state;
  make_paper_graph(b);
  assert_true(regal_test_brute_force(b->context, b->graph, &b->machine, 1000000,
                                     &best));
  assert_int_equal(best.runtime.cost.runtime_ns, 40);
  assert_int_equal(best.memory.cost.max_peak_bytes, D + E);
  b->machine.devices = 1;
  expect_best(b, 3, 50, B + D + E);
  assert_true(
      regal_test_brute_force(b->context, b->graph, &b->machine, 3, &best));
  assert_false(
      regal_test_brute_force(b->context, b->graph, &b->machine, 2, &best));
}

static int64_t least_ns(const regal_machine *machine, const regal_graph *graph,
                        uint32_t op) {
  int64_t least = INT64_MAX;
  for (uint32_t d = 0; d < machine->devices; d++) {
    int64_t ns = regal_machine_run_ns(machine, graph, op, d);
    least = ns < least ? ns : least;
  }
  return least;
}

/* No plan beats the longest chain, the work shared out, or the largest op. */
static void check_bounds(const regal_graph *graph, const regal_machine *machine,
                         const regal_test_best *best) {
  int64_t work = 0, end[16] = {0};
  for (uint32_t op = 0; op < graph->ops; op++) {
    int64_t bytes = graph->temporary_bytes[op] + graph->resident_bytes[op];
    int64_t start = 0;
    for (uint32_t k = graph->input_begin[op]; k < graph->input_begin[op + 1];
         k++) {
      int64_t before = end[graph->producer[graph->input[k]]];
      start = before > start ? before : start;
      bytes += graph->bytes[graph->input[k]];
    }
    for (uint32_t t = graph->output_begin[op]; t < graph->output_begin[op + 1];
         t++)
      bytes += graph->may_reuse[t] ? 0 : graph->bytes[t];
    for (uint32_t k = graph->parameter_begin[op];
         k < graph->parameter_begin[op + 1]; k++)
      bytes += graph->parameter_bytes[graph->parameter[k]];
    end[op] = start + least_ns(machine, graph, op);
    work += least_ns(machine, graph, op);
    assert_true(best->runtime.cost.runtime_ns >= end[op]);
    assert_true(best->memory.cost.max_peak_bytes >= bytes);
  }
  assert_true(best->runtime.cost.runtime_ns * machine->devices >= work);
}

static void test_brute_force_random(void **state) {
  bench *b = *state;
  int complete = 0;
  for (uint64_t seed = 0; seed < 300; seed++) {
    regal_graph *graph;
    regal_machine *machine;
    regal_plan *plan;
    regal_test_best best;
    regal_test_random_graph(b->context, seed, 5, &graph);
    regal_test_random_small_machine(b->context, seed, 3, graph, &machine);
    regal_test_random_plan(b->context, seed, graph, machine, &plan);
    if (regal_test_brute_force(b->context, graph, machine, 5000, &best)) {
      complete++;
      assert_true(best.plans > 0);
      check_bounds(graph, machine, &best);
      assert_int_equal(
          regal_verify_plan(b->context, graph, machine, plan, &b->cost, NULL),
          REGAL_OK);
      assert_true(best.runtime.cost.excess_bytes <= b->cost.excess_bytes);
      assert_int_equal(best.runtime.cost.excess_bytes,
                       best.memory.cost.excess_bytes);
      if (best.runtime.cost.excess_bytes == b->cost.excess_bytes) {
        assert_true(best.runtime.cost.runtime_ns <= b->cost.runtime_ns);
        assert_true(best.memory.cost.max_peak_bytes <= b->cost.max_peak_bytes);
      }
    }
    regal_plan_free(plan);
    regal_machine_free(machine);
    regal_graph_free(graph);
  }
  assert_true(complete > 150);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(test_random_plans),       TEST(test_damaged_plans),
      TEST(test_brute_force_counts), TEST(test_brute_force_chain),
      TEST(test_brute_force_paper),  TEST(test_brute_force_random),
  };
  return cmocka_run_group_tests_name("verify_random", tests, NULL, NULL);
}
