/* SPDX-License-Identifier: Apache-2.0 */
/* index.csv: the rows of a dataset (docs/data.md).
 *
 * Comma-separated values (base/csv.h) with a header. Columns are known by their
 * names, in any order; unknown ones are skipped. A name, or else a file, must
 * be there; the others may be missing or empty.
 */
#ifndef REGAL_DATASET_ARCHIVE_INDEX_H
#define REGAL_DATASET_ARCHIVE_INDEX_H

#include "base/text.h"
#include "regal_data.h"

#define REGAL_INDEX_FILE "index.csv"

typedef struct regal_index_row {
  regal_entry entry;
  uint32_t line; /* where the row begins; 0: it is in no file */
  size_t member; /* the catalog's to fill in: the graph's file, */
  bool stale;    /* and whether it is another than the row's */
} regal_index_row;

typedef struct regal_index {
  regal_context *context;
  char *text; /* the fields of all rows; entries point into it */
  regal_index_row *rows;
  size_t count, capacity;
} regal_index;

/* An entry that says nothing. */
extern const regal_entry regal_blank_entry;

/* Takes `text` over, also on failure; `name` is for messages. A row without a
 * file has "" there, one without a name too: the caller knows the files.
 * Without a column `file` or `name` it is somebody else's index: no rows, and
 * `*foreign` is set. */
regal_status regal_index_parse(regal_context *context, const char *name,
                               regal_text *text, regal_index *index,
                               bool *foreign);
void regal_index_free(regal_index *index);

/* Appends the header, and one row. */
void regal_index_write_header(regal_text *text);
void regal_index_write_row(regal_text *text, const regal_entry *entry);

#endif
