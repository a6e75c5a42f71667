/* SPDX-License-Identifier: Apache-2.0 */
/* Values of a JSON document, checked: their kind, their range, their keys; and
 * messages that say where in the document a value is.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/plain.h"
#include "format/json/json.h"

/* -- Places ---------------------------------------------------------------- */

/* A text of limited size; what does not fit is cut off. */
typedef struct line {
  char *text;
  size_t capacity, used;
} line;

static void put(line *out, const char *format, ...) REGAL_FORMAT(2, 3);

static void put(line *out, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int length = regal_print_list(out->text + out->used,
                                out->capacity - out->used, format, arguments);
  va_end(arguments);
  out->used += (size_t)length;
  if (out->used >= out->capacity)
    out->used = out->capacity - 1;
}

/* The name by which people know an op, device, parameter or step. */
static const char *name_of(const regal_json *json, uint32_t object) {
  if (json->nodes[object].kind != REGAL_JSON_OBJECT)
    return NULL;
  REGAL_JSON_EACH (node, json, object)
    if (json->nodes[node].kind == REGAL_JSON_STRING &&
        (!strcmp(json->nodes[node].key, "name") ||
         !strcmp(json->nodes[node].key, "op")))
      return json->nodes[node].text;
  return NULL;
}

/* Nodes are in the order of the document: of two neighbours, the first contains
 * `node` unless the second is at or before it. */
static void put_place(const regal_json *json, uint32_t node, line *out) {
  const regal_json_node *nodes = json->nodes;
  for (uint32_t outer = 0; outer != node;) {
    uint32_t inner = nodes[outer].child, index = 0;
    for (; nodes[inner].next && nodes[inner].next <= node; index++)
      inner = nodes[inner].next;
    if (nodes[inner].key) {
      put(out, "%s%.60s", outer ? ": " : "", nodes[inner].key);
    } else {
      const char *name = name_of(json, inner);
      put(out, "[%u]", index);
      if (name)
        put(out, " \"%.60s\"", name);
    }
    outer = inner;
  }
}

/* A message is one line; texts that it quotes may have control characters. */
static void make_one_line(char *text) {
  for (; *text; text++)
    if ((unsigned char)*text < 32 || *text == 127)
      *text = '?';
}

regal_status regal_json_fail(const regal_json *json, uint32_t node,
                             const char *format, ...) {
  char place[512], problem[REGAL_MESSAGE_CAPACITY];
  line out = {place, sizeof place, 0};
  va_list arguments;
  va_start(arguments, format);
  regal_print_list(problem, sizeof problem, format, arguments);
  va_end(arguments);
  make_one_line(problem);
  put(&out, ": ");
  put_place(json, node, &out);
  make_one_line(place);
  return regal_fail(json->context, REGAL_BAD_INPUT, "%s:%u%s: %s", json->name,
                    json->nodes[node].line, node ? place : "", problem);
}

/* -- Kinds and keys -------------------------------------------------------- */

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

regal_status regal_json_fail_value(const regal_json *json, uint32_t node,
                                   const char *expected) {
  char buffer[80];
  return regal_json_fail(json, node, "found %s, expected %s",
                         describe(json, node, buffer, sizeof buffer), expected);
}

regal_status regal_json_expect(const regal_json *json, uint32_t node,
                               regal_json_kind kind) {
  if (json->nodes[node].kind == kind)
    return REGAL_OK;
  return regal_json_fail_value(json, node,
                               kind == REGAL_JSON_OBJECT  ? "an object"
                               : kind == REGAL_JSON_ARRAY ? "a list"
                                                          : "a text");
}

static regal_status fail_key(const regal_json *json, uint32_t node,
                             const char *const *keys) {
  char list[512];
  line out = {list, sizeof list, 0};
  for (; *keys; keys++)
    put(&out, "%s%s", out.used ? ", " : "", *keys);
  return regal_json_fail(json, node, "unknown key, expected one of %s", list);
}

regal_status regal_json_members(const regal_json *json, uint32_t object,
                                bool closed, const char *const *keys,
                                uint32_t *found) {
  REGAL_TRY(regal_json_expect(json, object, REGAL_JSON_OBJECT));
  for (size_t i = 0; keys[i]; i++)
    found[i] = 0;
  REGAL_JSON_EACH (node, json, object) {
    size_t i = 0;
    while (keys[i] && strcmp(keys[i], json->nodes[node].key))
      i++;
    if (!keys[i] && closed)
      return fail_key(json, node, keys);
    if (!keys[i])
      continue;
    if (found[i])
      return regal_json_fail(json, node,
                             "the key occurs twice, first on "
                             "line %u",
                             json->nodes[found[i]].line);
    found[i] = node;
  }
  return REGAL_OK;
}

uint32_t regal_json_length(const regal_json *json, uint32_t array) {
  uint32_t length = 0;
  REGAL_JSON_EACH (node, json, array)
    length++;
  return length;
}

/* -- Values ---------------------------------------------------------------- */

regal_status regal_json_boolean(const regal_json *json, uint32_t node,
                                bool *value) {
  uint8_t kind = json->nodes[node].kind;
  if (!node)
    return REGAL_OK;
  if (kind != REGAL_JSON_TRUE && kind != REGAL_JSON_FALSE)
    return regal_json_fail_value(json, node, "true or false");
  *value = kind == REGAL_JSON_TRUE;
  return REGAL_OK;
}

regal_status regal_json_integer(const regal_json *json, uint32_t node,
                                int64_t low, int64_t high, int64_t *value) {
  const regal_json_node *number = &json->nodes[node];
  if (!node)
    return REGAL_OK;
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
  return regal_json_fail_value(json, node, expected);
}

regal_status regal_json_real(const regal_json *json, uint32_t node, double low,
                             double high, double *value) {
  if (!node)
    return REGAL_OK;
  if (json->nodes[node].kind == REGAL_JSON_NUMBER) {
    double parsed = regal_read_real(json->nodes[node].text, NULL);
    if (parsed >= low && parsed <= high) {
      *value = parsed;
      return REGAL_OK;
    }
  }
  char expected[96];
  regal_print(expected, sizeof expected, "a number from %g to %g", low, high);
  return regal_json_fail_value(json, node, expected);
}

/* A number is in the unit that the key names; a text has its own. */
static regal_status read_quantity(const regal_json *json, uint32_t node,
                                  regal_measure measure, int64_t *value,
                                  const char *expected) {
  const regal_json_node *given = &json->nodes[node];
  if (!node)
    return REGAL_OK;
  int64_t read = 0;
  regal_unit_found reading =
      given->text ? regal_read_quantity(measure, given->text, &read)
                  : REGAL_UNIT_WRONG;
  bool bare = measure == REGAL_MEASURE_BYTES || !read ||
              given->kind == REGAL_JSON_NUMBER;
  if (reading < REGAL_UNIT_BARE || (reading == REGAL_UNIT_BARE && !bare))
    return regal_json_fail_value(json, node, expected);
  *value = read;
  return REGAL_OK;
}

regal_status regal_json_bytes(const regal_json *json, uint32_t node,
                              int64_t *bytes) {
  return read_quantity(
      json, node, REGAL_MEASURE_BYTES, bytes,
      "a number of bytes, such as 1000, \"16GiB\" or \"25GB\"");
}

regal_status regal_json_rate(const regal_json *json, uint32_t node,
                             int64_t *bytes_per_second) {
  return read_quantity(json, node, REGAL_MEASURE_RATE, bytes_per_second,
                       "bytes per second, such as 25e9, \"25GB/s\" or "
                       "\"200Gbit/s\"");
}

regal_status regal_json_duration(const regal_json *json, uint32_t node,
                                 int64_t *ns) {
  return read_quantity(
      json, node, REGAL_MEASURE_TIME, ns,
      "a time, such as 250 (nanoseconds), \"10us\" or \"1.5ms\"");
}
