/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers with units, read by exact integer arithmetic: "0.1us" is 100 ns, not
 * what is nearest to a tenth in binary. */
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

typedef unsigned __int128 wide;

typedef struct unit {
  const char *name;
  int64_t size;
} unit;

static const unit byte_units[] = {{"", 1},
                                  {"B", 1},
                                  {"kB", 1000},
                                  {"KB", 1000},
                                  {"MB", 1000000},
                                  {"GB", 1000000000},
                                  {"TB", 1000000000000},
                                  {"PB", 1000000000000000},
                                  {"KiB", 1LL << 10},
                                  {"MiB", 1LL << 20},
                                  {"GiB", 1LL << 30},
                                  {"TiB", 1LL << 40},
                                  {"PiB", 1LL << 50},
                                  {NULL, 0}};

static const unit time_units[] = {{"", 1},
                                  {"ns", 1},
                                  {"us", 1000},
                                  {"\xC2\xB5s", 1000}, /* micro sign */
                                  {"\xCE\xBCs", 1000}, /* Greek mu */
                                  {"ms", 1000000},
                                  {"s", 1000000000},
                                  {"min", 60000000000},
                                  {"h", 3600000000000},
                                  {NULL, 0}};

/* Reads the digits at *text, with one point among them, as `digits` and a power
 * of ten; at most 19 significant digits. */
static bool read_decimal(const char **text, uint64_t *digits, int *exponent) {
  const char *s = *text;
  bool any = false, point = false;
  for (; regal_is_digit(*s) || (*s == '.' && !point); s++) {
    if (*s == '.') {
      point = true;
      continue;
    }
    if (*digits > (UINT64_MAX - 9) / 10)
      return false;
    *digits = *digits * 10 + (uint64_t)(*s - '0');
    *exponent -= point;
    any = true;
  }
  *text = s;
  return any;
}

/* Reads "e9", "E-3" if that is what is at *text. */
static bool read_exponent(const char **text, int *exponent) {
  const char *s = *text;
  if (*s != 'e' && *s != 'E')
    return true;
  s++;
  bool minus = *s == '-';
  s += *s == '-' || *s == '+';
  if (!regal_is_digit(*s))
    return false;
  int power = 0;
  for (; regal_is_digit(*s); s++) {
    power = power * 10 + (*s - '0');
    if (power > 99)
      return false;
  }
  *exponent += minus ? -power : power;
  *text = s;
  return true;
}

/* digits * size * 10^exponent, to the nearest whole number. */
static bool scale(uint64_t digits, int64_t size, int exponent, int64_t *value) {
  wide product = (wide)digits * (uint64_t)size;
  for (; exponent > 0 && product; exponent--) {
    product *= 10;
    if (product > INT64_MAX)
      return false;
  }
  wide divisor = 1;
  for (; exponent < 0; exponent++) {
    divisor *= 10;
    if (divisor > product * 2)
      break;
  }
  if (size == 1 && product % divisor)
    return false;
  wide quotient = product / divisor;
  quotient += (product % divisor) * 2 >= divisor;
  if (quotient > INT64_MAX)
    return false;
  *value = (int64_t)quotient;
  return true;
}

static bool read_number(const char *text, const unit *units, int64_t *value) {
  uint64_t digits = 0;
  int exponent = 0;
  if (!read_decimal(&text, &digits, &exponent) ||
      !read_exponent(&text, &exponent))
    return false;
  if (text[0] == ' ' && text[1])
    text++;
  for (; units->name; units++)
    if (!strcmp(text, units->name))
      return scale(digits, units->size, exponent, value);
  return false;
}

bool regal_parse_bytes(const char *text, int64_t *bytes) {
  return read_number(text, byte_units, bytes);
}

bool regal_parse_duration(const char *text, int64_t *ns) {
  return read_number(text, time_units, ns);
}

void regal_print_real(char *text, size_t capacity, double value) {
  for (int digits = 1; digits <= 17; digits++) {
    snprintf(text, capacity, "%.*g", digits, value);
    if (strtod(text, NULL) == value)
      return;
  }
}
