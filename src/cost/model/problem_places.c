/* SPDX-License-Identifier: Apache-2.0 */
/* Where ops may run: what their times, their pins and their groups leave; and
 * what is wrong where nothing is left.
 */
#include <string.h>

#include "cost/model/problem_parts.h"

/* Fails with "FILE: op ..."; a graph that comes from no file has no name. */
#define FAIL(problem, format, ...)                                             \
  regal_fail((problem)->context, REGAL_BAD_INPUT, "%s%s" format,               \
             (problem)->graph->source ? (problem)->graph->source : "",         \
             (problem)->graph->source ? ": " : "", __VA_ARGS__)

/* "conv1" (id 17), for messages. */
typedef struct label {
  char text[240];
} label;

static label op_label(const regal_problem *problem, uint32_t op) {
  label label;
  snprintf(label.text, sizeof label.text, "\"%.200s\" (id %u)",
           regal_graph_name(problem->graph, op), problem->graph->id[op]);
  return label;
}

static uint32_t pin_of(const regal_problem *problem, uint32_t op) {
  const uint32_t *pin = problem->machine->pin;
  return pin ? pin[op] : REGAL_NONE;
}

/* -- Each op alone --------------------------------------------------------- */

static regal_status check_pin(const regal_problem *problem, uint32_t op) {
  uint32_t pin = pin_of(problem, op);
  if (pin >= problem->devices)
    return FAIL(problem, "op %s is pinned to device %u, but the machine has %u",
                op_label(problem, op).text, pin, problem->devices);
  if (problem->allowed[op] >> pin & 1)
    return REGAL_OK;
  return FAIL(problem, "op %s is pinned to device %u, where it cannot run",
              op_label(problem, op).text, pin);
}

static regal_status allow_op(regal_problem *problem, uint32_t op) {
  uint64_t *allowed = &problem->allowed[op];
  for (uint32_t a = 0; a < problem->devices; a++)
    if (regal_problem_run_ns(problem, op, a) != REGAL_NEVER)
      *allowed |= UINT64_C(1) << a;
  if (!*allowed)
    return FAIL(problem, "op %s can run on no device",
                op_label(problem, op).text);
  if (pin_of(problem, op) == REGAL_NONE)
    return REGAL_OK;
  REGAL_TRY(check_pin(problem, op));
  *allowed = UINT64_C(1) << pin_of(problem, op);
  return REGAL_OK;
}

/* -- Groups ---------------------------------------------------------------- */

/* Two pinned ops of one group, or the general case: the op that left nothing,
 * and what it met. */
static regal_status fail_group(const regal_problem *problem, uint32_t op) {
  const uint32_t *leader = problem->leader;
  uint32_t pin = pin_of(problem, op);
  for (uint32_t other = 0; leader && other < op; other++) {
    uint32_t other_pin = pin_of(problem, other);
    if (leader[other] == leader[op] && pin != REGAL_NONE &&
        other_pin != REGAL_NONE && other_pin != pin)
      return FAIL(problem,
                  "op %s is pinned to device %u, but op %s of the same "
                  "group to device %u",
                  op_label(problem, op).text, pin,
                  op_label(problem, other).text, other_pin);
  }
  return FAIL(problem, "op %s and its group can run on no device",
              op_label(problem, op).text);
}

/* leader[op]: the first op of its group; first[group] keeps it meanwhile. */
static void find_leaders(const regal_problem *problem, uint32_t *first) {
  const uint32_t *group = problem->machine->group;
  memset(first, 0xff, problem->ops * sizeof *first);
  for (uint32_t op = 0; op < problem->ops; op++) {
    problem->leader[op] = op;
    if (group[op] == REGAL_NONE)
      continue;
    if (first[group[op]] == REGAL_NONE)
      first[group[op]] = op;
    problem->leader[op] = first[group[op]];
  }
}

static regal_status make_leaders(regal_problem *problem) {
  uint32_t *leader = regal_problem_own(problem, problem->ops, sizeof *leader);
  uint32_t *first = regal_alloc(problem->context, problem->ops, sizeof *first);
  problem->leader = leader;
  if (leader && first)
    find_leaders(problem, first);
  regal_release(problem->context, first);
  return leader && first ? REGAL_OK : regal_fail_memory(problem->context);
}

static regal_status intersect_groups(regal_problem *problem) {
  uint64_t *allowed = problem->allowed;
  REGAL_TRY(make_leaders(problem));
  for (uint32_t op = 0; op < problem->ops; op++) {
    uint32_t leader = problem->leader[op];
    allowed[leader] &= allowed[op];
    if (!allowed[leader])
      return fail_group(problem, op);
  }
  for (uint32_t op = 0; op < problem->ops; op++)
    allowed[op] = allowed[problem->leader[op]];
  return REGAL_OK;
}

regal_status regal_problem_find_places(regal_problem *problem) {
  uint64_t every = UINT64_MAX >> (64 - problem->devices);
  problem->allowed =
      regal_problem_own(problem, problem->ops, sizeof *problem->allowed);
  if (!problem->allowed)
    return regal_fail_memory(problem->context);
  for (uint32_t op = 0; op < problem->ops; op++)
    REGAL_TRY(allow_op(problem, op));
  if (problem->machine->group)
    REGAL_TRY(intersect_groups(problem));
  for (uint32_t op = 0; op < problem->ops; op++)
    problem->restricted |= problem->allowed[op] != every;
  return REGAL_OK;
}
