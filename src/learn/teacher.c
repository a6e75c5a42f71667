/* SPDX-License-Identifier: Apache-2.0 */
/* Imitation: the plan of the strong search, encoded as genes, and the actions
 * that make a proposal around these genes. */
#include "learn/teacher.h"

#include <math.h>
#include <string.h>

#include "base/random.h"
#include "policy/actions.h"
#include "search/search.h"

/* Annealing moves, for the most part: about a tenth of a second. */
enum { TEACHER_EVALUATIONS = 100000 };

regal_status regal_teacher_genes(const regal_worker *worker,
                                 const regal_auto_settings *settings,
                                 const regal_problem *problem,
                                 const regal_decoder *decoder, uint64_t seed,
                                 regal_gene *genes) {
  regal_search search;
  regal_search_open(&search, worker->context, problem, worker->single,
                    seed >> 1, TEACHER_EVALUATIONS);
  regal_status status = regal_auto(&search, settings);
  if (status == REGAL_OK)
    decoder->encode(problem, search.best, genes);
  regal_search_close(&search);
  return status;
}

/* -- Actions --------------------------------------------------------------- */

static uint8_t level_at(double share, uint32_t levels) {
  double level = floor(share * levels);
  return (uint8_t)(level < levels ? level : levels - 1);
}

/* One in eight of the levels, from the smallest on. */
static uint8_t small_level(uint64_t random, uint32_t levels) {
  uint32_t few = levels >= 16 ? levels / 8 : 1;
  return (uint8_t)(random % few);
}

static void set_head(const regal_policy_head *head, bool neutral,
                     const regal_gene *genes, size_t count, uint64_t key,
                     uint8_t *actions) {
  for (size_t i = 0; i < count; i++) {
    double gene = (double)genes[i] / (REGAL_GENE_LARGEST + 1.0);
    *actions++ = level_at(neutral ? 0.5 : gene, head->mean_levels);
    *actions++ =
        neutral ? level_at(1 / 3.0, head->variance_levels)
                : small_level(regal_random_at(key, i), head->variance_levels);
    if (head->bias_levels)
      *actions++ = level_at(0.4, head->bias_levels); /* BRKGA's own, 0.7 */
  }
}

void regal_teacher_actions(const regal_policy_config *config,
                           const regal_problem *problem,
                           const regal_decoder *decoder,
                           const regal_gene *genes, uint64_t key,
                           uint8_t *actions) {
  for (uint32_t h = 0; h < config->head_count; h++) {
    const regal_policy_head *head = &config->heads[h];
    size_t c = regal_decoder_class(decoder, head->gene_class);
    size_t count = regal_class_genes(problem, decoder->classes[c].domain);
    bool places = decoder->classes[c].domain == REGAL_GENE_OP_DEVICE;
    set_head(head, places, genes + regal_class_begin(decoder, problem, c),
             count, regal_random_at(key, h), actions);
    actions += count * regal_head_levels(head);
  }
}
