/* SPDX-License-Identifier: Apache-2.0 */
/* Quantiles by Newton's method on genes, within a bracket, or from power series
 * where the distribution is narrow (evolve/beta_pieces.h). A table has 128
 * parts: its first and last part and the ends of all parts are exact; the
 * quantiles between are interpolated, which is far below what a search can
 * notice and makes a table take well under a millisecond. Where a nearly
 * Bernoulli distribution jumps all are exact: genes must tie at 0 and 1.
 */
#include "evolve/beta_tables.h"

#include <math.h>

#include "evolve/beta_pieces.h"

#define FAR_APART (REGAL_GENE_LARGEST / 32)

/* Continued fraction for the incomplete beta function (Lentz's method;
 * Abramowitz and Stegun 26.5.8). */
static double continued_fraction(double a, double b, double x) {
  const double tiny = 1e-300;
  double c = 1, d = 1 - (a + b) * x / (a + 1);
  d = 1 / (fabs(d) < tiny ? tiny : d);
  double fraction = d;
  for (int m = 1; m <= 300; m++) {
    double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 + even * d;
    c = 1 + even / c;
    d = 1 / (fabs(d) < tiny ? tiny : d);
    c = fabs(c) < tiny ? tiny : c;
    fraction *= d * c;
    double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 + odd * d;
    c = 1 + odd / c;
    d = 1 / (fabs(d) < tiny ? tiny : d);
    c = fabs(c) < tiny ? tiny : c;
    fraction *= d * c;
    if (fabs(d * c - 1) < 1e-12)
      break;
  }
  return fraction;
}

/* log of the beta function; lgamma_r because lgamma writes a global */
static double log_beta(double a, double b) {
  int sign;
  return lgamma_r(a, &sign) + lgamma_r(b, &sign) - lgamma_r(a + b, &sign);
}

/* Also gives the density times x (1 - x), which it has at hand. */
static double cdf_and_slope(double a, double b, double log_beta_ab, double x,
                            double *slope) {
  *slope = 0;
  if (x <= 0)
    return 0;
  if (x >= 1)
    return 1;
  double front = exp(a * log(x) + b * log1p(-x) - log_beta_ab);
  *slope = front;
  if (x < (a + 1) / (a + b + 2))
    return front * continued_fraction(a, b, x) / a;
  return 1 - front * continued_fraction(b, a, 1 - x) / b;
}

double regal_beta_cdf(double a, double b, double x) {
  double slope;
  return cdf_and_slope(a, b, log_beta(a, b), x, &slope);
}

typedef struct shape {
  double a, b, log_beta_ab;
  const regal_beta_pieces *pieces; /* NULL if it is not narrow */
} shape;

/* Newton's next x on the way to the quantile u. On logarithms, since tails are
 * powers: of x and its probability, or of what is left of both. */
static double newton(double x, double probability, double slope, double u) {
  if (!(probability > 0) || !(probability < 1) || !(slope > 0))
    return -1;
  if (x < 0.5) {
    double steepness = slope / ((1 - x) * probability);
    return x * exp(log(u / probability) / steepness);
  }
  double left = 1 - probability, steepness = slope / (x * left);
  return 1 - (1 - x) * exp(log((1 - u) / left) / steepness);
}

static regal_gene clip(double gene, regal_gene low, regal_gene high) {
  if (gene <= low)
    return low;
  return gene >= high ? high : (regal_gene)gene;
}

/* The gene g with cdf(g) < u <= cdf(g + 1), between two genes. Newton's steps,
 * and a bisection for every fifth, since Newton's may become very small. */
static regal_gene search(const shape *s, double u, regal_gene low,
                         regal_gene high) {
  regal_gene guess = low + (high - low) / 2;
  for (int i = 1; low < high; i++) {
    double x = (guess + 1) * 0x1p-24, slope;
    double probability = cdf_and_slope(s->a, s->b, s->log_beta_ab, x, &slope);
    if (probability < u)
      low = guess + 1;
    else
      high = guess;
    if (low == high)
      break;
    double next = newton(x, probability, slope, u) * 0x1p24 - 1;
    bool inside = next > low - 2.0 && next < high + 1.0;
    guess = inside && i % 5 ? clip(ceil(next), low, high - 1)
                            : low + (high - low) / 2;
  }
  return low;
}

static regal_gene quantile(const shape *s, double u, regal_gene low,
                           regal_gene high) {
  if (!s->pieces)
    return search(s, u, low, high);
  double x = regal_beta_pieces_quantile(s->pieces, u);
  return clip(ceil(x * 0x1p24) - 1, low, high);
}

static double level(int i) {
  return (i + 0.5) / REGAL_BETA_QUANTILES;
}

/* Exact quantiles strictly between two that are known, every `step`-th. */
static void fill_exact(const shape *s, regal_gene *table, int low, int high,
                       int step) {
  if (high - low <= step)
    return;
  int middle = low + (high - low) / (2 * step) * step;
  if (middle == low)
    middle = low + step;
  table[middle] = quantile(s, level(middle), table[low], table[high]);
  fill_exact(s, table, low, middle, step);
  fill_exact(s, table, middle, high, step);
}

static bool jumps(regal_gene low, regal_gene high) {
  return high - low > FAR_APART || (low == 0 && high > 0) ||
         (low < REGAL_GENE_LARGEST && high == REGAL_GENE_LARGEST);
}

static void interpolate(regal_gene *table, int step) {
  for (int k = 1; k < step; k++)
    table[k] = table[0] + (regal_gene)((uint64_t)(table[step] - table[0]) *
                                       (uint64_t)k / (uint64_t)step);
}

void regal_beta_table(double a, double b, regal_gene *table) {
  enum {
    LAST = REGAL_BETA_QUANTILES - 1,
    STEP = REGAL_BETA_QUANTILES / 128,
    EDGE = LAST - STEP + 1
  };
  regal_beta_pieces pieces;
  shape s = {a, b, log_beta(a, b), NULL};
  if (regal_beta_is_narrow(a, b)) {
    regal_beta_pieces_make(&pieces, a, b);
    s.pieces = &pieces;
  }
  table[0] = quantile(&s, level(0), 0, REGAL_GENE_LARGEST);
  table[LAST] = quantile(&s, level(LAST), table[0], REGAL_GENE_LARGEST);
  table[EDGE] = quantile(&s, level(EDGE), table[0], table[LAST]);
  table[STEP] = quantile(&s, level(STEP), table[0], table[EDGE]);
  fill_exact(&s, table, 0, STEP, 1);
  fill_exact(&s, table, EDGE, LAST, 1);
  fill_exact(&s, table, STEP, EDGE, STEP);
  for (int i = STEP; i < EDGE; i += STEP)
    if (jumps(table[i], table[i + STEP]))
      fill_exact(&s, table, i, i + STEP, 1);
    else
      interpolate(table + i, STEP);
}
