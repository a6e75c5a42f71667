/* SPDX-License-Identifier: Apache-2.0 */
/* OR-tools' shared library, found and opened when it is needed. */
#ifndef REGAL_EXACT_LIBRARY_H
#define REGAL_EXACT_LIBRARY_H

#include "base/context.h"

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

#endif
