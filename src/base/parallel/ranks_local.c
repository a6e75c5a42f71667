/* SPDX-License-Identifier: Apache-2.0 */
/* Ranks without MPI: this process is the only one. */
#include "base/parallel/ranks.h"

regal_status regal_ranks_join(regal_context *context, regal_ranks *ranks) {
  (void)context;
  *ranks = (regal_ranks){.rank = 0, .size = 1};
  return REGAL_OK;
}

void regal_ranks_leave(regal_ranks *ranks) {
  (void)ranks;
}

regal_status regal_ranks_gather(const regal_ranks *ranks,
                                regal_context *context, void *array,
                                size_t items, size_t item_bytes) {
  (void)ranks, (void)context, (void)array, (void)items, (void)item_bytes;
  return REGAL_OK;
}

regal_status regal_ranks_spread(const regal_ranks *ranks,
                                regal_context *context, void *bytes,
                                size_t size) {
  (void)ranks, (void)context, (void)bytes, (void)size;
  return REGAL_OK;
}
