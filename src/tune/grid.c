/* SPDX-License-Identifier: Apache-2.0 */
/* The grid of `regal tune`.
 *
 * The paper says which numbers its grid varies (two parameters of a Beta, the
 * number of chromosomes, elites, mutants and populations) and that it has 648
 * points, but not which. Ours has 648 points for the decoder `paper`: 36 sizes
 * around the standard ones, and 18 pairs of Betas.
 *
 * Decoders only compare genes, so a Beta that all genes share changes nothing,
 * and neither does one for genes that are compared only with each other: the
 * affinities. What matters is where the genes of a class lie relative to those
 * of another in the same queue: transfers relative to ops. Betas of single
 * global genes matter, too.
 */
#include "tune/tune.h"

static const uint32_t populations[] = {25, 50, 100};
static const double elites[] = {.05, .1, .2};
static const double mutants[] = {.05, .15};
static const uint32_t islands[] = {1, 2};

typedef struct shapes {
  size_t count;
  regal_beta_shape shape[6];
} shapes;

static const shapes by_domain[] = {
    [REGAL_GENE_GLOBAL] = {2, {{1, 1}, {1, 3}}},
    [REGAL_GENE_OP] = {3, {{1, 1}, {.5, .5}, {1, 2}}},
    [REGAL_GENE_OP_DEVICE] = {1, {{1, 1}}},
    [REGAL_GENE_TENSOR_DEVICE] =
        {6, {{1, 1}, {2, 1}, {3, 1}, {6, 1}, {12, 1}, {1, 3}}},
};

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* Takes the digit of a number in mixed base. */
static size_t digit(size_t *number, size_t base) {
  size_t value = *number % base;
  *number /= base;
  return value;
}

size_t regal_grid_count(const regal_decoder *decoder) {
  size_t count =
      COUNT(populations) * COUNT(elites) * COUNT(mutants) * COUNT(islands);
  for (size_t c = 0; c < regal_decoder_class_count(decoder); c++)
    count *= by_domain[decoder->classes[c].domain].count;
  return count;
}

regal_settings regal_grid_at(const regal_decoder *decoder, double elite_bias,
                             size_t index) {
  regal_settings settings = regal_settings_standard(decoder);
  settings.brkga.elite_bias = elite_bias;
  settings.brkga.population = populations[digit(&index, COUNT(populations))];
  settings.brkga.elites = elites[digit(&index, COUNT(elites))];
  settings.brkga.mutants = mutants[digit(&index, COUNT(mutants))];
  settings.brkga.islands = islands[digit(&index, COUNT(islands))];
  for (size_t c = 0; c < regal_decoder_class_count(decoder); c++) {
    const shapes *choice = &by_domain[decoder->classes[c].domain];
    settings.beta[c] = choice->shape[digit(&index, choice->count)];
  }
  return settings;
}

static bool is_standard(const regal_settings *settings,
                        const regal_brkga_settings *standard) {
  const regal_brkga_settings *brkga = &settings->brkga;
  for (size_t c = 0; c < regal_decoder_class_count(brkga->decoder); c++)
    if (settings->beta[c].a != 1 || settings->beta[c].b != 1)
      return false;
  return brkga->population == standard->population &&
         brkga->elites == standard->elites &&
         brkga->mutants == standard->mutants &&
         brkga->islands == standard->islands;
}

size_t regal_grid_standard(const regal_decoder *decoder) {
  regal_brkga_settings standard = regal_settings_standard(decoder).brkga;
  size_t index = 0, count = regal_grid_count(decoder);
  for (; index < count; index++) {
    regal_settings settings =
        regal_grid_at(decoder, standard.elite_bias, index);
    if (is_standard(&settings, &standard))
      break;
  }
  return index;
}
