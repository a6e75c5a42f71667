/* SPDX-License-Identifier: Apache-2.0 */
/* Phase annealing: the moves.
 *
 * Most move a single op. The others reach solutions that single ops reach only
 * through much worse ones: two ops change places, a connected part changes its
 * device, a phase becomes two, devices change their roles. Every move leaves a
 * legal solution. One random number says which op, which move and where; larger
 * moves draw more.
 *
 * A move of several ops is made op by op, each for its own change of the cost
 * given those before; it is accepted or taken back as a whole
 * (anneal/phase/place.h). The machines are told apart by `mode`, a constant in
 * each of the four copies of the loop: with two devices a place is phase and
 * one bit, and the largest load of a phase is one comparison.
 */
#include "anneal/phase/place.h"

#define REACH 4        /* phases, of near moves */
#define MOST_SKIPPED 8 /* members, to find a partner */

REGAL_INLINE uint32_t draw(regal_phase *s, uint32_t below) {
  return (uint32_t)regal_random_below(&s->random, below);
}

REGAL_INLINE bool may_run(const regal_phase *s, uint32_t op, uint32_t device) {
  return !s->restricted || (s->problem->allowed[op] >> device & 1);
}

/* Another device than the given one. */
REGAL_INLINE uint32_t other_device(regal_phase *s, uint32_t device,
                                   phase_mode mode) {
  if (mode.pair)
    return device ^ 1;
  uint32_t other = draw(s, s->problem->devices - 1);
  return other + (other >= device);
}

/* -- One op ---------------------------------------------------------------- */

typedef struct range {
  int32_t low, high; /* phases; none when low > high */
} range;

/* The phases in which the op could be on the device. A predecessor there may be
 * in the same one, any other not. */
REGAL_INLINE range legal_range(const regal_phase *s, uint32_t op,
                               uint32_t device, phase_mode mode) {
  const uint32_t *near = s->near, *at = s->at;
  uint32_t k = s->near_begin[2 * op], after = s->near_begin[2 * op + 1];
  uint32_t end = s->near_begin[2 * op + 2];
  range legal = {0, (int32_t)s->phases - 1};
  for (; k < after; k++) {
    uint32_t place = at[near[k]];
    int32_t low = mode.pair ? (int32_t)(((place ^ device) + 1) >> 1)
                            : (int32_t)(place >> s->shift) +
                                  ((place & s->mask) != device);
    legal.low = low > legal.low ? low : legal.low;
  }
  for (; k < end; k++) {
    uint32_t place = at[near[k]];
    int32_t high = (int32_t)(place >> s->shift) - ((place & s->mask) != device);
    legal.high = high < legal.high ? high : legal.high;
  }
  return legal;
}

/* The same where the penalty decides, too: it can fall to nothing at most. */
REGAL_INLINE void relocate_within(regal_phase *s, uint32_t op, uint32_t to,
                                  int64_t delta, phase_mode mode) {
  int64_t penalty = regal_phase_penalty(s);
  double tolerance = regal_phase_tolerance(s);
  if ((double)(delta - penalty) > tolerance)
    return;
  regal_phase_hold(s, op, to);
  delta += regal_phase_penalty(s) - penalty;
  if ((double)delta > tolerance) {
    regal_phase_release(s, op, to);
    return;
  }
  if (delta > 0)
    regal_phase_save_best(s);
  phase_place(s, op, to, mode);
  s->cost += delta;
  regal_phase_note_best(s);
}

/* To a phase near its own or anywhere, on any device. Of 24 random bits the
 * first is the device, the next two say whether near, the others where. */
REGAL_INLINE void relocate(regal_phase *s, uint32_t op, uint32_t bits,
                           phase_mode mode) {
  uint32_t device = mode.pair ? bits & 1 : draw(s, s->problem->devices);
  uint32_t from = s->at[op];
  if (!may_run(s, op, device))
    return;
  range legal = legal_range(s, op, device, mode);
  if ((bits & 6) == 0) {
    int32_t phase = (int32_t)(from >> s->shift);
    int32_t low = phase - REACH, high = phase + REACH;
    legal.low = low > legal.low ? low : legal.low;
    legal.high = high < legal.high ? high : legal.high;
  }
  if (legal.low > legal.high)
    return;
  uint64_t width = (uint64_t)(legal.high - legal.low + 1);
  uint32_t phase = (uint32_t)legal.low + (uint32_t)((bits >> 3) * width >> 21);
  uint32_t to = phase << s->shift | device;
  if (to == from)
    return;
  int64_t delta = phase_delta(s, op, to, mode);
  if (mode.heeds) {
    relocate_within(s, op, to, delta, mode);
    return;
  }
  if (!phase_accepts(s, delta))
    return;
  if (delta > 0)
    regal_phase_save_best(s);
  phase_place(s, op, to, mode);
  s->cost += delta;
  regal_phase_note_best(s);
}

REGAL_INLINE bool is_legal(const regal_phase *s, uint32_t op) {
  uint32_t at = s->at[op], phase = at >> s->shift;
  uint32_t k = s->near_begin[2 * op], after = s->near_begin[2 * op + 1];
  uint32_t end = s->near_begin[2 * op + 2];
  for (; k < after; k++)
    if (s->at[s->near[k]] >> s->shift >= phase && s->at[s->near[k]] != at)
      return false;
  for (; k < end; k++)
    if (s->at[s->near[k]] >> s->shift <= phase && s->at[s->near[k]] != at)
      return false;
  return true;
}

/* An op in a phase near that of the given one, or REGAL_NONE. */
static uint32_t find_partner(regal_phase *s, uint32_t op) {
  uint64_t r = regal_random_next(&s->random);
  uint32_t phase = s->at[op] >> s->shift;
  phase += (uint32_t)((r >> 32) * (2 * REACH + 1) >> 32) - REACH;
  if (phase >= s->phases)
    return REGAL_NONE;
  uint32_t partner = s->first[phase];
  for (uint32_t skip = r % MOST_SKIPPED; skip > 0 && partner != REGAL_NONE;
       skip--)
    partner = s->next[partner];
  return partner;
}

/* Two ops change places. */
REGAL_INLINE void swap(regal_phase *s, uint32_t op, phase_mode mode) {
  uint32_t other = find_partner(s, op);
  if (other == REGAL_NONE || s->at[other] == s->at[op])
    return;
  uint32_t here = s->at[op], there = s->at[other];
  if (!may_run(s, op, there & s->mask) || !may_run(s, other, here & s->mask))
    return;
  s->at[op] = there;
  s->at[other] = here;
  bool legal = is_legal(s, op) && is_legal(s, other);
  s->at[op] = here;
  s->at[other] = there;
  if (!legal)
    return;
  phase_begin_tries(s);
  phase_try(s, op, there, mode);
  phase_try(s, other, here, mode);
  phase_end_tries(s, true, mode);
}

/* -- Clusters -------------------------------------------------------------- */

REGAL_INLINE void begin_cluster(regal_phase *s, uint32_t op) {
  if (++s->stamps == 0) {
    memset(s->stamp, 0, s->ops * sizeof *s->stamp);
    s->stamps = 1;
  }
  s->stamp[op] = s->stamps;
  s->cluster[0] = op;
  s->members = 1;
}

/* False when there is no more room. */
REGAL_INLINE bool add_member(regal_phase *s, uint32_t op) {
  if (s->members == REGAL_PHASE_CLUSTER)
    return false;
  s->stamp[op] = s->stamps;
  s->cluster[s->members++] = op;
  return true;
}

/* The op and all that is connected with it within its place, and what belongs
 * to some of their neighbours on the device likewise, as long as there are less
 * than `wanted`. False if that is too much. */
static bool grow_component(regal_phase *s, uint32_t op, uint32_t wanted) {
  uint32_t device = s->at[op] & s->mask;
  begin_cluster(s, op);
  for (uint32_t i = 0; i < s->members; i++) {
    uint32_t member = s->cluster[i], place = s->at[member];
    uint64_t r = s->members < wanted ? regal_random_next(&s->random) : 0;
    for (uint32_t k = s->near_begin[2 * member];
         k < s->near_begin[2 * member + 2]; k++, r >>= 2) {
      uint32_t other = s->near[k];
      if (s->stamp[other] == s->stamps || (s->at[other] & s->mask) != device ||
          (s->at[other] != place && (s->members >= wanted || !(r & 3))))
        continue;
      if (!add_member(s, other))
        return false;
    }
  }
  return true;
}

/* A component changes its device, which is always legal: no edge leads from it
 * to the rest of its phase. */
static void flip_component(regal_phase *s, uint32_t op, uint32_t wanted,
                           phase_mode mode) {
  uint32_t device = other_device(s, s->at[op] & s->mask, mode);
  if (!grow_component(s, op, wanted))
    return;
  for (uint32_t i = 0; i < s->members; i++)
    if (!may_run(s, s->cluster[i], device))
      return;
  phase_begin_tries(s);
  for (uint32_t i = 0; i < s->members; i++)
    phase_try(s, s->cluster[i], (s->at[s->cluster[i]] & ~s->mask) | device,
              mode);
  phase_end_tries(s, true, mode);
}

/* A connected cluster on one device, in ascending order. */
static void grow_cluster(regal_phase *s, uint32_t op, uint32_t wanted) {
  uint32_t device = s->at[op] & s->mask;
  begin_cluster(s, op);
  for (uint32_t i = 0; i < s->members && s->members < wanted; i++) {
    uint32_t member = s->cluster[i];
    uint64_t r = regal_random_next(&s->random);
    for (uint32_t k = s->near_begin[2 * member];
         k < s->near_begin[2 * member + 2] && s->members < wanted;
         k++, r >>= 2) {
      uint32_t other = s->near[k];
      if (s->stamp[other] != s->stamps && (s->at[other] & s->mask) == device &&
          (r & 3))
        add_member(s, other);
    }
  }
  for (uint32_t i = 1; i < s->members; i++) {
    uint32_t member = s->cluster[i], put = i;
    for (; put > 0 && s->cluster[put - 1] > member; put--)
      s->cluster[put] = s->cluster[put - 1];
    s->cluster[put] = member;
  }
}

/* What the load costs more in a phase of the given device, other than that
 * where it is now. */
REGAL_INLINE int64_t joining(const regal_phase *s, uint32_t phase,
                             uint32_t device, int64_t run_ns, phase_mode mode) {
  uint32_t place = phase << s->shift | device;
  return phase_time(s, place, run_ns, mode) - phase_time(s, place, 0, mode);
}

/* Tries the op in the cheapest of some legal phases on the device: its own, the
 * first, the last and four others. If there is none, it stays. */
REGAL_INLINE void try_phases(regal_phase *s, uint32_t op, uint32_t device,
                             phase_mode mode) {
  range legal = legal_range(s, op, device, mode);
  if (legal.low > legal.high)
    return;
  uint32_t from = s->at[op], own = from >> s->shift;
  uint32_t low = (uint32_t)legal.low, high = (uint32_t)legal.high;
  int64_t left_ns = regal_problem_run_ns(s->problem, op, from & s->mask);
  int64_t run_ns = regal_problem_run_ns(s->problem, op, device);
  int64_t leaving =
      phase_time(s, from, -left_ns, mode) - phase_time(s, from, 0, mode);
  int64_t best_delta = INT64_MAX;
  uint32_t best = low;
  if (own >= low && own <= high) {
    uint32_t to = own << s->shift | device;
    best = own;
    best_delta = phase_load_delta(s, from, -left_ns, to, run_ns, mode);
  }
  uint64_t r = regal_random_next(&s->random), width = high - low + 1;
  for (uint32_t i = 0; i < 6 && i<width; i++, r >>= i> 2 ? 16 : 0) {
    uint32_t phase = i == 0   ? low
                     : i == 1 ? high
                              : low + (uint32_t)((r & 0xffff) * width >> 16);
    if (phase == own)
      continue;
    int64_t delta = leaving + joining(s, phase, device, run_ns, mode);
    if (delta < best_delta) {
      best_delta = delta;
      best = phase;
    }
  }
  if (mode.costs)
    best_delta += phase_transfer_delta(s, op, from & s->mask, device, mode);
  phase_try_for(s, op, best << s->shift | device, best_delta, mode);
}

/* A cluster goes to another device, op after op, each where it costs least:
 * from the front into earlier phases, or from the back into later ones. */
static void move_cluster(regal_phase *s, uint32_t op, uint32_t wanted,
                         phase_mode mode) {
  uint32_t device = other_device(s, s->at[op] & s->mask, mode);
  bool backwards = regal_random_next(&s->random) & 1;
  grow_cluster(s, op, wanted);
  phase_begin_tries(s);
  for (uint32_t i = 0; i < s->members; i++) {
    uint32_t member = s->cluster[backwards ? s->members - 1 - i : i];
    if (!may_run(s, member, device))
      continue;
    try_phases(s, member, device, mode);
  }
  phase_end_tries(s, true, mode);
}

/* -- Phases ---------------------------------------------------------------- */

/* The op and those after it in its phase begin a new one. */
static void split(regal_phase *s, uint32_t op, phase_mode mode) {
  uint32_t phase = s->at[op] >> s->shift;
  if (phase + 1 >= s->phases || s->first[phase + 1] != REGAL_NONE)
    return;
  s->members = 0;
  for (uint32_t m = s->first[phase]; m != REGAL_NONE; m = s->next[m]) {
    if (m < op)
      continue;
    if (s->members == REGAL_PHASE_CLUSTER)
      return;
    s->cluster[s->members++] = m;
  }
  phase_begin_tries(s);
  for (uint32_t i = 0; i < s->members; i++)
    phase_try(s, s->cluster[i], s->at[s->cluster[i]] + s->mask + 1, mode);
  phase_end_tries(s, true, mode);
}

/* Two devices change roles in the op's phase, or from it on. */
static void swap_devices(regal_phase *s, uint32_t op, bool all_later,
                         phase_mode mode) {
  uint32_t a = s->at[op] & s->mask, b = other_device(s, a, mode);
  uint32_t phase = s->at[op] >> s->shift;
  uint32_t end = all_later ? s->phases : phase + 1;
  bool may = true;
  phase_begin_tries(s);
  for (; phase < end && may; phase++)
    for (uint32_t m = s->first[phase]; m != REGAL_NONE && may; m = s->next[m]) {
      uint32_t device = s->at[m] & s->mask;
      if (device != a && device != b)
        continue;
      may = may_run(s, m, device ^ a ^ b);
      if (may)
        phase_try(s, m, s->at[m] ^ a ^ b, mode);
    }
  phase_end_tries(s, may, mode);
}

/* -- The mix --------------------------------------------------------------- */

/* Of 256 moves: so many larger ones of each kind, all others of one op. Swaps
 * pay only without costs, and there larger moves pay more. */
typedef struct mix {
  uint32_t swap, small, medium, split, rare;
} mix;

static const mix free_mix = {32, 32, 6, 15, 1};
static const mix costs_mix = {0, 16, 2, 4, 1};

/* Moves that are expensive, up to O(ops), and help now and then. */
static void rare_move(regal_phase *s, uint32_t op, phase_mode mode) {
  uint32_t kind = draw(s, 64);
  if (kind < 20)
    move_cluster(s, op, 80, mode);
  else if (kind < 40)
    flip_component(s, op, 1, mode);
  else if (kind < 50)
    flip_component(s, op, kind - 30, mode);
  else
    swap_devices(s, op, kind == 63, mode);
}

REGAL_INLINE void larger_move(regal_phase *s, uint32_t op, uint32_t kind,
                              phase_mode mode) {
  const mix *mix = mode.costs ? &costs_mix : &free_mix;
  if (kind < mix->swap)
    swap(s, op, mode);
  else if ((kind -= mix->swap) < mix->small)
    move_cluster(s, op, 4, mode);
  else if ((kind -= mix->small) < mix->medium)
    move_cluster(s, op, 16, mode);
  else if (kind - mix->medium < mix->split)
    split(s, op, mode);
  else
    rare_move(s, op, mode);
}

REGAL_INLINE void run_moves(regal_phase *s, uint32_t moves, phase_mode mode) {
  const mix *mix = mode.costs ? &costs_mix : &free_mix;
  uint32_t larger =
      mix->swap + mix->small + mix->medium + mix->split + mix->rare;
  uint64_t ops = s->ops;
  for (; moves > 0; moves--) {
    uint64_t r = regal_random_next(&s->random);
    uint32_t op = (uint32_t)((r >> 32) * ops >> 32), bits = (uint32_t)r;
    if ((bits & 255) < larger)
      larger_move(s, op, bits & 255, mode);
    else
      relocate(s, op, bits >> 8, mode);
  }
}

void regal_phase_run(regal_phase *s, uint32_t moves) {
  bool costs = s->readers != NULL;
  if (s->heeds && costs)
    run_moves(s, moves, (phase_mode){true, true, true});
  else if (s->heeds)
    run_moves(s, moves, (phase_mode){true, false, true});
  else if (s->problem->devices == 2 && costs)
    run_moves(s, moves, (phase_mode){true, true, false});
  else if (s->problem->devices == 2)
    run_moves(s, moves, (phase_mode){true, false, false});
  else if (costs)
    run_moves(s, moves, (phase_mode){false, true, false});
  else
    run_moves(s, moves, (phase_mode){false, false, false});
}
