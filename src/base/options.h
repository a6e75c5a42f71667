/* SPDX-License-Identifier: Apache-2.0 */
/* What the library itself asks about options, beyond their values. */
#ifndef REGAL_BASE_OPTIONS_H
#define REGAL_BASE_OPTIONS_H

#include "base/context.h"

typedef struct regal_option_value {
  const char *name, *value;
} regal_option_value;

/* A preset: sets the options that are not given; the list ends with a NULL
 * name. False when a name or a value in it is wrong, which is an error in the
 * program. */
bool regal_options_fill(regal_options *options,
                        const regal_option_value *values);

/* The position of `value` among choices "a|b|c", or -1. */
int regal_choice_index(const char *choices, const char *value);

#endif
