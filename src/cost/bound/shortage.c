/* SPDX-License-Identifier: Apache-2.0 */
/* Proofs that no plan is within the memory limits, cheapest first:
 *  - an op that fits no device that may run it, with the resident bytes and
 *    parameters that are there while it runs;
 *  - what ops that can run on one device only hold there;
 *  - what is too large for small devices is more than the larger ones have in
 *    all. With all devices, that is everything that is held;
 *  - of the k d + 1 largest of what cannot be split some device holds k + 1;
 *  - what is alive while some op runs, on all devices together.
 * The text says what is needed and what is there.
 */
#include <stdio.h>

#include "base/text.h"
#include "cost/bound/bound.h"
#include "cost/bound/held.h"
#include "cost/bound/parts.h"

/* Steps for the live set: about 10 ms. */
#define LIVE_EFFORT 5000000

typedef struct shortage {
  const regal_problem *problem;
  regal_held held;
  regal_wide *group; /* [ops] */
  regal_keyed *item; /* [ops + shared] */
  size_t items;
  regal_wide all;     /* limits of all devices */
  bool has_unlimited; /* then `all` is endless */
  int64_t largest;    /* limit */
  char *text;
  size_t size;
} shortage;

/* What is needed, in the units of the limit. */
static regal_shown show(regal_wide bytes, regal_wide limit) {
  int64_t given = limit < INT64_MAX ? (int64_t)limit : INT64_MAX;
  return regal_show_bytes_like(given,
                               bytes < INT64_MAX ? (int64_t)bytes : INT64_MAX);
}

static regal_shown show_limit(regal_wide limit) {
  return regal_show_given_bytes(limit < INT64_MAX ? (int64_t)limit : INT64_MAX);
}

/* The least that some device needs beyond its limit to run the op; 0 or less
 * if one needs nothing. *best is that device. */
static regal_wide lacks(const shortage *s, uint32_t op, uint32_t *best) {
  const regal_problem *problem = s->problem;
  regal_wide group = s->group[regal_problem_leader(problem, op)], least = 0;
  int64_t working_set = regal_held_working_set(problem, op);
  uint64_t devices = regal_is_restricted(problem, op)
                         ? problem->allowed[op]
                         : UINT64_C(1) << s->held.roomiest;
  *best = REGAL_NONE;
  for (uint64_t left = devices; left; left &= left - 1) {
    uint32_t a = (uint32_t)__builtin_ctzll(left);
    if (problem->limit[a] == REGAL_UNLIMITED)
      return 0;
    regal_wide lack = regal_held_beside(problem, &s->held, op, a, group) +
                      working_set - problem->limit[a];
    if (*best != REGAL_NONE && lack >= least)
      continue;
    least = lack;
    *best = a;
  }
  return least;
}

static bool lacks_for_an_op(shortage *s) {
  uint32_t worst = REGAL_NONE, at = 0, device;
  regal_wide most = 0;
  for (uint32_t op = 0; op < s->problem->ops; op++) {
    regal_wide lack = lacks(s, op, &device);
    if (lack <= most)
      continue;
    most = lack;
    worst = op;
    at = device;
  }
  if (worst == REGAL_NONE)
    return false;
  int64_t limit = s->problem->limit[at];
  snprintf(s->text, s->size,
           "op \"%.100s\" (id %u) needs %s on its device while it runs, the "
           "limit of "
           "%s is %s",
           regal_graph_name(s->problem->graph, worst),
           s->problem->graph->id[worst], show(most + limit, limit).text,
           regal_machine_label(s->problem->machine, at).text,
           show_limit(limit).text);
  return true;
}

static bool lacks_for_pins(shortage *s) {
  for (uint32_t a = 0; a < s->problem->devices; a++) {
    regal_wide needed = s->held.resident[a] + s->held.final[a];
    int64_t limit = s->problem->limit[a];
    if (limit == REGAL_UNLIMITED || needed <= limit)
      continue;
    snprintf(s->text, s->size,
             "ops that can run only on %s hold %s there, its limit is %s",
             regal_machine_label(s->problem->machine, a).text,
             show(needed, limit).text, show_limit(limit).text);
    return true;
  }
  return false;
}

static bool lacks_in_all(shortage *s, regal_wide needed, const char *what) {
  if (s->has_unlimited || needed <= s->all)
    return false;
  snprintf(s->text, s->size,
           "%s take at least %s, the limits of all devices together are %s",
           what, show(needed, s->all).text, show_limit(s->all).text);
  return true;
}

/* Items above `least` bytes go to devices with more than that. */
static bool lacks_for_large(shortage *s, int64_t least) {
  regal_wide there = 0, needed = 0;
  for (uint32_t a = 0; a < s->problem->devices; a++) {
    if (s->problem->limit[a] == REGAL_UNLIMITED)
      return false;
    there += s->problem->limit[a] > least ? s->problem->limit[a] : 0;
  }
  for (size_t i = s->items; i-- > 0 && s->item[i].key > least;)
    needed += s->item[i].key;
  if (needed <= there)
    return false;
  snprintf(s->text, s->size,
           "parameters and resident bytes in parts of more than %s each take "
           "%s, the devices with room for one have %s",
           show(least, there).text, show(needed, there).text,
           show_limit(there).text);
  return true;
}

static bool lacks_for_many(shortage *s) {
  int64_t needed = regal_bound_pigeonhole(s->item, s->items,
                                          s->problem->devices, s->largest);
  if (s->has_unlimited || needed <= s->largest)
    return false;
  snprintf(s->text, s->size,
           "some device must hold %s of parameters and resident bytes, the "
           "largest limit is %s",
           show(needed, s->largest).text, show_limit(s->largest).text);
  return true;
}

static bool is_short(shortage *s) {
  const regal_problem *problem = s->problem;
  if (lacks_for_an_op(s) || lacks_for_pins(s) ||
      lacks_in_all(s, s->held.all_resident + s->held.all_final,
                   "parameters, resident bytes and results"))
    return true;
  for (uint32_t a = 0; a < problem->devices; a++)
    if (lacks_for_large(s, problem->limit[a]))
      return true;
  return lacks_for_many(s);
}

static void sum_limits(shortage *s) {
  for (uint32_t a = 0; a < s->problem->devices; a++) {
    s->has_unlimited |= s->problem->limit[a] == REGAL_UNLIMITED;
    s->all += s->problem->limit[a];
    s->largest = regal_larger(s->largest, s->problem->limit[a]);
  }
}

static void layout(shortage *s, regal_carver *carver) {
  size_t n = s->problem->ops;
  s->group = regal_carve(carver, n, sizeof *s->group);
  s->item = regal_carve(carver, n + s->problem->shared, sizeof *s->item);
}

static regal_status look(regal_context *context, shortage *s, bool quick) {
  int64_t live;
  regal_held_find(s->problem, &s->held);
  regal_held_groups(s->problem, s->group);
  s->items = regal_held_items(s->problem, s->item);
  sum_limits(s);
  if (is_short(s) || quick || s->has_unlimited)
    return REGAL_OK;
  REGAL_TRY(regal_bound_live(context, s->problem, LIVE_EFFORT, &live));
  lacks_in_all(s, live + s->held.all_resident,
               "parameters and the tensors that are alive at one time");
  return REGAL_OK;
}

regal_status regal_bound_shortage(regal_context *context,
                                  const regal_problem *problem, bool quick,
                                  char *text, size_t size) {
  shortage s = {.problem = problem, .text = text, .size = size};
  text[0] = 0;
  if (!problem->limited)
    return REGAL_OK;
  regal_carver carver = {NULL, 0};
  REGAL_TRY(REGAL_CARVE_BLOCK(context, carver, layout(&s, &carver)));
  regal_status status = look(context, &s, quick);
  regal_release(context, carver.base);
  return status;
}
