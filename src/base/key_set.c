/* SPDX-License-Identifier: Apache-2.0 */
#include "base/key_set.h"

#include "base/random.h"

void regal_key_set_init(regal_key_set *set, regal_context *context) {
  *set = (regal_key_set){.context = context};
}

void regal_key_set_free(regal_key_set *set) {
  if (set->context)
    regal_release(set->context, set->keys);
  regal_key_set_init(set, set->context);
}

/* Zero marks an empty place, so it stands for another key. */
static uint64_t nonzero(uint64_t key) {
  return key ? key : REGAL_GOLDEN;
}

/* Where the key is, or where it would go. */
static size_t find(const regal_key_set *set, uint64_t key) {
  size_t at = regal_mix(key) & (set->capacity - 1);
  while (set->keys[at] && set->keys[at] != key)
    at = (at + 1) & (set->capacity - 1);
  return at;
}

bool regal_key_set_has(const regal_key_set *set, uint64_t key) {
  key = nonzero(key);
  return set->capacity && set->keys[find(set, key)] == key;
}

static regal_status make_room(regal_key_set *set) {
  if (set->count < set->capacity / 2)
    return REGAL_OK;
  regal_key_set larger = *set;
  larger.capacity = set->capacity ? 2 * set->capacity : 64;
  larger.keys = regal_alloc(set->context, larger.capacity, sizeof *larger.keys);
  if (!larger.keys)
    return regal_fail_memory(set->context);
  for (size_t i = 0; i < set->capacity; i++)
    if (set->keys[i])
      larger.keys[find(&larger, set->keys[i])] = set->keys[i];
  regal_release(set->context, set->keys);
  *set = larger;
  return REGAL_OK;
}

regal_status regal_key_set_add(regal_key_set *set, uint64_t key) {
  REGAL_TRY(make_room(set));
  key = nonzero(key);
  size_t at = find(set, key);
  set->count += !set->keys[at];
  set->keys[at] = key;
  return REGAL_OK;
}
