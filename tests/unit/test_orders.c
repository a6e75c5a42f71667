/* SPDX-License-Identifier: Apache-2.0 */
/* The list schedulers: exact orders and plans on small examples, and what holds
 * for all of them on random graphs and machines. */
#include "heuristic/heuristics.h"
#include "heuristic/list/orders.h"

#include <math.h>
#include <string.h>

#include "base/tournament.h"
#include "support/quick_failures.h"

/* -- Exact orders ---------------------------------------------------------- */

static void check_order(regal_context *context, const toy_op *ops, size_t count,
                        regal_order_fn make, const char *expected) {
  regal_graph *graph = toy_graph(context, ops, count);
  regal_problem *problem =
      toy_problem(context, graph, toy_machine(context, 1), REGAL_MEMORY);
  uint32_t order[26];
  char found[27] = "";
  assert_int_equal(make(context, problem, order), REGAL_OK);
  for (size_t i = 0; i < count; i++)
    found[i] = *regal_graph_name(graph, order[i]);
  assert_string_equal(found, expected);
  regal_problem_free(problem);
  regal_graph_free(graph);
}
#define ORDER(context, ops, make, expected)                                    \
  check_order((context), (ops), sizeof(ops) / sizeof *(ops), (make), (expected))

static void test_dfs(void **state) {
  /* Bytes touched: a 9, b 5, c 9+1, d 5+2, e 3+1+2, f 4: f, b, e, d, a, c. */
  const toy_op ops[] = {{.bytes = 9},
                        {.bytes = 5},
                        {.bytes = 1, .reads = "a"},
                        {.bytes = 2, .reads = "b"},
                        {.bytes = 3, .reads = "cd"},
                        {.bytes = 4}};
  ORDER(*state, ops, regal_order_dfs, "fbdace");
}

static void test_dfs_visits_equal_predecessors_by_index(void **state) {
  const toy_op ops[] = {{.bytes = 6},
                        {.bytes = 6},
                        {.bytes = 5},
                        {.bytes = 0, .reads = "abc", .waits = ""}};
  ORDER(*state, ops, regal_order_dfs, "cabd");
  const toy_op waits[] = {{.bytes = 6}, {.bytes = 3}, {.waits = "ab"}};
  ORDER(*state, waits, regal_order_dfs, "bac");
}

static void test_bfs(void **state) {
  const toy_op ops[] = {{.bytes = 1},
                        {.bytes = 1},
                        {.bytes = 1, .reads = "b"},
                        {.bytes = 1, .reads = "ab"},
                        {.bytes = 1, .reads = "a"},
                        {.bytes = 1, .reads = "e"},
                        {.bytes = 1, .reads = "a", .waits = "c"}};
  /* After a 0, b 1: c (1), d (0 1), e (0): e first, then d, then c (1); then
   * g (0 4) goes before f (2). */
  ORDER(*state, ops, regal_order_bfs, "abedcgf");
}

static void test_lpmf(void **state) {
  /* a raises the peak to 10. Then b (7, keeps 7) and c (2, keeps 2) both need
   * more; c raises it least. d frees a's bytes below the peak of 12. */
  const toy_op ops[] = {{.bytes = 10},
                        {.bytes = 7, .waits = "a"},
                        {.bytes = 2, .waits = "a"},
                        {.bytes = 1, .reads = "ac"},
                        {.bytes = 0, .reads = "bd"}};
  ORDER(*state, ops, regal_order_lpmf, "acdbe");
}

static void test_lpmf_prefers_what_fits(void **state) {
  /* Under a's peak of 20, once b has freed it: d (12) leaves 0 bytes more, c
   * (4) leaves 4 more, e (15) leaves 15; f (0) needs temporary memory. */
  const toy_op ops[] = {{.bytes = 20},
                        {.bytes = 0, .reads = "a"},
                        {.bytes = 4, .waits = "b", .is_final = true},
                        {.bytes = 12, .waits = "b"},
                        {.bytes = 15, .waits = "b", .is_final = true},
                        {.bytes = 0, .waits = "b", .temporary = 21}};
  ORDER(*state, ops, regal_order_lpmf, "abdcef");
}

static void test_xla_list(void **state) {
  /* Sources: c frees nothing and takes least; of a and b (equal) a has more
   * users. d and e then free more than b. */
  const toy_op ops[] = {{.bytes = 8},
                        {.bytes = 8},
                        {.bytes = 2},
                        {.bytes = 1, .reads = "a"},
                        {.bytes = 1, .reads = "a"},
                        {.bytes = 1, .reads = "bc"}};
  ORDER(*state, ops, regal_order_xla_list, "caedbf");
}

static void test_xla_list_takes_the_latest_of_equals(void **state) {
  const toy_op ops[] = {{.bytes = 1, .is_final = true},
                        {.bytes = 1, .is_final = true},
                        {.bytes = 1, .waits = "b", .is_final = true},
                        {.bytes = 1, .waits = "b", .is_final = true},
                        {.bytes = 1, .waits = "a", .is_final = true}};
  /* b has most users; c and d are ready later than a, d has the last index,
   * but a has a user and they have none. */
  ORDER(*state, ops, regal_order_xla_list, "baedc");
}

static void test_xla_dfs(void **state) {
  /* Of what d reads c has a second user, then b is the largest. */
  const toy_op ops[] = {{.bytes = 5},
                        {.bytes = 100},
                        {.bytes = 1},
                        {.bytes = 1, .reads = "abc"},
                        {.bytes = 1, .reads = "c"}};
  ORDER(*state, ops, regal_order_xla_dfs, "cbade");
  /* b inherits the second user of a, and goes before the large d. */
  const toy_op inherits[] = {{.bytes = 1},
                             {.bytes = 1, .reads = "a"},
                             {.bytes = 1, .reads = "a"},
                             {.bytes = 1000},
                             {.bytes = 1, .reads = "bd"}};
  ORDER(*state, inherits, regal_order_xla_dfs, "acbde");
  /* And the bytes of a. */
  const toy_op bytes[] = {{.bytes = 9},
                          {.bytes = 5},
                          {.bytes = 1, .reads = "a"},
                          {.bytes = 1, .reads = "bc"}};
  ORDER(*state, bytes, regal_order_xla_dfs, "acbd");
}

/* Diamonds in a row: the number of paths doubles with each. */
static void test_xla_dfs_with_many_paths(void **state) {
  enum { DIAMONDS = 100, OPS = 3 * DIAMONDS + 1 };
  regal_builder *builder;
  regal_graph *graph;
  uint32_t op, order[OPS];
  assert_int_equal(regal_builder_create(*state, &builder), REGAL_OK);
  for (uint32_t i = 0; i < OPS; i++) {
    assert_int_equal(regal_builder_add_op(builder, "", 1, 0, 0, &op), REGAL_OK);
    assert_int_equal(
        regal_builder_add_output(builder, op, INT64_MAX / OPS / 2, false),
        REGAL_OK);
    uint32_t top = (i - 1) / 3 * 3;
    for (uint32_t k = 1; i > 0 && k <= (i % 3 == 0 ? 2 : 1); k++)
      assert_int_equal(
          regal_builder_add_input(builder, op, i % 3 ? top : top + k, 0),
          REGAL_OK);
  }
  assert_int_equal(regal_builder_finish(builder, &graph), REGAL_OK);
  regal_problem *problem =
      toy_problem(*state, graph, toy_machine(*state, 1), REGAL_MEMORY);
  assert_int_equal(regal_order_xla_dfs(*state, problem, order), REGAL_OK);
  for (uint32_t i = 0; i < OPS; i++)
    assert_int_equal(order[i], i);
  regal_problem_free(problem);
  regal_graph_free(graph);
}

/* -- Methods --------------------------------------------------------------- */

/* "a0 b0 a>1 c1": op and device, or op's output and receiver. */
static void describe_plan(const regal_search *search, char *text) {
  const regal_plan *plan = search->best;
  *text = 0;
  for (uint32_t i = 0; i < plan->step_count; i++) {
    const regal_step *step = &plan->steps[i];
    const char *name = regal_graph_name(search->problem->graph, step->op);
    text += sprintf(text, "%s%s%s%u", i ? " " : "", name,
                    step->port == REGAL_RUN ? ""
                    : step->port < 0        ? ":"
                                            : ">",
                    step->to);
  }
}

/* Runs a method on a machine, which it takes over. */
static void check_method(regal_context *context, const regal_graph *graph,
                         regal_machine *machine, regal_method_fn method,
                         int64_t runtime_ns, const char *plan,
                         const char *account) {
  regal_problem *problem = toy_problem(context, graph, machine, REGAL_RUNTIME);
  regal_options options;
  regal_search search;
  char found[400];
  regal_options_init(&options);
  assert_int_equal(quick_begin(&search, context, problem, &options), REGAL_OK);
  assert_int_equal(method(&search), REGAL_OK);
  describe_plan(&search, found);
  assert_string_equal(found, plan);
  assert_string_equal(search.account, account);
  assert_int_equal(search.best_fitness.value, runtime_ns);
  quick_end(&search);
  regal_problem_free(problem);
}

static const toy_op fork_join[] = {
    {.run_ns = 4, .bytes = 100},
    {.run_ns = 5, .bytes = 100, .reads = "a"},
    {.run_ns = 6, .bytes = 100, .reads = "a"},
    {.run_ns = 3, .bytes = 100, .reads = "bc"},
};

static void test_single_takes_the_fastest_device(void **state) {
  regal_graph *graph = TOY_GRAPH(*state, fork_join);
  regal_machine *machine = toy_machine(*state, 3);
  machine->speed[1] = 2;
  check_method(*state, graph, machine, regal_method_single, 10, "a1 b1 c1 d1",
               "the file's order, everything on device 1");
  regal_graph_free(graph);
}

static void test_single_takes_the_larger_device(void **state) {
  regal_graph *graph = TOY_GRAPH(*state, fork_join);
  regal_machine *machine = toy_machine(*state, 3);
  machine->memory_limit[0] = 10;
  machine->memory_limit[1] = 20;
  machine->memory_limit[2] = 20;
  check_method(*state, graph, machine, regal_method_dfs, 18, "a1 b1 c1 d1",
               "depth-first order, everything on device 1");
  regal_graph_free(graph);
}

static void test_single_sends_what_cannot_stay(void **state) {
  const int64_t never = REGAL_NEVER;
  const int64_t times[] = {never, 4, 4,     /* a */
                           5,     5, never, /* b, with c */
                           6,     7, 5,     /* c */
                           2,     3, never};
  regal_graph *graph = TOY_GRAPH(*state, fork_join);
  regal_machine *machine = toy_machine(*state, 3);
  toy_times(machine, graph, times);
  check_method(*state, graph, machine, regal_method_bfs, 4 + 5 + 7 + 3,
               "a1 b1 c1 d1", "breadth-first order, everything on device 1");
  machine = toy_machine(*state, 3);
  toy_times(machine, graph, times);
  machine->timed_ns[1 * 3 + 1] = never; /* b and so c: device 0 only */
  toy_groups(machine, graph, "-bb-");
  check_method(*state, graph, machine, regal_method_lpmf, 4 + 5 + 6 + 2,
               "a1 a>0 b0 c0 d0",
               "least-peak-memory-first order, on 2 devices because of where "
               "ops can run");
  regal_graph_free(graph);
}

#define HEFT_ACCOUNT(passes)                                                   \
  "best of " passes " list schedules by critical path, each op where it ends " \
  "first"
#define HEFT_ONCE "list schedule by critical path, each op where it ends first"

static void test_heft_shares_the_work(void **state) {
  regal_graph *graph = TOY_GRAPH(*state, fork_join);
  check_method(*state, graph, toy_machine(*state, 2), regal_method_heft, 13,
               "a0 a>1 c1 b0 c>0 d0", HEFT_ONCE);
  check_method(*state, graph, toy_machine(*state, 1), regal_method_heft, 18,
               "a0 c0 b0 d0", HEFT_ONCE);
  regal_graph_free(graph);
}

static void test_heft_counts_transfers(void **state) {
  regal_graph *graph = TOY_GRAPH(*state, fork_join);
  regal_machine *machine = toy_machine(*state, 2);
  machine->latency_ns[0][1] = machine->latency_ns[1][0] = 3;
  /* One device: 18. Blocking, two transfers: 4 + 3, then 6 beside 5, then 3
   * for the way back, then 3. */
  check_method(*state, graph, machine, regal_method_heft, 18, "a0 c0 b0 d0",
               HEFT_ACCOUNT("24"));
  machine = toy_machine(*state, 2);
  machine->latency_ns[0][1] = machine->latency_ns[1][0] = 2;
  machine->overlapped = true;
  /* c runs from 4 to 10 and arrives at 12; b runs from 6 to 11. */
  check_method(*state, graph, machine, regal_method_heft, 12 + 3,
               "a0 c0 a>1 b1 c>1 d1", HEFT_ONCE); /* meets the bound */
  /* With 5 the same is just worth it, if c, which was tried on device 1 before
   * b, has left no trace on the link. */
  machine = toy_machine(*state, 2);
  machine->latency_ns[0][1] = machine->latency_ns[1][0] = 5;
  machine->overlapped = true;
  check_method(*state, graph, machine, regal_method_heft, 15 + 3,
               "a0 c0 a>1 b1 c>1 d1", HEFT_ONCE);
  regal_graph_free(graph);
}

static void test_heft_keeps_groups_and_waits(void **state) {
  const toy_op ops[] = {{.run_ns = 4, .bytes = 1},
                        {.run_ns = 5, .bytes = 1, .waits = "a"},
                        {.run_ns = 6, .bytes = 1, .waits = "a"},
                        {.run_ns = 3, .bytes = 1, .reads = "b"}};
  regal_graph *graph = TOY_GRAPH(*state, ops);
  regal_machine *machine = toy_machine(*state, 2);
  toy_groups(machine, graph, "-bb-");
  /* d ranks below c, so b's output leaves when c has ended. */
  check_method(*state, graph, machine, regal_method_heft, 4 + 5 + 6 + 3,
               "a0 b1 c1 b>0 d0", HEFT_ACCOUNT("8"));
  machine = toy_machine(*state, 2);
  machine->control_transfers = true;
  check_method(*state, graph, machine, regal_method_heft, 4 + 5 + 3,
               "a0 a:1 b1 c0 d1", HEFT_ONCE);
  regal_graph_free(graph);
}

/* -- What holds always ----------------------------------------------------- */

static const regal_order_fn all_orders[] = {
    regal_order_dfs,      regal_order_bfs,     regal_order_lpmf,
    regal_order_xla_list, regal_order_xla_dfs, regal_order_tree};
static const regal_method_fn all_methods[] = {
    regal_method_single, regal_method_dfs,      regal_method_bfs,
    regal_method_lpmf,   regal_method_xla_list, regal_method_xla_dfs,
    regal_method_heft,   regal_method_tree};
enum { ORDERS = 6, METHODS = 8 };

static void assert_topological(const regal_problem *problem,
                               const uint32_t *order, uint32_t *position) {
  for (uint32_t op = 0; op < problem->ops; op++)
    position[op] = REGAL_NONE;
  for (uint32_t i = 0; i < problem->ops; i++) {
    assert_true(order[i] < problem->ops);
    assert_int_equal(position[order[i]], REGAL_NONE);
    position[order[i]] = i;
  }
  for (uint32_t op = 0; op < problem->ops; op++)
    for (uint32_t s = problem->successor_begin[op];
         s < problem->successor_begin[op + 1]; s++)
      assert_true(position[op] < position[problem->successor[s]]);
}

static void test_orders_are_topological(void **state) {
  regal_context *context = *state;
  uint32_t order[200], position[200];
  for (uint64_t seed = 1; seed <= 400; seed++) {
    regal_graph *graph;
    regal_machine *machine;
    regal_test_random_graph(context, seed, 200, &graph);
    regal_test_random_machine(context, seed, graph, &machine);
    regal_problem *problem = toy_problem(context, graph, machine, REGAL_MEMORY);
    for (int i = 0; i < ORDERS; i++) {
      assert_int_equal(all_orders[i](context, problem, order), REGAL_OK);
      assert_topological(problem, order, position);
    }
    regal_problem_free(problem);
    regal_graph_free(graph);
  }
}

/* The next op of LPMF or XLA's list, by looking at all of them. */
typedef struct slow_list {
  const regal_problem *problem;
  uint8_t done[60];
  uint32_t ready_at[60];
  int64_t in_use, peak;
} slow_list;

static bool is_ready(const slow_list *list, uint32_t op) {
  for (uint32_t before = 0; before < list->problem->ops; before++)
    for (uint32_t s = list->problem->successor_begin[before];
         s < list->problem->successor_begin[before + 1]; s++)
      if (list->problem->successor[s] == op && !list->done[before])
        return false;
  return !list->done[op];
}

static int64_t slow_output(const slow_list *list, uint32_t op) {
  int64_t bytes = 0;
  for (uint32_t t = list->problem->output_begin[op];
       t < list->problem->output_begin[op + 1]; t++)
    bytes += list->problem->bytes[t];
  return bytes;
}

/* Whether nobody but op still reads the tensor. */
static bool dies_at(const slow_list *list, uint32_t tensor, uint32_t op) {
  bool dies = !list->problem->is_final[tensor];
  for (uint32_t u = list->problem->use_begin[tensor];
       u < list->problem->use_begin[tensor + 1]; u++)
    dies = dies && (list->problem->consumer[u] == op ||
                    list->done[list->problem->consumer[u]]);
  return dies;
}

static int64_t slow_net(const slow_list *list, uint32_t op) {
  const regal_problem *problem = list->problem;
  int64_t net = slow_output(list, op);
  for (uint32_t i = problem->input_begin[op]; i < problem->input_begin[op + 1];
       i++)
    if (dies_at(list, problem->input[i], op))
      net -= problem->bytes[problem->input[i]];
  for (uint32_t t = problem->output_begin[op];
       t < problem->output_begin[op + 1]; t++)
    if (dies_at(list, t, op))
      net -= problem->bytes[t];
  return net;
}

static bool lpmf_before(const slow_list *list, uint32_t a, uint32_t b) {
  const int64_t *temporary = list->problem->graph->temporary_bytes;
  int64_t room = list->peak - list->in_use;
  int64_t size_a = slow_output(list, a) + temporary[a];
  int64_t size_b = slow_output(list, b) + temporary[b];
  size_a = size_a > room ? size_a : 0;
  size_b = size_b > room ? size_b : 0;
  if (size_a != size_b)
    return size_a < size_b;
  return slow_net(list, a) < slow_net(list, b);
}

static bool xla_before(const slow_list *list, uint32_t a, uint32_t b) {
  const uint32_t *begin = list->problem->successor_begin;
  if (slow_net(list, a) != slow_net(list, b))
    return slow_net(list, a) < slow_net(list, b);
  if (begin[a + 1] - begin[a] != begin[b + 1] - begin[b])
    return begin[a + 1] - begin[a] > begin[b + 1] - begin[b];
  return list->ready_at[a] >= list->ready_at[b]; /* b < a */
}

static uint32_t slow_next(slow_list *list, uint32_t step, bool xla) {
  uint32_t best = REGAL_NONE;
  for (uint32_t op = 0; op < list->problem->ops; op++) {
    if (!is_ready(list, op))
      continue;
    if (list->ready_at[op] == REGAL_NONE)
      list->ready_at[op] = step;
    if (best == REGAL_NONE ||
        (xla ? xla_before(list, op, best) : lpmf_before(list, op, best)))
      best = op;
  }
  int64_t during = list->in_use + slow_output(list, best) +
                   list->problem->graph->temporary_bytes[best];
  list->peak = during > list->peak ? during : list->peak;
  list->in_use += slow_net(list, best);
  list->done[best] = 1;
  return best;
}

static void test_greedy_lists_by_definition(void **state) {
  regal_context *context = *state;
  for (uint64_t seed = 1; seed <= 150; seed++) {
    regal_graph *graph;
    regal_machine *machine;
    regal_test_random_graph(context, seed, 60, &graph);
    regal_test_random_machine(context, seed, graph, &machine);
    regal_problem *problem = toy_problem(context, graph, machine, REGAL_MEMORY);
    for (int xla = 0; xla <= 1; xla++) {
      uint32_t order[60];
      slow_list list = {.problem = problem};
      memset(list.ready_at, 0xff, sizeof list.ready_at);
      assert_int_equal(all_orders[xla ? 3 : 2](context, problem, order),
                       REGAL_OK);
      for (uint32_t step = 0; step < problem->ops; step++)
        assert_int_equal(order[step], slow_next(&list, step, xla));
    }
    regal_problem_free(problem);
    regal_graph_free(graph);
  }
}

/* The plan passes the verifier, costs what the fast code says, and not less
 * than the bound, if it fits. */
static void check_best(regal_search *search, const regal_graph *graph) {
  const regal_problem *problem = search->problem;
  regal_cost fast, slow;
  assert_int_equal(regal_verify_plan(search->context, graph, problem->machine,
                                     search->best, &slow, NULL),
                   REGAL_OK);
  regal_simulate(search->simulator, search->best, &fast);
  assert_int_equal(fast.runtime_ns, slow.runtime_ns);
  assert_true(slow.excess_bytes || slow.runtime_ns >= search->bound.runtime_ns);
  assert_true(slow.max_peak_bytes >= search->bound.peak_bytes);
  regal_fitness fitness = regal_fitness_of(problem, &slow);
  assert_int_equal(fitness.excess, search->best_fitness.excess);
  assert_int_equal(fitness.value, search->best_fitness.value);
  assert_int_equal(fitness.tie, search->best_fitness.tie);
  assert_true(search->account[0] != 0);
}

static void test_plans_pass_the_verifier(void **state) {
  regal_context *context = *state;
  regal_options options;
  regal_options_init(&options);
  for (uint64_t seed = 1; seed <= 1200; seed++) {
    regal_graph *graph;
    regal_machine *machine;
    regal_test_random_graph(context, seed, 40, &graph);
    regal_test_random_machine(context, seed, graph, &machine);
    regal_problem *problem = toy_problem(
        context, graph, machine, seed % 2 ? REGAL_RUNTIME : REGAL_MEMORY);
    for (int i = 0; i < METHODS; i++) {
      regal_search search;
      assert_int_equal(quick_begin(&search, context, problem, &options),
                       REGAL_OK);
      assert_int_equal(all_methods[i](&search), REGAL_OK);
      check_best(&search, graph);
      quick_end(&search);
    }
    regal_problem_free(problem);
    regal_graph_free(graph);
  }
}

/* -- The tournament -------------------------------------------------------- */

static bool smaller_key(const void *state, uint32_t a, uint32_t b) {
  const int *key = state;
  return key[a] < key[b];
}

static void test_tournament(void **state) {
  const int key[] = {5, 3, 4, 3, 9};
  regal_tournament game;
  regal_carver carver = {NULL, 0};
  assert_int_equal(
      REGAL_CARVE_BLOCK((regal_context *)*state, carver,
                        regal_tournament_layout(&game, &carver, 5)),
      REGAL_OK);
  regal_tournament_begin(&game, smaller_key, key);
  assert_int_equal(regal_tournament_lowest(&game), REGAL_NONE);
  assert_int_equal(regal_tournament_best(&game, 0, 5), REGAL_NONE);
  for (uint32_t i = 0; i < 5; i++)
    regal_tournament_set(&game, i, i);
  assert_int_equal(regal_tournament_best(&game, 0, 5), 1); /* not 3 */
  assert_int_equal(regal_tournament_best(&game, 2, 5), 3);
  assert_int_equal(regal_tournament_best(&game, 2, 3), 2);
  assert_int_equal(regal_tournament_best(&game, 2, 2), REGAL_NONE);
  regal_tournament_set(&game, 0, REGAL_NONE);
  regal_tournament_set(&game, 1, REGAL_NONE);
  assert_int_equal(regal_tournament_lowest(&game), 2);
  assert_int_equal(regal_tournament_best(&game, 0, 3), 2);
  regal_release(*state, carver.base);
}

/* -- What is not made ------------------------------------------------------ */

/* The allocations of a method after `first`, on two equal ops and two devices.
 */
static size_t count_allocations(enum regal_objective objective,
                                regal_method_fn first, regal_method_fn method) {
  const toy_op ops[] = {{.run_ns = 5, .bytes = 1}, {.run_ns = 5, .bytes = 1}};
  failing_allocator memory = {.fail_at = 0};
  regal_allocator allocator = failing_allocator_of(&memory);
  regal_context *context;
  regal_search search;
  assert_int_equal(regal_context_create(&context, &allocator), REGAL_OK);
  regal_graph *graph = TOY_GRAPH(context, ops);
  regal_problem *problem =
      toy_problem(context, graph, toy_machine(context, 2), objective);
  regal_search_open(&search, context, problem, NULL, 1, 10);
  assert_int_equal(first(&search), REGAL_OK);
  int64_t best = search.best_fitness.value;
  size_t before = memory.allocations;
  assert_int_equal(method(&search), REGAL_OK);
  assert_int_equal(search.best_fitness.value, best);
  assert_non_null(strstr(search.account, "everything on device 0"));
  regal_search_close(&search);
  regal_problem_free(problem);
  regal_graph_free(graph);
  regal_context_free(context);
  return memory.allocations - before;
}

/* Both ops on one device take 10, HEFT's plan takes 5: that is known before
 * there is an order. */
static void test_no_order_is_made_in_vain(void **state) {
  (void)state;
  assert_int_equal(
      count_allocations(REGAL_RUNTIME, regal_heft, regal_method_lpmf), 1);
  assert_true(count_allocations(REGAL_RUNTIME, regal_method_single,
                                regal_method_lpmf) > 1);
  assert_true(count_allocations(REGAL_MEMORY, regal_heft, regal_method_lpmf) >
              1);
}

/* -- Failures -------------------------------------------------------------- */

/* Fails the n-th allocation of a method; false when it has fewer. */
static void test_memory_runs_out(void **state) {
  (void)state;
  const quick_case on = {2, 7, REGAL_RUNTIME};
  for (int i = 0; i < METHODS; i++)
    assert_true(quick_failures(all_methods[i], on) > 5);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TOY_TEST(test_dfs),
      TOY_TEST(test_dfs_visits_equal_predecessors_by_index),
      TOY_TEST(test_bfs),
      TOY_TEST(test_lpmf),
      TOY_TEST(test_lpmf_prefers_what_fits),
      TOY_TEST(test_xla_list),
      TOY_TEST(test_xla_list_takes_the_latest_of_equals),
      TOY_TEST(test_xla_dfs),
      TOY_TEST(test_xla_dfs_with_many_paths),
      TOY_TEST(test_single_takes_the_fastest_device),
      TOY_TEST(test_single_takes_the_larger_device),
      TOY_TEST(test_single_sends_what_cannot_stay),
      TOY_TEST(test_heft_shares_the_work),
      TOY_TEST(test_heft_counts_transfers),
      TOY_TEST(test_heft_keeps_groups_and_waits),
      TOY_TEST(test_orders_are_topological),
      TOY_TEST(test_greedy_lists_by_definition),
      TOY_TEST(test_plans_pass_the_verifier),
      TOY_TEST(test_tournament),
      cmocka_unit_test(test_no_order_is_made_in_vain),
      cmocka_unit_test(test_memory_runs_out),
  };
  return cmocka_run_group_tests_name("orders", tests, NULL, NULL);
}
