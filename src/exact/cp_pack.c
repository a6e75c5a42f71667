/* SPDX-License-Identifier: Apache-2.0 */
/* Packs a model for CP-SAT. Messages are carved from one block and point into
 * the model's own arrays, so that nothing is copied before it is written.
 */
#include "base/carve.h"
#include "cp_sat.pb-c.h"
#include "exact/cp_model.h"

typedef union body {
  Regal__Cp__Literals literals;
  Regal__Cp__Linear linear;
  Regal__Cp__NoOverlap no_overlap;
  struct {
    Regal__Cp__Interval message;
    Regal__Cp__Expression part[3]; /* start, size, end */
  } interval;
  struct {
    Regal__Cp__Cumulative message;
    Regal__Cp__Expression capacity;
  } cumulative;
} body;

typedef struct packing {
  const regal_cp_model *model;
  Regal__Cp__Variable *variable;
  Regal__Cp__Variable **variables; /* [variables] */
  Regal__Cp__Constraint *constraint;
  Regal__Cp__Constraint **constraints; /* [rows] */
  body *bodies;                        /* [rows] */
  Regal__Cp__Expression *demand;
  Regal__Cp__Expression **demands; /* [demand_room] */
  size_t demand_room, demand_count;
  int64_t *ones;    /* [goal] */
  int32_t *numbers; /* [variables] */
} packing;

static int64_t one[1] = {1};

static size_t count_demands(const regal_cp_model *model) {
  size_t count = 0;
  for (size_t i = 0; i < model->row_count; i++)
    if (model->rows[i].kind == REGAL_CP_CUMULATIVE)
      count += model->rows[i].count;
  return count;
}

static void layout(packing *packing, regal_carver *carver) {
  const regal_cp_model *model = packing->model;
  size_t v = model->variables, r = model->row_count, d = packing->demand_room;
  packing->variable = regal_carve(carver, v, sizeof *packing->variable);
  packing->variables = regal_carve(carver, v, sizeof(void *));
  packing->constraint = regal_carve(carver, r, sizeof *packing->constraint);
  packing->constraints = regal_carve(carver, r, sizeof(void *));
  packing->bodies = regal_carve(carver, r, sizeof *packing->bodies);
  packing->demand = regal_carve(carver, d, sizeof *packing->demand);
  packing->demands = regal_carve(carver, d, sizeof(void *));
  packing->ones = regal_carve(carver, model->goal_count, sizeof(int64_t));
  packing->numbers = regal_carve(carver, v, sizeof *packing->numbers);
}

/* A variable, if any, and an offset. */
static void set_expression(Regal__Cp__Expression *expression, int32_t *variable,
                           int64_t offset) {
  regal__cp__expression__init(expression);
  if (*variable != REGAL_CP_NONE) {
    expression->n_vars = expression->n_coeffs = 1;
    expression->vars = variable;
    expression->coeffs = one;
  }
  expression->has_offset = offset != 0;
  expression->offset = offset;
}

static void set_literals(Regal__Cp__Constraint *constraint, body *body,
                         regal_cp_row *row, int32_t *refs) {
  regal__cp__literals__init(&body->literals);
  body->literals.n_literals = row->count;
  body->literals.literals = refs;
  if (row->kind == REGAL_CP_CLAUSE)
    constraint->bool_or = &body->literals;
  else if (row->kind == REGAL_CP_AT_MOST_ONE)
    constraint->at_most_one = &body->literals;
  else
    constraint->exactly_one = &body->literals;
}

static void set_linear(Regal__Cp__Constraint *constraint, body *body,
                       regal_cp_row *row, int32_t *refs, int64_t *coeffs) {
  regal__cp__linear__init(&body->linear);
  body->linear.n_vars = body->linear.n_coeffs = row->count;
  body->linear.vars = refs;
  body->linear.coeffs = coeffs;
  body->linear.n_domain = 2;
  body->linear.domain = row->range;
  constraint->linear = &body->linear;
}

static void set_interval(Regal__Cp__Constraint *constraint, body *body,
                         int32_t *refs, const int64_t *offsets) {
  Regal__Cp__Interval *interval = &body->interval.message;
  regal__cp__interval__init(interval);
  for (int i = 0; i < 3; i++)
    set_expression(&body->interval.part[i], &refs[i], offsets[i]);
  interval->start = &body->interval.part[0];
  interval->size = &body->interval.part[1];
  interval->end = &body->interval.part[2];
  constraint->interval = interval;
}

static void set_cumulative(packing *packing, Regal__Cp__Constraint *constraint,
                           body *body, regal_cp_row *row, int32_t *refs,
                           const int64_t *demands) {
  static int32_t none = REGAL_CP_NONE;
  Regal__Cp__Cumulative *cumulative = &body->cumulative.message;
  regal__cp__cumulative__init(cumulative);
  set_expression(&body->cumulative.capacity, &row->capacity, row->range[0]);
  cumulative->capacity = &body->cumulative.capacity;
  cumulative->n_intervals = cumulative->n_demands = row->count;
  cumulative->intervals = refs;
  cumulative->demands = &packing->demands[packing->demand_count];
  for (size_t i = 0; i < row->count; i++) {
    Regal__Cp__Expression *demand = &packing->demand[packing->demand_count];
    set_expression(demand, &none, demands[i]);
    packing->demands[packing->demand_count++] = demand;
  }
  constraint->cumulative = cumulative;
}

static void set_constraint(packing *packing, size_t number) {
  const regal_cp_model *model = packing->model;
  regal_cp_row *row = &model->rows[number];
  Regal__Cp__Constraint *constraint = &packing->constraint[number];
  body *body = &packing->bodies[number];
  int32_t *refs = model->refs + row->begin;
  int64_t *coeffs = model->coeffs + row->begin;
  regal__cp__constraint__init(constraint);
  packing->constraints[number] = constraint;
  constraint->n_enforcement_literal = row->wants;
  constraint->enforcement_literal = model->refs + row->enforced;
  switch (row->kind) {
  case REGAL_CP_CLAUSE:
  case REGAL_CP_AT_MOST_ONE:
  case REGAL_CP_EXACTLY_ONE:
    set_literals(constraint, body, row, refs);
    break;
  case REGAL_CP_LINEAR:
    set_linear(constraint, body, row, refs, coeffs);
    break;
  case REGAL_CP_INTERVAL:
    set_interval(constraint, body, refs, coeffs);
    break;
  case REGAL_CP_NO_OVERLAP:
    regal__cp__no_overlap__init(&body->no_overlap);
    body->no_overlap.n_intervals = row->count;
    body->no_overlap.intervals = refs;
    constraint->no_overlap = &body->no_overlap;
    break;
  case REGAL_CP_CUMULATIVE:
    set_cumulative(packing, constraint, body, row, refs, coeffs);
    break;
  }
}

static void set_variables(packing *packing, Regal__Cp__Model *message) {
  const regal_cp_model *model = packing->model;
  for (size_t i = 0; i < model->variables; i++) {
    regal__cp__variable__init(&packing->variable[i]);
    packing->variable[i].n_domain = 2;
    packing->variable[i].domain = model->domain[i];
    packing->variables[i] = &packing->variable[i];
    packing->numbers[i] = (int32_t)i;
  }
  message->n_variables = model->variables;
  message->variables = packing->variables;
}

static regal_status write_message(packing *packing, uint8_t **bytes,
                                  size_t *size) {
  const regal_cp_model *model = packing->model;
  Regal__Cp__Model message = REGAL__CP__MODEL__INIT;
  Regal__Cp__Objective objective = REGAL__CP__OBJECTIVE__INIT;
  Regal__Cp__Assignment hint = REGAL__CP__ASSIGNMENT__INIT;
  set_variables(packing, &message);
  for (size_t i = 0; i < model->row_count; i++)
    set_constraint(packing, i);
  message.n_constraints = model->row_count;
  message.constraints = packing->constraints;
  for (size_t i = 0; i < model->goal_count; i++)
    packing->ones[i] = 1;
  objective.n_vars = objective.n_coeffs = model->goal_count;
  objective.vars = model->goal;
  objective.coeffs = packing->ones;
  message.objective = &objective;
  if (model->hint) {
    hint.n_vars = hint.n_values = model->variables;
    hint.vars = packing->numbers;
    hint.values = model->hint;
    message.solution_hint = &hint;
  }
  *size = regal__cp__model__get_packed_size(&message);
  *bytes = regal_alloc(model->context, *size, 1);
  if (!*bytes)
    return regal_fail_memory(model->context);
  regal__cp__model__pack(&message, *bytes);
  return REGAL_OK;
}

regal_status regal_cp_pack(const regal_cp_model *model, uint8_t **bytes,
                           size_t *size) {
  packing packing = {.model = model, .demand_room = count_demands(model)};
  regal_carver carver = {NULL, 0};
  REGAL_TRY(
      REGAL_CARVE_BLOCK(model->context, carver, layout(&packing, &carver)));
  regal_status status = write_message(&packing, bytes, size);
  regal_release(model->context, carver.base);
  return status;
}
