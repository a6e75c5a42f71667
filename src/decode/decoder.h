/* SPDX-License-Identifier: Apache-2.0 */
/* Decoders: from a chromosome to a plan and its fitness, without allocating.
 *
 * A decoder declares its chromosome as a table of gene classes, each with a
 * domain. Search, proposals and policies speak only of classes and domains, so
 * a new decoder is one file and one row of REGAL_DECODERS
 * (docs/contributing.md has an example).
 *
 * A gene is a number in [0, 1) in steps of 2^-24, kept as an integer. Decoders
 * only compare genes; equal genes are ordered by index, on purpose: the lower
 * device, the earlier op, ops before transfers.
 */
#ifndef REGAL_DECODE_DECODER_H
#define REGAL_DECODE_DECODER_H

#include "base/carve.h"
#include "cost/model/fitness.h"
#include "cost/model/plan.h"

typedef uint32_t regal_gene;
#define REGAL_GENE_BITS 24
#define REGAL_GENE_LARGEST (((regal_gene)1 << REGAL_GENE_BITS) - 1)

static inline double regal_gene_unit(regal_gene gene) {
  return (double)gene / (REGAL_GENE_LARGEST + 1.0);
}

typedef enum regal_gene_domain {
  REGAL_GENE_GLOBAL,
  REGAL_GENE_OP,
  REGAL_GENE_OP_DEVICE,    /* op * devices + device */
  REGAL_GENE_TENSOR_DEVICE /* tensor * devices + device */
} regal_gene_domain;

typedef struct regal_gene_class {
  const char *name;
  regal_gene_domain domain;
} regal_gene_class;

#define REGAL_MOST_CLASSES 8

typedef struct regal_decoder {
  const char *name, *help;
  /* In the order in which they stand in the chromosome; ends with a NULL name
   * unless all are used. */
  regal_gene_class classes[REGAL_MOST_CLASSES];

  /* Scratch for one thread, as one block made with regal_alloc. */
  regal_status (*create_scratch)(regal_context *context,
                                 const regal_problem *problem, void **scratch);
  /* Any genes give a valid plan. `plan` is NULL, or gets the steps (it has
   * room for regal_plan_most_steps). */
  regal_fitness (*decode)(const regal_problem *problem, void *scratch,
                          const regal_gene *genes, regal_plan *plan);
  /* Genes that decode to the plan, or to something near it where the decoder
   * cannot say all that the plan does. Every gene is set. */
  void (*encode)(const regal_problem *problem, const regal_plan *plan,
                 regal_gene *genes);
} regal_decoder;

/* The decoder of that name; NULL when there is none. */
const regal_decoder *regal_decoder_find(const char *name);
/* Fails with the nearest name that there is. */
regal_status regal_decoder_require(regal_context *context, const char *name,
                                   const regal_decoder **decoder);
size_t regal_decoder_class_count(const regal_decoder *decoder);
/* Whether both have the same classes of genes, so that what is said of the
 * genes of one can be said of the other's. */
bool regal_decoders_share_genes(const regal_decoder *a, const regal_decoder *b);
/* The index of the class of that name; the count of classes when there is
 * none. */
size_t regal_decoder_class(const regal_decoder *decoder, const char *name);
size_t regal_class_genes(const regal_problem *problem,
                         regal_gene_domain domain);
/* Genes of the whole chromosome, and where a class begins in it. */
size_t regal_decoder_genes(const regal_decoder *decoder,
                           const regal_problem *problem);
size_t regal_class_begin(const regal_decoder *decoder,
                         const regal_problem *problem, size_t class_index);

/* All decoders, in the order of `regal methods`: regal_decoder_paper, ... */
#define REGAL_DECODERS(ROW)                                                    \
  ROW(paper)                                                                   \
  ROW(paper_late)                                                              \
  ROW(batched)                                                                 \
  ROW(clock)                                                                   \
  ROW(eft)                                                                     \
  ROW(closure)

#define REGAL_DECLARE_DECODER(name)                                            \
  extern const regal_decoder regal_decoder_##name;
REGAL_DECODERS(REGAL_DECLARE_DECODER)

/* Defines create_scratch for a decoder whose scratch is a struct `type`:
 * layout(made, carver, problem) sets its pointers, the struct itself being
 * carved first, and fill(made, problem) what is fixed for the problem. */
#define REGAL_DEFINE_CREATE_SCRATCH(type, layout, fill)                        \
  static regal_status create_scratch(                                          \
      regal_context *context, const regal_problem *problem, void **result) {   \
    type measured = {0};                                                       \
    regal_carver carver = {NULL, 0};                                           \
    REGAL_TRY(REGAL_CARVE_BLOCK(context, carver,                               \
                                (regal_carve(&carver, 1, sizeof measured),     \
                                 layout(&measured, &carver, problem))));       \
    type *made = (type *)carver.base;                                          \
    *made = measured;                                                          \
    fill(made, problem);                                                       \
    *result = made;                                                            \
    return REGAL_OK;                                                           \
  }

#endif
