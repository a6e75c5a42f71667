/* SPDX-License-Identifier: Apache-2.0 */
/* Validation is what users get; and trainers of their own: what they load, and
 * what they do without memory. */
#include "learn/trainer.h"
#include "support/failing_allocator.h"
#include "support/training.h"

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
  regal_options options = quick_training("valid.policy");
  regal_dataset *dataset;
  double sum = 0;
  int64_t seed = 0;
  options.valid_evaluations = 900;
  options.actions = sampled;
  options.overwrite = true;
  regal_training made = run_training(context, &options);
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
  counted c = {.context = *state, .options = quick_training("")};
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
  counted c = {.options = quick_training("")};
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

int main(void) {
  const struct CMUnitTest tests[] = {
      CONTEXT_TEST(test_validation),
      CONTEXT_TEST(test_loads_once),
      cmocka_unit_test(test_failing_validation),
  };
  return cmocka_run_group_tests_name("train_validation", tests, training_enter,
                                     files_leave);
}
