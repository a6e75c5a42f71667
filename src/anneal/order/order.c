/* SPDX-License-Identifier: Apache-2.0 */
/* An order of ops: its arrays, what each op is to the simulation (a cell), and
 * the changes that a move makes to them and takes back. A shift costs
 * O(distance
 * + degree), a change of device O(degree * devices). See anneal/order/order.h.
 */
#include "anneal/order/order.h"
#include "base/compare.h"

#include <string.h>

/* Marks of many devices hold devices^2 numbers: wider blocks keep their size
 * linear in the graph. */
static uint32_t block_bits_of(uint32_t devices) {
  uint32_t bits = 3;
  while (devices > 2 && (1u << bits) < devices * devices)
    bits++;
  return bits;
}

static void layout_marks(regal_order *order, regal_carver *carver) {
  size_t d = order->problem->devices;
  bool two = regal_order_kind_of(order) == &regal_order_two;
  order->block_bits = block_bits_of((uint32_t)d);
  order->block = 1u << order->block_bits;
  order->marks_count = (order->problem->ops >> order->block_bits) + 1;
  order->mark_size = (uint32_t)(d + d * d);
  size_t marks = order->marks_count;
  order->marks = regal_carve(carver, two ? marks : 0, sizeof *order->marks);
  order->mark_ns = regal_carve(carver, two ? 0 : marks * order->mark_size, 8);
  order->mark_exchanged = regal_carve(carver, two ? 0 : marks * d * d, 4);
  order->mark_awaited = regal_carve(carver, two ? 0 : marks, 4);
  bool links = order->problem->machine->overlapped;
  order->trial_mark_ns =
      regal_carve(carver, links ? marks * order->mark_size : 0, 8);
  order->tails =
      regal_carve(carver, marks * (links ? order->mark_size + d : d), 8);
}

static void layout_times(regal_order *order, regal_carver *carver) {
  const regal_problem *problem = order->problem;
  bool links = problem->machine->overlapped;
  size_t d = problem->devices, ops = problem->ops;
  size_t ends = links || problem->has_waits ? ops : 0;
  size_t slots = links ? problem->tensors * d : 0;
  order->end_ns = regal_carve(carver, ends, 8);
  order->new_end_ns = regal_carve(carver, links ? 0 : ends, 8);
  order->undo_end_ns = regal_carve(carver, links ? ends : 0, 8);
  order->sent = regal_carve(carver, slots, sizeof *order->sent);
  order->undo =
      regal_carve(carver, slots < problem->uses ? slots : problem->uses,
                  sizeof *order->undo);
  order->tail_end = regal_carve(carver, ends, 8);
  order->tail_sent = regal_carve(carver, slots, 8);
  order->tail_free = regal_carve(carver, links ? ends : 0, 8);
  order->tail_free_sent = regal_carve(carver, slots, 8);
}

/* Exchanges of one pass: an op needs at most one for each of its inputs; and,
 * unless they are late, for each other device. */
static size_t most_exchanges(const regal_problem *problem) {
  size_t most = (size_t)problem->ops * (problem->devices - 1);
  bool more = problem->uses < most || regal_order_may_be_late(problem);
  return more ? problem->uses : most;
}

void regal_order_layout(regal_order *order, regal_carver *carver,
                        const regal_problem *problem) {
  size_t d = problem->devices, ops = problem->ops;
  order->problem = problem;
  order->late = false;
  order->op_at = regal_carve(carver, ops, 4);
  order->position = regal_carve(carver, ops, 4);
  order->cells = regal_carve(carver, ops, sizeof *order->cells);
  order->device_of = regal_carve(carver, ops, 1);
  order->made_by = regal_carve(carver, problem->uses, 4);
  order->readers = regal_carve(carver, problem->tensors * d, 4);
  order->flipped = regal_carve(carver, ops, 4);
  order->flipped_from = regal_carve(carver, ops, 1);
  order->next_member = regal_carve(carver, problem->leader ? ops : 0, 4);
  layout_marks(order, carver);
  layout_times(order, carver);
  order->clock = regal_carve(carver, 2 * d + d * d, 8);
  order->link = order->clock ? order->clock + d : NULL; /* as in a mark */
  order->pending = regal_carve(carver, d * d, 8);
  order->exchanged = regal_carve(carver, d * d, 4);
  bool late = regal_order_may_be_late(problem);
  order->first_reader = regal_carve(carver, late ? problem->tensors * d : 0, 4);
  order->old_first = regal_carve(carver, late ? 2 * (size_t)problem->uses : 0,
                                 sizeof *order->old_first);
  order->log = regal_carve(carver, most_exchanges(problem), sizeof *order->log);
}

/* -- What an op is to the simulation --------------------------------------- */

static void count_leaving(regal_order *order, uint32_t op) {
  const regal_problem *problem = order->problem;
  regal_order_cell *cell = &order->cells[op];
  uint32_t d = problem->devices;
  cell->cross_ns = 0;
  cell->leaves = 0;
  for (REGAL_ROW(t, problem->output_begin, op)) {
    const uint32_t *readers = order->readers + (size_t)t * d;
    for (uint32_t a = 0; a < d; a++)
      if (a != cell->device && readers[a]) {
        cell->leaves++;
        cell->cross_ns +=
            regal_problem_transfer_ns(problem, t, cell->device, a);
      }
  }
}

static uint32_t count_remote(const regal_order *order, uint32_t op) {
  const regal_problem *problem = order->problem;
  uint32_t remote = 0, device = order->cells[op].device;
  for (REGAL_ROW(i, problem->input_begin, op))
    remote += order->device_of[order->made_by[i]] != device;
  return remote;
}

/* Ops of other devices that the op waits for. */
static uint32_t count_waits(const regal_order *order, uint32_t op) {
  const regal_graph *graph = order->problem->graph;
  uint32_t waits = 0, device = order->cells[op].device;
  if (order->problem->has_waits)
    for (REGAL_ROW(i, graph->control_in_begin, op))
      waits += order->cells[graph->control_in[i]].device != device;
  return waits;
}

static void find_first_readers(regal_order *order) {
  uint32_t d = order->problem->devices;
  for (uint32_t t = 0; order->late && t < order->problem->tensors; t++)
    for (uint32_t a = 0; a < d; a++)
      order->first_reader[(size_t)t * d + a] =
          order->readers[(size_t)t * d + a]
              ? regal_order_find_first(order, t, a)
              : REGAL_NONE;
}

/* Ops of a group, from its leader on. */
static void link_groups(regal_order *order) {
  const uint32_t *leader = order->problem->leader;
  uint32_t *last = order->flipped; /* scratch */
  for (uint32_t op = 0; leader && op < order->problem->ops; op++) {
    order->next_member[op] = REGAL_NONE;
    if (leader[op] != op)
      order->next_member[last[leader[op]]] = op;
    last[leader[op]] = op;
  }
}

void regal_order_set(regal_order *order, const uint32_t *op_at,
                     const uint8_t *placement) {
  const regal_problem *problem = order->problem;
  uint32_t d = problem->devices;
  memcpy(order->op_at, op_at, problem->ops * sizeof *op_at);
  memset(order->readers, 0, (size_t)problem->tensors * d * 4);
  memset(order->load_ns, 0, sizeof order->load_ns);
  for (uint32_t i = 0; i < problem->ops; i++) {
    uint32_t op = op_at[i], device = placement[op];
    order->position[op] = i;
    order->cells[op].device = (uint16_t)device;
    order->device_of[op] = (uint8_t)device;
    order->cells[op].run_ns = regal_problem_run_ns(problem, op, device);
    order->load_ns[device] += order->cells[op].run_ns;
    for (REGAL_ROW(k, problem->input_begin, op)) {
      order->made_by[k] = problem->producer[problem->input[k]];
      order->readers[(size_t)problem->input[k] * d + device]++;
    }
  }
  for (uint32_t op = 0; op < problem->ops; op++) {
    count_leaving(order, op);
    order->cells[op].remote = count_remote(order, op);
    order->cells[op].waits = count_waits(order, op);
    order->cells[op].awaited =
        problem->wait_begin[op + 1] > problem->wait_begin[op];
  }
  link_groups(order);
  find_first_readers(order);
  order->trial = 0;
  order->has_tails = false;
  order->refused = 0;
  regal_order_begin_move(order);
  regal_order_kind_of(order)->reset(order);
}

/* -- Moves ----------------------------------------------------------------- */

void regal_order_begin_move(regal_order *order) {
  order->shifted_from = order->shifted_to = 0;
  order->flips = 0;
  order->touched[0] = (regal_order_stretch){UINT32_MAX, 0};
  order->touched_count = 0;
  order->crowded = order->problem->machine->overlapped;
  order->seeks_readers = false;
  order->bounded = order->settled = 0;
  order->old_firsts = 0;
  order->undo_count = order->changed_from = order->changed_to = 0;
}

void regal_order_range(const regal_problem *problem, const uint32_t *position,
                       uint32_t op, uint32_t *first, uint32_t *last) {
  const regal_graph *graph = problem->graph;
  uint32_t low = 0, high = problem->ops - 1;
  for (REGAL_ROW(i, problem->input_begin, op))
    low =
        regal_larger32(low, position[problem->producer[problem->input[i]]] + 1);
  for (REGAL_ROW(i, graph->control_in_begin, op))
    low = regal_larger32(low, position[graph->control_in[i]] + 1);
  for (REGAL_ROW(k, problem->successor_begin, op))
    high = regal_smaller32(high, position[problem->successor[k]] - 1);
  *first = low;
  *last = high;
}

static void rotate(regal_order *order, uint32_t from, uint32_t to) {
  uint32_t *op_at = order->op_at, op = op_at[from];
  if (from < to)
    for (uint32_t i = from; i < to; i++)
      order->position[op_at[i] = op_at[i + 1]] = i;
  else
    for (uint32_t i = from; i > to; i--)
      order->position[op_at[i] = op_at[i - 1]] = i;
  order->position[op_at[to] = op] = to;
}

void regal_order_shift(regal_order *order, uint32_t op, uint32_t to) {
  uint32_t from = order->position[op];
  if (from == to)
    return;
  order->shifted_from = from;
  order->shifted_to = to;
  rotate(order, from, to);
  regal_order_touch_shift(order);
}

/* The tensors that the op reads find another reader on the new device, and one
 * less on the old. */
static void move_reads(regal_order *order, uint32_t op, uint32_t from,
                       uint32_t to) {
  const regal_problem *problem = order->problem;
  uint32_t d = problem->devices;
  for (REGAL_ROW(i, problem->input_begin, op)) {
    uint32_t t = problem->input[i];
    uint32_t *readers = order->readers + (size_t)t * d;
    regal_order_cell *producer = &order->cells[problem->producer[t]];
    uint32_t home = producer->device;
    if (--readers[from] == 0 && from != home) {
      producer->cross_ns -= regal_problem_transfer_ns(problem, t, home, from);
      producer->leaves--;
    }
    if (readers[to]++ == 0 && to != home) {
      producer->cross_ns += regal_problem_transfer_ns(problem, t, home, to);
      producer->leaves++;
    }
  }
}

static void move_outputs(regal_order *order, uint32_t op, uint32_t from,
                         uint32_t to) {
  const regal_problem *problem = order->problem;
  for (REGAL_ORDER_USES(u, problem, op)) {
    regal_order_cell *reader = &order->cells[problem->consumer[u]];
    reader->remote += reader->device == from;
    reader->remote -= reader->device == to;
  }
}

static void change_device(regal_order *order, uint32_t op, uint32_t to) {
  regal_order_cell *cell = &order->cells[op];
  uint32_t from = cell->device;
  move_reads(order, op, from, to);
  move_outputs(order, op, from, to);
  cell->device = (uint16_t)to;
  order->device_of[op] = (uint8_t)to;
  order->load_ns[from] -= cell->run_ns;
  cell->run_ns = regal_problem_run_ns(order->problem, op, to);
  order->load_ns[to] += cell->run_ns;
  count_leaving(order, op);
  cell->remote = count_remote(order, op);
  if (!order->problem->has_waits)
    return;
  cell->waits = count_waits(order, op);
  for (REGAL_ROW(w, order->problem->wait_begin, op)) {
    regal_order_cell *waiter = &order->cells[order->problem->waiter[w]];
    waiter->waits += waiter->device == from;
    waiter->waits -= waiter->device == to;
  }
}

void regal_order_flip(regal_order *order, uint32_t op, uint32_t device) {
  uint32_t from = order->cells[op].device;
  order->flipped[order->flips] = op;
  order->flipped_from[order->flips++] = (uint8_t)from;
  change_device(order, op, device);
  regal_order_touch_flip(order, op, from);
}

void regal_order_flip_group(regal_order *order, uint32_t op, uint32_t device) {
  const uint32_t *leader = order->problem->leader;
  if (!leader) {
    regal_order_flip(order, op, device);
    return;
  }
  for (uint32_t k = leader[op]; k != REGAL_NONE; k = order->next_member[k])
    regal_order_flip(order, k, device);
}

/* The largest load of a device: no plan takes less. */
static int64_t largest_load(const regal_order *order) {
  int64_t load = 0;
  for (uint32_t a = 0; a < order->problem->devices; a++)
    load = regal_later(load, order->load_ns[a]);
  return load;
}

int64_t regal_order_cost(regal_order *order, int64_t allowed) {
  const regal_order_kind *kind = regal_order_kind_of(order);
  if (order->touched_count == 0)
    return order->runtime_ns;
  int64_t least = order->flips > 0 ? largest_load(order) : 0;
  if (least > allowed)
    return least;
  regal_order_join_touched(order);
  return kind->cost(order, allowed);
}

void regal_order_keep(regal_order *order, int64_t runtime_ns) {
  if (order->touched_count == 0)
    return;
  regal_order_kind_of(order)->keep(order);
  order->runtime_ns = runtime_ns;
  order->has_tails = false;
  order->refused = 0;
}

void regal_order_take_back(regal_order *order) {
  const regal_order_kind *kind = regal_order_kind_of(order);
  if (kind->undo)
    kind->undo(order);
  for (uint32_t i = order->flips; i-- > 0;)
    change_device(order, order->flipped[i], order->flipped_from[i]);
  if (order->shifted_from != order->shifted_to)
    rotate(order, order->shifted_to, order->shifted_from);
  order->refused++;
  if (!order->has_tails && order->refused >= kind->patience) {
    kind->find_tails(order);
    order->has_tails = true;
  }
}

regal_fitness regal_order_walk(const regal_problem *problem, regal_walk *walk,
                               const uint32_t *op_at, const uint8_t *placement,
                               regal_plan *plan) {
  bool late =
      problem->machine->overlapped || problem->objective == REGAL_MEMORY;
  return (late ? regal_walk_late : regal_walk_within_limit)(
      problem, walk, op_at, placement, plan);
}
