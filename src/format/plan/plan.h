/* SPDX-License-Identifier: Apache-2.0 */
/* Readers of plans; docs/formats.md has the formats. */
#ifndef REGAL_FORMAT_PLAN_PLAN_H
#define REGAL_FORMAT_PLAN_PLAN_H

#include "base/text.h"
#include "cost/model/problem.h"
#include "format/json/json.h"

/* A plan file or a bare order, by content; `name` is for messages. */
regal_status regal_plan_read(regal_context *context,
                             const regal_problem *problem, const char *name,
                             const regal_text *text, regal_plan **plan);
/* Sets the options that the plan's machine and objective mean, unless they were
 * given. A machine that is more than options can say becomes the option
 * `machine`, with the plan's path. */
regal_status regal_plan_read_options(regal_context *context, const char *path,
                                     const char *name, const regal_text *text,
                                     regal_options *options);

/* A bare order: ids, one a line, optionally with a device. */
regal_status regal_plan_read_order(regal_context *context,
                                   const regal_problem *problem,
                                   const char *name, const regal_text *text,
                                   regal_plan **plan);
/* The same from memory; `devices` may be NULL: all on device 0. */
regal_status regal_plan_take_order(regal_context *context,
                                   const regal_problem *problem,
                                   const uint32_t *ids, const uint16_t *devices,
                                   uint32_t count, regal_plan **plan);

/* Whether the plan's object `graph` is about a graph of as many ops. */
regal_status regal_plan_check_ops(const regal_json *json, uint32_t object,
                                  const regal_graph *graph);

/* Writes a bare order, by names where they are unique. */
regal_status regal_plan_write_order(regal_context *context,
                                    const regal_result *result,
                                    const char *path);
/* Whether a path is for a bare order. */
bool regal_plan_is_order(const char *path);

/* Writes a plan file, or a bare order by its path; steps of a plan have times
 * if `start_ns` is not NULL. */
regal_status regal_plan_write(regal_context *context,
                              const regal_result *result,
                              const int64_t *start_ns, const int64_t *end_ns,
                              const char *path);
/* Appends a plan file up to its steps: an object without its closing brace. */
void regal_plan_write_head(regal_text *text, const regal_result *result);

#endif
