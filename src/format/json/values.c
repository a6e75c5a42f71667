/* SPDX-License-Identifier: Apache-2.0 */
/* Values of a JSON document, checked: their kind, their range, their keys. */
#include "format/json/json.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

regal_status regal_json_fail(const regal_json *json, uint32_t node,
                             const char *format, ...) {
  char problem[REGAL_MESSAGE_CAPACITY];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(problem, sizeof problem, format, arguments);
  va_end(arguments);
  /* A message is one line, whatever is in the texts that it quotes. */
  for (char *at = problem; *at; at++)
    if ((unsigned char)*at < 32 || *at == 127)
      *at = '?';
  return regal_fail(json->context, REGAL_BAD_INPUT, "%s:%u: %s", json->name,
                    json->nodes[node].line, problem);
}

/* How a value is called in messages: text and numbers are quoted. */
static const char *describe(const regal_json *json, uint32_t node, char *buffer,
                            size_t capacity) {
  static const char *const names[] = {[REGAL_JSON_NULL] = "null",
                                      [REGAL_JSON_FALSE] = "false",
                                      [REGAL_JSON_TRUE] = "true",
                                      [REGAL_JSON_ARRAY] = "a list",
                                      [REGAL_JSON_OBJECT] = "an object"};
  const regal_json_node *value = &json->nodes[node];
  if (!value->text)
    return names[value->kind];
  const char *format = value->kind == REGAL_JSON_NUMBER ? "%.60s" : "\"%.60s\"";
  snprintf(buffer, capacity, format, value->text);
  return buffer;
}

static regal_status fail_value(const regal_json *json, uint32_t node,
                               const char *what, const char *expected) {
  char buffer[80];
  return regal_json_fail(json, node, "%s is %s, expected %s", what,
                         describe(json, node, buffer, sizeof buffer), expected);
}

regal_status regal_json_expect(const regal_json *json, uint32_t node,
                               const char *what, regal_json_kind kind) {
  if (json->nodes[node].kind == kind)
    return REGAL_OK;
  return fail_value(json, node, what,
                    kind == REGAL_JSON_OBJECT  ? "an object"
                    : kind == REGAL_JSON_ARRAY ? "a list"
                                               : "a text");
}

static regal_status fail_key(const regal_json *json, uint32_t node,
                             const char *what, const char *const *keys) {
  char list[512];
  size_t at = 0;
  for (; *keys && at < sizeof list; keys++)
    at += (size_t)snprintf(list + at, sizeof list - at, "%s%s", at ? ", " : "",
                           *keys);
  return regal_json_fail(json, node,
                         "%s has an unknown key \"%.60s\", expected one of %s",
                         what, json->nodes[node].key, list);
}

regal_status regal_json_members(const regal_json *json, uint32_t object,
                                const char *what, bool closed,
                                const char *const *keys, uint32_t *found) {
  REGAL_TRY(regal_json_expect(json, object, what, REGAL_JSON_OBJECT));
  for (size_t i = 0; keys[i]; i++)
    found[i] = 0;
  uint32_t node = json->nodes[object].child;
  for (; node; node = json->nodes[node].next) {
    size_t i = 0;
    while (keys[i] && strcmp(keys[i], json->nodes[node].key))
      i++;
    if (!keys[i] && closed)
      return fail_key(json, node, what, keys);
    if (!keys[i])
      continue;
    if (found[i])
      return regal_json_fail(json, node, "%s has the key \"%s\" twice", what,
                             keys[i]);
    found[i] = node;
  }
  return REGAL_OK;
}

uint32_t regal_json_length(const regal_json *json, uint32_t array) {
  uint32_t length = 0, node = json->nodes[array].child;
  for (; node; node = json->nodes[node].next)
    length++;
  return length;
}

regal_status regal_json_integer(const regal_json *json, uint32_t node,
                                const char *what, int64_t low, int64_t high,
                                int64_t *value) {
  const regal_json_node *number = &json->nodes[node];
  if (number->kind == REGAL_JSON_NUMBER) {
    char *end;
    errno = 0;
    long long parsed = strtoll(number->text, &end, 10);
    if (!*end && !errno && parsed >= low && parsed <= high) {
      *value = parsed;
      return REGAL_OK;
    }
  }
  char expected[96];
  if (high == INT64_MAX)
    snprintf(expected, sizeof expected, "a whole number, at least %lld",
             (long long)low);
  else if (low == high)
    snprintf(expected, sizeof expected, "%lld", (long long)low);
  else
    snprintf(expected, sizeof expected, "a whole number from %lld to %lld",
             (long long)low, (long long)high);
  return fail_value(json, node, what, expected);
}

regal_status regal_json_bytes(const regal_json *json, uint32_t node,
                              const char *what, int64_t *bytes) {
  const char *text = json->nodes[node].text;
  if (text && regal_parse_bytes(text, bytes))
    return REGAL_OK;
  return fail_value(json, node, what,
                    "a number of bytes, such as 1000, \"16GiB\" or \"25GB\"");
}

regal_status regal_json_duration(const regal_json *json, uint32_t node,
                                 const char *what, int64_t *ns) {
  const char *text = json->nodes[node].text;
  if (text && regal_parse_duration(text, ns))
    return REGAL_OK;
  return fail_value(json, node, what,
                    "a time, such as 250 (nanoseconds), \"10us\" or \"1.5ms\"");
}

regal_status regal_json_real(const regal_json *json, uint32_t node,
                             const char *what, double low, double high,
                             double *value) {
  if (json->nodes[node].kind == REGAL_JSON_NUMBER) {
    double parsed = strtod(json->nodes[node].text, NULL);
    if (parsed >= low && parsed <= high) {
      *value = parsed;
      return REGAL_OK;
    }
  }
  char expected[96];
  snprintf(expected, sizeof expected, "a number from %g to %g", low, high);
  return fail_value(json, node, what, expected);
}

regal_status regal_json_boolean(const regal_json *json, uint32_t node,
                                const char *what, bool *value) {
  uint8_t kind = json->nodes[node].kind;
  if (kind != REGAL_JSON_TRUE && kind != REGAL_JSON_FALSE)
    return regal_json_fail(json, node, "%s is not true or false", what);
  *value = kind == REGAL_JSON_TRUE;
  return REGAL_OK;
}
