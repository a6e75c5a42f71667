/* SPDX-License-Identifier: Apache-2.0 */
/* Small graphs written as text, for unit tests, and a context that must be
 * empty at the end of each. */
#ifndef REGAL_TESTS_GRAPH_SKETCH_H
#define REGAL_TESTS_GRAPH_SKETCH_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "graph/builder.h"

static inline int context_setup(void **state) {
  return regal_context_create((regal_context **)state, NULL);
}

static inline int context_teardown(void **state) {
  size_t left = regal_bytes_in_use(*state);
  regal_context_free(*state);
  return left != 0;
}

/* Ops with one-letter names, one output of one byte and 10 ns each; edges as
 * "a>b" (b reads a) or "a:b" (b waits for a). */
static inline regal_status add_sketch(regal_builder *builder, const char *names,
                                      const char *edges) {
  for (const char *name = names; *name; name++) {
    char text[2] = {*name, 0};
    uint32_t id;
    REGAL_TRY(regal_builder_add_op(builder, text, 10, 0, 0, &id));
    REGAL_TRY(regal_builder_add_output(builder, id, 1, false));
  }
  for (const char *edge = edges; *edge; edge += strspn(edge + 3, " ") + 3) {
    uint32_t from = (uint32_t)(strchr(names, edge[0]) - names);
    uint32_t to = (uint32_t)(strchr(names, edge[2]) - names);
    if (edge[1] == '>')
      REGAL_TRY(regal_builder_add_input(builder, to, from, 0));
    else
      REGAL_TRY(regal_builder_add_control(builder, from, to));
  }
  return REGAL_OK;
}

static inline regal_graph *sketch(regal_context *context, const char *names,
                                  const char *edges) {
  regal_builder *builder;
  regal_graph *graph = NULL;
  assert_int_equal(regal_builder_create(context, &builder), REGAL_OK);
  assert_int_equal(add_sketch(builder, names, edges), REGAL_OK);
  if (regal_builder_finish(builder, &graph) != REGAL_OK)
    fail_msg("%s", regal_error(context));
  return graph;
}

/* The test gets a context as its state; what is left in it is a failure. */
#define CONTEXT_TEST(name)                                                     \
  cmocka_unit_test_setup_teardown(name, context_setup, context_teardown)

#endif
