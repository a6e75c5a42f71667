/* SPDX-License-Identifier: Apache-2.0 */
/* Bisection of a hypergraph by passes of moves (Fiduccia and Mattheyses 1982).
 *
 * The gain of a vertex is the number of bytes by which its move to the other
 * side lowers the cut: the nets of which it is the only pin on its side, less
 * the nets that are whole. A pass moves the vertex with the largest gain whose
 * move keeps the balance or improves it, locks it, and goes on, also when the
 * gain is negative; at the end it returns to the best state on the way. That
 * carries it out of local optima that single moves cannot leave.
 *
 * Gains are kept incrementally. A move changes the gain of other pins of a net
 * only if the net was or becomes whole, or has one pin on a side: their four
 * rules, in `move`. Fiduccia and Mattheyses keep vertices in buckets by gain;
 * bytes have too many values for that, so that a tournament on each side gives
 * the largest gain in O(log vertices), and a pass takes O(pins log vertices).
 * A pass ends early after many moves that improved nothing.
 *
 * The first start is a cut of the file's order; small hypergraphs also get a
 * few that grow breadth first from a random vertex.
 */
#include <math.h>
#include <string.h>

#include "base/carve.h"
#include "base/random.h"
#include "base/tournament.h"
#include "heuristic/partition/partition.h"

enum { MOST_PASSES = 12, RANDOM_STARTS = 7 };
/* Random starts only up to so many pins. */
#define MOST_PINS 200000

typedef struct fm {
  regal_bisection *bisection;
  int64_t *gain;             /* [vertices] bytes that a move saves */
  uint32_t (*count)[2];      /* [nets] pins on each side */
  uint8_t *locked;           /* [vertices] moved in this pass, or fixed */
  uint32_t *moved;           /* [vertices] in this pass, in order */
  uint8_t *best_side;        /* [vertices] of the best start */
  int64_t load[2], total;    /* weights */
  int64_t cut;               /* bytes, at present */
  regal_tournament order[2]; /* of vertices that may move, by side */
} fm;

/* -- Balance --------------------------------------------------------------- */

static int64_t total_weight(const regal_bisection *b) {
  int64_t total = 0;
  for (uint32_t v = 0; v < b->vertices; v++)
    total += b->weight[v];
  return total;
}

static int64_t slack_of(const regal_bisection *b, int64_t total) {
  int64_t heaviest = 0;
  for (uint32_t v = 0; v < b->vertices; v++)
    heaviest = b->weight[v] > heaviest ? b->weight[v] : heaviest;
  int64_t slack = (int64_t)(REGAL_FM_SLACK * (double)total);
  return heaviest > slack ? heaviest : slack;
}

static int64_t beyond(const regal_bisection *b, int64_t load0, int64_t total,
                      int64_t slack) {
  int64_t wanted = (int64_t)(b->share * (double)total);
  int64_t off = load0 > wanted ? load0 - wanted : wanted - load0;
  return off > slack ? off - slack : 0;
}

int64_t regal_bisection_imbalance(const regal_bisection *b) {
  int64_t total = total_weight(b), load0 = 0;
  for (uint32_t v = 0; v < b->vertices; v++)
    load0 += b->side[v] ? 0 : b->weight[v];
  return beyond(b, load0, total, slack_of(b, total));
}

int64_t regal_bisection_cut(const regal_bisection *b) {
  int64_t cut = 0;
  for (uint32_t n = 0; n < b->nets; n++) {
    bool both = false;
    for (uint32_t i = b->pin_begin[n] + 1; i < b->pin_begin[n + 1]; i++)
      both |= b->side[b->pin[i]] != b->side[b->pin[b->pin_begin[n]]];
    cut += both ? b->bytes[n] : 0;
  }
  return cut;
}

/* -- Gains ----------------------------------------------------------------- */

static bool more_gain(const void *state, uint32_t a, uint32_t b) {
  const int64_t *gain = state;
  return gain[a] > gain[b];
}

static void count_pins(fm *f) {
  const regal_bisection *b = f->bisection;
  memset(f->count, 0, b->nets * sizeof *f->count);
  memset(f->load, 0, sizeof f->load);
  f->cut = 0;
  for (uint32_t v = 0; v < b->vertices; v++)
    f->load[b->side[v]] += b->weight[v];
  for (uint32_t n = 0; n < b->nets; n++) {
    for (REGAL_ROW(i, b->pin_begin, n))
      f->count[n][b->side[b->pin[i]]]++;
    f->cut += f->count[n][0] && f->count[n][1] ? b->bytes[n] : 0;
  }
}

static void begin_pass(fm *f) {
  const regal_bisection *b = f->bisection;
  count_pins(f);
  for (uint32_t v = 0; v < b->vertices; v++) {
    uint8_t side = b->side[v];
    f->gain[v] = 0;
    for (REGAL_ROW(i, b->net_begin, v)) {
      const uint32_t *count = f->count[b->net[i]];
      if (count[side] == 1) /* whole after the move */
        f->gain[v] += b->bytes[b->net[i]];
      else if (count[!side] == 0) /* whole before it */
        f->gain[v] -= b->bytes[b->net[i]];
    }
    f->locked[v] = b->fixed[v] != REGAL_SIDE_FREE;
  }
  for (uint32_t v = 0; v < b->vertices; v++)
    for (int side = 0; side < 2; side++)
      regal_tournament_set(&f->order[side], v,
                           b->side[v] == side && !f->locked[v] ? v
                                                               : REGAL_NONE);
}

static void change_gain(fm *f, uint32_t v, int64_t bytes) {
  if (f->locked[v])
    return;
  f->gain[v] += bytes;
  regal_tournament_set(&f->order[f->bisection->side[v]], v, v);
}

/* Changes the gain of the net's pins: of all, or of the one on `side`. */
static void change_pins(fm *f, uint32_t net, int side, int64_t bytes) {
  const regal_bisection *b = f->bisection;
  for (REGAL_ROW(i, b->pin_begin, net)) {
    if (side >= 0 && b->side[b->pin[i]] != side)
      continue;
    change_gain(f, b->pin[i], bytes);
    if (side >= 0)
      return;
  }
}

/* Moves a vertex to the other side and locks it. */
static void move(fm *f, uint32_t v) {
  regal_bisection *b = f->bisection;
  int from = b->side[v], to = !from;
  f->locked[v] = 1;
  regal_tournament_set(&f->order[from], v, REGAL_NONE);
  f->cut -= f->gain[v];
  f->load[from] -= b->weight[v];
  f->load[to] += b->weight[v];
  for (REGAL_ROW(i, b->net_begin, v)) {
    uint32_t net = b->net[i], *count = f->count[net];
    if (count[to] == 0)
      change_pins(f, net, -1, b->bytes[net]);
    else if (count[to] == 1)
      change_pins(f, net, to, -b->bytes[net]);
  }
  b->side[v] = (uint8_t)to;
  for (REGAL_ROW(i, b->net_begin, v)) {
    uint32_t net = b->net[i], *count = f->count[net];
    count[from]--;
    count[to]++;
    if (count[from] == 0)
      change_pins(f, net, -1, -b->bytes[net]);
    else if (count[from] == 1)
      change_pins(f, net, from, b->bytes[net]);
  }
}

/* -- Passes ---------------------------------------------------------------- */

/* The vertex with the largest gain among those whose move keeps the balance, or
 * mends it; REGAL_NONE when neither side's first can move. */
static uint32_t choose(const fm *f, int64_t slack) {
  const regal_bisection *b = f->bisection;
  uint32_t best = REGAL_NONE;
  int64_t now = beyond(b, f->load[0], f->total, slack);
  for (int from = 0; from < 2; from++) {
    uint32_t v = regal_tournament_best(&f->order[from], 0, b->vertices);
    if (v == REGAL_NONE)
      continue;
    int64_t load0 = f->load[0] + (from ? b->weight[v] : -b->weight[v]);
    int64_t then = beyond(b, load0, f->total, slack);
    if (then > 0 && then >= now)
      continue;
    if (best == REGAL_NONE || f->gain[v] > f->gain[best])
      best = v;
  }
  return best;
}

/* True when the pass has made it better. */
static bool run_pass(fm *f, int64_t slack) {
  regal_bisection *b = f->bisection;
  uint32_t moves = 0, kept = 0;
  uint32_t vain = 50 + (b->vertices < 40000 ? b->vertices / 8 : 5000);
  begin_pass(f);
  int64_t least = beyond(b, f->load[0], f->total, slack), cut = f->cut;
  for (uint32_t v; (v = choose(f, slack)) != REGAL_NONE;) {
    move(f, v);
    f->moved[moves++] = v;
    int64_t off = beyond(b, f->load[0], f->total, slack);
    if (off < least || (off == least && f->cut < cut)) {
      least = off;
      cut = f->cut;
      kept = moves;
    }
    if (moves - kept > vain)
      break;
  }
  while (moves > kept)
    b->side[f->moved[--moves]] ^= 1;
  return kept > 0;
}

static void improve(fm *f) {
  f->total = total_weight(f->bisection);
  int64_t slack = slack_of(f->bisection, f->total);
  for (int pass = 0; pass < MOST_PASSES && run_pass(f, slack); pass++)
    ;
}

/* -- Starts ---------------------------------------------------------------- */

static void place_fixed(regal_bisection *b, uint32_t v) {
  if (b->fixed[v] != REGAL_SIDE_FREE)
    b->side[v] = b->fixed[v];
}

/* Vertices in order until side 0 is full: a cut of the file's order. */
static void start_in_order(regal_bisection *b) {
  int64_t load0 = 0, wanted = (int64_t)(b->share * (double)total_weight(b));
  for (uint32_t v = 0; v < b->vertices; v++) {
    b->side[v] = load0 + b->weight[v] / 2 > wanted;
    place_fixed(b, v);
    load0 += b->side[v] ? 0 : b->weight[v];
  }
}

/* Breadth first from a random vertex, and from further ones when nothing is
 * left to reach, until side 0 is full. `moved` is the queue, `locked` says what
 * was in it. */
static void start_grown(fm *f, uint64_t seed, uint64_t k) {
  regal_bisection *b = f->bisection;
  regal_random random = {
      .key = regal_random_key(seed, REGAL_PURPOSE_PARTITION, k, 0)};
  int64_t load0 = 0, wanted = (int64_t)(b->share * (double)total_weight(b));
  uint32_t head = 0, tail = 0, tries = 0;
  memset(f->locked, 0, b->vertices);
  for (uint32_t v = 0; v < b->vertices; v++) {
    b->side[v] = 1;
    place_fixed(b, v);
    load0 += b->side[v] ? 0 : b->weight[v];
  }
  while (load0 < wanted && tries < b->vertices) {
    if (head == tail) {
      uint32_t v = (uint32_t)regal_random_below(&random, b->vertices);
      tries++;
      if (!f->locked[v])
        f->moved[tail++] = v;
      f->locked[v] = 1;
      continue;
    }
    uint32_t v = f->moved[head++];
    if (b->fixed[v] == REGAL_SIDE_FREE) {
      b->side[v] = 0;
      load0 += b->weight[v];
    }
    for (REGAL_ROW(i, b->net_begin, v))
      for (uint32_t j = b->pin_begin[b->net[i]];
           j < b->pin_begin[b->net[i] + 1]; j++) {
        uint32_t next = b->pin[j];
        if (!f->locked[next])
          f->moved[tail++] = next;
        f->locked[next] = 1;
      }
  }
}

static void layout(fm *f, regal_carver *carver) {
  const regal_bisection *b = f->bisection;
  f->gain = regal_carve(carver, b->vertices, 8);
  f->count = regal_carve(carver, b->nets, 8);
  f->locked = regal_carve(carver, b->vertices, 1);
  f->moved = regal_carve(carver, b->vertices, 4);
  f->best_side = regal_carve(carver, b->vertices, 1);
  for (int side = 0; side < 2; side++)
    regal_tournament_layout(&f->order[side], carver, b->vertices);
}

static regal_status begin(regal_context *context, fm *f, void **block) {
  regal_carver carver = {NULL, 0};
  REGAL_TRY(REGAL_CARVE_BLOCK(context, carver, layout(f, &carver)));
  *block = carver.base;
  for (int side = 0; side < 2; side++)
    regal_tournament_begin(&f->order[side], more_gain, f->gain);
  return REGAL_OK;
}

regal_status regal_bisect_refine(regal_context *context,
                                 regal_bisection *bisection) {
  fm f = {.bisection = bisection};
  void *block;
  REGAL_TRY(begin(context, &f, &block));
  improve(&f);
  regal_release(context, block);
  return REGAL_OK;
}

regal_status regal_bisect_fm(regal_context *context, regal_bisection *bisection,
                             uint64_t seed) {
  fm f = {.bisection = bisection};
  void *block;
  REGAL_TRY(begin(context, &f, &block));
  int64_t best_off = INT64_MAX, best_cut = INT64_MAX;
  bool large = bisection->pin_begin[bisection->nets] > MOST_PINS;
  for (int k = 0; k <= (large ? 0 : RANDOM_STARTS); k++) {
    if (k == 0)
      start_in_order(bisection);
    else
      start_grown(&f, seed, (uint64_t)k);
    improve(&f);
    int64_t off = regal_bisection_imbalance(bisection);
    int64_t cut = regal_bisection_cut(bisection);
    if (off < best_off || (off == best_off && cut < best_cut)) {
      best_off = off;
      best_cut = cut;
      memcpy(f.best_side, bisection->side, bisection->vertices);
    }
  }
  memcpy(bisection->side, f.best_side, bisection->vertices);
  regal_release(context, block);
  return REGAL_OK;
}
