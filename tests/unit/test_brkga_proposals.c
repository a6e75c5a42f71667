/* SPDX-License-Identifier: Apache-2.0 */
/* Proposals: one Beta and one crossover bias for each gene, addressed by class
 * and index; what they change, and what they must not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "support/search_bench.h"

static regal_proposal *make_proposal(search_bench *b, const char *decoder) {
  regal_proposal *proposal;
  assert_int_equal(
      regal_proposal_create(b->context, b->problem, decoder, &proposal),
      REGAL_OK);
  return proposal;
}

static void set_beta(regal_proposal *proposal, const char *gene_class,
                     size_t index, double alpha, double beta) {
  if (regal_proposal_set_beta(proposal, gene_class, index, alpha, beta))
    fail_msg("%s", regal_error(proposal->context));
}

/* -- Sampling -------------------------------------------------------------- */

typedef struct drawn {
  size_t genes;
  regal_gene *gene;
} drawn;

static drawn draw(const regal_proposal *proposal, uint64_t key) {
  drawn d = {proposal->genes, calloc(proposal->genes, sizeof(regal_gene))};
  assert_non_null(d.gene);
  regal_proposal_sample(proposal, key, d.gene);
  return d;
}

/* How many genes of [begin, begin + count) differ. */
static size_t changes(const drawn *a, const drawn *b, size_t begin,
                      size_t count) {
  size_t changed = 0;
  for (size_t i = begin; i < begin + count; i++)
    changed += a->gene[i] != b->gene[i];
  return changed;
}

/* A class without a Beta is drawn as if there were no proposal at all. */
static void test_other_classes_stay(void **state) {
  search_bench *b = *state;
  use_synthetic(b, 30, 1);
  regal_proposal *plain = make_proposal(b, "paper");
  regal_proposal *set = make_proposal(b, "paper");
  size_t affinity = regal_proposal_genes(set, "affinity");
  size_t priority = regal_proposal_genes(set, "priority");
  size_t transfer = regal_proposal_genes(set, "transfer");
  assert_int_equal(affinity, b->problem->ops * 2);
  assert_int_equal(priority, b->problem->ops);
  assert_int_equal(transfer, b->problem->tensors * 2);
  assert_int_equal(regal_proposal_genes(set, "none"), 0);
  set_beta(set, "transfer", SIZE_MAX, 6, 1);
  drawn before = draw(plain, 9), after = draw(set, 9);
  assert_int_equal(changes(&before, &after, 0, affinity + priority), 0);
  assert_true(changes(&before, &after, affinity + priority, transfer) >
              transfer * 9 / 10);
  free(before.gene), free(after.gene);
  regal_proposal_free(plain);
  regal_proposal_free(set);
}

/* Draws one gene many times: its mean must be that of Beta(a, b) to five
 * standard errors, its variance to a tenth. */
static void check_gene(const regal_proposal *proposal, size_t gene, double a,
                       double b) {
  enum { DRAWS = 4000 };
  double sum = 0, squares = 0, exact = a / (a + b);
  double exact_variance = exact * (1 - exact) / (a + b + 1);
  for (uint64_t key = 0; key < DRAWS; key++) {
    drawn d = draw(proposal, regal_random_key(key, REGAL_PURPOSE_TEST, 0, 0));
    double x = d.gene[gene] * 0x1p-24;
    sum += x;
    squares += (x - exact) * (x - exact);
    free(d.gene);
  }
  assert_float_equal(sum / DRAWS, exact, 5 * sqrt(exact_variance / DRAWS));
  assert_float_equal(squares / DRAWS, exact_variance, exact_variance / 10);
}

/* One gene has a Beta; its neighbours in the class stay uniform, and a gene
 * that is set again forgets what it had. */
static void test_one_gene(void **state) {
  search_bench *b = *state;
  use_synthetic(b, 8, 1);
  regal_proposal *proposal = make_proposal(b, "batched");
  size_t first = regal_proposal_genes(proposal, "affinity");
  set_beta(proposal, "priority", 3, 2, 8);
  set_beta(proposal, "priority", 4, 9, 1);
  set_beta(proposal, "priority", 4, 30, 10);
  check_gene(proposal, first + 2, 1, 1);
  check_gene(proposal, first + 3, 2, 8);
  check_gene(proposal, first + 4, 30, 10);
  check_gene(proposal, first + 5, 1, 1);
  regal_proposal_free(proposal);
}

/* As many different Betas as a policy may want, each made once. */
static void test_many_shapes(void **state) {
  search_bench *b = *state;
  use_synthetic(b, 40, 1);
  regal_proposal *proposal = make_proposal(b, "paper");
  for (int round = 0; round < 2; round++)
    for (size_t op = 0; op < b->problem->ops; op++)
      set_beta(proposal, "priority", op, 1 + (double)op, 20);
  /* Beta(1, 1) besides, for the genes that are not set. */
  assert_int_equal(proposal->shape_count, b->problem->ops + 1);
  size_t first = regal_proposal_genes(proposal, "affinity");
  check_gene(proposal, first, 1, 20);
  check_gene(proposal, first + 19, 20, 20);
  regal_proposal_free(proposal);
}

/* -- Search ---------------------------------------------------------------- */

static regal_result *guided(search_bench *b, const regal_proposal *proposal) {
  regal_result *result;
  if (regal_optimize_guided(b->context, b->problem, &b->options, proposal,
                            &result))
    fail_msg("%s", regal_error(b->context));
  return result;
}

/* A proposal of which nothing is set changes nothing. */
static void test_unset_proposal(void **state) {
  search_bench *b = *state;
  set_option(b, "method", "brkga");
  b->options.evaluations = 600;
  use_synthetic(b, 30, 2);
  for (size_t d = 0; d < regal_decoder_count(); d++) {
    set_option(b, "decoder", regal_decoder_at(d).name);
    regal_proposal *proposal = make_proposal(b, regal_decoder_at(d).name);
    regal_result *plain = optimize(b), *result = guided(b, proposal);
    assert_true(same_plan(plain->plan, result->plan));
    regal_result_free(plain);
    regal_result_free(result);
    regal_proposal_free(proposal);
  }
}

/* One Beta shared by all genes changes nothing either: decoding only compares
 * genes, and crossover only copies them. */
static void test_shared_beta(void **state) {
  static const double shapes[][2] = {{1, 1}, {2, 2}, {3, 1.5}, {1.5, 4}};
  static const char *const classes[] = {"affinity", "priority", "transfer"};
  search_bench *b = *state;
  regal_result *first = NULL;
  set_option(b, "method", "brkga");
  b->options.evaluations = 1500;
  use_synthetic(b, 30, 3);
  for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
    regal_proposal *proposal = make_proposal(b, "paper");
    for (int c = 0; c < 3; c++)
      set_beta(proposal, classes[c], SIZE_MAX, shapes[s][0], shapes[s][1]);
    regal_result *result = guided(b, proposal);
    if (first) {
      assert_true(same_plan(result->plan, first->plan));
      regal_result_free(result);
    } else {
      first = result;
    }
    regal_proposal_free(proposal);
  }
  regal_result_free(first);
}

/* Beta(6, 1) on the transfer genes is the best single change that is known for
 * the paper's chromosome: on average it must help. */
static void test_transfer_beta(void **state) {
  search_bench *b = *state;
  double gain = 0;
  set_option(b, "method", "brkga");
  b->options.evaluations = 1000;
  for (uint64_t seed = 1; seed <= 8; seed++) {
    use_synthetic(b, 60, seed);
    regal_proposal *proposal = make_proposal(b, "paper");
    set_beta(proposal, "transfer", SIZE_MAX, 6, 1);
    regal_result *plain = optimize(b), *result = guided(b, proposal);
    assert_false(same_plan(plain->plan, result->plan));
    gain +=
        1 - (double)result->cost.runtime_ns / (double)plain->cost.runtime_ns;
    regal_result_free(plain);
    regal_result_free(result);
    regal_proposal_free(proposal);
  }
  assert_true(gain / 8 > 0.005);
}

/* The proposal's decoder is used, whatever the options say. */
static void test_decoder_of_proposal(void **state) {
  search_bench *b = *state;
  use_synthetic(b, 20, 1);
  set_option(b, "method", "brkga");
  set_option(b, "decoder", "paper");
  b->options.evaluations = 200;
  regal_proposal *proposal = make_proposal(b, "batched");
  regal_result *result = guided(b, proposal);
  assert_string_equal(result->account,
                      "BRKGA on decoder batched: 3 generations of 1 x 100");
  regal_result_free(result);
  regal_proposal_free(proposal);
}

/* A Beta that is nearly certain decides where everything goes. */
static void test_certain_beta(void **state) {
  search_bench *b = *state;
  b->options.devices = 3;
  b->options.mutants = 0;
  b->options.evaluations = 100;
  set_option(b, "method", "random");
  use_synthetic(b, 30, 1);
  regal_proposal *proposal = make_proposal(b, "batched");
  for (size_t op = 0; op < b->problem->ops; op++)
    for (size_t device = 0; device < 3; device++)
      set_beta(proposal, "affinity", op * 3 + device,
               device == op % 3 ? 1000 : 1, device == op % 3 ? 1 : 1000);
  regal_result *result = guided(b, proposal);
  for (uint32_t i = 0; i < result->plan->step_count; i++) {
    const regal_step *step = &result->plan->steps[i];
    if (regal_step_runs(step) && step->op != b->problem->pinned)
      assert_int_equal(step->device, step->op % 3);
  }
  regal_result_free(result);
  regal_proposal_free(proposal);
}

/* -- Crossover bias -------------------------------------------------------- */

/* With a bias of 1 on everything the children are copies of elites; the same
 * bias as BRKGA's own on all genes is no change. */
static void test_bias(void **state) {
  search_bench *b = *state;
  b->options.mutants = 0;
  use_synthetic(b, 30, 4);
  regal_proposal *proposal = make_proposal(b, "batched");
  assert_int_equal(regal_proposal_set_bias(proposal, "affinity", SIZE_MAX, 1),
                   REGAL_OK);
  assert_int_equal(regal_proposal_set_bias(proposal, "priority", SIZE_MAX, 1),
                   REGAL_OK);
  search_begin(b);
  b->search.proposal = proposal;
  regal_brkga *brkga = begin_brkga(b, &regal_decoder_batched);
  assert_true(regal_brkga_step(brkga));
  regal_fitness twentieth = brkga->fitness[brkga->ranked[19]];
  assert_true(regal_brkga_step(brkga));
  for (uint32_t i = 0; i < brkga->population; i++)
    assert_false(
        regal_fitness_less(twentieth, brkga->fitness[brkga->ranked[i]]));
  regal_brkga_free(brkga);
  search_end(b);
  regal_proposal_free(proposal);
}

/* A probability becomes the largest of 65536 cases in which the elite wins. */
static void test_limits_of_bias(void **state) {
  search_bench *b = *state;
  use_synthetic(b, 30, 4);
  regal_proposal *proposal = make_proposal(b, "batched");
  static const double bias[] = {0.5, 0.7, 0.95, 1};
  static const uint16_t limit[] = {32767, 45874, 62258, 65535};
  size_t first = regal_proposal_genes(proposal, "affinity");
  for (size_t i = 0; i < 4; i++) {
    assert_int_equal(regal_proposal_set_bias(proposal, "priority", i, bias[i]),
                     REGAL_OK);
    assert_int_equal(proposal->bias[first + i], limit[i]);
  }
  search_begin(b);
  b->search.proposal = proposal;
  regal_brkga *brkga = begin_brkga(b, &regal_decoder_batched);
  for (size_t i = 0; i < 4; i++)
    assert_int_equal(brkga->gene_bias[first + i], limit[i]);
  assert_int_equal(brkga->bias, 45875);
  assert_int_equal(brkga->gene_bias[0], 45874);
  assert_int_equal(brkga->gene_bias[first + 4], 45874);
  regal_brkga_free(brkga);
  search_end(b);
  regal_proposal_free(proposal);
}

static void test_bias_of_all(void **state) {
  search_bench *b = *state;
  set_option(b, "method", "brkga");
  b->options.evaluations = 800;
  use_synthetic(b, 30, 4);
  regal_proposal *proposal = make_proposal(b, "paper");
  regal_result *plain = optimize(b);
  /* One gene set, to BRKGA's own bias: the others fall back on it. */
  assert_int_equal(regal_proposal_set_bias(proposal, "priority", 3, 0.7),
                   REGAL_OK);
  regal_result *same = guided(b, proposal);
  assert_true(same_plan(plain->plan, same->plan));
  assert_int_equal(
      regal_proposal_set_bias(proposal, "affinity", SIZE_MAX, 0.95), REGAL_OK);
  regal_result *other = guided(b, proposal);
  assert_false(same_plan(plain->plan, other->plan));
  regal_result_free(plain);
  regal_result_free(same);
  regal_result_free(other);
  regal_proposal_free(proposal);
}

/* -- Misuse ---------------------------------------------------------------- */

static void expect_misuse(search_bench *b, regal_status status,
                          const char *message) {
  assert_int_equal(status, REGAL_MISUSE);
  assert_string_equal(regal_error(b->context), message);
}

static void test_misuse(void **state) {
  search_bench *b = *state;
  use_synthetic(b, 8, 1);
  regal_proposal *p = NULL;
  expect_misuse(b, regal_proposal_create(b->context, b->problem, "none", &p),
                "there is no decoder \"none\"");
  assert_null(p);
  p = make_proposal(b, "batched");
  expect_misuse(b, regal_proposal_set_beta(p, "transfer", 0, 1, 1),
                "decoder \"batched\" has no gene class \"transfer\"");
  expect_misuse(b, regal_proposal_set_bias(p, "", SIZE_MAX, 0.7),
                "decoder \"batched\" has no gene class \"\"");
  expect_misuse(b, regal_proposal_set_beta(p, "priority", 10, 1, 1),
                "gene 10 of class \"priority\", which has 10");
  expect_misuse(b, regal_proposal_set_bias(p, "affinity", 20, 0.7),
                "gene 20 of class \"affinity\", which has 20");
  expect_misuse(b, regal_proposal_set_beta(p, "priority", 0, 0, 1),
                "Beta(0, 1): parameters must be from 0.0001 to 1e+06");
  expect_misuse(b, regal_proposal_set_beta(p, "priority", 0, 1, 1e7),
                "Beta(1, 1e+07): parameters must be from 0.0001 to 1e+06");
  expect_misuse(b, regal_proposal_set_beta(p, "priority", 0, NAN, 1),
                "Beta(nan, 1): parameters must be from 0.0001 to 1e+06");
  expect_misuse(b, regal_proposal_set_bias(p, "priority", 0, 0.49),
                "crossover bias 0.49 is not from 0.5 to 1");
  expect_misuse(b, regal_proposal_set_bias(p, "priority", 0, 1.01),
                "crossover bias 1.01 is not from 0.5 to 1");
  expect_misuse(b, regal_proposal_set_bias(p, "priority", 0, NAN),
                "crossover bias nan is not from 0.5 to 1");
  /* Nothing of this has left a trace. */
  assert_int_equal(p->shape_count, 0);
  assert_null(p->bias);
  regal_proposal_free(p);
  regal_proposal_free(NULL);
}

/* A proposal belongs to its problem: another one has other genes. */
static void test_proposal_of_another_problem(void **state) {
  search_bench *b = *state;
  regal_problem *other;
  regal_proposal *proposal;
  regal_result *result = NULL;
  use_synthetic(b, 20, 1);
  b->options.devices = 4;
  assert_int_equal(
      regal_problem_create(b->context, b->graph, &b->options, &other),
      REGAL_OK);
  assert_int_equal(regal_proposal_create(b->context, other, "paper", &proposal),
                   REGAL_OK);
  set_option(b, "method", "brkga");
  expect_misuse(b,
                regal_optimize_guided(b->context, b->problem, &b->options,
                                      proposal, &result),
                "the proposal was made for another problem");
  assert_null(result);
  regal_proposal_free(proposal);
  regal_problem_free(other);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      SEARCH_TEST(test_other_classes_stay),
      SEARCH_TEST(test_one_gene),
      SEARCH_TEST(test_many_shapes),
      SEARCH_TEST(test_unset_proposal),
      SEARCH_TEST(test_shared_beta),
      SEARCH_TEST(test_transfer_beta),
      SEARCH_TEST(test_decoder_of_proposal),
      SEARCH_TEST(test_certain_beta),
      SEARCH_TEST(test_bias),
      SEARCH_TEST(test_limits_of_bias),
      SEARCH_TEST(test_bias_of_all),
      SEARCH_TEST(test_misuse),
      SEARCH_TEST(test_proposal_of_another_problem),
  };
  return cmocka_run_group_tests_name("brkga_proposals", tests, NULL, NULL);
}
