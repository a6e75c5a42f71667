/* SPDX-License-Identifier: Apache-2.0 */
/* UTF-8: what text in files must be. */
#ifndef REGAL_BASE_UTF8_H
#define REGAL_BASE_UTF8_H

#include "base/context.h"

/* Length of the code point at `s`, of which `left` bytes may be read; 0 when
 * there is no valid one, or a zero. */
size_t regal_utf8_length(const unsigned char *s, size_t left);

/* How many of the bytes, from the first, are valid UTF-8 without a zero:
 * `size` when all are. */
size_t regal_utf8_valid(const void *bytes, size_t size);

/* Length of the character at the start of a text if a terminal can show it; 0
 * at a control character, what is not UTF-8, and the end. */
size_t regal_utf8_shown(const char *text);

/* Writes a code point below 0x110000; returns its length, 1 to 4. */
size_t regal_utf8_encode(uint32_t point, char *out);

#endif
