/* SPDX-License-Identifier: Apache-2.0 */
/* The statistics of BRKGA on the paper's synthetic graphs, unfiltered: how much
 * 10K evaluations improve on 1K, how many graphs pass the paper's filter, and
 * the gap to the lower bound at 5K. Two devices, transfers free and blocking.
 */
#ifndef REGAL_TESTS_BRKGA_STATISTICS_H
#define REGAL_TESTS_BRKGA_STATISTICS_H

#include "regal.h"

typedef struct brkga_setting {
  const char *control; /* wait or transfer */
  int population;
  double elites, mutants; /* shares; the elite bias is 0.7 */
  const char *decoder;    /* NULL: paper */
} brkga_setting;

/* A running mean with its standard deviation. */
typedef struct brkga_mean {
  double count, sum, squares;
} brkga_mean;

double brkga_mean_of(const brkga_mean *mean);
double brkga_deviation_of(const brkga_mean *mean);

typedef struct brkga_statistics {
  brkga_mean improvement;         /* 1K to 10K, percent */
  brkga_mean passing_improvement; /* of graphs that pass the filter */
  brkga_mean gap, passing_gap;    /* of 5K to the bound, percent */
} brkga_statistics;

/* Runs on `graphs` graphs of the mix of all four models, on all cores; same
 * numbers for any number of them. */
regal_status brkga_statistics_measure(regal_context *context,
                                      const brkga_setting *setting,
                                      size_t graphs,
                                      brkga_statistics *statistics);

#endif
