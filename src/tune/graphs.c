/* SPDX-License-Identifier: Apache-2.0 */
/* The graphs that settings are tried on.
 *
 * The first rounds of halving see only the first graphs, so these must be a
 * fair sample of the set: graphs are taken in steps of about the golden section
 * of their number, which are far apart in the index and reach all of them.
 */
#include "tune/tune.h"

#include "base/hash.h"
#include "regal_data.h"

static regal_status select_graphs(regal_context *context,
                                  regal_dataset *dataset, const char *path) {
  bool split = false;
  for (size_t i = 0; i < regal_dataset_count(dataset); i++)
    split = split || regal_dataset_entry(dataset, i)->split[0];
  if (split)
    REGAL_TRY(regal_dataset_select(dataset, "train"));
  if (!regal_dataset_count(dataset))
    return regal_fail(context, REGAL_BAD_INPUT, "%s: found no graph%s", path,
                      split ? " of split train" : "");
  return REGAL_OK;
}

static regal_status load_one(regal_tune_set *set, regal_dataset *dataset,
                             const regal_options *options, size_t index) {
  regal_graph **graph = &set->graphs[set->count];
  REGAL_TRY(regal_dataset_load(dataset, index, 0, options, graph));
  regal_status status = regal_problem_create(set->context, *graph, options,
                                             &set->problems[set->count]);
  if (status != REGAL_OK) {
    regal_graph_free(*graph);
    return status;
  }
  set->checksum = regal_mix(set->checksum ^ (*graph)->checksum);
  set->count++;
  return REGAL_OK;
}

static size_t gcd(size_t a, size_t b) {
  return b ? gcd(b, a % b) : a;
}

/* About the golden section of `count`, and coprime to it. */
static size_t golden_stride(size_t count) {
  size_t stride = count * 89 / 144;
  while (gcd(stride ? stride : 1, count) != 1)
    stride++;
  return stride ? stride : 1;
}

static regal_status load_graphs(regal_tune_set *set, regal_dataset *dataset,
                                const regal_options *options,
                                const char *path) {
  REGAL_TRY(select_graphs(set->context, dataset, path));
  size_t all = regal_dataset_count(dataset), wanted = all;
  if (options->graphs && (uint64_t)options->graphs < all)
    wanted = (size_t)options->graphs;
  set->graphs = regal_alloc(set->context, wanted, sizeof *set->graphs);
  set->problems = regal_alloc(set->context, wanted, sizeof *set->problems);
  if (!set->graphs || !set->problems)
    return regal_fail_memory(set->context);
  for (size_t i = 0; i < wanted; i++) {
    size_t number = i * golden_stride(wanted) % wanted;
    REGAL_TRY(load_one(set, dataset, options, number * all / wanted));
  }
  return REGAL_OK;
}

regal_status regal_tune_set_load(regal_context *context, const char *path,
                                 const regal_options *options,
                                 regal_tune_set *set) {
  regal_dataset *dataset;
  *set = (regal_tune_set){.context = context, .checksum = REGAL_HASH_BASIS};
  REGAL_TRY(regal_dataset_open(context, path, &dataset));
  regal_status status = load_graphs(set, dataset, options, path);
  regal_dataset_free(dataset);
  return status;
}

void regal_tune_set_free(regal_tune_set *set) {
  for (size_t i = 0; i < set->count; i++) {
    regal_problem_free(set->problems[i]);
    regal_graph_free(set->graphs[i]);
  }
  regal_release(set->context, set->problems);
  regal_release(set->context, set->graphs);
}
