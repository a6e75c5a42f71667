/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of many objects that are freed at once, such as everything that a
 * reader makes of a file: no failure on the way leaves anything behind.
 */
#ifndef REGAL_BASE_MEMORY_ARENA_H
#define REGAL_BASE_MEMORY_ARENA_H

#include "base/context.h"

typedef struct regal_arena_block regal_arena_block;

typedef struct regal_arena {
  regal_context *context;
  regal_arena_block *blocks; /* the newest first */
  char *next;                /* free bytes of the newest block */
  size_t left;
  bool failed; /* some allocation did */
} regal_arena;

void regal_arena_init(regal_arena *arena, regal_context *context);
void regal_arena_free(regal_arena *arena);

/* `count` zeroed objects of `size` bytes, aligned for any type; NULL when
 * memory is out. */
void *regal_arena_alloc(regal_arena *arena, size_t count, size_t size);

#endif
