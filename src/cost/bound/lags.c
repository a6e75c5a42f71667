/* SPDX-License-Identifier: Apache-2.0 */
/* Lags of edges, with the times of the links that the ops can use. Links are
 * looked at one by one only where an op is restricted to some devices: the
 * others take the fastest link. */
#include "cost/bound/lags.h"

#include <string.h>

#define NS_PER_SECOND 1000000000
#define MOST_LINKS 64 /* that are tried for one tensor */

/* The least that sending takes, whatever the link. */
static void find_send_times(regal_lags *lags, const regal_problem *problem) {
  const regal_machine *machine = problem->machine;
  int64_t latency = INT64_MAX, bandwidth = INT64_MAX;
  for (uint32_t a = 0; a < problem->devices; a++)
    for (uint32_t b = 0; b < problem->devices; b++) {
      if (a == b)
        continue;
      lags->links_differ |=
          machine->latency_ns[a][b] != machine->latency_ns[0][1] ||
          machine->bandwidth[a][b] != machine->bandwidth[0][1];
      if (machine->latency_ns[a][b] < latency)
        latency = machine->latency_ns[a][b];
      /* 0 is endless: no time at all */
      int64_t rate = machine->bandwidth[a][b];
      if (bandwidth && (bandwidth == INT64_MAX || !rate || rate > bandwidth))
        bandwidth = rate;
    }
  for (uint32_t t = 0; t < problem->tensors; t++) {
    __int128 ns = latency;
    if (bandwidth)
      ns += ((__int128)problem->bytes[t] * NS_PER_SECOND + bandwidth - 1) /
            bandwidth;
    bool free = problem->control_tensor && problem->control_tensor[t];
    lags->send_ns[t] = free                   ? 0
                       : ns < REGAL_LAG_NEVER ? (int64_t)ns
                                              : REGAL_LAG_NEVER;
  }
}

int64_t regal_lags_send_ns(const regal_lags *lags, const regal_problem *problem,
                           uint32_t tensor, uint64_t from, uint64_t to) {
  int links = __builtin_popcountll(from) * __builtin_popcountll(to);
  if (!lags->links_differ || links > MOST_LINKS)
    return lags->send_ns[tensor];
  int64_t least = REGAL_LAG_NEVER;
  for (; from; from &= from - 1) {
    uint32_t a = (uint32_t)__builtin_ctzll(from);
    for (uint64_t left = to & ~(UINT64_C(1) << a); left; left &= left - 1)
      least = regal_smaller(
          least, regal_problem_transfer_ns(problem, tensor, a,
                                           (uint32_t)__builtin_ctzll(left)));
  }
  return least;
}

static int64_t edge_ns(const regal_lags *lags, const regal_problem *problem,
                       uint32_t tensor, uint32_t from, uint32_t to) {
  if (!regal_is_restricted(problem, from) && !regal_is_restricted(problem, to))
    return lags->send_ns[tensor];
  return regal_lags_send_ns(lags, problem, tensor, problem->allowed[from],
                            problem->allowed[to]);
}

static regal_lag lag_of_edge(const regal_problem *problem, uint32_t from,
                             uint32_t to) {
  bool grouped =
      problem->leader && problem->leader[from] == problem->leader[to];
  bool disjoint = !(problem->allowed[from] & problem->allowed[to]);
  return (regal_lag){from, to, disjoint ? REGAL_LAG_NEVER : 0,
                     grouped ? REGAL_LAG_NEVER : 0};
}

static void find_edges(regal_lags *lags, const regal_problem *problem,
                       uint32_t *slot, uint32_t *end) {
  uint32_t n = problem->ops;
  for (uint32_t op = 0; op < n; op++)
    lags->edge_begin[op + 1] = lags->edge_begin[op] + problem->predecessors[op];
  memcpy(end, lags->edge_begin, n * sizeof *end);
  for (uint32_t op = 0; op < n; op++) {
    for (REGAL_ROW(s, problem->successor_begin, op)) {
      uint32_t next = problem->successor[s];
      slot[next] = end[next]++;
      lags->edge[slot[next]] = lag_of_edge(problem, op, next);
    }
    /* several tensors go over one link, or block both devices, one by one */
    for (REGAL_ROW(t, problem->output_begin, op))
      for (REGAL_ROW(u, problem->use_begin, t)) {
        uint32_t next = problem->consumer[u];
        int64_t *apart = &lags->edge[slot[next]].apart;
        *apart = regal_smaller(*apart + edge_ns(lags, problem, t, op, next),
                               REGAL_LAG_NEVER);
      }
  }
}

/* Whether all run and transfer times together can be added without care. */
static bool is_modest(const regal_lags *lags, const regal_problem *problem,
                      const int64_t *shortest) {
  __int128 sum = 0;
  for (uint32_t op = 0; op < problem->ops; op++)
    sum += shortest[op];
  for (uint32_t t = 0; t < problem->tensors; t++)
    sum += (__int128)lags->send_ns[t] *
           (problem->use_begin[t + 1] - problem->use_begin[t]);
  return sum < REGAL_LAG_NEVER / 2;
}

void regal_lags_layout(regal_lags *lags, regal_carver *carver,
                       const regal_problem *problem) {
  size_t n = problem->ops, edges = problem->successor_begin[n];
  lags->send_ns = regal_carve(carver, problem->tensors, 8);
  lags->edge_begin = regal_carve(carver, n + 1, 4);
  lags->edge = regal_carve(carver, edges, sizeof *lags->edge);
  lags->found_begin = regal_carve(carver, n + 1, 4);
  /* find_edges uses this memory too */
  lags->found = regal_carve(carver, lags->most_found + n, sizeof *lags->found);
}

bool regal_lags_find(regal_lags *lags, const regal_problem *problem,
                     const int64_t *shortest) {
  uint32_t *scratch = (uint32_t *)(void *)lags->found;
  find_send_times(lags, problem);
  if (!is_modest(lags, problem, shortest))
    return false;
  find_edges(lags, problem, scratch, scratch + problem->ops);
  return true;
}
