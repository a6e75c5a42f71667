/* SPDX-License-Identifier: Apache-2.0 */
/* The distributions of synthetic graphs against those that the paper's recipe
 * implies: chi-square for what is counted, Kolmogorov-Smirnov for what is
 * measured. Seeds are fixed; limits are passed by chance once in a thousand.
 *
 * Degrees are those of the random graph under the computation graph, without
 * source and sink.
 */
#include "dataset/synthetic/random_models.h"
#include "dataset/synthetic/recipe.h"
#include "support/graph_sketch.h"

#include <math.h>
#include <stdlib.h>

enum { MOST_BINS = 256 };

typedef struct histogram {
  double counts[MOST_BINS], total;
} histogram;

static void count(histogram *histogram, uint64_t value) {
  histogram->counts[value < MOST_BINS ? value : MOST_BINS - 1]++;
  histogram->total++;
}

/* What chi-square with `freedom` exceeds once in a thousand (Wilson and
 * Hilferty's approximation). */
static double chi_square_limit(double freedom) {
  double a = 2 / (9 * freedom);
  return freedom * pow(1 - a + 3.0902 * sqrt(a), 3);
}

/* Compares with probability(value); values with small expectations share a
 * bin. */
static void check_counts(const char *what, const histogram *histogram,
                         double (*probability)(int value)) {
  double sum = 0, seen = 0, expected = 0, all = 0;
  int bins = 0;
  for (int value = 0; value < MOST_BINS; value++) {
    seen += histogram->counts[value];
    double p = value == MOST_BINS - 1 ? 1 - all : probability(value);
    expected += p * histogram->total;
    all += p;
    bool rest_is_small = (1 - all) * histogram->total < 10;
    if (value < MOST_BINS - 1 && (expected < 10 || rest_is_small))
      continue;
    sum += (seen - expected) * (seen - expected) / expected;
    bins++;
    seen = expected = 0;
  }
  double limit = chi_square_limit(bins - 1);
  if (bins < 2 || sum > limit)
    fail_msg("%s: chi-square %.1f of %d bins, at most %.1f", what, sum, bins,
             limit);
}

static double normal_below(double x) {
  return erfc(-x / sqrt(2)) / 2;
}

static double binomial(int n, double p, int k) {
  if (k < 0 || k > n)
    return 0;
  return exp(lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) + k * log(p) +
             (n - k) * log1p(-p));
}

/* -- Degrees of the random graphs ------------------------------------------ */

enum { NODES = 100, GRAPHS = 200 };

static void draw_pairs(regal_context *context, regal_graph_model model,
                       uint32_t nodes, uint64_t seed, regal_pairs *pairs) {
  regal_random random = {regal_random_key(seed, REGAL_PURPOSE_TEST, model, 9),
                         0};
  assert_int_equal(regal_pairs_create(context, nodes, pairs), REGAL_OK);
  regal_random_model(model, pairs, &random);
}

static uint32_t degree_of(const regal_pairs *pairs, uint32_t node) {
  uint32_t degree = 0;
  for (uint32_t other = 0; other < pairs->nodes; other++)
    degree += regal_pairs_has(pairs, node, other);
  return degree;
}

/* One node of each graph, so that what is counted is independent. */
static histogram degrees(regal_context *context, regal_graph_model model,
                         uint32_t nodes, int graphs) {
  histogram histogram = {.total = 0};
  for (int i = 0; i < graphs; i++) {
    regal_pairs pairs;
    draw_pairs(context, model, nodes, (uint64_t)i, &pairs);
    count(&histogram, degree_of(&pairs, (uint32_t)i % nodes));
    regal_release(context, pairs.bits);
  }
  return histogram;
}

static double erdos_renyi_degree(int degree) {
  return binomial(NODES - 1, .05, degree);
}

static void test_erdos_renyi_degrees(void **state) {
  histogram seen = degrees(*state, REGAL_ERDOS_RENYI, NODES, 3000);
  check_counts("degrees", &seen, erdos_renyi_degree);
}

/* A block of 25 with 75 nodes outside it. */
static double block_degree(int degree) {
  double p = 0;
  for (int within = 0; within <= degree; within++)
    p += binomial(NODES / 4 - 1, .3, within) *
         binomial(NODES * 3 / 4, .01, degree - within);
  return p;
}

static void test_stochastic_block_degrees(void **state) {
  histogram seen = degrees(*state, REGAL_STOCHASTIC_BLOCK, NODES, 3000);
  check_counts("degrees", &seen, block_degree);
}

/* Barrat and Weigt 2000, equation 4: two ends are a node's own; of two others
 * each stays with 0.7; rewired ones arrive at random. */
static double watts_strogatz_degree(int degree) {
  const double arriving = 2 * .3;
  double p = 0;
  for (int stay = 0; stay <= 2; stay++) {
    int arrived = degree - 2 - stay;
    if (arrived >= 0)
      p += binomial(2, .7, stay) *
           exp(arrived * log(arriving) - arriving - lgamma(arrived + 1));
  }
  return p;
}

static void test_watts_strogatz_degrees(void **state) {
  histogram seen = degrees(*state, REGAL_WATTS_STROGATZ, 200, 12000);
  check_counts("degrees", &seen, watts_strogatz_degree);
}

/* The expected numbers N(degree) as one node after the other arrives: each of
 * its two edges ends at a node of degree k with probability k / edge ends.
 * (The second edge avoids the end of the first; this small change is left
 * out.) */
static double barabasi_albert[MOST_BINS];

static double barabasi_albert_degree(int degree) {
  return barabasi_albert[degree];
}

static void expect_barabasi_albert(int nodes) {
  double expected[MOST_BINS] = {[1] = 2, [2] = 1};
  for (int node = 3; node < nodes; node++) {
    double ends = 4 * (node - 2), next[MOST_BINS] = {0};
    for (int k = 0; k < MOST_BINS - 1; k++) {
      double moving = expected[k] * fmin(1, 2 * k / ends);
      next[k] += expected[k] - moving;
      next[k + 1] += moving;
    }
    next[2]++;
    memcpy(expected, next, sizeof next);
  }
  for (int k = 0; k < MOST_BINS; k++)
    barabasi_albert[k] = expected[k] / nodes;
}

static void test_barabasi_albert_degrees(void **state) {
  expect_barabasi_albert(200);
  histogram seen = degrees(*state, REGAL_BARABASI_ALBERT, 200, 3000);
  check_counts("degrees", &seen, barabasi_albert_degree);
}

/* -- Computation graphs ---------------------------------------------------- */

static regal_graph *make(regal_context *context, int model, uint32_t nodes,
                         uint64_t seed) {
  regal_graph *graph = NULL;
  if (regal_synthetic_graph(context, model, nodes, seed, &graph) != REGAL_OK)
    fail_msg("%s", regal_error(context));
  return graph;
}

static uint32_t edges_in(const regal_graph *graph, uint32_t op) {
  uint32_t edges = graph->input_begin[op + 1] - graph->input_begin[op];
  for (uint32_t i = graph->control_in_begin[op];
       i < graph->control_in_begin[op + 1]; i++)
    edges += graph->control_in[i] != 0;
  return edges;
}

static uint32_t edges_out(const regal_graph *graph, uint32_t op) {
  uint32_t begin = graph->output_begin[op], end = graph->output_begin[op + 1];
  uint32_t edges = graph->use_begin[end] - graph->use_begin[begin];
  for (uint32_t i = graph->control_out_begin[op];
       i < graph->control_out_begin[op + 1]; i++)
    edges += graph->control_out[i] != graph->ops - 1;
  return edges;
}

enum { DEGREE = 4 };

static double uniform_in_degree(int in) {
  return in <= DEGREE ? 1. / (DEGREE + 1) : 0;
}

/* In a random order a node stands anywhere among itself and its neighbours, so
 * of 4 edges 0, 1, .. or 4 come in, each as likely. */
static void test_the_order_is_random(void **state) {
  for (int model = 0; model < REGAL_GRAPH_MODELS; model++) {
    histogram in = {.total = 0};
    for (uint64_t seed = 0; in.total < 1000; seed++) {
      regal_graph *graph = make(*state, model, 60, seed);
      /* the first op in a random place: neighbours are not independent */
      uint32_t begin = 1 + (uint32_t)(seed * 17 % 60), op = begin;
      while (edges_in(graph, op) + edges_out(graph, op) != DEGREE) {
        op = op % 60 + 1;
        if (op == begin)
          break;
      }
      if (edges_in(graph, op) + edges_out(graph, op) == DEGREE)
        count(&in, edges_in(graph, op));
      regal_graph_free(graph);
    }
    check_counts("in-degrees", &in, uniform_in_degree);
  }
}

static double uniform_nodes(int nodes) {
  return nodes >= 50 && nodes <= 200 ? 1. / 151 : 0;
}

static void test_nodes_are_uniform(void **state) {
  histogram nodes = {.total = 0};
  for (uint64_t seed = 0; seed < 4000; seed++) {
    regal_graph *graph = make(*state, REGAL_WATTS_STROGATZ, 0, seed);
    count(&nodes, graph->ops - 2);
    regal_graph_free(graph);
  }
  check_counts("nodes", &nodes, uniform_nodes);
}

static double output_share(int outputs) {
  static const double share[] = {.1, .8, .1};
  return outputs < 3 ? share[outputs] : 0;
}

static double control_share(int control) {
  static const double share[] = {.8, .2};
  return control < 2 ? share[control] : 0;
}

static double port_share(int port) {
  return port < 2 ? .5 : 0;
}

static double rounded_bytes(int bytes) {
  if (bytes < 1)
    return 0;
  double below = bytes == 1 ? 0 : normal_below((bytes - .5 - 50) / 10);
  return normal_below((bytes + .5 - 50) / 10) - below;
}

typedef struct kinds {
  histogram outputs, control, ports, bytes;
} kinds;

static void count_reads(kinds *kinds, const regal_graph *graph, uint32_t op) {
  uint32_t begin = graph->output_begin[op], end = graph->output_begin[op + 1];
  for (uint32_t tensor = begin; tensor < end; tensor++) {
    count(&kinds->bytes, (uint64_t)graph->bytes[tensor]);
    for (uint32_t i = graph->use_begin[tensor];
         i < graph->use_begin[tensor + 1]; i++) {
      count(&kinds->control, 0);
      if (end - begin == 2)
        count(&kinds->ports, tensor - begin);
    }
  }
}

static void count_kinds(kinds *kinds, const regal_graph *graph, uint32_t op) {
  uint32_t outputs = graph->output_begin[op + 1] - graph->output_begin[op];
  count(&kinds->outputs, outputs);
  count_reads(kinds, graph, op);
  for (uint32_t i = graph->control_out_begin[op];
       outputs && i < graph->control_out_begin[op + 1]; i++)
    if (graph->control_out[i] != graph->ops - 1)
      count(&kinds->control, 1);
}

static void test_kinds_and_sizes(void **state) {
  kinds kinds = {.bytes = {.total = 0}};
  for (int i = 0; i < GRAPHS; i++) {
    regal_graph *graph =
        make(*state, i % REGAL_GRAPH_MODELS, 0, 5000 + (uint64_t)i);
    for (uint32_t op = 1; op + 1 < graph->ops; op++)
      count_kinds(&kinds, graph, op);
    regal_graph_free(graph);
  }
  assert_true(kinds.ports.total > 1000);
  check_counts("outputs", &kinds.outputs, output_share);
  check_counts("control edges", &kinds.control, control_share);
  check_counts("ports", &kinds.ports, port_share);
  check_counts("bytes", &kinds.bytes, rounded_bytes);
}

/* -- Run times ------------------------------------------------------------- */

static int compare(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Largest distance between the values' distribution and the standard normal. */
static void check_normal(const char *what, double *values, size_t size) {
  double distance = 0;
  qsort(values, size, sizeof *values, compare);
  for (size_t i = 0; i < size; i++) {
    double p = normal_below(values[i]);
    distance = fmax(distance, fabs(p - (double)i / (double)size));
    distance = fmax(distance, fabs(p - (double)(i + 1) / (double)size));
  }
  double limit = 1.9495 / sqrt((double)size);
  if (distance > limit)
    fail_msg("%s: distance %.4f from normal, at most %.4f", what, distance,
             limit);
}

static int64_t touched_bytes(const regal_graph *graph, uint32_t op) {
  int64_t bytes = 0;
  for (uint32_t i = graph->input_begin[op]; i < graph->input_begin[op + 1]; i++)
    bytes += graph->bytes[graph->input[i]];
  for (uint32_t t = graph->output_begin[op]; t < graph->output_begin[op + 1];
       t++)
    bytes += graph->bytes[t];
  return bytes;
}

/* Of ops that touch so many bytes that rounding to microseconds is small beside
 * the noise. */
static void test_run_times(void **state) {
  enum { SIZE = 20000 };
  static double noise[SIZE];
  size_t size = 0;
  for (uint64_t seed = 0; size < SIZE; seed++) {
    regal_graph *graph = make(*state, REGAL_STOCHASTIC_BLOCK, 0, seed);
    for (uint32_t op = 1; op + 1 < graph->ops && size < SIZE; op++) {
      double touched = (double)touched_bytes(graph, op);
      double us = (double)graph->run_ns[op] / 1000;
      if (touched >= 200)
        noise[size++] = (us / touched - 1) / .1;
    }
    regal_graph_free(graph);
  }
  check_normal("run times", noise, SIZE);
}

/* -- Streams --------------------------------------------------------------- */

static double mixed_model(int model) {
  return model >= REGAL_RECIPE_ERDOS_RENYI &&
                 model <= REGAL_RECIPE_STOCHASTIC_BLOCK
             ? .25
             : 0;
}

static void test_models_of_the_mix(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < 5; seed++) {
    regal_recipe recipe = {.seed = seed};
    histogram models = {.total = 0}, low = {.total = 0};
    for (uint64_t number = 0; number < 4000; number++) {
      regal_draw draw = regal_recipe_draw(&recipe, number);
      assert_true(draw.seed < UINT64_C(1) << 62);
      count(&models, draw.model);
      count(&low, 1 + draw.seed / 7 % 4); /* no model has seeds of its own */
    }
    check_counts("models", &models, mixed_model);
    check_counts("seeds", &low, mixed_model);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      CONTEXT_TEST(test_erdos_renyi_degrees),
      CONTEXT_TEST(test_stochastic_block_degrees),
      CONTEXT_TEST(test_watts_strogatz_degrees),
      CONTEXT_TEST(test_barabasi_albert_degrees),
      CONTEXT_TEST(test_the_order_is_random),
      CONTEXT_TEST(test_nodes_are_uniform),
      CONTEXT_TEST(test_kinds_and_sizes),
      CONTEXT_TEST(test_run_times),
      CONTEXT_TEST(test_models_of_the_mix),
  };
  return cmocka_run_group_tests_name("synthetic distributions", tests, NULL,
                                     NULL);
}
