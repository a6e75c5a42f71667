/* SPDX-License-Identifier: Apache-2.0 */
/* Random numbers, gene sampling and crossover: pinned sequences, ranges and
 * moments, and what decoding must not see of a chromosome. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "evolve/proposal.h"
#include "support/decoding.h"
#include "support/graph_sketch.h"
#include "support/random_cases.h"
#include "support/toy_graph.h"

#define MANY (1 << 17)
#define COUNT(array) (sizeof(array) / sizeof *(array))

static regal_gene genes[MANY], others[MANY], child[MANY], one[MANY];

/* -- The random sequence is the same everywhere, forever ------------------- */

/* Stream 0 is SplitMix64 from seed 0, whose first numbers are well known. */
static void test_pinned_numbers(void **state) {
  static const uint64_t split_mix[] = {0xe220a8397b1dcdaf, 0x6e789e6aa1b965f4,
                                       0x06c45d188009454f, 0xf88bb8a8724c81ec};
  static const struct {
    uint64_t seed, purpose, generation, individual, key, numbers[4];
  } streams[] = {
      {1,
       REGAL_PURPOSE_SAMPLE,
       0,
       0,
       0xe138d2250316cdcf,
       {0xca1975128ad73c10, 0x8a0e5d07ff005c8c, 0x3da36105f1055439,
        0x3d29a567649fd5af}},
      {7,
       REGAL_PURPOSE_CROSSOVER,
       12,
       99,
       0x0ac664c1033b2377,
       {0xc4a003cbc05d7581, 0x1db13318ec8684f5, 0x309bf8fd2fba85ec,
        0xaaaf8f9ed5f397d9}},
      {UINT64_MAX,
       REGAL_PURPOSE_TEST,
       1,
       2,
       0x046a01278ccfb495,
       {0xf6269bd20c97c6bd, 0xdd49a18b08b0e4c2, 0x75c682b1c9e3801a,
        0xc2524e44390a387b}},
  };
  (void)state;
  for (uint64_t i = 0; i < 4; i++)
    assert_int_equal(regal_random_at(0, i), split_mix[i]);
  for (size_t s = 0; s < COUNT(streams); s++) {
    uint64_t key =
        regal_random_key(streams[s].seed, streams[s].purpose,
                         streams[s].generation, streams[s].individual);
    regal_random random = {.key = key};
    assert_int_equal(key, streams[s].key);
    for (uint64_t i = 0; i < 4; i++) {
      assert_int_equal(regal_random_at(key, i), streams[s].numbers[i]);
      assert_int_equal(regal_random_next(&random), streams[s].numbers[i]);
    }
  }
}

/* Everything that is derived from them. */
static void test_pinned_draws(void **state) {
  static const int below[] = {78, 53, 24, 23, 21, 75};
  static const double unit[] = {0.78945094778722769, 0.53928166814057599,
                                0.24077421565109103};
  static const regal_gene uniform[] = {9099068, 13244789, 16711772,
                                       9047645, 15795540, 4039521,
                                       6594517, 4008357,  16424475};
  static const regal_gene crossed[] = {1, 1, 1, 0, 1, 0, 1, 1, 1};
  static regal_gene beta[2 * REGAL_BETA_QUANTILES];
  enum { B = 0, U = REGAL_BETA_QUANTILES };
  const uint32_t table_of[] = {B, U, B, U, B, B, B, U, B};
  uint64_t key = regal_random_key(1, REGAL_PURPOSE_SAMPLE, 0, 0);
  regal_random first = {.key = key}, second = {.key = key};
  (void)state;
  for (size_t i = 0; i < COUNT(below); i++)
    assert_int_equal(regal_random_below(&first, 100), below[i]);
  for (size_t i = 0; i < COUNT(unit); i++)
    assert_true(regal_random_unit(&second) == unit[i]);
  regal_sample_uniform(key, 0, genes, 9);
  assert_memory_equal(genes, uniform, sizeof uniform);
  regal_beta_table(2, 5, beta + B);
  regal_beta_table(1, 1, beta + U);
  regal_sample_tables(key, 0, beta, table_of, genes, 9);
  for (uint32_t i = 0; i < 9; i++) {
    uint64_t bits = regal_random_at(key, i / 4) >> (16 * (i % 4));
    assert_int_equal(genes[i], beta[table_of[i] + bits % REGAL_BETA_QUANTILES]);
  }
  for (size_t i = 0; i < 9; i++)
    genes[i] = 1, others[i] = 0;
  regal_crossover(key, 45875, genes, others, child, 9);
  assert_memory_equal(child, crossed, sizeof crossed);
}

/* Each part of the key matters: no two of many streams begin alike. */
static void test_streams_differ(void **state) {
  enum { SIDE = 6, STREAMS = SIDE * SIDE * SIDE * SIDE };
  static uint64_t first[STREAMS];
  size_t count = 0;
  (void)state;
  for (uint64_t a = 0; a < SIDE; a++)
    for (uint64_t b = 0; b < SIDE; b++)
      for (uint64_t c = 0; c < SIDE; c++)
        for (uint64_t d = 0; d < SIDE; d++)
          first[count++] = regal_random_at(regal_random_key(a, b, c, d), 0);
  for (size_t i = 0; i < count; i++)
    for (size_t k = 0; k < i; k++)
      assert_true(first[i] != first[k]);
}

/* -- Uniform genes --------------------------------------------------------- */

/* Mean and variance of a uniform number, to five standard errors. */
static void check_uniform(const regal_gene *drawn, size_t count,
                          size_t stride) {
  double sum = 0, squares = 0;
  size_t n = 0;
  for (size_t i = 0; i < count; i += stride, n++) {
    double x = drawn[i] * 0x1p-24 - 0.5;
    sum += x;
    squares += x * x;
  }
  assert_true(fabs(sum / (double)n) < 5 * sqrt(1 / 12.0 / (double)n));
  assert_true(fabs(squares / (double)n - 1 / 12.0) <
              5 * sqrt(1 / 180.0 / (double)n));
}

static void check_bits(const regal_gene *drawn, size_t count, int shift) {
  size_t bins[16] = {0};
  for (size_t i = 0; i < count; i++)
    bins[drawn[i] >> shift & 15]++;
  double expected = (double)count / 16, chi = 0;
  for (int b = 0; b < 16; b++)
    chi += pow((double)bins[b] - expected, 2) / expected;
  assert_true(chi < 50); /* 15 degrees of freedom: once in 80,000 */
}

static void test_uniform_genes(void **state) {
  (void)state;
  regal_sample_uniform(77, 0, genes, MANY);
  for (size_t i = 0; i < MANY; i++)
    assert_true(genes[i] <= REGAL_GENE_LARGEST);
  check_uniform(genes, MANY, 1);
  check_uniform(genes, MANY, 2);
  check_uniform(genes + 1, MANY - 1, 2);
  for (int shift = 0; shift <= 20; shift += 4)
    check_bits(genes, MANY, shift);
  double products = 0;
  for (size_t i = 0; i + 1 < MANY; i++)
    products += (genes[i] * 0x1p-24 - 0.5) * (genes[i + 1] * 0x1p-24 - 0.5);
  assert_true(fabs(products / MANY) < 5 / 12.0 / sqrt(MANY));
}

/* A shorter draw is the beginning of a longer one; nothing is written past the
 * end; counters go on where the last draw ended. */
static void test_sampling_lengths(void **state) {
  static regal_gene beta[REGAL_BETA_QUANTILES];
  static uint32_t table_of[64];
  regal_gene all[64], part[65];
  (void)state;
  regal_beta_table(3, 2, beta);
  for (int tables = 0; tables < 2; tables++) {
    if (tables)
      regal_sample_tables(5, 0, beta, table_of, all, 64);
    else
      regal_sample_uniform(5, 0, all, 64);
    for (size_t n = 0; n <= 64; n++) {
      memset(part, 0xee, sizeof part);
      if (tables)
        regal_sample_tables(5, 0, beta, table_of, part, n);
      else
        regal_sample_uniform(5, 0, part, n);
      assert_memory_equal(part, all, n * sizeof *part);
      assert_int_equal(part[n], 0xeeeeeeee);
    }
    size_t each = tables ? 4 : 2;
    if (tables)
      regal_sample_tables(5, 3, beta, table_of, part, 20);
    else
      regal_sample_uniform(5, 3, part, 20);
    assert_memory_equal(part, all + 3 * each, 20 * sizeof *part);
  }
}

/* -- Crossover ------------------------------------------------------------- */

/* Even genes are the elite's, odd ones the other's. */
static void set_parents(void) {
  for (size_t i = 0; i < MANY; i++) {
    genes[i] = (regal_gene)(2 * i) & REGAL_GENE_LARGEST;
    others[i] = genes[i] | 1;
  }
}

/* Share of the elite's genes among every `stride`-th, within five sigma. */
static void check_share(size_t first, size_t stride, double bias) {
  size_t n = 0, taken = 0;
  for (size_t i = first; i < MANY; i += stride, n++) {
    assert_true(child[i] == genes[i] || child[i] == others[i]);
    taken += child[i] == genes[i];
  }
  double sigma = sqrt((double)n * bias * (1 - bias));
  assert_true(fabs((double)taken - bias * (double)n) <= 5 * sigma);
}

static void test_crossover_share(void **state) {
  static const uint32_t bias[] = {32768, 45875, 58982, 65535};
  (void)state;
  set_parents();
  for (size_t b = 0; b < COUNT(bias); b++) {
    regal_crossover(1000 + b, bias[b], genes, others, child, MANY);
    check_share(0, 1, bias[b] / 65536.0);
    for (size_t lane = 0; lane < 4; lane++)
      check_share(lane, 4, bias[b] / 65536.0);
  }
  regal_crossover(5, 65536, genes, others, child, MANY);
  assert_memory_equal(child, genes, MANY * sizeof *child);
  regal_crossover(5, 0, genes, others, child, MANY);
  assert_memory_equal(child, others, MANY * sizeof *child);
}

/* A bias of its own for each gene; 65535 is certainty. */
static void test_crossover_biased(void **state) {
  static uint16_t limit[MANY];
  static const uint16_t kinds[] = {32767, 65535, 45874, 58981, 49151};
  (void)state;
  set_parents();
  for (size_t i = 0; i < MANY; i++)
    limit[i] = kinds[i % 5];
  regal_crossover_biased(9, limit, genes, others, child, MANY);
  for (size_t k = 0; k < 5; k++)
    check_share(k, 5, (kinds[k] + 1) / 65536.0);
  for (size_t i = 1; i < MANY; i += 5)
    assert_int_equal(child[i], genes[i]);
  /* One limit for all is that bias for all, to the last of 65536 cases. */
  for (size_t i = 0; i < MANY; i++)
    limit[i] = 45874;
  regal_crossover_biased(9, limit, genes, others, child, MANY);
  regal_crossover(9, 45875, genes, others, one, MANY);
  assert_memory_equal(child, one, MANY * sizeof *child);
}

/* One bias for all is the same as that bias for each, at any length, and
 * nothing is written past the end. */
static void test_crossover_lengths(void **state) {
  uint16_t limit[64];
  (void)state;
  set_parents();
  for (size_t i = 0; i < 64; i++)
    limit[i] = 45874;
  for (size_t n = 0; n <= 64; n++) {
    regal_gene all[65], each[65];
    memset(all, 0xee, sizeof all);
    memset(each, 0xee, sizeof each);
    regal_crossover(n, 45875, genes, others, all, n);
    regal_crossover_biased(n, limit, genes, others, each, n);
    assert_memory_equal(all, each, sizeof all);
    assert_int_equal(all[n], 0xeeeeeeee);
  }
}

/* -- Decoding sees only the order of genes --------------------------------- */

typedef regal_gene (*gene_map)(regal_gene gene);

/* Strictly increasing maps of a few genes: as many as a table has. */
#define FEW REGAL_BETA_QUANTILES

static regal_gene add(regal_gene gene) {
  return gene + 12345;
}

static regal_gene square(regal_gene gene) {
  return gene * gene;
}

static regal_gene from_above(regal_gene gene) {
  regal_gene down = FEW - 1 - gene;
  return REGAL_GENE_LARGEST - down * (down + 1) / 2;
}

static regal_gene quantile_of_beta(regal_gene gene) {
  static regal_gene table[REGAL_BETA_QUANTILES];
  if (!table[REGAL_BETA_QUANTILES - 1])
    regal_beta_table(2, 3, table);
  return table[gene];
}

/* A common strictly monotone map, such as one Beta for all genes, is invisible
 * to decoders that only compare genes. */
static void test_monotone_maps(void **state) {
  static const gene_map maps[] = {add, square, from_above, quantile_of_beta};
  for (regal_gene gene = 1; gene < FEW; gene++)
    for (size_t m = 0; m < COUNT(maps); m++)
      assert_true(maps[m](gene) > maps[m](gene - 1) &&
                  maps[m](gene) <= REGAL_GENE_LARGEST);
  for (uint64_t seed = 0; seed < 400; seed++) {
    regal_graph *graph;
    regal_machine *machine;
    regal_test_decoding decoding;
    regal_plan *plan;
    regal_test_random_graph(*state, seed, 25, &graph);
    regal_test_random_machine(*state, seed, graph, &machine);
    regal_problem *problem =
        toy_problem(*state, graph, machine, (enum regal_objective)(seed & 1));
    regal_test_decoding_begin(&decoding, *state, problem);
    const regal_decoder *decoder =
        seed & 2 ? &regal_decoder_batched : &regal_decoder_paper;
    size_t index = regal_test_decoder_index(decoder->name);
    size_t count = regal_decoder_genes(decoder, problem);
    regal_sample_uniform(seed, 0, decoding.genes, count);
    for (size_t i = 0; i < count; i++)
      decoding.genes[i] %= FEW;
    regal_fitness fitness = regal_test_check_decoder(&decoding, index);
    assert_int_equal(regal_plan_copy(*state, decoding.plan, &plan), REGAL_OK);
    gene_map map = maps[seed % COUNT(maps)];
    for (size_t i = 0; i < count; i++)
      decoding.genes[i] = map(decoding.genes[i]);
    regal_test_same_fitness(&decoding, "mapped",
                            regal_test_check_decoder(&decoding, index),
                            fitness);
    regal_test_same_steps(&decoding, "mapped", decoding.plan, plan);
    regal_plan_free(plan);
    regal_test_decoding_end(&decoding);
    regal_problem_free(problem);
    regal_graph_free(graph);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_pinned_numbers),
      cmocka_unit_test(test_pinned_draws),
      cmocka_unit_test(test_streams_differ),
      cmocka_unit_test(test_uniform_genes),
      cmocka_unit_test(test_sampling_lengths),
      cmocka_unit_test(test_crossover_share),
      cmocka_unit_test(test_crossover_biased),
      cmocka_unit_test(test_crossover_lengths),
      CONTEXT_TEST(test_monotone_maps),
  };
  return cmocka_run_group_tests_name("kernels", tests, NULL, NULL);
}
