/* SPDX-License-Identifier: Apache-2.0 */
/* Names of a file, to be found again: which one is called so? */
#ifndef REGAL_BASE_NAME_INDEX_H
#define REGAL_BASE_NAME_INDEX_H

#include "base/names.h"

#define REGAL_NAME_ABSENT UINT32_MAX
#define REGAL_NAME_AMBIGUOUS (UINT32_MAX - 1)

typedef struct regal_name_index {
  regal_context *context;
  regal_names names;
  uint32_t *number; /* of each name in `names`, or REGAL_NAME_AMBIGUOUS */
} regal_name_index;

/* Indexes names[0 .. count-1]; the texts must outlive the index. NULL and ""
 * are no names: they are not found. On failure `index` holds nothing. */
regal_status regal_name_index_create(regal_context *context,
                                     const char *const *names, uint32_t count,
                                     regal_name_index *index);
/* An index of zeros is accepted, and has no names. */
void regal_name_index_free(regal_name_index *index);

/* The number of the name, or one of the two above. O(length), whatever names a
 * file may choose. */
uint32_t regal_name_index_find(const regal_name_index *index, const char *name);

#endif
