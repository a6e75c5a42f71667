/* SPDX-License-Identifier: Apache-2.0 */
/* Beta distributions as tables of quantiles, so that a draw is one look-up. */
#ifndef REGAL_EVOLVE_BETA_TABLES_H
#define REGAL_EVOLVE_BETA_TABLES_H

#include "decode/decoder.h"

/* 4 KiB a table: 256 of them, a whole set of actions, fit the cache. */
#define REGAL_BETA_BITS 10
#define REGAL_BETA_QUANTILES (1 << REGAL_BETA_BITS)
#define REGAL_BETA_SMALLEST 1e-4 /* of both parameters */
#define REGAL_BETA_LARGEST 1e6

/* The regularised incomplete beta function: P(X <= x) for X ~ Beta(a, b). */
double regal_beta_cdf(double a, double b, double x);

/* Fills table[i] with the quantile at (i + 1/2) / REGAL_BETA_QUANTILES, as a
 * gene, ascending. Below 2^-24 it is 0: there a nearly Bernoulli distribution
 * ties, which the decoders resolve by index. */
void regal_beta_table(double a, double b, regal_gene *table);

#endif
