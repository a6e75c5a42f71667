/* SPDX-License-Identifier: Apache-2.0 */
/* Quantiles of a narrow Beta distribution, many of them, from power series.
 *
 * The continued fraction for the incomplete beta function needs more terms the
 * narrower the distribution is. Here the density is a power series on pieces of
 * one standard deviation each. Its integral is one, too, so that a quantile is
 * the root of a polynomial. The pieces reach so far that nothing is left
 * outside, and the sum of their integrals takes the place of the beta function:
 * for large parameters it is more exact than a difference of logarithms.
 */
#ifndef REGAL_EVOLVE_BETA_PIECES_H
#define REGAL_EVOLVE_BETA_PIECES_H

#include <stdbool.h>

#define REGAL_BETA_TERMS 26
#define REGAL_BETA_PIECES 64 /* at most 30 on either side of the mean */

/* t = (x - centre) / scale is between -width / 2 and width / 2. */
typedef struct regal_beta_piece {
  double centre, width;
  double below; /* P(X <= its lower end) */
  double mass;  /* P(X is in it) */
  double start; /* of the integral, at its lower end */
  double unit;  /* of the integral, as a probability */
  double density[REGAL_BETA_TERMS], integral[REGAL_BETA_TERMS + 1];
} regal_beta_piece;

typedef struct regal_beta_pieces {
  double scale; /* the standard deviation */
  int count;
  regal_beta_piece pieces[REGAL_BETA_PIECES]; /* ascending */
} regal_beta_pieces;

/* Whether pieces are as exact as the continued fraction, and faster. */
bool regal_beta_is_narrow(double a, double b);
void regal_beta_pieces_make(regal_beta_pieces *made, double a, double b);
/* x with P(X <= x) = u, between 1e-6 and 1 - 1e-6. */
double regal_beta_pieces_quantile(const regal_beta_pieces *made, double u);

#endif
