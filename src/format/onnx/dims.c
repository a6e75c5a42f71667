/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers for symbolic dimensions: from --dim or --shape (input_shapes.c), or
 * 1, with a note.
 *
 * Only dimensions of the graph's inputs are counted as 1: the others follow
 * from them, by inference.
 */
#include "format/onnx/onnx.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "graph/builder.h"

#define MOST_SIZE (INT64_C(1) << 40)
#define MOST_NAMES 1000

typedef regal_onnx_dimension dimension;
typedef RegalOnnx__ValueInfoProto value_info;

bool regal_onnx_parse_size(const char *text, const char *end, int64_t *size) {
  char *stop;
  errno = 0;
  long long value = strtoll(text, &stop, 10);
  *size = value;
  return regal_is_digit(*text) && stop == end && !errno && value >= 1 &&
         value <= MOST_SIZE;
}

/* -- --dim ----------------------------------------------------------------- */

regal_onnx_size *regal_onnx_find_size(const regal_onnx *onnx,
                                      const char *name) {
  for (size_t i = 0; i < onnx->size_count; i++)
    if (!strcmp(onnx->sizes[i].name, name))
      return &onnx->sizes[i];
  return NULL;
}

regal_status regal_onnx_add_size(regal_onnx *onnx, const char *name,
                                 size_t length, int64_t value, bool given) {
  if (onnx->size_count == MOST_NAMES)
    return regal_fail(onnx->context, REGAL_BAD_INPUT,
                      "%s: more than %d symbolic dimensions", onnx->path,
                      MOST_NAMES);
  char *copy = regal_arena_alloc(&onnx->keep, length + 1, 1);
  if (!copy || !REGAL_RESERVE(onnx->context, onnx->sizes, onnx->size_count,
                              onnx->size_capacity))
    return regal_fail_memory(onnx->context);
  memcpy(copy, name, length);
  onnx->sizes[onnx->size_count++] =
      (regal_onnx_size){copy, value, given, false};
  return REGAL_OK;
}

static regal_status fail_item(const regal_onnx *onnx, const char *item,
                              size_t length) {
  return regal_fail(onnx->context, REGAL_BAD_INPUT,
                    "--dim: \"%.*s\" is not NAME=SIZE, such as batch=8",
                    (int)(length > 200 ? 200 : length), item);
}

/* One "batch=8" of the list. */
static regal_status read_item(regal_onnx *onnx, const char *item,
                              size_t length) {
  const char *equals = item + length;
  while (equals > item && *equals != '=')
    equals--;
  if (equals == item || equals[1] < '0' || equals[1] > '9')
    return fail_item(onnx, item, length);
  int64_t value;
  size_t digits = strspn(equals + 1, "0123456789");
  if (equals + 1 + digits != item + length)
    return fail_item(onnx, item, length);
  if (!regal_onnx_parse_size(equals + 1, item + length, &value))
    return regal_fail(onnx->context, REGAL_BAD_INPUT,
                      "--dim: the size in \"%.*s\" is not within 1 and 2^40",
                      (int)(length > 200 ? 200 : length), item);
  size_t name = (size_t)(equals - item);
  REGAL_TRY(regal_onnx_add_size(onnx, item, name, value, true));
  const regal_onnx_size *last = &onnx->sizes[onnx->size_count - 1];
  if (regal_onnx_find_size(onnx, last->name) != last)
    return regal_fail(onnx->context, REGAL_BAD_INPUT,
                      "--dim: %s is there twice", regal_quote(last->name).text);
  return REGAL_OK;
}

regal_status regal_onnx_read_sizes(regal_onnx *onnx) {
  for (const char *item = onnx->options->dim; *item;) {
    size_t length = strcspn(item, ",");
    REGAL_TRY(read_item(onnx, item, length));
    item += length + (item[length] == ',');
  }
  return REGAL_OK;
}

/* -- Putting them in ------------------------------------------------------- */

void regal_onnx_dim_set(dimension *dim, int64_t value) {
  dim->value_case = REGAL_ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE;
  dim->dim_value = value;
}

bool regal_onnx_dim_is_named(const dimension *dim) {
  return dim->value_case ==
             REGAL_ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM &&
         *dim->dim_param && strcmp(dim->dim_param, "?") != 0;
}

bool regal_onnx_dim_is_number(const dimension *dim) {
  return dim->value_case ==
             REGAL_ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE &&
         dim->dim_value >= 0;
}

static RegalOnnx__TensorShapeProto *shape_of(const value_info *info) {
  const regal_onnx_type_proto *type = info->type;
  return type && type->value_case == REGAL_ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE
             ? type->tensor_type->shape
             : NULL;
}

/* "x=N,3,N,N": what the user can give with --shape. */
static regal_status keep_nameless(regal_onnx *onnx, const value_info *info) {
  const RegalOnnx__TensorShapeProto *shape = shape_of(info);
  regal_text text;
  regal_text_init(&text, onnx->context);
  regal_text_format(&text, "%s", info->name);
  for (size_t i = 0; i < shape->n_dim; i++) {
    regal_text_format(&text, i ? "," : "=");
    if (regal_onnx_dim_is_number(shape->dim[i]))
      regal_text_format(&text, "%lld", (long long)shape->dim[i]->dim_value);
    else
      regal_text_format(&text, "N");
  }
  char *copy =
      text.failed ? NULL : regal_arena_alloc(&onnx->keep, text.size + 1, 1);
  if (copy)
    memcpy(copy, text.bytes, text.size);
  regal_text_free(&text);
  onnx->nameless_shape = copy;
  return copy ? REGAL_OK : regal_fail_memory(onnx->context);
}

static regal_status settle_nameless(regal_onnx *onnx, const value_info *info,
                                    dimension *dim) {
  if (!onnx->nameless_shape)
    REGAL_TRY(keep_nameless(onnx, info));
  onnx->nameless++;
  regal_onnx_dim_set(dim, 1);
  return REGAL_OK;
}

/* An input's dimension without a number becomes a size of its own, if it has a
 * name or is no initializer's. */
static regal_status settle_input(regal_onnx *onnx,
                                 const regal_names *initializers,
                                 const value_info *info) {
  bool is_initializer =
      regal_names_find(initializers, info->name) != REGAL_NO_NAME;
  RegalOnnx__TensorShapeProto *shape = shape_of(info);
  for (size_t i = 0; shape && i < shape->n_dim; i++) {
    dimension *dim = shape->dim[i];
    const char *name = dim->dim_param;
    if (regal_onnx_dim_is_number(dim))
      continue;
    if (regal_onnx_dim_is_named(dim) && !regal_onnx_find_size(onnx, name))
      REGAL_TRY(regal_onnx_add_size(onnx, name, strlen(name), 1, false));
    else if (!regal_onnx_dim_is_named(dim) && !is_initializer)
      REGAL_TRY(settle_nameless(onnx, info, dim));
  }
  return REGAL_OK;
}

static regal_status settle_inputs(regal_onnx *onnx, regal_names *initializers) {
  const regal_onnx_graph *graph = onnx->model->graph;
  size_t number;
  for (size_t i = 0; i < graph->n_initializer; i++)
    if (!regal_names_add(initializers, graph->initializer[i]->name, &number))
      return regal_fail_memory(onnx->context);
  for (size_t i = 0; i < graph->n_input; i++)
    REGAL_TRY(settle_input(onnx, initializers, graph->input[i]));
  return REGAL_OK;
}

/* By its name, or as an expression of others. */
static void replace(const regal_onnx *onnx, dimension *dim) {
  int64_t computed;
  if (!regal_onnx_dim_is_named(dim))
    return;
  regal_onnx_size *size = regal_onnx_find_size(onnx, dim->dim_param);
  if (size) {
    size->used = true;
    regal_onnx_dim_set(dim, size->value);
  } else if (regal_onnx_compute_size(onnx, dim->dim_param, &computed)) {
    regal_onnx_dim_set(dim, computed);
  }
}

static void replace_in(const regal_onnx *onnx, value_info *const *infos,
                       size_t count) {
  for (size_t i = 0; i < count; i++) {
    RegalOnnx__TensorShapeProto *shape = shape_of(infos[i]);
    for (size_t d = 0; shape && d < shape->n_dim; d++)
      replace(onnx, shape->dim[d]);
  }
}

/* In a graph and in the bodies of its nodes, which nest as messages do. */
static void replace_all(const regal_onnx *onnx, const regal_onnx_graph *graph) {
  replace_in(onnx, graph->input, graph->n_input);
  replace_in(onnx, graph->output, graph->n_output);
  replace_in(onnx, graph->value_info, graph->n_value_info);
  for (size_t n = 0; n < graph->n_node; n++)
    for (size_t a = 0; a < graph->node[n]->n_attribute; a++) {
      const regal_onnx_attribute *attribute = graph->node[n]->attribute[a];
      if (attribute->g)
        replace_all(onnx, attribute->g);
      for (size_t g = 0; g < attribute->n_graphs; g++)
        replace_all(onnx, attribute->graphs[g]);
    }
}

regal_status regal_onnx_set_sizes(regal_onnx *onnx) {
  regal_names initializers;
  REGAL_TRY(regal_onnx_set_shapes(onnx));
  regal_names_init(&initializers, onnx->context);
  regal_status status = settle_inputs(onnx, &initializers);
  regal_names_free(&initializers);
  if (status == REGAL_OK)
    replace_all(onnx, onnx->model->graph);
  return status;
}

/* "?" is what some exporters write in place of a name. */
static regal_status fail_unused(const regal_onnx *onnx, const char *name,
                                const char *list) {
  bool no_name = !strcmp(name, "?") && onnx->nameless_shape;
  return regal_fail(
      onnx->context, REGAL_BAD_INPUT,
      "%s: --dim: the model has no dimension %s; it has %s%s%s", onnx->path,
      regal_quote(name).text, *list ? list : "none with a name",
      no_name ? "; use --shape " : "", no_name ? onnx->nameless_shape : "");
}

/* A name that is not in the model is a slip. */
regal_status regal_onnx_check_sizes(const regal_onnx *onnx) {
  char list[512] = "";
  size_t at = 0;
  const regal_onnx_size *unused = NULL;
  for (size_t i = 0; i < onnx->size_count; i++) {
    const regal_onnx_size *size = &onnx->sizes[i];
    if (!size->used && !unused)
      unused = size;
    else if (size->used && at < sizeof list)
      at += (size_t)snprintf(list + at, sizeof list - at, "%s%s",
                             at ? ", " : "", regal_quote(size->name).text);
  }
  return unused ? fail_unused(onnx, unused->name, list) : REGAL_OK;
}
