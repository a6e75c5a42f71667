/* SPDX-License-Identifier: Apache-2.0 */
/* bench_threads: evaluations per second of BRKGA on a 1000-op graph with one
 * and with more threads, taking turns in one run. Wall time: needs a quiet
 * machine.
 *
 *   build/bench/bench_threads [THREADS [ROUNDS]]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/parallel/threads.h"
#include "dataset/synthetic/synthetic.h"

static void check(regal_context *context, regal_status status) {
  if (status == REGAL_OK)
    return;
  fprintf(stderr, "bench_threads: %s\n", regal_error(context));
  exit(2);
}

/* Evaluations per second of one run. */
static double measure(regal_context *context, const regal_graph *graph,
                      const char *decoder, int threads) {
  regal_options options;
  regal_result *result;
  regal_options_init(&options);
  options.threads = threads;
  options.evaluations = 10000;
  strcpy(options.method, "brkga");
  strcpy(options.decoder, decoder);
  double began = regal_seconds();
  check(context, regal_solve(context, graph, &options, &result));
  double rate = (double)result->evaluations / (regal_seconds() - began);
  regal_result_free(result);
  return rate;
}

int main(int argc, char **argv) {
  static const char *const decoders[] = {"paper", "batched"};
  int threads = argc > 1 ? atoi(argv[1]) : 2;
  int rounds = argc > 2 ? atoi(argv[2]) : 7;
  regal_context *context;
  regal_graph *graph;
  if (threads < 1 || rounds < 1 ||
      regal_context_create(&context, NULL) != REGAL_OK)
    return 2;
  check(context,
        regal_synthetic_graph(context, REGAL_WATTS_STROGATZ, 998, 7, &graph));
  printf("%s\n", regal_build_id());
  printf("evaluations per second, 1000 ops, best of %d turns each\n\n", rounds);
  printf("%-8s %12s %9d threads %9s\n", "decoder", "1 thread", threads,
         "ratio");
  for (int i = 0; i < 2; i++) {
    double one = 0, more = 0;
    for (int round = 0; round < rounds; round++) {
      double rate = measure(context, graph, decoders[i], 1);
      one = rate > one ? rate : one;
      rate = measure(context, graph, decoders[i], threads);
      more = rate > more ? rate : more;
    }
    printf("%-8s %12.0f %17.0f %9.2f\n", decoders[i], one, more, more / one);
  }
  regal_graph_free(graph);
  regal_context_free(context);
  return 0;
}
