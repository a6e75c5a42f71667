/* SPDX-License-Identifier: Apache-2.0 */
/* A tournament tree: a complete binary tree over the places in one array, whose
 * node i has the children 2i and 2i + 1. Each node keeps the winner of its
 * subtree, so that a change replays the matches on one path to the root, and a
 * range is covered by O(log places) subtrees.
 */
#include "base/tournament.h"

#include <string.h>

void regal_tournament_layout(regal_tournament *tournament, regal_carver *carver,
                             uint32_t places) {
  tournament->leaves = 1;
  while (tournament->leaves < places)
    tournament->leaves *= 2;
  tournament->winner = regal_carve(carver, tournament->leaves, 8);
}

void regal_tournament_begin(regal_tournament *tournament,
                            regal_before_fn before, const void *state) {
  memset(tournament->winner, 0xff, (size_t)tournament->leaves * 8);
  tournament->before = before;
  tournament->state = state;
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
