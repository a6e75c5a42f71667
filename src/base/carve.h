/* SPDX-License-Identifier: Apache-2.0 */
/* One block of memory, carved into arrays. A layout function is called twice:
 * with a null base, to learn the size, and with the block, to set pointers. */
#ifndef REGAL_BASE_CARVE_H
#define REGAL_BASE_CARVE_H

#include <string.h>

#include "base/context.h"

#define REGAL_CARVE_ALIGN 64 /* a cache line, so that threads do not share */

typedef struct regal_carver {
  char *base; /* NULL while measuring */
  size_t used;
} regal_carver;

static inline void *regal_carve(regal_carver *carver, size_t count,
                                size_t size) {
  size_t at = carver->used;
  carver->used += (count * size + REGAL_CARVE_ALIGN - 1) / REGAL_CARVE_ALIGN *
                  REGAL_CARVE_ALIGN;
  return carver->base ? carver->base + at : NULL;
}

/* The block of the size that was measured; false when memory is out. */
static inline bool regal_carver_alloc(regal_context *context,
                                      regal_carver *carver) {
  carver->base = regal_alloc(context, carver->used, 1);
  carver->used = 0;
  return carver->base;
}

/* Measures by `layout`, a call that carves by `carver` (which is all zero),
 * allocates, and lays out. A status; the block is carver.base. */
#define REGAL_CARVE_BLOCK(context, carver, layout)                             \
  ((layout), regal_carver_alloc((context), &(carver))                          \
                 ? ((layout), REGAL_OK)                                        \
                 : regal_fail_memory(context))

/* A copy of the struct `plain` with its arrays behind it, in one block that
 * regal_release frees; NULL when memory is out. `layout` is called first for
 * `plain` and then for the copy. */
static inline void *
regal_carve_struct(regal_context *context, void *plain, size_t size,
                   void (*layout)(void *made, regal_carver *carver)) {
  regal_carver carver = {NULL, 0};
  regal_carve(&carver, 1, size);
  layout(plain, &carver);
  if (!regal_carver_alloc(context, &carver))
    return NULL;
  void *made = regal_carve(&carver, 1, size);
  memcpy(made, plain, size);
  layout(made, &carver);
  return made;
}

#endif
