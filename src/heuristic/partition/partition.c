/* SPDX-License-Identifier: Apache-2.0 */
/* From a problem to bisections, and back to a placement: recursive bisection.
 * The devices are halved, the vertices with them, in proportion to the halves'
 * speed; a vertex that may run on one half only is fixed there. Each half is
 * treated alike until it is one device.
 */
#include "heuristic/partition/partition.h"

#include <math.h>
#include <string.h>

#include "base/carve.h"

typedef struct partitioner {
  regal_context *context;
  const regal_problem *problem;
  regal_bisect_fn bisect;
  regal_load load;
  uint64_t seed;
  int64_t *weight;   /* [ops] at a group's first op: of the whole group */
  uint32_t *members; /* [ops] first ops of groups; a part of the recursion is a
                        run of it */
  uint32_t *local;   /* [ops] number in the bisection, or REGAL_NONE */
  uint32_t *seen;    /* [ops] last net that has the vertex, plus 1 */
  uint32_t *scratch; /* [ops] */
  double capacity[REGAL_MAX_DEVICES]; /* share of the work that suits it */
  uint8_t *placement;
} partitioner;

/* -- Loads ----------------------------------------------------------------- */

static int64_t load_of(const partitioner *p, uint32_t op) {
  const regal_problem *problem = p->problem;
  if (p->load == REGAL_LOAD_OPS)
    return 1;
  if (problem->objective == REGAL_MEMORY) {
    int64_t bytes =
        problem->resident_bytes[op] + problem->graph->temporary_bytes[op];
    for (REGAL_ROW(t, problem->output_begin, op))
      bytes += problem->bytes[t];
    return bytes;
  }
  __int128 sum = 0;
  if (!problem->run_step)
    return regal_problem_run_ns(problem, op, 0);
  for (uint64_t left = problem->allowed[op]; left; left &= left - 1)
    sum += regal_problem_run_ns(problem, op, (uint32_t)__builtin_ctzll(left));
  return (int64_t)(sum / __builtin_popcountll(problem->allowed[op]));
}

/* Loads, scaled down where their sum would be large; 1 each where all are 0. */
static void weigh(partitioner *p) {
  const regal_problem *problem = p->problem;
  double total = 0;
  for (uint32_t op = 0; op < problem->ops; op++)
    total += (double)load_of(p, op);
  double scale = total > 0x1p60 ? 0x1p60 / total : 1;
  for (uint32_t op = 0; op < problem->ops; op++) {
    int64_t load = load_of(p, op);
    load = scale < 1 ? (int64_t)((double)load * scale) : load;
    p->weight[regal_problem_leader(problem, op)] += total > 0 ? load : 1;
  }
}

/* A device that is twice as fast gets twice as much. */
static void rate_devices(partitioner *p) {
  const regal_problem *problem = p->problem;
  for (uint32_t d = 0; d < problem->devices; d++) {
    p->capacity[d] = 1;
    if (!problem->run_step || problem->objective == REGAL_MEMORY ||
        p->load == REGAL_LOAD_OPS)
      continue;
    double mean = 1, here = 1; /* of what it can run */
    for (uint32_t op = 0; op < problem->ops; op++)
      if (problem->allowed[op] >> d & 1) {
        mean += (double)load_of(p, op);
        here += (double)regal_problem_run_ns(problem, op, d);
      }
    p->capacity[d] = mean / here;
  }
}

/* -- One bisection --------------------------------------------------------- */

/* The tensor's vertices that are in the bisection, each once; their number. */
static uint32_t list_pins(partitioner *p, uint32_t tensor, uint32_t *pins) {
  const regal_problem *problem = p->problem;
  uint32_t count = 0, u = problem->use_begin[tensor];
  uint32_t op = problem->producer[tensor];
  for (;;) {
    uint32_t vertex = regal_problem_leader(problem, op);
    if (p->local[vertex] != REGAL_NONE && p->seen[vertex] != tensor + 1) {
      p->seen[vertex] = tensor + 1;
      pins[count++] = p->local[vertex];
    }
    if (u == problem->use_begin[tensor + 1])
      return count;
    op = problem->consumer[u++];
  }
}

static void layout(regal_bisection *b, regal_carver *carver, size_t pins) {
  b->weight = regal_carve(carver, b->vertices, 8);
  b->fixed = regal_carve(carver, b->vertices, 1);
  b->side = regal_carve(carver, b->vertices, 1);
  b->bytes = regal_carve(carver, b->nets, 8);
  b->pin_begin = regal_carve(carver, (size_t)b->nets + 1, 4);
  b->net_begin = regal_carve(carver, (size_t)b->vertices + 1, 4);
  b->pin = regal_carve(carver, pins, 4);
  b->net = regal_carve(carver, pins, 4);
}

/* Counts nets and pins, or fills them in when there is room. */
static size_t list_nets(partitioner *p, regal_bisection *b) {
  const regal_problem *problem = p->problem;
  size_t pins = 0;
  uint32_t nets = 0;
  memset(p->seen, 0, problem->ops * sizeof *p->seen);
  for (uint32_t t = 0; t < problem->tensors; t++) {
    if (problem->bytes[t] == 0 ||
        problem->use_begin[t] == problem->use_begin[t + 1])
      continue;
    uint32_t count = list_pins(p, t, p->scratch);
    if (count < 2)
      continue;
    if (b->pin) {
      b->bytes[nets] = problem->bytes[t];
      b->pin_begin[nets] = (uint32_t)pins;
      memcpy(b->pin + pins, p->scratch, count * sizeof *b->pin);
    }
    nets++;
    pins += count;
  }
  b->nets = nets;
  if (b->pin)
    b->pin_begin[nets] = (uint32_t)pins;
  return pins;
}

static double capacity_of(const partitioner *p, uint32_t first, uint32_t end) {
  double sum = 0;
  for (uint32_t d = first; d < end; d++)
    sum += p->capacity[d];
  return sum;
}

static uint64_t mask_of(uint32_t first, uint32_t end) {
  return (end - first == 64 ? ~UINT64_C(0) : (UINT64_C(1) << (end - first)) - 1)
         << first;
}

/* The bisection of some vertices between devices first .. middle-1 and middle
 * .. end-1; one block, to be released. */
static regal_status make_bisection(partitioner *p, const uint32_t *members,
                                   uint32_t count, uint32_t first,
                                   uint32_t middle, uint32_t end,
                                   regal_bisection *b, void **block) {
  memset(b, 0, sizeof *b);
  b->vertices = count;
  b->share = capacity_of(p, first, middle) / capacity_of(p, first, end);
  for (uint32_t v = 0; v < count; v++)
    p->local[members[v]] = v;
  regal_carver carver = {NULL, 0};
  size_t pins = list_nets(p, b);
  layout(b, &carver, pins);
  carver = (regal_carver){regal_alloc(p->context, carver.used, 1), 0};
  *block = carver.base;
  if (carver.base) {
    layout(b, &carver, pins);
    list_nets(p, b);
    regal_rows_transpose(b->nets, b->pin_begin, b->pin, b->vertices,
                         b->net_begin, b->net);
  }
  for (uint32_t v = 0; v < count && carver.base; v++) {
    uint64_t allowed = p->problem->allowed[members[v]];
    b->weight[v] = p->weight[members[v]];
    b->fixed[v] = REGAL_SIDE_FREE;
    if (!(allowed & mask_of(first, middle)))
      b->fixed[v] = 1;
    else if (!(allowed & mask_of(middle, end)))
      b->fixed[v] = 0;
  }
  for (uint32_t v = 0; v < count; v++)
    p->local[members[v]] = REGAL_NONE;
  return carver.base ? REGAL_OK : regal_fail_memory(p->context);
}

/* Puts the members of side 0 first; returns their number. */
static uint32_t part_members(partitioner *p, const regal_bisection *b,
                             uint32_t *members) {
  uint32_t kept = 0, moved = 0;
  for (uint32_t v = 0; v < b->vertices; v++)
    if (b->side[v])
      p->scratch[moved++] = members[v];
    else
      members[kept++] = members[v];
  memcpy(members + kept, p->scratch, moved * sizeof *members);
  return kept;
}

/* As deep as the devices can be halved: 6 calls. */
static regal_status divide(partitioner *p, uint32_t *members, uint32_t count,
                           uint32_t first, uint32_t end) {
  if (count == 0)
    return REGAL_OK;
  if (end - first == 1) {
    for (uint32_t v = 0; v < count; v++)
      p->placement[members[v]] = (uint8_t)first;
    return REGAL_OK;
  }
  regal_bisection bisection;
  void *block;
  uint32_t middle = first + (end - first + 1) / 2;
  REGAL_TRY(make_bisection(p, members, count, first, middle, end, &bisection,
                           &block));
  regal_status status =
      p->bisect(p->context, &bisection, p->seed + (uint64_t)first * 64 + end);
  uint32_t kept = status ? 0 : part_members(p, &bisection, members);
  regal_release(p->context, block);
  REGAL_TRY(status);
  REGAL_TRY(divide(p, members, kept, first, middle));
  return divide(p, members + kept, count - kept, middle, end);
}

static void layout_partitioner(partitioner *p, regal_carver *carver) {
  size_t n = p->problem->ops;
  p->weight = regal_carve(carver, n, 8);
  p->members = regal_carve(carver, n, 4);
  p->local = regal_carve(carver, n, 4);
  p->seen = regal_carve(carver, n, 4);
  p->scratch = regal_carve(carver, n, 4);
}

regal_status regal_partition(regal_context *context,
                             const regal_problem *problem,
                             regal_bisect_fn bisect, regal_load load,
                             uint64_t seed, uint8_t *placement) {
  partitioner p = {context, problem, bisect,
                   load,    seed,    .placement = placement};
  regal_carver carver = {NULL, 0};
  REGAL_TRY(
      REGAL_CARVE_BLOCK(context, carver, layout_partitioner(&p, &carver)));
  uint32_t count = 0;
  for (uint32_t op = 0; op < problem->ops; op++) {
    p.local[op] = REGAL_NONE;
    if (regal_problem_leader(problem, op) == op)
      p.members[count++] = op;
  }
  weigh(&p);
  rate_devices(&p);
  regal_status status = divide(&p, p.members, count, 0, problem->devices);
  for (uint32_t op = 0; op < problem->ops && status == REGAL_OK; op++)
    placement[op] = placement[regal_problem_leader(problem, op)];
  regal_release(context, carver.base);
  return status;
}

int64_t regal_partition_bytes(const regal_problem *problem,
                              const uint8_t *placement) {
  int64_t bytes = 0;
  for (uint32_t t = 0; t < problem->tensors; t++) {
    uint64_t readers = 0;
    for (REGAL_ROW(u, problem->use_begin, t))
      readers |= UINT64_C(1) << placement[problem->consumer[u]];
    readers &= ~(UINT64_C(1) << placement[problem->producer[t]]);
    bytes += problem->bytes[t] * __builtin_popcountll(readers);
  }
  return bytes;
}
