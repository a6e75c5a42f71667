/* SPDX-License-Identifier: Apache-2.0 */
/* Shapes of inputs that the user gives: --shape x=1,3,48,192,mask=1,48.
 *
 * A dimension without a name can be set in no other way. The shape must agree
 * with what the model says: it fills in what the model leaves open. A dimension
 * with a name gets its size by this everywhere in the model, as by --dim.
 */
#include "format/onnx/onnx.h"

#include <string.h>

#include "graph/builder.h"

typedef RegalOnnx__ValueInfoProto value_info;
typedef RegalOnnx__TensorShapeProto tensor_shape;

#define MOST_RANK 64

static regal_status fail(const regal_onnx *onnx, const char *item,
                         size_t length) {
  return regal_fail(onnx->context, REGAL_BAD_INPUT,
                    "--shape: \"%.*s\" is not INPUT=SIZE,..., such as "
                    "x=1,3,48,192, with sizes from 1 to 2^40",
                    (int)(length > 200 ? 200 : length), item);
}

/* -- Reading --------------------------------------------------------------- */

static regal_status begin_shape(regal_onnx *onnx, const char *name,
                                size_t length) {
  char *copy = regal_arena_alloc(&onnx->keep, length + 1, 1);
  int64_t *dims = regal_arena_alloc(&onnx->keep, MOST_RANK, sizeof *dims);
  if (!copy || !dims ||
      !REGAL_RESERVE(onnx->context, onnx->shapes, onnx->shape_count,
                     onnx->shape_capacity))
    return regal_fail_memory(onnx->context);
  memcpy(copy, name, length);
  for (size_t i = 0; i < onnx->shape_count; i++)
    if (!strcmp(onnx->shapes[i].name, copy))
      return regal_fail(onnx->context, REGAL_BAD_INPUT,
                        "--shape: input %s is there twice",
                        regal_quote(copy).text);
  onnx->shapes[onnx->shape_count++] =
      (regal_onnx_input_shape){.name = copy, .dims = dims};
  return REGAL_OK;
}

/* "x=1" begins a shape, "3" is its next size. */
static regal_status read_item(regal_onnx *onnx, const char *item,
                              size_t length) {
  const char *end = item + length, *equals = end;
  while (equals > item && *equals != '=')
    equals--;
  const char *number = *equals == '=' ? equals + 1 : item;
  if (number > item && equals > item)
    REGAL_TRY(begin_shape(onnx, item, (size_t)(equals - item)));
  else if (number > item || !onnx->shape_count)
    return fail(onnx, item, length);
  if (number > item && number == end) /* a scalar: "x=" */
    return REGAL_OK;
  regal_onnx_input_shape *shape = &onnx->shapes[onnx->shape_count - 1];
  int64_t size;
  if (shape->rank == MOST_RANK || !regal_onnx_parse_size(number, end, &size))
    return fail(onnx, item, length);
  shape->dims[shape->rank++] = size;
  return REGAL_OK;
}

regal_status regal_onnx_read_shapes(regal_onnx *onnx) {
  for (const char *item = onnx->options->shape; *item;) {
    size_t length = strcspn(item, ",");
    REGAL_TRY(read_item(onnx, item, length));
    item += length + (item[length] == ',');
  }
  return REGAL_OK;
}

/* -- Putting them in ------------------------------------------------------- */

static regal_status fail_size(const regal_onnx *onnx, const value_info *info,
                              size_t axis, int64_t given, const char *name,
                              int64_t known) {
  return regal_fail(onnx->context, REGAL_BAD_INPUT,
                    "%s: --shape: dimension %zu of input %s is %lld, but %s%s "
                    "%lld",
                    onnx->path, axis, regal_quote(info->name).text,
                    (long long)given, name ? regal_quote(name).text : "",
                    name ? " is elsewhere" : "the model says",
                    (long long)known);
}

static regal_status fill_dimension(regal_onnx *onnx, const value_info *info,
                                   size_t axis, int64_t size) {
  regal_onnx_dimension *dim = info->type->tensor_type->shape->dim[axis];
  if (regal_onnx_dim_is_number(dim))
    return dim->dim_value == size
               ? REGAL_OK
               : fail_size(onnx, info, axis, size, NULL, dim->dim_value);
  if (!regal_onnx_dim_is_named(dim)) {
    regal_onnx_dim_set(dim, size);
    return REGAL_OK;
  }
  const char *name = dim->dim_param;
  const regal_onnx_size *known = regal_onnx_find_size(onnx, name);
  if (known && known->value != size)
    return fail_size(onnx, info, axis, size, name, known->value);
  return known ? REGAL_OK
               : regal_onnx_add_size(onnx, name, strlen(name), size, true);
}

static regal_status make_shape(regal_onnx *onnx, size_t rank,
                               tensor_shape **made) {
  tensor_shape *shape = regal_arena_alloc(&onnx->arena, 1, sizeof *shape);
  regal_onnx_dimension **dims =
      regal_arena_alloc(&onnx->arena, rank, sizeof *dims);
  regal_onnx_dimension *dim =
      regal_arena_alloc(&onnx->arena, rank, sizeof *dim);
  if (!shape || !dims || !dim)
    return regal_fail_memory(onnx->context);
  regal_onnx__tensor_shape_proto__init(shape);
  for (size_t i = 0; i < rank; i++) {
    regal_onnx__tensor_shape_proto__dimension__init(&dim[i]);
    dims[i] = &dim[i];
  }
  shape->n_dim = rank;
  shape->dim = dims;
  *made = shape;
  return REGAL_OK;
}

static regal_status fill_input(regal_onnx *onnx, const value_info *info,
                               regal_onnx_input_shape *given) {
  const regal_onnx_type_proto *type = info->type;
  given->used = true;
  if (!type || type->value_case != REGAL_ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE)
    return regal_fail(onnx->context, REGAL_BAD_INPUT,
                      "%s: --shape: the model does not say that input %s is a "
                      "tensor, and of which type",
                      onnx->path, regal_quote(info->name).text);
  if (!type->tensor_type->shape)
    REGAL_TRY(make_shape(onnx, given->rank, &type->tensor_type->shape));
  if (type->tensor_type->shape->n_dim != given->rank)
    return regal_fail(onnx->context, REGAL_BAD_INPUT,
                      "%s: --shape: input %s has %zu dimensions, expected %zu",
                      onnx->path, regal_quote(info->name).text, given->rank,
                      type->tensor_type->shape->n_dim);
  for (size_t i = 0; i < given->rank; i++)
    REGAL_TRY(fill_dimension(onnx, info, i, given->dims[i]));
  return REGAL_OK;
}

static regal_status fail_input(const regal_onnx *onnx, const char *name) {
  const regal_onnx_graph *graph = onnx->model->graph;
  char list[512] = "";
  size_t at = 0;
  for (size_t i = 0; i < graph->n_input && at < sizeof list; i++)
    at += (size_t)snprintf(list + at, sizeof list - at, "%s%s", i ? ", " : "",
                           regal_quote(graph->input[i]->name).text);
  return regal_fail(onnx->context, REGAL_BAD_INPUT,
                    "%s: --shape: the model has no input %s; it has %s",
                    onnx->path, regal_quote(name).text, at ? list : "none");
}

regal_status regal_onnx_set_shapes(regal_onnx *onnx) {
  const regal_onnx_graph *graph = onnx->model->graph;
  for (size_t s = 0; s < onnx->shape_count; s++) {
    regal_onnx_input_shape *shape = &onnx->shapes[s];
    for (size_t i = 0; i < graph->n_input; i++)
      if (!strcmp(graph->input[i]->name, shape->name))
        REGAL_TRY(fill_input(onnx, graph->input[i], shape));
    if (!shape->used)
      return fail_input(onnx, shape->name);
  }
  return REGAL_OK;
}
