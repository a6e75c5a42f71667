/* The JSON parser (RFC 8259). Recursive, with a limit on depth. */
#include "formats/json.h"

#include <string.h>

#include "formats/utf8.h"

#define DEEPEST 64

typedef struct parser {
  regal_context *context;
  const char *name;
  const char *at, *end;
  const char *line_begin;
  uint32_t line;
  regal_json *json;
} parser;

static regal_status parse_value(parser *p, int depth, uint32_t *made);

/* -- Messages -------------------------------------------------------------- */

static regal_status fail_here(parser *p, const char *problem) {
  return regal_fail(p->context, REGAL_BAD_INPUT, "%s:%u:%lld: %s", p->name,
                    p->line, (long long)(p->at - p->line_begin) + 1, problem);
}

static regal_status fail_expected(parser *p, const char *expected) {
  char problem[128];
  if (p->at == p->end)
    snprintf(problem, sizeof problem, "the file ends, expected %s", expected);
  else if (*p->at > 32 && *p->at < 127)
    snprintf(problem, sizeof problem, "found '%c', expected %s", *p->at,
             expected);
  else
    snprintf(problem, sizeof problem, "found byte 0x%02x, expected %s",
             (unsigned char)*p->at, expected);
  return fail_here(p, problem);
}

/* -- Tokens ---------------------------------------------------------------- */

static void skip_space(parser *p) {
  for (; p->at < p->end; p->at++) {
    if (*p->at == '\n') {
      p->line++;
      p->line_begin = p->at + 1;
    } else if (*p->at != ' ' && *p->at != '\t' && *p->at != '\r') {
      return;
    }
  }
}

static bool take(parser *p, char c) {
  if (p->at == p->end || *p->at != c)
    return false;
  p->at++;
  return true;
}

static bool take_digits(parser *p) {
  const char *first = p->at;
  while (p->at < p->end && *p->at >= '0' && *p->at <= '9')
    p->at++;
  return p->at > first;
}

/* Appends a byte to the strings. There is always room: every string is shorter
 * than its source with quotes, and something follows every number. */
static void put(parser *p, unsigned c) {
  p->json->strings[p->json->strings_size++] = (char)c;
}

static bool take_hex(parser *p, unsigned *value) {
  static const char digits[] = "0123456789abcdef";
  *value = 0;
  for (int i = 0; i < 4; i++) {
    if (p->at == p->end || !*p->at)
      return false;
    char lower = *p->at >= 'A' && *p->at <= 'F' ? (char)(*p->at + 32) : *p->at;
    const char *digit = strchr(digits, lower);
    if (!digit)
      return false;
    *value = *value * 16 + (unsigned)(digit - digits);
    p->at++;
  }
  return true;
}

/* Behind "\u". */
static regal_status parse_unicode(parser *p) {
  unsigned high, low;
  if (!take_hex(p, &high))
    return fail_expected(p, "four hexadecimal digits");
  if (!high)
    return fail_here(p, "a string may not contain \\u0000");
  if (high >= 0xD800 && high < 0xE000) {
    if (high >= 0xDC00 || !take(p, '\\') || !take(p, 'u') ||
        !take_hex(p, &low) || low < 0xDC00 || low >= 0xE000)
      return fail_here(p, "half of a surrogate pair");
    high = 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00);
  }
  regal_json *json = p->json;
  json->strings_size +=
      regal_utf8_encode(high, json->strings + json->strings_size);
  return REGAL_OK;
}

/* Behind a backslash. */
static regal_status parse_escape(parser *p) {
  static const char letters[] = "\"\\/bfnrt", bytes[] = "\"\\/\b\f\n\r\t";
  if (take(p, 'u'))
    return parse_unicode(p);
  const char *letter =
      p->at < p->end && *p->at ? strchr(letters, *p->at) : NULL;
  if (!letter)
    return fail_expected(p, "one of \"\\/bfnrtu after a backslash");
  put(p, (unsigned char)bytes[letter - letters]);
  p->at++;
  return REGAL_OK;
}

static regal_status parse_string(parser *p, const char **text) {
  if (!take(p, '"'))
    return fail_expected(p, "a string");
  *text = p->json->strings + p->json->strings_size;
  while (!take(p, '"')) {
    if (p->at == p->end)
      return fail_expected(p, "the end of a string");
    unsigned char c = (unsigned char)*p->at;
    if (c < 32)
      return fail_expected(p, "the end of a string");
    p->at++;
    if (c == '\\')
      REGAL_TRY(parse_escape(p));
    else
      put(p, c);
  }
  put(p, 0);
  return REGAL_OK;
}

static regal_status parse_number(parser *p, const char **text) {
  const char *first = p->at;
  take(p, '-');
  const char *digits = p->at;
  if (!take_digits(p))
    return fail_expected(p, "a digit");
  if (*digits == '0' && p->at - digits > 1) {
    p->at = digits;
    return fail_here(p, "a number may not begin with 0");
  }
  if (take(p, '.') && !take_digits(p))
    return fail_expected(p, "a digit");
  if (take(p, 'e') || take(p, 'E')) {
    if (!take(p, '+'))
      take(p, '-');
    if (!take_digits(p))
      return fail_expected(p, "a digit");
  }
  *text = p->json->strings + p->json->strings_size;
  for (; first < p->at; first++)
    put(p, (unsigned char)*first);
  put(p, 0);
  return REGAL_OK;
}

static regal_status parse_word(parser *p, regal_json_kind *kind) {
  static const char *const words[] = {"null", "false", "true"};
  for (int i = 0; i < 3; i++) {
    size_t length = strlen(words[i]);
    if ((size_t)(p->end - p->at) >= length &&
        !memcmp(p->at, words[i], length)) {
      p->at += length;
      *kind = (regal_json_kind)i;
      return REGAL_OK;
    }
  }
  return fail_expected(p, "a value");
}

/* -- Structure ------------------------------------------------------------- */

static regal_status add_node(parser *p, uint32_t *made) {
  regal_json *json = p->json;
  if (json->count >= UINT32_MAX)
    return fail_here(p, "too many values");
  if (!REGAL_RESERVE(p->context, json->nodes, json->count, json->capacity))
    return regal_fail_memory(p->context);
  json->nodes[json->count] = (regal_json_node){.line = p->line};
  *made = (uint32_t)json->count++;
  return REGAL_OK;
}

static regal_status parse_key(parser *p, const char **key) {
  if (p->at == p->end || *p->at != '"')
    return fail_expected(p, "a key in quotes");
  REGAL_TRY(parse_string(p, key));
  skip_space(p);
  if (!take(p, ':'))
    return fail_expected(p, "':'");
  skip_space(p);
  return REGAL_OK;
}

/* Behind the opening bracket of the array or object `parent`. */
static regal_status parse_children(parser *p, uint32_t parent, int depth) {
  bool object = p->json->nodes[parent].kind == REGAL_JSON_OBJECT;
  char close = object ? '}' : ']';
  uint32_t last = 0, child;
  skip_space(p);
  if (take(p, close))
    return REGAL_OK;
  for (;;) {
    const char *key = NULL;
    if (object)
      REGAL_TRY(parse_key(p, &key));
    REGAL_TRY(parse_value(p, depth, &child));
    p->json->nodes[child].key = key;
    if (last)
      p->json->nodes[last].next = child;
    else
      p->json->nodes[parent].child = child;
    last = child;
    skip_space(p);
    if (take(p, close))
      return REGAL_OK;
    if (!take(p, ','))
      return fail_expected(p, object ? "',' or '}'" : "',' or ']'");
    skip_space(p);
  }
}

static regal_status parse_value(parser *p, int depth, uint32_t *made) {
  const char *text = NULL;
  regal_json_kind kind = REGAL_JSON_NULL;
  REGAL_TRY(add_node(p, made));
  char c = p->at < p->end ? *p->at : 0;
  if (c == '{' || c == '[') {
    if (depth == DEEPEST)
      return fail_here(p, "nested too deeply");
    p->at++;
    p->json->nodes[*made].kind =
        c == '{' ? REGAL_JSON_OBJECT : REGAL_JSON_ARRAY;
    return parse_children(p, *made, depth + 1);
  }
  if (c == '"') {
    kind = REGAL_JSON_STRING;
    REGAL_TRY(parse_string(p, &text));
  } else if (c == '-' || (c >= '0' && c <= '9')) {
    kind = REGAL_JSON_NUMBER;
    REGAL_TRY(parse_number(p, &text));
  } else {
    REGAL_TRY(parse_word(p, &kind));
  }
  p->json->nodes[*made].kind = (uint8_t)kind;
  p->json->nodes[*made].text = text;
  return REGAL_OK;
}

static regal_status parse_document(parser *p) {
  uint32_t root;
  skip_space(p);
  REGAL_TRY(parse_value(p, 0, &root));
  skip_space(p);
  if (p->at != p->end)
    return fail_expected(p, "the end of the file");
  return REGAL_OK;
}

regal_status regal_json_parse(regal_context *context, const char *name,
                              const char *bytes, size_t size,
                              regal_json *json) {
  *json = (regal_json){.context = context, .name = name};
  json->strings = regal_alloc(context, size + 1, 1);
  if (!json->strings)
    return regal_fail_memory(context);
  parser p = {.context = context,
              .name = name,
              .at = bytes,
              .end = bytes + size,
              .line_begin = bytes,
              .line = 1,
              .json = json};
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
