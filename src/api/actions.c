/* SPDX-License-Identifier: Apache-2.0 */
/* The actions of a policy as data: what it chooses for every gene, how sure it
 * is, and how much the choices differ from item to item. The paper's figures of
 * the entropy of actions (its section 5.5) and of their structure (A.13) are
 * drawn from these.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "learn/guide/policies.h"
#include "policy/actions.h"
#include "regal_train.h"

#define DEFAULT_EVALUATIONS 5000

struct regal_actions {
  regal_context *context;
  const regal_problem *problem;
  regal_guide *guide;
  regal_guide_choices choices;
  regal_action_class classes[REGAL_MOST_HEADS];
};

/* -- Entropies ------------------------------------------------------------- */

typedef struct item_key {
  const uint8_t *action;
  size_t size;
} item_key;

static int compare_actions(const void *left, const void *right) {
  const item_key *a = left, *b = right;
  return memcmp(a->action, b->action, a->size);
}

/* Equal actions side by side: runs are the frequencies. */
static void count_actions(item_key *keys, regal_action_class *class) {
  qsort(keys, class->items, sizeof *keys, compare_actions);
  for (size_t i = 0, end; i < class->items; i = end) {
    for (end = i + 1;
         end < class->items && compare_actions(&keys[i], &keys[end]) == 0;)
      end++;
    double share = (double)(end - i) / (double)class->items;
    class->chosen_entropy -= share * log(share);
    class->different++;
  }
}

static regal_status summarise_head(regal_actions *made,
                                   const regal_policy_head *head,
                                   const uint8_t *actions,
                                   const regal_guide_odds *odds,
                                   regal_action_class *class) {
  const regal_encoding *encoding = made->choices.encoding;
  size_t size = head->genes * regal_head_levels(head);
  size_t genes = regal_head_genes(head, encoding);
  *class = (regal_action_class){
      .name = head->gene_class,
      .items = regal_head_items(head, encoding->nodes, encoding->tensors),
      .genes = head->genes,
      .mean_levels = head->mean_levels,
      .variance_levels = head->variance_levels,
      .bias_levels = head->bias_levels};
  item_key *keys = regal_alloc(made->context, class->items, sizeof *keys);
  if (!keys)
    return regal_fail_memory(made->context);
  for (size_t i = 0; i < class->items; i++)
    keys[i] = (item_key){actions + i * size, size};
  count_actions(keys, class);
  for (size_t g = 0; g < genes; g++)
    class->policy_entropy += odds[g].entropy / (double)class->items;
  regal_release(made->context, keys);
  return REGAL_OK;
}

static regal_status summarise(regal_actions *made) {
  const regal_policy_config *config = &made->guide->config;
  const uint8_t *actions = made->choices.actions;
  const regal_guide_odds *odds = made->choices.odds;
  for (uint32_t h = 0; h < config->head_count; h++) {
    const regal_policy_head *head = &config->heads[h];
    REGAL_TRY(summarise_head(made, head, actions, odds, &made->classes[h]));
    actions += regal_head_actions(head, made->choices.encoding);
    odds += regal_head_genes(head, made->choices.encoding);
  }
  return REGAL_OK;
}

/* -- Choosing -------------------------------------------------------------- */

static regal_status choose(regal_actions *made, const regal_options *options) {
  uint64_t budget = options->evaluations > 0 ? (uint64_t)options->evaluations
                                             : DEFAULT_EVALUATIONS;
  regal_search search;
  regal_pool *pool;
  REGAL_TRY(regal_policies_open(made->context, options, made->problem, "",
                                &made->guide));
  REGAL_TRY(regal_pool_create(made->context, (int)options->threads, &pool));
  regal_search_open(&search, made->context, made->problem, pool,
                    (uint64_t)options->seed, budget);
  search.options = options;
  regal_status status = regal_guide_choose(
      made->guide, &search, options->actions == 0, true, &made->choices);
  regal_search_close(&search);
  regal_pool_free(pool);
  return status == REGAL_OK ? summarise(made) : status;
}

regal_status regal_actions_create(regal_context *context,
                                  const regal_problem *problem,
                                  const regal_options *options,
                                  regal_actions **actions) {
  REGAL_TRY(regal_need(context, problem && options && actions,
                       "actions need a problem, options and a place to put "
                       "them"));
  regal_actions *made = regal_alloc(context, 1, sizeof *made);
  if (!made)
    return regal_fail_memory(context);
  made->context = context;
  made->problem = problem;
  regal_status status = choose(made, options);
  if (status == REGAL_OK)
    *actions = made;
  else
    regal_actions_free(made);
  return status;
}

void regal_actions_free(regal_actions *actions) {
  if (!actions)
    return;
  regal_guide_choices_free(actions->context, &actions->choices);
  regal_guide_free(actions->guide);
  regal_release(actions->context, actions);
}

const char *regal_actions_policy(const regal_actions *actions) {
  return actions->guide->name;
}

const char *regal_actions_kind(const regal_actions *actions) {
  return actions->guide->proposer.kind;
}

uint64_t regal_actions_evaluations(const regal_actions *actions) {
  return regal_guide_choices_evaluations(&actions->choices);
}

size_t regal_actions_class_count(const regal_actions *actions) {
  return actions->guide->config.head_count;
}

regal_action_class regal_actions_class(const regal_actions *actions,
                                       size_t index) {
  return actions->classes[index];
}

/* -- CSV ------------------------------------------------------------------- */

static const char columns[] =
    "class,op,name,port,device,mean_level,variance_level,bias_level,mean,"
    "variance,alpha,beta,bias,probability,entropy,memory\n";

/* The bytes that an op reads and writes, over the most that any op does; of a
 * tensor its own, over those of the largest. */
static double memory_of(const regal_problem *problem,
                        const regal_policy_head *head, size_t item) {
  if (head->domain == REGAL_HEAD_TENSOR)
    return (double)problem->bytes[item];
  if (head->domain == REGAL_HEAD_GRAPH)
    return 0;
  return (double)(regal_problem_working_set(problem, (uint32_t)item) -
                  problem->graph->temporary_bytes[item]);
}

static double most_memory(const regal_problem *problem,
                          const regal_policy_head *head, size_t items) {
  double most = 1;
  for (size_t i = 0; i < items; i++)
    most = fmax(most, memory_of(problem, head, i));
  return most;
}

/* Which op or tensor it is; empty for the graph. */
static void write_item(regal_text *text, const regal_problem *problem,
                       const regal_policy_head *head, size_t item) {
  uint32_t op = head->domain == REGAL_HEAD_TENSOR ? problem->producer[item]
                                                  : (uint32_t)item;
  if (head->domain == REGAL_HEAD_GRAPH) {
    regal_text_format(text, ",,,");
    return;
  }
  regal_text_format(text, "%u,", op);
  regal_text_csv(text, regal_graph_name(problem->graph, op));
  regal_text_format(text, ",");
  if (head->domain == REGAL_HEAD_TENSOR)
    regal_text_format(text, "%zu", item - problem->output_begin[op]);
  regal_text_format(text, ",");
}

/* `level` is that of the mean, which is `action[0]` shifted if the head is
 * relative. */
static void write_gene(regal_text *text, const regal_policy_head *head,
                       uint32_t level, const uint8_t *action,
                       const regal_guide_odds *odds) {
  double mean = regal_action_share(level, regal_action_means(head));
  double share = 1 / (regal_action_strength(head, action[1]) + 1);
  regal_action_beta beta = regal_action_dequantise(head, level, action[1]);
  regal_text_format(text, "%u,%u,", action[0], action[1]);
  if (head->bias_levels)
    regal_text_format(text, "%u", action[2]);
  regal_text_format(text, ",%.6g,%.6g,%.6g,%.6g,", mean,
                    mean * (1 - mean) * share, beta.alpha, beta.beta);
  if (head->bias_levels)
    regal_text_format(text, "%.6g", regal_action_bias(head, action[2]));
  regal_text_format(text, ",%.6g,%.6g,", odds->probability, odds->entropy);
}

static void write_head(regal_text *text, const regal_actions *actions,
                       const regal_policy_head *head, const uint8_t **action,
                       const regal_guide_odds **odds) {
  const regal_problem *problem = actions->problem;
  const regal_encoding *encoding = actions->choices.encoding;
  size_t items = regal_head_items(head, encoding->nodes, encoding->tensors);
  double most = most_memory(problem, head, items);
  const float *drafted = regal_draft_of(head, encoding);
  uint32_t reach = regal_head_reach(head, drafted, encoding);
  for (size_t i = 0; i < items; i++)
    for (uint32_t g = 0; g < head->genes; g++) {
      regal_text_format(text, "%s,", head->gene_class);
      write_item(text, problem, head, i);
      if (head->genes > 1)
        regal_text_format(text, "%u", g);
      regal_text_format(text, ",");
      uint32_t level =
          regal_action_mean(head, drafted, i * reach + g, **action);
      write_gene(text, head, level, *action, (*odds)++);
      *action += regal_head_levels(head);
      if (head->domain != REGAL_HEAD_GRAPH)
        regal_text_format(text, "%.6g", memory_of(problem, head, i) / most);
      regal_text_format(text, "\n");
    }
}

regal_status regal_actions_save(regal_context *context,
                                const regal_actions *actions,
                                const char *path) {
  REGAL_TRY(regal_need(context, actions && path,
                       "saving actions needs them and a path"));
  const regal_policy_config *config = &actions->guide->config;
  const uint8_t *action = actions->choices.actions;
  const regal_guide_odds *odds = actions->choices.odds;
  regal_text text;
  regal_text_init(&text, context);
  regal_text_format(&text, "%s", columns);
  for (uint32_t h = 0; h < config->head_count; h++)
    write_head(&text, actions, &config->heads[h], &action, &odds);
  regal_status status = regal_text_save(context, &text, path);
  regal_text_free(&text);
  return status;
}
