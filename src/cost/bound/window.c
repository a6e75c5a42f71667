/* SPDX-License-Identifier: Apache-2.0 */
/* Let a be the device of u.
 *
 * Chains. For an op j of M there are two lower bounds on the time from the end
 * of u to the start of j: one if j is on a (here), one if it is not (away). A
 * lag p -> j gives, for j on a: p is on a too (its `here`, and the lag on one
 * device), or it is away, and the lag is that of two devices. For j away from
 * a: p is away too (with two devices: on that of j), or p is on a and the lag
 * is that of two devices. The smaller of the two holds, for every p. Likewise
 * backwards from v. An op is never here if no device may run it and u, and
 * never away if it is in the group of u.
 *
 * Sides. Suppose the window lasts at most x. If u and v are both on a, an op j
 * elsewhere needs away + run time + away: when that is above x, j must be on a.
 * If they are on different devices, an op that is too long away from a must be
 * on a, and one that is too long on a must not.
 *
 * Load. Device a runs one op at a time, so that x is at least the run time of
 * all that must be there. With blocking transfers it also takes part in every
 * transfer between a and another device: with S the ops away from a, x is at
 * least the run time of M less S, and the transfers of the tensors that have
 * ends on both sides. The least of that over all S that agree with the sides is
 * a minimum cut. The same holds for the device of v.
 *
 * If x turns out smaller than that, no window lasts x or less. The largest such
 * x is looked for by halving. */
#include "cost/bound/window.h"
#include "base/compare.h"

enum { FREE, HERE, AWAY };
enum { STEPS = 7 }; /* of halving */

#define NEVER REGAL_LAG_NEVER

/* Through an op from which it takes `here` or `away`, over a lag. */
static void through(const regal_window *window, const regal_lag *lag,
                    int64_t here, int64_t away, int64_t *to_here,
                    int64_t *to_away) {
  int64_t beside =
      window->problem->devices == 2 ? lag->same : regal_lag_least(lag);
  int64_t into_here = regal_smaller(here + lag->same, away + lag->apart);
  int64_t into_away = regal_smaller(away + beside, here + lag->apart);
  *to_here = regal_larger(*to_here, regal_smaller(into_here, NEVER));
  *to_away = regal_larger(*to_away, regal_smaller(into_away, NEVER));
}

/* Never, where an op cannot be with `end` or cannot be without it. */
static void begin_at(const regal_window *window, uint32_t i, uint32_t end,
                     int64_t *here, int64_t *away) {
  const regal_problem *problem = window->problem;
  uint32_t op = window->member[i], other = window->member[end];
  bool grouped =
      problem->leader && problem->leader[op] == problem->leader[other];
  *here = problem->allowed[op] & problem->allowed[other] ? 0 : NEVER;
  *away = grouped ? NEVER : 0;
}

void regal_window_chains(regal_window *window, const regal_lag *lag,
                         const uint32_t *lag_begin) {
  uint32_t last = window->size - 1;
  for (uint32_t i = 0; i <= last; i++) {
    begin_at(window, i, 0, &window->after_here[i], &window->after_away[i]);
    begin_at(window, i, last, &window->until_here[i], &window->until_away[i]);
  }
  window->after_away[0] = window->until_away[last] = NEVER;
  for (uint32_t i = 1; i <= last; i++)
    for (REGAL_ROW(k, lag_begin, i)) {
      uint32_t p = window->place[lag[k].from];
      int64_t run = p ? window->shortest[lag[k].from] : 0;
      through(window, &lag[k], window->after_here[p] + run,
              window->after_away[p] + run, &window->after_here[i],
              &window->after_away[i]);
    }
  for (uint32_t i = last; i > 0; i--)
    for (REGAL_ROW(k, lag_begin, i)) {
      uint32_t p = window->place[lag[k].from];
      int64_t run = i < last ? window->shortest[lag[k].to] : 0;
      through(window, &lag[k], window->until_here[i] + run,
              window->until_away[i] + run, &window->until_here[p],
              &window->until_away[p]);
    }
}

/* Sides of the ops of M in a window of at most x. Whether there are any. */
static bool choose_sides(regal_window *window, bool apart, int64_t x) {
  bool two = window->problem->devices == 2;
  for (uint32_t i = 1; i + 1 < window->size; i++) {
    int64_t run = window->shortest[window->member[i]];
    int64_t here = window->after_here[i] + run,
            away = window->after_away[i] + run;
    int64_t to_here = window->until_here[i], to_away = window->until_away[i];
    int64_t as_u = here + (apart ? to_away : to_here);
    int64_t other = away + (!apart ? to_away
                            : two  ? to_here
                                   : regal_smaller(to_here, to_away));
    if (as_u > x && other > x)
      return false;
    window->side[i] = other > x ? HERE : as_u > x ? AWAY : FREE;
  }
  window->side[0] = HERE;
  window->side[window->size - 1] = apart ? AWAY : HERE;
  return true;
}

/* Time of the ops that must be on one side, between the first of them and the
 * last. */
static int64_t forced_load(const regal_window *window, uint8_t side,
                           bool apart) {
  int64_t load = 0, first = NEVER, last = NEVER;
  for (uint32_t i = 1; i + 1 < window->size; i++) {
    if (window->side[i] != side)
      continue;
    bool with_u = side == HERE, with_v = with_u != apart;
    int64_t after = with_u ? window->after_here[i] : window->after_away[i];
    int64_t until = with_v ? window->until_here[i] : window->until_away[i];
    load += window->shortest[window->member[i]];
    first = regal_smaller(first, after);
    last = regal_smaller(last, until);
  }
  return load ? first + load + last : 0;
}

/* The tensors that `op` makes for ops of the window. */
static void join_outputs(regal_window *window, uint32_t index,
                         uint32_t *nodes) {
  const regal_problem *problem = window->problem;
  uint32_t op = window->member[index];
  for (REGAL_ROW(t, problem->output_begin, op)) {
    uint32_t readers = 0, reader = 0;
    if (!window->send_ns[t])
      continue;
    for (REGAL_ROW(u, problem->use_begin, t))
      if (window->place[problem->consumer[u]] != REGAL_WINDOW_NONE) {
        readers++;
        reader = window->place[problem->consumer[u]];
      }
    int64_t ns = window->send_ns[t];
    if (readers == 1)
      regal_flow_join(&window->flow, 2 + index, 2 + reader, ns, ns);
    if (readers < 2)
      continue;
    /* on both sides: the arc from its first node to its second is cut */
    uint32_t some = (*nodes)++, all = (*nodes)++;
    regal_flow_join(&window->flow, some, all, ns, 0);
    regal_flow_join(&window->flow, 2 + index, some, REGAL_FLOW_ENDLESS, 0);
    regal_flow_join(&window->flow, all, 2 + index, REGAL_FLOW_ENDLESS, 0);
    for (REGAL_ROW(u, problem->use_begin, t)) {
      uint32_t place = window->place[problem->consumer[u]];
      if (place == REGAL_WINDOW_NONE)
        continue;
      regal_flow_join(&window->flow, 2 + place, some, REGAL_FLOW_ENDLESS, 0);
      regal_flow_join(&window->flow, all, 2 + place, REGAL_FLOW_ENDLESS, 0);
    }
  }
}

static uint32_t count_nodes(const regal_window *window) {
  const regal_problem *problem = window->problem;
  uint32_t nodes = 2 + window->size;
  for (uint32_t i = 0; i + 1 < window->size; i++) {
    uint32_t op = window->member[i];
    nodes += 2 * (problem->output_begin[op + 1] - problem->output_begin[op]);
  }
  return nodes;
}

/* Time of the ops on the device of u (near: HERE) or of v, which is another
 * (AWAY), and of all transfers between it and the rest, at least. Source: this
 * device. */
static int64_t cut_load(regal_window *window, uint8_t near) {
  /* with more devices, away from u need not be where v is */
  bool two = window->problem->devices == 2;
  uint32_t nodes = 2 + window->size;
  regal_flow_begin(&window->flow, count_nodes(window));
  for (uint32_t i = 0; i < window->size; i++) {
    uint8_t side = window->side[i];
    bool inside = i && i + 1 < window->size;
    int64_t run = inside ? window->shortest[window->member[i]] : 0;
    if (inside && side == AWAY && near == AWAY && !two)
      side = FREE;
    if (side == near)
      regal_flow_join(&window->flow, 0, 2 + i, REGAL_FLOW_ENDLESS, 0);
    if (side != FREE && side != near)
      run = REGAL_FLOW_ENDLESS;
    if (run)
      regal_flow_join(&window->flow, 2 + i, 1, run, 0);
    if (i + 1 < window->size)
      join_outputs(window, i, &nodes);
  }
  uint64_t before = window->flow.work;
  int64_t load = regal_flow_run(&window->flow, window->effort);
  uint64_t spent = window->flow.work - before + window->flow.arcs;
  window->effort -= regal_smaller((int64_t)spent, (int64_t)window->effort);
  return load;
}

/* Whether no window lasts x or less. */
static bool is_too_short(regal_window *window, bool apart, int64_t x) {
  if (!choose_sides(window, apart, x) || forced_load(window, HERE, apart) > x)
    return true;
  /* away from a is one device only if there are two */
  bool two = window->problem->devices == 2;
  if (two && forced_load(window, AWAY, apart) > x)
    return true;
  if (window->problem->machine->overlapped)
    return false;
  if (cut_load(window, HERE) > x)
    return true;
  return apart && cut_load(window, AWAY) > x;
}

static int64_t shortest_window(regal_window *window, bool apart,
                               int64_t at_least) {
  int64_t bound = at_least, most = regal_larger(at_least, window->work);
  for (int i = 0; i < STEPS && bound < most && window->effort; i++) {
    int64_t x = i ? bound + (most - bound) / 2 : most - 1;
    if (is_too_short(window, apart, x))
      bound = x + 1;
    else
      most = x;
    window->effort -= regal_smaller(4 * window->size, (int64_t)window->effort);
  }
  return bound;
}

/* Whether the window may last no longer than `known`. */
static bool may_be_short(regal_window *window, bool apart, int64_t chain,
                         int64_t known) {
  return chain <= known && !is_too_short(window, apart, known);
}

regal_lag regal_window_bound(regal_window *window, int64_t known) {
  uint32_t last = window->size - 1;
  regal_lag lag = {window->member[0], window->member[last],
                   window->after_here[last], window->after_away[last]};
  if (may_be_short(window, false, lag.same, known) ||
      may_be_short(window, true, lag.apart, known))
    return lag;
  lag.same = shortest_window(window, false, lag.same);
  lag.apart = shortest_window(window, true, lag.apart);
  return lag;
}
