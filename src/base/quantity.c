/* SPDX-License-Identifier: Apache-2.0 */
/* Quantities with units: one parser for options, machine files and graphs, and
 * the way back, for people.
 *
 * Arithmetic is exact, in integers: "0.1us" is 100 ns, not what is nearest to a
 * tenth in binary.
 *
 * G, GB and gb are 10^9 bytes; Gi and GiB are 2^30. A limit of 16G is therefore
 * the smaller of the two things that can be meant, and a plan that stays within
 * it stays within the other. A lower-case b after a capital letter, or in a
 * rate, may be bits or bytes; 8 is too large a factor to guess, so it is
 * refused, and GB/s or Gbit/s has to be written.
 *
 * What the user gave is shown as it was given (regal_show_given_bytes), though
 * only its value is kept: "80GB" and "16GiB" are short in one of the two
 * systems only, and that is the one that was typed.
 */
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

#include "base/plain.h"

typedef unsigned __int128 wide;

typedef struct unit {
  const char *name;
  int64_t size;
} unit;

static const unit time_units[] = {{"ns", 1},
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

/* -- Units ----------------------------------------------------------------- */

static regal_unit_found read_time_unit(const char *text, int64_t *size) {
  for (const unit *u = time_units; u->name; u++)
    if (!strcmp(text, u->name)) {
      *size = u->size;
      return REGAL_UNIT_GIVEN;
    }
  return REGAL_UNIT_WRONG;
}

/* The power of 1000 or 1024 of a prefix; 0 if it is none. */
static int power_of(char prefix) {
  static const char prefixes[] = "kKmMgGtTpP";
  const char *at = prefix ? strchr(prefixes, prefix) : NULL;
  return at ? (int)(at - prefixes) / 2 + 1 : 0;
}

/* "B", "k", "kB", "GiB", "Gi", "Gbit"; `length` is without a "/s". */
static regal_unit_found read_byte_unit(const char *text, size_t length,
                                       bool rate, int64_t *size) {
  const char *end = text + length;
  *size = 1;
  bool capital = *text < 'a';
  int power = power_of(*text);
  if (power) {
    bool binary = text[1] == 'i';
    for (int i = 0; i < power; i++)
      *size *= binary ? 1024 : 1000;
    text += 1 + binary;
    if (text == end)
      return REGAL_UNIT_GIVEN;
    if (rate && !binary && end - text == 3 && !memcmp(text, "bit", 3)) {
      *size /= 8;
      return REGAL_UNIT_GIVEN;
    }
  }
  if (end - text != 1 || (*text != 'B' && *text != 'b'))
    return REGAL_UNIT_WRONG;
  if (*text == 'b' && (rate || capital || !power))
    return REGAL_UNIT_BITS;
  return REGAL_UNIT_GIVEN;
}

static regal_unit_found read_rate_unit(const char *text, int64_t *size) {
  size_t length = strlen(text);
  if (length > 2 &&
      (!strcmp(text + length - 2, "/s") || !strcmp(text + length - 2, "ps")))
    length -= 2;
  return read_byte_unit(text, length, true, size);
}

static regal_unit_found read_unit(regal_measure measure, const char *text,
                                  int64_t *size) {
  *size = measure == REGAL_MEASURE_SECONDS ? 1000000000 : 1;
  if (!*text)
    return REGAL_UNIT_BARE;
  switch (measure) {
  case REGAL_MEASURE_BYTES:
    return read_byte_unit(text, strlen(text), false, size);
  case REGAL_MEASURE_RATE:
    return read_rate_unit(text, size);
  default:
    return read_time_unit(text, size);
  }
}

/* -- Reading --------------------------------------------------------------- */

regal_unit_found regal_read_quantity(regal_measure measure, const char *text,
                                     int64_t *value) {
  uint64_t digits = 0;
  int64_t size;
  int exponent = 0;
  if (!read_decimal(&text, &digits, &exponent) ||
      !read_exponent(&text, &exponent))
    return REGAL_UNIT_WRONG;
  if (text[0] == ' ' && text[1])
    text++;
  regal_unit_found reading = read_unit(measure, text, &size);
  if (reading < REGAL_UNIT_BARE)
    return reading;
  return scale(digits, size, exponent, value) ? reading : REGAL_UNIT_WRONG;
}

bool regal_parse_whole(const char *text, int64_t *number) {
  uint64_t digits = 0;
  int64_t value;
  int exponent = 0;
  bool minus = *text == '-';
  text += minus;
  if (!read_decimal(&text, &digits, &exponent) ||
      !read_exponent(&text, &exponent) || *text ||
      !scale(digits, 1, exponent, &value))
    return false;
  *number = minus ? -value : value;
  return true;
}

bool regal_parse_bytes(const char *text, int64_t *bytes) {
  return regal_read_quantity(REGAL_MEASURE_BYTES, text, bytes) >=
         REGAL_UNIT_BARE;
}

bool regal_parse_duration(const char *text, int64_t *ns) {
  int64_t read;
  regal_unit_found reading =
      regal_read_quantity(REGAL_MEASURE_TIME, text, &read);
  if (reading < REGAL_UNIT_BARE || (reading == REGAL_UNIT_BARE && read))
    return false;
  *ns = read;
  return true;
}

/* -- Showing --------------------------------------------------------------- */

typedef struct scale_of {
  double base;
  int decimals, count;
  const char *units[6];
} scale_of;

static const scale_of times = {1000, 2, 4, {"ns", "us", "ms", "s"}};
static const scale_of binary_bytes = {
    1024, 1, 6, {"B", "KiB", "MiB", "GiB", "TiB", "PiB"}};
static const scale_of decimal_bytes = {
    1000, 1, 6, {"B", "kB", "MB", "GB", "TB", "PB"}};

/* value / base^k with the first unit for which it stays below `base`
 * once rounded to `decimals`; whole numbers of the smallest unit as they
 * are. */
static regal_shown show_scaled(int64_t value, const scale_of *scale) {
  regal_shown shown;
  double scaled = (double)value, size = scaled < 0 ? -scaled : scaled;
  if (size < scale->base) {
    snprintf(shown.text, sizeof shown.text, "%lld %s", (long long)value,
             scale->units[0]);
    return shown;
  }
  double almost = scale->base - (scale->decimals == 2 ? 0.005 : 0.05);
  int unit = 0;
  while (unit + 1 < scale->count && (unit == 0 || size >= almost)) {
    size /= scale->base;
    scaled /= scale->base;
    unit++;
  }
  regal_print(shown.text, sizeof shown.text, "%.*f %s", scale->decimals, scaled,
              scale->units[unit]);
  return shown;
}

regal_shown regal_show_duration(int64_t ns) {
  return show_scaled(ns, &times);
}

regal_shown regal_show_bytes(int64_t bytes) {
  return show_scaled(bytes, &binary_bytes);
}

regal_shown regal_show_bytes_like(int64_t given, int64_t bytes) {
  return show_scaled(bytes,
                     regal_is_decimal(given) ? &decimal_bytes : &binary_bytes);
}

enum { MOST_DECIMALS = 3, TOO_MANY };

/* Decimals that the value needs in the largest unit that it reaches, which
 * `shown` then has; TOO_MANY when it is no short number. */
static int show_short(int64_t value, const scale_of *scale,
                      regal_shown *shown) {
  int64_t base = (int64_t)scale->base, size = 1, power = 1;
  int unit = 0, decimals = 0;
  for (; unit + 1 < scale->count && value / size >= base; unit++)
    size *= base;
  for (; decimals <= MOST_DECIMALS &&
         (wide)value * (uint64_t)power % (uint64_t)size;
       decimals++)
    power *= 10;
  if (decimals <= MOST_DECIMALS)
    regal_print(shown->text, sizeof shown->text, "%.*f %s", decimals,
                (double)value / (double)size, scale->units[unit]);
  return decimals;
}

bool regal_is_decimal(int64_t bytes) {
  regal_shown shown;
  int decimal = show_short(bytes, &decimal_bytes, &shown);
  return decimal < TOO_MANY && bytes >= 1000 &&
         decimal <= show_short(bytes, &binary_bytes, &shown);
}

regal_shown regal_show_given_bytes(int64_t bytes) {
  regal_shown shown;
  const scale_of *scale =
      regal_is_decimal(bytes) ? &decimal_bytes : &binary_bytes;
  return show_short(bytes, scale, &shown) < TOO_MANY ? shown
                                                     : regal_show_bytes(bytes);
}

regal_shown regal_show_given_duration(int64_t ns) {
  regal_shown shown;
  return show_short(ns, &times, &shown) < TOO_MANY ? shown
                                                   : regal_show_duration(ns);
}

void regal_print_real(char *text, size_t capacity, double value) {
  for (int digits = 1; digits <= 17; digits++) {
    regal_print(text, capacity, "%.*g", digits, value);
    if (regal_read_real(text, NULL) == value)
      return;
  }
}
