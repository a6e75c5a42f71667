/* SPDX-License-Identifier: Apache-2.0 */
/* The peak of what an instruction calls, in the order of its instructions: the
 * model of docs/model.md on one device, without parameters and constants. No
 * sum overflows: the tensors of a computation are below 2^62 bytes together,
 * and so is the peak of what an op calls. */
#include "format/hlo/flow.h"
#include "graph/builder.h"

typedef struct heap {
  const regal_hlo_flow *flow;
  uint32_t *left;  /* [tensors] reads to come */
  uint32_t *taken; /* [tensors] the op + 1 that writes over it */
  int64_t live, peak;
} heap;

/* Whether an output finds an input to be written over. */
static bool takes_over(heap *h, uint32_t op, const regal_hlo_tensor *output) {
  const regal_hlo_flow *flow = h->flow;
  if (!output->may_reuse || !output->bytes)
    return false;
  for (uint32_t i = flow->op[op].input; i < flow->op[op + 1].input; i++) {
    uint32_t input = flow->input[i];
    if (h->left[input] == 1 && !flow->tensor[input].is_final &&
        h->taken[input] != op + 1 &&
        flow->tensor[input].bytes >= output->bytes) {
      h->taken[input] = op + 1;
      return true;
    }
  }
  return false;
}

static void run(heap *h, uint32_t op) {
  const regal_hlo_flow *flow = h->flow;
  const regal_hlo_op *at = &flow->op[op];
  int64_t reused = 0;
  for (uint32_t t = at->tensor; t < at[1].tensor; t++) {
    h->live += flow->tensor[t].bytes;
    if (takes_over(h, op, &flow->tensor[t]))
      reused += flow->tensor[t].bytes;
  }
  int64_t during =
      h->live - reused +
      regal_hlo_temporary(flow->module,
                          &flow->computation->instruction[at->instruction]);
  if (during > h->peak)
    h->peak = during;
  for (uint32_t i = at->input; i < at[1].input; i++)
    if (!--h->left[flow->input[i]] && !flow->tensor[flow->input[i]].is_final)
      h->live -= flow->tensor[flow->input[i]].bytes;
  for (uint32_t t = at->tensor; t < at[1].tensor; t++)
    if (!flow->tensor[t].uses && !flow->tensor[t].is_final)
      h->live -= flow->tensor[t].bytes;
}

regal_status regal_hlo_flow_peak(const regal_hlo_flow *flow, int64_t *bytes) {
  regal_arena *arena = &flow->module->arena;
  heap h = {.flow = flow,
            .left = regal_arena_alloc(arena, flow->tensors, sizeof *h.left),
            .taken = regal_arena_alloc(arena, flow->tensors, sizeof *h.taken)};
  if (!h.left || !h.taken)
    return regal_fail_memory(flow->module->context);
  for (uint32_t t = 0; t < flow->tensors; t++)
    h.left[t] = flow->tensor[t].uses;
  for (uint32_t op = 0; op < flow->ops; op++) {
    run(&h, op);
    if (h.peak > REGAL_MOST_TOTAL)
      return regal_hlo_fail(
          flow->module,
          &flow->computation->instruction[flow->op[op].instruction],
          "more than 2^62 bytes are needed to run it");
  }
  *bytes = h.peak;
  return REGAL_OK;
}

/* Results of a call are counted as its own outputs. */
int64_t regal_hlo_temporary(const regal_hlo_module *module,
                            const regal_hlo_instruction *at) {
  int64_t most = 0;
  regal_hlo_opcode opcode = at->opcode->opcode;
  if (opcode != REGAL_HLO_CALL && opcode != REGAL_HLO_WHILE &&
      opcode != REGAL_HLO_CONDITIONAL && at->opcode->role != REGAL_HLO_START)
    return 0;
  for (uint32_t i = 0; i < at->calls; i++) {
    const regal_hlo_computation *to = &module->computation[at->call[i]];
    if (to->peak_bytes - to->result_bytes > most)
      most = to->peak_bytes - to->result_bytes;
  }
  return most;
}
