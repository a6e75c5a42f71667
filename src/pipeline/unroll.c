/* SPDX-License-Identifier: Apache-2.0 */
/* regal_graph_pipeline: copies the step of a microbatch.
 *
 * The new graph has the shared ops, then microbatch after microbatch, then the
 * optimizer, each in the order of the step. The copy of op NAME for microbatch
 * i is NAME#i. From the second microbatch on, an op that makes gradients is
 * followed by NAME/accumulate#i, which adds them to those before. Its outputs
 * may be written over its inputs, so that there is one gradient of each weight
 * at a time, and it takes the time to read two tensors and write one.
 *
 * What an op of a microbatch holds all the time, its resident bytes, becomes a
 * parameter that all copies read.
 */
#include <inttypes.h>
#include <string.h>

#include "base/carve.h"
#include "pipeline/step.h"

typedef struct unroller {
  regal_context *context;
  const regal_graph *graph;
  const regal_options *options;
  const regal_step_roles *roles;
  regal_builder *builder;
  uint32_t microbatches;
  uint32_t *first;     /* [ops] its place among shared ops, in the first
                          microbatch, or in the optimizer */
  uint32_t *other;     /* [ops] its place in other microbatches */
  uint32_t *parameter; /* [ops] of its resident bytes, or REGAL_NONE */
  uint32_t begin[3];   /* where a role begins */
  uint32_t size[2];    /* ops of the first and of every other microbatch */
  char *name;          /* room for any name */
} unroller;

static void layout(void *made, regal_carver *carver) {
  unroller *u = made;
  size_t ops = u->graph->ops;
  u->first = regal_carve(carver, ops, 4);
  u->other = regal_carve(carver, ops, 4);
  u->parameter = regal_carve(carver, ops, 4);
}

/* -- Where ops go ---------------------------------------------------------- */

static regal_role role_of(const unroller *u, uint32_t op) {
  return (regal_role)u->roles->role[op];
}

static void lay_out_ops(unroller *u) {
  uint32_t count[3] = {0}, others = 0;
  for (uint32_t op = 0; op < u->graph->ops; op++) {
    u->first[op] = count[role_of(u, op)]++;
    u->other[op] = others;
    if (role_of(u, op) == REGAL_ROLE_MICROBATCH)
      others += u->roles->gradients[op] ? 2 : 1;
  }
  u->size[0] = count[REGAL_ROLE_MICROBATCH];
  u->size[1] = others;
  u->begin[REGAL_ROLE_SHARED] = 0;
  u->begin[REGAL_ROLE_MICROBATCH] = count[REGAL_ROLE_SHARED];
  u->begin[REGAL_ROLE_OPTIMIZER] = count[REGAL_ROLE_SHARED] + u->size[0] +
                                   (u->microbatches - 1) * u->size[1];
}

/* The new id of an op, for a microbatch if it belongs to microbatches. */
static uint32_t id_of(const unroller *u, uint32_t op, uint32_t microbatch) {
  uint32_t begin = u->begin[role_of(u, op)];
  if (role_of(u, op) != REGAL_ROLE_MICROBATCH || !microbatch)
    return begin + u->first[op];
  return begin + u->size[0] + (microbatch - 1) * u->size[1] + u->other[op];
}

/* The op that adds the gradients of a microbatch to those before; those of the
 * first microbatch are a sum already. */
static uint32_t sum_of(const unroller *u, uint32_t op, uint32_t microbatch) {
  return id_of(u, op, microbatch) + (microbatch > 0);
}

static uint32_t port_of(const regal_graph *graph, uint32_t t) {
  return t - graph->output_begin[graph->producer[t]];
}

/* The port of a gradient in sums: those of an op count up. */
static uint32_t sum_port_of(const unroller *u, uint32_t t,
                            uint32_t microbatch) {
  uint32_t port = 0;
  if (!microbatch)
    return port_of(u->graph, t);
  for (uint32_t s = u->graph->output_begin[u->graph->producer[t]]; s < t; s++)
    port += u->roles->is_gradient[s];
  return port;
}

/* -- Ops ------------------------------------------------------------------- */

/* A result of a microbatch that other ops read as well, and that is beside a
 * gradient, is final only because all outputs of its op were. */
static bool stays_final(const unroller *u, uint32_t op, uint32_t t) {
  const regal_graph *graph = u->graph;
  bool is_read = graph->use_begin[t] < graph->use_begin[t + 1];
  if (role_of(u, op) != REGAL_ROLE_MICROBATCH)
    return graph->is_final[t];
  if (u->roles->is_gradient[t])
    return graph->is_final[t] && u->microbatches == 1;
  return graph->is_final[t] && !(is_read && u->roles->gradients[op]);
}

static regal_status add_parameters_of(const unroller *u, uint32_t op,
                                      uint32_t id) {
  for (REGAL_ROW(i, u->graph->parameter_begin, op))
    REGAL_TRY(regal_builder_add_parameter_use(u->builder, id,
                                              u->graph->parameter[i]));
  if (u->parameter[op] == REGAL_NONE)
    return REGAL_OK;
  return regal_builder_add_parameter_use(u->builder, id, u->parameter[op]);
}

/* Pins and groups hold for all copies together. */
static regal_status add_labels(const unroller *u, uint32_t op, uint32_t id) {
  const regal_graph *graph = u->graph;
  const char *device = regal_graph_label(graph, &graph->device, op);
  const char *group = regal_graph_label(graph, &graph->group, op);
  if (device)
    REGAL_TRY(regal_builder_set_device(u->builder, id, device));
  if (group)
    REGAL_TRY(regal_builder_set_group(u->builder, id, group));
  return REGAL_OK;
}

static regal_status add_copy(const unroller *u, uint32_t op, const char *name) {
  const regal_graph *graph = u->graph;
  bool shares = u->parameter[op] != REGAL_NONE;
  uint32_t id;
  REGAL_TRY(regal_builder_add_op(u->builder, name, graph->run_ns[op],
                                 graph->temporary_bytes[op],
                                 shares ? 0 : graph->resident_bytes[op], &id));
  for (REGAL_ROW(t, graph->output_begin, op)) {
    REGAL_TRY(regal_builder_add_output(u->builder, id, graph->bytes[t],
                                       stays_final(u, op, t)));
    if (graph->may_reuse[t])
      REGAL_TRY(regal_builder_set_may_reuse(u->builder, id, port_of(graph, t)));
  }
  REGAL_TRY(add_labels(u, op, id));
  return add_parameters_of(u, op, id);
}

static int64_t time_to_add(const unroller *u, int64_t bytes) {
  int64_t bandwidth = u->options->accumulate_bandwidth;
  if (!bandwidth)
    return 0;
  __int128 ns = ((__int128)bytes * 3 * 1000000000 + bandwidth - 1) / bandwidth;
  return ns < INT64_MAX ? (int64_t)ns : INT64_MAX;
}

static regal_status add_sum(const unroller *u, uint32_t op, uint32_t microbatch,
                            const char *name) {
  const regal_graph *graph = u->graph;
  int64_t bytes = 0;
  uint32_t id, port = 0;
  for (REGAL_ROW(t, graph->output_begin, op))
    bytes += u->roles->is_gradient[t] ? graph->bytes[t] : 0;
  REGAL_TRY(
      regal_builder_add_op(u->builder, name, time_to_add(u, bytes), 0, 0, &id));
  for (REGAL_ROW(t, graph->output_begin, op)) {
    if (!u->roles->is_gradient[t])
      continue;
    bool last = microbatch + 1 == u->microbatches;
    REGAL_TRY(regal_builder_add_output(u->builder, id, graph->bytes[t],
                                       last && graph->is_final[t]));
    REGAL_TRY(regal_builder_set_may_reuse(u->builder, id, port++));
  }
  return add_labels(u, op, id);
}

static regal_status add_once(const unroller *u, regal_role role) {
  for (uint32_t op = 0; op < u->graph->ops; op++)
    if (role_of(u, op) == role)
      REGAL_TRY(add_copy(u, op, regal_graph_name(u->graph, op)));
  return REGAL_OK;
}

static regal_status add_microbatch(const unroller *u, uint32_t microbatch) {
  for (uint32_t op = 0; op < u->graph->ops; op++) {
    const char *name = regal_graph_name(u->graph, op);
    if (role_of(u, op) != REGAL_ROLE_MICROBATCH)
      continue;
    sprintf(u->name, "%s#%" PRIu32, name, microbatch);
    REGAL_TRY(add_copy(u, op, u->name));
    if (!microbatch || !u->roles->gradients[op])
      continue;
    sprintf(u->name, "%s/accumulate#%" PRIu32, name, microbatch);
    REGAL_TRY(add_sum(u, op, microbatch, u->name));
  }
  return REGAL_OK;
}

/* -- Edges ----------------------------------------------------------------- */

/* An op outside of microbatches reads the sum of a gradient, or what all
 * microbatches made. */
static regal_status add_late_input(const unroller *u, uint32_t op, uint32_t t) {
  uint32_t producer = u->graph->producer[t], last = u->microbatches - 1;
  uint32_t id = id_of(u, op, 0);
  if (role_of(u, producer) == REGAL_ROLE_MICROBATCH && u->roles->is_gradient[t])
    return regal_builder_add_input(u->builder, id, sum_of(u, producer, last),
                                   sum_port_of(u, t, last));
  bool once = role_of(u, producer) != REGAL_ROLE_MICROBATCH;
  for (uint32_t i = 0; i < (once ? 1 : u->microbatches); i++)
    REGAL_TRY(regal_builder_add_input(u->builder, id, id_of(u, producer, i),
                                      port_of(u->graph, t)));
  return REGAL_OK;
}

static regal_status add_late_control(const unroller *u, uint32_t op,
                                     uint32_t before) {
  uint32_t id = id_of(u, op, 0), last = u->microbatches - 1;
  if (role_of(u, before) != REGAL_ROLE_MICROBATCH)
    return regal_builder_add_control(u->builder, id_of(u, before, 0), id);
  if (u->roles->gradients[before])
    return regal_builder_add_control(u->builder, sum_of(u, before, last), id);
  for (uint32_t i = 0; i <= last; i++)
    REGAL_TRY(regal_builder_add_control(u->builder, id_of(u, before, i), id));
  return REGAL_OK;
}

static regal_status add_late_edges(const unroller *u, uint32_t op) {
  const regal_graph *graph = u->graph;
  for (REGAL_ROW(i, graph->input_begin, op))
    REGAL_TRY(add_late_input(u, op, graph->input[i]));
  for (REGAL_ROW(i, graph->control_in_begin, op))
    REGAL_TRY(add_late_control(u, op, graph->control_in[i]));
  return REGAL_OK;
}

static regal_status add_sum_edges(const unroller *u, uint32_t op,
                                  uint32_t microbatch) {
  const regal_graph *graph = u->graph;
  uint32_t id = sum_of(u, op, microbatch);
  for (REGAL_ROW(t, graph->output_begin, op)) {
    if (!u->roles->is_gradient[t])
      continue;
    REGAL_TRY(regal_builder_add_input(u->builder, id,
                                      sum_of(u, op, microbatch - 1),
                                      sum_port_of(u, t, microbatch - 1)));
    REGAL_TRY(regal_builder_add_input(u->builder, id, id_of(u, op, microbatch),
                                      port_of(graph, t)));
  }
  return REGAL_OK;
}

static regal_status add_copy_edges(const unroller *u, uint32_t op,
                                   uint32_t microbatch) {
  const regal_graph *graph = u->graph;
  uint32_t id = id_of(u, op, microbatch);
  for (REGAL_ROW(i, graph->input_begin, op)) {
    uint32_t t = graph->input[i];
    REGAL_TRY(regal_builder_add_input(u->builder, id,
                                      id_of(u, graph->producer[t], microbatch),
                                      port_of(graph, t)));
  }
  for (REGAL_ROW(i, graph->control_in_begin, op))
    REGAL_TRY(regal_builder_add_control(
        u->builder, id_of(u, graph->control_in[i], microbatch), id));
  if (microbatch && u->roles->gradients[op])
    return add_sum_edges(u, op, microbatch);
  return REGAL_OK;
}

static regal_status add_edges(const unroller *u) {
  for (uint32_t op = 0; op < u->graph->ops; op++) {
    if (role_of(u, op) != REGAL_ROLE_MICROBATCH) {
      REGAL_TRY(add_late_edges(u, op));
      continue;
    }
    for (uint32_t i = 0; i < u->microbatches; i++)
      REGAL_TRY(add_copy_edges(u, op, i));
  }
  return REGAL_OK;
}

static regal_status add_tie(void *state, uint32_t before, uint32_t after) {
  const unroller *u = state;
  for (uint32_t i = 0; i < u->microbatches; i++)
    REGAL_TRY(regal_builder_add_control(u->builder, id_of(u, before, i),
                                        id_of(u, after, i)));
  return REGAL_OK;
}

/* -- The graph ------------------------------------------------------------- */

static regal_status add_parameters(unroller *u) {
  const regal_graph *graph = u->graph;
  for (uint32_t p = 0; p < graph->parameters; p++)
    REGAL_TRY(regal_builder_add_parameter(u->builder, graph->parameter_bytes[p],
                                          NULL));
  for (uint32_t op = 0; op < graph->ops; op++) {
    u->parameter[op] = REGAL_NONE;
    if (role_of(u, op) == REGAL_ROLE_MICROBATCH && graph->resident_bytes[op])
      REGAL_TRY(regal_builder_add_parameter(
          u->builder, graph->resident_bytes[op], &u->parameter[op]));
  }
  return REGAL_OK;
}

static regal_status fill(unroller *u) {
  lay_out_ops(u);
  REGAL_TRY(add_parameters(u));
  REGAL_TRY(add_once(u, REGAL_ROLE_SHARED));
  for (uint32_t i = 0; i < u->microbatches; i++)
    REGAL_TRY(add_microbatch(u, i));
  REGAL_TRY(add_once(u, REGAL_ROLE_OPTIMIZER));
  REGAL_TRY(add_edges(u));
  if (u->options->split_backward)
    return REGAL_OK;
  return regal_step_ties(u->context, u->graph, u->roles, add_tie, u);
}

static size_t longest_name(const regal_graph *graph) {
  size_t longest = 0;
  for (uint32_t op = 0; op < graph->ops; op++) {
    size_t length = strlen(regal_graph_name(graph, op));
    longest = length > longest ? length : longest;
  }
  return longest;
}

static regal_status add_notes(const unroller *u, regal_graph *made) {
  const regal_step_roles *roles = u->roles;
  uint32_t ops[REGAL_PASS_WEIGHT + 1] = {0};
  for (uint32_t op = 0; op < u->graph->ops; op++)
    ops[roles->pass[op]]++;
  return regal_graph_add_note(
      made, REGAL_NOTE_ASSUMED,
      "ops of a microbatch: %u forward, %u backward, %u for weights; ops that "
      "run once: %u before, %u after; gradients that are added up: %u",
      ops[REGAL_PASS_FORWARD], ops[REGAL_PASS_BACKWARD], ops[REGAL_PASS_WEIGHT],
      roles->ops[REGAL_ROLE_SHARED], roles->ops[REGAL_ROLE_OPTIMIZER],
      roles->gradient_count);
}

static regal_status unroll(unroller *u, regal_graph **pipeline) {
  regal_graph *made;
  u->name = regal_alloc(u->context, longest_name(u->graph) + 32, 1);
  if (!u->name)
    return regal_fail_memory(u->context);
  regal_status status = regal_builder_create(u->context, &u->builder);
  if (status == REGAL_OK)
    status = regal_builder_end(u->builder, fill(u), &made);
  regal_release(u->context, u->name);
  if (status != REGAL_OK)
    return status;
  made->assumed_sizes = u->graph->assumed_sizes;
  status = add_notes(u, made);
  if (status == REGAL_OK)
    *pipeline = made;
  else
    regal_graph_free(made);
  return status;
}

static regal_status check(regal_context *context, const regal_graph *step,
                          const regal_options *options) {
  if (!options->microbatches)
    return regal_fail(context, REGAL_BAD_INPUT,
                      "how many microbatches? give --microbatches");
  if (regal_graph_microbatches(step) > 1)
    return regal_fail(context, REGAL_BAD_INPUT,
                      "the graph has %u microbatches already",
                      regal_graph_microbatches(step));
  if (step->ops * 2 > UINT32_MAX / (uint64_t)options->microbatches)
    return regal_fail(context, REGAL_BAD_INPUT,
                      "%u ops for %lld microbatches are too many", step->ops,
                      (long long)options->microbatches);
  return regal_graph_check_sizes(context, step, step->unknown,
                                 "cannot be repeated for microbatches");
}

regal_status regal_graph_pipeline(regal_context *context,
                                  const regal_graph *step,
                                  const regal_options *options,
                                  regal_graph **pipeline) {
  regal_step_roles *roles;
  if (!context)
    return REGAL_MISUSE;
  if (!step || !options || !pipeline)
    return regal_fail(context, REGAL_MISUSE,
                      "a pipeline needs a graph, options and a place to put "
                      "it");
  REGAL_TRY(check(context, step, options));
  REGAL_TRY(regal_step_read(context, step, options, &roles));
  unroller plain = {.context = context,
                    .graph = step,
                    .options = options,
                    .roles = roles,
                    .microbatches = (uint32_t)options->microbatches};
  unroller *u = regal_carve_struct(context, &plain, sizeof plain, layout);
  regal_status status = u ? unroll(u, pipeline) : regal_fail_memory(context);
  regal_release(context, u);
  regal_step_free(roles);
  return status;
}
