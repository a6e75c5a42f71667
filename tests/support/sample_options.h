/* SPDX-License-Identifier: Apache-2.0 */
/* The graph of sample.h with options for it, in a folder of its own: what tests
 * of machines begin with. Include after cmocka.h. */
#ifndef REGAL_TESTS_SAMPLE_OPTIONS_H
#define REGAL_TESTS_SAMPLE_OPTIONS_H

#include "support/sample.h"

static regal_context *context;
static regal_graph *graph;
static regal_options options;

static int set_up(void **state) {
  return files_enter(state) ||
         regal_context_create(&context, NULL) != REGAL_OK ||
         sample_graph(context, &graph) != REGAL_OK;
}

static int tear_down(void **state) {
  regal_graph_free(graph);
  assert_int_equal(regal_bytes_in_use(context), 0);
  regal_context_free(context);
  return files_leave(state);
}

static int fresh_options(void **state) {
  (void)state;
  regal_options_init(&options);
  return chdir(files_folder);
}

static void set(const char *name, const char *value) {
  assert_int_equal(regal_options_set(context, &options, name, value), REGAL_OK);
}

#endif
