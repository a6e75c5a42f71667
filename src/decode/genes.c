/* SPDX-License-Identifier: Apache-2.0 */
/* From plans back to genes, for warm starts: a placement becomes affinities of
 * 0 and 1, an order becomes falling priorities. Decoding them gives the plan
 * again, as far as the decoder can express it.
 */
#include "decode/genes.h"

void regal_encode_devices(const regal_problem *problem, const regal_plan *plan,
                          const uint8_t *relabel, regal_gene *affinity) {
  for (uint32_t i = 0; i < plan->step_count; i++) {
    const regal_step *step = &plan->steps[i];
    if (!regal_step_runs(step))
      continue;
    uint32_t device = relabel ? relabel[step->device] : step->device;
    regal_gene *row = affinity + (size_t)step->op * problem->devices;
    for (uint32_t a = 0; a < problem->devices; a++)
      row[a] = a == device ? REGAL_GENE_LARGEST : 0;
  }
}

void regal_encode_placement(const regal_problem *problem,
                            const regal_plan *plan, regal_gene *affinity,
                            uint8_t relabel[REGAL_MAX_DEVICES]) {
  regal_plan_relabel(problem, plan, relabel);
  regal_encode_devices(problem, plan, relabel, affinity);
}

void regal_encode_order(const regal_plan *plan, regal_gene *priority) {
  for (uint32_t i = 0; i < plan->step_count; i++)
    if (regal_step_runs(&plan->steps[i]))
      priority[plan->steps[i].op] = regal_encode_position(plan, i);
}

void regal_encode_transfers(const regal_problem *problem,
                            const regal_plan *plan, const uint8_t *relabel,
                            regal_gene *transfer) {
  for (uint32_t i = 0; i < plan->step_count; i++) {
    const regal_step *step = &plan->steps[i];
    if (!regal_step_runs(step))
      transfer[(size_t)regal_plan_tensor(problem, step) * problem->devices +
               relabel[step->to]] = regal_encode_position(plan, i);
  }
}
