/* SPDX-License-Identifier: Apache-2.0 */
/* The profile along an order against limits: see anneal/memory/limits.h. */
#include "anneal/memory/limits.h"
#include "anneal/memory/readers.h"

#define SPREAD_WEIGHT 2.0 /* of the mean over blocks */
#define MOST_BYTES 0x1p53

/* The spread adds up to all there is once for each block. */
bool regal_limits_suit(const regal_problem *problem) {
  const regal_graph *graph = problem->graph;
  double bytes = 0;
  for (uint32_t t = 0; t < problem->tensors; t++)
    bytes += (double)problem->bytes[t];
  for (uint32_t op = 0; op < problem->ops; op++)
    bytes += (double)graph->temporary_bytes[op] +
             (double)problem->resident_bytes[op];
  for (uint32_t p = 0; p < problem->shared; p++)
    bytes += (double)problem->shared_bytes[p];
  return bytes * (problem->ops / 16 + 1) < MOST_BYTES;
}

void regal_limits_layout(regal_limits *limits, regal_carver *carver,
                         const regal_problem *problem, const uint32_t *order,
                         const uint32_t *position) {
  regal_memory *m = &limits->memory;
  regal_memory_layout(m, carver, problem);
  m->order = order;
  m->position = position;
  m->by_device = true;
  size_t entries = (size_t)m->devices * (m->blocks + 1);
  limits->weight = SPREAD_WEIGHT / m->blocks;
  limits->held = regal_carve(carver, entries, 8);
  limits->peak = regal_carve(carver, entries, 8);
  limits->trial_held = regal_carve(carver, entries, 8);
  limits->trial_peak = regal_carve(carver, entries, 8);
}

void regal_limits_create(regal_limits *limits) {
  const regal_problem *problem = limits->memory.problem;
  regal_memory_create(&limits->memory);
  for (uint32_t a = 0; a < problem->devices; a++)
    limits->limit[a] = (double)problem->limit[a];
}

/* -- Blocks ---------------------------------------------------------------- */

static double larger(double a, double b) {
  return a > b ? a : b;
}

static size_t row_of(const regal_limits *limits, uint32_t device) {
  return (size_t)device * (limits->memory.blocks + 1);
}

/* The most that the device holds in a block, before which it holds `run`; that
 * becomes what it holds behind it. */
static double scan_block(const regal_memory *m, uint32_t block, uint32_t device,
                         double *run) {
  uint32_t i = block << m->shift, end = i + (1u << m->shift);
  const double *net = m->net + device;
  double now = *run, peak = now;
  end = end < m->ops ? end : m->ops;
  for (; i < end; i++) {
    uint32_t op = m->order[i];
    double during = m->placement[op] == device ? now + m->add[op] : 0;
    peak = larger(peak, during);
    now += net[(size_t)op * m->devices];
  }
  *run = now;
  return peak;
}

static void count_block(regal_limits_over *over, double peak, double limit) {
  if (peak <= limit)
    return;
  over->bytes = larger(over->bytes, peak - limit);
  over->spread += peak - limit;
}

static regal_limits_over sum_over(const regal_limits *limits,
                                  const regal_limits_over *over) {
  regal_limits_over sum = {0, 0};
  for (uint32_t a = 0; a < limits->memory.devices; a++) {
    sum.bytes += over[a].bytes;
    sum.spread += over[a].spread;
  }
  return sum;
}

regal_limits_over regal_limits_excess(const regal_limits *limits) {
  return sum_over(limits, limits->over);
}

void regal_limits_set(regal_limits *limits, const uint8_t *placement) {
  regal_memory *m = &limits->memory;
  memcpy(m->placement, placement, m->ops);
  memset(m->early, 0, m->problem->tensors);
  regal_memory_rebuild_events(m);
  for (uint32_t a = 0; a < m->devices; a++) {
    double *held = limits->held + row_of(limits, a), run = m->base[a];
    double *peak = limits->peak + row_of(limits, a);
    limits->over[a] = (regal_limits_over){0, 0};
    for (uint32_t k = 0; k < m->blocks; k++) {
      held[k] = run;
      peak[k] = scan_block(m, k, a, &run);
      count_block(&limits->over[a], peak[k], limits->limit[a]);
    }
    held[m->blocks] = run;
  }
}

/* -- One move -------------------------------------------------------------- */

void regal_limits_begin(regal_limits *limits) {
  regal_memory_begin_move(&limits->memory);
  limits->shifted = REGAL_NONE;
}

/* Devices whose bytes an op changes, and its own. */
static uint64_t devices_of(const regal_memory *m, uint32_t op) {
  const double *net = m->net + (size_t)op * m->devices;
  uint64_t devices = UINT64_C(1) << m->placement[op];
  for (uint32_t a = 0; a < m->devices; a++)
    devices |= (uint64_t)(net[a] != 0) << a;
  return devices;
}

void regal_limits_shift(regal_limits *limits, uint32_t from, uint32_t to) {
  uint32_t op = limits->memory.order[to];
  limits->shifted = op;
  limits->low = from < to ? from : to;
  limits->high = from < to ? to : from;
  regal_memory_touch_inputs(&limits->memory, op);
}

void regal_limits_flip(regal_limits *limits, uint32_t op, uint32_t device) {
  regal_memory_place(&limits->memory, op, device);
}

/* All positions that were rearranged, on devices where that changes something
 * but which ops are in which block. */
static void touch_shifted(regal_limits *limits) {
  regal_memory *m = &limits->memory;
  uint64_t devices = m->touched | devices_of(m, limits->shifted);
  uint32_t size = 1u << m->shift;
  for (uint32_t a = 0; a < m->devices; a++)
    devices |= (uint64_t)(limits->over[a].bytes > 0) << a;
  for (uint64_t left = devices; left; left &= left - 1) {
    uint32_t device = (uint32_t)__builtin_ctzll(left);
    for (uint32_t at = limits->low; at < limits->high; at += size)
      regal_memory_touch(m, at, device);
    regal_memory_touch(m, limits->high, device);
  }
}

static bool is_marked(const regal_memory *m, uint32_t block, uint32_t device) {
  return m->block_mark[block] == m->serial &&
         (m->block_devices[block] >> device & 1);
}

/* Goes over the blocks that may have changed. */
static regal_limits_over pass_over(const regal_limits *limits, uint32_t device,
                                   uint32_t first, uint32_t last) {
  const regal_memory *m = &limits->memory;
  size_t row = row_of(limits, device);
  const double *held = limits->held + row, *peak = limits->peak + row;
  double *trial_held = limits->trial_held + row;
  double *trial_peak = limits->trial_peak + row;
  double run = first == 0 ? m->base[device] : held[first];
  double limit = limits->limit[device];
  regal_limits_over over = {0, 0};
  for (uint32_t k = first; k <= last; k++) {
    double rise = run - held[k];
    trial_held[k] = run;
    if (is_marked(m, k, device)) {
      trial_peak[k] = scan_block(m, k, device, &run);
    } else {
      trial_peak[k] = peak[k] + rise;
      run = held[k + 1] + rise;
    }
    count_block(&over, trial_peak[k], limit);
  }
  trial_held[last + 1] = run;
  return over;
}

/* What a touched device has beyond its limit. */
static regal_limits_over try_device(const regal_limits *limits,
                                    uint32_t device) {
  const regal_memory *m = &limits->memory;
  uint32_t first = m->touched_low[device] >> m->shift;
  uint32_t last = m->touched_high[device] >> m->shift;
  regal_limits_over over = pass_over(limits, device, first, last);
  const double *peak = limits->peak + row_of(limits, device);
  double limit = limits->limit[device];
  if (limits->over[device].bytes == 0)
    return over; /* the rest is within it */
  for (uint32_t k = 0; k < first; k++)
    count_block(&over, peak[k], limit);
  for (uint32_t k = last + 1; k < m->blocks; k++)
    count_block(&over, peak[k], limit);
  return over;
}

bool regal_limits_try(regal_limits *limits, double allowed,
                      regal_limits_over *over) {
  regal_memory *m = &limits->memory;
  if (!m->overflow)
    regal_memory_settle(m);
  if (m->overflow) {
    regal_memory_undo(m);
    return false;
  }
  if (limits->shifted != REGAL_NONE)
    touch_shifted(limits);
  regal_limits_over sum = {0, 0};
  for (uint32_t a = 0; a < m->devices; a++)
    if (!(m->touched >> a & 1)) {
      sum.bytes += limits->over[a].bytes;
      sum.spread += limits->over[a].spread;
    }
  for (uint64_t left = m->touched; left; left &= left - 1) {
    uint32_t device = (uint32_t)__builtin_ctzll(left);
    regal_limits_over now = try_device(limits, device);
    limits->trial_over[device] = now;
    sum.bytes += now.bytes;
    sum.spread += now.spread;
    if (regal_limits_violation(limits, sum) > allowed)
      break;
  }
  *over = sum;
  return true;
}

void regal_limits_take_back(regal_limits *limits) {
  regal_memory_undo(&limits->memory);
}

/* On devices that the shift does not concern ops have changed blocks. */
static void rescan_shifted(regal_limits *limits, uint64_t devices) {
  const regal_memory *m = &limits->memory;
  uint32_t first = limits->low >> m->shift, last = limits->high >> m->shift;
  for (; devices; devices &= devices - 1) {
    uint32_t device = (uint32_t)__builtin_ctzll(devices);
    double *held = limits->held + row_of(limits, device), run = held[first];
    double *peak = limits->peak + row_of(limits, device);
    for (uint32_t k = first; k <= last; k++) {
      held[k] = run;
      peak[k] = scan_block(m, k, device, &run);
    }
  }
}

void regal_limits_keep(regal_limits *limits) {
  const regal_memory *m = &limits->memory;
  uint64_t all =
      m->devices == 64 ? UINT64_MAX : (UINT64_C(1) << m->devices) - 1;
  for (uint64_t left = m->touched; left; left &= left - 1) {
    uint32_t device = (uint32_t)__builtin_ctzll(left);
    uint32_t first = m->touched_low[device] >> m->shift;
    uint32_t last = m->touched_high[device] >> m->shift;
    size_t at = row_of(limits, device) + first, count = last - first + 1;
    memcpy(limits->held + at, limits->trial_held + at, (count + 1) * 8);
    memcpy(limits->peak + at, limits->trial_peak + at, count * 8);
    limits->over[device] = limits->trial_over[device];
  }
  if (limits->shifted != REGAL_NONE)
    rescan_shifted(limits, all & ~m->touched);
}

/* -- Which op -------------------------------------------------------------- */

static uint32_t draw(regal_random *random, uint32_t below) {
  return (uint32_t)regal_random_below(random, below);
}

/* A device beyond its limit, the next one after a random one; or REGAL_NONE. */
static uint32_t draw_device(const regal_limits *limits, regal_random *random) {
  uint32_t d = limits->memory.devices, from = draw(random, d);
  for (uint32_t i = 0; i < d; i++)
    if (limits->over[(from + i) % d].bytes > 0)
      return (from + i) % d;
  return REGAL_NONE;
}

/* A block where it is, in the same way. */
static uint32_t draw_block(const regal_limits *limits, regal_random *random,
                           uint32_t device) {
  const double *peak = limits->peak + row_of(limits, device);
  uint32_t blocks = limits->memory.blocks, k = draw(random, blocks);
  while (peak[k] <= limits->limit[device])
    k = k + 1 < blocks ? k + 1 : 0;
  return k;
}

static bool is_held(const void *state, uint32_t tensor, uint32_t device,
                    uint32_t at) {
  const regal_memory *m = state;
  if (m->home[tensor] == device)
    return m->gone[tensor] == REGAL_NONE || at <= m->position[m->gone[tensor]];
  size_t slot = (size_t)tensor * m->devices + device;
  return (m->remote[tensor] >> device & 1) &&
         m->position[m->first[slot]] <= at && at <= m->position[m->last[slot]];
}

/* The producer, or the op that frees it on the device. */
static uint32_t draw_side(const regal_memory *m, regal_random *random,
                          uint32_t tensor, uint32_t device) {
  uint32_t made_by = m->problem->producer[tensor];
  bool copied = m->home[tensor] != device;
  size_t slot = (size_t)tensor * m->devices + device;
  uint32_t gone = copied ? m->last[slot] : m->gone[tensor];
  switch (draw(random, 4)) {
  case 0:
    return gone == REGAL_NONE ? made_by : gone;
  case 1:
    return copied ? m->first[slot] : made_by;
  default:
    return made_by;
  }
}

uint32_t regal_limits_draw(const regal_limits *limits, regal_random *random) {
  const regal_memory *m = &limits->memory;
  uint32_t device = draw_device(limits, random);
  if (device == REGAL_NONE)
    return draw(random, m->ops);
  uint32_t block = draw_block(limits, random, device);
  uint32_t at = (block << m->shift) + draw(random, 1u << m->shift);
  at = at < m->ops ? at : m->ops - 1;
  uint32_t tensor = draw(random, 2)
                        ? regal_memory_draw_held(m->problem, m->order, at,
                                                 device, is_held, m, random)
                        : REGAL_NONE;
  return tensor == REGAL_NONE ? m->order[at]
                              : draw_side(m, random, tensor, device);
}
