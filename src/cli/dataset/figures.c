/* SPDX-License-Identifier: Apache-2.0 */
/* Histograms of datasets, in the style of the paper's: the share of each
 * dataset's graphs by ops, edges and so on, on logarithmic scales. The data are
 * CSV files. gnuplot draws them, if it is installed. */
#define _POSIX_C_SOURCE 200809L

#include "cli/dataset/dataset.h"
#include "regal_bench.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define BINS_PER_DOUBLING 2

/* A file of the folder, made in memory and saved whole or not at all. */
typedef struct figure_file {
  FILE *stream;
  char *bytes;
  size_t size;
} figure_file;

static regal_status begin(figure_file *file) {
  *file = (figure_file){NULL, NULL, 0};
  file->stream = open_memstream(&file->bytes, &file->size);
  return file->stream ? REGAL_OK : REGAL_NO_MEMORY;
}

static regal_status finish(regal_cli *cli, figure_file *file, const char *name,
                           const char *ending) {
  char path[1400];
  bool failed = ferror(file->stream) != 0;
  failed |= fclose(file->stream) != 0;
  snprintf(path, sizeof path, "%s/%s%s", cli->options.figures, name, ending);
  regal_status status =
      failed ? REGAL_NO_MEMORY
             : regal_file_save(cli->context, path, file->bytes, file->size);
  free(file->bytes);
  return status;
}

/* A field of CSV in quotes, without control characters. */
static void put_field(FILE *file, const char *text) {
  char shown[4096];
  regal_escape(text, shown, sizeof shown);
  fputc('"', file);
  for (const char *at = shown; *at; at++) {
    if (*at == '"')
      fputc('"', file);
    fputc(*at, file);
  }
  fputc('"', file);
}

/* -- Data ------------------------------------------------------------------ */

static void put_graph(FILE *file, const char *title, const regal_entry *entry) {
  bool usual = strspn(entry->split, "abcdefghijklmnopqrstuvwxyz") ==
               strlen(entry->split);
  fprintf(file, "%s,%s", title, usual ? entry->split : "");
  if (!usual)
    put_field(file, entry->split);
  for (size_t q = 0; q < REGAL_QUANTITIES; q++)
    fprintf(file, ",%.6g", regal_quantities[q].of(&entry->figures));
  fputc(',', file);
  put_field(file, entry->name);
  fputc('\n', file);
}

static regal_status write_graphs(regal_cli *cli, regal_dataset *const *datasets,
                                 size_t count) {
  figure_file made;
  if (begin(&made) != REGAL_OK)
    return REGAL_NO_MEMORY;
  FILE *file = made.stream;
  fputs("dataset,split", file);
  for (size_t q = 0; q < REGAL_QUANTITIES; q++)
    fprintf(file, ",%s", regal_quantities[q].name);
  fputs(",name\n", file);
  for (size_t d = 0; d < count; d++) {
    char title[64];
    regal_cli_dataset_title(cli->argument[d], ",", title);
    for (size_t i = 0; i < regal_dataset_count(datasets[d]); i++)
      put_graph(file, title, regal_dataset_entry(datasets[d], i));
  }
  return finish(cli, &made, "graphs", ".csv");
}

static int bin_of(double value, int bins_per_doubling) {
  return (int)floor(log2(value < 1 ? 1 : value) * bins_per_doubling + 1e-9);
}

/* The last quantity, a ratio, is spread less and gets finer bins. */
static int resolution(size_t quantity) {
  return quantity == REGAL_QUANTITIES - 1 ? 4 * BINS_PER_DOUBLING
                                          : BINS_PER_DOUBLING;
}

typedef struct range {
  int first, last; /* bins that are not empty */
} range;

static range range_of(regal_dataset *const *datasets, size_t count,
                      size_t quantity) {
  range found = {INT_MAX, 0};
  for (size_t d = 0; d < count; d++)
    for (size_t i = 0; i < regal_dataset_count(datasets[d]); i++) {
      const regal_entry *entry = regal_dataset_entry(datasets[d], i);
      int bin = bin_of(regal_quantities[quantity].of(&entry->figures),
                       resolution(quantity));
      found.first = bin < found.first ? bin : found.first;
      found.last = bin > found.last ? bin : found.last;
    }
  return found;
}

static double share_in(const regal_dataset *dataset, size_t quantity, int bin) {
  size_t count = regal_dataset_count(dataset), inside = 0;
  for (size_t i = 0; i < count; i++)
    inside += bin_of(regal_quantities[quantity].of(
                         &regal_dataset_entry(dataset, i)->figures),
                     resolution(quantity)) == bin;
  return count ? 100. * (double)inside / (double)count : 0;
}

/* A row for each bin: where it begins, and the share of each dataset in it. An
 * empty one on either side closes the picture. */
static regal_status write_bins(regal_cli *cli, regal_dataset *const *datasets,
                               size_t count, size_t quantity) {
  const regal_quantity *what = &regal_quantities[quantity];
  range bins = range_of(datasets, count, quantity);
  figure_file made;
  if (begin(&made) != REGAL_OK)
    return REGAL_NO_MEMORY;
  FILE *file = made.stream;
  fprintf(file, "%s", what->name);
  for (size_t d = 0; d < count; d++) {
    char title[64];
    regal_cli_dataset_title(cli->argument[d], ",", title);
    fprintf(file, ",%s", title);
  }
  for (int bin = bins.first - 1; bin <= bins.last + 1; bin++) {
    fprintf(file, "\n%.6g", exp2((double)bin / resolution(quantity)));
    for (size_t d = 0; d < count; d++)
      fprintf(file, ",%.4g", share_in(datasets[d], quantity, bin));
  }
  fputc('\n', file);
  return finish(cli, &made, what->name, ".csv");
}

/* -- Pictures -------------------------------------------------------------- */

/* Has no names but ours: see gnuplot.c. */
static regal_status write_script(regal_cli *cli, size_t count) {
  figure_file made;
  if (begin(&made) != REGAL_OK)
    return REGAL_NO_MEMORY;
  FILE *file = made.stream;
  fprintf(file,
          "# gnuplot histograms.gp, in this folder\n%s"
          "set terminal svg size 740,360 dynamic font 'sans,13' background "
          "'white'\n"
          "set key autotitle columnheader\n"
          "set logscale x\nset ylabel '%% of the graphs'\n"
          "set autoscale xfix\nset yrange [0:]\n",
          regal_figure_style());
  for (size_t q = 0; q < REGAL_QUANTITIES; q++)
    fprintf(file,
            "set output '%s.svg'\nset xlabel '%s'\n"
            "plot for [i=2:%zu] '%s.csv' using 1:i with steps lt i-1\n",
            regal_quantities[q].name, regal_quantities[q].title, count + 1,
            regal_quantities[q].name);
  return finish(cli, &made, "histograms", ".gp");
}

regal_exit regal_cli_figures(regal_cli *cli, regal_dataset *const *datasets,
                             size_t count) {
  const char *folder = cli->options.figures;
  size_t graphs = 0;
  for (size_t d = 0; d < count; d++)
    graphs += regal_dataset_count(datasets[d]);
  if (!graphs)
    return regal_cli_fail(cli, "there are no graphs, so no figures");
  if (mkdir(folder, 0777) && errno != EEXIST)
    return regal_cli_fail(cli, "%.200s: %s", folder, strerror(errno));
  REGAL_CLI_TRY(cli, write_graphs(cli, datasets, count));
  REGAL_CLI_TRY(cli, write_script(cli, count));
  for (size_t q = 0; q < REGAL_QUANTITIES; q++)
    REGAL_CLI_TRY(cli, write_bins(cli, datasets, count, q));
  int code = regal_cli_gnuplot(folder, "histograms.gp");
  if (code == 127)
    return regal_cli_fail(cli,
                          "gnuplot was not found: %.200s has the data "
                          "(*.csv) and the script (histograms.gp), no pictures",
                          folder);
  if (code)
    return regal_cli_fail(cli, "gnuplot failed on %.200s/histograms.gp",
                          folder);
  return REGAL_EXIT_OK;
}
