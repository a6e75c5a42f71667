/* SPDX-License-Identifier: Apache-2.0 */
/* Readings of the paper's baselines, against BRKGA at 5000 evaluations.
 *
 *   bench_readings [GRAPHS]
 *
 * Local search. The paper says: random placement, topological order; a move
 * takes an op to another device or changes its order. It does not say how moves
 * are chosen, what becomes of the transfers, nor how far an op goes. `local`
 * takes the best of all neighbours, which keep every transfer a step of its
 * own. The four rows of random moves are other readings: transfers follow right
 * behind their producers, or have places of their own, which moves change as
 * well; a step changes places with a neighbour, or goes anywhere that its edges
 * allow; every move is simulated in full. `climb` has random moves and batches
 * transfers.
 *
 * GP + DFS: `gp-dfs` and `partition`, and all ops on one device beside them.
 *
 * Prints the mean improvement over BRKGA in percent of its cost, with its
 * standard error: synthetic graphs, unfiltered, two devices; for run time, and
 * for peak memory where the row is a method.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "cost/model/plan.h"
#include "cost/model/simulate.h"
#include "dataset/synthetic/synthetic.h"

enum { EVALUATIONS = 5000, PATIENCE = 5, GRAPHS = 60 };

typedef struct reading {
  const char *name;
  bool own_places; /* of transfers */
  uint32_t reach;  /* of an order move */
} reading;

static const reading readings[] = {
    {"random moves: transfers behind their producers, neighbours swap", false,
     1},
    {"random moves: transfers behind their producers, any place", false,
     UINT32_MAX},
    {"random moves: transfers have places, neighbours swap", true, 1},
    {"random moves: transfers have places, any place", true, UINT32_MAX},
};
enum { READINGS = sizeof readings / sizeof *readings };

typedef struct solution {
  regal_plan *order; /* what moves change: ops, and sends that have places */
  regal_plan *plan;  /* all steps */
  uint8_t *placement;
} solution;

typedef struct search {
  const regal_problem *problem;
  const reading *reading;
  regal_simulator *simulator;
  regal_random random;
  solution now, next;
  uint32_t *place, *reader; /* [tensors * devices] of a send; of its first
                               reader */
} search;

static void *grab(size_t count, size_t size) {
  void *block = calloc(count, size);
  if (!block)
    abort();
  return block;
}

static uint32_t below(search *s, uint32_t n) {
  return (uint32_t)regal_random_below(&s->random, n);
}

static int64_t cost_of(search *s, const solution *of) {
  regal_cost cost;
  regal_simulate(s->simulator, of->plan, &cost);
  return cost.runtime_ns;
}

/* Where sends stand in the old plan, and the first readers of each copy. */
static void find_places(search *s, const regal_plan *old,
                        const uint8_t *placement) {
  const regal_problem *p = s->problem;
  size_t d = p->devices;
  memset(s->place, 0xff, p->tensors * d * sizeof *s->place);
  memset(s->reader, 0xff, p->tensors * d * sizeof *s->reader);
  for (uint32_t i = old->step_count; i-- > 0;) {
    const regal_step *step = &old->steps[i];
    if (!regal_step_runs(step)) {
      s->place[regal_plan_tensor(p, step) * d + step->to] = i;
      continue;
    }
    for (uint32_t k = p->input_begin[step->op];
         k < p->input_begin[step->op + 1]; k++)
      s->reader[p->input[k] * d + placement[step->op]] = i;
  }
}

static void add(regal_plan *plan, regal_step step) {
  plan->steps[plan->step_count++] = step;
}

/* Needed, and not where it can stay. */
static bool goes_behind(const search *s, size_t at) {
  return s->reader[at] != UINT32_MAX &&
         (!s->reading->own_places || s->place[at] >= s->reader[at]);
}

/* The plan of an order with the placement of `made`; sends stay where they are
 * if they may, the others go behind their producers. */
static void build(search *s, const regal_plan *order, solution *made) {
  const regal_problem *p = s->problem;
  uint32_t d = p->devices;
  find_places(s, order, made->placement);
  made->plan->step_count = 0;
  for (uint32_t i = 0; i < order->step_count; i++) {
    const regal_step *step = &order->steps[i];
    uint32_t here = made->placement[step->op];
    if (!regal_step_runs(step)) {
      uint32_t tensor = regal_plan_tensor(p, step);
      size_t at = (size_t)tensor * d + step->to;
      if (step->to != here && s->reader[at] != UINT32_MAX &&
          !goes_behind(s, at))
        add(made->plan, regal_plan_send(p, tensor, here, step->to));
      continue;
    }
    add(made->plan, (regal_step){step->op, REGAL_RUN, here, here});
    for (uint32_t t = p->output_begin[step->op];
         t < p->output_begin[step->op + 1]; t++)
      for (uint32_t to = 0; to < d; to++)
        if (to != here && goes_behind(s, (size_t)t * d + to))
          add(made->plan, regal_plan_send(p, t, here, to));
  }
}

static bool must_precede(const regal_problem *p, const regal_step *a,
                         const regal_step *b) {
  if (regal_step_runs(a) && !regal_step_runs(b))
    return a->op == b->op;
  if (!regal_step_runs(b))
    return false;
  if (regal_step_runs(a)) {
    for (uint32_t s = p->successor_begin[a->op];
         s < p->successor_begin[a->op + 1]; s++)
      if (p->successor[s] == b->op)
        return true;
    return false;
  }
  uint32_t tensor = regal_plan_tensor(p, a);
  for (uint32_t k = p->input_begin[b->op]; k < p->input_begin[b->op + 1]; k++)
    if (p->input[k] == tensor && b->to == a->to)
      return true;
  return false;
}

static void copy_steps(const regal_plan *from, regal_plan *to) {
  to->step_count = from->step_count;
  memcpy(to->steps, from->steps, from->step_count * sizeof *from->steps);
}

static void move_in_order(search *s, regal_plan *order) {
  const regal_problem *p = s->problem;
  regal_step *steps = order->steps;
  uint32_t i = below(s, order->step_count), low, high;
  uint32_t reach = s->reading->reach;
  for (low = i; low > 0 && i - low < reach; low--)
    if (must_precede(p, &steps[low - 1], &steps[i]))
      break;
  for (high = i; high + 1 < order->step_count && high - i < reach; high++)
    if (must_precede(p, &steps[i], &steps[high + 1]))
      break;
  uint32_t to = low + below(s, high - low + 1);
  regal_step moved = steps[i];
  if (to < i)
    memmove(steps + to + 1, steps + to, (i - to) * sizeof *steps);
  else
    memmove(steps + i, steps + i + 1, (to - i) * sizeof *steps);
  steps[to] = moved;
}

static void finish(search *s, solution *made) {
  build(s, made->order, made);
  if (s->reading->own_places)
    copy_steps(made->plan, made->order);
}

static void move(search *s) {
  uint32_t d = s->problem->devices;
  copy_steps(s->now.order, s->next.order);
  memcpy(s->next.placement, s->now.placement, s->problem->ops);
  if (below(s, 2)) {
    uint8_t *place = &s->next.placement[below(s, s->problem->ops)];
    *place = (uint8_t)((*place + 1 + below(s, d - 1)) % d);
  } else {
    move_in_order(s, s->next.order);
  }
  finish(s, &s->next);
}

static void begin(search *s) {
  s->now.order->step_count = 0;
  for (uint32_t op = 0; op < s->problem->ops; op++) {
    s->now.placement[op] = (uint8_t)below(s, s->problem->devices);
    add(s->now.order, (regal_step){op, REGAL_RUN, 0, 0});
  }
  finish(s, &s->now);
}

static int64_t run(search *s) {
  uint32_t patience = PATIENCE * s->problem->ops, idle = patience;
  int64_t best = INT64_MAX, present = INT64_MAX;
  for (int i = 0; i < EVALUATIONS; i++) {
    if (idle == patience) {
      begin(s);
      present = cost_of(s, &s->now);
      idle = 0;
    } else {
      move(s);
      int64_t cost = cost_of(s, &s->next);
      idle = cost < present ? 0 : idle + 1;
      if (cost < present) {
        solution spare = s->now;
        s->now = s->next;
        s->next = spare;
        present = cost;
      }
    }
    best = present < best ? present : best;
  }
  return best;
}

static void must(regal_context *context, regal_status status) {
  if (status == REGAL_OK)
    return;
  fprintf(stderr, "bench_readings: %s\n", regal_error(context));
  exit(1);
}

static void make_solution(const regal_problem *problem, solution *made) {
  uint32_t most = regal_plan_most_steps(problem);
  made->placement = grab(problem->ops, 1);
  must(problem->context,
       regal_plan_create(problem->context, most, &made->order));
  must(problem->context,
       regal_plan_create(problem->context, most, &made->plan));
}

static void free_solution(solution *made) {
  regal_plan_free(made->order);
  regal_plan_free(made->plan);
  free(made->placement);
}

static int64_t run_reading(const regal_problem *problem,
                           const reading *reading) {
  size_t routes = (size_t)problem->tensors * problem->devices;
  search s = {.problem = problem, .reading = reading};
  s.random = (regal_random){regal_random_key(1, REGAL_PURPOSE_TEST, 0, 0), 0};
  s.place = grab(routes, sizeof *s.place);
  s.reader = grab(routes, sizeof *s.reader);
  make_solution(problem, &s.now);
  make_solution(problem, &s.next);
  must(problem->context,
       regal_simulator_create(problem->context, problem, &s.simulator));
  int64_t best = run(&s);
  regal_simulator_free(s.simulator);
  free_solution(&s.now);
  free_solution(&s.next);
  free(s.place);
  free(s.reader);
  return best;
}

/* -- Methods --------------------------------------------------------------- */

typedef struct row {
  const char *name;
  const char *options[3]; /* name=value */
} row;

static const row rows[] = {
    {"local, transfers late", {"method=local"}},
    {"local, transfers eager", {"method=local", "send=eager"}},
    {"climb", {"method=climb"}},
    {"gp-dfs, transfers late", {"method=gp-dfs"}},
    {"gp-dfs, transfers eager", {"method=gp-dfs", "send=eager"}},
    {"partition", {"method=partition"}},
    {"single", {"method=single"}},
};
enum { ROWS = sizeof rows / sizeof *rows };

static void set(regal_context *context, regal_options *options,
                const char *word) {
  char name[32];
  const char *value = strchr(word, '=');
  snprintf(name, sizeof name, "%.*s", (int)(value - word), word);
  must(context, regal_options_set(context, options, name, value + 1));
}

static double run_method(const regal_problem *problem, const row *row) {
  regal_options options;
  regal_result *result;
  regal_options_init(&options);
  options.threads = 1;
  options.evaluations = EVALUATIONS;
  for (int i = 0; i < 3 && row->options[i]; i++)
    set(problem->context, &options, row->options[i]);
  must(problem->context,
       regal_optimize(problem->context, problem, &options, &result));
  bool memory = problem->objective == REGAL_MEMORY;
  int64_t cost = memory ? result->cost.max_peak_bytes : result->cost.runtime_ns;
  regal_result_free(result);
  return (double)cost;
}

/* -- The table ------------------------------------------------------------- */

typedef struct mean {
  double count, sum, squares;
} mean;

static void observe(mean *of, double value) {
  of->count++;
  of->sum += value;
  of->squares += value * value;
}

static void print_mean(const char *name, const mean *of) {
  double value = of->sum / of->count;
  double spread = of->squares / of->count - value * value;
  printf("%-60s%+7.2f%% +-%.2f\n", name, value,
         sqrt(fmax(spread, 0) / (of->count - 1)));
}

static void measure(regal_context *context, int graphs, bool memory) {
  static const row standard = {"brkga", {"method=brkga"}};
  mean of_readings[READINGS] = {0}, of_rows[ROWS] = {0};
  regal_options options;
  regal_options_init(&options);
  set(context, &options, memory ? "objective=memory" : "objective=runtime");
  for (int g = 0; g < graphs; g++) {
    regal_graph *graph;
    regal_problem *problem;
    must(context, regal_synthetic_graph(
                      context, (regal_graph_model)(g % REGAL_GRAPH_MODELS), 0,
                      (uint64_t)g, &graph));
    must(context, regal_problem_create(context, graph, &options, &problem));
    double brkga = run_method(problem, &standard);
    for (size_t r = 0; r < READINGS && !memory; r++)
      observe(&of_readings[r],
              100 - 100 * (double)run_reading(problem, &readings[r]) / brkga);
    for (size_t r = 0; r < ROWS; r++)
      observe(&of_rows[r], 100 - 100 * run_method(problem, &rows[r]) / brkga);
    regal_problem_free(problem);
    regal_graph_free(graph);
  }
  printf("%s\n", memory ? "\npeak memory" : "run time");
  for (size_t r = 0; r < READINGS && !memory; r++)
    print_mean(readings[r].name, &of_readings[r]);
  for (size_t r = 0; r < ROWS; r++)
    print_mean(rows[r].name, &of_rows[r]);
}

int main(int count, char **arguments) {
  int graphs = count > 1 ? atoi(arguments[1]) : GRAPHS;
  regal_context *context;
  if (graphs < 2) {
    fprintf(stderr, "usage: %s [GRAPHS, at least 2]\n", arguments[0]);
    return 1;
  }
  must(NULL, regal_context_create(&context, NULL));
  printf("%d graphs; %s\n\n", graphs, regal_build_id());
  measure(context, graphs, false);
  measure(context, graphs, true);
  regal_context_free(context);
  return 0;
}
