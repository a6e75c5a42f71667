/* SPDX-License-Identifier: Apache-2.0 */
/* Types: tensor<4x8xf32>, tensor<complex<f32>>, tuple<...>, tokens. Dimensions
 * are read character by character, for 4x8xf32 is no sequence of tokens. */
#include <ctype.h>
#include <string.h>

#include "base/text.h"
#include "format/stablehlo/stablehlo.h"

#define MOST_RANK 64

static regal_status fail_type(const regal_mlir *m, const char *what) {
  return regal_mlir_fail_at(m, m->token.line, "column %u: the type %s",
                            m->token.column, what);
}

/* XLA's name of an element type. */
static uint32_t type_named(const char *name, size_t length) {
  char xla[24] = "";
  if (length + 2 > sizeof xla)
    return 0;
  for (size_t i = 0; i < length; i++)
    xla[i] = (char)tolower((unsigned char)name[i]);
  if (!strcmp(xla, "i1"))
    return regal_hlo_type_named("pred", 4);
  if (!strcmp(xla, "index"))
    return regal_hlo_type_named("s64", 3);
  if (!strcmp(xla, "complex<f32>"))
    return regal_hlo_type_named("c64", 3);
  if (!strcmp(xla, "complex<f64>"))
    return regal_hlo_type_named("c128", 4);
  if (xla[0] == 'i')
    xla[0] = 's';
  return !strncmp(xla, "ui", 2)
             ? (xla[1] = 'u', regal_hlo_type_named(xla + 1, length - 1))
             : regal_hlo_type_named(xla, length);
}

/* "4x": a dimension; false if there is none. */
static bool take_dim(regal_mlir *m, int64_t *dim, bool *fits) {
  const char *at = m->at;
  *dim = 0;
  if (at < m->end && *at == '?')
    *dim = INT64_MIN, at++;
  else
    for (; at < m->end && regal_is_digit(*at); at++)
      *fits = *fits && !__builtin_mul_overflow(*dim, 10, dim) &&
              !__builtin_add_overflow(*dim, *at - '0', dim);
  if (at == m->at || at >= m->end || *at != 'x')
    return false;
  m->at = at + 1;
  return true;
}

static regal_status take_dims(regal_mlir *m, regal_hlo_shape *shape) {
  int64_t dims[MOST_RANK], dim;
  bool fits = true;
  while (take_dim(m, &dim, &fits)) {
    if (shape->rank == MOST_RANK)
      return fail_type(m, "has more than 64 dimensions");
    dims[shape->rank++] = dim;
  }
  if (!fits)
    return fail_type(m, "has a dimension beyond 2^63");
  shape->dims = regal_arena_alloc(&m->module->arena, shape->rank, sizeof *dims);
  if (!shape->dims)
    return regal_fail_memory(m->module->context);
  memcpy(shape->dims, dims, shape->rank * sizeof *dims);
  return REGAL_OK;
}

/* Up to the bracket that closes the tensor's; an encoding behind a comma is
 * passed over. */
static regal_status take_element(regal_mlir *m, regal_hlo_shape *shape) {
  const char *from = m->at;
  size_t depth = 1, length = 0;
  for (; m->at < m->end && *m->at != '\n'; m->at++) {
    if (!length && depth == 1 && (*m->at == ',' || *m->at == '>'))
      length = (size_t)(m->at - from);
    depth += *m->at == '<';
    depth -= *m->at == '>';
    if (!depth)
      break;
  }
  if (m->at >= m->end || *m->at != '>')
    return fail_type(m, "is not closed");
  m->at++;
  shape->type = type_named(from, length);
  if (!shape->type)
    return regal_mlir_fail_at(
        m, m->token.line, "column %u: element type \"%.*s\" is not known",
        m->token.column, (int)(length > 40 ? 40 : length), from);
  return REGAL_OK;
}

static regal_status read_tuple(regal_mlir *m, regal_hlo_shape *shape,
                               uint32_t depth);

static regal_status read_type(regal_mlir *m, regal_hlo_shape *shape,
                              uint32_t depth) {
  *shape = (regal_hlo_shape){0};
  if (regal_mlir_is_word(m, "tuple"))
    return read_tuple(m, shape, depth);
  if (regal_mlir_is_mark(m, '!')) {
    REGAL_TRY(regal_mlir_next(m));
    if (!regal_mlir_is_word(m, "stablehlo.token") &&
        !regal_mlir_is_word(m, "mhlo.token"))
      return regal_mlir_fail(m, "a tensor, a tuple or a token");
    shape->type = REGAL_HLO_TOKEN_TYPE;
    return regal_mlir_next(m);
  }
  if (!regal_mlir_is_word(m, "tensor") || m->at >= m->end || *m->at != '<')
    return regal_mlir_fail(m, "a type");
  m->at++;
  REGAL_TRY(take_dims(m, shape));
  REGAL_TRY(take_element(m, shape));
  for (uint32_t i = 0; i < shape->rank; i++)
    if (shape->dims[i] < 0)
      return fail_type(m, "has a dimension that is not known: '?'");
  return regal_mlir_next(m);
}

static regal_status read_tuple(regal_mlir *m, regal_hlo_shape *shape,
                               uint32_t depth) {
  regal_mlir_types parts = {0};
  if (depth >= REGAL_HLO_DEPTH)
    return fail_type(m, "nests too deep");
  REGAL_TRY(regal_mlir_next(m));
  REGAL_TRY(regal_mlir_expect(m, '<'));
  while (!regal_mlir_is_mark(m, '>')) {
    regal_hlo_shape part;
    REGAL_TRY(read_type(m, &part, depth + 1));
    REGAL_TRY(regal_mlir_add_type(m, &parts, &part));
    if (!regal_mlir_is_mark(m, ','))
      break;
    REGAL_TRY(regal_mlir_next(m));
  }
  *shape = regal_mlir_tuple(&parts);
  return regal_mlir_expect(m, '>');
}

regal_status regal_mlir_type(regal_mlir *m, regal_hlo_shape *shape) {
  return read_type(m, shape, 0);
}

regal_status regal_mlir_add_type(regal_mlir *m, regal_mlir_types *types,
                                 const regal_hlo_shape *shape) {
  return REGAL_MLIR_PUSH(m, types->shape, types->count, types->capacity,
                         *shape);
}

regal_status regal_mlir_type_list(regal_mlir *m, regal_mlir_types *types) {
  for (;;) {
    regal_hlo_shape shape;
    REGAL_TRY(regal_mlir_type(m, &shape));
    REGAL_TRY(regal_mlir_add_type(m, types, &shape));
    if (!regal_mlir_is_mark(m, ','))
      return REGAL_OK;
    REGAL_TRY(regal_mlir_next(m));
  }
}

regal_status regal_mlir_typed_value(regal_mlir *m, const char *expected,
                                    regal_mlir_token *name,
                                    regal_hlo_shape *shape) {
  *name = m->token;
  if (name->kind != REGAL_MLIR_VALUE)
    return regal_mlir_fail(m, expected);
  REGAL_TRY(regal_mlir_next(m));
  REGAL_TRY(regal_mlir_expect(m, ':'));
  return regal_mlir_type(m, shape);
}

regal_hlo_shape regal_mlir_tuple(const regal_mlir_types *types) {
  return (regal_hlo_shape){.type = REGAL_HLO_TUPLE_TYPE,
                           .parts = types->count,
                           .part = types->shape};
}
