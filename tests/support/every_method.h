/* SPDX-License-Identifier: Apache-2.0 */
/* For tests that run every method of the table. */
#ifndef REGAL_TESTS_EVERY_METHOD_H
#define REGAL_TESTS_EVERY_METHOD_H

#include <string.h>

#include "evolve/proposer.h"

#include "api/methods.h"

/* Whether it needs a pipeline graph (tests/unit/test_pipelines.c). */
static inline bool is_for_pipelines(const char *method) {
  return !strcmp(method, "gpipe") || !strcmp(method, "1f1b") ||
         !strcmp(method, "interleaved") || !strcmp(method, "zb-h1");
}

/* False for `gas`, which needs a network (tests/unit/test_guided.c has one),
 * for `cp-sat`, which needs a library (tests/slow/test_cp_sat.c), and for those
 * that need pipelines. */
static inline bool can_run(const char *method) {
  return strcmp(method, "gas") != 0 && strcmp(method, "cp-sat") != 0 &&
         !is_for_pipelines(method);
}

/* Gives a method the rule for a policy, if it needs one. False when it cannot
 * run here. */
static inline bool give_policy(const char *method, regal_options *options) {
  const regal_method *found = regal_method_find(method);
  strcpy(options->policy,
         found && found->policy == REGAL_METHOD_NEEDS_POLICY ? "rule" : "");
  return can_run(method);
}

#endif
