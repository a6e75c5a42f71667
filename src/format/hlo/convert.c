/* SPDX-License-Identifier: Apache-2.0 */
/* The stages from a module to a graph, in their order. */
#include "format/hlo/build.h"
#include "format/hlo/share.h"
#include "graph/builder.h"

/* Marks bodies of loops, whose results are written over their parameters. */
static void mark_bodies(regal_hlo_module *module) {
  for (uint32_t i = 0; i < module->count; i++)
    for (uint32_t k = 0; k < module->computation[i].count; k++) {
      const regal_hlo_instruction *at = &module->computation[i].instruction[k];
      if (at->opcode->opcode == REGAL_HLO_WHILE)
        module->computation[at->call[0]].is_body = true;
    }
}

/* Marks what is called so that its values need memory of their own: not
 * fusions, and not what a reduction or a sort does with two numbers. */
static void mark_called(regal_hlo_module *module) {
  for (uint32_t i = 0; i < module->count; i++)
    for (uint32_t k = 0; k < module->computation[i].count; k++) {
      const regal_hlo_instruction *at = &module->computation[i].instruction[k];
      regal_hlo_opcode opcode = at->opcode->opcode;
      bool called = opcode == REGAL_HLO_CALL || opcode == REGAL_HLO_WHILE ||
                    opcode == REGAL_HLO_CONDITIONAL ||
                    at->opcode->role == REGAL_HLO_START;
      for (uint32_t c = 0; called && c < at->calls; c++)
        module->computation[at->call[c]].is_called = true;
    }
}

static int64_t results_of(const regal_hlo_flow *flow) {
  int64_t bytes = 0;
  for (uint32_t t = 0; t < flow->tensors; t++)
    if (flow->tensor[t].is_final)
      bytes += flow->tensor[t].bytes;
  return bytes;
}

static regal_status add_constants(const regal_hlo_module *module,
                                  const regal_hlo_instruction *at,
                                  int64_t bytes, regal_hlo_computation *in) {
  if (bytes > REGAL_MOST_TOTAL / 2 - in->constant_bytes)
    return regal_hlo_fail(module, at,
                          "with its constants, those of its computation are "
                          "beyond 2^61 bytes");
  in->constant_bytes += bytes;
  return REGAL_OK;
}

/* With the constants of what it calls itself. */
static regal_status sum_constants(const regal_hlo_module *module,
                                  regal_hlo_computation *in) {
  for (uint32_t i = 0; i < in->count; i++) {
    const regal_hlo_instruction *at = &in->instruction[i];
    if (at->opcode->opcode == REGAL_HLO_CONSTANT)
      REGAL_TRY(add_constants(module, at, at->shape.bytes, in));
    for (uint32_t c = 0; c < at->calls; c++) {
      const regal_hlo_computation *to = &module->computation[at->call[c]];
      if (to->is_called)
        REGAL_TRY(add_constants(module, at, to->constant_bytes, in));
    }
  }
  return REGAL_OK;
}

static regal_status measure_called(regal_hlo_module *module,
                                   regal_hlo_computation *in) {
  regal_hlo_flow flow;
  regal_status status =
      regal_hlo_flow_make(module, in, false, in->is_body, &flow);
  if (status == REGAL_OK)
    status = regal_hlo_flow_peak(&flow, &in->peak_bytes);
  if (status == REGAL_OK)
    in->result_bytes = results_of(&flow);
  regal_hlo_flow_free(&flow);
  return status == REGAL_OK ? sum_constants(module, in) : status;
}

static regal_status measure(regal_hlo_module *module,
                            const regal_roofline *roofline) {
  mark_bodies(module);
  mark_called(module);
  for (uint32_t i = 0; i < module->count; i++) {
    regal_hlo_computation *in = &module->computation[module->callee_first[i]];
    regal_hlo_trace(module, in);
    REGAL_TRY(regal_hlo_sum_work(module, in, roofline));
    if (in->is_called)
      REGAL_TRY(measure_called(module, in));
  }
  return REGAL_OK;
}

/* Donated parameters are tensors of the graph, and XLA's parameters. */
static int64_t donated_bytes(const regal_hlo_flow *flow) {
  int64_t bytes = 0;
  for (uint32_t t = 0; t < flow->tensors; t++) {
    uint32_t at = flow->op[flow->tensor[t].op].instruction;
    if (flow->computation->instruction[at].donated)
      bytes += flow->tensor[t].bytes;
  }
  return bytes;
}

/* What XLA's order needs, by the model and by XLA. */
static regal_status set_schedule(const regal_hlo_flow *flow,
                                 regal_graph *graph) {
  int64_t peak, resident = graph->total_resident_bytes;
  if (!flow->module->is_scheduled)
    return REGAL_OK;
  REGAL_TRY(regal_hlo_flow_peak(flow, &peak));
  graph->has_schedule = true;
  graph->schedule_peak_bytes = peak + resident;
  if (flow->module->reported_bytes > 0 &&
      flow->module->reported_bytes < REGAL_MOST_TOTAL / 2)
    graph->reported_peak_bytes =
        flow->module->reported_bytes + resident + donated_bytes(flow);
  return REGAL_OK;
}

static regal_status build(regal_hlo_flow *flow, const regal_roofline *roofline,
                          regal_graph **graph) {
  regal_graph *made;
  REGAL_TRY(regal_hlo_build(flow, roofline, &made));
  regal_status status = regal_hlo_add_notes(flow, roofline, made);
  if (status == REGAL_OK)
    status = set_schedule(flow, made);
  if (status == REGAL_OK)
    *graph = made;
  else
    regal_graph_free(made);
  return status;
}

regal_status regal_hlo_convert(regal_hlo_module *module,
                               const regal_options *options,
                               regal_graph **graph) {
  regal_roofline roofline;
  regal_hlo_flow flow;
  REGAL_TRY(regal_roofline_load(module->context, options->roofline, &roofline));
  REGAL_TRY(regal_hlo_check(module));
  REGAL_TRY(measure(module, &roofline));
  regal_status status = regal_hlo_flow_make(
      module, &module->computation[module->entry], true, false, &flow);
  if (status == REGAL_OK)
    status = build(&flow, &roofline, graph);
  regal_hlo_flow_free(&flow);
  return status;
}
