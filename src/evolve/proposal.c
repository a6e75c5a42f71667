/* SPDX-License-Identifier: Apache-2.0 */
/* Proposals: the Beta distribution of each gene, and its crossover bias.
 *
 * A Beta is a table of quantiles (beta_tables.h). Tables are shared by all
 * genes with the same parameters: a policy chooses among a few hundred. A class
 * of genes without a Beta needs no table.
 */
#include "evolve/proposal.h"

#include <math.h>
#include <string.h>

regal_status regal_proposal_create(regal_context *context,
                                   const regal_problem *problem,
                                   const char *decoder,
                                   regal_proposal **proposal) {
  REGAL_TRY(regal_need(context, problem && decoder && proposal,
                       "a proposal needs a problem, a decoder and a place to "
                       "put it"));
  const regal_decoder *found = regal_decoder_find(decoder);
  if (!found)
    return regal_fail(context, REGAL_MISUSE, "there is no decoder \"%s\"",
                      decoder);
  regal_proposal *made = regal_alloc(context, 1, sizeof *made);
  if (!made)
    return regal_fail_memory(context);
  made->context = context;
  made->problem = problem;
  made->decoder = found;
  made->genes = regal_decoder_genes(found, problem);
  for (size_t c = 0; c <= regal_decoder_class_count(found); c++)
    made->class_begin[c] = regal_class_begin(found, problem, c);
  *proposal = made;
  return REGAL_OK;
}

void regal_proposal_free(regal_proposal *proposal) {
  if (!proposal)
    return;
  regal_context *context = proposal->context;
  for (size_t c = 0; c < REGAL_MOST_CLASSES; c++)
    regal_release(context, proposal->table_of[c]);
  if (!proposal->borrowed) {
    regal_release(context, proposal->tables);
    regal_release(context, proposal->shapes);
  }
  regal_release(context, proposal->bias);
  regal_release(context, proposal);
}

static size_t class_size(const regal_proposal *proposal, size_t c) {
  return proposal->class_begin[c + 1] - proposal->class_begin[c];
}

size_t regal_proposal_genes(const regal_proposal *proposal,
                            const char *gene_class) {
  size_t c = regal_decoder_class(proposal->decoder, gene_class);
  return c < regal_decoder_class_count(proposal->decoder)
             ? class_size(proposal, c)
             : 0;
}

/* Checks class and index; sets the range of genes inside the class. */
static regal_status find_genes(const regal_proposal *proposal,
                               const char *gene_class, size_t index, size_t *c,
                               size_t *first, size_t *end) {
  REGAL_TRY(regal_need(proposal ? proposal->context : NULL, gene_class,
                       "a gene needs its class"));
  *c = regal_decoder_class(proposal->decoder, gene_class);
  if (*c == regal_decoder_class_count(proposal->decoder))
    return regal_fail(proposal->context, REGAL_MISUSE,
                      "decoder \"%s\" has no gene class \"%s\"",
                      proposal->decoder->name, gene_class);
  size_t size = class_size(proposal, *c);
  if (index != SIZE_MAX && index >= size)
    return regal_fail(proposal->context, REGAL_MISUSE,
                      "gene %zu of class \"%s\", which has %zu", index,
                      gene_class, size);
  *first = index == SIZE_MAX ? 0 : index;
  *end = index == SIZE_MAX ? size : index + 1;
  return REGAL_OK;
}

/* The number of the table for Beta(a, b), made if it is new. */
static regal_status find_table(regal_proposal *proposal, double a, double b,
                               size_t *table) {
  for (*table = 0; *table < proposal->shape_count; ++*table)
    if (proposal->shapes[*table].a == a && proposal->shapes[*table].b == b)
      return REGAL_OK;
  size_t count = proposal->shape_count + 1;
  if (proposal->borrowed)
    return regal_fail(proposal->context, REGAL_MISUSE,
                      "Beta(%g, %g) is none of the proposal's distributions", a,
                      b);
  if (count > UINT32_MAX / REGAL_BETA_QUANTILES)
    return regal_fail(proposal->context, REGAL_MISUSE,
                      "more than %u different Beta distributions",
                      (unsigned)(UINT32_MAX / REGAL_BETA_QUANTILES));
  if (!REGAL_RESERVE(proposal->context, proposal->shapes, proposal->shape_count,
                     proposal->shape_capacity))
    return regal_fail_memory(proposal->context);
  regal_gene *tables = regal_grow(proposal->context, proposal->tables,
                                  count * REGAL_BETA_QUANTILES, sizeof *tables);
  if (!tables)
    return regal_fail_memory(proposal->context);
  proposal->tables = tables;
  regal_beta_table(a, b, tables + *table * REGAL_BETA_QUANTILES);
  proposal->shapes[proposal->shape_count++] = (regal_beta_shape){a, b};
  return REGAL_OK;
}

/* A class stops being uniform: all its genes start at Beta(1, 1). */
static regal_status make_class_tables(regal_proposal *proposal, size_t c) {
  if (proposal->table_of[c])
    return REGAL_OK;
  size_t uniform, size = class_size(proposal, c);
  REGAL_TRY(find_table(proposal, 1, 1, &uniform));
  uint32_t *table_of = regal_alloc(proposal->context, size, sizeof *table_of);
  if (!table_of)
    return regal_fail_memory(proposal->context);
  for (size_t i = 0; i < size; i++)
    table_of[i] = (uint32_t)(uniform * REGAL_BETA_QUANTILES);
  proposal->table_of[c] = table_of;
  return REGAL_OK;
}

static bool is_parameter(double value) {
  return value >= REGAL_BETA_SMALLEST && value <= REGAL_BETA_LARGEST;
}

regal_status regal_proposal_set_beta(regal_proposal *proposal,
                                     const char *gene_class, size_t index,
                                     double alpha, double beta) {
  size_t c, first, end, table;
  REGAL_TRY(find_genes(proposal, gene_class, index, &c, &first, &end));
  if (!is_parameter(alpha) || !is_parameter(beta))
    return regal_fail(proposal->context, REGAL_MISUSE,
                      "Beta(%g, %g): parameters must be from %g to %g", alpha,
                      beta, REGAL_BETA_SMALLEST, REGAL_BETA_LARGEST);
  REGAL_TRY(make_class_tables(proposal, c));
  REGAL_TRY(find_table(proposal, alpha, beta, &table));
  for (size_t i = first; i < end; i++)
    proposal->table_of[c][i] = (uint32_t)(table * REGAL_BETA_QUANTILES);
  return REGAL_OK;
}

regal_status regal_proposal_set_bias(regal_proposal *proposal,
                                     const char *gene_class, size_t index,
                                     double bias) {
  size_t c, first, end;
  REGAL_TRY(find_genes(proposal, gene_class, index, &c, &first, &end));
  if (!(bias >= 0.5 && bias <= 1))
    return regal_fail(proposal->context, REGAL_MISUSE,
                      "crossover bias %g is not from 0.5 to 1", bias);
  if (!proposal->bias) {
    proposal->bias = regal_alloc(proposal->context, proposal->genes, 2);
    if (!proposal->bias)
      return regal_fail_memory(proposal->context);
  }
  double scaled = round(bias * 65536) - 1; /* 32767 or more; 0 is "unset" */
  for (size_t i = first; i < end; i++)
    proposal->bias[proposal->class_begin[c] + i] = (uint16_t)scaled;
  return REGAL_OK;
}

regal_status regal_proposal_borrow(regal_context *context,
                                   const regal_problem *problem,
                                   const char *decoder, regal_gene *tables,
                                   regal_beta_shape *shapes, size_t count,
                                   regal_proposal **proposal) {
  REGAL_TRY(regal_proposal_create(context, problem, decoder, proposal));
  (*proposal)->tables = tables;
  (*proposal)->shapes = shapes;
  (*proposal)->shape_count = count;
  (*proposal)->borrowed = true;
  return REGAL_OK;
}

regal_status regal_proposal_tables_of(regal_proposal *proposal,
                                      const char *gene_class,
                                      uint32_t **table_of) {
  size_t c, first, end;
  REGAL_TRY(find_genes(proposal, gene_class, SIZE_MAX, &c, &first, &end));
  if (!proposal->table_of[c])
    proposal->table_of[c] =
        regal_alloc(proposal->context, end, sizeof(uint32_t));
  if (!proposal->table_of[c])
    return regal_fail_memory(proposal->context);
  *table_of = proposal->table_of[c];
  return REGAL_OK;
}

/* Betas of one mean give one gene, whatever their variance: genes may tie. */
static regal_gene mean_gene(const regal_beta_shape *shape) {
  double mean = shape->a / (shape->a + shape->b);
  double gene = round(mean * ((double)REGAL_GENE_LARGEST + 1));
  return gene < (double)REGAL_GENE_LARGEST ? (regal_gene)gene
                                           : REGAL_GENE_LARGEST;
}

void regal_proposal_means(const regal_proposal *proposal, regal_gene *genes) {
  for (size_t c = 0; c < regal_decoder_class_count(proposal->decoder); c++) {
    const uint32_t *table_of = proposal->table_of[c];
    regal_gene *of_class = genes + proposal->class_begin[c];
    for (size_t i = 0; i < class_size(proposal, c); i++)
      of_class[i] =
          table_of
              ? mean_gene(&proposal->shapes[table_of[i] / REGAL_BETA_QUANTILES])
              : (REGAL_GENE_LARGEST + 1) / 2;
  }
}

void regal_proposal_sample(const regal_proposal *proposal, uint64_t key,
                           regal_gene *genes) {
  for (size_t c = 0; c < regal_decoder_class_count(proposal->decoder); c++) {
    size_t begin = proposal->class_begin[c], size = class_size(proposal, c);
    if (proposal->table_of[c])
      regal_sample_tables(key, begin, proposal->tables, proposal->table_of[c],
                          genes + begin, size);
    else
      regal_sample_uniform(key, begin, genes + begin, size);
  }
}
