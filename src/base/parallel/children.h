/* SPDX-License-Identifier: Apache-2.0 */
/* Contexts for the threads of one call: a context belongs to one thread at a
 * time, so each thread that makes graphs or runs a search of its own needs one.
 *
 * A child's memory comes from its parent's allocator, one thread at a time, and
 * counts as the parent's; a stop request to the parent is one to its children.
 */
#ifndef REGAL_BASE_PARALLEL_CHILDREN_H
#define REGAL_BASE_PARALLEL_CHILDREN_H

#include "base/context.h"

typedef struct regal_children regal_children;

regal_status regal_children_create(regal_context *parent, int count,
                                   regal_children **children);
/* After all that was made from the children is freed. */
void regal_children_free(regal_children *children);
regal_context *regal_children_at(const regal_children *children, int index);

#endif
