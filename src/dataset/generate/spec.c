/* SPDX-License-Identifier: Apache-2.0 */
/* What regal_generate has to write: read from the options, and put down in
 * recipe.txt so that a folder is only ever continued with the same recipe. */
#include <inttypes.h>

#include "dataset/generate/generate.h"

/* The paper's sizes; another --count is shared out in the same proportion. */
enum { PAPER_TRAIN = 10000, PAPER_VALID = 1000, PAPER_TEST = 1000 };
enum { PAPER_TOTAL = PAPER_TRAIN + PAPER_VALID + PAPER_TEST };

/* By the choice of option `format`; auto is text, as the paper's set is. */
static const regal_format *format_of(int64_t choice) {
  return regal_format_written(choice ? (regal_graph_format)(choice - 1)
                                     : REGAL_GRAPH_TEXT);
}

const char *regal_spec_ending(const regal_spec *spec) {
  return spec->format->endings[0] + 1; /* without the dot */
}

static void set_paper_splits(regal_spec *spec, uint64_t count) {
  uint64_t total = count ? count : PAPER_TOTAL;
  uint64_t valid = total * PAPER_VALID / PAPER_TOTAL;
  uint64_t test = total * PAPER_TEST / PAPER_TOTAL;
  spec->split[0] = (regal_split_size){"train", total - valid - test};
  spec->split[1] = (regal_split_size){"valid", valid};
  spec->split[2] = (regal_split_size){"test", test};
  spec->splits = 3;
  spec->total = total;
  spec->filter = spec->distinct = true;
}

static regal_status check(regal_context *context,
                          const regal_options *options) {
  if (options->paper &&
      (options->model != REGAL_RECIPE_PAPER || options->nodes))
    return regal_fail(context, REGAL_BAD_INPUT,
                      "--paper fixes what --model and --nodes say");
  if (!options->count && !options->paper)
    return regal_fail(context, REGAL_BAD_INPUT,
                      "how many graphs? give --count (or --paper)");
  if (options->nodes && options->model != REGAL_RECIPE_LAYERED &&
      (options->nodes < REGAL_LEAST_NODES || options->nodes > REGAL_MOST_NODES))
    return regal_fail(context, REGAL_BAD_INPUT,
                      "--nodes: %d to %d, unless --model is layered",
                      REGAL_LEAST_NODES, REGAL_MOST_NODES);
  return REGAL_OK;
}

regal_status regal_spec_read(regal_context *context,
                             const regal_options *options, regal_spec *spec) {
  REGAL_TRY(check(context, options));
  uint64_t count = (uint64_t)options->count;
  *spec = (regal_spec){.recipe = {.model = (regal_recipe_model)options->model,
                                  .nodes = (uint32_t)options->nodes,
                                  .width = (uint32_t)options->width,
                                  .seed = (uint64_t)options->seed},
                       .filter = options->filter,
                       .format = format_of(options->format),
                       .splits = 1,
                       .split = {{"", count}},
                       .total = count};
  if (options->paper)
    set_paper_splits(spec, count);
  return REGAL_OK;
}

const char *regal_spec_split(const regal_spec *spec, uint64_t place) {
  uint32_t split = 0;
  while (split + 1 < spec->splits && place >= spec->split[split].graphs)
    place -= spec->split[split++].graphs;
  return spec->split[split].name;
}

/* A set that is not split may grow later, so its size is no part of it. */
void regal_spec_write(const regal_spec *spec, regal_text *text) {
  const regal_recipe *recipe = &spec->recipe;
  regal_text_format(text,
                    "regal generate 1\n"
                    "seed %" PRIu64 "\nmodel %s\nnodes %" PRIu32 "\n",
                    recipe->seed, regal_recipe_model_name(recipe->model),
                    recipe->nodes);
  if (recipe->model == REGAL_RECIPE_LAYERED)
    regal_text_format(text, "width %" PRIu32 "\n", recipe->width);
  regal_text_format(text, "filter %s\nformat %s\n", spec->filter ? "yes" : "no",
                    regal_spec_ending(spec));
  for (uint32_t i = 0; spec->splits > 1 && i < spec->splits; i++)
    regal_text_format(text, "%s %" PRIu64 "\n", spec->split[i].name,
                      spec->split[i].graphs);
}
