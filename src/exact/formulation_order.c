/* SPDX-License-Identifier: Apache-2.0 */
/* Clock and places together: two steps that use one device or link are in the
 * same order on both axes.
 *
 * That is all that ties them. A clock says nothing about the order of steps
 * that share nothing, and the plan's run time does not depend on it; memory may
 * (a transfer beside the ops of its devices, where transfers overlap).
 */
#include "exact/formulation.h"

typedef regal_formulation form;

/* With blocking transfers a transfer uses both its devices, else its link. */
uint32_t regal_exact_resources(const regal_formulation *formulation) {
  uint32_t d = formulation->devices;
  return formulation->problem->machine->overlapped ? d + d * d : d;
}

int32_t regal_exact_uses(const regal_formulation *formulation, uint32_t step,
                         uint32_t resource) {
  uint32_t d = formulation->devices, ops = formulation->problem->ops;
  if (step < ops)
    return resource < d ? formulation->on[(size_t)step * d + resource]
                        : REGAL_CP_FALSE;
  size_t at = step - ops;
  uint32_t to = (uint32_t)(at % d);
  if (!formulation->problem->machine->overlapped)
    return resource == to ? formulation->sent[at]
                          : formulation->leaves_if[at * d + resource];
  if (resource < d || (resource - d) % d != to)
    return REGAL_CP_FALSE;
  return formulation->leaves_if[at * d + (resource - d) / d];
}

/* later >= end of the transfer, when the condition holds. */
static void after_transfer(form *form, const regal_exact_axis *axis,
                           int32_t later, size_t at, int32_t condition) {
  regal_cp_model *model = &form->model;
  uint32_t d = form->devices, to = (uint32_t)(at % d);
  uint32_t tensor = (uint32_t)(at / d);
  bool alike = !axis->timed || form->problem->link_classes <= 1;
  int64_t gap = 0;
  regal_cp_begin(model, REGAL_CP_LINEAR);
  regal_cp_term(model, later, 1);
  regal_cp_term(model, axis->sent[at], -1);
  if (alike)
    gap = regal_exact_send(form, axis, tensor, !to, to);
  for (uint32_t from = 0; !alike && from < d; from++)
    if (from != to)
      regal_cp_literal_term(model, form->leaves_if[at * d + from],
                            -regal_exact_send(form, axis, tensor, from, to));
  regal_cp_end(model, gap, INT64_MAX, &condition, 1);
}

static void put_before(form *form, uint32_t first, uint32_t second,
                       int32_t condition) {
  const regal_exact_axis *axes[] = {&form->clock, &form->places};
  uint32_t ops = form->problem->ops;
  for (int i = 0; i < 2; i++) {
    int32_t later = regal_exact_start(form, axes[i], second);
    if (first < ops)
      regal_exact_after_op(form, axes[i], later, first, condition);
    else
      after_transfer(form, axes[i], later, first - ops, condition);
  }
}

static bool can_meet(const form *form, uint32_t a, uint32_t b) {
  for (uint32_t r = 0; r < regal_exact_resources(form); r++)
    if (regal_exact_uses(form, a, r) != REGAL_CP_FALSE &&
        regal_exact_uses(form, b, r) != REGAL_CP_FALSE)
      return true;
  return false;
}

/* If both use a resource, then one of them is first. */
static void add_pair(form *form, uint32_t a, uint32_t b) {
  regal_cp_model *model = &form->model;
  if (!can_meet(form, a, b) ||
      !REGAL_CP_RESERVE(model, form->pairs, form->pair_count, form->pair_room))
    return;
  int32_t first = regal_cp_literal(model), second = regal_cp_literal(model);
  form->pairs[form->pair_count++] = (regal_exact_pair){{a, b}, {first, second}};
  for (uint32_t r = 0; r < regal_exact_resources(form); r++) {
    int32_t clause[] = {first, second,
                        regal_cp_not(regal_exact_uses(form, a, r)),
                        regal_cp_not(regal_exact_uses(form, b, r))};
    regal_cp_clause(model, clause, 4);
  }
  put_before(form, a, b, first);
  put_before(form, b, a, second);
}

/* below[a * words + b / 64]: bit b when op b must come after op a. */
static void find_descendants(const regal_problem *problem, size_t words,
                             uint64_t *below) {
  for (uint32_t op = problem->ops; op-- > 0;) {
    uint64_t *row = below + op * words;
    for (REGAL_ROW(s, problem->successor_begin, op)) {
      uint32_t next = problem->successor[s];
      row[next / 64] |= UINT64_C(1) << next % 64;
      for (size_t w = 0; w < words; w++)
        row[w] |= below[next * words + w];
    }
  }
}

static bool is_below(const uint64_t *below, size_t words, uint32_t op,
                     uint32_t other) {
  return below[op * words + other / 64] >> other % 64 & 1;
}

/* Edges order the two on both axes already. Of transfers only those after an
 * op are looked for. */
static bool is_settled(const form *form, const uint64_t *below, size_t words,
                       uint32_t a, uint32_t b) {
  uint32_t ops = form->problem->ops;
  if (a >= ops)
    return false;
  if (b < ops)
    return is_below(below, words, a, b) || is_below(below, words, b, a);
  uint32_t producer = form->problem->producer[(b - ops) / form->devices];
  return a == producer || is_below(below, words, a, producer);
}

static bool is_step(const form *form, uint32_t step) {
  if (step < form->problem->ops)
    return true;
  size_t at = step - form->problem->ops;
  return form->sent[at] != REGAL_CP_FALSE && !regal_exact_is_twin(form, at);
}

void regal_formulate_order(regal_formulation *formulation) {
  const regal_problem *problem = formulation->problem;
  regal_cp_model *model = &formulation->model;
  uint32_t steps = problem->ops + problem->tensors * problem->devices;
  size_t words = problem->ops / 64 + 1;
  uint64_t *below =
      regal_alloc(model->context, problem->ops * words, sizeof *below);
  model->failed |= !below;
  if (below)
    find_descendants(problem, words, below);
  for (uint32_t b = 0; !model->failed && b < steps; b++)
    for (uint32_t a = 0; is_step(formulation, b) && a < b; a++)
      if (is_step(formulation, a) &&
          !is_settled(formulation, below, words, a, b))
        add_pair(formulation, a, b);
  regal_release(model->context, below);
}
