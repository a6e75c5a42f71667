/* SPDX-License-Identifier: Apache-2.0 */
/* Options: everything here is generated from the table of regal_options.h.
 *
 * A value is checked and then stored; a rejected value leaves the options as
 * they were. Defaults and presets go through the same parser, as text. There is
 * one notion of "not given" (regal_option_given), which files and presets ask
 * before they set anything.
 */
#include "base/options.h"

#include "base/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define EFFECT_RESULT true
#define EFFECT_HOW false
#define ROW(name, type, choices, low, high, unit, group, effect, help, value)  \
  {name, type, choices, low, high, unit, group, help, value, EFFECT_##effect},
#define INTEGER_INFO(field, name, value, low, high, unit, group, effect, help) \
  ROW(name, REGAL_OPTION_INTEGER, NULL, low, high, unit, group, effect, help,  \
      #value)
#define REAL_INFO(field, name, value, low, high, unit, group, effect, help)    \
  ROW(name, REGAL_OPTION_REAL, NULL, low, high, unit, group, effect, help,     \
      #value)
#define BYTES_INFO(field, name, value, unit, group, effect, help)              \
  ROW(name, REGAL_OPTION_BYTES, NULL, 0, 0x1p63, unit, group, effect, help,    \
      #value)
#define DURATION_INFO(field, name, value, unit, group, effect, help)           \
  ROW(name, REGAL_OPTION_DURATION, NULL, 0, 0x1p63, unit, group, effect, help, \
      #value)
#define CHOICE_INFO(field, name, value, choices, group, effect, help)          \
  ROW(name, REGAL_OPTION_CHOICE, choices, 0, 0, choices, group, effect, help,  \
      value)
#define FLAG_INFO(field, name, group, effect, help)                            \
  ROW(name, REGAL_OPTION_FLAG, NULL, 0, 0, NULL, group, effect, help, "false")
#define TEXT_INFO(field, name, value, unit, group, effect, help)               \
  ROW(name, REGAL_OPTION_TEXT, NULL, 0, 0, unit, group, effect, help, value)
#define LIST_INFO(field, name, unit, group, effect, help)                      \
  ROW(name, REGAL_OPTION_LIST, NULL, 0, 0, unit, group, effect, help, NULL)

static const regal_option_info table[] = {
    REGAL_OPTION_TABLE(INTEGER_INFO, REAL_INFO, BYTES_INFO, DURATION_INFO,
                       CHOICE_INFO, FLAG_INFO, TEXT_INFO, LIST_INFO)};

static const struct {
  const char *former, *name;
} aliases[] = {
#define ALIAS(former, name) {former, name},
    REGAL_OPTION_ALIASES(ALIAS)};

#define OFFSET(field, ...) offsetof(regal_options, field),

static const size_t offsets[] = {REGAL_OPTION_TABLE(
    OFFSET, OFFSET, OFFSET, OFFSET, OFFSET, OFFSET, OFFSET, OFFSET)};

#define ROWS (sizeof table / sizeof *table)
_Static_assert(ROWS <= 128, "`given` has a bit for each row");

size_t regal_option_count(void) {
  return ROWS;
}

const regal_option_info *regal_option_at(size_t index) {
  return index < ROWS ? &table[index] : NULL;
}

size_t regal_option_find(const char *name) {
  size_t index = 0;
  for (size_t i = 0; i < sizeof aliases / sizeof *aliases; i++)
    if (!strcmp(aliases[i].former, name))
      name = aliases[i].name;
  while (index < ROWS && strcmp(table[index].name, name))
    index++;
  return index;
}

/* -- Parsing ---------------------------------------------------------------
 * Each parser stores the value at `field` and returns true, or says in `why`
 * what is wrong with it. */

#define WHY_CAPACITY 512
#define QUOTED "\"%.100s\""

/* A default may lie outside of the range: see regal_option_has_default. */
static bool is_default(const regal_option_info *info, double value) {
  return value == strtod(info->fallback, NULL);
}

static bool parse_integer(const regal_option_info *info, const char *value,
                          int64_t *field, char *why) {
  char *end;
  errno = 0;
  long long parsed = strtoll(value, &end, 10);
  bool digits = *value == '-' || regal_is_digit(*value);
  bool number = digits && end != value && !*end;
  bool in_range = parsed >= (int64_t)info->low && parsed <= (int64_t)info->high;
  if (number && !errno && (in_range || is_default(info, (double)parsed))) {
    *field = parsed;
    return true;
  }
  snprintf(why, WHY_CAPACITY,
           QUOTED " is %s, expected a whole number from %.0f to %.0f", value,
           number ? "out of range" : "not a number", info->low, info->high);
  return false;
}

static bool parse_real(const regal_option_info *info, const char *value,
                       double *field, char *why) {
  char *end;
  double parsed = strtod(value, &end);
  bool number =
      *value && strspn(value, "0123456789.eE+-") == strlen(value) && !*end;
  bool in_range = parsed >= info->low && parsed <= info->high;
  if (number && (in_range || is_default(info, parsed))) {
    *field = parsed;
    return true;
  }
  snprintf(why, WHY_CAPACITY, QUOTED " is %s, expected a number from %g to %g",
           value, number ? "out of range" : "not a number", info->low,
           info->high);
  return false;
}

static bool parse_amount(const regal_option_info *info, const char *value,
                         int64_t *field, char *why) {
  bool bytes = info->type == REGAL_OPTION_BYTES;
  if (bytes ? regal_parse_bytes(value, field)
            : regal_parse_duration(value, field))
    return true;
  snprintf(why, WHY_CAPACITY, QUOTED " is not a %s", value,
           bytes ? "number of bytes, expected one such as 1000, 16GiB or 25GB"
                 : "duration, expected one such as 250ns, 10us or 1.5ms");
  return false;
}

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
  int at = snprintf(why, WHY_CAPACITY, QUOTED " is not one of ", value);
  for (const char *c = info->choices; *c && at + 3 < WHY_CAPACITY; c++) {
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
  snprintf(why, WHY_CAPACITY, QUOTED " is not one of true, false", value);
  return false;
}

static bool parse_text(const char *value, char *field, char *why) {
  size_t size = strlen(value) + 1;
  if (size <= REGAL_MOST_TEXT) {
    memcpy(field, value, size);
    return true;
  }
  snprintf(why, WHY_CAPACITY, "the value is longer than %d bytes",
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
  snprintf(why, WHY_CAPACITY,
           "all values together are longer than %d bytes; a file has no limit",
           REGAL_MOST_LIST - 1);
  return false;
}

static bool parse(const regal_option_info *info, const char *value, void *field,
                  char *why) {
  switch (info->type) {
  case REGAL_OPTION_INTEGER:
    return parse_integer(info, value, field, why);
  case REGAL_OPTION_REAL:
    return parse_real(info, value, field, why);
  case REGAL_OPTION_BYTES:
  case REGAL_OPTION_DURATION:
    return parse_amount(info, value, field, why);
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

static void *field_of(regal_options *options, size_t index) {
  return (char *)options + offsets[index];
}

static const void *value_of(const regal_options *options, size_t index) {
  return (const char *)options + offsets[index];
}

void regal_options_init(regal_options *options) {
  char why[WHY_CAPACITY];
  memset(options, 0, sizeof *options);
  for (size_t i = 0; i < ROWS; i++)
    if (table[i].fallback)
      parse(&table[i], table[i].fallback, field_of(options, i), why);
}

/* -- What is given --------------------------------------------------------- */

bool regal_option_has_default(const regal_option_info *info) {
  if (info->type == REGAL_OPTION_INTEGER || info->type == REGAL_OPTION_REAL) {
    double value = strtod(info->fallback, NULL);
    return value >= info->low && value <= info->high;
  }
  if (info->type == REGAL_OPTION_CHOICE)
    return regal_choice_index(info->choices, info->fallback) >= 0;
  return info->fallback != NULL;
}

/* Whether the field has the value that regal_options_init sets. */
static bool is_untouched(const regal_options *options, size_t index) {
  const regal_option_info *info = &table[index];
  const void *field = value_of(options, index);
  union {
    int64_t integer;
    double real;
    bool flag;
    char text[REGAL_MOST_TEXT];
  } standard = {.text = ""};
  char why[WHY_CAPACITY];
  if (info->fallback)
    parse(info, info->fallback, &standard, why);
  if (info->type == REGAL_OPTION_TEXT || info->type == REGAL_OPTION_LIST)
    return !strcmp(field, standard.text);
  if (info->type == REGAL_OPTION_FLAG)
    return *(const bool *)field == standard.flag;
  if (info->type == REGAL_OPTION_REAL)
    return *(const double *)field == standard.real;
  return *(const int64_t *)field == standard.integer;
}

static bool is_given(const regal_options *options, size_t index) {
  return (options->given[index / 64] >> (index % 64) & 1) ||
         !is_untouched(options, index);
}

bool regal_option_given(const regal_options *options, const char *name) {
  size_t index = regal_option_find(name);
  return index < ROWS && is_given(options, index);
}

bool regal_options_fill(regal_options *options,
                        const regal_option_value *values) {
  bool known = true;
  char why[WHY_CAPACITY];
  for (; values->name; values++) {
    size_t index = regal_option_find(values->name);
    if (index == ROWS)
      known = false;
    else if (!is_given(options, index))
      known &=
          parse(&table[index], values->value, field_of(options, index), why);
  }
  return known;
}

/* -- Setting by name ------------------------------------------------------- */

#define LONGEST_NAME 64

/* Letters to insert, delete or change to turn `a` into `b`. */
static size_t edit_distance(const char *a, const char *b) {
  size_t row[LONGEST_NAME + 1], width = strlen(b);
  for (size_t j = 0; j <= width; j++)
    row[j] = j;
  for (size_t i = 0; a[i]; i++) {
    size_t diagonal = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < width; j++) {
      size_t change = diagonal + (a[i] != b[j]);
      size_t shorter = row[j] < row[j + 1] ? row[j] : row[j + 1];
      diagonal = row[j + 1];
      row[j + 1] = change <= shorter ? change : shorter + 1;
    }
  }
  return row[width];
}

static regal_status fail_unknown(regal_context *context, const char *name) {
  size_t length = strlen(name), nearest = ROWS;
  size_t distance = length < 4 ? 2 : length / 3 + 1; /* must be below this */
  for (size_t i = 0; i < ROWS && length <= LONGEST_NAME; i++) {
    size_t d = edit_distance(name, table[i].name);
    if (d < distance) {
      distance = d;
      nearest = i;
    }
  }
  if (nearest == ROWS)
    return regal_fail(context, REGAL_BAD_INPUT, "unknown option --%.100s",
                      name);
  return regal_fail(context, REGAL_BAD_INPUT,
                    "unknown option --%.100s, did you mean --%s?", name,
                    table[nearest].name);
}

regal_status regal_options_set(regal_context *context, regal_options *options,
                               const char *name, const char *value) {
  char why[WHY_CAPACITY];
  size_t index = regal_option_find(name);
  if (index == ROWS)
    return fail_unknown(context, name);
  bool flag = table[index].type == REGAL_OPTION_FLAG;
  if (!flag && (!value || !*value))
    return regal_fail(context, REGAL_BAD_INPUT, "--%s: needs a value", name);
  if (!parse(&table[index], value ? value : "", field_of(options, index), why))
    return regal_fail(context, REGAL_BAD_INPUT, "--%s: %s", name, why);
  uint64_t bit = UINT64_C(1) << (index % 64);
  if (regal_option_has_default(&table[index]) || !is_untouched(options, index))
    options->given[index / 64] |= bit;
  else
    options->given[index / 64] &= ~bit;
  return REGAL_OK;
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

bool regal_option_text(const regal_options *options, size_t index, char *text,
                       size_t capacity) {
  if (index >= ROWS || !capacity)
    return false;
  const void *field = value_of(options, index);
  switch (table[index].type) {
  case REGAL_OPTION_INTEGER:
    snprintf(text, capacity, "%lld", (long long)*(const int64_t *)field);
    break;
  case REGAL_OPTION_REAL:
    regal_print_real(text, capacity, *(const double *)field);
    break;
  case REGAL_OPTION_BYTES:
    print_unit(text, capacity, *(const int64_t *)field, byte_units);
    break;
  case REGAL_OPTION_DURATION:
    print_unit(text, capacity, *(const int64_t *)field, time_units);
    break;
  case REGAL_OPTION_CHOICE:
    print_choice(&table[index], *(const int64_t *)field, text, capacity);
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
