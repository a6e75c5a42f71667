/* SPDX-License-Identifier: Apache-2.0 */
/* The machine: devices, links, and what it says about single ops. */
#ifndef REGAL_COST_MODEL_MACHINE_H
#define REGAL_COST_MODEL_MACHINE_H

#include "graph/graph.h"

#define REGAL_USUAL (-1)          /* time of an op that has none of its own */
#define REGAL_UNLIMITED INT64_MAX /* memory of a device without a limit */

#define REGAL_SLOWEST 1e-6 /* speeds of devices */
#define REGAL_FASTEST 1e6

enum regal_objective { REGAL_RUNTIME = 0, REGAL_MEMORY = 1 };

struct regal_machine {
  regal_context *context;
  const regal_graph *graph; /* whose ops are meant below */
  uint32_t devices;
  bool overlapped;        /* transfers run beside the devices' work */
  bool control_transfers; /* control edges are zero-byte transfers */
  int64_t memory_limit[REGAL_MAX_DEVICES]; /* or REGAL_UNLIMITED */
  double speed[REGAL_MAX_DEVICES];         /* 2 = twice as fast */
  /* [from][to]; a bandwidth of 0 is infinite, in bytes per second */
  int64_t latency_ns[REGAL_MAX_DEVICES][REGAL_MAX_DEVICES];
  int64_t bandwidth[REGAL_MAX_DEVICES][REGAL_MAX_DEVICES];

  /* NULL: a device is only its number. Owned. */
  char *name[REGAL_MAX_DEVICES];

  /* Ops with their own time on some devices, which no speed changes:
   * REGAL_USUAL where they have none, REGAL_NEVER where they cannot run. */
  uint32_t timed_ops;
  uint32_t *timed_op; /* [timed_ops] ascending */
  int64_t *timed_ns;  /* [timed_ops * devices] */

  /* Ops with the same number must share a device; REGAL_NONE: free. */
  uint32_t *group; /* [ops], or NULL when there are no groups */
  uint32_t *pin;   /* [ops] the only device that may run the op, REGAL_NONE:
                      any; or NULL when no op is pinned */
};

/* A machine as the options describe it (no file): homogeneous. */
regal_status regal_machine_from_options(regal_context *context,
                                        const regal_options *options,
                                        regal_machine **machine);
/* A machine of its own with the same content, for the same graph. */
regal_status regal_machine_copy(regal_context *context,
                                const regal_machine *machine,
                                regal_machine **copy);

/* -- Single ops, by their numbers in machine->graph ------------------------ */

/* `ns` may be REGAL_NEVER. O(1), but the first makes room for all ops. */
regal_status regal_machine_set_time(regal_machine *machine, uint32_t op,
                                    uint32_t device, int64_t ns);
regal_status regal_machine_set_pin(regal_machine *machine, uint32_t op,
                                   uint32_t device);
/* Both ops, and all that share a device with one of them, share one. Groups
 * that were joined count once regal_machine_settle was called. */
regal_status regal_machine_join(regal_machine *machine, uint32_t a, uint32_t b);
void regal_machine_settle(regal_machine *machine);
/* The first op of the op's group, which may be the op itself. */
uint32_t regal_machine_first_of_group(regal_machine *machine, uint32_t op);
/* How many ops have a time of their own on some device. */
uint32_t regal_machine_count_timed(const regal_machine *machine);

/* -- Devices and ops by name (machine_names.c) ----------------------------- */

/* "gpu1" or, without a name, "device 1": for people. Long names are cut, and
 * control characters become '?'. */
typedef struct regal_device_label {
  char text[128];
  uint32_t width; /* columns */
} regal_device_label;

regal_device_label regal_machine_label(const regal_machine *machine,
                                       uint32_t device);
/* The columns of the widest label; at least `least`. */
uint32_t regal_machine_label_width(const regal_machine *machine,
                                   uint32_t least);
/* Pins what the graph asks for, where nothing else was said, and joins its
 * groups. */
regal_status regal_machine_obey_graph(regal_machine *machine);
/* Applies options `pin` and `together`; pins win over those that are there. */
regal_status regal_machine_obey_options(regal_machine *machine,
                                        const regal_options *options);

/* Run time of `op` on `device`: its own time there if it has one, else its run
 * time divided by the device's speed, rounded to the nearest nanosecond (at
 * most REGAL_NEVER - 1). A pin elsewhere does not change it. */
int64_t regal_machine_run_ns(const regal_machine *machine,
                             const regal_graph *graph, uint32_t op,
                             uint32_t device);
/* Time of a transfer of data: latency + ceil(bytes / bandwidth), or INT64_MAX
 * if that is more. (Control transfers are free: they do not come here.) */
int64_t regal_machine_transfer_ns(const regal_machine *machine, int64_t bytes,
                                  uint32_t from, uint32_t to);

#endif
