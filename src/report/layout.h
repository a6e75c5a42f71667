/* SPDX-License-Identifier: Apache-2.0 */
/* Text for people: percentages, names, and the stream that it goes to. */
#ifndef REGAL_REPORT_LAYOUT_H
#define REGAL_REPORT_LAYOUT_H

#include "base/text.h"

/* Appends text from a file: control characters, which could drive a terminal,
 * become '?'. */
void regal_layout_name(regal_text *text, const char *name, size_t length);
/* 0 when the whole is 0. */
double regal_layout_percent(int64_t part, int64_t whole);

/* Writes the text to the stream and frees it. */
regal_status regal_layout_finish(regal_context *context, regal_text *text,
                                 FILE *stream);

#endif
