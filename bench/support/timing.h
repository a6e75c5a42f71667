/* SPDX-License-Identifier: Apache-2.0 */
/* Timing for ratios: candidates take turns, round after round, and each one's
 * fastest round counts, so that a busy machine disturbs them alike. */
#ifndef REGAL_BENCH_TIMING_H
#define REGAL_BENCH_TIMING_H

#include <stddef.h>
#include <time.h>

typedef struct bench_candidate {
  const char *name;
  void (*run)(void *state, int repeats);
  void *state;
  double seconds; /* of one repeat, in the fastest round */
} bench_candidate;

/* CPU time of this thread, so that other processes do not count. */
static inline double bench_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* `round_seconds` is about how long one turn takes. */
static inline void bench_race(bench_candidate *candidates, size_t count,
                              int rounds, double round_seconds) {
  int repeats[16];
  for (size_t i = 0; i < count; i++) {
    candidates[i].seconds = 1e9;
    repeats[i] = 1;
    for (double took = 0; took < round_seconds / 4;) {
      double began = bench_seconds();
      candidates[i].run(candidates[i].state, repeats[i]);
      took = bench_seconds() - began;
      repeats[i] *= 2;
    }
  }
  for (int round = 0; round < rounds; round++)
    for (size_t i = 0; i < count; i++) {
      double began = bench_seconds();
      candidates[i].run(candidates[i].state, repeats[i]);
      double took = (bench_seconds() - began) / repeats[i];
      if (took < candidates[i].seconds)
        candidates[i].seconds = took;
    }
}

#endif
