/* SPDX-License-Identifier: Apache-2.0 */
/* How much memory a call may use: --max-memory, or what the machine has. */
#ifndef REGAL_BASE_MEMORY_LIMIT_H
#define REGAL_BASE_MEMORY_LIMIT_H

#include "base/context.h"

/* Memory of this machine, or what of it this process may use: the least of the
 * physical memory, the limit of its control group and the limits of the
 * process (ulimit). */
uint64_t regal_memory_here(void);

/* From now on the context holds at most options->max_memory bytes, or three
 * quarters of regal_memory_here() if it is not given. Returns the limit before,
 * for regal_memory_restore; so calls can be nested. */
size_t regal_memory_limit(regal_context *context, const regal_options *options);
void regal_memory_restore(regal_context *context, size_t limit);

/* For what settings need, before it is allocated: fails as REGAL_BAD_INPUT with
 * "WHAT need BYTES, ..." when it is more than the limit leaves. */
regal_status regal_memory_check(regal_context *context, const char *what,
                                uint64_t bytes);

#endif
