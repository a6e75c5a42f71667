/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers as text, in the locale "C". It is set for the calling thread alone,
 * and only for as long as a number is printed or read; glibc has it at hand and
 * allocates nothing for it.
 */
#include "base/plain.h"

#include <locale.h>
#include <stdlib.h>

/* The thread's own locale, to be set again. */
static locale_t leave_locale(void) {
  return uselocale(newlocale(LC_ALL_MASK, "C", (locale_t)0));
}

int regal_print_list(char *text, size_t capacity, const char *format,
                     va_list arguments) {
  locale_t before = leave_locale();
  int length = vsnprintf(text, capacity, format, arguments);
  uselocale(before);
  return length;
}

int regal_print(char *text, size_t capacity, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int length = regal_print_list(text, capacity, format, arguments);
  va_end(arguments);
  return length;
}

double regal_read_real(const char *text, char **end) {
  locale_t before = leave_locale();
  double value = strtod(text, end);
  uselocale(before);
  return value;
}
