/* SPDX-License-Identifier: Apache-2.0 */
/* Decoders where their machinery changes with size: the few items that are
 * sorted by insertion, and the levels of the ready set (4096 and 262144
 * items); long and flat graphs, and chromosomes full of ties. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "dataset/synthetic/synthetic.h"
#include "decode/rank.h"
#include "decode/ready.h"
#include "support/decoding.h"
#include "support/graph_sketch.h"
#include "support/toy_graph.h"

/* How a graph of a given size is decoded. */
typedef struct setting {
  uint32_t ops, width, fan_in, devices;
  enum regal_objective objective;
  bool overlapped, plain;
} setting;

/* Whether the decoder's machinery changes with size as above. */
static bool has_levels(const regal_decoder *decoder) {
  return decoder == &regal_decoder_paper || decoder == &regal_decoder_batched;
}

static void check_kinds(regal_test_decoding *decoding, const setting *how,
                        unsigned kinds) {
  for (int kind = 0; kind < REGAL_TEST_GENE_KINDS; kind++)
    for (size_t i = 0; (kinds >> kind & 1) && i < regal_decoder_count(); i++) {
      const regal_decoder *decoder =
          regal_decoder_find(regal_decoder_at(i).name);
      if (how->ops > 1000 && !has_levels(decoder))
        continue;
      snprintf(decoding->about, sizeof decoding->about,
               "%u ops of width %u on %u devices, genes %d, %s", how->ops,
               how->width, how->devices, kind, decoder->name);
      regal_test_draw_genes((regal_test_genes)kind, how->ops, decoding->genes,
                            regal_decoder_genes(decoder, decoding->problem));
      regal_test_check_decoder(decoding, i);
    }
}

#define ALL_KINDS ((1u << REGAL_TEST_GENE_KINDS) - 1)
#define TWO_KINDS (1u << REGAL_TEST_UNIFORM | 1u << REGAL_TEST_FEW)

static void check(regal_context *context, setting how, unsigned kinds) {
  regal_graph *graph;
  regal_test_decoding decoding;
  assert_int_equal(regal_layered_graph(context, how.ops, how.width, how.fan_in,
                                       how.ops, &graph),
                   REGAL_OK);
  assert_int_equal(graph->ops, how.ops);
  regal_machine *machine = toy_machine(context, how.devices);
  machine->overlapped = how.overlapped;
  regal_problem *problem = toy_problem(context, graph, machine, how.objective);
  regal_test_decoding_begin(&decoding, context, problem);
  decoding.plain = how.plain;
  check_kinds(&decoding, &how, kinds);
  regal_test_decoding_end(&decoding);
  regal_problem_free(problem);
  regal_graph_free(graph);
}

/* On one device the items of both decoders are the ops. */
static void test_few_items(void **state) {
  for (uint32_t ops = REGAL_RANKING_FEW - 2; ops <= REGAL_RANKING_FEW + 2;
       ops++)
    check(*state, (setting){ops, 40, 2, 1, REGAL_RUNTIME, false, true},
          ALL_KINDS);
}

/* With several devices the number of items depends on the genes. */
static void test_items_around_few(void **state) {
  for (uint32_t ops = 100; ops <= 500; ops += 23) {
    bool overlapped = ops % 2;
    check(*state,
          (setting){ops, 20, 2, 2, REGAL_RUNTIME, overlapped, ops < 200},
          ALL_KINDS);
    check(*state, (setting){ops, 20, 2, 4, REGAL_MEMORY, overlapped, false},
          ALL_KINDS);
  }
}

/* A word of the bitmap holds 64 ranks, and the sentinel is one more. */
static void test_word_boundaries(void **state) {
  for (uint32_t ops = 62; ops <= 66; ops++)
    check(*state, (setting){ops, ops, 1, 1, REGAL_MEMORY, false, true},
          ALL_KINDS);
  for (uint32_t ops = 126; ops <= 130; ops++)
    check(*state, (setting){ops, ops, 1, 1, REGAL_RUNTIME, true, true},
          ALL_KINDS);
}

/* The sentinel is an item too: 4095 ops still fit two levels. */
static void test_two_levels_to_three(void **state) {
  assert_int_equal(regal_ready_levels(4096), 2);
  assert_int_equal(regal_ready_levels(4097), 3);
  for (uint32_t ops = 4094; ops <= 4097; ops++) {
    check(*state, (setting){ops, ops, 2, 1, REGAL_RUNTIME, false, false},
          TWO_KINDS);
    check(*state, (setting){ops, 64, 2, 2, REGAL_RUNTIME, false, false},
          TWO_KINDS);
  }
}

static void test_thousands(void **state) {
  for (uint32_t ops = 3000; ops <= 6000; ops += 1000) {
    bool overlapped = ops % 2000;
    uint32_t width = ops / 10;
    check(*state, (setting){ops, width, 3, 2, REGAL_RUNTIME, false, false},
          TWO_KINDS);
    check(*state, (setting){ops, width, 2, 3, REGAL_MEMORY, overlapped, false},
          TWO_KINDS);
    check(*state, (setting){ops, ops, 1, 2, REGAL_RUNTIME, overlapped, false},
          TWO_KINDS);
  }
  check(*state, (setting){900, 30, 2, 2, REGAL_RUNTIME, false, true},
        TWO_KINDS);
}

static void test_three_levels_to_all(void **state) {
  assert_int_equal(regal_ready_levels(262144), 3);
  assert_int_equal(regal_ready_levels(262145), REGAL_READY_LEVELS);
  for (uint32_t ops = 262143; ops <= 262144; ops++)
    check(*state, (setting){ops, 5000, 1, 1, REGAL_RUNTIME, false, false},
          1u << REGAL_TEST_UNIFORM);
  check(*state, (setting){220000, 2000, 1, 2, REGAL_RUNTIME, false, false},
        1u << REGAL_TEST_UNIFORM);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      CONTEXT_TEST(test_few_items),
      CONTEXT_TEST(test_items_around_few),
      CONTEXT_TEST(test_word_boundaries),
      CONTEXT_TEST(test_two_levels_to_three),
      CONTEXT_TEST(test_thousands),
      CONTEXT_TEST(test_three_levels_to_all),
  };
  return cmocka_run_group_tests_name("decode_sizes", tests, NULL, NULL);
}
