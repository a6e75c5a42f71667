/* SPDX-License-Identifier: Apache-2.0 */
/* Texts to numbers: an open-addressing hash table. The texts are the caller's
 * and must outlive it; they are numbered in the order of adding.
 */
#ifndef REGAL_BASE_NAMES_H
#define REGAL_BASE_NAMES_H

#include "base/context.h"

#define REGAL_NO_NAME SIZE_MAX

typedef struct regal_names {
  regal_context *context;
  const char **name; /* [count] */
  uint32_t *slot;    /* [slots] number + 1, or 0; slots is a power of two */
  size_t count, capacity, slots;
} regal_names;

void regal_names_init(regal_names *names, regal_context *context);
void regal_names_free(regal_names *names);

/* The number of a text that is there, or REGAL_NO_NAME. O(length). */
size_t regal_names_find(const regal_names *names, const char *text);
/* Adds a text unless it is there; `*number` is its number either way, and less
 * than the count before only if it was there. False when memory is out. */
bool regal_names_add(regal_names *names, const char *text, size_t *number);

#endif
