/* SPDX-License-Identifier: Apache-2.0 */
/* The clock: what must not overlap, and when all of it ends.
 *
 * Each op is an interval for every device that it may be on, present where its
 * literal holds; a transfer is an interval for each route. A no-overlap
 * constraint for each device holds the ops, and, where transfers block, the
 * transfers that leave from or arrive at it; where they overlap each link has
 * one of its own. The makespan is not before the end of any op. Where devices
 * are alike, a redundant cumulative constraint over all of them (no more ops at
 * a time than devices) strengthens the solver's bound.
 */
#include "base/compare.h"
#include "exact/formulation.h"

typedef regal_formulation form;

/* -- What must not overlap ------------------------------------------------- */

/* The literal that the transfer starts from the device. */
static int32_t leaves_if(form *form, uint32_t tensor, uint32_t to,
                         uint32_t from) {
  size_t at = (size_t)tensor * form->devices + to;
  uint32_t producer = form->problem->producer[tensor];
  int32_t home = regal_exact_on(form, producer, from);
  if (form->devices == 2 || home == REGAL_CP_TRUE)
    return form->sent[at];
  if (home == REGAL_CP_FALSE)
    return REGAL_CP_FALSE;
  int32_t literal = regal_cp_literal(&form->model);
  int32_t clause[] = {literal, regal_cp_not(home),
                      regal_cp_not(form->sent[at])};
  regal_cp_clause(&form->model, clause, 3);
  return literal;
}

static void add_transfer_intervals(form *form, uint32_t tensor, uint32_t to) {
  const regal_problem *problem = form->problem;
  uint32_t d = form->devices;
  size_t at = (size_t)tensor * d + to;
  if (form->sent[at] == REGAL_CP_FALSE || regal_exact_is_twin(form, at))
    return;
  if (d > 2 && problem->link_classes <= 1 && !problem->machine->overlapped)
    form->arrives[at] = regal_cp_interval(
        &form->model, form->clock.sent[at],
        regal_exact_send(form, &form->clock, tensor, !to, to), form->sent[at]);
  for (uint32_t from = 0; from < d; from++) {
    if (from == to)
      continue;
    size_t route = at * d + from;
    form->leaves_if[route] = leaves_if(form, tensor, to, from);
    form->leaves[route] = regal_cp_interval(
        &form->model, form->clock.sent[at],
        regal_exact_send(form, &form->clock, tensor, from, to),
        form->leaves_if[route]);
  }
}

/* The transfers from or to the device. */
static void add_device_transfers(form *form, uint32_t device) {
  uint32_t d = form->devices;
  for (uint32_t t = 0; t < form->problem->tensors; t++)
    for (uint32_t to = 0; to < d; to++) {
      size_t at = (size_t)t * d + to;
      if (to != device)
        regal_cp_term(&form->model, form->leaves[at * d + device], 0);
      else if (form->arrives[at] != REGAL_CP_NONE)
        regal_cp_term(&form->model, form->arrives[at], 0);
      else
        for (uint32_t from = 0; from < d; from++)
          regal_cp_term(&form->model, form->leaves[at * d + from], 0);
    }
}

static void separate_links(form *form) {
  uint32_t d = form->devices;
  for (uint32_t from = 0; from < d; from++)
    for (uint32_t to = 0; to < d; to++) {
      if (from == to)
        continue;
      regal_cp_begin(&form->model, REGAL_CP_NO_OVERLAP);
      for (uint32_t t = 0; t < form->problem->tensors; t++)
        regal_cp_term(&form->model,
                      form->leaves[((size_t)t * d + to) * d + from], 0);
      regal_cp_end(&form->model, 0, 0, NULL, 0);
    }
}

static void separate_steps(form *form) {
  const regal_problem *problem = form->problem;
  regal_cp_model *model = &form->model;
  uint32_t d = form->devices;
  bool overlapped = problem->machine->overlapped;
  for (uint32_t t = 0; t < problem->tensors; t++)
    for (uint32_t to = 0; to < d; to++)
      add_transfer_intervals(form, t, to);
  for (uint32_t a = 0; a < d; a++) {
    regal_cp_begin(model, REGAL_CP_NO_OVERLAP);
    for (uint32_t op = 0; op < problem->ops; op++)
      regal_cp_term(model, form->runs[(size_t)op * d + a], 0);
    if (!overlapped)
      add_device_transfers(form, a);
    regal_cp_end(model, 0, 0, NULL, 0);
  }
  if (overlapped)
    separate_links(form);
}

static void add_intervals(form *form) {
  uint32_t d = form->devices;
  for (uint32_t op = 0; op < form->problem->ops; op++)
    for (uint32_t a = 0; a < d; a++)
      if (regal_exact_can_run(form, op, a))
        form->runs[(size_t)op * d + a] =
            regal_cp_interval(&form->model, form->clock.start[op],
                              regal_exact_run(form, &form->clock, op, a),
                              form->on[(size_t)op * d + a]);
}

/* Says nothing new, but lets the solver see all devices at once. */
static void share_devices(form *form) {
  const regal_problem *problem = form->problem;
  regal_cp_model *model = &form->model;
  if (problem->run_step || form->devices < 2)
    return;
  int32_t first = REGAL_CP_NONE;
  for (uint32_t op = 0; op < problem->ops; op++) {
    int32_t interval = regal_cp_interval(
        model, form->clock.start[op],
        regal_exact_run(form, &form->clock, op, 0), REGAL_CP_TRUE);
    first = op ? first : interval;
  }
  regal_cp_begin(model, REGAL_CP_CUMULATIVE);
  for (uint32_t op = 0; op < problem->ops; op++)
    regal_cp_term(model, first + (int32_t)op, 1);
  regal_cp_end_capacity(model, REGAL_CP_NONE, form->devices);
}

static void minimise_makespan(form *form) {
  const regal_problem *problem = form->problem;
  int64_t least = form->request.at_least / form->unit_ns;
  form->makespan =
      regal_cp_variable(&form->model, regal_smaller(least, form->clock.horizon),
                        form->clock.horizon);
  for (uint32_t op = 0; op < problem->ops; op++)
    if (problem->successor_begin[op] == problem->successor_begin[op + 1])
      regal_exact_after_op(form, &form->clock, form->makespan, op,
                           REGAL_CP_TRUE);
  regal_cp_minimise(&form->model, form->makespan);
}

void regal_formulate_time(regal_formulation *formulation) {
  add_intervals(formulation);
  separate_steps(formulation);
  share_devices(formulation);
  minimise_makespan(formulation);
}
