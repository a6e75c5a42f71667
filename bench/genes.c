/* SPDX-License-Identifier: Apache-2.0 */
/* bench_genes: nanoseconds per gene of drawing and mixing chromosomes, on one
 * thread. Beta draws: as the paper's policy makes them (two affinities from 4
 * distributions, a priority from 256, two transfer genes uniform), with one of
 * 4 for every gene, and, the worst case for the cache, with one of 256.
 *
 *   build/bench/bench_genes [ROUNDS]
 */
#include <stdio.h>
#include <stdlib.h>

#include "evolve/proposal.h"
#include "support/timing.h"

typedef struct draw {
  size_t genes, uniform;    /* of which the last ones are drawn uniformly */
  const uint32_t *table_of; /* for the others */
  const regal_gene *tables;
  const regal_gene *elite, *other; /* set: crossover instead */
  regal_gene *made;
} draw;

static void run(void *state, int repeats) {
  draw *d = state;
  size_t tabled = d->genes - d->uniform;
  for (int i = 0; i < repeats; i++) {
    uint64_t key = regal_random_key(1, REGAL_PURPOSE_TEST, 0, (uint64_t)i);
    if (d->elite) {
      regal_crossover(key, 45875, d->elite, d->other, d->made, d->genes);
      continue;
    }
    if (tabled)
      regal_sample_tables(key, 0, d->tables, d->table_of, d->made, tabled);
    if (d->uniform)
      regal_sample_uniform(key, tabled, d->made + tabled, d->uniform);
  }
}

/* The paper's dequantisation with k = 16: shape number i of 256. */
static void fill_table(int i, regal_gene *table) {
  double mean = (i % 16 + 1) / 17.0, share = (i / 16 + 1) / 17.0;
  double b = (1 - mean) * (1 / share - 1), a = b * mean / (1 - mean);
  regal_beta_table(a, b, table);
}

static void *allocate(size_t count, size_t size) {
  void *block = calloc(count, size);
  if (!block) {
    fputs("bench_genes: out of memory\n", stderr);
    exit(2);
  }
  return block;
}

static void race(size_t ops, const regal_gene *tables, int rounds) {
  size_t genes = 5 * ops;
  regal_gene *parents = allocate(2 * genes, sizeof *parents);
  regal_gene *made = allocate(genes, sizeof *made);
  uint32_t *few = allocate(genes, sizeof *few);
  uint32_t *many = allocate(genes, sizeof *many);
  uint32_t *policy = allocate(genes, sizeof *policy);
  regal_sample_uniform(7, 0, parents, 2 * genes);
  for (size_t i = 0; i < genes; i++) {
    few[i] = (uint32_t)(regal_random_at(8, i) % 4 * REGAL_BETA_QUANTILES);
    many[i] = (uint32_t)(regal_random_at(9, i) % 256 * REGAL_BETA_QUANTILES);
    policy[i] = i < 2 * ops ? few[i] : many[i];
  }
  draw base = {.genes = genes, .tables = tables, .made = made};
  draw draws[5] = {base, base, base, base, base};
  draws[0].uniform = genes;
  draws[1].uniform = 2 * ops;
  draws[1].table_of = policy;
  draws[2].table_of = few;
  draws[3].table_of = many;
  draws[4].elite = parents;
  draws[4].other = parents + genes;
  bench_candidate c[5];
  for (int i = 0; i < 5; i++)
    c[i] = (bench_candidate){"", run, &draws[i], 0};
  bench_race(c, 5, rounds, 0.004);
  printf("%6zu", ops);
  for (int i = 0; i < 5; i++)
    printf(" %9.3f", c[i].seconds * 1e9 / (double)genes);
  for (int i = 1; i < 4; i++)
    printf(" %9.2f", c[i].seconds / c[0].seconds);
  printf("\n");
  free(parents);
  free(made);
  free(few);
  free(many);
  free(policy);
}

int main(int argc, char **argv) {
  int rounds = argc > 1 ? atoi(argv[1]) : 100;
  regal_gene *tables = allocate(256 * REGAL_BETA_QUANTILES, sizeof *tables);
  double began = bench_seconds();
  for (int i = 0; i < 256; i++)
    fill_table(i, tables + (size_t)i * REGAL_BETA_QUANTILES);
  double took = (bench_seconds() - began) / 256;
  printf("%s\n", regal_build_id());
  printf(
      "nanoseconds per gene, five genes an op; a Beta table takes %.0f us\n\n",
      took * 1e6);
  printf("%6s %9s %9s %9s %9s %9s %9s %9s %9s\n", "ops", "uniform", "policy",
         "4 Betas", "256 Betas", "crossover", "pol/unif", "4/unif", "256/unif");
  static const size_t sizes[] = {125, 1000, 5000};
  for (int i = 0; i < 3; i++)
    race(sizes[i], tables, rounds);
  free(tables);
  return 0;
}
