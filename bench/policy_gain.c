/* SPDX-License-Identifier: Apache-2.0 */
/* bench_policy_gain: what policies are worth, at equal evaluations.
 *
 *   bench_policy_gain DATASET POLICIES [NAME=VALUE...]
 *
 * POLICIES  with commas: policy files, `rule`, `rule-depth`, shipped names,
 *           `oracle` (it has seen a very good plan: support/oracle.h), `none`
 * NAME      an option of regal (objective=memory, devices=4, threads=2), or
 *
 *   split=test          which graphs of the dataset
 *   graphs=200          how many of them, from all over the split
 *   seeds=3             runs of each, with seeds 1, 2, ...
 *   evaluations=5000    budget, those of the features included
 *   budgets=1000,50000  standard BRKGA at these budgets too
 *   decoders=eft,clock  and BRKGA on these decoders, without a policy
 *   ties=index          only this way to break ties (index, random)
 *   acts=greedy         only this way to act (greedy, sample)
 *   best=FILE           best known costs, a CSV of name,cost: also prints how
 *                       much of BRKGA's gap to them is closed
 *   each=FILE           writes a line of CSV for each graph
 *
 * Prints one line of CSV for each policy, way to act (greedy, sample) and way
 * that ties are broken (index, as always; random: the low bits of all quantiles
 * that genes are drawn from are random): the improvement over standard BRKGA in
 * percent, its standard error over the graphs, the share of graphs that
 * improve, and the time of a run relative to BRKGA's. A graph's cost is its
 * mean over the seeds.
 */
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "learn/episode.h"
#include "learn/guide/policies.h"
#include "regal_data.h"
#include "support/oracle.h"

enum { MOST_BUDGETS = 16, MOST_POLICIES = 32, MOST_SEEDS = 100 };

typedef struct graph_case {
  const char *name;
  regal_graph *graph;
  regal_problem *problem;
  double best;           /* known, or NaN */
  double standard, cost; /* means over seeds */
} graph_case;

typedef struct bench {
  regal_context *context;
  regal_options options;
  regal_workers *workers;
  regal_auto_settings settings;
  regal_dataset *dataset;
  graph_case *cases;
  size_t count;
  char split[32];
  size_t graphs, seeds;
  uint64_t evaluations, budgets[MOST_BUDGETS];
  size_t budget_count;
  const char *best_file, *each_file, *ties, *acts;
  char *decoders;
  FILE *each;
  /* the variant that runs */
  const char *policy;  /* NULL: BRKGA */
  const char *decoder; /* of BRKGA; NULL: the standard one */
  bool greedy, random_ties;
  uint64_t budget;
  double *costs, *seconds; /* [cases][seeds] */
  double standard_seconds;
} bench;

static void check(const bench *b, regal_status status) {
  if (status == REGAL_OK)
    return;
  fprintf(stderr, "bench_policy_gain: %s\n", regal_error(b->context));
  exit(1);
}

static void fail(const char *what, const char *value) {
  fprintf(stderr, "bench_policy_gain: %s: %s\n", what, value);
  exit(1);
}

/* -- Arguments ------------------------------------------------------------- */

static void read_budgets(bench *b, const char *text) {
  for (char *end; *text; text = *end ? end + 1 : end) {
    assert(b->budget_count < MOST_BUDGETS);
    b->budgets[b->budget_count++] = strtoull(text, &end, 10);
    if (end == text)
      fail("budgets", text);
  }
}

static void read_argument(bench *b, char *argument) {
  char *value = strchr(argument, '=');
  if (!value)
    fail("found no NAME=VALUE", argument);
  *value++ = 0;
  if (!strcmp(argument, "split"))
    snprintf(b->split, sizeof b->split, "%s", value);
  else if (!strcmp(argument, "graphs"))
    b->graphs = strtoull(value, NULL, 10);
  else if (!strcmp(argument, "seeds"))
    b->seeds = strtoull(value, NULL, 10);
  else if (!strcmp(argument, "evaluations"))
    b->evaluations = strtoull(value, NULL, 10);
  else if (!strcmp(argument, "budgets"))
    read_budgets(b, value);
  else if (!strcmp(argument, "decoders"))
    b->decoders = value;
  else if (!strcmp(argument, "best"))
    b->best_file = value;
  else if (!strcmp(argument, "ties"))
    b->ties = value;
  else if (!strcmp(argument, "acts"))
    b->acts = value;
  else if (!strcmp(argument, "each"))
    b->each_file = value;
  else
    check(b, regal_options_set(b->context, &b->options, argument, value));
}

/* -- Graphs ---------------------------------------------------------------- */

static size_t count_split(const bench *b) {
  size_t count = 0;
  for (size_t i = 0; i < regal_dataset_count(b->dataset); i++)
    count += !strcmp(regal_dataset_entry(b->dataset, i)->split, b->split);
  return count;
}

static void load_case(bench *b, size_t index) {
  graph_case *c = &b->cases[b->count++];
  c->name = regal_dataset_entry(b->dataset, index)->name;
  c->best = NAN;
  check(b, regal_dataset_load(b->dataset, index, 0, &b->options, &c->graph));
  check(b,
        regal_problem_create(b->context, c->graph, &b->options, &c->problem));
}

static void load_cases(bench *b) {
  size_t all = count_split(b), place = 0;
  size_t most = b->graphs < all ? b->graphs : all;
  b->cases = calloc(most + 1, sizeof *b->cases);
  for (size_t i = 0; i < regal_dataset_count(b->dataset); i++) {
    if (strcmp(regal_dataset_entry(b->dataset, i)->split, b->split) != 0)
      continue;
    if (b->count < most && place == b->count * all / most)
      load_case(b, i);
    place++;
  }
  if (!b->count)
    fail("found no graph of the split", b->split);
}

static void read_best(bench *b) {
  char line[2048];
  FILE *file = b->best_file ? fopen(b->best_file, "r") : NULL;
  if (b->best_file && !file)
    fail("cannot read", b->best_file);
  while (file && fgets(line, sizeof line, file)) {
    char *comma = strrchr(line, ',');
    if (!comma)
      continue;
    *comma = 0;
    for (size_t i = 0; i < b->count; i++)
      if (!strcmp(b->cases[i].name, line))
        b->cases[i].best = strtod(comma + 1, NULL);
  }
  if (file)
    fclose(file);
}

/* -- Runs ------------------------------------------------------------------ */

/* Enough bits for a few hundred genes to differ, too few to change anything
 * else. */
#define TIE_BITS ((regal_gene)0xfff)

/* Genes that would tie get a random order. */
static void break_ties(regal_proposal *proposal, uint64_t seed) {
  uint64_t key = regal_random_key(seed, REGAL_PURPOSE_TEST, 0, 0);
  size_t count = proposal->shape_count * REGAL_BETA_QUANTILES;
  for (size_t i = 0; i < count; i++)
    proposal->tables[i] = (proposal->tables[i] & ~TIE_BITS) |
                          ((regal_gene)regal_random_at(key, i) & TIE_BITS);
}

static regal_status run_episode(const bench *b, const regal_worker *worker,
                                const regal_decoder *decoder,
                                const regal_problem *problem,
                                const regal_proposal *proposal, uint64_t seed,
                                uint64_t evaluations, double *cost) {
  regal_brkga_settings settings = b->settings.brkga;
  settings.decoder = decoder;
  regal_episode episode = {.problem = problem,
                           .settings = &settings,
                           .proposal = proposal,
                           .seed = seed << 1,
                           .evaluations = evaluations,
                           .best_of = 1};
  return regal_episode_run(worker, &episode, cost);
}

/* One graph, one seed, one thread; as `regal optimize` runs it. */
static regal_status run_guided(const bench *b, const regal_worker *worker,
                               regal_guide *guide, const regal_problem *problem,
                               uint64_t seed, double *cost) {
  regal_guidance guidance = {.seen_fitness = REGAL_FITNESS_WORST};
  regal_search search;
  regal_search_open(&search, worker->context, problem, worker->single, seed,
                    b->budget);
  search.options = &b->options;
  regal_status status = guide->proposer.propose(guide->proposer.state, &search,
                                                b->greedy, &guidance);
  regal_search_close(&search);
  REGAL_TRY(status);
  if (b->random_ties)
    break_ties(guidance.proposal, seed);
  status = run_episode(b, worker, regal_decoder_find(guide->config.decoder),
                       problem, guidance.proposal, seed,
                       b->budget - guidance.evaluations, cost);
  if (guidance.seen && regal_episode_cost(guidance.seen_fitness) < *cost)
    *cost = regal_episode_cost(guidance.seen_fitness);
  regal_proposal_free(guidance.proposal);
  regal_plan_free(guidance.seen);
  return status;
}

static regal_status run_oracle(const bench *b, const bench_oracle *oracle,
                               const regal_worker *worker,
                               const regal_decoder *decoder,
                               const regal_problem *problem, uint64_t seed,
                               double *cost) {
  regal_proposal *proposal = NULL;
  regal_status status = bench_oracle_propose(oracle, worker, &b->settings,
                                             problem, decoder, seed, &proposal);
  if (status == REGAL_OK) {
    if (b->random_ties)
      break_ties(proposal, seed);
    status = run_episode(b, worker, decoder, problem, proposal, seed, b->budget,
                         cost);
  }
  regal_proposal_free(proposal);
  return status;
}

static regal_status run_item(void *state, size_t item,
                             const regal_worker *worker) {
  bench *b = state;
  const graph_case *c = &b->cases[item / b->seeds];
  uint64_t seed = item % b->seeds + 1;
  const regal_decoder *decoder =
      regal_decoder_find(b->decoder              ? b->decoder
                         : b->options.decoder[0] ? b->options.decoder
                                                 : "paper");
  double began = regal_seconds();
  regal_status status;
  bench_oracle oracle;
  if (!b->policy) {
    status = run_episode(b, worker, decoder, c->problem, NULL, seed, b->budget,
                         &b->costs[item]);
  } else if (bench_oracle_read(b->policy, &oracle)) {
    status = run_oracle(b, &oracle, worker, decoder, c->problem, seed,
                        &b->costs[item]);
  } else {
    regal_guide *guide;
    REGAL_TRY(regal_policies_open(worker->context, &b->options, c->problem, "",
                                  &guide));
    began = regal_seconds(); /* reading a file is not the policy's work */
    status = run_guided(b, worker, guide, c->problem, seed, &b->costs[item]);
    regal_guide_free(guide);
  }
  b->seconds[item] = regal_seconds() - began;
  return status;
}

/* -- Figures --------------------------------------------------------------- */

typedef struct figures {
  double mean, error, improved, closed, closed_error, seconds;
} figures;

static void take_means(bench *b, bool standard) {
  for (size_t i = 0; i < b->count; i++) {
    double sum = 0;
    for (size_t s = 0; s < b->seeds; s++)
      sum += b->costs[i * b->seeds + s];
    b->cases[i].cost = sum / (double)b->seeds;
    if (standard)
      b->cases[i].standard = b->cases[i].cost;
  }
}

static double gain_of(const graph_case *c) {
  return c->standard > 0 ? 100 * (1 - c->cost / c->standard) : 0;
}

/* Of the gap between standard BRKGA and the best known plan, over all graphs
 * that have one; the error is that of a ratio of two means. */
static void take_share_closed(const bench *b, figures *f) {
  double before = 0, after = 0, square = 0, n = 0;
  for (size_t i = 0; i < b->count; i++) {
    const graph_case *c = &b->cases[i];
    if (!(c->best > 0))
      continue;
    before += c->standard / c->best - 1;
    after += c->cost / c->best - 1;
    n++;
  }
  double left = before > 0 ? after / before : NAN;
  for (size_t i = 0; i < b->count; i++) {
    const graph_case *c = &b->cases[i];
    if (!(c->best > 0))
      continue;
    double off = c->cost / c->best - 1 - left * (c->standard / c->best - 1);
    square += off * off;
  }
  f->closed = 100 * (1 - left);
  f->closed_error = n > 1 ? 100 * sqrt(square * n / (n - 1)) / before : NAN;
}

static figures summarise(const bench *b) {
  figures f = {0};
  double square = 0, n = (double)b->count;
  take_share_closed(b, &f);
  for (size_t i = 0; i < b->count; i++) {
    f.mean += gain_of(&b->cases[i]) / n;
    f.improved += 100 * (gain_of(&b->cases[i]) > 0) / n;
  }
  for (size_t i = 0; i < b->count; i++) {
    double off = gain_of(&b->cases[i]) - f.mean;
    square += off * off;
  }
  f.error = n > 1 ? sqrt(square / (n - 1) / n) : NAN;
  for (size_t i = 0; i < b->count * b->seeds; i++)
    f.seconds += b->seconds[i];
  return f;
}

static void print_each(bench *b, const char *name) {
  for (size_t i = 0; b->each && i < b->count; i++)
    fprintf(b->each, "%s,%s,%s,%llu,%s,%.0f,%.0f,%.4f\n", name,
            b->greedy ? "greedy" : "sample",
            b->random_ties ? "random" : "index", (unsigned long long)b->budget,
            b->cases[i].name, b->cases[i].standard, b->cases[i].cost,
            gain_of(&b->cases[i]));
}

static void run_variant(bench *b, const char *policy, bool greedy,
                        bool random_ties, uint64_t budget, bool standard) {
  const char *name = policy ? policy : b->decoder ? b->decoder : "brkga";
  b->policy = policy;
  snprintf(b->options.policy, sizeof b->options.policy, "%s",
           policy ? policy : "");
  b->greedy = greedy;
  b->random_ties = random_ties;
  b->budget = budget;
  check(b, regal_workers_run(b->workers, b->count * b->seeds, run_item, b));
  take_means(b, standard);
  figures f = summarise(b);
  if (standard)
    b->standard_seconds = f.seconds;
  printf("%s,%s,%s,%llu,%zu,%zu,%.3f,%.3f,%.1f,%.3f", name,
         policy ? greedy ? "greedy" : "sample" : "",
         policy ? random_ties ? "random" : "index" : "",
         (unsigned long long)budget, b->count, b->seeds, f.mean, f.error,
         f.improved, f.seconds / b->standard_seconds);
  if (b->best_file)
    printf(",%.1f,%.1f", f.closed, f.closed_error);
  putchar('\n');
  fflush(stdout);
  print_each(b, name);
}

static bool is_wanted(const char *asked, const char *way) {
  return !asked || !strcmp(asked, way);
}

/* A rule has nothing to sample, nor has the oracle. */
static void run_policy(bench *b, const char *name) {
  bench_oracle oracle;
  bool rule = !strncmp(name, "rule", 4) || bench_oracle_read(name, &oracle);
  for (int random_ties = 0; random_ties < 2; random_ties++)
    for (int greedy = 1; greedy >= 0; greedy--)
      if (is_wanted(b->ties, random_ties ? "random" : "index") &&
          (rule ? greedy : is_wanted(b->acts, greedy ? "greedy" : "sample")))
        run_variant(b, name, greedy, random_ties, b->evaluations, false);
}

static void run_decoders(bench *b) {
  for (char *name = b->decoders ? strtok(b->decoders, ",") : NULL; name;
       name = strtok(NULL, ",")) {
    if (!regal_decoder_find(name))
      fail("no such decoder", name);
    b->decoder = name;
    run_variant(b, NULL, true, false, b->evaluations, false);
  }
  b->decoder = NULL;
}

static void run_policies(bench *b, char *policies) {
  for (char *name = strtok(policies, ","); name; name = strtok(NULL, ","))
    if (strcmp(name, "none") != 0)
      run_policy(b, name);
}

static void tear_down(bench *b) {
  for (size_t i = 0; i < b->count; i++) {
    regal_problem_free(b->cases[i].problem);
    regal_graph_free(b->cases[i].graph);
  }
  if (b->each)
    fclose(b->each);
  free(b->cases);
  free(b->costs);
  free(b->seconds);
  regal_workers_free(b->workers);
  regal_dataset_free(b->dataset);
  regal_context_free(b->context);
}

int main(int argc, char **argv) {
  static bench b = {
      .split = "test", .graphs = 200, .seeds = 3, .evaluations = 5000};
  if (argc < 3)
    fail("usage", "bench_policy_gain DATASET POLICIES [NAME=VALUE...]");
  if (regal_context_create(&b.context, NULL) != REGAL_OK)
    return 1;
  regal_options_init(&b.options);
  for (int i = 3; i < argc; i++)
    read_argument(&b, argv[i]);
  check(&b, regal_dataset_open(b.context, argv[1], &b.dataset));
  load_cases(&b);
  read_best(&b);
  b.settings = regal_auto_settings_of(&b.options);
  b.settings.brkga.restart = 0;
  check(&b,
        regal_workers_create(b.context, (int)b.options.threads, &b.workers));
  b.costs = calloc(b.count * b.seeds, sizeof *b.costs);
  b.seconds = calloc(b.count * b.seeds, sizeof *b.seconds);
  if (b.each_file && !(b.each = fopen(b.each_file, "w")))
    fail("cannot write", b.each_file);
  if (b.each)
    fputs("policy,actions,ties,evaluations,graph,brkga,cost,gain\n", b.each);
  printf("policy,actions,ties,evaluations,graphs,seeds,improvement,error,"
         "improved,time%s\n",
         b.best_file ? ",closed,closed_error" : "");
  run_variant(&b, NULL, true, false, b.evaluations, true);
  for (size_t i = 0; i < b.budget_count; i++)
    run_variant(&b, NULL, true, false, b.budgets[i], false);
  run_decoders(&b);
  run_policies(&b, argv[2]);
  tear_down(&b);
  return 0;
}
