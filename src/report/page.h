/* SPDX-License-Identifier: Apache-2.0 */
/* The page about plans: what its parts share. */
#ifndef REGAL_REPORT_PAGE_H
#define REGAL_REPORT_PAGE_H

#include "base/text.h"

/* A plan of the page, and what it is called there. */
typedef struct regal_page_plan {
  const char *name;
  const regal_result *result;
} regal_page_plan;

/* Writes the page to `path`. All plans are of one graph. */
regal_status regal_page_save(regal_context *context, const char *title,
                             const regal_page_plan *plans, size_t count,
                             const char *path);

/* The parts of its data, JSON objects that are appended. */
regal_status regal_page_graph(regal_context *context, const regal_graph *graph,
                              regal_text *text);
regal_status regal_page_plan_data(regal_context *context,
                                  const regal_page_plan *plan,
                                  regal_text *text);

/* Appends "KEY":[...], of `count` numbers. */
void regal_page_numbers(regal_text *text, const char *key, const int64_t *list,
                        size_t count);
void regal_page_indices(regal_text *text, const char *key, const uint32_t *list,
                        size_t count);
/* Appends the differences of a list of row beginnings: the rows' lengths. */
void regal_page_lengths(regal_text *text, const char *key,
                        const uint32_t *begin, size_t rows);

#endif
