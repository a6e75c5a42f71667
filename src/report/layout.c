/* SPDX-License-Identifier: Apache-2.0 */
/* Text for people: shares, names that are safe to print, and the end. */
#include "report/layout.h"

#include <string.h>

#include "base/utf8.h"

void regal_layout_name(regal_text *text, const char *name, size_t length) {
  for (size_t i = 0; i < length;) {
    size_t shown = regal_utf8_shown(name + i);
    bool whole = shown && shown <= length - i;
    regal_text_append(text, whole ? name + i : "?", whole ? shown : 1);
    i += whole ? shown : 1;
  }
}

uint32_t regal_layout_rank(const int64_t *values, uint32_t i, uint32_t most,
                           uint32_t *largest, uint32_t count) {
  uint32_t at = count;
  while (at > 0 && values[largest[at - 1]] < values[i])
    at--;
  if (at == most)
    return count;
  count += count < most;
  memmove(&largest[at + 1], &largest[at], (count - at - 1) * sizeof *largest);
  largest[at] = i;
  return count;
}

double regal_layout_percent(int64_t part, int64_t whole) {
  return whole ? 100.0 * (double)part / (double)whole : 0;
}

regal_status regal_layout_finish(regal_context *context, regal_status status,
                                 regal_text *text, FILE *stream) {
  if (status == REGAL_OK && text->failed)
    status = regal_fail_memory(context);
  else if (status == REGAL_OK &&
           fwrite(text->bytes, 1, text->size, stream) != text->size)
    status = regal_fail(context, REGAL_IO, "the report could not be written");
  regal_text_free(text);
  return status;
}
