/* SPDX-License-Identifier: Apache-2.0 */
/* The events of tensors: see memory_anneal.h.
 *
 * Transfers and the peak. A late transfer happens just before its reader, but
 * the sender's bytes are counted as freed only after that op: the sender does
 * nothing in between, so that its peak is the same, and `add` is then never
 * negative. All early transfers after one op leave its device, and so their
 * receivers only gain and it only loses. Together: the largest of what is
 * there before an op, and of that plus `add` on its own device, over all ops,
 * is the peak of the plan.
 */
#include <assert.h>

#include "anneal/peak/peak.h"

static void remember(regal_memory_chain *chain, void *where, uint64_t old,
                     uint32_t size) {
  assert(chain->trail_count < chain->trail_room); /* seen to by the caller */
  chain->trail[chain->trail_count++] = (regal_memory_undo){where, old, size};
}

static void set_word(regal_memory_chain *chain, uint32_t *where,
                     uint32_t value) {
  remember(chain, where, *where, 4);
  *where = value;
}

static void add_bytes(regal_memory_chain *chain, double *where, double bytes) {
  uint64_t old;
  memcpy(&old, where, sizeof old);
  remember(chain, where, old, 8);
  *where += bytes;
}

void regal_memory_undo_move(regal_memory_chain *chain) {
  while (chain->trail_count > 0) {
    const regal_memory_undo *undo = &chain->trail[--chain->trail_count];
    if (undo->size == 8) {
      memcpy(undo->where, &undo->old, 8);
    } else if (undo->size == 4) {
      *(uint32_t *)undo->where = (uint32_t)undo->old;
    } else {
      *(uint8_t *)undo->where = (uint8_t)undo->old;
    }
  }
  for (uint32_t i = 0; i < chain->window_count; i++) {
    uint32_t op = chain->window[i], at = chain->window_low + i;
    chain->order[at] = op;
    chain->position[op] = at;
  }
}

/* -- Single events --------------------------------------------------------- */

static void event(regal_memory_chain *chain, uint32_t op, uint32_t device,
                  double bytes) {
  add_bytes(chain, &chain->net[(size_t)op * chain->devices + device], bytes);
  regal_memory_touch(chain, chain->position[op]);
}

static void arrive(regal_memory_chain *chain, uint32_t op, double bytes) {
  add_bytes(chain, &chain->add[op], bytes);
  regal_memory_touch(chain, chain->position[op]);
}

/* What the op writes over its inputs has to be looked at again. */
static void mark_rewrite(regal_memory_chain *chain, uint32_t op) {
  const uint8_t *reuses = chain->problem->reuses;
  if (!reuses || op == REGAL_NONE || !reuses[op] ||
      chain->reuse_mark[op] == chain->serial)
    return;
  chain->reuse_mark[op] = chain->serial;
  chain->rewrite[chain->rewrite_count++] = op;
}

void regal_memory_touch_tensor(regal_memory_chain *chain, uint32_t tensor) {
  if (chain->tensor_mark[tensor] == chain->serial ||
      chain->problem->bytes[tensor] == 0)
    return;
  chain->tensor_mark[tensor] = chain->serial;
  chain->dirty[chain->dirty_count++] = tensor;
}

/* The base of a device: what it holds from the first step to the last. */
static void hold(regal_memory_chain *chain, uint32_t device, double bytes) {
  if (bytes == 0)
    return;
  add_bytes(chain, &chain->base[device], bytes);
  regal_memory_touch(chain, 0);
  regal_memory_touch(chain, chain->ops - 1);
}

static void place_shared(regal_memory_chain *chain, uint32_t op, uint32_t from,
                         uint32_t to) {
  const regal_problem *problem = chain->problem;
  for (uint32_t k = chain->shared_begin[op]; k < chain->shared_begin[op + 1];
       k++) {
    uint32_t p = chain->shared[k];
    uint32_t *holders = chain->holders + (size_t)p * chain->devices;
    double bytes = (double)problem->shared_bytes[p];
    set_word(chain, &holders[from], holders[from] - 1);
    hold(chain, from, holders[from] ? 0 : -bytes);
    hold(chain, to, holders[to] ? 0 : bytes);
    set_word(chain, &holders[to], holders[to] + 1);
  }
}

void regal_memory_place(regal_memory_chain *chain, uint32_t op,
                        uint32_t device) {
  const regal_problem *problem = chain->problem;
  uint32_t from = chain->placement[op];
  double resident = (double)problem->resident_bytes[op];
  uint32_t shared = chain->shared_begin[op + 1] - chain->shared_begin[op];
  if (chain->trail_room - chain->trail_count < 3 + 4 * shared) {
    chain->overflow = true;
    return;
  }
  remember(chain, &chain->placement[op], from, 1);
  chain->placement[op] = (uint8_t)device;
  hold(chain, from, -resident);
  hold(chain, device, resident);
  place_shared(chain, op, from, device);
  regal_memory_touch(chain, chain->position[op]);
  mark_rewrite(chain, op);
  for (uint32_t i = problem->input_begin[op]; i < problem->input_begin[op + 1];
       i++)
    regal_memory_touch_tensor(chain, problem->input[i]);
  for (uint32_t t = problem->output_begin[op];
       t < problem->output_begin[op + 1]; t++)
    regal_memory_touch_tensor(chain, t);
}

/* -- Records --------------------------------------------------------------- */

typedef struct record {
  uint32_t home, gone, sent;
  uint64_t remote;
  uint32_t first[REGAL_MAX_DEVICES], last[REGAL_MAX_DEVICES];
} record;

/* The last reader on the producer's device, or the producer; and first and last
 * readers elsewhere. */
static uint32_t find_readers(const regal_problem *problem,
                             const uint32_t *position, const uint8_t *placement,
                             uint32_t tensor, record *found) {
  uint32_t local = problem->producer[tensor];
  found->home = placement[local];
  found->remote = 0;
  for (uint32_t u = problem->use_begin[tensor];
       u < problem->use_begin[tensor + 1]; u++) {
    uint32_t op = problem->consumer[u], device = placement[op];
    uint64_t bit = UINT64_C(1) << device;
    if (device == found->home) {
      local = position[op] > position[local] ? op : local;
    } else if (!(found->remote & bit)) {
      found->remote |= bit;
      found->first[device] = found->last[device] = op;
    } else if (position[op] < position[found->first[device]]) {
      found->first[device] = op;
    } else if (position[op] > position[found->last[device]]) {
      found->last[device] = op;
    }
  }
  return local;
}

static void find_record(const regal_problem *problem, const uint32_t *position,
                        const uint8_t *placement, bool early, uint32_t tensor,
                        record *found) {
  uint32_t local = find_readers(problem, position, placement, tensor, found);
  uint32_t soonest = UINT32_MAX, latest = local;
  for (uint64_t left = found->remote; left; left &= left - 1) {
    uint32_t op = found->first[__builtin_ctzll(left)];
    soonest = position[op] < soonest ? position[op] : soonest;
    latest = position[op] > position[latest] ? op : latest;
  }
  bool final = problem->is_final[tensor];
  bool travels = early && !final && found->remote && position[local] < soonest;
  found->sent = travels ? local : REGAL_NONE;
  found->gone = final ? REGAL_NONE : travels ? local : latest;
}

uint32_t regal_memory_sent_after(const regal_problem *problem,
                                 const uint32_t *position,
                                 const uint8_t *placement, uint32_t tensor) {
  record found;
  find_record(problem, position, placement, true, tensor, &found);
  return found.sent;
}

/* -- Differences of records ------------------------------------------------ */

static void move_event(regal_memory_chain *chain, uint32_t device,
                       uint32_t from, uint32_t to, double bytes) {
  if (from != REGAL_NONE)
    event(chain, from, device, -bytes);
  if (to != REGAL_NONE)
    event(chain, to, device, bytes);
}

/* The producer's device: from when to when it holds the tensor. */
static void update_home(regal_memory_chain *chain, uint32_t t,
                        const record *new, double bytes) {
  uint32_t home = chain->home[t], made_by = chain->problem->producer[t];
  if (new->home != home) {
    event(chain, made_by, home, -bytes);
    event(chain, made_by, new->home, bytes);
    if (new->gone == REGAL_NONE) /* final: it makes a difference to the end */
      regal_memory_touch(chain, chain->ops - 1);
  }
  if (new->home != home || new->gone != chain->gone[t]) {
    if (chain->gone[t] != REGAL_NONE)
      event(chain, chain->gone[t], home, bytes);
    if (new->gone != REGAL_NONE)
      event(chain, new->gone, new->home, -bytes);
  }
  if (new->home != home || new->gone != chain->gone[t] ||
      new->sent != chain->sent[t]) {
    mark_rewrite(chain, chain->gone[t]);
    mark_rewrite(chain, new->gone);
  }
}

/* A copy on `device`: it arrives with `first`, or after `sent` when that is an
 * op, and is freed after `last`; all REGAL_NONE: there is no copy. */
typedef struct copy {
  uint32_t first, last, sent;
} copy;

static void arrive_late(regal_memory_chain *chain, const copy *c,
                        uint32_t device, double bytes) {
  if (c->first == REGAL_NONE || c->sent != REGAL_NONE)
    return;
  arrive(chain, c->first, bytes);
  event(chain, c->first, device, bytes);
}

static void update_copy(regal_memory_chain *chain, uint32_t device,
                        const copy *old, const copy *new, double bytes) {
  if (old->sent != new->sent)
    move_event(chain, device, old->sent, new->sent, bytes);
  if (old->sent != new->sent || old->first != new->first) {
    arrive_late(chain, old, device, -bytes);
    arrive_late(chain, new, device, bytes);
  }
  if (old->last != new->last) {
    move_event(chain, device, old->last, new->last, -bytes);
    mark_rewrite(chain, old->last);
    mark_rewrite(chain, new->last);
  }
}

static void update_remote(regal_memory_chain *chain, uint32_t t,
                          const record *new, double bytes) {
  const copy none = {REGAL_NONE, REGAL_NONE, REGAL_NONE};
  for (uint64_t left = chain->remote[t] | new->remote; left; left &= left - 1) {
    uint32_t device = (uint32_t)__builtin_ctzll(left);
    uint64_t bit = left & -left;
    size_t at = (size_t)t * chain->devices + device;
    copy old = none, now = none;
    if (chain->remote[t] & bit)
      old = (copy){chain->first[at], chain->last[at], chain->sent[t]};
    if (new->remote & bit) {
      now = (copy){new->first[device], new->last[device], new->sent};
      if (now.first != old.first)
        set_word(chain, &chain->first[at], now.first);
      if (now.last != old.last)
        set_word(chain, &chain->last[at], now.last);
    }
    update_copy(chain, device, &old, &now, bytes);
  }
}

static void update_record(regal_memory_chain *chain, uint32_t t) {
  record new;
  double bytes = (double)chain->problem->bytes[t];
  find_record(chain->problem, chain->position, chain->placement,
              chain->early[t], t, &new);
  update_home(chain, t, &new, bytes);
  if (chain->remote[t] | new.remote)
    update_remote(chain, t, &new, bytes);
  if (new.home != chain->home[t])
    set_word(chain, &chain->home[t], new.home);
  if (new.gone != chain->gone[t])
    set_word(chain, &chain->gone[t], new.gone);
  if (new.sent != chain->sent[t])
    set_word(chain, &chain->sent[t], new.sent);
  if (new.remote != chain->remote[t]) {
    remember(chain, &chain->remote[t], chain->remote[t], 8);
    chain->remote[t] = new.remote;
  }
}

/* With one device all that can change is the last reader, and only if the one
 * so far is among the positions that were rearranged. */
static void update_single(regal_memory_chain *chain, uint32_t t) {
  const regal_problem *problem = chain->problem;
  uint32_t old = chain->gone[t];
  if (old == REGAL_NONE ||
      chain->position[old] >= chain->window_low + chain->window_count)
    return;
  uint32_t last = old, at = chain->position[old];
  for (uint32_t u = problem->use_begin[t]; u < problem->use_begin[t + 1]; u++) {
    uint32_t op = problem->consumer[u];
    last = chain->position[op] > at ? op : last;
    at = chain->position[last];
  }
  if (last == old)
    return;
  move_event(chain, 0, old, last, -(double)problem->bytes[t]);
  set_word(chain, &chain->gone[t], last);
  mark_rewrite(chain, old);
  mark_rewrite(chain, last);
}

/* -- Outputs that are written over inputs ---------------------------------- */

static bool dies(const regal_memory_chain *chain, uint32_t tensor,
                 uint32_t op) {
  if (chain->devices == 1)
    return chain->gone[tensor] == op;
  uint32_t device = chain->placement[op];
  if (device == chain->home[tensor])
    return chain->gone[tensor] == op && chain->sent[tensor] == REGAL_NONE;
  return chain->last[(size_t)tensor * chain->devices + device] == op;
}

/* As account.h has it: each output takes the first that is large enough. */
static double count_reused(regal_memory_chain *chain, uint32_t op) {
  const regal_problem *problem = chain->problem;
  uint32_t from = problem->input_begin[op], end = problem->input_begin[op + 1];
  uint64_t now = ++chain->taken_now;
  double reused = 0;
  for (uint32_t t = problem->output_begin[op];
       t < problem->output_begin[op + 1]; t++) {
    int64_t bytes = problem->may_reuse[t] ? problem->bytes[t] : 0;
    while (from < end && (chain->taken[problem->input[from]] == now ||
                          !dies(chain, problem->input[from], op)))
      from++;
    uint32_t i = bytes ? from : end;
    while (i < end && (problem->bytes[problem->input[i]] < bytes ||
                       chain->taken[problem->input[i]] == now ||
                       !dies(chain, problem->input[i], op)))
      i++;
    if (i == end)
      continue;
    chain->taken[problem->input[i]] = now;
    reused += (double)bytes;
  }
  return reused;
}

static void update_reused(regal_memory_chain *chain, uint32_t op) {
  double reused = count_reused(chain, op), change = reused - chain->reused[op];
  if (change == 0)
    return;
  arrive(chain, op, -change);
  add_bytes(chain, &chain->reused[op], change);
}

/* -- Everything ------------------------------------------------------------ */

/* A record's update adds less than this to the trail. */
static uint32_t most_entries(const regal_memory_chain *chain) {
  return 16 + 10 * chain->devices;
}

void regal_memory_settle(regal_memory_chain *chain) {
  for (uint32_t i = 0; i < chain->dirty_count && !chain->overflow; i++) {
    if (chain->trail_room - chain->trail_count < most_entries(chain))
      chain->overflow = true;
    else if (chain->devices == 1)
      update_single(chain, chain->dirty[i]);
    else
      update_record(chain, chain->dirty[i]);
  }
  for (uint32_t i = 0; i < chain->rewrite_count && !chain->overflow; i++) {
    if (chain->trail_room - chain->trail_count < most_entries(chain))
      chain->overflow = true;
    else
      update_reused(chain, chain->rewrite[i]);
  }
}

static void rebuild_tensor(regal_memory_chain *chain, uint32_t t) {
  const regal_problem *problem = chain->problem;
  uint32_t d = chain->devices;
  double bytes = (double)problem->bytes[t];
  record new;
  find_record(problem, chain->position, chain->placement,
              d > 1 && chain->early[t], t, &new);
  chain->gone[t] = new.gone;
  chain->add[problem->producer[t]] += bytes;
  chain->net[(size_t)problem->producer[t] * d + new.home] += bytes;
  if (new.gone != REGAL_NONE)
    chain->net[(size_t) new.gone *d + new.home] -= bytes;
  if (d == 1)
    return;
  chain->home[t] = new.home;
  chain->sent[t] = new.sent;
  chain->remote[t] = new.remote;
  for (uint64_t left = new.remote; left; left &= left - 1) {
    uint32_t b = (uint32_t)__builtin_ctzll(left);
    uint32_t first = new.first[b], last = new.last[b];
    chain->first[(size_t)t * d + b] = first;
    chain->last[(size_t)t * d + b] = last;
    chain->add[first] += new.sent == REGAL_NONE ? bytes : 0;
    first = new.sent == REGAL_NONE ? first : new.sent;
    chain->net[(size_t)first * d + b] += bytes;
    chain->net[(size_t)last * d + b] -= bytes;
  }
}

static void rebuild_base(regal_memory_chain *chain) {
  const regal_problem *problem = chain->problem;
  uint32_t d = chain->devices;
  memset(chain->base, 0, sizeof chain->base);
  memset(chain->holders, 0, (size_t)problem->shared * d * 4);
  for (uint32_t op = 0; op < chain->ops; op++)
    chain->base[chain->placement[op]] += (double)problem->resident_bytes[op];
  for (uint32_t p = 0; p < problem->shared; p++)
    for (uint32_t r = problem->reader_begin[p];
         r < problem->reader_begin[p + 1]; r++) {
      uint32_t device = chain->placement[problem->reader[r]];
      if (chain->holders[(size_t)p * d + device]++ == 0)
        chain->base[device] += (double)problem->shared_bytes[p];
    }
}

void regal_memory_rebuild_events(regal_memory_chain *chain) {
  const regal_problem *problem = chain->problem;
  rebuild_base(chain);
  memset(chain->net, 0, (size_t)chain->ops * chain->devices * 8);
  for (uint32_t op = 0; op < chain->ops; op++) {
    chain->add[op] = (double)problem->graph->temporary_bytes[op];
    chain->reused[op] = 0;
  }
  for (uint32_t t = 0; t < problem->tensors; t++)
    rebuild_tensor(chain, t);
  for (uint32_t op = 0; problem->reuses && op < chain->ops; op++)
    if (problem->reuses[op]) {
      chain->reused[op] = count_reused(chain, op);
      chain->add[op] -= chain->reused[op];
    }
}
