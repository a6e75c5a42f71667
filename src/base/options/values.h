/* SPDX-License-Identifier: Apache-2.0 */
/* The value of one option, from text and back. The table is options.c's. */
#ifndef REGAL_BASE_OPTIONS_VALUES_H
#define REGAL_BASE_OPTIONS_VALUES_H

#include "base/context.h"

#define REGAL_MOST_WHY 512

/* Stores the value at `field`, and for a cost its unit, or says in `why` what
 * is wrong with it and stores nothing. */
bool regal_option_parse(const regal_option_info *info, const char *value,
                        void *field, regal_cost_unit *unit,
                        char why[REGAL_MOST_WHY]);
/* The value as text, which reads back; false if it is unset. */
bool regal_option_print(const regal_option_info *info, const void *field,
                        regal_cost_unit unit, char *text, size_t capacity);
/* Whether the field is a double. */
bool regal_option_is_real(regal_option_type type);

#endif
