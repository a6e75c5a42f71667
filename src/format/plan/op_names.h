/* SPDX-License-Identifier: Apache-2.0 */
/* Ops as files name them: by name, or by id (position in the graph's file). */
#ifndef REGAL_FORMAT_PLAN_OP_NAMES_H
#define REGAL_FORMAT_PLAN_OP_NAMES_H

#include "base/name_index.h"
#include "format/json/json.h"
#include "graph/graph.h"

/* Indexed at the first lookup by name; most files need none. */
typedef struct regal_op_names {
  regal_context *context;
  const regal_graph *graph;
  regal_name_index index; /* of zeros until needed */
} regal_op_names;

void regal_op_names_init(regal_op_names *names, regal_context *context,
                         const regal_graph *graph);
void regal_op_names_free(regal_op_names *names);

/* Whether an op, or several, have this name; false also when memory is out,
 * which the next lookup tells. */
bool regal_op_names_has(regal_op_names *names, const char *name);
/* The op of this name, or what regal_name_index_find says of it. */
regal_status regal_op_names_lookup(regal_op_names *names, const char *name,
                                   uint32_t *op);
/* The op that a JSON text (its name) or number (its id) means. */
regal_status regal_op_names_find(regal_op_names *names, const regal_json *json,
                                 uint32_t node, uint32_t *op);
/* The op that the members "op" (or "send") and "id" mean together; either may
 * be 0 (absent), and they must agree. */
regal_status regal_op_names_resolve(regal_op_names *names,
                                    const regal_json *json, uint32_t object,
                                    uint32_t name, uint32_t id, uint32_t *op);

#endif
