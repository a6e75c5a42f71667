/* SPDX-License-Identifier: Apache-2.0 */
/* Streams of random graphs: graph number k of a stream is a function of the
 * recipe and k alone, so that any part of it can be made anywhere. */
#ifndef REGAL_DATASET_SYNTHETIC_RECIPE_H
#define REGAL_DATASET_SYNTHETIC_RECIPE_H

#include "dataset/synthetic/synthetic.h"

/* In the order of the choices of option `model`. */
typedef enum regal_recipe_model {
  REGAL_RECIPE_PAPER, /* one of the next four at random */
  REGAL_RECIPE_ERDOS_RENYI,
  REGAL_RECIPE_BARABASI_ALBERT,
  REGAL_RECIPE_WATTS_STROGATZ,
  REGAL_RECIPE_STOCHASTIC_BLOCK,
  REGAL_RECIPE_LAYERED,
  REGAL_RECIPE_MODELS /* how many there are */
} regal_recipe_model;

typedef struct regal_recipe {
  regal_recipe_model model;
  uint32_t nodes; /* 0: 50 to 200 at random, or 1000 for layered graphs */
  uint32_t width; /* of the layers of layered graphs */
  uint64_t seed;
} regal_recipe;

/* What was drawn; the graph follows from it and the recipe's sizes. */
typedef struct regal_draw {
  regal_recipe_model model; /* never REGAL_RECIPE_PAPER */
  uint64_t seed;            /* of this graph; below 2^62 */
} regal_draw;

const char *regal_recipe_model_name(regal_recipe_model model);

regal_draw regal_recipe_draw(const regal_recipe *recipe, uint64_t number);
regal_status regal_recipe_graph(regal_context *context,
                                const regal_recipe *recipe, regal_draw draw,
                                regal_graph **graph);
/* About how many ops its largest graphs have. */
uint32_t regal_recipe_size(const regal_recipe *recipe);

#endif
