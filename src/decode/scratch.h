/* SPDX-License-Identifier: Apache-2.0 */
/* Scratch memory of a decoder: one block for one thread, laid out by the
 * decoder. */
#ifndef REGAL_DECODE_SCRATCH_H
#define REGAL_DECODE_SCRATCH_H

#include "base/carve.h"
#include "decode/decoder.h"

/* Defines create_scratch for a decoder whose scratch is a struct `type`:
 * layout(made, carver, problem) sets its pointers, the struct itself being
 * carved first, and fill(made, problem) what is fixed for the problem. */
#define REGAL_DEFINE_CREATE_SCRATCH(type, layout, fill)                        \
  static regal_status create_scratch(                                          \
      regal_context *context, const regal_problem *problem, void **result) {   \
    type measured = {0};                                                       \
    regal_carver carver = {NULL, 0};                                           \
    REGAL_TRY(REGAL_CARVE_BLOCK(context, carver,                               \
                                (regal_carve(&carver, 1, sizeof measured),     \
                                 layout(&measured, &carver, problem))));       \
    type *made = (type *)carver.base;                                          \
    *made = measured;                                                          \
    fill(made, problem);                                                       \
    *result = made;                                                            \
    return REGAL_OK;                                                           \
  }

#endif
