/* SPDX-License-Identifier: Apache-2.0 */
/* A table of the distinct names, and the number of each; a name that occurs
 * twice is ambiguous. */
#include "base/name_index.h"

static bool add(regal_name_index *index, const char *name, uint32_t number) {
  size_t before = index->names.count, at;
  if (!regal_names_add(&index->names, name, &at))
    return false;
  index->number[at] = at < before ? REGAL_NAME_AMBIGUOUS : number;
  return true;
}

regal_status regal_name_index_create(regal_context *context,
                                     const char *const *names, uint32_t count,
                                     regal_name_index *index) {
  *index = (regal_name_index){.context = context};
  regal_names_init(&index->names, context);
  index->number = regal_alloc(context, count, sizeof *index->number);
  bool whole = index->number;
  for (uint32_t i = 0; i < count && whole; i++)
    if (names[i] && *names[i])
      whole = add(index, names[i], i);
  if (whole)
    return REGAL_OK;
  regal_name_index_free(index);
  return regal_fail_memory(context);
}

void regal_name_index_free(regal_name_index *index) {
  if (index->context)
    regal_release(index->context, index->number);
  regal_names_free(&index->names);
  *index = (regal_name_index){0};
}

uint32_t regal_name_index_find(const regal_name_index *index,
                               const char *name) {
  size_t found = regal_names_find(&index->names, name);
  return found == REGAL_NO_NAME ? REGAL_NAME_ABSENT : index->number[found];
}
