/* SPDX-License-Identifier: Apache-2.0 */
/* Values by name, in nested scopes, with their shapes and sizes. The body of an
 * If, Loop or Scan sees the values of the graphs around it.
 */
#include "format/onnx/onnx.h"

#include <string.h>

#include "graph/builder.h"

/* -- Names ----------------------------------------------------------------- */

void regal_onnx_clear_values(regal_onnx *onnx) {
  onnx->value_count = onnx->scope_count = 0;
  regal_names_clear(&onnx->names);
}

regal_status regal_onnx_open_scope(regal_onnx *onnx, uint32_t parent,
                                   uint32_t *scope) {
  if (!REGAL_RESERVE(onnx->context, onnx->parents, onnx->scope_count,
                     onnx->scope_capacity))
    return regal_fail_memory(onnx->context);
  *scope = (uint32_t)onnx->scope_count;
  onnx->parents[onnx->scope_count++] = parent;
  return REGAL_OK;
}

uint32_t regal_onnx_local(const regal_onnx *onnx, uint32_t scope,
                          const char *name) {
  size_t found = regal_names_find_in(&onnx->names, scope, name);
  return found == REGAL_NO_NAME ? REGAL_NONE : (uint32_t)found;
}

uint32_t regal_onnx_lookup(const regal_onnx *onnx, uint32_t scope,
                           const char *name) {
  for (; scope != REGAL_NONE; scope = onnx->parents[scope]) {
    uint32_t value = regal_onnx_local(onnx, scope, name);
    if (value != REGAL_NONE && onnx->values[value].made)
      return value;
  }
  return REGAL_NONE;
}

regal_status regal_onnx_declare(regal_onnx *onnx, uint32_t scope,
                                const char *name, uint32_t *value) {
  size_t number;
  if (!REGAL_RESERVE(onnx->context, onnx->values, onnx->value_count,
                     onnx->value_capacity) ||
      !regal_names_add_in(&onnx->names, scope, name, &number))
    return regal_fail_memory(onnx->context);
  *value = (uint32_t)number;
  if (number == onnx->value_count)
    onnx->values[onnx->value_count++] =
        (regal_onnx_value){.name = name,
                           .scope = scope,
                           .node = REGAL_NONE,
                           .root = *value,
                           .parameter = REGAL_NONE};
  return REGAL_OK;
}

/* -- Shapes ---------------------------------------------------------------- */

unsigned regal_onnx_bits(int type) {
  static const uint8_t bits[] = {
      [REGAL_ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT] = 32,
      [REGAL_ONNX__TENSOR_PROTO__DATA_TYPE__UINT8] = 8,
      [REGAL_ONNX__TENSOR_PROTO__DATA_TYPE__INT8] = 8,
      [REGAL_ONNX__TENSOR_PROTO__DATA_TYPE__UINT16] = 16,
      [REGAL_ONNX__TENSOR_PROTO__DATA_TYPE__INT16] = 16,
      [REGAL_ONNX__TENSOR_PROTO__DATA_TYPE__INT32] = 32,
      [REGAL_ONNX__TENSOR_PROTO__DATA_TYPE__INT64] = 64,
      /* A pointer and a length; what it points to is unknown. */
      [REGAL_ONNX__TENSOR_PROTO__DATA_TYPE__STRING] = 128,
      [REGAL_ONNX__TENSOR_PROTO__DATA_TYPE__BOOL] = 8,
      [REGAL_ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT16] = 16,
      [REGAL_ONNX__TENSOR_PROTO__DATA_TYPE__DOUBLE] = 64,
      [REGAL_ONNX__TENSOR_PROTO__DATA_TYPE__UINT32] = 32,
      [REGAL_ONNX__TENSOR_PROTO__DATA_TYPE__UINT64] = 64,
      [REGAL_ONNX__TENSOR_PROTO__DATA_TYPE__COMPLEX64] = 64,
      [REGAL_ONNX__TENSOR_PROTO__DATA_TYPE__COMPLEX128] = 128,
      [REGAL_ONNX__TENSOR_PROTO__DATA_TYPE__BFLOAT16] = 16,
      [REGAL_ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT8E4M3FN] = 8,
      [REGAL_ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT8E4M3FNUZ] = 8,
      [REGAL_ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT8E5M2] = 8,
      [REGAL_ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT8E5M2FNUZ] = 8,
      [REGAL_ONNX__TENSOR_PROTO__DATA_TYPE__UINT4] = 4,
      [REGAL_ONNX__TENSOR_PROTO__DATA_TYPE__INT4] = 4,
      [REGAL_ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT4E2M1] = 4,
      [REGAL_ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT8E8M0] = 8,
      [REGAL_ONNX__TENSOR_PROTO__DATA_TYPE__UINT2] = 2,
      [REGAL_ONNX__TENSOR_PROTO__DATA_TYPE__INT2] = 2};
  return type > 0 && (size_t)type < sizeof bits ? bits[type] : 0;
}

/* The bytes of a shape; negative when there are 2^62 or more. */
static int64_t count_bytes(const int64_t *dims, size_t rank, unsigned bits) {
  int64_t elements = 1, total;
  for (size_t i = 0; i < rank; i++)
    if (!dims[i])
      return 0;
  for (size_t i = 0; i < rank; i++)
    if (__builtin_mul_overflow(elements, dims[i], &elements))
      return -1;
  int64_t per_byte = bits < 8 ? 8 / bits : 1; /* elements */
  elements = elements / per_byte + (elements % per_byte != 0);
  if (__builtin_mul_overflow(elements, bits < 8 ? 1 : bits / 8, &total))
    return -1;
  return total < REGAL_MOST_TOTAL ? total : -1;
}

regal_status regal_onnx_set_shape(regal_onnx *onnx, uint32_t value, int type,
                                  const int64_t *dims, size_t rank) {
  regal_onnx_value *made = &onnx->values[value];
  unsigned bits = regal_onnx_bits(type);
  if (!bits || rank > UINT32_MAX)
    return REGAL_OK;
  int64_t bytes = count_bytes(dims, rank, bits);
  if (bytes < 0)
    return regal_onnx_fail(onnx, "tensor %s has more than 2^62 bytes",
                           regal_quote(made->name).text);
  int64_t *copy = regal_arena_alloc(&onnx->arena, rank, sizeof *copy);
  if (!copy)
    return regal_fail_memory(onnx->context);
  if (rank)
    memcpy(copy, dims, rank * sizeof *copy);
  made->dims = copy;
  made->rank = (uint32_t)rank;
  made->type = (uint8_t)type;
  made->bytes = bytes;
  made->shaped = true;
  return REGAL_OK;
}

/* The numbers of a shape, when it has them all; else *dims stays. */
static regal_status read_dims(regal_onnx *onnx,
                              const RegalOnnx__TensorShapeProto *shape,
                              int64_t **dims) {
  int64_t *made = regal_arena_alloc(&onnx->arena, shape->n_dim, sizeof *made);
  if (!made)
    return regal_fail_memory(onnx->context);
  for (size_t i = 0; i < shape->n_dim; i++) {
    const RegalOnnx__TensorShapeProto__Dimension *dim = shape->dim[i];
    if (dim->value_case !=
            REGAL_ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE ||
        dim->dim_value < 0)
      return REGAL_OK;
    made[i] = dim->dim_value;
  }
  *dims = made;
  return REGAL_OK;
}

regal_status regal_onnx_set_type(regal_onnx *onnx, uint32_t value,
                                 const regal_onnx_type_proto *type) {
  if (!type || type->value_case == REGAL_ONNX__TYPE_PROTO__VALUE__NOT_SET)
    return REGAL_OK;
  onnx->values[value].no_tensor =
      type->value_case != REGAL_ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE;
  if (onnx->values[value].no_tensor)
    return REGAL_OK;
  const RegalOnnx__TypeProto__Tensor *tensor = type->tensor_type;
  int64_t *dims = NULL;
  if (regal_onnx_bits(tensor->elem_type))
    onnx->values[value].type = (uint8_t)tensor->elem_type;
  if (!tensor->shape)
    return REGAL_OK;
  REGAL_TRY(read_dims(onnx, tensor->shape, &dims));
  if (!dims)
    return REGAL_OK;
  return regal_onnx_set_shape(onnx, value, tensor->elem_type, dims,
                              tensor->shape->n_dim);
}

void regal_onnx_need_size(regal_onnx *onnx, uint32_t value) {
  regal_onnx_value *needed = &onnx->values[value];
  if (needed->counted)
    return;
  needed->counted = true;
  onnx->counts.sized++;
  if (needed->shaped)
    return;
  regal_onnx_count(needed->no_tensor ? &onnx->counts.no_tensors
                                     : &onnx->counts.missing,
                   needed->name);
  if (onnx->assumes_sizes)
    needed->bytes = onnx->options->assume_unknown_bytes;
}

/* -- Contents -------------------------------------------------------------- */

/* The first number of `bytes` little endian bytes, with its sign. */
static int64_t first_of(const uint8_t *data, size_t bytes, bool is_signed) {
  uint64_t number = 0;
  for (size_t i = 0; i < bytes; i++)
    number |= (uint64_t)data[i] << 8 * i;
  if (is_signed && bytes < 8 && data[bytes - 1] & 0x80)
    number |= ~UINT64_C(0) << 8 * bytes;
  return (int64_t)number;
}

bool regal_onnx_integer(const regal_onnx_value *value, int64_t *number) {
  const regal_onnx_tensor *tensor = value->tensor;
  if (!tensor)
    return false;
  if (tensor->n_int64_data) {
    *number = tensor->int64_data[0];
    return true;
  }
  if (tensor->n_int32_data) {
    *number = tensor->int32_data[0];
    return true;
  }
  int type = tensor->data_type;
  if (type != REGAL_ONNX__TENSOR_PROTO__DATA_TYPE__INT64 &&
      type != REGAL_ONNX__TENSOR_PROTO__DATA_TYPE__INT32 &&
      type != REGAL_ONNX__TENSOR_PROTO__DATA_TYPE__BOOL)
    return false;
  size_t bytes = regal_onnx_bits(type) / 8;
  if (tensor->raw_data.len < bytes)
    return false;
  *number = first_of(tensor->raw_data.data, bytes, bytes > 1);
  return true;
}
