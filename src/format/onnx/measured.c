/* SPDX-License-Identifier: Apache-2.0 */
/* Run times that the user has measured: --costs, a CSV of name,microseconds.
 *
 * A name with a comma or a quote is in double quotes, a quote inside them is
 * doubled (RFC 4180). The first line may be the header "name,microseconds".
 * Rows of nodes that are no ops (folded, views) are ignored.
 */
#include "format/onnx/onnx.h"

#include <string.h>

#include "base/name_index.h"
#include "graph/builder.h"

typedef struct measuring {
  regal_onnx *onnx;
  const char *path;
  regal_name_index index; /* of all nodes */
  uint32_t *line_of;      /* [nodes] of its row; 0: none */
  uint32_t line;
} measuring;

/* -- A row ----------------------------------------------------------------- */

static regal_status fail_line(const measuring *measuring, const char *what,
                              const char *name) {
  return regal_fail(measuring->onnx->context, REGAL_BAD_INPUT, "%s:%u: %s%s",
                    measuring->path, measuring->line, what,
                    name ? regal_quote(name).text : "");
}

/* Takes the quotes off a name, in place; false if they do not match. */
static bool unquote(char *name) {
  if (*name != '"')
    return !strchr(name, '"');
  char *to = name;
  const char *from = name + 1;
  while (*from) {
    if (*from == '"' && *++from != '"')
      break;
    *to++ = *from++;
  }
  bool closed = from[-1] == '"' && !*from;
  *to = 0;
  return closed;
}

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

static regal_status find_node(const measuring *measuring, const char *name,
                              uint32_t *node) {
  *node = regal_name_index_find(&measuring->index, name);
  if (*node == REGAL_NAME_ABSENT)
    return fail_line(measuring, "the model has no node ", name);
  if (*node == REGAL_NAME_AMBIGUOUS)
    return fail_line(measuring, "the model has more than one node ", name);
  return REGAL_OK;
}

static regal_status read_row(measuring *measuring, char *row) {
  char *comma = strrchr(row, ',');
  uint32_t node = 0;
  int64_t ns;
  if (measuring->line == 1 && !strcmp(row, "name,microseconds"))
    return REGAL_OK;
  if (!comma)
    return fail_line(measuring, "expected name,microseconds", NULL);
  *comma = 0;
  if (!unquote(row))
    return fail_line(measuring, "a quote that is not closed or not doubled",
                     NULL);
  if (!read_microseconds(comma + 1, &ns))
    return fail_line(measuring, "not a number of microseconds: ", comma + 1);
  REGAL_TRY(find_node(measuring, row, &node));
  if (measuring->line_of[node])
    return fail_line(measuring, "a second row for ", row);
  measuring->line_of[node] = measuring->line;
  regal_onnx_work *work = &measuring->onnx->ops[node].work;
  if (work->is_op) {
    work->run_ns = ns;
    measuring->onnx->measured++;
  }
  return REGAL_OK;
}

/* -- The file -------------------------------------------------------------- */

static regal_status read_rows(measuring *measuring, char *text, size_t size) {
  char *end = text + size;
  if (memchr(text, 0, size))
    return regal_fail(measuring->onnx->context, REGAL_BAD_INPUT,
                      "%s: a zero byte: not a text", measuring->path);
  for (char *row = text; row < end;) {
    char *stop = memchr(row, '\n', (size_t)(end - row));
    char *next = stop ? stop + 1 : end;
    if (stop)
      *stop = 0;
    size_t length = strlen(row);
    if (length && row[length - 1] == '\r')
      row[length - 1] = 0;
    measuring->line++;
    if (*row)
      REGAL_TRY(read_row(measuring, row));
    row = next;
  }
  return REGAL_OK;
}

static regal_status read_file(measuring *measuring) {
  regal_text text;
  REGAL_TRY(regal_read_file(measuring->onnx->context, measuring->path, &text));
  regal_status status =
      text.size ? read_rows(measuring, text.bytes, text.size) : REGAL_OK;
  regal_text_free(&text);
  return status;
}

regal_status regal_onnx_measure(regal_onnx *onnx) {
  const regal_onnx_graph *graph = onnx->model->graph;
  measuring measuring = {.onnx = onnx, .path = onnx->options->costs};
  if (!*measuring.path)
    return REGAL_OK;
  const char **names =
      regal_arena_alloc(&onnx->arena, graph->n_node, sizeof *names);
  measuring.line_of =
      regal_arena_alloc(&onnx->arena, graph->n_node, sizeof *measuring.line_of);
  if (!names || !measuring.line_of)
    return regal_fail_memory(onnx->context);
  for (size_t i = 0; i < graph->n_node; i++)
    names[i] = regal_onnx_node_name(graph->node[i]);
  REGAL_TRY(regal_name_index_create(onnx->context, names,
                                    (uint32_t)graph->n_node, &measuring.index));
  regal_status status = read_file(&measuring);
  regal_name_index_free(&measuring.index);
  for (size_t i = 0; i < graph->n_node; i++)
    onnx->not_measured += onnx->ops[i].work.is_op && !measuring.line_of[i];
  return status;
}
