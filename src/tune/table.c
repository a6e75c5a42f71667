/* SPDX-License-Identifier: Apache-2.0 */
/* The table of runs, and the CSV that it is kept in:
 *
 *   regal_tune,1,FINGERPRINT
 *   setting,graph,excess_bytes,cost
 *   0,0,0,123456
 *
 * Settings and graphs are numbers in the grid and in the training set.
 */
#include "tune/tune.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"

static const char head[] = "setting,graph,excess_bytes,cost\n";

regal_status regal_tune_table_create(regal_context *context, size_t settings,
                                     size_t graphs, size_t standard,
                                     uint64_t fingerprint,
                                     regal_tune_table *table) {
  *table = (regal_tune_table){.context = context,
                              .settings = settings,
                              .graphs = graphs,
                              .standard = standard,
                              .fingerprint = fingerprint};
  if (graphs && settings > SIZE_MAX / graphs)
    return regal_fail_memory(context);
  table->tried = regal_alloc(context, settings * graphs, sizeof *table->tried);
  if (!table->tried)
    return regal_fail_memory(context);
  for (size_t i = 0; i < settings * graphs; i++)
    table->tried[i].excess = -1;
  return REGAL_OK;
}

void regal_tune_table_free(regal_tune_table *table) {
  regal_release(table->context, table->tried);
}

/* -- The file -------------------------------------------------------------- */

static void format_first(const regal_tune_table *table, char line[64]) {
  snprintf(line, 64, "regal_tune,1,%016" PRIx64 "\n", table->fingerprint);
}

regal_status regal_tune_table_save(const regal_tune_table *table,
                                   const char *path) {
  regal_text text;
  char first[64];
  format_first(table, first);
  regal_text_init(&text, table->context);
  regal_text_format(&text, "%s%s", first, head);
  for (size_t graph = 0; graph < table->graphs; graph++)
    for (size_t setting = 0; setting < table->settings; setting++) {
      const regal_tried *tried = regal_tune_at(table, setting, graph);
      if (tried->excess >= 0)
        regal_text_format(&text, "%zu,%zu,%" PRId64 ",%" PRId64 "\n", setting,
                          graph, tried->excess, tried->value);
    }
  regal_status status = regal_text_save(table->context, &text, path);
  regal_text_free(&text);
  return status;
}

/* A number from 0 to `high` that ends with `ending`. */
static bool read_number(const char **at, char ending, uint64_t high,
                        uint64_t *value) {
  char *end;
  if (**at < '0' || **at > '9')
    return false;
  errno = 0;
  unsigned long long parsed = strtoull(*at, &end, 10);
  if (errno || *end != ending || parsed > high)
    return false;
  *at = end + 1;
  *value = parsed;
  return true;
}

static bool read_row(regal_tune_table *table, const char **at) {
  uint64_t setting, graph, excess, value;
  if (!read_number(at, ',', table->settings - 1, &setting) ||
      !read_number(at, ',', table->graphs - 1, &graph) ||
      !read_number(at, ',', INT64_MAX, &excess) ||
      !read_number(at, '\n', INT64_MAX, &value))
    return false;
  *regal_tune_at(table, setting, graph) =
      (regal_tried){(int64_t)excess, (int64_t)value};
  return true;
}

static regal_status read_rows(regal_tune_table *table, const char *path,
                              const char *at) {
  char first[64];
  format_first(table, first);
  if (strncmp(at, "regal_tune,1,", 13))
    return regal_fail(table->context, REGAL_BAD_INPUT,
                      "%s: not a table of regal tune; remove it, or name "
                      "another output",
                      path);
  if (strncmp(at, first, strlen(first)) ||
      strncmp(at + strlen(first), head, strlen(head)))
    return regal_fail(table->context, REGAL_BAD_INPUT,
                      "%s: found runs with other options or graphs; remove it, "
                      "or name another output",
                      path);
  at += strlen(first) + strlen(head);
  for (unsigned line = 3; *at; line++)
    if (!read_row(table, &at))
      return regal_fail(table->context, REGAL_BAD_INPUT,
                        "%s:%u: expected SETTING,GRAPH,EXCESS,COST with "
                        "settings below %zu and graphs below %zu",
                        path, line, table->settings, table->graphs);
  return REGAL_OK;
}

regal_status regal_tune_table_load(regal_tune_table *table, const char *path) {
  regal_text text;
  if (access(path, F_OK))
    return REGAL_OK;
  REGAL_TRY(regal_read_file(table->context, path, &text));
  regal_status status = read_rows(table, path, text.bytes ? text.bytes : "");
  regal_text_free(&text);
  return status;
}

/* -- Scores ---------------------------------------------------------------- */

/* In percent. A plan beyond the memory limit is twice as bad as one within, and
 * two such are compared by how far they are beyond. */
static double improvement(regal_tried tried, regal_tried standard) {
  double a = (double)tried.value, b = (double)standard.value;
  if (tried.excess && standard.excess) {
    a = (double)tried.excess;
    b = (double)standard.excess;
  } else if (tried.excess || standard.excess) {
    return tried.excess ? -100 : 100;
  }
  return b > 0 ? 100 * (b - a) / b : 0;
}

double regal_tune_improvement(const regal_tune_table *table, size_t setting,
                              size_t graphs, double *error) {
  double sum = 0, squares = 0, n = (double)graphs;
  for (size_t graph = 0; graph < graphs; graph++)
    sum += improvement(*regal_tune_at(table, setting, graph),
                       *regal_tune_at(table, table->standard, graph));
  for (size_t graph = 0; graph < graphs; graph++) {
    double one = improvement(*regal_tune_at(table, setting, graph),
                             *regal_tune_at(table, table->standard, graph));
    squares += (one - sum / n) * (one - sum / n);
  }
  if (error)
    *error = graphs > 1 ? sqrt(squares / (n - 1) / n) : 0;
  return sum / n;
}
