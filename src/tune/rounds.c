/* SPDX-License-Identifier: Apache-2.0 */
/* Successive halving: bad settings show on few graphs, so most of the work goes
 * into the good ones. Every round costs about as much as the one before, the
 * first twice as much. There are few rounds, so that the first ones have many
 * graphs where the training set has. */
#include "tune/tune.h"

enum { MOST_HALVINGS = 4, LEAST_GRAPHS = 2, LEAST_SETTINGS = 2 };

size_t regal_tune_rounds(size_t settings, size_t graphs, bool halving,
                         regal_tune_round rounds[REGAL_MOST_ROUNDS]) {
  size_t halvings = 0;
  while (halving && halvings < MOST_HALVINGS &&
         graphs >> (halvings + 1) >= LEAST_GRAPHS &&
         settings >> (halvings + 1) >= LEAST_SETTINGS)
    halvings++;
  for (size_t r = 0; r <= halvings; r++)
    rounds[r] = (regal_tune_round){settings >> r, graphs >> (halvings - r)};
  return halvings + 1;
}

uint64_t regal_tune_runs(const regal_tune_round *rounds, size_t count) {
  uint64_t runs = 0;
  for (size_t r = 0; r < count; r++)
    runs += (uint64_t)rounds[r].settings *
            (rounds[r].graphs - (r ? rounds[r - 1].graphs : 0));
  return runs;
}

size_t regal_tune_best(const regal_tune_table *table, size_t graphs,
                       const size_t *alive, size_t count) {
  size_t best = alive[0];
  double most = regal_tune_improvement(table, best, graphs, NULL);
  for (size_t i = 1; i < count; i++) {
    double mean = regal_tune_improvement(table, alive[i], graphs, NULL);
    if (mean > most) {
      most = mean;
      best = alive[i];
    }
  }
  return best;
}

/* How many of the others are better than alive[i], or as good and earlier. */
static size_t rank_of(const double *mean, size_t count, size_t i) {
  size_t rank = 0;
  for (size_t k = 0; k < count; k++)
    rank += mean[k] > mean[i] || (mean[k] == mean[i] && k < i);
  return rank;
}

regal_status regal_tune_keep(const regal_tune_table *table, size_t graphs,
                             size_t keep, size_t *alive, size_t *count) {
  size_t kept = 0, places = keep, all = *count;
  double *mean = regal_alloc(table->context, all, sizeof *mean);
  if (!mean)
    return regal_fail_memory(table->context);
  for (size_t i = 0; i < all; i++)
    mean[i] = regal_tune_improvement(table, alive[i], graphs, NULL);
  for (size_t i = 0; i < all; i++)
    if (alive[i] == table->standard && rank_of(mean, all, i) >= keep)
      places = keep - 1; /* the standard settings take the last one */
  for (size_t i = 0; i < all; i++)
    if (rank_of(mean, all, i) < places || alive[i] == table->standard)
      alive[kept++] = alive[i];
  *count = kept;
  regal_release(table->context, mean);
  return REGAL_OK;
}
