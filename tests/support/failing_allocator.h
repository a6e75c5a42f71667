/* SPDX-License-Identifier: Apache-2.0 */
/* An allocator whose n-th allocation fails. fail_each_allocation() tries a call
 * with n = 1, 2, ... until it needs fewer; a test whose allocations do not all
 * count writes this loop itself.
 */
#ifndef REGAL_TESTS_FAILING_ALLOCATOR_H
#define REGAL_TESTS_FAILING_ALLOCATOR_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "regal.h"

typedef struct failing_allocator {
  size_t fail_at;     /* the allocation that fails, from 1; 0: none does */
  bool fail_later;    /* all allocations after it fail too */
  size_t allocations; /* tried so far; growing counts, freeing does not */
  size_t blocks;      /* held now; 0 at the end, or something leaked */
  size_t failed;      /* allocations that were refused */
} failing_allocator;

static inline void *failing_allocator_resize(void *state, void *block,
                                             size_t old_bytes,
                                             size_t new_bytes) {
  failing_allocator *memory = state;
  (void)old_bytes;
  if (!new_bytes) {
    memory->blocks -= block != NULL;
    free(block);
    return NULL;
  }
  size_t number = ++memory->allocations;
  if (memory->fail_at && (number == memory->fail_at ||
                          (memory->fail_later && number > memory->fail_at))) {
    memory->failed++;
    return NULL;
  }
  void *made = realloc(block, new_bytes);
  memory->blocks += made && !block;
  return made;
}

static inline regal_allocator failing_allocator_of(failing_allocator *memory) {
  return (regal_allocator){failing_allocator_resize, memory};
}

/* The call must fail as REGAL_NO_MEMORY until no allocation fails, then
 * succeed, and free all that it allocated each time. Returns how often it
 * failed. */
static inline size_t fail_each_allocation(
    regal_status (*call)(regal_context *context, const void *state),
    const void *state) {
  for (size_t n = 1;; n++) {
    failing_allocator memory = {.fail_at = n};
    regal_allocator allocator = failing_allocator_of(&memory);
    regal_context *context;
    regal_status status = regal_context_create(&context, &allocator);
    if (status == REGAL_OK) {
      status = call(context, state);
      regal_context_free(context);
    }
    assert_int_equal(memory.blocks, 0);
    assert_int_equal(status, memory.failed ? REGAL_NO_MEMORY : REGAL_OK);
    if (!memory.failed)
      return n - 1;
  }
}

#endif
