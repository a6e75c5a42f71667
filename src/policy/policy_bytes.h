/* SPDX-License-Identifier: Apache-2.0 */
/* Little-endian numbers, appended to a text and read from bytes. */
#ifndef REGAL_POLICY_POLICY_BYTES_H
#define REGAL_POLICY_POLICY_BYTES_H

#include <string.h>

#include "base/text.h"

static inline void regal_put(regal_text *text, uint64_t value, size_t bytes) {
  unsigned char little[8];
  for (size_t i = 0; i < bytes; i++)
    little[i] = (unsigned char)(value >> 8 * i);
  regal_text_append(text, little, bytes);
}

static inline void regal_put_real(regal_text *text, float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  regal_put(text, bits, 4);
}

/* A name in `capacity` bytes, the rest zeros. */
static inline void regal_put_name(regal_text *text, const char *name,
                                  size_t capacity) {
  char padded[64] = {0};
  memcpy(padded, name, strnlen(name, capacity - 1));
  regal_text_append(text, padded, capacity);
}

static inline void regal_put_text(regal_text *text, const char *value) {
  regal_put(text, strlen(value), 4);
  regal_text_append(text, value, strlen(value));
}

/* What is read beyond the end is zeros, and sets `ended`. */
typedef struct regal_cursor {
  const unsigned char *bytes;
  size_t size, at;
  bool ended;
} regal_cursor;

static inline bool regal_cursor_has(regal_cursor *cursor, size_t bytes) {
  if (cursor->size - cursor->at < bytes)
    cursor->ended = true;
  return !cursor->ended;
}

static inline uint64_t regal_get(regal_cursor *cursor, size_t bytes) {
  uint64_t value = 0;
  if (!regal_cursor_has(cursor, bytes))
    return 0;
  for (size_t i = 0; i < bytes; i++)
    value |= (uint64_t)cursor->bytes[cursor->at++] << 8 * i;
  return value;
}

static inline uint32_t regal_get32(regal_cursor *cursor) {
  return (uint32_t)regal_get(cursor, 4);
}

static inline float regal_get_real(regal_cursor *cursor) {
  uint32_t bits = regal_get32(cursor);
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

/* `name` gets `capacity` bytes, the last of them zero. */
static inline void regal_get_name(regal_cursor *cursor, char *name,
                                  size_t capacity) {
  memset(name, 0, capacity);
  if (!regal_cursor_has(cursor, capacity))
    return;
  memcpy(name, cursor->bytes + cursor->at, capacity - 1);
  cursor->at += capacity;
}

/* Cut at the capacity. */
static inline void regal_get_text(regal_cursor *cursor, char *value,
                                  size_t capacity) {
  size_t length = regal_get32(cursor);
  memset(value, 0, capacity);
  if (!regal_cursor_has(cursor, length))
    return;
  memcpy(value, cursor->bytes + cursor->at,
         length < capacity ? length : capacity - 1);
  cursor->at += length;
}

#endif
