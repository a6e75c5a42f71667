/* SPDX-License-Identifier: Apache-2.0 */
/* The JSON parser: recursive descent over RFC 8259, strict.
 *
 * The bytes are checked to be UTF-8 without zeros first, so that a zero can
 * stand for the end of the file from then on. Values become nodes in the order
 * of the document, strings and numbers text in one block that the file bounds.
 * Nesting is limited, so that the recursion is too.
 *
 * It is our own because no JSON library of Debian 12 that is still maintained
 * keeps lines, exact integers and a graph of a million ops within 2 GB;
 * docs/formats.md has the measurements.
 */
#include <string.h>

#include "base/utf8.h"
#include "format/json/json.h"

#define DEEPEST 64

typedef struct parser {
  regal_json *json;
  const char *begin, *end; /* of the file */
  const char *at;
  uint32_t line; /* of `at` */
  uint32_t depth;
  char *out; /* the free part of json->strings */
} parser;

/* -- Errors ---------------------------------------------------------------- */

/* Fails with "NAME:LINE:COLUMN: PROBLEM". */
static regal_status fail_at(const parser *p, const char *where,
                            const char *problem) {
  unsigned long long line = 1;
  const char *line_begin = p->begin;
  for (const char *at = p->begin; at < where; at++) {
    if (*at == '\n') {
      line++;
      line_begin = at + 1;
    }
  }
  return regal_fail(p->json->context, REGAL_BAD_INPUT, "%s:%llu:%lld: %s",
                    p->json->name, line, (long long)(where - line_begin) + 1,
                    problem);
}

static regal_status fail_expected(const parser *p, const char *expected) {
  char problem[128];
  if (p->at == p->end)
    snprintf(problem, sizeof problem, "the file ends, expected %s", expected);
  else if (*p->at == '/')
    snprintf(problem, sizeof problem,
             "found '/', expected JSON, which has no comments");
  else if (*p->at > 32 && *p->at < 127)
    snprintf(problem, sizeof problem, "found '%c', expected %s", *p->at,
             expected);
  else
    snprintf(problem, sizeof problem, "found byte 0x%02x, expected %s",
             (unsigned char)*p->at, expected);
  return fail_at(p, p->at, problem);
}

/* -- Bytes ----------------------------------------------------------------- */

/* The next byte; 0 at the end of the file. */
static char peek(const parser *p) {
  return p->at < p->end ? *p->at : 0;
}

static void skip_space(parser *p) {
  for (; p->at < p->end; p->at++) {
    if (*p->at == '\n')
      p->line++;
    else if (*p->at != ' ' && *p->at != '\t' && *p->at != '\r')
      return;
  }
}

/* -- Strings and numbers --------------------------------------------------- */

/* There is always room for a text and its zero: a string is no longer than its
 * source, which has quotes, and something follows every number, if only the end
 * of the file. */
static void store(parser *p, const char *begin) {
  size_t size = (size_t)(p->at - begin);
  memcpy(p->out, begin, size);
  p->out += size;
}

static regal_status parse_hex(parser *p, uint32_t *unit) {
  static const char digits[] = "0123456789abcdefABCDEF";
  *unit = 0;
  for (int i = 0; i < 4; i++, p->at++) {
    const char *digit = peek(p) ? strchr(digits, peek(p)) : NULL;
    if (!digit)
      return fail_expected(p, "four hexadecimal digits");
    uint32_t value = (uint32_t)(digit - digits);
    *unit = *unit << 4 | (value < 16 ? value : value - 6);
  }
  return REGAL_OK;
}

/* What follows "\u": one code unit, or a surrogate pair. */
static regal_status parse_code_point(parser *p) {
  const char *escape = p->at - 2;
  uint32_t point, low = 0;
  REGAL_TRY(parse_hex(p, &point));
  if (!point)
    return fail_at(p, escape, "a string may not contain \\u0000");
  if (point >= 0xD800 && point <= 0xDFFF) {
    if (p->end - p->at >= 2 && p->at[0] == '\\' && p->at[1] == 'u') {
      p->at += 2;
      REGAL_TRY(parse_hex(p, &low));
    }
    if (point > 0xDBFF || low < 0xDC00 || low > 0xDFFF)
      return fail_at(p, escape, "half of a surrogate pair");
    point = 0x10000 + ((point - 0xD800) << 10) + (low - 0xDC00);
  }
  p->out += regal_utf8_encode(point, p->out);
  return REGAL_OK;
}

static regal_status parse_escape(parser *p) {
  static const char letters[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
  p->at++;
  const char *letter = peek(p) ? strchr(letters, peek(p)) : NULL;
  if (!letter && peek(p) != 'u')
    return fail_expected(p, "one of \"\\/bfnrtu after a backslash");
  p->at++;
  if (!letter)
    return parse_code_point(p);
  *p->out++ = meant[letter - letters];
  return REGAL_OK;
}

static regal_status parse_string(parser *p, const char **text) {
  *text = p->out;
  p->at++;
  for (;;) {
    const char *begin = p->at;
    while ((unsigned char)peek(p) >= 32 && *p->at != '"' && *p->at != '\\')
      p->at++;
    store(p, begin);
    if (peek(p) == '"')
      break;
    if (peek(p) != '\\')
      return fail_expected(p, "the end of a string");
    REGAL_TRY(parse_escape(p));
  }
  p->at++;
  *p->out++ = 0;
  return REGAL_OK;
}

static regal_status skip_digits(parser *p) {
  if (!regal_is_digit(peek(p)))
    return fail_expected(p, "a digit");
  while (regal_is_digit(peek(p)))
    p->at++;
  return REGAL_OK;
}

static regal_status parse_number(parser *p, const char **text) {
  const char *begin = p->at;
  if (*p->at == '-')
    p->at++;
  if (peek(p) == '0')
    p->at++;
  else
    REGAL_TRY(skip_digits(p));
  if (peek(p) == '.') {
    p->at++;
    REGAL_TRY(skip_digits(p));
  }
  if (peek(p) == 'e' || peek(p) == 'E') {
    p->at++;
    if (peek(p) == '+' || peek(p) == '-')
      p->at++;
    REGAL_TRY(skip_digits(p));
  }
  *text = p->out;
  store(p, begin);
  *p->out++ = 0;
  return REGAL_OK;
}

/* -- Values ---------------------------------------------------------------- */

static regal_status parse_value(parser *p, const char *key, uint32_t *made);

static regal_status parse_word(parser *p, regal_json_kind *kind) {
  static const char *const words[] = {[REGAL_JSON_NULL] = "null",
                                      [REGAL_JSON_FALSE] = "false",
                                      [REGAL_JSON_TRUE] = "true"};
  for (int i = REGAL_JSON_NULL; i <= REGAL_JSON_TRUE; i++) {
    size_t length = strlen(words[i]);
    if ((size_t)(p->end - p->at) < length || memcmp(p->at, words[i], length))
      continue;
    p->at += length;
    *kind = (regal_json_kind)i;
    return REGAL_OK;
  }
  bool letter = peek(p) && strchr("nft", peek(p));
  return fail_expected(p, letter ? "null, true or false" : "a value");
}

static regal_status parse_key(parser *p, const char **key) {
  if (peek(p) != '"')
    return fail_expected(p, "a key in quotes");
  REGAL_TRY(parse_string(p, key));
  skip_space(p);
  if (peek(p) != ':')
    return fail_expected(p, "':'");
  p->at++;
  return REGAL_OK;
}

/* Finds the next byte in an array or object. */
static regal_status go_on(parser *p, uint32_t parent) {
  const regal_json_node *open = &p->json->nodes[parent];
  char expected[64];
  skip_space(p);
  if (p->at < p->end)
    return REGAL_OK;
  snprintf(expected, sizeof expected,
           "the end of the %s that begins on line %u",
           open->kind == REGAL_JSON_OBJECT ? "object" : "list", open->line);
  return fail_expected(p, expected);
}

/* The members of an object or the elements of an array. */
static regal_status parse_members(parser *p, uint32_t parent) {
  bool object = p->json->nodes[parent].kind == REGAL_JSON_OBJECT;
  char close = object ? '}' : ']';
  uint32_t last = 0, made;
  if (p->depth++ == DEEPEST)
    return fail_at(p, p->at, "nested too deeply");
  p->at++;
  REGAL_TRY(go_on(p, parent));
  while (*p->at != close || last) {
    const char *key = NULL;
    if (object)
      REGAL_TRY(parse_key(p, &key));
    REGAL_TRY(parse_value(p, key, &made));
    if (last)
      p->json->nodes[last].next = made;
    else
      p->json->nodes[parent].child = made;
    last = made;
    REGAL_TRY(go_on(p, parent));
    if (*p->at == close)
      break;
    if (*p->at != ',')
      return fail_expected(p, object ? "',' or '}'" : "',' or ']'");
    p->at++;
    REGAL_TRY(go_on(p, parent));
  }
  p->at++;
  p->depth--;
  return REGAL_OK;
}

static regal_status parse_value(parser *p, const char *key, uint32_t *made) {
  regal_json *json = p->json;
  regal_json_kind kind = REGAL_JSON_NULL;
  const char *text = NULL;
  skip_space(p);
  char first = peek(p);
  if (first == '{' || first == '[') {
    kind = first == '{' ? REGAL_JSON_OBJECT : REGAL_JSON_ARRAY;
  } else if (first == '"') {
    kind = REGAL_JSON_STRING;
    REGAL_TRY(parse_string(p, &text));
  } else if (first == '-' || regal_is_digit(first)) {
    kind = REGAL_JSON_NUMBER;
    REGAL_TRY(parse_number(p, &text));
  } else {
    REGAL_TRY(parse_word(p, &kind));
  }
  if (json->count >= UINT32_MAX)
    return fail_at(p, p->at, "too many values");
  if (!REGAL_RESERVE(json->context, json->nodes, json->count, json->capacity))
    return regal_fail_memory(json->context);
  *made = (uint32_t)json->count++;
  json->nodes[*made] = (regal_json_node){
      .key = key, .text = text, .line = p->line, .kind = (uint8_t)kind};
  return kind >= REGAL_JSON_ARRAY ? parse_members(p, *made) : REGAL_OK;
}

static regal_status parse_document(parser *p) {
  uint32_t root;
  size_t size = (size_t)(p->end - p->begin);
  p->at = p->begin + regal_utf8_valid(p->begin, size);
  if (p->at != p->end)
    return fail_expected(p, "UTF-8 text");
  p->out = p->json->strings = regal_alloc(p->json->context, size + 1, 1);
  if (!p->out)
    return regal_fail_memory(p->json->context);
  p->at = p->begin;
  REGAL_TRY(parse_value(p, NULL, &root));
  skip_space(p);
  return p->at == p->end ? REGAL_OK : fail_expected(p, "the end of the file");
}

bool regal_json_detect(const void *bytes, size_t size) {
  parser p = {.at = bytes, .end = (const char *)bytes + size};
  skip_space(&p);
  if (peek(&p) != '[')
    return peek(&p) == '{';
  p.at++;
  skip_space(&p);
  return peek(&p) && strchr("{[]\"-0123456789", peek(&p));
}

regal_status regal_json_parse(regal_context *context, const char *name,
                              const char *bytes, size_t size,
                              regal_json *json) {
  *json = (regal_json){.context = context, .name = name};
  parser p = {.json = json, .begin = bytes, .end = bytes + size, .line = 1};
  regal_status status = parse_document(&p);
  if (status != REGAL_OK)
    regal_json_free(json);
  return status;
}

void regal_json_free(regal_json *json) {
  if (!json->context)
    return;
  regal_release(json->context, json->nodes);
  regal_release(json->context, json->strings);
  *json = (regal_json){0};
}
