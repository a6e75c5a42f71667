/* SPDX-License-Identifier: Apache-2.0 */
/* Outputs written over inputs.
 *
 * An output that takes over an input counts from the end of its op on; for
 * that, all other local uses of the input, and its transfers out, must have
 * ended when the op starts. Which output takes which input is the rule of first
 * fit: a literal `taken` may hold only where the rule says so. It need not hold
 * there: that can only look worse.
 */
#include "exact/formulation.h"

typedef regal_formulation form;

/* While the op takes the input over on this device: the input's other uses
 * there are over. */
static void require_death(form *form, uint32_t op, uint32_t input,
                          int32_t taken, uint32_t device) {
  const regal_problem *problem = form->problem;
  regal_cp_model *model = &form->model;
  uint32_t d = form->devices, producer = problem->producer[input];
  int32_t here = regal_exact_on(form, op, device),
          home = regal_exact_on(form, producer, device);
  for (REGAL_ROW(u, problem->use_begin, input)) {
    uint32_t other = problem->consumer[u];
    int32_t conditions[] = {taken, here, regal_exact_on(form, other, device)};
    if (other != op && regal_exact_can_run(form, other, device))
      regal_cp_after(model, form->places.start[op], form->places.start[other],
                     1, conditions, 3);
  }
  for (uint32_t to = 0; to < d; to++) {
    size_t at = (size_t)input * d + to;
    int32_t conditions[] = {taken, here, home, form->sent[at]};
    if (to != device && form->sent[at] != REGAL_CP_FALSE &&
        home != REGAL_CP_FALSE)
      regal_cp_after(model, form->places.start[op], form->places.sent[at], 1,
                     conditions, 4);
  }
  int32_t clause[] = {regal_cp_not(taken), regal_cp_not(here),
                      regal_cp_not(home)};
  if (problem->is_final[input])
    regal_cp_clause(model, clause, 3);
}

static void add_reuse(form *form, uint32_t op, uint32_t output,
                      uint32_t input) {
  int32_t taken = regal_cp_literal(&form->model);
  if (!REGAL_CP_RESERVE(&form->model, form->reuse, form->reuse_count,
                        form->reuse_room))
    return;
  form->reuse[form->reuse_count++] = (regal_exact_reuse){output, input, taken};
  for (uint32_t a = 0; a < form->devices; a++)
    if (regal_exact_can_run(form, op, a))
      require_death(form, op, input, taken, a);
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
  int32_t made =
      regal_cp_variable(model, form->places.head[op], form->places.horizon);
  int32_t any = regal_cp_literal(model); /* the next variable after `made` */
  int32_t none = regal_cp_not(any);
  form->made[output] = made;
  regal_cp_begin(model, REGAL_CP_CLAUSE);
  regal_cp_term(model, none, 0);
  for (size_t i = first; i < form->reuse_count; i++)
    regal_cp_term(model, form->reuse[i].taken, 0);
  regal_cp_end(model, 0, 0, NULL, 0);
  regal_cp_after(model, form->places.start[op], made, 0, &none, 1);
  regal_cp_after(model, form->places.start[op], made, -1, NULL, 0);
}

/* -- First fit ------------------------------------------------------------- */

/* The literal implies that both are on one device. */
static void share_device(form *form, int32_t literal, uint32_t op,
                         uint32_t other) {
  for (uint32_t a = 0; a < form->devices; a++) {
    int32_t clause[] = {regal_cp_not(literal),
                        regal_cp_not(regal_exact_on(form, op, a)),
                        regal_exact_on(form, other, a)};
    regal_cp_clause(&form->model, clause, 3);
  }
}

static void add_life(form *form, regal_exact_life life) {
  const regal_problem *problem = form->problem;
  regal_cp_model *model = &form->model;
  uint32_t producer = problem->producer[life.input];
  int32_t start = form->places.start[life.op];
  if (!REGAL_CP_RESERVE(model, form->lives, form->life_count, form->life_room))
    return;
  life.literal = regal_cp_literal(model);
  form->lives[form->life_count++] = life;
  if (life.reader == REGAL_NONE) {
    share_device(form, life.literal, life.op, producer);
  } else if (life.to == REGAL_NONE) {
    share_device(form, life.literal, life.op, life.reader);
    regal_cp_after(model, form->places.start[life.reader], start, 1,
                   &life.literal, 1);
  } else {
    size_t at = (size_t)life.input * form->devices + life.to;
    share_device(form, life.literal, life.op, producer);
    regal_cp_imply(&form->model, life.literal,
                   regal_exact_on(form, life.reader, life.to));
    regal_cp_imply(&form->model, life.literal,
                   regal_cp_not(regal_exact_on(form, producer, life.to)));
    regal_cp_after(model, form->places.sent[at], start, 1, &life.literal, 1);
  }
}

/* Why the op's input may have to live on where the op runs. */
static void add_lives(form *form, uint32_t op, uint32_t input) {
  const regal_problem *problem = form->problem;
  if (problem->is_final[input])
    add_life(form, (regal_exact_life){op, input, REGAL_NONE, REGAL_NONE, 0});
  for (REGAL_ROW(u, problem->use_begin, input)) {
    uint32_t reader = problem->consumer[u];
    if (reader == op)
      continue;
    add_life(form, (regal_exact_life){op, input, reader, REGAL_NONE, 0});
    for (uint32_t to = 0; to < form->devices; to++)
      if (form->sent[(size_t)input * form->devices + to] != REGAL_CP_FALSE &&
          regal_exact_can_run(form, reader, to))
        add_life(form, (regal_exact_life){op, input, reader, to, 0});
  }
}

static bool has_lives(const form *form, uint32_t op, uint32_t input) {
  for (size_t i = form->life_count; i-- > 0 && form->lives[i].op == op;)
    if (form->lives[i].input == input)
      return true;
  return false;
}

/* The output passes over an input that would fit: an earlier output has it, or
 * it lives on. */
static void pass_over(form *form, uint32_t op, size_t first, size_t number,
                      uint32_t input) {
  const regal_exact_reuse *reuse = form->reuse;
  regal_cp_model *model = &form->model;
  if (!has_lives(form, op, input))
    add_lives(form, op, input);
  regal_cp_begin(model, REGAL_CP_CLAUSE);
  regal_cp_term(model, regal_cp_not(reuse[number].taken), 0);
  for (size_t k = first; reuse[k].output != reuse[number].output; k++)
    if (reuse[k].input == input)
      regal_cp_term(model, reuse[k].taken, 0);
  for (size_t i = form->life_count; i-- > 0 && form->lives[i].op == op;)
    if (form->lives[i].input == input)
      regal_cp_term(model, form->lives[i].literal, 0);
  regal_cp_end(model, 0, 0, NULL, 0);
}

/* An earlier output that would fit there, too, has taken one before it. */
static void leave_to(form *form, size_t first, size_t number, size_t earlier) {
  const regal_exact_reuse *reuse = form->reuse;
  regal_cp_model *model = &form->model;
  regal_cp_begin(model, REGAL_CP_CLAUSE);
  regal_cp_term(model, regal_cp_not(reuse[number].taken), 0);
  for (size_t k = first; k < earlier; k++)
    if (reuse[k].output == reuse[earlier].output)
      regal_cp_term(model, reuse[k].taken, 0);
  regal_cp_end(model, 0, 0, NULL, 0);
}

/* The op's pairs, from `first` on, are by output and then by input, in the
 * order of the rule. */
static void fit_first(form *form, uint32_t op, size_t first) {
  for (size_t i = first; i < form->reuse_count; i++)
    for (size_t k = first; k < i; k++)
      if (form->reuse[k].output == form->reuse[i].output)
        pass_over(form, op, first, i, form->reuse[k].input);
      else if (form->reuse[k].input == form->reuse[i].input)
        leave_to(form, first, i, k);
}

void regal_formulate_reuse(regal_formulation *form) {
  const regal_problem *problem = form->problem;
  for (uint32_t op = 0; problem->reuses && op < problem->ops; op++) {
    size_t first = form->reuse_count;
    if (!problem->reuses[op])
      continue;
    for (REGAL_ROW(t, problem->output_begin, op)) {
      size_t before = form->reuse_count;
      if (!problem->may_reuse[t] || !problem->bytes[t])
        continue;
      for (REGAL_ROW(i, problem->input_begin, op))
        if (problem->bytes[problem->input[i]] >= problem->bytes[t])
          add_reuse(form, op, t, problem->input[i]);
      if (form->reuse_count > before)
        delay_output(form, op, t, before);
    }
    pair_off(form, first, false);
    pair_off(form, first, true);
    fit_first(form, op, first);
  }
}
