/* SPDX-License-Identifier: Apache-2.0 */
/* What only one can do at a time: devices, groups and links.
 *
 * Jobs that must share a device or a link, each with a head (its earliest
 * start), a run time and a tail (the time from its end to the end of the plan),
 * take at least
 *
 *   max over sets J of jobs: least head of J + run times of J + least tail of J
 *
 * which is the length of Jackson's preemptive schedule: whenever a job arrives
 * or ends, go on with the job of the longest tail (Carlier 1982). O(n log n).
 *
 * The jobs of a device are the ops that can run nowhere else and, where
 * transfers block both devices, the transfers that it cannot avoid: of a tensor
 * from an op that is only there to an op that cannot be there, and the other
 * way round. Where transfers overlap with ops, the transfers that a link cannot
 * avoid are its jobs. The ops of a group share a device, whichever it is. */
#include "cost/bound/lags.h"
#include "cost/bound/parts.h"

typedef struct job {
  uint64_t machine;
  int64_t head, run, tail;
} job;

typedef struct single_bound {
  const regal_problem *problem;
  const regal_lags *lags; /* or NULL: transfers are free */
  const int64_t *shortest, *head, *tail;
  job *job; /* NULL while counting */
  size_t count;
  size_t *heap; /* [count] jobs that have arrived, longest tail first */
  size_t heaped;
} single_bound;

/* -- Jobs ------------------------------------------------------------------ */

static void add(single_bound *state, uint64_t machine, int64_t head,
                int64_t run, int64_t tail) {
  if (state->job)
    state->job[state->count] = (job){machine, head, run, tail};
  state->count++;
}

/* Numbers of machines: devices, then links, then groups. */
static uint64_t link_machine(uint32_t from, uint32_t to) {
  return (1 + (uint64_t)from) * REGAL_MAX_DEVICES + to;
}

static uint64_t group_machine(uint32_t leader) {
  return (1 + (uint64_t)REGAL_MAX_DEVICES) * REGAL_MAX_DEVICES + leader;
}

static void add_op(single_bound *state, uint32_t op) {
  const regal_problem *problem = state->problem;
  uint64_t mask = problem->allowed[op];
  if (regal_has_one_device(mask))
    add(state, (uint64_t)__builtin_ctzll(mask), state->head[op],
        state->shortest[op], state->tail[op]);
  else if (problem->leader)
    add(state, group_machine(problem->leader[op]), state->head[op],
        state->shortest[op], state->tail[op]);
}

/* What must follow once a tensor has arrived at `device`, where some op needs
 * it for certain: the longest of these, and all of them one after the other. */
static int64_t tail_at(const single_bound *state, uint32_t tensor,
                       uint64_t device) {
  const regal_problem *problem = state->problem;
  int64_t longest = 0, all = 0, last = INT64_MAX;
  for (REGAL_ROW(u, problem->use_begin, tensor)) {
    uint32_t reader = problem->consumer[u];
    if (problem->allowed[reader] != device)
      continue;
    int64_t run = state->shortest[reader], tail = state->tail[reader];
    longest = regal_larger(longest, run + tail);
    all += run;
    last = regal_smaller(last, tail);
  }
  return regal_larger(longest, all + last);
}

/* A transfer between devices of two sets that have none in common. */
static void add_transfer(single_bound *state, uint32_t tensor, uint64_t from,
                         uint64_t to, int64_t tail) {
  uint32_t producer = state->problem->producer[tensor];
  int64_t head = state->head[producer] + state->shortest[producer];
  int64_t run =
      regal_lags_send_ns(state->lags, state->problem, tensor, from, to);
  bool one_from = regal_has_one_device(from), one_to = regal_has_one_device(to);
  uint32_t a = (uint32_t)__builtin_ctzll(from),
           b = (uint32_t)__builtin_ctzll(to);
  if (state->problem->machine->overlapped) {
    if (one_from && one_to)
      add(state, link_machine(a, b), head, run, tail);
    return;
  }
  if (one_from)
    add(state, a, head, run, tail);
  if (one_to)
    add(state, b, head, run, tail);
}

/* To some other device, where no reader is tied to one. */
static void add_departure(single_bound *state, uint32_t tensor, uint64_t from) {
  const regal_problem *problem = state->problem;
  uint64_t to = 0;
  int64_t tail = 0;
  for (REGAL_ROW(u, problem->use_begin, tensor)) {
    uint32_t reader = problem->consumer[u];
    int64_t after = state->shortest[reader] + state->tail[reader];
    if (problem->allowed[reader] & from || (to && after <= tail))
      continue;
    to = problem->allowed[reader];
    tail = after;
  }
  if (to)
    add_transfer(state, tensor, from, to, tail);
}

static void add_transfers(single_bound *state, uint32_t tensor) {
  const regal_problem *problem = state->problem;
  uint64_t from = problem->allowed[problem->producer[tensor]], done = 0;
  if (!state->lags->send_ns[tensor])
    return;
  for (REGAL_ROW(u, problem->use_begin, tensor)) {
    uint64_t to = problem->allowed[problem->consumer[u]];
    if (to & (from | done) || !regal_has_one_device(to))
      continue;
    done |= to;
    add_transfer(state, tensor, from, to, tail_at(state, tensor, to));
  }
  if (!done)
    add_departure(state, tensor, from);
}

static void add_jobs(single_bound *state) {
  state->count = 0;
  for (uint32_t op = 0; op < state->problem->ops; op++)
    add_op(state, op);
  for (uint32_t t = 0; state->lags && t < state->problem->tensors; t++)
    add_transfers(state, t);
}

static int compare_jobs(const void *left, const void *right) {
  const job *a = left, *b = right;
  if (a->machine != b->machine)
    return a->machine < b->machine ? -1 : 1;
  return (a->head > b->head) - (a->head < b->head);
}

/* -- Jackson's preemptive schedule ----------------------------------------- */

static bool is_longer(const single_bound *state, size_t i, size_t j) {
  return state->job[state->heap[i]].tail > state->job[state->heap[j]].tail;
}

static void swap(single_bound *state, size_t i, size_t j) {
  size_t kept = state->heap[i];
  state->heap[i] = state->heap[j];
  state->heap[j] = kept;
}

static void push(single_bound *state, size_t index) {
  size_t i = state->heaped++;
  state->heap[i] = index;
  for (; i && is_longer(state, i, (i - 1) / 2); i = (i - 1) / 2)
    swap(state, i, (i - 1) / 2);
}

static void pop(single_bound *state) {
  size_t i = 0;
  state->heap[0] = state->heap[--state->heaped];
  for (;;) {
    size_t child = 2 * i + 1;
    if (child + 1 < state->heaped && is_longer(state, child + 1, child))
      child++;
    if (child >= state->heaped || !is_longer(state, child, i))
      return;
    swap(state, i, child);
    i = child;
  }
}

/* The length of the schedule of the jobs begin .. end, by ascending head. */
static int64_t schedule(single_bound *state, size_t begin, size_t end) {
  int64_t now = 0, length = 0;
  for (size_t next = begin; next < end || state->heaped;) {
    if (!state->heaped)
      now = regal_larger(now, state->job[next].head);
    while (next < end && state->job[next].head <= now)
      push(state, next++);
    job *current = &state->job[state->heap[0]];
    int64_t time = current->run;
    if (next < end)
      time = regal_smaller(time, state->job[next].head - now);
    now += time;
    current->run -= time;
    if (current->run)
      continue;
    length = regal_larger(length, now + current->tail);
    pop(state);
  }
  return length;
}

static int64_t schedule_all(single_bound *state) {
  int64_t length = 0;
  qsort(state->job, state->count, sizeof *state->job, compare_jobs);
  for (size_t begin = 0, end; begin < state->count; begin = end) {
    for (end = begin + 1; end < state->count; end++)
      if (state->job[end].machine != state->job[begin].machine)
        break;
    length = regal_larger(length, schedule(state, begin, end));
  }
  return length;
}

static void layout(single_bound *state, regal_carver *carver, size_t count) {
  state->job = regal_carve(carver, count, sizeof *state->job);
  state->heap = regal_carve(carver, count, sizeof *state->heap);
}

regal_status regal_bound_single(regal_context *context,
                                const regal_problem *problem,
                                const regal_lags *lags, const int64_t *shortest,
                                const int64_t *head, const int64_t *tail,
                                int64_t *found) {
  single_bound state = {.problem = problem,
                        .lags = lags,
                        .shortest = shortest,
                        .head = head,
                        .tail = tail};
  add_jobs(&state);
  if (!state.count)
    return REGAL_OK;
  size_t count = state.count;
  regal_carver carver = {NULL, 0};
  REGAL_TRY(REGAL_CARVE_BLOCK(context, carver, layout(&state, &carver, count)));
  add_jobs(&state);
  *found = regal_larger(*found, schedule_all(&state));
  regal_release(context, carver.base);
  return REGAL_OK;
}
