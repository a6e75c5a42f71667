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

enum { MOST_LABEL = 120 }; /* letters of a method in a figure */

/* How large a figure is, in pixels. */
typedef struct extent {
  size_t width, height;
} extent;

/* Room for the axes below the title, and for labels of so many letters beside
 * them. */
static size_t width_for(const char *title, size_t letters) {
  size_t axes = 7 * strlen(title);
  return (axes > 540 ? axes : 540) + 8 * letters + 120;
}

static size_t longer(size_t most, const char *text) {
  return strlen(text) > most ? strlen(text) : most;
}

/* Both formats of one figure; `plot` is the command. */
static void put_figure(regal_text *script, const char *name, const char *kind,
                       extent size, const char *plot) {
  regal_text_format(script,
                    "set terminal svg size %zu,%zu dynamic font 'sans,13' "
                    "background 'white'\nset output '%s_%s.svg'\n%s\n",
                    size.width, size.height, name, kind, plot);
  regal_text_format(script,
                    "set terminal pngcairo size %zu,%zu font 'sans,10' "
                    "background 'white'\nset output '%s_%s.png'\nreplot\n",
                    size.width, size.height, name, kind);
}

/* -- Curves ---------------------------------------------------------------- */

/* Whether both are points of one line. */
static bool same_line(const regal_bench_entry *a, const regal_bench_entry *b) {
  return !strcmp(a->method, b->method) && !strcmp(a->settings, b->settings);
}

static bool is_first_of_line(const regal_bench_group *group, size_t entry) {
  for (size_t i = 0; i < entry; i++)
    if (same_line(&group->entries[i], &group->entries[entry]))
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
    if (!same_line(entry, &group->entries[first]))
      continue;
    REGAL_TRY(regal_bench_score_of(summary->context, group, i, &score));
    if (!score.graphs || isnan(score.gap))
      continue;
    regal_text_format(text, "%zu,", number);
    regal_text_csv(text, entry->method);
    regal_text_append(text, ",", 1);
    regal_text_csv(text, entry->budget);
    regal_text_format(text, ",%.6g,%.6g,%.6g\n", score.seconds, score.gap,
                      isnan(score.gap_interval) ? 0 : score.gap_interval);
  }
  return REGAL_OK;
}

/* With the settings if the table has several. */
static void put_curve_title(const regal_bench_summary *summary,
                            const regal_bench_entry *entry, const char *name,
                            size_t number, regal_text *plot) {
  char title[MOST_LABEL + 1], settings[8] = "";
  if (summary->mixed)
    snprintf(settings, sizeof settings, " [%.4s]", entry->settings);
  snprintf(title, sizeof title, "%.100s%s", entry->method, settings);
  make_plain(title, " -_=.+/~[]");
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
    if (!is_first_of_line(group, i))
      continue;
    number++;
    REGAL_TRY(put_line(summary, group, i, number, data));
    put_curve_title(summary, &group->entries[i], name, number, plot);
  }
  return save(summary, data, folder, name, "_curve.csv");
}

/* -- Boxes ----------------------------------------------------------------- */

static regal_status draw_boxes(const regal_bench_summary *summary,
                               const regal_bench_group *group,
                               const char *folder, const char *name,
                               regal_text *data, size_t *boxes) {
  regal_text_format(data, "box,entry,smallest,quarter,median,three_quarters,"
                          "largest\n");
  for (size_t i = 0; i < group->entry_count; i++) {
    regal_bench_score score;
    char label[REGAL_MOST_TEXT];
    REGAL_TRY(regal_bench_score_of(summary->context, group, i, &score));
    if (!score.graphs || i == group->reference)
      continue;
    regal_bench_label(summary, &group->entries[i], label, sizeof label);
    regal_text_format(data, "%zu,", ++*boxes);
    label[MOST_LABEL] = 0;
    regal_text_csv(data, label);
    for (size_t q = 0; q < 5; q++)
      regal_text_format(data, ",%.6g", score.quartile[q]);
    regal_text_format(data, "\n");
  }
  return save(summary, data, folder, name, "_boxes.csv");
}

/* -- The group ------------------------------------------------------------- */

static size_t longest_label(const regal_bench_summary *summary,
                            const regal_bench_group *group) {
  size_t longest = 0;
  for (size_t i = 0; i < group->entry_count; i++) {
    char label[REGAL_MOST_TEXT];
    regal_bench_label(summary, &group->entries[i], label, sizeof label);
    longest = longer(longest, label);
  }
  return longest < MOST_LABEL ? longest : MOST_LABEL;
}

static void put_curves(const char *group, const char *name, size_t letters,
                       const char *curves, regal_text *script) {
  char title[192];
  snprintf(title, sizeof title, "%s: gap to the best known plan against time",
           group);
  regal_text_format(script,
                    "reset\n%sset title '%s'\nset logscale x\nset xlabel "
                    "'seconds on one thread'\nset ylabel 'mean gap, %%'\nset "
                    "yrange [0:]\n",
                    regal_figure_style(), title);
  put_figure(script, name, "curve", (extent){width_for(title, letters), 420},
             curves);
}

/* Lying, so that names of any length can be read. */
static void put_boxes(const char *group, const char *name, size_t letters,
                      size_t boxes, regal_text *script) {
  char title[192], plot[512];
  snprintf(title, sizeof title,
           "%s: improvement over the reference, quartiles of the graphs",
           group);
  snprintf(plot, sizeof plot,
           "plot '%s_boxes.csv' every ::1 using 5:1:3:7:ytic(2) with "
           "xerrorbars lt 1 pt 0, '' every ::1 using 5:1:4:6:($1-0.25):"
           "($1+0.25) with boxxyerror lt 1, '' every ::1 using "
           "5:($1-0.25):(0):(0.5) with vectors nohead lt 2 lw 3",
           name);
  regal_text_format(script,
                    "reset\n%sunset key\nset title '%s'\nset xlabel "
                    "'improvement, %%'\nset ytics noenhanced\nset style fill "
                    "solid 0.25\nset yzeroaxis lc '#888888' dt 2\nset yrange "
                    "[%zu.5:0.5]\nset lmargin %zu\n",
                    regal_figure_style(), title, boxes, letters + 3);
  put_figure(script, name, "boxes",
             (extent){width_for(title, letters), 120 + 44 * boxes}, plot);
}

regal_status regal_bench_draw(const regal_bench_summary *summary,
                              const regal_bench_group *group,
                              const char *folder, regal_text *script) {
  char name[128], title[96];
  size_t count = 0, letters = longest_label(summary, group);
  regal_text curve, boxes, plot;
  regal_bench_file_name(group, name, sizeof name);
  snprintf(title, sizeof title, "%.60s, %.20s", group->dataset,
           group->objective);
  make_plain(title, " -_,.");
  regal_text_init(&curve, summary->context);
  regal_text_init(&boxes, summary->context);
  regal_text_init(&plot, summary->context);
  regal_status status =
      draw_curves(summary, group, folder, name, &curve, &plot);
  if (status == REGAL_OK)
    put_curves(title, name, letters, plot.bytes ? plot.bytes : "", script);
  if (status == REGAL_OK && group->entry_count > 1)
    status = draw_boxes(summary, group, folder, name, &boxes, &count);
  if (status == REGAL_OK && count)
    put_boxes(title, name, letters, count, script);
  if (status == REGAL_OK && plot.failed)
    status = regal_fail_memory(summary->context);
  regal_text_free(&plot);
  regal_text_free(&boxes);
  regal_text_free(&curve);
  return status;
}
