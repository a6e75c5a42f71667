/* SPDX-License-Identifier: Apache-2.0 */
/* Room up to the memory limits, followed through the moves that are kept: see
 * anneal/order/slack.h. The order has changed already when a move is followed;
 * positions are those after it.
 *
 * Where only part of what a move gives back is known, the rest stays taken
 * until the room is found again. test_order_within compares both after every
 * move.
 */
#include "anneal/order/slack.h"

#include <string.h>

/* Ops that change their device in a move that is followed; and positions that
 * are changed one by one. */
#define MOST_FLIPS 16
#define MOST_POSITIONS 2048

/* -- Room that is taken and given back ------------------------------------- */

static void lower(regal_order_slack *slack, uint32_t device, int64_t room) {
  if (room < slack->least[device])
    slack->least[device] = room;
}

static void take_everywhere(regal_order_slack *slack, uint32_t device,
                            int64_t bytes) {
  if (!regal_order_slack_is_limited(slack, device))
    return;
  slack->common[device] += bytes;
  slack->least[device] -= bytes;
}

/* At the positions first .. end - 1. */
static void take(regal_order_slack *slack, uint32_t device, uint32_t first,
                 uint32_t end, int64_t bytes) {
  int64_t *row = regal_order_slack_row(slack, device), least = INT64_MAX;
  if (first >= end || bytes == 0 ||
      !regal_order_slack_is_limited(slack, device))
    return;
  if (end - first > MOST_POSITIONS) {
    take_everywhere(slack, device, bytes);
    return;
  }
  for (uint32_t i = first; i < end; i++) {
    row[i] -= bytes;
    least = row[i] < least ? row[i] : least;
  }
  lower(slack, device, least - slack->common[device]);
}

static void give(regal_order_slack *slack, uint32_t device, uint32_t first,
                 uint32_t end, int64_t bytes) {
  int64_t *row = regal_order_slack_row(slack, device);
  if (!regal_order_slack_is_limited(slack, device) ||
      (end > first && end - first > MOST_POSITIONS))
    return;
  for (uint32_t i = first; i < end; i++)
    row[i] += bytes;
}

/* -- A shift --------------------------------------------------------------- */

/* An op that is shifted: from one position to another on a device, past those
 * at first .. end - 1 of the new order. */
typedef struct shift {
  uint32_t op, device, from, to;
  uint32_t first, end;
} shift;

/* Where the other readers of an input are. */
typedef struct others {
  bool before, behind; /* on the op's device: of all positions of the shift */
  bool behind_at_home;
} others;

static others find_others(const regal_order *order, const shift *s,
                          uint32_t tensor, uint32_t home) {
  const regal_problem *problem = order->problem;
  uint32_t low = s->from < s->to ? s->from : s->to;
  uint32_t high = s->from < s->to ? s->to : s->from;
  others found = {.behind_at_home = problem->is_final[tensor]};
  for (REGAL_ROW(u, problem->use_begin, tensor)) {
    uint32_t reader = problem->consumer[u], at = order->position[reader];
    uint32_t device = order->device_of[reader];
    if (reader == s->op)
      continue;
    found.before |= device == s->device && at < low;
    found.behind |= device == s->device && at > high;
    found.behind_at_home |= device == home && at > high;
  }
  return found;
}

/* An input is held for longer where nobody behind needs it, and at home where
 * this was the first to fetch it. While the op itself runs, it may be held
 * where it was not. */
static void read_later(regal_order_slack *slack, const shift *s,
                       uint32_t tensor) {
  const regal_order *order = slack->order;
  const regal_problem *problem = order->problem;
  uint32_t home = order->device_of[problem->producer[tensor]];
  int64_t bytes = problem->bytes[tensor];
  others found = find_others(order, s, tensor, home);
  if (home == s->device ? !found.behind_at_home : !found.behind)
    take(slack, s->device, s->first, s->end + 1, bytes);
  if (home != s->device && !found.behind_at_home && !found.before)
    take(slack, home, s->first, s->end + 1, bytes);
}

/* Overlapped transfers bring it when it is first read. */
static void read_sooner(regal_order_slack *slack, const shift *s,
                        uint32_t tensor) {
  const regal_order *order = slack->order;
  const regal_problem *problem = order->problem;
  uint32_t home = order->device_of[problem->producer[tensor]];
  if (problem->machine->overlapped && home != s->device &&
      !find_others(order, s, tensor, home).before)
    take(slack, s->device, s->to, s->end, problem->bytes[tensor]);
}

/* What the op makes is held from sooner or later on; where transfers may be
 * batched that goes for its copies, too. */
static void make_at(regal_order_slack *slack, const shift *s, uint32_t tensor,
                    bool later) {
  const regal_order *order = slack->order;
  const regal_problem *problem = order->problem;
  uint32_t d = problem->devices;
  int64_t bytes = problem->bytes[tensor];
  const uint32_t *readers = order->readers + (size_t)tensor * d;
  bool used = problem->use_begin[tensor + 1] > problem->use_begin[tensor] ||
              problem->is_final[tensor];
  if (bytes == 0)
    return;
  for (uint32_t a = 0; a < d; a++) {
    bool copied = readers[a] && !problem->machine->overlapped;
    if (a != s->device && !copied)
      continue;
    if (later && used)
      give(slack, a, s->first, s->end, bytes);
    if (later && !used)
      take(slack, a, s->to, s->to + 1, bytes);
    if (!later)
      take(slack, a, s->to, s->end, bytes);
  }
}

/* Room moves along with the ops that are passed. While the shifted op runs, it
 * is that of the neighbour that was not passed, less what is its own. */
static void rotate(regal_order_slack *slack, const shift *s, uint32_t device) {
  uint32_t ops = slack->order->problem->ops;
  int64_t *row = regal_order_slack_row(slack, device);
  bool later = s->from < s->to;
  uint32_t next = later ? s->to + 1 : s->to - 1; /* may wrap around */
  if (later)
    memmove(row + s->from, row + s->from + 1, (s->to - s->from) * 8);
  else
    memmove(row + s->to + 1, row + s->to, (s->from - s->to) * 8);
  row[s->to] = next < ops ? row[next] : row[later ? s->to - 1 : s->to + 1];
}

static void follow_shift(regal_order_slack *slack, const shift *s) {
  const regal_problem *problem = slack->order->problem;
  bool later = s->from < s->to;
  for (uint32_t a = 0; a < problem->devices; a++)
    if (regal_order_slack_is_limited(slack, a))
      rotate(slack, s, a);
  for (REGAL_ROW(i, problem->input_begin, s->op))
    if (problem->bytes[problem->input[i]])
      (later ? read_later : read_sooner)(slack, s, problem->input[i]);
  for (REGAL_ROW(t, problem->output_begin, s->op))
    make_at(slack, s, t, later);
  take(slack, s->device, s->to, s->to + 1,
       problem->graph->temporary_bytes[s->op]);
}

/* -- A change of device ---------------------------------------------------- */

/* An op that leaves a device for another; `alone` if no other op does. */
typedef struct change {
  uint32_t op, at, from, to;
  bool alone;
} change;

/* Positions of the readers of a tensor: of all; on the new device without the
 * op itself; on the old one. REGAL_NONE and 0: nobody. */
typedef struct reach {
  uint32_t first, last;
  uint32_t first_there, last_there;
  uint32_t first_left;
} reach;

static reach find_reach(const regal_order *order, const change *c,
                        uint32_t tensor) {
  const regal_problem *problem = order->problem;
  reach found = {REGAL_NONE, 0, REGAL_NONE, 0, REGAL_NONE};
  for (REGAL_ROW(u, problem->use_begin, tensor)) {
    uint32_t reader = problem->consumer[u], at = order->position[reader];
    found.first = at < found.first ? at : found.first;
    found.last = at > found.last ? at : found.last;
    if (order->device_of[reader] == c->from && at < found.first_left)
      found.first_left = at;
    if (reader == c->op || order->device_of[reader] != c->to)
      continue;
    found.first_there = at < found.first_there ? at : found.first_there;
    found.last_there = at > found.last_there ? at : found.last_there;
  }
  return found;
}

/* A copy that comes with its first reader. Others of the same move may be among
 * those that are there. */
static void fetch_late(regal_order_slack *slack, const change *c, reach by,
                       uint32_t made, int64_t bytes) {
  if (!c->alone)
    take(slack, c->to, made, by.last + 1, bytes);
  else if (by.first_there == REGAL_NONE)
    take(slack, c->to, c->at, c->at + 1, bytes);
  else if (c->at < by.first_there)
    take(slack, c->to, c->at, by.first_there, bytes);
  else
    take(slack, c->to, by.last_there + 1, c->at + 1, bytes);
}

/* The device that has made the tensor keeps it until the op, and until the next
 * reader on the device that it leaves: the op may have been the first one
 * there. */
static void keep_at_home(regal_order_slack *slack, const change *c, reach by,
                         uint32_t home, uint32_t made, int64_t bytes) {
  bool left = by.first_left == REGAL_NONE;
  uint32_t last = left || by.first_left < c->at ? c->at : by.first_left;
  bool there = home == c->to && by.last_there >= last;
  if (home != c->from && !there && !(home == c->to && left && c->alone))
    take(slack, home, made, last + 1, bytes);
}

/* On the new device the op is a reader more. On the old one a copy is known to
 * be of no more use if nobody else reads it there. */
static void follow_input(regal_order_slack *slack, const change *c,
                         uint32_t tensor) {
  const regal_order *order = slack->order;
  const regal_problem *problem = order->problem;
  bool overlapped = problem->machine->overlapped;
  int64_t bytes = problem->bytes[tensor];
  uint32_t producer = problem->producer[tensor];
  uint32_t home = order->device_of[producer];
  uint32_t made = order->position[producer];
  reach by = find_reach(order, c, tensor);
  keep_at_home(slack, c, by, home, made, bytes);
  if (overlapped && home != c->to)
    fetch_late(slack, c, by, made, bytes);
  else if (home != c->to && by.last_there < c->at)
    take(slack, c->to, made, c->at + 1, bytes);
  if (c->alone && by.first_left == REGAL_NONE && home != c->from && !overlapped)
    give(slack, c->from, made, c->at + 1, bytes);
}

/* The new device is the output's home. */
static void follow_output(regal_order_slack *slack, const change *c,
                          uint32_t tensor) {
  const regal_order *order = slack->order;
  const regal_problem *problem = order->problem;
  int64_t bytes = problem->bytes[tensor];
  reach by = find_reach(order, c, tensor);
  uint32_t last = by.last > c->at ? by.last : c->at;
  uint32_t first = by.first != REGAL_NONE ? by.first : c->at;
  if (problem->is_final[tensor])
    first = last = problem->ops - 1;
  take(slack, c->to, c->at, last + 1, bytes);
  if (c->alone && by.first_left == REGAL_NONE)
    give(slack, c->from, c->at, first + 1, bytes);
}

/* Exactly, and the same at all positions. */
static void follow_residents(regal_order_slack *slack, const change *c) {
  const uint32_t devices[] = {c->from, c->to};
  regal_residents_move(&slack->residents, slack->order->problem, c->op, c->from,
                       c->to, slack->resident);
  for (int i = 0; i < 2; i++) {
    take_everywhere(slack, devices[i], slack->resident[devices[i]]);
    slack->resident[devices[i]] = 0;
  }
}

static void follow_change(regal_order_slack *slack, const change *c) {
  const regal_problem *problem = slack->order->problem;
  int64_t temporary = problem->graph->temporary_bytes[c->op];
  for (REGAL_ROW(i, problem->input_begin, c->op))
    if (problem->bytes[problem->input[i]])
      follow_input(slack, c, problem->input[i]);
  for (REGAL_ROW(t, problem->output_begin, c->op))
    if (problem->bytes[t])
      follow_output(slack, c, t);
  follow_residents(slack, c);
  take(slack, c->to, c->at, c->at + 1, temporary);
  give(slack, c->from, c->at, c->at + 1, temporary);
}

/* -- A move ---------------------------------------------------------------- */

/* Whether some op changes its device twice. */
static bool returns(const regal_order *order) {
  for (uint32_t i = 1; i < order->flips; i++)
    for (uint32_t k = 0; k < i; k++)
      if (order->flipped[k] == order->flipped[i])
        return true;
  return false;
}

/* The shift comes first; then only the op itself may have changed its device
 * since. */
static bool can_follow(const regal_order *order) {
  bool shifted = order->shifted_from != order->shifted_to;
  if (!shifted || order->flips == 0)
    return order->flips <= MOST_FLIPS && !returns(order);
  return order->flips == 1 &&
         order->flipped[0] == order->op_at[order->shifted_to];
}

static shift shift_of(const regal_order *order) {
  uint32_t from = order->shifted_from, to = order->shifted_to;
  uint32_t op = order->op_at[to];
  return (shift){.op = op,
                 .device = order->flips ? order->flipped_from[0]
                                        : order->device_of[op],
                 .from = from,
                 .to = to,
                 .first = from < to ? from : to + 1,
                 .end = from < to ? to : from + 1};
}

bool regal_order_slack_follow(regal_order_slack *slack) {
  const regal_order *order = slack->order;
  if (!can_follow(order))
    return false;
  if (order->shifted_from != order->shifted_to) {
    shift s = shift_of(order);
    follow_shift(slack, &s);
  }
  for (uint32_t i = 0; i < order->flips; i++) {
    uint32_t op = order->flipped[i];
    change c = {op, order->position[op], order->flipped_from[i],
                order->device_of[op], order->flips == 1};
    follow_change(slack, &c);
  }
  for (uint32_t a = 0; a < order->problem->devices; a++)
    if (slack->least[a] <= 0)
      return false;
  return true;
}
