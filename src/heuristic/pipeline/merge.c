/* SPDX-License-Identifier: Apache-2.0 */
/* From an order for each device to one order of ops.
 *
 * Each device has a queue: ops that run once and wait for no microbatch, then
 * its units, then the other ops that run once. Of the ops at the heads of the
 * queues that are ready, the one that can start first comes next; links carry
 * any number of transfers at a time here. If no head is ready, because pins or
 * groups have torn the stages apart, the first ready op of a queue goes ahead.
 * O(ops * devices + edges), apart from that case.
 */
#include "base/carve.h"
#include "base/compare.h"
#include "heuristic/pipeline/parts.h"

typedef struct merger {
  regal_pipe *pipe;
  const regal_problem *problem;
  const regal_pipeline *pipeline;
  uint32_t unit_count;    /* passes of microbatches in chunks */
  uint32_t *unit_begin;   /* [unit_count + 1] */
  uint32_t *unit_ops;     /* [ops of microbatches] by unit, topological */
  regal_pipe_unit *units; /* of one device */
  uint32_t *own;          /* [chunks] of one device */
  uint32_t *queue;        /* [ops] */
  uint32_t queue_begin[REGAL_MAX_DEVICES + 1];
  uint32_t first[REGAL_MAX_DEVICES]; /* chunk of a device; or REGAL_NONE */
  uint32_t head[REGAL_MAX_DEVICES];
  int64_t clock_ns[REGAL_MAX_DEVICES];
  uint32_t *left;    /* [ops] what it still waits for */
  int64_t *ready_ns; /* [ops] */
  int64_t *end_ns;   /* [ops] */
  uint8_t *done;     /* [ops] */
} merger;

static void layout(void *made, regal_carver *carver) {
  merger *m = made;
  size_t ops = m->problem->ops, chunks = m->pipe->chunks;
  size_t most_units = 3 * chunks * m->pipeline->microbatches;
  m->unit_begin = regal_carve(carver, (size_t)m->unit_count + 1, 4);
  m->unit_ops = regal_carve(carver, ops, 4);
  m->units = regal_carve(carver, most_units, sizeof *m->units);
  m->own = regal_carve(carver, chunks, 4);
  m->queue = regal_carve(carver, ops, 4);
  m->left = regal_carve(carver, ops, 4);
  m->ready_ns = regal_carve(carver, ops, 8);
  m->end_ns = regal_carve(carver, ops, 8);
  m->done = regal_carve(carver, ops, 1);
}

/* -- Queues ---------------------------------------------------------------- */

static uint32_t unit_number(const merger *m, uint32_t chunk,
                            uint32_t microbatch, regal_pass pass) {
  return (chunk * m->pipeline->microbatches + microbatch) * 3 +
         (uint32_t)(pass - REGAL_PASS_FORWARD);
}

/* Only zb-h1 takes the gradients of weights out of the backward pass. */
static uint32_t unit_of(const merger *m, uint32_t op) {
  regal_pass pass = (regal_pass)m->pipeline->pass[op];
  if (m->pipe->schedule != REGAL_ZB_H1 && pass == REGAL_PASS_WEIGHT)
    pass = REGAL_PASS_BACKWARD;
  return unit_number(m, m->pipe->chunk_of[m->pipe->place[op]],
                     m->pipeline->microbatch[op], pass);
}

static void sort_units(merger *m) {
  for (uint32_t op = 0; op < m->problem->ops; op++)
    if (m->pipeline->pass[op])
      m->unit_begin[unit_of(m, op)]++;
  regal_rows_sum(m->unit_begin, m->unit_count);
  for (uint32_t op = m->problem->ops; op-- > 0;)
    if (m->pipeline->pass[op])
      m->unit_ops[--m->unit_begin[unit_of(m, op)]] = op;
}

/* The chunks of a device, ascending: where they are free, as many for each,
 * even if one is empty; and those of which it runs an op. */
static uint32_t find_own_chunks(merger *m, uint32_t device) {
  uint32_t count = 0;
  for (uint32_t chunk = 0; chunk < m->pipe->chunks; chunk++) {
    uint32_t first = unit_number(m, chunk, 0, REGAL_PASS_FORWARD);
    uint32_t end = first + 3 * m->pipeline->microbatches;
    bool has = !m->pipe->pinned && chunk % m->problem->devices == device;
    for (uint32_t i = m->unit_begin[first]; i < m->unit_begin[end] && !has; i++)
      has = m->pipe->placement[m->unit_ops[i]] == device;
    if (has)
      m->own[count++] = chunk;
  }
  return count;
}

static uint32_t queue_once(merger *m, uint32_t device, bool late,
                           uint32_t count) {
  for (uint32_t op = 0; op < m->problem->ops; op++)
    if (!m->pipeline->pass[op] && m->pipe->placement[op] == device &&
        m->pipe->late[op] == late)
      m->queue[count++] = op;
  return count;
}

static uint32_t queue_units(merger *m, uint32_t device,
                            const regal_pipe_rank *rank, uint32_t count) {
  uint32_t units = regal_pipe_units(m->pipe->schedule, rank, m->units);
  for (uint32_t u = 0; u < units; u++) {
    const regal_pipe_unit *unit = &m->units[u];
    uint32_t number =
        unit_number(m, m->own[unit->chunk], unit->microbatch, unit->pass);
    for (REGAL_ROW(i, m->unit_begin, number))
      if (m->pipe->placement[m->unit_ops[i]] == device)
        m->queue[count++] = m->unit_ops[i];
  }
  return count;
}

/* Devices stand in a row in the order of their first chunks. */
static void find_first_chunks(merger *m) {
  for (uint32_t device = 0; device < m->problem->devices; device++)
    m->first[device] = REGAL_NONE;
  for (uint32_t op = 0; op < m->problem->ops; op++)
    if (m->pipeline->pass[op]) {
      uint32_t *first = &m->first[m->pipe->placement[op]];
      *first = regal_smaller32(*first, m->pipe->chunk_of[m->pipe->place[op]]);
    }
}

static regal_pipe_rank rank_of(merger *m, uint32_t device) {
  const uint32_t *first = m->first;
  regal_pipe_rank rank = {.microbatches = m->pipeline->microbatches,
                          .chunks = find_own_chunks(m, device)};
  for (uint32_t other = 0; other < m->problem->devices; other++) {
    rank.ranks += first[other] != REGAL_NONE;
    rank.rank += first[other] < first[device] ||
                 (first[other] == first[device] && other < device);
  }
  return rank;
}

static void fill_queues(merger *m) {
  uint32_t count = 0;
  find_first_chunks(m);
  for (uint32_t device = 0; device < m->problem->devices; device++) {
    regal_pipe_rank rank = rank_of(m, device);
    m->queue_begin[device] = m->head[device] = count;
    count = queue_once(m, device, false, count);
    if (rank.chunks)
      count = queue_units(m, device, &rank, count);
    count = queue_once(m, device, true, count);
  }
  m->queue_begin[m->problem->devices] = count;
}

/* -- Merging --------------------------------------------------------------- */

/* When everything that it waits for is there. */
static int64_t find_ready(const merger *m, uint32_t op) {
  const regal_problem *problem = m->problem;
  const regal_graph *graph = problem->graph;
  const uint8_t *at = m->pipe->placement;
  int64_t ready = 0;
  for (REGAL_ROW(i, problem->input_begin, op)) {
    uint32_t t = problem->input[i], from = problem->producer[t];
    int64_t there = m->end_ns[from];
    if (at[from] != at[op])
      there += regal_problem_transfer_ns(problem, t, at[from], at[op]);
    ready = regal_larger(ready, there);
  }
  for (REGAL_ROW(i, graph->control_in_begin, op))
    ready = regal_larger(ready, m->end_ns[graph->control_in[i]]);
  return ready;
}

static void run(merger *m, uint32_t op, uint32_t position) {
  const regal_problem *problem = m->problem;
  uint32_t device = m->pipe->placement[op];
  int64_t start = regal_larger(m->clock_ns[device], m->ready_ns[op]);
  m->clock_ns[device] = m->end_ns[op] =
      start + regal_problem_run_ns(problem, op, device);
  m->done[op] = true;
  m->pipe->order[position] = op;
  for (REGAL_ROW(i, problem->successor_begin, op)) {
    uint32_t next = problem->successor[i];
    if (--m->left[next] == 0)
      m->ready_ns[next] = find_ready(m, next);
  }
}

/* The next op of a device, ready or not; REGAL_NONE at its end. */
static uint32_t head_of(merger *m, uint32_t device) {
  uint32_t end = m->queue_begin[device + 1];
  while (m->head[device] < end && m->done[m->queue[m->head[device]]])
    m->head[device]++;
  return m->head[device] < end ? m->queue[m->head[device]] : REGAL_NONE;
}

static uint32_t first_ready_anywhere(const merger *m) {
  for (uint32_t device = 0; device < m->problem->devices; device++)
    for (uint32_t i = m->head[device]; i < m->queue_begin[device + 1]; i++)
      if (!m->done[m->queue[i]] && !m->left[m->queue[i]])
        return m->queue[i];
  return REGAL_NONE;
}

static uint32_t choose(merger *m) {
  uint32_t chosen = REGAL_NONE;
  int64_t earliest = INT64_MAX;
  for (uint32_t device = 0; device < m->problem->devices; device++) {
    uint32_t op = head_of(m, device);
    if (op == REGAL_NONE || m->left[op])
      continue;
    int64_t start = regal_larger(m->clock_ns[device], m->ready_ns[op]);
    if (start < earliest) {
      earliest = start;
      chosen = op;
    }
  }
  return chosen != REGAL_NONE ? chosen : first_ready_anywhere(m);
}

regal_status regal_pipe_order(regal_pipe *pipe) {
  merger plain = {.pipe = pipe,
                  .problem = pipe->problem,
                  .pipeline = pipe->pipeline,
                  .unit_count =
                      3 * pipe->chunks * pipe->pipeline->microbatches};
  merger *m = regal_carve_struct(pipe->context, &plain, sizeof plain, layout);
  if (!m)
    return regal_fail_memory(pipe->context);
  sort_units(m);
  fill_queues(m);
  memcpy(m->left, pipe->problem->predecessors,
         pipe->problem->ops * sizeof *m->left);
  for (uint32_t i = 0; i < pipe->problem->ops; i++)
    run(m, choose(m), i);
  regal_release(pipe->context, m);
  return REGAL_OK;
}
