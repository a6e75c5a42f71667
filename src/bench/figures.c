/* SPDX-License-Identifier: Apache-2.0 */
/* Figures of a report: data as CSV, and the script that draws them.
 *
 * NAME_curve.csv: the gap to the best known plan against time, a line for each
 * method through its budgets. NAME_boxes.csv: quartiles of the improvement over
 * graphs, a box for each entry.
 *
 * gnuplot's language can run commands, so no text of a user's gets into the
 * script as it is: titles have letters, digits and a few harmless signs.
 */
#include "bench/summary.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "figure_style.embedded.h"

const char *regal_figure_style(void) {
  return (const char *)figure_style_embedded; /* ends with a zero */
}

static bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || regal_is_digit(c);
}

static void make_plain(char *text, const char *allowed) {
  for (; *text; text++)
    if (!is_plain(*text) && !strchr(allowed, *text))
      *text = '_';
}

void regal_bench_file_name(const regal_bench_group *group, char *name,
                           size_t capacity) {
  snprintf(name, capacity, "%.60s_%.20s", group->dataset, group->objective);
  make_plain(name, "-_");
}

static regal_status save(const regal_bench_summary *summary,
                         const regal_text *text, const char *folder,
                         const char *name, const char *ending) {
  char path[REGAL_MOST_LIST];
  snprintf(path, sizeof path, "%s/%s%s", folder, name, ending);
  return regal_text_save(summary->context, text, path);
}

/* Both formats of one figure; `plot` is the command, and `size` in pixels. */
static void put_figure(regal_text *script, const char *name, const char *kind,
                       const char *size, const char *plot) {
  regal_text_format(script,
                    "set terminal svg size %s dynamic font 'sans,13' "
                    "background 'white'\nset output '%s_%s.svg'\n%s\n",
                    size, name, kind, plot);
  regal_text_format(script,
                    "set terminal pngcairo size %s font 'sans,10' background "
                    "'white'\nset output '%s_%s.png'\nreplot\n",
                    size, name, kind);
}

/* -- Curves ---------------------------------------------------------------- */

static bool is_first_of_method(const regal_bench_group *group, size_t entry) {
  for (size_t i = 0; i < entry; i++)
    if (!strcmp(group->entries[i].method, group->entries[entry].method))
      return false;
  return true;
}

/* The rows of a method, in the order of its budgets. */
static regal_status put_line(const regal_bench_summary *summary,
                             const regal_bench_group *group, size_t first,
                             size_t number, regal_text *text) {
  for (size_t i = first; i < group->entry_count; i++) {
    const regal_bench_entry *entry = &group->entries[i];
    regal_bench_score score;
    if (strcmp(entry->method, group->entries[first].method))
      continue;
    REGAL_TRY(regal_bench_score_of(summary->context, group, i, &score));
    if (!score.graphs || isnan(score.gap))
      continue;
    regal_text_format(text, "%zu,", number);
    regal_csv_put(text, entry->method);
    regal_text_append(text, ",", 1);
    regal_csv_put(text, entry->budget);
    regal_text_format(text, ",%.6g,%.6g,%.6g\n", score.seconds, score.gap,
                      isnan(score.gap_interval) ? 0 : score.gap_interval);
  }
  return REGAL_OK;
}

static void put_curve_title(regal_text *plot, const regal_bench_entry *entry,
                            const char *name, size_t number) {
  char title[64];
  snprintf(title, sizeof title, "%.60s", entry->method);
  make_plain(title, " -_=.+/~");
  regal_text_format(plot,
                    "%s'%s_curve.csv' every ::1 using ($1==%zu?$4:1/0):5:6 "
                    "with yerrorlines lt %zu title '%s'",
                    number == 1 ? "plot " : ", ", name, number, number, title);
}

static regal_status draw_curves(const regal_bench_summary *summary,
                                const regal_bench_group *group,
                                const char *folder, const char *name,
                                regal_text *data, regal_text *plot) {
  size_t number = 0;
  regal_text_format(data, "line,method,budget,seconds,gap_percent,interval\n");
  for (size_t i = 0; i < group->entry_count; i++) {
    if (!is_first_of_method(group, i))
      continue;
    number++;
    REGAL_TRY(put_line(summary, group, i, number, data));
    put_curve_title(plot, &group->entries[i], name, number);
  }
  return save(summary, data, folder, name, "_curve.csv");
}

/* -- Boxes ----------------------------------------------------------------- */

static regal_status draw_boxes(const regal_bench_summary *summary,
                               const regal_bench_group *group,
                               const char *folder, const char *name,
                               regal_text *data) {
  regal_text_format(data, "box,entry,smallest,quarter,median,three_quarters,"
                          "largest\n");
  for (size_t i = 0; i < group->entry_count; i++) {
    regal_bench_score score;
    char label[REGAL_MOST_TEXT];
    REGAL_TRY(regal_bench_score_of(summary->context, group, i, &score));
    if (!score.graphs || i == group->reference)
      continue;
    regal_bench_label(summary, &group->entries[i], label, sizeof label);
    regal_text_format(data, "%zu,", i + 1);
    regal_csv_put(data, label);
    for (size_t q = 0; q < 5; q++)
      regal_text_format(data, ",%.6g", score.quartile[q]);
    regal_text_format(data, "\n");
  }
  return save(summary, data, folder, name, "_boxes.csv");
}

/* -- The group ------------------------------------------------------------- */

static void put_group(const regal_bench_group *group, const char *name,
                      const char *curves, regal_text *script) {
  char title[96], boxes[512];
  snprintf(title, sizeof title, "%.60s, %.20s", group->dataset,
           group->objective);
  make_plain(title, " -_,.");
  regal_text_format(script,
                    "reset\n%sset title '%s: gap to the best known plan "
                    "against time'\nset logscale x\nset xlabel 'seconds on "
                    "one thread'\nset ylabel 'mean gap, %%'\nset yrange "
                    "[0:]\n",
                    regal_figure_style(), title);
  put_figure(script, name, "curve", "820,420", curves);
  if (group->entry_count < 2)
    return;
  snprintf(boxes, sizeof boxes,
           "plot '%s_boxes.csv' every ::1 using 1:4:3:7:6:xtic(2) with "
           "candlesticks lt 1 whiskerbars, '' every ::1 using 1:5:5:5:5 with "
           "candlesticks lt 2",
           name);
  regal_text_format(script,
                    "reset\n%sunset key\nset title '%s: improvement over the "
                    "reference, quartiles of the graphs'\nset ylabel "
                    "'improvement, %%'\nset xtics rotate by -35 noenhanced\n"
                    "set boxwidth 0.5\nset xrange [0:%zu]\n",
                    regal_figure_style(), title, group->entry_count + 1);
  put_figure(script, name, "boxes", "820,480", boxes);
}

regal_status regal_bench_draw(const regal_bench_summary *summary,
                              const regal_bench_group *group,
                              const char *folder, regal_text *script) {
  char name[128];
  regal_text curve, boxes, plot;
  regal_bench_file_name(group, name, sizeof name);
  regal_text_init(&curve, summary->context);
  regal_text_init(&boxes, summary->context);
  regal_text_init(&plot, summary->context);
  regal_status status =
      draw_curves(summary, group, folder, name, &curve, &plot);
  if (status == REGAL_OK && group->entry_count > 1)
    status = draw_boxes(summary, group, folder, name, &boxes);
  if (status == REGAL_OK)
    put_group(group, name, plot.bytes ? plot.bytes : "", script);
  if (status == REGAL_OK && plot.failed)
    status = regal_fail_memory(summary->context);
  regal_text_free(&plot);
  regal_text_free(&boxes);
  regal_text_free(&curve);
  return status;
}
