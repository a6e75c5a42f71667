/* SPDX-License-Identifier: Apache-2.0 */
#include "decode/closure_candidates.h"

#include <math.h>
#include <string.h>

#include "cost/model/running_cost.h"

enum { MOST = REGAL_MOST_ANCESTORS + 1 };
#define NEVER_FREED 256 /* uses of a final tensor that never come */

/* -- The tournament ---------------------------------------------------------
 */

static void lay_out_tournament(regal_target_tournament *made,
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

static void begin_tournament(regal_target_tournament *made) {
  for (int level = 0; level < made->levels; level++) {
    size_t padded = ((size_t)made->nodes[level] + 7) / 8 * 8;
    for (size_t node = 0; node < padded; node++)
      made->key[level][node] = INFINITY;
  }
}

REGAL_INLINE void set_key(regal_target_tournament *made, uint32_t player,
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

REGAL_INLINE void settle_node(regal_target_tournament *made, int level,
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

static void settle(regal_target_tournament *made) {
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

/* -- Layout -----------------------------------------------------------------
 */

void regal_closure_candidates_layout(regal_closure_candidates *targets,
                                     regal_carver *carver,
                                     const regal_problem *problem) {
  size_t ops = problem->ops, tensors = problem->tensors;
  targets->before_begin = regal_carve(carver, ops + 1, 4);
  targets->before = regal_carve(carver, problem->successor_begin[ops], 4);
  targets->all_before = regal_carve(carver, ops, 4);
  targets->kept = regal_carve(carver, ops, 8);
  targets->uses = regal_carve(carver, tensors, 4);
  targets->closure = regal_carve(carver, ops, sizeof(regal_closure));
  targets->waiting = regal_carve(carver, ops, 4);
  targets->awaited = regal_carve(carver, ops, 4);
  targets->ran = regal_carve(carver, ops, 1);
  targets->left = regal_carve(carver, tensors, 4);
  targets->touched = regal_carve(carver, ops / 64 + 1, 8);
  targets->tally = regal_carve(carver, tensors, 8);
  targets->met = regal_carve(carver, ops, 8);
  lay_out_tournament(&targets->tournament, carver, problem->ops);
}

/* Turns the rows of successors round. */
static void fill_before(regal_closure_candidates *targets,
                        const regal_problem *problem) {
  uint32_t *begin = targets->before_begin, count = 0;
  for (uint32_t op = 0; op < problem->ops; op++) {
    begin[op] = count;
    count += problem->predecessors[op];
  }
  for (uint32_t op = 0; op < problem->ops; op++)
    for (REGAL_ROW(s, problem->successor_begin, op))
      targets->before[begin[problem->successor[s]]++] = op;
  for (uint32_t op = problem->ops; op > 0; op--)
    begin[op] = begin[op - 1];
  begin[0] = 0;
  for (uint32_t op = 0; op < problem->ops; op++) {
    targets->all_before[op] = 0;
    for (REGAL_ROW(b, begin, op))
      targets->all_before[op] ^= targets->before[b];
  }
}

void regal_closure_candidates_fill(regal_closure_candidates *targets,
                                   const regal_problem *problem) {
  fill_before(targets, problem);
  targets->stamp = 0;
  for (uint32_t op = 0; op < problem->ops; op++)
    targets->kept[op] = 0;
  for (uint32_t t = 0; t < problem->tensors; t++) {
    uint32_t uses = problem->use_begin[t + 1] - problem->use_begin[t];
    targets->uses[t] = problem->is_final[t] ? uses + NEVER_FREED : uses;
    if (targets->uses[t])
      targets->kept[problem->producer[t]] += problem->bytes[t];
  }
}

/* -- Closures and scores ----------------------------------------------------
 */

/* An op with more than that before it is not a target, nor is what follows. */
REGAL_INLINE void touch(regal_closure_candidates *targets, uint32_t op) {
  uint64_t near = targets->waiting[op] <= REGAL_MOST_ANCESTORS;
  uint32_t word = op / 64;
  targets->touched[word] |= near << op % 64;
  targets->first = word < targets->first ? word : targets->first;
  targets->last = word > targets->last ? word : targets->last;
}

/* Puts an op among the others, which are ascending. */
REGAL_INLINE void insert(regal_closure *made, uint32_t op) {
  uint32_t at = made->size++;
  for (; at > 0 && made->op[at - 1] > op; at--)
    made->op[at] = made->op[at - 1];
  made->op[at] = op;
}

/* The union of the closures of all before the op, and itself. */
static void collect(regal_closure_candidates *targets, uint32_t op) {
  regal_closure made = {0, {0}};
  uint32_t waiting = targets->waiting[op];
  uint64_t stamp = ++targets->stamp;
  targets->closure[op].size = 0;
  for (uint32_t b = targets->before_begin[op]; waiting; b++) {
    uint32_t before = targets->before[b];
    if (targets->ran[before])
      continue;
    waiting--;
    const regal_closure *part = &targets->closure[before];
    if (!part->size)
      return;
    for (uint32_t k = 0; k < part->size; k++) {
      if (targets->met[part->op[k]] == stamp)
        continue;
      if (made.size == REGAL_MOST_ANCESTORS)
        return;
      targets->met[part->op[k]] = stamp;
      insert(&made, part->op[k]);
    }
  }
  made.op[made.size++] = op;
  targets->closure[op] = made;
}

/* The same where only one op before it has not run. */
static void append(regal_closure_candidates *targets, uint32_t op,
                   uint32_t before) {
  regal_closure made = targets->closure[before];
  if (made.size == 0 || made.size == MOST) {
    targets->closure[op].size = 0;
    return;
  }
  made.op[made.size++] = op;
  targets->closure[op] = made;
}

static int64_t freed_by_one(const regal_closure_candidates *targets,
                            const regal_problem *problem, uint32_t op) {
  int64_t freed = 0;
  for (REGAL_ROW(i, problem->input_begin, op)) {
    uint32_t t = problem->input[i];
    freed += problem->bytes[t] & -(int64_t)(targets->left[t] == 1);
  }
  return freed;
}

/* Net change of live bytes when the closure runs: a tensor is freed when all
 * its uses to come are in it. */
static int64_t net_bytes(regal_closure_candidates *targets,
                         const regal_problem *problem,
                         const regal_closure *closure) {
  uint64_t stamp = ++targets->stamp << 8;
  int64_t net = 0;
  for (uint32_t k = 0; k < closure->size; k++) {
    uint32_t op = closure->op[k];
    net += targets->kept[op];
    for (REGAL_ROW(i, problem->input_begin, op)) {
      uint32_t t = problem->input[i];
      uint64_t tally = targets->tally[t];
      tally = (tally > stamp ? tally : stamp) + 1;
      targets->tally[t] = tally;
      int64_t frees = tally == stamp + targets->left[t];
      net -= problem->bytes[t] & -frees;
    }
  }
  return net;
}

/* Scores an op again, and all whose closures hold it have to be, too. */
static void score(regal_closure_candidates *targets,
                  const regal_problem *problem, uint32_t op) {
  if (targets->waiting[op] > 1)
    collect(targets, op);
  else if (targets->waiting[op])
    append(targets, op, targets->awaited[op]);
  else
    targets->closure[op] = (regal_closure){1, {op}};
  const regal_closure *closure = &targets->closure[op];
  if (!closure->size)
    return;
  int64_t net = closure->size == 1
                    ? targets->kept[op] - freed_by_one(targets, problem, op)
                    : net_bytes(targets, problem, closure);
  set_key(&targets->tournament, op, (double)net + targets->noise[op]);
  if (closure->size < MOST)
    for (REGAL_ROW(s, problem->successor_begin, op))
      touch(targets, problem->successor[s]);
}

/* Successors have higher numbers, so that one pass upwards is enough. */
void regal_closure_candidates_refresh(regal_closure_candidates *targets,
                                      const regal_problem *problem) {
  for (uint32_t word = targets->first; word <= targets->last; word++)
    while (targets->touched[word]) {
      uint32_t bit = (uint32_t)__builtin_ctzll(targets->touched[word]);
      targets->touched[word] &= targets->touched[word] - 1;
      score(targets, problem, word * 64 + bit);
    }
  targets->first = UINT32_MAX;
  targets->last = 0;
  settle(&targets->tournament);
}

void regal_closure_candidates_begin(regal_closure_candidates *targets,
                                    const regal_problem *problem,
                                    const double *noise) {
  uint32_t ops = problem->ops;
  targets->noise = noise;
  memcpy(targets->waiting, problem->predecessors, ops * 4);
  memcpy(targets->awaited, targets->all_before, ops * 4);
  memcpy(targets->left, targets->uses, problem->tensors * 4);
  memset(targets->ran, 0, ops);
  memset(targets->closure, 0, ops * sizeof *targets->closure);
  begin_tournament(&targets->tournament);
  targets->first = UINT32_MAX;
  targets->last = 0;
  for (uint32_t op = 0; op < ops; op++)
    if (!targets->waiting[op])
      touch(targets, op);
  regal_closure_candidates_refresh(targets, problem);
}

regal_closure
regal_closure_candidates_best(const regal_closure_candidates *targets) {
  const regal_target_tournament *tournament = &targets->tournament;
  return targets->closure[tournament->winner[tournament->levels - 1][0]];
}

/* A closure that frees a tensor holds all its readers to come, so that it is
 * enough to touch the last: the highest of them. */
REGAL_INLINE uint32_t last_reader(const regal_closure_candidates *targets,
                                  const regal_problem *problem,
                                  uint32_t tensor) {
  uint32_t last = 0;
  for (REGAL_ROW(u, problem->use_begin, tensor)) {
    uint32_t op = problem->consumer[u];
    uint32_t reader = op & (targets->ran[op] - 1u);
    last = reader > last ? reader : last;
  }
  return last;
}

void regal_closure_candidates_run(regal_closure_candidates *targets,
                                  const regal_problem *problem, uint32_t op) {
  targets->ran[op] = 1;
  targets->closure[op].size = 0;
  targets->touched[op / 64] &= ~(UINT64_C(1) << op % 64);
  set_key(&targets->tournament, op, INFINITY);
  for (REGAL_ROW(i, problem->input_begin, op)) {
    uint32_t t = problem->input[i];
    uint32_t left = --targets->left[t];
    if (left - 1 < MOST) /* not 0, not more than a closure can free */
      touch(targets, last_reader(targets, problem, t));
  }
  for (REGAL_ROW(s, problem->successor_begin, op)) {
    uint32_t successor = problem->successor[s];
    targets->waiting[successor]--;
    targets->awaited[successor] ^= op;
    touch(targets, successor);
  }
}
