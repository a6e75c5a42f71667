/* SPDX-License-Identifier: Apache-2.0 */
/* The page about plans: one HTML file for a browser (docs/page.md).
 *
 * The page itself is src/report/page, put together when regal is built
 * (cmake/page.cmake) and the same for all plans. Here only its data is written:
 * one JSON object in a script element that no browser executes. What is drawn
 * is computed from it in the browser; what the text reports say comes from
 * here, from the code that writes those reports.
 *
 * Names in graphs are hostile. In JSON a '<' can only be inside of a string,
 * where \u003c means the same; without any '<' the data can neither end its
 * element nor begin another. The page's scripts put names into the document as
 * text only, and the page's Content-Security-Policy refuses all scripts but the
 * page's own, by hash.
 */
#include "report/page.h"

#include <string.h>

#include "page.embedded.h"

#define PLACE "@DATA@" /* of the data in the page */

/* -- Lists of numbers ------------------------------------------------------ */

static void put_integer(regal_text *text, bool first, int64_t value) {
  char digits[24];
  int length = snprintf(digits, sizeof digits, first ? "%lld" : ",%lld",
                        (long long)value);
  regal_text_append(text, digits, (size_t)length);
}

void regal_page_numbers(regal_text *text, const char *key, const int64_t *list,
                        size_t count) {
  regal_text_format(text, "\"%s\":[", key);
  for (size_t i = 0; i < count; i++)
    put_integer(text, !i, list[i]);
  regal_text_format(text, "]");
}

void regal_page_indices(regal_text *text, const char *key, const uint32_t *list,
                        size_t count) {
  regal_text_format(text, "\"%s\":[", key);
  for (size_t i = 0; i < count; i++)
    put_integer(text, !i, list[i] == UINT32_MAX ? -1 : (int64_t)list[i]);
  regal_text_format(text, "]");
}

void regal_page_lengths(regal_text *text, const char *key,
                        const uint32_t *begin, size_t rows) {
  regal_text_format(text, "\"%s\":[", key);
  for (size_t i = 0; i < rows; i++)
    put_integer(text, !i, begin[i + 1] - begin[i]);
  regal_text_format(text, "]");
}

/* -- The page -------------------------------------------------------------- */

static regal_status put_data(regal_context *context, const char *title,
                             const regal_page_plan *plans, size_t count,
                             regal_text *text) {
  regal_text_format(text, "{\"regal_page\":1,\"version\":");
  regal_text_json(text, regal_version());
  regal_text_format(text, ",\"title\":");
  regal_text_json(text, title ? title : "");
  regal_text_format(text, ",\n\"graph\":");
  REGAL_TRY(regal_page_graph(
      context, regal_problem_graph(plans[0].result->problem), text));
  regal_text_format(text, ",\n\"plans\":[");
  for (size_t i = 0; i < count; i++) {
    regal_text_format(text, i ? ",\n" : "\n");
    REGAL_TRY(regal_page_plan_data(context, &plans[i], text));
  }
  regal_text_format(text, "]}\n");
  return REGAL_OK;
}

static void append_harmless(regal_text *text, const regal_text *data) {
  const char *at = data->bytes, *end = at + data->size;
  while (at < end) {
    const char *found = memchr(at, '<', (size_t)(end - at));
    regal_text_append(text, at, (size_t)((found ? found : end) - at));
    if (!found)
      return;
    regal_text_append(text, "\\u003c", 6);
    at = found + 1;
  }
}

/* Where the data goes; the build has seen to it that it is there once. */
static size_t find_place(void) {
  size_t at = 0;
  while (memcmp(page_embedded + at, PLACE, sizeof PLACE - 1) != 0)
    at++;
  return at;
}

static regal_status save(regal_context *context, const regal_text *data,
                         const char *path) {
  size_t place = find_place(), after = place + sizeof PLACE - 1;
  regal_text text;
  regal_text_init(&text, context);
  regal_text_append(&text, page_embedded, place);
  append_harmless(&text, data);
  regal_text_append(&text, page_embedded + after, sizeof page_embedded - after);
  text.failed = text.failed || data->failed;
  regal_status status = regal_text_save(context, &text, path);
  regal_text_free(&text);
  return status;
}

regal_status regal_page_save(regal_context *context, const char *title,
                             const regal_page_plan *plans, size_t count,
                             const char *path) {
  regal_text data;
  regal_text_init(&data, context);
  regal_status status = put_data(context, title, plans, count, &data);
  if (status == REGAL_OK)
    status = save(context, &data, path);
  regal_text_free(&data);
  return status;
}
