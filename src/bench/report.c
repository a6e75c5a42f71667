/* SPDX-License-Identifier: Apache-2.0 */
/* regal_bench_report: report.md, a table for each group; the same numbers as
 * NAME.csv, those of each graph as NAME_graphs.csv; and the figures. */
#include "bench/summary.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/plain.h"

/* A cell of the table, empty for NaN. */
static void put_number(regal_text *text, const char *format, double value) {
  char number[64] = "";
  if (!isnan(value))
    snprintf(number, sizeof number, format, value);
  regal_text_format(text, " %s |", number);
}

/* Vertical bars would end a cell. */
static void put_label(regal_text *text, const char *label) {
  regal_text_append(text, "| ", 2);
  for (; *label; label++)
    regal_text_append(text, *label == '|' ? "/" : label, 1);
  regal_text_append(text, " |", 2);
}

static void put_line(regal_text *text, const char *label,
                     const regal_bench_score *s) {
  char interval[64] = "";
  put_label(text, label);
  if (!isnan(s->interval))
    regal_print(interval, sizeof interval, " ±%.2f", s->interval);
  regal_text_format(text, " %+.2f%s |", s->improvement, interval);
  put_number(text, "%.3f", s->deviation);
  put_number(text, "%.2f", s->gap);
  put_number(text, "%.1f", s->closed);
  put_number(text, "%.2f", s->bound_gap);
  regal_text_format(text, " %zu / %zu / %zu |", s->wins, s->ties, s->losses);
  put_number(text, "%+.1f", s->quartile[4]);
  put_number(text, "%+.1f", s->quartile[0]);
  put_number(text, "%.3f", s->seconds);
  regal_text_format(text, " %zu |", s->graphs);
  regal_text_format(text, s->misfits ? " %zu |\n" : " |\n", s->misfits);
}

static void put_csv_line(regal_text *text, const regal_bench_entry *entry,
                         const regal_bench_score *s) {
  const char *const names[] = {entry->method, entry->budget, entry->settings};
  for (size_t i = 0; i < 3; i++) {
    regal_text_csv(text, names[i]);
    regal_text_append(text, ",", 1);
  }
  regal_text_format(text, "%zu,%zu,%.6g,%.6g,%.6g,%.6g,%.6g,%.6g,%.6g,%zu,",
                    s->graphs, s->misfits, s->improvement, s->interval,
                    s->deviation, s->gap, s->closed, s->bound_gap, s->seconds,
                    s->wins);
  regal_text_format(text, "%zu,%zu,%.6g,%.6g\n", s->ties, s->losses,
                    s->quartile[4], s->quartile[0]);
}

static void put_head(const regal_bench_summary *summary,
                     const regal_bench_group *group, regal_text *text) {
  char label[REGAL_MOST_TEXT];
  regal_bench_label(summary, &group->entries[group->reference], label,
                    sizeof label);
  regal_text_format(text,
                    "\n## %s, %s: %zu graph%s, %zu seed%s\n\n"
                    "Improvement over `%s`, in percent.\n\n",
                    group->dataset, group->objective, group->graph_count,
                    regal_plural(group->graph_count), group->seed_count,
                    regal_plural(group->seed_count), label);
  regal_text_format(
      text, "| method | improvement | deviation over seeds | gap to best, %% | "
            "gap closed, %% | "
            "gap to bound, %% | better / equal / worse | largest | smallest | "
            "seconds | graphs | beyond memory |\n"
            "|---|---|---|---|---|---|---|---|---|---|---|---|\n");
}

static regal_status put_group(const regal_bench_summary *summary,
                              const regal_bench_group *group, regal_text *text,
                              regal_text *csv) {
  put_head(summary, group, text);
  regal_text_format(
      csv, "method,budget,settings,graphs,beyond_memory,improvement,"
           "interval,deviation,gap,closed,bound_gap,seconds,better,equal,"
           "worse,largest,smallest\n");
  for (size_t i = 0; i < group->entry_count; i++) {
    char label[REGAL_MOST_TEXT];
    regal_bench_score score;
    REGAL_TRY(regal_bench_score_of(summary->context, group, i, &score));
    if (!score.graphs)
      continue;
    regal_bench_label(summary, &group->entries[i], label, sizeof label);
    put_line(text, label, &score);
    put_csv_line(csv, &group->entries[i], &score);
  }
  return REGAL_OK;
}

/* A row for each graph, a column for each entry. */
static void put_graphs(const regal_bench_summary *summary,
                       const regal_bench_group *group, regal_text *csv) {
  regal_text_format(csv, "graph");
  for (size_t i = 0; i < group->entry_count; i++) {
    char label[REGAL_MOST_TEXT];
    regal_bench_label(summary, &group->entries[i], label, sizeof label);
    regal_text_append(csv, ",", 1);
    regal_text_csv(csv, label);
  }
  for (size_t g = 0; g < group->graph_count; g++) {
    regal_text_append(csv, "\n", 1);
    regal_text_csv(csv, group->graphs[g]);
    for (size_t i = 0; i < group->entry_count; i++) {
      double gain = regal_bench_improvement(group, i, g);
      regal_text_format(csv, isnan(gain) ? "," : ",%.6g", gain);
    }
  }
  regal_text_append(csv, "\n", 1);
}

static regal_status save_group(const regal_bench_summary *summary,
                               const regal_bench_group *group,
                               const char *folder, regal_text *text,
                               regal_text *script) {
  char name[128], path[REGAL_MOST_LIST];
  regal_text csv, graphs;
  regal_bench_file_name(group, name, sizeof name);
  regal_text_init(&csv, summary->context);
  regal_text_init(&graphs, summary->context);
  regal_status status = put_group(summary, group, text, &csv);
  snprintf(path, sizeof path, "%s/%s.csv", folder, name);
  if (status == REGAL_OK)
    status = regal_text_save(summary->context, &csv, path);
  put_graphs(summary, group, &graphs);
  snprintf(path, sizeof path, "%s/%s_graphs.csv", folder, name);
  if (status == REGAL_OK)
    status = regal_text_save(summary->context, &graphs, path);
  if (status == REGAL_OK)
    status = regal_bench_draw(summary, group, folder, script);
  regal_text_format(text, "\n![gap against time](%s_curve.svg)\n", name);
  if (group->entry_count > 1)
    regal_text_format(text, "![improvement by method](%s_boxes.svg)\n", name);
  regal_text_free(&graphs);
  regal_text_free(&csv);
  return status;
}

static void put_title(const regal_bench_summary *summary, regal_text *text) {
  size_t builds = summary->builds.count;
  regal_text_format(text, "# Report of %zu runs\n\nBuild%s: ",
                    summary->row_count - summary->replaced,
                    regal_plural(builds));
  for (size_t i = 0; i < builds; i++)
    regal_text_format(text, "%s%s", i ? ", " : "", summary->builds.key[i].text);
  regal_text_format(
      text,
      ". A graph counts once, with its mean over seeds. ± is a 95%% confidence "
      "interval of the mean over graphs. The best known cost of "
      "a graph is that of the best run of any method%s.\n",
      summary->mixed ? "; in brackets: fingerprints of settings" : "");
}

static regal_status save_all(const regal_bench_summary *summary,
                             const char *folder, regal_text *text,
                             regal_text *script) {
  char path[REGAL_MOST_LIST];
  put_title(summary, text);
  regal_text_format(script, "# gnuplot report.gp, in this folder\n");
  for (size_t i = 0; i < summary->group_count; i++)
    REGAL_TRY(save_group(summary, &summary->groups[i], folder, text, script));
  snprintf(path, sizeof path, "%s/report.gp", folder);
  REGAL_TRY(regal_text_save(summary->context, script, path));
  snprintf(path, sizeof path, "%s/report.md", folder);
  return regal_text_save(summary->context, text, path);
}

regal_status regal_bench_report(regal_context *context,
                                const char *const *tables, size_t count,
                                const regal_options *options) {
  regal_bench_summary summary;
  regal_text text, script;
  if (!context)
    return REGAL_MISUSE;
  if (!tables || !count || !options || !options->report[0])
    return regal_fail(context, REGAL_MISUSE,
                      "a report needs tables, options and a folder");
  regal_text_init(&text, context);
  regal_text_init(&script, context);
  regal_status status =
      regal_bench_summarise(context, tables, count, options, &summary);
  if (status == REGAL_OK)
    status = save_all(&summary, options->report, &text, &script);
  regal_bench_summary_free(&summary);
  regal_text_free(&script);
  regal_text_free(&text);
  return status;
}
