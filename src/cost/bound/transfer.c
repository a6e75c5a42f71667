/* SPDX-License-Identifier: Apache-2.0 */
/* Windows between pairs of ops, each bounded by window.c, and the longest
 * chain of them.
 *
 * Ops v are visited in topological order. Its windows begin at ancestors u that
 * at least two ops depend on, nearest first: others say nothing new. A window
 * cannot last longer than the work in it if all is on one device, so that it is
 * looked at only if that would raise head[v]. What a window is found to last at
 * least is a new lag from u to v, and counts in all later windows.
 */
#include "cost/bound/parts.h"

#include <string.h>

#include "base/carve.h"
#include "cost/bound/window.h"

#define WORDS (REGAL_WINDOW_REACH / 64)
#define GREED 2 /* an op may take this many times its share of the effort */

typedef struct transfer_bound {
  const regal_problem *problem;
  const int64_t *shortest;
  int64_t *head, *tail;
  regal_lags *lags;
  int64_t *before;   /* [ops+1] work of all earlier ops */
  uint32_t *slot;    /* [ops] index in the window */
  regal_lag *inside; /* [edges + most_found] lags of the window */
  uint32_t inside_begin[REGAL_WINDOW_REACH + 3];
  uint64_t (*ancestor)[WORDS]; /* [ops] bit i: op - 1 - i is one */
  regal_window window;         /* with the effort that is left */
} transfer_bound;

/* Adds an op at some distance, and its ancestors. */
static void unite(uint64_t *into, const uint64_t *from, uint32_t distance) {
  if (distance > REGAL_WINDOW_REACH)
    return;
  into[(distance - 1) / 64] |= UINT64_C(1) << (distance - 1) % 64;
  uint32_t words = distance / 64, bits = distance % 64;
  for (uint32_t i = WORDS; i-- > words;) {
    uint64_t word = from[i - words] << bits;
    if (bits && i > words)
      word |= from[i - words - 1] >> (64 - bits);
    into[i] |= word;
  }
}

static bool depends(const transfer_bound *state, uint32_t op, uint32_t on) {
  uint32_t i = op - on - 1;
  return state->ancestor[op][i / 64] >> i % 64 & 1;
}

/* The members of the window from u to v, and their work. */
static void fill_window(transfer_bound *state, uint32_t u, uint32_t v) {
  regal_window *window = &state->window;
  window->size = 0;
  window->work = 0;
  window->member[window->size++] = u;
  for (uint32_t op = u + 1; op < v; op++)
    if (depends(state, v, op) && depends(state, op, u)) {
      window->member[window->size++] = op;
      window->work += state->shortest[op];
    }
  window->member[window->size++] = v;
}

static uint32_t add_inside(transfer_bound *state, const regal_lag *lag,
                           uint32_t begin, uint32_t end, uint32_t count) {
  for (uint32_t k = begin; k < end; k++)
    if (state->window.place[lag[k].from] != REGAL_WINDOW_NONE)
      state->inside[count++] = lag[k];
  return count;
}

static void fill_lags(transfer_bound *state) {
  const regal_window *window = &state->window;
  uint32_t count = 0;
  for (uint32_t i = 0; i < window->size; i++) {
    uint32_t op = window->member[i];
    state->inside_begin[i] = count;
    if (!i)
      continue;
    count = add_inside(state, state->lags->edge, state->lags->edge_begin[op],
                       state->lags->edge_begin[op + 1], count);
    count = add_inside(state, state->lags->found, state->lags->found_begin[op],
                       state->lags->found_begin[op + 1], count);
  }
  state->inside_begin[window->size] = count;
  state->window.effort -=
      state->window.effort < count ? state->window.effort : count;
}

static void raise_head(transfer_bound *state, const regal_lag *lag) {
  int64_t start = state->head[lag->from] + state->shortest[lag->from] +
                  regal_lag_least(lag);
  if (start > state->head[lag->to])
    state->head[lag->to] = start;
}

static void try_window(transfer_bound *state, uint32_t u, uint32_t v) {
  regal_window *window = &state->window;
  fill_window(state, u, v);
  uint64_t cost = (v - u) / 4 + 1;
  state->window.effort -=
      state->window.effort < cost ? state->window.effort : cost;
  if (state->head[u] + state->shortest[u] + window->work <= state->head[v] ||
      window->size < 4)
    return;
  for (uint32_t i = 0; i < window->size; i++)
    window->place[window->member[i]] = i;
  fill_lags(state);
  regal_window_chains(window, state->inside, state->inside_begin);
  int64_t known = state->head[v] - state->head[u] - state->shortest[u];
  regal_lag lag = regal_window_bound(window, known);
  uint32_t last = window->size - 1;
  bool is_new = lag.same > window->after_here[last] ||
                lag.apart > window->after_away[last];
  for (uint32_t i = 0; i < window->size; i++)
    window->place[window->member[i]] = REGAL_WINDOW_NONE;
  raise_head(state, &lag);
  uint32_t *end = &state->lags->found_begin[v + 1];
  if (is_new && *end < state->lags->most_found)
    state->lags->found[(*end)++] = lag;
}

static void visit(transfer_bound *state, uint32_t v) {
  const regal_problem *problem = state->problem;
  uint64_t *ancestors = state->ancestor[v];
  for (REGAL_ROW(k, state->lags->edge_begin, v)) {
    uint32_t from = state->lags->edge[k].from;
    raise_head(state, &state->lags->edge[k]);
    unite(ancestors, state->ancestor[from], v - from);
  }
  state->lags->found_begin[v + 1] = state->lags->found_begin[v];
  if (problem->predecessors[v] < 2)
    return;
  uint32_t first = v > REGAL_WINDOW_REACH ? v - REGAL_WINDOW_REACH : 0;
  uint64_t share = state->window.effort / (problem->ops - v) * GREED;
  uint64_t kept =
      share < state->window.effort ? state->window.effort - share : 0;
  for (uint32_t u = v; u-- > first && state->window.effort > kept;)
    if (depends(state, v, u) &&
        problem->successor_begin[u + 1] - problem->successor_begin[u] > 1 &&
        state->head[u] + state->before[v] - state->before[u] > state->head[v])
      try_window(state, u, v);
}

static void raise_tail(transfer_bound *state, const regal_lag *lag,
                       int64_t after) {
  int64_t tail = regal_lag_least(lag) + after;
  if (tail > state->tail[lag->from])
    state->tail[lag->from] = tail;
}

static void raise_tails(transfer_bound *state) {
  for (uint32_t v = state->problem->ops; v-- > 0;) {
    int64_t after = state->shortest[v] + state->tail[v];
    for (REGAL_ROW(k, state->lags->edge_begin, v))
      raise_tail(state, &state->lags->edge[k], after);
    for (REGAL_ROW(k, state->lags->found_begin, v))
      raise_tail(state, &state->lags->found[k], after);
  }
}

static void layout(transfer_bound *state, regal_carver *carver) {
  const regal_problem *problem = state->problem;
  size_t n = problem->ops, edges = problem->successor_begin[n];
  state->before = regal_carve(carver, n + 1, 8);
  state->slot = regal_carve(carver, n, 4);
  state->inside = regal_carve(carver, edges + state->lags->most_found,
                              sizeof *state->inside);
  state->ancestor = regal_carve(carver, n, sizeof *state->ancestor);
  regal_flow_layout(
      &state->window.flow, carver, 2 + n + 2 * (size_t)problem->tensors,
      2 * n + 2 * (size_t)problem->uses + 3 * (size_t)problem->tensors);
}

static void visit_all(transfer_bound *state) {
  const regal_problem *problem = state->problem;
  state->window.problem = problem;
  state->window.shortest = state->shortest;
  state->window.send_ns = state->lags->send_ns;
  state->window.place = state->slot;
  for (uint32_t op = 0; op < problem->ops; op++)
    state->before[op + 1] = state->before[op] + state->shortest[op];
  memset(state->slot, 255, problem->ops * sizeof *state->slot);
  for (uint32_t v = 0; v < problem->ops; v++)
    visit(state, v);
  raise_tails(state);
}

regal_status regal_bound_windows(regal_context *context,
                                 const regal_problem *problem,
                                 const int64_t *shortest, uint64_t effort,
                                 regal_lags *lags, int64_t *head,
                                 int64_t *tail) {
  transfer_bound state = {.problem = problem,
                          .shortest = shortest,
                          .head = head,
                          .tail = tail,
                          .window.effort = effort,
                          .lags = lags};
  regal_carver carver = {NULL, 0};
  REGAL_TRY(REGAL_CARVE_BLOCK(context, carver, layout(&state, &carver)));
  visit_all(&state);
  regal_release(context, carver.base);
  return REGAL_OK;
}
