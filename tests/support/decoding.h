/* SPDX-License-Identifier: Apache-2.0 */
/* A problem on which decoders are checked: each decoded chromosome against the
 * same decoder with and without a plan, the simulator, the verifier, and the
 * plain reference of that decoder. */
#ifndef REGAL_TESTS_DECODING_H
#define REGAL_TESTS_DECODING_H

#include "cost/model/simulate.h"
#include "decode/decoder.h"
#include "support/reference_decoder.h"

/* How genes are drawn. */
typedef enum regal_test_genes {
  REGAL_TEST_UNIFORM,
  REGAL_TEST_FEW,     /* two to four values */
  REGAL_TEST_EQUAL,   /* one value */
  REGAL_TEST_EXTREME, /* 0 or the largest */
  REGAL_TEST_NEAR,    /* neighbours around a multiple of 256 or 65536 */
  REGAL_TEST_BYTE,    /* differ in one byte only */
  REGAL_TEST_GENE_KINDS
} regal_test_genes;

void regal_test_draw_genes(regal_test_genes kind, uint64_t seed,
                           regal_gene *genes, size_t count);

#define REGAL_TEST_MOST_DECODERS 32

typedef struct regal_test_decoding {
  regal_context *context;
  const regal_problem *problem;
  regal_simulator *simulator;
  reference_decoder *reference;
  void *scratch[REGAL_TEST_MOST_DECODERS]; /* one for each decoder */
  regal_plan *plan, *expected;             /* room for the longest plan */
  regal_gene *genes;                       /* room for the longest chromosome */
  float *keys;                             /* the same as numbers in [0, 1) */
  bool plain;     /* compare with quadratic references too */
  char about[96]; /* what to say about the case on failure */
} regal_test_decoding;

/* All of these fail the running test, naming the case, when something is
 * wrong. */
void regal_test_decoding_begin(regal_test_decoding *decoding,
                               regal_context *context,
                               const regal_problem *problem);
void regal_test_decoding_end(regal_test_decoding *decoding);

/* Decodes decoding->genes and checks everything; the plan is left in
 * decoding->plan. `decoder` counts along the table. */
regal_fitness regal_test_check_decoder(regal_test_decoding *decoding,
                                       size_t decoder);
/* The place of a decoder in the table. */
size_t regal_test_decoder_index(const char *name);
/* Whether two fitnesses are the same; fails the test if not. */
void regal_test_same_fitness(const regal_test_decoding *decoding,
                             const char *what, regal_fitness a,
                             regal_fitness b);
void regal_test_same_steps(const regal_test_decoding *decoding,
                           const char *what, const regal_plan *a,
                           const regal_plan *b);

#endif
