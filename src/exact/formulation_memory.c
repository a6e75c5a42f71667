/* SPDX-License-Identifier: Apache-2.0 */
/* Memory along the places of the plan.
 *
 * Each tensor is on a device from the step that makes or brings it to the end
 * of its last local use: an interval from the producer's (or the transfer's)
 * place to a variable that is not before the end of any local reader, nor, at
 * home, of any transfer out. A cumulative constraint for each device holds
 * these intervals with their bytes, and the temporary bytes of ops; its
 * capacity is the room that resident bytes and shared parameters leave below
 * the peak. The peak is an objective, or at most the limit.
 *
 * Steps may share a place. Then all their memory counts together, which never
 * is less than in either order of them: no plan is lost, and no solution is
 * better than its plan. formulation_reuse.c has outputs written over inputs.
 *
 * Where the model has no places, a limit still holds for what needs none of
 * them: on each device the resident bytes, the parameters and the largest
 * working set of an op.
 */
#include "exact/formulation.h"

typedef regal_formulation form;

static int64_t units(const form *form, int64_t bytes) {
  return bytes / form->unit_bytes;
}

/* -- Tensors --------------------------------------------------------------- */

/* Whatever reads the tensor on the device. */
static void use_tensor(form *form, uint32_t tensor, uint32_t device,
                       size_t at) {
  const regal_problem *problem = form->problem;
  for (REGAL_ROW(u, problem->use_begin, tensor)) {
    uint32_t op = problem->consumer[u];
    int32_t here = regal_exact_on(form, op, device);
    if (here == REGAL_CP_FALSE)
      continue;
    regal_cp_imply(&form->model, here, form->held[at]);
    regal_cp_after(&form->model, form->until[at], form->places.start[op], 1,
                   &here, 1);
  }
}

/* The tensor where it is made: until it has left, and to the end if final. */
static void keep_home(form *form, uint32_t tensor, uint32_t device, size_t at) {
  const regal_problem *problem = form->problem;
  regal_cp_model *model = &form->model;
  uint32_t op = problem->producer[tensor], d = form->devices;
  int32_t home = regal_exact_on(form, op, device);
  int32_t made = form->made[tensor] == REGAL_CP_NONE ? form->places.start[op]
                                                     : form->made[tensor];
  regal_cp_imply(&form->model, home, form->held[at]);
  regal_cp_after(model, made, form->from[at], 0, &home, 1);
  regal_cp_after(model, form->until[at], form->places.start[op], 1, &home, 1);
  if (problem->is_final[tensor])
    regal_cp_after(model, form->until[at], REGAL_CP_NONE, form->places.horizon,
                   &home, 1);
  for (uint32_t to = 0; to < d; to++) {
    size_t route = (size_t)tensor * d + to;
    int32_t conditions[] = {home, form->sent[route]};
    if (to != device && form->sent[route] != REGAL_CP_FALSE)
      regal_cp_after(model, form->until[at], form->places.sent[route], 1,
                     conditions, 2);
  }
}

static void hold_tensor(form *form, uint32_t tensor, uint32_t device) {
  regal_cp_model *model = &form->model;
  size_t at = (size_t)tensor * form->devices + device;
  uint32_t op = form->problem->producer[tensor];
  bool home = regal_exact_can_run(form, op, device);
  bool sent = form->sent[at] != REGAL_CP_FALSE;
  if (!home && !sent)
    return;
  form->held[at] = regal_exact_on(form, op, device) == REGAL_CP_TRUE
                       ? REGAL_CP_TRUE
                       : regal_cp_literal(model);
  form->from[at] =
      regal_cp_variable(model, form->places.head[op], form->places.horizon);
  form->until[at] =
      regal_cp_variable(model, form->places.head[op], form->places.horizon);
  form->length[at] = regal_cp_variable(model, 0, form->places.horizon);
  if (home)
    keep_home(form, tensor, device, at);
  use_tensor(form, tensor, device, at);
  int32_t conditions[] = {form->sent[at],
                          regal_cp_not(regal_exact_on(form, op, device))};
  if (sent)
    regal_cp_after(model, form->places.sent[at], form->from[at], 0, conditions,
                   2);
}

/* -- Devices --------------------------------------------------------------- */

static void hold_parameters(form *form) {
  const regal_problem *problem = form->problem;
  for (uint32_t p = 0; p < problem->shared; p++)
    for (uint32_t a = 0; a < form->devices; a++) {
      int32_t hold =
          form->devices == 1 ? REGAL_CP_TRUE : regal_cp_literal(&form->model);
      form->hold[(size_t)p * form->devices + a] = hold;
      for (REGAL_ROW(r, problem->reader_begin, p))
        regal_cp_imply(&form->model,
                       regal_exact_on(form, problem->reader[r], a), hold);
    }
}

/* room + what is resident <= ceiling + offset. */
static void leave_room(form *form, uint32_t device, int32_t ceiling,
                       int64_t offset) {
  const regal_problem *problem = form->problem;
  regal_cp_model *model = &form->model;
  regal_cp_begin(model, REGAL_CP_LINEAR);
  regal_cp_term(model, form->room[device], 1);
  for (uint32_t op = 0; op < problem->ops; op++)
    regal_cp_literal_term(model, regal_exact_on(form, op, device),
                          units(form, problem->resident_bytes[op]));
  for (uint32_t p = 0; p < problem->shared; p++)
    regal_cp_literal_term(model, form->hold[(size_t)p * form->devices + device],
                          units(form, problem->shared_bytes[p]));
  regal_cp_term(model, ceiling, -1);
  regal_cp_end(model, INT64_MIN, offset, NULL, 0);
}

/* What is on the device at a time fits into its room. */
static void fill_device(form *form, uint32_t device, int64_t most) {
  const regal_problem *problem = form->problem;
  regal_cp_model *model = &form->model;
  uint32_t d = form->devices;
  int32_t first = (int32_t)model->row_count;
  for (uint32_t t = 0; t < problem->tensors; t++) {
    size_t at = (size_t)t * d + device;
    if (form->length[at] != REGAL_CP_NONE)
      regal_cp_span(model, form->from[at], form->length[at], form->until[at],
                    form->held[at]);
  }
  for (uint32_t op = 0; op < problem->ops; op++)
    if (problem->graph->temporary_bytes[op])
      regal_cp_interval(model, form->places.start[op], 1,
                        regal_exact_on(form, op, device));
  form->room[device] = regal_cp_variable(model, 0, most);
  regal_cp_begin(model, REGAL_CP_CUMULATIVE);
  for (uint32_t t = 0; t < problem->tensors; t++)
    if (form->length[(size_t)t * d + device] != REGAL_CP_NONE) {
      regal_cp_term(model, first + 1, units(form, problem->bytes[t]));
      first += 2; /* a linear row and the interval */
    }
  for (uint32_t op = 0; op < problem->ops; op++)
    if (problem->graph->temporary_bytes[op] &&
        regal_exact_can_run(form, op, device))
      regal_cp_term(model, first++,
                    units(form, problem->graph->temporary_bytes[op]));
  regal_cp_end_capacity(model, form->room[device], 0);
}

/* Within the limit; or beyond it by what is minimised or allowed. */
static void limit_device(form *form, uint32_t device, int64_t most) {
  const regal_exact_request *request = &form->request;
  int64_t limit = form->problem->limit[device];
  bool limited = limit != REGAL_UNLIMITED &&
                 (request->limits || request->goal == REGAL_EXACT_EXCESS);
  if (request->goal != REGAL_EXACT_PEAK && !limited)
    return;
  fill_device(form, device, most);
  if (request->goal == REGAL_EXACT_PEAK)
    leave_room(form, device, form->peak, 0);
  if (!limited)
    return;
  if (request->goal == REGAL_EXACT_EXCESS || request->excess)
    form->excess[device] = regal_cp_variable(&form->model, 0, most);
  leave_room(form, device, form->excess[device], units(form, limit));
  if (request->goal == REGAL_EXACT_EXCESS)
    regal_cp_minimise(&form->model, form->excess[device]);
}

static void limit_excess(form *form) {
  regal_cp_begin(&form->model, REGAL_CP_LINEAR);
  for (uint32_t a = 0; a < form->devices; a++)
    regal_cp_term(&form->model, form->excess[a], 1);
  regal_cp_end(&form->model, INT64_MIN, units(form, form->request.excess), NULL,
               0);
}

/* -- What is held, without the order of steps ------------------------------ */

int64_t regal_exact_working_set(const regal_problem *problem, uint32_t op) {
  int64_t bytes = regal_problem_working_set(problem, op);
  for (REGAL_ROW(t, problem->output_begin, op))
    if (problem->may_reuse[t])
      bytes -= problem->bytes[t];
  return bytes;
}

static void hold_on_device(form *form, uint32_t device) {
  const regal_problem *problem = form->problem;
  regal_cp_model *model = &form->model;
  form->room[device] =
      regal_cp_variable(model, 0, units(form, form->all_bytes));
  for (uint32_t op = 0; op < problem->ops; op++) {
    int32_t here = regal_exact_on(form, op, device);
    int64_t bytes = regal_exact_working_set(problem, op);
    if (here != REGAL_CP_FALSE)
      regal_cp_after(model, form->room[device], REGAL_CP_NONE,
                     units(form, bytes), &here, 1);
  }
  leave_room(form, device, REGAL_CP_NONE, units(form, problem->limit[device]));
}

void regal_formulate_held(regal_formulation *formulation) {
  hold_parameters(formulation);
  for (uint32_t a = 0; a < formulation->devices; a++)
    if (formulation->problem->limit[a] != REGAL_UNLIMITED)
      hold_on_device(formulation, a);
}

void regal_formulate_memory(regal_formulation *formulation) {
  const regal_problem *problem = formulation->problem;
  const regal_exact_request *request = &formulation->request;
  regal_formulate_reuse(formulation);
  for (uint32_t t = 0; t < problem->tensors; t++)
    for (uint32_t a = 0; problem->bytes[t] && a < formulation->devices; a++)
      hold_tensor(formulation, t, a);
  hold_parameters(formulation);
  if (request->goal == REGAL_EXACT_PEAK) {
    int64_t high = units(formulation, request->at_most);
    int64_t low = units(formulation, request->at_least);
    formulation->peak =
        regal_cp_variable(&formulation->model, low < high ? low : high, high);
    regal_cp_minimise(&formulation->model, formulation->peak);
  }
  for (uint32_t a = 0; a < formulation->devices; a++)
    limit_device(formulation, a, units(formulation, formulation->all_bytes));
  if (request->excess)
    limit_excess(formulation);
}
