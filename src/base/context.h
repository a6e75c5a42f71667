/* SPDX-License-Identifier: Apache-2.0 */
/* The handle behind every call: allocation, the last error, stop and progress.
 *
 * All memory goes through regal_alloc and regal_release, so that it is checked
 * for overflow, accounted for, and can be made to fail in tests.
 */
#ifndef REGAL_BASE_CONTEXT_H
#define REGAL_BASE_CONTEXT_H

#include "regal.h"

/* Code that must end up in the loop that calls it. */
#define REGAL_INLINE static inline __attribute__((always_inline))
/* No op, no tensor, no place. */
#define REGAL_NONE UINT32_MAX

#define REGAL_MESSAGE_CAPACITY 1024
#define REGAL_HASH_PRIME ((UINT64_C(1) << 61) - 1)

struct regal_context {
  regal_allocator allocator;
  size_t bytes_in_use, bytes_peak;
  size_t bytes_limit;   /* of bytes_in_use (base/memory/limit.h); 0: none */
  size_t bytes_refused; /* that the last failed allocation would have led to */
  uint64_t hash_point;  /* of tables of names, below REGAL_HASH_PRIME */
  char message[REGAL_MESSAGE_CAPACITY];
  volatile int stop_requested;  /* read and written with atomic builtins */
  volatile int waits_for_input; /* the same */
  const regal_context *parent;  /* whose stop request counts too, and whose
                                   memory it is, or NULL */
  regal_progress_fn progress;
  void *progress_state;
  int refused_threads; /* of the pool that missed most */
  size_t max_input;    /* bytes of an input, decompressed */
  const struct regal_side_files *side_files; /* see base/text.h, or NULL */
};

/* Stores the message and returns `status`. */
regal_status regal_fail(regal_context *context, regal_status status,
                        const char *format, ...) REGAL_FORMAT(3, 4);
/* The same when an allocation has failed. */
regal_status regal_fail_memory(regal_context *context);
/* REGAL_MISUSE unless a public call has a context and its other pointers are
 * there; `needs` is the message. */
regal_status regal_need(regal_context *context, bool complete,
                        const char *needs);

/* Hands an error on to the caller. */
#define REGAL_TRY(call)                                                        \
  do {                                                                         \
    regal_status try_status_ = (call);                                         \
    if (try_status_ != REGAL_OK)                                               \
      return try_status_;                                                      \
  } while (0)

/* `count` zeroed objects of `size` bytes, 64-byte aligned blocks are not
 * promised. NULL when memory is out or count * size overflows. A count of 0
 * gives a valid block. */
void *regal_alloc(regal_context *context, size_t count, size_t size);
/* Grows a block made by regal_alloc (NULL works); new bytes are zero. On
 * failure returns NULL and the old block stays. */
void *regal_grow(regal_context *context, void *block, size_t count,
                 size_t size);
void regal_release(regal_context *context, void *block);
char *regal_copy_text(regal_context *context, const char *text);

static inline const regal_context *
regal_context_root(const regal_context *context) {
  while (context->parent)
    context = context->parent;
  return context;
}

bool regal_stop_requested(const regal_context *context);
/* The most bytes of an input, decompressed, of the context or what it is a
 * child of. There is room for two more below SIZE_MAX / 4. */
size_t regal_max_input(const regal_context *context);

/* A growing array: makes room for one more in `array` of `count` items with
 * `*capacity`, doubling. False when memory is out. */
#define REGAL_RESERVE(context, array, count, capacity)                         \
  ((count) < (capacity) ||                                                     \
   regal_reserve((context), (void **)&(array), &(capacity), sizeof *(array)))
bool regal_reserve(regal_context *context, void **array, size_t *capacity,
                   size_t size);

#endif
