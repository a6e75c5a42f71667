/* SPDX-License-Identifier: Apache-2.0 */
/* The layout of actions. */
#include "policy/policy.h"

static size_t items_of(regal_head_domain domain,
                       const regal_encoding *encoding) {
  switch (domain) {
  case REGAL_HEAD_NODE:
    return encoding->nodes;
  case REGAL_HEAD_TENSOR:
    return encoding->tensors;
  default:
    return 1;
  }
}

size_t regal_policy_actions(const regal_policy_config *config,
                            const regal_encoding *encoding) {
  size_t actions = 0;
  for (uint32_t i = 0; i < config->head_count; i++) {
    const regal_policy_head *head = &config->heads[i];
    actions += items_of(head->domain, encoding) * head->genes *
               (head->bias_levels ? 3 : 2);
  }
  return actions;
}
