/* SPDX-License-Identifier: Apache-2.0 */
/* Shapes in a text: f32[8,16]{1,0:T(8,128)E(4)S(5)}, tuples of them, and
 * dimensions with a bound, f32[<=8]. */
#include <string.h>

#include "base/text.h"
#include "format/hlo_text/hlo_text.h"

/* -- Layouts --------------------------------------------------------------- */

/* (8,128): the numbers, in the arena; none if there is something else. */
static regal_status read_tile(regal_hlo_scanner *s, regal_hlo_shape *shape) {
  const char *from = s->at;
  int64_t tile[8];
  uint32_t count = 0;
  do {
    regal_hlo_skip(s);
    if (count == 8 || s->at == s->end || !regal_is_digit(*s->at)) {
      s->at = from; /* a tile that is no list of numbers pads nothing */
      return REGAL_OK;
    }
    REGAL_TRY(regal_hlo_integer(s, &tile[count++]));
  } while (regal_hlo_take(s, ","));
  shape->tile =
      regal_arena_alloc(&s->module->arena, count, sizeof *shape->tile);
  if (!shape->tile)
    return regal_fail_memory(s->module->context);
  memcpy(shape->tile, tile, count * sizeof *tile);
  shape->tiled = count;
  return REGAL_OK;
}

/* Behind the colon: letters with parameters in parentheses. */
static regal_status read_details(regal_hlo_scanner *s, regal_hlo_shape *shape) {
  while (!regal_hlo_take(s, "}")) {
    regal_hlo_span ignored;
    if (!shape->tiled && regal_hlo_take(s, "T("))
      REGAL_TRY(read_tile(s, shape));
    else if (regal_hlo_take(s, "E("))
      REGAL_TRY(regal_hlo_integer(s, &shape->element_bits));
    else if (!regal_hlo_take(s, ")") && !regal_hlo_take(s, ",") &&
             !regal_hlo_take(s, "(")) {
      const char *before = s->at;
      REGAL_TRY(regal_hlo_value_span(s, &ignored));
      if (s->at == before)
        return regal_hlo_scan_fail(s, "a layout");
    }
  }
  return REGAL_OK;
}

static regal_status read_layout(regal_hlo_scanner *s, regal_hlo_shape *shape) {
  regal_context *context = s->module->context;
  bool details = regal_hlo_take(s, ":");
  s->numbers = 0;
  while (!details && !regal_hlo_take(s, "}")) {
    if (!REGAL_RESERVE(context, s->number, s->numbers, s->number_capacity))
      return regal_fail_memory(context);
    REGAL_TRY(regal_hlo_integer(s, &s->number[s->numbers++]));
    details = regal_hlo_take(s, ":");
    if (!details && !regal_hlo_take(s, ",")) {
      REGAL_TRY(regal_hlo_expect(s, "}"));
      break;
    }
  }
  if (s->numbers && s->numbers == shape->rank) {
    size_t bytes = s->numbers * sizeof *s->number;
    shape->minor_to_major = regal_arena_alloc(&s->module->arena, bytes, 1);
    if (!shape->minor_to_major)
      return regal_fail_memory(context);
    memcpy(shape->minor_to_major, s->number, bytes);
  }
  return details ? read_details(s, shape) : REGAL_OK;
}

/* -- Arrays ---------------------------------------------------------------- */

static regal_status read_dimension(regal_hlo_scanner *s) {
  regal_context *context = s->module->context;
  if (!REGAL_RESERVE(context, s->number, s->numbers, s->number_capacity))
    return regal_fail_memory(context);
  int64_t *number = &s->number[s->numbers++];
  *number = INT64_MIN;
  if (regal_hlo_take(s, "?"))
    return REGAL_OK;
  regal_hlo_take(s, "<=");
  return regal_hlo_integer(s, number);
}

static regal_status read_dimensions(regal_hlo_scanner *s,
                                    regal_hlo_shape *shape) {
  s->numbers = 0;
  if (!regal_hlo_take(s, "]")) {
    do
      REGAL_TRY(read_dimension(s));
    while (regal_hlo_take(s, ","));
    REGAL_TRY(regal_hlo_expect(s, "]"));
  }
  shape->rank = (uint32_t)s->numbers;
  shape->dims =
      regal_arena_alloc(&s->module->arena, s->numbers, sizeof *shape->dims);
  if (!shape->dims)
    return regal_fail_memory(s->module->context);
  if (s->numbers)
    memcpy(shape->dims, s->number, s->numbers * sizeof *shape->dims);
  return REGAL_OK;
}

static regal_status read_array(regal_hlo_scanner *s, regal_hlo_shape *shape) {
  regal_hlo_skip(s);
  const char *begin = s->at;
  regal_hlo_span type = regal_hlo_word(s);
  shape->type =
      regal_hlo_type_named(type.begin, (size_t)(type.end - type.begin));
  if (!shape->type) {
    s->at = begin;
    return regal_hlo_scan_fail(s, "a shape");
  }
  REGAL_TRY(regal_hlo_expect(s, "["));
  REGAL_TRY(read_dimensions(s, shape));
  /* The layout follows at once: a brace after a blank is a computation's. */
  if (s->at < s->end && *s->at == '{') {
    s->at++;
    return read_layout(s, shape);
  }
  return REGAL_OK;
}

/* -- Tuples ---------------------------------------------------------------- */

/* Parts are collected in a list that doubles within the arena: what is left
 * behind is less than what is kept. */
static regal_status add_part(regal_hlo_scanner *s, unsigned depth,
                             regal_hlo_shape *shape, uint32_t *room) {
  if (shape->parts == *room) {
    uint32_t more = *room ? 2 * *room : 4;
    regal_hlo_shape *grown =
        regal_arena_alloc(&s->module->arena, more, sizeof *grown);
    if (!grown)
      return regal_fail_memory(s->module->context);
    if (shape->parts)
      memcpy(grown, shape->part, shape->parts * sizeof *grown);
    shape->part = grown;
    *room = more;
  }
  return regal_hlo_text_shape(s, depth + 1, &shape->part[shape->parts++]);
}

static regal_status read_tuple(regal_hlo_scanner *s, unsigned depth,
                               regal_hlo_shape *shape) {
  uint32_t room = 0;
  shape->type = REGAL_HLO_TUPLE_TYPE;
  if (depth == REGAL_HLO_DEPTH)
    return regal_hlo_scan_fail(s, "tuples that nest less deep");
  if (regal_hlo_take(s, ")"))
    return REGAL_OK;
  do
    REGAL_TRY(add_part(s, depth, shape, &room));
  while (regal_hlo_take(s, ","));
  return regal_hlo_expect(s, ")");
}

regal_status regal_hlo_text_shape(regal_hlo_scanner *s, unsigned depth,
                                  regal_hlo_shape *shape) {
  return regal_hlo_take(s, "(") ? read_tuple(s, depth, shape)
                                : read_array(s, shape);
}
