/* SPDX-License-Identifier: Apache-2.0 */
/* The devices' work over time, drawn with block characters: for each device a
 * row of how busy it is and a row of its memory, then a time axis.
 *
 * A row has as many cells as fit between the label and the figure at its end;
 * a cell is an equal share of the run time.
 */
#include "cost/model/problem.h"
#include "cost/verify/verify.h"
#include "report/layout.h"

#define LEAST_LABEL 10 /* columns of the label before a row, at least */
#define FIGURE 11      /* columns of the figure after it, its space included */
#define LEAST_COLUMNS 40  /* narrower is drawn as wide as this */
#define MOST_COLUMNS 2000 /* and wider as this */
#define LEAST_TICK 14     /* cells between two ticks of the axis, at least */

/* What is known about a cell of one device's row. */
typedef struct cell {
  double ops, transfers; /* share of the cell's time */
  int64_t bytes;         /* the most memory in use in it */
} cell;

typedef struct drawing {
  const regal_problem *problem;
  const regal_plan *plan;
  const regal_timeline *timeline;
  const regal_cost *cost;
  regal_text *text;
  uint32_t label; /* columns of the label before a row */
  uint32_t cells;
  cell *row; /* [cells] of the device that is drawn */
} drawing;

/* -- Filling a row --------------------------------------------------------- */

static double position(const drawing *drawing, int64_t ns) {
  return (double)ns / (double)drawing->cost->runtime_ns * drawing->cells;
}

/* The cell of a moment; what ends exactly at a border ends in the cell before
 * it, so `ending` tells the two ends of a span apart. */
static uint32_t cell_at(const drawing *drawing, int64_t ns, bool ending) {
  double at = position(drawing, ns);
  uint32_t index = at < drawing->cells ? (uint32_t)at : drawing->cells - 1;
  return ending && index && (double)index == at ? index - 1 : index;
}

static void add_span(drawing *drawing, int64_t start, int64_t end, bool runs) {
  double from = position(drawing, start), to = position(drawing, end);
  uint32_t last = cell_at(drawing, end, true);
  for (uint32_t k = cell_at(drawing, start, false); k <= last; k++) {
    double low = from > k ? from : k, high = to < k + 1.0 ? to : k + 1.0;
    double share = high > low ? high - low : 0;
    *(runs ? &drawing->row[k].ops : &drawing->row[k].transfers) += share;
  }
}

static void add_bytes(drawing *drawing, int64_t start, int64_t end,
                      int64_t bytes) {
  uint32_t first = cell_at(drawing, start, false);
  uint32_t last = cell_at(drawing, end, true);
  for (uint32_t k = first; k == first || k <= last; k++)
    if (drawing->row[k].bytes < bytes)
      drawing->row[k].bytes = bytes;
}

/* Between two steps of a device its memory is what the first left behind. */
static void fill_row(drawing *drawing, uint32_t device, int64_t resident) {
  const regal_timeline *timeline = drawing->timeline;
  int64_t until = 0, held = resident;
  for (uint32_t k = 0; k < drawing->cells; k++)
    drawing->row[k] = (cell){0, 0, 0};
  for (uint32_t i = 0; i < timeline->steps; i++) {
    const regal_step *step = &drawing->plan->steps[i];
    if (step->device != device && step->to != device)
      continue;
    int side = step->device != device;
    int64_t start = timeline->start_ns[i], end = timeline->end_ns[i];
    add_span(drawing, start, end, step->port == REGAL_RUN);
    if (start > until)
      add_bytes(drawing, until, start, held);
    add_bytes(drawing, start, end, timeline->during_bytes[i][side]);
    held = timeline->after_bytes[i][side];
    until = end;
  }
  if (until < drawing->cost->runtime_ns)
    add_bytes(drawing, until, drawing->cost->runtime_ns, held);
}

/* -- Drawing it ------------------------------------------------------------ */

static const char *busy_glyph(const cell *cell) {
  if (cell->transfers > cell->ops)
    return "═";
  if (cell->ops <= 0.02)
    return " ";
  return cell->ops <= 0.25  ? "░"
         : cell->ops <= 0.5 ? "▒"
         : cell->ops <= 0.9 ? "▓"
                            : "█";
}

static const char *memory_glyph(int64_t bytes, int64_t peak) {
  static const char *const levels[] = {" ", "▁", "▂", "▃", "▄",
                                       "▅", "▆", "▇", "█"};
  if (bytes <= 0)
    return levels[0];
  int level = (int)((double)bytes / (double)peak * 8 + 0.999);
  return levels[level < 1 ? 1 : level > 8 ? 8 : level];
}

static void draw_device(drawing *drawing, uint32_t device) {
  regal_text *text = drawing->text;
  int64_t peak = drawing->cost->peak_bytes[device];
  regal_device_label label =
      regal_machine_label(drawing->problem->machine, device);
  int64_t limit = drawing->problem->machine->memory_limit[device];
  regal_text_format(text, "%s%*s", label.text,
                    (int)(drawing->label - label.width), "");
  for (uint32_t k = 0; k < drawing->cells; k++)
    regal_text_format(text, "%s", busy_glyph(&drawing->row[k]));
  regal_text_format(text, " %.1f%%\n",
                    regal_layout_percent(drawing->timeline->busy_ns[device],
                                         drawing->cost->runtime_ns));
  regal_text_format(text, "%-*s", (int)drawing->label, "  memory");
  for (uint32_t k = 0; k < drawing->cells; k++)
    regal_text_format(text, "%s", memory_glyph(drawing->row[k].bytes, peak));
  regal_text_format(text, " %s\n", regal_show_bytes_like(limit, peak).text);
}

/* -- The axis -------------------------------------------------------------- */

/* The smallest of 1, 2, 5, 10, 20, ... 5e18 ns whose ticks are far enough
 * apart. */
static int64_t tick_ns(const drawing *drawing) {
  int64_t power = 1;
  for (; power < INT64_MAX / 10; power *= 10)
    for (int k = 1; k <= 5; k += k == 1 ? 1 : 3)
      if (position(drawing, power * k) >= LEAST_TICK)
        return power * k;
  return power / 2;
}

static void put_tick(regal_text *text, int64_t ns, int64_t runtime) {
  static const struct {
    int64_t size;
    const char *name;
  } units[] = {{1000000000, "s"}, {1000000, "ms"}, {1000, "us"}, {1, "ns"}};
  int unit = 0;
  if (!ns) {
    regal_text_format(text, "0");
    return;
  }
  while (unit < 3 && runtime < units[unit].size)
    unit++;
  regal_text_format(text, "%g %s", (double)ns / (double)units[unit].size,
                    units[unit].name);
}

static void draw_axis(drawing *drawing) {
  regal_text *text = drawing->text;
  int64_t tick = tick_ns(drawing), runtime = drawing->cost->runtime_ns;
  int64_t next = 0, last = runtime - runtime % tick;
  regal_text_format(text, "%-*s", (int)drawing->label, "");
  for (uint32_t k = 0; k < drawing->cells; k++) {
    bool marked = cell_at(drawing, next, false) == k;
    regal_text_format(text, "%s", !marked ? "─" : k ? "┴" : "└");
    next += marked && next < last ? tick : 0;
  }
  regal_text_format(text, "\n");
  size_t begin = text->size;
  for (int64_t k = 0; k <= runtime / tick; k++) {
    size_t column = begin + drawing->label + cell_at(drawing, k * tick, false);
    while (!text->failed && text->size < column)
      regal_text_append(text, " ", 1);
    put_tick(text, k * tick, runtime);
  }
  regal_text_format(
      text, "\n%-*s█ ops  ═ transfers  ▁▃▅█ memory, relative to its peak\n",
      (int)drawing->label, "");
}

static void draw(drawing *drawing) {
  const regal_graph *graph = drawing->problem->graph;
  const regal_plan *plan = drawing->plan;
  int64_t resident[REGAL_MAX_DEVICES] = {0};
  for (uint32_t i = 0; i < plan->step_count; i++)
    if (plan->steps[i].port == REGAL_RUN)
      resident[plan->steps[i].device] +=
          graph->resident_bytes[plan->steps[i].op];
  for (uint32_t d = 0; d < drawing->problem->machine->devices; d++) {
    fill_row(drawing, d, resident[d] + drawing->timeline->parameter_bytes[d]);
    draw_device(drawing, d);
  }
  draw_axis(drawing);
}

static regal_status draw_plan(regal_context *context, drawing *drawing,
                              int columns) {
  if (columns < LEAST_COLUMNS)
    columns = LEAST_COLUMNS;
  if (columns > MOST_COLUMNS)
    columns = MOST_COLUMNS;
  drawing->label =
      1 + regal_machine_label_width(drawing->problem->machine, LEAST_LABEL - 1);
  drawing->cells = (uint32_t)columns - drawing->label - FIGURE;
  if (!drawing->cost->runtime_ns) {
    regal_text_format(drawing->text, "the plan takes no time\n");
    return REGAL_OK;
  }
  drawing->row = regal_alloc(context, drawing->cells, sizeof *drawing->row);
  if (!drawing->row)
    return regal_fail_memory(context);
  draw(drawing);
  regal_release(context, drawing->row);
  return REGAL_OK;
}

regal_status regal_report_timeline(regal_context *context,
                                   const regal_problem *problem,
                                   const regal_plan *plan, int columns,
                                   FILE *stream) {
  regal_timeline timeline;
  regal_cost cost;
  regal_text text;
  REGAL_TRY(regal_need(context, problem && plan && stream,
                       "a timeline needs a problem, a plan and a stream"));
  REGAL_TRY(regal_verify_plan(context, problem->graph, problem->machine, plan,
                              &cost, &timeline));
  regal_text_init(&text, context);
  drawing drawing = {.problem = problem,
                     .plan = plan,
                     .timeline = &timeline,
                     .cost = &cost,
                     .text = &text};
  regal_status status = draw_plan(context, &drawing, columns);
  regal_timeline_free(&timeline);
  return regal_layout_finish(context, status, &text, stream);
}
