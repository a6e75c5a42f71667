/* SPDX-License-Identifier: Apache-2.0 */
/* An allocator whose n-th allocation fails, for tests that try n = 1, 2, ...
 * until the call under test succeeds:
 *
 *   for (size_t n = 1;; n++) {
 *     failing_allocator memory = {.fail_at = n};
 *     regal_allocator allocator = failing_allocator_of(&memory);
 *     ... context with &allocator; call; free everything ...
 *     assert_int_equal(memory.blocks, 0);
 *     if (!memory.failed)
 *       break; // the call needs fewer than n allocations: all were tried
 *     assert_int_equal(status, REGAL_NO_MEMORY);
 *   }
 */
#ifndef REGAL_TESTS_FAILING_ALLOCATOR_H
#define REGAL_TESTS_FAILING_ALLOCATOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

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

#endif
