/* SPDX-License-Identifier: Apache-2.0 */
/* The flow of tensors in a problem: whose outputs go to whom, and what every op
 * depends on. Linear in the graph.
 */
#include "cost/model/problem_parts.h"

#include <string.h>

static void borrow_flow(regal_problem *problem, const regal_graph *graph) {
  problem->tensors = graph->tensors;
  problem->uses = graph->uses;
  problem->output_begin = graph->output_begin;
  problem->producer = graph->producer;
  problem->use_begin = graph->use_begin;
  problem->consumer = graph->consumer;
  problem->input_begin = graph->input_begin;
  problem->input = graph->input;
  problem->bytes = graph->bytes;
  problem->is_final = graph->is_final;
  problem->may_reuse = graph->may_reuse;
  problem->wait_begin = graph->control_out_begin;
  problem->waiter = graph->control_out;
  problem->has_waits = graph->controls > 0;
}

/* The tensors of the graph with one more, of zero bytes, for each op that
 * others wait for. */
static void fill_control_tensors(const regal_graph *graph,
                                 uint32_t *output_begin, uint32_t *producer,
                                 uint32_t *use_begin, uint32_t *consumer,
                                 int64_t *bytes, uint8_t *flags,
                                 uint32_t tensors) {
  uint32_t tensor = 0, use = 0;
  uint8_t *is_final = flags, *is_control = flags + tensors;
  uint8_t *may_reuse = is_control + tensors;
  for (uint32_t op = 0; op < graph->ops; op++) {
    output_begin[op] = tensor;
    for (REGAL_ROW(t, graph->output_begin, op)) {
      producer[tensor] = op;
      bytes[tensor] = graph->bytes[t];
      is_final[tensor] = graph->is_final[t];
      may_reuse[tensor] = graph->may_reuse[t];
      use_begin[tensor++] = use;
      for (REGAL_ROW(u, graph->use_begin, t))
        consumer[use++] = graph->consumer[u];
    }
    uint32_t first = graph->control_out_begin[op];
    uint32_t end = graph->control_out_begin[op + 1];
    if (first == end)
      continue;
    producer[tensor] = op;
    is_control[tensor] = 1;
    use_begin[tensor++] = use;
    for (uint32_t w = first; w < end; w++)
      consumer[use++] = graph->control_out[w];
  }
  output_begin[graph->ops] = tensor;
  use_begin[tensor] = use;
}

/* An op's inputs in the graph's order, which says what may be reused first,
 * then the control tensors that it needs. */
static void fill_inputs(const regal_problem *problem, uint32_t *input_begin,
                        uint32_t *input) {
  for (uint32_t u = 0; u < problem->uses; u++)
    input_begin[problem->consumer[u] + 1]++;
  for (uint32_t op = 0; op < problem->ops; op++)
    input_begin[op + 1] += input_begin[op];
  const regal_graph *graph = problem->graph;
  for (uint32_t op = 0; op < problem->ops; op++)
    for (REGAL_ROW(i, graph->input_begin, op)) {
      uint32_t t = graph->input[i], producer = graph->producer[t];
      input[input_begin[op]++] =
          t - graph->output_begin[producer] + problem->output_begin[producer];
    }
  for (uint32_t t = 0; t < problem->tensors; t++)
    for (uint32_t u = problem->use_begin[t];
         problem->control_tensor[t] && u < problem->use_begin[t + 1]; u++)
      input[input_begin[problem->consumer[u]]++] = t;
  for (uint32_t op = problem->ops; op > 0; op--)
    input_begin[op] = input_begin[op - 1];
  input_begin[0] = 0;
}

static regal_status make_control_flow(regal_problem *problem) {
  const regal_graph *graph = problem->graph;
  size_t tensors = graph->tensors;
  for (uint32_t op = 0; op < graph->ops; op++)
    tensors += graph->control_out_begin[op] < graph->control_out_begin[op + 1];
  size_t uses = (size_t)graph->uses + graph->controls;
  if (uses >= REGAL_NONE || tensors >= REGAL_NONE)
    return regal_fail(problem->context, REGAL_BAD_INPUT,
                      "too many control edges for control = transfer");
  uint32_t *output_begin =
      regal_problem_own(problem, (size_t)graph->ops + 1, 4);
  uint32_t *producer = regal_problem_own(problem, tensors, 4);
  uint32_t *use_begin = regal_problem_own(problem, tensors + 1, 4);
  uint32_t *consumer = regal_problem_own(problem, uses, 4);
  int64_t *bytes = regal_problem_own(problem, tensors, 8);
  uint8_t *flags = regal_problem_own(problem, 3 * tensors, 1);
  uint32_t *wait_begin = regal_problem_own(problem, (size_t)graph->ops + 1, 4);
  uint32_t *input_begin = regal_problem_own(problem, (size_t)graph->ops + 1, 4);
  uint32_t *input = regal_problem_own(problem, uses, 4);
  if (!output_begin || !producer || !use_begin || !consumer || !bytes ||
      !flags || !wait_begin || !input_begin || !input)
    return regal_fail_memory(problem->context);
  fill_control_tensors(graph, output_begin, producer, use_begin, consumer,
                       bytes, flags, (uint32_t)tensors);
  problem->tensors = (uint32_t)tensors;
  problem->uses = (uint32_t)uses;
  problem->output_begin = output_begin;
  problem->producer = producer;
  problem->use_begin = use_begin;
  problem->consumer = consumer;
  problem->bytes = bytes;
  problem->is_final = flags;
  problem->control_tensor = flags + tensors;
  problem->may_reuse = flags + 2 * tensors;
  problem->wait_begin = wait_begin;
  problem->has_waits = false;
  fill_inputs(problem, input_begin, input);
  problem->input_begin = input_begin;
  problem->input = input;
  return REGAL_OK;
}

/* One more op that depends on `op`, unless it was seen: `stamp` remembers for
 * whom each op was counted last. */
static uint32_t add_successor(uint32_t op, uint32_t next, uint32_t *stamp,
                              uint32_t *successor, uint32_t count) {
  if (stamp[next] == op + 1)
    return count;
  stamp[next] = op + 1;
  if (successor)
    successor[count] = next;
  return count + 1;
}

/* Lists the ops that depend on `op`, each once; only counts them when
 * `successor` is NULL. */
static uint32_t collect_successors(const regal_problem *problem, uint32_t op,
                                   uint32_t *stamp, uint32_t *successor) {
  uint32_t count = 0;
  uint32_t first = problem->use_begin[problem->output_begin[op]];
  uint32_t end = problem->use_begin[problem->output_begin[op + 1]];
  for (uint32_t u = first; u < end; u++)
    count = add_successor(op, problem->consumer[u], stamp, successor, count);
  for (REGAL_ROW(w, problem->wait_begin, op))
    count = add_successor(op, problem->waiter[w], stamp, successor, count);
  return count;
}

static regal_status make_dependencies(regal_problem *problem) {
  uint32_t ops = problem->ops;
  problem->needs = regal_problem_own(problem, ops, 4);
  problem->predecessors = regal_problem_own(problem, ops, 4);
  problem->successor_begin = regal_problem_own(problem, (size_t)ops + 1, 4);
  uint32_t *stamp = regal_alloc(problem->context, ops, 4);
  if (!problem->needs || !problem->predecessors || !problem->successor_begin ||
      !stamp) {
    regal_release(problem->context, stamp);
    return regal_fail_memory(problem->context);
  }
  for (uint32_t op = 0; op < ops; op++) {
    problem->needs[op] +=
        problem->input_begin[op + 1] - problem->input_begin[op];
    for (REGAL_ROW(w, problem->wait_begin, op))
      problem->needs[problem->waiter[w]]++;
    problem->successor_begin[op + 1] =
        problem->successor_begin[op] +
        collect_successors(problem, op, stamp, NULL);
  }
  problem->successor =
      regal_problem_own(problem, problem->successor_begin[ops], 4);
  if (!problem->successor) {
    regal_release(problem->context, stamp);
    return regal_fail_memory(problem->context);
  }
  memset(stamp, 0, ops * sizeof *stamp);
  for (uint32_t op = 0; op < ops; op++)
    collect_successors(problem, op, stamp,
                       problem->successor + problem->successor_begin[op]);
  for (uint32_t s = 0; s < problem->successor_begin[ops]; s++)
    problem->predecessors[problem->successor[s]]++;
  regal_release(problem->context, stamp);
  return REGAL_OK;
}

regal_status regal_problem_make_flow(regal_problem *problem) {
  if (problem->machine->control_transfers && problem->graph->controls)
    REGAL_TRY(make_control_flow(problem));
  else
    borrow_flow(problem, problem->graph);
  return make_dependencies(problem);
}
