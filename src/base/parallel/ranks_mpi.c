/* SPDX-License-Identifier: Apache-2.0 */
/* Ranks by MPI.
 *
 * MPI is started only where mpirun has started this process, so that a lone
 * `regal train` neither waits for it nor depends on its daemons. A rank that
 * dies, or that ends with an error, ends the job: mpirun says which one and
 * stops the others.
 */
#include <limits.h>
#include <mpi.h>
#include <stdlib.h>

#include "base/parallel/ranks.h"

static bool started_by_mpirun(void) {
  return getenv("OMPI_COMM_WORLD_SIZE") || getenv("PMI_SIZE") ||
         getenv("PMIX_RANK");
}

static regal_status fail(regal_context *context, const char *what, int code) {
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(code, text, &length);
  return regal_fail(context, REGAL_IO, "MPI: %s: %.*s", what, length, text);
}

regal_status regal_ranks_join(regal_context *context, regal_ranks *ranks) {
  int running = 0, ended = 0, given;
  *ranks = (regal_ranks){.rank = 0, .size = 1};
  MPI_Finalized(&ended);
  MPI_Initialized(&running);
  if (ended || (!running && !started_by_mpirun()))
    return REGAL_OK;
  if (!running) {
    int code = MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &given);
    if (code != MPI_SUCCESS)
      return fail(context, "cannot start", code);
    ranks->owned = true;
  }
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_rank(MPI_COMM_WORLD, &ranks->rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks->size);
  if (ranks->size > REGAL_MOST_RANKS)
    return regal_fail(context, REGAL_BAD_INPUT,
                      "found %d MPI ranks, expected at most %d", ranks->size,
                      REGAL_MOST_RANKS);
  return REGAL_OK;
}

void regal_ranks_leave(regal_ranks *ranks) {
  if (ranks->owned)
    MPI_Finalize();
  ranks->owned = false;
}

/* MPI counts in int, here items and the bytes of one. */
static regal_status check_counts(regal_context *context, size_t items,
                                 size_t item_bytes) {
  if (items <= INT_MAX && item_bytes <= INT_MAX)
    return REGAL_OK;
  return regal_fail(context, REGAL_BAD_INPUT,
                    "MPI: found %zu items of %zu bytes to exchange, expected "
                    "at most %d of each",
                    items, item_bytes, INT_MAX);
}

static regal_status status_of(regal_context *context, int code) {
  return code == MPI_SUCCESS
             ? REGAL_OK
             : fail(context, "another rank does not answer", code);
}

regal_status regal_ranks_gather(const regal_ranks *ranks,
                                regal_context *context, void *array,
                                size_t items, size_t item_bytes) {
  static int counts[REGAL_MOST_RANKS], begins[REGAL_MOST_RANKS];
  MPI_Datatype item;
  if (ranks->size == 1)
    return REGAL_OK;
  REGAL_TRY(check_counts(context, items, item_bytes));
  for (int r = 0; r < ranks->size; r++) {
    begins[r] = (int)regal_ranks_first(ranks, items, r);
    counts[r] = (int)regal_ranks_first(ranks, items, r + 1) - begins[r];
  }
  MPI_Type_contiguous((int)item_bytes, MPI_BYTE, &item);
  MPI_Type_commit(&item);
  int code = MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, array, counts,
                            begins, item, MPI_COMM_WORLD);
  MPI_Type_free(&item);
  return status_of(context, code);
}

regal_status regal_ranks_spread(const regal_ranks *ranks,
                                regal_context *context, void *bytes,
                                size_t size) {
  char *at = bytes;
  if (ranks->size == 1)
    return REGAL_OK;
  for (size_t left = size; left;) {
    size_t piece = left < INT_MAX ? left : INT_MAX;
    REGAL_TRY(status_of(
        context, MPI_Bcast(at, (int)piece, MPI_BYTE, 0, MPI_COMM_WORLD)));
    at += piece;
    left -= piece;
  }
  return REGAL_OK;
}
