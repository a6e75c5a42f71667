/* SPDX-License-Identifier: Apache-2.0 */
/* The graphs of an archive: its index.csv tied to its files, or an index made
 * of the files' names where there is none. And paths into archives:
 * "data/torch.zip:hf_albert_train", "data/xla.zip:gpt2_grad.order".
 */
#ifndef REGAL_DATASET_ARCHIVE_CATALOG_H
#define REGAL_DATASET_ARCHIVE_CATALOG_H

#include "base/memory/arena.h"
#include "dataset/archive/archive.h"
#include "dataset/archive/index.h"

typedef struct regal_catalog {
  regal_context *context;
  regal_archive *archive;
  bool single;       /* one file: whatever it is called, it is a graph */
  regal_index index; /* names and files are filled in; names are unique */
  regal_arena arena; /* texts that are not in the index */
} regal_catalog;

/* A folder, a zip archive, or a single graph file. */
regal_status regal_catalog_open(regal_context *context, const char *path,
                                regal_catalog **catalog);
void regal_catalog_free(regal_catalog *catalog);

/* Reads a graph, or its augmented copy unless `copy` is 0: the member's bytes,
 * with the reading options of its entry as far as `options` (NULL: defaults)
 * gives none. For several threads, as regal_archive_read; the figures of the
 * file go to `figures` unless that is NULL. */
regal_status regal_member_load(regal_archive *archive, regal_context *context,
                               size_t member, const regal_entry *entry,
                               uint32_t copy, const regal_options *options,
                               regal_figures *figures, regal_graph **graph);

/* Loads a graph from a member's bytes with the options `reading` of its row,
 * as far as `options` (NULL: defaults) gives none. Files that these options
 * name are members of the archive, or attached to it. `where` is for messages.
 */
regal_status regal_load_as_indexed(regal_archive *archive,
                                   regal_context *context, const char *where,
                                   const char *reading, const regal_text *text,
                                   const regal_options *options,
                                   regal_graph **graph);

/* Whether a file's name is that of a graph, and how long it is without the
 * endings that say so ("model.pb.gz": 5). */
bool regal_is_graph_name(const char *file, size_t *stem);

/* -- Paths ----------------------------------------------------------------- */

/* Where ":NAME" begins if the path is ARCHIVE:NAME and no file; else NULL. */
const char *regal_find_member_part(const char *path);
/* Loads the graph NAME of ARCHIVE:NAME: by its name in the index, or its file;
 * NAME~3 is its third augmented copy. */
regal_status regal_member_path_load(regal_context *context, const char *path,
                                    const char *member_part,
                                    const regal_options *options,
                                    regal_graph **graph);
/* Reads a file, or the file NAME of ARCHIVE:NAME, inflated; "-" is stdin. */
regal_status regal_read_input(regal_context *context, const char *path,
                              regal_text *text);

#endif
