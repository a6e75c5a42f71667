/* SPDX-License-Identifier: Apache-2.0 */
/* Datasets: graphs in a folder or a zip archive, with an index.csv.
 *
 * An index says for each graph its name and file, the split and family to which
 * it belongs, where it comes from, and figures of it. A dataset without one
 * gets one when it is opened: every file with the ending of a graph is a graph,
 * named after its file; a folder train, valid or test above it is its split.
 *
 *   regal_dataset *dataset;
 *   regal_dataset_open(context, "data/torch.zip", &dataset);
 *   for (size_t i = 0; i < regal_dataset_count(dataset); i++)
 *     regal_dataset_load(dataset, i, 0, NULL, &graph);
 *
 * Augmented copies (every tensor size and op time times a number of its own,
 * uniform in (0.5, 1.5)) are made when they are loaded, from the graph and a
 * seed: they take no room. docs/data.md describes the index.
 *
 * Conventions are those of regal.h. A call that changes a dataset changes the
 * object only; regal_dataset_save writes it.
 */
#ifndef REGAL_DATA_H
#define REGAL_DATA_H

#include "regal.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Why a graph's cost cannot be improved, whatever the plan. */
typedef enum regal_room {
  REGAL_ROOM_YES = 0,       /* none of these */
  REGAL_ROOM_NO_COST = 1,   /* nothing costs anything */
  REGAL_ROOM_SINGLE_OP = 2, /* one op has all the cost */
  REGAL_ROOM_CHAIN = 3      /* run time: no two ops can run side by side */
} regal_room;

/* "yes", "no cost", "single op", "chain". */
REGAL_API const char *regal_room_name(regal_room room);

/* What the graph itself says; the rest of an index is what people say. */
typedef struct regal_figures {
  uint32_t ops, tensors;
  uint32_t edges;    /* (producer, tensor, consumer) triples */
  uint32_t controls; /* control edges */
  uint32_t diameter; /* longest shortest path over data edges, either way */
  uint32_t width;    /* most ops at one depth */
  int64_t work_ns, critical_ns, tensor_bytes;
  regal_room runtime_room, memory_room;
  uint64_t degrees;    /* hash of the sorted in-degrees: equal topologies */
  uint64_t checksum;   /* of the graph: see regal_graph_info */
  uint64_t file_bytes; /* of the file, as it is stored */
  uint32_t file_crc;   /* its CRC-32 */
} regal_figures;

/* One row of the index. Texts are the dataset's, and "" where unknown. */
typedef struct regal_entry {
  const char *name;    /* unique in the dataset */
  const char *file;    /* path inside the dataset */
  const char *split;   /* "train", "valid", "test" */
  const char *family;  /* model family; never on both sides of a split */
  const char *reading; /* options for reading it: "loops=cut" */
  const char *source;  /* where it comes from */
  uint32_t copies;     /* augmented copies that go with it */
  uint64_t seed;       /* of the copies */
  bool known;          /* whether `figures` are there yet */
  regal_figures figures;
} regal_entry;

typedef struct regal_dataset regal_dataset;

/* A dataset of one folder, zip archive or graph file; or none, if `path` is
 * NULL. Only its index is read. */
REGAL_API regal_status regal_dataset_open(regal_context *context,
                                          const char *path,
                                          regal_dataset **dataset);
/* Appends another one. Names must differ. */
REGAL_API regal_status regal_dataset_add(regal_dataset *dataset,
                                         const char *path);
REGAL_API void regal_dataset_free(regal_dataset *dataset);

REGAL_API size_t regal_dataset_count(const regal_dataset *dataset);
/* The entry, until the dataset is changed or freed. */
REGAL_API const regal_entry *regal_dataset_entry(const regal_dataset *dataset,
                                                 size_t index);
/* The graph of that name, or regal_dataset_count() when there is none. O(1). */
REGAL_API size_t regal_dataset_find(const regal_dataset *dataset,
                                    const char *name);

/* Reads a graph: copy 0 is the graph itself, 1 .. are its augmented copies (any
 * number, whatever the entry says). Options of group "reading" that were given
 * explicitly win over the entry's; NULL: defaults. */
REGAL_API regal_status regal_dataset_load(regal_dataset *dataset, size_t index,
                                          uint32_t copy,
                                          const regal_options *options,
                                          regal_graph **graph);

/* An augmented copy of a graph, from (graph, seed, copy). Temporary, resident
 * and parameter bytes stay. Copy 0 is the graph unchanged. */
REGAL_API regal_status regal_graph_augment(regal_context *context,
                                           const regal_graph *graph,
                                           uint64_t seed, uint32_t copy,
                                           regal_graph **augmented);

/* Records the options of group "reading" that were given explicitly with every
 * graph, so that it is read so wherever the dataset goes; figures are then no
 * longer known. */
REGAL_API regal_status regal_dataset_set_reading(regal_dataset *dataset,
                                                 const regal_options *options);

/* Computes the figures that the index lacks, on options->threads threads. */
REGAL_API regal_status regal_dataset_measure(regal_dataset *dataset,
                                             const regal_options *options);
/* Computes all figures, and fails when one differs from the index's. */
REGAL_API regal_status regal_dataset_check(regal_dataset *dataset,
                                           const regal_options *options);

/* Why a graph left the dataset: for people, "the same in-degrees as 'x'". */
typedef void (*regal_dropped_fn)(void *state, const regal_entry *entry,
                                 const char *why);

/* Keeps the first of the graphs with equal in-degree sequences. Needs the
 * figures. `dropped` may be NULL. */
REGAL_API regal_status regal_dataset_deduplicate(regal_dataset *dataset,
                                                 regal_dropped_fn dropped,
                                                 void *state);
/* Drops graphs without room for improvement: of run time, or of memory, as
 * options->objective says. Needs the figures. */
REGAL_API regal_status regal_dataset_filter(regal_dataset *dataset,
                                            const regal_options *options,
                                            regal_dropped_fn dropped,
                                            void *state);
/* Keeps the graphs of one split. */
REGAL_API regal_status regal_dataset_select(regal_dataset *dataset,
                                            const char *split);
/* Splits 3-1-1 into train, valid and test. Families, joined where two share an
 * in-degree sequence, are sorted by their median number of ops and taken five
 * at a time, three, one and one, so that sizes are alike; of the ways to do
 * that, the one that keeps the numbers of graphs nearest to 3:1:1, and of equal
 * ones the seed's. Needs the figures. */
REGAL_API regal_status regal_dataset_split(regal_dataset *dataset,
                                           uint64_t seed);
/* Says that every graph comes with so many augmented copies. */
REGAL_API void regal_dataset_augment(regal_dataset *dataset, uint32_t copies,
                                     uint64_t seed);

/* Writes index.csv, the graphs' files and what else is in the dataset, as a zip
 * archive (PATH.zip) or a folder. Needs the figures. A file with a graph's name
 * and another ending (model.order) goes where its graph goes. */
REGAL_API regal_status regal_dataset_save(regal_dataset *dataset,
                                          const char *path);

/* -- Random graphs ----------------------------------------------------------
 */

/* How far a call of regal_generate has come. */
typedef struct regal_generation {
  uint64_t graphs;    /* in place, those of earlier calls included */
  uint64_t total;     /* asked for */
  uint64_t resumed;   /* in place when the call began */
  uint64_t drawn;     /* random graphs, of which these were kept */
  double improvement; /* mean, from 1K to 10K evaluations; 0 without filter */
  double seconds;     /* of this call */
} regal_generation;

typedef void (*regal_generation_fn)(void *state,
                                    const regal_generation *generation);

/* Fills `folder` with random graphs: options of group "generate", seed, threads
 * and format. Writes DIR/graph_CHECKSUM.pbtxt (with options->paper in train/,
 * valid/ and test/) and an index.csv with a row for each. Which graphs these
 * are depends on the options, but not on the number of threads.
 *
 * A call that ended early, in whatever way, is continued by the next one with
 * the same options; the result is the same, byte for byte. After
 * regal_stop_request it returns REGAL_OK with fewer graphs than `total`. A
 * larger count continues a smaller one.
 *
 * `progress` (or NULL) is called about once a second by the calling thread;
 * `generation` (or NULL) gets the final figures. */
REGAL_API regal_status regal_generate(regal_context *context,
                                      const char *folder,
                                      const regal_options *options,
                                      regal_generation_fn progress, void *state,
                                      regal_generation *generation);

#ifdef __cplusplus
}
#endif

#endif
