/* SPDX-License-Identifier: Apache-2.0 */
/* Small graphs and machines written down in tests, and what goes with them. */
#ifndef REGAL_TESTS_TOY_GRAPH_H
#define REGAL_TESTS_TOY_GRAPH_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "cost/model/problem.h"

/* One op with one output. The first row is op a, the second b, and so on. */
typedef struct toy_op {
  int64_t run_ns, bytes;
  const char *reads; /* letters of the ops whose output it reads */
  const char *waits; /* letters of the ops that it waits for */
  bool is_final;
  int64_t temporary, resident;
  bool may_reuse;         /* its output may be written over an input */
  const char *parameters; /* digits; parameter k has 10^k bytes, so that a
                             number of bytes says which are held */
} toy_op;

static inline void toy_parameters(regal_builder *builder, const toy_op *ops,
                                  size_t count) {
  uint32_t added = 0;
  int64_t bytes = 1;
  for (uint32_t id = 0; id < count; id++)
    for (const char *c = ops[id].parameters; c && *c; c++) {
      uint32_t parameter = (uint32_t)(*c - '0');
      for (; added <= parameter; added++, bytes *= 10)
        assert_int_equal(regal_builder_add_parameter(builder, bytes, NULL),
                         REGAL_OK);
      assert_int_equal(regal_builder_add_parameter_use(builder, id, parameter),
                       REGAL_OK);
    }
}

static inline regal_graph *toy_graph(regal_context *context, const toy_op *ops,
                                     size_t count) {
  regal_builder *builder;
  regal_graph *graph;
  assert_int_equal(regal_builder_create(context, &builder), REGAL_OK);
  for (size_t i = 0; i < count; i++) {
    char name[2] = {(char)('a' + i), 0};
    uint32_t id;
    assert_int_equal(regal_builder_add_op(builder, name, ops[i].run_ns,
                                          ops[i].temporary, ops[i].resident,
                                          &id),
                     REGAL_OK);
    assert_int_equal(
        regal_builder_add_output(builder, id, ops[i].bytes, ops[i].is_final),
        REGAL_OK);
    if (ops[i].may_reuse)
      assert_int_equal(regal_builder_set_may_reuse(builder, id, 0), REGAL_OK);
    for (const char *c = ops[i].reads; c && *c; c++)
      assert_int_equal(
          regal_builder_add_input(builder, id, (uint32_t)(*c - 'a'), 0),
          REGAL_OK);
    for (const char *c = ops[i].waits; c && *c; c++)
      assert_int_equal(
          regal_builder_add_control(builder, (uint32_t)(*c - 'a'), id),
          REGAL_OK);
  }
  toy_parameters(builder, ops, count);
  assert_int_equal(regal_builder_finish(builder, &graph), REGAL_OK);
  return graph;
}
#define TOY_GRAPH(context, ops)                                                \
  toy_graph((context), (ops), sizeof(ops) / sizeof *(ops))

/* Devices that are alike, blocking transfers that cost nothing. */
static inline regal_machine *toy_machine(regal_context *context,
                                         uint32_t devices) {
  regal_options options;
  regal_machine *machine;
  regal_options_init(&options);
  options.devices = devices;
  assert_int_equal(regal_machine_from_options(context, &options, &machine),
                   REGAL_OK);
  return machine;
}

/* With links that cost; bandwidth in bytes per second, 0: infinite. */
static inline regal_machine *toy_linked_machine(regal_context *context,
                                                uint32_t devices,
                                                int64_t latency_ns,
                                                int64_t bandwidth) {
  regal_machine *machine = toy_machine(context, devices);
  for (uint32_t a = 0; a < devices; a++)
    for (uint32_t b = 0; b < devices; b++) {
      machine->latency_ns[a][b] = a == b ? 0 : latency_ns;
      machine->bandwidth[a][b] = bandwidth;
    }
  return machine;
}

/* Gives every op its own time on each device: times[ops * devices]. */
static inline void toy_times(regal_machine *machine, const regal_graph *graph,
                             const int64_t *times) {
  size_t count = (size_t)graph->ops * machine->devices;
  machine->timed_ops = graph->ops;
  machine->timed_op = regal_alloc(machine->context, graph->ops, 4);
  machine->timed_ns = regal_alloc(machine->context, count, 8);
  assert_true(machine->timed_op && machine->timed_ns);
  for (uint32_t op = 0; op < graph->ops; op++)
    machine->timed_op[op] = op;
  for (size_t i = 0; i < count; i++)
    machine->timed_ns[i] = times[i];
}

/* Groups by letter, one for each op; '-' is free. */
static inline void toy_groups(regal_machine *machine, const regal_graph *graph,
                              const char *letters) {
  machine->group = regal_alloc(machine->context, graph->ops, 4);
  assert_non_null(machine->group);
  for (uint32_t op = 0; op < graph->ops; op++)
    machine->group[op] =
        letters[op] == '-' ? REGAL_NONE : (uint32_t)(letters[op] - 'a');
}

static inline regal_problem *toy_problem(regal_context *context,
                                         const regal_graph *graph,
                                         regal_machine *machine,
                                         enum regal_objective objective) {
  regal_problem *problem;
  assert_int_equal(
      regal_problem_bind(context, graph, machine, objective, &problem),
      REGAL_OK);
  return problem;
}

static inline int toy_setup(void **state) {
  return regal_context_create((regal_context **)state, NULL) != REGAL_OK;
}

/* Whatever a test made must be gone by now. */
static inline int toy_teardown(void **state) {
  bool leaked = regal_bytes_in_use(*state) != 0;
  regal_context_free(*state);
  return leaked;
}

/* The test gets a context as its state; what is left in it is a failure. */
#define TOY_TEST(name)                                                         \
  cmocka_unit_test_setup_teardown(name, toy_setup, toy_teardown)

#endif
