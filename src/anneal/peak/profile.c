/* SPDX-License-Identifier: Apache-2.0 */
/* The memory profile along the order: see memory_anneal.h.
 *
 * Positions are in blocks. A move changes the profile between its first and its
 * last event only; a block in between that has no event itself is higher or
 * lower by a constant on each device. Where such a block stays below the
 * reference, or does not change, it takes part by its peak and its sum alone.
 * Evaluating writes nothing; an accepted move then walks its range once more.
 */
#include "anneal/peak/peak.h"
#include "cost/model/running_cost.h"

static double larger(double a, double b) {
  return a > b ? a : b;
}

static void finish_cost(const regal_memory_chain *chain, const double *peak,
                        double soft, regal_memory_cost *cost) {
  *cost = (regal_memory_cost){.soft = soft};
  for (uint32_t b = 0; b < chain->devices; b++) {
    cost->value = larger(cost->value, peak[b]);
    if (chain->problem->limited)
      cost->excess += larger(0, peak[b] - (double)chain->problem->limit[b]);
  }
  cost->energy =
      cost->value + chain->price * cost->excess + chain->weight * soft;
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
REGAL_INLINE bool skip_block(const regal_memory_chain *chain, pass *p,
                             uint32_t block, uint32_t d) {
  size_t at = (size_t)(block << chain->shift) * d;
  size_t next = at + ((size_t)d << chain->shift);
  for (uint32_t b = 0; b < d; b++) {
    double rise = p->run[b] - chain->before[at + b];
    double peak = chain->block_peak[(size_t)b * chain->blocks + block];
    if (rise != 0 && peak + larger(rise, 0) > chain->reference[b])
      return false;
  }
  for (uint32_t b = 0; b < d; b++) {
    double rise = p->run[b] - chain->before[at + b];
    double peak = chain->block_peak[(size_t)b * chain->blocks + block];
    p->peak[b] = larger(p->peak[b], peak + rise);
    p->run[b] = chain->before[next + b] + rise;
  }
  p->soft += chain->block_soft[block];
  return true;
}

REGAL_INLINE void pass_over(const regal_memory_chain *chain, pass *p,
                            uint32_t from, uint32_t end, uint32_t d) {
  double soft = 0;
  for (uint32_t i = from; i < end; i++) {
    uint32_t op = chain->order[i];
    const double *net = chain->net + (size_t)op * d;
    uint32_t device = d == 1 ? 0 : chain->placement[op];
    for (uint32_t b = 0; b < d; b++) {
      double bytes = p->run[b];
      if (d == 1)
        bytes += chain->add[op];
      else
        bytes += b == device ? chain->add[op] : 0;
      p->peak[b] = larger(p->peak[b], bytes);
      soft += larger(bytes - chain->reference[b], 0);
      p->run[b] += net[b];
    }
  }
  p->soft += soft;
}

/* The least that the energy can still become. */
REGAL_INLINE double least_energy(const regal_memory_chain *chain, const pass *p,
                                 uint32_t d) {
  double value = 0;
  for (uint32_t b = 0; b < d; b++)
    value = larger(value, p->peak[b]);
  return value + chain->weight * p->soft;
}

/* Peaks outside of blocks from .. to, for devices that have theirs inside. */
static void find_outside(const regal_memory_chain *chain, uint32_t from,
                         uint32_t to, double *peak) {
  for (uint32_t b = 0; b < chain->devices; b++) {
    const double *blocks = chain->block_peak + (size_t)b * chain->blocks;
    peak[b] = chain->peak[b];
    if (chain->peak_block[b] < from || chain->peak_block[b] > to)
      continue;
    double most = 0;
    for (uint32_t k = 0; k < from; k++)
      most = larger(most, blocks[k]);
    for (uint32_t k = to + 1; k < chain->blocks; k++)
      most = larger(most, blocks[k]);
    peak[b] = most;
  }
}

/* Of positions low .. end-1. */
static double soft_between(const regal_memory_chain *chain, uint32_t low,
                           uint32_t end) {
  uint32_t size = 1u << chain->shift;
  double sum = 0;
  while (low < end && (low & (size - 1)))
    sum += chain->soft[low++];
  for (; low + size <= end; low += size)
    sum += chain->block_soft[low >> chain->shift];
  while (low < end)
    sum += chain->soft[low++];
  return sum;
}

/* The range, to whole blocks if a device's peak is inside, so that what is
 * outside consists of whole blocks. */
static void begin_pass(const regal_memory_chain *chain, pass *p, uint32_t *low,
                       uint32_t *end) {
  uint32_t d = chain->devices;
  uint32_t from = *low >> chain->shift, to = (*end - 1) >> chain->shift;
  bool inside = false;
  for (uint32_t b = 0; b < d; b++)
    inside |= chain->peak_block[b] >= from && chain->peak_block[b] <= to;
  if (inside) {
    *low = from << chain->shift;
    *end = (to + 1) << chain->shift;
    *end = *end < chain->ops ? *end : chain->ops;
    find_outside(chain, from, to, p->peak);
  } else {
    memcpy(p->peak, chain->peak, d * sizeof(double));
  }
  const double *start =
      *low == 0 ? chain->base : chain->before + (size_t)*low * d;
  memcpy(p->run, start, d * sizeof(double));
  p->soft = chain->cost.soft - soft_between(chain, *low, *end);
}

REGAL_INLINE bool evaluate(const regal_memory_chain *chain, double allowed,
                           regal_memory_cost *cost, uint32_t d) {
  uint32_t low = chain->low, end = chain->high + 1;
  uint32_t size = 1u << chain->shift;
  pass p;
  begin_pass(chain, &p, &low, &end);
  while (low < end) {
    if (least_energy(chain, &p, d) > allowed)
      return false;
    uint32_t block = low >> chain->shift;
    uint32_t next = (block + 1) << chain->shift;
    next = next < end ? next : end;
    if (next - low != size || chain->block_mark[block] == chain->serial ||
        !skip_block(chain, &p, block, d))
      pass_over(chain, &p, low, next, d);
    low = next;
  }
  finish_cost(chain, p.peak, p.soft, cost);
  return cost->energy <= allowed;
}

bool regal_memory_evaluate(regal_memory_chain *chain, double allowed,
                           regal_memory_cost *cost) {
  switch (chain->devices) {
  case 1:
    return evaluate(chain, allowed, cost, 1);
  case 2:
    return evaluate(chain, allowed, cost, 2);
  case 4:
    return evaluate(chain, allowed, cost, 4);
  default:
    return evaluate(chain, allowed, cost, chain->devices);
  }
}

/* -- Writing --------------------------------------------------------------- */

/* Walks a block and writes down all about it; `run` is what is there before it,
 * and then after it. */
REGAL_INLINE void write_block(regal_memory_chain *chain, uint32_t block,
                              double *run, uint32_t d) {
  uint32_t from = block << chain->shift, end = from + (1u << chain->shift);
  end = end < chain->ops ? end : chain->ops;
  double *peaks = chain->block_peak + block, sum = 0;
  for (uint32_t b = 0; b < d; b++)
    peaks[(size_t)b * chain->blocks] = 0;
  for (uint32_t i = from; i < end; i++) {
    uint32_t op = chain->order[i];
    const double *net = chain->net + (size_t)op * d;
    uint32_t device = d == 1 ? 0 : chain->placement[op];
    double soft = 0;
    for (uint32_t b = 0; b < d; b++) {
      double bytes = run[b] + (b == device ? chain->add[op] : 0);
      double *peak = &peaks[(size_t)b * chain->blocks];
      chain->before[(size_t)i * d + b] = run[b];
      *peak = larger(*peak, bytes);
      soft += larger(bytes - chain->reference[b], 0);
      run[b] += net[b];
    }
    chain->soft[i] = soft;
    sum += soft;
  }
  chain->block_soft[block] = sum;
}

/* A whole block without an event is raised, if its sum stays as it is. */
REGAL_INLINE bool raise_block(regal_memory_chain *chain, uint32_t block,
                              double *run, uint32_t d) {
  uint32_t size = 1u << chain->shift;
  double *before = chain->before + (size_t)(block << chain->shift) * d;
  double *peaks = chain->block_peak + block, rise[REGAL_MAX_DEVICES];
  bool same = true;
  for (uint32_t b = 0; b < d; b++) {
    rise[b] = run[b] - before[b];
    same &= rise[b] == 0;
    if (rise[b] != 0 && peaks[(size_t)b * chain->blocks] + larger(rise[b], 0) >
                            chain->reference[b])
      return false;
  }
  /* The block behind has not been written yet. */
  for (uint32_t b = 0; b < d; b++)
    run[b] = before[(size_t)size * d + b] + rise[b];
  if (same)
    return true;
  for (uint32_t b = 0; b < d; b++)
    peaks[(size_t)b * chain->blocks] += rise[b];
  for (uint32_t i = 0; i < size; i++)
    for (uint32_t b = 0; b < d; b++)
      before[(size_t)i * d + b] += rise[b];
  return true;
}

REGAL_INLINE void write_range(regal_memory_chain *chain, uint32_t from,
                              uint32_t to, bool all, uint32_t d) {
  double run[REGAL_MAX_DEVICES];
  const double *start =
      from == 0 ? chain->base
                : chain->before + (size_t)(from << chain->shift) * d;
  memcpy(run, start, d * sizeof(double));
  for (uint32_t block = from; block <= to; block++) {
    bool plain = !all && block < chain->blocks - 1 &&
                 chain->block_mark[block] != chain->serial;
    if (!plain || !raise_block(chain, block, run, d))
      write_block(chain, block, run, d);
  }
  if (to == chain->blocks - 1)
    memcpy(chain->before + (size_t)chain->ops * d, run, d * sizeof(double));
}

static void write_blocks(regal_memory_chain *chain, uint32_t from, uint32_t to,
                         bool all) {
  switch (chain->devices) {
  case 1:
    write_range(chain, from, to, all, 1);
    return;
  case 2:
    write_range(chain, from, to, all, 2);
    return;
  case 4:
    write_range(chain, from, to, all, 4);
    return;
  default:
    write_range(chain, from, to, all, chain->devices);
  }
}

static void find_peaks(regal_memory_chain *chain, uint32_t device,
                       uint32_t from, uint32_t to) {
  const double *blocks = chain->block_peak + (size_t)device * chain->blocks;
  double most = -1;
  for (uint32_t k = from; k <= to; k++)
    most = larger(most, blocks[k]);
  uint32_t k = from;
  while (blocks[k] != most)
    k++;
  chain->peak[device] = most;
  chain->peak_block[device] = k;
}

void regal_memory_commit(regal_memory_chain *chain,
                         const regal_memory_cost *cost) {
  uint32_t from = chain->low >> chain->shift, to = chain->high >> chain->shift;
  write_blocks(chain, from, to, false);
  for (uint32_t b = 0; b < chain->devices; b++) {
    uint32_t held = chain->peak_block[b];
    if (held >= from && held <= to) {
      find_peaks(chain, b, 0, chain->blocks - 1);
      continue;
    }
    double most = chain->peak[b];
    find_peaks(chain, b, from, to);
    if (chain->peak[b] <= most) {
      chain->peak[b] = most;
      chain->peak_block[b] = held;
    }
  }
  chain->cost = *cost;
}

void regal_memory_rebuild_profile(regal_memory_chain *chain) {
  double soft = 0;
  write_blocks(chain, 0, chain->blocks - 1, true);
  for (uint32_t b = 0; b < chain->devices; b++)
    find_peaks(chain, b, 0, chain->blocks - 1);
  for (uint32_t k = 0; k < chain->blocks; k++)
    soft += chain->block_soft[k];
  finish_cost(chain, chain->peak, soft, &chain->cost);
}
