/* SPDX-License-Identifier: Apache-2.0 */
/* A pass of a compiler: reorder the instructions of a function so that it needs
 * less memory, or divide them between two devices that each have little.
 *
 *   cc pass.c -o pass $(pkg-config --cflags --libs regal)
 *   ./pass                 the order with the least peak, on one device
 *   ./pass 2 1800KiB       the fastest plan for two devices of 1800 KiB
 *
 * The compiler's own representation is at the top, and regal knows nothing of
 * it. The pass builds a graph (lower), asks for a plan within a time (ask), and
 * reads it back (read_back). docs/compilers.md explains it.
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

/* -- The compiler ---------------------------------------------------------- */

#define MOST_OPERANDS 4

typedef struct instruction {
  const char *name;
  int operands[MOST_OPERANDS]; /* instructions, by number; -1 ends the list */
  int64_t bytes;               /* of the result */
  int64_t estimated_ns;
  int64_t scratch_bytes; /* while it runs */
} instruction;

/* Four experts, layer by layer as a front end writes them: all the wide tensors
 * are alive at once. */
enum { KIB = 1024, NARROW = 64 * KIB, WIDE = 1024 * KIB };
static const instruction function[] = {
    {"tokens", {-1}, NARROW, 0, 0},
    {"gate", {0, -1}, 4 * KIB, 5000, 0},
    {"up0", {0, -1}, WIDE, 40000, 0},
    {"up1", {0, -1}, WIDE, 40000, 0},
    {"up2", {0, -1}, WIDE, 40000, 0},
    {"up3", {0, -1}, WIDE, 40000, 0},
    {"down0", {2, -1}, NARROW, 40000, 128 * KIB},
    {"down1", {3, -1}, NARROW, 40000, 128 * KIB},
    {"down2", {4, -1}, NARROW, 40000, 128 * KIB},
    {"down3", {5, -1}, NARROW, 40000, 128 * KIB},
    {"mix01", {1, 6, 7, -1}, NARROW, 4000, 0},
    {"mix23", {1, 8, 9, -1}, NARROW, 4000, 0},
    {"result", {10, 11, -1}, NARROW, 2000, 0},
};
enum { COUNT = sizeof function / sizeof *function };

/* What the pass decides. */
typedef struct schedule {
  int order[COUNT];  /* instructions */
  int device[COUNT]; /* of each place in the order */
  int count, transfers;
} schedule;

/* -- From the compiler to regal -------------------------------------------- */

static regal_status lower_one(regal_builder *builder, int number) {
  const instruction *i = &function[number];
  uint32_t op; /* ops get the numbers 0, 1, ...: those of the instructions */
  TRY(regal_builder_add_op(builder, i->name, i->estimated_ns, i->scratch_bytes,
                           0, &op));
  TRY(regal_builder_add_output(builder, op, i->bytes, number == COUNT - 1));
  for (int k = 0; k < MOST_OPERANDS && i->operands[k] >= 0; k++)
    TRY(regal_builder_add_input(builder, op, (uint32_t)i->operands[k], 0));
  return REGAL_OK;
}

static regal_status lower(regal_context *context, regal_graph **graph) {
  regal_builder *builder;
  TRY(regal_builder_create(context, &builder));
  for (int i = 0; i < COUNT; i++) {
    regal_status status = lower_one(builder, i);
    if (status != REGAL_OK) {
      regal_builder_free(builder);
      return status;
    }
  }
  return regal_builder_finish(builder, graph); /* frees the builder */
}

/* -- The question ---------------------------------------------------------- */

/* One device: the least memory. Several: the least time within a limit. In both
 * cases half a second; a proof that nothing is better ends it at once. */
static regal_status choose(regal_context *context, const char *devices,
                           const char *limit, regal_options *options) {
  regal_options_init(options);
  TRY(regal_options_set(context, options, "time", "500ms"));
  TRY(regal_options_set(context, options, "devices", devices ? devices : "1"));
  if (!devices)
    return regal_options_set(context, options, "objective", "memory");
  TRY(regal_options_set(context, options, "bandwidth", "50GB/s"));
  return limit ? regal_options_set(context, options, "memory-limit", limit)
               : REGAL_OK;
}

/* -- And back -------------------------------------------------------------- */

/* Steps are runs of ops and transfers, in an order that every device can
 * follow. */
static void read_back(const regal_result *result, schedule *found) {
  const regal_graph *graph = regal_problem_graph(result->problem);
  *found = (schedule){.count = 0};
  for (uint32_t i = 0; i < result->plan->step_count; i++) {
    const regal_step *step = &result->plan->steps[i];
    regal_op_info op;
    regal_graph_op(graph, step->op, &op);
    if (step->port != REGAL_RUN) {
      found->transfers++;
      continue;
    }
    found->order[found->count] = (int)op.id;
    found->device[found->count++] = step->device;
  }
}

static void emit(const regal_result *result, const schedule *found) {
  printf("peak %" PRId64 " KiB before, %" PRId64 " KiB after\n",
         result->before.max_peak_bytes / KIB,
         result->cost.max_peak_bytes / KIB);
  printf("time %" PRId64 " us before, %" PRId64 " us after, %d transfers\n",
         result->before.runtime_ns / 1000, result->cost.runtime_ns / 1000,
         found->transfers);
  for (int i = 0; i < found->count; i++)
    printf("%d: %s\n", found->device[i], function[found->order[i]].name);
}

/* A search that finds nothing within the limit has not failed. What it returns
 * then is the plan that misses it least; a compiler would rather report it. */
static regal_status ask(regal_context *context, const regal_graph *graph,
                        const regal_options *options) {
  regal_result *result;
  schedule found;
  TRY(regal_solve(context, graph, options, &result));
  if (result->fits) {
    read_back(result, &found);
    emit(result, &found);
  } else {
    printf("does not fit: %s\n",
           result->shortage ? result->shortage : "no such plan was found");
  }
  regal_result_free(result);
  return REGAL_OK;
}

static regal_status pass(regal_context *context, const char *devices,
                         const char *limit) {
  regal_options options;
  regal_graph *graph;
  TRY(choose(context, devices, limit, &options));
  TRY(lower(context, &graph));
  regal_status status = ask(context, graph, &options);
  regal_graph_free(graph);
  return status;
}

int main(int argc, char **argv) {
  regal_context *context;
  if (regal_context_create(&context, NULL) != REGAL_OK) {
    fputs("out of memory\n", stderr);
    return EXIT_FAILURE;
  }
  regal_status status =
      pass(context, argc > 1 ? argv[1] : NULL, argc > 2 ? argv[2] : NULL);
  if (status != REGAL_OK)
    fprintf(stderr, "%s: %s\n", regal_status_name(status),
            regal_error(context));
  regal_context_free(context);
  return status == REGAL_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
