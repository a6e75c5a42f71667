/* SPDX-License-Identifier: Apache-2.0 */
/* The text of `regal generate --pipeline`: key=value, separated by commas. One
 * table has the keys, their defaults and their ranges. */
#include <stddef.h>
#include <string.h>

#include "base/text.h"
#include "dataset/synthetic/pipeline.h"
#include "regal_data.h"

/* Ops of a graph have 32-bit numbers; this many are far beyond any use. */
#define MOST_LAYERS 1000000
#define MOST_PARTS 50000000 /* layers * microbatches */

typedef enum key_kind { COUNT, DURATION, BYTES, FLAG } key_kind;

typedef struct key {
  const char *name;
  size_t offset; /* of its field */
  key_kind kind;
  int64_t fallback; /* counts: 0, they must be given */
} key;

#define KEY(name, field, kind, fallback)                                       \
  { name, offsetof(regal_pipeline_shape, field), kind, fallback }

static const key keys[] = {
    KEY("layers", layers, COUNT, 0),
    KEY("microbatches", microbatches, COUNT, 0),
    KEY("forward", forward_ns, DURATION, 1000000),
    KEY("backward", backward_ns, DURATION, 1000000),
    KEY("weight", weight_ns, DURATION, 1000000),
    KEY("optimizer", optimizer_ns, DURATION, 0),
    KEY("activation", activation_bytes, BYTES, 64000000),
    KEY("weight-activation", weight_activation_bytes, BYTES, 64000000),
    KEY("wire", wire_bytes, BYTES, 16000000),
    KEY("parameter", parameter_bytes, BYTES, 0),
    KEY("fused", fused, FLAG, 0),
};
enum { KEYS = sizeof keys / sizeof *keys };

static int64_t *field_of(regal_pipeline_shape *shape, const key *key) {
  return (int64_t *)((char *)shape + key->offset);
}

static regal_status fail_key(regal_context *context, const char *name) {
  char list[256] = "";
  for (size_t i = 0, at = 0; i < KEYS; i++)
    at += (size_t)snprintf(list + at, sizeof list - at, "%s%s", i ? ", " : "",
                           keys[i].name);
  return regal_fail(context, REGAL_BAD_INPUT,
                    "--pipeline: there is no '%.60s'; there are %s", name,
                    list);
}

static bool read_value(key_kind kind, const char *value, int64_t *read) {
  switch (kind) {
  case DURATION: /* two are added */
    return regal_parse_duration(value, read) && *read <= INT64_MAX / 2;
  case FLAG:
    *read = strcmp(value, "no") != 0;
    return !*read || !strcmp(value, "yes");
  case COUNT:
    return regal_parse_bytes(value, read) && *read >= 1 && *read <= MOST_LAYERS;
  default:
    return regal_parse_bytes(value, read);
  }
}

static regal_status read_item(regal_context *context, char *item,
                              regal_pipeline_shape *shape, bool *given) {
  static const char *const expected[] = {[COUNT] = "a number from 1 to 1000000",
                                         [DURATION] = "a duration such as 2ms",
                                         [BYTES] = "bytes such as 64MB",
                                         [FLAG] = "yes or no"};
  char *value = strchr(item, '=');
  size_t i = 0;
  if (value)
    *value++ = 0;
  while (i < KEYS && strcmp(keys[i].name, item))
    i++;
  if (i == KEYS)
    return fail_key(context, item);
  if (given[i])
    return regal_fail(context, REGAL_BAD_INPUT,
                      "--pipeline: '%s' is given twice", item);
  given[i] = true;
  if (!value && keys[i].kind == FLAG)
    value = "yes";
  if (value && read_value(keys[i].kind, value, field_of(shape, &keys[i])))
    return REGAL_OK;
  return regal_fail(context, REGAL_BAD_INPUT,
                    "--pipeline: %s: found '%.60s', expected %s", item,
                    value ? value : "", expected[keys[i].kind]);
}

static regal_status check(regal_context *context,
                          const regal_pipeline_shape *shape) {
  if (!shape->layers || !shape->microbatches)
    return regal_fail(context, REGAL_BAD_INPUT,
                      "--pipeline needs layers and microbatches, such as "
                      "layers=32,microbatches=16");
  if (shape->layers > MOST_PARTS / shape->microbatches)
    return regal_fail(context, REGAL_BAD_INPUT,
                      "--pipeline: layers times microbatches: at most %d",
                      MOST_PARTS);
  return REGAL_OK;
}

/* `text` is cut into its items. */
static regal_status read_items(regal_context *context, char *text,
                               regal_pipeline_shape *shape) {
  bool given[KEYS] = {false};
  for (size_t i = 0; i < KEYS; i++)
    *field_of(shape, &keys[i]) = keys[i].fallback;
  while (text) {
    char *next = strchr(text, ',');
    if (next)
      *next++ = 0;
    REGAL_TRY(read_item(context, text, shape, given));
    text = next;
  }
  return check(context, shape);
}

regal_status regal_pipeline_shape_read(regal_context *context, const char *text,
                                       regal_pipeline_shape *shape) {
  regal_pipeline_shape read;
  char *copy = regal_copy_text(context, text);
  if (!copy)
    return regal_fail_memory(context);
  regal_status status = read_items(context, copy, &read);
  regal_release(context, copy);
  if (status == REGAL_OK)
    *shape = read;
  return status;
}

regal_status regal_generate_pipeline(regal_context *context, const char *shape,
                                     regal_graph **graph) {
  regal_pipeline_shape read;
  if (!context)
    return REGAL_MISUSE;
  if (!shape || !graph)
    return regal_fail(context, REGAL_MISUSE,
                      "generating a pipeline needs its shape and a place to "
                      "put it");
  REGAL_TRY(regal_pipeline_shape_read(context, shape, &read));
  return regal_pipeline_graph(context, &read, graph);
}
