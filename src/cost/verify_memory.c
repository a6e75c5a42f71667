/* The verifier's memory: what each device holds during and after each step.
 *
 * A tensor occupies a device from the step that makes or receives it there to
 * the last step that needs it there, both included. So for every copy (tensor,
 * device) this finds that last step first, then walks the plan.
 */
#include "cost/verify_parts.h"

#define FOREVER UINT32_MAX /* last step of a final tensor */

typedef struct memory {
  const regal_reading *reading;
  /* The last step that needs a copy: [tensor] for the one on the producer's
   * device, [tensors + k] for the one made by the k-th send. */
  uint32_t *last;
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
    for (uint32_t k = reading->send_begin[t]; k < reading->send_begin[t + 1];
         k++)
      needed_until(last, reading->send_step[k]);
    for (uint32_t k = graph->use_begin[t]; k < graph->use_begin[t + 1]; k++) {
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

/* Resident bytes are there from the start to the end. */
static regal_status hold_resident(memory *memory) {
  const regal_reading *reading = memory->reading;
  for (uint32_t i = 0; i < reading->plan->step_count; i++) {
    const regal_step *step = &reading->plan->steps[i];
    if (step->port == REGAL_RUN)
      REGAL_TRY(hold(memory, i, step->device,
                     reading->graph->resident_bytes[step->op]));
  }
  return REGAL_OK;
}

/* Adds what the step makes: outputs and temporary memory, or the copy. */
static regal_status begin_step(memory *memory, uint32_t i) {
  const regal_graph *graph = memory->reading->graph;
  const regal_step *step = &memory->reading->plan->steps[i];
  if (step->port != REGAL_RUN)
    return step->port < 0 ? REGAL_OK
                          : hold(memory, i, step->to,
                                 graph->bytes[regal_verify_item(graph, step)]);
  for (uint32_t t = graph->output_begin[step->op];
       t < graph->output_begin[step->op + 1]; t++)
    REGAL_TRY(hold(memory, i, step->device, graph->bytes[t]));
  return hold(memory, i, step->device, graph->temporary_bytes[step->op]);
}

/* Frees the copy if this was the last step that needed it. */
static void maybe_free(memory *memory, uint32_t i, uint32_t tensor,
                       uint32_t device) {
  if (*last_of_copy(memory, tensor, device) == i)
    memory->held[device] -= memory->reading->graph->bytes[tensor];
}

static void end_step(memory *memory, uint32_t i) {
  const regal_graph *graph = memory->reading->graph;
  const regal_step *step = &memory->reading->plan->steps[i];
  if (step->port != REGAL_RUN) {
    if (step->port >= 0)
      maybe_free(memory, i, regal_verify_item(graph, step), step->device);
    return;
  }
  uint32_t op = step->op;
  for (uint32_t t = graph->output_begin[op]; t < graph->output_begin[op + 1];
       t++)
    maybe_free(memory, i, t, step->device);
  for (uint32_t k = graph->input_begin[op]; k < graph->input_begin[op + 1]; k++)
    maybe_free(memory, i, graph->input[k], step->device);
  memory->held[step->device] -= graph->temporary_bytes[op];
}

static void note_peak(regal_timeline *timeline, regal_cost *cost, uint32_t i,
                      uint32_t device, int64_t bytes) {
  if (timeline->peak_step[device] != REGAL_NONE &&
      bytes <= cost->peak_bytes[device])
    return;
  timeline->peak_step[device] = i;
  cost->peak_bytes[device] = bytes;
}

static regal_status walk(memory *memory, regal_timeline *timeline,
                         regal_cost *cost) {
  const regal_plan *plan = memory->reading->plan;
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

regal_status regal_verify_memory(const regal_reading *reading,
                                 regal_timeline *timeline, regal_cost *cost) {
  const regal_graph *graph = reading->graph;
  size_t copies = (size_t)graph->tensors + reading->send_begin[graph->tensors];
  memory memory = {.reading = reading,
                   .last =
                       regal_alloc(reading->context, copies, sizeof(uint32_t))};
  if (!memory.last)
    return regal_fail_memory(reading->context);
  find_last_steps(&memory);
  regal_status status = hold_resident(&memory);
  if (status == REGAL_OK)
    status = walk(&memory, timeline, cost);
  if (status == REGAL_OK)
    status = compare_with_limits(reading, cost);
  regal_release(reading->context, memory.last);
  return status;
}
