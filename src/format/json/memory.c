/* SPDX-License-Identifier: Apache-2.0 */
/* Each block that yajl gets is at once as large as it can become, so that
 * growing one moves nothing, and freeing one has nothing to do.
 *
 * The small blocks are the handle, the lexer, the heads of the two buffers, the
 * stack of states (a byte per level, 128 at a time) and the text of an error.
 */
#include "format/json/memory.h"

#define SMALL_SIZE ((size_t)512)
#define SMALL_BLOCKS ((size_t)8)
#define BUFFERS ((size_t)2)
#define BUFFER_AT_FIRST ((size_t)2048)

static void *take(void *state, size_t size) {
  regal_json_memory *memory = state;
  if (size <= SMALL_SIZE && memory->small_count < SMALL_BLOCKS)
    return memory->block + memory->small_count++ * SMALL_SIZE;
  if (size <= memory->buffer_size && memory->buffer_count < BUFFERS)
    return memory->block + SMALL_BLOCKS * SMALL_SIZE +
           memory->buffer_count++ * memory->buffer_size;
  return NULL;
}

static void *resize(void *state, void *block, size_t size) {
  regal_json_memory *memory = state;
  if (!block)
    return take(state, size);
  bool small = (char *)block < memory->block + SMALL_BLOCKS * SMALL_SIZE;
  return size <= (small ? SMALL_SIZE : memory->buffer_size) ? block : NULL;
}

static void keep(void *state, void *block) {
  (void)state, (void)block;
}

regal_status regal_json_memory_create(regal_context *context, size_t longest,
                                      regal_json_memory *memory) {
  *memory = (regal_json_memory){.buffer_size = BUFFER_AT_FIRST};
  /* Besides the token: its opening quote, the space that yajl appends to the
   * file, and a zero. */
  while (memory->buffer_size < longest + 3) {
    if (memory->buffer_size > SIZE_MAX / 8)
      return regal_fail_memory(context);
    memory->buffer_size *= 2;
  }
  memory->block = regal_alloc(
      context, SMALL_BLOCKS * SMALL_SIZE + BUFFERS * memory->buffer_size, 1);
  return memory->block ? REGAL_OK : regal_fail_memory(context);
}

void regal_json_memory_free(regal_context *context, regal_json_memory *memory) {
  regal_release(context, memory->block);
  *memory = (regal_json_memory){0};
}

yajl_alloc_funcs regal_json_memory_functions(regal_json_memory *memory) {
  return (yajl_alloc_funcs){
      .malloc = take, .realloc = resize, .free = keep, .ctx = memory};
}
