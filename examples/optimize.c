/* SPDX-License-Identifier: Apache-2.0 */
/* The shortest useful program: a graph, two devices, a plan.
 *
 *   cc optimize.c -o optimize $(pkg-config --cflags --libs regal)
 *   ./optimize               a small graph, built in memory
 *   ./optimize model.pb      a graph from a file; writes model.pb.plan
 */
#include <regal.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define TRY(call)                                                              \
  do {                                                                         \
    regal_status status_ = (call);                                             \
    if (status_ != REGAL_OK)                                                   \
      return status_;                                                          \
  } while (0)

/* Two branches between a first and a last op: worth 2 devices. */
static regal_status fill(regal_builder *builder) {
  static const char *const names[] = {"split", "left", "right", "join"};
  static const int64_t run_ns[] = {1000, 5000, 5000, 1000};
  uint32_t op[4];
  for (int i = 0; i < 4; i++) {
    TRY(regal_builder_add_op(builder, names[i], run_ns[i], 0, 0, &op[i]));
    TRY(regal_builder_add_output(builder, op[i], 4096, i == 3));
  }
  TRY(regal_builder_add_input(builder, op[1], op[0], 0));
  TRY(regal_builder_add_input(builder, op[2], op[0], 0));
  TRY(regal_builder_add_input(builder, op[3], op[1], 0));
  TRY(regal_builder_add_input(builder, op[3], op[2], 0));
  return REGAL_OK;
}

static regal_status build(regal_context *context, regal_graph **graph) {
  regal_builder *builder;
  TRY(regal_builder_create(context, &builder));
  regal_status status = fill(builder);
  if (status == REGAL_OK)
    return regal_builder_finish(builder, graph); /* frees the builder too */
  regal_builder_free(builder);
  return status;
}

static void print(const regal_result *result) {
  printf("before: %" PRId64 " ns, after: %" PRId64 " ns, bound: %" PRId64
         " ns\n",
         result->before.runtime_ns, result->cost.runtime_ns,
         result->bound.runtime_ns);
  for (uint32_t i = 0; i < result->plan->step_count && i < 12; i++) {
    const regal_step *step = &result->plan->steps[i];
    regal_op_info op;
    regal_graph_op(regal_problem_graph(result->problem), step->op, &op);
    if (step->port == REGAL_RUN)
      printf("device %d runs %s\n", step->device, op.name);
    else
      printf("device %d sends %s to device %d\n", step->device, op.name,
             step->to);
  }
}

static regal_status solve(regal_context *context, const regal_graph *graph,
                          const regal_options *options, const char *path) {
  regal_result *result;
  TRY(regal_solve(context, graph, options, &result));
  print(result);
  regal_status status = REGAL_OK;
  char plan_path[4096];
  if (path) {
    snprintf(plan_path, sizeof plan_path, "%s.plan", path);
    status = regal_plan_save(context, result, plan_path);
  }
  regal_result_free(result);
  return status;
}

static regal_status run(regal_context *context, const char *path) {
  regal_options options;
  regal_graph *graph;
  regal_options_init(&options);
  TRY(regal_options_set(context, &options, "devices", "2"));
  TRY(regal_options_set(context, &options, "evaluations", "1000"));
  if (path)
    TRY(regal_graph_load(context, path, &options, &graph));
  else
    TRY(build(context, &graph));
  regal_status status = solve(context, graph, &options, path);
  regal_graph_free(graph);
  return status;
}

int main(int argc, char **argv) {
  regal_context *context;
  if (regal_context_create(&context, NULL) != REGAL_OK) {
    fputs("out of memory\n", stderr);
    return EXIT_FAILURE;
  }
  regal_status status = run(context, argc > 1 ? argv[1] : NULL);
  if (status != REGAL_OK)
    fprintf(stderr, "%s: %s\n", regal_status_name(status),
            regal_error(context));
  regal_context_free(context);
  return status == REGAL_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
