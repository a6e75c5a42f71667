/* SPDX-License-Identifier: Apache-2.0 */
#include "support/cp_checker.h"

#include <stdlib.h>

#include "cp_sat.pb-c.h"

typedef struct checker {
  const Regal__Cp__Model *model;
  const int64_t *values;
} checker;

static bool holds(const checker *c, int32_t literal) {
  return literal >= 0 ? c->values[literal] == 1 : c->values[-literal - 1] == 0;
}

static int64_t value_of(const checker *c, const Regal__Cp__Expression *e) {
  int64_t sum = e->offset;
  for (size_t i = 0; i < e->n_vars; i++)
    sum += e->coeffs[i] * c->values[e->vars[i]];
  return sum;
}

static size_t count_true(const checker *c, const Regal__Cp__Literals *l) {
  size_t count = 0;
  for (size_t i = 0; i < l->n_literals; i++)
    count += holds(c, l->literals[i]);
  return count;
}

static bool linear_holds(const checker *c, const Regal__Cp__Linear *linear) {
  __int128 sum = 0;
  for (size_t i = 0; i < linear->n_vars; i++)
    sum += (__int128)linear->coeffs[i] * c->values[linear->vars[i]];
  return linear->n_domain == 2 && linear->n_coeffs == linear->n_vars &&
         sum >= linear->domain[0] && sum <= linear->domain[1];
}

typedef struct span {
  int64_t start, end, demand;
  bool present;
} span;

static span span_of(const checker *c, int32_t number) {
  const Regal__Cp__Constraint *row = c->model->constraints[number];
  span s = {value_of(c, row->interval->start), value_of(c, row->interval->end),
            0, true};
  for (size_t i = 0; i < row->n_enforcement_literal; i++)
    s.present &= holds(c, row->enforcement_literal[i]);
  return s;
}

static bool interval_holds(const checker *c, const Regal__Cp__Interval *i) {
  int64_t size = value_of(c, i->size);
  return size >= 0 && value_of(c, i->start) + size == value_of(c, i->end);
}

/* One ends before the other starts; so no step of no length is inside. */
static bool apart(span a, span b) {
  return !a.present || !b.present || a.end <= b.start || b.end <= a.start;
}

static bool no_overlap_holds(const checker *c, const Regal__Cp__NoOverlap *n) {
  for (size_t i = 0; i < n->n_intervals; i++)
    for (size_t k = 0; k < i; k++)
      if (!apart(span_of(c, n->intervals[i]), span_of(c, n->intervals[k])))
        return false;
  return true;
}

/* Use changes upwards only where something starts. */
static bool cumulative_holds(const checker *c, const Regal__Cp__Cumulative *m) {
  int64_t capacity = value_of(c, m->capacity);
  if (m->n_demands != m->n_intervals || capacity < 0)
    return false;
  for (size_t i = 0; i < m->n_intervals; i++) {
    span at = span_of(c, m->intervals[i]);
    int64_t use = 0;
    for (size_t k = 0; k < m->n_intervals; k++) {
      span s = span_of(c, m->intervals[k]);
      if (s.present && s.start <= at.start && at.start < s.end)
        use += value_of(c, m->demands[k]);
    }
    if (at.present && use > capacity)
      return false;
  }
  return true;
}

static bool row_holds(const checker *c, const Regal__Cp__Constraint *row) {
  for (size_t i = 0; i < row->n_enforcement_literal; i++)
    if (!holds(c, row->enforcement_literal[i]))
      return true;
  if (row->bool_or)
    return count_true(c, row->bool_or) > 0;
  if (row->at_most_one)
    return count_true(c, row->at_most_one) <= 1;
  if (row->exactly_one)
    return count_true(c, row->exactly_one) == 1;
  if (row->linear)
    return linear_holds(c, row->linear);
  if (row->interval)
    return interval_holds(c, row->interval);
  if (row->no_overlap)
    return no_overlap_holds(c, row->no_overlap);
  return row->cumulative && cumulative_holds(c, row->cumulative);
}

static long check(const checker *c, size_t count) {
  const Regal__Cp__Model *model = c->model;
  if (model->n_variables != count || !model->objective)
    return -3;
  for (size_t i = 0; i < count; i++)
    if (model->variables[i]->n_domain != 2 ||
        c->values[i] < model->variables[i]->domain[0] ||
        c->values[i] > model->variables[i]->domain[1])
      return -2;
  for (size_t i = 0; i < model->n_constraints; i++)
    if (!row_holds(c, model->constraints[i]))
      return (long)i;
  return -1;
}

long regal_test_cp_check(const uint8_t *bytes, size_t size,
                         const int64_t *values, size_t count) {
  checker c = {regal__cp__model__unpack(NULL, size, bytes), values};
  if (!c.model)
    return -3;
  long result = check(&c, count);
  regal__cp__model__free_unpacked((Regal__Cp__Model *)c.model, NULL);
  return result;
}
