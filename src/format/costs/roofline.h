/* SPDX-License-Identifier: Apache-2.0 */
/* How long an op takes on a device, from what it computes and moves: a roofline
 * (Williams, Waterman and Patterson 2009). Devices are rows of a JSON file;
 * data/rooflines.json, which is built into the library, has the named ones.
 */
#ifndef REGAL_FORMAT_COSTS_ROOFLINE_H
#define REGAL_FORMAT_COSTS_ROOFLINE_H

#include "base/context.h"

/* Numbers that devices compute with at different rates. */
typedef enum regal_number {
  REGAL_NUMBER_FP64,
  REGAL_NUMBER_FP32,
  REGAL_NUMBER_FP16,
  REGAL_NUMBER_BF16,
  REGAL_NUMBER_INT8,
  REGAL_NUMBERS
} regal_number;

#define REGAL_ROOFLINE_NAME 64

typedef struct regal_roofline {
  char name[REGAL_ROOFLINE_NAME];
  double flops_per_s[REGAL_NUMBERS];
  double bytes_per_s;
  int64_t launch_ns; /* added to each op */
} regal_roofline;

/* The built-in device of this name (case does not matter), or the one device
 * of a file of the same form. */
regal_status regal_roofline_load(regal_context *context, const char *name,
                                 regal_roofline *roofline);

/* The number of this name, as in the file ("fp16"); REGAL_NUMBERS: none. */
regal_number regal_number_named(const char *name);

/* Nanoseconds, rounded up: launch + max(flops / rate, bytes / bandwidth). False
 * when that is beyond 2^62. */
bool regal_roofline_time(const regal_roofline *roofline, regal_number number,
                         double flops, double bytes, int64_t *ns);

#endif
