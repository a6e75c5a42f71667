/* SPDX-License-Identifier: Apache-2.0 */
/* Features: a problem as a policy reads it (the paper's appendix, "Data
 * encoding").
 *
 * Each feature is a row of the table in policy/features.c: a name, whether it
 * belongs to the nodes (ops) or to the edges, its width, and a function that
 * fills its columns. A policy lists the features that it was trained with, by
 * name, in its file; it reads those columns only, in its own order. So a
 * feature can be added without making older policies useless. A policy that is
 * trained now reads one of the sets below.
 *
 * The paper's features are in policy/paper_features.c, those of a draft in
 * policy/draft_features.c. Adding one is one file and one row:
 * docs/contributing.md has an example.
 */
#ifndef REGAL_POLICY_FEATURES_H
#define REGAL_POLICY_FEATURES_H

#include "cost/model/problem.h"
#include "policy/policy.h"

/* What short runs of BRKGA say of the problem; NULL: zeros. */
typedef struct regal_feature_runs {
  const float *placement; /* [ops * the problem's devices] of a population */
  const float *position;  /* [ops] of the same */
  const float *draft;     /* genes of a plan, from 0 to 1: the affinities
                             [ops * devices], the priorities [ops] and those of
                             the transfers [tensors * devices] */
} regal_feature_runs;

/* What features are computed from. */
typedef struct regal_feature_source {
  const regal_problem *problem;
  const regal_encoding *graph; /* its edges; the features are not there yet */
  uint32_t devices; /* that the policy has columns for; the problem may have
                       another number */
  regal_feature_runs runs;
  const double *run_ns; /* [ops] mean over the devices that can run the op;
                           NULL: the objective is memory */
  double longest_ns;    /* of run_ns; 1 where all are 0 */
  double largest_bytes; /* of a tensor or of an op's own memory; or 1 */
} regal_feature_source;

/* Writes the values of node or edge i to column[i * stride], and the following
 * ones if the feature is wider. All values are 0 before. */
typedef void regal_feature_fill(const regal_feature_source *source,
                                float *column, size_t stride);

typedef enum regal_feature_domain {
  REGAL_FEATURE_NODE,
  REGAL_FEATURE_EDGE
} regal_feature_domain;

/* What a feature is computed from. Runs cost evaluations. */
typedef enum regal_feature_origin {
  REGAL_FEATURE_FROM_GRAPH,
  REGAL_FEATURE_FROM_POPULATION, /* placement and position */
  REGAL_FEATURE_FROM_DRAFT
} regal_feature_origin;

typedef struct regal_feature {
  const char *name; /* as it is in policy files: at most 23 letters */
  regal_feature_domain domain;
  uint32_t width; /* columns; 0: one for each device */
  regal_feature_origin from;
  regal_feature_fill *fill;
} regal_feature;

/* Bytes of the op's temporary, resident and parameter memory. */
int64_t regal_feature_own_memory(const regal_problem *problem, uint32_t op);

/* -- The table ------------------------------------------------------------- */

const regal_feature *regal_feature_at(size_t row);
/* Appends the feature of that name; false when there is none, or no room. */
bool regal_features_add(regal_feature_list *list, const char *name);
/* Rows of the table, as --features names them. */
typedef enum regal_feature_set {
  REGAL_FEATURES_PAPER, /* the paper's, and nothing else */
  REGAL_FEATURES_GRAPH, /* those that need no run of BRKGA */
  REGAL_FEATURES_DRAFT, /* those of a graph and of a draft */
  REGAL_FEATURES_ALL
} regal_feature_set;
regal_feature_list regal_features_of(regal_feature_set set);
/* Columns of a domain. */
uint32_t regal_features_width(const regal_feature_list *list,
                              regal_feature_domain domain, uint32_t devices);
/* Whether one of them is computed from that. */
bool regal_features_need(const regal_feature_list *list,
                         regal_feature_origin from);

/* -- Encodings ------------------------------------------------------------- */

/* The problem as a policy with these features, made for `devices`, reads it.
 * Freed by regal_encoding_free. */
regal_status
regal_encode_problem(regal_context *context, const regal_problem *problem,
                     const regal_feature_list *list, uint32_t devices,
                     const regal_feature_runs *runs, regal_encoding **encoding);
void regal_encoding_free(regal_context *context, regal_encoding *encoding);

#endif
