/* SPDX-License-Identifier: Apache-2.0 */
/* From rows to groups, entries and cells. Everything is in the order of its
 * first row. */
#include "bench/summary.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/csv.h"
#include "base/plain.h"

/* -- Reading --------------------------------------------------------------- */

static regal_status add_row(regal_bench_summary *s, const char *path,
                            unsigned number, const char *line) {
  if (!REGAL_RESERVE(s->context, s->rows, s->row_count, s->row_capacity))
    return regal_fail_memory(s->context);
  char *copy = regal_arena_alloc(&s->arena, strlen(line) + 1, 1);
  if (!copy)
    return regal_fail_memory(s->context);
  memcpy(copy, line, strlen(line));
  regal_bench_row *row = &s->rows[s->row_count];
  REGAL_TRY(regal_bench_read_row(s->context, path, number, copy, row));
  s->mixed = s->mixed || strcmp(s->rows[0].settings, row->settings);
  s->row_count++;
  size_t build;
  return regal_names_add(&s->builds, row->build, &build)
             ? REGAL_OK
             : regal_fail_memory(s->context);
}

static regal_status read_table(regal_bench_summary *s, const char *path) {
  regal_bench_lines lines;
  regal_status status = REGAL_OK;
  char *line;
  REGAL_TRY(regal_bench_open_lines(s->context, path, true, &lines));
  while (status == REGAL_OK && (line = regal_bench_next_line(&lines)))
    status = add_row(s, path, lines.number, line);
  regal_bench_close_lines(&lines);
  return status;
}

/* -- Grouping -------------------------------------------------------------- */

/* The number of a key; a new one if it is not there. */
static regal_status number_of(regal_bench_summary *s, regal_names *names,
                              const char *key, size_t *number) {
  *number = regal_names_find(names, key);
  if (*number != REGAL_NO_NAME)
    return REGAL_OK;
  const char *kept = regal_bench_keep(&s->arena, key, strlen(key));
  return kept && regal_names_add(names, kept, number)
             ? REGAL_OK
             : regal_fail_memory(s->context);
}

static regal_status find_group(regal_bench_summary *s,
                               const regal_bench_row *row, size_t *number) {
  for (*number = 0; *number < s->group_count; ++*number)
    if (!strcmp(s->groups[*number].dataset, row->dataset) &&
        !strcmp(s->groups[*number].objective, row->objective))
      return REGAL_OK;
  if (!REGAL_RESERVE(s->context, s->groups, s->group_count, s->group_capacity))
    return regal_fail_memory(s->context);
  regal_bench_group *group = &s->groups[s->group_count++];
  *group =
      (regal_bench_group){.dataset = row->dataset, .objective = row->objective};
  regal_names_init(&group->entry_names, s->context);
  regal_names_init(&group->graph_names, s->context);
  return REGAL_OK;
}

static regal_status find_entry(regal_bench_summary *s, regal_bench_group *group,
                               const regal_bench_row *row, size_t *entry) {
  char key[REGAL_MOST_LIST];
  snprintf(key, sizeof key, "%s\n%s\n%s", row->method, row->budget,
           row->settings);
  REGAL_TRY(number_of(s, &group->entry_names, key, entry));
  if (*entry < group->entry_count)
    return REGAL_OK;
  if (!REGAL_RESERVE(s->context, group->entries, group->entry_count,
                     group->entry_capacity))
    return regal_fail_memory(s->context);
  group->entries[group->entry_count++] =
      (regal_bench_entry){row->method, row->budget, row->settings};
  return REGAL_OK;
}

static regal_status find_graph(regal_bench_summary *s, regal_bench_group *group,
                               const regal_bench_row *row, size_t *graph) {
  char key[REGAL_MOST_TEXT];
  if (row->copy)
    snprintf(key, sizeof key, "%s~%llu", row->graph,
             (unsigned long long)row->copy);
  else
    snprintf(key, sizeof key, "%s", row->graph);
  REGAL_TRY(number_of(s, &group->graph_names, key, graph));
  if (*graph < group->graph_count)
    return REGAL_OK;
  if (!REGAL_RESERVE(s->context, group->graphs, group->graph_count,
                     group->graph_capacity))
    return regal_fail_memory(s->context);
  group->graphs[group->graph_count++] = group->graph_names.key[*graph].text;
  return REGAL_OK;
}

static regal_status find_seed(regal_bench_summary *s, regal_bench_group *group,
                              uint64_t seed, size_t *number) {
  for (*number = 0; *number < group->seed_count; ++*number)
    if (group->seeds[*number] == seed)
      return REGAL_OK;
  if (!REGAL_RESERVE(s->context, group->seeds, group->seed_count,
                     group->seed_capacity))
    return regal_fail_memory(s->context);
  group->seeds[group->seed_count++] = seed;
  return REGAL_OK;
}

static regal_status group_rows(regal_bench_summary *s) {
  s->places = regal_alloc(s->context, s->row_count, sizeof *s->places);
  if (!s->places)
    return regal_fail_memory(s->context);
  for (size_t i = 0; i < s->row_count; i++) {
    const regal_bench_row *row = &s->rows[i];
    regal_bench_place *place = &s->places[i];
    REGAL_TRY(find_group(s, row, &place->group));
    regal_bench_group *group = &s->groups[place->group];
    REGAL_TRY(find_entry(s, group, row, &place->entry));
    REGAL_TRY(find_graph(s, group, row, &place->graph));
    REGAL_TRY(find_seed(s, group, row->seed, &place->seed));
  }
  return REGAL_OK;
}

/* -- Rows of the same run -------------------------------------------------- */

/* A number for each run that a group may have, from `base` on. */
static uint64_t run_number(const regal_bench_group *group,
                           const regal_bench_place *place, uint64_t base) {
  uint64_t cell = (uint64_t)place->entry * group->graph_count + place->graph;
  return base + cell * group->seed_count + place->seed;
}

/* The later row counts. Of another build, or of a graph or policy that has
 * changed, only if that was asked for. */
static regal_status replace_row(regal_bench_summary *s, size_t earlier,
                                size_t later, bool mix) {
  const regal_bench_row *a = &s->rows[earlier], *b = &s->rows[later];
  if (!mix && (strcmp(a->build, b->build) || strcmp(a->input, b->input)))
    return regal_fail(s->context, REGAL_BAD_INPUT,
                      "found two different runs of \"%s\" on %s with seed "
                      "%llu, of builds %s and %s: --mix takes the later one",
                      b->method, b->graph, (unsigned long long)b->seed,
                      a->build, b->build);
  s->places[earlier].replaced = true;
  s->replaced++;
  return REGAL_OK;
}

static regal_status replace_rows_with(regal_bench_summary *s, bool mix,
                                      const uint64_t *base, size_t *latest,
                                      regal_names *runs) {
  for (size_t i = 0; i < s->row_count; i++) {
    const regal_bench_place *place = &s->places[i];
    uint64_t run =
        run_number(&s->groups[place->group], place, base[place->group]);
    size_t before = runs->count, number;
    if (!regal_names_add_in(runs, run, "", &number))
      return regal_fail_memory(s->context);
    if (number < before)
      REGAL_TRY(replace_row(s, latest[number], i, mix));
    latest[number] = i;
  }
  return REGAL_OK;
}

static regal_status replace_rows(regal_bench_summary *s, bool mix) {
  uint64_t *base = regal_alloc(s->context, s->group_count, sizeof *base);
  size_t *latest = regal_alloc(s->context, s->row_count, sizeof *latest);
  regal_names runs;
  regal_names_init(&runs, s->context);
  regal_status status = REGAL_OK;
  if (!base || !latest)
    status = regal_fail_memory(s->context);
  for (size_t i = 1; i < s->group_count && status == REGAL_OK; i++) {
    const regal_bench_group *group = &s->groups[i - 1];
    base[i] = base[i - 1] +
              group->entry_count * group->graph_count * group->seed_count;
  }
  if (status == REGAL_OK)
    status = replace_rows_with(s, mix, base, latest, &runs);
  regal_names_free(&runs);
  regal_release(s->context, latest);
  regal_release(s->context, base);
  return status;
}

/* -- Cells ----------------------------------------------------------------- */

static regal_status create_cells(regal_bench_summary *s,
                                 regal_bench_group *group) {
  size_t graphs = group->graph_count, entries = group->entry_count;
  group->cells =
      regal_alloc(s->context, entries * graphs, sizeof *group->cells);
  group->best = regal_alloc(s->context, graphs, sizeof *group->best);
  group->bound = regal_alloc(s->context, graphs, sizeof *group->bound);
  group->by_seed = regal_alloc(s->context, entries * group->seed_count,
                               sizeof *group->by_seed);
  if (!group->cells || !group->best || !group->bound || !group->by_seed)
    return regal_fail_memory(s->context);
  for (size_t g = 0; g < graphs; g++)
    group->best[g] = INFINITY;
  return REGAL_OK;
}

static regal_bench_cell *cell_at(regal_bench_group *group, size_t entry,
                                 size_t graph) {
  return &group->cells[entry * group->graph_count + graph];
}

static void take_row(regal_bench_group *group, const regal_bench_row *row,
                     size_t entry, size_t graph) {
  regal_bench_cell *cell = cell_at(group, entry, graph);
  double n = (double)++cell->runs, cost = (double)row->cost;
  cell->cost += (cost - cell->cost) / n;
  cell->seconds += (row->seconds - cell->seconds) / n;
  cell->misfits += row->excess_bytes > 0;
  if (!row->excess_bytes && cost < group->best[graph])
    group->best[graph] = cost;
  if ((double)row->bound > group->bound[graph])
    group->bound[graph] = (double)row->bound;
}

static regal_status fill_cells(regal_bench_summary *s) {
  for (size_t i = 0; i < s->group_count; i++)
    REGAL_TRY(create_cells(s, &s->groups[i]));
  for (size_t i = 0; i < s->row_count; i++) {
    regal_bench_place place = s->places[i];
    if (!place.replaced)
      take_row(&s->groups[place.group], &s->rows[i], place.entry, place.graph);
  }
  return REGAL_OK;
}

/* -- Seeds, reference, best known ------------------------------------------ */

/* Mean improvement of each entry with each seed, over all graphs; the reference
 * is its mean over seeds. */
static void compare_seeds(regal_bench_summary *s) {
  for (size_t i = 0; i < s->row_count; i++) {
    regal_bench_place place = s->places[i];
    regal_bench_group *group = &s->groups[place.group];
    const regal_bench_cell *reference =
        cell_at(group, group->reference, place.graph);
    if (place.replaced || !reference->runs || reference->cost <= 0)
      continue;
    regal_bench_cell *mean =
        &group->by_seed[place.entry * group->seed_count + place.seed];
    double gain = 100 * (1 - (double)s->rows[i].cost / reference->cost);
    mean->cost += (gain - mean->cost) / (double)++mean->runs;
  }
}

/* "METHOD@BUDGET"; where a group has none, its first entry. Whether it has. */
static bool find_reference(regal_bench_group *group, const char *wanted) {
  const char *at = strrchr(wanted, '@');
  size_t length = at ? (size_t)(at - wanted) : strlen(wanted);
  for (size_t i = 0; i < group->entry_count; i++) {
    const regal_bench_entry *entry = &group->entries[i];
    if (strlen(entry->method) == length &&
        !memcmp(entry->method, wanted, length) &&
        (!at || !strcmp(entry->budget, at + 1))) {
      group->reference = i;
      return true;
    }
  }
  return false;
}

/* One that was asked for must be there. */
static regal_status find_references(regal_bench_summary *s,
                                    const regal_options *options) {
  regal_options defaults;
  bool found = false;
  for (size_t i = 0; i < s->group_count; i++)
    found = find_reference(&s->groups[i], options->reference) || found;
  regal_options_init(&defaults);
  if (found || !strcmp(options->reference, defaults.reference))
    return REGAL_OK;
  const regal_bench_entry *first = &s->groups[0].entries[0];
  return regal_fail(s->context, REGAL_BAD_INPUT,
                    "found no runs of the reference \"%s\", expected "
                    "METHOD@BUDGET of a run, such as \"%s@%s\"",
                    options->reference, first->method, first->budget);
}

static void take_best(regal_bench_summary *s, const char *graph, double cost) {
  for (size_t i = 0; i < s->group_count; i++) {
    size_t number = regal_names_find(&s->groups[i].graph_names, graph);
    if (number != REGAL_NO_NAME && cost > 0 && cost < s->groups[i].best[number])
      s->groups[i].best[number] = cost;
  }
}

static regal_status read_best_row(regal_bench_summary *s,
                                  const regal_csv *csv) {
  if (csv->count != 2)
    return regal_csv_fail(csv, "found %zu field%s, expected GRAPH,COST",
                          csv->count, regal_plural(csv->count));
  char *cost = csv->fields[1], *end;
  double value = regal_read_real(cost, &end);
  if (end == cost || *end || !isfinite(value))
    return regal_csv_fail(csv, "found \"%s\" as a cost, expected GRAPH,COST",
                          cost);
  take_best(s, csv->fields[0], value);
  return REGAL_OK;
}

static regal_status read_best_rows(regal_bench_summary *s, regal_csv *csv) {
  for (;;) {
    REGAL_TRY(regal_csv_next(csv));
    if (!csv->count)
      return REGAL_OK;
    if (!regal_csv_is_head(csv, "graph", "cost"))
      REGAL_TRY(read_best_row(s, csv));
  }
}

static regal_status read_best(regal_bench_summary *s, const char *path) {
  regal_text text;
  regal_csv csv;
  REGAL_TRY(regal_read_file(s->context, path, &text));
  regal_csv_open(&csv, s->context, path, 1, text.bytes, text.size);
  regal_status status = read_best_rows(s, &csv);
  regal_text_free(&text);
  return status;
}

/* -- The whole ------------------------------------------------------------- */

regal_status regal_bench_summarise(regal_context *context,
                                   const char *const *tables, size_t count,
                                   const regal_options *options,
                                   regal_bench_summary *summary) {
  *summary = (regal_bench_summary){.context = context};
  regal_arena_init(&summary->arena, context);
  regal_names_init(&summary->builds, context);
  for (size_t i = 0; i < count; i++)
    REGAL_TRY(read_table(summary, tables[i]));
  if (!summary->row_count)
    return regal_fail(context, REGAL_BAD_INPUT, "%s: found no runs", tables[0]);
  REGAL_TRY(group_rows(summary));
  REGAL_TRY(replace_rows(summary, options->mix));
  REGAL_TRY(fill_cells(summary));
  REGAL_TRY(find_references(summary, options));
  if (options->best[0])
    REGAL_TRY(read_best(summary, options->best));
  compare_seeds(summary);
  return REGAL_OK;
}

void regal_bench_summary_free(regal_bench_summary *summary) {
  regal_context *context = summary->context;
  for (size_t i = 0; i < summary->group_count; i++) {
    regal_bench_group *group = &summary->groups[i];
    void *const blocks[] = {group->entries, (void *)group->graphs, group->cells,
                            group->best,    group->bound,          group->seeds,
                            group->by_seed};
    for (size_t k = 0; k < sizeof blocks / sizeof *blocks; k++)
      regal_release(context, blocks[k]);
    regal_names_free(&group->entry_names);
    regal_names_free(&group->graph_names);
  }
  regal_release(context, summary->groups);
  regal_release(context, summary->places);
  regal_release(context, summary->rows);
  regal_names_free(&summary->builds);
  regal_arena_free(&summary->arena);
}
