/* SPDX-License-Identifier: Apache-2.0 */
/* Presets of training, and the numbers that a run is made of.
 *
 * `paper` is what section 4 and the appendix of the paper say: one sample of
 * each graph, a learned baseline, 100000 steps, sampled actions also when the
 * policy is used, and the network of its agent for synthetic graphs. `paper-tf`
 * is the same with the networks of its agents for TensorFlow graphs, one for
 * each objective, and the memory limit of its run time task. `default` is ours,
 * for each objective: many short episodes instead of few long ones, and samples
 * of one graph compared with each other. docs/policy-results.md has the
 * measurements.
 */
#include "learn/train_settings.h"

#include <stdio.h>

#include "base/options/options.h"
#include "learn/guide/propose.h"
#include "policy/features.h"

/* Choices, as in the table of options. */
enum { REWARD_BEST, REWARD_TOP };
enum { DECAY_LINEAR, DECAY_NONE };
enum { MEANS_ABSOLUTE, MEANS_DRAFT };
enum { ACTIONS_GREEDY, ACTIONS_SAMPLE };
enum { HEADS_PLACEMENT, HEADS_SCHEDULING, HEADS_BOTH, HEADS_ALL };
enum { TOP = 20 };

/* The number of episodes matters, not the evaluations in each. */
static const regal_option_value runtime_preset[] = {
    {"steps", "6000"},
    {"samples", "8"},
    {"episode-evaluations", "100"},
    {"reward", "top20"},
    {"advantage", "batch"},
    {"learning-rate", "0.002"},
    {"decay", "linear"},
    {"entropy", "0.003"},
    {"uniform-logit", "0"},
    {"heads", "both"},
    {NULL, NULL}};

/* A random action for each op is a harmful bias here: start from uniform genes,
 * and leave placement alone. */
static const regal_option_value memory_preset[] = {
    {"steps", "6000"},
    {"samples", "8"},
    {"episode-evaluations", "300"},
    {"reward", "top20"},
    {"advantage", "batch"},
    {"learning-rate", "0.002"},
    {"decay", "linear"},
    {"entropy", "0.0003"},
    {"uniform-logit", "3"},
    {"heads", "scheduling"},
    {NULL, NULL}};

/* What all agents of the paper share. Transfer genes stay uniform. */
static const regal_option_value paper_recipe[] = {
    {"steps", "100000"},
    {"samples", "1"},
    {"episode-evaluations", "1000"},
    {"reward", "best"},
    {"advantage", "learned"},
    {"baseline-weight", "0.0001"},
    {"learning-rate", "0.0001"},
    {"decay", "none"},
    {"entropy", "0"},
    {"uniform-logit", "0"},
    {"heads", "both"},
    {"features", "paper"},
    {"placement-levels", "2"},
    {"state-width", "32"},
    {"actions", "sample"},
    {NULL, NULL}};

/* "2 graph propagations and GRU node updates and aggregation using mean" */
static const regal_option_value synthetic_agent[] = {{"rounds", "2"},
                                                     {"update", "gru"},
                                                     {"aggregation", "mean"},
                                                     {"schedule-levels", "16"},
                                                     {NULL, NULL}};

/* "16 residual graph propagations [...] the aggregation used was sum"; the task
 * is on devices with 16 GiB each. */
static const regal_option_value runtime_agent[] = {
    {"rounds", "16"},          {"update", "residual"},
    {"aggregation", "sum"},    {"schedule-levels", "16"},
    {"memory-limit", "16GiB"}, {NULL, NULL}};

/* "16 propagations [...] the aggregation used was mean pooling", 16 actions for
 * the placement of an op on two devices and 4 for its schedule: 2 levels each.
 * The update is that of the paper's equation. */
static const regal_option_value memory_agent[] = {{"rounds", "16"},
                                                  {"update", "mlp"},
                                                  {"aggregation", "mean"},
                                                  {"schedule-levels", "2"},
                                                  {NULL, NULL}};

/* Of all presets. */
static const regal_option_value common[] = {
    {"graphs-per-step", "4"}, {"clip", "10"}, {NULL, NULL}};
static const regal_option_value ours[] = {{"baseline-weight", "1"},
                                          {NULL, NULL}};

/* By preset, in the order of the table of options, and objective. */
enum { PARTS = 2 };
static const regal_option_value *const presets[][2][PARTS] = {
    {{runtime_preset, ours}, {memory_preset, ours}},
    {{paper_recipe, synthetic_agent}, {paper_recipe, synthetic_agent}},
    {{paper_recipe, runtime_agent}, {paper_recipe, memory_agent}}};

regal_status regal_train_fill(regal_context *context, regal_options *options) {
  bool memory = options->objective == REGAL_MEMORY, known = true;
  for (int i = 0; i < PARTS; i++)
    known &= regal_options_fill(options, presets[options->preset][memory][i]);
  if (!known || !regal_options_fill(options, common))
    return regal_fail(context, REGAL_INTERNAL, "a preset of training is wrong");
  if (!regal_option_given(options, "valid-every"))
    options->valid_every = (options->steps + 9) / 10;
  return REGAL_OK;
}

static regal_adam_settings read_adam(const regal_options *options) {
  bool decay = options->decay == DECAY_LINEAR;
  regal_adam_settings adam = regal_adam_paper();
  adam.learning_rate = options->learning_rate;
  adam.final_learning_rate = decay ? 0 : adam.learning_rate;
  adam.decay_steps = decay ? (uint64_t)options->steps : 0;
  adam.clip_norm = options->clip;
  return adam;
}

static regal_policy_config read_network(const regal_options *options) {
  return (regal_policy_config){
      .kind = (regal_policy_kind)options->policy_kind,
      .update = (regal_node_update)options->update,
      .mean_aggregation = options->aggregation == 0,
      .rounds = (uint32_t)options->rounds,
      .width = (uint32_t)options->state_width,
      .experts = (uint32_t)options->experts,
      .features = regal_features_of((regal_feature_set)options->features),
      .neutral_bias = (float)options->uniform_logit};
}

static regal_status check(regal_context *context,
                          const regal_train_settings *s) {
  if (s->estimator == REGAL_ESTIMATOR_PERTURB && s->samples % 2)
    return regal_fail(context, REGAL_BAD_INPUT,
                      "--samples: found %u, expected an even number, for "
                      "--estimator perturb compares pairs",
                      s->samples);
  if (s->samples < 2 && s->estimator == REGAL_ESTIMATOR_REINFORCE &&
      s->advantage != REGAL_ADVANTAGE_LEARNED)
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
  regal_train_settings s = {
      .steps = (uint64_t)options->steps,
      .seed = (uint64_t)options->seed,
      .imitate = (uint64_t)options->imitate,
      .graphs = (uint32_t)options->graphs_per_step,
      .samples = (uint32_t)options->samples,
      .episode_evaluations = (uint64_t)options->episode_evaluations,
      .best_of = options->reward == REWARD_TOP ? TOP : 1,
      .estimator = (regal_estimator)options->estimator,
      .advantage = (regal_advantage)options->advantage,
      .baseline_weight = options->baseline_weight,
      .sampled = options->actions == ACTIONS_SAMPLE,
      .entropy = options->entropy,
      .entropy_floor = options->entropy_floor,
      .perturbation = options->perturbation,
      .clip_graph = options->clip_graph,
      .adam = read_adam(options),
      .valid_every = (uint64_t)options->valid_every,
      .valid_evaluations = (uint64_t)options->valid_evaluations,
      .valid_graphs = (uint32_t)options->valid_graphs,
      .teacher = regal_auto_settings_of(options),
      .config = read_network(options)};
  s.teacher.brkga.restart = 0;
  s.brkga = s.teacher.brkga;
  REGAL_TRY(regal_decoder_require(
      context, options->decoder[0] ? options->decoder : "paper",
      &s.brkga.decoder));
  REGAL_TRY(check(context, &s));
  *settings = s;
  return REGAL_OK;
}

/* -- Heads ----------------------------------------------------------------- */

static regal_status check_means(regal_context *context,
                                const regal_train_settings *s) {
  if (!regal_features_need(&s->config.features, REGAL_FEATURE_FROM_DRAFT))
    return regal_fail(context, REGAL_BAD_INPUT,
                      "--means: found draft, expected absolute, or a draft "
                      "among the features: --features draft");
  if (!regal_decoders_share_genes(s->brkga.decoder,
                                  regal_decoder_find("paper")))
    return regal_fail(context, REGAL_BAD_INPUT,
                      "--means: found draft for decoder %s, expected decoder "
                      "paper or paper-late",
                      s->brkga.decoder->name);
  if (s->imitate)
    return regal_fail(context, REGAL_BAD_INPUT,
                      "--imitate: found --means draft, expected --means "
                      "absolute, for a teacher's plan is none of the draft's");
  return REGAL_OK;
}

static bool is_wanted(regal_gene_domain domain, int64_t heads) {
  if (domain == REGAL_GENE_OP_DEVICE)
    return heads != HEADS_SCHEDULING;
  if (domain == REGAL_GENE_OP)
    return heads != HEADS_PLACEMENT;
  return heads == HEADS_ALL;
}

regal_status regal_train_settings_bind(regal_context *context,
                                       const regal_options *options,
                                       const regal_problem *problem,
                                       regal_train_settings *settings) {
  const regal_decoder *decoder = settings->brkga.decoder;
  regal_policy_config *config = &settings->config;
  regal_config_for(problem, decoder, config);
  if (options->means == MEANS_DRAFT)
    REGAL_TRY(check_means(context, settings));
  for (size_t c = 0; c < regal_decoder_class_count(decoder); c++) {
    const regal_gene_class *class = &decoder->classes[c];
    bool places = class->domain == REGAL_GENE_OP_DEVICE;
    int64_t levels =
        places ? options->placement_levels : options->schedule_levels;
    int64_t variances =
        !places && options->variance_levels ? options->variance_levels : levels;
    if (is_wanted(class->domain, options->heads))
      REGAL_TRY(regal_config_add_head(context, decoder, class->name,
                                      (uint32_t)levels, (uint32_t)variances,
                                      (uint32_t)options->bias_levels, config));
  }
  for (uint32_t h = 0; h < config->head_count; h++)
    config->heads[h].relative = options->means == MEANS_DRAFT;
  if (!config->head_count)
    return regal_fail(context, REGAL_BAD_INPUT,
                      "--heads: decoder \"%s\" has no genes of that kind",
                      decoder->name);
  return REGAL_OK;
}

/* -- Fingerprint ----------------------------------------------------------- */

void regal_train_fingerprint(const regal_options *options, char *text,
                             size_t capacity) {
  size_t used = 0;
  text[0] = 0;
  for (size_t i = 0; i < regal_option_count(); i++) {
    char value[REGAL_MOST_LIST] = "";
    const regal_option_info *option = regal_option_at(i);
    if (!option->changes_result)
      continue;
    regal_option_text(options, i, value, sizeof value);
    int length =
        snprintf(text + used, capacity - used, "%s=%s\n", option->name, value);
    if (length < 0 || (size_t)length >= capacity - used)
      return;
    used += (size_t)length;
  }
}
