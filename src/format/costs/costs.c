/* SPDX-License-Identifier: Apache-2.0 */
/* The reader of --costs: rows of a name and microseconds. The first line may be
 * the header "name,microseconds". */
#include "format/costs/costs.h"

#include <inttypes.h>
#include <string.h>

#include "base/csv.h"
#include "base/name_index.h"
#include "format/json/json.h"
#include "graph/builder.h"

typedef struct reader {
  regal_context *context;
  const char *path, *whose;
  regal_name_index index;
  int64_t *run_ns; /* [names] */
  regal_csv csv;
} reader;

/* -- A row ----------------------------------------------------------------- */

/* Exact, as for all durations; false for what is no number. */
static bool read_microseconds(const char *text, int64_t *ns) {
  char with_unit[64];
  size_t length = strlen(text);
  while (*text == ' ')
    text++, length--;
  while (length && text[length - 1] == ' ')
    length--;
  if (!length || length > sizeof with_unit - 3 ||
      strspn(text, "0123456789.eE+-") < length)
    return false;
  snprintf(with_unit, sizeof with_unit, "%.*sus", (int)length, text);
  return regal_parse_duration(with_unit, ns);
}

static regal_status find_node(const reader *reader, const char *name,
                              uint32_t *node) {
  *node = regal_name_index_find(&reader->index, name);
  if (*node < REGAL_NAME_AMBIGUOUS)
    return REGAL_OK;
  return regal_csv_fail(&reader->csv, "%s has %s node %s", reader->whose,
                        *node == REGAL_NAME_ABSENT ? "no" : "more than one",
                        regal_quote(name).text);
}

static regal_status read_row(reader *reader) {
  const regal_csv *csv = &reader->csv;
  uint32_t node = 0;
  int64_t ns;
  if (csv->count != 2)
    return regal_csv_fail(csv, "found %zu field%s, expected name,microseconds",
                          csv->count, regal_plural(csv->count));
  const char *name = csv->fields[0], *time = csv->fields[1];
  if (!read_microseconds(time, &ns))
    return regal_csv_fail(csv, "found %s, expected a number of microseconds",
                          regal_quote(time).text);
  REGAL_TRY(find_node(reader, name, &node));
  if (reader->run_ns[node] != REGAL_NOT_MEASURED)
    return regal_csv_fail(csv, "a second row for %s", regal_quote(name).text);
  reader->run_ns[node] = ns;
  return REGAL_OK;
}

/* -- The file -------------------------------------------------------------- */

static regal_status read_rows(reader *reader, char *text, size_t size) {
  regal_csv *csv = &reader->csv;
  regal_csv_open(csv, reader->context, reader->path, 1, text, size);
  for (;;) {
    REGAL_TRY(regal_csv_next(csv));
    if (!csv->count)
      return REGAL_OK;
    if (!regal_csv_is_head(csv, "name", "microseconds"))
      REGAL_TRY(read_row(reader));
  }
}

static regal_status read_file(reader *reader) {
  regal_text text;
  REGAL_TRY(regal_read_file(reader->context, reader->path, &text));
  regal_status status = REGAL_OK;
  if (text.size && regal_json_detect(text.bytes, text.size))
    status = regal_fail(reader->context, REGAL_BAD_INPUT,
                        "%s: a trace of torch.profiler must be a plain file, "
                        "not a pipe",
                        reader->path);
  else if (text.size)
    status = read_rows(reader, text.bytes, text.size);
  regal_text_free(&text);
  return status;
}

regal_status regal_costs_read(regal_context *context, const char *path,
                              const char *const *names, uint32_t count,
                              const char *whose, int64_t *run_ns) {
  reader reader = {
      .context = context, .path = path, .whose = whose, .run_ns = run_ns};
  for (uint32_t i = 0; i < count; i++)
    run_ns[i] = REGAL_NOT_MEASURED;
  REGAL_TRY(regal_name_index_create(context, names, count, &reader.index));
  regal_status status = read_file(&reader);
  regal_name_index_free(&reader.index);
  return status;
}

/* -- The ops of a graph ---------------------------------------------------- */

static regal_status apply(regal_graph *graph, const char *path,
                          const char **names, int64_t *run_ns) {
  uint64_t measured = 0;
  for (uint32_t op = 0; op < graph->ops; op++)
    names[op] = regal_graph_name(graph, op);
  REGAL_TRY(regal_costs_read(graph->context, path, names, graph->ops,
                             "the graph", run_ns));
  for (uint32_t op = 0; op < graph->ops; op++) {
    if (run_ns[op] == REGAL_NOT_MEASURED)
      continue;
    graph->run_ns[op] = run_ns[op];
    measured++;
  }
  REGAL_TRY(regal_graph_settle(graph));
  return regal_costs_add_note(graph, measured, path);
}

regal_status regal_costs_apply(regal_context *context, const char *path,
                               regal_graph *graph) {
  const char **names = regal_alloc(context, graph->ops, sizeof *names);
  int64_t *run_ns = regal_alloc(context, graph->ops, sizeof *run_ns);
  regal_status status = names && run_ns ? apply(graph, path, names, run_ns)
                                        : regal_fail_memory(context);
  regal_release(context, run_ns);
  regal_release(context, names);
  return status;
}

regal_status regal_costs_add_note(regal_graph *graph, uint64_t measured,
                                  const char *path) {
  return regal_graph_add_note(graph, REGAL_NOTE_ASSUMED,
                              "run times of %" PRIu64 " op%s as measured in %s",
                              measured, measured == 1 ? "" : "s", path);
}
