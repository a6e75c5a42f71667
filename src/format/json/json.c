/* SPDX-License-Identifier: Apache-2.0 */
/* The JSON reader: yajl finds the tokens and checks the grammar, the functions
 * that it calls build the nodes. Nesting is limited.
 *
 * yajl tells how far it is in the file, which is the end of the token that it
 * reports. Tokens do not contain line ends, and between two that it reports
 * there is only space and punctuation: so each can be found, and with it the
 * line, by going on from the one before.
 */
#include "format/json/json.h"

#include <string.h>
#include <yajl/yajl_parse.h>

#include "format/json/memory.h"
#include "format/json/source.h"

#define DEEPEST 64

typedef struct parser {
  regal_json_source source;
  regal_json *json;
  yajl_handle yajl;
  bool all_read;       /* yajl has seen the end of the file */
  const char *at;      /* behind the last token that was reported */
  uint32_t line;       /* of `at` */
  const char *key;     /* waits for its value, else NULL */
  regal_status status; /* why a function told yajl to stop */
  uint32_t depth;
  struct {
    uint32_t node, last; /* an array or object, what is last in it so far */
  } open[DEEPEST];
} parser;

/* -- Places ---------------------------------------------------------------- */

static const char *reached(const parser *p) {
  if (p->all_read)
    return p->source.end;
  return p->source.begin + yajl_get_bytes_consumed(p->yajl);
}

static const char *skip_space(const parser *p, const char *at) {
  while (at < p->source.end && regal_json_is_space(*at))
    at++;
  return at;
}

/* The first byte of the token that yajl has just read. Punctuation is not
 * reported, so there can be some before it; it can also be the token. */
static const char *find_token(const parser *p) {
  const char *limit = reached(p), *token = skip_space(p, p->at);
  while (token < limit && (*token == ',' || *token == ':')) {
    const char *next = skip_space(p, token + 1);
    if (next >= limit)
      break;
    token = next;
  }
  return token;
}

static void take_token(parser *p) {
  const char *token = find_token(p);
  for (; p->at < token; p->at++)
    p->line += *p->at == '\n';
  p->at = reached(p);
}

/* -- Nodes ----------------------------------------------------------------- */

static bool stop(parser *p, regal_status status) {
  p->status = status;
  return false;
}

static bool add_node(parser *p, regal_json_kind kind, const char *text) {
  regal_json *json = p->json;
  if (json->count >= UINT32_MAX)
    return stop(p, regal_json_fail_at(&p->source, p->at, "too many values"));
  if (!REGAL_RESERVE(json->context, json->nodes, json->count, json->capacity))
    return stop(p, regal_fail_memory(json->context));
  uint32_t made = (uint32_t)json->count++;
  json->nodes[made] = (regal_json_node){
      .key = p->key, .text = text, .line = p->line, .kind = (uint8_t)kind};
  p->key = NULL;
  if (!p->depth)
    return true;
  uint32_t parent = p->open[p->depth - 1].node;
  uint32_t *last = &p->open[p->depth - 1].last;
  if (*last)
    json->nodes[*last].next = made;
  else
    json->nodes[parent].child = made;
  *last = made;
  return true;
}

/* There is always room: every string is shorter than its source with quotes,
 * and something follows every number, if only the end of the file. */
static const char *store(parser *p, const void *bytes, size_t size) {
  char *text = p->json->strings + p->json->strings_size;
  memcpy(text, bytes, size);
  text[size] = 0;
  p->json->strings_size += size + 1;
  return text;
}

static bool open_node(parser *p, regal_json_kind kind) {
  take_token(p);
  if (p->depth == DEEPEST)
    return stop(p,
                regal_json_fail_at(&p->source, p->at - 1, "nested too deeply"));
  uint32_t made = (uint32_t)p->json->count;
  if (!add_node(p, kind, NULL))
    return false;
  p->open[p->depth].node = made;
  p->open[p->depth++].last = 0;
  return true;
}

/* -- What yajl calls ------------------------------------------------------- */

static int on_null(void *state) {
  take_token(state);
  return add_node(state, REGAL_JSON_NULL, NULL);
}

static int on_boolean(void *state, int value) {
  take_token(state);
  return add_node(state, value ? REGAL_JSON_TRUE : REGAL_JSON_FALSE, NULL);
}

static int on_number(void *state, const char *bytes, size_t size) {
  take_token(state);
  return add_node(state, REGAL_JSON_NUMBER, store(state, bytes, size));
}

static int on_string(void *state, const unsigned char *bytes, size_t size) {
  take_token(state);
  return add_node(state, REGAL_JSON_STRING, store(state, bytes, size));
}

static int on_key(void *state, const unsigned char *bytes, size_t size) {
  take_token(state);
  ((parser *)state)->key = store(state, bytes, size);
  return true;
}

static int on_object(void *state) {
  return open_node(state, REGAL_JSON_OBJECT);
}

static int on_array(void *state) {
  return open_node(state, REGAL_JSON_ARRAY);
}

static int on_close(void *state) {
  take_token(state);
  ((parser *)state)->depth--;
  return true;
}

static const yajl_callbacks callbacks = {.yajl_null = on_null,
                                         .yajl_boolean = on_boolean,
                                         .yajl_number = on_number,
                                         .yajl_string = on_string,
                                         .yajl_start_map = on_object,
                                         .yajl_map_key = on_key,
                                         .yajl_end_map = on_close,
                                         .yajl_start_array = on_array,
                                         .yajl_end_array = on_close};

/* -- Syntax errors --------------------------------------------------------- */

/* By a part of yajl's message: what is expected in our words, and whether yajl
 * has stopped where that should be, rather than behind a wrong token. */
typedef struct complaint {
  const char *part, *expected;
  bool is_here;
} complaint;

static const complaint complaints[] = {
    {"must be a string", "a key in quotes", false},
    {"separated by a colon", "':'", false},
    {"',' or '}'", "',' or '}'", false},
    {"',' or ']'", "',' or ']'", false},
    {"unallowed token", "a value", false},
    {"trailing garbage", "the end of the file", false},
    {"invalid string", "null, true or false", false},
    {"invalid char in", "JSON", false},
    {"comment", "JSON, which has no comments", true},
    {"'\\' occurs before", "one of \"\\/bfnrtu after a backslash", true},
    {"non-hex", "four hexadecimal digits", true},
    {"character inside string", "the end of a string", true},
    {"a digit is required", "a digit", true},
    {"", "JSON", true}, /* whatever else yajl may say one day */
};

static regal_status fail_early_end(const parser *p) {
  char expected[64] = "a value";
  if (p->depth && !p->key) {
    const regal_json_node *open = &p->json->nodes[p->open[p->depth - 1].node];
    snprintf(expected, sizeof expected,
             "the end of the %s that begins on line %u",
             open->kind == REGAL_JSON_OBJECT ? "object" : "list", open->line);
  }
  return regal_json_fail_expected(&p->source, p->source.end, expected);
}

static regal_status fail_syntax(const parser *p) {
  const char *text = (char *)yajl_get_error(p->yajl, false, NULL, 0);
  if (strstr(text, "premature EOF"))
    return fail_early_end(p);
  const complaint *found = complaints;
  while (!strstr(text, found->part))
    found++;
  return regal_json_fail_expected(
      &p->source, found->is_here ? reached(p) : find_token(p), found->expected);
}

/* -- The document ---------------------------------------------------------- */

static regal_status parse_document(parser *p) {
  size_t size = (size_t)(p->source.end - p->source.begin);
  yajl_status outcome =
      yajl_parse(p->yajl, (const unsigned char *)p->source.begin, size);
  if (outcome == yajl_status_ok) {
    p->all_read = true;
    outcome = yajl_complete_parse(p->yajl);
  }
  if (outcome == yajl_status_client_canceled)
    return p->status;
  if (outcome == yajl_status_error)
    return fail_syntax(p);
  /* yajl overlooks a string that begins behind the document. */
  const char *rest = skip_space(p, p->at);
  if (rest != p->source.end)
    return regal_json_fail_expected(&p->source, rest, "the end of the file");
  return REGAL_OK;
}

static regal_status parse_text(const regal_json_source *source,
                               regal_json *json) {
  regal_context *context = source->context;
  size_t longest, size = (size_t)(source->end - source->begin);
  regal_json_memory memory;
  REGAL_TRY(regal_json_check_text(source, &longest));
  json->strings = regal_alloc(context, size + 1, 1);
  if (!json->strings)
    return regal_fail_memory(context);
  REGAL_TRY(regal_json_memory_create(context, longest, &memory));
  parser p = {.source = *source, .json = json, .at = source->begin, .line = 1};
  yajl_alloc_funcs functions = regal_json_memory_functions(&memory);
  p.yajl = yajl_alloc(&callbacks, &functions, &p);
  regal_status status = parse_document(&p);
  yajl_free(p.yajl);
  regal_json_memory_free(context, &memory);
  return status;
}

regal_status regal_json_parse(regal_context *context, const char *name,
                              const char *bytes, size_t size,
                              regal_json *json) {
  regal_json_source source = {context, name, bytes, bytes + size};
  *json = (regal_json){.context = context, .name = name};
  regal_status status = parse_text(&source, json);
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
