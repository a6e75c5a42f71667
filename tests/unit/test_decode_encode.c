/* SPDX-License-Identifier: Apache-2.0 */
/* Encoding: plans of any origin become genes that decode to the same plan, up
 * to the names of interchangeable devices. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "dataset/synthetic/synthetic.h"
#include "support/brute_force.h"
#include "support/decoding.h"
#include "support/graph_sketch.h"
#include "support/random_cases.h"
#include "support/toy_graph.h"

/* A random problem, ready for decoding. */
typedef struct random_case {
  regal_context *context;
  regal_graph *graph;
  regal_problem *problem;
  regal_test_decoding decoding;
} random_case;

static void begin(random_case *c, regal_context *context, uint64_t seed,
                  uint32_t max_ops, uint32_t max_devices) {
  regal_machine *machine;
  c->context = context;
  regal_test_random_graph(context, seed, max_ops, &c->graph);
  regal_test_random_small_machine(context, seed, max_devices, c->graph,
                                  &machine);
  c->problem = toy_problem(context, c->graph, machine,
                           seed % 2 ? REGAL_MEMORY : REGAL_RUNTIME);
  regal_test_decoding_begin(&c->decoding, context, c->problem);
  snprintf(c->decoding.about, sizeof c->decoding.about, "seed %llu",
           (unsigned long long)seed);
}

static void end(random_case *c) {
  regal_test_decoding_end(&c->decoding);
  regal_problem_free(c->problem);
  regal_graph_free(c->graph);
}

static regal_fitness fitness_of(random_case *c, const regal_plan *plan) {
  regal_cost cost;
  if (regal_verify(c->context, c->problem, plan, &cost))
    fail_msg("%s: %s", c->decoding.about, regal_error(c->context));
  return regal_fitness_of(c->problem, &cost);
}

/* Genes that encode must all overwrite. */
static void encode(random_case *c, const regal_decoder *decoder,
                   const regal_plan *plan) {
  size_t genes = regal_decoder_genes(decoder, c->problem);
  memset(c->decoding.genes, 0xff, genes * sizeof(regal_gene));
  decoder->encode(c->problem, plan, c->decoding.genes);
  for (size_t i = 0; i < genes; i++)
    if (c->decoding.genes[i] > REGAL_GENE_LARGEST)
      fail_msg("%s: gene %zu of %s is not set", c->decoding.about, i,
               decoder->name);
}

/* The device that the plan's device became, by its first step there. */
static void learn_names(const regal_plan *plan, const regal_plan *found,
                        uint16_t *name) {
  memset(name, 0xff, REGAL_MAX_DEVICES * sizeof *name);
  for (uint32_t i = 0; i < plan->step_count; i++) {
    name[plan->steps[i].device] = found->steps[i].device;
    name[plan->steps[i].to] = found->steps[i].to;
  }
}

/* The same steps in the same order; devices renamed only where they are
 * interchangeable. */
static void check_same_plan(const random_case *c, const regal_plan *plan,
                            const regal_plan *found) {
  uint16_t name[REGAL_MAX_DEVICES];
  assert_int_equal(found->step_count, plan->step_count);
  learn_names(plan, found, name);
  for (uint32_t i = 0; i < plan->step_count; i++) {
    const regal_step *step = &plan->steps[i], *other = &found->steps[i];
    if (step->op != other->op || step->port != other->port ||
        name[step->device] != other->device || name[step->to] != other->to ||
        (!c->problem->symmetric && step->device != other->device))
      fail_msg("%s: step %u differs after encoding", c->decoding.about, i);
  }
}

/* For `paper` a plan is the only one that its genes decode to. */
static void check_paper(random_case *c, const regal_plan *plan) {
  regal_fitness before = fitness_of(c, plan);
  encode(c, &regal_decoder_paper, plan);
  regal_fitness after =
      regal_test_check_decoder(&c->decoding, regal_test_decoder_index("paper"));
  regal_test_same_fitness(&c->decoding, "encoded for paper", after, before);
  check_same_plan(c, plan, c->decoding.plan);
}

/* The ops of a plan, without its transfers. */
static regal_plan *runs_of(const random_case *c, const regal_plan *plan) {
  regal_plan *runs;
  assert_int_equal(regal_plan_create(c->context, c->problem->ops, &runs),
                   REGAL_OK);
  for (uint32_t i = 0; i < plan->step_count; i++)
    if (regal_step_runs(&plan->steps[i]))
      runs->steps[runs->step_count++] = plan->steps[i];
  return runs;
}

/* For `batched` the order of ops and their devices are the same. */
static void check_batched(random_case *c, const regal_plan *plan) {
  encode(c, &regal_decoder_batched, plan);
  regal_test_check_decoder(&c->decoding, regal_test_decoder_index("batched"));
  regal_plan *runs = runs_of(c, plan);
  regal_plan *found = runs_of(c, c->decoding.plan);
  check_same_plan(c, runs, found);
  regal_plan_free(runs);
  regal_plan_free(found);
}

static void check_plan(random_case *c, const regal_plan *plan) {
  check_paper(c, plan);
  check_batched(c, plan);
}

/* -- Plans of different origin --------------------------------------------- */

static void test_random_plans(void **state) {
  for (uint64_t seed = 0; seed < 1500; seed++) {
    random_case c;
    regal_plan *plan;
    begin(&c, *state, seed, 20, seed % 10 ? 4 : 64);
    regal_test_random_plan(*state, seed, c.graph, c.problem->machine, &plan);
    check_plan(&c, plan);
    regal_plan_free(plan);
    end(&c);
  }
}

static void test_decoded_plans(void **state) {
  for (uint64_t seed = 0; seed < 1000; seed++) {
    random_case c;
    begin(&c, *state, 5000 + seed, 20, 4);
    for (size_t i = 0; i < regal_decoder_count(); i++) {
      const regal_decoder *decoder =
          regal_decoder_find(regal_decoder_at(i).name);
      regal_plan *plan;
      regal_test_draw_genes((regal_test_genes)(seed % REGAL_TEST_GENE_KINDS),
                            seed, c.decoding.genes,
                            regal_decoder_genes(decoder, c.problem));
      regal_fitness fitness = regal_test_check_decoder(&c.decoding, i);
      assert_int_equal(regal_plan_copy(*state, c.decoding.plan, &plan),
                       REGAL_OK);
      check_plan(&c, plan);
      /* What a decoder made it can say, if all of it is in its genes. */
      encode(&c, decoder, plan);
      regal_fitness again = regal_test_check_decoder(&c.decoding, i);
      if (decoder == &regal_decoder_paper ||
          decoder == &regal_decoder_paper_late ||
          decoder == &regal_decoder_batched) {
        regal_test_same_fitness(&c.decoding, "encoded for itself", again,
                                fitness);
        check_same_plan(&c, plan, c.decoding.plan);
      }
      regal_plan_free(plan);
    }
    end(&c);
  }
}

static void test_brute_force_plans(void **state) {
  int complete = 0;
  for (uint64_t seed = 0; seed < 200; seed++) {
    random_case c;
    regal_test_best best;
    begin(&c, *state, 7000 + seed, 5, 3);
    if (regal_test_brute_force(*state, c.graph, c.problem->machine, 3000,
                               &best)) {
      regal_plan fastest = {*state, best.runtime.step_count,
                            best.runtime.steps};
      regal_plan smallest = {*state, best.memory.step_count, best.memory.steps};
      complete++;
      check_plan(&c, &fastest);
      check_plan(&c, &smallest);
    }
    end(&c);
  }
  assert_true(complete > 100);
}

static void test_list_schedules(void **state) {
  static const char *const methods[] = {"single", "heft", "dfs",
                                        "bfs",    "lpmf", "xla-list"};
  for (uint64_t seed = 0; seed < 150; seed++) {
    random_case c;
    begin(&c, *state, 8000 + seed, 30, 4);
    for (size_t m = 0; m < sizeof methods / sizeof *methods; m++) {
      regal_options options;
      regal_result *result;
      regal_options_init(&options);
      options.threads = 1;
      strcpy(options.method, methods[m]);
      assert_int_equal(regal_optimize(*state, c.problem, &options, &result),
                       REGAL_OK);
      check_plan(&c, result->plan);
      regal_result_free(result);
    }
    end(&c);
  }
}

/* Thousands of steps still have a priority each. */
static void test_large_plans(void **state) {
  for (uint32_t ops = 700; ops <= 21000; ops *= 5) {
    random_case c = {.context = *state};
    regal_plan *plan;
    assert_int_equal(regal_layered_graph(*state, ops, ops / 20, 2, 1, &c.graph),
                     REGAL_OK);
    c.problem =
        toy_problem(*state, c.graph, toy_machine(*state, 3), REGAL_RUNTIME);
    regal_test_decoding_begin(&c.decoding, *state, c.problem);
    c.decoding.plain = false;
    regal_test_draw_genes(REGAL_TEST_UNIFORM, ops, c.decoding.genes,
                          regal_decoder_genes(&regal_decoder_paper, c.problem));
    regal_test_check_decoder(&c.decoding, regal_test_decoder_index("paper"));
    assert_int_equal(regal_plan_copy(*state, c.decoding.plan, &plan), REGAL_OK);
    check_plan(&c, plan);
    regal_plan_free(plan);
    end(&c);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      CONTEXT_TEST(test_random_plans),      CONTEXT_TEST(test_decoded_plans),
      CONTEXT_TEST(test_brute_force_plans), CONTEXT_TEST(test_list_schedules),
      CONTEXT_TEST(test_large_plans),
  };
  return cmocka_run_group_tests_name("decode_encode", tests, NULL, NULL);
}
