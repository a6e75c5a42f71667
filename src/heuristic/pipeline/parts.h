/* SPDX-License-Identifier: Apache-2.0 */
/* Textbook schedules of pipelines: `gpipe`, `1f1b`, `interleaved`, `zb-h1`.
 *
 * A model is a row of places: one for each op of the forward pass of a
 * microbatch, in its order. Ops of the backward pass have the place of the
 * layer that they belong to (places.c). The row is cut into chunks, one or more
 * for each device (stages.c). All ops of a pass of a microbatch in a chunk are
 * one unit, and a schedule is an order of units for each device (units.c).
 * Last, the orders of the devices become one order of ops (merge.c).
 */
#ifndef REGAL_HEURISTIC_PIPELINE_PARTS_H
#define REGAL_HEURISTIC_PIPELINE_PARTS_H

#include "pipeline/pipeline.h"
#include "search/search.h"

typedef enum regal_pipeline_schedule {
  REGAL_GPIPE,       /* Huang et al. 2019 */
  REGAL_1F1B,        /* Narayanan et al. 2019 */
  REGAL_INTERLEAVED, /* Narayanan et al. 2021 */
  REGAL_ZB_H1        /* Qi et al. 2023 */
} regal_pipeline_schedule;

typedef struct regal_pipe {
  regal_context *context;
  const regal_problem *problem;
  const regal_pipeline *pipeline;
  regal_pipeline_schedule schedule;
  uint32_t chunks_each; /* chunks of each device, where they are free */

  uint32_t places;
  uint32_t *place; /* [ops] */
  uint8_t *late;   /* [ops] runs once, after microbatches */

  uint32_t chunks;
  uint32_t *chunk_of; /* [places] */
  uint8_t *device_of; /* [places] its chunk's device */
  uint8_t *placement; /* [ops] */
  uint32_t *order;    /* [ops] the plan's */
  bool pinned;        /* every op of a microbatch, to one device */
  double limit_share; /* of the limits, for what is not counted */
} regal_pipe;

/* places.c: fills places, place and late. */
regal_status regal_pipe_find_places(regal_pipe *pipe);
/* stages.c: fills chunks, chunk_of, device_of and placement. */
regal_status regal_pipe_place(regal_pipe *pipe);

/* The most activations of a microbatch and chunk that a device of the rank
 * holds at a time. */
uint32_t regal_pipe_in_flight(const regal_pipe *pipe, uint32_t rank,
                              uint32_t ranks);

/* What a device does without a break: a pass of a microbatch in a chunk. */
typedef struct regal_pipe_unit {
  uint32_t microbatch, chunk; /* chunk: among those of the device */
  regal_pass pass;
} regal_pipe_unit;

/* A device in the row of devices; `chunks` are its own. */
typedef struct regal_pipe_rank {
  uint32_t rank, ranks, chunks, microbatches;
} regal_pipe_rank;

/* units.c: the units of a device in order, three for each microbatch and chunk;
 * returns their number. */
uint32_t regal_pipe_units(regal_pipeline_schedule schedule,
                          const regal_pipe_rank *rank, regal_pipe_unit *units);
/* merge.c: fills order. */
regal_status regal_pipe_order(regal_pipe *pipe);

#endif
