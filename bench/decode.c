/* SPDX-License-Identifier: Apache-2.0 */
/* bench_decode: microseconds per evaluation of the decoders, against a plain
 * float-key binary-heap decoder of the same semantics, on one thread.
 *
 *   build/bench/bench_decode [ROUNDS]
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/random.h"
#include "dataset/synthetic/synthetic.h"
#include "evolve/proposal.h"
#include "support/reference_decoder.h"
#include "support/timing.h"

#define CHROMOSOMES 64

typedef struct bench {
  regal_problem *problem;
  const regal_decoder *decoder; /* NULL: the reference */
  void *scratch;
  reference_decoder *reference;
  regal_gene *genes; /* [CHROMOSOMES * length] */
  float *floats;
  size_t length;
  int64_t sum; /* keeps the work from being optimised away */
} bench;

static void check(regal_context *context, regal_status status) {
  if (status == REGAL_OK)
    return;
  fprintf(stderr, "bench_decode: %s\n", regal_error(context));
  exit(2);
}

static void run(void *state, int repeats) {
  bench *b = state;
  for (int i = 0; i < repeats; i++) {
    size_t at = (size_t)(i % CHROMOSOMES) * b->length;
    regal_fitness fitness =
        b->decoder
            ? b->decoder->decode(b->problem, b->scratch, b->genes + at, NULL)
            : reference_decode(b->reference, b->floats + at, NULL);
    b->sum += fitness.value;
  }
}

static void fill(bench *b, regal_context *context) {
  b->genes = regal_alloc(context, b->length * CHROMOSOMES, sizeof(regal_gene));
  b->floats = regal_alloc(context, b->length * CHROMOSOMES, sizeof(float));
  if (!b->genes || !b->floats)
    check(context, regal_fail_memory(context));
  for (size_t c = 0; c < CHROMOSOMES; c++)
    regal_sample_uniform(regal_random_key(1, REGAL_PURPOSE_TEST, 0, c), 0,
                         b->genes + c * b->length, b->length);
  for (size_t i = 0; i < b->length * CHROMOSOMES; i++)
    b->floats[i] = (float)b->genes[i] * 0x1p-24f;
}

static void race(regal_context *context, const regal_graph *graph,
                 const char *name, const char *objective, int rounds,
                 double sums[3]) {
  static const char *const decoders[] = {NULL, "paper", "batched"};
  regal_options options;
  regal_options_init(&options);
  check(context, regal_options_set(context, &options, "objective", objective));
  regal_machine *machine;
  regal_problem *problem;
  check(context, regal_machine_from_options(context, &options, &machine));
  check(context,
        regal_problem_bind(context, graph, machine,
                           (enum regal_objective)options.objective, &problem));
  bench benches[3];
  bench_candidate candidates[3];
  for (int i = 0; i < 3; i++) {
    bench *b = &benches[i];
    *b = (bench){.problem = problem};
    b->decoder = decoders[i] ? regal_decoder_find(decoders[i]) : NULL;
    const regal_decoder *shape = b->decoder ? b->decoder : &regal_decoder_paper;
    b->length = regal_decoder_genes(shape, problem);
    if (b->decoder)
      check(context, b->decoder->create_scratch(context, problem, &b->scratch));
    else
      check(context, reference_create(context, problem, &b->reference));
    fill(b, context);
    candidates[i] = (bench_candidate){decoders[i], run, b, 0};
  }
  bench_race(candidates, 3, rounds, 0.004);
  if (benches[0].sum == 42)
    puts("");
  printf("%-22s %-8s %6u %9.2f %9.2f %9.2f %8.2f %8.2f\n", name, objective,
         problem->ops, candidates[0].seconds * 1e6, candidates[1].seconds * 1e6,
         candidates[2].seconds * 1e6,
         candidates[0].seconds / candidates[1].seconds,
         candidates[0].seconds / candidates[2].seconds);
  for (int i = 0; i < 3; i++) {
    sums[i] += candidates[i].seconds;
    regal_release(context, benches[i].genes);
    regal_release(context, benches[i].floats);
    regal_release(context, benches[i].scratch);
    reference_free(benches[i].reference);
  }
  regal_problem_free(problem);
}

/* The paper's four models at its own size; beyond it those of constant degree
 * (the others' edges grow with the square of the ops), and layers. */
static void race_size(regal_context *context, uint32_t ops,
                      const char *objective, int rounds) {
  static const char *const names[] = {"Erdos-Renyi", "Barabasi-Albert",
                                      "Watts-Strogatz", "stochastic block",
                                      "layered"};
  double sums[3] = {0, 0, 0};
  int raced = 0;
  for (int kind = 0; kind <= REGAL_GRAPH_MODELS; kind++) {
    bool dense = kind == REGAL_ERDOS_RENYI || kind == REGAL_STOCHASTIC_BLOCK;
    regal_graph *graph;
    if (dense && ops > 200)
      continue;
    if (kind == REGAL_GRAPH_MODELS)
      check(context,
            regal_layered_graph(context, ops, ops / 20 + 2, 2, 7, &graph));
    else
      check(context, regal_synthetic_graph(context, (regal_graph_model)kind,
                                           ops - 2, 7, &graph));
    race(context, graph, names[kind], objective, rounds, sums);
    regal_graph_free(graph);
    raced++;
  }
  printf("%-22s %-8s %6u %9.2f %9.2f %9.2f %8.2f %8.2f\n\n", "MEAN", objective,
         ops, sums[0] / raced * 1e6, sums[1] / raced * 1e6,
         sums[2] / raced * 1e6, sums[0] / sums[1], sums[0] / sums[2]);
}

int main(int argc, char **argv) {
  int rounds = argc > 1 ? atoi(argv[1]) : 100;
  regal_context *context;
  if (regal_context_create(&context, NULL) != REGAL_OK)
    return 2;
  printf("%s\n", regal_build_id());
  printf("microseconds per evaluation, two devices, zero-cost blocking "
         "transfers, one thread\n\n");
  printf("%-22s %-8s %6s %9s %9s %9s %8s %8s\n", "graph", "cost", "ops", "heap",
         "paper", "batched", "heap/pap", "heap/bat");
  static const uint32_t sizes[] = {125, 1000, 5000};
  for (int i = 0; i < 3; i++)
    race_size(context, sizes[i], "runtime", rounds);
  for (int i = 0; i < 3; i++)
    race_size(context, sizes[i], "memory", rounds);
  regal_context_free(context);
  return 0;
}
