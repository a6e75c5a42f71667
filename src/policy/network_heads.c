/* SPDX-License-Identifier: Apache-2.0 */
/* Heads: from states to logits, probabilities, and the gradient of the loss by
 * the logits. */
#include <string.h>

#include "nn/categorical.h"
#include "policy/network_parts.h"

double regal_head_probabilities(const regal_head_plan *plan,
                                const regal_real *logits, regal_real *p,
                                regal_real *log_p) {
  double entropy = 0;
  size_t at = 0;
  for (uint32_t choice = 0; choice < plan->choices; choice++) {
    uint32_t levels = plan->levels[choice % plan->parts];
    entropy +=
        regal_categorical_forward(levels, logits + at, p + at, log_p + at);
    at += levels;
  }
  return entropy;
}

double regal_head_forward(const regal_head_plan *plan,
                          const regal_real *parameters, bool blind,
                          const regal_real *in, regal_head_state *state) {
  double entropy = 0;
  size_t logits = plan->logits;
  if (!blind)
    regal_mlp_forward(&plan->mlp, parameters, state->items, in, state->hidden,
                      state->logits);
  for (size_t i = 0; i < state->items; i++) {
    if (blind)
      memcpy(state->logits + i * logits, parameters + plan->bias,
             logits * sizeof *state->logits);
    entropy += regal_head_probabilities(plan, state->logits + i * logits,
                                        state->p + i * logits,
                                        state->log_p + i * logits);
  }
  return entropy;
}

void regal_head_loss(const regal_head_plan *plan, const regal_head_state *state,
                     const regal_head_terms *terms, regal_real *taken,
                     regal_real *d_logits) {
  const uint8_t *actions = terms->actions;
  size_t at = 0;
  for (size_t i = 0; i < state->items; i++)
    for (uint32_t choice = 0; choice < plan->choices; choice++, actions++) {
      uint32_t levels = plan->levels[choice % plan->parts];
      memset(taken, 0, levels * sizeof *taken);
      for (uint32_t s = 0; s < terms->samples; s++)
        taken[actions[s * terms->stride]] +=
            terms->advantages[s] * terms->share;
      regal_categorical_backward(levels, state->p + at, state->log_p + at,
                                 taken, terms->entropy_weight, d_logits + at);
      at += levels;
    }
}
