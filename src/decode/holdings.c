#include "decode/holdings.h"

void regal_holdings_layout(regal_holdings *holdings, regal_carver *carver,
                           const regal_problem *problem) {
  size_t ops = problem->ops, tensors = problem->tensors;
  size_t readers = problem->shared ? problem->reader_begin[problem->shared] : 0;
  holdings->resident = regal_carve(carver, ops, 8);
  holdings->high = regal_carve(carver, ops, 8);
  holdings->kept = regal_carve(carver, ops, 8);
  holdings->uses = regal_carve(carver, tensors, 4);
  holdings->parameter_begin = regal_carve(carver, ops + 2, 4);
  holdings->parameter = regal_carve(carver, readers, 4);
  holdings->left = regal_carve(carver, tensors, 4);
  holdings->present = regal_carve(carver, tensors, 8);
  holdings->holders = regal_carve(carver, problem->shared, 8);
  holdings->placed = regal_carve(carver, ops, 1);
}

static uint32_t leader_of(const regal_problem *problem, uint32_t op) {
  return problem->leader ? problem->leader[op] : op;
}

/* Turns the rows of readers round. */
static void fill_parameters(regal_holdings *holdings,
                            const regal_problem *problem) {
  uint32_t *begin = holdings->parameter_begin;
  memset(begin, 0, ((size_t)problem->ops + 2) * sizeof *begin);
  if (!problem->shared)
    return;
  uint32_t readers = problem->reader_begin[problem->shared];
  for (uint32_t r = 0; r < readers; r++)
    begin[problem->reader[r] + 2]++;
  for (uint32_t op = 0; op < problem->ops; op++)
    begin[op + 2] += begin[op + 1];
  for (uint32_t p = 0; p < problem->shared; p++)
    for (uint32_t r = problem->reader_begin[p];
         r < problem->reader_begin[p + 1]; r++)
      holdings->parameter[begin[problem->reader[r] + 1]++] = p;
}

void regal_holdings_fill(regal_holdings *holdings,
                         const regal_problem *problem) {
  fill_parameters(holdings, problem);
  memset(holdings->resident, 0, problem->ops * sizeof *holdings->resident);
  memset(holdings->kept, 0, problem->ops * sizeof *holdings->kept);
  for (uint32_t op = 0; op < problem->ops; op++) {
    holdings->resident[leader_of(problem, op)] += problem->resident_bytes[op];
    holdings->high[op] = problem->graph->temporary_bytes[op];
  }
  for (uint32_t t = 0; t < problem->tensors; t++) {
    holdings->uses[t] = problem->use_begin[t + 1] - problem->use_begin[t] +
                        problem->is_final[t];
    holdings->high[problem->producer[t]] += problem->bytes[t];
    if (holdings->uses[t])
      holdings->kept[problem->producer[t]] += problem->bytes[t];
  }
}

void regal_holdings_begin(regal_holdings *holdings,
                          const regal_problem *problem) {
  size_t devices = problem->devices;
  memcpy(holdings->left, holdings->uses, problem->tensors * 4);
  memset(holdings->holders, 0, problem->shared * sizeof *holdings->holders);
  memset(holdings->placed, 0, problem->ops);
  memset(holdings->memory, 0, devices * sizeof *holdings->memory);
  memset(holdings->peak, 0, devices * sizeof *holdings->peak);
}

/* As regal_account_reuse: each output takes the first dying input that is large
 * enough and not yet taken. */
int64_t regal_holdings_reused(regal_holdings *holdings,
                              const regal_problem *problem, uint32_t op) {
  enum { TAKEN = 0, LAST_USE = 1 };
  if (!problem->reuses || !problem->reuses[op])
    return 0;
  uint32_t *left = holdings->left, end = problem->input_begin[op + 1];
  const uint32_t *input = problem->input;
  uint32_t first = problem->input_begin[op];
  int64_t reused = 0;
  for (uint32_t t = problem->output_begin[op];
       t < problem->output_begin[op + 1]; t++) {
    int64_t bytes = problem->may_reuse[t] ? problem->bytes[t] : 0;
    while (first < end && left[input[first]] != LAST_USE)
      first++;
    uint32_t i = bytes ? first : end;
    while (i < end &&
           (left[input[i]] != LAST_USE || problem->bytes[input[i]] < bytes))
      i++;
    if (i == end)
      continue;
    left[input[i]] = TAKEN;
    reused += bytes;
  }
  for (uint32_t i = problem->input_begin[op]; i < end; i++)
    left[input[i]] += left[input[i]] == TAKEN;
  return reused;
}

int64_t regal_holdings_more_resident(const regal_holdings *holdings,
                                     const regal_problem *problem, uint32_t op,
                                     uint32_t device) {
  uint32_t leader = leader_of(problem, op);
  if (holdings->placed[leader])
    return 0;
  int64_t bytes = holdings->resident[leader];
  for (uint32_t p = holdings->parameter_begin[leader];
       p < holdings->parameter_begin[leader + 1]; p++) {
    uint32_t parameter = holdings->parameter[p];
    if (!(holdings->holders[parameter] >> device & 1))
      bytes += problem->shared_bytes[parameter];
  }
  return bytes;
}

/* Frees a tensor wherever it is, but not on `device`, where that is done. */
static void free_elsewhere(regal_holdings *holdings, uint32_t tensor,
                           int64_t bytes, uint32_t device) {
  uint64_t elsewhere = holdings->present[tensor] & ~(UINT64_C(1) << device);
  for (; elsewhere; elsewhere &= elsewhere - 1)
    holdings->memory[__builtin_ctzll(elsewhere)] -= bytes;
}

void regal_holdings_run(regal_holdings *holdings, const regal_problem *problem,
                        uint32_t op, uint32_t device, regal_holding made) {
  uint64_t here = UINT64_C(1) << device;
  uint32_t leader = leader_of(problem, op);
  holdings->peak[device] = made.peak;
  holdings->memory[device] = made.memory;
  if (!holdings->placed[leader]) {
    holdings->placed[leader] = 1;
    for (uint32_t p = holdings->parameter_begin[leader];
         p < holdings->parameter_begin[leader + 1]; p++)
      holdings->holders[holdings->parameter[p]] |= here;
  }
  for (uint32_t i = problem->input_begin[op]; i < problem->input_begin[op + 1];
       i++) {
    uint32_t t = problem->input[i];
    bool last = --holdings->left[t] == 0;
    bool moves = !problem->is_final[t] && !(holdings->present[t] & here);
    if (last || moves)
      free_elsewhere(holdings, t, problem->bytes[t], device);
    holdings->present[t] = moves ? here : holdings->present[t] | here;
  }
  for (uint32_t t = problem->output_begin[op];
       t < problem->output_begin[op + 1]; t++)
    holdings->present[t] = here;
}
