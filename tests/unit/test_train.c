/* SPDX-License-Identifier: Apache-2.0 */
/* Training: that it learns, that threads and interruptions change nothing, that
 * validation is what users get, and every message. */
#include <math.h>
#include <sys/stat.h>

#include "base/hash.h"
#include "base/text.h"
#include "learn/advantages.h"
#include "learn/checkpoint.h"
#include "learn/episode.h"
#include "learn/train_settings.h"
#include "policy/policy_file.h"
#include "regal_data.h"
#include "regal_train.h"
#include "support/failing_allocator.h"
#include "support/files.h"
#include "support/graph_sketch.h"

/* A small dataset: ten graphs, split 3-1-1. */
static int make_dataset(void **state) {
  regal_context *context;
  regal_options options;
  regal_dataset *dataset;
  if (files_enter(state) || regal_context_create(&context, NULL))
    return -1;
  regal_options_init(&options);
  options.count = 10;
  options.nodes = 30;
  options.seed = 5;
  options.threads = 1;
  regal_status status =
      regal_generate(context, "plain", &options, NULL, NULL, NULL);
  if (status == REGAL_OK)
    status = regal_dataset_open(context, "plain", &dataset);
  if (status == REGAL_OK)
    status = regal_dataset_measure(dataset, &options);
  if (status == REGAL_OK)
    status = regal_dataset_split(dataset, 1);
  if (status == REGAL_OK)
    status = regal_dataset_save(dataset, "set.zip");
  if (status != REGAL_OK) {
    fprintf(stderr, "%s\n", regal_error(context));
    return -1;
  }
  regal_dataset_free(dataset);
  regal_context_free(context);
  return 0;
}

static regal_options quick(const char *output) {
  regal_options options;
  regal_options_init(&options);
  options.steps = 8;
  options.graphs_per_step = 3;
  options.samples = 3;
  options.episode_evaluations = 20;
  options.valid_every = 3;
  options.valid_graphs = 2;
  options.valid_evaluations = 300;
  options.state_width = 8;
  options.rounds = 1;
  options.threads = 1;
  options.overwrite = true; /* tests use names again */
  snprintf(options.output, sizeof options.output, "%s", output);
  return options;
}

static void use_resume(regal_options *options) {
  options->overwrite = false;
  options->resume = true;
}

static regal_training train(regal_context *context,
                            const regal_options *options) {
  regal_training made;
  if (regal_train(context, "set.zip", options, "a command", NULL, NULL,
                  &made) != REGAL_OK)
    fail_msg("%s", regal_error(context));
  return made;
}

static void assert_same_files(const char *a, const char *b) {
  char command[256];
  snprintf(command, sizeof command, "cmp %s %s", a, b);
  if (system(command))
    fail_msg("%s and %s differ", a, b);
}

/* The columns of a log that do not depend on the clock. */
static void assert_same_logs(const char *a, const char *b) {
  char command[512];
  snprintf(command, sizeof command,
           "cut -d, -f1,3- %s > a.cut && cut -d, -f1,3- %s > b.cut", a, b);
  assert_int_equal(system(command), 0);
  assert_same_files("a.cut", "b.cut");
}

/* -- Advantages ------------------------------------------------------------ */

static void assert_advantages(regal_advantage kind, const double *expected) {
  const double rewards[] = {-3, -1, -2, -8, -8, -2};
  const double baselines[] = {-2, -5};
  regal_real advantages[6];
  regal_reinforce_advantages(kind, 2, 3, rewards, baselines, advantages);
  for (size_t i = 0; i < 6; i++)
    assert_true(fabs(advantages[i] - expected[i]) < 1e-6);
}

static void test_advantages(void **state) {
  (void)state;
  /* less the mean of the other two */
  const double raw[] = {-1.5, 1.5, 0, -3, -3, 6};
  double batch[6], graph[6];
  double all = sqrt((4.5 + 54) / 6), first = sqrt(4.5 / 3), second = sqrt(18);
  for (size_t i = 0; i < 6; i++) {
    batch[i] = raw[i] / all;
    graph[i] = raw[i] / (i < 3 ? first : second);
  }
  assert_advantages(REGAL_ADVANTAGE_RAW, raw);
  assert_advantages(REGAL_ADVANTAGE_BATCH, batch);
  assert_advantages(REGAL_ADVANTAGE_GRAPH, graph);
  assert_advantages(REGAL_ADVANTAGE_LEARNED, (double[]){-1, 1, 0, -3, -3, 3});
}

static void test_spread(void **state) {
  (void)state;
  const double rewards[] = {-3, -1, -2, -8, -8, -2};
  /* variances 1 and 12 */
  assert_true(fabs(regal_reward_spread(2, 3, rewards) - sqrt(6.5)) < 1e-12);
  assert_true(isnan(regal_reward_spread(6, 1, rewards)));
}

static void test_equal_rewards(void **state) {
  (void)state;
  const double rewards[] = {-1, -1, -1, -1};
  regal_real advantages[4];
  regal_reinforce_advantages(REGAL_ADVANTAGE_GRAPH, 2, 2, rewards, NULL,
                             advantages);
  for (size_t i = 0; i < 4; i++)
    assert_true(advantages[i] == 0);
}

/* -- Runs ------------------------------------------------------------------ */

typedef struct curve {
  double first, last; /* mean improvement of the first and last 20 steps */
} curve;

static void follow(void *state, const regal_training *now) {
  curve *c = state;
  if (now->validated)
    return;
  if (now->step <= 20)
    c->first += now->improvement / 20;
  if (now->step > now->steps - 20)
    c->last += now->improvement / 20;
}

/* Also what no one may forget: that the reward improves at all. */
static void test_learns(void **state) {
  regal_options options = quick("learns.policy");
  curve c = {0};
  regal_training made;
  options.steps = 150;
  options.samples = 8;
  options.learning_rate = 1e-2;
  options.valid_graphs = 0;
  assert_int_equal(
      regal_train(*state, "set.zip", &options, NULL, follow, &c, &made),
      REGAL_OK);
  assert_true(made.finished);
  assert_int_equal(made.step, 150);
  assert_int_equal(made.evaluations, 150 * 3 * 8 * 20);
  assert_true(isnan(made.best_valid));
  if (!(c.last > c.first + 2))
    fail_msg("improvement %.2f%%, then %.2f%%", c.first, c.last);
}

/* So does perturbation, and threads do not change it. */
static void test_perturbs(void **state) {
  regal_options options = quick("learns.policy");
  curve c = {0};
  regal_training made;
  options.estimator = 1; /* perturb */
  options.steps = 100;
  options.samples = 8;
  options.learning_rate = 1e-2;
  options.valid_graphs = 0;
  assert_int_equal(
      regal_train(*state, "set.zip", &options, NULL, follow, &c, &made),
      REGAL_OK);
  if (!(c.last > c.first + 2))
    fail_msg("improvement %.2f%%, then %.2f%%", c.first, c.last);
}

static void test_threads_of_perturbation(void **state) {
  regal_options one = quick("one.policy"), three = quick("three.policy");
  one.estimator = three.estimator = 1; /* perturb */
  one.samples = three.samples = 4;
  three.threads = 3;
  train(*state, &one);
  train(*state, &three);
  assert_same_files("one.policy.checkpoint", "three.policy.checkpoint");
  assert_same_logs("one.policy.csv", "three.policy.csv");
}

/* Above the floor there is no bonus; one that is never reached is as none. */
static void test_entropy_floor(void **state) {
  regal_options plain = quick("plain.policy"), high = quick("high.policy");
  regal_options low = quick("low.policy"), none = quick("none.policy");
  plain.entropy = high.entropy = low.entropy = 0.5;
  high.entropy_floor = 1000;
  low.entropy_floor = 1e-6;
  none.entropy = 0;
  train(*state, &plain);
  train(*state, &high);
  train(*state, &low);
  train(*state, &none);
  assert_same_logs("plain.policy.csv", "high.policy.csv");
  assert_same_logs("none.policy.csv", "low.policy.csv");
}

static void test_threads(void **state) {
  regal_options one = quick("one.policy"), three = quick("three.policy");
  three.threads = 3;
  regal_training a = train(*state, &one), b = train(*state, &three);
  assert_true(a.best_valid == b.best_valid);
  assert_same_files("one.policy", "three.policy");
  assert_same_files("one.policy.checkpoint", "three.policy.checkpoint");
  assert_same_logs("one.policy.csv", "three.policy.csv");
}

typedef struct interrupter {
  regal_context *context;
  uint64_t step;
  bool validated;
} interrupter;

static void interrupt(void *state, const regal_training *now) {
  const interrupter *i = state;
  if (now->step == i->step && now->validated == i->validated)
    regal_stop_request(i->context);
}

/* A run is stopped after some step and after the validation of another. */
static void resume_after(regal_context *context, uint64_t step,
                         bool validated) {
  regal_options options = quick("broken.policy");
  interrupter i = {context, step, validated};
  regal_training made;
  assert_int_equal(regal_train(context, "set.zip", &options, "a command",
                               interrupt, &i, &made),
                   REGAL_OK);
  regal_stop_clear(context);
  assert_false(made.finished);
  assert_int_equal(made.step, step);
  use_resume(&options);
  options.threads = 2;
  made = train(context, &options);
  assert_true(made.finished);
  assert_same_files("whole.policy", "broken.policy");
  assert_same_files("whole.policy.checkpoint", "broken.policy.checkpoint");
  assert_same_logs("whole.policy.csv", "broken.policy.csv");
}

static void test_resume(void **state) {
  regal_options options = quick("whole.policy");
  train(*state, &options);
  resume_after(*state, 0, true);
  resume_after(*state, 2, false);
  resume_after(*state, 3, false);
  resume_after(*state, 6, true);
}

/* What a process that is killed here leaves behind. */
static void copy_files(void *state, const regal_training *now) {
  const interrupter *i = state;
  if (now->step == i->step && now->validated == i->validated)
    assert_int_equal(
        system("cp broken.policy.csv killed.policy.csv && cp "
               "broken.policy.checkpoint killed.policy.checkpoint"),
        0);
}

/* Every step has a checkpoint, written after its row: only the row of a
 * validation can be ahead of it. */
static void resume_killed(regal_context *context, uint64_t step,
                          bool validated) {
  regal_options options = quick("broken.policy");
  interrupter i = {context, step, validated};
  options.checkpoint_every = 0;
  assert_int_equal(regal_train(context, "set.zip", &options, "a command",
                               copy_files, &i, NULL),
                   REGAL_OK);
  options = quick("killed.policy");
  use_resume(&options);
  assert_true(train(context, &options).finished);
  assert_same_files("whole.policy", "killed.policy");
  assert_same_logs("whole.policy.csv", "killed.policy.csv");
}

static void test_resume_after_kill(void **state) {
  regal_options options = quick("whole.policy");
  train(*state, &options);
  resume_killed(*state, 0, true);
  resume_killed(*state, 2, false);
  resume_killed(*state, 6, true);
  resume_killed(*state, 7, false);
  resume_killed(*state, 8, true);
}

typedef struct copying {
  uint64_t copied;    /* steps */
  double first, last; /* entropy in the first and last of them */
  bool mixed;         /* a figure was there that should not, or the reverse */
} copying;

static void watch(void *state, const regal_training *now) {
  copying *c = state;
  if (now->validated)
    return;
  c->mixed |= now->imitating != isnan(now->improvement);
  if (!now->imitating)
    return;
  c->first = c->copied++ ? c->first : now->entropy;
  c->last = now->entropy;
}

/* Copying a teacher takes no episodes, and makes the policy surer. */
static void test_imitates(void **state) {
  regal_options options = quick("copies.policy");
  copying c = {0};
  regal_training made;
  options.steps = 62;
  options.imitate = 60;
  options.heads = 3; /* all */
  options.learning_rate = 1e-2;
  options.entropy = 0;
  options.valid_graphs = 0;
  assert_int_equal(
      regal_train(*state, "set.zip", &options, NULL, watch, &c, &made),
      REGAL_OK);
  assert_int_equal(c.copied, 60);
  assert_false(c.mixed);
  assert_int_equal(made.evaluations, 2 * 3 * 3 * 20);
  if (!(c.last < c.first - 1))
    fail_msg("entropy %.3f, then %.3f", c.first, c.last);
}

/* It is stopped while it copies, and goes on with another number of threads. */
static void test_resumes_imitation(void **state) {
  regal_options options = quick("whole.policy");
  interrupter i = {*state, 2, false};
  options.imitate = 5;
  train(*state, &options);
  snprintf(options.output, sizeof options.output, "broken.policy");
  assert_int_equal(regal_train(*state, "set.zip", &options, "a command",
                               interrupt, &i, NULL),
                   REGAL_OK);
  regal_stop_clear(*state);
  use_resume(&options);
  options.threads = 2;
  assert_true(train(*state, &options).finished);
  assert_same_files("whole.policy", "broken.policy");
  assert_same_logs("whole.policy.csv", "broken.policy.csv");
}

static void test_every_kind(void **state) {
  for (int64_t kind = 0; kind < 5; kind++) {
    regal_options options = quick("kind.policy");
    options.policy_kind = kind;
    options.heads = 3; /* all */
    options.bias_levels = 3;
    options.steps = 2;
    regal_training made = train(*state, &options);
    assert_true(made.finished && isfinite(made.gradient_norm) &&
                made.gradient_norm > 0);
  }
}

static void test_every_decoder(void **state) {
  for (size_t i = 0; i < regal_decoder_count(); i++) {
    regal_options options = quick("decoder.policy");
    snprintf(options.decoder, sizeof options.decoder, "%s",
             regal_decoder_at(i).name);
    options.heads = 3; /* all */
    options.steps = 2;
    options.objective = i % 2;
    assert_true(train(*state, &options).finished);
  }
}

/* The paper's: one sample, a learned baseline, which moves. */
static void test_paper(void **state) {
  regal_options options = quick("paper.policy");
  options.preset = 1;
  options.samples = 0;
  options.episode_evaluations = 120;
  regal_training made = train(*state, &options);
  assert_true(made.learning_rate == 1e-4);
  assert_int_equal(made.evaluations, 8 * 3 * 120);
}

/* Every preset is a whole recipe; what is given stays. */
static void test_presets(void **state) {
  enum { DEFAULT, PAPER, PAPER_TF };
  for (int preset = DEFAULT; preset <= PAPER_TF; preset++)
    for (int objective = 0; objective < 2; objective++) {
      regal_options o;
      regal_options_init(&o);
      o.preset = preset;
      o.objective = objective;
      o.clip = 7;
      assert_int_equal(regal_train_fill(*state, &o), REGAL_OK);
      bool tf = preset == PAPER_TF;
      assert_true(o.baseline_weight == (preset ? 1e-4 : 1));
      assert_int_equal(o.steps, preset ? 100000 : 6000);
      assert_int_equal(o.actions, preset != DEFAULT);
      assert_int_equal(o.rounds, tf ? 16 : 2);
      assert_int_equal(o.update, tf ? objective : 2); /* residual, mlp, gru */
      assert_int_equal(o.aggregation, tf && !objective);
      assert_int_equal(o.placement_levels, 2);
      assert_int_equal(o.schedule_levels, tf && objective ? 2 : 16);
      assert_int_equal(o.memory_limit,
                       tf && !objective ? INT64_C(16) << 30 : 0);
      assert_int_equal(o.graphs_per_step, 4);
      assert_true(o.clip == 7);
    }
}

/* The paper's network and action space: two heads, transfer genes uniform. */
static void test_paper_tf(void **state) {
  regal_options options = quick("tf.policy");
  regal_policy *policy;
  options.preset = 2;
  options.samples = 0;
  options.steps = 2;
  options.state_width = 4;
  assert_true(train(*state, &options).finished);
  assert_int_equal(regal_policy_load(*state, "tf.policy", &policy), REGAL_OK);
  assert_int_equal(policy->network->config.update, REGAL_UPDATE_RESIDUAL);
  assert_false(policy->network->config.mean_aggregation);
  assert_int_equal(policy->network->config.head_count, 2);
  regal_policy_free(policy);
}

/* A baseline of no weight stays as it was made: only the policy's part of the
 * gradient is left. */
static void test_baseline_weight(void **state) {
  double norm[2];
  for (int i = 0; i < 2; i++) {
    regal_options options = quick("weight.policy");
    options.preset = 1;
    options.samples = 0;
    options.steps = 1;
    options.overwrite = true;
    options.baseline_weight = i;
    norm[i] = train(*state, &options).gradient_norm;
  }
  assert_true(norm[0] > 0 && norm[0] < norm[1]);
}

/* -- Validation ------------------------------------------------------------ */

static double optimize(regal_context *context, const char *path,
                       const char *method, int64_t seed, bool sampled) {
  regal_options options;
  regal_graph *graph;
  regal_result *result;
  regal_options_init(&options);
  snprintf(options.method, sizeof options.method, "%s", method);
  if (!strcmp(method, "regal"))
    snprintf(options.policy, sizeof options.policy, "valid.policy");
  snprintf(options.decoder, sizeof options.decoder, "paper");
  options.evaluations = 900;
  options.actions = sampled;
  options.seed = seed;
  options.threads = 1;
  assert_int_equal(regal_graph_load(context, path, &options, &graph), REGAL_OK);
  assert_int_equal(regal_solve(context, graph, &options, &result), REGAL_OK);
  double cost = (double)result->cost.runtime_ns;
  regal_result_free(result);
  regal_graph_free(graph);
  return cost;
}

/* What training says is what `regal optimize` does. */
static void check_validation(regal_context *context, bool sampled) {
  regal_options options = quick("valid.policy");
  regal_dataset *dataset;
  double sum = 0;
  int64_t seed = 0;
  options.valid_evaluations = 900;
  options.actions = sampled;
  options.overwrite = true;
  regal_training made = train(context, &options);
  assert_int_equal(regal_dataset_open(context, "set.zip", &dataset), REGAL_OK);
  for (size_t i = 0; i < regal_dataset_count(dataset); i++) {
    const regal_entry *entry = regal_dataset_entry(dataset, i);
    char path[200];
    if (strcmp(entry->split, "valid") != 0)
      continue;
    snprintf(path, sizeof path, "set.zip:%s", entry->name);
    seed++;
    sum += 100 * (1 - optimize(context, path, "regal", seed, sampled) /
                          optimize(context, path, "brkga", seed, sampled));
  }
  regal_dataset_free(dataset);
  assert_int_equal(seed, 2);
  assert_true(fabs(sum / 2 - made.best_valid) < 1e-9);
}

static void test_validation(void **state) {
  check_validation(*state, false);
  check_validation(*state, true);
}

/* -- Trainers of their own ------------------------------------------------- */

/* Graphs of the dataset, and how often each was loaded. */
typedef struct counted {
  regal_context *context;
  regal_dataset *dataset;
  regal_options options;
  unsigned loads[10];
} counted;

static regal_status load_counted(void *state, size_t index, regal_graph **graph,
                                 regal_problem **problem) {
  counted *c = state;
  c->loads[index]++;
  assert_int_equal(regal_dataset_load(c->dataset, index, 0, &c->options, graph),
                   REGAL_OK);
  return regal_problem_create(c->context, *graph, &c->options, problem);
}

static void free_counted(regal_graph *graph, regal_problem *problem) {
  regal_problem_free(problem);
  regal_graph_free(graph);
}

static regal_trainer *make_trainer(counted *c, size_t train, size_t valid) {
  static regal_ranks ranks = {.size = 1};
  regal_task_source source = {c, train, load_counted, free_counted};
  regal_task_source other = {c, valid, load_counted, free_counted};
  regal_trainer *trainer;
  assert_int_equal(regal_dataset_open(c->context, "set.zip", &c->dataset),
                   REGAL_OK);
  assert_int_equal(regal_trainer_create(c->context, &ranks, &c->options,
                                        &source, &other, &trainer),
                   REGAL_OK);
  return trainer;
}

static void test_loads_once(void **state) {
  counted c = {.context = *state, .options = quick("")};
  regal_trainer *trainer = make_trainer(&c, 6, 0);
  bool stopped;
  for (size_t i = 0; i < 4; i++)
    assert_int_equal(regal_trainer_step(trainer, &stopped), REGAL_OK);
  for (size_t i = 0; i < 6; i++)
    assert_int_equal(c.loads[i], 1);
  regal_trainer_free(trainer);
  regal_dataset_free(c.dataset);
}

/* The gain of a graph comes from an episode that has ended. */
static void test_failing_validation(void **state) {
  (void)state;
  failing_allocator memory = {0};
  regal_allocator allocator = failing_allocator_of(&memory);
  counted c = {.options = quick("")};
  bool stopped;
  c.options.valid_evaluations = 40;
  assert_int_equal(regal_context_create(&c.context, &allocator), REGAL_OK);
  regal_trainer *trainer = make_trainer(&c, 1, 1);
  assert_int_equal(regal_trainer_validate(trainer, &stopped), REGAL_OK);
  for (size_t n = 1;; n++) {
    trainer->gains[0] = -12345;
    memory.failed = 0;
    memory.fail_at = memory.allocations + n;
    regal_status status = regal_trainer_validate(trainer, &stopped);
    assert_int_equal(status, memory.failed ? REGAL_NO_MEMORY : REGAL_OK);
    assert_int_equal(trainer->gains[0] == -12345, status != REGAL_OK);
    if (status == REGAL_OK) {
      assert_in_range(n, 10, 1000);
      break;
    }
  }
  memory.fail_at = 0;
  regal_trainer_free(trainer);
  regal_dataset_free(c.dataset);
  regal_context_free(c.context);
  assert_int_equal(memory.blocks, 0);
}

/* -- Messages -------------------------------------------------------------- */

static void assert_message(regal_context *context, const char *dataset,
                           const regal_options *options, const char *expected) {
  assert_int_equal(
      regal_train(context, dataset, options, NULL, NULL, NULL, NULL),
      REGAL_BAD_INPUT);
  assert_string_equal(regal_error(context), expected);
}

static void test_messages(void **state) {
  regal_options options = quick("");
  assert_message(*state, "set.zip", &options,
                 "training needs a file for the policy: -o FILE.policy");
  options = quick("x.policy");
  assert_message(*state, "plain", &options,
                 "plain: found no graph of split train; 'regal dataset split' "
                 "makes one");
  options.samples = 1;
  assert_message(*state, "set.zip", &options,
                 "--samples: found 1, expected at least 2, which are compared "
                 "with each other, or --advantage learned");
  options = quick("x.policy");
  options.estimator = 1; /* perturb */
  assert_message(*state, "set.zip", &options,
                 "--samples: found 3, expected an even number, for --estimator "
                 "perturb compares pairs");
  options = quick("x.policy");
  options.episode_evaluations = 19;
  assert_message(*state, "set.zip", &options,
                 "--episode-evaluations: found 19, expected at least the 20 "
                 "that the reward is a mean of");
  options = quick("x.policy");
  snprintf(options.decoder, sizeof options.decoder, "clock");
  options.heads = 0; /* placement */
  assert_message(*state, "set.zip", &options,
                 "--heads: decoder \"clock\" has no genes of that kind");
  assert_int_equal(access("x.policy", F_OK), -1);
}

/* Every file that a run would replace is named, and none is touched. */
static void test_refuses_to_replace(void **state) {
  static const char *const files[] = {"kept.policy", "kept.policy.checkpoint",
                                      "kept.policy.csv"};
  static const char *const messages[] = {
      "kept.policy: exists already; --overwrite replaces it",
      ("kept.policy.checkpoint: exists already; --resume continues the run of "
       "kept.policy.checkpoint, --overwrite replaces it"),
      "kept.policy.csv: exists already; --overwrite replaces it"};
  regal_options options = quick("kept.policy");
  options.overwrite = false;
  for (size_t i = 0; i < 3; i++) {
    files_write_text(files[i], "precious");
    assert_message(*state, "set.zip", &options, messages[i]);
    for (size_t k = 0; k < 3; k++) {
      char *text = files_read(files[k]);
      assert_true(k == i ? text && !strcmp(text, "precious") : !text);
      free(text);
    }
    remove(files[i]);
  }
  options.steps = 1;
  train(*state, &options);
  assert_message(*state, "set.zip", &options,
                 "kept.policy: exists already; --resume continues the run of "
                 "kept.policy.checkpoint, --overwrite replaces it");
  options.resume = options.overwrite = true;
  assert_message(*state, "set.zip", &options,
                 "--resume, --overwrite: found both, expected one");
  options.resume = false;
  train(*state, &options);
}

/* What is no log is not taken for one that was cut short. */
static void test_foreign_log(void **state) {
  regal_options options = quick("logged.policy");
  options.steps = 1;
  options.valid_graphs = 0;
  train(*state, &options);
  files_write_text("notes", "step by step\n");
  use_resume(&options);
  snprintf(options.log, sizeof options.log, "notes");
  assert_message(*state, "set.zip", &options,
                 "notes: this is no log of a training run");
  char *text = files_read("notes");
  assert_string_equal(text, "step by step\n");
  free(text);
}

static void test_memory_of_settings(void **state) {
  regal_options options = quick("x.policy");
  options.graphs_per_step = 4096;
  options.state_width = 64;
  options.max_memory = 100 << 20;
  assert_int_equal(
      regal_train(*state, "set.zip", &options, NULL, NULL, NULL, NULL),
      REGAL_BAD_INPUT);
  assert_non_null(strstr(regal_error(*state),
                         "--graphs-per-step 4096 and --state-width 64 need "));
  options.graphs_per_step = 1;
  options.state_width = 1024;
  assert_int_equal(
      regal_train(*state, "set.zip", &options, NULL, NULL, NULL, NULL),
      REGAL_NO_MEMORY);
  assert_non_null(strstr(regal_error(*state), "out of memory: found "));
  assert_non_null(strstr(regal_error(*state),
                         " in use, expected at most 100.0 MiB (--max-memory)"));
  assert_int_equal(access("x.policy", F_OK), -1);
}

static void test_checkpoint_messages(void **state) {
  regal_options options = quick("done.policy");
  options.steps = 1;
  options.valid_graphs = 0;
  train(*state, &options);
  use_resume(&options);
  options.samples = 4;
  assert_message(*state, "set.zip", &options,
                 "done.policy.checkpoint: was made with --samples=3, found "
                 "--samples=4; a run goes on with its own options");
  options.samples = 3;
  snprintf(options.checkpoint, sizeof options.checkpoint, "done.policy");
  assert_message(*state, "set.zip", &options,
                 "done.policy: this is no checkpoint of a training run");
  assert_int_equal(system("head -c 5000 done.policy.checkpoint > cut"), 0);
  snprintf(options.checkpoint, sizeof options.checkpoint, "cut");
  assert_message(*state, "set.zip", &options,
                 "cut: the checkpoint is damaged or cut short");
}

/* A checkpoint with other bytes and a checksum that fits them; `bytes` are
 * written at `at`, from the end when it is negative. */
static void assert_lie(regal_context *context, const regal_options *options,
                       long at, const void *bytes, size_t size,
                       const char *expected) {
  regal_text text;
  assert_int_equal(regal_read_file(context, "sound.policy.checkpoint", &text),
                   REGAL_OK);
  memcpy(text.bytes + (at < 0 ? (long)text.size + at : at), bytes, size);
  uint64_t sum = regal_hash_bytes(REGAL_HASH_BASIS, text.bytes, text.size - 8);
  for (size_t i = 0; i < 8; i++)
    text.bytes[text.size - 8 + i] = (char)(sum >> 8 * i);
  files_write("lies", text.bytes, text.size);
  regal_text_free(&text);
  assert_message(context, "set.zip", options, expected);
}

/* Where the numbers of a checkpoint are: after the options. */
static long find_state(regal_context *context) {
  regal_text text;
  assert_int_equal(regal_read_file(context, "sound.policy.checkpoint", &text),
                   REGAL_OK);
  const unsigned char *length = (unsigned char *)text.bytes + 20;
  long at = 24 + length[0] + 256 * length[1];
  regal_text_free(&text);
  return at;
}

static void test_checkpoint_lies(void **state) {
  static const unsigned char far[8] = {77};
  static const unsigned char nan[] = {0, 0, 192, 127},
                             minus[] = {0, 0, 128, 191};
  static const unsigned char infinite[8] = {[6] = 240, 127};
  regal_options options = quick("sound.policy");
  options.steps = 3;
  regal_training made = train(*state, &options);
  long at = find_state(*state);
  regal_policy *policy;
  assert_int_equal(regal_policy_load(*state, "sound.policy", &policy),
                   REGAL_OK);
  long reals = 4 * (long)policy->network->parameter_count;
  regal_policy_free(policy);
  use_resume(&options);
  snprintf(options.checkpoint, sizeof options.checkpoint, "lies");
  assert_lie(*state, &options, at, far, 8,
             "lies: found step 77, expected at most 3");
  assert_lie(*state, &options, at + 16, far, 8,
             "lies: found a validation at step 77, expected at most 6");
  assert_lie(*state, &options, at + 28, infinite, 8,
             "lies: found a best validation of inf%, expected a finite number");
  assert_lie(*state, &options, at + 36, far, 8,
             "lies: found a best policy of step 77, expected at most 3");
  assert_lie(*state, &options, at + 44, far, 8,
             "lies: found an optimiser of step 77, expected at most 3");
  assert_lie(*state, &options, -8 - 4 * reals, nan, 4,
             "lies: found parameter 0 to be nan, expected a finite number");
  assert_lie(*state, &options, -8 - 3 * reals + 4, nan, 4,
             "lies: found mean gradient 1 to be nan, expected a finite number");
  assert_lie(*state, &options, -8 - 2 * reals, minus, 4,
             "lies: found squared gradient 0 to be -1, expected a finite "
             "number, 0 or more");
  assert_lie(*state, &options, -8 - reals, nan, 4,
             "lies: found parameter of the best policy 0 to be nan, expected a "
             "finite number");
  options.checkpoint[0] = 0;
  assert_int_equal(train(*state, &options).step, made.step);
}

static void test_failing_allocations(void **state) {
  (void)state;
  regal_options options = quick("scarce.policy");
  options.steps = 1;
  options.graphs_per_step = 2;
  options.samples = 2;
  options.valid_graphs = 1;
  options.valid_evaluations = 40;
  options.schedule_levels = 2;
  for (size_t n = 2;; n += 1 + n / 60) {
    failing_allocator memory = {.fail_at = n};
    regal_allocator allocator = failing_allocator_of(&memory);
    regal_context *context;
    assert_int_equal(regal_context_create(&context, &allocator), REGAL_OK);
    regal_status status =
        regal_train(context, "set.zip", &options, NULL, NULL, NULL, NULL);
    assert_int_equal(status, memory.failed ? REGAL_NO_MEMORY : REGAL_OK);
    assert_int_equal(regal_bytes_in_use(context), 0);
    regal_context_free(context);
    assert_int_equal(memory.blocks, 0);
    if (!memory.failed)
      return assert_in_range(n, 200, 5000);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_advantages),
      cmocka_unit_test(test_equal_rewards),
      cmocka_unit_test(test_spread),
      CONTEXT_TEST(test_learns),
      CONTEXT_TEST(test_perturbs),
      CONTEXT_TEST(test_threads_of_perturbation),
      CONTEXT_TEST(test_entropy_floor),
      CONTEXT_TEST(test_threads),
      CONTEXT_TEST(test_resume),
      CONTEXT_TEST(test_resume_after_kill),
      CONTEXT_TEST(test_imitates),
      CONTEXT_TEST(test_resumes_imitation),
      CONTEXT_TEST(test_every_kind),
      CONTEXT_TEST(test_every_decoder),
      CONTEXT_TEST(test_paper),
      CONTEXT_TEST(test_presets),
      CONTEXT_TEST(test_paper_tf),
      CONTEXT_TEST(test_baseline_weight),
      CONTEXT_TEST(test_validation),
      CONTEXT_TEST(test_loads_once),
      cmocka_unit_test(test_failing_validation),
      CONTEXT_TEST(test_messages),
      CONTEXT_TEST(test_refuses_to_replace),
      CONTEXT_TEST(test_foreign_log),
      CONTEXT_TEST(test_memory_of_settings),
      CONTEXT_TEST(test_checkpoint_messages),
      CONTEXT_TEST(test_checkpoint_lies),
      cmocka_unit_test(test_failing_allocations),
  };
  return cmocka_run_group_tests_name("train", tests, make_dataset, files_leave);
}
