/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of regal_tune: the grid, the graphs, the table of runs, the rounds of
 * halving.
 *
 * A run is a function of (setting, graph, options), so a table of runs says all
 * about how far a tuning has come, whoever did them and in whichever order.
 */
#ifndef REGAL_TUNE_TUNE_H
#define REGAL_TUNE_TUNE_H

#include "evolve/settings.h"
#include "graph/graph.h"

/* -- The grid (tune/grid.c) -------------------------------------------- */

/* How many settings there are for a decoder; the grid's order is fixed. */
size_t regal_grid_count(const regal_decoder *decoder);
regal_settings regal_grid_at(const regal_decoder *decoder, double elite_bias,
                             size_t index);
/* Standard BRKGA, which all others are measured against. */
size_t regal_grid_standard(const regal_decoder *decoder);

/* -- The graphs (tune/graphs.c) ---------------------------------------- */

typedef struct regal_tune_set {
  regal_context *context;
  regal_graph **graphs;     /* [count] */
  regal_problem **problems; /* [count] */
  size_t count;
  uint64_t checksum; /* of the graphs, in order */
} regal_tune_set;

/* The graphs of split train, or all where there are no splits; options->graphs
 * of them, if that is given. A set that failed to load is freed, too. */
regal_status regal_tune_set_load(regal_context *context, const char *path,
                                 const regal_options *options,
                                 regal_tune_set *set);
void regal_tune_set_free(regal_tune_set *set);

/* -- The table of runs (tune/table.c) ---------------------------------- */

typedef struct regal_tried {
  int64_t excess; /* bytes beyond the memory limits; -1: not run yet */
  int64_t value;  /* the objective */
} regal_tried;

typedef struct regal_tune_table {
  regal_context *context;
  size_t settings, graphs, standard;
  uint64_t fingerprint; /* of all that runs depend on */
  regal_tried *tried;   /* [settings * graphs] */
} regal_tune_table;

regal_status regal_tune_table_create(regal_context *context, size_t settings,
                                     size_t graphs, size_t standard,
                                     uint64_t fingerprint,
                                     regal_tune_table *table);
void regal_tune_table_free(regal_tune_table *table);

static inline regal_tried *regal_tune_at(const regal_tune_table *table,
                                         size_t setting, size_t graph) {
  return &table->tried[setting * table->graphs + graph];
}

/* Reads what an earlier call has written; a file that is not there is none. */
regal_status regal_tune_table_load(regal_tune_table *table, const char *path);
regal_status regal_tune_table_save(const regal_tune_table *table,
                                   const char *path);

/* Mean improvement over the standard settings on the first graphs, in percent
 * of its cost, and the standard error of it. */
double regal_tune_improvement(const regal_tune_table *table, size_t setting,
                              size_t graphs, double *error);

/* -- Rounds (tune/rounds.c) -------------------------------------------- */

enum { REGAL_MOST_ROUNDS = 5 };

/* In each round so many settings are run on so many graphs, the first ones. */
typedef struct regal_tune_round {
  size_t settings, graphs;
} regal_tune_round;

/* Without halving one round of everything. With it the settings halve and the
 * graphs double from round to round, up to all graphs. */
size_t regal_tune_rounds(size_t settings, size_t graphs, bool halving,
                         regal_tune_round rounds[REGAL_MOST_ROUNDS]);
/* Runs of all rounds together. */
uint64_t regal_tune_runs(const regal_tune_round *rounds, size_t count);
/* Of `*count` settings keeps the best `keep`, in the grid's order; the standard
 * settings stay in any case. */
regal_status regal_tune_keep(const regal_tune_table *table, size_t graphs,
                             size_t keep, size_t *alive, size_t *count);
/* The best of them; of equal ones the first. */
size_t regal_tune_best(const regal_tune_table *table, size_t graphs,
                       const size_t *alive, size_t count);

#endif
