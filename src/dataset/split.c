/* SPDX-License-Identifier: Apache-2.0 */
/* The paper's split takes graphs five at a time from a list sorted by size. We
 * take units: families, joined where two graphs of theirs have the same
 * in-degree sequence, so that neither a model nor a topology is on both sides.
 * A unit with graphs of a set that has been split before goes where these are;
 * only the others are dealt.
 */
#include "dataset/split.h"

#include <stdlib.h>
#include <string.h>

#include "base/carve.h"
#include "base/names.h"
#include "base/random.h"

#define GROUP 5 /* three to train, one to valid, one to test */

regal_status regal_first_equals(regal_context *context, const uint64_t *keys,
                                size_t count, size_t *is) {
  regal_names seen;
  size_t *first = regal_alloc(context, count, sizeof *first);
  bool good = first != NULL;
  regal_names_init(&seen, context);
  for (size_t i = 0; i < count && good; i++) {
    size_t before = seen.count, number;
    good = regal_names_add_in(&seen, keys[i], "", &number);
    if (good && number == before)
      first[number] = i;
    is[i] = good ? first[number] : i;
  }
  regal_names_free(&seen);
  regal_release(context, first);
  return good ? REGAL_OK : regal_fail_memory(context);
}

/* -- Units: sets of items that stay together ------------------------------- */

static size_t root_of(size_t *parent, size_t item) {
  while (parent[item] != item)
    item = parent[item] = parent[parent[item]];
  return item;
}

/* The first item of a unit is its root, so that units do not depend on the
 * order in which they were joined. */
static void join(size_t *parent, size_t a, size_t b) {
  a = root_of(parent, a);
  b = root_of(parent, b);
  if (a < b)
    parent[b] = a;
  else
    parent[a] = b;
}

static regal_status join_equals(regal_context *context,
                                const regal_split_item *items, size_t count,
                                size_t *parent) {
  uint64_t *keys = regal_alloc(context, count, sizeof *keys);
  size_t *is = regal_alloc(context, count, sizeof *is);
  regal_status status = keys && is ? REGAL_OK : regal_fail_memory(context);
  for (int pass = 0; pass < 2 && status == REGAL_OK; pass++) {
    for (size_t i = 0; i < count; i++)
      keys[i] = pass ? items[i].degrees : items[i].family;
    status = regal_first_equals(context, keys, count, is);
    for (size_t i = 0; i < count && status == REGAL_OK; i++)
      join(parent, i, is[i]);
  }
  regal_release(context, keys);
  regal_release(context, is);
  return status;
}

typedef struct unit {
  size_t root;    /* its first item */
  size_t members; /* how many graphs it has */
  uint32_t ops;   /* their median */
} unit;

/* Items by (unit, ops). */
typedef struct placed {
  size_t root;
  uint32_t ops;
} placed;

static int by_unit(const void *left, const void *right) {
  const placed *a = left, *b = right;
  if (a->root != b->root)
    return a->root < b->root ? -1 : 1;
  return (a->ops > b->ops) - (a->ops < b->ops);
}

static int by_ops(const void *left, const void *right) {
  const unit *a = left, *b = right;
  if (a->ops != b->ops)
    return a->ops < b->ops ? -1 : 1;
  return (a->root > b->root) - (a->root < b->root);
}

typedef struct scratch {
  size_t *parent;
  placed *placed;
  unit *units;
  /* Of roots: */
  regal_split *splits;
  bool *is_given; /* by an item of another set */
} scratch;

/* Items that are not given, of units to be dealt; the others get their split
 * here, and are counted. */
static size_t list_free(const regal_split_item *items, size_t count, scratch *s,
                        size_t counts[REGAL_SPLITS]) {
  size_t made = 0;
  for (size_t i = count; i-- > 0;) { /* the first one is the last to say */
    if (!items[i].given)
      continue;
    s->splits[root_of(s->parent, i)] = items[i].split;
    s->is_given[root_of(s->parent, i)] = true;
  }
  for (size_t i = 0; i < count; i++) {
    size_t root = root_of(s->parent, i);
    if (!items[i].given && s->is_given[root])
      counts[s->splits[root]]++;
    else if (!items[i].given)
      s->placed[made++] = (placed){root, items[i].ops};
  }
  return made;
}

/* The units in order of size; returns how many there are. */
static size_t list_units(placed *placed, size_t count, unit *units) {
  size_t made = 0;
  qsort(placed, count, sizeof *placed, by_unit);
  for (size_t begin = 0, end; begin < count; begin = end) {
    for (end = begin + 1;
         end < count && placed[end].root == placed[begin].root;)
      end++;
    units[made++] = (unit){placed[begin].root, end - begin,
                           placed[begin + (end - begin) / 2].ops};
  }
  qsort(units, made, sizeof *units, by_ops);
  return made;
}

/* -- Groups of five -------------------------------------------------------- */

/* How far the counts are from 3:1:1, times five. */
static uint64_t imbalance(const size_t counts[REGAL_SPLITS]) {
  static const size_t shares[REGAL_SPLITS] = {3, 1, 1};
  size_t total = counts[0] + counts[1] + counts[2];
  uint64_t sum = 0;
  for (int s = 0; s < REGAL_SPLITS; s++) {
    size_t have = GROUP * counts[s], want = shares[s] * total;
    sum += have > want ? have - want : want - have;
  }
  return sum;
}

static regal_split split_of(size_t place, size_t valid, size_t test) {
  return place == valid  ? REGAL_SPLIT_VALID
         : place == test ? REGAL_SPLIT_TEST
                         : REGAL_SPLIT_TRAIN;
}

/* Chooses which of the group's units (or places, when the last group is short)
 * go to valid and to test. `counts` are the graphs that were dealt so far. */
static void deal(const unit *units, size_t group_size, uint64_t key,
                 size_t counts[REGAL_SPLITS], regal_split *splits) {
  uint64_t best = UINT64_MAX, best_draw = 0;
  size_t best_counts[REGAL_SPLITS] = {0};
  for (unsigned choice = 0; choice < GROUP * GROUP; choice++) {
    unsigned valid = choice / GROUP, test = choice % GROUP;
    size_t tried[REGAL_SPLITS] = {counts[0], counts[1], counts[2]};
    if (valid == test)
      continue;
    for (size_t i = 0; i < group_size; i++)
      tried[split_of(i, valid, test)] += units[i].members;
    uint64_t now = imbalance(tried), draw = regal_random_at(key, choice);
    if (now > best || (now == best && draw >= best_draw))
      continue;
    best = now;
    best_draw = draw;
    memcpy(best_counts, tried, sizeof tried);
    for (size_t i = 0; i < group_size; i++)
      splits[units[i].root] = split_of(i, valid, test);
  }
  memcpy(counts, best_counts, sizeof best_counts);
}

static void lay_out(scratch *s, regal_carver *carver, size_t count) {
  s->parent = regal_carve(carver, count, sizeof *s->parent);
  s->placed = regal_carve(carver, count, sizeof *s->placed);
  s->units = regal_carve(carver, count, sizeof *s->units);
  s->splits = regal_carve(carver, count, sizeof *s->splits);
  s->is_given = regal_carve(carver, count, sizeof *s->is_given);
}

static regal_status split(regal_context *context, regal_split_item *items,
                          size_t count, uint64_t seed, scratch *s) {
  for (size_t i = 0; i < count; i++)
    s->parent[i] = i;
  REGAL_TRY(join_equals(context, items, count, s->parent));
  size_t counts[REGAL_SPLITS] = {0};
  size_t dealt = list_free(items, count, s, counts);
  size_t units = list_units(s->placed, dealt, s->units);
  for (size_t first = 0; first < units; first += GROUP) {
    size_t size = units - first < GROUP ? units - first : GROUP;
    deal(s->units + first, size,
         regal_random_key(seed, REGAL_PURPOSE_SPLIT, first / GROUP, 0), counts,
         s->splits);
  }
  for (size_t i = 0; i < count; i++)
    items[i].split = s->splits[root_of(s->parent, i)];
  return REGAL_OK;
}

regal_status regal_split_items(regal_context *context, regal_split_item *items,
                               size_t count, uint64_t seed) {
  scratch s;
  regal_carver carver = {NULL, 0};
  REGAL_TRY(REGAL_CARVE_BLOCK(context, carver, lay_out(&s, &carver, count)));
  regal_status status = split(context, items, count, seed, &s);
  regal_release(context, carver.base);
  return status;
}
