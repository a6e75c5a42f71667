/* SPDX-License-Identifier: Apache-2.0 */
/* Dimensions that are computed from others: "batch*seq", "floor(seq/2) + 1".
 *
 * onnxruntime's symbolic shape inference writes them as SymPy prints them, as
 * the name of a dimension. They are computed here, with fractions, by a parser
 * of the usual precedences:
 *
 *   sum     = product (("+" | "-") product)*
 *   product = factor (("*" | "/") factor)*
 *   factor  = "-" factor | atom ["**" factor]
 *   atom    = integer | name | function "(" sum ("," sum)* ")" | "(" sum ")"
 *
 * Names must be dimensions that the user has given: one that only counts as 1
 * may lead to sizes that no tensor can have, such as floor(1/2).
 */
#include <string.h>

#include "base/text.h"
#include "format/onnx/onnx.h"

#define MOST_DEPTH 64
#define MOST_NAME 128

typedef struct fraction {
  int64_t over, under; /* under > 0, in lowest terms */
} fraction;

typedef struct parser {
  const regal_onnx *onnx;
  const char *at;
  int depth;
  bool failed;
} parser;

static fraction parse_sum(parser *p);

static fraction fail(parser *p) {
  p->failed = true;
  return (fraction){0, 1};
}

/* -- Fractions ------------------------------------------------------------- */

static int64_t common_divisor(int64_t a, int64_t b) {
  while (b) {
    int64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a < 0 ? -a : a;
}

static fraction make(parser *p, int64_t over, int64_t under) {
  if (!under || over == INT64_MIN || under == INT64_MIN)
    return fail(p);
  int64_t divisor = common_divisor(over, under);
  if (under < 0)
    divisor = -divisor;
  return (fraction){over / divisor, under / divisor};
}

static fraction multiply(parser *p, fraction a, fraction b) {
  int64_t over, under;
  if (__builtin_mul_overflow(a.over, b.over, &over) ||
      __builtin_mul_overflow(a.under, b.under, &under))
    return fail(p);
  return make(p, over, under);
}

static fraction divide(parser *p, fraction a, fraction b) {
  return b.over ? multiply(p, a, make(p, b.under, b.over)) : fail(p);
}

static fraction add(parser *p, fraction a, fraction b) {
  int64_t left, right, over, under;
  if (__builtin_mul_overflow(a.over, b.under, &left) ||
      __builtin_mul_overflow(b.over, a.under, &right) ||
      __builtin_add_overflow(left, right, &over) ||
      __builtin_mul_overflow(a.under, b.under, &under))
    return fail(p);
  return make(p, over, under);
}

static fraction negate(fraction a) {
  return (fraction){-a.over, a.under}; /* `make` lets no INT64_MIN pass */
}

static fraction round_down(fraction a) {
  int64_t whole = a.over / a.under;
  return (fraction){whole - (a.over % a.under < 0), 1};
}

static bool is_less(parser *p, fraction a, fraction b) {
  return add(p, a, negate(b)).over < 0;
}

static fraction raise(parser *p, fraction base, fraction exponent) {
  fraction power = {1, 1};
  if (exponent.under != 1 || exponent.over < 0 || exponent.over > 64)
    return fail(p);
  for (int64_t i = 0; i < exponent.over; i++)
    power = multiply(p, power, base);
  return power;
}

/* -- Functions ------------------------------------------------------------- */

typedef enum function { FLOOR, CEILING, MAX, MIN, MOD, FUNCTIONS } function;

static const char *const function_names[FUNCTIONS] = {"floor", "ceiling", "Max",
                                                      "Min", "Mod"};

/* Of one more argument. */
static fraction combine(parser *p, function function, fraction a, fraction b) {
  if (function == MAX || function == MIN)
    return is_less(p, a, b) == (function == MAX) ? b : a;
  if (function != MOD)
    return fail(p);
  fraction times = round_down(divide(p, a, b));
  return add(p, a, negate(multiply(p, times, b)));
}

static bool take(parser *p, char c) {
  while (*p->at == ' ')
    p->at++;
  if (*p->at != c)
    return false;
  p->at++;
  return true;
}

static fraction call(parser *p, function function) {
  fraction value = parse_sum(p);
  int arguments = 1;
  for (; !p->failed && take(p, ','); arguments++)
    value = combine(p, function, value, parse_sum(p));
  bool one = function == FLOOR || function == CEILING;
  if (!take(p, ')') || (one ? arguments != 1 : arguments < 2) ||
      (function == MOD && arguments != 2))
    return fail(p);
  if (function == FLOOR)
    return round_down(value);
  return function == CEILING ? negate(round_down(negate(value))) : value;
}

/* -- The parser ------------------------------------------------------------ */

static bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static fraction parse_name(parser *p) {
  char name[MOST_NAME];
  size_t length = 0;
  while (is_letter(p->at[length]) || regal_is_digit(p->at[length]) ||
         p->at[length] == '.' || p->at[length] == ':')
    length++;
  if (length >= sizeof name)
    return fail(p);
  memcpy(name, p->at, length);
  name[length] = 0;
  p->at += length;
  for (int i = 0; i < FUNCTIONS; i++)
    if (!strcmp(name, function_names[i]) && take(p, '('))
      return call(p, (function)i);
  regal_onnx_size *size = regal_onnx_find_size(p->onnx, name);
  if (!size || !size->given)
    return fail(p);
  size->used = true;
  return (fraction){size->value, 1};
}

static fraction parse_integer(parser *p) {
  int64_t value = 0;
  for (; regal_is_digit(*p->at); p->at++)
    if (__builtin_mul_overflow(value, 10, &value) ||
        __builtin_add_overflow(value, *p->at - '0', &value))
      return fail(p);
  return (fraction){value, 1};
}

static fraction parse_atom(parser *p) {
  if (take(p, '(')) {
    fraction value = parse_sum(p);
    return take(p, ')') ? value : fail(p);
  }
  if (regal_is_digit(*p->at))
    return parse_integer(p);
  return is_letter(*p->at) ? parse_name(p) : fail(p);
}

static fraction parse_factor(parser *p) {
  fraction value;
  if (p->failed || p->depth == MOST_DEPTH)
    return fail(p);
  p->depth++;
  if (take(p, '-')) {
    value = negate(parse_factor(p));
  } else {
    value = parse_atom(p);
    if (!p->failed && !strncmp(p->at, "**", 2)) {
      p->at += 2;
      value = raise(p, value, parse_factor(p));
    }
  }
  p->depth--;
  return value;
}

static fraction parse_product(parser *p) {
  fraction value = parse_factor(p);
  while (!p->failed) {
    if (take(p, '*'))
      value = multiply(p, value, parse_factor(p));
    else if (take(p, '/'))
      value = divide(p, value, parse_factor(p));
    else
      break;
  }
  return value;
}

static fraction parse_sum(parser *p) {
  fraction value = parse_product(p);
  while (!p->failed) {
    if (take(p, '+'))
      value = add(p, value, parse_product(p));
    else if (take(p, '-'))
      value = add(p, value, negate(parse_product(p)));
    else
      break;
  }
  return value;
}

bool regal_onnx_compute_size(const regal_onnx *onnx, const char *expression,
                             int64_t *size) {
  parser p = {.onnx = onnx, .at = expression};
  fraction value = parse_sum(&p);
  *size = value.over;
  return !p.failed && !*p.at && value.under == 1 && value.over >= 0;
}
