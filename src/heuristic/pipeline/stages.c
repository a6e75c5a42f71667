/* SPDX-License-Identifier: Apache-2.0 */
/* Chunks of the model, and a device for each op.
 *
 * Chunk c is on device c mod d, and the places are cut so that the largest
 * chunk takes as little time as possible: by bisection, each chunk reaching as
 * far as time, memory, pins and groups let it (these only grow with the chunk,
 * so that reaching further is never worse). Of all cuts that are at most
 * TOLERANCE slower, those with the fewest bytes across are then taken, by
 * dynamic programming.
 *
 * Memory of a chunk is what it holds all the time (parameters and gradients)
 * and activations of as many microbatches as the schedule has in flight. If no
 * cut fits, memory does not count; if then no cut obeys pins and groups, these
 * do not count either, and ops that cannot stay go elsewhere.
 *
 * If machine or user have pinned all ops, their devices are given; a chunk is
 * then a run of places on one device.
 */
#include <math.h>

#include "base/carve.h"
#include "base/compare.h"
#include "heuristic/pipeline/parts.h"

#define TOLERANCE 1.05
#define BISECTIONS 60

/* Sums over places before a place: X[place], one more than there are places. */
typedef struct stages {
  regal_pipe *pipe;
  const regal_problem *problem;
  const regal_pipeline *pipeline;
  uint32_t places, chunks, devices;
  double *load;         /* [devices][places + 1] ns of all ops */
  uint32_t *refused;    /* [devices][places + 1] ops that it cannot run */
  double *fixed;        /* [places + 1] bytes held all the time */
  double *activation;   /* [places + 1] bytes of a microbatch */
  double *across;       /* [places + 1] bytes across a cut, of a microbatch */
  int32_t *inside;      /* [places + 1] groups that a cut would tear */
  uint32_t *cuts;       /* [chunks + 1] */
  double *best;         /* [chunks + 1][places + 1] bytes across so far */
  uint32_t *from;       /* [chunks + 1][places + 1] the cut before */
  uint32_t *window;     /* [places + 1] cuts that may come before, best first */
  uint32_t *low, *high; /* [ops] places of a parameter or group */
  bool limits, pins;    /* whether they count */
  double slack;         /* of a cut, in chunks of equal work */
  double most_ns;       /* of a chunk */
} stages;

static void layout(void *made, regal_carver *carver) {
  stages *s = made;
  size_t cuts = (size_t)s->places + 1, rows = (size_t)s->chunks + 1;
  size_t names = s->problem->ops > s->problem->graph->parameters
                     ? s->problem->ops
                     : s->problem->graph->parameters;
  s->load = regal_carve(carver, s->devices * cuts, 8);
  s->refused = regal_carve(carver, s->devices * cuts, 4);
  s->fixed = regal_carve(carver, cuts, 8);
  s->activation = regal_carve(carver, cuts, 8);
  s->across = regal_carve(carver, cuts, 8);
  s->inside = regal_carve(carver, cuts, 4);
  s->cuts = regal_carve(carver, rows, 4);
  s->best = regal_carve(carver, rows * cuts, 8);
  s->from = regal_carve(carver, rows * cuts, 4);
  s->window = regal_carve(carver, cuts, 4);
  s->low = regal_carve(carver, names, 4);
  s->high = regal_carve(carver, names, 4);
}

/* -- What is where --------------------------------------------------------- */

static void add_loads(stages *s) {
  size_t cuts = (size_t)s->places + 1;
  for (uint32_t op = 0; op < s->problem->ops; op++) {
    uint32_t place = s->pipe->place[op];
    for (uint32_t a = 0; a < s->devices; a++)
      if (s->problem->allowed[op] >> a & 1)
        s->load[a * cuts + place + 1] +=
            (double)regal_problem_run_ns(s->problem, op, a);
      else
        s->refused[a * cuts + place + 1]++;
    s->fixed[place + 1] += (double)s->problem->graph->resident_bytes[op];
  }
}

/* A parameter is where its first reader is. */
static void add_parameters(stages *s) {
  const regal_graph *graph = s->problem->graph;
  for (uint32_t p = 0; p < graph->parameters; p++)
    s->low[p] = REGAL_NONE;
  for (uint32_t op = 0; op < graph->ops; op++)
    for (REGAL_ROW(i, graph->parameter_begin, op)) {
      uint32_t *low = &s->low[graph->parameter[i]];
      *low = regal_smaller32(*low, s->pipe->place[op]);
    }
  for (uint32_t p = 0; p < graph->parameters; p++)
    if (s->low[p] != REGAL_NONE)
      s->fixed[s->low[p] + 1] += (double)graph->parameter_bytes[p];
}

/* A tensor of the first microbatch: an activation if the backward pass reads
 * what the forward pass made, held to the end if it leaves the microbatch. It
 * is across all cuts between its producer and its readers. */
static void add_tensor(stages *s, uint32_t t) {
  const regal_graph *graph = s->problem->graph;
  const regal_pipeline *p = s->pipeline;
  uint32_t producer = graph->producer[t], place = s->pipe->place[producer];
  uint32_t low = place, high = place;
  bool kept = graph->is_final[t], read_back = false;
  for (REGAL_ROW(u, graph->use_begin, t)) {
    uint32_t reader = graph->consumer[u];
    kept |= p->microbatch[reader] != p->microbatch[producer];
    read_back |= p->pass[reader] > REGAL_PASS_FORWARD;
    low = regal_smaller32(low, s->pipe->place[reader]);
    high = regal_larger32(high, s->pipe->place[reader]);
  }
  if (p->pass[producer] > REGAL_PASS_FORWARD && kept)
    s->fixed[place + 1] += (double)graph->bytes[t];
  if (p->pass[producer] == REGAL_PASS_FORWARD && read_back)
    s->activation[place + 1] += (double)graph->bytes[t];
  s->across[low + 1] += (double)graph->bytes[t];
  if (high + 1 <= s->places)
    s->across[high + 1] -= (double)graph->bytes[t];
}

static void add_groups(stages *s) {
  uint32_t ops = s->problem->ops;
  if (!s->problem->leader)
    return;
  for (uint32_t op = 0; op < ops; op++)
    s->low[op] = s->high[op] = s->pipe->place[op];
  for (uint32_t op = 0; op < ops; op++) {
    uint32_t leader = s->problem->leader[op], place = s->pipe->place[op];
    s->low[leader] = regal_smaller32(s->low[leader], place);
    s->high[leader] = regal_larger32(s->high[leader], place);
  }
  for (uint32_t op = 0; op < ops; op++)
    if (s->problem->leader[op] == op) {
      s->inside[s->low[op] + 1]++;
      if (s->high[op] + 1 <= s->places)
        s->inside[s->high[op] + 1]--;
    }
}

static void sum_up(stages *s) {
  size_t cuts = (size_t)s->places + 1;
  for (uint32_t x = 1; x <= s->places; x++) {
    for (uint32_t a = 0; a < s->devices; a++) {
      s->load[a * cuts + x] += s->load[a * cuts + x - 1];
      s->refused[a * cuts + x] += s->refused[a * cuts + x - 1];
    }
    s->fixed[x] += s->fixed[x - 1];
    s->activation[x] += s->activation[x - 1];
    s->across[x] += s->across[x - 1];
    s->inside[x] += s->inside[x - 1];
  }
}

static void measure(stages *s) {
  const regal_graph *graph = s->problem->graph;
  add_loads(s);
  add_parameters(s);
  for (uint32_t t = 0; t < graph->tensors; t++)
    if (s->pipeline->microbatch[graph->producer[t]] == 0)
      add_tensor(s, t);
  add_groups(s);
  sum_up(s);
}

/* -- Cuts ------------------------------------------------------------------ */

/* The other chunks of the device count as if they were like all. */
static bool fits(const stages *s, uint32_t chunk, uint32_t begin,
                 uint32_t end) {
  uint32_t device = chunk % s->devices, each = s->chunks / s->devices;
  int64_t limit = s->problem->limit[device];
  if (!s->limits || limit == REGAL_UNLIMITED)
    return true;
  double others = (double)(each - 1) / s->chunks;
  double in_flight =
      (double)regal_pipe_in_flight(s->pipe, device, s->devices) / each;
  double fixed = s->fixed[end] - s->fixed[begin] + others * s->fixed[s->places];
  double active = s->activation[end] - s->activation[begin] +
                  others * s->activation[s->places];
  return fixed + in_flight * active <= (double)limit * s->pipe->limit_share;
}

/* Whether a chunk may have these places; if it may, so may it fewer. */
static bool may_have(const stages *s, uint32_t chunk, uint32_t begin,
                     uint32_t end) {
  uint32_t device = chunk % s->devices;
  const double *load = s->load + (size_t)device * (s->places + 1);
  const uint32_t *refused = s->refused + (size_t)device * (s->places + 1);
  return load[end] - load[begin] <= s->most_ns &&
         (!s->pins || refused[end] == refused[begin]) &&
         fits(s, chunk, begin, end);
}

static bool may_cut(const stages *s, uint32_t at) {
  return at == 0 || at == s->places || !s->pins || !s->inside[at];
}

/* The last place to cut that a chunk from `begin` can reach. */
static uint32_t reach(const stages *s, uint32_t chunk, uint32_t begin) {
  uint32_t low = begin, high = s->places;
  while (low < high) {
    uint32_t middle = high - (high - low) / 2;
    if (may_have(s, chunk, begin, middle))
      low = middle;
    else
      high = middle - 1;
  }
  while (low > begin && !may_cut(s, low))
    low--;
  return low;
}

static bool is_possible(const stages *s) {
  uint32_t at = 0;
  for (uint32_t chunk = 0; chunk < s->chunks && at < s->places; chunk++)
    at = reach(s, chunk, at);
  return at == s->places;
}

/* The least time of the largest chunk; false when nothing is possible. */
static bool bisect(stages *s) {
  double low = 0, high = 0;
  for (uint32_t a = 0; a < s->devices; a++) {
    double all = s->load[(size_t)a * (s->places + 1) + s->places];
    high = all > high ? all : high;
  }
  s->most_ns = high;
  if (!is_possible(s))
    return false;
  for (int i = 0; i < BISECTIONS; i++) {
    s->most_ns = low + (high - low) / 2;
    if (is_possible(s))
      high = s->most_ns;
    else
      low = s->most_ns;
  }
  s->most_ns = high;
  return true;
}

/* Whether about as much work is before a chunk's end as if all were equal. The
 * largest chunk may be much larger than the others; that these are equal, too,
 * matters where a device has several. */
static bool is_near(const stages *s, uint32_t chunk, uint32_t end) {
  double equal = s->load[s->places] / s->chunks;
  return fabs(s->load[end] - equal * (chunk + 1)) <= s->slack * equal;
}

/* Fills row `chunk` + 1 of best. A chunk that ends further on begins further on
 * at the earliest: cuts enter the window at its end and leave it at its begin,
 * and one that is worse than a later one never matters. */
static void extend(stages *s, uint32_t chunk) {
  size_t cuts = (size_t)s->places + 1, before = chunk * cuts;
  uint32_t begin = 0, end = 0;
  for (uint32_t x = 0; x <= s->places; x++) {
    if (s->best[before + x] < HUGE_VAL) {
      while (end > begin &&
             s->best[before + s->window[end - 1]] >= s->best[before + x])
        end--;
      s->window[end++] = x;
    }
    while (begin < end && !may_have(s, chunk, s->window[begin], x))
      begin++;
    s->best[before + cuts + x] = HUGE_VAL;
    if (begin == end || !may_cut(s, x) || !is_near(s, chunk, x))
      continue;
    s->from[before + cuts + x] = s->window[begin];
    s->best[before + cuts + x] =
        s->best[before + s->window[begin]] + (x < s->places ? s->across[x] : 0);
  }
}

static void find_narrowest(stages *s) {
  static const double slacks[] = {0.5, 1, 2, HUGE_VAL};
  size_t cuts = (size_t)s->places + 1;
  const double *all = &s->best[s->chunks * cuts + s->places];
  for (uint32_t x = 0; x <= s->places; x++)
    s->best[x] = x ? HUGE_VAL : 0;
  for (size_t i = 0; i < 4 && (!i || *all == HUGE_VAL); i++) {
    s->slack = slacks[i];
    for (uint32_t chunk = 0; chunk < s->chunks; chunk++)
      extend(s, chunk);
  }
  s->cuts[s->chunks] = s->places;
  for (uint32_t chunk = s->chunks; chunk > 0; chunk--)
    s->cuts[chunk - 1] = s->from[chunk * cuts + s->cuts[chunk]];
}

static void cut(stages *s) {
  s->limits = s->problem->limited;
  s->pins = true;
  if (!bisect(s)) {
    s->limits = false;
    if (!bisect(s)) {
      s->pins = false;
      bisect(s);
    }
  }
  s->most_ns *= TOLERANCE;
  find_narrowest(s);
}

/* -- Placement ------------------------------------------------------------- */

static void assign_chunks(stages *s) {
  regal_pipe *pipe = s->pipe;
  pipe->chunks = s->chunks;
  for (uint32_t chunk = 0; chunk < s->chunks; chunk++)
    for (uint32_t x = s->cuts[chunk]; x < s->cuts[chunk + 1]; x++) {
      pipe->chunk_of[x] = chunk;
      pipe->device_of[x] = (uint8_t)(chunk % s->devices);
    }
}

/* Runs of places on one device, by the pins of the first microbatch. */
static void take_pins(regal_pipe *pipe) {
  const regal_pipeline *p = pipe->pipeline;
  for (uint32_t op = 0; op < pipe->problem->ops; op++)
    if (p->microbatch[op] == 0 && p->pass[op] == REGAL_PASS_FORWARD)
      pipe->device_of[pipe->place[op]] =
          (uint8_t)__builtin_ctzll(pipe->problem->allowed[op]);
  pipe->chunks = 1;
  for (uint32_t x = 0; x < pipe->places; x++) {
    if (x && pipe->device_of[x] != pipe->device_of[x - 1])
      pipe->chunks++;
    pipe->chunk_of[x] = pipe->chunks - 1;
  }
}

static void place_ops(regal_pipe *pipe) {
  const regal_problem *problem = pipe->problem;
  for (uint32_t op = 0; op < problem->ops; op++) {
    uint32_t leader = regal_problem_leader(problem, op);
    uint32_t device = pipe->device_of[pipe->place[op]];
    if (leader < op)
      device = pipe->placement[leader];
    if (!(problem->allowed[op] >> device & 1))
      device = (uint32_t)__builtin_ctzll(problem->allowed[op]);
    pipe->placement[op] = (uint8_t)device;
  }
}

static bool all_pinned(const regal_pipe *pipe) {
  for (uint32_t op = 0; op < pipe->problem->ops; op++)
    if (pipe->pipeline->pass[op] &&
        __builtin_popcountll(pipe->problem->allowed[op]) != 1)
      return false;
  return pipe->problem->devices > 1;
}

regal_status regal_pipe_place(regal_pipe *pipe) {
  stages plain = {.pipe = pipe,
                  .problem = pipe->problem,
                  .pipeline = pipe->pipeline,
                  .places = pipe->places,
                  .devices = pipe->problem->devices,
                  .chunks = pipe->problem->devices * pipe->chunks_each};
  pipe->pinned = all_pinned(pipe);
  if (pipe->pinned) {
    take_pins(pipe);
  } else {
    stages *s = regal_carve_struct(pipe->context, &plain, sizeof plain, layout);
    if (!s)
      return regal_fail_memory(pipe->context);
    measure(s);
    cut(s);
    assign_chunks(s);
    regal_release(pipe->context, s);
  }
  place_ops(pipe);
  return REGAL_OK;
}
