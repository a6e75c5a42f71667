/* SPDX-License-Identifier: Apache-2.0 */
#include "base/names.h"

#include <string.h>

#include "base/hash.h"

void regal_names_init(regal_names *names, regal_context *context) {
  *names = (regal_names){.context = context};
}

void regal_names_free(regal_names *names) {
  regal_release(names->context, names->name);
  regal_release(names->context, names->slot);
  regal_names_init(names, names->context);
}

/* The slot that has the text, or the free one where it belongs. */
static size_t find_slot(const regal_names *names, const char *text) {
  size_t mask = names->slots - 1;
  size_t at = (size_t)regal_hash_text(REGAL_HASH_BASIS, text) & mask;
  while (names->slot[at] && strcmp(names->name[names->slot[at] - 1], text))
    at = (at + 1) & mask;
  return at;
}

size_t regal_names_find(const regal_names *names, const char *text) {
  if (!names->count)
    return REGAL_NO_NAME;
  uint32_t found = names->slot[find_slot(names, text)];
  return found ? found - 1 : REGAL_NO_NAME;
}

/* Keeps at least half of the slots free. */
static bool make_room(regal_names *names) {
  if (names->count >= UINT32_MAX - 1 ||
      !REGAL_RESERVE(names->context, names->name, names->count,
                     names->capacity))
    return false;
  if ((names->count + 1) * 2 <= names->slots)
    return true;
  size_t slots = names->slots ? names->slots * 2 : 64;
  uint32_t *slot = regal_alloc(names->context, slots, sizeof *slot);
  if (!slot)
    return false;
  regal_release(names->context, names->slot);
  names->slot = slot;
  names->slots = slots;
  for (size_t i = 0; i < names->count; i++)
    slot[find_slot(names, names->name[i])] = (uint32_t)i + 1;
  return true;
}

bool regal_names_add(regal_names *names, const char *text, size_t *number) {
  if (!make_room(names))
    return false;
  size_t at = find_slot(names, text);
  if (!names->slot[at]) {
    names->name[names->count++] = text;
    names->slot[at] = (uint32_t)names->count;
  }
  *number = names->slot[at] - 1;
  return true;
}
