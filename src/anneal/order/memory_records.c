/* SPDX-License-Identifier: Apache-2.0 */
/* Memory along an order with exchanges: records of tensors, what they make ops
 * do to memory, and which op to move where a limit is passed. See
 * anneal/order/memory.h; the profile is in anneal/order/memory.c.
 *
 * A move marks the tensors that its ops read or make. Their records are found
 * anew, and events follow the difference. It also marks blocks: those in which
 * an event changed, and around them all up to the exchanges with which the
 * tensors travel. Blocks without a mark can be skipped by the scan.
 */
#include "anneal/memory/readers.h"
#include "anneal/order/memory.h"

#define BLOCK_BITS 4
#define SPREAD_WEIGHT 2.0 /* of the mean over blocks */

/* -- Layout ---------------------------------------------------------------- */

void regal_order_memory_layout(regal_order_memory *memory, regal_carver *carver,
                               regal_order *order) {
  const regal_problem *problem = order->problem;
  size_t ops = problem->ops, tensors = problem->tensors;
  memory->problem = problem;
  memory->order = order;
  memory->bits = BLOCK_BITS;
  memory->blocks = (problem->ops >> BLOCK_BITS) + 1;
  memory->weight = SPREAD_WEIGHT / memory->blocks;
  memory->records = regal_carve(carver, tensors, sizeof *memory->records);
  memory->old = regal_carve(carver, tensors, sizeof *memory->old);
  memory->dirty = regal_carve(carver, tensors, 4);
  memory->stamp = regal_carve(carver, tensors, 4);
  memory->early = regal_carve(carver, tensors, 1);
  memory->taken = regal_carve(carver, problem->reuses ? tensors : 0, 8);
  memory->events = regal_carve(carver, ops, sizeof *memory->events);
  memory->levels = regal_carve(carver, memory->blocks, sizeof *memory->levels);
  memory->trial = regal_carve(carver, memory->blocks, sizeof *memory->trial);
  memory->changed = regal_carve(carver, memory->blocks, 4);
  memory->concerned = regal_carve(carver, memory->blocks, 4);
  regal_residents_layout(&memory->residents, carver, problem);
}

static void clear_stamps(regal_order_memory *memory) {
  memory->stamps = 0;
  memset(memory->stamp, 0, memory->problem->tensors * 4);
  memset(memory->changed, 0, memory->blocks * 4);
  memset(memory->concerned, 0, memory->blocks * 4);
}

void regal_order_memory_create(regal_order_memory *memory) {
  clear_stamps(memory);
  memset(memory->early, 0, memory->problem->tensors);
  if (memory->problem->reuses)
    memset(memory->taken, 0, memory->problem->tensors * sizeof *memory->taken);
  memory->takes = 0;
  regal_residents_create(&memory->residents, memory->problem);
}

/* -- Records and events ---------------------------------------------------- */

static regal_order_record find_record(const regal_order_memory *memory,
                                      uint32_t tensor) {
  const regal_order *order = memory->order;
  regal_memory_readers found;
  regal_memory_find_readers(memory->problem, order->position, order->device_of,
                            tensor, &found);
  uint32_t other = found.home ^ 1;
  return (regal_order_record){
      found.local, found.remote ? found.first[other] : REGAL_NONE,
      found.remote ? found.last[other] : REGAL_NONE, found.home};
}

/* Adds what a record means to the events; `sign` -1 takes it away. */
static void add_record(regal_order_memory *memory, uint32_t tensor,
                       const regal_order_record *record, int sign) {
  int64_t bytes = sign * memory->problem->bytes[tensor];
  bool final = memory->problem->is_final[tensor];
  regal_order_event *events = memory->events;
  if (record->first == REGAL_NONE) {
    events[record->local].after -= final ? 0 : bytes;
    return;
  }
  events[record->first].firsts += (uint32_t)sign;
  events[record->last].after -= bytes;
  if (final)
    return;
  /* of the producer alone: that always goes with an exchange */
  if (record->local != memory->problem->producer[tensor])
    events[record->local].lasts += (uint32_t)sign;
  if (memory->early[tensor])
    events[record->local].departs += (uint32_t)sign;
}

/* What changes in a block may change what travels with the exchange before it,
 * if that is not in it, and with the one behind it. */
static void mark_block(regal_order_memory *memory, uint32_t block) {
  const regal_order_level *levels = memory->levels;
  uint32_t first = levels[block].exchanged >> memory->bits, last = block + 1;
  if (memory->changed[block] == memory->stamps)
    return;
  memory->changed[block] = memory->stamps;
  while (last + 1 < memory->blocks &&
         levels[last + 1].exchanged < last << memory->bits)
    last++;
  last = last < memory->blocks ? last : memory->blocks - 1;
  for (uint32_t k = first; k <= last; k++)
    memory->concerned[k] = memory->stamps;
}

static void mark_blocks(regal_order_memory *memory, uint32_t first,
                        uint32_t last) {
  for (uint32_t k = first >> memory->bits; k <= last >> memory->bits; k++)
    mark_block(memory, k);
}

static void include(regal_order_memory *memory, uint32_t op) {
  if (op == REGAL_NONE)
    return;
  uint32_t at = memory->order->position[op];
  memory->low = at < memory->low ? at : memory->low;
  memory->high = at > memory->high ? at : memory->high;
  mark_block(memory, at >> memory->bits);
}

static void include_record(regal_order_memory *memory, uint32_t tensor,
                           const regal_order_record *a,
                           const regal_order_record *b) {
  if (a->home != b->home)
    include(memory, memory->problem->producer[tensor]);
  if (a->home != b->home || a->local != b->local || a->first != b->first) {
    include(memory, a->local);
    include(memory, b->local);
    include(memory, a->first);
    include(memory, b->first);
  }
  if (a->home != b->home || a->last != b->last) {
    include(memory, a->last);
    include(memory, b->last);
  }
}

/* -- The whole order ------------------------------------------------------- */

void regal_order_memory_rebuild(regal_order_memory *memory) {
  const regal_problem *problem = memory->problem;
  for (uint32_t op = 0; op < problem->ops; op++) {
    int64_t bytes = 0;
    for (REGAL_ROW(t, problem->output_begin, op))
      bytes += problem->bytes[t];
    memory->events[op] = (regal_order_event){
        bytes + problem->graph->temporary_bytes[op], bytes, 0, 0, 0};
  }
  for (uint32_t t = 0; t < problem->tensors; t++) {
    memory->records[t] = find_record(memory, t);
    if (problem->bytes[t])
      add_record(memory, t, &memory->records[t], 1);
  }
}

/* -- One move -------------------------------------------------------------- */

static void mark_tensor(regal_order_memory *memory, uint32_t tensor) {
  if (memory->stamp[tensor] == memory->stamps ||
      !memory->problem->bytes[tensor])
    return;
  memory->stamp[tensor] = memory->stamps;
  memory->dirty[memory->dirty_count++] = tensor;
}

static void mark_tensors(regal_order_memory *memory, uint32_t op) {
  const regal_problem *problem = memory->problem;
  include(memory, op);
  for (REGAL_ROW(i, problem->input_begin, op))
    mark_tensor(memory, problem->input[i]);
  for (REGAL_ROW(t, problem->output_begin, op))
    mark_tensor(memory, t);
}

/* Exchanges may change wherever something reads what a moved op makes. */
static void include_readers(regal_order_memory *memory, uint32_t op) {
  const regal_problem *problem = memory->problem;
  for (REGAL_ORDER_USES(u, problem, op)) {
    uint32_t at = memory->order->position[problem->consumer[u]];
    memory->high = at > memory->high ? at : memory->high;
    mark_block(memory, at >> memory->bits);
  }
}

static void toggle(regal_order_memory *memory) {
  uint32_t tensor = memory->toggled;
  if (tensor == REGAL_NONE)
    return;
  const regal_order_record *record = &memory->records[tensor];
  add_record(memory, tensor, record, -1);
  memory->early[tensor] ^= 1;
  add_record(memory, tensor, record, 1);
  include(memory, record->local);
  include(memory, record->first);
}

void regal_order_memory_begin(regal_order_memory *memory, uint32_t toggled) {
  const regal_order *order = memory->order;
  if (memory->stamps == UINT32_MAX)
    clear_stamps(memory);
  memory->stamps++;
  memory->dirty_count = 0;
  memory->base[0] = memory->base[1] = 0;
  memory->low = UINT32_MAX;
  memory->high = 0;
  if (order->touched_count)
    memory->high = order->touched[order->touched_count - 1].last;
  for (uint32_t i = 0; i < order->touched_count; i++)
    mark_blocks(memory, order->touched[i].first, order->touched[i].last);
  uint32_t from = order->shifted_from, to = order->shifted_to;
  if (from != to) {
    include(memory, order->op_at[from]);
    mark_tensors(memory, order->op_at[to]);
    include_readers(memory, order->op_at[to]);
    mark_blocks(memory, from < to ? from : to, from < to ? to : from);
  }
  for (uint32_t i = 0; i < order->flips; i++) {
    mark_tensors(memory, order->flipped[i]);
    include_readers(memory, order->flipped[i]);
    regal_residents_move(&memory->residents, memory->problem, order->flipped[i],
                         order->flipped_from[i], order->flipped_from[i] ^ 1u,
                         memory->base);
  }
  for (uint32_t i = 0; i < memory->dirty_count; i++) {
    uint32_t tensor = memory->dirty[i];
    regal_order_record *record = &memory->records[tensor];
    memory->old[i] = *record;
    *record = find_record(memory, tensor);
    include_record(memory, tensor, &memory->old[i], record);
    add_record(memory, tensor, &memory->old[i], -1);
    add_record(memory, tensor, record, 1);
  }
  memory->toggled = toggled;
  toggle(memory);
}

bool regal_order_memory_may_toggle(const regal_order_memory *memory,
                                   uint32_t tensor) {
  return memory->records[tensor].first != REGAL_NONE &&
         memory->problem->bytes[tensor] && !memory->problem->is_final[tensor];
}

void regal_order_memory_take_back(regal_order_memory *memory) {
  const regal_order *order = memory->order;
  toggle(memory);
  for (uint32_t i = memory->dirty_count; i-- > 0;) {
    uint32_t tensor = memory->dirty[i];
    add_record(memory, tensor, &memory->records[tensor], -1);
    add_record(memory, tensor, &memory->old[i], 1);
    memory->records[tensor] = memory->old[i];
  }
  for (uint32_t i = order->flips; i-- > 0;)
    regal_residents_move(&memory->residents, memory->problem, order->flipped[i],
                         order->flipped_from[i] ^ 1u, order->flipped_from[i],
                         memory->base);
}

/* -- Which op -------------------------------------------------------------- */

static uint32_t draw(regal_random *random, uint32_t below) {
  return (uint32_t)regal_random_below(random, below);
}

/* A block beyond the limit of a device, the next one after a random one; or
 * REGAL_NONE. */
static uint32_t draw_block(const regal_order_memory *memory,
                           regal_random *random, uint32_t *device) {
  const int64_t *limit = memory->problem->limit;
  uint32_t from = draw(random, memory->blocks);
  for (uint32_t i = 0; i < memory->blocks; i++) {
    uint32_t k =
        from + i < memory->blocks ? from + i : from + i - memory->blocks;
    const int64_t *peak = memory->levels[k].peak;
    if (peak[0] <= limit[0] && peak[1] <= limit[1])
      continue;
    *device = peak[0] - limit[0] > peak[1] - limit[1] ? 0 : 1;
    return k;
  }
  return REGAL_NONE;
}

/* Whether the device has the tensor at a position, nearly: exchanges may bring
 * it sooner and take it later. */
static bool is_held(const void *state, uint32_t tensor, uint32_t device,
                    uint32_t at) {
  const regal_order_memory *memory = state;
  const regal_order_record *record = &memory->records[tensor];
  const uint32_t *position = memory->order->position;
  if (record->home != device)
    return record->first != REGAL_NONE && position[record->first] <= at &&
           at <= position[record->last];
  return memory->problem->is_final[tensor] || at <= position[record->local] ||
         (record->first != REGAL_NONE && at <= position[record->first]);
}

/* The producer, or the last to need it here, or the first there. */
static uint32_t draw_side(const regal_order_memory *memory,
                          regal_random *random, uint32_t tensor) {
  const regal_order_record *record = &memory->records[tensor];
  switch (draw(random, 4)) {
  case 0:
    return record->local;
  case 1:
    return record->first != REGAL_NONE ? record->first : record->local;
  default:
    return memory->problem->producer[tensor];
  }
}

uint32_t regal_order_memory_draw(const regal_order_memory *memory,
                                 regal_random *random) {
  uint32_t ops = memory->problem->ops, device;
  uint32_t block = draw_block(memory, random, &device);
  if (block == REGAL_NONE)
    return draw(random, ops);
  uint32_t at = (block << memory->bits) + draw(random, 1u << memory->bits);
  at = at < ops ? at : ops - 1;
  uint32_t tensor =
      draw(random, 2)
          ? regal_memory_draw_held(memory->problem, memory->order->op_at, at,
                                   device, is_held, memory, random)
          : REGAL_NONE;
  return tensor == REGAL_NONE ? memory->order->op_at[at]
                              : draw_side(memory, random, tensor);
}
