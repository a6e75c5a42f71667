/* SPDX-License-Identifier: Apache-2.0 */
/* The summary of a result as text, and what a plan does in numbers. */
#ifndef REGAL_REPORT_SUMMARY_H
#define REGAL_REPORT_SUMMARY_H

#include "base/text.h"

typedef struct regal_usage {
  uint32_t ops[REGAL_MAX_DEVICES]; /* that each device runs */
  uint32_t transfers;
  int64_t bytes; /* sent; 2^62 if it is more */
} regal_usage;

regal_usage regal_usage_of(const regal_result *result);

/* Appends what regal_report_summary writes. */
regal_status regal_summary_text(regal_context *context,
                                const regal_result *result, regal_text *text);
/* Appends what regal_report_graph writes. */
regal_status regal_graph_text(regal_context *context, const regal_graph *graph,
                              regal_text *text);

#endif
