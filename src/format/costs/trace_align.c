/* SPDX-License-Identifier: Apache-2.0 */
/* Which call is which op.
 *
 * The trace is the graph's sequence of ops, run several times, with gaps: ops
 * that tracing added have no call, and what surrounds the model calls ops of
 * the same names. So calls are read as the ops of the graph in order, over and
 * over, and the best such reading is found by dynamic programming, as for an
 * alignment of two texts (Needleman and Wunsch, 1970) of which one is a ring.
 *
 * best[op] is the value of the best reading of the calls so far whose last op,
 * called or passed over, is `op`. For the next call:
 *
 *   the call is none of the graph's   best[op] stays
 *   it is a call of this op           best[op - 1] before it + what it is worth
 *   this op is passed over            best[op - 1] after it - 1
 *
 * The third goes round the ring, so a row is gone through until nothing
 * changes, which is less than twice. A call is worth most if the sizes of its
 * inputs are those of the op's; sizes may differ even so, because a call may
 * read a part of a tensor. Two bits for each call and op say how the best was
 * reached, for the way back.
 */
#include <string.h>

#include "base/compare.h"
#include "format/costs/trace.h"

enum { SIZES_AGREE = 5, SIZES_UNKNOWN = 3, SIZES_DIFFER = 1, PASSED_OVER = 1 };
enum { IS_NONE, IS_CALL, IS_PASSED };
#define MOST_CELLS (UINT64_C(1) << 30)
/* Of one op, to compare; more say no more. */
enum { MOST_INPUTS = 8, MOST_SIZES = 32 };

typedef struct table {
  const regal_alignment *a;
  int32_t *best;      /* [ops] */
  uint8_t *ways;      /* [calls][ops], two bits each */
  uint32_t *first_of; /* [keys + 1] ops of a key, in by_key */
  uint32_t *by_key;   /* [ops] places in a->ops */
  int32_t *worth;     /* [ops] of the call at hand; 0: it is another op */
} table;

/* -- Sizes ----------------------------------------------------------------- */

static bool has_size(const regal_trace *trace, const regal_trace_event *event,
                     int64_t bytes) {
  uint32_t end =
      regal_smaller32(event->size_end, event->size_begin + MOST_SIZES);
  for (uint32_t i = event->size_begin; i < end; i++) {
    const regal_trace_size *size = &trace->sizes[i];
    int64_t elements = size->elements;
    if (size->width
            ? bytes == elements * size->width
            : elements && bytes % elements == 0 && bytes / elements <= 16)
      return true;
  }
  return false;
}

static int32_t worth_of(const regal_alignment *a,
                        const regal_trace_event *event, uint32_t op) {
  const regal_graph *graph = a->graph;
  uint32_t known = 0, found = 0, begin = graph->input_begin[op];
  uint32_t end =
      regal_smaller32(graph->input_begin[op + 1], begin + MOST_INPUTS);
  for (uint32_t i = begin; i < end; i++) {
    int64_t bytes = graph->bytes[graph->input[i]];
    known += bytes > 0;
    found += bytes > 0 && has_size(a->trace, event, bytes);
  }
  if (!known || event->size_begin == event->size_end)
    return SIZES_UNKNOWN;
  return found == known ? SIZES_AGREE : found ? SIZES_UNKNOWN : SIZES_DIFFER;
}

/* -- The table ------------------------------------------------------------- */

static size_t cell_of(const table *t, uint32_t call, uint32_t op) {
  return (size_t)call * t->a->op_count + op;
}

static void set_way(table *t, size_t cell, unsigned way) {
  unsigned shift = (unsigned)(cell % 4) * 2;
  uint8_t *byte = &t->ways[cell / 4];
  *byte = (uint8_t)((*byte & ~(3u << shift)) | way << shift);
}

static unsigned way_of(const table *t, size_t cell) {
  return t->ways[cell / 4] >> (cell % 4) * 2 & 3;
}

static void set_worth(table *t, const regal_trace_event *event, bool known) {
  for (uint32_t i = t->first_of[event->key]; i < t->first_of[event->key + 1];
       i++) {
    uint32_t op = t->by_key[i];
    t->worth[op] = known ? worth_of(t->a, event, t->a->ops[op]) : 0;
  }
}

/* Best values with this call, from those before. */
static void add_call(table *t, uint32_t call) {
  uint32_t ops = t->a->op_count;
  size_t row = cell_of(t, call, 0);
  int32_t before = t->best[ops - 1]; /* of the op before, before this call */
  for (uint32_t op = 0; op < ops; op++) {
    int32_t stays = t->best[op], called = before + t->worth[op];
    before = stays;
    if (t->worth[op] && called >= stays) {
      t->best[op] = called;
      set_way(t, row + op, IS_CALL);
    }
  }
}

static void pass_over(table *t, uint32_t call) {
  uint32_t ops = t->a->op_count, last = ops - 1;
  size_t row = cell_of(t, call, 0);
  for (uint32_t i = 0, since = 0; since <= ops && i < 2 * ops; i++, since++) {
    uint32_t op = i % ops;
    if (t->best[last] - PASSED_OVER > t->best[op]) {
      t->best[op] = t->best[last] - PASSED_OVER;
      set_way(t, row + op, IS_PASSED);
      since = 0;
    }
    last = op;
  }
}

static void fill(table *t) {
  for (uint32_t call = 0; call < t->a->call_count; call++) {
    const regal_trace_event *event = &t->a->trace->events[t->a->calls[call]];
    set_worth(t, event, true);
    add_call(t, call);
    pass_over(t, call);
    set_worth(t, event, false);
  }
}

static void go_back(const table *t) {
  uint32_t ops = t->a->op_count, op = 0;
  for (uint32_t i = 1; i < ops; i++)
    if (t->best[i] > t->best[op])
      op = i;
  for (uint32_t call = t->a->call_count; call > 0;) {
    unsigned way = way_of(t, cell_of(t, call - 1, op));
    if (way != IS_PASSED)
      t->a->match[--call] = way == IS_CALL ? op : REGAL_NONE;
    if (way != IS_NONE)
      op = (op ? op : ops) - 1;
  }
}

/* -- Memory ---------------------------------------------------------------- */

/* Ops by key, by counting. */
static void sort_by_key(table *t, uint32_t keys) {
  const regal_alignment *a = t->a;
  for (uint32_t op = 0; op < a->op_count; op++)
    t->first_of[a->op_key[op] + 1]++;
  for (uint32_t key = 0; key < keys; key++)
    t->first_of[key + 1] += t->first_of[key];
  for (uint32_t op = a->op_count; op-- > 0;)
    t->by_key[--t->first_of[a->op_key[op] + 1]] = op;
  /* first_of[key + 1] is now where the key begins. */
  memmove(t->first_of, t->first_of + 1, keys * sizeof *t->first_of);
  t->first_of[keys] = a->op_count;
}

static uint32_t key_count(const regal_alignment *a) {
  uint32_t most = 0;
  for (uint32_t op = 0; op < a->op_count; op++)
    most = a->op_key[op] > most ? a->op_key[op] : most;
  return most + 1;
}

regal_status regal_trace_align(const regal_alignment *alignment) {
  regal_context *context = alignment->context;
  uint32_t ops = alignment->op_count, keys = key_count(alignment);
  uint64_t cells = (uint64_t)ops * alignment->call_count;
  if (!cells)
    return REGAL_OK;
  if (cells > MOST_CELLS)
    return regal_fail(context, REGAL_BAD_INPUT,
                      "%s: %u calls for %u ops are too many to match: profile "
                      "fewer steps",
                      alignment->trace->path, alignment->call_count, ops);
  table t = {.a = alignment};
  t.best = regal_alloc(context, ops, sizeof *t.best);
  t.worth = regal_alloc(context, ops, sizeof *t.worth);
  t.by_key = regal_alloc(context, ops, sizeof *t.by_key);
  t.first_of = regal_alloc(context, (size_t)keys + 1, sizeof *t.first_of);
  t.ways = regal_alloc(context, (size_t)cells / 4 + 1, 1);
  bool enough = t.best && t.worth && t.by_key && t.first_of && t.ways;
  if (enough) {
    sort_by_key(&t, keys);
    fill(&t);
    go_back(&t);
  }
  regal_release(context, t.ways);
  regal_release(context, t.first_of);
  regal_release(context, t.by_key);
  regal_release(context, t.worth);
  regal_release(context, t.best);
  return enough ? REGAL_OK : regal_fail_memory(context);
}
