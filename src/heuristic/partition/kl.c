/* SPDX-License-Identifier: Apache-2.0 */
/* Bisection of a graph by exchanges of pairs (Kernighan and Lin 1970), the
 * algorithm that the paper's partitioner is based on.
 *
 * A net is an edge from its first vertex, its producer, to each of its readers,
 * as in the algorithm's graphs: a tensor counts once for each reader on the
 * other side. The start is random, with the wanted weight on each side. The
 * lean of a vertex is the cost of its edges to the other side less that of
 * those to its own. Exchanging a and b saves lean(a) + lean(b) - 2 cost(a, b).
 * A pass exchanges the pair that saves most, locks it, and goes on until no
 * pair is left; then it returns to the best point on the way. Passes follow
 * until one saves nothing.
 *
 * Exchanges leave the number of vertices on each side as it is, where all have
 * the same weight. Others are exchanged only if neither side gets heavier than
 * it was at the start, or than the wanted weight and one vertex.
 *
 * The best pair is found without looking at all of them: no pair saves more
 * than its two leans, so that vertices of both sides are taken from tournaments
 * by falling lean until these cannot give more than the best pair so far.
 */
#include <string.h>

#include "base/carve.h"
#include "base/compare.h"
#include "base/random.h"
#include "base/tournament.h"
#include "heuristic/partition/partition.h"

enum { MOST_PASSES = 20 };

typedef struct edge {
  uint32_t to;
  int64_t cost;
} edge;

typedef struct pair {
  uint32_t a, b; /* of side 0 and of side 1; REGAL_NONE: no pair */
  int64_t saves;
} pair;

typedef struct kl {
  regal_bisection *bisection;
  uint32_t *edge_begin; /* [vertices+1] */
  edge *edges;          /* both directions */
  int64_t *lean;        /* [vertices] */
  int64_t *cost_to;     /* [vertices] of one vertex's edges; else 0 */
  uint8_t *locked;      /* [vertices] exchanged in this pass, or fixed */
  uint32_t *taken[2];   /* [vertices] out of the tournaments at present */
  pair *pairs;          /* [vertices] exchanged in this pass */
  regal_tournament order[2];
  int64_t load[2], most[2]; /* weights of the sides, and what they may be */
} kl;

/* -- Edges ----------------------------------------------------------------- */

static size_t count_edges(const regal_bisection *b) {
  return 2 * ((size_t)b->pin_begin[b->nets] - b->nets);
}

static void add_edge(kl *k, uint32_t *end, uint32_t from, uint32_t to,
                     int64_t cost) {
  k->edges[end[from]++] = (edge){to, cost};
}

/* `end` is scratch. */
static void list_edges(kl *k, uint32_t *end) {
  const regal_bisection *b = k->bisection;
  memset(k->edge_begin, 0, ((size_t)b->vertices + 1) * sizeof *k->edge_begin);
  for (uint32_t n = 0; n < b->nets; n++)
    for (uint32_t i = b->pin_begin[n] + 1; i < b->pin_begin[n + 1]; i++) {
      k->edge_begin[b->pin[i] + 1]++;
      k->edge_begin[b->pin[b->pin_begin[n]] + 1]++;
    }
  for (uint32_t v = 0; v < b->vertices; v++) {
    k->edge_begin[v + 1] += k->edge_begin[v];
    end[v] = k->edge_begin[v];
  }
  for (uint32_t n = 0; n < b->nets; n++)
    for (uint32_t i = b->pin_begin[n] + 1; i < b->pin_begin[n + 1]; i++) {
      uint32_t hub = b->pin[b->pin_begin[n]];
      add_edge(k, end, hub, b->pin[i], b->bytes[n]);
      add_edge(k, end, b->pin[i], hub, b->bytes[n]);
    }
}

/* -- Passes ---------------------------------------------------------------- */

static bool leans_more(const void *state, uint32_t a, uint32_t b) {
  const int64_t *lean = state;
  return lean[a] > lean[b];
}

static void offer(kl *k, uint32_t v) {
  regal_tournament_set(&k->order[k->bisection->side[v]], v, v);
}

static void begin_pass(kl *k) {
  const regal_bisection *b = k->bisection;
  for (uint32_t v = 0; v < b->vertices; v++) {
    k->lean[v] = 0;
    for (REGAL_ROW(e, k->edge_begin, v))
      k->lean[v] += b->side[k->edges[e].to] != b->side[v] ? k->edges[e].cost
                                                          : -k->edges[e].cost;
    k->locked[v] = b->fixed[v] != REGAL_SIDE_FREE;
    for (int side = 0; side < 2; side++)
      regal_tournament_set(&k->order[side], v, REGAL_NONE);
  }
  for (uint32_t v = 0; v < b->vertices; v++)
    if (!k->locked[v])
      offer(k, v);
}

static bool keeps_balance(const kl *k, uint32_t a, uint32_t b) {
  int64_t shift = k->bisection->weight[b] - k->bisection->weight[a];
  return (shift <= 0 || k->load[0] + shift <= k->most[0]) &&
         (shift >= 0 || k->load[1] - shift <= k->most[1]);
}

/* Takes the first one out of the tournament of the side; REGAL_NONE: empty. */
static uint32_t take(kl *k, int side, uint32_t *count) {
  uint32_t v =
      regal_tournament_best(&k->order[side], 0, k->bisection->vertices);
  if (v != REGAL_NONE) {
    k->taken[side][(*count)++] = v;
    regal_tournament_set(&k->order[side], v, REGAL_NONE);
  }
  return v;
}

static void put_back(kl *k, int side, uint32_t count) {
  while (count > 0)
    offer(k, k->taken[side][--count]);
}

/* The best partner of a vertex of side 0, if the pair saves more than the best
 * one so far. The first `*known` of side 1 are out of their tournament. */
static void match(kl *k, uint32_t a, uint32_t *known, pair *best) {
  for (REGAL_ROW(e, k->edge_begin, a))
    k->cost_to[k->edges[e].to] += k->edges[e].cost;
  for (uint32_t i = 0;; i++) {
    uint32_t b = i < *known ? k->taken[1][i] : take(k, 1, known);
    if (b == REGAL_NONE ||
        (best->a != REGAL_NONE && k->lean[a] + k->lean[b] <= best->saves))
      break;
    int64_t saves = k->lean[a] + k->lean[b] - 2 * k->cost_to[b];
    if ((best->a == REGAL_NONE || saves > best->saves) &&
        keeps_balance(k, a, b))
      *best = (pair){a, b, saves};
  }
  for (REGAL_ROW(e, k->edge_begin, a))
    k->cost_to[k->edges[e].to] = 0;
}

static pair find_pair(kl *k) {
  pair best = {REGAL_NONE, REGAL_NONE, 0};
  uint32_t left = 0, right = 0, a;
  uint32_t top = regal_tournament_best(&k->order[1], 0, k->bisection->vertices);
  while (top != REGAL_NONE && (a = take(k, 0, &left)) != REGAL_NONE) {
    if (best.a != REGAL_NONE && k->lean[a] + k->lean[top] <= best.saves)
      break;
    match(k, a, &right, &best);
  }
  put_back(k, 0, left);
  put_back(k, 1, right);
  return best;
}

/* After the vertex has changed sides. */
static void tell_neighbours(kl *k, uint32_t v) {
  const regal_bisection *b = k->bisection;
  for (REGAL_ROW(e, k->edge_begin, v)) {
    uint32_t other = k->edges[e].to;
    int64_t twice = 2 * k->edges[e].cost;
    k->lean[other] += b->side[other] == b->side[v] ? -twice : twice;
    if (!k->locked[other])
      offer(k, other);
  }
}

static void lock(kl *k, uint32_t v) {
  regal_tournament_set(&k->order[k->bisection->side[v]], v, REGAL_NONE);
  k->locked[v] = 1;
}

static void swap_sides(kl *k, const pair *found) {
  regal_bisection *b = k->bisection;
  int64_t shift = b->weight[found->b] - b->weight[found->a];
  b->side[found->a] ^= 1;
  b->side[found->b] ^= 1;
  k->load[0] += b->side[found->a] ? shift : -shift;
  k->load[1] -= b->side[found->a] ? shift : -shift;
}

/* True when the pass has saved something. */
static bool run_pass(kl *k) {
  uint32_t count = 0, kept = 0;
  int64_t saved = 0, most = 0;
  begin_pass(k);
  for (pair found; (found = find_pair(k)).a != REGAL_NONE;) {
    lock(k, found.a);
    lock(k, found.b);
    swap_sides(k, &found);
    tell_neighbours(k, found.a);
    tell_neighbours(k, found.b);
    k->pairs[count++] = found;
    saved += found.saves;
    if (saved > most) {
      most = saved;
      kept = count;
    }
  }
  while (count > kept)
    swap_sides(k, &k->pairs[--count]);
  return kept > 0;
}

/* -- Start ----------------------------------------------------------------- */

/* Free vertices in a random order until side 0 has its share. `order` is
 * scratch. */
static void start_at_random(kl *k, uint32_t *order, uint64_t seed) {
  regal_bisection *b = k->bisection;
  regal_random random = {
      .key = regal_random_key(seed, REGAL_PURPOSE_PARTITION, 0, 1)};
  int64_t total = 0, heaviest = 0;
  k->load[0] = k->load[1] = 0;
  for (uint32_t v = 0; v < b->vertices; v++) {
    uint32_t at = (uint32_t)regal_random_below(&random, v + 1);
    order[v] = order[at];
    order[at] = v;
    total += b->weight[v];
    heaviest = regal_larger(heaviest, b->weight[v]);
    if (b->fixed[v] != REGAL_SIDE_FREE) {
      b->side[v] = b->fixed[v];
      k->load[b->side[v]] += b->weight[v];
    }
  }
  int64_t wanted = (int64_t)(b->share * (double)total);
  for (uint32_t i = 0; i < b->vertices; i++) {
    uint32_t v = order[i];
    if (b->fixed[v] != REGAL_SIDE_FREE)
      continue;
    b->side[v] = k->load[0] + b->weight[v] / 2 >= wanted;
    k->load[b->side[v]] += b->weight[v];
  }
  k->most[0] = regal_larger(k->load[0], wanted + heaviest);
  k->most[1] = regal_larger(k->load[1], total - wanted + heaviest);
}

static void layout(kl *k, regal_carver *carver) {
  const regal_bisection *b = k->bisection;
  k->edge_begin = regal_carve(carver, (size_t)b->vertices + 1, 4);
  k->edges = regal_carve(carver, count_edges(b), sizeof *k->edges);
  k->lean = regal_carve(carver, b->vertices, 8);
  k->cost_to = regal_carve(carver, b->vertices, 8);
  k->locked = regal_carve(carver, b->vertices, 1);
  k->pairs = regal_carve(carver, b->vertices, sizeof *k->pairs);
  for (int side = 0; side < 2; side++) {
    k->taken[side] = regal_carve(carver, b->vertices, 4);
    regal_tournament_layout(&k->order[side], carver, b->vertices);
  }
}

regal_status regal_bisect_kl(regal_context *context, regal_bisection *bisection,
                             uint64_t seed) {
  kl k = {.bisection = bisection};
  regal_carver carver = {NULL, 0};
  REGAL_TRY(REGAL_CARVE_BLOCK(context, carver, layout(&k, &carver)));
  for (int side = 0; side < 2; side++)
    regal_tournament_begin(&k.order[side], leans_more, k.lean);
  list_edges(&k, k.taken[0]);
  start_at_random(&k, k.taken[0], seed);
  for (int pass = 0; pass < MOST_PASSES && run_pass(&k); pass++)
    ;
  regal_release(context, carver.base);
  return REGAL_OK;
}
