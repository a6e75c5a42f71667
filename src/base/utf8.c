/* SPDX-License-Identifier: Apache-2.0 */
/* UTF-8 as RFC 3629 has it: no overlong forms, no surrogates, nothing beyond
 * U+10FFFF. */
#include "base/utf8.h"

#include <stdio.h>
#include <string.h>

/* The least code point that needs so many bytes; shorter ones are overlong. */
static const uint32_t least[5] = {0, 0, 0x80, 0x800, 0x10000};

size_t regal_utf8_length(const unsigned char *s, size_t left) {
  if (s[0] < 0x80)
    return s[0] != 0;
  size_t length = s[0] >= 0xF0 ? 4 : s[0] >= 0xE0 ? 3 : 2;
  if (s[0] < 0xC2 || s[0] > 0xF4 || length > left)
    return 0;
  uint32_t point = s[0] & (0xFFu >> (length + 1));
  for (size_t i = 1; i < length; i++) {
    if ((s[i] & 0xC0) != 0x80)
      return 0;
    point = point << 6 | (s[i] & 0x3F);
  }
  if (point < least[length] || point > 0x10FFFF ||
      (point >= 0xD800 && point < 0xE000))
    return 0;
  return length;
}

size_t regal_utf8_valid(const void *bytes, size_t size) {
  const unsigned char *s = bytes;
  size_t at = 0;
  for (;;) {
    while (at < size && s[at] - 1u < 0x7F) /* ASCII, but no zero */
      at++;
    if (at == size)
      return size;
    size_t length = regal_utf8_length(s + at, size - at);
    if (!length)
      return at;
    at += length;
  }
}

size_t regal_utf8_shown(const char *text) {
  const unsigned char *s = (const unsigned char *)text;
  size_t length = regal_utf8_length(s, strnlen(text, 4));
  bool control = s[0] < ' ' || s[0] == 127 || (s[0] == 0xC2 && s[1] < 0xA0);
  return control ? 0 : length;
}

void regal_escape(const char *text, char *escaped, size_t capacity) {
  char hex[8];
  size_t size = 0;
  while (*text) {
    size_t length = regal_utf8_shown(text), taken = length ? length : 1;
    const char *part = length ? text : hex;
    if (!length)
      length =
          (size_t)snprintf(hex, sizeof hex, "\\x%02x", (unsigned char)*text);
    if (size + length >= capacity)
      break;
    memcpy(escaped + size, part, length);
    size += length;
    text += taken;
  }
  if (capacity)
    escaped[size] = 0;
}

size_t regal_utf8_encode(uint32_t point, char *out) {
  size_t length = 1;
  while (length < 4 &&
         (length == 1 ? point >= 0x80 : point >= least[length + 1]))
    length++;
  if (length == 1) {
    out[0] = (char)point;
    return 1;
  }
  for (size_t i = length; --i > 0; point >>= 6)
    out[i] = (char)(0x80 | (point & 0x3F));
  out[0] = (char)((0xF00u >> length) | point);
  return length;
}
