/* SPDX-License-Identifier: Apache-2.0 */
/* regal_plan_draw: a graph with the devices and steps of a plan, as DOT for
 * Graphviz or as SVG. For graphs that fit a picture; the page (page.c) shows
 * those of any size. */
#include "report/picture.h"

#include <string.h>

#include "base/utf8.h"
#include "cost/model/problem.h"

#define MOST_OPS 2000

const char *regal_picture_color(uint32_t device) {
  /* Okabe and Ito's, which the colour-blind can tell apart; as on the page */
  static const char *const colors[] = {"#0072b2", "#e69f00", "#009e73",
                                       "#cc79a7", "#56b4e9", "#d55e00",
                                       "#f0e442", "#7f6bb3"};
  return colors[device % (sizeof colors / sizeof *colors)];
}

uint32_t regal_picture_device(const regal_picture *picture, uint32_t op) {
  return picture->result->plan->steps[picture->run_step[op]].device;
}

/* What stands for the character at `at`; NULL: it stands for itself. */
static const char *replacement(const char *at, size_t length,
                               const char *special,
                               const char *const *instead) {
  const char *found = *at ? strchr(special, *at) : NULL;
  if (found)
    return instead[found - special];
  if (!length)
    return "\xEF\xBF\xBD";
  return (unsigned char)*at < ' ' || *at == 127 ? "?" : NULL;
}

void regal_picture_name(regal_text *text, const char *name, const char *special,
                        const char *const *instead, size_t most) {
  size_t shown = 0;
  for (const char *at = name; *at; shown++) {
    size_t length =
        (unsigned char)*at < 0x80
            ? 1
            : regal_utf8_length((const unsigned char *)at, strlen(at));
    const char *other = replacement(at, length, special, instead);
    if (most && shown == most) {
      regal_text_append(text, "\xE2\x80\xA6", 3); /* an ellipsis */
      return;
    }
    regal_text_append(text, other ? other : at, other ? strlen(other) : length);
    at += length ? length : 1;
  }
}

static regal_status index_steps(regal_picture *picture) {
  const regal_plan *plan = picture->result->plan;
  picture->run_step = regal_alloc(picture->context, picture->graph->ops,
                                  sizeof *picture->run_step);
  if (!picture->run_step)
    return regal_fail_memory(picture->context);
  for (uint32_t i = 0; i < plan->step_count; i++)
    if (plan->steps[i].port == REGAL_RUN)
      picture->run_step[plan->steps[i].op] = i;
  return REGAL_OK;
}

static regal_status draw(regal_picture *picture, regal_picture_format format,
                         const char *path) {
  REGAL_TRY(index_steps(picture));
  if (format == REGAL_PICTURE_DOT)
    regal_picture_dot(picture);
  else {
    REGAL_TRY(regal_picture_place(picture));
    regal_picture_svg(picture);
  }
  return regal_text_save(picture->context, &picture->text, path);
}

regal_status regal_plan_draw(regal_context *context, const regal_result *result,
                             regal_picture_format format, const char *path) {
  REGAL_TRY(regal_need(
      context,
      result && path &&
          (format == REGAL_PICTURE_DOT || format == REGAL_PICTURE_SVG),
      "a picture needs a result, a format and a path"));
  const regal_problem *problem = result->problem;
  regal_picture picture = {
      .context = context, .result = result, .graph = problem->graph};
  regal_cost cost;
  if (problem->graph->ops > MOST_OPS)
    return regal_fail(context, REGAL_BAD_INPUT,
                      "%s: a picture shows at most %d ops, the graph has %u; a "
                      "page (--html) shows them all",
                      path, MOST_OPS, problem->graph->ops);
  REGAL_TRY(regal_verify_plan(context, problem->graph, problem->machine,
                              result->plan, &cost, &picture.timeline));
  regal_text_init(&picture.text, context);
  regal_status status = draw(&picture, format, path);
  regal_text_free(&picture.text);
  regal_timeline_free(&picture.timeline);
  regal_release(context, picture.run_step);
  regal_release(context, picture.column);
  regal_release(context, picture.row);
  return status;
}
