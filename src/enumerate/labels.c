/* SPDX-License-Identifier: Apache-2.0 */
/* A hash table of sets with lists of labels. When it is full, nothing more is
 * kept: the search then looks at some ways twice.
 */
#include "enumerate/labels.h"

#include "base/random.h"

#define SLOTS 4096 /* a power of two */
#define MOST_LABELS 16384

void regal_label_layout(regal_label_table *table, regal_carver *carver) {
  table->head = regal_carve(carver, SLOTS, sizeof *table->head);
  table->next = regal_carve(carver, MOST_LABELS, sizeof *table->next);
  table->set = regal_carve(carver, MOST_LABELS, sizeof *table->set);
  table->numbers = regal_carve(carver, (size_t)MOST_LABELS * table->width,
                               sizeof *table->numbers);
}

static uint32_t *slot_of(regal_label_table *table, uint64_t set) {
  return &table->head[regal_mix(set) % SLOTS];
}

/* There are few, as a rule. */
void regal_label_clear(regal_label_table *table) {
  for (uint32_t i = 0; i < table->count; i++)
    *slot_of(table, table->set[i]) = 0;
  table->count = 0;
}

static bool is_as_good(const int64_t *a, const int64_t *b, uint32_t width) {
  for (uint32_t i = 0; i < width; i++)
    if (a[i] > b[i])
      return false;
  return true;
}

static const int64_t *numbers_of(const regal_label_table *table,
                                 uint32_t number) {
  return table->numbers + (size_t)(number - 1) * table->width;
}

bool regal_label_add(regal_label_table *table, uint64_t set,
                     const int64_t *label) {
  uint32_t *head = slot_of(table, set);
  for (uint32_t k = *head; k; k = table->next[k - 1])
    if (table->set[k - 1] == set &&
        is_as_good(numbers_of(table, k), label, table->width))
      return false;
  if (table->count == MOST_LABELS)
    return true;
  uint32_t mine = table->count++;
  memcpy(table->numbers + (size_t)mine * table->width, label,
         table->width * sizeof *label);
  table->set[mine] = set;
  table->next[mine] = *head;
  *head = mine + 1;
  return true;
}
