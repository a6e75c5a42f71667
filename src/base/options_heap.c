/* SPDX-License-Identifier: Apache-2.0 */
/* Options on the heap, for languages that do not know the struct. */
#include <stddef.h>

#include "base/context.h"

/* The context is beside the options: freeing needs nothing else. */
typedef struct heap_options {
  regal_context *context;
  regal_options options;
} heap_options;

regal_status regal_options_create(regal_context *context,
                                  regal_options **options) {
  if (!context)
    return REGAL_MISUSE;
  if (!options)
    return regal_fail(context, REGAL_MISUSE,
                      "options need a place to put them");
  heap_options *made = regal_alloc(context, 1, sizeof *made);
  if (!made)
    return regal_fail_memory(context);
  made->context = context;
  regal_options_init(&made->options);
  *options = &made->options;
  return REGAL_OK;
}

void regal_options_free(regal_options *options) {
  if (!options)
    return;
  heap_options *made =
      (heap_options *)((char *)options - offsetof(heap_options, options));
  regal_release(made->context, made);
}
