/* SPDX-License-Identifier: Apache-2.0 */
/* What the library itself asks about options, beyond their values. */
#ifndef REGAL_BASE_OPTIONS_OPTIONS_H
#define REGAL_BASE_OPTIONS_OPTIONS_H

#include "base/context.h"

typedef struct regal_option_value {
  const char *name, *value;
} regal_option_value;

/* A preset: sets the options that are not given; the list ends with a NULL
 * name. False when a name or a value in it is wrong, which is an error in the
 * program. */
bool regal_options_fill(regal_options *options,
                        const regal_option_value *values);

/* Fails when a cost, such as --target, is bytes where the objective is a time,
 * or the other way. A cost can be given before the objective, so that this is
 * known only when both are. */
regal_status regal_options_check_costs(regal_context *context,
                                       const regal_options *options,
                                       bool memory);

/* The position of `value` among choices "a|b|c", or -1. */
int regal_choice_index(const char *choices, const char *value);

#endif
