/* SPDX-License-Identifier: Apache-2.0 */
/* Between dataset.c and its tables and figures. */
#ifndef REGAL_CLI_DATASET_DATASET_H
#define REGAL_CLI_DATASET_DATASET_H

#include "cli/cli.h"
#include "regal_data.h"

/* What is counted of every graph. */
typedef struct regal_quantity {
  const char *name;  /* of its column and files */
  const char *title; /* for people */
  double (*of)(const regal_figures *figures);
} regal_quantity;

#define REGAL_QUANTITIES 5
extern const regal_quantity regal_quantities[REGAL_QUANTITIES];

/* Opens one input with its figures known, and only the graphs that the options
 * ask for. */
regal_status regal_cli_dataset_open(regal_cli *cli, const char *path,
                                    regal_dataset **dataset);

/* The graphs of a split. */
size_t regal_cli_count_split(const regal_dataset *dataset, const char *split);

/* The input's name in tables and figures: its file's, without ending, and '_'
 * for control characters, those of JSON and gnuplot, and `others`. */
void regal_cli_dataset_title(const char *path, const char *others,
                             char title[64]);

/* Writes CSV files and a gnuplot script into options->figures, and runs it. */
regal_exit regal_cli_figures(regal_cli *cli, regal_dataset *const *datasets,
                             size_t count);

#endif
