/* SPDX-License-Identifier: Apache-2.0 */
/* The schedules: in which order a device runs its units.
 *
 * gpipe (Huang et al. 2019): forward for all microbatches, then backward.
 *
 * 1f1b (PipeDream-Flush, Narayanan et al. 2019, 2021): the device of rank r of
 * p runs forward p - 1 - r times, then forward and backward in turn.
 *
 * interleaved (Narayanan et al. 2021): a device has v chunks, p apart. Groups
 * of p microbatches go through one chunk after the other; before the first
 * backward a device runs forward 2 (p - 1 - r) + (v - 1) p times. The paper
 * wants p to divide the number of microbatches. Otherwise the last group is
 * smaller.
 *
 * zb-h1 (Qi et al. 2023): as 1f1b, but the gradients of weights run r
 * microbatches later: the device of rank r holds as many activations as the
 * first, and the gradients of weights fill what was idle.
 *
 * In the others the gradients of weights are part of the backward pass. A
 * device with several chunks needs the interleaved order whatever the schedule,
 * except for gpipe.
 */
#include "base/compare.h"
#include "heuristic/pipeline/parts.h"

typedef struct writer {
  regal_pipe_unit *units;
  uint32_t count;
} writer;

static void put(writer *w, uint32_t microbatch, uint32_t chunk,
                regal_pass pass) {
  w->units[w->count++] = (regal_pipe_unit){microbatch, chunk, pass};
}

static void put_backward(writer *w, uint32_t microbatch, uint32_t chunk) {
  put(w, microbatch, chunk, REGAL_PASS_BACKWARD);
  put(w, microbatch, chunk, REGAL_PASS_WEIGHT);
}

static void put_gpipe(writer *w, const regal_pipe_rank *rank) {
  for (uint32_t c = 0; c < rank->chunks; c++)
    for (uint32_t i = 0; i < rank->microbatches; i++)
      put(w, i, c, REGAL_PASS_FORWARD);
  for (uint32_t c = rank->chunks; c-- > 0;)
    for (uint32_t i = 0; i < rank->microbatches; i++)
      put_backward(w, i, c);
}

/* One chunk; weights wait for `delay` more microbatches. */
static void put_alternating(writer *w, const regal_pipe_rank *rank,
                            uint32_t delay) {
  uint32_t m = rank->microbatches, weights = 0;
  uint32_t warm = regal_smaller32(rank->ranks - 1 - rank->rank, m);
  for (uint32_t i = 0; i < warm; i++)
    put(w, i, 0, REGAL_PASS_FORWARD);
  for (uint32_t i = 0; i < m; i++) {
    if (warm + i < m)
      put(w, warm + i, 0, REGAL_PASS_FORWARD);
    put(w, i, 0, REGAL_PASS_BACKWARD);
    if (i >= delay)
      put(w, weights++, 0, REGAL_PASS_WEIGHT);
  }
  while (weights < m)
    put(w, weights++, 0, REGAL_PASS_WEIGHT);
}

/* The n-th unit of the forward pass; that of the backward pass has the chunks
 * in the opposite order. */
static regal_pipe_unit interleaved_unit(const regal_pipe_rank *rank,
                                        uint32_t n) {
  uint32_t group = n / (rank->ranks * rank->chunks);
  uint32_t within = n % (rank->ranks * rank->chunks);
  uint32_t first = group * rank->ranks;
  uint32_t size = regal_smaller32(rank->ranks, rank->microbatches - first);
  return (regal_pipe_unit){first + within % size, within / size,
                           REGAL_PASS_FORWARD};
}

static uint32_t interleaved_warm(const regal_pipe_rank *rank) {
  uint32_t warm =
      2 * (rank->ranks - 1 - rank->rank) + (rank->chunks - 1) * rank->ranks;
  return regal_smaller32(warm, rank->microbatches * rank->chunks);
}

static void put_interleaved(writer *w, const regal_pipe_rank *rank) {
  uint32_t total = rank->microbatches * rank->chunks;
  uint32_t warm = interleaved_warm(rank);
  for (uint32_t n = 0; n < total + warm; n++) {
    if (n < total) {
      regal_pipe_unit forward = interleaved_unit(rank, n);
      put(w, forward.microbatch, forward.chunk, REGAL_PASS_FORWARD);
    }
    if (n >= warm) {
      regal_pipe_unit backward = interleaved_unit(rank, n - warm);
      put_backward(w, backward.microbatch, rank->chunks - 1 - backward.chunk);
    }
  }
}

uint32_t regal_pipe_units(regal_pipeline_schedule schedule,
                          const regal_pipe_rank *rank, regal_pipe_unit *units) {
  writer w = {units, 0};
  if (schedule == REGAL_GPIPE)
    put_gpipe(&w, rank);
  else if (rank->chunks == 1)
    put_alternating(&w, rank, schedule == REGAL_ZB_H1 ? rank->rank : 0);
  else
    put_interleaved(&w, rank);
  return w.count;
}

uint32_t regal_pipe_in_flight(const regal_pipe *pipe, uint32_t rank,
                              uint32_t ranks) {
  uint32_t m = pipe->pipeline->microbatches;
  regal_pipe_rank at = {rank, ranks, pipe->chunks_each, m};
  switch (pipe->schedule) {
  case REGAL_GPIPE:
    return m;
  case REGAL_INTERLEAVED:
    return regal_smaller32(interleaved_warm(&at) + 1, m * pipe->chunks_each);
  case REGAL_1F1B:
    return regal_smaller32(ranks - rank, m);
  default:
    return regal_smaller32(ranks, m);
  }
}
