/* SPDX-License-Identifier: Apache-2.0 */
/* Teachers: an excellent plan of a graph, as actions of a policy.
 *
 * REINFORCE starts from a policy that knows nothing, and on large graphs a
 * vector of thousands of actions has one reward. A policy that first copies
 * what the strong search (`auto`) found on the training graphs begins where
 * good plans are.
 */
#ifndef REGAL_LEARN_TEACHER_H
#define REGAL_LEARN_TEACHER_H

#include "auto/auto.h"
#include "base/parallel/workers.h"
#include "policy/policy.h"

/* Genes that decode to the plan that `auto` finds, or to something near it. */
regal_status regal_teacher_genes(const regal_worker *worker,
                                 const regal_auto_settings *settings,
                                 const regal_problem *problem,
                                 const regal_decoder *decoder, uint64_t seed,
                                 regal_gene *genes);
/* The actions that centre a proposal on the genes: each mean at the gene, each
 * variance among the smallest, drawn by `key`, so that a policy that copies
 * them does not become certain of one. Genes of placement stay neutral: which
 * part goes on which device is not to be read from a graph. */
void regal_teacher_actions(const regal_policy_config *config,
                           const regal_problem *problem,
                           const regal_decoder *decoder,
                           const regal_gene *genes, uint64_t key,
                           uint8_t *actions);

#endif
