/* SPDX-License-Identifier: Apache-2.0 */
/* A plan as SVG: ops in columns by depth, in the colour of their device.
 * Pointing at an op shows its whole name, step and times; dashed edges cross
 * devices. */
#include <stdlib.h>

#include "cost/model/problem.h"
#include "graph/graph.h"
#include "report/picture.h"

#define WIDE 130 /* of an op's box; then the room to the next column */
#define HIGH 24
#define STEP_X 170
#define STEP_Y 32
#define MARGIN 16
#define HEAD 40  /* for the line above the graph */
#define SHOWN 18 /* characters of a name in its box */

/* -- Places ---------------------------------------------------------------- */

/* Where an op would like to be: the mean row of the ops before it. */
typedef struct wish {
  double row;
  uint32_t op;
} wish;

static void put_column(regal_picture *picture, uint32_t op, uint32_t before) {
  if (picture->column[before] >= picture->column[op])
    picture->column[op] = picture->column[before] + 1;
}

static void find_columns(regal_picture *picture) {
  const regal_graph *graph = picture->graph;
  for (uint32_t op = 0; op < graph->ops; op++) {
    for (REGAL_ROW(k, graph->input_begin, op))
      put_column(picture, op, graph->producer[graph->input[k]]);
    for (REGAL_ROW(k, graph->control_in_begin, op))
      put_column(picture, op, graph->control_in[k]);
    if (picture->column[op] >= picture->columns)
      picture->columns = picture->column[op] + 1;
  }
}

static double mean_row(const regal_picture *picture, uint32_t op) {
  const regal_graph *graph = picture->graph;
  double sum = 0;
  uint32_t count = 0;
  for (REGAL_ROW(k, graph->input_begin, op)) {
    sum += picture->row[graph->producer[graph->input[k]]];
    count++;
  }
  return count ? sum / count : 0;
}

static int compare_wishes(const void *left, const void *right) {
  const wish *a = left, *b = right;
  if (a->row != b->row)
    return a->row < b->row ? -1 : 1;
  return (a->op > b->op) - (a->op < b->op);
}

static void fill_column(regal_picture *picture, uint32_t column, wish *wishes) {
  uint32_t count = 0;
  for (uint32_t op = 0; op < picture->graph->ops; op++)
    if (picture->column[op] == column)
      wishes[count++] = (wish){mean_row(picture, op), op};
  qsort(wishes, count, sizeof *wishes, compare_wishes);
  for (uint32_t i = 0; i < count; i++)
    picture->row[wishes[i].op] = i;
  if (count > picture->rows)
    picture->rows = count;
}

/* O(ops * columns), of at most some thousands of ops. */
regal_status regal_picture_place(regal_picture *picture) {
  regal_context *context = picture->context;
  uint32_t ops = picture->graph->ops;
  picture->column = regal_alloc(context, ops, sizeof *picture->column);
  picture->row = regal_alloc(context, ops, sizeof *picture->row);
  wish *wishes = regal_alloc(context, ops, sizeof *wishes);
  bool whole = picture->column && picture->row && wishes;
  if (whole) {
    find_columns(picture);
    for (uint32_t column = 0; column < picture->columns; column++)
      fill_column(picture, column, wishes);
  }
  regal_release(context, wishes);
  return whole ? REGAL_OK : regal_fail_memory(context);
}

/* -- Drawing --------------------------------------------------------------- */

static void put_name(regal_picture *picture, uint32_t op, size_t most) {
  static const char *const instead[] = {"&amp;", "&lt;", "&gt;", "&quot;"};
  regal_picture_name(&picture->text, regal_graph_name(picture->graph, op),
                     "&<>\"", instead, most);
}

static uint32_t left_of(const regal_picture *picture, uint32_t op) {
  return MARGIN + picture->column[op] * STEP_X;
}

static uint32_t top_of(const regal_picture *picture, uint32_t op) {
  return HEAD + MARGIN + picture->row[op] * STEP_Y;
}

static void put_edge(regal_picture *picture, uint32_t from, uint32_t to,
                     const char *kind) {
  uint32_t x1 = left_of(picture, from) + WIDE, x2 = left_of(picture, to);
  uint32_t y1 = top_of(picture, from) + HIGH / 2;
  uint32_t y2 = top_of(picture, to) + HIGH / 2;
  uint32_t middle = (x1 + x2) / 2;
  regal_text_format(&picture->text,
                    "<path class=\"%s\" d=\"M%u %uC%u %u %u %u %u %u\"/>\n",
                    kind, x1, y1, middle, y1, middle, y2, x2, y2);
}

static void put_edges(regal_picture *picture, uint32_t op) {
  const regal_graph *graph = picture->graph;
  for (REGAL_ROW(k, graph->input_begin, op)) {
    uint32_t from = graph->producer[graph->input[k]];
    bool crosses = regal_picture_device(picture, from) !=
                   regal_picture_device(picture, op);
    put_edge(picture, from, op, crosses ? "sent" : "edge");
  }
  for (REGAL_ROW(k, graph->control_in_begin, op))
    put_edge(picture, graph->control_in[k], op, "control");
}

/* White below the colour, so that edges end at the box. */
static void put_box(regal_picture *picture, uint32_t op, const char *color,
                    const char *opacity) {
  regal_text_format(&picture->text,
                    "<rect x=\"%u\" y=\"%u\" width=\"%d\" height=\"%d\" "
                    "rx=\"3\" fill=\"%s\" fill-opacity=\"%s\"/>",
                    left_of(picture, op), top_of(picture, op), WIDE, HIGH,
                    color, opacity);
}

static void put_op(regal_picture *picture, uint32_t op) {
  regal_text *text = &picture->text;
  uint32_t device = regal_picture_device(picture, op);
  uint32_t step = picture->run_step[op];
  regal_text_format(text, "<g><title>");
  put_name(picture, op, 0);
  regal_text_format(text, "\nstep %u, device %u, from %s", step, device,
                    regal_show_duration(picture->timeline.start_ns[step]).text);
  regal_text_format(text, " to %s</title>",
                    regal_show_duration(picture->timeline.end_ns[step]).text);
  put_box(picture, op, "#fff", "1");
  put_box(picture, op, regal_picture_color(device), ".6");
  regal_text_format(text, "<text x=\"%u\" y=\"%u\">", left_of(picture, op) + 6,
                    top_of(picture, op) + 16);
  put_name(picture, op, SHOWN);
  regal_text_format(text, "</text></g>\n");
}

static void put_head(regal_picture *picture) {
  regal_text *text = &picture->text;
  const regal_cost *cost = &picture->result->cost;
  regal_text_format(text,
                    "<text x=\"%d\" y=\"24\">run time %s, peak memory %s</text>"
                    "\n",
                    MARGIN, regal_show_duration(cost->runtime_ns).text,
                    regal_show_bytes(cost->max_peak_bytes).text);
  for (uint32_t d = 0; d < picture->result->problem->devices; d++)
    regal_text_format(text,
                      "<rect x=\"%u\" y=\"12\" width=\"14\" height=\"14\" "
                      "fill=\"%s\"/><text x=\"%u\" y=\"24\">device %u</text>\n",
                      320 + d * 90, regal_picture_color(d), 340 + d * 90, d);
}

void regal_picture_svg(regal_picture *picture) {
  uint32_t wide = 2 * MARGIN + picture->columns * STEP_X;
  uint32_t least = 340 + 90 * picture->result->problem->devices;
  regal_text_format(
      &picture->text,
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" height=\"%u\">\n"
      "<style>text{font:12px sans-serif}path{fill:none;stroke:#999}.sent{"
      "stroke:#c2185b;stroke-dasharray:5 3}.control{stroke-dasharray:1 3}"
      "</style>\n<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
      wide > least ? wide : least, HEAD + 2 * MARGIN + picture->rows * STEP_Y);
  put_head(picture);
  for (uint32_t op = 0; op < picture->graph->ops; op++)
    put_edges(picture, op);
  for (uint32_t op = 0; op < picture->graph->ops; op++)
    put_op(picture, op);
  regal_text_format(&picture->text, "</svg>\n");
}
