/* SPDX-License-Identifier: Apache-2.0 */
/* bench_quality: methods x graphs x machines x budgets x seeds, one line of CSV
 * for each run. Every plan is verified. bench/quality.py turns the lines into
 * tables, and keeps the best plans.
 *
 *   bench_quality [--jobs N] [--plans DIR] [--shard I/N] [--clock cpu|wall]
 *                 LIST SETTINGS METHODS BUDGETS SEEDS
 *
 * LIST      a file with one path of a graph a line (ARCHIVE:NAME too)
 * SETTINGS  names of the table below, with commas; or "all"
 * METHODS   option strings, with semicolons: "brkga evaluations=5000;auto"
 *           the first word is the method; a method that has its own evaluations
 *           or time= ignores BUDGETS
 * BUDGETS   seconds, with commas: 0.1,1
 * SEEDS     with commas: 1,2,3
 * --jobs    runs side by side, each on one thread (default: one per core)
 * --plans   writes each plan to DIR/SETTING.GRAPH.METHOD.BUDGET.SEED.plan
 * --shard   only the I-th of N parts of the runs (from 0)
 * --clock   what BUDGETS count: wall time, or each thread's CPU time, which is
 *           fair on a machine that has other work (methods of one thread only)
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/parallel/threads.h"
#include "base/text.h"
#include "dataset/archive/catalog.h"
#include "regal.h"
#include "support/cpu_clock.h"

typedef struct setting {
  const char *name, *options; /* "name=value name=value" */
  double limit;               /* of the memory bound; 0: none */
} setting;

static const setting settings[] = {
    {"free", "", 0},
    {"blocking-25", "latency=10us bandwidth=25GB", 0},
    {"blocking-450", "latency=10us bandwidth=450GB", 0},
    {"overlapped-25", "transfers=overlapped latency=10us bandwidth=25GB", 0},
    {"runtime-4", "devices=4", 0},
    {"memory-2", "objective=memory", 0},
    {"memory-4", "objective=memory devices=4", 0},
    {"limited", "", 1.1},
    {"memory-1", "objective=memory devices=1", 0},
};

enum {
  SETTINGS = sizeof settings / sizeof *settings,
  MOST_GRAPHS = 1000,
  MOST_METHODS = 64,
  MOST_BUDGETS = 16,
  MOST_SEEDS = 64
};

typedef struct bench {
  char *graphs[MOST_GRAPHS];
  const setting *settings[SETTINGS];
  char *methods[MOST_METHODS], *budgets[MOST_BUDGETS], *seeds[MOST_SEEDS];
  size_t graph_count, setting_count, method_count, budget_count, seed_count;
  size_t shard, shards;
  const char *plans;
  pthread_mutex_t lock;
} bench;

static void check(regal_context *context, regal_status status) {
  if (status == REGAL_OK)
    return;
  fprintf(stderr, "bench_quality: %s\n", regal_error(context));
  exit(2);
}

static void usage(const char *why) {
  fprintf(stderr,
          "bench_quality: %s\nusage: bench_quality [--jobs N] [--plans DIR] "
          "[--shard I/N] [--clock cpu|wall] LIST SETTINGS METHODS BUDGETS "
          "SEEDS\n",
          why);
  exit(1);
}

static size_t split(char *text, const char *by, char **parts, size_t most) {
  size_t count = 0;
  for (char *part, *rest = text; (part = strtok_r(rest, by, &rest));) {
    if (count == most)
      usage("too many parts");
    parts[count++] = part;
  }
  return count;
}

/* "method name=value ...": true if it says its own budget. */
static bool set_options(regal_context *context, regal_options *options,
                        const char *text, bool method) {
  char copy[1024], *parts[64];
  bool budget = false;
  snprintf(copy, sizeof copy, "%s", text);
  size_t count = split(copy, " ", parts, 64);
  for (size_t i = 0; i < count; i++) {
    char *value = strchr(parts[i], '=');
    if (method && i == 0) {
      check(context, regal_options_set(context, options, "method", parts[i]));
      continue;
    }
    if (!value)
      usage("an option without a value");
    *value++ = 0;
    budget |= !strcmp(parts[i], "evaluations") || !strcmp(parts[i], "time");
    check(context, regal_options_set(context, options, parts[i], value));
  }
  return budget;
}

/* The limit of the setting, from the bound for peak memory. */
static void set_limit(regal_context *context, const regal_graph *graph,
                      regal_options *options, double share) {
  regal_options memory = *options;
  regal_problem *problem;
  regal_result *result;
  memory.objective = 1;
  check(context, regal_options_set(context, &memory, "method", "single"));
  check(context, regal_problem_create(context, graph, &memory, &problem));
  check(context, regal_optimize(context, problem, &memory, &result));
  options->memory_limit = (int64_t)(share * (double)result->bound.peak_bytes);
  regal_result_free(result);
  regal_problem_free(problem);
}

static const char *base_name(const char *path) {
  const char *colon = strrchr(path, ':'), *slash = strrchr(path, '/');
  return colon ? colon + 1 : slash ? slash + 1 : path;
}

static void save_plan(const bench *b, regal_context *context,
                      const regal_result *result, const char *name) {
  char path[2048];
  snprintf(path, sizeof path, "%s/%s.plan", b->plans, name);
  for (char *at = path + strlen(b->plans) + 1; *at; at++)
    if (*at == ' ' || *at == '/' || *at == '=')
      *at = '_';
  check(context, regal_plan_save(context, result, path));
}

static void run_one(bench *b, const char *path, const setting *setting,
                    const char *method, const char *budget, const char *seed) {
  regal_context *context;
  regal_options options;
  regal_graph *graph;
  regal_result *result;
  if (regal_context_create(&context, NULL) != REGAL_OK)
    exit(2);
  regal_options_init(&options);
  options.threads = 1;
  set_options(context, &options, setting->options, false);
  check(context, regal_options_set(context, &options, "seed", seed));
  if (!set_options(context, &options, method, true))
    check(context, regal_options_set(context, &options, "time", budget));
  else
    budget = "own";
  check(context, regal_graph_load(context, path, &options, &graph));
  if (setting->limit > 0)
    set_limit(context, graph, &options, setting->limit);
  check(context, regal_solve(context, graph, &options, &result));
  bool memory = options.objective != 0;
  regal_graph_info info;
  regal_graph_describe(graph, &info);
  char name[1024];
  snprintf(name, sizeof name, "%s.%s.%s.%s.%s", setting->name, base_name(path),
           method, budget, seed);
  if (b->plans)
    save_plan(b, context, result, name);
  pthread_mutex_lock(&b->lock);
  printf(
      "%s,%s,%s,%s,%s,%lld,%lld,%lld,%lld,%lld,%llu,%.4f,%u\n", setting->name,
      base_name(path), method, budget, seed,
      (long long)(memory ? result->cost.max_peak_bytes
                         : result->cost.runtime_ns),
      (long long)result->cost.excess_bytes,
      (long long)(memory ? result->bound.peak_bytes : result->bound.runtime_ns),
      (long long)(memory ? result->before.max_peak_bytes
                         : result->before.runtime_ns),
      (long long)result->before.excess_bytes,
      (unsigned long long)result->evaluations, result->seconds, info.ops);
  fflush(stdout);
  pthread_mutex_unlock(&b->lock);
  regal_result_free(result);
  regal_graph_free(graph);
  regal_context_free(context);
}

/* Run `item`: graphs vary fastest, so that a cut run still covers the rest. */
static void run_item(void *state, size_t item, int thread) {
  (void)thread;
  bench *b = state;
  size_t i = item * b->shards + b->shard;
  const char *graph = b->graphs[i % b->graph_count];
  i /= b->graph_count;
  const setting *setting = b->settings[i % b->setting_count];
  i /= b->setting_count;
  const char *seed = b->seeds[i % b->seed_count];
  i /= b->seed_count;
  const char *budget = b->budgets[i % b->budget_count];
  const char *method = b->methods[i / b->budget_count];
  run_one(b, graph, setting, method, budget, seed);
}

static void read_list(regal_context *context, bench *b, const char *list) {
  regal_text text;
  regal_text_init(&text, context);
  check(context, regal_read_input(context, list, &text));
  char *copy = strdup(text.bytes); /* lives as long as the program */
  regal_text_free(&text);
  if (!copy)
    exit(2);
  b->graph_count = split(copy, "\n", b->graphs, MOST_GRAPHS);
}

static void read_settings(bench *b, char *names) {
  char *parts[SETTINGS];
  if (!strcmp(names, "all")) {
    for (size_t s = 0; s + 1 < SETTINGS; s++) /* all but one device */
      b->settings[b->setting_count++] = &settings[s];
    return;
  }
  size_t count = split(names, ",", parts, SETTINGS);
  for (size_t i = 0; i < count; i++) {
    size_t s = 0;
    while (s < SETTINGS && strcmp(settings[s].name, parts[i]))
      s++;
    if (s == SETTINGS)
      usage("no such setting");
    b->settings[b->setting_count++] = &settings[s];
  }
}

int main(int argc, char **argv) {
  static bench b = {.shards = 1, .lock = PTHREAD_MUTEX_INITIALIZER};
  regal_context *context;
  regal_pool *pool;
  int jobs = 0, at = 1;
  for (; at + 1 < argc && argv[at][0] == '-'; at += 2)
    if (!strcmp(argv[at], "--jobs"))
      jobs = atoi(argv[at + 1]);
    else if (!strcmp(argv[at], "--plans"))
      b.plans = argv[at + 1];
    else if (!strcmp(argv[at], "--clock") && !strcmp(argv[at + 1], "cpu"))
      regal_bench_use_cpu_clock();
    else if (!strcmp(argv[at], "--clock") && !strcmp(argv[at + 1], "wall"))
      continue;
    else if (strcmp(argv[at], "--shard") ||
             sscanf(argv[at + 1], "%zu/%zu", &b.shard, &b.shards) != 2)
      usage("an unknown option");
  if (argc - at != 5)
    usage("five arguments are expected");
  if (regal_context_create(&context, NULL) != REGAL_OK)
    return 2;
  read_list(context, &b, argv[at]);
  read_settings(&b, argv[at + 1]);
  b.method_count = split(argv[at + 2], ";", b.methods, MOST_METHODS);
  b.budget_count = split(argv[at + 3], ",", b.budgets, MOST_BUDGETS);
  b.seed_count = split(argv[at + 4], ",", b.seeds, MOST_SEEDS);
  size_t runs = b.graph_count * b.setting_count * b.method_count *
                b.budget_count * b.seed_count;
  check(context, regal_pool_create(context, jobs, &pool));
  fprintf(stderr, "%s: %zu runs\n", regal_build_id(), runs);
  printf("setting,graph,method,budget,seed,cost,excess,bound,before,"
         "before_excess,evaluations,seconds,ops\n");
  regal_pool_run(pool, (runs + b.shards - 1 - b.shard) / b.shards, run_item,
                 &b);
  regal_pool_free(pool);
  regal_context_free(context);
  return 0;
}
