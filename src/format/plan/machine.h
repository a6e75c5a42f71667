/* SPDX-License-Identifier: Apache-2.0 */
/* Readers and writers behind the public load and save calls. */
#ifndef REGAL_FORMAT_PLAN_MACHINE_H
#define REGAL_FORMAT_PLAN_MACHINE_H

#include "base/text.h"
#include "cost/model/problem.h"

/* Makes the machine that a machine file (JSON, docs/formats.md) describes, or
 * a plan file's "machine" object. What the file leaves out comes from the
 * options, and options that were given explicitly win over the file. */
regal_status regal_machine_load(regal_context *context, const char *path,
                                const regal_graph *graph,
                                const regal_options *options,
                                regal_machine **machine);
/* Appends the "machine" object of a plan file: what regal_machine_load needs to
 * make the same machine again. Lines after the first begin with `indent`. */
void regal_machine_json(regal_text *text, const regal_machine *machine,
                        const regal_graph *graph, const char *indent);

#endif
