/* SPDX-License-Identifier: Apache-2.0 */
/* Candidates of the closure decoder, kept up to date incrementally.
 *
 * An op is a candidate when at most REGAL_MOST_ANCESTORS ops must still run
 * before it. Its closure is the union of the closures of those of its direct
 * predecessors that have not run, and itself. Running an op changes the closure
 * of its successors and, through the uses that are left, the score of the
 * closures that could free one of its inputs. Only the last reader to come of
 * such an input needs to be looked at: a closure that frees the tensor holds
 * all of them. Ops that may have changed are marked in a bitmap and scored in
 * ascending order; successors have higher numbers, so one pass is enough.
 *
 * The best score is found by a tournament tree of eight children a node. Many
 * keys change between two questions. A change therefore only marks the nodes
 * above it, and all marked nodes are settled together, level by level. Within a
 * node three rounds of comparisons are done by selections, without a branch on
 * a key: scores are as good as random, and a mispredicted branch costs more
 * than the comparison.
 *
 * Two tricks avoid work for the common small cases: `awaited` is the exclusive
 * or of the predecessors that have not run, which is the last one when one is
 * left; and `tally` and `met` carry a stamp, so that they never have to be
 * cleared.
 */
#include "decode/closure_candidates.h"

#include <math.h>
#include <string.h>

#include "cost/model/running_cost.h"

enum { MOST = REGAL_MOST_ANCESTORS + 1 };
#define NEVER_FREED 256 /* uses of a final tensor that never come */

/* -- The tournament -------------------------------------------------------- */

static void lay_out_tournament(regal_closure_tournament *made,
                               regal_carver *carver, uint32_t players) {
  uint32_t nodes = players;
  int level = 0;
  for (bool more = true; more; level++) {
    size_t padded = ((size_t)nodes + 7) / 8 * 8;
    made->nodes[level] = nodes;
    made->key[level] = regal_carve(carver, padded, sizeof(double));
    made->winner[level] = regal_carve(carver, level ? padded : 0, 4);
    made->stale[level] = regal_carve(carver, padded / 64 + 1, 8);
    more = level == 0 || nodes > 1;
    nodes = (uint32_t)(padded / 8);
  }
  made->levels = level;
}

static void begin_tournament(regal_closure_tournament *made) {
  for (int level = 0; level < made->levels; level++) {
    size_t padded = ((size_t)made->nodes[level] + 7) / 8 * 8;
    for (size_t node = 0; node < padded; node++)
      made->key[level][node] = INFINITY;
  }
}

REGAL_INLINE void set_key(regal_closure_tournament *made, uint32_t player,
                          double key) {
  made->key[0][player] = key;
  made->stale[1][player / 512] |= UINT64_C(1) << player / 8 % 64;
}

/* A child and its key. */
typedef struct player {
  double key;
  uint32_t child;
} player;

REGAL_INLINE player play(player a, player b) {
  uint32_t wins = -(uint32_t)(b.key < a.key);
  return (player){b.key < a.key ? b.key : a.key,
                  a.child ^ ((a.child ^ b.child) & wins)};
}

REGAL_INLINE player play_pair(const double *key, uint32_t child) {
  double a = key[child], b = key[child + 1];
  return (player){b < a ? b : a, child + (b < a)};
}

REGAL_INLINE void settle_node(regal_closure_tournament *made, int level,
                              uint32_t node) {
  const double *key = made->key[level - 1] + (size_t)node * 8;
  player low = play(play_pair(key, 0), play_pair(key, 2));
  player high = play(play_pair(key, 4), play_pair(key, 6));
  player best = play(low, high);
  uint32_t winner = node * 8 + best.child;
  made->key[level][node] = best.key;
  made->winner[level][node] =
      level > 1 ? made->winner[level - 1][winner] : winner;
}

static void settle(regal_closure_tournament *made) {
  for (int level = 1; level < made->levels; level++)
    for (uint32_t word = 0; word <= made->nodes[level] / 64; word++) {
      uint64_t stale = made->stale[level][word];
      made->stale[level][word] = 0;
      for (; stale; stale &= stale - 1) {
        uint32_t node = word * 64 + (uint32_t)__builtin_ctzll(stale);
        settle_node(made, level, node);
        if (level + 1 < made->levels)
          made->stale[level + 1][node / 512] |= UINT64_C(1) << node / 8 % 64;
      }
    }
}

/* -- Layout ---------------------------------------------------------------- */

void regal_closure_candidates_layout(regal_closure_candidates *candidates,
                                     regal_carver *carver,
                                     const regal_problem *problem) {
  size_t ops = problem->ops, tensors = problem->tensors;
  candidates->before_begin = regal_carve(carver, ops + 1, 4);
  candidates->before = regal_carve(carver, problem->successor_begin[ops], 4);
  candidates->all_before = regal_carve(carver, ops, 4);
  candidates->kept = regal_carve(carver, ops, 8);
  candidates->uses = regal_carve(carver, tensors, 4);
  candidates->closure = regal_carve(carver, ops, sizeof(regal_closure));
  candidates->waiting = regal_carve(carver, ops, 4);
  candidates->awaited = regal_carve(carver, ops, 4);
  candidates->ran = regal_carve(carver, ops, 1);
  candidates->left = regal_carve(carver, tensors, 4);
  candidates->touched = regal_carve(carver, ops / 64 + 1, 8);
  candidates->tally = regal_carve(carver, tensors, 8);
  candidates->met = regal_carve(carver, ops, 8);
  lay_out_tournament(&candidates->tournament, carver, problem->ops);
}

/* The arrays are new, and so zero. */
void regal_closure_candidates_fill(regal_closure_candidates *candidates,
                                   const regal_problem *problem) {
  regal_rows_transpose(problem->ops, problem->successor_begin,
                       problem->successor, problem->ops,
                       candidates->before_begin, candidates->before);
  for (uint32_t op = 0; op < problem->ops; op++)
    for (REGAL_ROW(b, candidates->before_begin, op))
      candidates->all_before[op] ^= candidates->before[b];
  for (uint32_t t = 0; t < problem->tensors; t++) {
    uint32_t uses = problem->use_begin[t + 1] - problem->use_begin[t];
    candidates->uses[t] = problem->is_final[t] ? uses + NEVER_FREED : uses;
    if (candidates->uses[t])
      candidates->kept[problem->producer[t]] += problem->bytes[t];
  }
}

/* -- Closures and scores --------------------------------------------------- */

/* An op with more than that before it is not a candidate, nor is what follows.
 */
REGAL_INLINE void touch(regal_closure_candidates *candidates, uint32_t op) {
  uint64_t near = candidates->waiting[op] <= REGAL_MOST_ANCESTORS;
  uint32_t word = op / 64;
  candidates->touched[word] |= near << op % 64;
  candidates->first = word < candidates->first ? word : candidates->first;
  candidates->last = word > candidates->last ? word : candidates->last;
}

/* Puts an op among the others, which are ascending. */
REGAL_INLINE void insert(regal_closure *made, uint32_t op) {
  uint32_t at = made->size++;
  for (; at > 0 && made->op[at - 1] > op; at--)
    made->op[at] = made->op[at - 1];
  made->op[at] = op;
}

/* The union of the closures of all before the op, and itself. */
static void collect(regal_closure_candidates *candidates, uint32_t op) {
  regal_closure made = {0, {0}};
  uint32_t waiting = candidates->waiting[op];
  uint64_t stamp = ++candidates->stamp;
  candidates->closure[op].size = 0;
  for (uint32_t b = candidates->before_begin[op]; waiting; b++) {
    uint32_t before = candidates->before[b];
    if (candidates->ran[before])
      continue;
    waiting--;
    const regal_closure *part = &candidates->closure[before];
    if (!part->size)
      return;
    for (uint32_t k = 0; k < part->size; k++) {
      if (candidates->met[part->op[k]] == stamp)
        continue;
      if (made.size == REGAL_MOST_ANCESTORS)
        return;
      candidates->met[part->op[k]] = stamp;
      insert(&made, part->op[k]);
    }
  }
  made.op[made.size++] = op;
  candidates->closure[op] = made;
}

/* The same where only one op before it has not run. */
static void append(regal_closure_candidates *candidates, uint32_t op,
                   uint32_t before) {
  regal_closure made = candidates->closure[before];
  if (made.size == 0 || made.size == MOST) {
    candidates->closure[op].size = 0;
    return;
  }
  made.op[made.size++] = op;
  candidates->closure[op] = made;
}

static int64_t freed_by_one(const regal_closure_candidates *candidates,
                            const regal_problem *problem, uint32_t op) {
  int64_t freed = 0;
  for (REGAL_ROW(i, problem->input_begin, op)) {
    uint32_t t = problem->input[i];
    freed += problem->bytes[t] & -(int64_t)(candidates->left[t] == 1);
  }
  return freed;
}

/* Net change of live bytes when the closure runs: a tensor is freed when all
 * its uses to come are in it. */
static int64_t net_bytes(regal_closure_candidates *candidates,
                         const regal_problem *problem,
                         const regal_closure *closure) {
  uint64_t stamp = ++candidates->stamp << 8;
  int64_t net = 0;
  for (uint32_t k = 0; k < closure->size; k++) {
    uint32_t op = closure->op[k];
    net += candidates->kept[op];
    for (REGAL_ROW(i, problem->input_begin, op)) {
      uint32_t t = problem->input[i];
      uint64_t tally = candidates->tally[t];
      tally = (tally > stamp ? tally : stamp) + 1;
      candidates->tally[t] = tally;
      int64_t frees = tally == stamp + candidates->left[t];
      net -= problem->bytes[t] & -frees;
    }
  }
  return net;
}

/* Scores an op again, and all whose closures hold it have to be, too. */
static void score(regal_closure_candidates *candidates,
                  const regal_problem *problem, uint32_t op) {
  if (candidates->waiting[op] > 1)
    collect(candidates, op);
  else if (candidates->waiting[op])
    append(candidates, op, candidates->awaited[op]);
  else
    candidates->closure[op] = (regal_closure){1, {op}};
  const regal_closure *closure = &candidates->closure[op];
  if (!closure->size)
    return;
  int64_t net = closure->size == 1 ? candidates->kept[op] -
                                         freed_by_one(candidates, problem, op)
                                   : net_bytes(candidates, problem, closure);
  set_key(&candidates->tournament, op, (double)net + candidates->noise[op]);
  if (closure->size < MOST)
    for (REGAL_ROW(s, problem->successor_begin, op))
      touch(candidates, problem->successor[s]);
}

/* Successors have higher numbers, so that one pass upwards is enough. */
void regal_closure_candidates_refresh(regal_closure_candidates *candidates,
                                      const regal_problem *problem) {
  for (uint32_t word = candidates->first; word <= candidates->last; word++)
    while (candidates->touched[word]) {
      uint32_t bit = (uint32_t)__builtin_ctzll(candidates->touched[word]);
      candidates->touched[word] &= candidates->touched[word] - 1;
      score(candidates, problem, word * 64 + bit);
    }
  candidates->first = UINT32_MAX;
  candidates->last = 0;
  settle(&candidates->tournament);
}

void regal_closure_candidates_begin(regal_closure_candidates *candidates,
                                    const regal_problem *problem,
                                    const double *noise) {
  uint32_t ops = problem->ops;
  candidates->noise = noise;
  memcpy(candidates->waiting, problem->predecessors, ops * 4);
  memcpy(candidates->awaited, candidates->all_before, ops * 4);
  memcpy(candidates->left, candidates->uses, problem->tensors * 4);
  memset(candidates->ran, 0, ops);
  memset(candidates->closure, 0, ops * sizeof *candidates->closure);
  begin_tournament(&candidates->tournament);
  candidates->first = UINT32_MAX;
  candidates->last = 0;
  for (uint32_t op = 0; op < ops; op++)
    if (!candidates->waiting[op])
      touch(candidates, op);
  regal_closure_candidates_refresh(candidates, problem);
}

regal_closure
regal_closure_candidates_best(const regal_closure_candidates *candidates) {
  const regal_closure_tournament *tournament = &candidates->tournament;
  return candidates->closure[tournament->winner[tournament->levels - 1][0]];
}

/* A closure that frees a tensor holds all its readers to come, so that it is
 * enough to touch the last: the highest of them. */
REGAL_INLINE uint32_t last_reader(const regal_closure_candidates *candidates,
                                  const regal_problem *problem,
                                  uint32_t tensor) {
  uint32_t last = 0;
  for (REGAL_ROW(u, problem->use_begin, tensor)) {
    uint32_t op = problem->consumer[u];
    uint32_t reader = op & (candidates->ran[op] - 1u);
    last = reader > last ? reader : last;
  }
  return last;
}

void regal_closure_candidates_run(regal_closure_candidates *candidates,
                                  const regal_problem *problem, uint32_t op) {
  candidates->ran[op] = 1;
  candidates->closure[op].size = 0;
  candidates->touched[op / 64] &= ~(UINT64_C(1) << op % 64);
  set_key(&candidates->tournament, op, INFINITY);
  for (REGAL_ROW(i, problem->input_begin, op)) {
    uint32_t t = problem->input[i];
    uint32_t left = --candidates->left[t];
    if (left - 1 < MOST) /* not 0, not more than a closure can free */
      touch(candidates, last_reader(candidates, problem, t));
  }
  for (REGAL_ROW(s, problem->successor_begin, op)) {
    uint32_t successor = problem->successor[s];
    candidates->waiting[successor]--;
    candidates->awaited[successor] ^= op;
    touch(candidates, successor);
  }
}
