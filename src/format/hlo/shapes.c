/* SPDX-License-Identifier: Apache-2.0 */
/* Types and shapes: how many bytes a value has in XLA's memory.
 *
 * An element of less than a byte takes one, unless the layout packs elements
 * (element_size_in_bits). Of a tiled layout (TPU) the first tile counts: it
 * pads the minor dimensions to multiples of its own. Further tiles only
 * arrange elements within it.
 */
#include <string.h>

#include "format/costs/roofline.h"
#include "format/hlo/module.h"

#define MOST_BYTES (INT64_C(1) << 62)

typedef struct type_info {
  const char *name;
  uint32_t type;
  int64_t bytes;
  regal_number number;
} type_info;

/* clang-format off */
static const type_info types[] = {
    {"pred", 1, 1, REGAL_NUMBER_INT8},  {"s8", 2, 1, REGAL_NUMBER_INT8},
    {"s16", 3, 2, REGAL_NUMBER_FP32},   {"s32", 4, 4, REGAL_NUMBER_FP32},
    {"s64", 5, 8, REGAL_NUMBER_FP64},   {"u8", 6, 1, REGAL_NUMBER_INT8},
    {"u16", 7, 2, REGAL_NUMBER_FP32},   {"u32", 8, 4, REGAL_NUMBER_FP32},
    {"u64", 9, 8, REGAL_NUMBER_FP64},   {"f16", 10, 2, REGAL_NUMBER_FP16},
    {"f32", 11, 4, REGAL_NUMBER_FP32},  {"f64", 12, 8, REGAL_NUMBER_FP64},
    {"opaque", REGAL_HLO_OPAQUE_TYPE, 0, REGAL_NUMBER_FP32},
    {"c64", 15, 8, REGAL_NUMBER_FP32},  {"bf16", 16, 2, REGAL_NUMBER_BF16},
    {"token", REGAL_HLO_TOKEN_TYPE, 0, REGAL_NUMBER_FP32},
    {"c128", 18, 16, REGAL_NUMBER_FP64}, {"f8e5m2", 19, 1, REGAL_NUMBER_INT8},
    {"f8e4m3fn", 20, 1, REGAL_NUMBER_INT8}, {"s4", 21, 1, REGAL_NUMBER_INT8},
    {"u4", 22, 1, REGAL_NUMBER_INT8},
    {"f8e4m3b11fnuz", 23, 1, REGAL_NUMBER_INT8},
    {"f8e5m2fnuz", 24, 1, REGAL_NUMBER_INT8},
    {"f8e4m3fnuz", 25, 1, REGAL_NUMBER_INT8},
    {"s2", 26, 1, REGAL_NUMBER_INT8},   {"u2", 27, 1, REGAL_NUMBER_INT8},
    {"f8e4m3", 28, 1, REGAL_NUMBER_INT8}, {"f8e3m4", 29, 1, REGAL_NUMBER_INT8},
    {"s1", 30, 1, REGAL_NUMBER_INT8},   {"u1", 31, 1, REGAL_NUMBER_INT8},
    {"f4e2m1fn", 32, 1, REGAL_NUMBER_INT8},
    {"f8e8m0fnu", 33, 1, REGAL_NUMBER_INT8},
    {"f6e3m2fn", 35, 1, REGAL_NUMBER_INT8},
    {"f6e2m3fn", 36, 1, REGAL_NUMBER_INT8}};
/* clang-format on */
#define TYPES (sizeof types / sizeof *types)

static const type_info *find_type(uint32_t type) {
  for (size_t i = 0; i < TYPES; i++)
    if (types[i].type == type)
      return &types[i];
  return NULL;
}

uint32_t regal_hlo_type_named(const char *name, size_t length) {
  for (size_t i = 0; i < TYPES; i++)
    if (strlen(types[i].name) == length &&
        !strncmp(types[i].name, name, length))
      return types[i].type;
  return 0;
}

int regal_hlo_number(uint32_t type) {
  const type_info *info = find_type(type);
  return info ? info->number : REGAL_NUMBER_FP32;
}

/* -- Bytes ----------------------------------------------------------------- */

static bool is_permutation(const int64_t *order, uint32_t rank) {
  uint64_t seen = 0;
  if (rank > 64)
    return false;
  for (uint32_t i = 0; i < rank; i++) {
    if (order[i] < 0 || order[i] >= rank || seen >> order[i] & 1)
      return false;
    seen |= UINT64_C(1) << order[i];
  }
  return true;
}

/* The size of the k-th dimension from the minor one, in the layout. */
static int64_t minor_size(const regal_hlo_shape *shape, uint32_t k) {
  if (k >= shape->rank)
    return 1;
  return shape->dims[shape->minor_to_major ? shape->minor_to_major[k]
                                           : shape->rank - 1 - k];
}

static int64_t padded_size(const regal_hlo_shape *shape, uint32_t k) {
  int64_t size = minor_size(shape, k);
  int64_t tile = k < shape->tiled ? shape->tile[shape->tiled - 1 - k] : 1;
  if (tile <= 1 || size > INT64_MAX - tile)
    return size;
  return (size + tile - 1) / tile * tile;
}

/* The product of all dimensions; false if it is beyond 2^62. */
static bool count_elements(const regal_hlo_shape *shape, int64_t *elements) {
  uint32_t rank = shape->rank > shape->tiled ? shape->rank : shape->tiled;
  int64_t product = 1;
  for (uint32_t k = 0; k < shape->rank; k++)
    if (!shape->dims[k]) {
      *elements = 0;
      return true;
    }
  for (uint32_t k = 0; k < rank; k++)
    if (__builtin_mul_overflow(product, padded_size(shape, k), &product) ||
        product >= MOST_BYTES)
      return false;
  *elements = product;
  return true;
}

static const char *check_dims(const regal_hlo_shape *shape) {
  for (uint32_t k = 0; k < shape->rank; k++) {
    if (shape->dims[k] == INT64_MIN)
      return "a dimension of its shape has no bound";
    if (shape->dims[k] < 0)
      return "a dimension of its shape is negative";
  }
  if (shape->minor_to_major &&
      !is_permutation(shape->minor_to_major, shape->rank))
    return "the layout of its shape is no permutation of the dimensions";
  return NULL;
}

static const char *measure_array(regal_hlo_shape *shape) {
  const type_info *info = find_type(shape->type);
  int64_t elements, bits = shape->element_bits, bytes;
  if (!info)
    return "its shape has a type that is not known";
  const char *wrong = check_dims(shape);
  if (wrong)
    return wrong;
  if (!count_elements(shape, &elements) ||
      __builtin_mul_overflow(elements, info->bytes, &bytes) ||
      bytes >= MOST_BYTES)
    return "the size of its shape is beyond 2^62 bytes";
  if (bits > 0 && bits < 8)
    bytes = elements / 8 * bits + (elements % 8 * bits + 7) / 8;
  shape->bytes = bytes;
  shape->elements = (double)elements;
  shape->leaves = 1;
  return NULL;
}

const char *regal_hlo_measure(regal_hlo_shape *shape) {
  if (shape->type != REGAL_HLO_TUPLE_TYPE)
    return measure_array(shape);
  shape->bytes = 0;
  shape->elements = 0;
  shape->leaves = 0;
  for (uint32_t i = 0; i < shape->parts; i++) {
    regal_hlo_shape *part = &shape->part[i];
    part->first = shape->leaves;
    const char *wrong = regal_hlo_measure(part);
    if (wrong)
      return wrong;
    shape->bytes += part->bytes;
    if (shape->bytes >= MOST_BYTES)
      return "the size of its shape is beyond 2^62 bytes";
    shape->elements += part->elements;
    shape->leaves += part->leaves;
  }
  return NULL;
}

/* -- Comparison and parts -------------------------------------------------- */

static bool same_layout(const regal_hlo_shape *a, const regal_hlo_shape *b) {
  for (uint32_t k = 0; k < a->rank; k++) {
    int64_t x = a->minor_to_major ? a->minor_to_major[k] : a->rank - 1 - k;
    int64_t y = b->minor_to_major ? b->minor_to_major[k] : b->rank - 1 - k;
    if (x != y)
      return false;
  }
  return true;
}

bool regal_hlo_same_shape(const regal_hlo_shape *a, const regal_hlo_shape *b) {
  if (a->type != b->type || a->rank != b->rank || a->parts || b->parts)
    return false;
  for (uint32_t k = 0; k < a->rank; k++)
    if (a->dims[k] != b->dims[k])
      return false;
  return same_layout(a, b);
}

void regal_hlo_flatten(const regal_hlo_shape *shape,
                       const regal_hlo_shape **leaf) {
  if (shape->type != REGAL_HLO_TUPLE_TYPE)
    *leaf = shape;
  for (uint32_t i = 0; i < shape->parts; i++)
    regal_hlo_flatten(&shape->part[i], leaf + shape->part[i].first);
}

bool regal_hlo_leaves_at(const regal_hlo_shape *shape, const int64_t *path,
                         size_t length, uint32_t *first, uint32_t *count) {
  *first = 0;
  for (size_t i = 0; i < length; i++) {
    if (shape->type != REGAL_HLO_TUPLE_TYPE || path[i] < 0 ||
        path[i] >= shape->parts)
      return false;
    shape = &shape->part[path[i]];
    *first += shape->first;
  }
  *count = shape->leaves;
  return true;
}
