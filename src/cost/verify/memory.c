/* SPDX-License-Identifier: Apache-2.0 */
/* The verifier's memory: what each device holds during and after each step.
 *
 * A tensor occupies a device from the step that makes or receives it there to
 * the last step that needs it there, both included. So for every copy (tensor,
 * device) this finds that last step first, then walks the plan.
 *
 * An output that may reuse an input is written over one that dies in the same
 * step: while the op runs the two occupy the input's bytes only. Before and
 * after the step this makes no difference.
 */
#include "cost/verify/parts.h"

#define FOREVER UINT32_MAX /* last step of a final tensor */

typedef struct memory {
  const regal_reading *reading;
  regal_timeline *timeline;
  /* The last step that needs a copy: [tensor] for the one on the producer's
   * device, [tensors + k] for the one made by the k-th send. */
  uint32_t *last;
  /* [tensor] 1 + the latest step that wrote an output over it; 0: none did */
  uint32_t *taken;
  uint64_t *holders; /* [parameter] a bit for each device that holds it */
  int64_t held[REGAL_MAX_DEVICES]; /* bytes now */
} memory;

/* The entry of `last` for the copy of `tensor` on `device`. */
static uint32_t *last_of_copy(const memory *memory, uint32_t tensor,
                              uint32_t device) {
  const regal_reading *reading = memory->reading;
  const regal_graph *graph = reading->graph;
  if (regal_verify_device(reading, graph->producer[tensor]) == device)
    return &memory->last[tensor];
  uint32_t k = reading->send_begin[tensor];
  while (reading->plan->steps[reading->send_step[k]].to != device)
    k++;
  return &memory->last[graph->tensors + k];
}

static void needed_until(uint32_t *last, uint32_t step) {
  if (*last < step)
    *last = step;
}

static void find_last_steps(memory *memory) {
  const regal_reading *reading = memory->reading;
  const regal_graph *graph = reading->graph;
  for (uint32_t t = 0; t < graph->tensors; t++) {
    uint32_t *last = &memory->last[t];
    needed_until(last, reading->run_step[graph->producer[t]]);
    for (REGAL_ROW(k, reading->send_begin, t))
      needed_until(last, reading->send_step[k]);
    for (REGAL_ROW(k, graph->use_begin, t)) {
      uint32_t reader = reading->run_step[graph->consumer[k]];
      uint32_t device = reading->plan->steps[reader].device;
      needed_until(last_of_copy(memory, t, device), reader);
    }
    if (graph->is_final[t])
      *last = FOREVER;
  }
}

static regal_status hold(memory *memory, uint32_t step, uint32_t device,
                         int64_t bytes) {
  if (!__builtin_add_overflow(memory->held[device], bytes,
                              &memory->held[device]))
    return REGAL_OK;
  return regal_fail(memory->reading->context, REGAL_BAD_INPUT,
                    "step %u: device %u holds more bytes than 64 bits can "
                    "count",
                    step, device);
}

/* The parameters that the op of step `i` reads, each once on a device. */
static regal_status hold_parameters(memory *memory, uint32_t i) {
  const regal_graph *graph = memory->reading->graph;
  const regal_step *step = &memory->reading->plan->steps[i];
  uint64_t device = UINT64_C(1) << step->device;
  for (REGAL_ROW(k, graph->parameter_begin, step->op)) {
    uint32_t parameter = graph->parameter[k];
    if (memory->holders[parameter] & device)
      continue;
    memory->holders[parameter] |= device;
    REGAL_TRY(hold(memory, i, step->device, graph->parameter_bytes[parameter]));
    memory->timeline->parameters[step->device]++;
    memory->timeline->parameter_bytes[step->device] +=
        graph->parameter_bytes[parameter];
  }
  return REGAL_OK;
}

/* Resident bytes and parameters are there from the start to the end. */
static regal_status hold_resident(memory *memory) {
  const regal_reading *reading = memory->reading;
  for (uint32_t i = 0; i < reading->plan->step_count; i++) {
    const regal_step *step = &reading->plan->steps[i];
    if (step->port != REGAL_RUN)
      continue;
    REGAL_TRY(hold(memory, i, step->device,
                   reading->graph->resident_bytes[step->op]));
    REGAL_TRY(hold_parameters(memory, i));
  }
  return REGAL_OK;
}

/* The input over which step `i` writes `output`: the first that dies here, is
 * large enough and has not been written over in this step. REGAL_NONE when
 * there is none, or the output must not be written over anything. */
static uint32_t find_reused(const memory *memory, uint32_t i, uint32_t output) {
  const regal_graph *graph = memory->reading->graph;
  const regal_step *step = &memory->reading->plan->steps[i];
  if (!graph->may_reuse[output] || !graph->bytes[output])
    return REGAL_NONE;
  for (REGAL_ROW(k, graph->input_begin, step->op)) {
    uint32_t input = graph->input[k];
    if (graph->bytes[input] >= graph->bytes[output] &&
        memory->taken[input] != i + 1 &&
        *last_of_copy(memory, input, step->device) == i)
      return input;
  }
  return REGAL_NONE;
}

/* Adds what the op needs: temporary memory, and the outputs that are not
 * written over an input. */
static regal_status begin_run(memory *memory, uint32_t i) {
  const regal_graph *graph = memory->reading->graph;
  const regal_step *step = &memory->reading->plan->steps[i];
  for (REGAL_ROW(t, graph->output_begin, step->op)) {
    uint32_t reused = find_reused(memory, i, t);
    memory->timeline->reused[t] = reused;
    if (reused != REGAL_NONE)
      memory->taken[reused] = i + 1;
    else
      REGAL_TRY(hold(memory, i, step->device, graph->bytes[t]));
  }
  return hold(memory, i, step->device, graph->temporary_bytes[step->op]);
}

static regal_status begin_step(memory *memory, uint32_t i) {
  const regal_graph *graph = memory->reading->graph;
  const regal_step *step = &memory->reading->plan->steps[i];
  if (step->port == REGAL_RUN)
    return begin_run(memory, i);
  if (step->port < 0)
    return REGAL_OK;
  return hold(memory, i, step->to,
              graph->bytes[regal_verify_item(graph, step)]);
}

/* Frees the copy if this was the last step that needed it. */
static void maybe_free(memory *memory, uint32_t i, uint32_t tensor,
                       uint32_t device) {
  if (*last_of_copy(memory, tensor, device) == i)
    memory->held[device] -= memory->reading->graph->bytes[tensor];
}

/* Frees what has served, the inputs first: then an output that was written over
 * one of them has bytes of its own. */
static void end_run(memory *memory, uint32_t i) {
  const regal_graph *graph = memory->reading->graph;
  const regal_step *step = &memory->reading->plan->steps[i];
  uint32_t op = step->op;
  memory->held[step->device] -= graph->temporary_bytes[op];
  for (REGAL_ROW(k, graph->input_begin, op))
    maybe_free(memory, i, graph->input[k], step->device);
  for (REGAL_ROW(t, graph->output_begin, op)) {
    if (memory->timeline->reused[t] != REGAL_NONE)
      memory->held[step->device] += graph->bytes[t];
    maybe_free(memory, i, t, step->device);
  }
}

static void end_step(memory *memory, uint32_t i) {
  const regal_step *step = &memory->reading->plan->steps[i];
  if (step->port == REGAL_RUN)
    end_run(memory, i);
  else if (step->port >= 0)
    maybe_free(memory, i, regal_verify_item(memory->reading->graph, step),
               step->device);
}

static void note_peak(regal_timeline *timeline, regal_cost *cost, uint32_t i,
                      uint32_t device, int64_t bytes) {
  if (timeline->peak_step[device] != REGAL_NONE &&
      bytes <= cost->peak_bytes[device])
    return;
  timeline->peak_step[device] = i;
  cost->peak_bytes[device] = bytes;
}

static regal_status walk(memory *memory, regal_cost *cost) {
  const regal_plan *plan = memory->reading->plan;
  regal_timeline *timeline = memory->timeline;
  for (uint32_t d = 0; d < REGAL_MAX_DEVICES; d++)
    timeline->peak_step[d] = REGAL_NONE;
  for (uint32_t i = 0; i < plan->step_count; i++) {
    uint32_t touched[2] = {plan->steps[i].device, plan->steps[i].to};
    REGAL_TRY(begin_step(memory, i));
    for (int side = 0; side < 2; side++) {
      int64_t held = memory->held[touched[side]];
      timeline->during_bytes[i][side] = held;
      note_peak(timeline, cost, i, touched[side], held);
    }
    end_step(memory, i);
    for (int side = 0; side < 2; side++)
      timeline->after_bytes[i][side] = memory->held[touched[side]];
  }
  return REGAL_OK;
}

static regal_status compare_with_limits(const regal_reading *reading,
                                        regal_cost *cost) {
  for (uint32_t d = 0; d < reading->machine->devices; d++) {
    int64_t peak = cost->peak_bytes[d];
    int64_t limit = reading->machine->memory_limit[d];
    if (peak > cost->max_peak_bytes)
      cost->max_peak_bytes = peak;
    if (peak > limit && __builtin_add_overflow(cost->excess_bytes, peak - limit,
                                               &cost->excess_bytes))
      return regal_fail(reading->context, REGAL_BAD_INPUT,
                        "the bytes beyond the memory limits are more than 64 "
                        "bits can count");
  }
  return REGAL_OK;
}

static regal_status walk_and_compare(memory *memory, regal_cost *cost) {
  find_last_steps(memory);
  REGAL_TRY(hold_resident(memory));
  REGAL_TRY(walk(memory, cost));
  return compare_with_limits(memory->reading, cost);
}

regal_status regal_verify_memory(const regal_reading *reading,
                                 regal_timeline *timeline, regal_cost *cost) {
  regal_context *context = reading->context;
  const regal_graph *graph = reading->graph;
  size_t copies = (size_t)graph->tensors + reading->send_begin[graph->tensors];
  memory memory = {.reading = reading, .timeline = timeline};
  memory.last = regal_alloc(context, copies, sizeof(uint32_t));
  memory.taken = regal_alloc(context, graph->tensors, sizeof(uint32_t));
  memory.holders = regal_alloc(context, graph->parameters, sizeof(uint64_t));
  bool whole = memory.last && memory.taken && memory.holders;
  regal_status status =
      whole ? walk_and_compare(&memory, cost) : regal_fail_memory(context);
  regal_release(context, memory.last);
  regal_release(context, memory.taken);
  regal_release(context, memory.holders);
  return status;
}
