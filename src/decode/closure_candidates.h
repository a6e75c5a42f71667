/* SPDX-License-Identifier: Apache-2.0 */
/* Candidates: ops that can be reached within a few steps, each with its
 * closure, the ops that must still run for it, itself included; and which of
 * them leaves the fewest live bytes behind.
 *
 * A closure of one op sees only what is runnable; with a few more a decoder
 * sees that an op which costs memory lets another free far more. The score of
 * a candidate is the net change of live bytes, on whatever devices they are,
 * plus a number of the caller's. It depends only on the ops that have run;
 * after each closure only the candidates that it touched are scored again.
 *
 * Invariants between calls: the closure of an op that has not run is a subset
 * of what it was; closure[op].size is 0 where it is too large, or op has run;
 * the op's key in the tournament is its score, or infinity where size is 0.
 */
#ifndef REGAL_DECODE_CLOSURE_CANDIDATES_H
#define REGAL_DECODE_CLOSURE_CANDIDATES_H

#include "base/carve.h"
#include "cost/model/problem.h"

#define REGAL_MOST_ANCESTORS 4

typedef struct regal_closure {
  uint32_t size;
  uint32_t op[REGAL_MOST_ANCESTORS + 1]; /* ascending; the candidate is last */
} regal_closure;

/* The least of many keys, the first of equals, where several change at a time:
 * a tree of which every node has eight children. A change only marks the nodes
 * above; all are settled together, level by level, without a branch that
 * depends on a key. */
#define REGAL_TOURNAMENT_LEVELS 11 /* 8^11 is more than there can be */

typedef struct regal_closure_tournament {
  double *key[REGAL_TOURNAMENT_LEVELS]; /* of the players, then of winners */
  uint32_t *winner[REGAL_TOURNAMENT_LEVELS]; /* not of the players */
  uint64_t *stale[REGAL_TOURNAMENT_LEVELS];  /* bit per node */
  uint32_t nodes[REGAL_TOURNAMENT_LEVELS];
  int levels; /* the topmost has one node */
} regal_closure_tournament;

typedef struct regal_closure_candidates {
  /* Fixed for the problem. */
  uint32_t *before_begin; /* [ops+1] distinct ops that an op depends on */
  uint32_t *before;
  uint32_t *all_before; /* [ops] the exclusive or of them */
  int64_t *kept;        /* [ops] bytes of its outputs that outlive it */
  uint32_t *uses;       /* [tensors] consumers; many more if it is final */
  /* Of one chromosome. */
  const double *noise;    /* [ops] the caller's part of the scores */
  regal_closure *closure; /* [ops] */
  uint32_t *waiting;      /* [ops] of those before it that have not run */
  uint32_t *awaited;      /* [ops] the exclusive or of those: the last one */
  uint8_t *ran;           /* [ops] */
  uint32_t *left;         /* [tensors] uses to come */
  uint64_t *touched;      /* bit per op whose score may have changed */
  uint32_t first, last;   /* words of `touched` that may not be zero */
  uint64_t *tally;        /* [tensors] stamp << 8 | uses in a closure */
  uint64_t *met;          /* [ops] stamp of the closure it was put into */
  uint64_t stamp;
  regal_closure_tournament tournament;
} regal_closure_candidates;

void regal_closure_candidates_layout(regal_closure_candidates *candidates,
                                     regal_carver *carver,
                                     const regal_problem *problem);
void regal_closure_candidates_fill(regal_closure_candidates *candidates,
                                   const regal_problem *problem);

/* Nothing has run. `noise` is kept. */
void regal_closure_candidates_begin(regal_closure_candidates *candidates,
                                    const regal_problem *problem,
                                    const double *noise);
/* The closure of the best candidate; there must be an op that has not run. */
regal_closure
regal_closure_candidates_best(const regal_closure_candidates *candidates);
/* Says that the op, all it depends on having run, has run. */
void regal_closure_candidates_run(regal_closure_candidates *candidates,
                                  const regal_problem *problem, uint32_t op);
/* Scores again what the ops that have run touched; before the next best. */
void regal_closure_candidates_refresh(regal_closure_candidates *candidates,
                                      const regal_problem *problem);

#endif
