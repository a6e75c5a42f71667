/* UTF-8, which every string of a message must be. */
#ifndef REGAL_FORMATS_UTF8_H
#define REGAL_FORMATS_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* How many of the bytes, from the first, are valid UTF-8 without a zero:
 * `size` when all are. */
size_t regal_utf8_valid(const void *bytes, size_t size);

/* Writes a code point below 0x110000; returns its length, 1 to 4. */
size_t regal_utf8_encode(uint32_t point, char *out);

#endif
