/* SPDX-License-Identifier: Apache-2.0 */
/* Machine files, and the "machine" object of plan files. */
#ifndef REGAL_FORMAT_PLAN_MACHINE_H
#define REGAL_FORMAT_PLAN_MACHINE_H

#include "base/text.h"
#include "cost/model/problem.h"
#include "format/plan/op_names.h"

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
/* Appends a machine file for the machine and its graph. */
void regal_machine_write(regal_text *text, const regal_machine *machine);

/* -- The parts of the reader ----------------------------------------------- */

typedef struct regal_machine_reader {
  regal_context *context;
  const regal_json *json;
  const regal_graph *graph;
  const regal_options *options;
  regal_machine *machine; /* being made */
  regal_op_names names;
} regal_machine_reader;

/* The members "op_times", "pins" and "groups", in this order. */
regal_status regal_machine_read_times(regal_machine_reader *reader,
                                      uint32_t list);
regal_status regal_machine_read_pins(regal_machine_reader *reader,
                                     uint32_t list);
regal_status regal_machine_read_groups(regal_machine_reader *reader,
                                       uint32_t list);

/* The device that a JSON text (its name or number) or number means. */
regal_status regal_machine_read_device(const regal_machine_reader *reader,
                                       uint32_t node, uint32_t *device);
/* The same for a name that is not a value; `node` is for the message. */
regal_status regal_machine_named_device(const regal_machine_reader *reader,
                                        uint32_t node, const char *name,
                                        uint32_t *device);

/* Fails unless it is a list with one element for each device. */
regal_status regal_machine_expect_row(const regal_machine_reader *reader,
                                      uint32_t list);

/* The members of a machine object. */
enum regal_machine_key {
  REGAL_KEY_VERSION,
  REGAL_KEY_DEVICES,
  REGAL_KEY_TRANSFERS,
  REGAL_KEY_CONTROL,
  REGAL_KEY_LATENCY,
  REGAL_KEY_BANDWIDTH,
  REGAL_KEY_MEMORY,
  REGAL_KEY_NAMES,
  REGAL_KEY_SPEEDS,
  REGAL_KEY_LINKS,
  REGAL_KEY_TIMES,
  REGAL_KEY_PINS,
  REGAL_KEY_GROUPS,
  REGAL_MACHINE_KEYS
};
extern const char *const regal_machine_keys[REGAL_MACHINE_KEYS + 1];

/* Whether the node is a list; node 0 is none. */
static inline bool regal_json_is_list(const regal_json *json, uint32_t node) {
  return node && json->nodes[node].kind == REGAL_JSON_ARRAY;
}

/* Sets the options that the members of a machine object mean, unless they were
 * given. Lists of devices and memory limits are left to the caller. */
regal_status regal_machine_read_settings(const regal_json *json,
                                         const uint32_t *found,
                                         regal_options *options);

/* A text that is one of the option's choices. */
regal_status regal_json_choice(const regal_json *json, uint32_t node,
                               const char *option, int64_t *choice);

#endif
