/* SPDX-License-Identifier: Apache-2.0 */
/* Features: a problem as a policy reads it (the paper's appendix, "Data
 * encoding").
 *
 * Each feature is a row of the table in policy/features.c: a name, whether it
 * belongs to the nodes (ops) or to the edges, its width, and a function that
 * fills its columns. A policy lists the features that it was trained with, by
 * name, in its file; it reads those columns only, in its own order. So a
 * feature can be added without making older policies useless. A policy that is
 * trained now reads all of the table.
 *
 * The paper's features are in policy/paper_features.c. Adding one is one file
 * and one row: docs/contributing.md has an example.
 */
#ifndef REGAL_POLICY_FEATURES_H
#define REGAL_POLICY_FEATURES_H

#include "cost/model/problem.h"
#include "policy/policy.h"

/* What features are computed from. */
typedef struct regal_feature_source {
  const regal_problem *problem;
  const regal_encoding *graph; /* its edges; the features are not there yet */
  uint32_t devices; /* that the policy has columns for; the problem may have
                       another number */
  const float *placement; /* [ops * the problem's devices] of a BRKGA run;
                             NULL: zeros */
  const float *position;  /* [ops] of the same run; NULL: zeros */
  const double *run_ns;   /* [ops] mean over the devices that can run the op;
                             NULL: the objective is memory */
  double longest_ns;      /* of run_ns; 1 where all are 0 */
  double largest_bytes;   /* of a tensor or of an op's own memory; or 1 */
} regal_feature_source;

/* Writes the values of node or edge i to column[i * stride], and the following
 * ones if the feature is wider. All values are 0 before. */
typedef void regal_feature_fill(const regal_feature_source *source,
                                float *column, size_t stride);

typedef enum regal_feature_domain {
  REGAL_FEATURE_NODE,
  REGAL_FEATURE_EDGE
} regal_feature_domain;

typedef struct regal_feature {
  const char *name; /* as it is in policy files: at most 23 letters */
  regal_feature_domain domain;
  uint32_t width; /* columns; 0: one for each device */
  bool needs_run; /* reads placement or position, which cost evaluations */
  regal_feature_fill *fill;
} regal_feature;

/* Bytes of the op's temporary, resident and parameter memory. */
int64_t regal_feature_own_memory(const regal_problem *problem, uint32_t op);

/* -- The table ------------------------------------------------------------- */

const regal_feature *regal_feature_at(size_t row);
/* Appends the feature of that name; false when there is none, or no room. */
bool regal_features_add(regal_feature_list *list, const char *name);
/* All rows of the table. */
regal_feature_list regal_features_all(void);
/* Those that need no run of BRKGA. */
regal_feature_list regal_features_of_graph(void);
/* Columns of a domain. */
uint32_t regal_features_width(const regal_feature_list *list,
                              regal_feature_domain domain, uint32_t devices);
/* Whether one of them needs the placement or position of a BRKGA run. */
bool regal_features_need_run(const regal_feature_list *list);

/* -- Encodings ------------------------------------------------------------- */

/* The problem as a policy with these features, made for `devices`, reads it.
 * placement and position may be NULL. Freed by regal_encoding_free. */
regal_status regal_encode_problem(regal_context *context,
                                  const regal_problem *problem,
                                  const regal_feature_list *list,
                                  uint32_t devices, const float *placement,
                                  const float *position,
                                  regal_encoding **encoding);
void regal_encoding_free(regal_context *context, regal_encoding *encoding);

#endif
