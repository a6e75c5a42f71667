/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers as text, whatever the locale. The program that the library is part of
 * may have set one with a decimal comma, as every program with Qt, GTK or R
 * does in half of Europe: "0.5" would read as 0, and a plan would be no JSON.
 */
#ifndef REGAL_BASE_PLAIN_H
#define REGAL_BASE_PLAIN_H

#include <stdarg.h>

#include "base/context.h"

/* snprintf, vsnprintf and strtod with a decimal point. */
int regal_print(char *text, size_t capacity, const char *format, ...)
    REGAL_FORMAT(3, 4);
int regal_print_list(char *text, size_t capacity, const char *format,
                     va_list arguments) REGAL_FORMAT(3, 0);
double regal_read_real(const char *text, char **end);

#endif
