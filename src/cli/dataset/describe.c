/* SPDX-License-Identifier: Apache-2.0 */
/* regal dataset describe, regal dataset list: tables of what datasets contain.
 * The quantities are rows of one table, which the tables, the JSON output and
 * the histograms (figures.c) share. */
#include "cli/dataset/dataset.h"

#include <stdlib.h>
#include <string.h>

/* -- Quantities ------------------------------------------------------------ */

static double ops(const regal_figures *figures) {
  return figures->ops;
}

static double edges(const regal_figures *figures) {
  return figures->edges;
}

static double diameter(const regal_figures *figures) {
  return figures->diameter;
}

static double width(const regal_figures *figures) {
  return figures->width;
}

/* Without any work there is nothing to run side by side. */
static double parallelism(const regal_figures *figures) {
  return figures->critical_ns
             ? (double)figures->work_ns / (double)figures->critical_ns
             : 1;
}

const regal_quantity regal_quantities[REGAL_QUANTITIES] = {
    {"ops", "ops", ops},
    {"edges", "edges", edges},
    {"diameter", "diameter", diameter},
    {"width", "width", width},
    {"parallelism", "work / critical path", parallelism},
};

void regal_cli_dataset_title(const char *path, const char *others,
                             char title[64]) {
  size_t length = strlen(path);
  while (length > 1 && path[length - 1] == '/')
    length--;
  size_t begin = length;
  while (begin > 0 && path[begin - 1] != '/')
    begin--;
  if (length - begin > 4 && !memcmp(path + length - 4, ".zip", 4))
    length -= 4;
  snprintf(title, 64, "%.*s", (int)(length - begin), path + begin);
  for (char *at = title; *at; at++)
    if (strchr("\"'\\", *at) || strchr(others, *at) || (unsigned char)*at < ' ')
      *at = '_';
}

/* -- Tables ---------------------------------------------------------------- */

static int by_value(const void *left, const void *right) {
  double a = *(const double *)left, b = *(const double *)right;
  return (a > b) - (a < b);
}

static int by_text(const void *left, const void *right) {
  return strcmp(*(const char *const *)left, *(const char *const *)right);
}

/* The value below which a share of the sorted values lie. */
static double quantile(const double *sorted, size_t count, double share) {
  return sorted[(size_t)(share * (double)(count - 1) + .5)];
}

static size_t count_families(const regal_dataset *dataset,
                             const char **families) {
  size_t count = regal_dataset_count(dataset), named = 0, distinct = 0;
  for (size_t i = 0; i < count; i++) {
    const char *family = regal_dataset_entry(dataset, i)->family;
    if (*family)
      families[named++] = family;
  }
  qsort(families, named, sizeof *families, by_text);
  for (size_t i = 0; i < named; i++)
    distinct += !i || strcmp(families[i], families[i - 1]);
  return distinct;
}

static void print_splits(const regal_dataset *dataset) {
  static const char *const splits[] = {"train", "valid", "test"};
  const char *between = "  splits       ";
  for (size_t s = 0; s < sizeof splits / sizeof *splits; s++) {
    size_t count = regal_cli_count_split(dataset, splits[s]);
    if (count) {
      printf("%s%s %zu", between, splits[s], count);
      between = ", ";
    }
  }
  if (*between == ',')
    putchar('\n');
}

typedef struct room {
  double *values; /* [graphs] */
  const char **families;
} room;

static void sort_values(const regal_dataset *dataset, size_t quantity,
                        double *values) {
  size_t count = regal_dataset_count(dataset);
  for (size_t i = 0; i < count; i++)
    values[i] = regal_quantities[quantity].of(
        &regal_dataset_entry(dataset, i)->figures);
  qsort(values, count, sizeof *values, by_value);
}

static double mean(const double *values, size_t count) {
  double sum = 0;
  for (size_t i = 0; i < count; i++)
    sum += values[i];
  return sum / (double)count;
}

static void print_table(const regal_dataset *dataset, const char *title,
                        const room *room) {
  size_t count = regal_dataset_count(dataset);
  size_t families = count_families(dataset, room->families);
  uint32_t copies = count ? regal_dataset_entry(dataset, 0)->copies : 0;
  printf("%s: %zu graph%s", title, count, count == 1 ? "" : "s");
  if (families)
    printf(" of %zu famil%s", families, families == 1 ? "y" : "ies");
  if (copies)
    printf(", each with %lu augmented copies", (unsigned long)copies);
  putchar('\n');
  if (!count)
    return;
  print_splits(dataset);
  printf("  %-22s%9s%9s%9s%9s%9s%11s\n", "", "least", "25%", "median", "75%",
         "most", "mean");
  for (size_t q = 0; q < REGAL_QUANTITIES; q++) {
    int digits = q == REGAL_QUANTITIES - 1 ? 2 : 0;
    const double *values = room->values;
    sort_values(dataset, q, room->values);
    printf("  %-22s", regal_quantities[q].title);
    for (int quarter = 0; quarter <= 4; quarter++)
      printf("%9.*f", digits, quantile(values, count, quarter / 4.));
    printf("%11.*f\n", digits ? 2 : 1, mean(values, count));
  }
}

static void print_json(const regal_dataset *dataset, const char *title,
                       const room *room, bool first) {
  size_t count = regal_dataset_count(dataset);
  printf("%s\n  {\"name\": ", first ? "[" : ",");
  regal_cli_print_json(title, stdout);
  printf(", \"graphs\": %zu, \"families\": %zu", count,
         count_families(dataset, room->families));
  for (size_t q = 0; q < REGAL_QUANTITIES && count; q++) {
    sort_values(dataset, q, room->values);
    printf(",\n   \"%s\": {\"least\": %.9g, \"median\": %.9g, \"most\": %.9g, "
           "\"mean\": %.9g}",
           regal_quantities[q].name, room->values[0],
           quantile(room->values, count, .5), room->values[count - 1],
           mean(room->values, count));
  }
  putchar('}');
}

static bool make_room(size_t count, room *room) {
  room->values = malloc((count + 1) * sizeof *room->values);
  room->families = malloc((count + 1) * sizeof *room->families);
  return room->values && room->families;
}

static void print_one(const regal_cli *cli, const regal_dataset *dataset,
                      int number) {
  room room;
  char title[64];
  regal_cli_dataset_title(cli->argument[number], "", title);
  if (!make_room(regal_dataset_count(dataset), &room))
    fprintf(stderr, "regal: out of memory\n");
  else if (cli->options.json)
    print_json(dataset, title, &room, number == 0);
  else
    print_table(dataset, title, &room);
  free(room.values);
  free(room.families);
}

regal_exit regal_command_dataset_describe(regal_cli *cli) {
  size_t count = (size_t)cli->arguments, opened = 0;
  regal_dataset **datasets = calloc(count, sizeof *datasets);
  regal_status status = datasets ? REGAL_OK : REGAL_NO_MEMORY;
  while (status == REGAL_OK && opened < count) {
    status =
        regal_cli_dataset_open(cli, cli->argument[opened], &datasets[opened]);
    opened += status == REGAL_OK;
  }
  regal_exit code = regal_cli_status(cli, status);
  for (size_t i = 0; i < count && status == REGAL_OK; i++)
    print_one(cli, datasets[i], (int)i);
  if (status == REGAL_OK && cli->options.json)
    puts("\n]");
  if (status == REGAL_OK && cli->options.figures[0])
    code = regal_cli_figures(cli, datasets, count);
  for (size_t i = 0; i < opened; i++)
    regal_dataset_free(datasets[i]);
  free(datasets);
  return code;
}

/* -- List ------------------------------------------------------------------ */

static void print_quoted(const char *key, const char *text) {
  printf("\"%s\": ", key);
  regal_cli_print_json(text, stdout);
  fputs(", ", stdout);
}

/* A column of a table, with a space behind it. */
static void print_text(const char *text, int width) {
  char shown[4096];
  regal_escape(text, shown, sizeof shown);
  printf("%-*s ", width, shown);
}

static void print_entry(const regal_cli *cli, const regal_entry *entry,
                        bool first) {
  const regal_figures *figures = &entry->figures;
  double ratio = regal_quantities[REGAL_QUANTITIES - 1].of(figures);
  if (!cli->options.json) {
    print_text(entry->name, 40);
    print_text(*entry->split ? entry->split : "-", 6);
    print_text(*entry->family ? entry->family : "-", 16);
    printf("%8lu %8lu %8lu %8lu %8.2f\n", (unsigned long)figures->ops,
           (unsigned long)figures->edges, (unsigned long)figures->diameter,
           (unsigned long)figures->width, ratio);
    return;
  }
  fputs(first ? "[\n  {" : ",\n  {", stdout);
  print_quoted("name", entry->name);
  print_quoted("file", entry->file);
  print_quoted("split", entry->split);
  print_quoted("family", entry->family);
  printf("\"ops\": %lu, \"edges\": %lu, \"diameter\": %lu, \"width\": %lu, "
         "\"parallelism\": %.9g}",
         (unsigned long)figures->ops, (unsigned long)figures->edges,
         (unsigned long)figures->diameter, (unsigned long)figures->width,
         ratio);
}

regal_exit regal_command_dataset_list(regal_cli *cli) {
  bool first = true;
  if (!cli->options.json)
    printf("%-40s %-6s %-16s %8s %8s %8s %8s %8s\n", "name", "split", "family",
           "ops", "edges", "diameter", "width", "work/cp");
  for (int i = 0; i < cli->arguments; i++) {
    regal_dataset *dataset;
    REGAL_CLI_TRY(cli, regal_cli_dataset_open(cli, cli->argument[i], &dataset));
    for (size_t k = 0; k < regal_dataset_count(dataset); k++, first = false)
      print_entry(cli, regal_dataset_entry(dataset, k), first);
    regal_dataset_free(dataset);
  }
  if (cli->options.json)
    puts(first ? "[]" : "\n]");
  return REGAL_EXIT_OK;
}
