/* SPDX-License-Identifier: Apache-2.0 */
/* The handle behind every call. All memory of the library passes through
 * regal_alloc, regal_grow and regal_release here: sizes are checked for
 * overflow, bytes in use and their peak are counted, a limit of them is kept,
 * and tests can make any allocation fail. A stop request is an atomic flag that
 * a child context inherits from its parent.
 */
#include "base/context.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/plain.h"
#include "base/random.h"
#include "base/text.h"

/* Every block is preceded by its size, so that release needs no size. */
typedef union header {
  size_t bytes; /* header included */
  max_align_t align;
} header;

static void *system_resize(void *state, void *block, size_t old_bytes,
                           size_t new_bytes) {
  (void)state, (void)old_bytes;
  if (new_bytes)
    return realloc(block, new_bytes);
  free(block);
  return NULL;
}

/* A number that the author of a file cannot know. */
static uint64_t draw_hash_point(const regal_context *context) {
  struct timespec now = {0};
  timespec_get(&now, TIME_UTC);
  uint64_t drawn = regal_mix((uint64_t)now.tv_sec * REGAL_GOLDEN);
  drawn = regal_mix(drawn ^ (uint64_t)now.tv_nsec);
  return regal_mix(drawn ^ (uintptr_t)context) % REGAL_HASH_PRIME;
}

regal_status regal_context_create(regal_context **context,
                                  const regal_allocator *allocator) {
  static const regal_allocator system = {system_resize, NULL};
  if (!context || (allocator && !allocator->resize))
    return REGAL_MISUSE;
  if (!allocator)
    allocator = &system;
  regal_context *made =
      allocator->resize(allocator->state, NULL, 0, sizeof *made);
  if (!made)
    return REGAL_NO_MEMORY;
  memset(made, 0, sizeof *made);
  made->allocator = *allocator;
  made->hash_point = draw_hash_point(made);
  made->max_input = REGAL_DEFAULT_MAX_INPUT;
  *context = made;
  return REGAL_OK;
}

void regal_context_free(regal_context *context) {
  if (!context)
    return;
  regal_allocator allocator = context->allocator;
  allocator.resize(allocator.state, context, sizeof *context, 0);
}

const char *regal_error(const regal_context *context) {
  return context ? context->message : "no context";
}

size_t regal_bytes_in_use(const regal_context *context) {
  return context->bytes_in_use;
}

size_t regal_bytes_peak(const regal_context *context) {
  return context->bytes_peak;
}

void regal_stop_request(regal_context *context) {
  __atomic_store_n(&context->stop_requested, 1, __ATOMIC_RELAXED);
}

void regal_stop_clear(regal_context *context) {
  __atomic_store_n(&context->stop_requested, 0, __ATOMIC_RELAXED);
}

int regal_refused_threads(const regal_context *context) {
  return context->refused_threads;
}

bool regal_waits_for_input(const regal_context *context) {
  return __atomic_load_n(&context->waits_for_input, __ATOMIC_RELAXED);
}

bool regal_stop_requested(const regal_context *context) {
  for (; context; context = context->parent)
    if (__atomic_load_n(&context->stop_requested, __ATOMIC_RELAXED))
      return true;
  return false;
}

void regal_set_max_input(regal_context *context, size_t bytes) {
  context->max_input = bytes;
}

size_t regal_max_input(const regal_context *context) {
  const size_t most = SIZE_MAX / 4 - 2;
  while (context->parent)
    context = context->parent;
  return context->max_input && context->max_input < most ? context->max_input
                                                         : most;
}

void regal_set_progress(regal_context *context, regal_progress_fn fn,
                        void *state) {
  context->progress = fn;
  context->progress_state = state;
}

regal_status regal_fail(regal_context *context, regal_status status,
                        const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  regal_print_list(context->message, sizeof context->message, format,
                   arguments);
  va_end(arguments);
  return status;
}

regal_status regal_fail_memory(regal_context *context) {
  const regal_context *root = regal_context_root(context);
  size_t refused = __atomic_load_n(&root->bytes_refused, __ATOMIC_RELAXED);
  if (!refused || refused > INT64_MAX)
    return regal_fail(context, REGAL_NO_MEMORY, "out of memory");
  return regal_fail(context, REGAL_NO_MEMORY,
                    "out of memory: found %s in use, expected at most %s "
                    "(--max-memory)",
                    regal_show_bytes((int64_t)refused).text,
                    regal_show_bytes((int64_t)root->bytes_limit).text);
}

regal_status regal_need(regal_context *context, bool complete,
                        const char *needs) {
  if (!context)
    return REGAL_MISUSE;
  return complete ? REGAL_OK : regal_fail(context, REGAL_MISUSE, "%s", needs);
}

/* What an allocation would lead to, if that is beyond the limit. */
static size_t refused_bytes(const regal_context *context, size_t old_bytes,
                            size_t bytes) {
  size_t after = context->bytes_in_use - old_bytes + bytes;
  return context->bytes_limit && bytes > old_bytes &&
                 after > context->bytes_limit
             ? after
             : 0;
}

void *regal_grow(regal_context *context, void *block, size_t count,
                 size_t size) {
  size_t bytes;
  if (__builtin_mul_overflow(count, size, &bytes) ||
      bytes > SIZE_MAX / 2 - sizeof(header))
    return NULL;
  bytes += sizeof(header);
  header *old = block ? (header *)block - 1 : NULL;
  size_t old_bytes = old ? old->bytes : 0;
  size_t refused = refused_bytes(context, old_bytes, bytes);
  header *made = refused ? NULL
                         : context->allocator.resize(context->allocator.state,
                                                     old, old_bytes, bytes);
  if (!made) {
    __atomic_store_n(&context->bytes_refused, refused, __ATOMIC_RELAXED);
    return NULL;
  }
  made->bytes = bytes;
  size_t kept = old ? old_bytes : sizeof(header);
  if (bytes > kept)
    memset((char *)made + kept, 0, bytes - kept);
  context->bytes_in_use += bytes - old_bytes;
  if (context->bytes_in_use > context->bytes_peak)
    context->bytes_peak = context->bytes_in_use;
  return made + 1;
}

void *regal_alloc(regal_context *context, size_t count, size_t size) {
  return regal_grow(context, NULL, count, size);
}

void regal_release(regal_context *context, void *block) {
  if (!block)
    return;
  header *old = (header *)block - 1;
  size_t bytes = old->bytes;
  context->bytes_in_use -= bytes;
  context->allocator.resize(context->allocator.state, old, bytes, 0);
}

char *regal_copy_text(regal_context *context, const char *text) {
  size_t size = strlen(text) + 1;
  char *copy = regal_alloc(context, size, 1);
  if (copy)
    memcpy(copy, text, size);
  return copy;
}

bool regal_reserve(regal_context *context, void **array, size_t *capacity,
                   size_t size) {
  size_t wanted = *capacity ? *capacity * 2 : 16;
  void *grown = regal_grow(context, *array, wanted, size);
  if (!grown)
    return false;
  *array = grown;
  *capacity = wanted;
  return true;
}

const char *regal_status_name(regal_status status) {
  static const char *const names[] = {
      "ok",     "out of memory", "bad input",     "input or output error",
      "misuse", "invalid plan",  "internal error"};
  return (unsigned)status < sizeof names / sizeof *names ? names[status]
                                                         : "unknown status";
}

const char *regal_stop_name(regal_stop stop) {
  static const char *const names[] = {"done",  "budget",    "time",  "target",
                                      "bound", "interrupt", "no_fit"};
  return (unsigned)stop < sizeof names / sizeof *names ? names[stop]
                                                       : "unknown stop";
}
