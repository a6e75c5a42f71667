/* SPDX-License-Identifier: Apache-2.0 */
/* Building a model. Constraints whose conditions are known beforehand are
 * shortened or left out here, so that a formulation can be written without
 * special cases. Every array grows by doubling; the first failure is
 * remembered.
 */
#include "exact/cp_model.h"

void regal_cp_init(regal_cp_model *model, regal_context *context,
                   size_t most_rows) {
  *model = (regal_cp_model){.context = context, .most_rows = most_rows};
  regal_cp_variable(model, 1, 1); /* REGAL_CP_TRUE */
}

void regal_cp_free(regal_cp_model *model) {
  regal_release(model->context, model->domain);
  regal_release(model->context, model->rows);
  regal_release(model->context, model->refs);
  regal_release(model->context, model->coeffs);
  regal_release(model->context, model->goal);
  regal_release(model->context, model->hint);
  *model = (regal_cp_model){.context = model->context};
}

regal_status regal_cp_status(const regal_cp_model *model) {
  if (model->too_large)
    return regal_fail(model->context, REGAL_BAD_INPUT,
                      "cp-sat: the problem needs more than %zu constraints, "
                      "more than CP-SAT can use; try --method auto",
                      model->most_rows);
  return model->failed ? regal_fail_memory(model->context) : REGAL_OK;
}

int32_t regal_cp_variable(regal_cp_model *model, int64_t low, int64_t high) {
  if (!REGAL_CP_RESERVE(model, model->domain, model->variables,
                        model->variable_room))
    return REGAL_CP_TRUE;
  model->domain[model->variables][0] = low;
  model->domain[model->variables][1] = high;
  return (int32_t)model->variables++;
}

void regal_cp_minimise(regal_cp_model *model, int32_t variable) {
  if (REGAL_CP_RESERVE(model, model->goal, model->goal_count, model->goal_room))
    model->goal[model->goal_count++] = variable;
}

static void add_ref(regal_cp_model *model, int32_t ref, int64_t coeff) {
  if (!REGAL_CP_RESERVE(model, model->refs, model->ref_count,
                        model->ref_room) ||
      !REGAL_CP_RESERVE(model, model->coeffs, model->ref_count,
                        model->coeff_room))
    return;
  model->refs[model->ref_count] = ref;
  model->coeffs[model->ref_count++] = coeff;
}

void regal_cp_begin(regal_cp_model *model, regal_cp_kind kind) {
  if (model->row_count >= model->most_rows)
    model->failed = model->too_large = true;
  if (REGAL_CP_RESERVE(model, model->rows, model->row_count, model->row_room))
    model->rows[model->row_count] = (regal_cp_row){
        .begin = model->ref_count, .capacity = REGAL_CP_NONE, .kind = kind};
}

void regal_cp_term(regal_cp_model *model, int32_t ref, int64_t coeff) {
  if (ref != REGAL_CP_NONE)
    add_ref(model, ref, coeff);
}

/* What is known goes to the other side: the row's range counts from here. */
void regal_cp_literal_term(regal_cp_model *model, int32_t literal,
                           int64_t coeff) {
  if (model->failed || !coeff || literal == REGAL_CP_FALSE)
    return;
  regal_cp_row *row = &model->rows[model->row_count];
  if (literal == REGAL_CP_TRUE) {
    row->range[0] += coeff;
  } else if (literal >= 0) {
    add_ref(model, literal, coeff);
  } else { /* coeff * (1 - x) */
    row->range[0] += coeff;
    add_ref(model, regal_cp_not(literal), -coeff);
  }
}

/* Forgets the row that was begun. */
static int32_t leave_out(regal_cp_model *model) {
  model->ref_count = model->rows[model->row_count].begin;
  return REGAL_CP_NONE;
}

/* Takes known literals out of a clause or a choice; true when it says nothing
 * any more. */
static bool simplify_literals(regal_cp_model *model, regal_cp_row *row) {
  size_t kept = row->begin;
  bool satisfied = false;
  for (size_t i = row->begin; i < model->ref_count; i++) {
    int32_t literal = model->refs[i];
    satisfied |= literal == REGAL_CP_TRUE;
    if (literal != REGAL_CP_FALSE)
      model->refs[kept++] = literal;
  }
  model->ref_count = kept;
  size_t count = kept - row->begin;
  if (row->kind == REGAL_CP_CLAUSE)
    return satisfied;
  return row->kind == REGAL_CP_AT_MOST_ONE && count < 2;
}

static int64_t lower(int64_t bound, int64_t by) {
  return bound == INT64_MIN || bound == INT64_MAX ? bound : bound - by;
}

int32_t regal_cp_end(regal_cp_model *model, int64_t low, int64_t high,
                     const int32_t *conditions, size_t count) {
  if (model->failed)
    return REGAL_CP_NONE;
  regal_cp_row *row = &model->rows[model->row_count];
  if (row->kind <= REGAL_CP_EXACTLY_ONE && simplify_literals(model, row))
    return leave_out(model);
  if (row->kind >= REGAL_CP_NO_OVERLAP && row->begin == model->ref_count)
    return leave_out(model);
  int64_t known = row->range[0];
  row->range[0] = lower(low, known);
  row->range[1] = lower(high, known);
  row->count = model->ref_count - row->begin;
  row->enforced = model->ref_count;
  for (size_t i = 0; i < count; i++)
    if (conditions[i] == REGAL_CP_FALSE)
      return leave_out(model);
    else if (conditions[i] != REGAL_CP_TRUE)
      add_ref(model, conditions[i], 0);
  row->wants = model->ref_count - row->enforced;
  return model->failed ? REGAL_CP_NONE : (int32_t)model->row_count++;
}

int32_t regal_cp_end_capacity(regal_cp_model *model, int32_t capacity,
                              int64_t offset) {
  if (!model->failed)
    model->rows[model->row_count].capacity = capacity;
  return regal_cp_end(model, offset, 0, NULL, 0);
}

void regal_cp_after(regal_cp_model *model, int32_t later, int32_t earlier,
                    int64_t gap, const int32_t *conditions, size_t count) {
  regal_cp_begin(model, REGAL_CP_LINEAR);
  regal_cp_term(model, later, 1);
  regal_cp_term(model, earlier, -1);
  regal_cp_end(model, gap, INT64_MAX, conditions, count);
}

void regal_cp_clause(regal_cp_model *model, const int32_t *literals,
                     size_t count) {
  regal_cp_begin(model, REGAL_CP_CLAUSE);
  for (size_t i = 0; i < count; i++)
    regal_cp_term(model, literals[i], 0);
  regal_cp_end(model, 0, 0, NULL, 0);
}

int32_t regal_cp_interval(regal_cp_model *model, int32_t start, int64_t size,
                          int32_t present) {
  regal_cp_begin(model, REGAL_CP_INTERVAL);
  add_ref(model, start, 0);
  add_ref(model, REGAL_CP_NONE, size);
  add_ref(model, start, size);
  return regal_cp_end(model, 0, 0, &present, 1);
}

/* An interval does not tie its three parts together: a linear row must. */
int32_t regal_cp_span(regal_cp_model *model, int32_t start, int32_t size,
                      int32_t end, int32_t present) {
  regal_cp_begin(model, REGAL_CP_LINEAR);
  regal_cp_term(model, start, 1);
  regal_cp_term(model, size, 1);
  regal_cp_term(model, end, -1);
  regal_cp_end(model, 0, 0, &present, 1);
  regal_cp_begin(model, REGAL_CP_INTERVAL);
  add_ref(model, start, 0);
  add_ref(model, size, 0);
  add_ref(model, end, 0);
  return regal_cp_end(model, 0, 0, &present, 1);
}
