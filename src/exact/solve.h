/* SPDX-License-Identifier: Apache-2.0 */
/* One call of CP-SAT, watched: it ends when it has the answer, when its time is
 * up, or when the search should stop. */
#ifndef REGAL_EXACT_SOLVE_H
#define REGAL_EXACT_SOLVE_H

#include "exact/cp_model.h"
#include "search/search.h"

/* OR-tools' shared library, found and opened when it is needed. */
typedef void (*regal_cp_solve_fn)(const void *model, int model_size,
                                  const void *parameters, int parameters_size,
                                  void **response, int *response_size);
typedef void (*regal_cp_interruptible_fn)(void *environment, const void *model,
                                          int model_size,
                                          const void *parameters,
                                          int parameters_size, void **response,
                                          int *response_size);

/* Without `interruptible` a solve ends only by itself. */
typedef struct regal_cp_library {
  regal_cp_solve_fn solve;
  regal_cp_interruptible_fn interruptible; /* or NULL */
  void *(*create)(void);                   /* an environment */
  void (*stop)(void *environment);         /* from any thread */
  void (*destroy)(void *environment);
} regal_cp_library;

/* Looks at `path` (the option --ortools: a file, or a folder such as a virtual
 * environment) or, if it is empty, at the environment variable REGAL_ORTOOLS,
 * then where the system's loader looks, then where scripts/setup.sh puts it.
 * REGAL_BAD_INPUT when it is not there. It stays open until the program
 * ends. */
regal_status regal_cp_library_open(regal_context *context, const char *path,
                                   regal_cp_library *library);

typedef enum regal_cp_verdict {
  REGAL_CP_UNKNOWN = 0, /* neither a solution nor a proof that there is none */
  REGAL_CP_INVALID = 1,
  REGAL_CP_FEASIBLE = 2,
  REGAL_CP_INFEASIBLE = 3,
  REGAL_CP_OPTIMAL = 4,
} regal_cp_verdict;

typedef struct regal_cp_answer {
  regal_cp_verdict verdict;
  int64_t *values; /* [model's variables], or NULL; freed by regal_release */
  int64_t goal;    /* of the values */
  int64_t bound;   /* no solution has less; INT64_MIN: nothing is known */
} regal_cp_answer;

regal_status regal_cp_solve(regal_search *search,
                            const regal_cp_library *library,
                            const regal_cp_model *model, double seconds,
                            regal_cp_answer *answer);

/* What came back, for the model (exposed for tests). */
regal_status regal_cp_read_answer(const regal_cp_model *model,
                                  const void *bytes, size_t size,
                                  regal_cp_answer *answer);

#endif
