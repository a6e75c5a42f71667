/* SPDX-License-Identifier: Apache-2.0 */
/* Options: everything here is generated from the table of regal_options.h.
 *
 * A value is checked and then stored; a rejected value leaves the options as
 * they were. Defaults and presets go through the same parser, as text. There is
 * one notion of "not given" (regal_option_given), which files and presets ask
 * before they set anything.
 */
#include "base/options/options.h"

#include <stdlib.h>
#include <string.h>

#include "base/options/spelling.h"
#include "base/options/values.h"
#include "base/plain.h"

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
#define QUANTITY_INFO(field, name, value, kind, unit, group, effect, help)     \
  ROW(name, REGAL_OPTION_##kind, NULL, 0, 0x1p63, unit, group, effect, help,   \
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
    REGAL_OPTION_TABLE(INTEGER_INFO, REAL_INFO, QUANTITY_INFO, CHOICE_INFO,
                       FLAG_INFO, TEXT_INFO, LIST_INFO)};

static const struct {
  const char *former, *name;
} aliases[] = {
#define ALIAS(former, name) {former, name},
    REGAL_OPTION_ALIASES(ALIAS)};

/* Where a row's value is, and the unit of a cost. */
typedef struct offset {
  size_t field, unit; /* unit: 0 if the row has none */
} offset;

#define UNIT_OF_BYTES(field) 0
#define UNIT_OF_RATE(field) 0
#define UNIT_OF_TIME(field) 0
#define UNIT_OF_SECONDS(field) 0
#define UNIT_OF_COST(field) offsetof(regal_options, field##_unit)
#define OFFSET(field, ...) {offsetof(regal_options, field), 0},
#define QUANTITY_OFFSET(field, name, value, kind, ...)                         \
  {offsetof(regal_options, field), UNIT_OF_##kind(field)},

static const offset offsets[] = {REGAL_OPTION_TABLE(
    OFFSET, OFFSET, QUANTITY_OFFSET, OFFSET, OFFSET, OFFSET, OFFSET)};

#define ROWS (sizeof table / sizeof *table)
_Static_assert(ROWS <= 256, "`given` has a bit for each row");

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

static void *field_of(regal_options *options, size_t index) {
  return (char *)options + offsets[index].field;
}

static const void *value_of(const regal_options *options, size_t index) {
  return (const char *)options + offsets[index].field;
}

/* Parses into the option's fields. */
static bool parse(regal_options *options, size_t index, const char *value,
                  char why[REGAL_MOST_WHY]) {
  regal_cost_unit unit = REGAL_COST_DIRECT;
  if (!regal_option_parse(&table[index], value, field_of(options, index), &unit,
                          why))
    return false;
  if (offsets[index].unit)
    *(regal_cost_unit *)((char *)options + offsets[index].unit) = unit;
  return true;
}

void regal_options_init(regal_options *options) {
  char why[REGAL_MOST_WHY];
  memset(options, 0, sizeof *options);
  for (size_t i = 0; i < ROWS; i++)
    if (table[i].fallback)
      parse(options, i, table[i].fallback, why);
}

/* -- What is given --------------------------------------------------------- */

bool regal_option_has_default(const regal_option_info *info) {
  if (info->type == REGAL_OPTION_INTEGER || info->type == REGAL_OPTION_REAL) {
    double value = regal_read_real(info->fallback, NULL);
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
  char why[REGAL_MOST_WHY];
  regal_cost_unit unit;
  if (info->fallback)
    regal_option_parse(info, info->fallback, &standard, &unit, why);
  if (info->type == REGAL_OPTION_TEXT || info->type == REGAL_OPTION_LIST)
    return !strcmp(field, standard.text);
  if (info->type == REGAL_OPTION_FLAG)
    return *(const bool *)field == standard.flag;
  if (regal_option_is_real(info->type))
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
  char why[REGAL_MOST_WHY];
  for (; values->name; values++) {
    size_t index = regal_option_find(values->name);
    if (index == ROWS)
      known = false;
    else if (!is_given(options, index))
      known &= parse(options, index, values->value, why);
  }
  return known;
}

/* -- Setting by name ------------------------------------------------------- */

static regal_status fail_unknown(regal_context *context, const char *name) {
  regal_suggestion nearest = regal_suggest(name);
  for (size_t i = 0; i < ROWS; i++)
    regal_suggestion_consider(&nearest, table[i].name);
  if (!nearest.word)
    return regal_fail(context, REGAL_BAD_INPUT, "unknown option --%.100s",
                      name);
  return regal_fail(context, REGAL_BAD_INPUT,
                    "unknown option --%.100s, did you mean --%s?", name,
                    nearest.word);
}

regal_status regal_options_set(regal_context *context, regal_options *options,
                               const char *name, const char *value) {
  char why[REGAL_MOST_WHY];
  REGAL_TRY(regal_need(context, options && name,
                       "setting an option needs options and its name"));
  size_t index = regal_option_find(name);
  if (index == ROWS)
    return fail_unknown(context, name);
  bool flag = table[index].type == REGAL_OPTION_FLAG;
  if (!flag && (!value || !*value))
    return regal_fail(context, REGAL_BAD_INPUT, "--%s: needs a value", name);
  if (!parse(options, index, value ? value : "", why))
    return regal_fail(context, REGAL_BAD_INPUT, "--%s: %s", name, why);
  uint64_t bit = UINT64_C(1) << (index % 64);
  if (regal_option_has_default(&table[index]) || !is_untouched(options, index))
    options->given[index / 64] |= bit;
  else
    options->given[index / 64] &= ~bit;
  return REGAL_OK;
}

regal_status regal_options_check_costs(regal_context *context,
                                       const regal_options *options,
                                       bool memory) {
  for (size_t i = 0; i < ROWS; i++) {
    if (!offsets[i].unit)
      continue;
    regal_cost_unit unit =
        *(const regal_cost_unit *)((const char *)options + offsets[i].unit);
    double value = *(const double *)value_of(options, i);
    if (unit == REGAL_COST_DIRECT || value == 0 ||
        (memory ? unit != REGAL_COST_TIME : unit == REGAL_COST_TIME))
      continue;
    char given[64];
    regal_option_text(options, i, given, sizeof given);
    return regal_fail(context, REGAL_BAD_INPUT, "--%s: \"%s\" %s, expected %s",
                      table[i].name, given,
                      unit == REGAL_COST_BARE ? "has no unit"
                      : memory ? "is a time, the objective is memory"
                               : "are bytes, the objective is run time",
                      memory ? "bytes such as 300MB" : "a time such as 2ms");
  }
  return REGAL_OK;
}

bool regal_option_text(const regal_options *options, size_t index, char *text,
                       size_t capacity) {
  if (index >= ROWS || !capacity)
    return false;
  regal_cost_unit unit = REGAL_COST_DIRECT;
  if (offsets[index].unit)
    unit =
        *(const regal_cost_unit *)((const char *)options + offsets[index].unit);
  return regal_option_print(&table[index], value_of(options, index), unit, text,
                            capacity);
}
