/* SPDX-License-Identifier: Apache-2.0 */
/* Writer of bare orders (docs/formats.md): the ops of a plan in its order, by
 * name, as a compiler or a person can use them. An op whose name another has
 * too, or that would be read as something else, is written by its id, with its
 * name as a comment. Transfers are not written: the reader puts them just
 * before their first reader.
 */
#include <string.h>

#include "cost/model/plan.h"
#include "format/plan/op_names.h"
#include "format/plan/plan.h"

#define ENDING ".order"
/* The reader looks up no longer names. */
#define MOST_NAME 4000

bool regal_plan_is_order(const char *path) {
  size_t length = strlen(path);
  return length > strlen(ENDING) &&
         !strcmp(path + length - strlen(ENDING), ENDING);
}

/* Whether a line with this name is read as the name. */
static bool is_plain(const char *name) {
  size_t length = strlen(name);
  if (!length || length > MOST_NAME || regal_is_digit(*name) || *name == '#' ||
      *name == '{' || strchr(" \t\r", *name) ||
      strchr(" \t\r", name[length - 1]))
    return false;
  for (; *name; name++)
    if ((unsigned char)*name < ' ')
      return false;
  return true;
}

static void put_comment(regal_text *text, const char *name) {
  regal_text_format(text, " # ");
  for (; *name; name++)
    regal_text_append(text, (unsigned char)*name < ' ' ? "?" : name, 1);
}

/* Whether the op's name says which one it is; with a device behind it the line
 * must not be the name of another op. */
static regal_status is_named(regal_op_names *names, const regal_step *step,
                             bool with_device, bool *named) {
  const char *name = regal_graph_name(names->graph, step->op);
  char line[MOST_NAME + 16];
  uint32_t found;
  *named = false;
  if (!is_plain(name))
    return REGAL_OK;
  REGAL_TRY(regal_op_names_lookup(names, name, &found));
  *named = found == step->op;
  if (!with_device)
    return REGAL_OK;
  snprintf(line, sizeof line, "%s %u", name, step->device);
  REGAL_TRY(regal_op_names_lookup(names, line, &found));
  *named &= found == REGAL_NAME_ABSENT;
  return REGAL_OK;
}

static regal_status put_op(regal_text *text, regal_op_names *names,
                           const regal_problem *problem,
                           const regal_step *step) {
  const char *name = regal_graph_name(problem->graph, step->op);
  bool named;
  REGAL_TRY(is_named(names, step, problem->devices > 1, &named));
  if (named)
    regal_text_format(text, "%s", name);
  else
    regal_text_format(text, "%u", problem->graph->id[step->op]);
  if (problem->devices > 1)
    regal_text_format(text, " %u", step->device);
  if (!named)
    put_comment(text, name);
  regal_text_format(text, "\n");
  return REGAL_OK;
}

static regal_status put_ops(regal_text *text, const regal_result *result) {
  regal_op_names names;
  regal_status status = REGAL_OK;
  regal_op_names_init(&names, text->context, result->problem->graph);
  for (uint32_t i = 0; i < result->plan->step_count && status == REGAL_OK; i++)
    if (regal_step_runs(&result->plan->steps[i]))
      status = put_op(text, &names, result->problem, &result->plan->steps[i]);
  regal_op_names_free(&names);
  return status;
}

regal_status regal_plan_write_order(regal_context *context,
                                    const regal_result *result,
                                    const char *path) {
  regal_text text;
  regal_text_init(&text, context);
  regal_status status = put_ops(&text, result);
  if (status == REGAL_OK)
    status = regal_text_save(context, &text, path);
  regal_text_free(&text);
  return status;
}
