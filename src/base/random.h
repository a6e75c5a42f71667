/* SPDX-License-Identifier: Apache-2.0 */
/* Counter-based random numbers: number i of a stream is a hash of (key, i), and
 * the key is a hash of (seed, purpose, generation, individual). Nothing is
 * carried from one draw to the next, so the result of a search does not depend
 * on which thread draws what.
 *
 * The hash is the finaliser of SplitMix64 (Steele, Lea and Flood 2014), which
 * passes BigCrush as a counter-based generator at increments of the golden
 * ratio. A pinned sequence in tests/ guards it.
 */
#ifndef REGAL_BASE_RANDOM_H
#define REGAL_BASE_RANDOM_H

#include <stdint.h>

#define REGAL_GOLDEN UINT64_C(0x9E3779B97F4A7C15)

/* What a stream is for; part of its key. Values are pinned: changing one
 * changes every result. */
enum regal_purpose {
  REGAL_PURPOSE_SAMPLE = 1,     /* genes of the population and of mutants */
  REGAL_PURPOSE_PARENTS = 2,    /* which two chromosomes mate */
  REGAL_PURPOSE_CROSSOVER = 3,  /* which parent each gene comes from */
  REGAL_PURPOSE_GENERATE = 4,   /* synthetic graphs */
  REGAL_PURPOSE_TEST = 5,       /* tests and benchmarks */
  REGAL_PURPOSE_AUGMENT = 6,    /* noise on a graph's times and sizes */
  REGAL_PURPOSE_SPLIT = 7,      /* which graphs train and which test */
  REGAL_PURPOSE_ANNEAL = 8,     /* moves, and whether they are accepted */
  REGAL_PURPOSE_POLICY = 16,    /* initial weights, and actions */
  REGAL_PURPOSE_FEATURES = 17,  /* the BRKGA run that a policy reads */
  REGAL_PURPOSE_TRAIN = 18,     /* which graphs, actions and episodes */
  REGAL_PURPOSE_PARTITION = 19, /* starts of graph partitioning */
  REGAL_PURPOSE_CLIMB = 21,     /* starts and moves of hill climbing */
  REGAL_PURPOSE_FIT = 22,       /* priorities of list schedules within limits */
  REGAL_PURPOSE_LOCAL = 23      /* starts of local search */
};

static inline uint64_t regal_mix(uint64_t x) {
  x = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
  x = (x ^ (x >> 27)) * UINT64_C(0x94D049BB133111EB);
  return x ^ (x >> 31);
}

static inline uint64_t regal_random_key(uint64_t seed, uint64_t purpose,
                                        uint64_t generation,
                                        uint64_t individual) {
  uint64_t key = regal_mix(seed + REGAL_GOLDEN);
  key = regal_mix(key ^ (purpose * REGAL_GOLDEN));
  key = regal_mix(key ^ (generation * REGAL_GOLDEN));
  return regal_mix(key ^ (individual * REGAL_GOLDEN));
}

/* The i-th 64-bit number of a stream. */
static inline uint64_t regal_random_at(uint64_t key, uint64_t i) {
  return regal_mix(key + (i + 1) * REGAL_GOLDEN);
}

/* A stream for code that draws one number after the other. */
typedef struct regal_random {
  uint64_t key, drawn;
} regal_random;

static inline uint64_t regal_random_next(regal_random *random) {
  return regal_random_at(random->key, random->drawn++);
}

/* Uniform in 0 .. n-1, without division (Lemire); bias below n / 2^64. */
static inline uint64_t regal_random_below(regal_random *random, uint64_t n) {
  return (uint64_t)(((unsigned __int128)regal_random_next(random) * n) >> 64);
}

/* Uniform in [0, 1). */
static inline double regal_random_unit(regal_random *random) {
  return (double)(regal_random_next(random) >> 11) * 0x1p-53;
}

#endif
