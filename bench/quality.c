/* bench_quality: what methods reach on real graphs, machine by machine: the
 * mean gap to the lower bound, in percent, and the mean time. Every plan is
 * verified.
 *
 *   build/bench/bench_quality ARCHIVE LIST [EVALUATIONS [THREADS]]
 *
 * LIST is a file with the names of graphs in the archive; it may be a member of
 * the archive: data/torch.zip:sample.txt. One solve uses one thread; THREADS
 * solves (default: all cores) run side by side. Seed 1.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/threads.h"
#include "formats/archive_catalog.h"

typedef struct setting {
  const char *name, *options; /* "name value name value" */
} setting;

static const setting machines[] = {
    {"run time, blocking, free", ""},
    {"run time, blocking, 10 us + 25 GB/s", "latency 10us bandwidth 25GB"},
    {"run time, blocking, 10 us + 450 GB/s", "latency 10us bandwidth 450GB"},
    {"run time, overlapped, 10 us + 25 GB/s",
     "transfers overlapped latency 10us bandwidth 25GB"},
    {"run time, 4 devices, blocking, free", "devices 4"},
    {"memory", "objective memory"},
    {"memory, 4 devices", "objective memory devices 4"},
};

static const setting methods[] = {
    {"single", "method single"},
    {"heft", "method heft"},
    {"brkga paper", "method brkga decoder paper"},
    {"brkga batched", "method brkga decoder batched"},
    {"brkga clock", "method brkga decoder clock"},
    {"brkga eft", "method brkga decoder eft"},
    {"anneal", "method anneal"},
    {"auto", "method auto"},
};

enum {
  MACHINES = sizeof machines / sizeof *machines,
  METHODS = sizeof methods / sizeof *methods,
  MOST_GRAPHS = 1000
};

typedef struct bench {
  char paths[MOST_GRAPHS][512]; /* ARCHIVE:NAME */
  size_t graphs;
  char evaluations[32];
  double (*gap)[MACHINES][METHODS], (*seconds)[MACHINES][METHODS];
} bench;

static void check(regal_context *context, regal_status status) {
  if (status == REGAL_OK)
    return;
  fprintf(stderr, "bench_quality: %s\n", regal_error(context));
  exit(2);
}

static void set_options(regal_context *context, regal_options *options,
                        const char *text) {
  char copy[256], *rest = copy;
  snprintf(copy, sizeof copy, "%s", text);
  for (char *name; (name = strtok_r(rest, " ", &rest));)
    check(context, regal_options_set(context, options, name,
                                     strtok_r(rest, " ", &rest)));
}

/* Solves graph `item` on all machines with all methods. */
static void solve_graph(void *state, size_t item, int thread) {
  (void)thread;
  bench *b = state;
  for (int m = 0; m < MACHINES; m++)
    for (int k = 0; k < METHODS; k++) {
      regal_context *context;
      regal_options options;
      regal_graph *graph;
      regal_result *result;
      if (regal_context_create(&context, NULL) != REGAL_OK)
        exit(2);
      regal_options_init(&options);
      set_options(context, &options, machines[m].options);
      set_options(context, &options, methods[k].options);
      set_options(context, &options, b->evaluations);
      options.threads = 1;
      check(context,
            regal_graph_load(context, b->paths[item], &options, &graph));
      check(context, regal_solve(context, graph, &options, &result));
      bool memory = options.objective != 0;
      double cost = (double)(memory ? result->cost.max_peak_bytes
                                    : result->cost.runtime_ns);
      double bound = (double)(memory ? result->bound.peak_bytes
                                     : result->bound.runtime_ns);
      b->gap[item][m][k] = bound > 0 ? 100 * (cost / bound - 1) : 0;
      b->seconds[item][m][k] = result->seconds;
      regal_result_free(result);
      regal_graph_free(graph);
      regal_context_free(context);
    }
}

static void read_names(regal_context *context, bench *b, const char *archive,
                       const char *list) {
  regal_text text;
  regal_text_init(&text, context);
  check(context, regal_read_input(context, list, &text));
  char *rest = text.bytes;
  for (char *name;
       b->graphs < MOST_GRAPHS && (name = strtok_r(rest, "\n", &rest));)
    snprintf(b->paths[b->graphs++], sizeof b->paths[0], "%s:%s", archive, name);
  regal_text_free(&text);
}

static void print_table(const bench *b, const char *title,
                        double (*values)[MACHINES][METHODS], int digits) {
  printf("\n%s\n\n|", title);
  for (int k = 0; k < METHODS; k++)
    printf(" | %s", methods[k].name);
  printf(" |\n|---|");
  for (int k = 0; k < METHODS; k++)
    printf("---|");
  printf("\n");
  for (int m = 0; m < MACHINES; m++) {
    printf("| %s |", machines[m].name);
    for (int k = 0; k < METHODS; k++) {
      double sum = 0;
      for (size_t g = 0; g < b->graphs; g++)
        sum += values[g][m][k];
      printf(" %.*f |", digits, sum / (double)b->graphs);
    }
    printf("\n");
  }
}

int main(int argc, char **argv) {
  static bench b;
  regal_context *context;
  regal_pool *pool;
  if (argc < 3) {
    fputs("usage: bench_quality ARCHIVE LIST [EVALUATIONS [THREADS]]\n",
          stderr);
    return 1;
  }
  if (regal_context_create(&context, NULL) != REGAL_OK)
    return 2;
  snprintf(b.evaluations, sizeof b.evaluations, "evaluations %s",
           argc > 3 ? argv[3] : "5000");
  read_names(context, &b, argv[1], argv[2]);
  b.gap = calloc(b.graphs, sizeof *b.gap);
  b.seconds = calloc(b.graphs, sizeof *b.seconds);
  if (!b.gap || !b.seconds)
    return 2;
  check(context,
        regal_pool_create(context, argc > 4 ? atoi(argv[4]) : 0, &pool));
  regal_pool_run(pool, b.graphs, solve_graph, &b);
  printf("%s\n%zu graphs, %s, seed 1, one thread a solve\n", regal_build_id(),
         b.graphs, b.evaluations);
  print_table(&b, "Mean gap to the lower bound, %", b.gap, 2);
  print_table(&b, "Mean time, s", b.seconds, 3);
  regal_pool_free(pool);
  free(b.gap);
  free(b.seconds);
  regal_context_free(context);
  return 0;
}
