/* SPDX-License-Identifier: Apache-2.0 */
/* bench_scale: layered graphs from a thousand to a million ops: how long it
 * takes to load and bind them, what each list scheduler gives and takes, what
 * `auto` makes of them, and the memory that all of it needs.
 *
 *   bench_scale [--sizes 1000,10000,100000] [--seconds S] [--threads N]
 *               [--settings free,blocking,overlapped,memory,blocking-limit,
 *                overlapped-limit] [--folder DIR]
 *
 * --seconds  for `auto`; by default 1 s for each 10,000 ops, at least 1 s, and
 *            120 s for a million
 * --folder   gets scale.csv, scale.gp and, by gnuplot, scale.svg: the growth
 *            curve of the first setting of the table below that is run
 *            (default: scale, below the present folder)
 *
 * Each size and setting is a process of its own, so that the most memory it
 * held (`rss`) is its own, too. Wall time: needs a quiet machine. `gain` is how
 * much less `auto` costs than the best list scheduler; the program's exit
 * status is 1 if that is nothing anywhere.
 *
 * Settings with a limit have eight devices, each with a quarter of the memory
 * that `lpmf` needs on one. Of the list schedulers only plans that fit count,
 * and `auto` must fit.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/parallel/threads.h"
#include "dataset/synthetic/synthetic.h"
#include "regal_bench.h"

enum { WIDTH = 32, FAN_IN = 2, SEED = 7 };

typedef struct setting {
  const char *name;
  const char *title;       /* of the picture */
  const char *options[10]; /* name, value, ... */
  bool limited;            /* a quarter of what one device needs */
} setting;

static const setting settings[] = {
    {"free", "free transfers", {NULL}, false},
    {"blocking",
     "blocking transfers",
     {"latency", "10us", "bandwidth", "25GB"},
     false},
    {"overlapped",
     "overlapped transfers",
     {"transfers", "overlapped", "latency", "10us", "bandwidth", "25GB"},
     false},
    {"memory", "peak memory", {"objective", "memory"}, false},
    {"blocking-limit",
     "blocking transfers, limited memory",
     {"devices", "8", "latency", "10us", "bandwidth", "25GB"},
     true},
    {"overlapped-limit",
     "overlapped transfers, limited memory",
     {"devices", "8", "transfers", "overlapped", "latency", "10us", "bandwidth",
      "25GB"},
     true},
};
/* One pass each, or a few; `fit` has a budget, and is a part of `auto`. */
static const char *const lists[] = {"single", "heft", "dfs",
                                    "bfs",    "lpmf", "xla-list"};

enum {
  SETTINGS = sizeof settings / sizeof *settings,
  LISTS = sizeof lists / sizeof *lists
};

typedef struct bench {
  const char *sizes, *names, *folder;
  double seconds; /* 0: by the size */
  int threads;
  FILE *csv;
  /* the one at hand */
  regal_context *context;
  uint32_t ops;
  const setting *setting;
} bench;

static void check(const bench *b, regal_status status) {
  if (status == REGAL_OK)
    return;
  fprintf(stderr, "bench_scale: %s\n", regal_error(b->context));
  exit(2);
}

static void usage(void) {
  fprintf(stderr, "usage: bench_scale [--sizes N,...] [--seconds S] "
                  "[--threads N] [--settings NAME,...] [--folder DIR]\n");
  exit(2);
}

/* Bytes: the most that this process ever had. */
static double rss(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return 1024.0 * (double)usage.ru_maxrss;
}

static void report(const bench *b, const char *what, int64_t cost,
                   double seconds, uint64_t evaluations) {
  printf("%9u  %-16s %-9s %16lld %9.3f %9.1f %12llu\n", b->ops,
         b->setting->name, what, (long long)cost, seconds, rss() / 1e6,
         (unsigned long long)evaluations);
  fflush(stdout);
  fprintf(b->csv, "%u,%s,%s,%lld,%.6f,%.0f,%llu\n", b->ops, b->setting->name,
          what, (long long)cost, seconds, rss(),
          (unsigned long long)evaluations);
  fflush(b->csv);
}

static void graph_path(const bench *b, char *path, size_t size) {
  snprintf(path, size, "%s/layered_%u.pb", b->folder, b->ops);
}

/* In a process of its own as well: making is not what is measured. */
static void write_graph(const bench *b) {
  char path[1024];
  regal_graph *graph;
  graph_path(b, path, sizeof path);
  if (access(path, R_OK) == 0)
    return;
  check(b,
        regal_layered_graph(b->context, b->ops, WIDTH, FAN_IN, SEED, &graph));
  check(b, regal_graph_save(b->context, graph, path, REGAL_GRAPH_BINARY));
  regal_graph_free(graph);
}

static double auto_seconds(const bench *b) {
  if (b->seconds > 0)
    return b->seconds;
  if (b->ops >= 1000000)
    return 120;
  return b->ops > 10000 ? b->ops / 1e4 : 1;
}

/* What the method's plan costs; INT64_MAX if it does not fit. */
static int64_t run_method(const bench *b, const regal_problem *problem,
                          regal_options *options, const char *method) {
  regal_result *result;
  check(b, regal_options_set(b->context, options, "method", method));
  double began = regal_seconds();
  check(b, regal_optimize(b->context, problem, options, &result));
  int64_t cost = options->objective ? result->cost.max_peak_bytes
                                    : result->cost.runtime_ns;
  report(b, method, cost, regal_seconds() - began, result->evaluations);
  if (!strcmp(method, "auto")) {
    int64_t bound = options->objective ? result->bound.peak_bytes
                                       : result->bound.runtime_ns;
    report(b, "bound", bound, 0, 0);
    printf("%22s %s\n", "", result->account);
  }
  if (result->cost.excess_bytes > 0) {
    printf("%22s beyond the limit\n", "");
    cost = INT64_MAX;
  }
  regal_result_free(result);
  return cost;
}

/* The problem again, with a limit. */
static void set_limit(const bench *b, const regal_graph *graph,
                      regal_options *options, regal_problem **problem) {
  regal_result *result;
  char limit[32];
  check(b, regal_options_set(b->context, options, "method", "lpmf"));
  check(b, regal_optimize(b->context, *problem, options, &result));
  snprintf(limit, sizeof limit, "%lld",
           (long long)result->cost.max_peak_bytes / 4);
  regal_result_free(result);
  regal_problem_free(*problem);
  check(b, regal_options_set(b->context, options, "memory-limit", limit));
  check(b, regal_problem_create(b->context, graph, options, problem));
}

/* 0, or 1 when no better than the best list scheduler. */
static int run_setting(const bench *b) {
  regal_options options;
  regal_graph *graph;
  regal_problem *problem;
  char path[1024];
  regal_options_init(&options);
  options.threads = b->threads;
  for (const char *const *o = b->setting->options; *o; o += 2)
    check(b, regal_options_set(b->context, &options, o[0], o[1]));
  graph_path(b, path, sizeof path);
  double began = regal_seconds();
  check(b, regal_graph_load(b->context, path, &options, &graph));
  report(b, "load", 0, regal_seconds() - began, 0);
  began = regal_seconds();
  check(b, regal_problem_create(b->context, graph, &options, &problem));
  report(b, "bind", 0, regal_seconds() - began, 0);
  if (b->setting->limited)
    set_limit(b, graph, &options, &problem);
  int64_t best = INT64_MAX;
  options.time = auto_seconds(b);
  for (size_t i = 0; i < LISTS; i++) {
    int64_t cost = run_method(b, problem, &options, lists[i]);
    best = cost < best ? cost : best;
  }
  int64_t cost = run_method(b, problem, &options, "auto");
  if (best < INT64_MAX && cost < INT64_MAX)
    printf("%22s gain %.2f%% over the best list scheduler\n", "",
           100 * (1 - (double)cost / (double)best));
  printf("\n");
  fflush(stdout);
  regal_problem_free(problem);
  regal_graph_free(graph);
  return cost >= best;
}

/* In a process of its own: its exit status, or 2 if it had none. */
static int apart(bench *b, int (*run)(const bench *b)) {
  fflush(stdout);
  fflush(b->csv);
  pid_t child = fork();
  if (child < 0)
    return 2;
  if (child == 0) {
    if (regal_context_create(&b->context, NULL) != REGAL_OK)
      _exit(2);
    int code = run(b);
    regal_context_free(b->context);
    fflush(stdout);
    fflush(b->csv);
    _exit(code);
  }
  int status;
  if (waitpid(child, &status, 0) < 0 || !WIFEXITED(status))
    return 2;
  return WEXITSTATUS(status);
}

static int make(const bench *b) {
  write_graph(b);
  return 0;
}

/* Lines of log-log growth: seconds on the left, bytes on the right. */
static void draw(const bench *b, const setting *of) {
  char path[1024], command[1100];
  snprintf(path, sizeof path, "%s/scale.gp", b->folder);
  FILE *file = fopen(path, "w");
  if (!file)
    return;
  fprintf(file,
          "# gnuplot scale.gp, in this folder\n%s"
          "set terminal svg size 780,420 dynamic font 'sans,13' background "
          "'white'\n"
          "set title 'layered graphs, %s: time and memory'\n"
          "set logscale xy\nset logscale y2\n"
          "set xlabel 'ops'\nset ylabel 'seconds'\nset y2label 'memory, MB'\n"
          "set y2tics\nset border 11\nset output 'scale.svg'\n"
          "of(what) = sprintf(\"< grep ',%s,%%s,' scale.csv\", what)\n"
          "plot ",
          regal_figure_style(), of->title, of->name);
  static const char *const drawn[] = {"load", "bind",     "heft",
                                      "lpmf", "xla-list", "dfs"};
  for (size_t i = 0; i < sizeof drawn / sizeof *drawn; i++)
    fprintf(file,
            "of('%s') using 1:5 with linespoints lt %zu title '%s', \\\n  ",
            drawn[i], i + 1, drawn[i]);
  fputs("of('auto') using 1:($6/1e6) axes x1y2 with linespoints lt 7 dt 2 "
        "title 'memory (right)'\n",
        file);
  fclose(file);
  snprintf(command, sizeof command, "cd '%s' && gnuplot scale.gp", b->folder);
  if (system(command))
    fprintf(stderr, "bench_scale: no picture: gnuplot %s\n", path);
}

static bool is_in(const char *names, const char *name) {
  size_t length = strlen(name);
  for (const char *at = names; (at = strstr(at, name)); at += length)
    if ((at == names || at[-1] == ',') &&
        (at[length] == ',' || at[length] == 0))
      return true;
  return false;
}

/* Of those that are asked for; there must be one. */
static const setting *first_setting(const bench *b) {
  for (size_t i = 0; i < SETTINGS; i++)
    if (is_in(b->names, settings[i].name))
      return &settings[i];
  fprintf(stderr, "bench_scale: found no setting in \"%s\"\n", b->names);
  usage();
  return NULL;
}

/* The worst exit status of all. */
static int run_all(bench *b) {
  int worst = 0;
  const char *at = b->sizes;
  while (*at) {
    char *end;
    b->ops = (uint32_t)strtoul(at, &end, 10);
    if (end == at || (*end && *end != ','))
      usage();
    at = *end ? end + 1 : end;
    int code = apart(b, make);
    worst = code > worst ? code : worst;
    for (size_t i = 0; i < SETTINGS && code == 0; i++) {
      b->setting = &settings[i];
      if (!is_in(b->names, b->setting->name))
        continue;
      int one = apart(b, run_setting);
      worst = one > worst ? one : worst;
    }
    char path[1024];
    graph_path(b, path, sizeof path);
    remove(path);
  }
  return worst;
}

int main(int argc, char **argv) {
  bench b = {.sizes = "1000,10000,100000",
             .names = "free,blocking,overlapped,memory",
             .folder = "scale"};
  for (int at = 1; at < argc; at += 2) {
    if (at + 1 == argc)
      usage();
    const char *value = argv[at + 1];
    if (!strcmp(argv[at], "--sizes"))
      b.sizes = value;
    else if (!strcmp(argv[at], "--seconds"))
      b.seconds = atof(value);
    else if (!strcmp(argv[at], "--threads"))
      b.threads = atoi(value);
    else if (!strcmp(argv[at], "--settings"))
      b.names = value;
    else if (!strcmp(argv[at], "--folder"))
      b.folder = value;
    else
      usage();
  }
  const setting *drawn = first_setting(&b);
  char path[1024];
  mkdir(b.folder, 0777);
  snprintf(path, sizeof path, "%s/scale.csv", b.folder);
  b.csv = fopen(path, "w");
  if (!b.csv) {
    perror(path);
    return 2;
  }
  fprintf(b.csv, "ops,setting,what,cost,seconds,rss_bytes,evaluations\n");
  printf("%s\n\n%9s  %-16s %-9s %16s %9s %9s %12s\n", regal_build_id(), "ops",
         "setting", "what", "cost", "seconds", "rss MB", "evaluations");
  int worst = run_all(&b);
  fclose(b.csv);
  draw(&b, drawn);
  return worst;
}
