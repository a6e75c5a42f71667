/* SPDX-License-Identifier: Apache-2.0 */
/* What a binding for another language needs: options on the heap, plans and
 * orders from memory, a search that starts from one, times of steps, a graph
 * read back as arrays, and objects for several contexts at the same time. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/failing_allocator.h"
#include "support/sample.h"

static regal_context *context;
static regal_graph *graph;
static regal_problem *problem; /* two devices, transfers take 10 ns */

static regal_status make_problem(regal_context *in, const regal_graph *of,
                                 regal_problem **made) {
  regal_options *options;
  REGAL_TRY(regal_options_create(in, &options));
  regal_status status = regal_options_set(in, options, "latency", "10ns");
  if (status == REGAL_OK)
    status = regal_problem_create(in, of, options, made);
  regal_options_free(options);
  return status;
}

static int set_up(void **state) {
  (void)state;
  return regal_context_create(&context, NULL) ||
         sample_graph(context, &graph) ||
         make_problem(context, graph, &problem);
}

static int tear_down(void **state) {
  (void)state;
  regal_problem_free(problem);
  regal_graph_free(graph);
  assert_int_equal(regal_bytes_in_use(context), 0);
  regal_context_free(context);
  return 0;
}

/* a b c on device 0, b's and c's outputs to device 1, the rest there. */
static const uint32_t ids[] = {0, 1, 2, 3, 4, 5};
static const uint16_t devices[] = {0, 0, 0, 1, 0, 1};
static const regal_step steps[] = {
    {0, REGAL_RUN, 0, 0}, {1, REGAL_RUN, 0, 0}, {2, REGAL_RUN, 0, 0},
    {1, 0, 0, 1},         {2, 0, 0, 1},         {3, REGAL_RUN, 1, 1},
    {4, REGAL_RUN, 0, 0}, {1, 1, 0, 1},         {5, REGAL_RUN, 1, 1}};
#define STEPS (sizeof steps / sizeof *steps)

static void heap_options_are_the_defaults(void **state) {
  (void)state;
  regal_options fresh, *options;
  regal_options_init(&fresh);
  assert_int_equal(regal_options_create(context, &options), REGAL_OK);
  assert_memory_equal(options, &fresh, sizeof fresh);
  regal_options_free(options);
  regal_options_free(NULL);
  assert_int_equal(regal_options_create(NULL, &options), REGAL_MISUSE);
  assert_int_equal(regal_options_create(context, NULL), REGAL_MISUSE);
}

static void check_steps(const regal_plan *plan) {
  assert_int_equal(plan->step_count, STEPS);
  for (size_t i = 0; i < STEPS; i++) {
    assert_int_equal(plan->steps[i].op, steps[i].op);
    assert_int_equal(plan->steps[i].port, steps[i].port);
    assert_int_equal(plan->steps[i].device, steps[i].device);
    assert_int_equal(plan->steps[i].to, steps[i].to);
  }
}

static void plans_come_from_memory(void **state) {
  (void)state;
  regal_plan *plan;
  assert_int_equal(regal_plan_from_steps(context, problem, steps, STEPS, &plan),
                   REGAL_OK);
  check_steps(plan);
  regal_plan_free(plan);
  assert_int_equal(
      regal_plan_from_ids(context, problem, ids, devices, 6, &plan), REGAL_OK);
  check_steps(plan);
  regal_plan_free(plan);
  assert_int_equal(regal_plan_from_ids(context, problem, ids, NULL, 6, &plan),
                   REGAL_OK);
  assert_int_equal(plan->step_count, 6);
  regal_plan_free(plan);
}

static void bad_steps_are_refused(void **state) {
  (void)state;
  regal_step wrong[STEPS];
  regal_plan *plan = NULL;
  memcpy(wrong, steps, sizeof steps);
  wrong[3].to = 7;
  assert_int_equal(regal_plan_from_steps(context, problem, wrong, STEPS, &plan),
                   REGAL_INVALID_PLAN);
  wrong[0].op = 99;
  assert_int_equal(regal_plan_from_steps(context, problem, wrong, STEPS, &plan),
                   REGAL_INVALID_PLAN);
  assert_int_equal(regal_plan_from_steps(context, problem, NULL, 0, &plan),
                   REGAL_INVALID_PLAN);
  assert_int_equal(regal_plan_from_steps(context, problem, NULL, 1, &plan),
                   REGAL_MISUSE);
  assert_string_equal(regal_error(context),
                      "a plan from memory needs a problem, its steps and a "
                      "place to put it");
  assert_null(plan);
}

static void refuse_order(const uint32_t *order, const uint16_t *on,
                         size_t count, const char *message) {
  regal_plan *plan = NULL;
  assert_int_equal(
      regal_plan_from_ids(context, problem, order, on, count, &plan),
      REGAL_BAD_INPUT);
  assert_string_equal(regal_error(context), message);
  assert_null(plan);
}

static void bad_orders_are_refused(void **state) {
  (void)state;
  static const uint32_t unknown[] = {0, 6}, twice[] = {0, 1, 0},
                        backwards[] = {0, 3, 1, 2, 4, 5};
  static const uint16_t far[] = {0, 2, 0, 0, 0, 0};
  refuse_order(unknown, NULL, 2,
               "order[1]: there is no op with id 6 in the graph");
  refuse_order(twice, NULL, 3, "order[2]: id 0 is there twice, first order[0]");
  refuse_order(ids, far, 6,
               "order[1]: device 2 is out of range, the machine has 2 devices");
  refuse_order(ids, NULL, 5,
               "order: 1 of 6 ops is missing, the first is \"twin\" (id 5)");
  refuse_order(backwards, NULL, 6,
               "order[1]: op \"d\" (id 3) comes before op \"b\" (id 1, "
               "order[2]), for which it must wait");
}

/* docs/model.md, blocking: a step begins when its devices are free. */
static void steps_have_times(void **state) {
  (void)state;
  static const int64_t starts[] = {0, 100, 300, 600, 610, 620, 620, 1020, 1030},
                       ends[] = {100,  300, 600,  610, 620,
                                 1020, 630, 1030, 1050};
  int64_t start_ns[STEPS], end_ns[STEPS];
  regal_plan plan = {context, STEPS, (regal_step *)steps};
  assert_int_equal(regal_plan_times(context, problem, &plan, start_ns, end_ns),
                   REGAL_OK);
  for (size_t i = 0; i < STEPS; i++) {
    assert_int_equal(start_ns[i], starts[i]);
    assert_int_equal(end_ns[i], ends[i]);
  }
  plan.step_count = 1;
  assert_int_equal(regal_plan_times(context, problem, &plan, start_ns, end_ns),
                   REGAL_INVALID_PLAN);
  assert_int_equal(regal_plan_times(context, problem, &plan, NULL, end_ns),
                   REGAL_MISUSE);
}

/* `single` offers a plan of one device, which is worse than the start. */
static void a_search_starts_from_memory(void **state) {
  (void)state;
  static const uint32_t order[] = {0, 2, 1, 3, 4, 5};
  static const uint16_t good[] = {0, 1, 0, 0, 0, 0};
  regal_options options;
  regal_plan *start;
  regal_result *result;
  regal_options_init(&options);
  assert_int_equal(regal_options_set(context, &options, "method", "single"),
                   REGAL_OK);
  assert_int_equal(
      regal_plan_from_ids(context, problem, order, good, 6, &start), REGAL_OK);
  assert_int_equal(regal_optimize(context, problem, &options, &result),
                   REGAL_OK);
  assert_int_equal(result->cost.runtime_ns, 1030);
  regal_result_free(result);
  assert_int_equal(
      regal_optimize_from(context, problem, &options, start, &result),
      REGAL_OK);
  assert_int_equal(result->cost.runtime_ns, 850);
  regal_result_free(result);
  start->steps[0].op = 99;
  assert_int_equal(
      regal_optimize_from(context, problem, &options, start, &result),
      REGAL_INVALID_PLAN);
  regal_plan_free(start);
}

static void graphs_are_read_as_arrays(void **state) {
  (void)state;
  regal_graph_arrays a;
  regal_graph_read(graph, &a);
  assert_int_equal(a.ops, 6);
  assert_int_equal(a.ids, 6);
  assert_int_equal(a.tensors, 5);
  assert_int_equal(a.parameters, 0);
  assert_int_equal(a.run_ns[a.op_of_id[3]], 400);
  assert_int_equal(a.id[a.op_of_id[3]], 3);
  uint32_t d = a.op_of_id[3], b = a.op_of_id[1], twin = a.op_of_id[5];
  assert_int_equal(a.input_begin[d + 1] - a.input_begin[d], 2);
  assert_int_equal(a.producer[a.input[a.input_begin[d]]], b);
  assert_int_equal(a.bytes[a.output_begin[b] + 1], 4);
  assert_true(a.is_final[a.output_begin[d]]);
  assert_false(a.may_reuse[a.output_begin[d]]);
  assert_int_equal(a.control_begin[twin + 1] - a.control_begin[twin], 1);
  assert_int_equal(a.control[a.control_begin[twin]], a.op_of_id[2]);
  assert_int_equal(a.parameter_begin[a.ops], 0);
}

static void machines_are_read(void **state) {
  (void)state;
  regal_options options;
  regal_machine *machine;
  int64_t latency_ns, bytes_per_s;
  uint32_t device = 7;
  regal_options_init(&options);
  options.latency = 5;
  assert_int_equal(regal_machine_create(context, graph, &options, &machine),
                   REGAL_OK);
  assert_int_equal(regal_machine_set_name(machine, 1, "gpu"), REGAL_OK);
  assert_int_equal(regal_machine_find_device(machine, "gpu", &device),
                   REGAL_OK);
  assert_int_equal(device, 1);
  assert_int_equal(regal_machine_find_device(machine, "cpu", &device),
                   REGAL_BAD_INPUT);
  assert_string_equal(regal_error(context),
                      "there is no device \"cpu\"; the machine has \"gpu\"");
  assert_int_equal(
      regal_machine_get_link(machine, 0, 1, &latency_ns, &bytes_per_s),
      REGAL_OK);
  assert_int_equal(latency_ns, 5);
  assert_int_equal(bytes_per_s, 0);
  assert_int_equal(
      regal_machine_get_link(machine, 0, 2, &latency_ns, &bytes_per_s),
      REGAL_MISUSE);
  regal_machine_free(machine);
}

/* -- Threads and memory ---------------------------------------------------- */

static regal_machine *machine;
static regal_result *heft;

static regal_status use_all(regal_context *own, int64_t *cost) {
  regal_problem *of_graph = NULL, *of_machine = NULL;
  regal_options options;
  regal_result *results[2] = {NULL, NULL};
  regal_options_init(&options);
  regal_status status = make_problem(own, graph, &of_graph);
  if (status == REGAL_OK)
    status = regal_problem_create_on(own, machine, &options, &of_machine);
  if (status == REGAL_OK)
    status = regal_evaluate(own, of_machine, heft->plan, &results[0]);
  if (status == REGAL_OK)
    status =
        regal_optimize_from(own, problem, &options, heft->plan, &results[1]);
  if (status == REGAL_OK)
    status = regal_plan_save(own, heft, "/dev/null");
  if (status == REGAL_OK)
    *cost = results[1]->cost.runtime_ns;
  regal_result_free(results[1]);
  regal_result_free(results[0]);
  regal_problem_free(of_machine);
  regal_problem_free(of_graph);
  return status;
}

static void *use_all_in_own_context(void *cost) {
  regal_context *own;
  if (regal_context_create(&own, NULL) || use_all(own, cost) ||
      regal_bytes_in_use(own))
    return NULL;
  regal_context_free(own);
  return cost;
}

static void objects_serve_several_contexts(void **state) {
  (void)state;
  pthread_t threads[3];
  int64_t costs[3];
  regal_options options;
  void *done;
  regal_options_init(&options);
  assert_int_equal(regal_options_set(context, &options, "method", "heft"),
                   REGAL_OK);
  assert_int_equal(regal_machine_create(context, graph, &options, &machine),
                   REGAL_OK);
  assert_int_equal(regal_optimize(context, problem, &options, &heft), REGAL_OK);
  for (int i = 0; i < 3; i++)
    assert_int_equal(
        pthread_create(&threads[i], NULL, use_all_in_own_context, &costs[i]),
        0);
  for (int i = 0; i < 3; i++) {
    assert_int_equal(pthread_join(threads[i], &done), 0);
    assert_ptr_equal(done, &costs[i]);
    assert_int_equal(costs[i], costs[0]);
  }
  regal_result_free(heft);
  regal_machine_free(machine);
}

static regal_status chain(regal_context *in, regal_problem **made,
                          regal_plan **plans) {
  int64_t start_ns[STEPS], end_ns[STEPS];
  REGAL_TRY(make_problem(in, graph, made));
  REGAL_TRY(regal_plan_from_ids(in, *made, ids, devices, 6, &plans[0]));
  REGAL_TRY(regal_plan_from_steps(in, *made, steps, STEPS, &plans[1]));
  return regal_plan_times(in, *made, plans[0], start_ns, end_ns);
}

static void no_failed_allocation_leaks(void **state) {
  (void)state;
  for (size_t n = 2;; n++) {
    failing_allocator memory = {.fail_at = n};
    regal_allocator allocator = failing_allocator_of(&memory);
    regal_context *own;
    regal_problem *made = NULL;
    regal_plan *plans[2] = {NULL, NULL};
    assert_int_equal(regal_context_create(&own, &allocator), REGAL_OK);
    regal_status status = chain(own, &made, plans);
    regal_plan_free(plans[0]);
    regal_plan_free(plans[1]);
    regal_problem_free(made);
    regal_context_free(own);
    assert_int_equal(memory.blocks, 0);
    assert_int_equal(status, memory.failed ? REGAL_NO_MEMORY : REGAL_OK);
    if (!memory.failed)
      break;
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(heap_options_are_the_defaults),
      cmocka_unit_test(plans_come_from_memory),
      cmocka_unit_test(bad_steps_are_refused),
      cmocka_unit_test(bad_orders_are_refused),
      cmocka_unit_test(steps_have_times),
      cmocka_unit_test(a_search_starts_from_memory),
      cmocka_unit_test(graphs_are_read_as_arrays),
      cmocka_unit_test(machines_are_read),
      cmocka_unit_test(objects_serve_several_contexts),
      cmocka_unit_test(no_failed_allocation_leaks),
  };
  return cmocka_run_group_tests_name("plans from memory", tests, set_up,
                                     tear_down);
}
