/* SPDX-License-Identifier: Apache-2.0 */
/* Changes of a move, noted so that they can be taken back (regal_memory_undo):
 * for the files of this folder. */
#ifndef REGAL_ANNEAL_MEMORY_TRAIL_H
#define REGAL_ANNEAL_MEMORY_TRAIL_H

#include <assert.h>

#include "anneal/memory/memory.h"

static inline void remember(regal_memory *m, void *where, uint64_t old,
                            uint32_t size) {
  assert(m->trail_count < m->trail_room); /* the caller checks */
  m->trail[m->trail_count++] = (regal_memory_change){where, old, size};
}

static inline void set_word(regal_memory *m, uint32_t *where, uint32_t value) {
  if (*where == value)
    return;
  remember(m, where, *where, 4);
  *where = value;
}

static inline void add_bytes(regal_memory *m, double *where, double bytes) {
  uint64_t old;
  memcpy(&old, where, sizeof old);
  remember(m, where, old, 8);
  *where += bytes;
}

#endif
