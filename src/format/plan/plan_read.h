/* SPDX-License-Identifier: Apache-2.0 */
/* The two readers behind regal_plan_load. */
#ifndef REGAL_FORMAT_PLAN_PLAN_READ_H
#define REGAL_FORMAT_PLAN_PLAN_READ_H

#include "base/text.h"
#include "cost/model/problem.h"

/* A plan file, which begins with '{'. */
regal_status regal_plan_read_json(regal_context *context,
                                  const regal_problem *problem,
                                  const char *name, const regal_text *text,
                                  regal_plan **plan);
/* A bare order: ids, one a line, optionally with a device. */
regal_status regal_plan_read_order(regal_context *context,
                                   const regal_problem *problem,
                                   const char *name, const regal_text *text,
                                   regal_plan **plan);

#endif
