/* SPDX-License-Identifier: Apache-2.0 */
/* The machine: devices, links, and what it says about single ops. */
#ifndef REGAL_COST_MODEL_MACHINE_H
#define REGAL_COST_MODEL_MACHINE_H

#include "graph/graph.h"

#define REGAL_NEVER INT64_MAX     /* run time of an op where it cannot run */
#define REGAL_UNLIMITED INT64_MAX /* memory of a device without a limit */

enum regal_objective { REGAL_RUNTIME = 0, REGAL_MEMORY = 1 };

typedef struct regal_machine {
  regal_context *context;
  uint32_t devices;
  bool overlapped;        /* transfers run beside the devices' work */
  bool control_transfers; /* control edges are zero-byte transfers */
  int64_t memory_limit[REGAL_MAX_DEVICES]; /* or REGAL_UNLIMITED */
  double speed[REGAL_MAX_DEVICES];         /* 2 = twice as fast */
  /* [from][to]; a bandwidth of 0 is infinite, in bytes per second */
  int64_t latency_ns[REGAL_MAX_DEVICES][REGAL_MAX_DEVICES];
  int64_t bandwidth[REGAL_MAX_DEVICES][REGAL_MAX_DEVICES];

  /* Names for people; NULL: a device is only its number. Owned. */
  char *name[REGAL_MAX_DEVICES];

  /* Ops with their own time on each device, which no speed changes. */
  uint32_t timed_ops;
  uint32_t *timed_op; /* [timed_ops] ascending */
  int64_t *timed_ns;  /* [timed_ops * devices], REGAL_NEVER where it can't */

  /* Ops with the same number must share a device; REGAL_NONE: free. */
  uint32_t *group; /* [ops], or NULL when there are no groups */
} regal_machine;

/* A machine as the options describe it (no file): homogeneous. */
regal_status regal_machine_create(regal_context *context,
                                  const regal_options *options,
                                  regal_machine **machine);
void regal_machine_free(regal_machine *machine);

/* Run time of `op` on `device`: its own time there if it has one, else its run
 * time divided by the device's speed, rounded to the nearest nanosecond (at
 * most REGAL_NEVER - 1). */
int64_t regal_machine_run_ns(const regal_machine *machine,
                             const regal_graph *graph, uint32_t op,
                             uint32_t device);
/* Time of a transfer of data: latency + ceil(bytes / bandwidth), or INT64_MAX
 * if that is more. (Control transfers are free: they do not come here.) */
int64_t regal_machine_transfer_ns(const regal_machine *machine, int64_t bytes,
                                  uint32_t from, uint32_t to);

#endif
