/* SPDX-License-Identifier: Apache-2.0 */
/* Stages along the axis of units. Devices take turns: one after the other (the
 * stages of a pipeline), several times over (interleaved), or back and forth (V
 * shapes, where the last device of a turn is the first of the next).
 *
 * A stage takes units as long as its work and what its device holds for the
 * whole plan stay within bounds; the least bound on work with which all units
 * find a place is found by bisection. A unit that the device cannot run goes to
 * the least busy one that can.
 */
#include <string.h>

#include "heuristic/place/units.h"

#define BISECTIONS 24

typedef struct staging {
  const regal_units *units;
  const regal_stage_pattern *pattern;
  uint32_t *device; /* [units] */
  double *unit_ns;  /* [units * columns] */
  uint32_t columns; /* devices, or 1 where they are alike */
  double load_ns[REGAL_MAX_DEVICES];
  double held[REGAL_MAX_DEVICES];
} staging;

static uint32_t device_of_stage(const staging *s, uint32_t stage) {
  uint32_t d = s->units->problem->devices;
  bool back = s->pattern->turns_back && stage / d % 2;
  return back ? d - 1 - stage % d : stage % d;
}

static double unit_ns(const staging *s, uint32_t unit, uint32_t device) {
  return s->unit_ns[(size_t)unit * s->columns + (s->columns > 1 ? device : 0)];
}

static bool has_room(const staging *s, uint32_t unit, uint32_t device) {
  int64_t limit = s->units->problem->limit[device];
  return limit == REGAL_UNLIMITED ||
         s->held[device] + (double)s->units->bytes[unit] <=
             s->pattern->memory * (double)limit;
}

static void put(staging *s, uint32_t unit, uint32_t device) {
  s->device[unit] = device;
  s->load_ns[device] += unit_ns(s, unit, device);
  s->held[device] += (double)s->units->bytes[unit];
}

/* Where nobody's turn decides. */
static void put_anywhere(staging *s, uint32_t unit) {
  uint64_t left = s->units->allowed[unit];
  uint32_t best = (uint32_t)__builtin_ctzll(left);
  for (; left; left &= left - 1) {
    uint32_t device = (uint32_t)__builtin_ctzll(left);
    bool roomy = has_room(s, unit, device), had = has_room(s, unit, best);
    if (roomy > had || (roomy == had && s->load_ns[device] < s->load_ns[best]))
      best = device;
  }
  put(s, unit, best);
}

/* Whether all units find a place when no stage has more work than this. */
static bool assign(staging *s, double most_ns) {
  const regal_units *units = s->units;
  uint32_t stages = units->problem->devices * s->pattern->turns, stage = 0;
  double load = 0;
  memset(s->load_ns, 0, sizeof s->load_ns);
  memset(s->held, 0, sizeof s->held);
  for (uint32_t k = 0; k < units->count; k++) {
    uint32_t unit = units->by_place[k], at = stage;
    double used = load;
    while (at < stages) {
      uint32_t device = device_of_stage(s, at);
      bool able = units->allowed[unit] >> device & 1;
      if (!able || (has_room(s, unit, device) &&
                    (used == 0 || used + unit_ns(s, unit, device) <= most_ns)))
        break;
      at++;
      used = 0;
    }
    if (at == stages)
      return false;
    uint32_t device = device_of_stage(s, at);
    if (!(units->allowed[unit] >> device & 1)) {
      put_anywhere(s, unit);
      continue;
    }
    stage = at;
    load = used + unit_ns(s, unit, device);
    put(s, unit, device);
  }
  return true;
}

static void add_work(staging *s) {
  const regal_problem *problem = s->units->problem;
  for (uint32_t op = 0; op < problem->ops; op++)
    for (uint32_t a = 0; a < s->columns; a++) {
      int64_t ns = regal_problem_run_ns(problem, op, a);
      s->unit_ns[(size_t)s->units->unit[op] * s->columns + a] +=
          ns == REGAL_NEVER ? 0 : (double)ns;
    }
}

static bool find_stages(staging *s) {
  double low = 0, high = 1;
  for (uint32_t unit = 0; unit < s->units->count; unit++)
    for (uint32_t a = 0; a < s->columns; a++)
      high += s->unit_ns[(size_t)unit * s->columns + a];
  if (!assign(s, high))
    return false;
  for (uint32_t k = 0; k < BISECTIONS; k++) {
    double middle = (low + high) / 2;
    if (assign(s, middle))
      high = middle;
    else
      low = middle;
  }
  return assign(s, high);
}

regal_status regal_units_place(const regal_units *units,
                               const regal_stage_pattern *pattern,
                               uint8_t *placement, bool *found) {
  const regal_problem *problem = units->problem;
  staging s = {.units = units,
               .pattern = pattern,
               .columns = problem->run_step ? problem->devices : 1};
  s.device = regal_alloc(units->context, units->count, sizeof *s.device);
  s.unit_ns = regal_alloc(units->context, (size_t)units->count * s.columns,
                          sizeof *s.unit_ns);
  bool had = s.device && s.unit_ns;
  if (had) {
    add_work(&s);
    *found = find_stages(&s);
    for (uint32_t op = 0; *found && op < problem->ops; op++)
      placement[op] = (uint8_t)s.device[units->unit[op]];
  }
  regal_release(units->context, s.unit_ns);
  regal_release(units->context, s.device);
  return had ? REGAL_OK : regal_fail_memory(units->context);
}
