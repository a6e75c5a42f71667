/* SPDX-License-Identifier: Apache-2.0 */
/* The logarithm of the density is (a - 1) log x + (b - 1) log (1 - x). In t,
 * the distance from the middle of a piece in standard deviations, its
 * derivative has the coefficients (a - 1) p (-p)^k - (b - 1) q^(k+1), with p
 * and q the standard deviation over x and over 1 - x. The density's own
 * coefficients follow one from the other, as always for the exponential of a
 * series.
 */
#include "evolve/beta_pieces.h"

#include <math.h>

/* Below, the standard deviation is too large a part of the way to 0 or 1. */
#define SMALLEST 30
/* Of the density at an end, with that at the mean 1: nothing beyond. */
#define NOTHING 1e-20
/* Of the way from an end of a piece to 0 or 1, at most. */
#define PART 0.4

bool regal_beta_is_narrow(double a, double b) {
  return a >= SMALLEST && b >= SMALLEST;
}

static double polynomial(const double *coefficients, int count, double t) {
  double sum = coefficients[count - 1];
  for (int n = count - 2; n >= 0; n--)
    sum = sum * t + coefficients[n];
  return sum;
}

/* The integral from the middle. */
static double integral_at(const regal_beta_piece *piece, double t) {
  return polynomial(piece->integral, REGAL_BETA_TERMS + 1, t);
}

static double density_at(const regal_beta_piece *piece, double t) {
  return polynomial(piece->density, REGAL_BETA_TERMS, t);
}

/* The series, with density 1 in the middle. */
static void expand(regal_beta_piece *piece, double a, double b, double scale) {
  double slope[REGAL_BETA_TERMS];
  double p = scale / piece->centre, q = scale / (1 - piece->centre);
  double left = (a - 1) * p, right = (b - 1) * q;
  for (int k = 0; k < REGAL_BETA_TERMS; k++) {
    slope[k] = left - right;
    left *= -p;
    right *= q;
  }
  piece->density[0] = 1;
  piece->integral[0] = 0;
  for (int n = 1; n < REGAL_BETA_TERMS; n++) {
    double sum = 0;
    for (int k = 0; k < n; k++)
      sum += slope[k] * piece->density[n - 1 - k];
    piece->density[n] = sum / n;
  }
  for (int n = 0; n < REGAL_BETA_TERMS; n++)
    piece->integral[n + 1] = piece->density[n] / (n + 1);
  piece->start = integral_at(piece, -piece->width / 2);
  piece->mass = integral_at(piece, piece->width / 2) - piece->start;
}

/* Pieces from the mean on, upwards (side 1) or downwards (-1); returns their
 * number. `unit` is the density in the middle of each, with the mean's 1. */
static int go_on(regal_beta_piece *pieces, int most, double a, double b,
                 double scale, int side) {
  double end = a / (a + b), density = 1;
  int count = 0;
  while (count < most && density > NOTHING) {
    regal_beta_piece *piece = &pieces[count++];
    double room = (side > 0 ? 1 - end : end) / scale;
    piece->width = fmin(1, PART * room);
    piece->centre = end + side * piece->width / 2 * scale;
    expand(piece, a, b, scale);
    piece->unit = density / density_at(piece, -side * piece->width / 2);
    density = piece->unit * density_at(piece, side * piece->width / 2);
    end += side * piece->width * scale;
  }
  return count;
}

static void reverse(regal_beta_piece *pieces, int count) {
  for (int i = 0; i < count / 2; i++) {
    regal_beta_piece kept = pieces[i];
    pieces[i] = pieces[count - 1 - i];
    pieces[count - 1 - i] = kept;
  }
}

void regal_beta_pieces_make(regal_beta_pieces *made, double a, double b) {
  double sum = a + b;
  made->scale = sqrt(a * b / (sum + 1)) / sum;
  int half = REGAL_BETA_PIECES / 2;
  made->count = go_on(made->pieces, half, a, b, made->scale, -1);
  reverse(made->pieces, made->count);
  made->count += go_on(made->pieces + made->count, half, a, b, made->scale, 1);
  double total = 0;
  for (int i = 0; i < made->count; i++)
    total += made->pieces[i].mass * made->pieces[i].unit;
  double below = 0;
  for (int i = 0; i < made->count; i++) {
    regal_beta_piece *piece = &made->pieces[i];
    piece->unit /= total;
    piece->mass *= piece->unit;
    piece->below = below;
    below += piece->mass;
  }
}

static const regal_beta_piece *find_piece(const regal_beta_pieces *made,
                                          double u) {
  int low = 0, high = made->count - 1; /* the last that begins below u */
  while (low < high) {
    int middle = (low + high + 1) / 2;
    if (made->pieces[middle].below < u)
      low = middle;
    else
      high = middle - 1;
  }
  return &made->pieces[low];
}

double regal_beta_pieces_quantile(const regal_beta_pieces *made, double u) {
  const regal_beta_piece *piece = find_piece(made, u);
  double wanted = piece->start + (u - piece->below) / piece->unit;
  double half = piece->width / 2;
  double t = ((u - piece->below) / piece->mass - 0.5) * piece->width;
  /* Newton's steps; the integral is smooth and rises all along the piece. */
  for (int i = 0; i < 20; i++) {
    double change = (integral_at(piece, t) - wanted) / density_at(piece, t);
    double next = fmax(-half, fmin(half, t - change));
    double far = fabs(next - t);
    t = next;
    if (far < 1e-9) /* then the step after it is below 1e-17 */
      break;
  }
  return piece->centre + t * made->scale;
}
