/* SPDX-License-Identifier: Apache-2.0 */
/* A constraint model as CP-SAT takes it, in flat arrays: variables, rows of
 * constraints, a goal to minimise, and a hint.
 *
 * A literal is a variable of 0 or 1, or -variable - 1 for its negation, as in
 * CP-SAT. Two literals are known beforehand: REGAL_CP_TRUE and its negation.
 * Constraints that these decide are left out or shortened as they are added, so
 * that callers need no special cases for what a problem fixes.
 *
 * Adding fails only when memory is out, or when the model outgrows its limit;
 * then `failed` stays set and everything added later is ignored, so that one
 * look at the end is enough.
 */
#ifndef REGAL_EXACT_CP_MODEL_H
#define REGAL_EXACT_CP_MODEL_H

#include "base/context.h"

#define REGAL_CP_TRUE INT32_C(0)
#define REGAL_CP_FALSE INT32_C(-1)
#define REGAL_CP_NONE INT32_MIN /* no variable */

typedef enum regal_cp_kind {
  REGAL_CP_CLAUSE,      /* one of `refs` at least */
  REGAL_CP_AT_MOST_ONE, /* of `refs` */
  REGAL_CP_EXACTLY_ONE, /* of `refs` */
  REGAL_CP_LINEAR,      /* low <= sum of coeffs * refs <= high */
  REGAL_CP_INTERVAL,    /* start, size, end: a variable or NONE, and offset */
  REGAL_CP_NO_OVERLAP,  /* of the intervals `refs` */
  REGAL_CP_CUMULATIVE,  /* demands `coeffs` of the intervals `refs`; low and
                           `capacity` add up to what there is */
} regal_cp_kind;

typedef struct regal_cp_row {
  int64_t range[2];       /* low, high */
  size_t begin, count;    /* in `refs` and `coeffs` */
  size_t enforced, wants; /* literals in `refs`: begin and count */
  int32_t capacity;
  regal_cp_kind kind;
} regal_cp_row;

typedef struct regal_cp_model {
  regal_context *context;
  int64_t (*domain)[2]; /* [variables] low, high */
  size_t variables, variable_room;
  regal_cp_row *rows;
  size_t row_count, row_room;
  int32_t *refs;
  int64_t *coeffs; /* beside refs */
  size_t ref_count, ref_room, coeff_room;
  int32_t *goal; /* [goal_count] the sum of these is minimised */
  size_t goal_count, goal_room;
  int64_t *hint; /* [variables], or NULL */
  size_t most_rows;
  bool failed, too_large;
} regal_cp_model;

/* Whether there is room for one more in an array that is built with the model;
 * when memory is out the model has failed. */
#define REGAL_CP_RESERVE(model, array, count, room)                            \
  (!((model)->failed |=                                                        \
     !REGAL_RESERVE((model)->context, (array), (count), (room))))

/* Holds nothing but the literal TRUE. */
void regal_cp_init(regal_cp_model *model, regal_context *context,
                   size_t most_rows);
void regal_cp_free(regal_cp_model *model);
/* REGAL_OK, or why the model is of no use. */
regal_status regal_cp_status(const regal_cp_model *model);

int32_t regal_cp_variable(regal_cp_model *model, int64_t low, int64_t high);
static inline int32_t regal_cp_literal(regal_cp_model *model) {
  return regal_cp_variable(model, 0, 1);
}
static inline int32_t regal_cp_not(int32_t literal) {
  return -literal - 1;
}
static inline bool regal_cp_holds(const int64_t *values, int32_t literal) {
  return literal >= 0 ? values[literal] : !values[regal_cp_not(literal)];
}
void regal_cp_minimise(regal_cp_model *model, int32_t variable);

/* A constraint is begun, gets its terms and conditions, and is ended. Between
 * the two nothing else may be added, except by regal_cp_variable. */
void regal_cp_begin(regal_cp_model *model, regal_cp_kind kind);
/* `coeff` times a variable, or times a literal's 0 or 1; or a literal of a
 * clause; or an interval with its demand. */
void regal_cp_term(regal_cp_model *model, int32_t ref, int64_t coeff);
void regal_cp_literal_term(regal_cp_model *model, int32_t literal,
                           int64_t coeff);
/* Returns the constraint's number, or NONE when it is left out. `conditions`
 * are the literals that it is for; the row holds when all are true. */
int32_t regal_cp_end(regal_cp_model *model, int64_t low, int64_t high,
                     const int32_t *conditions, size_t count);
/* The same for a cumulative constraint. */
int32_t regal_cp_end_capacity(regal_cp_model *model, int32_t capacity,
                              int64_t offset);

/* Shorthands. after: when all conditions hold, later >= earlier + gap; either
 * may be NONE, which is 0. */
void regal_cp_after(regal_cp_model *model, int32_t later, int32_t earlier,
                    int64_t gap, const int32_t *conditions, size_t count);
void regal_cp_clause(regal_cp_model *model, const int32_t *literals,
                     size_t count);
static inline void regal_cp_imply(regal_cp_model *model, int32_t if_this,
                                  int32_t then_that) {
  int32_t clause[] = {regal_cp_not(if_this), then_that};
  regal_cp_clause(model, clause, 2);
}
/* [start, start + size) where present holds; NONE when it cannot. */
int32_t regal_cp_interval(regal_cp_model *model, int32_t start, int64_t size,
                          int32_t present);
/* [start, end) with a variable size. */
int32_t regal_cp_span(regal_cp_model *model, int32_t start, int32_t size,
                      int32_t end, int32_t present);

/* The model in CP-SAT's own bytes; freed by regal_release. */
regal_status regal_cp_pack(const regal_cp_model *model, uint8_t **bytes,
                           size_t *size);

#endif
