/* For tests that run every method of the table. */
#ifndef REGAL_TESTS_EVERY_METHOD_H
#define REGAL_TESTS_EVERY_METHOD_H

#include <string.h>

#include "search/proposer.h"

/* Gives a method the rule for a policy, if it needs one. False for `gas`, which
 * needs a network: tests/unit/test_guided.c has one. */
static inline bool give_policy(const char *method, regal_options *options) {
  const regal_method *found = regal_method_find(method);
  strcpy(options->policy,
         found && regal_method_needs_policy(found) ? "rule" : "");
  return strcmp(method, "gas") != 0;
}

#endif
