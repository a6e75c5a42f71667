/* SPDX-License-Identifier: Apache-2.0 */
/* Binds a graph to a machine: every array that the fast code reads is laid out
 * here, once, in time and memory linear in the graph (times devices where ops
 * have a time of their own on each).
 */
#include "cost/model/problem_parts.h"

/* Sums of times stay below this, so that clocks cannot overflow. */
#define LARGEST_SUM (INT64_MAX / 2)
/* Entries of the table of transfer times; beyond it they are computed. */
#define LARGEST_TABLE ((size_t)1 << 24)

void *regal_problem_own(regal_problem *problem, size_t count, size_t size) {
  void *block = regal_alloc(problem->context, count, size);
  if (block)
    problem->owned[problem->owned_count++] = block;
  return block;
}

static bool same_speeds(const regal_machine *machine) {
  for (uint32_t a = 1; a < machine->devices; a++)
    if (machine->speed[a] != machine->speed[0])
      return false;
  return machine->timed_ops == 0;
}

static regal_status fail_sum(const regal_problem *problem, const char *what) {
  const char *source = problem->graph->source;
  return regal_fail(problem->context, REGAL_BAD_INPUT,
                    "%s%s%s on this machine add up to more than %lld ns",
                    source ? source : "", source ? ": " : "", what,
                    (long long)LARGEST_SUM);
}

static regal_status make_times(regal_problem *problem) {
  const regal_machine *machine = problem->machine;
  bool alike = same_speeds(machine);
  uint32_t columns = alike ? 1 : problem->devices;
  problem->run_stride = columns;
  problem->run_step = alike ? 0 : 1;
  int64_t *run_ns =
      regal_problem_own(problem, (size_t)problem->ops * columns, 8);
  if (!run_ns)
    return regal_fail_memory(problem->context);
  int64_t sum = 0;
  for (uint32_t op = 0; op < problem->ops; op++) {
    int64_t longest = 0;
    for (uint32_t a = 0; a < columns; a++) {
      int64_t ns = regal_machine_run_ns(machine, problem->graph, op, a);
      run_ns[(size_t)op * columns + a] = ns;
      if (ns != REGAL_NEVER && ns > longest)
        longest = ns;
    }
    if (__builtin_add_overflow(sum, longest, &sum) || sum > LARGEST_SUM)
      return fail_sum(problem, "the ops' run times");
  }
  problem->run_ns = run_ns;
  return REGAL_OK;
}

/* Numbers the distinct kinds of links; keeps one example (from, to) of each. */
static void classify_links(regal_problem *problem, uint16_t *example_from,
                           uint16_t *example_to) {
  const regal_machine *machine = problem->machine;
  uint32_t d = problem->devices;
  problem->free_transfers = true;
  for (uint32_t a = 0; a < d; a++)
    for (uint32_t b = 0; b < d; b++) {
      if (a == b)
        continue;
      int64_t latency = machine->latency_ns[a][b];
      int64_t bandwidth = machine->bandwidth[a][b];
      if (latency || bandwidth)
        problem->free_transfers = false;
      uint32_t c = 0;
      while (c < problem->link_classes &&
             (machine->latency_ns[example_from[c]][example_to[c]] != latency ||
              machine->bandwidth[example_from[c]][example_to[c]] != bandwidth))
        c++;
      if (c == problem->link_classes) {
        example_from[c] = (uint16_t)a;
        example_to[c] = (uint16_t)b;
        problem->link_classes++;
      }
      problem->link_class[a * d + b] = (uint16_t)c;
    }
}

int64_t regal_problem_link_ns(const regal_problem *problem, uint32_t tensor,
                              uint32_t from, uint32_t to) {
  if (problem->control_tensor && problem->control_tensor[tensor])
    return 0;
  return regal_machine_transfer_ns(problem->machine, problem->bytes[tensor],
                                   from, to);
}

static regal_status make_transfers(regal_problem *problem) {
  uint16_t from[REGAL_MAX_DEVICES * REGAL_MAX_DEVICES];
  uint16_t to[REGAL_MAX_DEVICES * REGAL_MAX_DEVICES];
  classify_links(problem, from, to);
  if (problem->free_transfers)
    return REGAL_OK;
  size_t entries = (size_t)problem->link_classes * problem->tensors;
  if (entries <= LARGEST_TABLE) {
    problem->transfer_ns = regal_problem_own(problem, entries, 8);
    if (!problem->transfer_ns)
      return regal_fail_memory(problem->context);
  }
  int64_t sum = 0;
  for (uint32_t t = 0; t < problem->tensors; t++) {
    int64_t longest = 0, receivers = 0;
    for (uint32_t c = 0; c < problem->link_classes; c++) {
      int64_t ns = regal_problem_link_ns(problem, t, from[c], to[c]);
      if (problem->transfer_ns)
        problem->transfer_ns[(size_t)c * problem->tensors + t] = ns;
      if (ns > longest)
        longest = ns;
    }
    receivers = problem->use_begin[t + 1] - problem->use_begin[t];
    if (receivers > problem->devices - 1)
      receivers = problem->devices - 1;
    if (__builtin_mul_overflow(longest, receivers, &longest) ||
        __builtin_add_overflow(sum, longest, &sum) || sum > LARGEST_SUM)
      return fail_sum(problem, "the transfers' times");
  }
  return REGAL_OK;
}

/* Among interchangeable devices the largest op can always be on device 0: the
 * paper's way to break the symmetry. */
static void pin_largest(regal_problem *problem) {
  problem->pinned = REGAL_NONE;
  if (!problem->symmetric || problem->devices < 2)
    return;
  int64_t largest = -1;
  for (uint32_t op = 0; op < problem->ops; op++) {
    int64_t size = problem->objective == REGAL_MEMORY
                       ? regal_problem_working_set(problem, op)
                       : regal_problem_run_ns(problem, op, 0);
    if (size > largest) {
      largest = size;
      problem->pinned = op;
    }
  }
  if (problem->pinned != REGAL_NONE && problem->leader)
    problem->pinned = problem->leader[problem->pinned];
}

static void set_limits(regal_problem *problem) {
  const regal_machine *machine = problem->machine;
  problem->symmetric = problem->run_step == 0 && problem->link_classes <= 1 &&
                       !problem->restricted;
  for (uint32_t a = 0; a < problem->devices; a++) {
    problem->limit[a] = machine->memory_limit[a];
    if (machine->memory_limit[a] != REGAL_UNLIMITED)
      problem->limited = true;
    if (machine->memory_limit[a] != machine->memory_limit[0])
      problem->symmetric = false;
  }
}

static regal_status fill_problem(regal_problem *problem) {
  REGAL_TRY(regal_problem_make_flow(problem));
  REGAL_TRY(make_times(problem));
  REGAL_TRY(make_transfers(problem));
  REGAL_TRY(regal_problem_find_places(problem));
  REGAL_TRY(regal_problem_share_parameters(problem));
  REGAL_TRY(regal_problem_mark_reuse(problem));
  set_limits(problem);
  pin_largest(problem);
  return REGAL_OK;
}

regal_status regal_problem_bind(regal_context *context,
                                const regal_graph *graph,
                                regal_machine *machine,
                                enum regal_objective objective,
                                regal_problem **problem) {
  regal_problem *made = regal_alloc(context, 1, sizeof *made);
  if (!made) {
    regal_machine_free(machine);
    return regal_fail_memory(context);
  }
  made->context = context;
  made->graph = graph;
  made->machine = machine;
  machine->graph = graph;
  made->objective = objective;
  made->ops = graph->ops;
  made->devices = machine->devices;
  regal_status status = fill_problem(made);
  if (status != REGAL_OK) {
    regal_problem_free(made);
    return status;
  }
  *problem = made;
  return REGAL_OK;
}

void regal_problem_free(regal_problem *problem) {
  if (!problem)
    return;
  for (uint32_t i = 0; i < problem->owned_count; i++)
    regal_release(problem->context, problem->owned[i]);
  regal_machine_free(problem->machine);
  regal_release(problem->context, problem);
}

uint32_t regal_problem_devices(const regal_problem *problem) {
  return problem->devices;
}

const regal_graph *regal_problem_graph(const regal_problem *problem) {
  return problem->graph;
}
