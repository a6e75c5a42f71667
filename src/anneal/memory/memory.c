/* SPDX-License-Identifier: Apache-2.0 */
/* The memory of an order: its arrays, and what depends on the problem alone.
 * See anneal/memory/memory.h. */
#include "anneal/memory/memory.h"

#define TRAIL_ROOM 4096

/* Blocks grow with the square root of the ops, and so does their number. */
static void set_blocks(regal_memory *m) {
  m->shift = 4;
  while (m->shift < 10 && m->ops >> 2 * m->shift > 16)
    m->shift++;
  m->blocks = ((m->ops - 1) >> m->shift) + 1;
}

static void layout_events(regal_memory *m, regal_carver *carver) {
  size_t ops = m->ops, d = m->devices, tensors = m->problem->tensors;
  size_t several = d > 1 ? tensors : 0;
  m->live_begin = regal_carve(carver, ops + 1, 4);
  m->live = regal_carve(carver, m->problem->uses, 4);
  m->gone = regal_carve(carver, tensors, 4);
  m->sent = regal_carve(carver, several, 4);
  m->home = regal_carve(carver, several, 4);
  m->remote = regal_carve(carver, several, 8);
  m->first = regal_carve(carver, several * d, 4);
  m->last = regal_carve(carver, several * d, 4);
  regal_residents_layout(&m->residents, carver, m->problem);
  m->reused = regal_carve(carver, ops, 8);
  m->add = regal_carve(carver, ops, 8);
  m->net = regal_carve(carver, ops * d, 8);
}

void regal_memory_layout_profile(regal_memory *m, regal_carver *carver) {
  size_t ops = m->ops, d = m->devices;
  m->before = regal_carve(carver, (ops + 1) * d, 8);
  m->soft = regal_carve(carver, ops, 8);
  m->block_peak = regal_carve(carver, d * m->blocks, 8);
  m->block_soft = regal_carve(carver, m->blocks, 8);
}

static void layout_move(regal_memory *m, regal_carver *carver) {
  size_t ops = m->ops, tensors = m->problem->tensors;
  m->tensor_mark = regal_carve(carver, tensors, 8);
  m->reuse_mark = regal_carve(carver, ops, 8);
  m->block_mark = regal_carve(carver, m->blocks, 8);
  m->block_devices = regal_carve(carver, m->blocks, 8);
  m->taken = regal_carve(carver, tensors, 8);
  m->dirty = regal_carve(carver, tensors, 4);
  m->rewrite = regal_carve(carver, ops, 4);
  m->trail_room = TRAIL_ROOM + 64 * m->devices;
  m->trail = regal_carve(carver, m->trail_room, sizeof *m->trail);
}

void regal_memory_layout(regal_memory *m, regal_carver *carver,
                         const regal_problem *problem) {
  m->problem = problem;
  m->ops = problem->ops;
  m->devices = problem->devices;
  m->by_device = false;
  set_blocks(m);
  m->placement = regal_carve(carver, m->ops, 1);
  m->early = regal_carve(carver, problem->tensors, 1);
  m->kept_for = regal_carve(carver, problem->tensors, 4);
  m->keeps = regal_carve(carver, m->ops, 4);
  layout_events(m, carver);
  layout_move(m, carver);
}

void regal_memory_create(regal_memory *m) {
  const regal_problem *problem = m->problem;
  uint32_t count = 0;
  for (uint32_t op = 0; op < m->ops; op++) {
    m->live_begin[op] = count;
    for (REGAL_ROW(i, problem->input_begin, op)) {
      uint32_t t = problem->input[i];
      bool single = problem->use_begin[t + 1] - problem->use_begin[t] == 1;
      bool fixed = problem->devices == 1 && problem->is_final[t];
      if (problem->bytes[t] && !single && !fixed)
        m->live[count++] = t;
    }
  }
  m->live_begin[m->ops] = count;
  regal_residents_create(&m->residents, problem);
  regal_memory_all_late(m);
}

void regal_memory_all_late(regal_memory *m) {
  memset(m->early, 0, m->problem->tensors);
  memset(m->kept_for, 0xff, (size_t)m->problem->tensors * 4);
  memset(m->keeps, 0xff, (size_t)m->ops * 4);
}

void regal_memory_undo(regal_memory *m) {
  while (m->trail_count > 0) {
    const regal_memory_change *undo = &m->trail[--m->trail_count];
    if (undo->size == 8) {
      memcpy(undo->where, &undo->old, 8);
    } else if (undo->size == 4) {
      *(uint32_t *)undo->where = (uint32_t)undo->old;
    } else {
      *(uint8_t *)undo->where = (uint8_t)undo->old;
    }
  }
}
