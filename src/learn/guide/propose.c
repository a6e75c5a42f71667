/* SPDX-License-Identifier: Apache-2.0 */
/* Where a policy meets a decoder: heads for its gene classes, a table of
 * quantiles for each Beta that an action can mean, and a proposal for BRKGA
 * that says which table each gene is drawn from. The tables of a policy are
 * made once; a proposal only points into them, so an episode computes no
 * quantile. */
#include "learn/guide/propose.h"

#include <stdio.h>
#include <string.h>

#include "base/carve.h"
#include "policy/actions.h"
#include "policy/features.h"

/* -- Heads and classes ----------------------------------------------------- */

/* What a head reads for the genes of a domain, and whether it chooses for each
 * device. */
static const struct {
  regal_head_domain domain;
  bool by_device;
} head_of[] = {[REGAL_GENE_GLOBAL] = {REGAL_HEAD_GRAPH, false},
               [REGAL_GENE_OP] = {REGAL_HEAD_NODE, false},
               [REGAL_GENE_OP_DEVICE] = {REGAL_HEAD_NODE, true},
               [REGAL_GENE_TENSOR_DEVICE] = {REGAL_HEAD_TENSOR, true}};

static const char *const domain_names[] = {[REGAL_HEAD_GRAPH] = "graph",
                                           [REGAL_HEAD_NODE] = "op",
                                           [REGAL_HEAD_TENSOR] = "tensor"};

void regal_config_for(const regal_problem *problem,
                      const regal_decoder *decoder,
                      regal_policy_config *config) {
  if (!config->features.count)
    config->features = regal_features_of(REGAL_FEATURES_PAPER);
  config->node_features = regal_features_width(
      &config->features, REGAL_FEATURE_NODE, problem->devices);
  config->edge_features = regal_features_width(
      &config->features, REGAL_FEATURE_EDGE, problem->devices);
  config->devices = problem->devices;
  config->objective = problem->objective;
  snprintf(config->decoder, sizeof config->decoder, "%s", decoder->name);
}

regal_status regal_config_add_head(regal_context *context,
                                   const regal_decoder *decoder,
                                   const char *gene_class, uint32_t mean_levels,
                                   uint32_t variance_levels,
                                   uint32_t bias_levels,
                                   regal_policy_config *config) {
  size_t c = regal_decoder_class(decoder, gene_class);
  const regal_gene_class *class = &decoder->classes[c];
  if (c == regal_decoder_class_count(decoder))
    return regal_fail(context, REGAL_BAD_INPUT,
                      "decoder \"%s\" has no gene class \"%s\"", decoder->name,
                      gene_class);
  if (config->head_count == REGAL_MOST_HEADS)
    return regal_fail(context, REGAL_BAD_INPUT, "more than %d heads",
                      REGAL_MOST_HEADS);
  regal_policy_head *head = &config->heads[config->head_count++];
  *head = (regal_policy_head){
      .domain = head_of[class->domain].domain,
      .genes = head_of[class->domain].by_device ? config->devices : 1,
      .mean_levels = mean_levels,
      .variance_levels = variance_levels,
      .bias_levels = bias_levels};
  snprintf(head->gene_class, sizeof head->gene_class, "%s", class->name);
  return REGAL_OK;
}

static regal_status check_head(regal_context *context, const char *name,
                               const regal_decoder *decoder,
                               const regal_policy_config *config,
                               const regal_policy_head *head) {
  size_t c = regal_decoder_class(decoder, head->gene_class);
  if (c == regal_decoder_class_count(decoder))
    return regal_fail(context, REGAL_BAD_INPUT,
                      "%s: found a head for gene class \"%s\", which decoder "
                      "%s does not have",
                      name, head->gene_class, decoder->name);
  regal_gene_domain domain = decoder->classes[c].domain;
  uint32_t genes = head_of[domain].by_device ? config->devices : 1;
  if (head->domain != head_of[domain].domain || head->genes != genes)
    return regal_fail(context, REGAL_BAD_INPUT,
                      "%s: found a head for %u genes of each %s of class "
                      "\"%s\", expected %u of each %s",
                      name, head->genes, domain_names[head->domain],
                      head->gene_class, genes,
                      domain_names[head_of[domain].domain]);
  return REGAL_OK;
}

regal_status regal_config_check_heads(regal_context *context, const char *name,
                                      const regal_decoder *decoder,
                                      const regal_policy_config *config) {
  for (uint32_t h = 0; h < config->head_count; h++)
    REGAL_TRY(check_head(context, name, decoder, config, &config->heads[h]));
  return REGAL_OK;
}

bool regal_head_serves(const regal_policy_head *head,
                       const regal_decoder *decoder, uint32_t devices) {
  size_t c = regal_decoder_class(decoder, head->gene_class);
  return c == regal_decoder_class_count(decoder) ||
         !head_of[decoder->classes[c].domain].by_device ||
         head->genes == devices ||
         (head->relative && head->genes > 1 && head->genes < devices);
}

bool regal_config_serves(const regal_policy_config *config,
                         const regal_decoder *decoder, uint32_t devices) {
  for (uint32_t h = 0; h < config->head_count; h++)
    if (regal_head_serves(&config->heads[h], decoder, devices))
      return true;
  return false;
}

/* -- Tables of Betas ------------------------------------------------------- */

/* Heads of the same levels share their shapes. */
static void number_shapes(regal_beta_tables *betas) {
  const regal_policy_head *heads = betas->config->heads;
  betas->count = 0;
  for (uint32_t h = 0; h < betas->config->head_count; h++) {
    uint32_t same = 0;
    while (regal_action_means(&heads[same]) != regal_action_means(&heads[h]) ||
           heads[same].variance_levels != heads[h].variance_levels ||
           heads[same].relative != heads[h].relative)
      same++;
    betas->first[h] = same < h ? betas->first[same] : betas->count;
    if (same == h)
      betas->count +=
          (size_t)regal_action_means(&heads[h]) * heads[h].variance_levels;
  }
}

static void set_shapes(regal_beta_tables *betas) {
  for (uint32_t h = 0; h < betas->config->head_count; h++) {
    const regal_policy_head *head = &betas->config->heads[h];
    regal_beta_shape *shape = betas->shapes + betas->first[h];
    for (uint32_t m = 0; m < regal_action_means(head); m++)
      for (uint32_t v = 0; v < head->variance_levels; v++) {
        regal_action_beta beta = regal_action_dequantise(head, m, v);
        *shape++ = (regal_beta_shape){beta.alpha, beta.beta};
      }
  }
}

static void lay_out(void *made, regal_carver *carver) {
  regal_beta_tables *betas = made;
  size_t count = betas->count;
  betas->shapes = regal_carve(carver, count, sizeof *betas->shapes);
  betas->tables =
      regal_carve(carver, count * REGAL_BETA_QUANTILES, sizeof *betas->tables);
  betas->made = regal_carve(carver, count, sizeof *betas->made);
}

regal_status regal_beta_tables_create(regal_context *context,
                                      const regal_policy_config *config,
                                      regal_beta_tables **betas) {
  regal_beta_tables plain = {.config = config};
  number_shapes(&plain);
  *betas = regal_carve_struct(context, &plain, sizeof plain, lay_out);
  if (!*betas)
    return regal_fail_memory(context);
  set_shapes(*betas);
  return REGAL_OK;
}

static void fill_table(regal_beta_tables *betas, size_t shape) {
  if (betas->made[shape])
    return;
  regal_beta_table(betas->shapes[shape].a, betas->shapes[shape].b,
                   betas->tables + shape * REGAL_BETA_QUANTILES);
  betas->made[shape] = true;
}

void regal_beta_tables_fill(regal_beta_tables *betas) {
  for (size_t i = 0; i < betas->count; i++)
    fill_table(betas, i);
}

static size_t shape_of(const regal_beta_tables *betas, uint32_t h,
                       const float *drafted, size_t gene,
                       const uint8_t *action) {
  const regal_policy_head *head = &betas->config->heads[h];
  size_t mean = regal_action_mean(head, drafted, gene, action[0]);
  return betas->first[h] + mean * head->variance_levels + action[1];
}

void regal_beta_tables_fill_for(regal_beta_tables *betas,
                                const regal_encoding *encoding,
                                const uint8_t *actions) {
  for (uint32_t h = 0; h < betas->config->head_count; h++) {
    const regal_policy_head *head = &betas->config->heads[h];
    const float *drafted = regal_draft_of(head, encoding);
    uint32_t reach = regal_head_reach(head, drafted, encoding);
    size_t genes = regal_head_genes(head, encoding) / head->genes * reach;
    for (size_t i = 0; i < genes; i++)
      fill_table(betas, shape_of(betas, h, drafted, i,
                                 regal_action_of(head, reach, i, actions)));
    actions += regal_head_actions(head, encoding);
  }
}

/* -- Proposal -------------------------------------------------------------- */

static regal_status set_head(regal_proposal *proposal,
                             const regal_beta_tables *betas, uint32_t h,
                             const regal_encoding *encoding,
                             const uint8_t *actions) {
  const regal_policy_head *head = &betas->config->heads[h];
  const float *drafted = regal_draft_of(head, encoding);
  uint32_t reach = regal_head_reach(head, drafted, encoding);
  size_t genes = regal_head_genes(head, encoding) / head->genes * reach;
  uint32_t *table_of;
  if (regal_proposal_genes(proposal, head->gene_class) != genes)
    return regal_fail(proposal->context, REGAL_MISUSE,
                      "found %zu actions for genes of class \"%s\", expected "
                      "%zu",
                      genes, head->gene_class,
                      regal_proposal_genes(proposal, head->gene_class));
  REGAL_TRY(regal_proposal_tables_of(proposal, head->gene_class, &table_of));
  for (size_t i = 0; i < genes; i++) {
    const uint8_t *action = regal_action_of(head, reach, i, actions);
    table_of[i] = (uint32_t)(shape_of(betas, h, drafted, i, action) *
                             REGAL_BETA_QUANTILES);
    if (head->bias_levels)
      REGAL_TRY(regal_proposal_set_bias(proposal, head->gene_class, i,
                                        regal_action_bias(head, action[2])));
  }
  return REGAL_OK;
}

regal_status regal_propose(regal_context *context,
                           const regal_beta_tables *betas,
                           const regal_problem *problem,
                           const regal_encoding *encoding,
                           const uint8_t *actions, regal_proposal **proposal) {
  regal_proposal *made;
  REGAL_TRY(regal_proposal_borrow(context, problem, betas->config->decoder,
                                  betas->tables, betas->shapes, betas->count,
                                  &made));
  for (uint32_t h = 0; h < betas->config->head_count; h++) {
    bool serves = regal_head_serves(&betas->config->heads[h], made->decoder,
                                    problem->devices);
    regal_status status =
        serves ? set_head(made, betas, h, encoding, actions) : REGAL_OK;
    if (status != REGAL_OK) {
      regal_proposal_free(made);
      return status;
    }
    actions += regal_head_actions(&betas->config->heads[h], encoding);
  }
  *proposal = made;
  return REGAL_OK;
}
