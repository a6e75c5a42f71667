/* SPDX-License-Identifier: Apache-2.0 */
/* The arena: blocks that double up to a megabyte, so that a small file needs
 * little and a large one few allocations. Blocks come zeroed and bytes are
 * handed out once.
 */
#include "base/memory/arena.h"

#include <stddef.h>

#define FIRST_BLOCK ((size_t)4 << 10)
#define LARGEST_BLOCK ((size_t)1 << 20)
#define ALIGNMENT _Alignof(max_align_t)

struct regal_arena_block {
  regal_arena_block *older;
  size_t bytes;
  max_align_t content[];
};

void regal_arena_init(regal_arena *arena, regal_context *context) {
  *arena = (regal_arena){.context = context};
}

void regal_arena_free(regal_arena *arena) {
  while (arena->blocks) {
    regal_arena_block *block = arena->blocks;
    arena->blocks = block->older;
    regal_release(arena->context, block);
  }
  regal_arena_init(arena, arena->context);
}

static bool add_block(regal_arena *arena, size_t bytes) {
  size_t wanted = arena->blocks ? arena->blocks->bytes * 2 : FIRST_BLOCK;
  if (wanted > LARGEST_BLOCK)
    wanted = LARGEST_BLOCK;
  if (wanted < bytes)
    wanted = bytes;
  regal_arena_block *block =
      regal_alloc(arena->context, sizeof *block + wanted, 1);
  if (!block)
    return false;
  block->older = arena->blocks;
  block->bytes = wanted;
  arena->blocks = block;
  arena->next = (char *)block->content;
  arena->left = wanted;
  return true;
}

void *regal_arena_alloc(regal_arena *arena, size_t count, size_t size) {
  size_t bytes;
  if (__builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX / 4) {
    arena->failed = true;
    return NULL;
  }
  bytes = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  if (bytes > arena->left && !add_block(arena, bytes)) {
    arena->failed = true;
    return NULL;
  }
  void *made = arena->next;
  arena->next += bytes;
  arena->left -= bytes;
  return made;
}
