/* SPDX-License-Identifier: Apache-2.0 */
/* Open addressing with linear probing, at most half full. A slot keeps the hash
 * beside the number, so that growing reads no text.
 *
 * Names come from files, and a file may choose them so that they collide: with
 * a hash that is known, n names would take n^2 steps. The hash is therefore a
 * polynomial in a secret point r, modulo the prime p = 2^61 - 1 (Carter and
 * Wegman 1979): its coefficients are the key's scope and its text, seven bytes
 * each. Two keys of at most L bytes are two polynomials whose difference has at
 * most L / 7 + 3 roots, so they collide for so few of the p points, whatever
 * keys were chosen.
 * The point is drawn when a context is made. Nothing that a caller can see
 * depends on it: numbers are given in the order of adding.
 */
#include "base/names.h"

#include <string.h>

#include "base/random.h"

#define FEWEST_SLOTS 64
#define CHUNK 7 /* bytes of a text in a coefficient */

typedef struct regal_names_slot {
  uint32_t hash, number; /* number + 1, or 0 */
} name_slot;

void regal_names_init(regal_names *names, regal_context *context) {
  *names = (regal_names){.context = context};
}

void regal_names_free(regal_names *names) {
  if (names->context) {
    regal_release(names->context, names->key);
    regal_release(names->context, names->slots);
  }
  regal_names_init(names, names->context);
}

void regal_names_clear(regal_names *names) {
  names->count = 0;
  if (names->slot_count)
    memset(names->slots, 0, names->slot_count * sizeof *names->slots);
}

/* value * point + next, modulo the prime and below it. */
static inline uint64_t append(uint64_t value, uint64_t point, uint64_t next) {
  unsigned __int128 product = (unsigned __int128)value * point;
  uint64_t sum =
      (uint64_t)(product & REGAL_HASH_PRIME) + (uint64_t)(product >> 61) + next;
  sum = (sum & REGAL_HASH_PRIME) + (sum >> 61);
  return sum >= REGAL_HASH_PRIME ? sum - REGAL_HASH_PRIME : sum;
}

/* Bytes of a text as a number. Texts have no zero bytes, so different ends give
 * different numbers. */
static inline uint64_t read_chunk(const char *text, size_t bytes) {
  uint64_t chunk = 0;
  memcpy(&chunk, text, bytes);
  return chunk;
}

static uint32_t hash_of(const regal_names *names, uint64_t scope,
                        const char *text) {
  uint64_t point = names->context->hash_point, hash = 1;
  hash = append(hash, point, scope >> 32);
  hash = append(hash, point, (uint32_t)scope);
  size_t left = strlen(text);
  for (; left >= CHUNK; left -= CHUNK, text += CHUNK)
    hash = append(hash, point, read_chunk(text, CHUNK));
  hash = append(hash, point, read_chunk(text, left));
  return (uint32_t)(regal_mix(hash) >> 32);
}

/* The slot that has the key, or the free one where it belongs. */
static name_slot *find_slot(const regal_names *names, uint32_t hash,
                            uint64_t scope, const char *text) {
  size_t mask = names->slot_count - 1;
  for (size_t at = hash & mask;; at = (at + 1) & mask) {
    name_slot *slot = &names->slots[at];
    if (!slot->number)
      return slot;
    const regal_named *key = &names->key[slot->number - 1];
    if (slot->hash == hash && key->scope == scope && !strcmp(key->text, text))
      return slot;
  }
}

size_t regal_names_find_in(const regal_names *names, uint64_t scope,
                           const char *text) {
  if (!names->count)
    return REGAL_NO_NAME;
  uint32_t hash = hash_of(names, scope, text);
  uint32_t found = find_slot(names, hash, scope, text)->number;
  return found ? found - 1 : REGAL_NO_NAME;
}

/* Doubles the slots. */
static bool grow(regal_names *names) {
  size_t count = names->slot_count ? names->slot_count * 2 : FEWEST_SLOTS;
  name_slot *slots = regal_alloc(names->context, count, sizeof *slots);
  if (!slots)
    return false;
  for (size_t i = 0; i < names->slot_count; i++) {
    size_t at = names->slots[i].hash & (count - 1);
    if (!names->slots[i].number)
      continue;
    while (slots[at].number)
      at = (at + 1) & (count - 1);
    slots[at] = names->slots[i];
  }
  regal_release(names->context, names->slots);
  names->slots = slots;
  names->slot_count = count;
  return true;
}

bool regal_names_add_in(regal_names *names, uint64_t scope, const char *text,
                        size_t *number) {
  if (names->count >= UINT32_MAX - 1 ||
      !REGAL_RESERVE(names->context, names->key, names->count,
                     names->capacity) ||
      ((names->count + 1) * 2 > names->slot_count && !grow(names)))
    return false;
  uint32_t hash = hash_of(names, scope, text);
  name_slot *slot = find_slot(names, hash, scope, text);
  if (!slot->number) {
    names->key[names->count++] = (regal_named){scope, text};
    *slot = (name_slot){hash, (uint32_t)names->count};
  }
  *number = slot->number - 1;
  return true;
}
