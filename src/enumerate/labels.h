/* SPDX-License-Identifier: Apache-2.0 */
/* What is known of the ways to a set of steps: labels, vectors of numbers of
 * which less is better.
 *
 * A way whose label is nowhere less than another's to the same set needs no
 * continuation: whatever follows, the other one does as well. */
#ifndef REGAL_ENUMERATE_LABELS_H
#define REGAL_ENUMERATE_LABELS_H

#include "base/carve.h"

typedef struct regal_label_table {
  uint32_t width;   /* numbers in a label */
  uint32_t count;   /* labels that are kept; they are numbered from 1 */
  uint32_t *head;   /* [slots] the last label of a slot, or 0 */
  uint32_t *next;   /* [labels] an older one of the same slot, or 0 */
  uint64_t *set;    /* [labels] whose it is */
  int64_t *numbers; /* [labels * width] */
} regal_label_table;

/* The width must be set; all else must be zero. */
void regal_label_layout(regal_label_table *table, regal_carver *carver);
/* Forgets all labels. */
void regal_label_clear(regal_label_table *table);
/* False if a kept label of the set is as good everywhere. Otherwise keeps this
 * one, as long as there is room. */
bool regal_label_add(regal_label_table *table, uint64_t set,
                     const int64_t *label);

#endif
