/* SPDX-License-Identifier: Apache-2.0 */
/* The memory profile along the order: see anneal/memory/memory.h.
 *
 * Positions are in blocks. A move changes the profile between its first and its
 * last event only; a block in between that has no event itself is higher or
 * lower by a constant on each device. Where such a block stays below the
 * reference, or does not change, it takes part by its peak and its sum alone.
 * Evaluating writes nothing; an accepted move then walks its range once more.
 */
#include "anneal/memory/memory.h"
#include "cost/model/running_cost.h"

static double larger(double a, double b) {
  return a > b ? a : b;
}

static void finish_cost(const regal_memory *m, const double *peak, double soft,
                        regal_memory_cost *cost) {
  *cost = (regal_memory_cost){.soft = soft};
  for (uint32_t b = 0; b < m->devices; b++) {
    cost->value = larger(cost->value, peak[b]);
    if (m->problem->limited)
      cost->excess += larger(0, peak[b] - (double)m->problem->limit[b]);
  }
  cost->energy = cost->value + m->price * cost->excess + m->weight * soft;
}

/* -- Evaluating ------------------------------------------------------------ */

/* The pass over the range of a move. */
typedef struct pass {
  double run[REGAL_MAX_DEVICES];  /* before the present position */
  double peak[REGAL_MAX_DEVICES]; /* so far */
  double soft;                    /* so far, with all outside of the range */
} pass;

/* Passes over a whole block that has no event, if it can take part by its
 * figures alone. */
REGAL_INLINE bool skip_block(const regal_memory *m, pass *p, uint32_t block,
                             uint32_t d) {
  size_t at = (size_t)(block << m->shift) * d;
  size_t next = at + ((size_t)d << m->shift);
  for (uint32_t b = 0; b < d; b++) {
    double rise = p->run[b] - m->before[at + b];
    double peak = m->block_peak[(size_t)b * m->blocks + block];
    if (rise != 0 && peak + larger(rise, 0) > m->reference[b])
      return false;
  }
  for (uint32_t b = 0; b < d; b++) {
    double rise = p->run[b] - m->before[at + b];
    double peak = m->block_peak[(size_t)b * m->blocks + block];
    p->peak[b] = larger(p->peak[b], peak + rise);
    p->run[b] = m->before[next + b] + rise;
  }
  p->soft += m->block_soft[block];
  return true;
}

REGAL_INLINE void pass_over(const regal_memory *m, pass *p, uint32_t from,
                            uint32_t end, uint32_t d) {
  double soft = 0;
  for (uint32_t i = from; i < end; i++) {
    uint32_t op = m->order[i];
    const double *net = m->net + (size_t)op * d;
    uint32_t device = d == 1 ? 0 : m->placement[op];
    for (uint32_t b = 0; b < d; b++) {
      double bytes = p->run[b] + (b == device ? m->add[op] : 0);
      p->peak[b] = larger(p->peak[b], bytes);
      soft += larger(bytes - m->reference[b], 0);
      p->run[b] += net[b];
    }
  }
  p->soft += soft;
}

/* The least that the energy can still become. */
REGAL_INLINE double least_energy(const regal_memory *m, const pass *p,
                                 uint32_t d) {
  double value = 0;
  for (uint32_t b = 0; b < d; b++)
    value = larger(value, p->peak[b]);
  return value + m->weight * p->soft;
}

/* Peaks outside of blocks from .. to, for devices that have theirs inside. */
static void find_outside(const regal_memory *m, uint32_t from, uint32_t to,
                         double *peak) {
  for (uint32_t b = 0; b < m->devices; b++) {
    const double *blocks = m->block_peak + (size_t)b * m->blocks;
    peak[b] = m->peak[b];
    if (m->peak_block[b] < from || m->peak_block[b] > to)
      continue;
    double most = 0;
    for (uint32_t k = 0; k < from; k++)
      most = larger(most, blocks[k]);
    for (uint32_t k = to + 1; k < m->blocks; k++)
      most = larger(most, blocks[k]);
    peak[b] = most;
  }
}

/* Of positions low .. end-1. */
static double soft_between(const regal_memory *m, uint32_t low, uint32_t end) {
  uint32_t size = 1u << m->shift;
  double sum = 0;
  while (low < end && (low & (size - 1)))
    sum += m->soft[low++];
  for (; low + size <= end; low += size)
    sum += m->block_soft[low >> m->shift];
  while (low < end)
    sum += m->soft[low++];
  return sum;
}

/* The range, to whole blocks if a device's peak is inside, so that what is
 * outside consists of whole blocks. */
static void begin_pass(const regal_memory *m, pass *p, uint32_t *low,
                       uint32_t *end) {
  uint32_t d = m->devices;
  uint32_t from = *low >> m->shift, to = (*end - 1) >> m->shift;
  bool inside = false;
  for (uint32_t b = 0; b < d; b++)
    inside |= m->peak_block[b] >= from && m->peak_block[b] <= to;
  if (inside) {
    *low = from << m->shift;
    *end = (to + 1) << m->shift;
    *end = *end < m->ops ? *end : m->ops;
    find_outside(m, from, to, p->peak);
  } else {
    memcpy(p->peak, m->peak, d * sizeof(double));
  }
  const double *start = *low == 0 ? m->base : m->before + (size_t)*low * d;
  memcpy(p->run, start, d * sizeof(double));
  p->soft = m->cost.soft - soft_between(m, *low, *end);
}

REGAL_INLINE bool evaluate(const regal_memory *m, double allowed,
                           regal_memory_cost *cost, uint32_t d) {
  uint32_t low = m->low, end = m->high + 1;
  uint32_t size = 1u << m->shift;
  pass p;
  begin_pass(m, &p, &low, &end);
  while (low < end) {
    if (least_energy(m, &p, d) > allowed)
      return false;
    uint32_t block = low >> m->shift;
    uint32_t next = (block + 1) << m->shift;
    next = next < end ? next : end;
    if (next - low != size || m->block_mark[block] == m->serial ||
        !skip_block(m, &p, block, d))
      pass_over(m, &p, low, next, d);
    low = next;
  }
  finish_cost(m, p.peak, p.soft, cost);
  return cost->energy <= allowed;
}

bool regal_memory_evaluate(regal_memory *m, double allowed,
                           regal_memory_cost *cost) {
  switch (m->devices) {
  case 1:
    return evaluate(m, allowed, cost, 1);
  case 2:
    return evaluate(m, allowed, cost, 2);
  case 4:
    return evaluate(m, allowed, cost, 4);
  default:
    return evaluate(m, allowed, cost, m->devices);
  }
}

/* -- Writing --------------------------------------------------------------- */

/* Walks a block and writes down all about it; `run` is what is there before it,
 * and then after it. */
REGAL_INLINE void write_block(regal_memory *m, uint32_t block, double *run,
                              uint32_t d) {
  uint32_t from = block << m->shift, end = from + (1u << m->shift);
  end = end < m->ops ? end : m->ops;
  double *peaks = m->block_peak + block, sum = 0;
  for (uint32_t b = 0; b < d; b++)
    peaks[(size_t)b * m->blocks] = 0;
  for (uint32_t i = from; i < end; i++) {
    uint32_t op = m->order[i];
    const double *net = m->net + (size_t)op * d;
    uint32_t device = d == 1 ? 0 : m->placement[op];
    double soft = 0;
    for (uint32_t b = 0; b < d; b++) {
      double bytes = run[b] + (b == device ? m->add[op] : 0);
      double *peak = &peaks[(size_t)b * m->blocks];
      m->before[(size_t)i * d + b] = run[b];
      *peak = larger(*peak, bytes);
      soft += larger(bytes - m->reference[b], 0);
      run[b] += net[b];
    }
    m->soft[i] = soft;
    sum += soft;
  }
  m->block_soft[block] = sum;
}

/* A whole block without an event is raised, if its sum stays as it is. */
REGAL_INLINE bool raise_block(regal_memory *m, uint32_t block, double *run,
                              uint32_t d) {
  uint32_t size = 1u << m->shift;
  double *before = m->before + (size_t)(block << m->shift) * d;
  double *peaks = m->block_peak + block, rise[REGAL_MAX_DEVICES];
  bool same = true;
  for (uint32_t b = 0; b < d; b++) {
    rise[b] = run[b] - before[b];
    same &= rise[b] == 0;
    if (rise[b] != 0 &&
        peaks[(size_t)b * m->blocks] + larger(rise[b], 0) > m->reference[b])
      return false;
  }
  /* The block behind has not been written yet. */
  for (uint32_t b = 0; b < d; b++)
    run[b] = before[(size_t)size * d + b] + rise[b];
  if (same)
    return true;
  for (uint32_t b = 0; b < d; b++)
    peaks[(size_t)b * m->blocks] += rise[b];
  for (uint32_t i = 0; i < size; i++)
    for (uint32_t b = 0; b < d; b++)
      before[(size_t)i * d + b] += rise[b];
  return true;
}

REGAL_INLINE void write_range(regal_memory *m, uint32_t from, uint32_t to,
                              bool all, uint32_t d) {
  double run[REGAL_MAX_DEVICES];
  const double *start =
      from == 0 ? m->base : m->before + (size_t)(from << m->shift) * d;
  memcpy(run, start, d * sizeof(double));
  for (uint32_t block = from; block <= to; block++) {
    bool plain =
        !all && block < m->blocks - 1 && m->block_mark[block] != m->serial;
    if (!plain || !raise_block(m, block, run, d))
      write_block(m, block, run, d);
  }
  if (to == m->blocks - 1)
    memcpy(m->before + (size_t)m->ops * d, run, d * sizeof(double));
}

static void write_blocks(regal_memory *m, uint32_t from, uint32_t to,
                         bool all) {
  switch (m->devices) {
  case 1:
    write_range(m, from, to, all, 1);
    return;
  case 2:
    write_range(m, from, to, all, 2);
    return;
  case 4:
    write_range(m, from, to, all, 4);
    return;
  default:
    write_range(m, from, to, all, m->devices);
  }
}

static void find_peaks(regal_memory *m, uint32_t device, uint32_t from,
                       uint32_t to) {
  const double *blocks = m->block_peak + (size_t)device * m->blocks;
  double most = -1;
  for (uint32_t k = from; k <= to; k++)
    most = larger(most, blocks[k]);
  uint32_t k = from;
  while (blocks[k] != most)
    k++;
  m->peak[device] = most;
  m->peak_block[device] = k;
}

void regal_memory_commit(regal_memory *m, const regal_memory_cost *cost) {
  uint32_t from = m->low >> m->shift, to = m->high >> m->shift;
  write_blocks(m, from, to, false);
  for (uint32_t b = 0; b < m->devices; b++) {
    uint32_t held = m->peak_block[b];
    if (held >= from && held <= to) {
      find_peaks(m, b, 0, m->blocks - 1);
      continue;
    }
    double most = m->peak[b];
    find_peaks(m, b, from, to);
    if (m->peak[b] <= most) {
      m->peak[b] = most;
      m->peak_block[b] = held;
    }
  }
  m->cost = *cost;
}

void regal_memory_rebuild_profile(regal_memory *m) {
  double soft = 0;
  write_blocks(m, 0, m->blocks - 1, true);
  for (uint32_t b = 0; b < m->devices; b++)
    find_peaks(m, b, 0, m->blocks - 1);
  for (uint32_t k = 0; k < m->blocks; k++)
    soft += m->block_soft[k];
  finish_cost(m, m->peak, soft, &m->cost);
}
