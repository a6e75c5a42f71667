/* SPDX-License-Identifier: Apache-2.0 */
/* Small ONNX models, written field by field as tests need them:
 *
 *   onnx_model model = {0};
 *   onnx_input(&model, "x", FLOAT, "1,3,8,8");
 *   onnx_initializer(&model, "w", FLOAT, "16,3,3,3");
 *   onnx_node(&model, "Conv", "conv", "x,w", "y", NULL);
 *   onnx_shape(&model, "y", FLOAT, "1,16,6,6");
 *   onnx_output(&model, "y");
 *   regal_graph *graph = onnx_loaded(context, &model, &options);
 *
 * A model is a graph until it is loaded; a graph can be an attribute of a node.
 * Shapes are lists of numbers and names; "" is a scalar, NULL no shape.
 */
#ifndef REGAL_TESTS_ONNX_MODEL_H
#define REGAL_TESTS_ONNX_MODEL_H

#include <stdlib.h>

#include "support/loaded_graph.h"

enum { FLOAT = 1, INT8 = 3, INT64 = 7, BOOL = 9, FLOAT16 = 10, DOUBLE = 11 };

typedef struct onnx_bytes {
  size_t size;
  char bytes[8192];
} onnx_bytes;

typedef struct onnx_model {
  onnx_bytes graph;
} onnx_model;

/* -- Fields ---------------------------------------------------------------- */

static inline void onnx_put(onnx_bytes *out, const void *bytes, size_t size) {
  assert_true(size <= sizeof out->bytes - out->size);
  memcpy(out->bytes + out->size, bytes, size);
  out->size += size;
}

static inline void onnx_varint(onnx_bytes *out, uint64_t value) {
  for (; value > 0x7F; value >>= 7)
    onnx_put(out, &(uint8_t){(uint8_t)(value | 0x80)}, 1);
  onnx_put(out, &(uint8_t){(uint8_t)value}, 1);
}

static inline void onnx_number(onnx_bytes *out, unsigned field, int64_t value) {
  onnx_varint(out, field << 3);
  onnx_varint(out, (uint64_t)value);
}

static inline void onnx_data(onnx_bytes *out, unsigned field, const void *bytes,
                             size_t size) {
  onnx_varint(out, field << 3 | 2);
  onnx_varint(out, size);
  onnx_put(out, bytes, size);
}

static inline void onnx_text(onnx_bytes *out, unsigned field,
                             const char *text) {
  onnx_data(out, field, text, strlen(text));
}

static inline void onnx_message(onnx_bytes *out, unsigned field,
                                const onnx_bytes *message) {
  onnx_data(out, field, message->bytes, message->size);
}

/* Calls `take` for each item of a list with commas; "" has none. */
static inline void onnx_each(const char *list, onnx_bytes *out,
                             void (*take)(onnx_bytes *out, const char *item)) {
  for (const char *at = list; *list && at;) {
    char item[128];
    size_t length = strcspn(at, ",");
    assert_true(length < sizeof item);
    memcpy(item, at, length);
    item[length] = 0;
    take(out, item);
    at = at[length] ? at + length + 1 : NULL;
  }
}

/* -- Values ---------------------------------------------------------------- */

/* A dimension: a number, a name, or '?' for neither. */
static inline void onnx_dim(onnx_bytes *shape, const char *item) {
  onnx_bytes dim = {0};
  if (*item == '-' || (*item >= '0' && *item <= '9'))
    onnx_number(&dim, 1, strtoll(item, NULL, 10));
  else if (*item != '?')
    onnx_text(&dim, 2, item);
  onnx_message(shape, 1, &dim);
}

static inline void onnx_value(onnx_bytes *graph, unsigned field,
                              const char *name, int type, const char *dims) {
  onnx_bytes value = {0}, any = {0}, tensor = {0}, shape = {0};
  onnx_text(&value, 1, name);
  if (type) {
    onnx_number(&tensor, 1, type);
    if (dims) {
      onnx_each(dims, &shape, onnx_dim);
      onnx_message(&tensor, 2, &shape);
    }
    onnx_message(&any, 1, &tensor);
    onnx_message(&value, 2, &any);
  }
  onnx_message(graph, field, &value);
}

static inline void onnx_input(onnx_model *model, const char *name, int type,
                              const char *dims) {
  onnx_value(&model->graph, 11, name, type, dims);
}

static inline void onnx_shape(onnx_model *model, const char *name, int type,
                              const char *dims) {
  onnx_value(&model->graph, 13, name, type, dims);
}

/* Its type, if any, comes from onnx_shape. */
static inline void onnx_output(onnx_model *model, const char *name) {
  onnx_value(&model->graph, 12, name, 0, NULL);
}

static inline void onnx_tensor_dim(onnx_bytes *tensor, const char *item) {
  onnx_number(tensor, 1, strtoll(item, NULL, 10));
}

static inline void onnx_initializer(onnx_model *model, const char *name,
                                    int type, const char *dims) {
  onnx_bytes tensor = {0};
  onnx_each(dims, &tensor, onnx_tensor_dim);
  onnx_number(&tensor, 2, type);
  onnx_text(&tensor, 8, name);
  onnx_message(&model->graph, 5, &tensor);
}

/* A scalar with its content. */
static inline void onnx_scalar(onnx_model *model, const char *name,
                               int64_t value) {
  onnx_bytes tensor = {0};
  onnx_number(&tensor, 2, INT64);
  onnx_number(&tensor, 7, value);
  onnx_text(&tensor, 8, name);
  onnx_message(&model->graph, 5, &tensor);
}

/* -- Nodes ----------------------------------------------------------------- */

static inline void onnx_node_input(onnx_bytes *node, const char *item) {
  onnx_text(node, 1, item);
}

static inline void onnx_node_output(onnx_bytes *node, const char *item) {
  onnx_text(node, 2, item);
}

static inline void onnx_attribute_int(onnx_bytes *attributes, const char *name,
                                      int64_t value) {
  onnx_bytes attribute = {0};
  onnx_text(&attribute, 1, name);
  onnx_number(&attribute, 3, value);
  onnx_number(&attribute, 20, 2);
  onnx_message(attributes, 5, &attribute);
}

static inline void onnx_one_int(onnx_bytes *attribute, const char *item) {
  onnx_number(attribute, 8, strtoll(item, NULL, 10));
}

static inline void onnx_attribute_ints(onnx_bytes *attributes, const char *name,
                                       const char *values) {
  onnx_bytes attribute = {0};
  onnx_text(&attribute, 1, name);
  onnx_each(values, &attribute, onnx_one_int);
  onnx_number(&attribute, 20, 7);
  onnx_message(attributes, 5, &attribute);
}

static inline void onnx_attribute_text(onnx_bytes *attributes, const char *name,
                                       const char *value) {
  onnx_bytes attribute = {0};
  onnx_text(&attribute, 1, name);
  onnx_text(&attribute, 4, value);
  onnx_number(&attribute, 20, 3);
  onnx_message(attributes, 5, &attribute);
}

static inline void onnx_attribute_graph(onnx_bytes *attributes,
                                        const char *name,
                                        const onnx_model *body) {
  onnx_bytes attribute = {0};
  onnx_text(&attribute, 1, name);
  onnx_message(&attribute, 6, &body->graph);
  onnx_number(&attribute, 20, 5);
  onnx_message(attributes, 5, &attribute);
}

/* The type may be DOMAIN:TYPE. `attributes` may be NULL. */
static inline void onnx_node(onnx_model *model, const char *type,
                             const char *name, const char *inputs,
                             const char *outputs,
                             const onnx_bytes *attributes) {
  onnx_bytes node = {0};
  const char *colon = strchr(type, ':');
  onnx_each(inputs, &node, onnx_node_input);
  onnx_each(outputs, &node, onnx_node_output);
  onnx_text(&node, 3, name);
  onnx_text(&node, 4, colon ? colon + 1 : type);
  if (colon)
    onnx_data(&node, 7, type, (size_t)(colon - type));
  if (attributes)
    onnx_put(&node, attributes->bytes, attributes->size);
  onnx_message(&model->graph, 1, &node);
}

/* -- Models ---------------------------------------------------------------- */

static inline onnx_bytes onnx_written(const onnx_model *model) {
  onnx_bytes bytes = {0}, opset = {0};
  onnx_number(&opset, 2, 17);
  onnx_number(&bytes, 1, 8);
  onnx_message(&bytes, 7, &model->graph);
  onnx_message(&bytes, 8, &opset);
  return bytes;
}

static inline regal_graph *onnx_loaded(regal_context *context,
                                       const onnx_model *model,
                                       const regal_options *options) {
  onnx_bytes bytes = onnx_written(model);
  regal_graph *graph;
  if (regal_graph_load_bytes(context, "t", bytes.bytes, bytes.size, options,
                             &graph) != REGAL_OK)
    fail_msg("%s", regal_error(context));
  return graph;
}

static inline void onnx_expect_error(regal_context *context,
                                     const onnx_model *model,
                                     const regal_options *options,
                                     const char *message) {
  onnx_bytes bytes = onnx_written(model);
  regal_graph *graph = NULL;
  assert_int_equal(regal_graph_load_bytes(context, "t", bytes.bytes, bytes.size,
                                          options, &graph),
                   REGAL_BAD_INPUT);
  assert_string_equal(regal_error(context), message);
  assert_null(graph);
}

#endif
