/* SPDX-License-Identifier: Apache-2.0 */
/* bench_policy: what a policy costs at the time of use: `regal`, features and
 * network included, against `brkga` at equal evaluations, on one thread. The
 * paper: 1.04 s against 0.89 s, 17%; here at most that, too.
 *
 * The network has the paper's size and fresh weights, with actions drawn: more
 * different Betas than a trained one has, so that this is the worst case.
 * Bounds and early stops are the same for all, and the plan is verified in all.
 *
 *   build/bench/bench_policy [ROUNDS [OPS [EVALUATIONS]]]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dataset/synthetic/synthetic.h"
#include "learn/guide/propose.h"
#include "policy/policy_file.h"
#include "support/timing.h"

#define POLICY_FILE "bench_policy.policy"

static regal_context *context;

static void check(regal_status status) {
  if (status == REGAL_OK)
    return;
  fprintf(stderr, "bench_policy: %s\n", regal_error(context));
  remove(POLICY_FILE);
  exit(2);
}

typedef struct candidate {
  const regal_problem *problem;
  regal_options options;
  int64_t runtime_ns;
} candidate;

static void run(void *state, int repeats) {
  candidate *c = state;
  for (int i = 0; i < repeats; i++) {
    regal_result *result;
    check(regal_optimize(context, c->problem, &c->options, &result));
    c->runtime_ns = result->cost.runtime_ns;
    regal_result_free(result);
  }
}

/* The paper's agent for its synthetic graphs. */
static void save_policy(const regal_problem *problem, uint32_t rounds) {
  const regal_decoder *paper = regal_decoder_find("paper");
  regal_policy_config config = {.kind = REGAL_POLICY_GNN,
                                .update = REGAL_UPDATE_GRU,
                                .mean_aggregation = true,
                                .rounds = rounds,
                                .width = 32};
  regal_policy_provenance provenance = {.command = "bench_policy"};
  regal_network *network;
  regal_config_for(problem, paper, &config);
  check(regal_config_add_head(context, paper, "affinity", 2, 2, 0, &config));
  check(regal_config_add_head(context, paper, "priority", 16, 16, 0, &config));
  check(regal_network_create(context, &config, 1, &network));
  check(regal_policy_save(context, network, &provenance, POLICY_FILE));
  regal_network_free(context, network);
}

static candidate prepare(const regal_problem *problem, int64_t evaluations,
                         const char *method, const char *policy) {
  candidate c = {.problem = problem};
  regal_options_init(&c.options);
  c.options.threads = 1;
  c.options.evaluations = evaluations;
  c.options.actions = 1;
  strcpy(c.options.method, method);
  strcpy(c.options.policy, policy);
  return c;
}

int main(int argc, char **argv) {
  int rounds = argc > 1 ? atoi(argv[1]) : 5;
  uint32_t ops = argc > 2 ? (uint32_t)atoi(argv[2]) : 1000;
  int64_t evaluations = argc > 3 ? atoll(argv[3]) : 5000;
  regal_graph *graph;
  regal_options options;
  regal_problem *problem;
  if (regal_context_create(&context, NULL) != REGAL_OK)
    return 2;
  regal_options_init(&options);
  check(regal_synthetic_graph(context, REGAL_WATTS_STROGATZ, ops, 1, &graph));
  check(regal_problem_create(context, graph, &options, &problem));
  printf("%s\n", regal_build_id());
  printf("%u ops, %lld evaluations, seconds of the fastest of %d runs\n\n",
         problem->ops, (long long)evaluations, rounds);
  printf("%8s %9s %9s %9s %12s %12s\n", "rounds T", "brkga", "regal", "ratio",
         "rule", "ratio");
  static const uint32_t depths[] = {2, 4, 16};
  for (size_t i = 0; i < sizeof depths / sizeof *depths; i++) {
    save_policy(problem, depths[i]);
    candidate c[] = {prepare(problem, evaluations, "brkga", ""),
                     prepare(problem, evaluations, "regal", POLICY_FILE),
                     prepare(problem, evaluations, "regal", "rule")};
    bench_candidate race[3];
    for (int k = 0; k < 3; k++)
      race[k] = (bench_candidate){"", run, &c[k], 0};
    bench_race(race, 3, rounds, 1e-9);
    printf("%8u %9.4f %9.4f %9.3f %12.4f %12.3f\n", depths[i], race[0].seconds,
           race[1].seconds, race[1].seconds / race[0].seconds, race[2].seconds,
           race[2].seconds / race[0].seconds);
  }
  remove(POLICY_FILE);
  regal_problem_free(problem);
  regal_graph_free(graph);
  regal_context_free(context);
  return 0;
}
