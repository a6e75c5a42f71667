/* Memory along the axis: each tensor is on a device from the step that makes or
 * brings it to the end of its last local use, and what a device holds at any
 * time must fit.
 *
 * An output that takes over an input counts from the end of its op on; for
 * that, all other local uses of the input, and its transfers out, must have
 * ended when the op starts. Which output takes which input is left to the
 * solver: the model's rule (first fit) is one of its choices.
 */
#include "exact/formulation.h"

typedef regal_formulation form;

static int32_t on(const form *form, uint32_t op, uint32_t device) {
  return form->on[(size_t)op * form->devices + device];
}

static int64_t units(const form *form, int64_t bytes) {
  return bytes / form->unit_bytes;
}

/* -- Outputs over inputs ----------------------------------------------------
 */

/* While the op takes the input over on this device: the input's other uses
 * there are over. */
static void require_death(form *form, uint32_t op, uint32_t input,
                          int32_t taken, uint32_t device) {
  const regal_problem *problem = form->problem;
  regal_cp_model *model = &form->model;
  uint32_t d = form->devices, producer = problem->producer[input];
  int32_t here = on(form, op, device), home = on(form, producer, device);
  for (uint32_t u = problem->use_begin[input];
       u < problem->use_begin[input + 1]; u++) {
    uint32_t other = problem->consumer[u];
    int32_t conditions[] = {taken, here, on(form, other, device)};
    if (other != op && regal_exact_can_run(form, other, device))
      regal_cp_after(model, form->start[op], form->start[other],
                     regal_exact_run(form, other, device), conditions, 3);
  }
  for (uint32_t to = 0; to < d; to++) {
    size_t at = (size_t)input * d + to;
    int32_t conditions[] = {taken, here, home, form->sent[at]};
    if (to != device && form->sent[at] != REGAL_CP_FALSE &&
        home != REGAL_CP_FALSE)
      regal_cp_after(model, form->start[op], form->sent_start[at],
                     regal_exact_send(form, input, device, to), conditions, 4);
  }
  int32_t clause[] = {regal_cp_not(taken), regal_cp_not(here),
                      regal_cp_not(home)};
  if (problem->is_final[input])
    regal_cp_clause(model, clause, 3);
}

static regal_status add_reuse(form *form, uint32_t op, uint32_t output,
                              uint32_t input) {
  int32_t taken = regal_cp_literal(&form->model);
  if (!REGAL_RESERVE(form->model.context, form->reuse, form->reuse_count,
                     form->reuse_room))
    return regal_fail_memory(form->model.context);
  form->reuse[form->reuse_count++] = (regal_exact_reuse){output, input, taken};
  for (uint32_t a = 0; a < form->devices; a++)
    if (regal_exact_can_run(form, op, a))
      require_death(form, op, input, taken, a);
  return REGAL_OK;
}

static uint32_t key_of(const regal_exact_reuse *reuse, bool by_input) {
  return by_input ? reuse->input : reuse->output;
}

/* Each output takes one input at most, and the reverse. */
static void pair_off(form *form, size_t first, bool by_input) {
  for (size_t i = first; i < form->reuse_count; i++) {
    uint32_t key = key_of(&form->reuse[i], by_input);
    bool seen = false;
    for (size_t k = first; k < i && !seen; k++)
      seen = key_of(&form->reuse[k], by_input) == key;
    if (seen)
      continue;
    regal_cp_begin(&form->model, REGAL_CP_AT_MOST_ONE);
    for (size_t k = i; k < form->reuse_count; k++)
      if (key_of(&form->reuse[k], by_input) == key)
        regal_cp_term(&form->model, form->reuse[k].taken, 0);
    regal_cp_end(&form->model, 0, 0, NULL, 0);
  }
}

/* made[output] <= start of the op, or its end where an input is taken. */
static void delay_output(form *form, uint32_t op, uint32_t output,
                         size_t first) {
  regal_cp_model *model = &form->model;
  int32_t made = regal_cp_variable(model, form->head[op], form->horizon);
  int32_t any = regal_cp_literal(model); /* the next variable after `made` */
  int32_t none = regal_cp_not(any);
  form->made[output] = made;
  regal_cp_begin(model, REGAL_CP_CLAUSE);
  regal_cp_term(model, none, 0);
  for (size_t i = first; i < form->reuse_count; i++)
    regal_cp_term(model, form->reuse[i].taken, 0);
  regal_cp_end(model, 0, 0, NULL, 0);
  regal_cp_after(model, form->start[op], made, 0, &none, 1);
  for (uint32_t a = 0; a < form->devices; a++) {
    int32_t here = on(form, op, a);
    if (here != REGAL_CP_FALSE)
      regal_cp_after(model, form->start[op], made,
                     -regal_exact_run(form, op, a), &here, 1);
  }
}

static regal_status add_reuses(form *form) {
  const regal_problem *problem = form->problem;
  for (uint32_t op = 0; problem->reuses && op < problem->ops; op++) {
    size_t first = form->reuse_count;
    if (!problem->reuses[op])
      continue;
    for (uint32_t t = problem->output_begin[op];
         t < problem->output_begin[op + 1]; t++) {
      size_t before = form->reuse_count;
      if (!problem->may_reuse[t] || !problem->bytes[t])
        continue;
      for (uint32_t i = problem->input_begin[op];
           i < problem->input_begin[op + 1]; i++)
        if (problem->bytes[problem->input[i]] >= problem->bytes[t])
          REGAL_TRY(add_reuse(form, op, t, problem->input[i]));
      if (form->reuse_count > before)
        delay_output(form, op, t, before);
    }
    pair_off(form, first, false);
    pair_off(form, first, true);
  }
  return REGAL_OK;
}

/* -- Tensors ----------------------------------------------------------------
 */

static void imply(form *form, int32_t if_this, int32_t then_that) {
  int32_t clause[] = {regal_cp_not(if_this), then_that};
  regal_cp_clause(&form->model, clause, 2);
}

/* Whatever reads the tensor on the device. */
static void use_tensor(form *form, uint32_t tensor, uint32_t device,
                       size_t at) {
  const regal_problem *problem = form->problem;
  for (uint32_t u = problem->use_begin[tensor];
       u < problem->use_begin[tensor + 1]; u++) {
    uint32_t op = problem->consumer[u];
    int32_t here = on(form, op, device);
    if (here == REGAL_CP_FALSE)
      continue;
    imply(form, here, form->held[at]);
    regal_cp_after(&form->model, form->until[at], form->start[op],
                   regal_exact_run(form, op, device), &here, 1);
  }
}

/* The tensor where it is made: until it has left, and to the end if final. */
static void keep_home(form *form, uint32_t tensor, uint32_t device, size_t at) {
  const regal_problem *problem = form->problem;
  regal_cp_model *model = &form->model;
  uint32_t op = problem->producer[tensor], d = form->devices;
  int32_t home = on(form, op, device);
  int32_t made = form->made[tensor] == REGAL_CP_NONE ? form->start[op]
                                                     : form->made[tensor];
  imply(form, home, form->held[at]);
  regal_cp_after(model, made, form->from[at], 0, &home, 1);
  regal_cp_after(model, form->until[at], form->start[op],
                 regal_exact_run(form, op, device), &home, 1);
  if (problem->is_final[tensor])
    regal_cp_after(model, form->until[at], REGAL_CP_NONE, form->horizon, &home,
                   1);
  for (uint32_t to = 0; to < d; to++) {
    size_t route = (size_t)tensor * d + to;
    int32_t conditions[] = {home, form->sent[route]};
    if (to != device && form->sent[route] != REGAL_CP_FALSE)
      regal_cp_after(model, form->until[at], form->sent_start[route],
                     regal_exact_send(form, tensor, device, to), conditions, 2);
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
  form->held[at] = on(form, op, device) == REGAL_CP_TRUE
                       ? REGAL_CP_TRUE
                       : regal_cp_literal(model);
  form->from[at] = regal_cp_variable(model, form->head[op], form->horizon);
  form->until[at] = regal_cp_variable(model, form->head[op], form->horizon);
  form->length[at] = regal_cp_variable(model, 0, form->horizon);
  if (home)
    keep_home(form, tensor, device, at);
  use_tensor(form, tensor, device, at);
  if (sent)
    regal_cp_after(model, form->sent_start[at], form->from[at], 0,
                   &form->sent[at], 1);
}

/* -- Devices ----------------------------------------------------------------
 */

static void hold_parameters(form *form) {
  const regal_problem *problem = form->problem;
  for (uint32_t p = 0; p < problem->shared; p++)
    for (uint32_t a = 0; a < form->devices; a++) {
      int32_t hold =
          form->devices == 1 ? REGAL_CP_TRUE : regal_cp_literal(&form->model);
      form->hold[(size_t)p * form->devices + a] = hold;
      for (uint32_t r = problem->reader_begin[p];
           r < problem->reader_begin[p + 1]; r++)
        imply(form, on(form, problem->reader[r], a), hold);
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
    regal_cp_literal_term(model, on(form, op, device),
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
  form->room[device] = regal_cp_variable(model, 0, most);
  regal_cp_begin(model, REGAL_CP_CUMULATIVE);
  for (uint32_t t = 0; t < problem->tensors; t++)
    if (form->length[(size_t)t * d + device] != REGAL_CP_NONE) {
      regal_cp_term(model, first + 1, units(form, problem->bytes[t]));
      first += 2; /* a linear row and the interval */
    }
  for (uint32_t op = 0; op < problem->ops; op++)
    if (problem->graph->temporary_bytes[op])
      regal_cp_term(model, form->runs[(size_t)op * d + device],
                    units(form, problem->graph->temporary_bytes[op]));
  regal_cp_end_capacity(model, form->room[device], 0);
}

static void limit_device(form *form, uint32_t device, int64_t most) {
  regal_exact_goal goal = form->request.goal;
  int64_t limit = form->problem->limit[device];
  bool limited = limit != REGAL_UNLIMITED;
  if (goal != REGAL_EXACT_PEAK && !limited)
    return;
  fill_device(form, device, most);
  if (goal == REGAL_EXACT_PEAK)
    leave_room(form, device, form->peak, 0);
  if (goal == REGAL_EXACT_EXCESS) {
    form->excess[device] = regal_cp_variable(&form->model, 0, most);
    leave_room(form, device, form->excess[device], units(form, limit));
    regal_cp_minimise(&form->model, form->excess[device]);
  } else if (form->request.limits && limited) {
    leave_room(form, device, REGAL_CP_NONE, units(form, limit));
  }
}

regal_status regal_formulate_memory(regal_formulation *formulation,
                                    int64_t all_bytes) {
  const regal_problem *problem = formulation->problem;
  const regal_exact_request *request = &formulation->request;
  REGAL_TRY(add_reuses(formulation));
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
    limit_device(formulation, a, units(formulation, all_bytes));
  return REGAL_OK;
}
