/* SPDX-License-Identifier: Apache-2.0 */
/* The readers of plans, orders and machine files, on one small graph.
 *
 * The same bytes are tried as a machine, and as a plan or an order. A plan that
 * loads is verified; the verifier may only accept it or say what is wrong, and
 * what it accepts must cost the same in the fast simulator.
 */
#include "cost/model/simulate.h"
#include "fuzz/fuzz.h"

/* A diamond with a control edge, and sizes that all differ. */
static regal_graph *diamond(regal_context *context) {
  static const char *const names[] = {"a", "b", "c", "d", "e"};
  static const int edges[][2] = {{0, 1}, {0, 2}, {1, 3}, {2, 3}, {3, 4}};
  regal_builder *builder;
  regal_graph *graph;
  FUZZ_CHECK(regal_builder_create(context, &builder) == REGAL_OK);
  for (uint32_t i = 0; i < 5; i++) {
    uint32_t id;
    FUZZ_CHECK(regal_builder_add_op(builder, names[i], 10 + i, i, 100 * i,
                                    &id) == REGAL_OK);
    FUZZ_CHECK(regal_builder_add_output(builder, id, 1 + 16 * i, i == 4) ==
               REGAL_OK);
  }
  for (size_t i = 0; i < sizeof edges / sizeof *edges; i++)
    FUZZ_CHECK(regal_builder_add_input(builder, (uint32_t)edges[i][1],
                                       (uint32_t)edges[i][0], 0) == REGAL_OK);
  FUZZ_CHECK(regal_builder_add_control(builder, 1, 2) == REGAL_OK);
  FUZZ_CHECK(regal_builder_finish(builder, &graph) == REGAL_OK);
  return graph;
}

static void check_simulator(regal_context *context,
                            const regal_problem *problem,
                            const regal_plan *plan, const regal_cost *cost) {
  regal_simulator *simulator;
  regal_cost fast;
  FUZZ_CHECK(regal_simulator_create(context, problem, &simulator) == REGAL_OK);
  regal_simulate(simulator, plan, &fast);
  FUZZ_CHECK(fast.runtime_ns == cost->runtime_ns);
  FUZZ_CHECK(fast.max_peak_bytes == cost->max_peak_bytes);
  FUZZ_CHECK(fast.excess_bytes == cost->excess_bytes);
  regal_simulator_free(simulator);
}

static void try_plan(regal_context *context, const regal_problem *problem,
                     const char *path) {
  regal_plan *plan;
  regal_cost cost;
  regal_status status = regal_plan_load(context, problem, path, &plan);
  fuzz_check_status(context, status);
  if (status != REGAL_OK)
    return;
  status = regal_verify(context, problem, plan, &cost);
  fuzz_check_status(context, status);
  if (status == REGAL_OK)
    check_simulator(context, problem, plan, &cost);
  regal_plan_free(plan);
}

static void try_problem(regal_context *context, const regal_graph *graph,
                        const regal_options *options, const char *plan_path) {
  regal_problem *problem;
  regal_status status = regal_problem_create(context, graph, options, &problem);
  fuzz_check_status(context, status);
  if (status != REGAL_OK)
    return;
  if (plan_path)
    try_plan(context, problem, plan_path);
  regal_problem_free(problem);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  regal_context *context;
  regal_options options;
  fuzz_file file;
  FUZZ_CHECK(regal_context_create(&context, NULL) == REGAL_OK);
  regal_graph *graph = diamond(context);
  fuzz_file_open(&file, bytes, size);

  regal_options_init(&options);
  snprintf(options.machine, sizeof options.machine, "%s", file.path);
  try_problem(context, graph, &options, NULL);

  regal_options_init(&options);
  try_problem(context, graph, &options, file.path);
  regal_status status = regal_plan_options(context, file.path, &options);
  fuzz_check_status(context, status);
  if (status == REGAL_OK)
    try_problem(context, graph, &options, file.path);

  fuzz_file_close(&file);
  regal_graph_free(graph);
  fuzz_close(context);
  return 0;
}
