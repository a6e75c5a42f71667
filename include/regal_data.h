/* SPDX-License-Identifier: Apache-2.0 */
/* Datasets: graphs in a folder or a zip archive, with an index.csv.
 *
 * The index has, for each graph, its name and file, its split and family, its
 * origin, and statistics. A dataset without an index gets one when it is
 * opened: every file with the ending of a graph is a graph, named after its
 * file; a parent folder train, valid or test is its split.
 *
 *   regal_dataset *dataset;
 *   regal_dataset_open(context, "data/torch.zip", &dataset);
 *   for (size_t i = 0; i < regal_dataset_count(dataset); i++)
 *     regal_dataset_load(dataset, i, 0, NULL, &graph);
 *
 * Augmented copies (every tensor size and op time multiplied by its own random
 * number, uniform in (0.5, 1.5)) are computed from the graph and a seed when
 * they are loaded; they are not stored. docs/data.md describes the index.
 *
 * The conventions are those of regal.h. A call that changes a dataset changes
 * only the object; regal_dataset_save writes it.
 */
#ifndef REGAL_DATA_H
#define REGAL_DATA_H

#include "regal.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Whether a plan can improve a graph's cost, or why not. */
typedef enum regal_room {
  REGAL_ROOM_YES = 0,       /* it may be improved */
  REGAL_ROOM_NO_COST = 1,   /* no op has a cost */
  REGAL_ROOM_SINGLE_OP = 2, /* one op has all the cost */
  REGAL_ROOM_CHAIN = 3      /* run time: no two ops can run in parallel */
} regal_room;

/* "yes", "no cost", "single op", "chain". */
REGAL_API const char *regal_room_name(regal_room room);

/* Statistics computed from the graph. */
typedef struct regal_figures {
  uint32_t ops, tensors;
  uint32_t edges;    /* (producer, tensor, consumer) triples */
  uint32_t controls; /* control edges */
  uint32_t diameter; /* longest shortest path, undirected data edges */
  uint32_t width;    /* most ops at one depth */
  int64_t work_ns, critical_ns, tensor_bytes;
  regal_room runtime_room, memory_room;
  uint64_t degrees;    /* hash of the sorted in-degrees: equal topologies */
  uint64_t checksum;   /* of the graph: see regal_graph_info */
  uint64_t file_bytes; /* of the file as stored */
  uint32_t file_crc;   /* its CRC-32 */
} regal_figures;

/* One row of the index. The dataset owns the texts; "" means unknown. */
typedef struct regal_entry {
  const char *name;    /* unique in the dataset */
  const char *file;    /* path inside the dataset */
  const char *split;   /* "train", "valid", "test" */
  const char *family;  /* model family; never on both sides of a split */
  const char *reading; /* options for reading it: "loops=cut" */
  const char *source;  /* origin */
  uint32_t copies;     /* number of augmented copies */
  uint64_t seed;       /* of the copies */
  bool known;          /* whether `figures` are computed */
  regal_figures figures;
} regal_entry;

typedef struct regal_dataset regal_dataset;

/* Opens a folder, zip archive or graph file; an empty dataset if `path` is
 * NULL. Reads only the index. */
REGAL_API regal_status regal_dataset_open(regal_context *context,
                                          const char *path,
                                          regal_dataset **dataset);
/* Appends another dataset. Names must differ. */
REGAL_API regal_status regal_dataset_add(regal_dataset *dataset,
                                         const char *path);
REGAL_API void regal_dataset_free(regal_dataset *dataset);

REGAL_API size_t regal_dataset_count(const regal_dataset *dataset);
/* The entry; valid until the dataset is changed or freed. */
REGAL_API const regal_entry *regal_dataset_entry(const regal_dataset *dataset,
                                                 size_t index);
/* The graph of that name, or regal_dataset_count() if there is none. O(1). */
REGAL_API size_t regal_dataset_find(const regal_dataset *dataset,
                                    const char *name);

/* Reads a graph. Copy 0 is the graph itself; 1, 2, ... are augmented copies
 * (any number, independent of the entry). Explicit options of group "reading"
 * take precedence over the entry's; NULL means defaults. */
REGAL_API regal_status regal_dataset_load(regal_dataset *dataset, size_t index,
                                          uint32_t copy,
                                          const regal_options *options,
                                          regal_graph **graph);

/* An augmented copy of a graph, from (graph, seed, copy). Temporary, resident
 * and parameter bytes are unchanged. Copy 0 is the graph itself. */
REGAL_API regal_status regal_graph_augment(regal_context *context,
                                           const regal_graph *graph,
                                           uint64_t seed, uint32_t copy,
                                           regal_graph **augmented);

/* Records the explicit options of group "reading" in every entry, so that the
 * graph is always read with them. Discards the statistics. */
REGAL_API regal_status regal_dataset_set_reading(regal_dataset *dataset,
                                                 const regal_options *options);

/* Computes missing statistics, on options->threads threads. */
REGAL_API regal_status regal_dataset_measure(regal_dataset *dataset,
                                             const regal_options *options);
/* Computes all statistics, and fails if one differs from the index. */
REGAL_API regal_status regal_dataset_check(regal_dataset *dataset,
                                           const regal_options *options);

/* Called for each removed graph with the reason, as text for people. */
typedef void (*regal_dropped_fn)(void *state, const regal_entry *entry,
                                 const char *why);

/* Keeps the first of the graphs with equal in-degree sequences. Needs the
 * statistics. `dropped` may be NULL. */
REGAL_API regal_status regal_dataset_deduplicate(regal_dataset *dataset,
                                                 regal_dropped_fn dropped,
                                                 void *state);
/* Removes graphs that no plan can improve for options->objective. Needs the
 * statistics. */
REGAL_API regal_status regal_dataset_filter(regal_dataset *dataset,
                                            const regal_options *options,
                                            regal_dropped_fn dropped,
                                            void *state);
/* Keeps the graphs of one split. */
REGAL_API regal_status regal_dataset_select(regal_dataset *dataset,
                                            const char *split);
/* Splits 3-1-1 into train, valid and test. Families are merged if they share an
 * in-degree sequence, sorted by their median number of ops, and distributed
 * five at a time: three, one and one. Of the ways to do so, the one closest to
 * 3:1:1 in graphs is used; the seed decides between equal ones. Needs the
 * statistics.
 */
REGAL_API regal_status regal_dataset_split(regal_dataset *dataset,
                                           uint64_t seed);
/* The same, after other sets that have been split: graphs whose family or
 * in-degree sequence is in one of `like` go to the split that it has there, and
 * the other families are distributed so that this set is as close to 3:1:1 as
 * it can be. So several sets can be trained on together. Fails as
 * REGAL_BAD_INPUT where a family is already in two splits. Needs the statistics
 * of all. */
REGAL_API regal_status regal_dataset_split_like(
    regal_dataset *dataset, const regal_dataset *const *like, size_t like_count,
    uint64_t seed);
/* Sets the number and the seed of the augmented copies of every graph. */
REGAL_API void regal_dataset_augment(regal_dataset *dataset, uint32_t copies,
                                     uint64_t seed);

/* Writes index.csv, the graph files and all other files of the dataset as a zip
 * archive (PATH.zip) or a folder. Needs the statistics. A file with a graph's
 * name and another ending (model.order) stays with its graph. */
REGAL_API regal_status regal_dataset_save(regal_dataset *dataset,
                                          const char *path);

/* -- Random graphs --------------------------------------------------------- */

/* Progress of a call of regal_generate. */
typedef struct regal_generation {
  uint64_t graphs;    /* written, including earlier calls */
  uint64_t total;     /* requested */
  uint64_t resumed;   /* written before this call */
  uint64_t drawn;     /* random graphs before filtering */
  double improvement; /* mean, from 1K to 10K evaluations; 0 without filter */
  double seconds;     /* of this call */
} regal_generation;

typedef void (*regal_generation_fn)(void *state,
                                    const regal_generation *generation);

/* Fills `folder` with random graphs, by the options of group "generate", seed,
 * threads and format. Writes DIR/graph_CHECKSUM.pbtxt (with options->paper in
 * train/, valid/ and test/) and an index.csv. The graphs depend on the options,
 * not on the number of threads.
 *
 * The next call with the same options continues an interrupted one; the result
 * is the same, byte for byte. After regal_stop_request the call returns
 * REGAL_OK with fewer graphs than `total`. A larger count extends a smaller
 * one.
 *
 * Fails as REGAL_BAD_INPUT when fewer than one in 1000 graphs drawn is kept, as
 * with the filter on graphs of ten ops. Graphs that were kept remain as a set;
 * without any, the folder is left as it was found.
 *
 * `progress` (or NULL) is called by the calling thread after each batch of
 * graphs; `generation` (or NULL) receives the final state. */
REGAL_API regal_status regal_generate(regal_context *context,
                                      const char *folder,
                                      const regal_options *options,
                                      regal_generation_fn progress, void *state,
                                      regal_generation *generation);

/* -- Pipelines ------------------------------------------------------------- */

/* The training step of a chain of layers on several microbatches, from the text
 * of --pipeline: "layers=32,microbatches=16,forward=2ms" (docs/pipelines.md).
 */
REGAL_API regal_status regal_generate_pipeline(regal_context *context,
                                               const char *shape,
                                               regal_graph **graph);

#ifdef __cplusplus
}
#endif

#endif
