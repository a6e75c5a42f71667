/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the graph and the problem of one coarser level from pairs of ops
 * (match.c), and plans of it into plans of the finer one. A coarse graph is a
 * graph like any other: all annealers and heuristics work on it as they are.
 */
#include "anneal/levels/contract.h"

#include <string.h>

#include "anneal/levels/match.h"
#include "decode/walk.h"

/* While a level is made. Clusters are numbered by their first op until the
 * builder has put them into a topological order. */
typedef struct making {
  const regal_problem *fine;
  regal_level *level;
  regal_builder *builder;
  uint32_t *partner; /* [fine ops] */
  uint32_t *cluster; /* [fine ops] in the order of adding */
  uint32_t *port;    /* [fine tensors] of the cluster, or REGAL_NONE */
  uint32_t clusters; /* added */
  regal_machine *machine;
} making;

static uint32_t second_of(const making *m, uint32_t op) {
  return m->partner[op] == op ? REGAL_NONE : m->partner[op];
}

static bool leaves_cluster(const making *m, uint32_t tensor) {
  const regal_problem *fine = m->fine;
  uint32_t home = m->cluster[fine->producer[tensor]];
  for (REGAL_ROW(u, fine->use_begin, tensor))
    if (m->cluster[fine->consumer[u]] != home)
      return true;
  return fine->is_final[tensor];
}

/* Bytes of the op's outputs that nobody outside its cluster sees. */
static int64_t inner_bytes(const making *m, uint32_t op) {
  const regal_problem *fine = m->fine;
  int64_t bytes = 0;
  for (REGAL_ROW(t, fine->output_begin, op))
    bytes += leaves_cluster(m, t) ? 0 : fine->bytes[t];
  return bytes;
}

/* What a cluster holds while it runs beyond what it reads and leaves behind;
 * the first op's inputs are held to the end of the second. */
static int64_t temporary_of(const making *m, uint32_t first, uint32_t second) {
  const int64_t *temporary = m->fine->graph->temporary_bytes;
  int64_t inner = inner_bytes(m, first);
  int64_t during = temporary[first] + inner;
  if (second == REGAL_NONE)
    return during;
  int64_t after = temporary[second] + inner + inner_bytes(m, second);
  return after > during ? after : during;
}

static regal_status add_outputs(making *m, uint32_t op, uint32_t cluster,
                                uint32_t *ports) {
  const regal_problem *fine = m->fine;
  for (REGAL_ROW(t, fine->output_begin, op)) {
    m->port[t] = REGAL_NONE;
    if ((fine->control_tensor && fine->control_tensor[t]) ||
        !leaves_cluster(m, t))
      continue;
    m->port[t] = (*ports)++;
    REGAL_TRY(regal_builder_add_output(m->builder, cluster, fine->bytes[t],
                                       fine->is_final[t]));
    /* what a merged op's output could be written over may die too early */
    if (fine->may_reuse[t] && m->partner[op] == op)
      REGAL_TRY(regal_builder_set_may_reuse(m->builder, cluster, m->port[t]));
  }
  return REGAL_OK;
}

/* Devices that can run both, and the groups of both. */
static uint64_t allowed_of(const making *m, uint32_t first, uint32_t second) {
  const uint64_t *allowed = m->fine->allowed;
  return allowed[first] & (second == REGAL_NONE ? ~0ull : allowed[second]);
}

static int64_t run_ns_of(const making *m, uint32_t first, uint32_t second,
                         uint32_t device) {
  if (!(allowed_of(m, first, second) >> device & 1))
    return REGAL_NEVER;
  int64_t ns = regal_problem_run_ns(m->fine, first, device);
  if (second != REGAL_NONE)
    ns += regal_problem_run_ns(m->fine, second, device);
  return ns;
}

static regal_status add_ops(making *m) {
  const regal_problem *fine = m->fine;
  for (uint32_t op = 0; op < fine->ops; op++) {
    uint32_t second = second_of(m, op);
    if (m->partner[op] < op)
      continue;
    m->cluster[op] = m->cluster[m->partner[op]] = m->clusters++;
    int64_t resident = fine->resident_bytes[op];
    if (second != REGAL_NONE)
      resident += fine->resident_bytes[second];
    uint32_t device = (uint32_t)__builtin_ctzll(allowed_of(m, op, second));
    REGAL_TRY(regal_builder_add_op(
        m->builder, "", run_ns_of(m, op, second, device), 0, resident, NULL));
  }
  return REGAL_OK;
}

static regal_status add_tensors(making *m) {
  const regal_problem *fine = m->fine;
  for (uint32_t op = 0; op < fine->ops; op++) {
    uint32_t second = m->partner[op], ports = 0;
    if (second < op)
      continue;
    REGAL_TRY(add_outputs(m, op, m->cluster[op], &ports));
    if (second > op)
      REGAL_TRY(add_outputs(m, second, m->cluster[op], &ports));
  }
  for (uint32_t t = 0; t < fine->tensors; t++) {
    uint32_t home = m->cluster[fine->producer[t]];
    for (REGAL_ROW(u, fine->use_begin, t)) {
      uint32_t reader = m->cluster[fine->consumer[u]];
      if (reader == home || m->port[t] == REGAL_NONE)
        continue;
      REGAL_TRY(regal_builder_add_input(m->builder, reader, home, m->port[t]));
    }
  }
  return REGAL_OK;
}

static regal_status add_controls(making *m) {
  const regal_graph *graph = m->fine->graph;
  for (uint32_t op = 0; op < m->fine->ops; op++)
    for (REGAL_ROW(i, graph->control_in_begin, op)) {
      uint32_t before = m->cluster[graph->control_in[i]];
      if (before != m->cluster[op])
        REGAL_TRY(
            regal_builder_add_control(m->builder, before, m->cluster[op]));
    }
  return REGAL_OK;
}

static regal_status add_parameters(making *m) {
  const regal_problem *fine = m->fine;
  for (uint32_t p = 0; p < fine->shared; p++) {
    uint32_t id;
    REGAL_TRY(
        regal_builder_add_parameter(m->builder, fine->shared_bytes[p], &id));
    for (REGAL_ROW(r, fine->reader_begin, p))
      REGAL_TRY(regal_builder_add_parameter_use(
          m->builder, m->cluster[fine->reader[r]], id));
  }
  return REGAL_OK;
}

/* Members of each cluster by the coarse graph's numbers. */
static void list_members(making *m) {
  regal_level *level = m->level;
  const regal_graph *graph = level->graph;
  uint32_t *begin = level->member_begin;
  for (uint32_t op = 0; op < m->fine->ops; op++) {
    m->cluster[op] = graph->op_of_id[m->cluster[op]];
    begin[m->cluster[op] + 1]++;
  }
  for (uint32_t k = 0; k < graph->ops; k++)
    begin[k + 1] += begin[k];
  for (uint32_t op = 0; op < m->fine->ops; op++) {
    bool is_second = m->partner[op] < op;
    level->member[begin[m->cluster[op]] + is_second] = op;
  }
}

static void set_temporary(making *m) {
  regal_level *level = m->level;
  for (uint32_t k = 0; k < level->graph->ops; k++) {
    uint32_t at = level->member_begin[k], end = level->member_begin[k + 1];
    level->graph->temporary_bytes[k] =
        temporary_of(m, level->member[at],
                     end > at + 1 ? level->member[at + 1] : REGAL_NONE);
  }
}

/* Times that differ by device are the ops' own. */
static regal_status make_times(making *m, regal_machine *machine) {
  const regal_level *level = m->level;
  uint32_t d = m->fine->devices, ops = level->graph->ops;
  if (!m->fine->run_step)
    return REGAL_OK;
  machine->timed_op = regal_alloc(level->context, ops, 4);
  machine->timed_ns = regal_alloc(level->context, (size_t)ops * d, 8);
  if (!machine->timed_op || !machine->timed_ns)
    return regal_fail_memory(level->context);
  machine->timed_ops = ops;
  for (uint32_t k = 0; k < ops; k++) {
    uint32_t first = level->member[level->member_begin[k]];
    machine->timed_op[k] = k;
    for (uint32_t a = 0; a < d; a++)
      machine->timed_ns[(size_t)k * d + a] =
          run_ns_of(m, first, second_of(m, first), a);
  }
  return REGAL_OK;
}

/* A cluster is in the group of its ops; two groups are never in one cluster. A
 * group is named after the cluster of its leader. */
static regal_status make_groups(making *m, regal_machine *machine) {
  const regal_problem *fine = m->fine;
  const regal_level *level = m->level;
  if (!fine->leader)
    return REGAL_OK;
  machine->group = regal_alloc(level->context, level->graph->ops, 4);
  if (!machine->group)
    return regal_fail_memory(level->context);
  memset(machine->group, 0xff, level->graph->ops * sizeof *machine->group);
  for (uint32_t op = 0; op < fine->ops; op++) {
    uint32_t cluster = m->cluster[op], head = m->cluster[fine->leader[op]];
    if (cluster != head)
      machine->group[cluster] = machine->group[head] = head;
  }
  return REGAL_OK;
}

/* A cluster that only one device may run is pinned to it. */
static regal_status make_pins(making *m, regal_machine *machine) {
  const regal_level *level = m->level;
  machine->graph = level->graph;
  for (uint32_t k = 0; m->fine->machine->pin && k < level->graph->ops; k++) {
    uint32_t first = level->member[level->member_begin[k]];
    uint64_t allowed = allowed_of(m, first, second_of(m, first));
    if (!(allowed & (allowed - 1)))
      REGAL_TRY(regal_machine_set_pin(machine, k,
                                      (uint32_t)__builtin_ctzll(allowed)));
  }
  return REGAL_OK;
}

/* The same links; and the limits of the problem, which may be a view of one
 * without them. */
static regal_status make_machine(making *m) {
  const regal_problem *fine = m->fine;
  const regal_level *level = m->level;
  regal_machine *machine = regal_alloc(level->context, 1, sizeof *machine);
  if (!machine)
    return regal_fail_memory(level->context);
  *machine = *fine->machine;
  memcpy(machine->memory_limit, fine->limit,
         fine->devices * sizeof *fine->limit);
  machine->context = level->context; /* the fine one may have another */
  memset(machine->name, 0, sizeof machine->name);
  machine->timed_ops = 0;
  machine->timed_op = NULL;
  machine->timed_ns = NULL;
  machine->group = NULL;
  machine->pin = NULL;
  m->machine = machine;
  for (uint32_t a = 0; a < REGAL_MAX_DEVICES; a++)
    machine->speed[a] = 1;
  REGAL_TRY(make_times(m, machine));
  REGAL_TRY(make_pins(m, machine));
  return make_groups(m, machine);
}

static void layout(making *m, regal_carver *carver) {
  m->partner = regal_carve(carver, m->fine->ops, 4);
  m->cluster = regal_carve(carver, m->fine->ops, 4);
  m->port = regal_carve(carver, m->fine->tensors, 4);
}

static void lay_out_level(void *made, regal_carver *carver) {
  regal_level *level = made;
  level->member = regal_carve(carver, level->fine->ops, 4);
  level->member_begin = regal_carve(carver, (size_t)level->fine->ops + 1, 4);
}

static regal_status build(making *m) {
  regal_level *level = m->level;
  REGAL_TRY(regal_builder_create(level->context, &m->builder));
  REGAL_TRY(add_ops(m));
  REGAL_TRY(add_tensors(m));
  REGAL_TRY(add_controls(m));
  REGAL_TRY(add_parameters(m));
  regal_builder *builder = m->builder;
  m->builder = NULL;
  REGAL_TRY(regal_builder_finish(builder, &level->graph));
  list_members(m);
  set_temporary(m);
  REGAL_TRY(make_machine(m));
  regal_machine *machine = m->machine;
  m->machine = NULL;
  return regal_problem_bind(level->context, level->graph, machine,
                            m->fine->objective, &level->problem);
}

static regal_status make_level(regal_context *context, int64_t most_ns,
                               making *m, regal_level **level) {
  uint32_t pairs;
  REGAL_TRY(
      regal_contract_match(context, m->fine, most_ns, m->partner, &pairs));
  if (pairs == 0)
    return REGAL_OK;
  regal_level plain = {.context = context, .fine = m->fine};
  m->level = regal_carve_struct(context, &plain, sizeof plain, lay_out_level);
  if (!m->level)
    return regal_fail_memory(context);
  regal_status status = build(m);
  regal_builder_free(m->builder);
  regal_machine_free(m->machine);
  if (status == REGAL_OK)
    *level = m->level;
  else
    regal_level_free(m->level);
  return status;
}

regal_status regal_contract(regal_context *context, const regal_problem *fine,
                            int64_t most_ns, regal_level **level) {
  making m = {.fine = fine};
  regal_carver carver = {NULL, 0};
  *level = NULL;
  REGAL_TRY(REGAL_CARVE_BLOCK(context, carver, layout(&m, &carver)));
  regal_status status = make_level(context, most_ns, &m, level);
  regal_release(context, carver.base);
  return status;
}

void regal_level_free(regal_level *level) {
  if (!level)
    return;
  regal_problem_free(level->problem);
  regal_graph_free(level->graph);
  regal_release(level->context, level);
}

/* Blocking transfers happen where the coarse plan has them, so that the fine
 * one has the same barriers; all that is pending between the two devices
 * travels with the first of them. */
static void write_blocking(const regal_level *level, regal_walk *walk,
                           const uint8_t *placement, const regal_plan *coarse,
                           regal_plan *plan) {
  const regal_problem *fine = level->fine;
  regal_pending_mode mode = {false, false, true};
  uint32_t ran = 0;
  regal_pending_begin(&walk->pending, fine->devices);
  regal_running_cost_begin(&walk->running, fine, placement, false, false);
  for (uint32_t i = 0; i < coarse->step_count; i++) {
    const regal_step *step = &coarse->steps[i];
    if (!regal_step_runs(step)) {
      regal_pending_exchange(&walk->pending, &walk->running, fine, placement,
                             step->device, step->to, ran + 1, plan, mode);
      continue;
    }
    for (uint32_t k = level->member_begin[step->op];
         k < level->member_begin[step->op + 1]; k++, ran++) {
      uint32_t op = level->member[k];
      regal_plan_add_run(plan, op, step->device);
      regal_pending_add(&walk->pending, fine, placement, op, mode);
    }
  }
}

static regal_status make_plan(const regal_level *level, const uint32_t *order,
                              const uint8_t *placement,
                              const regal_plan *coarse, regal_plan **plan) {
  const regal_problem *fine = level->fine;
  regal_context *context = level->context;
  regal_walk walk;
  regal_carver carver = {NULL, 0};
  if (fine->machine->overlapped || fine->objective == REGAL_MEMORY)
    return regal_plan_from_order(context, fine, order, placement, plan);
  REGAL_TRY(REGAL_CARVE_BLOCK(context, carver,
                              regal_walk_layout(&walk, &carver, fine)));
  regal_status status =
      regal_plan_create(context, regal_plan_most_steps(fine), plan);
  if (status == REGAL_OK &&
      fine->limited) /* exchanges that keep it if any do */
    regal_walk_within_limit(fine, &walk, order, placement, *plan);
  else if (status == REGAL_OK)
    write_blocking(level, &walk, placement, coarse, *plan);
  regal_release(context, carver.base);
  return status;
}

regal_status regal_level_expand(const regal_level *level,
                                const regal_plan *coarse, regal_plan **fine) {
  regal_context *context = level->context;
  uint32_t *order = regal_alloc(context, level->fine->ops, 4), next = 0;
  uint8_t *placement = regal_alloc(context, level->fine->ops, 1);
  regal_status status =
      order && placement ? REGAL_OK : regal_fail_memory(context);
  for (uint32_t i = 0; status == REGAL_OK && i < coarse->step_count; i++) {
    const regal_step *step = &coarse->steps[i];
    if (!regal_step_runs(step))
      continue;
    for (REGAL_ROW(k, level->member_begin, step->op)) {
      order[next++] = level->member[k];
      placement[level->member[k]] = (uint8_t)step->device;
    }
  }
  if (status == REGAL_OK)
    status = make_plan(level, order, placement, coarse, fine);
  regal_release(context, placement);
  regal_release(context, order);
  return status;
}
