/* SPDX-License-Identifier: Apache-2.0 */
/* Memory, item by item, without asking whether an item is an op or a transfer:
 * what it brings to device `to`, and which tensors have one use less on `from`
 * afterwards. Says the same as regal_running_cost, for graphs in which no
 * output may be written over an input.
 */
#ifndef REGAL_DECODE_STEP_MEMORY_H
#define REGAL_DECODE_STEP_MEMORY_H

#include "base/carve.h"
#include "cost/model/running_cost.h"

/* What an op or a transfer does to memory. */
typedef struct regal_step_memory_entry {
  int64_t high; /* bytes more while it runs */
  int64_t keep; /* bytes more afterwards, before anything is released */
  uint32_t release_begin, release_end; /* tensors used */
} regal_step_memory_entry;

typedef struct regal_step_memory {
  regal_step_memory_entry *of_op;     /* [ops] */
  regal_step_memory_entry *of_tensor; /* [tensors] for a transfer of it */
  uint32_t *released; /* inputs of all ops, then every tensor by itself */
} regal_step_memory;

static inline void regal_step_memory_layout(regal_step_memory *memory,
                                            regal_carver *carver,
                                            const regal_problem *problem) {
  size_t tensors = problem->tensors;
  memory->of_op =
      regal_carve(carver, problem->ops, sizeof(regal_step_memory_entry));
  memory->of_tensor =
      regal_carve(carver, tensors, sizeof(regal_step_memory_entry));
  memory->released = regal_carve(carver, problem->uses + tensors, 4);
}

static inline void regal_step_memory_fill(regal_step_memory *memory,
                                          const regal_problem *problem) {
  uint32_t uses = problem->uses;
  memcpy(memory->released, problem->input, uses * sizeof *memory->released);
  for (uint32_t t = 0; t < problem->tensors; t++) {
    memory->released[uses + t] = t;
    memory->of_tensor[t] = (regal_step_memory_entry){
        problem->bytes[t], problem->bytes[t], uses + t, uses + t + 1};
  }
  for (uint32_t op = 0; op < problem->ops; op++) {
    regal_step_memory_entry entry = {problem->graph->temporary_bytes[op], 0,
                                     problem->input_begin[op],
                                     problem->input_begin[op + 1]};
    for (REGAL_ROW(t, problem->output_begin, op)) {
      bool kept = problem->is_final[t] ||
                  problem->use_begin[t] < problem->use_begin[t + 1];
      entry.high += problem->bytes[t];
      entry.keep += kept ? problem->bytes[t] : 0;
    }
    memory->of_op[op] = entry;
  }
}

/* Counts one item; `running` holds what is in use, and the uses to come. */
REGAL_INLINE void regal_step_memory_take(const regal_step_memory *memory,
                                         regal_running_cost *running,
                                         const regal_problem *problem,
                                         const regal_step_memory_entry *entry,
                                         uint32_t from, uint32_t to) {
  uint32_t d = problem->devices;
  int64_t before = running->memory[to];
  running->peak[to] = regal_later(running->peak[to], before + entry->high);
  running->memory[to] = before + entry->keep;
  int64_t freed = 0;
  for (uint32_t k = entry->release_begin; k < entry->release_end; k++) {
    uint32_t t = memory->released[k];
    uint32_t left = --running->left[(size_t)t * d + from];
    freed += problem->bytes[t] & -(int64_t)(left == 0);
  }
  running->memory[from] -= freed;
}

#endif
