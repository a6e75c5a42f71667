/* SPDX-License-Identifier: Apache-2.0 */
/* Stands for metis.c where METIS is not built in. */
#include "heuristic/partition/partition.h"

regal_status regal_bisect_metis(regal_context *context,
                                regal_bisection *bisection, uint64_t seed) {
  (void)bisection;
  (void)seed;
  return regal_fail(context, REGAL_BAD_INPUT,
                    "partitioner 'metis': this build has no METIS; install "
                    "libmetis-dev (scripts/setup.sh metis) and build again, or "
                    "use --partitioner fm");
}
