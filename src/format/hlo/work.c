/* SPDX-License-Identifier: Apache-2.0 */
/* FLOPs, bytes and run times.
 *
 * An instruction takes its launch and the longer of computing and moving, by a
 * roofline. A matrix product has 2 FLOPs for each element of the result and of
 * the contracted dimensions, an element-wise instruction one for each element,
 * a reduction one for each element that it reads. A fusion computes what its
 * instructions do and moves its operands and results only; of an operand that
 * it only slices, the slices. Calls take the time of their instructions, loops
 * as often as they run (once, if the module does not say how often), and
 * branches the time of the longest.
 *
 * Numbers of different types are computed at different rates: FLOPs are
 * converted to as many of fp32 as take the same time.
 */
#include "format/hlo/work.h"

#include <math.h>
#include <string.h>

static const regal_hlo_instruction *operand_of(const regal_hlo_computation *in,
                                               const regal_hlo_instruction *at,
                                               uint32_t index) {
  return &in->instruction[at->operand[index]];
}

/* -- FLOPs ----------------------------------------------------------------- */

/* The common dimension of two matrices, by their elements: (m k) (k n) / (m n)
 * is k squared. */
static double guess_common(const regal_hlo_computation *in,
                           const regal_hlo_instruction *at) {
  double result = at->shape.leaves ? at->leaf[0]->elements : 0;
  if (at->operands < 2 || result < 1)
    return 0;
  double both = operand_of(in, at, 0)->shape.elements *
                operand_of(in, at, 1)->shape.elements;
  return sqrt(both / result);
}

static double common_size(const regal_hlo_computation *in,
                          const regal_hlo_instruction *at) {
  if (strcmp(at->opcode_name, "dot") != 0)
    return guess_common(in, at);
  double size = 1;
  if (!at->operands)
    return size;
  const regal_hlo_shape *left = &operand_of(in, at, 0)->shape;
  for (uint32_t i = 0; i < at->contracted; i++)
    if (at->contracting[i] >= 0 && at->contracting[i] < left->rank)
      size *= (double)left->dims[at->contracting[i]];
  return size;
}

static double kernel_size(const regal_hlo_computation *in,
                          const regal_hlo_instruction *at) {
  if (at->operands < 2)
    return 0;
  const regal_hlo_shape *kernel = &operand_of(in, at, 1)->shape;
  if (at->kernel_output < 0 || at->kernel_output >= kernel->rank)
    return kernel->elements;
  double features = (double)kernel->dims[at->kernel_output];
  return features < 1 ? 0 : kernel->elements / features;
}

static double read_elements(const regal_hlo_computation *in,
                            const regal_hlo_instruction *at) {
  double elements = 0;
  for (uint32_t i = 0; i < at->operands; i++)
    elements += operand_of(in, at, i)->shape.elements;
  return elements;
}

/* As many of fp32 as take the same time. */
static double as_fp32(const regal_hlo_computation *in,
                      const regal_hlo_instruction *at, double flops,
                      const regal_roofline *roofline) {
  const regal_hlo_shape *shape =
      at->operands ? &operand_of(in, at, 0)->shape : &at->shape;
  return flops * roofline->flops_per_s[REGAL_NUMBER_FP32] /
         roofline->flops_per_s[regal_hlo_number(shape->type)];
}

static double custom_flops(const regal_hlo_computation *in,
                           const regal_hlo_instruction *at) {
  double result = at->shape.leaves ? at->leaf[0]->elements : 0;
  if (at->multiplies)
    return 2 * result * guess_common(in, at);
  return at->kernel_output >= 0 ? 2 * result * kernel_size(in, at) : 0;
}

double regal_hlo_flops(const regal_hlo_module *module,
                       const regal_hlo_computation *in,
                       const regal_hlo_instruction *at,
                       const regal_roofline *roofline) {
  switch (at->opcode->opcode) {
  case REGAL_HLO_FUSION:
    return module->computation[at->call[0]].flops;
  case REGAL_HLO_DOT:
    return as_fp32(in, at, 2 * at->shape.elements * common_size(in, at),
                   roofline);
  case REGAL_HLO_CONVOLUTION:
    return as_fp32(in, at, 2 * at->shape.elements * kernel_size(in, at),
                   roofline);
  case REGAL_HLO_CUSTOM_CALL:
    return as_fp32(in, at, custom_flops(in, at), roofline);
  case REGAL_HLO_REDUCE:
  case REGAL_HLO_SORT:
  case REGAL_HLO_SCATTER:
    return as_fp32(in, at, read_elements(in, at), roofline);
  default:
    break;
  }
  regal_hlo_role role = at->opcode->role;
  return role == REGAL_HLO_ELEMENTWISE || role == REGAL_HLO_COMPUTES
             ? as_fp32(in, at, at->shape.elements, roofline)
             : 0;
}

/* -- Bytes ----------------------------------------------------------------- */

/* Of what is written into a part of an operand: that part, read and written. */
static double update_bytes(const regal_hlo_computation *in,
                           const regal_hlo_instruction *at) {
  uint32_t update =
      at->opcode->opcode == REGAL_HLO_SCATTER ? at->operands - 1 : 1;
  if (at->operands < 2)
    return 0;
  return 2 * (double)operand_of(in, at, update)->shape.bytes;
}

static bool updates(const regal_hlo_instruction *at) {
  return at->opcode->opcode == REGAL_HLO_DYNAMIC_UPDATE_SLICE ||
         at->opcode->opcode == REGAL_HLO_SCATTER;
}

static double moved_bytes(const regal_hlo_computation *in,
                          const regal_hlo_instruction *at) {
  double bytes = (double)at->shape.bytes;
  if (at->opcode->opcode == REGAL_HLO_SLICE)
    return 2 * bytes;
  if (updates(at))
    return update_bytes(in, at);
  for (uint32_t i = 0; i < at->operands; i++)
    bytes += (double)operand_of(in, at, i)->shape.bytes;
  return bytes;
}

/* What one instruction of a fusion reads of the parameters. */
static double fused_reads(const regal_hlo_computation *in,
                          const regal_hlo_instruction *at) {
  double bytes = 0;
  for (uint32_t i = 0; i < at->operands; i++) {
    const regal_hlo_instruction *from = operand_of(in, at, i);
    if (from->opcode->opcode != REGAL_HLO_PARAMETER)
      continue;
    if (!i && at->opcode->opcode == REGAL_HLO_SLICE)
      bytes += (double)at->shape.bytes;
    else if (i || !updates(at))
      bytes += (double)from->shape.bytes / from->users;
  }
  return bytes;
}

static double fused_writes(const regal_hlo_computation *in) {
  const regal_hlo_instruction *root = &in->instruction[in->root];
  double bytes = 0;
  if (root->opcode->opcode != REGAL_HLO_TUPLE)
    return updates(root) ? update_bytes(in, root) : (double)root->shape.bytes;
  for (uint32_t i = 0; i < root->operands; i++) {
    const regal_hlo_instruction *part = operand_of(in, root, i);
    bytes += updates(part) ? update_bytes(in, part) : (double)part->shape.bytes;
  }
  return bytes;
}

/* -- Times ----------------------------------------------------------------- */

static double longest_call(const regal_hlo_module *module,
                           const regal_hlo_instruction *at) {
  double longest = 0;
  for (uint32_t i = 0; i < at->calls; i++)
    longest = fmax(longest, module->computation[at->call[i]].run_ns);
  return longest;
}

/* The time of what is called; negative: the instruction has one of its own. */
static double called_ns(const regal_hlo_module *module,
                        const regal_hlo_instruction *at) {
  double trips = at->trips > 0 ? (double)at->trips : 1;
  switch (at->opcode->opcode) {
  case REGAL_HLO_CALL:
  case REGAL_HLO_CONDITIONAL:
    return longest_call(module, at);
  case REGAL_HLO_WHILE:
    return trips * (module->computation[at->call[0]].run_ns +
                    module->computation[at->call[1]].run_ns);
  default:
    return at->opcode->role == REGAL_HLO_START && at->calls
               ? longest_call(module, at)
               : -1;
  }
}

static bool runs(const regal_hlo_instruction *at) {
  switch (at->opcode->role) {
  case REGAL_HLO_VALUE:
  case REGAL_HLO_VIEW:
  case REGAL_HLO_BARRIER:
  case REGAL_HLO_UPDATE:
  case REGAL_HLO_DONE:
    return false;
  default:
    return true;
  }
}

regal_status regal_hlo_run_ns(const regal_hlo_module *module,
                              const regal_hlo_computation *in,
                              const regal_hlo_instruction *at,
                              const regal_roofline *roofline, int64_t *ns) {
  *ns = 0;
  if (!runs(at))
    return REGAL_OK;
  double called = called_ns(module, at);
  if (called >= 0 && called < 0x1p62) {
    *ns = (int64_t)called;
    return REGAL_OK;
  }
  double bytes = at->opcode->opcode == REGAL_HLO_FUSION
                     ? module->computation[at->call[0]].moved_bytes
                     : moved_bytes(in, at);
  double flops = regal_hlo_flops(module, in, at, roofline);
  if (called < 0 && flops <= 0 && bytes <= 0) /* nothing to launch */
    return REGAL_OK;
  if (called >= 0 ||
      !regal_roofline_time(roofline, REGAL_NUMBER_FP32, flops, bytes, ns))
    return regal_hlo_fail(module, at, "its run time is beyond 2^62 ns");
  return REGAL_OK;
}

regal_status regal_hlo_sum_work(regal_hlo_module *module,
                                regal_hlo_computation *in,
                                const regal_roofline *roofline) {
  in->moved_bytes = fused_writes(in);
  for (uint32_t i = 0; i < in->count; i++) {
    const regal_hlo_instruction *at = &in->instruction[i];
    int64_t ns = 0;
    REGAL_TRY(regal_hlo_run_ns(module, in, at, roofline, &ns));
    in->run_ns += (double)ns;
    in->flops += regal_hlo_flops(module, in, at, roofline);
    in->moved_bytes += fused_reads(in, at);
  }
  return REGAL_OK;
}
