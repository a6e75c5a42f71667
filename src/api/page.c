/* SPDX-License-Identifier: Apache-2.0 */
/* regal_report_html: a page about results, and about what there was before. */
#include <stdio.h>

#include "cost/model/problem.h"
#include "heuristic/list/orders.h"
#include "report/page.h"

#define MOST_PLANS 64
#define LONGEST_NAME 32

static regal_status check(regal_context *context,
                          const regal_result *const *results, size_t count) {
  if (!count || count > MOST_PLANS)
    return regal_fail(context, REGAL_MISUSE,
                      "a page shows 1 to %d plans, not %zu", MOST_PLANS, count);
  for (size_t i = 0; i < count; i++)
    if (!results[i])
      return regal_fail(context, REGAL_MISUSE, "result %zu of a page is NULL",
                        i);
  for (size_t i = 1; i < count; i++)
    if (results[i]->problem->graph != results[0]->problem->graph)
      return regal_fail(context, REGAL_MISUSE,
                        "a page shows plans of one graph");
  return REGAL_OK;
}

/* Without a name: how the plan was made. */
static const char *name_of(const char *const *names, size_t i,
                           const regal_result *result, char *room) {
  if (names && names[i])
    return names[i];
  const char *how = result->threads ? result->method : "plan";
  if (i == 0)
    snprintf(room, LONGEST_NAME, "%s", how);
  else
    snprintf(room, LONGEST_NAME, "%s %zu", how, i + 1);
  return room;
}

/* The plan that the results' costs "before" are of. */
static regal_status save_with_before(regal_context *context, const char *title,
                                     regal_page_plan *plans, size_t count,
                                     const char *path) {
  const regal_result *first = plans[0].result;
  regal_result before = {.context = context,
                         .problem = first->problem,
                         .cost = first->before,
                         .before = first->before,
                         .bound = first->bound,
                         .fits = first->before.excess_bytes == 0,
                         .method = "given"};
  REGAL_TRY(regal_plan_single(context, first->problem, &before.plan));
  plans[count] = (regal_page_plan){"before: one device, file's order", &before};
  regal_status status = regal_page_save(context, title, plans, count + 1, path);
  regal_plan_free(before.plan);
  return status;
}

regal_status regal_report_html(regal_context *context, const char *title,
                               const regal_result *const *results,
                               const char *const *names, size_t count,
                               const char *path) {
  regal_page_plan plans[MOST_PLANS + 1];
  char room[MOST_PLANS][LONGEST_NAME];
  REGAL_TRY(
      regal_need(context, results && path, "a page needs results and a path"));
  REGAL_TRY(check(context, results, count));
  for (size_t i = 0; i < count; i++)
    plans[i] =
        (regal_page_plan){name_of(names, i, results[i], room[i]), results[i]};
  return save_with_before(context, title, plans, count, path);
}
