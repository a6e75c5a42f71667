/* SPDX-License-Identifier: Apache-2.0 */
#include "learn/train_settings.h"

#include <stdio.h>
#include <string.h>

#include "learn/guide/propose.h"
#include "policy/features.h"

enum { PRESET_PAPER = 1 };
enum { REWARD_BEST = 1 };
enum { DECAY_LINEAR = 1 };
enum { HEADS_PLACEMENT = 1, HEADS_SCHEDULING, HEADS_BOTH, HEADS_ALL };
enum { TOP = 20 };

typedef struct preset {
  uint64_t steps;
  uint32_t samples, best_of;
  uint64_t evaluations;
  regal_advantage advantage;
  double learning_rate, entropy, neutral;
  bool decay;
  int heads;
} preset;

/* FINDINGS: the number of rollouts matters, not evaluations per rollout. */
static const preset runtime_preset = {.steps = 6000,
                                      .samples = 8,
                                      .best_of = TOP,
                                      .evaluations = 100,
                                      .advantage = REGAL_ADVANTAGE_BATCH,
                                      .learning_rate = 2e-3,
                                      .entropy = 3e-3,
                                      .neutral = 0,
                                      .decay = true,
                                      .heads = HEADS_BOTH};
/* A random action for each op is a harmful bias here: start neutral, and leave
 * placement alone. */
static const preset memory_preset = {.steps = 6000,
                                     .samples = 8,
                                     .best_of = TOP,
                                     .evaluations = 300,
                                     .advantage = REGAL_ADVANTAGE_BATCH,
                                     .learning_rate = 2e-3,
                                     .entropy = 3e-4,
                                     .neutral = 3,
                                     .decay = true,
                                     .heads = HEADS_SCHEDULING};
static const preset paper_preset = {.steps = 100000,
                                    .samples = 1,
                                    .best_of = 1,
                                    .evaluations = 1000,
                                    .advantage = REGAL_ADVANTAGE_LEARNED,
                                    .learning_rate = 1e-4,
                                    .entropy = 0,
                                    .neutral = 0,
                                    .decay = false,
                                    .heads = HEADS_BOTH};

static const preset *find_preset(const regal_options *options) {
  if (options->preset == PRESET_PAPER)
    return &paper_preset;
  return options->objective == REGAL_MEMORY ? &memory_preset : &runtime_preset;
}

static void set_adam(const regal_options *options, const preset *p,
                     regal_train_settings *s) {
  bool decay = options->decay ? options->decay == DECAY_LINEAR : p->decay;
  s->adam = regal_adam_paper();
  s->adam.learning_rate =
      options->learning_rate > 0 ? options->learning_rate : p->learning_rate;
  s->adam.final_learning_rate = decay ? 0 : s->adam.learning_rate;
  s->adam.decay_steps = decay ? s->steps : 0;
  if (options->clip >= 0)
    s->adam.clip_norm = options->clip;
}

static void set_network(const regal_options *options, const preset *p,
                        regal_policy_config *config) {
  *config = (regal_policy_config){
      .kind = (regal_policy_kind)options->policy_kind,
      .update = (regal_node_update)options->update,
      .mean_aggregation = options->aggregation == 0,
      .rounds = (uint32_t)options->rounds,
      .width = (uint32_t)options->state_width,
      .experts = (uint32_t)options->experts,
      .features = regal_features_all(),
      .neutral_bias =
          (float)(options->neutral >= 0 ? options->neutral : p->neutral)};
}

static regal_status check(regal_context *context,
                          const regal_train_settings *s) {
  if (s->samples < 2 && s->advantage != REGAL_ADVANTAGE_LEARNED)
    return regal_fail(context, REGAL_BAD_INPUT,
                      "--samples: found 1, expected at least 2, which are "
                      "compared with each other, or --advantage learned");
  if (s->best_of > s->episode_evaluations)
    return regal_fail(context, REGAL_BAD_INPUT,
                      "--episode-evaluations: found %llu, expected at least "
                      "the %u that the reward is a mean of",
                      (unsigned long long)s->episode_evaluations, s->best_of);
  return REGAL_OK;
}

regal_status regal_train_settings_read(regal_context *context,
                                       const regal_options *options,
                                       regal_train_settings *settings) {
  const preset *p = find_preset(options);
  regal_train_settings s = {
      .steps = options->steps ? (uint64_t)options->steps : p->steps,
      .seed = (uint64_t)options->seed,
      .imitate = (uint64_t)options->imitate,
      .graphs =
          options->graphs_per_step ? (uint32_t)options->graphs_per_step : 4,
      .samples = options->samples ? (uint32_t)options->samples : p->samples,
      .episode_evaluations = options->episode_evaluations
                                 ? (uint64_t)options->episode_evaluations
                                 : p->evaluations,
      .best_of = options->reward ? options->reward == REWARD_BEST ? 1 : TOP
                                 : p->best_of,
      .advantage = options->advantage
                       ? (regal_advantage)(options->advantage - 1)
                       : p->advantage,
      .entropy = options->entropy >= 0 ? options->entropy : p->entropy,
      .valid_evaluations = (uint64_t)options->valid_evaluations,
      .valid_graphs = (uint32_t)options->valid_graphs};
  s.valid_every = options->valid_every ? (uint64_t)options->valid_every
                                       : (s.steps + 9) / 10;
  s.decoder =
      regal_decoder_find(options->decoder[0] ? options->decoder : "paper");
  if (!s.decoder)
    return regal_fail(context, REGAL_BAD_INPUT, "unknown decoder \"%.100s\"",
                      options->decoder);
  REGAL_TRY(check(context, &s));
  set_adam(options, p, &s);
  set_network(options, p, &s.config);
  *settings = s;
  return REGAL_OK;
}

/* -- Heads ----------------------------------------------------------------- */

static bool is_wanted(regal_gene_domain domain, int heads) {
  switch (domain) {
  case REGAL_GENE_OP_DEVICE:
    return heads != HEADS_SCHEDULING;
  case REGAL_GENE_OP:
    return heads != HEADS_PLACEMENT;
  case REGAL_GENE_GLOBAL:
  case REGAL_GENE_TENSOR_DEVICE:
    break;
  }
  return heads == HEADS_ALL;
}

regal_status regal_train_settings_bind(regal_context *context,
                                       const regal_options *options,
                                       const regal_problem *problem,
                                       regal_train_settings *settings) {
  const regal_decoder *decoder = settings->decoder;
  regal_policy_config *config = &settings->config;
  int heads =
      options->heads ? (int)options->heads : find_preset(options)->heads;
  regal_config_for(problem, decoder, config);
  for (size_t c = 0; c < regal_decoder_class_count(decoder); c++) {
    const regal_gene_class *class = &decoder->classes[c];
    uint32_t levels = (uint32_t)(class->domain == REGAL_GENE_OP_DEVICE
                                     ? options->placement_levels
                                     : options->schedule_levels);
    if (is_wanted(class->domain, heads))
      REGAL_TRY(regal_config_add_head(context, decoder, class->name, levels,
                                      levels, (uint32_t)options->bias_levels,
                                      config));
  }
  if (!config->head_count)
    return regal_fail(context, REGAL_BAD_INPUT,
                      "--heads: decoder \"%s\" has no genes of that kind",
                      decoder->name);
  return REGAL_OK;
}

/* -- Fingerprint ----------------------------------------------------------- */

/* Options that say where and how long, not what. */
static bool changes_result(const regal_option_info *option) {
  static const char *const groups[] = {"train", "reading", "machine",
                                       "objective", "brkga"};
  static const char *const not [] = {"checkpoint", "checkpoint-every", "resume",
                                     "log", "plot"};
  for (size_t i = 0; i < sizeof not / sizeof *not ; i++)
    if (!strcmp(option->name, not [i]))
      return false;
  for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
    if (!strcmp(option->group, groups[i]))
      return true;
  return !strcmp(option->name, "seed") || !strcmp(option->name, "decoder");
}

void regal_train_fingerprint(const regal_options *options, char *text,
                             size_t capacity) {
  size_t used = 0;
  text[0] = 0;
  for (size_t i = 0; i < regal_option_count(); i++) {
    char value[1100] = "";
    const regal_option_info *option = regal_option_at(i);
    if (!changes_result(option))
      continue;
    regal_option_text(options, i, value, sizeof value);
    int length =
        snprintf(text + used, capacity - used, "%s=%s\n", option->name, value);
    if (length < 0 || (size_t)length >= capacity - used)
      return;
    used += (size_t)length;
  }
}
