/* SPDX-License-Identifier: Apache-2.0 */
/* A plain decoder with the semantics of `paper`: float keys and a binary heap,
 * as one would write it first. What the fast decoders are measured against, and
 * in tests what `paper` must agree with, plan by plan. */
#ifndef REGAL_TESTS_REFERENCE_DECODER_H
#define REGAL_TESTS_REFERENCE_DECODER_H

#include "decode/decoder.h"

typedef struct reference_decoder reference_decoder;

regal_status reference_create(regal_context *context,
                              const regal_problem *problem,
                              reference_decoder **decoder);
void reference_free(reference_decoder *decoder);
/* `genes` are numbers in [0, 1): affinities, priorities, transfer priorities.
 * Computes peaks only when the problem's cost needs them, as `paper` does. */
regal_fitness reference_decode(reference_decoder *decoder, const float *genes,
                               regal_plan *plan);

#endif
