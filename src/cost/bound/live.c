/* SPDX-License-Identifier: Apache-2.0 */
/* LIVE(v) for blocks of 256 ops v at a time, one bit each.
 *
 * below[j] holds the v that op j is or precedes, above[j] the v that j is or
 * follows; one pass over the edges in each direction fills them. A tensor is in
 * LIVE(v) for v in below[producer], less the producer itself, and in above[some
 * consumer] unless it is final. Its bytes are added by whole bytes of that set
 * (a table of 256 sums for each 8 ops), not bit by bit. What v's outputs can
 * save by being written over its inputs is taken off at the end.
 */
#include "cost/bound/parts.h"

#include <string.h>

#include "base/carve.h"

#define WORDS 4
#define BLOCK (64 * WORDS)
#define MOST_CONSUMERS 64

typedef struct op_set {
  uint64_t word[WORDS];
} op_set;

typedef struct live_bound {
  const regal_problem *problem;
  op_set *below, *above;  /* [ops] */
  int64_t (*sums)[256];   /* [BLOCK / 8] bytes by value of 8 bits */
  regal_keyed *promising; /* [ops] by minus an upper bound of LIVE */
  uint32_t *readers;      /* [tensors] scratch */
} live_bound;

static void unite(op_set *into, const op_set *from) {
  for (int i = 0; i < WORDS; i++)
    into->word[i] |= from->word[i];
}

void regal_rank_by_file_order(const regal_problem *problem, uint32_t *readers,
                              regal_keyed *promising) {
  int64_t live = 0;
  for (uint32_t t = 0; t < problem->tensors; t++)
    readers[t] = problem->use_begin[t + 1] - problem->use_begin[t] +
                 (problem->is_final[t] != 0);
  for (uint32_t op = 0; op < problem->ops; op++) {
    uint32_t first = problem->output_begin[op];
    uint32_t end = problem->output_begin[op + 1];
    for (uint32_t t = first; t < end; t++)
      live += problem->bytes[t];
    int64_t with_temporary;
    if (__builtin_add_overflow(live, problem->graph->temporary_bytes[op],
                               &with_temporary))
      with_temporary = INT64_MAX;
    promising[op] = (regal_keyed){-with_temporary, op};
    for (REGAL_ROW(i, problem->input_begin, op))
      if (--readers[problem->input[i]] == 0)
        live -= problem->bytes[problem->input[i]];
    for (uint32_t t = first; t < end; t++)
      if (!readers[t])
        live -= problem->bytes[t];
  }
  regal_keyed_sort(promising, problem->ops);
}

static void fill_sets(live_bound *state, const regal_keyed *block,
                      uint32_t count) {
  const regal_problem *problem = state->problem;
  memset(state->below, 0, problem->ops * sizeof *state->below);
  memset(state->above, 0, problem->ops * sizeof *state->above);
  for (uint32_t i = 0; i < count; i++) {
    state->below[block[i].op].word[i / 64] |= UINT64_C(1) << i % 64;
    state->above[block[i].op].word[i / 64] |= UINT64_C(1) << i % 64;
  }
  for (uint32_t op = problem->ops; op-- > 0;)
    for (REGAL_ROW(s, problem->successor_begin, op))
      unite(&state->below[op], &state->below[problem->successor[s]]);
  for (uint32_t op = 0; op < problem->ops; op++)
    for (REGAL_ROW(s, problem->successor_begin, op))
      unite(&state->above[problem->successor[s]], &state->above[op]);
}

static void add_tensor(live_bound *state, uint32_t tensor, op_set at) {
  const regal_problem *problem = state->problem;
  if (!problem->is_final[tensor]) {
    op_set readers = {{0}};
    for (REGAL_ROW(u, problem->use_begin, tensor))
      unite(&readers, &state->above[problem->consumer[u]]);
    for (int i = 0; i < WORDS; i++)
      at.word[i] &= readers.word[i];
  }
  for (int i = 0; i < WORDS; i++)
    for (int k = 0; at.word[i]; k++, at.word[i] >>= 8)
      state->sums[8 * i + k][at.word[i] & 255] += problem->bytes[tensor];
}

static void add_tensors(live_bound *state) {
  const regal_problem *problem = state->problem;
  memset(state->sums, 0, BLOCK / 8 * sizeof *state->sums);
  for (uint32_t op = 0; op < problem->ops; op++) {
    /* What op is itself is also in above[op]; nothing else is in both. */
    op_set at = state->below[op];
    uint64_t any = 0;
    for (int i = 0; i < WORDS; i++)
      any |= at.word[i] &= ~state->above[op].word[i];
    if (!any)
      continue;
    for (REGAL_ROW(t, problem->output_begin, op))
      if (problem->bytes[t])
        add_tensor(state, t, at);
  }
}

/* Whether nobody after the block's i-th op, `op`, needs its input any more.
 * Looks at the first consumers only: there may be very many. */
static bool may_die(const live_bound *state, uint32_t tensor, uint32_t op,
                    uint32_t i) {
  const regal_problem *problem = state->problem;
  uint32_t first = problem->use_begin[tensor];
  uint32_t end = problem->use_begin[tensor + 1];
  if (problem->is_final[tensor])
    return false;
  if (end - first > MOST_CONSUMERS)
    end = first + MOST_CONSUMERS;
  for (uint32_t u = first; u < end; u++) {
    const op_set *after = &state->above[problem->consumer[u]];
    if (problem->consumer[u] != op && (after->word[i / 64] >> i % 64 & 1))
      return false;
  }
  return true;
}

static int64_t most_reused(const live_bound *state, uint32_t op, uint32_t i) {
  const regal_problem *problem = state->problem;
  regal_dying dying = {0, 0};
  if (!regal_may_reuse(problem, op))
    return 0;
  for (REGAL_ROW(k, problem->input_begin, op))
    if (may_die(state, problem->input[k], op, i))
      regal_dying_add(&dying, problem->bytes[problem->input[k]]);
  return regal_most_reused(problem, op, dying);
}

/* LIVE of the block's i-th op, once all tensors are added. */
static int64_t live_of(const live_bound *state, uint32_t op, uint32_t i) {
  const regal_problem *problem = state->problem;
  int64_t live = 0;
  for (uint32_t value = 0; value < 256; value++)
    if (value >> i % 8 & 1)
      live += state->sums[i / 8][value];
  for (REGAL_ROW(t, problem->output_begin, op))
    live += problem->bytes[t];
  live -= most_reused(state, op, i);
  if (__builtin_add_overflow(live, problem->graph->temporary_bytes[op], &live))
    return INT64_MAX;
  return live;
}

static int64_t largest_live(live_bound *state, uint64_t effort) {
  const regal_problem *problem = state->problem;
  uint64_t edges = problem->successor_begin[problem->ops];
  uint64_t cost = WORDS * (2 * edges + 4 * (uint64_t)problem->ops +
                           problem->uses + 8 * (uint64_t)problem->tensors);
  int64_t found = 0;
  uint32_t first = 0;
  while (first < problem->ops && -state->promising[first].key > found) {
    uint32_t count =
        problem->ops - first < BLOCK ? problem->ops - first : BLOCK;
    const regal_keyed *block = state->promising + first;
    fill_sets(state, block, count);
    add_tensors(state);
    for (uint32_t i = 0; i < count; i++) {
      int64_t live = live_of(state, block[i].op, i);
      if (live > found)
        found = live;
    }
    first += count;
    if (effort < cost)
      break;
    effort -= cost;
  }
  return found;
}

static void layout(live_bound *state, regal_carver *carver) {
  size_t ops = state->problem->ops;
  state->below = regal_carve(carver, ops, sizeof *state->below);
  state->above = regal_carve(carver, ops, sizeof *state->above);
  state->sums = regal_carve(carver, BLOCK / 8, sizeof *state->sums);
  state->promising = regal_carve(carver, ops, sizeof *state->promising);
  state->readers = regal_carve(carver, state->problem->tensors, 4);
}

regal_status regal_bound_live(regal_context *context,
                              const regal_problem *problem, uint64_t effort,
                              int64_t *live_bytes) {
  live_bound state = {.problem = problem};
  regal_carver carver = {NULL, 0};
  REGAL_TRY(REGAL_CARVE_BLOCK(context, carver, layout(&state, &carver)));
  regal_rank_by_file_order(problem, state.readers, state.promising);
  *live_bytes = largest_live(&state, effort);
  regal_release(context, carver.base);
  return REGAL_OK;
}
