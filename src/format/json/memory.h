/* SPDX-License-Identifier: Apache-2.0 */
/* The memory in which yajl works, all of it taken before the parse.
 *
 * yajl does not survive an allocation that fails. So this block has room for
 * everything that yajl 2 asks for in one parse: a handful of small blocks, and
 * two buffers, for a string with escapes and for a token that the end of the
 * file cuts off, which yajl doubles until the token fits.
 */
#ifndef REGAL_FORMAT_JSON_MEMORY_H
#define REGAL_FORMAT_JSON_MEMORY_H

#include <yajl/yajl_common.h>

#include "base/context.h"

typedef struct regal_json_memory {
  char *block;                      /* the small blocks, then the buffers */
  size_t buffer_size;               /* what a buffer may grow to */
  size_t small_count, buffer_count; /* handed out */
} regal_json_memory;

/* For tokens of up to `longest` bytes. */
regal_status regal_json_memory_create(regal_context *context, size_t longest,
                                      regal_json_memory *memory);
void regal_json_memory_free(regal_context *context, regal_json_memory *memory);

/* `memory` must stay where it is while these are in use. */
yajl_alloc_funcs regal_json_memory_functions(regal_json_memory *memory);

#endif
