/* SPDX-License-Identifier: Apache-2.0 */
/* Policies by name: rules, those that come with regal, and files. */
#ifndef REGAL_LEARN_GUIDE_POLICIES_H
#define REGAL_LEARN_GUIDE_POLICIES_H

#include "learn/guide/guide.h"

/* A policy that the library holds, made of policies/NAME.policy. */
typedef struct regal_shipped_policy {
  const char *name;
  const unsigned char *bytes;
  size_t size;
} regal_shipped_policy;

/* All of them; the last one has no name. */
extern const regal_shipped_policy regal_shipped_policies[];

/* The policy that options->policy names: `rule`, `rule-depth`, a shipped one,
 * else a file. Without a name the first shipped one that is made for the
 * problem's devices and objective and, where it is given, for options->decoder,
 * and has the kind ("" for any but gas). A policy for something else is
 * REGAL_BAD_INPUT. */
regal_status regal_policies_open(regal_context *context,
                                 const regal_options *options,
                                 const regal_problem *problem, const char *kind,
                                 regal_guide **guide);

#endif
