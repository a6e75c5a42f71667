/* SPDX-License-Identifier: Apache-2.0 */
/* bench_load: building, saving and loading graphs of up to a million ops, with
 * the time and the largest memory that each step took: both must be linear.
 *
 *   build/bench/bench_load [LARGEST_OPS]
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/parallel/threads.h"
#include "dataset/synthetic/synthetic.h"

static void check(regal_context *context, regal_status status) {
  if (status == REGAL_OK)
    return;
  fprintf(stderr, "bench_load: %s\n", regal_error(context));
  exit(2);
}

static void load(const char *path, const char *what, uint32_t ops) {
  regal_context *context;
  regal_options options;
  regal_graph *graph;
  regal_options_init(&options);
  if (regal_context_create(&context, NULL) != REGAL_OK)
    exit(2);
  double began = regal_seconds();
  check(context, regal_graph_load(context, path, &options, &graph));
  double took = regal_seconds() - began;
  printf("%9u %-12s %8.3f s %9.2f us/op %9.1f MiB %7.0f bytes/op\n", ops, what,
         took, took * 1e6 / ops, (double)regal_bytes_peak(context) / 1048576,
         (double)regal_bytes_peak(context) / ops);
  regal_graph_free(graph);
  regal_context_free(context);
}

static void bench(uint32_t ops, const char *folder) {
  regal_context *context;
  regal_graph *graph;
  char binary[512], text[512];
  if (regal_context_create(&context, NULL) != REGAL_OK)
    exit(2);
  snprintf(binary, sizeof binary, "%s/graph.pb", folder);
  snprintf(text, sizeof text, "%s/graph.pbtxt", folder);
  double began = regal_seconds();
  check(context, regal_layered_graph(context, ops, 100, 3, 1, &graph));
  double took = regal_seconds() - began;
  printf("%9u %-12s %8.3f s %9.2f us/op %9.1f MiB %7.0f bytes/op\n", ops,
         "build", took, took * 1e6 / ops,
         (double)regal_bytes_peak(context) / 1048576,
         (double)regal_bytes_peak(context) / ops);
  check(context, regal_graph_save(context, graph, binary, REGAL_GRAPH_BINARY));
  check(context, regal_graph_save(context, graph, text, REGAL_GRAPH_TEXT));
  regal_graph_free(graph);
  regal_context_free(context);
  load(binary, "load binary", ops);
  load(text, "load text", ops);
  unlink(binary);
  unlink(text);
}

int main(int argc, char **argv) {
  uint32_t largest = argc > 1 ? (uint32_t)atol(argv[1]) : 1000000;
  char folder[] = "/tmp/regal-bench-XXXXXX";
  if (!mkdtemp(folder))
    return 2;
  printf("%s\n\n", regal_build_id());
  for (uint32_t ops = 10000; ops <= largest; ops *= 10)
    bench(ops, folder);
  rmdir(folder);
  return 0;
}
