/* SPDX-License-Identifier: Apache-2.0 */
/* Keys to numbers: the one hash table of the library. A key is a text within a
 * scope, where a scope is any number: the table serves names (scope 0), names
 * in nested scopes, and sets of 64-bit numbers (the text ""). The texts are the
 * caller's and must outlive it; keys are numbered in the order of adding.
 */
#ifndef REGAL_BASE_NAMES_H
#define REGAL_BASE_NAMES_H

#include "base/context.h"

#define REGAL_NO_NAME SIZE_MAX

typedef struct regal_named {
  uint64_t scope;
  const char *text;
} regal_named;

typedef struct regal_names {
  regal_context *context;
  regal_named *key;               /* [count] */
  struct regal_names_slot *slots; /* [slot_count], a power of two */
  size_t count, capacity, slot_count;
} regal_names;

void regal_names_init(regal_names *names, regal_context *context);
/* A table of zeros is accepted, and has no keys. */
void regal_names_free(regal_names *names);
/* Forgets the keys and keeps the memory. */
void regal_names_clear(regal_names *names);

/* The number of a key that is there, or REGAL_NO_NAME. O(length). */
size_t regal_names_find_in(const regal_names *names, uint64_t scope,
                           const char *text);
/* Adds a key unless it is there; `*number` is its number either way, and less
 * than the count before only if it was there. False when memory is out. */
bool regal_names_add_in(regal_names *names, uint64_t scope, const char *text,
                        size_t *number);

static inline size_t regal_names_find(const regal_names *names,
                                      const char *text) {
  return regal_names_find_in(names, 0, text);
}

static inline bool regal_names_add(regal_names *names, const char *text,
                                   size_t *number) {
  return regal_names_add_in(names, 0, text, number);
}

#endif
