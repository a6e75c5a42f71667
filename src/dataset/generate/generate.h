/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of regal_generate, which writes a folder of random graphs.
 *
 *   DIR/recipe.txt       what the graphs are; written first, never changed
 *   DIR/graph_*.pbtxt    the graphs; with --paper in train/, valid/ and test/
 *   DIR/index.csv.part   a row for each graph that is in place, in order
 *   DIR/index.csv        the same when the last one is in place
 *
 * Graph k of a recipe's stream is a function of the recipe and k, and graphs
 * are taken in order of k. So the rows say where to go on: after the last one's
 * draw. Rows are only ever appended, each after its graph was written whole
 * under its final name; a row that was cut short is dropped on resuming.
 */
#ifndef REGAL_DATASET_GENERATE_GENERATE_H
#define REGAL_DATASET_GENERATE_GENERATE_H

#include "base/names.h"
#include "base/parallel/threads.h"
#include "base/text.h"
#include "dataset/synthetic/recipe.h"
#include "format/formats.h"
#include "regal_data.h"

enum { REGAL_MOST_SPLITS = 3 };

typedef struct regal_split_size {
  const char *name; /* also its folder; "" when the set is not split */
  uint64_t graphs;
} regal_split_size;

/* What to write, from the options. */
typedef struct regal_spec {
  regal_recipe recipe;
  bool filter;   /* keep graphs that longer search improves by 18% */
  bool distinct; /* no two graphs of the same topology */
  const regal_format *format;
  uint32_t splits;
  regal_split_size split[REGAL_MOST_SPLITS];
  uint64_t total;
} regal_spec;

regal_status regal_spec_read(regal_context *context,
                             const regal_options *options, regal_spec *spec);
/* The split of the graph at this place in the set. */
const char *regal_spec_split(const regal_spec *spec, uint64_t place);
/* Of the names of graph files. */
const char *regal_spec_ending(const regal_spec *spec);
/* Appends the content of recipe.txt. */
void regal_spec_write(const regal_spec *spec, regal_text *text);

/* -- Rows of the index ------------------------------------------------------*/

typedef struct regal_made_row {
  uint64_t checksum; /* of the graph; its name */
  regal_draw draw;
  uint64_t number;  /* of the draw, in the stream */
  uint64_t degrees; /* hash of the in-degree sequence */
  uint32_t ops, edges, controls;
  int64_t cost_1k, cost_10k; /* run time found by BRKGA; 0 without filter */
} regal_made_row;

extern const char regal_made_head[];

/* The graph's file inside the folder: "train/graph_0123456789abcdef.pbtxt". */
void regal_made_file(const regal_spec *spec, const regal_made_row *row,
                     uint64_t place, char *file, size_t capacity);
void regal_made_write(const regal_spec *spec, const regal_made_row *row,
                      uint64_t place, regal_text *text);
/* Reads the row that regal_made_write writes for this place, byte for byte,
 * up to its line end, and moves `*at` behind it; false when it is not one. */
bool regal_made_read(const regal_spec *spec, uint64_t place, const char **at,
                     regal_made_row *row);

/* -- Candidates -------------------------------------------------------------*/

/* A graph that was drawn, and what became of it. */
typedef struct regal_candidate {
  regal_status status;
  bool finished; /* false: a stop was requested before it was judged */
  bool passed;   /* the filter */
  regal_made_row row;
  regal_text text; /* the graph's file, if it passed */
} regal_candidate;

/* Draws graph `number`, judges it and writes it to the candidate's text, all
 * with `context` (one thread's) and a pool of one thread. */
void regal_candidate_make(regal_context *context, regal_pool *single,
                          const regal_spec *spec, uint64_t number,
                          regal_candidate *candidate);

/* -- The folder -------------------------------------------------------------*/

typedef struct regal_folder {
  regal_context *context;
  const char *path;
  const regal_spec *spec;
  uint64_t graphs; /* that are in place */
  uint64_t next;   /* draw to look at */
  double gains;    /* sum of their improvements, 0 without filter */
  regal_names checksums, degrees_seen; /* sets: the texts are empty */
  regal_text rows; /* of graphs in place that are not in the index yet */
  bool made;       /* by this call */
  int lock, index; /* descriptors of the folder and index.csv.part, or -1 */
} regal_folder;

/* Makes the folder, or takes up the work where an earlier call ended. Closes
 * with regal_folder_close in any case. */
regal_status regal_folder_open(regal_folder *folder, regal_context *context,
                               const char *path, const regal_spec *spec);
/* Takes the next candidate in order of draws: writes its graph unless it is
 * dropped. */
regal_status regal_folder_take(regal_folder *folder,
                               const regal_candidate *candidate);
/* Appends the rows of what was taken to the index. */
regal_status regal_folder_flush(regal_folder *folder);
/* The last graph is in place: gives the index its name. */
regal_status regal_folder_finish(regal_folder *folder);
/* No more graphs will come: those that are in place become a set of their own,
 * and what was begun without any is removed. */
regal_status regal_folder_give_up(regal_folder *folder);
void regal_folder_close(regal_folder *folder);

#endif
