/* SPDX-License-Identifier: Apache-2.0 */
#include "support/reference_batched.h"

#include <stdlib.h>

typedef struct walk {
  const regal_problem *problem;
  regal_plan *plan;
  uint32_t *device;  /* [ops] */
  bool *has_run;     /* [ops] */
  uint64_t *present; /* [tensors] bit per device that has it */
  uint32_t *made;    /* [tensors] in the order of being made */
  uint32_t made_count;
} walk;

static void *room(size_t count, size_t size) {
  void *block = calloc(count + 1, size);
  if (!block)
    abort();
  return block;
}

/* The allowed device with the largest gene, the first of equals; groups follow
 * their first op; the pinned op is on device 0. */
static void place(walk *w, const regal_gene *affinity) {
  const regal_problem *problem = w->problem;
  for (uint32_t op = 0; op < problem->ops; op++) {
    uint32_t leader = problem->leader ? problem->leader[op] : op;
    const regal_gene *row = affinity + (size_t)leader * problem->devices;
    uint32_t best = REGAL_NONE;
    for (uint32_t a = 0; a < problem->devices; a++)
      if ((problem->allowed[leader] >> a & 1) &&
          (best == REGAL_NONE || row[a] > row[best]))
        best = a;
    w->device[op] = leader == problem->pinned ? 0 : best;
  }
}

static bool is_ready(const walk *w, uint32_t op) {
  const regal_problem *problem = w->problem;
  for (uint32_t i = problem->input_begin[op]; i < problem->input_begin[op + 1];
       i++)
    if (!w->has_run[problem->producer[problem->input[i]]])
      return false;
  const regal_graph *graph = problem->graph;
  for (uint32_t i = graph->control_in_begin[op];
       i < graph->control_in_begin[op + 1]; i++)
    if (!w->has_run[graph->control_in[i]])
      return false;
  return true;
}

static bool is_read_on(const walk *w, uint32_t tensor, uint32_t device) {
  const regal_problem *problem = w->problem;
  for (uint32_t u = problem->use_begin[tensor];
       u < problem->use_begin[tensor + 1]; u++)
    if (w->device[problem->consumer[u]] == device)
      return true;
  return false;
}

/* Sends all that was made on `from` and is still missing on `to`. */
static void send_all(walk *w, uint32_t from, uint32_t to) {
  for (uint32_t i = 0; i < w->made_count; i++) {
    uint32_t tensor = w->made[i];
    if (w->device[w->problem->producer[tensor]] != from ||
        (w->present[tensor] >> to & 1) || !is_read_on(w, tensor, to))
      continue;
    w->present[tensor] |= UINT64_C(1) << to;
    w->plan->steps[w->plan->step_count++] =
        regal_plan_send(w->problem, tensor, from, to);
  }
}

static void run(walk *w, uint32_t op) {
  const regal_problem *problem = w->problem;
  uint32_t device = w->device[op];
  for (uint32_t from = 0; from < problem->devices; from++)
    for (uint32_t i = problem->input_begin[op];
         i < problem->input_begin[op + 1]; i++) {
      uint32_t tensor = problem->input[i];
      if (w->device[problem->producer[tensor]] != from ||
          (w->present[tensor] >> device & 1))
        continue;
      send_all(w, from, device);
      send_all(w, device, from);
    }
  for (uint32_t t = problem->output_begin[op];
       t < problem->output_begin[op + 1]; t++) {
    w->present[t] = UINT64_C(1) << device;
    w->made[w->made_count++] = t;
  }
  w->has_run[op] = true;
  w->plan->steps[w->plan->step_count++] =
      (regal_step){op, REGAL_RUN, (uint16_t)device, (uint16_t)device};
}

void regal_test_batched_plan(const regal_problem *problem,
                             const regal_gene *genes, regal_plan *plan) {
  const regal_gene *priority = genes + (size_t)problem->ops * problem->devices;
  walk w = {.problem = problem,
            .plan = plan,
            .device = room(problem->ops, 4),
            .has_run = room(problem->ops, sizeof(bool)),
            .present = room(problem->tensors, 8),
            .made = room(problem->tensors, 4)};
  place(&w, genes);
  plan->step_count = 0;
  for (uint32_t done = 0; done < problem->ops; done++) {
    uint32_t next = REGAL_NONE;
    for (uint32_t op = 0; op < problem->ops; op++)
      if (!w.has_run[op] && is_ready(&w, op) &&
          (next == REGAL_NONE || priority[op] > priority[next]))
        next = op;
    run(&w, next);
  }
  free(w.device);
  free(w.has_run);
  free(w.present);
  free(w.made);
}
