/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs loaded from text written in a test, and questions about them. */
#ifndef REGAL_TESTS_LOADED_GRAPH_H
#define REGAL_TESTS_LOADED_GRAPH_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "graph/graph.h"

/* Options as on the command line: name, value, ..., NULL. */
static inline regal_options loaded_options(regal_context *context, ...) {
  regal_options options;
  va_list arguments;
  regal_options_init(&options);
  va_start(arguments, context);
  for (const char *name; (name = va_arg(arguments, const char *));)
    if (regal_options_set(context, &options, name,
                          va_arg(arguments, const char *)))
      fail_msg("%s", regal_error(context));
  va_end(arguments);
  return options;
}

static inline regal_graph *loaded_graph(regal_context *context,
                                        const char *text,
                                        const regal_options *options) {
  regal_graph *graph;
  if (regal_graph_load_bytes(context, "t", text, strlen(text), options,
                             &graph) != REGAL_OK)
    fail_msg("%s", regal_error(context));
  return graph;
}

/* The op of this name; there must be exactly one. */
static inline uint32_t loaded_op(const regal_graph *graph, const char *name) {
  uint32_t found = REGAL_NONE;
  for (uint32_t op = 0; op < graph->ops; op++)
    if (!strcmp(regal_graph_name(graph, op), name)) {
      assert_int_equal(found, REGAL_NONE);
      found = op;
    }
  if (found == REGAL_NONE)
    fail_msg("no op \"%s\"", name);
  return found;
}

static inline bool loaded_has(const regal_graph *graph, const char *name) {
  for (uint32_t op = 0; op < graph->ops; op++)
    if (!strcmp(regal_graph_name(graph, op), name))
      return true;
  return false;
}

static inline uint32_t loaded_tensor(const regal_graph *graph, const char *name,
                                     uint32_t port) {
  uint32_t op = loaded_op(graph, name);
  assert_true(port < graph->output_begin[op + 1] - graph->output_begin[op]);
  return graph->output_begin[op] + port;
}

static inline int64_t loaded_bytes(const regal_graph *graph, const char *name,
                                   uint32_t port) {
  return graph->bytes[loaded_tensor(graph, name, port)];
}

static inline bool loaded_final(const regal_graph *graph, const char *name,
                                uint32_t port) {
  return graph->is_final[loaded_tensor(graph, name, port)];
}

static inline bool loaded_reads(const regal_graph *graph, const char *consumer,
                                const char *producer, uint32_t port) {
  uint32_t op = loaded_op(graph, consumer);
  uint32_t tensor = loaded_tensor(graph, producer, port);
  for (uint32_t i = graph->input_begin[op]; i < graph->input_begin[op + 1]; i++)
    if (graph->input[i] == tensor)
      return true;
  return false;
}

static inline uint32_t loaded_inputs(const regal_graph *graph,
                                     const char *name) {
  uint32_t op = loaded_op(graph, name);
  return graph->input_begin[op + 1] - graph->input_begin[op];
}

static inline bool loaded_waits(const regal_graph *graph, const char *after,
                                const char *before) {
  uint32_t op = loaded_op(graph, after);
  for (uint32_t i = graph->control_in_begin[op];
       i < graph->control_in_begin[op + 1]; i++)
    if (graph->control_in[i] == loaded_op(graph, before))
      return true;
  return false;
}

static inline void loaded_expect_note(const regal_graph *graph,
                                      regal_note_kind kind, const char *text) {
  for (size_t i = 0; i < regal_graph_note_count(graph); i++) {
    regal_note note = regal_graph_note(graph, i);
    if (note.kind == kind && !strcmp(note.text, text))
      return;
  }
  for (size_t i = 0; i < regal_graph_note_count(graph); i++)
    print_error("note: %s\n", regal_graph_note(graph, i).text);
  fail_msg("no note \"%s\"", text);
}

static inline void loaded_expect_notes(const regal_graph *graph, size_t count) {
  for (size_t i = count; i < regal_graph_note_count(graph); i++)
    print_error("note: %s\n", regal_graph_note(graph, i).text);
  assert_int_equal(regal_graph_note_count(graph), count);
}

#endif
