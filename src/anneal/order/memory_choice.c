/* SPDX-License-Identifier: Apache-2.0 */
/* Which op to move where memory is beyond its limit: most ops have nothing to
 * do with it. */
#include "anneal/order/memory.h"
#include "base/random.h"

#define TRIES 8 /* for a tensor that is held */

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
static bool is_held(const regal_order_memory *memory, uint32_t tensor,
                    uint32_t device, uint32_t at) {
  const regal_order_record *record = &memory->records[tensor];
  const uint32_t *position = memory->order->position;
  if (record->home != device)
    return record->first != REGAL_NONE && position[record->first] <= at &&
           at <= position[record->last];
  return memory->problem->is_final[tensor] || at <= position[record->local] ||
         (record->first != REGAL_NONE && at <= position[record->first]);
}

static uint32_t draw_held(const regal_order_memory *memory,
                          regal_random *random, uint32_t device, uint32_t at) {
  const regal_problem *problem = memory->problem;
  for (uint32_t tries = 0; tries < TRIES; tries++) {
    uint32_t by = memory->order->op_at[draw(random, at + 1)];
    uint32_t first = problem->output_begin[by];
    uint32_t outputs = problem->output_begin[by + 1] - first;
    uint32_t tensor = outputs ? first + draw(random, outputs) : REGAL_NONE;
    if (outputs && problem->bytes[tensor] &&
        is_held(memory, tensor, device, at))
      return tensor;
  }
  return REGAL_NONE;
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
      draw(random, 2) ? draw_held(memory, random, device, at) : REGAL_NONE;
  return tensor == REGAL_NONE ? memory->order->op_at[at]
                              : draw_side(memory, random, tensor);
}
