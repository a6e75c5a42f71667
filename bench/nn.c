/* SPDX-License-Identifier: Apache-2.0 */
/* bench_nn: milliseconds of a policy's forward and backward on one graph, one
 * thread, for each kind (T = 2, GRU, mean, width 32, the paper's heads, 8
 * action samples); and microseconds of our matrix product against a BLAS's.
 *
 *   build/bench/bench_nn [ROUNDS] [LIBRARY]
 *
 * LIBRARY is a shared library with cblas_sgemm, or one whose names begin with
 * scipy_ (libopenblas.so.0, or the one inside NumPy's wheel). Run with
 * OPENBLAS_NUM_THREADS=1. Without it only our own product is timed.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "nn/matrix.h"
#include "policy/network.h"
#include "support/random_encoding.h"
#include "support/timing.h"

#define SAMPLES 8

typedef struct policy_bench {
  regal_context *context;
  regal_network *network;
  regal_network_workspace *work;
  regal_encoding graph;
  const regal_encoding *encoding;
  uint8_t *actions;
  const uint8_t *taken;
  float advantages[SAMPLES], target, *gradient;
  bool baseline;
} policy_bench;

static void must(regal_status status) {
  if (status != REGAL_OK) {
    fputs("bench_nn: failed\n", stderr);
    exit(2);
  }
}

static void run_forward(void *state, int repeats) {
  policy_bench *b = state;
  for (int i = 0; i < repeats; i++)
    must(regal_network_forward(b->context, b->network, b->work, &b->encoding, 1,
                               b->baseline));
}

static void run_sample(void *state, int repeats) {
  policy_bench *b = state;
  for (int i = 0; i < repeats; i++)
    regal_network_sample(b->network, b->work, 0, (uint64_t)i, SAMPLES,
                         b->actions, NULL);
}

static void run_backward(void *state, int repeats) {
  policy_bench *b = state;
  regal_network_terms terms = {.samples = SAMPLES,
                               .actions = &b->taken,
                               .advantages = b->advantages,
                               .entropy_weight = 3e-3f,
                               .baseline_targets =
                                   b->baseline ? &b->target : NULL,
                               .baseline_weight = 1e-4f};
  for (int i = 0; i < repeats; i++)
    regal_network_backward(b->network, b->work, &terms, b->gradient, NULL);
}

static void race_policy(regal_policy_kind kind, const char *name,
                        uint32_t nodes, bool baseline, int rounds) {
  regal_policy_config config = small_policy(kind, 32);
  config.head_count = 2;
  config.heads[0] =
      (regal_policy_head){"affinity", REGAL_HEAD_NODE, 2, 2, 2, 0, false};
  config.heads[1] =
      (regal_policy_head){"priority", REGAL_HEAD_NODE, 1, 16, 16, 0, false};
  policy_bench b = {.baseline = baseline, .target = 1};
  regal_network_sizes sizes = {0};
  b.graph = random_encoding(1, nodes, 6);
  b.encoding = &b.graph;
  regal_network_add_sizes(&sizes, &b.graph);
  must(regal_context_create(&b.context, NULL));
  must(regal_network_create(b.context, &config, 1, &b.network));
  must(regal_network_workspace_create(b.context, b.network, &sizes, &b.work));
  b.taken = b.actions =
      calloc(SAMPLES, regal_policy_actions(&config, &b.graph));
  b.gradient = calloc(b.network->parameter_count, sizeof *b.gradient);
  for (int i = 0; i < SAMPLES; i++)
    b.advantages[i] = (float)(i - 3);
  bench_candidate c[] = {{"", run_forward, &b, 0},
                         {"", run_sample, &b, 0},
                         {"", run_backward, &b, 0}};
  bench_race(c, 3, rounds, 0.02);
  printf("%-16s %5u %5u %6zu %8.3f %8.3f %8.3f\n", name, nodes, b.graph.edges,
         baseline ? b.network->parameter_count : b.network->policy_count,
         1e3 * c[0].seconds, 1e3 * c[1].seconds, 1e3 * c[2].seconds);
  regal_network_workspace_free(b.context, b.work);
  regal_network_free(b.context, b.network);
  regal_context_free(b.context);
  free_encoding(&b.graph);
  free(b.actions);
  free(b.gradient);
}

/* cblas_sgemm's arguments: 101 is row-major, 111 as is, 112 transposed. Sizes
 * are int or long; where the calling convention passes both in eight bytes, as
 * on x86-64, long serves both. */
typedef void gemm_fn(int, int, int, long, long, long, float, const float *,
                     long, const float *, long, float, float *, long);

typedef struct product_bench {
  size_t m, n, k;
  bool transposed; /* a, as for the gradient of weights */
  float *a, *b, *c;
  gemm_fn *gemm;
} product_bench;

static void run_ours(void *state, int repeats) {
  product_bench *x = state;
  for (int i = 0; i < repeats; i++)
    regal_multiply(&(regal_product){.m = x->m,
                                    .n = x->n,
                                    .k = x->k,
                                    .a = x->a,
                                    .a_row = x->transposed ? 1 : x->k,
                                    .a_column = x->transposed ? x->m : 1,
                                    .b = x->b,
                                    .b_row = x->n,
                                    .c = x->c,
                                    .c_row = x->n});
}

static void run_blas(void *state, int repeats) {
  product_bench *x = state;
  for (int i = 0; i < repeats; i++)
    x->gemm(101, x->transposed ? 112 : 111, 111, (long)x->m, (long)x->n,
            (long)x->k, 1, x->a, (long)(x->transposed ? x->m : x->k), x->b,
            (long)x->n, 0, x->c, (long)x->n);
}

static void race_product(size_t m, size_t n, size_t k, bool transposed,
                         gemm_fn *gemm, int rounds) {
  regal_random random = {3, 0};
  product_bench x = {m,
                     n,
                     k,
                     transposed,
                     random_features(&random, m * k),
                     random_features(&random, k * n),
                     random_features(&random, m * n),
                     gemm};
  bench_candidate c[] = {{"", run_ours, &x, 0}, {"", run_blas, &x, 0}};
  bench_race(c, gemm ? 2 : 1, rounds, 0.005);
  printf("%5zu x %3zu x %4zu %s %8.2f (%5.1f G/s)", m, n, k,
         transposed ? "a^T" : "   ", 1e6 * c[0].seconds,
         1e-9 * (double)(m * n * k) / c[0].seconds);
  if (gemm)
    printf(" %8.2f  %.2f", 1e6 * c[1].seconds, c[1].seconds / c[0].seconds);
  putchar('\n');
  free(x.a);
  free(x.b);
  free(x.c);
}

static gemm_fn *find_gemm(const char *library) {
  void *handle = library ? dlopen(library, RTLD_NOW) : NULL;
  void *found = handle ? dlsym(handle, "cblas_sgemm") : NULL;
  if (handle && !found)
    found = dlsym(handle, "scipy_cblas_sgemm64_");
  if (library && !found)
    fprintf(stderr, "bench_nn: no cblas_sgemm in '%s'\n", library);
  return (gemm_fn *)found;
}

int main(int argc, char **argv) {
  static const struct {
    regal_policy_kind kind;
    const char *name;
  } kinds[] = {{REGAL_POLICY_GNN, "gnn"},
               {REGAL_POLICY_GAS, "gas"},
               {REGAL_POLICY_AUTOREGRESSIVE, "autoregressive"},
               {REGAL_POLICY_EXPERTS, "experts"},
               {REGAL_POLICY_BLIND, "blind"}};
  int rounds = argc > 1 ? atoi(argv[1]) : 5;
  gemm_fn *gemm = find_gemm(argc > 2 ? argv[2] : NULL);
  printf("ms               nodes edges params  forward 8 samples backward\n");
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    race_policy(kinds[i].kind, kinds[i].name, 125, false, rounds);
  race_policy(REGAL_POLICY_GNN, "gnn + baseline", 125, true, rounds);
  race_policy(REGAL_POLICY_GNN, "gnn", 1000, false, rounds);
  printf("us   m     n      k         ours              BLAS  BLAS / ours\n");
  race_product(125, 32, 11, false, gemm, rounds);
  race_product(125, 32, 32, false, gemm, rounds);
  race_product(125, 64, 32, false, gemm, rounds);
  race_product(125, 96, 32, false, gemm, rounds);
  race_product(400, 32, 32, false, gemm, rounds);
  race_product(400, 64, 32, false, gemm, rounds);
  race_product(1000, 96, 32, false, gemm, rounds);
  race_product(32, 32, 125, true, gemm, rounds);
  race_product(32, 96, 125, true, gemm, rounds);
  race_product(32, 64, 400, true, gemm, rounds);
  race_product(1, 128, 32, false, gemm, rounds);
  return 0;
}
