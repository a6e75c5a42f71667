/* SPDX-License-Identifier: Apache-2.0 */
/* Decoders on thousands of random problems and chromosomes: the cost that they
 * report, with and without a plan, is the simulator's and the verifier's, and
 * the plan is the one that a plain reference makes, step by step. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "support/decoding.h"
#include "support/graph_sketch.h"
#include "support/random_cases.h"
#include "support/toy_graph.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* -- Random problems ------------------------------------------------------- */

/* What the random problems covered, so that a change of the generator cannot
 * quietly take a case away. */
typedef struct coverage {
  int devices[REGAL_MAX_DEVICES + 1];
  int overlapped, waits, control_transfers, costs, links, speeds, never, groups;
  int limited, memory, resident, temporary, finals, beyond;
} coverage;

static bool any(const int64_t *values, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (values[i])
      return true;
  return false;
}

static bool has_never(const regal_machine *machine) {
  size_t count = (size_t)machine->timed_ops * machine->devices;
  for (size_t i = 0; i < count; i++)
    if (machine->timed_ns[i] == REGAL_NEVER)
      return true;
  return false;
}

static void cover(coverage *seen, const regal_problem *problem) {
  const regal_graph *graph = problem->graph;
  seen->devices[problem->devices]++;
  seen->overlapped += problem->machine->overlapped;
  seen->waits += problem->has_waits;
  seen->control_transfers += problem->control_tensor != NULL;
  seen->costs += !problem->free_transfers;
  seen->links += problem->link_classes > 1;
  seen->speeds += problem->run_step && !problem->machine->timed_ops;
  seen->never += has_never(problem->machine);
  seen->groups += problem->leader != NULL;
  seen->limited += problem->limited;
  seen->memory += problem->objective == REGAL_MEMORY;
  seen->resident += any(graph->resident_bytes, graph->ops);
  seen->temporary += any(graph->temporary_bytes, graph->ops);
  seen->finals += memchr(graph->is_final, 1, graph->tensors) != NULL;
}

/* Every decoder on every kind of genes. */
static void check_genes(regal_test_decoding *decoding, uint64_t seed,
                        coverage *seen) {
  for (int kind = 0; kind < REGAL_TEST_GENE_KINDS; kind++)
    for (size_t i = 0; i < regal_decoder_count(); i++) {
      regal_decoder_info info = regal_decoder_at(i);
      size_t genes =
          regal_decoder_genes(regal_decoder_find(info.name), decoding->problem);
      snprintf(decoding->about, sizeof decoding->about,
               "seed %llu objective %d genes %d %s", (unsigned long long)seed,
               decoding->problem->objective, kind, info.name);
      regal_test_draw_genes((regal_test_genes)kind, seed, decoding->genes,
                            genes);
      seen->beyond += regal_test_check_decoder(decoding, i).excess > 0;
    }
}

static void check_problem(regal_context *context, uint64_t seed,
                          uint32_t max_ops, coverage *seen) {
  regal_graph *graph;
  regal_test_random_graph(context, seed, max_ops, &graph);
  for (int objective = 0; objective < 2; objective++) {
    regal_machine *machine;
    regal_test_decoding decoding;
    regal_test_random_machine(context, seed, graph, &machine);
    regal_problem *problem =
        toy_problem(context, graph, machine, (enum regal_objective)objective);
    cover(seen, problem);
    regal_test_decoding_begin(&decoding, context, problem);
    check_genes(&decoding, seed, seen);
    regal_test_decoding_end(&decoding);
    regal_problem_free(problem);
  }
  regal_graph_free(graph);
}

static void test_random_problems(void **state) {
  coverage seen = {0};
  for (uint64_t seed = 0; seed < 6000; seed++)
    check_problem(*state, seed, seed % 16 ? 16 : 100, &seen);
  for (int d = 1; d <= 4; d++)
    assert_true(seen.devices[d] > 2000);
  int many = 0;
  for (int d = 5; d <= REGAL_MAX_DEVICES; d++)
    many += seen.devices[d];
  assert_true(many > 500);
  const int counts[] = {seen.overlapped, seen.waits,    seen.control_transfers,
                        seen.costs,      seen.links,    seen.speeds,
                        seen.never,      seen.groups,   seen.limited,
                        seen.memory,     seen.resident, seen.temporary,
                        seen.finals,     seen.beyond};
  for (size_t i = 0; i < COUNT(counts); i++)
    if (counts[i] <= 500)
      fail_msg("case %zu was seen %d times only", i, counts[i]);
}

/* All 64 devices, whatever the random machines do. */
static void test_most_devices(void **state) {
  regal_graph *graph;
  regal_test_decoding decoding;
  coverage seen = {0};
  for (uint64_t seed = 0; seed < 12; seed++) {
    regal_test_random_graph(*state, 9000 + seed, 200, &graph);
    regal_machine *machine = toy_machine(*state, REGAL_MAX_DEVICES);
    machine->overlapped = seed % 2;
    machine->latency_ns[63][0] = seed % 3 ? 0 : 50;
    regal_problem *problem = toy_problem(
        *state, graph, machine, seed % 4 < 2 ? REGAL_RUNTIME : REGAL_MEMORY);
    regal_test_decoding_begin(&decoding, *state, problem);
    check_genes(&decoding, seed, &seen);
    regal_test_decoding_end(&decoding);
    regal_problem_free(problem);
    regal_graph_free(graph);
  }
}

/* -- The paper's example of a chromosome ----------------------------------- */

/* Appendix, "BRKGA chromosome encoding": node 1 makes A and C, which node 2
 * reads, and B, which node 3 reads. Nodes 1 and 3 are on device 1, node 2 on
 * device 2. The order of nodes is 1, 2, 3, and C is sent before A. */
static regal_graph *paper_graph(regal_context *context) {
  static const int64_t run_ns[] = {30, 20, 10};
  regal_builder *builder;
  regal_graph *graph;
  assert_int_equal(regal_builder_create(context, &builder), REGAL_OK);
  for (uint32_t op = 0; op < 3; op++) {
    uint32_t id;
    assert_int_equal(regal_builder_add_op(builder,
                                          (char[]){(char)('1' + op), 0},
                                          run_ns[op], 0, 0, &id),
                     REGAL_OK);
  }
  for (int tensor = 0; tensor < 3; tensor++)
    assert_int_equal(regal_builder_add_output(builder, 0, 1 << tensor, false),
                     REGAL_OK);
  assert_int_equal(regal_builder_add_input(builder, 1, 0, 0), REGAL_OK);
  assert_int_equal(regal_builder_add_input(builder, 1, 0, 2), REGAL_OK);
  assert_int_equal(regal_builder_add_input(builder, 2, 0, 1), REGAL_OK);
  assert_int_equal(regal_builder_finish(builder, &graph), REGAL_OK);
  return graph;
}

static regal_gene gene(double value) {
  return (regal_gene)(value * 0x1p24);
}

static void test_paper_chromosome(void **state) {
  /* Node-device affinities, node priorities, tensor-device priorities. */
  static const double chromosome[] = {0.8,  0.3,  0.2,  0.6,  0.9,
                                      0.4,  0.95, 0.55, 0.1,  0.15,
                                      0.35, 0.45, 0.25, 0.05, 0.75};
  static const regal_step expected[] = {{0, REGAL_RUN, 0, 0},
                                        {0, 2, 0, 1},
                                        {0, 0, 0, 1},
                                        {1, REGAL_RUN, 1, 1},
                                        {2, REGAL_RUN, 0, 0}};
  regal_graph *graph = paper_graph(*state);
  regal_test_decoding decoding;
  regal_problem *problem =
      toy_problem(*state, graph, toy_machine(*state, 2), REGAL_RUNTIME);
  regal_test_decoding_begin(&decoding, *state, problem);
  assert_int_equal(regal_decoder_genes(&regal_decoder_paper, problem), 15);
  for (size_t i = 0; i < 15; i++)
    decoding.genes[i] = gene(chromosome[i]);
  size_t paper = regal_test_decoder_index("paper");
  regal_fitness fitness = regal_test_check_decoder(&decoding, paper);
  assert_int_equal(decoding.plan->step_count, COUNT(expected));
  assert_memory_equal(decoding.plan->steps, expected, sizeof expected);
  /* 1 ends at 30; both transfers are free; then 2 and 3 run side by side. */
  assert_int_equal(fitness.value, 50);
  /* With the priorities of A and C for device 2 exchanged A goes first; those
   * for device 1 are not asked for. */
  decoding.genes[10] = gene(0.75), decoding.genes[14] = gene(0.35);
  regal_test_check_decoder(&decoding, paper);
  assert_int_equal(decoding.plan->steps[1].port, 0);
  assert_int_equal(decoding.plan->steps[2].port, 2);
  /* Equal priorities: ops before transfers, then by index. */
  for (size_t i = 6; i < 15; i++)
    decoding.genes[i] = gene(0.5);
  regal_test_check_decoder(&decoding, paper);
  static const regal_step tied[] = {{0, REGAL_RUN, 0, 0},
                                    {2, REGAL_RUN, 0, 0},
                                    {0, 0, 0, 1},
                                    {0, 2, 0, 1},
                                    {1, REGAL_RUN, 1, 1}};
  assert_memory_equal(decoding.plan->steps, tied, sizeof tied);
  regal_test_decoding_end(&decoding);
  regal_problem_free(problem);
  regal_graph_free(graph);
}

/* -- Gene classes ---------------------------------------------------------- */

static void check_classes(const char *name, const regal_problem *problem,
                          const char *const *classes, const size_t *genes,
                          size_t count) {
  const regal_decoder *decoder = regal_decoder_find(name);
  size_t begin = 0;
  assert_non_null(decoder);
  assert_int_equal(regal_decoder_class_count(decoder), count);
  for (size_t c = 0; c < count; c++) {
    assert_string_equal(decoder->classes[c].name, classes[c]);
    assert_int_equal(regal_class_begin(decoder, problem, c), begin);
    assert_int_equal(regal_class_genes(problem, decoder->classes[c].domain),
                     genes[c]);
    begin += genes[c];
  }
  assert_int_equal(regal_decoder_genes(decoder, problem), begin);
}

/* Five ops, five tensors, and two more for the ops that others wait for. */
static void test_gene_classes(void **state) {
  static const char *const classes[] = {"affinity", "priority", "transfer"};
  regal_graph *graph = sketch(*state, "abcde", "a>b a>c b:d b:e c:d");
  for (int control = 0; control < 2; control++) {
    regal_machine *machine = toy_machine(*state, 3);
    machine->control_transfers = control;
    regal_problem *problem = toy_problem(*state, graph, machine, REGAL_RUNTIME);
    size_t genes[] = {15, 5, control ? 21 : 15};
    check_classes("paper", problem, classes, genes, 3);
    check_classes("batched", problem, classes, genes, 2);
    assert_int_equal(regal_class_genes(problem, REGAL_GENE_GLOBAL), 1);
    regal_problem_free(problem);
  }
  regal_graph_free(graph);
}

static void check_row(const char *name, const char *genes) {
  regal_decoder_info info = regal_decoder_at(regal_test_decoder_index(name));
  assert_string_equal(info.name, name);
  assert_string_equal(info.genes, genes);
  assert_true(strlen(info.help) > 10);
}

static void test_decoder_table(void **state) {
  (void)state;
  check_row("paper",
            "affinity (op, device), priority (op), transfer (tensor, device)");
  check_row("batched", "affinity (op, device), priority (op)");
  assert_null(regal_decoder_find("none"));
  assert_null(regal_decoder_find(""));
  for (size_t i = 0; i < regal_decoder_count(); i++) {
    const char *name = regal_decoder_at(i).name;
    assert_string_equal(regal_decoder_find(name)->name, name);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      CONTEXT_TEST(test_random_problems),  CONTEXT_TEST(test_most_devices),
      CONTEXT_TEST(test_paper_chromosome), CONTEXT_TEST(test_gene_classes),
      CONTEXT_TEST(test_decoder_table),
  };
  return cmocka_run_group_tests_name("decode", tests, NULL, NULL);
}
