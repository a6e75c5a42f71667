/* SPDX-License-Identifier: Apache-2.0 */
/* The run time bound where ops cannot run everywhere: transfers that pins and
 * groups force, and what a device or a link must do one at a time. Exact values
 * on small examples; and all bounds against all plans of tiny graphs with pins,
 * groups, parameters and memory limits. */
#include <stdio.h>
#include <string.h>

#include "cost/bound/bound.h"
#include "support/brute_force.h"
#include "support/toy_graph.h"

#define NO REGAL_NEVER

/* A byte takes a nanosecond. */
static regal_machine *slow_machine(regal_context *context, uint32_t devices,
                                   int64_t latency_ns, bool overlapped) {
  regal_machine *machine =
      toy_linked_machine(context, devices, latency_ns, 1000000000);
  machine->overlapped = overlapped;
  return machine;
}

static int64_t bound_on(regal_context *context, const regal_graph *graph,
                        regal_machine *machine) {
  regal_problem *problem = toy_problem(context, graph, machine, REGAL_RUNTIME);
  int64_t bound, quick;
  assert_int_equal(regal_bound_runtime(context, problem, &bound), REGAL_OK);
  assert_int_equal(regal_bound_runtime_quick(context, problem, &quick),
                   REGAL_OK);
  assert_true(quick <= bound);
  regal_problem_free(problem);
  return bound;
}

static int64_t pinned_bound(regal_context *context, const toy_op *ops,
                            size_t count, uint32_t devices,
                            const int64_t *times, bool overlapped) {
  regal_graph *graph = toy_graph(context, ops, count);
  regal_machine *machine = slow_machine(context, devices, 3, overlapped);
  toy_times(machine, graph, times);
  int64_t bound = bound_on(context, graph, machine);
  regal_graph_free(graph);
  return bound;
}
#define PINNED(context, ops, devices, times, overlapped)                       \
  pinned_bound((context), (ops), sizeof(ops) / sizeof *(ops), (devices),       \
               (times), (overlapped))

static void test_pinned_ends_force_a_transfer(void **state) {
  const toy_op ops[] = {{.run_ns = 5, .bytes = 20},
                        {.run_ns = 7, .bytes = 8, .reads = "a"},
                        {.run_ns = 2, .bytes = 30, .reads = "b"},
                        {.run_ns = 9, .reads = "c"}};
  /* b and c may be anywhere: the smallest of the three tensors crosses */
  const int64_t apart[] = {5, NO, 7, 7, 2, 2, NO, 9};
  assert_int_equal(PINNED(*state, ops, 2, apart, false), 23 + 3 + 8);
  assert_int_equal(PINNED(*state, ops, 2, apart, true), 23 + 3 + 8);
  /* there and back again */
  const int64_t away[] = {5, NO, 7, 7, NO, 2, 9, NO};
  assert_int_equal(PINNED(*state, ops, 2, away, true), 23 + 3 + 8 + 3 + 30);
}

static void test_a_faster_device_is_far(void **state) {
  const toy_op ops[] = {{.run_ns = 5, .bytes = 20},
                        {.run_ns = 50, .bytes = 20, .reads = "a"},
                        {.run_ns = 5, .reads = "b"}};
  const int64_t fast[] = {5, NO, 50, 10, 5, NO};
  assert_int_equal(PINNED(*state, ops, 2, fast, true), 5 + 50 + 5);
  const int64_t faster[] = {5, NO, 70, 10, 5, NO};
  assert_int_equal(PINNED(*state, ops, 2, faster, true), 5 + 23 + 10 + 23 + 5);
}

static void test_groups_cannot_be_left(void **state) {
  /* b is in the group of a, c is elsewhere */
  const toy_op ops[] = {{.run_ns = 5, .bytes = 1},
                        {.run_ns = 5, .bytes = 40, .reads = "a"},
                        {.run_ns = 5, .reads = "b"}};
  const int64_t times[] = {5, NO, 5, 5, NO, 5};
  regal_graph *graph = TOY_GRAPH(*state, ops);
  regal_machine *machine = slow_machine(*state, 2, 3, true);
  toy_times(machine, graph, times);
  toy_groups(machine, graph, "aa-");
  assert_int_equal(bound_on(*state, graph, machine), 15 + 43);
  regal_graph_free(graph);
}

static void test_a_device_is_busy_with_its_transfers(void **state) {
  const toy_op ops[] = {
      {.run_ns = 4, .bytes = 10},  {.run_ns = 4, .bytes = 10},
      {.run_ns = 4, .bytes = 10},  {.run_ns = 1, .reads = "a"},
      {.run_ns = 1, .reads = "b"}, {.run_ns = 1, .reads = "c"}};
  const int64_t times[] = {4, NO, 4, NO, 4, NO, NO, 1, NO, 1, NO, 1};
  /* blocking: device 0 does all but the last reader */
  assert_int_equal(PINNED(*state, ops, 2, times, false), 12 + 39 + 1);
  /* overlapped: the link does */
  assert_int_equal(PINNED(*state, ops, 2, times, true), 4 + 39 + 1);
}

static void test_a_tensor_goes_to_each_device_once(void **state) {
  const toy_op ops[] = {{.run_ns = 4, .bytes = 10},
                        {.run_ns = 1, .reads = "a"},
                        {.run_ns = 2, .reads = "a"},
                        {.run_ns = 3, .reads = "a"}};
  const int64_t times[] = {4, NO, NO, NO, 1, NO, NO, 2, NO, NO, NO, 3};
  assert_int_equal(PINNED(*state, ops, 3, times, false), 4 + 13 + 13 + 3);
  assert_int_equal(PINNED(*state, ops, 3, times, true), 4 + 13 + 3);
}

static void test_links_of_pinned_ops(void **state) {
  const toy_op ops[] = {{.run_ns = 5, .bytes = 10},
                        {.run_ns = 5, .reads = "a"}};
  const int64_t times[] = {5, NO, NO, NO, NO, 5};
  regal_graph *graph = TOY_GRAPH(*state, ops);
  regal_machine *machine = slow_machine(*state, 3, 3, true);
  toy_times(machine, graph, times);
  machine->latency_ns[0][2] = 70; /* others are faster, and of no use */
  assert_int_equal(bound_on(*state, graph, machine), 5 + 80 + 5);
  regal_graph_free(graph);
}

/* A pipeline of p stages and m microbatches: forward, backward and weight
 * gradients, each stage on its own device. */
static void test_pipeline(void **state) {
  enum { STAGES = 3, BATCHES = 6, OPS = 3 * STAGES * BATCHES };
  const int64_t forward = 30, backward = 29, weight = 20, send = 5;
  regal_builder *builder;
  regal_graph *graph;
  int64_t times[OPS * STAGES];
  uint32_t id = 0;
  regal_builder_create(*state, &builder);
  for (uint32_t i = 0; i < OPS * STAGES; i++)
    times[i] = NO;
  for (uint32_t batch = 0; batch < BATCHES; batch++)
    for (uint32_t k = 0; k < 3 * STAGES; k++) {
      uint32_t stage = k < STAGES ? k : STAGES - 1 - (k - STAGES) / 2;
      bool is_weight = k >= STAGES && (k - STAGES) % 2;
      int64_t ns = k < STAGES ? forward : is_weight ? weight : backward;
      char name[24];
      snprintf(name, sizeof name, "%u.%u", batch, k);
      assert_int_equal(regal_builder_add_op(builder, name, ns, 0, 0, &id),
                       REGAL_OK);
      regal_builder_add_output(builder, id, 0, false);
      if (k > 0) /* a weight gradient has no readers */
        regal_builder_add_input(builder, id,
                                id - (k > STAGES && !is_weight ? 2 : 1), 0);
      times[(size_t)id * STAGES + stage] = ns;
    }
  assert_int_equal(regal_builder_finish(builder, &graph), REGAL_OK);
  regal_machine *machine = slow_machine(*state, STAGES, send, true);
  toy_times(machine, graph, times);
  assert_int_equal(bound_on(*state, graph, machine),
                   (STAGES - 1) * (forward + send) +
                       BATCHES * (forward + backward + weight));
  regal_graph_free(graph);
}

/* -- Against all plans ----------------------------------------------------- */

typedef struct dice {
  uint64_t seed, thrown;
} dice;

static uint32_t throw(dice * dice, uint32_t sides) {
  uint64_t x = dice->seed * UINT64_C(0x9e3779b97f4a7c15) + ++dice->thrown;
  x = (x ^ (x >> 31)) * UINT64_C(0xbf58476d1ce4e5b9);
  x = (x ^ (x >> 29)) * UINT64_C(0x94d049bb133111eb);
  return (uint32_t)((x ^ (x >> 32)) % sides);
}

static regal_graph *random_graph(regal_context *context, dice *dice) {
  toy_op ops[7] = {{0}};
  char reads[7][8] = {{0}}, waits[7][8] = {{0}}, parameters[7][4] = {{0}};
  uint32_t count = 3 + throw(dice, 4);
  for (uint32_t i = 0; i < count; i++) {
    for (uint32_t j = 0; j < i; j++) {
      char *list = throw(dice, 8) ? reads[i] : waits[i];
      if (!throw(dice, 3))
        list[strlen(list)] = (char)('a' + j);
    }
    for (uint32_t p = 0; p < 3; p++)
      if (!throw(dice, 4))
        parameters[i][strlen(parameters[i])] = (char)('0' + p);
    ops[i] = (toy_op){.run_ns = throw(dice, 25),
                      .bytes = throw(dice, 30),
                      .resident = throw(dice, 3) ? 0 : throw(dice, 40),
                      .temporary = throw(dice, 4) ? 0 : throw(dice, 20),
                      .is_final = !throw(dice, 5),
                      .may_reuse = !throw(dice, 4),
                      .reads = reads[i],
                      .waits = waits[i],
                      .parameters = parameters[i]};
  }
  return toy_graph(context, ops, count);
}

static void draw_pins(regal_machine *machine, const regal_graph *graph,
                      dice *dice) {
  int64_t times[7 * 3];
  uint32_t d = machine->devices;
  for (uint32_t op = 0; op < graph->ops; op++) {
    uint32_t only = throw(dice, 2) ? throw(dice, d) : d;
    for (uint32_t a = 0; a < d; a++)
      times[op * d + a] = only < d && only != a ? NO
                          : throw(dice, 3)      ? graph->run_ns[op]
                                                : throw(dice, 30);
    if (only == d && d == 3 && !throw(dice, 3))
      times[op * d + throw(dice, d)] = NO;
  }
  toy_times(machine, graph, times);
}

static regal_machine *random_machine(regal_context *context,
                                     const regal_graph *graph, dice *dice) {
  regal_machine *machine = slow_machine(context, 2 + !throw(dice, 3),
                                        throw(dice, 6), throw(dice, 2));
  machine->control_transfers = throw(dice, 2);
  if (!throw(dice, 3))
    machine->latency_ns[1][0] = throw(dice, 15);
  if (!throw(dice, 3))
    machine->bandwidth[0][1] = throw(dice, 2) ? 0 : 500000000;
  if (throw(dice, 4))
    draw_pins(machine, graph, dice);
  for (uint32_t a = 0; throw(dice, 8) && a < machine->devices; a++)
    machine->memory_limit[a] = 60 + throw(dice, 150);
  return machine;
}

/* A group of two, if a device may run both. */
static void draw_group(regal_machine *machine, const regal_graph *graph,
                       dice *dice) {
  uint32_t d = machine->devices, i = throw(dice, graph->ops),
           j = throw(dice, graph->ops);
  bool common = !machine->timed_ns;
  for (uint32_t a = 0; a < d && machine->timed_ns; a++)
    common = common || (machine->timed_ns[i * d + a] != NO &&
                        machine->timed_ns[j * d + a] != NO);
  char letters[] = "-------";
  if (i == j || !common || throw(dice, 3))
    return;
  letters[i] = letters[j] = 'a';
  toy_groups(machine, graph, letters);
}

static void test_no_plan_is_better(void **state) {
  regal_context *context = *state;
  unsigned tried = 0, met = 0, fitting = 0, memory_met = 0, proven = 0;
  for (uint64_t seed = 1; seed <= 1500; seed++) {
    dice dice = {seed, 0};
    regal_test_best best;
    regal_graph *graph = random_graph(context, &dice);
    regal_machine *machine = random_machine(context, graph, &dice);
    draw_group(machine, graph, &dice);
    if (regal_test_brute_force(context, graph, machine, 2000, &best)) {
      regal_problem *problem =
          toy_problem(context, graph, machine, REGAL_RUNTIME);
      regal_bound bound;
      regal_bound_compute(context, problem, &bound);
      char shortage[400];
      regal_bound_shortage(context, problem, false, shortage, sizeof shortage);
      tried++;
      proven += shortage[0] != 0;
      assert_true(!shortage[0] || best.runtime.cost.excess_bytes);
      if (!best.runtime.cost.excess_bytes) {
        fitting++;
        assert_true(bound.runtime_ns <= best.runtime.cost.runtime_ns);
        assert_true(bound.peak_bytes <= best.memory.cost.max_peak_bytes);
        met += bound.runtime_ns == best.runtime.cost.runtime_ns;
        memory_met += bound.peak_bytes == best.memory.cost.max_peak_bytes;
      }
      regal_problem_free(problem);
    } else {
      regal_machine_free(machine);
    }
    regal_graph_free(graph);
  }
  assert_true(tried > 900 && fitting > tried / 2);
  assert_true(proven > (tried - fitting) * 9 / 10);
  /* four in ten without what pins force */
  assert_true(met > fitting * 11 / 20);
  assert_true(memory_met > fitting * 7 / 10);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TOY_TEST(test_pinned_ends_force_a_transfer),
      TOY_TEST(test_a_faster_device_is_far),
      TOY_TEST(test_groups_cannot_be_left),
      TOY_TEST(test_a_device_is_busy_with_its_transfers),
      TOY_TEST(test_a_tensor_goes_to_each_device_once),
      TOY_TEST(test_links_of_pinned_ops),
      TOY_TEST(test_pipeline),
      TOY_TEST(test_no_plan_is_better),
  };
  return cmocka_run_group_tests_name("bound_pins", tests, NULL, NULL);
}
