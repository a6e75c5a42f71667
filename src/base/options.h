/* SPDX-License-Identifier: Apache-2.0 */
/* What the library itself asks about options, beyond their values. */
#ifndef REGAL_BASE_OPTIONS_H
#define REGAL_BASE_OPTIONS_H

#include "base/context.h"

/* Whether the option was set explicitly, so that it wins over files. */
bool regal_option_given(const regal_options *options, const char *name);

/* The position of `value` among choices "a|b|c", or -1. */
int regal_choice_index(const char *choices, const char *value);

#endif
