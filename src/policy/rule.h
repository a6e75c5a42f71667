/* SPDX-License-Identifier: Apache-2.0 */
/* The handmade policy that a learned one must beat: ops of the first half of
 * an order get a high priority, those of the second half a low one, both nearly
 * certain; everything else stays uniform. The order is the mean order of the
 * BRKGA features (`rule`), or the static depth (`rule-depth`), which needs no
 * evaluations. At this variance genes tie at 0 and 1, and the decoder's
 * tie-break by index does the rest.
 */
#ifndef REGAL_POLICY_RULE_H
#define REGAL_POLICY_RULE_H

#include "policy/policy.h"

#define REGAL_RULE_LEVELS 16
#define REGAL_RULE_CLASS "priority"

typedef enum regal_rule { REGAL_RULE_ORDER, REGAL_RULE_DEPTH } regal_rule;

/* What the rule reads, at most one feature, and what it decides on: one head,
 * for priorities. */
void regal_rule_config(regal_rule rule, uint32_t devices, uint32_t objective,
                       const char *decoder, regal_policy_config *config);
/* Writes regal_policy_actions() bytes, for an encoding of its features. */
regal_status regal_rule_actions(regal_context *context, regal_rule rule,
                                const regal_encoding *encoding,
                                uint8_t *actions);

#endif
