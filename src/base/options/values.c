/* SPDX-License-Identifier: Apache-2.0 */
/* The value of one option: read from text, checked against its row, and printed
 * so that it reads back. */
#include "base/options/values.h"

#include <math.h>
#include <string.h>

#include "base/options/options.h"
#include "base/plain.h"
#include "base/text.h"

/* -- Parsing ---------------------------------------------------------------
 * Each parser stores the value at `field` and returns true, or says in `why`
 * what is wrong with it. */

#define QUOTED "\"%.100s\""

/* A default may lie outside of the range: see regal_option_has_default. */
static bool is_default(const regal_option_info *info, double value) {
  return value == regal_read_real(info->fallback, NULL);
}

/* The number that all of `value` is. */
static bool read_number(const char *value, double *number) {
  char *end;
  *number = regal_read_real(value, &end);
  return *value && strspn(value, "0123456789.eE+-") == strlen(value) && !*end;
}

/* What is wrong with an integer that is not in the table's range. */
static const char *integer_defect(const char *value) {
  double number;
  if (*value == '+' || !read_number(value, &number))
    return "not a number";
  return number == floor(number) ? "out of range" : "not whole";
}

static bool parse_integer(const regal_option_info *info, const char *value,
                          int64_t *field, char *why) {
  int64_t parsed;
  bool whole = regal_parse_whole(value, &parsed);
  if (whole &&
      ((parsed >= (int64_t)info->low && parsed <= (int64_t)info->high) ||
       is_default(info, (double)parsed))) {
    *field = parsed;
    return true;
  }
  regal_print(why, REGAL_MOST_WHY,
              QUOTED " is %s, expected a whole number from %.0f to %.0f", value,
              whole ? "out of range" : integer_defect(value), info->low,
              info->high);
  return false;
}

static bool parse_real(const regal_option_info *info, const char *value,
                       double *field, char *why) {
  double parsed;
  bool number = read_number(value, &parsed);
  bool in_range = parsed >= info->low && parsed <= info->high;
  if (number && (in_range || is_default(info, parsed))) {
    *field = parsed;
    return true;
  }
  regal_print(why, REGAL_MOST_WHY,
              QUOTED " is %s, expected a number from %g to %g", value,
              number ? "out of range" : "not a number", info->low, info->high);
  return false;
}

/* -- Quantities ------------------------------------------------------------ */

typedef struct measured {
  regal_measure measure;
  bool bare; /* needs no unit */
  const char *what, *examples;
} measured;

static const measured bytes = {REGAL_MEASURE_BYTES, true, "a number of bytes",
                               "1000, 16GiB or 25GB"};
static const measured rate = {REGAL_MEASURE_RATE, false, "a rate",
                              "25GB/s or 200Gbit/s"};
static const measured duration = {REGAL_MEASURE_TIME, false, "a duration",
                                  "250ns, 10us or 1.5ms"};
static const measured seconds = {REGAL_MEASURE_SECONDS, true, "a duration",
                                 "5 (seconds), 500ms or 2min"};
static const measured cost = {REGAL_MEASURE_BYTES, true, "a cost",
                              "2ms, or 300MB for memory"};

/* Says why a reading is none, as messages of options do. */
static bool explain_reading(const measured *kind, const char *value,
                            regal_unit_found reading, char *why) {
  char what[48];
  snprintf(what, sizeof what, "is not %s", kind->what);
  snprintf(why, REGAL_MOST_WHY, QUOTED " %s, expected one such as %s", value,
           reading == REGAL_UNIT_BITS   ? "may be bits or bytes"
           : reading == REGAL_UNIT_BARE ? "has no unit"
                                        : what,
           kind->examples);
  return false;
}

static bool parse_quantity(const measured *kind, const char *value,
                           int64_t *read, char *why) {
  int64_t amount = 0;
  regal_unit_found reading = regal_read_quantity(kind->measure, value, &amount);
  if (reading < REGAL_UNIT_BARE ||
      (reading == REGAL_UNIT_BARE && !kind->bare && amount))
    return explain_reading(kind, value, reading, why);
  *read = amount;
  return true;
}

/* Less than half a nanosecond would be 0, which is no limit. */
static bool parse_seconds(const char *value, double *field, char *why) {
  int64_t ns;
  if (!parse_quantity(&seconds, value, &ns, why))
    return false;
  if (!ns && strcspn(value, "eE") > strcspn(value, "123456789")) {
    snprintf(why, REGAL_MOST_WHY, QUOTED " is less than a nanosecond", value);
    return false;
  }
  *field = (double)ns / 1e9;
  return true;
}

/* A time if its unit is one, bytes otherwise. */
static bool parse_cost(const char *value, double *field, regal_cost_unit *unit,
                       char *why) {
  int64_t amount = 0;
  regal_unit_found reading =
      regal_read_quantity(REGAL_MEASURE_TIME, value, &amount);
  *unit = reading != REGAL_UNIT_BARE ? REGAL_COST_TIME
          : amount                   ? REGAL_COST_BARE
                                     : REGAL_COST_DIRECT;
  if (reading < REGAL_UNIT_BARE) {
    *unit = REGAL_COST_BYTES;
    if (!parse_quantity(&cost, value, &amount, why))
      return false;
  }
  *field = (double)amount;
  return true;
}

/* -- Words ----------------------------------------------------------------- */

int regal_choice_index(const char *choices, const char *value) {
  size_t length = strlen(value);
  for (int index = 0;; index++) {
    size_t width = strcspn(choices, "|");
    if (width == length && !strncmp(choices, value, width))
      return index;
    if (!choices[width])
      return -1;
    choices += width + 1;
  }
}

static bool parse_choice(const regal_option_info *info, const char *value,
                         int64_t *field, char *why) {
  int index = regal_choice_index(info->choices, value);
  if (index >= 0 || !strcmp(value, info->fallback)) {
    *field = index;
    return true;
  }
  int at = snprintf(why, REGAL_MOST_WHY, QUOTED " is not one of ", value);
  for (const char *c = info->choices; *c && at + 3 < REGAL_MOST_WHY; c++) {
    why[at++] = *c == '|' ? ',' : *c;
    if (*c == '|')
      why[at++] = ' ';
  }
  why[at] = 0;
  return false;
}

/* On the command line a flag stands alone, which is an empty value here. */
static bool parse_flag(const char *value, bool *field, char *why) {
  bool yes = !*value || !strcmp(value, "true");
  if (yes || !strcmp(value, "false")) {
    *field = yes;
    return true;
  }
  snprintf(why, REGAL_MOST_WHY, QUOTED " is not one of true, false", value);
  return false;
}

static bool parse_text(const char *value, char *field, char *why) {
  size_t size = strlen(value) + 1;
  if (size <= REGAL_MOST_TEXT) {
    memcpy(field, value, size);
    return true;
  }
  snprintf(why, REGAL_MOST_WHY, "the value is longer than %d bytes",
           REGAL_MOST_TEXT - 1);
  return false;
}

/* Adds to what is there. */
static bool parse_list(const char *value, char *field, char *why) {
  size_t used = strlen(field), size = strlen(value) + 1;
  if (used + (used > 0) + size <= REGAL_MOST_LIST) {
    if (used)
      field[used++] = ',';
    memcpy(field + used, value, size);
    return true;
  }
  snprintf(why, REGAL_MOST_WHY,
           "all values together are longer than %d bytes; a file has no limit",
           REGAL_MOST_LIST - 1);
  return false;
}

bool regal_option_parse(const regal_option_info *info, const char *value,
                        void *field, regal_cost_unit *unit,
                        char why[REGAL_MOST_WHY]) {
  switch (info->type) {
  case REGAL_OPTION_INTEGER:
    return parse_integer(info, value, field, why);
  case REGAL_OPTION_REAL:
    return parse_real(info, value, field, why);
  case REGAL_OPTION_BYTES:
    return parse_quantity(&bytes, value, field, why);
  case REGAL_OPTION_RATE:
    return parse_quantity(&rate, value, field, why);
  case REGAL_OPTION_TIME:
    return parse_quantity(&duration, value, field, why);
  case REGAL_OPTION_SECONDS:
    return parse_seconds(value, field, why);
  case REGAL_OPTION_COST:
    return parse_cost(value, field, unit, why);
  case REGAL_OPTION_CHOICE:
    return parse_choice(info, value, field, why);
  case REGAL_OPTION_FLAG:
    return parse_flag(value, field, why);
  case REGAL_OPTION_TEXT:
    return parse_text(value, field, why);
  case REGAL_OPTION_LIST:
    return parse_list(value, field, why);
  }
  return false;
}

/* -- Values as text -------------------------------------------------------- */

typedef struct unit {
  const char *name;
  int64_t size;
} unit;

/* With the largest unit that gives a whole number, so that it reads back. */
static void print_unit(char *text, size_t capacity, int64_t value,
                       const unit *unit) {
  while (unit->size > 1 && (!value || value % unit->size))
    unit++;
  snprintf(text, capacity, "%lld%s", (long long)(value / unit->size),
           value ? unit->name : "");
}

static const unit byte_units[] = {{"TiB", 1LL << 40}, {"GiB", 1LL << 30},
                                  {"MiB", 1LL << 20}, {"TB", 1000000000000},
                                  {"GB", 1000000000}, {"MB", 1000000},
                                  {"KiB", 1LL << 10}, {"", 1}};

static const unit rate_units[] = {{"TB/s", 1000000000000}, {"GB/s", 1000000000},
                                  {"MB/s", 1000000},       {"GiB/s", 1LL << 30},
                                  {"MiB/s", 1LL << 20},    {"B/s", 1}};

static const unit time_units[] = {
    {"s", 1000000000}, {"ms", 1000000}, {"us", 1000}, {"ns", 1}};

/* The name of a choice by its position; without one the default. */
static void print_choice(const regal_option_info *info, int64_t index,
                         char *text, size_t capacity) {
  const char *choices = index < 0 ? info->fallback : info->choices;
  for (; index > 0; index--)
    choices += strcspn(choices, "|") + 1;
  snprintf(text, capacity, "%.*s", (int)strcspn(choices, "|"), choices);
}

static void print_cost(double cost, regal_cost_unit unit, char *text,
                       size_t capacity) {
  if (unit == REGAL_COST_DIRECT)
    regal_print_real(text, capacity, cost);
  else
    print_unit(text, capacity, (int64_t)cost,
               unit == REGAL_COST_TIME ? time_units : byte_units);
}

static void print_seconds(double seconds, char *text, size_t capacity) {
  int64_t ns = seconds < 9e9 ? (int64_t)(seconds * 1e9 + 0.5) : -1;
  if ((double)ns / 1e9 == seconds) {
    print_unit(text, capacity, ns, time_units);
    return;
  }
  regal_print_real(text, capacity, seconds);
  size_t length = strlen(text);
  snprintf(text + length, capacity - length, "s");
}

bool regal_option_is_real(regal_option_type type) {
  return type == REGAL_OPTION_REAL || type == REGAL_OPTION_SECONDS ||
         type == REGAL_OPTION_COST;
}

bool regal_option_print(const regal_option_info *info, const void *field,
                        regal_cost_unit unit, char *text, size_t capacity) {
  switch (info->type) {
  case REGAL_OPTION_INTEGER:
    snprintf(text, capacity, "%lld", (long long)*(const int64_t *)field);
    break;
  case REGAL_OPTION_REAL:
    regal_print_real(text, capacity, *(const double *)field);
    break;
  case REGAL_OPTION_BYTES:
    print_unit(text, capacity, *(const int64_t *)field, byte_units);
    break;
  case REGAL_OPTION_RATE:
    print_unit(text, capacity, *(const int64_t *)field, rate_units);
    break;
  case REGAL_OPTION_TIME:
    print_unit(text, capacity, *(const int64_t *)field, time_units);
    break;
  case REGAL_OPTION_SECONDS:
    print_seconds(*(const double *)field, text, capacity);
    break;
  case REGAL_OPTION_COST:
    print_cost(*(const double *)field, unit, text, capacity);
    break;
  case REGAL_OPTION_CHOICE:
    print_choice(info, *(const int64_t *)field, text, capacity);
    break;
  case REGAL_OPTION_FLAG:
    snprintf(text, capacity, "%s", *(const bool *)field ? "true" : "false");
    break;
  case REGAL_OPTION_TEXT:
  case REGAL_OPTION_LIST:
    snprintf(text, capacity, "%s", (const char *)field);
    return *(const char *)field != 0;
  }
  return true;
}
