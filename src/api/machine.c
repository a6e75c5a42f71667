/* SPDX-License-Identifier: Apache-2.0 */
/* The public calls that make machines and problems: options, presets and files
 * come together here, with what the graph itself asks for. */
#include <string.h>

#include "base/text.h"
#include "format/plan/machine.h"
#include "format/plan/presets.h"

/* A name that is neither a preset nor a file. */
static regal_status fail_name(regal_context *context, const char *name) {
  char near[200], why[REGAL_MESSAGE_CAPACITY / 2];
  regal_preset_near(name, near, sizeof near);
  if (strpbrk(name, "/.") && !near[0])
    return REGAL_IO;
  snprintf(why, sizeof why, "%s", regal_error(context));
  return regal_fail(context, REGAL_IO,
                    "%s, and no machine has this name%s; 'regal machines' "
                    "lists them",
                    why, near);
}

/* The machine of the options and of what they name. */
static regal_status open_machine(regal_context *context,
                                 const regal_graph *graph,
                                 const regal_options *options,
                                 regal_machine **machine) {
  const regal_preset *preset = regal_preset_find(options->machine);
  if (preset)
    return regal_preset_open(context, preset, options, machine);
  if (!options->machine[0])
    return regal_machine_from_options(context, options, machine);
  regal_status status =
      regal_machine_load(context, options->machine, graph, options, machine);
  return status == REGAL_IO ? fail_name(context, options->machine) : status;
}

regal_status regal_machine_create(regal_context *context,
                                  const regal_graph *graph,
                                  const regal_options *options,
                                  regal_machine **machine) {
  REGAL_TRY(
      regal_need(context, graph && options && machine,
                 "a machine needs a graph, options and a place to put it"));
  regal_machine *made;
  REGAL_TRY(open_machine(context, graph, options, &made));
  made->graph = graph;
  regal_status status = regal_machine_obey_options(made, options);
  regal_machine_settle(made);
  if (status == REGAL_OK)
    *machine = made;
  else
    regal_machine_free(made);
  return status;
}

/* What the graph asks for, where nothing else was said. It comes last: the
 * graph may name a device to which a call gave this name. On failure the
 * machine is freed. */
static regal_status complete(regal_machine *machine) {
  regal_status status = regal_machine_obey_graph(machine);
  regal_machine_settle(machine);
  if (status != REGAL_OK)
    regal_machine_free(machine);
  return status;
}

regal_status regal_machine_save(regal_context *context,
                                const regal_machine *machine,
                                const char *path) {
  REGAL_TRY(regal_need(context, machine && path,
                       "saving a machine needs a machine and a path"));
  regal_machine *whole;
  regal_text text;
  REGAL_TRY(regal_machine_copy(context, machine, &whole));
  REGAL_TRY(complete(whole));
  regal_text_init(&text, context);
  regal_machine_write(&text, whole);
  regal_machine_free(whole);
  regal_status status = regal_text_save(context, &text, path);
  regal_text_free(&text);
  return status;
}

regal_status regal_problem_create_on(regal_context *context,
                                     const regal_machine *machine,
                                     const regal_options *options,
                                     regal_problem **problem) {
  REGAL_TRY(regal_need(context, machine && options && problem,
                       "a problem needs a machine, options and a place to put "
                       "it"));
  regal_machine *copy;
  REGAL_TRY(regal_machine_copy(context, machine, &copy));
  REGAL_TRY(complete(copy));
  return regal_problem_bind(context, copy->graph, copy,
                            (enum regal_objective)options->objective, problem);
}

regal_status regal_problem_create(regal_context *context,
                                  const regal_graph *graph,
                                  const regal_options *options,
                                  regal_problem **problem) {
  regal_machine *machine;
  REGAL_TRY(regal_need(context, graph && options && problem,
                       "a problem needs a graph, options and a place to put "
                       "it"));
  REGAL_TRY(regal_machine_create(context, graph, options, &machine));
  REGAL_TRY(complete(machine));
  return regal_problem_bind(context, graph, machine,
                            (enum regal_objective)options->objective, problem);
}
