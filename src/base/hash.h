/* SPDX-License-Identifier: Apache-2.0 */
/* Checksums of texts and bytes. Tables of names have a hash of their own, which
 * files cannot predict (names.c). */
#ifndef REGAL_BASE_HASH_H
#define REGAL_BASE_HASH_H

#include <stddef.h>

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

/* The same for bytes that may hold zeros. */
static inline uint64_t regal_hash_bytes(uint64_t basis, const void *bytes,
                                        size_t size) {
  const unsigned char *byte = bytes;
  uint64_t hash = basis;
  for (size_t i = 0; i < size; i++)
    hash = (hash ^ byte[i]) * UINT64_C(0x100000001B3);
  return regal_mix(hash);
}

#endif
