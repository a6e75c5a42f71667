/* SPDX-License-Identifier: Apache-2.0 */
/* The machine and the objective that a plan was made for, as options, so that
 * it can be judged without repeating them.
 */
#include <string.h>

#include "base/options/options.h"
#include "format/plan/machine.h"
#include "format/plan/plan.h"

/* Members that options cannot express; the plan itself is then the machine
 * file. Names are worth that, but not an error where it cannot be read twice.
 */
static bool needs_file(const regal_json *json, const uint32_t *found) {
  static const enum regal_machine_key beyond[] = {
      REGAL_KEY_SPEEDS, REGAL_KEY_LINKS, REGAL_KEY_TIMES, REGAL_KEY_PINS,
      REGAL_KEY_GROUPS};
  for (size_t i = 0; i < sizeof beyond / sizeof *beyond; i++)
    if (found[beyond[i]])
      return true;
  uint32_t devices = found[REGAL_KEY_DEVICES], limit = found[REGAL_KEY_MEMORY];
  if (regal_json_is_list(json, devices))
    return true;
  if (!regal_json_is_list(json, limit))
    return false;
  uint32_t first = json->nodes[limit].child;
  REGAL_JSON_EACH (node, json, limit)
    if (!json->nodes[node].text ||
        strcmp(json->nodes[node].text, json->nodes[first].text))
      return true;
  return false;
}

static regal_status use_as_file(regal_context *context, const char *path,
                                regal_options *options) {
  if (!strcmp(path, "-"))
    return regal_fail(context, REGAL_BAD_INPUT,
                      "stdin: the plan's machine is more than options can "
                      "say, read the plan from a file");
  size_t size = strlen(path) + 1;
  if (size > sizeof options->machine)
    return regal_fail(context, REGAL_BAD_INPUT,
                      "%.100s...: the path is longer than %zu bytes", path,
                      sizeof options->machine - 1);
  memcpy(options->machine, path, size);
  return REGAL_OK;
}

static regal_status read_options(const regal_json *json, const char *path,
                                 regal_options *options) {
  static const char *const keys[] = {"machine", "objective", NULL};
  uint32_t found[2], machine[REGAL_MACHINE_KEYS];
  REGAL_TRY(regal_json_members(json, 0, false, keys, found));
  if (found[1] && !regal_option_given(options, "objective"))
    REGAL_TRY(
        regal_json_choice(json, found[1], "objective", &options->objective));
  if (!found[0])
    return REGAL_OK;
  REGAL_TRY(
      regal_json_members(json, found[0], true, regal_machine_keys, machine));
  bool named = machine[REGAL_KEY_NAMES] && strcmp(path, "-");
  if (!named && !needs_file(json, machine)) {
    uint32_t *limit = &machine[REGAL_KEY_MEMORY];
    if (regal_json_is_list(json, *limit))
      *limit = json->nodes[*limit].child; /* they are all the same */
    return regal_machine_read_settings(json, machine, options);
  }
  if (regal_option_given(options, "machine"))
    return REGAL_OK;
  return use_as_file(json->context, path, options);
}

regal_status regal_plan_read_options(regal_context *context, const char *path,
                                     const char *name, const regal_text *text,
                                     regal_options *options) {
  regal_json json;
  regal_options changed = *options;
  if (!regal_json_detect(text->bytes, text->size))
    return REGAL_OK;
  REGAL_TRY(regal_json_parse(context, name, text->bytes, text->size, &json));
  regal_status status = read_options(&json, path, &changed);
  regal_json_free(&json);
  if (status == REGAL_OK)
    *options = changed;
  return status;
}
