/* SPDX-License-Identifier: Apache-2.0 */
/* Streams of random graphs: the model and the seed of graph k are drawn with a
 * key of (recipe's seed, k).
 */
#include "dataset/synthetic/recipe.h"

#include "base/random.h"

enum { LAYERED_NODES = 1000, LAYERED_FAN_IN = 2, MOST_PAPER_NODES = 200 };

/* Generation of the random key: those before it are the models' own. */
enum { STREAM_GENERATION = REGAL_GRAPH_MODELS + 1 };

const char *regal_recipe_model_name(regal_recipe_model model) {
  static const char *const names[REGAL_RECIPE_MODELS] = {
      "paper",          "erdos-renyi",      "barabasi-albert",
      "watts-strogatz", "stochastic-block", "layered"};
  return names[model];
}

regal_draw regal_recipe_draw(const regal_recipe *recipe, uint64_t number) {
  regal_random random = {regal_random_key(recipe->seed, REGAL_PURPOSE_GENERATE,
                                          STREAM_GENERATION, number),
                         0};
  regal_draw draw = {.seed = regal_random_next(&random) >> 2};
  uint64_t which = regal_random_below(&random, REGAL_GRAPH_MODELS);
  draw.model = recipe->model == REGAL_RECIPE_PAPER
                   ? (regal_recipe_model)(REGAL_RECIPE_ERDOS_RENYI + which)
                   : recipe->model;
  return draw;
}

static uint32_t layered_nodes(const regal_recipe *recipe) {
  return recipe->nodes ? recipe->nodes : LAYERED_NODES;
}

regal_status regal_recipe_graph(regal_context *context,
                                const regal_recipe *recipe, regal_draw draw,
                                regal_graph **graph) {
  if (draw.model == REGAL_RECIPE_LAYERED)
    return regal_layered_graph(context, layered_nodes(recipe), recipe->width,
                               LAYERED_FAN_IN, draw.seed, graph);
  int model = (int)draw.model - REGAL_RECIPE_ERDOS_RENYI;
  return regal_synthetic_graph(context, (regal_graph_model)model, recipe->nodes,
                               draw.seed, graph);
}

uint32_t regal_recipe_size(const regal_recipe *recipe) {
  if (recipe->model == REGAL_RECIPE_LAYERED)
    return layered_nodes(recipe);
  return recipe->nodes ? recipe->nodes : MOST_PAPER_NODES;
}
