/* SPDX-License-Identifier: Apache-2.0 */
/* Graph partitioning, `gp-dfs` and `partition`: gains against recounting,
 * balance, small optima, plans against the verifier; METIS where it is built
 * in. */
#include "heuristic/heuristics.h"
#include "heuristic/partition/partition.h"

#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "support/quick_failures.h"

/* -- Bisections ------------------------------------------------------------ */

enum { MOST_VERTICES = 60, MOST_NETS = 120, MOST_PINS = 600 };

typedef struct random_bisection {
  regal_bisection b;
  int64_t weight[MOST_VERTICES], bytes[MOST_NETS];
  uint8_t fixed[MOST_VERTICES], side[MOST_VERTICES];
  uint32_t pin_begin[MOST_NETS + 1], pin[MOST_PINS];
  uint32_t net_begin[MOST_VERTICES + 2], net[MOST_PINS];
} random_bisection;

static void turn(random_bisection *r) {
  uint32_t at = 0;
  for (uint32_t v = 0; v < r->b.vertices; v++) {
    r->net_begin[v] = at;
    for (uint32_t n = 0; n < r->b.nets; n++)
      for (uint32_t i = r->pin_begin[n]; i < r->pin_begin[n + 1]; i++)
        if (r->pin[i] == v)
          r->net[at++] = n;
  }
  r->net_begin[r->b.vertices] = at;
}

static void draw_bisection(random_bisection *r, uint64_t seed,
                           uint32_t most_vertices) {
  regal_random random = {.key =
                             regal_random_key(seed, REGAL_PURPOSE_TEST, 77, 0)};
  memset(r, 0, sizeof *r);
  r->b = (regal_bisection){.weight = r->weight,
                           .fixed = r->fixed,
                           .bytes = r->bytes,
                           .pin_begin = r->pin_begin,
                           .pin = r->pin,
                           .net_begin = r->net_begin,
                           .net = r->net,
                           .side = r->side};
  r->b.vertices = 2 + (uint32_t)regal_random_below(&random, most_vertices - 1);
  r->b.share = regal_random_below(&random, 3) ? 0.5 : 0.3;
  for (uint32_t v = 0; v < r->b.vertices; v++) {
    r->weight[v] = (int64_t)regal_random_below(&random, 20);
    r->fixed[v] = regal_random_below(&random, 8)
                      ? REGAL_SIDE_FREE
                      : (uint8_t)regal_random_below(&random, 2);
    r->side[v] = r->fixed[v] == REGAL_SIDE_FREE
                     ? (uint8_t)regal_random_below(&random, 2)
                     : r->fixed[v];
  }
  uint32_t nets = (uint32_t)regal_random_below(&random, MOST_NETS), pins = 0;
  for (uint32_t n = 0; n < nets; n++) {
    r->bytes[n] = 1 + (int64_t)regal_random_below(&random, 50);
    r->pin_begin[n] = pins;
    uint32_t step = 1 + (uint32_t)regal_random_below(&random, 9);
    uint32_t first = (uint32_t)regal_random_below(&random, r->b.vertices - 1);
    for (uint32_t v = first; v < r->b.vertices && pins < r->pin_begin[n] + 5;
         v += step)
      r->pin[pins++] = v;
    if (pins - r->pin_begin[n] < 2) {
      pins = r->pin_begin[n];
      nets--, n--;
    }
  }
  r->pin_begin[nets] = pins;
  r->b.nets = nets;
  turn(r);
}

static void assert_fixed(const random_bisection *r) {
  for (uint32_t v = 0; v < r->b.vertices; v++) {
    assert_true(r->side[v] <= 1);
    if (r->fixed[v] != REGAL_SIDE_FREE)
      assert_int_equal(r->side[v], r->fixed[v]);
  }
}

static void test_refinement_never_makes_it_worse(void **state) {
  int better = 0;
  for (uint64_t seed = 1; seed <= 400; seed++) {
    random_bisection r;
    draw_bisection(&r, seed, MOST_VERTICES);
    int64_t cut = regal_bisection_cut(&r.b);
    int64_t off = regal_bisection_imbalance(&r.b);
    assert_int_equal(regal_bisect_refine(*state, &r.b), REGAL_OK);
    int64_t cut_then = regal_bisection_cut(&r.b);
    int64_t off_then = regal_bisection_imbalance(&r.b);
    assert_true(off_then < off || (off_then == off && cut_then <= cut));
    better += cut_then < cut;
    assert_fixed(&r);
  }
  assert_true(better > 300);
}

/* The least bytes of all bisections with the least imbalance. */
static int64_t slow_cut(random_bisection *r, int64_t *least_off) {
  int64_t least = INT64_MAX;
  *least_off = INT64_MAX;
  for (uint32_t bits = 0; bits < 1u << r->b.vertices; bits++) {
    bool good = true;
    for (uint32_t v = 0; v < r->b.vertices; v++) {
      r->side[v] = bits >> v & 1;
      good &= r->fixed[v] == REGAL_SIDE_FREE || r->fixed[v] == r->side[v];
    }
    if (!good)
      continue;
    int64_t off = regal_bisection_imbalance(&r->b);
    int64_t cut = regal_bisection_cut(&r->b);
    if (off < *least_off || (off == *least_off && cut < least)) {
      *least_off = off;
      least = cut;
    }
  }
  return least;
}

static void test_small_bisections_are_near_the_best(void **state) {
  int best = 0, cases = 200;
  for (uint64_t seed = 1; seed <= (uint64_t)cases; seed++) {
    random_bisection r;
    int64_t off;
    draw_bisection(&r, seed, 10);
    int64_t least = slow_cut(&r, &off);
    assert_int_equal(regal_bisect_fm(*state, &r.b, seed), REGAL_OK);
    assert_fixed(&r);
    assert_int_equal(regal_bisection_imbalance(&r.b), off);
    assert_true(regal_bisection_cut(&r.b) >= least);
    best += regal_bisection_cut(&r.b) == least;
  }
  assert_true(best * 100 >= cases * 97);
}

/* What Kernighan and Lin's algorithm minimises: edges from a net's first vertex
 * to each other one. */
static int64_t slow_edges(const random_bisection *r) {
  int64_t cost = 0;
  for (uint32_t n = 0; n < r->b.nets; n++)
    for (uint32_t i = r->pin_begin[n] + 1; i < r->pin_begin[n + 1]; i++)
      cost += r->side[r->pin[i]] != r->side[r->pin[r->pin_begin[n]]]
                  ? r->bytes[n]
                  : 0;
  return cost;
}

static int64_t count_zeros(const random_bisection *r) {
  int64_t zeros = 0;
  for (uint32_t v = 0; v < r->b.vertices; v++)
    zeros += r->side[v] == 0;
  return zeros;
}

/* No exchange of two free vertices is better than the result. */
static void assert_no_better_pair(random_bisection *r) {
  int64_t cost = slow_edges(r);
  for (uint32_t v = 0; v < r->b.vertices; v++)
    for (uint32_t w = 0; w < v; w++) {
      if (r->side[v] == r->side[w] || r->fixed[v] != REGAL_SIDE_FREE ||
          r->fixed[w] != REGAL_SIDE_FREE)
        continue;
      r->side[v] ^= 1, r->side[w] ^= 1;
      assert_true(slow_edges(r) >= cost);
      r->side[v] ^= 1, r->side[w] ^= 1;
    }
}

/* Weights of 1: the numbers on both sides are the wanted ones, unless fixed
 * vertices forbid. */
static void test_pairs_balance_counts(void **state) {
  int64_t before = 0, after = 0;
  for (uint64_t seed = 1; seed <= 200; seed++) {
    random_bisection r;
    draw_bisection(&r, seed, 40);
    int64_t fixed[2] = {0, 0};
    for (uint32_t v = 0; v < r.b.vertices; v++) {
      r.weight[v] = 1;
      if (r.fixed[v] != REGAL_SIDE_FREE)
        fixed[r.fixed[v]]++;
    }
    before += slow_edges(&r);
    assert_int_equal(regal_bisect_kl(*state, &r.b, seed), REGAL_OK);
    after += slow_edges(&r);
    assert_fixed(&r);
    int64_t wanted = (int64_t)(r.b.share * r.b.vertices);
    if (fixed[0] <= wanted && fixed[1] <= r.b.vertices - wanted)
      assert_int_equal(count_zeros(&r), wanted);
    assert_no_better_pair(&r);
  }
  assert_true(4 * after < 3 * before);
}

static void test_pairs_of_unequal_weights(void **state) {
  for (uint64_t seed = 1; seed <= 200; seed++) {
    random_bisection r;
    int64_t load = 0, total = 0, heaviest = 0, fixed[2] = {0, 0};
    draw_bisection(&r, seed, MOST_VERTICES);
    assert_int_equal(regal_bisect_kl(*state, &r.b, seed), REGAL_OK);
    assert_fixed(&r);
    for (uint32_t v = 0; v < r.b.vertices; v++) {
      total += r.weight[v];
      load += r.side[v] ? 0 : r.weight[v];
      heaviest = r.weight[v] > heaviest ? r.weight[v] : heaviest;
      if (r.fixed[v] != REGAL_SIDE_FREE)
        fixed[r.fixed[v]] += r.weight[v];
    }
    int64_t wanted = (int64_t)(r.b.share * (double)total);
    assert_true(load <= fixed[0] || load <= wanted + heaviest);
    assert_true(total - load <= fixed[1] ||
                total - load <= total - wanted + heaviest);
  }
}

/* -- Partitions ------------------------------------------------------------ */

static bool has_metis(regal_context *context) {
  random_bisection r;
  draw_bisection(&r, 1, 10);
  return regal_bisect_metis(context, &r.b, 1) == REGAL_OK;
}

static void check_chains(regal_context *context, const regal_problem *problem,
                         regal_bisect_fn bisect) {
  uint8_t placement[8];
  assert_int_equal(
      regal_partition(context, problem, bisect, REGAL_LOAD_COST, 1, placement),
      REGAL_OK);
  assert_int_equal(regal_partition_bytes(problem, placement), 7);
  for (uint32_t op = 0; op < 8; op++)
    assert_int_equal(placement[op], placement[op % 2]);
}

/* Two chains that share one small tensor, written in turns. */
static void test_two_chains_are_parted(void **state) {
  const toy_op ops[] = {
      {.run_ns = 5, .bytes = 90},
      {.run_ns = 5, .bytes = 90},
      {.run_ns = 5, .bytes = 90, .reads = "a"},
      {.run_ns = 5, .bytes = 7, .reads = "b"},
      {.run_ns = 5, .bytes = 90, .reads = "c"},
      {.run_ns = 5, .bytes = 90, .reads = "d"},
      {.run_ns = 5, .bytes = 90, .reads = "ed"},
      {.run_ns = 5, .bytes = 90, .reads = "f"},
  };
  regal_graph *graph = TOY_GRAPH(*state, ops);
  regal_problem *problem =
      toy_problem(*state, graph, toy_machine(*state, 2), REGAL_RUNTIME);
  check_chains(*state, problem, regal_bisect_fm);
  check_chains(*state, problem, regal_bisect_kl);
  if (has_metis(*state))
    check_chains(*state, problem, regal_bisect_metis);
  regal_problem_free(problem);
  regal_graph_free(graph);
}

static void run(regal_context *context, const regal_problem *problem,
                regal_method_fn method, const char *option, const char *value) {
  regal_options options;
  regal_search search;
  regal_options_init(&options);
  assert_int_equal(regal_options_set(context, &options, option, value),
                   REGAL_OK);
  assert_int_equal(quick_begin(&search, context, problem, &options), REGAL_OK);
  assert_int_equal(method(&search), REGAL_OK);
  quick_check(&search);
  quick_end(&search);
}

static void test_plans_pass_the_verifier(void **state) {
  bool metis = has_metis(*state);
  for (uint64_t seed = 1; seed <= 400; seed++) {
    regal_graph *graph;
    regal_machine *machine;
    regal_test_random_graph(*state, seed, 40, &graph);
    regal_test_random_machine(*state, seed, graph, &machine);
    regal_problem *problem = toy_problem(
        *state, graph, machine, seed % 2 ? REGAL_RUNTIME : REGAL_MEMORY);
    run(*state, problem, regal_method_gp_dfs, "send",
        seed % 4 < 2 ? "late" : "eager");
    run(*state, problem, regal_method_partition, "partitioner", "fm");
    if (metis && seed % 4 == 0)
      run(*state, problem, regal_method_partition, "partitioner", "metis");
    regal_problem_free(problem);
    regal_graph_free(graph);
  }
}

static void test_metis_or_a_message(void **state) {
  random_bisection r;
  draw_bisection(&r, 3, MOST_VERTICES);
  if (has_metis(*state)) {
    assert_int_equal(regal_bisect_metis(*state, &r.b, 1), REGAL_OK);
    assert_fixed(&r);
    return;
  }
  assert_int_equal(regal_bisect_metis(*state, &r.b, 1), REGAL_BAD_INPUT);
  assert_string_equal(
      regal_error(*state),
      "partitioner 'metis': this build has no METIS; install libmetis-dev "
      "(scripts/setup.sh metis) and build again, or use --partitioner fm");
}

/* -- Failures -------------------------------------------------------------- */

static void test_memory_runs_out(void **state) {
  (void)state;
  const quick_case on = {3, 0, REGAL_RUNTIME};
  assert_true(quick_failures(regal_method_gp_dfs, on) > 7);
  assert_true(quick_failures(regal_method_partition, on) > 7);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TOY_TEST(test_refinement_never_makes_it_worse),
      TOY_TEST(test_small_bisections_are_near_the_best),
      TOY_TEST(test_pairs_balance_counts),
      TOY_TEST(test_pairs_of_unequal_weights),
      TOY_TEST(test_two_chains_are_parted),
      TOY_TEST(test_plans_pass_the_verifier),
      TOY_TEST(test_metis_or_a_message),
      cmocka_unit_test(test_memory_runs_out),
  };
  return cmocka_run_group_tests_name("partition", tests, NULL, NULL);
}
