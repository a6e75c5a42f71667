/* SPDX-License-Identifier: Apache-2.0 */
#include "support/reference_decoder.h"

#include <string.h>

typedef struct entry {
  float key;
  uint32_t item; /* an op, or ops + tensor * devices + receiver */
} entry;

struct reference_decoder {
  regal_context *context;
  const regal_problem *problem;
  uint8_t *placement; /* [ops] */
  uint32_t *missing;  /* [ops] */
  uint32_t *left;     /* [tensors * devices] local uses to come */
  int64_t *ready_ns;  /* [ops] */
  int64_t *end_ns;    /* [ops] */
  int64_t *link_ns;   /* [devices * devices] */
  uint64_t *holders;  /* [parameters] devices */
  uint8_t *taken;     /* [tensors] written over in this step */
  entry *heap;        /* [most steps] */
  uint32_t heap_size;
  int64_t clock_ns[REGAL_MAX_DEVICES], memory[REGAL_MAX_DEVICES],
      peak[REGAL_MAX_DEVICES];
};

regal_status reference_create(regal_context *context,
                              const regal_problem *problem,
                              reference_decoder **decoder) {
  size_t ops = problem->ops, d = problem->devices;
  reference_decoder *made = regal_alloc(context, 1, sizeof *made);
  if (!made)
    return regal_fail_memory(context);
  made->context = context;
  made->problem = problem;
  made->placement = regal_alloc(context, ops, 1);
  made->missing = regal_alloc(context, ops, 4);
  made->left = regal_alloc(context, problem->tensors * d, 4);
  made->ready_ns = regal_alloc(context, ops, 8);
  made->end_ns = regal_alloc(context, ops, 8);
  made->link_ns = regal_alloc(context, d * d, 8);
  made->holders = regal_alloc(context, problem->graph->parameters, 8);
  made->taken = regal_alloc(context, problem->tensors, 1);
  made->heap =
      regal_alloc(context, regal_plan_most_steps(problem), sizeof(entry));
  if (!made->placement || !made->missing || !made->left || !made->ready_ns ||
      !made->end_ns || !made->link_ns || !made->holders || !made->taken ||
      !made->heap) {
    reference_free(made);
    return regal_fail_memory(context);
  }
  *decoder = made;
  return REGAL_OK;
}

void reference_free(reference_decoder *decoder) {
  if (!decoder)
    return;
  regal_context *context = decoder->context;
  regal_release(context, decoder->placement);
  regal_release(context, decoder->missing);
  regal_release(context, decoder->left);
  regal_release(context, decoder->ready_ns);
  regal_release(context, decoder->end_ns);
  regal_release(context, decoder->link_ns);
  regal_release(context, decoder->holders);
  regal_release(context, decoder->taken);
  regal_release(context, decoder->heap);
  regal_release(context, decoder);
}

static bool comes_first(entry a, entry b) {
  return a.key > b.key || (a.key == b.key && a.item < b.item);
}

static void push(reference_decoder *r, float key, uint32_t item) {
  entry made = {key, item};
  uint32_t at = r->heap_size++;
  while (at > 0 && comes_first(made, r->heap[(at - 1) / 2])) {
    r->heap[at] = r->heap[(at - 1) / 2];
    at = (at - 1) / 2;
  }
  r->heap[at] = made;
}

static uint32_t pop(reference_decoder *r) {
  uint32_t item = r->heap[0].item;
  entry last = r->heap[--r->heap_size];
  uint32_t at = 0;
  for (uint32_t child; (child = 2 * at + 1) < r->heap_size; at = child) {
    if (child + 1 < r->heap_size &&
        comes_first(r->heap[child + 1], r->heap[child]))
      child++;
    if (!comes_first(r->heap[child], last))
      break;
    r->heap[at] = r->heap[child];
  }
  r->heap[at] = last;
  return item;
}

static void place(reference_decoder *r, const float *affinity) {
  const regal_problem *problem = r->problem;
  for (uint32_t op = 0; op < problem->ops; op++) {
    const float *row = affinity + (size_t)op * problem->devices;
    int best = -1;
    for (uint32_t a = 0; a < problem->devices; a++)
      if ((problem->allowed[op] >> a & 1) && (best < 0 || row[a] > row[best]))
        best = (int)a;
    r->placement[op] = (uint8_t)best;
  }
  if (problem->pinned != REGAL_NONE)
    r->placement[problem->pinned] = 0;
  if (problem->leader)
    for (uint32_t op = 0; op < problem->ops; op++)
      r->placement[op] = r->placement[problem->leader[op]];
}

/* left = consumers on each device; at home also transfers out and the end */
static void count_uses(reference_decoder *r) {
  const regal_problem *problem = r->problem;
  uint32_t d = problem->devices;
  memset(r->left, 0, (size_t)problem->tensors * d * sizeof *r->left);
  for (uint32_t t = 0; t < problem->tensors; t++) {
    uint32_t *left = r->left + (size_t)t * d;
    uint32_t home = r->placement[problem->producer[t]];
    for (uint32_t u = problem->use_begin[t]; u < problem->use_begin[t + 1]; u++)
      left[r->placement[problem->consumer[u]]]++;
    for (uint32_t a = 0; a < d; a++)
      left[home] += a != home && left[a] > 0;
    left[home] += problem->is_final[t];
  }
}

/* Resident bytes, and every parameter once on each device that has a reader. */
static void hold(reference_decoder *r) {
  const regal_graph *graph = r->problem->graph;
  for (uint32_t op = 0; op < graph->ops; op++) {
    uint32_t device = r->placement[op];
    r->memory[device] += graph->resident_bytes[op];
    for (uint32_t i = graph->parameter_begin[op];
         i < graph->parameter_begin[op + 1]; i++) {
      uint32_t parameter = graph->parameter[i];
      if (!(r->holders[parameter] >> device & 1))
        r->memory[device] += graph->parameter_bytes[parameter];
      r->holders[parameter] |= UINT64_C(1) << device;
    }
  }
}

static void begin(reference_decoder *r, bool memory) {
  const regal_problem *problem = r->problem;
  uint32_t d = problem->devices;
  memcpy(r->missing, problem->needs, problem->ops * sizeof *r->missing);
  memset(r->ready_ns, 0, problem->ops * sizeof *r->ready_ns);
  memset(r->link_ns, 0, (size_t)d * d * sizeof *r->link_ns);
  memset(r->clock_ns, 0, sizeof r->clock_ns);
  memset(r->memory, 0, sizeof r->memory);
  memset(r->holders, 0, problem->graph->parameters * sizeof *r->holders);
  if (memory)
    hold(r);
  memcpy(r->peak, r->memory, sizeof r->peak);
  r->heap_size = 0;
}

static void tell(reference_decoder *r, uint32_t op, const float *priority,
                 int64_t ns) {
  if (ns > r->ready_ns[op])
    r->ready_ns[op] = ns;
  if (--r->missing[op] == 0)
    push(r, priority[op], op);
}

static void use_memory(reference_decoder *r, uint32_t device, int64_t bytes) {
  r->memory[device] += bytes;
  if (r->memory[device] > r->peak[device])
    r->peak[device] = r->memory[device];
}

/* The input that an output is written over, or REGAL_NONE. */
static uint32_t find_reusable(const reference_decoder *r, uint32_t op,
                              uint32_t device, uint32_t output) {
  const regal_problem *problem = r->problem;
  if (!problem->may_reuse[output] || !problem->bytes[output])
    return REGAL_NONE;
  for (uint32_t i = problem->input_begin[op]; i < problem->input_begin[op + 1];
       i++) {
    uint32_t t = problem->input[i];
    if (r->left[(size_t)t * problem->devices + device] == 1 && !r->taken[t] &&
        problem->bytes[t] >= problem->bytes[output])
      return t;
  }
  return REGAL_NONE;
}

static int64_t reused_bytes(reference_decoder *r, uint32_t op,
                            uint32_t device) {
  const regal_problem *problem = r->problem;
  int64_t reused = 0;
  memset(r->taken, 0, problem->tensors);
  for (uint32_t t = problem->output_begin[op];
       t < problem->output_begin[op + 1]; t++) {
    uint32_t input = find_reusable(r, op, device, t);
    if (input == REGAL_NONE)
      continue;
    r->taken[input] = 1;
    reused += problem->bytes[t];
  }
  return reused;
}

static void run_memory(reference_decoder *r, uint32_t op, uint32_t device) {
  const regal_problem *problem = r->problem;
  uint32_t d = problem->devices;
  int64_t during = problem->graph->temporary_bytes[op];
  if (problem->graph->reusing_tensors)
    during -= reused_bytes(r, op, device);
  for (uint32_t t = problem->output_begin[op];
       t < problem->output_begin[op + 1]; t++)
    r->memory[device] += problem->bytes[t];
  use_memory(r, device, during);
  r->memory[device] -= during;
  for (uint32_t i = problem->input_begin[op]; i < problem->input_begin[op + 1];
       i++)
    if (--r->left[(size_t)problem->input[i] * d + device] == 0)
      r->memory[device] -= problem->bytes[problem->input[i]];
  for (uint32_t t = problem->output_begin[op];
       t < problem->output_begin[op + 1]; t++)
    if (r->left[(size_t)t * d + device] == 0)
      r->memory[device] -= problem->bytes[t];
}

static void run(reference_decoder *r, uint32_t op, const float *priority,
                const float *transfer, bool memory) {
  const regal_problem *problem = r->problem;
  uint32_t d = problem->devices, device = r->placement[op];
  int64_t start = r->clock_ns[device];
  if (r->ready_ns[op] > start)
    start = r->ready_ns[op];
  int64_t end = start + regal_problem_run_ns(problem, op, device);
  r->clock_ns[device] = r->end_ns[op] = end;
  if (memory)
    run_memory(r, op, device);
  for (uint32_t t = problem->output_begin[op];
       t < problem->output_begin[op + 1]; t++) {
    uint64_t receivers = 0;
    for (uint32_t u = problem->use_begin[t]; u < problem->use_begin[t + 1];
         u++) {
      uint32_t next = problem->consumer[u];
      if (r->placement[next] == device)
        tell(r, next, priority, 0);
      else
        receivers |= UINT64_C(1) << r->placement[next];
    }
    for (uint32_t to = 0; to < d; to++)
      if (receivers >> to & 1)
        push(r, transfer[(size_t)t * d + to], problem->ops + t * d + to);
  }
  for (uint32_t w = problem->wait_begin[op]; w < problem->wait_begin[op + 1];
       w++)
    tell(r, problem->waiter[w], priority, end);
}

static void send(reference_decoder *r, uint32_t t, uint32_t to,
                 const float *priority, bool memory) {
  const regal_problem *problem = r->problem;
  uint32_t d = problem->devices, from = r->placement[problem->producer[t]];
  int64_t cost = regal_problem_transfer_ns(problem, t, from, to), arrival = 0;
  if (problem->machine->overlapped) {
    int64_t *link = &r->link_ns[from * d + to];
    int64_t start = r->end_ns[problem->producer[t]];
    arrival = (start > *link ? start : *link) + cost;
    *link = arrival;
  } else {
    int64_t a = r->clock_ns[from], b = r->clock_ns[to];
    r->clock_ns[from] = r->clock_ns[to] = (a > b ? a : b) + cost;
  }
  if (memory) {
    use_memory(r, to, problem->bytes[t]);
    if (--r->left[(size_t)t * d + from] == 0)
      r->memory[from] -= problem->bytes[t];
  }
  for (uint32_t u = problem->use_begin[t]; u < problem->use_begin[t + 1]; u++)
    if (r->placement[problem->consumer[u]] == to)
      tell(r, problem->consumer[u], priority, arrival);
}

static regal_fitness judge(const reference_decoder *r) {
  const regal_problem *problem = r->problem;
  regal_fitness fitness = {0, 0, 0};
  int64_t runtime = 0, peak = 0;
  for (uint32_t a = 0; a < problem->devices; a++) {
    runtime = r->clock_ns[a] > runtime ? r->clock_ns[a] : runtime;
    peak = r->peak[a] > peak ? r->peak[a] : peak;
    if (r->peak[a] > problem->limit[a])
      fitness.excess += r->peak[a] - problem->limit[a];
  }
  bool memory = problem->objective == REGAL_MEMORY;
  fitness.value = memory ? peak : runtime;
  fitness.tie = memory ? runtime : 0;
  return fitness;
}

regal_fitness reference_decode(reference_decoder *r, const float *genes,
                               regal_plan *plan) {
  const regal_problem *problem = r->problem;
  uint32_t d = problem->devices;
  bool memory = regal_problem_needs_memory(problem);
  const float *priority = genes + (size_t)problem->ops * d;
  const float *transfer = priority + problem->ops;
  place(r, genes);
  begin(r, memory);
  if (memory)
    count_uses(r);
  if (plan)
    plan->step_count = 0;
  for (uint32_t op = 0; op < problem->ops; op++)
    if (r->missing[op] == 0)
      push(r, priority[op], op);
  while (r->heap_size) {
    uint32_t item = pop(r);
    regal_step step;
    if (item < problem->ops) {
      run(r, item, priority, transfer, memory);
      step =
          (regal_step){item, REGAL_RUN, r->placement[item], r->placement[item]};
    } else {
      uint32_t t = (item - problem->ops) / d, to = (item - problem->ops) % d;
      send(r, t, to, priority, memory);
      step =
          regal_plan_send(problem, t, r->placement[problem->producer[t]], to);
    }
    if (plan)
      plan->steps[plan->step_count++] = step;
  }
  return judge(r);
}
