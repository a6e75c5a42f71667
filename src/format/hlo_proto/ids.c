/* SPDX-License-Identifier: Apache-2.0 */
/* From ids of a file to positions: a sorted list, for ids may be any numbers.
 */
#include <stdlib.h>

#include "format/hlo_proto/hlo_proto.h"

static int by_id(const void *a, const void *b) {
  int64_t x = ((const regal_hlo_id *)a)->id, y = ((const regal_hlo_id *)b)->id;
  return (x > y) - (x < y);
}

/* The same id twice is an error, about the second. */
static int by_id_and_position(const void *a, const void *b) {
  int order = by_id(a, b);
  uint32_t x = ((const regal_hlo_id *)a)->position;
  uint32_t y = ((const regal_hlo_id *)b)->position;
  return order ? order : (x > y) - (x < y);
}

uint32_t regal_hlo_ids_sort(regal_hlo_ids *ids) {
  qsort(ids->list, ids->count, sizeof *ids->list, by_id_and_position);
  for (uint32_t i = 1; i < ids->count; i++)
    if (ids->list[i].id == ids->list[i - 1].id)
      return i;
  return REGAL_NONE;
}

uint32_t regal_hlo_ids_find(const regal_hlo_ids *ids, int64_t id) {
  regal_hlo_id key = {id, 0};
  const regal_hlo_id *found =
      bsearch(&key, ids->list, ids->count, sizeof *ids->list, by_id);
  return found ? found->position : REGAL_NONE;
}
