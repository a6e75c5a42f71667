/* SPDX-License-Identifier: Apache-2.0 */
/* Text for people: percentages, names, and the stream that it goes to. */
#ifndef REGAL_REPORT_LAYOUT_H
#define REGAL_REPORT_LAYOUT_H

#include "base/text.h"

/* Appends text from a file, of `length` bytes in a text that ends with a zero:
 * control characters, which could drive a terminal, and what is not UTF-8
 * become
 * '?'. */
void regal_layout_name(regal_text *text, const char *name, size_t length);
/* Puts index `i` among the `most` of the largest values, largest first, of
 * equal ones the first. Returns how many there are, of `count` before. */
uint32_t regal_layout_rank(const int64_t *values, uint32_t i, uint32_t most,
                           uint32_t *largest, uint32_t count);
/* 0 when the whole is 0. */
double regal_layout_percent(int64_t part, int64_t whole);

/* Writes the text to the stream, unless making it ended with an error, and
 * frees it. */
regal_status regal_layout_finish(regal_context *context, regal_status status,
                                 regal_text *text, FILE *stream);

#endif
