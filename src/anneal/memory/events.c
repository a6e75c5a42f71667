/* SPDX-License-Identifier: Apache-2.0 */
/* Records and events of tensors: see anneal/memory/memory.h.
 *
 * Transfers and the peak. A late transfer happens just before its reader, but
 * the sender's bytes are counted as freed only after that op: the sender does
 * nothing in between, so that its peak is the same, and `add` is then never
 * negative. All early transfers after one op leave its device, and so their
 * receivers only gain and it only loses. Together: the largest of what is
 * there before an op, and of that plus `add` on its own device, over all ops,
 * is the peak of the plan.
 *
 * A move updates the records of dirty tensors one by one. The difference of the
 * old and the new record says which events to take away and which to add: at
 * most two on the producer's device, and three for each copy elsewhere.
 */
#include "anneal/memory/memory.h"
#include "anneal/memory/readers.h"
#include "anneal/memory/trail.h"

/* -- Single events --------------------------------------------------------- */

static void event(regal_memory *m, uint32_t op, uint32_t device, double bytes) {
  add_bytes(m, &m->net[(size_t)op * m->devices + device], bytes);
  regal_memory_touch(m, m->position[op], device);
}

static void arrive(regal_memory *m, uint32_t op, double bytes) {
  add_bytes(m, &m->add[op], bytes);
  regal_memory_touch(m, m->position[op], m->placement[op]);
}

/* What the op writes over its inputs has to be looked at again. */
static void mark_rewrite(regal_memory *m, uint32_t op) {
  const uint8_t *reuses = m->problem->reuses;
  if (!reuses || op == REGAL_NONE || !reuses[op] ||
      m->reuse_mark[op] == m->serial)
    return;
  m->reuse_mark[op] = m->serial;
  m->rewrite[m->rewrite_count++] = op;
}

static void touch_tensor(regal_memory *m, uint32_t tensor) {
  if (m->tensor_mark[tensor] == m->serial || m->problem->bytes[tensor] == 0)
    return;
  m->tensor_mark[tensor] = m->serial;
  m->dirty[m->dirty_count++] = tensor;
}

/* The base of a device: what it holds from the first step to the last. */
static void hold(regal_memory *m, uint32_t device, double bytes) {
  if (bytes == 0)
    return;
  add_bytes(m, &m->base[device], bytes);
  regal_memory_touch(m, 0, device);
  regal_memory_touch(m, m->ops - 1, device);
}

static void place_shared(regal_memory *m, uint32_t op, uint32_t from,
                         uint32_t to) {
  const regal_problem *problem = m->problem;
  for (REGAL_ROW(k, m->residents.shared_begin, op)) {
    uint32_t p = m->residents.shared[k];
    uint32_t *holders = m->residents.holders + (size_t)p * m->devices;
    double bytes = (double)problem->shared_bytes[p];
    set_word(m, &holders[from], holders[from] - 1);
    hold(m, from, holders[from] ? 0 : -bytes);
    hold(m, to, holders[to] ? 0 : bytes);
    set_word(m, &holders[to], holders[to] + 1);
  }
}

/* What is kept for the op, and what it makes and is kept: no edge says that one
 * comes before the other. */
static void touch_kept(regal_memory *m, uint32_t op) {
  if (m->devices == 1)
    return;
  if (m->keeps[op] != REGAL_NONE)
    touch_tensor(m, m->keeps[op]);
  for (REGAL_ROW(t, m->problem->output_begin, op))
    if (m->kept_for[t] != REGAL_NONE)
      touch_tensor(m, t);
}

void regal_memory_place(regal_memory *m, uint32_t op, uint32_t device) {
  const regal_problem *problem = m->problem;
  uint32_t from = m->placement[op];
  double resident = (double)problem->resident_bytes[op];
  uint32_t shared =
      m->residents.shared_begin[op + 1] - m->residents.shared_begin[op];
  if (m->trail_room - m->trail_count < 3 + 4 * shared) {
    m->overflow = true;
    return;
  }
  remember(m, &m->placement[op], from, 1);
  m->placement[op] = (uint8_t)device;
  hold(m, from, -resident);
  hold(m, device, resident);
  place_shared(m, op, from, device);
  regal_memory_touch(m, m->position[op], from);
  regal_memory_touch(m, m->position[op], device);
  mark_rewrite(m, op);
  touch_kept(m, op);
  for (REGAL_ROW(i, problem->input_begin, op))
    touch_tensor(m, problem->input[i]);
  for (REGAL_ROW(t, problem->output_begin, op))
    touch_tensor(m, t);
}

static void keep_for(regal_memory *m, uint32_t tensor, uint32_t op) {
  uint32_t before = m->kept_for[tensor];
  if (before != REGAL_NONE)
    set_word(m, &m->keeps[before], REGAL_NONE);
  set_word(m, &m->kept_for[tensor], op);
  if (op != REGAL_NONE)
    set_word(m, &m->keeps[op], tensor);
}

static void set_early(regal_memory *m, uint32_t tensor, uint8_t early) {
  remember(m, &m->early[tensor], m->early[tensor], 1);
  m->early[tensor] = early;
  touch_tensor(m, tensor);
}

void regal_memory_toggle_early(regal_memory *m, uint32_t tensor) {
  keep_for(m, tensor, REGAL_NONE);
  set_early(m, tensor, !m->early[tensor]);
}

void regal_memory_keep(regal_memory *m, uint32_t tensor, uint32_t op) {
  keep_for(m, tensor, op);
  set_early(m, tensor, 1);
}

/* With one use the order changes no record, and nothing would notice that it
 * has passed the op. */
bool regal_memory_may_keep(const regal_problem *problem, uint32_t tensor) {
  return problem->bytes[tensor] && !problem->is_final[tensor] &&
         problem->use_begin[tensor + 1] - problem->use_begin[tensor] > 1;
}

void regal_memory_touch_inputs(regal_memory *m, uint32_t op) {
  touch_kept(m, op);
  for (REGAL_ROW(k, m->live_begin, op))
    touch_tensor(m, m->live[k]);
}

void regal_memory_touch_window(regal_memory *m, uint32_t low, uint32_t high) {
  m->window_low = low;
  m->window_count = high - low + 1;
  for (uint32_t k = low >> m->shift; k <= high >> m->shift; k++)
    m->block_mark[k] = m->serial;
  m->low = low < m->low ? low : m->low;
  m->high = high > m->high ? high : m->high;
}

/* -- Records --------------------------------------------------------------- */

typedef struct record {
  uint32_t gone, sent;
  regal_memory_readers by;
} record;

static void find_record(const regal_problem *problem, const uint32_t *position,
                        const uint8_t *placement, bool early, uint32_t kept_for,
                        uint32_t tensor, record *found) {
  regal_memory_readers *by = &found->by;
  regal_memory_find_readers(problem, position, placement, tensor, by);
  uint32_t soonest = UINT32_MAX, local = by->local, latest = local;
  for (uint64_t left = by->remote; left; left &= left - 1) {
    uint32_t op = by->first[__builtin_ctzll(left)];
    soonest = position[op] < soonest ? position[op] : soonest;
    latest = position[op] > position[latest] ? op : latest;
  }
  bool final = problem->is_final[tensor];
  bool travels = early && !final && by->remote && position[local] < soonest;
  if (kept_for != REGAL_NONE && placement[kept_for] == by->home &&
      position[kept_for] > position[local] && position[kept_for] < soonest)
    local = kept_for;
  found->sent = travels ? local : REGAL_NONE;
  found->gone = final ? REGAL_NONE : travels ? local : latest;
}

uint32_t regal_memory_sent_after(const regal_problem *problem,
                                 const uint32_t *position,
                                 const uint8_t *placement, uint32_t tensor,
                                 uint32_t kept_for) {
  record found;
  find_record(problem, position, placement, true, kept_for, tensor, &found);
  return found.sent;
}

/* -- Differences of records ------------------------------------------------ */

static void move_event(regal_memory *m, uint32_t device, uint32_t from,
                       uint32_t to, double bytes) {
  if (from != REGAL_NONE)
    event(m, from, device, -bytes);
  if (to != REGAL_NONE)
    event(m, to, device, bytes);
}

/* The producer's device: from when to when it holds the tensor. */
static void update_home(regal_memory *m, uint32_t t, const record *new,
                        double bytes) {
  uint32_t home = m->home[t], made_by = m->problem->producer[t];
  if (new->by.home != home) {
    event(m, made_by, home, -bytes);
    event(m, made_by, new->by.home, bytes);
    if (new->gone == REGAL_NONE) { /* final: to the end */
      regal_memory_touch(m, m->ops - 1, home);
      regal_memory_touch(m, m->ops - 1, new->by.home);
    }
  }
  if (new->by.home != home || new->gone != m->gone[t]) {
    if (m->gone[t] != REGAL_NONE)
      event(m, m->gone[t], home, bytes);
    if (new->gone != REGAL_NONE)
      event(m, new->gone, new->by.home, -bytes);
  }
  if (new->by.home != home || new->gone != m->gone[t] ||
      new->sent != m->sent[t]) {
    mark_rewrite(m, m->gone[t]);
    mark_rewrite(m, new->gone);
  }
}

/* A copy on `device`: it arrives with `first`, or after `sent` when that is an
 * op, and is freed after `last`; all REGAL_NONE: there is no copy. */
typedef struct copy {
  uint32_t first, last, sent;
} copy;

static void arrive_late(regal_memory *m, const copy *c, uint32_t device,
                        double bytes) {
  if (c->first == REGAL_NONE || c->sent != REGAL_NONE)
    return;
  arrive(m, c->first, bytes);
  event(m, c->first, device, bytes);
}

static void update_copy(regal_memory *m, uint32_t device, const copy *old,
                        const copy *new, double bytes) {
  if (old->sent != new->sent)
    move_event(m, device, old->sent, new->sent, bytes);
  if (old->sent != new->sent || old->first != new->first) {
    arrive_late(m, old, device, -bytes);
    arrive_late(m, new, device, bytes);
  }
  if (old->last != new->last) {
    move_event(m, device, old->last, new->last, -bytes);
    mark_rewrite(m, old->last);
    mark_rewrite(m, new->last);
  }
}

static void update_remote(regal_memory *m, uint32_t t, const record *new,
                          double bytes) {
  const copy none = {REGAL_NONE, REGAL_NONE, REGAL_NONE};
  for (uint64_t left = m->remote[t] | new->by.remote; left; left &= left - 1) {
    uint32_t device = (uint32_t)__builtin_ctzll(left);
    uint64_t bit = left & -left;
    size_t at = (size_t)t * m->devices + device;
    copy old = none, now = none;
    if (m->remote[t] & bit)
      old = (copy){m->first[at], m->last[at], m->sent[t]};
    if (new->by.remote & bit) {
      now = (copy){new->by.first[device], new->by.last[device], new->sent};
      set_word(m, &m->first[at], now.first);
      set_word(m, &m->last[at], now.last);
    }
    update_copy(m, device, &old, &now, bytes);
  }
}

static void update_record(regal_memory *m, uint32_t t) {
  record new;
  double bytes = (double)m->problem->bytes[t];
  find_record(m->problem, m->position, m->placement, m->early[t],
              m->kept_for[t], t, &new);
  update_home(m, t, &new, bytes);
  if (m->remote[t] | new.by.remote)
    update_remote(m, t, &new, bytes);
  set_word(m, &m->home[t], new.by.home);
  set_word(m, &m->gone[t], new.gone);
  set_word(m, &m->sent[t], new.sent);
  if (new.by.remote != m->remote[t]) {
    remember(m, &m->remote[t], m->remote[t], 8);
    m->remote[t] = new.by.remote;
  }
}

/* With one device all that can change is the last reader, and only if the one
 * so far is among the positions that were rearranged. */
static void update_single(regal_memory *m, uint32_t t) {
  const regal_problem *problem = m->problem;
  uint32_t old = m->gone[t];
  if (old == REGAL_NONE || m->position[old] >= m->window_low + m->window_count)
    return;
  uint32_t last = old, at = m->position[old];
  for (REGAL_ROW(u, problem->use_begin, t)) {
    uint32_t op = problem->consumer[u];
    last = m->position[op] > at ? op : last;
    at = m->position[last];
  }
  if (last == old)
    return;
  move_event(m, 0, old, last, -(double)problem->bytes[t]);
  set_word(m, &m->gone[t], last);
  mark_rewrite(m, old);
  mark_rewrite(m, last);
}

/* -- Outputs that are written over inputs ---------------------------------- */

static bool dies(const regal_memory *m, uint32_t tensor, uint32_t op) {
  if (m->devices == 1)
    return m->gone[tensor] == op;
  uint32_t device = m->placement[op];
  if (device == m->home[tensor])
    return m->gone[tensor] == op && m->sent[tensor] == REGAL_NONE;
  return m->last[(size_t)tensor * m->devices + device] == op;
}

/* As account.h has it: each output takes the first that is large enough. */
static double count_reused(regal_memory *m, uint32_t op) {
  const regal_problem *problem = m->problem;
  uint32_t from = problem->input_begin[op], end = problem->input_begin[op + 1];
  uint64_t now = ++m->taken_now;
  double reused = 0;
  for (REGAL_ROW(t, problem->output_begin, op)) {
    int64_t bytes = problem->may_reuse[t] ? problem->bytes[t] : 0;
    while (from < end && (m->taken[problem->input[from]] == now ||
                          !dies(m, problem->input[from], op)))
      from++;
    uint32_t i = bytes ? from : end;
    while (i < end && (problem->bytes[problem->input[i]] < bytes ||
                       m->taken[problem->input[i]] == now ||
                       !dies(m, problem->input[i], op)))
      i++;
    if (i == end)
      continue;
    m->taken[problem->input[i]] = now;
    reused += (double)bytes;
  }
  return reused;
}

static void update_reused(regal_memory *m, uint32_t op) {
  double reused = count_reused(m, op), change = reused - m->reused[op];
  if (change == 0)
    return;
  arrive(m, op, -change);
  add_bytes(m, &m->reused[op], change);
}

/* -- Everything ------------------------------------------------------------ */

/* Whether the trail has room for a record's update, which adds less than this
 * to it. */
static bool has_room(regal_memory *m) {
  m->overflow |= m->trail_room - m->trail_count < 16 + 10 * m->devices;
  return !m->overflow;
}

void regal_memory_settle(regal_memory *m) {
  for (uint32_t i = 0; i < m->dirty_count && has_room(m); i++)
    if (m->devices == 1)
      update_single(m, m->dirty[i]);
    else
      update_record(m, m->dirty[i]);
  for (uint32_t i = 0; i < m->rewrite_count && has_room(m); i++)
    update_reused(m, m->rewrite[i]);
}

static void rebuild_tensor(regal_memory *m, uint32_t t) {
  const regal_problem *problem = m->problem;
  uint32_t d = m->devices;
  double bytes = (double)problem->bytes[t];
  record new;
  find_record(problem, m->position, m->placement, d > 1 && m->early[t],
              m->kept_for[t], t, &new);
  m->gone[t] = new.gone;
  m->add[problem->producer[t]] += bytes;
  m->net[(size_t)problem->producer[t] * d + new.by.home] += bytes;
  if (new.gone != REGAL_NONE)
    m->net[(size_t) new.gone *d + new.by.home] -= bytes;
  if (d == 1)
    return;
  m->home[t] = new.by.home;
  m->sent[t] = new.sent;
  m->remote[t] = new.by.remote;
  for (uint64_t left = new.by.remote; left; left &= left - 1) {
    uint32_t b = (uint32_t)__builtin_ctzll(left);
    uint32_t first = new.by.first[b], last = new.by.last[b];
    m->first[(size_t)t * d + b] = first;
    m->last[(size_t)t * d + b] = last;
    m->add[first] += new.sent == REGAL_NONE ? bytes : 0;
    first = new.sent == REGAL_NONE ? first : new.sent;
    m->net[(size_t)first * d + b] += bytes;
    m->net[(size_t)last * d + b] -= bytes;
  }
}

static void rebuild_base(regal_memory *m) {
  int64_t held[REGAL_MAX_DEVICES];
  regal_residents_count(&m->residents, m->problem, m->placement, held);
  for (uint32_t b = 0; b < m->devices; b++)
    m->base[b] = (double)held[b];
}

void regal_memory_rebuild_events(regal_memory *m) {
  const regal_problem *problem = m->problem;
  rebuild_base(m);
  memset(m->net, 0, (size_t)m->ops * m->devices * 8);
  for (uint32_t op = 0; op < m->ops; op++) {
    m->add[op] = (double)problem->graph->temporary_bytes[op];
    m->reused[op] = 0;
  }
  for (uint32_t t = 0; t < problem->tensors; t++)
    rebuild_tensor(m, t);
  for (uint32_t op = 0; problem->reuses && op < m->ops; op++)
    if (problem->reuses[op]) {
      m->reused[op] = count_reused(m, op);
      m->add[op] -= m->reused[op];
    }
}
