/* SPDX-License-Identifier: Apache-2.0 */
/* The graphs of a benchmark, and which run a row is of. Augmented copies are
 * made when they are run. */
#include "bench/bench.h"

#include <stdio.h>
#include <string.h>

#include "dataset/archive/catalog.h"
#include "regal_data.h"

/* What the table calls a dataset: the name of its file, without the ending. */
static const char *title_of(regal_arena *arena, const char *path) {
  size_t length = strlen(path);
  while (length > 1 && path[length - 1] == '/')
    length--;
  size_t begin = length;
  while (begin && path[begin - 1] != '/')
    begin--;
  size_t end = begin + 1;
  while (end < length && path[end] != '.')
    end++;
  return regal_bench_keep(arena, path + begin,
                          (end < length ? end : length) - begin);
}

/* Graphs of several datasets may have the same name. */
static const char *key_of(regal_arena *arena, const char *dataset,
                          const char *name) {
  size_t length = strlen(dataset) + strlen(name) + 2;
  char *key = regal_arena_alloc(arena, length, 1);
  if (key)
    snprintf(key, length, "%s\n%s", dataset, name);
  return key;
}

static regal_status add_name(regal_bench_design *design, const char *dataset,
                             const char *name) {
  size_t number, before = design->names.count;
  const char *key = key_of(&design->arena, dataset, name);
  if (!key || !regal_names_add(&design->names, key, &number))
    return regal_fail_memory(design->context);
  if (number < before)
    return regal_fail(design->context, REGAL_BAD_INPUT,
                      "found two graphs %s of datasets that are both called "
                      "%s",
                      name, dataset);
  return REGAL_OK;
}

static regal_status add_graph(regal_bench_design *design,
                              regal_dataset *dataset, const char *title,
                              size_t index, const regal_options *options) {
  const regal_entry *entry = regal_dataset_entry(dataset, index);
  if (!REGAL_RESERVE(design->context, design->graphs, design->graph_count,
                     design->graph_capacity))
    return regal_fail_memory(design->context);
  regal_bench_graph *made = &design->graphs[design->graph_count];
  const char *name =
      regal_bench_keep(&design->arena, entry->name, strlen(entry->name));
  if (!name)
    return regal_fail_memory(design->context);
  REGAL_TRY(add_name(design, title, name));
  *made =
      (regal_bench_graph){.dataset = title, .name = name, .seed = entry->seed};
  REGAL_TRY(regal_dataset_load(dataset, index, 0, options, &made->graph));
  design->graph_count++;
  return REGAL_OK;
}

static regal_status add_graphs(regal_bench_design *design,
                               regal_dataset *dataset, const char *path,
                               const regal_options *options) {
  if (options->split[0])
    REGAL_TRY(regal_dataset_select(dataset, options->split));
  size_t all = regal_dataset_count(dataset), wanted = all;
  if (!all)
    return regal_fail(design->context, REGAL_BAD_INPUT,
                      "%s: found no graph%s%s", path,
                      options->split[0] ? " of split " : "", options->split);
  if (options->graphs && (uint64_t)options->graphs < all)
    wanted = (size_t)options->graphs;
  const char *title = title_of(&design->arena, path);
  if (!title)
    return regal_fail_memory(design->context);
  for (size_t i = 0; i < wanted; i++)
    REGAL_TRY(add_graph(design, dataset, title, i * all / wanted, options));
  return REGAL_OK;
}

static regal_status add_member(regal_bench_design *design,
                               regal_dataset *dataset, const char *archive,
                               const char *name, const regal_options *options) {
  size_t index = regal_dataset_find(dataset, name);
  if (index == regal_dataset_count(dataset))
    return regal_fail(design->context, REGAL_BAD_INPUT, "%s: no graph \"%s\"",
                      archive, name);
  const char *title = title_of(&design->arena, archive);
  return title ? add_graph(design, dataset, title, index, options)
               : regal_fail_memory(design->context);
}

/* `member` is the ":NAME" of ARCHIVE:NAME, or NULL. */
regal_status regal_bench_add_dataset(regal_bench_design *design,
                                     const char *path,
                                     const regal_options *options) {
  regal_dataset *dataset;
  const char *member = regal_find_member_part(path);
  size_t length = member ? (size_t)(member - path) : strlen(path);
  const char *archive = regal_bench_keep(&design->arena, path, length);
  if (!archive)
    return regal_fail_memory(design->context);
  REGAL_TRY(regal_dataset_open(design->context, archive, &dataset));
  regal_status status =
      member ? add_member(design, dataset, archive, member + 1, options)
             : add_graphs(design, dataset, archive, options);
  regal_dataset_free(dataset);
  return status;
}

static size_t find_variant(const regal_bench_design *design,
                           const regal_bench_row *row) {
  size_t v = 0;
  while (v < design->variant_count &&
         (strcmp(design->variants[v].method, row->method) ||
          strcmp(design->variants[v].budget, row->budget)))
    v++;
  return v;
}

static size_t find_seed(const regal_bench_design *design, uint64_t seed) {
  size_t s = 0;
  while (s < design->seed_count && design->seeds[s] != seed)
    s++;
  return s;
}

/* A name too long for the buffer is none of ours. */
static size_t find_graph(const regal_bench_design *design,
                         const regal_bench_row *row) {
  char key[REGAL_MOST_LIST];
  int length = snprintf(key, sizeof key, "%s\n%s", row->dataset, row->graph);
  if (length < 0 || (size_t)length >= sizeof key)
    return REGAL_NO_NAME;
  return regal_names_find(&design->names, key);
}

size_t regal_bench_number(const regal_bench_design *design,
                          const regal_bench_row *row) {
  size_t graph = find_graph(design, row);
  size_t variant = find_variant(design, row);
  size_t seed = find_seed(design, row->seed);
  if (graph == REGAL_NO_NAME || variant == design->variant_count ||
      seed == design->seed_count || row->copy >= design->copies ||
      strcmp(row->objective, design->memory ? "memory" : "runtime"))
    return SIZE_MAX;
  return ((graph * design->copies + row->copy) * design->variant_count +
          variant) *
             design->seed_count +
         seed;
}
