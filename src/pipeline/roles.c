/* SPDX-License-Identifier: Apache-2.0 */
/* Roles of the ops of a training step.
 *
 * Patterns of names say which ops are the optimizer, which make the data of a
 * microbatch and which make gradients. Each has a default. Optimizers have the
 * names that TensorFlow gives them. Gradients: see step.h. Data comes from ops
 * that read nothing: those with names of placeholders, or else those that take
 * no time, or else all: the first of these on which most gradients depend.
 */
#include <string.h>

#include "base/carve.h"
#include "base/text.h"
#include "graph/pattern.h"
#include "pipeline/step.h"

static const char default_optimizer[] =
    "*ResourceApply*,*AssignVariableOp*,*/Apply*,Adam/*,AdamW/*,SGD/*,"
    "GradientDescent/*,Momentum/*,RMSprop/*,Adagrad/*";

static const char default_inputs[] = "*laceholder*,*IteratorGetNext*,_arg_*";

typedef struct finder {
  regal_context *context;
  const regal_graph *graph;
  const regal_options *options;
  regal_step_roles *roles;
  uint32_t *part;   /* [ops] for regal_find_passes */
  uint8_t *on_data; /* [ops] depends on data */
  uint8_t *named;   /* [ops] makes gradients, by their names; or NULL */
} finder;

static void layout_finder(void *made, regal_carver *carver) {
  finder *f = made;
  size_t ops = f->graph->ops;
  f->part = regal_carve(carver, ops, sizeof *f->part);
  f->on_data = regal_carve(carver, ops, 1);
  f->named = regal_carve(carver, ops, 1);
}

/* -- Patterns -------------------------------------------------------------- */

/* Marks the ops whose names match one of the patterns, which are separated by
 * commas. With an `option` each pattern has to match an op. */
static regal_status mark_one(finder *f, const char *option, const char *pattern,
                             uint8_t *marks) {
  bool found = false;
  REGAL_PATTERN_EACH(op, f->graph, pattern) {
    marks[op] = true;
    found = true;
  }
  if (found || !option)
    return REGAL_OK;
  return regal_fail(f->context, REGAL_BAD_INPUT, "--%s: %s", option,
                    regal_pattern_no_match(f->graph, pattern).text);
}

static regal_status mark_matches(finder *f, const char *option,
                                 const char *patterns, uint8_t *marks) {
  char pattern[1024];
  memset(marks, 0, f->graph->ops);
  while (*patterns) {
    size_t length = strcspn(patterns, ",");
    snprintf(pattern, sizeof pattern, "%.*s", (int)length, patterns);
    if (length)
      REGAL_TRY(mark_one(f, option, pattern, marks));
    patterns += length + (patterns[length] == ',');
  }
  return REGAL_OK;
}

/* -- Edges ----------------------------------------------------------------- */

/* Whether one of the ops that it depends on is marked. */
static bool follows(const regal_graph *graph, const uint8_t *marks,
                    uint32_t op) {
  for (REGAL_ROW(i, graph->input_begin, op))
    if (marks[graph->producer[graph->input[i]]])
      return true;
  for (REGAL_ROW(i, graph->control_in_begin, op))
    if (marks[graph->control_in[i]])
      return true;
  return false;
}

static bool reads_nothing(const regal_graph *graph, uint32_t op) {
  return graph->input_begin[op] == graph->input_begin[op + 1];
}

static bool makes_nothing(const regal_graph *graph, uint32_t op) {
  return graph->output_begin[op] == graph->output_begin[op + 1];
}

/* A mark of the file for its begin or end, not an op: it waits, and no op that
 * does anything waits for it, or the other way round. */
static bool is_barrier(const regal_graph *graph, uint32_t op) {
  return !graph->run_ns[op] && makes_nothing(graph, op) &&
         reads_nothing(graph, op) && !graph->resident_bytes[op] &&
         graph->parameter_begin[op] == graph->parameter_begin[op + 1];
}

/* -- Roles ----------------------------------------------------------------- */

/* The optimizer, what follows it, and what ends the file. Its constants are not
 * a part of it: where a compiler joins equal constants, other ops read them. */
static regal_status find_optimizer(finder *f) {
  const regal_graph *graph = f->graph;
  const char *given = f->options->optimizer;
  uint8_t *marks = f->roles->role;
  REGAL_TRY(mark_matches(f, given[0] ? "optimizer" : NULL,
                         given[0] ? given : default_optimizer, marks));
  for (uint32_t op = 0; op < graph->ops; op++) {
    bool ends =
        is_barrier(graph, op) &&
        graph->control_in_begin[op] < graph->control_in_begin[op + 1] &&
        graph->control_out_begin[op] == graph->control_out_begin[op + 1];
    bool constant = reads_nothing(graph, op) && !makes_nothing(graph, op);
    marks[op] = (marks[op] && !constant) || ends || follows(graph, marks, op);
  }
  return REGAL_OK;
}

/* Only what has an effect counts as optimizer when gradients are found. */
static bool updates(const finder *f, uint32_t op) {
  return f->roles->role[op] && !is_barrier(f->graph, op);
}

/* The mark of the optimizer becomes a role. */
static void set_roles(finder *f) {
  uint8_t *role = f->roles->role;
  for (uint32_t op = 0; op < f->graph->ops; op++)
    role[op] = role[op]         ? REGAL_ROLE_OPTIMIZER
               : f->on_data[op] ? REGAL_ROLE_MICROBATCH
                                : REGAL_ROLE_SHARED;
}

/* -- Gradients ------------------------------------------------------------- */

static bool is_read(const regal_graph *graph, uint32_t t) {
  return graph->use_begin[t] < graph->use_begin[t + 1];
}

static bool is_updated_by(const finder *f, uint32_t t) {
  for (REGAL_ROW(u, f->graph->use_begin, t))
    if (updates(f, f->graph->consumer[u]))
      return true;
  return false;
}

static bool is_waited_for(const finder *f, uint32_t op) {
  for (REGAL_ROW(i, f->graph->control_out_begin, op))
    if (updates(f, f->graph->control_out[i]))
      return true;
  return false;
}

static bool has_optimizer(const finder *f) {
  for (uint32_t op = 0; op < f->graph->ops; op++)
    if (updates(f, op))
      return true;
  return false;
}

/* Whether it is one, if it depends on data. */
static bool may_be_gradient(const finder *f, bool optimizer, uint32_t op,
                            uint32_t t) {
  bool ends =
      f->graph->is_final[t] && f->graph->bytes[t] && !is_read(f->graph, t);
  return is_updated_by(f, t) ||
         (f->options->gradients[0] ? f->named[op] && ends : !optimizer && ends);
}

/* Returns how many results depend on data, minus how many do not. */
static int64_t find_gradients(finder *f) {
  const regal_graph *graph = f->graph;
  regal_step_roles *roles = f->roles;
  bool optimizer = has_optimizer(f);
  int64_t balance = 0;
  for (uint32_t op = 0; op < graph->ops; op++) {
    if (roles->role[op] || reads_nothing(graph, op))
      continue;
    bool is_result = is_waited_for(f, op);
    roles->gradients[op] = 0;
    for (REGAL_ROW(t, graph->output_begin, op)) {
      bool may_be = may_be_gradient(f, optimizer, op, t);
      roles->is_gradient[t] = may_be && f->on_data[op];
      roles->gradients[op] += roles->is_gradient[t];
      is_result |= may_be;
    }
    roles->is_result[op] = is_result && f->on_data[op];
    balance += is_result ? (f->on_data[op] ? 1 : -1) : 0;
  }
  return balance;
}

/* -- Data ------------------------------------------------------------------ */

enum { BY_NAME, BY_TIME, ALL };

static bool is_source(const finder *f, uint32_t op) {
  return reads_nothing(f->graph, op) && !makes_nothing(f->graph, op);
}

static regal_status mark_sources(finder *f, int by) {
  if (f->options->inputs[0])
    return mark_matches(f, "inputs", f->options->inputs, f->on_data);
  if (by == BY_NAME)
    REGAL_TRY(mark_matches(f, NULL, default_inputs, f->on_data));
  for (uint32_t op = 0; op < f->graph->ops; op++)
    f->on_data[op] =
        is_source(f, op) && (by == BY_NAME   ? f->on_data[op]
                             : by == BY_TIME ? !f->graph->run_ns[op]
                                             : true);
  return REGAL_OK;
}

/* Data, and the gradients that depend on it. Where all sources are data, so is
 * everything but barriers. */
static regal_status find_data(finder *f) {
  const regal_graph *graph = f->graph;
  int64_t balance = -1;
  for (int by = BY_NAME; by <= ALL && balance <= 0; by++) {
    REGAL_TRY(mark_sources(f, by));
    for (uint32_t op = 0; op < graph->ops; op++)
      f->on_data[op] |= follows(graph, f->on_data, op) ||
                        (by == ALL && !is_barrier(graph, op));
    balance = find_gradients(f);
    if (f->options->inputs[0])
      break;
  }
  return REGAL_OK;
}

/* -- All together ---------------------------------------------------------- */

static void count(finder *f) {
  regal_step_roles *roles = f->roles;
  for (uint32_t op = 0; op < f->graph->ops; op++) {
    roles->ops[roles->role[op]]++;
    roles->gradient_count += roles->gradients[op];
    f->part[op] = roles->role[op] == REGAL_ROLE_MICROBATCH ? 0 : REGAL_NONE;
  }
}

static regal_status find_passes(finder *f) {
  regal_pass_counts counts;
  bool told = f->options->gradients[0] || f->options->optimizer[0];
  REGAL_TRY(regal_find_passes(f->context, f->graph, f->part,
                              f->roles->is_result, f->roles->pass, &counts));
  if (counts.ops[REGAL_PASS_BACKWARD] || (told && counts.results > 1))
    return REGAL_OK;
  if (!counts.results)
    return regal_fail(f->context, REGAL_BAD_INPUT,
                      "no backward pass was found: there are no gradients, "
                      "which are final outputs or what the optimizer reads; "
                      "name them with --gradients or --optimizer");
  return regal_fail(f->context, REGAL_BAD_INPUT,
                    "no backward pass was found: no op leads to some results "
                    "but not to all, as gradients of activations do; if it is "
                    "a training step, name its gradients with --gradients");
}

static regal_status find(finder *f) {
  REGAL_TRY(find_optimizer(f));
  if (f->options->gradients[0])
    REGAL_TRY(mark_matches(f, "gradients", f->options->gradients, f->named));
  REGAL_TRY(find_data(f));
  set_roles(f);
  count(f);
  return find_passes(f);
}

static void layout_roles(regal_step_roles *made, regal_carver *carver,
                         const regal_graph *graph) {
  regal_carve(carver, 1, sizeof *made);
  made->role = regal_carve(carver, graph->ops, 1);
  made->is_gradient = regal_carve(carver, graph->tensors, 1);
  made->gradients = regal_carve(carver, graph->ops, sizeof *made->gradients);
  made->is_result = regal_carve(carver, graph->ops, 1);
  made->pass = regal_carve(carver, graph->ops, 1);
}

regal_status regal_step_read(regal_context *context, const regal_graph *graph,
                             const regal_options *options,
                             regal_step_roles **roles) {
  regal_step_roles made = {.context = context};
  regal_carver carver = {NULL, 0};
  REGAL_TRY(
      REGAL_CARVE_BLOCK(context, carver, layout_roles(&made, &carver, graph)));
  finder plain = {
      .context = context, .graph = graph, .options = options, .roles = &made};
  finder *f = regal_carve_struct(context, &plain, sizeof plain, layout_finder);
  regal_status status = f ? find(f) : regal_fail_memory(context);
  regal_release(context, f);
  if (status != REGAL_OK) {
    regal_release(context, carver.base);
    return status;
  }
  *roles = (regal_step_roles *)carver.base;
  **roles = made;
  return REGAL_OK;
}

void regal_step_free(regal_step_roles *roles) {
  if (roles)
    regal_release(roles->context, roles);
}
