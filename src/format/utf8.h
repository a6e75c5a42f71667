/* SPDX-License-Identifier: Apache-2.0 */
/* UTF-8, which every string of a message must be. */
#ifndef REGAL_FORMAT_UTF8_H
#define REGAL_FORMAT_UTF8_H

#include "graph/graph.h"

/* How many of the bytes, from the first, are valid UTF-8 without a zero:
 * `size` when all are. */
size_t regal_utf8_valid(const void *bytes, size_t size);

/* Writes a code point below 0x110000; returns its length, 1 to 4. */
size_t regal_utf8_encode(uint32_t point, char *out);

/* Fails unless all ops' names are UTF-8, which `format` needs. */
regal_status regal_utf8_check_names(regal_context *context, const char *path,
                                    const regal_graph *graph,
                                    const char *format);

#endif
