/* SPDX-License-Identifier: Apache-2.0 */
/* A set of 64-bit keys (hashes): open addressing, at most half full. */
#ifndef REGAL_BASE_KEY_SET_H
#define REGAL_BASE_KEY_SET_H

#include "base/context.h"

typedef struct regal_key_set {
  regal_context *context;
  uint64_t *keys; /* [capacity], 0 where there is none */
  size_t count, capacity;
} regal_key_set;

void regal_key_set_init(regal_key_set *set, regal_context *context);
void regal_key_set_free(regal_key_set *set);
bool regal_key_set_has(const regal_key_set *set, uint64_t key);
/* Adding a key twice is the same as once. */
regal_status regal_key_set_add(regal_key_set *set, uint64_t key);

#endif
