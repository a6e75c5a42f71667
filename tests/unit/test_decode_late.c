/* SPDX-License-Identifier: Apache-2.0 */
/* Decoder `paper-late` by its definition: the ready op of the highest priority
 * runs next, and just before it what it reads and its device lacks, highest
 * transfer priority first. And policies of `paper`, which it serves. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "decode/decoder.h"
#include "support/decoding.h"
#include "support/random_cases.h"
#include "support/search_bench.h"

/* The ready op of the highest priority, or the lowest of those. */
static uint32_t next_op(const regal_problem *p, const uint32_t *missing,
                        const bool *ran, const regal_gene *priority) {
  uint32_t best = REGAL_NONE;
  for (uint32_t op = 0; op < p->ops; op++)
    if (!ran[op] && !missing[op] &&
        (best == REGAL_NONE || priority[op] > priority[best]))
      best = op;
  return best;
}

/* The step at which a tensor is to be sent to the op, and no other. */
static void check_sends(const regal_problem *p, const regal_plan *plan,
                        uint32_t first, uint32_t run, const bool *sent,
                        const regal_gene *transfer) {
  uint32_t device = plan->steps[run].device;
  for (uint32_t i = first; i < run; i++) {
    uint32_t tensor = regal_plan_tensor(p, &plan->steps[i]);
    bool is_read = false;
    for (REGAL_ROW(k, p->input_begin, plan->steps[run].op))
      is_read |= p->input[k] == tensor;
    assert_true(is_read);
    assert_int_equal(plan->steps[i].to, device);
    assert_false(sent[tensor * p->devices + device]);
    if (i > first)
      assert_true(
          transfer[regal_plan_tensor(p, &plan->steps[i - 1]) * p->devices +
                   device] >= transfer[tensor * p->devices + device]);
  }
}

static void check_plan(const regal_problem *p, const regal_plan *plan,
                       const regal_gene *genes) {
  const regal_gene *priority = genes + (size_t)p->ops * p->devices;
  const regal_gene *transfer = priority + p->ops;
  uint32_t *missing = calloc(p->ops + 1, sizeof *missing);
  bool *ran = calloc(p->ops + 1, 1);
  bool *sent = calloc((size_t)p->tensors * p->devices + 1, 1);
  assert_true(missing && ran && sent);
  for (uint32_t op = 0; op < p->ops; op++)
    missing[op] = p->predecessors[op];
  for (uint32_t i = 0, first = 0; i < plan->step_count; i++) {
    const regal_step *step = &plan->steps[i];
    if (!regal_step_runs(step))
      continue;
    assert_int_equal(step->op, next_op(p, missing, ran, priority));
    check_sends(p, plan, first, i, sent, transfer);
    for (; first < i; first++)
      sent[regal_plan_tensor(p, &plan->steps[first]) * p->devices +
           plan->steps[first].to] = true;
    ran[step->op] = true;
    for (REGAL_ROW(k, p->successor_begin, step->op))
      missing[p->successor[k]]--;
    first = i + 1;
  }
  free(missing);
  free(ran);
  free(sent);
}

static void test_by_definition(void **state) {
  search_bench *b = *state;
  size_t late = regal_test_decoder_index("paper-late");
  int sends = 0;
  for (uint64_t seed = 1; seed <= 240; seed++) {
    regal_test_decoding decoding;
    regal_machine *machine;
    problem_end(b);
    regal_test_random_graph(b->context, seed, seed % 8 ? 30 : 120, &b->graph);
    regal_test_random_small_machine(b->context, seed, 4, b->graph, &machine);
    assert_int_equal(regal_problem_bind(b->context, b->graph, machine,
                                        seed % 2 ? REGAL_RUNTIME : REGAL_MEMORY,
                                        &b->problem),
                     REGAL_OK);
    regal_test_decoding_begin(&decoding, b->context, b->problem);
    for (int kind = 0; kind < REGAL_TEST_GENE_KINDS; kind++) {
      regal_test_draw_genes(
          (regal_test_genes)kind, seed, decoding.genes,
          regal_decoder_genes(&regal_decoder_paper_late, b->problem));
      regal_test_check_decoder(&decoding, late);
      check_plan(b->problem, decoding.plan, decoding.genes);
      sends += (int)(decoding.plan->step_count - b->problem->ops);
    }
    regal_test_decoding_end(&decoding);
  }
  assert_true(sends > 1000);
}

/* More ops than two levels of the ready set hold. */
static void test_many_ops(void **state) {
  search_bench *b = *state;
  regal_test_decoding decoding;
  use_synthetic(b, 5000, 3);
  regal_test_decoding_begin(&decoding, b->context, b->problem);
  decoding.plain = false;
  regal_test_draw_genes(
      REGAL_TEST_UNIFORM, 1, decoding.genes,
      regal_decoder_genes(&regal_decoder_paper_late, b->problem));
  regal_test_check_decoder(&decoding, regal_test_decoder_index("paper-late"));
  regal_test_decoding_end(&decoding);
}

/* Decoders of the same genes share policies; others do not. */
static void test_policies_are_shared(void **state) {
  search_bench *b = *state;
  regal_result *result;
  use_synthetic(b, 40, 3);
  set_option(b, "policy", "synthetic_runtime");
  set_option(b, "method", "regal");
  set_option(b, "evaluations", "800");
  set_option(b, "decoder", "paper-late");
  result = optimize(b);
  assert_non_null(strstr(result->account, "on decoder paper-late"));
  regal_result_free(result);
  set_option(b, "decoder", "batched");
  assert_int_equal(regal_optimize(b->context, b->problem, &b->options, &result),
                   REGAL_BAD_INPUT);
  assert_string_equal(regal_error(b->context),
                      "synthetic_runtime: found a policy for decoder paper, "
                      "expected one for batched");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      SEARCH_TEST(test_by_definition),
      SEARCH_TEST(test_many_ops),
      SEARCH_TEST(test_policies_are_shared),
  };
  return cmocka_run_group_tests_name("decode_late", tests, NULL, NULL);
}
