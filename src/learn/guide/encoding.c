/* SPDX-License-Identifier: Apache-2.0 */
/* A problem as the policy reads it. */
#include "learn/guide/propose.h"
#include "policy/features.h"

/* The mean over the devices that can run the op. */
static double mean_run_ns(const regal_problem *problem, uint32_t op) {
  double sum = 0;
  uint32_t count = 0;
  for (uint32_t a = 0; a < problem->devices; a++)
    if (problem->allowed[op] >> a & 1) {
      sum += (double)regal_problem_run_ns(problem, op, a);
      count++;
    }
  return count ? sum / count : 0;
}

/* Its own bytes and all parameters that it reads. */
static int64_t resident_of(const regal_graph *graph, uint32_t op) {
  int64_t bytes = graph->resident_bytes[op];
  for (uint32_t i = graph->parameter_begin[op];
       i < graph->parameter_begin[op + 1]; i++)
    bytes += graph->parameter_bytes[graph->parameter[i]];
  return bytes;
}

static void set_flow(const regal_problem *problem, regal_encoder_input *in) {
  in->ops = problem->ops;
  in->tensors = problem->tensors;
  in->devices = problem->devices;
  in->output_begin = problem->output_begin;
  in->input_begin = problem->input_begin;
  in->input = problem->input;
  in->use_begin = problem->use_begin;
  in->consumer = problem->consumer;
  in->bytes = problem->bytes;
  in->control_tensor = problem->control_tensor;
  in->wait_begin = problem->has_waits ? problem->wait_begin : NULL;
  in->waiter = problem->waiter;
  in->successor_begin = problem->successor_begin;
  in->successor = problem->successor;
  in->temporary = problem->graph->temporary_bytes;
}

regal_status regal_encode_problem(regal_context *context,
                                  const regal_problem *problem,
                                  const regal_brkga_features *features,
                                  regal_encoding **encoding) {
  regal_encoder_input in = {0};
  double *run_ns = regal_alloc(context, problem->ops, sizeof *run_ns);
  int64_t *resident = regal_alloc(context, problem->ops, sizeof *resident);
  regal_status status = REGAL_OK;
  if (!run_ns || !resident)
    status = regal_fail_memory(context);
  if (status == REGAL_OK) {
    for (uint32_t op = 0; op < problem->ops; op++) {
      run_ns[op] = mean_run_ns(problem, op);
      resident[op] = resident_of(problem->graph, op);
    }
    set_flow(problem, &in);
    in.run_ns = problem->objective == REGAL_MEMORY ? NULL : run_ns;
    in.resident = resident;
    in.placement = features ? features->placement : NULL;
    in.position = features ? features->position : NULL;
    status = regal_encoding_create(context, &in, encoding);
  }
  regal_release(context, resident);
  regal_release(context, run_ns);
  return status;
}
