/* SPDX-License-Identifier: Apache-2.0 */
/* A JSON document in memory, each value with its line, so that errors
 * can name it: by the line, and by the place in the document, which helps in a
 * file that is one line.
 *
 * Values are nodes of one array in the order of the document, node 0 is the
 * document; strings and numbers are zero-terminated text in one block. Memory
 * is linear in the file and comes from the context. Strings with \u0000 are
 * refused.
 */
#ifndef REGAL_FORMAT_JSON_JSON_H
#define REGAL_FORMAT_JSON_JSON_H

#include "base/text.h"

typedef enum regal_json_kind {
  REGAL_JSON_NULL,
  REGAL_JSON_FALSE,
  REGAL_JSON_TRUE,
  REGAL_JSON_NUMBER,
  REGAL_JSON_STRING,
  REGAL_JSON_ARRAY,
  REGAL_JSON_OBJECT
} regal_json_kind;

typedef struct regal_json_node {
  const char *key;  /* of a member of an object, else NULL */
  const char *text; /* of a string or number, else NULL */
  uint32_t line;    /* from 1 */
  uint32_t next;    /* the next member or element; 0: none */
  uint32_t child;   /* the first one inside; 0: none */
  uint8_t kind;     /* regal_json_kind */
} regal_json_node;

typedef struct regal_json {
  regal_context *context;
  const char *name; /* of the file, for messages; not owned */
  regal_json_node *nodes;
  size_t count, capacity;
  char *strings;
} regal_json;

/* Whether the bytes begin like an object, space aside, as all our files do; or
 * like a list, for a message about that. "[name" is protobuf's text format. */
bool regal_json_detect(const void *bytes, size_t size);

/* Parses all of `bytes`. On failure `json` holds nothing. Messages begin with
 * NAME:LINE:COLUMN. */
regal_status regal_json_parse(regal_context *context, const char *name,
                              const char *bytes, size_t size, regal_json *json);
void regal_json_free(regal_json *json);

/* Fails with "NAME:LINE: PLACE: ...", where PLACE leads to `node`:
 *   ops[3] "conv": inputs[0]
 * An element of a list with a "name" or an "op" is called by it too. The place
 * of node 0 is left out. */
regal_status regal_json_fail(const regal_json *json, uint32_t node,
                             const char *format, ...) REGAL_FORMAT(3, 4);
/* Fails with "NAME:LINE: PLACE: found ..., expected ...". */
regal_status regal_json_fail_value(const regal_json *json, uint32_t node,
                                   const char *expected);

/* Looks up the members of an object by `keys`, a list that ends with NULL:
 * found[i] is the node of keys[i], or 0. A key that occurs twice is an error;
 * so is one that is not in the list, if `closed`. */
regal_status regal_json_members(const regal_json *json, uint32_t object,
                                bool closed, const char *const *keys,
                                uint32_t *found);

/* Goes through the members of an object or the elements of an array. */
#define REGAL_JSON_EACH(node, json, parent)                                    \
  for (uint32_t node = (json)->nodes[parent].child; node;                      \
       node = (json)->nodes[node].next)

/* How many elements an array has. */
uint32_t regal_json_length(const regal_json *json, uint32_t array);

regal_status regal_json_expect(const regal_json *json, uint32_t node,
                               regal_json_kind kind);

/* Typed values. Node 0 stands for a member that is absent: then the value stays
 * as it is. */
regal_status regal_json_boolean(const regal_json *json, uint32_t node,
                                bool *value);
regal_status regal_json_integer(const regal_json *json, uint32_t node,
                                int64_t low, int64_t high, int64_t *value);
regal_status regal_json_real(const regal_json *json, uint32_t node, double low,
                             double high, double *value);
/* A number, or a text with a unit; bytes need none. */
regal_status regal_json_bytes(const regal_json *json, uint32_t node,
                              int64_t *bytes);
regal_status regal_json_rate(const regal_json *json, uint32_t node,
                             int64_t *bytes_per_second);
regal_status regal_json_duration(const regal_json *json, uint32_t node,
                                 int64_t *ns);

#endif
