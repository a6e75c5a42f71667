/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of one message: everything that a reader makes of a file, freed at
 * once. protobuf-c allocates through it too, so that no failure on the way can
 * leave anything behind.
 */
#ifndef REGAL_FORMAT_PROTO_MESSAGE_ARENA_H
#define REGAL_FORMAT_PROTO_MESSAGE_ARENA_H

#include <protobuf-c/protobuf-c.h>

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

/* For protobuf_c_message_unpack; what it frees stays until the arena goes. */
ProtobufCAllocator regal_arena_allocator(regal_arena *arena);

#endif
