/* SPDX-License-Identifier: Apache-2.0 */
/* A tournament tree: a complete binary tree over the places in one array, whose
 * node i has the children 2i and 2i + 1. Each node keeps the winner of its
 * subtree, so that a change replays the matches on one path to the root, and a
 * range is covered by O(log places) subtrees.
 */
#include "base/tournament.h"

#include <string.h>

regal_status regal_tournament_init(regal_context *context,
                                   regal_tournament *tournament,
                                   uint32_t places, regal_before_fn before,
                                   const void *state) {
  size_t leaves = 1;
  while (leaves < places)
    leaves *= 2;
  uint32_t *winner = regal_alloc(context, leaves, 2 * sizeof *winner);
  if (!winner)
    return regal_fail_memory(context);
  memset(winner, 0xff, 2 * leaves * sizeof *winner);
  *tournament = (regal_tournament){(uint32_t)leaves, winner, before, state};
  return REGAL_OK;
}

void regal_tournament_free(regal_context *context,
                           regal_tournament *tournament) {
  regal_release(context, tournament->winner);
}

/* The first of two ops, `left` being at the lower place. */
static uint32_t first_of(const regal_tournament *tournament, uint32_t left,
                         uint32_t right) {
  if (left == REGAL_NONE)
    return right;
  if (right == REGAL_NONE ||
      !tournament->before(tournament->state, right, left))
    return left;
  return right;
}

void regal_tournament_set(regal_tournament *tournament, uint32_t place,
                          uint32_t op) {
  uint32_t *winner = tournament->winner;
  uint32_t node = tournament->leaves + place;
  winner[node] = op;
  for (node /= 2; node; node /= 2)
    winner[node] = first_of(tournament, winner[2 * node], winner[2 * node + 1]);
}

uint32_t regal_tournament_best(const regal_tournament *tournament,
                               uint32_t begin, uint32_t end) {
  const uint32_t *winner = tournament->winner;
  uint32_t low = REGAL_NONE, high = REGAL_NONE; /* of either end's subtrees */
  uint32_t left = tournament->leaves + begin, right = tournament->leaves + end;
  for (; left < right; left /= 2, right /= 2) {
    if (left & 1)
      low = first_of(tournament, low, winner[left++]);
    if (right & 1)
      high = first_of(tournament, winner[--right], high);
  }
  return first_of(tournament, low, high);
}

uint32_t regal_tournament_lowest(const regal_tournament *tournament) {
  if (tournament->winner[1] == REGAL_NONE)
    return REGAL_NONE;
  uint32_t node = 1;
  while (node < tournament->leaves) {
    node *= 2;
    if (tournament->winner[node] == REGAL_NONE)
      node++;
  }
  return node - tournament->leaves;
}
