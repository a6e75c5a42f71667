/* Hashing texts, for tables of names. */
#ifndef REGAL_BASE_HASH_H
#define REGAL_BASE_HASH_H

#include "base/random.h"

#define REGAL_HASH_BASIS UINT64_C(0xCBF29CE484222325)

/* FNV-1a, mixed once more so that all its bits are good. Another basis gives
 * another hash. */
static inline uint64_t regal_hash_text(uint64_t basis, const char *text) {
  uint64_t hash = basis;
  for (; *text; text++)
    hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001B3);
  return regal_mix(hash);
}

#endif
