/* SPDX-License-Identifier: Apache-2.0 */
/* Every kind of machine that the options can describe, speeds, pins and groups,
 * for tests that run methods on each; and what must hold for what they give.
 * Include after cmocka.h. */
#ifndef REGAL_TESTS_MACHINE_OPTIONS_H
#define REGAL_TESTS_MACHINE_OPTIONS_H

#include "cost/bound/bound.h"
#include "cost/verify/verify.h"
#include "support/search_bench.h"

typedef struct machine_option {
  const char *name, *devices, *transfers, *control, *latency, *bandwidth;
  double limit; /* of memory, in bounds of it; 0: none */
  bool speeds;  /* devices differ */
  bool wishes;  /* pins and groups */
} machine_option;

static const machine_option machine_options[] = {
    {"one device", "1", "blocking", "wait", "0", "0", 0, false, false},
    {"blocking", "2", "blocking", "wait", "0", "0", 0, false, false},
    {"costs", "2", "blocking", "wait", "10us", "25GB", 0, false, false},
    {"overlapped", "2", "overlapped", "wait", "10us", "25GB", 0, false, false},
    {"free links", "2", "overlapped", "wait", "0", "0", 0, false, false},
    {"control", "2", "blocking", "transfer", "10us", "25GB", 0, false, false},
    {"three", "3", "blocking", "wait", "10us", "25GB", 0, false, false},
    {"four, links", "4", "overlapped", "transfer", "10us", "25GB", 0, false,
     false},
    {"speeds", "2", "blocking", "wait", "10us", "25GB", 0, true, false},
    {"speeds, links", "3", "overlapped", "wait", "10us", "25GB", 0, true,
     false},
    {"wishes", "2", "blocking", "wait", "0", "0", 0, false, true},
    {"wishes, links", "4", "overlapped", "wait", "10us", "25GB", 0, false,
     true},
    {"limit", "2", "blocking", "wait", "0", "0", 1.2, false, false},
    {"limit, costs", "2", "blocking", "wait", "10us", "25GB", 1.2, false,
     false},
    {"limit, links", "3", "overlapped", "wait", "10us", "25GB", 1.2, true,
     false},
    {"limit, four", "4", "blocking", "wait", "10us", "25GB", 1.2, false, false},
    {"no plan fits", "2", "blocking", "wait", "0", "0", 0.5, false, false},
};

enum { MACHINE_OPTIONS = sizeof machine_options / sizeof *machine_options };

/* Every fifth op has a device; some pairs of others share one. */
static inline void add_wishes(regal_machine *machine,
                              const regal_graph *graph) {
  machine->graph = graph;
  for (uint32_t op = 0; op < graph->ops; op++)
    if (op % 5 == 0)
      assert_int_equal(
          regal_machine_set_pin(machine, op, op / 5 % machine->devices),
          REGAL_OK);
    else if (op % 5 == 1 && op + 2 < graph->ops)
      assert_int_equal(regal_machine_join(machine, op, op + 2), REGAL_OK);
  regal_machine_settle(machine);
}

/* The bench's graph on this machine, for the bench's objective. */
static inline void use_machine(search_bench *b, const machine_option *option) {
  regal_machine *machine;
  int64_t peak = 0;
  set_option(b, "devices", option->devices);
  set_option(b, "transfers", option->transfers);
  set_option(b, "control", option->control);
  set_option(b, "latency", option->latency);
  set_option(b, "bandwidth", option->bandwidth);
  if (option->limit > 0) {
    make_problem(b);
    assert_int_equal(regal_bound_memory(b->context, b->problem, &peak),
                     REGAL_OK);
  }
  regal_problem_free(b->problem);
  b->problem = NULL;
  assert_int_equal(
      regal_machine_from_options(b->context, &b->options, &machine), REGAL_OK);
  for (uint32_t a = 0; a < machine->devices; a++) {
    if (option->speeds)
      machine->speed[a] = 1 + a * 0.5;
    if (option->limit > 0)
      machine->memory_limit[a] = (int64_t)((double)peak * option->limit);
  }
  if (option->wishes)
    add_wishes(machine, b->graph);
  assert_int_equal(regal_problem_bind(
                       b->context, b->graph, machine,
                       (enum regal_objective)b->options.objective, &b->problem),
                   REGAL_OK);
}

/* The plan is valid, its cost the verifier's, no bound above it; and it is
 * within the limits, or said not to be. */
static inline void check_plan_of(const search_bench *b,
                                 const regal_result *result, const char *name) {
  const regal_problem *problem = b->problem;
  const regal_cost *cost = &result->cost;
  regal_cost again;
  int64_t excess = 0, limit;
  if (regal_verify(b->context, problem, result->plan, &again))
    fail_msg("%s: %s", name, regal_error(b->context));
  for (uint32_t a = 0; a < problem->devices; a++) {
    limit = problem->machine->memory_limit[a];
    if (again.peak_bytes[a] > limit)
      excess += again.peak_bytes[a] - limit;
  }
  if (again.runtime_ns != cost->runtime_ns ||
      again.max_peak_bytes != cost->max_peak_bytes)
    fail_msg("%s: the cost is not the plan's", name);
  if (result->fits != (excess == 0) || cost->excess_bytes != excess)
    fail_msg("%s: %lld bytes beyond the limits, but it says %lld and fits = %d",
             name, (long long)excess, (long long)cost->excess_bytes,
             (int)result->fits);
  if ((result->fits && result->bound.runtime_ns > cost->runtime_ns) ||
      result->bound.peak_bytes > cost->max_peak_bytes)
    fail_msg("%s: a bound is above the cost", name);
  if (result->stop == REGAL_STOP_BOUND && excess)
    fail_msg("%s: proven, but beyond the limits", name);
}

#endif
