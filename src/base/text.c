/* SPDX-License-Identifier: Apache-2.0 */
/* Text that grows: appending, formatting, JSON strings, and durations and sizes
 * for people. A failed append is remembered, so that writers check once.
 */
#include "base/text.h"

#include <stdarg.h>
#include <string.h>

#include "base/plain.h"
#include "base/utf8.h"

void regal_text_init(regal_text *text, regal_context *context) {
  *text = (regal_text){.context = context};
}

void regal_text_free(regal_text *text) {
  if (!text->context)
    return;
  regal_release(text->context, text->bytes);
  regal_text_init(text, text->context);
}

/* Room for `more` bytes and a terminating zero. */
static bool reserve(regal_text *text, size_t more) {
  size_t needed;
  if (text->failed || __builtin_add_overflow(text->size, more, &needed) ||
      needed > SIZE_MAX / 4) {
    text->failed = true;
    return false;
  }
  if (needed < text->capacity)
    return true;
  size_t capacity = text->capacity ? text->capacity : 64;
  while (capacity <= needed)
    capacity *= 2;
  char *grown = regal_grow(text->context, text->bytes, capacity, 1);
  if (!grown) {
    text->failed = true;
    return false;
  }
  text->bytes = grown;
  text->capacity = capacity;
  return true;
}

void regal_text_append(regal_text *text, const void *bytes, size_t size) {
  if (!reserve(text, size))
    return;
  if (size)
    memcpy(text->bytes + text->size, bytes, size);
  text->size += size;
  text->bytes[text->size] = 0;
}

void regal_text_format(regal_text *text, const char *format, ...) {
  char small[256];
  va_list arguments;
  va_start(arguments, format);
  int length = regal_print_list(small, sizeof small, format, arguments);
  va_end(arguments);
  if (length < 0) {
    text->failed = true;
    return;
  }
  if ((size_t)length < sizeof small) {
    regal_text_append(text, small, (size_t)length);
    return;
  }
  if (!reserve(text, (size_t)length))
    return;
  va_start(arguments, format);
  regal_print_list(text->bytes + text->size, (size_t)length + 1, format,
                   arguments);
  va_end(arguments);
  text->size += (size_t)length;
}

void regal_text_drop_mark(regal_text *text) {
  if (text->size < 3 || memcmp(text->bytes, "\xEF\xBB\xBF", 3) != 0)
    return;
  text->size -= 3;
  memmove(text->bytes, text->bytes + 3, text->size + 1);
}

static void append_escaped(regal_text *text, unsigned char c) {
  static const char *const names[32] = {['\b'] = "\\b",
                                        ['\f'] = "\\f",
                                        ['\n'] = "\\n",
                                        ['\r'] = "\\r",
                                        ['\t'] = "\\t"};
  if (c == '"' || c == '\\')
    regal_text_format(text, "\\%c", c);
  else if (c < 32 && names[c])
    regal_text_append(text, names[c], 2);
  else
    regal_text_format(text, "\\u%04x", c);
}

void regal_text_json(regal_text *text, const char *value) {
  const unsigned char *s = (const unsigned char *)value, *run = s;
  regal_text_append(text, "\"", 1);
  while (*s) {
    size_t length = *s < 0x80 ? 1 : regal_utf8_length(s, 4);
    if (length && *s >= 32 && *s != 127 && *s != '"' && *s != '\\') {
      s += length;
      continue;
    }
    regal_text_append(text, run, (size_t)(s - run));
    if (length)
      append_escaped(text, *s);
    else
      regal_text_append(text, "\xEF\xBF\xBD", 3);
    run = ++s;
  }
  regal_text_append(text, run, (size_t)(s - run));
  regal_text_append(text, "\"", 1);
}

void regal_text_csv(regal_text *text, const char *value) {
  if (!strpbrk(value, ",\"\r\n")) {
    regal_text_append(text, value, strlen(value));
    return;
  }
  regal_text_append(text, "\"", 1);
  for (; *value; value++) {
    if (*value == '"')
      regal_text_append(text, value, 1);
    regal_text_append(text, value, 1);
  }
  regal_text_append(text, "\"", 1);
}
