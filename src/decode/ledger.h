/* Memory, item by item, without asking whether an item is an op or a transfer:
 * what it brings to device `to`, and which tensors have one use less on `from`
 * afterwards. Says the same as regal_account, for graphs in which no output may
 * be written over an input.
 */
#ifndef REGAL_DECODE_LEDGER_H
#define REGAL_DECODE_LEDGER_H

#include "base/carve.h"
#include "cost/account.h"

/* What an op or a transfer does to memory. */
typedef struct regal_ledger_entry {
  int64_t high; /* bytes more while it runs */
  int64_t keep; /* bytes more afterwards, before anything is released */
  uint32_t release_begin, release_end; /* tensors used */
} regal_ledger_entry;

typedef struct regal_ledger {
  regal_ledger_entry *of_op;     /* [ops] */
  regal_ledger_entry *of_tensor; /* [tensors] for a transfer of it */
  uint32_t *released; /* inputs of all ops, then every tensor by itself */
} regal_ledger;

static inline void regal_ledger_layout(regal_ledger *ledger,
                                       regal_carver *carver,
                                       const regal_problem *problem) {
  size_t tensors = problem->tensors;
  ledger->of_op = regal_carve(carver, problem->ops, sizeof(regal_ledger_entry));
  ledger->of_tensor = regal_carve(carver, tensors, sizeof(regal_ledger_entry));
  ledger->released = regal_carve(carver, problem->uses + tensors, 4);
}

static inline void regal_ledger_fill(regal_ledger *ledger,
                                     const regal_problem *problem) {
  uint32_t uses = problem->uses;
  memcpy(ledger->released, problem->input, uses * sizeof *ledger->released);
  for (uint32_t t = 0; t < problem->tensors; t++) {
    ledger->released[uses + t] = t;
    ledger->of_tensor[t] = (regal_ledger_entry){
        problem->bytes[t], problem->bytes[t], uses + t, uses + t + 1};
  }
  for (uint32_t op = 0; op < problem->ops; op++) {
    regal_ledger_entry entry = {problem->graph->temporary_bytes[op], 0,
                                problem->input_begin[op],
                                problem->input_begin[op + 1]};
    for (uint32_t t = problem->output_begin[op];
         t < problem->output_begin[op + 1]; t++) {
      bool kept = problem->is_final[t] ||
                  problem->use_begin[t] < problem->use_begin[t + 1];
      entry.high += problem->bytes[t];
      entry.keep += kept ? problem->bytes[t] : 0;
    }
    ledger->of_op[op] = entry;
  }
}

/* Books one item; `account` holds what is in use, and the uses to come. */
REGAL_INLINE void regal_ledger_take(const regal_ledger *ledger,
                                    regal_account *account,
                                    const regal_problem *problem,
                                    const regal_ledger_entry *entry,
                                    uint32_t from, uint32_t to) {
  uint32_t d = problem->devices;
  int64_t before = account->memory[to];
  account->peak[to] = regal_later(account->peak[to], before + entry->high);
  account->memory[to] = before + entry->keep;
  int64_t freed = 0;
  for (uint32_t k = entry->release_begin; k < entry->release_end; k++) {
    uint32_t t = ledger->released[k];
    uint32_t left = --account->left[(size_t)t * d + from];
    freed += problem->bytes[t] & -(int64_t)(left == 0);
  }
  account->memory[from] -= freed;
}

#endif
