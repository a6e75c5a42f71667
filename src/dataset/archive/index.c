/* SPDX-License-Identifier: Apache-2.0 */
/* Reader and writer of index.csv. One table names the columns, with the field
 * and the type of each, for reading and writing alike; texts stay where the
 * file's bytes were read to.
 */
#include "dataset/archive/index.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/csv.h"
#include "graph/builder.h"

typedef enum column_kind {
  COLUMN_COUNT, /* uint32_t */
  COLUMN_SEED,  /* uint64_t, decimal */
  COLUMN_TOTAL, /* int64_t, not negative */
  COLUMN_HASH,  /* uint64_t, 16 hexadecimal digits */
  COLUMN_CRC,   /* uint32_t, 8 hexadecimal digits */
  COLUMN_NUMBERS,
  COLUMN_TEXT = COLUMN_NUMBERS,
  COLUMN_ROOM /* regal_room, by name */
} column_kind;

typedef struct number_form {
  uint64_t most;
  int hex_digits; /* 0: decimal */
} number_form;

static const number_form number_forms[COLUMN_NUMBERS] = {
    [COLUMN_COUNT] = {UINT32_MAX, 0}, [COLUMN_SEED] = {UINT64_MAX, 0},
    [COLUMN_TOTAL] = {INT64_MAX, 0},  [COLUMN_HASH] = {UINT64_MAX, 16},
    [COLUMN_CRC] = {UINT32_MAX, 8},
};

typedef struct column {
  const char *name;
  column_kind kind;
  size_t offset; /* in regal_entry */
  bool figure;   /* needed for `known` */
} column;

#define ENTRY(field) offsetof(regal_entry, field)
#define FIGURE(field) offsetof(regal_entry, figures.field)

static const column columns[] = {
    {"name", COLUMN_TEXT, ENTRY(name), false},
    {"file", COLUMN_TEXT, ENTRY(file), false},
    {"split", COLUMN_TEXT, ENTRY(split), false},
    {"family", COLUMN_TEXT, ENTRY(family), false},
    {"copies", COLUMN_COUNT, ENTRY(copies), false},
    {"seed", COLUMN_SEED, ENTRY(seed), false},
    {"reading", COLUMN_TEXT, ENTRY(reading), false},
    {"ops", COLUMN_COUNT, FIGURE(ops), true},
    {"tensors", COLUMN_COUNT, FIGURE(tensors), true},
    {"edges", COLUMN_COUNT, FIGURE(edges), true},
    {"controls", COLUMN_COUNT, FIGURE(controls), true},
    {"diameter", COLUMN_COUNT, FIGURE(diameter), true},
    {"width", COLUMN_COUNT, FIGURE(width), true},
    {"work_ns", COLUMN_TOTAL, FIGURE(work_ns), true},
    {"critical_ns", COLUMN_TOTAL, FIGURE(critical_ns), true},
    {"tensor_bytes", COLUMN_TOTAL, FIGURE(tensor_bytes), true},
    {"runtime_room", COLUMN_ROOM, FIGURE(runtime_room), true},
    {"memory_room", COLUMN_ROOM, FIGURE(memory_room), true},
    {"degrees", COLUMN_HASH, FIGURE(degrees), true},
    {"checksum", COLUMN_HASH, FIGURE(checksum), true},
    {"file_bytes", COLUMN_SEED, FIGURE(file_bytes), true},
    {"file_crc", COLUMN_CRC, FIGURE(file_crc), true},
    {"source", COLUMN_TEXT, ENTRY(source), false},
};
#define COLUMNS (sizeof columns / sizeof *columns)

static const char *const rooms[] = {"yes", "no cost", "single op", "chain"};

const char *regal_room_name(regal_room room) {
  return (unsigned)room < sizeof rooms / sizeof *rooms ? rooms[room]
                                                       : "unknown";
}

const regal_entry regal_blank_entry = {.name = "",
                                       .file = "",
                                       .split = "",
                                       .family = "",
                                       .reading = "",
                                       .source = ""};

/* -- Values ---------------------------------------------------------------- */

/* Digits only: no sign, no spaces. */
static bool read_number(const number_form *form, const char *text,
                        void *field) {
  char *end;
  if (!isxdigit((unsigned char)*text) || text[1] == 'x')
    return false;
  errno = 0;
  unsigned long long number = strtoull(text, &end, form->hex_digits ? 16 : 10);
  if (form->most == UINT32_MAX)
    *(uint32_t *)field = (uint32_t)number;
  else
    *(uint64_t *)field = number;
  return !errno && !*end && number <= form->most;
}

static bool read_room(const char *text, regal_room *room) {
  for (size_t i = 0; i < sizeof rooms / sizeof *rooms; i++)
    if (!strcmp(text, rooms[i])) {
      *room = (regal_room)i;
      return true;
    }
  return false;
}

static bool read_value(const column *column, char *text, regal_entry *entry) {
  void *field = (char *)entry + column->offset;
  if (column->kind == COLUMN_ROOM)
    return read_room(text, field);
  if (column->kind < COLUMN_NUMBERS)
    return read_number(&number_forms[column->kind], text, field);
  *(const char **)field = text;
  return true;
}

/* -- Rows ------------------------------------------------------------------ */

/* For each field of a row its column, or NULL. */
typedef struct header {
  const column *column[REGAL_MOST_CSV_FIELDS];
  size_t fields, figures;
  bool has_file, has_name;
} header;

/* `header` is zero. */
static regal_status read_header(regal_csv *csv, header *header) {
  REGAL_TRY(regal_csv_next(csv));
  if (!csv->count)
    return regal_fail(csv->context, REGAL_BAD_INPUT, "%s: is empty", csv->name);
  header->fields = csv->count;
  for (size_t i = 0; i < csv->count; i++)
    for (size_t k = 0; k < COLUMNS; k++) {
      if (strcmp(csv->fields[i], columns[k].name))
        continue;
      for (size_t j = 0; j < i; j++)
        if (header->column[j] == &columns[k])
          return regal_csv_fail(csv, "column '%s' occurs twice",
                                columns[k].name);
      header->column[i] = &columns[k];
      header->figures += columns[k].figure;
      header->has_name |= columns[k].offset == ENTRY(name);
      header->has_file |= columns[k].offset == ENTRY(file);
    }
  return REGAL_OK;
}

static size_t count_figures(void) {
  size_t count = 0;
  for (size_t i = 0; i < COLUMNS; i++)
    count += columns[i].figure;
  return count;
}

static regal_status read_entry(const regal_csv *csv, const header *header,
                               regal_entry *entry) {
  *entry = regal_blank_entry;
  entry->known = header->figures == count_figures();
  if (csv->count != header->fields)
    return regal_csv_fail(csv, "%zu fields, expected %zu", csv->count,
                          header->fields);
  for (size_t i = 0; i < csv->count; i++) {
    const column *column = header->column[i];
    char *field = csv->fields[i];
    if (!column)
      continue;
    if (!*field && column->kind != COLUMN_TEXT)
      entry->known &= !column->figure;
    else if (!read_value(column, field, entry))
      return regal_csv_fail(csv, "%s is no proper '%s'",
                            regal_quote(field).text, column->name);
  }
  if (!*entry->name && !*entry->file)
    return regal_csv_fail(csv, "neither a name nor a file");
  return REGAL_OK;
}

static regal_status read_entries(regal_csv *csv, const header *header,
                                 regal_index *index) {
  for (;;) {
    REGAL_TRY(regal_csv_next(csv));
    if (!csv->count)
      return REGAL_OK;
    if (!REGAL_RESERVE(csv->context, index->rows, index->count,
                       index->capacity))
      return regal_fail_memory(csv->context);
    regal_index_row *row = &index->rows[index->count];
    REGAL_TRY(read_entry(csv, header, &row->entry));
    row->line = csv->row;
    index->count++;
  }
}

regal_status regal_index_parse(regal_context *context, const char *name,
                               regal_text *text, regal_index *index,
                               bool *foreign) {
  regal_text_drop_mark(text); /* a member of an archive may still have one */
  *index = (regal_index){.context = context, .text = text->bytes};
  regal_csv csv;
  header header = {.fields = 0};
  regal_csv_open(&csv, context, name, 1, text->bytes, text->size);
  regal_status status = read_header(&csv, &header);
  *foreign = status == REGAL_OK && !header.has_name && !header.has_file;
  if (status == REGAL_OK && !*foreign)
    status = read_entries(&csv, &header, index);
  if (status != REGAL_OK)
    regal_index_free(index);
  return status;
}

void regal_index_free(regal_index *index) {
  regal_release(index->context, index->text);
  regal_release(index->context, index->rows);
  *index = (regal_index){.context = index->context};
}

/* -- Writing --------------------------------------------------------------- */

static void write_number(regal_text *text, const number_form *form,
                         const void *field) {
  uint64_t number = form->most == UINT32_MAX ? *(const uint32_t *)field
                                             : *(const uint64_t *)field;
  if (form->hex_digits)
    regal_text_format(text, "%0*" PRIx64, form->hex_digits, number);
  else
    regal_text_format(text, "%" PRIu64, number);
}

static void write_value(regal_text *text, const column *column,
                        const regal_entry *entry) {
  const void *field = (const char *)entry + column->offset;
  if (column->kind == COLUMN_ROOM)
    regal_text_csv(text, regal_room_name(*(const regal_room *)field));
  else if (column->kind < COLUMN_NUMBERS)
    write_number(text, &number_forms[column->kind], field);
  else
    regal_text_csv(text, *(const char *const *)field);
}

void regal_index_write_header(regal_text *text) {
  for (size_t i = 0; i < COLUMNS; i++)
    regal_text_format(text, "%s%s", i ? "," : "", columns[i].name);
  regal_text_append(text, "\n", 1);
}

void regal_index_write_row(regal_text *text, const regal_entry *entry) {
  for (size_t i = 0; i < COLUMNS; i++) {
    if (i)
      regal_text_append(text, ",", 1);
    if (!columns[i].figure || entry->known)
      write_value(text, &columns[i], entry);
  }
  regal_text_append(text, "\n", 1);
}
