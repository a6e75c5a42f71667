/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of a generated set's index.csv. Columns that regal_dataset knows too
 * (regal_data.h) mean the same here. No field needs quotes. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "dataset/generate/generate.h"

const char regal_made_head[] = "name,file,split,model,ops,edges,controls,"
                               "degrees,graph_seed,brkga_1k_ns,brkga_10k_ns,"
                               "draw\n";

enum { LONGEST_ROW = 512 };

void regal_made_file(const regal_spec *spec, const regal_made_row *row,
                     uint64_t place, char *file, size_t capacity) {
  const char *split = regal_spec_split(spec, place);
  snprintf(file, capacity, "%s%sgraph_%016" PRIx64 ".%s", split,
           split[0] ? "/" : "", row->checksum, regal_spec_ending(spec));
}

static void format_row(const regal_spec *spec, const regal_made_row *row,
                       uint64_t place, char text[LONGEST_ROW]) {
  char file[64], costs[64] = ",";
  regal_made_file(spec, row, place, file, sizeof file);
  if (spec->filter)
    snprintf(costs, sizeof costs, "%" PRId64 ",%" PRId64, row->cost_1k,
             row->cost_10k);
  snprintf(text, LONGEST_ROW,
           "graph_%016" PRIx64 ",%s,%s,%s,%" PRIu32 ",%" PRIu32 ",%" PRIu32
           ",%016" PRIx64 ",%" PRIu64 ",%s,%" PRIu64 "\n",
           row->checksum, file, regal_spec_split(spec, place),
           regal_recipe_model_name(row->draw.model), row->ops, row->edges,
           row->controls, row->degrees, row->draw.seed, costs, row->number);
}

void regal_made_write(const regal_spec *spec, const regal_made_row *row,
                      uint64_t place, regal_text *text) {
  char line[LONGEST_ROW];
  format_row(spec, row, place, line);
  regal_text_append(text, line, strlen(line));
}

/* Columns, as places in a row. */
enum column {
  COLUMN_NAME,
  COLUMN_FILE,
  COLUMN_SPLIT,
  COLUMN_MODEL,
  COLUMN_OPS,
  COLUMN_EDGES,
  COLUMN_CONTROLS,
  COLUMN_DEGREES,
  COLUMN_SEED,
  COLUMN_1K,
  COLUMN_10K,
  COLUMN_DRAW,
  COLUMNS
};

/* Cuts a line into columns, ending each with a zero. */
static bool split_columns(char *line, char *column[COLUMNS]) {
  for (int i = 0; i < COLUMNS; i++) {
    column[i] = line;
    line += strcspn(line, ",");
    if (!*line && i + 1 < COLUMNS)
      return false;
    *line++ = 0;
  }
  return true;
}

/* Numbers are not checked here: the row is written again and compared. */
static void parse_columns(const regal_spec *spec, char *column[COLUMNS],
                          regal_made_row *row) {
  const char *name = column[COLUMN_NAME];
  size_t prefix = strlen("graph_");
  *row = (regal_made_row){
      .checksum = strlen(name) > prefix ? strtoull(name + prefix, NULL, 16) : 0,
      .ops = (uint32_t)strtoul(column[COLUMN_OPS], NULL, 10),
      .edges = (uint32_t)strtoul(column[COLUMN_EDGES], NULL, 10),
      .controls = (uint32_t)strtoul(column[COLUMN_CONTROLS], NULL, 10),
      .degrees = strtoull(column[COLUMN_DEGREES], NULL, 16),
      .number = strtoull(column[COLUMN_DRAW], NULL, 10)};
  row->draw = regal_recipe_draw(&spec->recipe, row->number);
  if (!spec->filter)
    return;
  row->cost_1k = strtoll(column[COLUMN_1K], NULL, 10);
  row->cost_10k = strtoll(column[COLUMN_10K], NULL, 10);
}

bool regal_made_read(const regal_spec *spec, uint64_t place, const char **at,
                     regal_made_row *row) {
  char line[LONGEST_ROW], again[LONGEST_ROW];
  char *column[COLUMNS];
  size_t length = strcspn(*at, "\n");
  if ((*at)[length] != '\n' || length + 1 >= sizeof line)
    return false;
  memcpy(line, *at, length);
  line[length] = 0;
  if (!split_columns(line, column))
    return false;
  parse_columns(spec, column, row);
  format_row(spec, row, place, again);
  if (strncmp(again, *at, length + 1) || again[length + 1])
    return false;
  *at += length + 1;
  return true;
}
