/* SPDX-License-Identifier: Apache-2.0 */
/* Figures of a graph for `regal inspect`: depth and width, kinds of ops (names
 * without their trailing number), and the largest ops and tensors.
 */
#include "report/figures.h"

#include <stdlib.h>
#include <string.h>

#include "report/layout.h"

/* -- Shape ----------------------------------------------------------------- */

static uint32_t level_of(const regal_graph *graph, const uint32_t *level,
                         uint32_t op) {
  uint32_t deepest = 0;
  for (REGAL_ROW(i, graph->input_begin, op)) {
    uint32_t before = level[graph->producer[graph->input[i]]];
    deepest = before > deepest ? before : deepest;
  }
  for (REGAL_ROW(i, graph->control_in_begin, op)) {
    uint32_t before = level[graph->control_in[i]];
    deepest = before > deepest ? before : deepest;
  }
  return deepest + 1;
}

static regal_status measure_shape(regal_context *context,
                                  const regal_graph *graph,
                                  regal_graph_figures *figures) {
  uint32_t *level = regal_alloc(context, graph->ops, sizeof *level);
  uint32_t *count = regal_alloc(context, (size_t)graph->ops + 1, sizeof *count);
  if (level && count)
    for (uint32_t op = 0; op < graph->ops; op++) {
      level[op] = level_of(graph, level, op);
      if (level[op] > figures->depth)
        figures->depth = level[op];
      if (++count[level[op]] > figures->width)
        figures->width = count[level[op]];
    }
  bool good = level && count;
  regal_release(context, level);
  regal_release(context, count);
  return good ? REGAL_OK : regal_fail_memory(context);
}

/* -- Largest parts --------------------------------------------------------- */

/* The indices of the largest values, largest first, ties by index. */
static uint32_t find_top(const int64_t *values, uint32_t count,
                         uint32_t top[REGAL_FIGURES_TOP]) {
  uint32_t found = 0;
  for (uint32_t i = 0; i < count; i++)
    if (values[i] > 0)
      found = regal_layout_rank(values, i, REGAL_FIGURES_TOP, top, found);
  return found;
}

/* -- Kinds ----------------------------------------------------------------- */

static bool is_digit(char letter) {
  return letter >= '0' && letter <= '9';
}

/* The length without a trailing number after '_' or '.'. */
static size_t drop_number(const char *name, size_t length) {
  size_t digits = length;
  while (digits > 0 && is_digit(name[digits - 1]))
    digits--;
  bool numbered = digits < length && digits > 1 &&
                  (name[digits - 1] == '_' || name[digits - 1] == '.');
  return numbered ? digits - 1 : length;
}

regal_kind regal_figures_kind(const regal_graph *graph, uint32_t op) {
  const char *name = regal_graph_name(graph, op);
  const char *slash = strrchr(name, '/');
  if (slash && slash[1])
    name = slash + 1;
  return (regal_kind){name, drop_number(name, strlen(name)), 1,
                      graph->run_ns[op]};
}

int regal_figures_compare(const void *left, const void *right) {
  const regal_kind *a = left, *b = right;
  size_t shorter = a->length < b->length ? a->length : b->length;
  int order = memcmp(a->name, b->name, shorter);
  if (order)
    return order;
  return (a->length > b->length) - (a->length < b->length);
}

static int compare_times(const void *left, const void *right) {
  const regal_kind *a = left, *b = right;
  if (a->run_ns != b->run_ns)
    return a->run_ns < b->run_ns ? 1 : -1;
  return regal_figures_compare(left, right);
}

static regal_status collect_kinds(regal_context *context,
                                  const regal_graph *graph,
                                  regal_graph_figures *figures) {
  regal_kind *kinds = regal_alloc(context, graph->ops, sizeof *kinds);
  if (!kinds)
    return regal_fail_memory(context);
  for (uint32_t op = 0; op < graph->ops; op++)
    kinds[op] = regal_figures_kind(graph, op);
  qsort(kinds, graph->ops, sizeof *kinds, regal_figures_compare);
  uint32_t count = 0;
  for (uint32_t i = 0; i < graph->ops; i++) {
    if (count && !regal_figures_compare(&kinds[count - 1], &kinds[i])) {
      kinds[count - 1].ops++;
      kinds[count - 1].run_ns += kinds[i].run_ns;
    } else {
      kinds[count++] = kinds[i];
    }
  }
  qsort(kinds, count, sizeof *kinds, compare_times);
  figures->kinds = kinds;
  figures->kind_count = count;
  return REGAL_OK;
}

regal_status regal_figures_compute(regal_context *context,
                                   const regal_graph *graph,
                                   regal_graph_figures *figures) {
  memset(figures, 0, sizeof *figures);
  figures->context = context;
  REGAL_TRY(measure_shape(context, graph, figures));
  figures->top_ops = find_top(graph->run_ns, graph->ops, figures->top_op);
  figures->top_tensors =
      find_top(graph->bytes, graph->tensors, figures->top_tensor);
  return collect_kinds(context, graph, figures);
}

void regal_figures_free(regal_graph_figures *figures) {
  regal_release(figures->context, figures->kinds);
  figures->kinds = NULL;
}

const char *regal_note_name(regal_note_kind kind) {
  static const char *const names[] = {"assumed", "dropped", "joined",
                                      "warning"};
  return (unsigned)kind < sizeof names / sizeof *names ? names[kind] : "note";
}
