/* SPDX-License-Identifier: Apache-2.0 */
/* Beta distributions: the cdf against known values, tables of quantiles
 * against exact moments, and drawing from them. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/random.h"
#include "evolve/beta_pieces.h"
#include "evolve/proposal.h"

#define LAST (REGAL_BETA_QUANTILES - 1)
#define PART (REGAL_BETA_QUANTILES / 128)
#define COUNT(array) (sizeof(array) / sizeof *(array))

static regal_gene table[REGAL_BETA_QUANTILES];

/* Values by hypergeometric series and quadrature with 30 digits. */
static const struct {
  double a, b, x, p;
} known[] = {
    {1, 1, 0.25, 0.25},
    {2, 5, 0.3, 0.579825},
    {5, 2, 0.3, 0.010935},
    {6, 1, 0.8, 0.262144},
    {3, 7, 0.001, 8.3622755160539816e-8},
    {0.5, 0.5, 0.1, 0.20483276469913346},
    {0.5, 0.5, 0.9, 0.79516723530086657},
    {0.0625 / 17, 1 / 17.0, 0.5, 0.94132162861551752},
    {0.0625 / 17, 1 / 17.0, 1e-6, 0.89487019424937695},
    {256 / 17.0, 16 / 17.0, 0.97, 0.60336180649450899},
    {100, 100, 0.52, 0.71403284718774113},
    {10000, 30000, 0.2525, 0.87576431560476352},
    {1e5, 2e5, 1 / 3.0, 0.50017167751054071},
    {1e6, 1e6, 0.5005, 0.92135042241907533},
    {1e6, 1e6, 0.4999, 0.38864871786232204},
    {1e6, 2e3, 0.998, 0.46140184198312618},
    {1e-4, 1e-4, 0.5, 0.5},
};

static void test_cdf(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT(known); i++) {
    double a = known[i].a, b = known[i].b, x = known[i].x, p = known[i].p;
    double found = regal_beta_cdf(a, b, x);
    double mirrored = regal_beta_cdf(b, a, 1 - x);
    if (!(fabs(found - p) < 1e-8 && fabs(mirrored - (1 - p)) < 1e-8))
      fail_msg("Beta(%g, %g) at %g: %.17g and %.17g, not %.17g", a, b, x, found,
               1 - mirrored, p);
    assert_true(regal_beta_cdf(a, b, 0) == 0);
    assert_true(regal_beta_cdf(a, b, 1) == 1);
  }
}

/* -- Narrow distributions -------------------------------------------------- */

static void test_narrow_quantiles_are_those_known(void **state) {
  static regal_beta_pieces pieces;
  int narrow = 0;
  (void)state;
  for (size_t i = 0; i < COUNT(known); i++) {
    if (!regal_beta_is_narrow(known[i].a, known[i].b))
      continue;
    narrow++;
    regal_beta_pieces_make(&pieces, known[i].a, known[i].b);
    double x = regal_beta_pieces_quantile(&pieces, known[i].p);
    if (!(fabs(x - known[i].x) < 1e-12 * pieces.scale + 1e-15))
      fail_msg("Beta(%g, %g): %.17g has probability %.17g, not %.17g",
               known[i].a, known[i].b, known[i].x, known[i].p, x);
  }
  assert_true(narrow >= 6);
}

/* From the narrowest to those that are hardly narrow, far from the middle. */
static void test_narrow_quantiles_and_the_cdf_are_inverse(void **state) {
  static regal_beta_pieces pieces, mirror;
  regal_random random = {.key = 7};
  (void)state;
  for (int round = 0; round < 300; round++) {
    double a =
        30 * exp(regal_random_unit(&random) * log(REGAL_BETA_LARGEST / 30));
    double b =
        30 * exp(regal_random_unit(&random) * log(REGAL_BETA_LARGEST / 30));
    if (round % 3 == 0)
      a = 30;
    regal_beta_pieces_make(&pieces, a, b);
    regal_beta_pieces_make(&mirror, b, a);
    double last = 0;
    for (int i = 1; i < 200; i++) {
      double u = i < 100 ? pow(10, -0.06 * (100 - i)) / 2
                         : 1 - pow(10, -0.06 * (i - 100)) / 2;
      double x = regal_beta_pieces_quantile(&pieces, u);
      double mirrored = regal_beta_pieces_quantile(&mirror, 1 - u);
      double found = regal_beta_cdf(a, b, x);
      if (!(x > last && fabs(found - u) < 1e-8 &&
            fabs(1 - mirrored - x) < 1e-7 * pieces.scale))
        fail_msg("Beta(%g, %g): %.17g for %.17g, whose cdf is %.17g; mirrored "
                 "%.17g; before %.17g",
                 a, b, x, u, found, 1 - mirrored, last);
      last = x;
    }
  }
}

/* -- Tables ---------------------------------------------------------------- */

/* Ascending genes, and the quantiles that they claim to be: exact in the first
 * and last of 128 parts and at the ends of all parts, nearly so between. */
static void check_quantiles(double a, double b) {
  for (int i = 0; i <= LAST; i++) {
    double u = (i + 0.5) / REGAL_BETA_QUANTILES;
    bool exact = i <= PART || i > LAST - PART || i % PART == 0;
    double near = exact ? 0 : 0.01;
    double low = regal_beta_cdf(a, b, table[i] * 0x1p-24 - near);
    double high = regal_beta_cdf(a, b, (table[i] + 1) * 0x1p-24 + near);
    if (table[i] > REGAL_GENE_LARGEST || (i && table[i] < table[i - 1]) ||
        !(low - 1e-12 <= u && u <= high + 1e-12))
      fail_msg("Beta(%g, %g): quantile %d is %u, with cdf %.9f .. %.9f", a, b,
               i, table[i], low, high);
  }
}

/* The table's mean and variance are the distribution's. */
static void check_moments(double a, double b) {
  double mean = 0, variance = 0, exact = a / (a + b);
  for (int i = 0; i <= LAST; i++)
    mean += (table[i] + 0.5) * 0x1p-24 / REGAL_BETA_QUANTILES;
  for (int i = 0; i <= LAST; i++)
    variance +=
        pow((table[i] + 0.5) * 0x1p-24 - mean, 2) / REGAL_BETA_QUANTILES;
  double exact_variance = exact * (1 - exact) / (a + b + 1);
  double error = 0.8 / REGAL_BETA_QUANTILES; /* half a quantile, and a bit */
  if (!(fabs(mean - exact) < error && fabs(variance - exact_variance) < error))
    fail_msg("Beta(%g, %g): mean %.6f, not %.6f; variance %.6f, not %.6f", a, b,
             mean, exact, variance, exact_variance);
}

static void check_shape(double a, double b) {
  regal_beta_table(a, b, table);
  check_quantiles(a, b);
  check_moments(a, b);
}

static void test_tables(void **state) {
  static const double parameters[] = {
      REGAL_BETA_SMALLEST, 0.01, 0.3, 1, 2.5, 6, 30, 500, 1e4,
      REGAL_BETA_LARGEST};
  (void)state;
  for (size_t i = 0; i < COUNT(parameters); i++)
    for (size_t k = 0; k < COUNT(parameters); k++)
      check_shape(parameters[i], parameters[k]);
}

/* The paper's actions, with k = 16: mean (m+1)/(k+1), variance the mean's
 * largest times (v+1)/(k+1). Its extremes are nearly Bernoulli. */
static void test_actions_of_the_paper(void **state) {
  (void)state;
  for (int m = 0; m < 16; m += 3)
    for (int v = 0; v < 16; v += 3) {
      double mean = (m + 1) / 17.0;
      double variance = mean * (1 - mean) * (v + 1) / 17;
      double b = mean * (1 - mean) * (1 - mean) / variance - 1 + mean;
      double a = b * mean / (1 - mean);
      assert_true(a >= REGAL_BETA_SMALLEST && b >= REGAL_BETA_SMALLEST);
      check_shape(a, b);
      assert_true(fabs(a / (a + b) - mean) < 1e-12);
    }
}

/* At the largest variance genes tie at both ends, as many as the mean says. */
static void test_nearly_bernoulli(void **state) {
  double a = 0.0625 * 16 / 17, b = 0.0625 / 17;
  int low = 0, high = 0;
  (void)state;
  regal_beta_table(a, b, table);
  for (int i = 0; i <= LAST; i++) {
    low += table[i] == 0;
    high += table[i] == REGAL_GENE_LARGEST;
  }
  double at_zero = regal_beta_cdf(a, b, 0x1p-24);
  double at_one = 1 - regal_beta_cdf(a, b, 1 - 0x1p-24);
  assert_int_equal(low, (int)round(at_zero * REGAL_BETA_QUANTILES));
  assert_int_equal(high, (int)round(at_one * REGAL_BETA_QUANTILES));
  assert_true(low > LAST / 80 && high > LAST * 3 / 4);
}

/* Beta(1, 1): every quantile where it should be, to the last bit but one. */
static void test_uniform_table(void **state) {
  (void)state;
  regal_beta_table(1, 1, table);
  for (int i = 0; i <= LAST; i++) {
    int64_t width = (1 << REGAL_GENE_BITS) / REGAL_BETA_QUANTILES;
    int64_t expected = i * width + width / 2;
    int64_t off = (int64_t)table[i] - expected;
    assert_true(off >= -1 && off <= 0);
  }
}

/* Beta(a, b) mirrored is Beta(b, a). */
static void test_mirrored(void **state) {
  static regal_gene mirror[REGAL_BETA_QUANTILES];
  (void)state;
  regal_beta_table(2, 6, table);
  regal_beta_table(6, 2, mirror);
  for (int i = 0; i <= LAST; i++)
    assert_true(abs((int)table[i] -
                    (int)(REGAL_GENE_LARGEST - mirror[LAST - i])) < 40000);
}

/* -- Draws ----------------------------------------------------------------- */

/* Each gene from its own table: the mean of many draws is that table's. */
static void test_draws(void **state) {
  enum { MANY = 1 << 16 };
  static regal_gene tables[3 * REGAL_BETA_QUANTILES], drawn[MANY];
  static uint32_t table_of[MANY];
  static const double shapes[3][2] = {{6, 1}, {0.2, 0.3}, {2, 9}};
  (void)state;
  for (int s = 0; s < 3; s++)
    regal_beta_table(shapes[s][0], shapes[s][1],
                     tables + s * REGAL_BETA_QUANTILES);
  for (uint32_t i = 0; i < MANY; i++)
    table_of[i] = i % 3 * REGAL_BETA_QUANTILES;
  regal_sample_tables(3, 0, tables, table_of, drawn, MANY);
  for (int s = 0; s < 3; s++) {
    double a = shapes[s][0], b = shapes[s][1], sum = 0;
    double n = 0, variance = a * b / ((a + b) * (a + b) * (a + b + 1));
    for (int i = s; i < MANY; i += 3, n++)
      sum += drawn[i] * 0x1p-24;
    assert_true(fabs(sum / n - a / (a + b)) < 5 * sqrt(variance / n));
  }
}

/* All quantiles of a table are drawn, each about equally often, in each of the
 * four places that one random number serves. */
static void test_draws_cover_the_table(void **state) {
  enum { MANY = 128 * REGAL_BETA_QUANTILES };
  static regal_gene identity[REGAL_BETA_QUANTILES], drawn[MANY];
  static uint32_t table_of[MANY], seen[4][REGAL_BETA_QUANTILES];
  (void)state;
  for (regal_gene i = 0; i < REGAL_BETA_QUANTILES; i++)
    identity[i] = i;
  regal_sample_tables(8, 0, identity, table_of, drawn, MANY);
  for (int i = 0; i < MANY; i++)
    seen[i % 4][drawn[i]]++;
  for (int lane = 0; lane < 4; lane++)
    for (int i = 0; i <= LAST; i++)
      assert_in_range(seen[lane][i], 4, 80); /* mean 32, deviation 5.7 */
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_cdf),
      cmocka_unit_test(test_narrow_quantiles_are_those_known),
      cmocka_unit_test(test_narrow_quantiles_and_the_cdf_are_inverse),
      cmocka_unit_test(test_tables),
      cmocka_unit_test(test_actions_of_the_paper),
      cmocka_unit_test(test_nearly_bernoulli),
      cmocka_unit_test(test_uniform_table),
      cmocka_unit_test(test_mirrored),
      cmocka_unit_test(test_draws),
      cmocka_unit_test(test_draws_cover_the_table),
  };
  return cmocka_run_group_tests_name("kernels_beta", tests, NULL, NULL);
}
