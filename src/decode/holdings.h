/* What each device would hold, for decoders that choose devices op by op.
 *
 * An estimate of what regal_account counts once the plan stands: who will read
 * a tensor where is not known yet. A tensor is taken to be where it was used
 * last, until all its uses are over: a transfer (just before the reader) moves
 * it. That is right when later readers follow it, and decoders that look for
 * memory learn to let them; counting it on every device that ever read it makes
 * worse plans. Final tensors stay wherever they were.
 */
#ifndef REGAL_DECODE_HOLDINGS_H
#define REGAL_DECODE_HOLDINGS_H

#include "base/carve.h"
#include "cost/account.h"

typedef struct regal_holdings {
  /* Fixed for the problem. */
  int64_t *resident; /* [ops] at a group's first op: of the whole group */
  int64_t *high;     /* [ops] outputs and temporary bytes */
  int64_t *kept;     /* [ops] bytes of its outputs that outlive it */
  uint32_t *uses;    /* [tensors] consumers, and the end if it is final */
  uint32_t *parameter_begin; /* [ops+1] shared parameters that an op (or the
                                group whose first it is) reads */
  uint32_t *parameter;
  /* Of one chromosome. */
  uint32_t *left;    /* [tensors] uses to come */
  uint64_t *present; /* [tensors] bit per device that has it */
  uint64_t *holders; /* [shared] bit per device that has the parameter */
  uint8_t *placed;   /* [ops] at a group's first op: the group has a device */
  int64_t memory[REGAL_MAX_DEVICES];
  int64_t peak[REGAL_MAX_DEVICES];
} regal_holdings;

/* What a device would hold if it ran an op next. */
typedef struct regal_holding {
  int64_t peak;   /* of the plan so far */
  int64_t memory; /* after the op */
} regal_holding;

void regal_holdings_layout(regal_holdings *holdings, regal_carver *carver,
                           const regal_problem *problem);
void regal_holdings_fill(regal_holdings *holdings,
                         const regal_problem *problem);
void regal_holdings_begin(regal_holdings *holdings,
                          const regal_problem *problem);

/* Bytes of the op's outputs that could take over an input which dies. */
int64_t regal_holdings_reused(regal_holdings *holdings,
                              const regal_problem *problem, uint32_t op);
/* Bytes that the device would hold for the whole plan because of the op. */
int64_t regal_holdings_more_resident(const regal_holdings *holdings,
                                     const regal_problem *problem, uint32_t op,
                                     uint32_t device);
/* `reused` is regal_holdings_reused of the op. */
static inline regal_holding regal_holdings_try(const regal_holdings *holdings,
                                               const regal_problem *problem,
                                               uint32_t op, uint32_t device,
                                               int64_t reused) {
  int64_t resident =
      regal_holdings_more_resident(holdings, problem, op, device);
  int64_t memory = holdings->memory[device] + resident, freed = 0;
  for (uint32_t i = problem->input_begin[op]; i < problem->input_begin[op + 1];
       i++) {
    uint32_t t = problem->input[i];
    int64_t bytes = problem->bytes[t];
    memory += holdings->present[t] >> device & 1 ? 0 : bytes;
    freed += holdings->left[t] == 1 ? bytes : 0;
  }
  return (regal_holding){regal_later(holdings->peak[device] + resident,
                                     memory + holdings->high[op] - reused),
                         memory + holdings->kept[op] - freed};
}

/* The op runs there; `made` is what regal_holdings_try said. */
void regal_holdings_run(regal_holdings *holdings, const regal_problem *problem,
                        uint32_t op, uint32_t device, regal_holding made);

/* The same, tried first. */
static inline void regal_holdings_take(regal_holdings *holdings,
                                       const regal_problem *problem,
                                       uint32_t op, uint32_t device) {
  int64_t reused = regal_holdings_reused(holdings, problem, op);
  regal_holdings_run(holdings, problem, op, device,
                     regal_holdings_try(holdings, problem, op, device, reused));
}

/* By how much the op would bring the device further beyond its limit. */
static inline int64_t regal_holdings_excess(const regal_holdings *holdings,
                                            const regal_problem *problem,
                                            uint32_t device,
                                            regal_holding made) {
  int64_t limit = regal_later(problem->limit[device], holdings->peak[device]);
  return regal_later(0, made.peak - limit);
}

#endif
