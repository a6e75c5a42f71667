/* SPDX-License-Identifier: Apache-2.0 */
#include "support/oracle.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "evolve/brkga.h"
#include "heuristic/heuristics.h"
#include "learn/guide/brkga_features.h"
#include "learn/teacher.h"

enum { MOST_LEVELS = 100000 };

static bool is_heads(const char *text) {
  static const char *const heads[] = {"placement", "scheduling", "both", "all"};
  for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
    if (!strcmp(text, heads[i]))
      return true;
  return false;
}

static const regal_quick_method *find_quick(const char *name) {
  const regal_quick_method *quick = regal_quick_methods;
  while (quick->name && strcmp(quick->name, name) != 0)
    quick++;
  return quick->name ? quick : NULL;
}

static bool is_from(const char *text) {
  return !*text || find_quick(text) || regal_decoder_find(text);
}

/* Copies the part of a text up to a colon; returns what follows it. */
static const char *read_part(const char *text, char *part, size_t room) {
  size_t length = strcspn(text, ":");
  if (length >= room)
    return "?";
  memcpy(part, text, length);
  part[length] = 0;
  return text + length + (text[length] == ':');
}

bool bench_oracle_read(const char *text, bench_oracle *oracle) {
  char levels[16] = "32";
  *oracle = (bench_oracle){.heads = "all"};
  if (strncmp(text, "oracle", 6) != 0 || (text[6] && text[6] != ':'))
    return false;
  text += 6 + (text[6] == ':');
  if (*text)
    text = read_part(text, levels, sizeof levels);
  if (*text)
    text = read_part(text, oracle->heads, sizeof oracle->heads);
  if (*text)
    text = read_part(text, oracle->from, sizeof oracle->from);
  oracle->levels = (uint32_t)strtoul(levels, NULL, 10);
  return !*text && oracle->levels > 1 && oracle->levels <= MOST_LEVELS &&
         is_heads(oracle->heads) && is_from(oracle->from);
}

static bool speaks_of(const bench_oracle *oracle, regal_gene_domain domain) {
  bool both = !strcmp(oracle->heads, "both");
  if (domain == REGAL_GENE_OP_DEVICE && strcmp(oracle->heads, "all") != 0)
    return both || !strcmp(oracle->heads, "placement");
  if (domain == REGAL_GENE_OP && strcmp(oracle->heads, "all") != 0)
    return both || !strcmp(oracle->heads, "scheduling");
  return !strcmp(oracle->heads, "all");
}

/* The nearest of the means that a policy may choose. */
static double quantise(const bench_oracle *oracle, double gene) {
  return (floor(gene * oracle->levels) + 1) / (oracle->levels + 1);
}

static regal_status centre(const bench_oracle *oracle, regal_proposal *proposal,
                           const regal_gene_class *class, size_t gene,
                           double value) {
  double strength = oracle->levels, mean = quantise(oracle, value);
  return regal_proposal_set_beta(proposal, class->name, gene, mean * strength,
                                 (1 - mean) * strength);
}

/* Of affinities only the largest counts: it is made certain. */
static double wanted(const bench_oracle *oracle, const regal_problem *problem,
                     const regal_gene_class *class, const regal_gene *genes,
                     size_t i) {
  uint32_t devices = problem->devices, device = (uint32_t)(i % devices);
  const regal_gene *of_op = genes + (i - device);
  if (class->domain != REGAL_GENE_OP_DEVICE)
    return (double)genes[i] / (REGAL_GENE_LARGEST + 1.0);
  for (uint32_t a = 0; a < devices; a++)
    if (of_op[a] > of_op[device] || (of_op[a] == of_op[device] && a < device))
      return 0;
  return 1 - 1.0 / oracle->levels;
}

static regal_status centre_all(const bench_oracle *oracle,
                               const regal_problem *problem,
                               const regal_decoder *decoder,
                               const regal_gene *genes,
                               regal_proposal *proposal) {
  for (size_t c = 0; c < regal_decoder_class_count(decoder); c++) {
    const regal_gene_class *class = &decoder->classes[c];
    const regal_gene *first = genes + regal_class_begin(decoder, problem, c);
    size_t count = regal_class_genes(problem, class->domain);
    if (!speaks_of(oracle, class->domain))
      continue;
    for (size_t i = 0; i < count; i++)
      REGAL_TRY(centre(oracle, proposal, class, i,
                       wanted(oracle, problem, class, first, i)));
  }
  return REGAL_OK;
}

static regal_status run_brkga(regal_search *search,
                              const regal_auto_settings *settings,
                              const char *decoder) {
  regal_brkga_settings brkga_settings = settings->brkga;
  regal_brkga *brkga;
  brkga_settings.decoder = regal_decoder_find(decoder);
  regal_budget_cap(&search->budget, REGAL_FEATURE_EVALUATIONS);
  REGAL_TRY(regal_brkga_create(search, &brkga_settings, NULL, &brkga));
  while (regal_brkga_step(brkga))
    ;
  regal_status status = regal_brkga_offer(brkga);
  regal_brkga_free(brkga);
  return status;
}

static regal_status
find_genes(const bench_oracle *oracle, const regal_worker *worker,
           const regal_auto_settings *settings, const regal_problem *problem,
           const regal_decoder *decoder, uint64_t seed, regal_gene *genes) {
  const regal_quick_method *quick = find_quick(oracle->from);
  regal_search search;
  if (!oracle->from[0])
    return regal_teacher_genes(worker, settings, problem, decoder, seed << 1,
                               genes);
  regal_search_open(&search, worker->context, problem, worker->single, seed,
                    REGAL_NO_LIMIT);
  regal_status status =
      quick ? quick->run(&search) : run_brkga(&search, settings, oracle->from);
  if (status == REGAL_OK)
    decoder->encode(problem, search.best, genes);
  regal_search_close(&search);
  return status;
}

regal_status bench_oracle_propose(const bench_oracle *oracle,
                                  const regal_worker *worker,
                                  const regal_auto_settings *settings,
                                  const regal_problem *problem,
                                  const regal_decoder *decoder, uint64_t seed,
                                  regal_proposal **proposal) {
  regal_context *context = worker->context;
  regal_gene *genes = regal_alloc(
      context, regal_decoder_genes(decoder, problem), sizeof *genes);
  regal_status status = genes ? find_genes(oracle, worker, settings, problem,
                                           decoder, seed, genes)
                              : REGAL_NO_MEMORY;
  if (status == REGAL_OK)
    status = regal_proposal_create(context, problem, decoder->name, proposal);
  if (status == REGAL_OK)
    status = centre_all(oracle, problem, decoder, genes, *proposal);
  regal_release(context, genes);
  return status;
}
