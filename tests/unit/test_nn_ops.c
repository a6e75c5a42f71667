/* SPDX-License-Identifier: Apache-2.0 */
/* Every op of src/nn in double precision: products against plain loops, and
 * gradients against central differences. */
#include "support/double_network.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#define MOST 400
#define STEP 1e-6

static double numbers[MOST];

/* The same numbers in every test, none of them near zero: no kinks. */
static double *some(size_t count, uint64_t key) {
  static double pool[8][MOST];
  double *made = pool[key % 8];
  assert_true(count <= MOST);
  for (size_t i = 0; i < count; i++) {
    double u = (double)(regal_random_at(key, i) >> 11) * 0x1p-52 - 1;
    made[i] = u + (u < 0 ? -0.05 : 0.05);
  }
  return made;
}

/* loss(x) against the gradient that stands in `gradient`. */
static void check(double (*loss)(void), double *x, size_t count,
                  const double *gradient) {
  for (size_t i = 0; i < count; i++) {
    double kept = x[i];
    x[i] = kept + STEP;
    double above = loss();
    x[i] = kept - STEP;
    double slope = (above - loss()) / (2 * STEP);
    x[i] = kept;
    if (fabs(slope - gradient[i]) > 1e-7 * (1 + fabs(slope)))
      fail_msg("gradient %zu is %.9g, not %.9g", i, gradient[i], slope);
  }
}

static double weighted(size_t count, const double *y, const double *weight) {
  double sum = 0;
  for (size_t i = 0; i < count; i++)
    sum += weight[i] * y[i];
  return sum;
}

/* -- Products -------------------------------------------------------------- */

static void check_product(size_t m, size_t n, size_t k, bool transposed,
                          int start) {
  double *a = calloc(m * k + 1, sizeof *a), *b = calloc(k * n + 1, sizeof *b);
  double *c = calloc(m * (n + 1) + 1, sizeof *c), *bias = some(n, 3);
  for (size_t i = 0; i < m * k; i++)
    a[i] = (double)(regal_random_at(1, i) % 17) - 8;
  for (size_t i = 0; i < k * n; i++)
    b[i] = (double)(regal_random_at(2, i) % 17) - 8;
  for (size_t i = 0; i < m * (n + 1); i++)
    c[i] = 1 + (double)i;
  regal_multiply(&(regal_product){.m = m,
                                  .n = n,
                                  .k = k,
                                  .a = a,
                                  .a_row = transposed ? 1 : k,
                                  .a_column = transposed ? m : 1,
                                  .b = b,
                                  .b_row = n,
                                  .c = c,
                                  .c_row = n + 1,
                                  .bias = start == 2 ? bias : NULL,
                                  .add = start == 1});
  for (size_t i = 0; i < m; i++) {
    for (size_t j = 0; j < n; j++) {
      size_t at = i * (n + 1) + j;
      double sum = start == 2 ? bias[j] : start == 1 ? 1 + (double)at : 0;
      for (size_t p = 0; p < k; p++)
        sum += a[transposed ? p * m + i : i * k + p] * b[p * n + j];
      assert_true(fabs(c[at] - sum) < 1e-9);
    }
    size_t gap = i * (n + 1) + n;
    assert_true(c[gap] == 1 + (double)gap);
  }
  free(a);
  free(b);
  free(c);
}

/* All remainders of rows and columns, slices of the inner index, none of any.
 */
static void test_products(void **state) {
  static const size_t inner[] = {0, 1, 7, 64, 65, 200};
  (void)state;
  for (size_t m = 0; m < 10; m++)
    for (size_t n = 0; n < 38; n++)
      for (size_t k = 0; k < sizeof inner / sizeof *inner; k++)
        check_product(m, n, inner[k], (m + n) % 2, (int)((m + n + k) % 3));
}

/* -- Dense layers ---------------------------------------------------------- */

static const regal_mlp mlp = {{3, 5, 0, 15}, {5, 2, 20, 30}};
static double *x, *weights, *out_weights;

static double mlp_loss(void) {
  double hidden[4 * 5], y[4 * 2];
  regal_mlp_forward(&mlp, weights, 4, x, hidden, y);
  return weighted(8, y, out_weights);
}

static void test_mlp(void **state) {
  double hidden[4 * 5], y[4 * 2], d_hidden[4 * 5], dx[12], transposed[15];
  double gradient[32] = {0};
  (void)state;
  x = some(12, 1);
  weights = some(32, 2);
  out_weights = some(8, 3);
  regal_backprop back = {weights, gradient, transposed, d_hidden};
  regal_mlp_forward(&mlp, weights, 4, x, hidden, y);
  regal_mlp_backward(&mlp, &back, 4, x, hidden, out_weights, dx, false);
  check(mlp_loss, x, 12, dx);
  check(mlp_loss, weights, 32, gradient);
  regal_mlp_backward(&mlp, &back, 4, x, hidden, out_weights, dx, true);
  for (int i = 0; i < 12; i++)
    numbers[i] = dx[i] / 2;
  check(mlp_loss, x, 12, numbers);
}

/* -- Gated cells ----------------------------------------------------------- */

enum { ROWS = 3, WIDTH = 5 };
static double *input, *gate_state, *h;

static double gru_loss(void) {
  double gates[ROWS * 3 * WIDTH], next[ROWS * WIDTH];
  memcpy(gates, input, sizeof gates);
  regal_gru_forward(ROWS, WIDTH, gates, gate_state, h, next);
  return weighted(ROWS * WIDTH, next, out_weights);
}

static void test_gru(void **state) {
  double gates[ROWS * 3 * WIDTH], next[ROWS * WIDTH], dh[ROWS * WIDTH];
  double d_input[ROWS * 3 * WIDTH], d_state[ROWS * 3 * WIDTH];
  (void)state;
  input = some(ROWS * 3 * WIDTH, 1);
  gate_state = some(ROWS * 3 * WIDTH, 2);
  h = some(ROWS * WIDTH, 3);
  out_weights = some(ROWS * WIDTH, 4);
  memcpy(gates, input, sizeof gates);
  regal_gru_forward(ROWS, WIDTH, gates, gate_state, h, next);
  regal_gru_backward(ROWS, WIDTH, gates, gate_state, h, out_weights, d_input,
                     d_state, dh);
  check(gru_loss, input, ROWS * 3 * WIDTH, d_input);
  check(gru_loss, gate_state, ROWS * 3 * WIDTH, d_state);
  check(gru_loss, h, ROWS * WIDTH, dh);
}

static double *cell;
static bool first_step;

static double lstm_loss(void) {
  double gates[4 * WIDTH], next[WIDTH], out[WIDTH];
  memcpy(gates, input, sizeof gates);
  regal_lstm_forward(WIDTH, gates, first_step ? NULL : cell, next, out);
  return weighted(WIDTH, out, out_weights) +
         weighted(WIDTH, next, out_weights + WIDTH);
}

static void test_lstm(void **state) {
  double gates[4 * WIDTH], next[WIDTH], out[WIDTH], dc[WIDTH];
  double d_gates[4 * WIDTH];
  (void)state;
  input = some(4 * WIDTH, 1);
  cell = some(WIDTH, 2);
  out_weights = some(2 * WIDTH, 3);
  for (int first = 0; first < 2; first++) {
    first_step = first;
    memcpy(gates, input, sizeof gates);
    memcpy(dc, out_weights + WIDTH, sizeof dc);
    regal_lstm_forward(WIDTH, gates, first ? NULL : cell, next, out);
    regal_lstm_backward(WIDTH, gates, first ? NULL : cell, next, out_weights,
                        dc, d_gates);
    check(lstm_loss, input, 4 * WIDTH, d_gates);
    if (!first)
      check(lstm_loss, cell, WIDTH, dc);
  }
}

/* -- Nodes and edges ------------------------------------------------------- */

enum { NODES = 4, EDGES = 6 };
static const uint32_t from[EDGES] = {0, 0, 1, 0, 2, 2};
static const uint32_t to[EDGES] = {1, 2, 2, 3, 3, 3};
static const regal_message_edges edges = {EDGES, from, to};
static double *ends, *edge;

static double messages_loss(void) {
  double sums[NODES * 2 * WIDTH] = {0};
  regal_messages_forward(&edges, WIDTH, ends, edge, sums);
  return weighted(NODES * 2 * WIDTH, sums, out_weights);
}

static void test_messages(void **state) {
  double d_ends[NODES * 4 * WIDTH] = {0}, d_edge[EDGES * 2 * WIDTH] = {0};
  (void)state;
  ends = some(NODES * 4 * WIDTH, 1);
  edge = some(EDGES * 2 * WIDTH, 2);
  out_weights = some(NODES * 2 * WIDTH, 3);
  regal_messages_backward(&edges, WIDTH, ends, edge, out_weights, d_ends,
                          d_edge);
  check(messages_loss, ends, NODES * 4 * WIDTH, d_ends);
  check(messages_loss, edge, EDGES * 2 * WIDTH, d_edge);
}

static double mean_loss(void) {
  double mean[WIDTH];
  regal_mean_forward(ROWS, WIDTH, x, mean);
  return weighted(WIDTH, mean, out_weights);
}

static void test_mean(void **state) {
  double dx[ROWS * WIDTH] = {0}, none[WIDTH];
  (void)state;
  x = some(ROWS * WIDTH, 1);
  out_weights = some(WIDTH, 2);
  regal_mean_backward(ROWS, WIDTH, out_weights, dx);
  check(mean_loss, x, ROWS * WIDTH, dx);
  regal_mean_forward(0, WIDTH, x, none);
  for (int j = 0; j < WIDTH; j++)
    assert_true(none[j] == 0);
}

/* -- Choices --------------------------------------------------------------- */

enum { LEVELS = 5 };

static double choice_loss(void) {
  double p[LEVELS], log_p[LEVELS];
  double entropy = regal_categorical_forward(LEVELS, x, p, log_p);
  return -weighted(LEVELS, log_p, out_weights) - 0.3 * entropy;
}

static void test_choice(void **state) {
  double p[LEVELS], log_p[LEVELS], d[LEVELS];
  (void)state;
  x = some(LEVELS, 1);
  out_weights = some(LEVELS, 2);
  regal_categorical_forward(LEVELS, x, p, log_p);
  regal_categorical_backward(LEVELS, p, log_p, out_weights, 0.3, d);
  check(choice_loss, x, LEVELS, d);
}

static void test_draws(void **state) {
  static const double p[] = {0.25, 0, 0.5, 0.25};
  (void)state;
  assert_int_equal(regal_categorical_draw(4, p, 0), 0);
  assert_int_equal(regal_categorical_draw(4, p, UINT64_C(1) << 62), 2);
  assert_int_equal(regal_categorical_draw(4, p, (UINT64_C(3) << 62) - 1), 2);
  assert_int_equal(regal_categorical_draw(4, p, UINT64_C(3) << 62), 3);
  assert_int_equal(regal_categorical_draw(4, p, UINT64_MAX), 3);
  assert_int_equal(regal_categorical_best(4, p), 2);
  assert_int_equal(regal_categorical_best(2, (double[]){1, 1}), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_products), cmocka_unit_test(test_mlp),
      cmocka_unit_test(test_gru),      cmocka_unit_test(test_lstm),
      cmocka_unit_test(test_messages), cmocka_unit_test(test_mean),
      cmocka_unit_test(test_choice),   cmocka_unit_test(test_draws),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
