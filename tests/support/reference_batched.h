/* SPDX-License-Identifier: Apache-2.0 */
/* The semantics of the decoder `batched`, written as plainly as possible: what
 * the fast one must agree with, step by step. Quadratic. */
#ifndef REGAL_TESTS_REFERENCE_BATCHED_H
#define REGAL_TESTS_REFERENCE_BATCHED_H

#include "decode/decoder.h"

/* Fills `plan`, which has room for regal_plan_most_steps. Aborts when memory
 * is out. */
void regal_test_batched_plan(const regal_problem *problem,
                             const regal_gene *genes, regal_plan *plan);

#endif
