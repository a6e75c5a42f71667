/* SPDX-License-Identifier: Apache-2.0 */
/* XLA's rules for outputs in the memory of operands, from its source.
 *
 * Some outputs must be there (AliasInfo::GetInPlaceInputOutputPairs): a
 * dynamic-update-slice and a scatter write into their first operands, also at
 * the end of a fusion; a while loop leaves its values where it found them; a
 * custom call or a fusion may say so itself. XLA has inserted copies where
 * others still need the operand.
 *
 * Others may be there if the operand is not needed any more, has the same shape
 * and layout, and every element is read before it is overwritten
 * (HloDataflowAnalysis::CanShareOperandBufferWithUser): element-wise
 * instructions, fusions in which everything computed from the operand is
 * element-wise, a product fused with an addition to the operand, sorts,
 * branches. XLA's heap simulator takes only an operand that the instruction
 * reads directly, not through a view, and never for a copy.
 */
#include "format/hlo/share.h"

static const regal_hlo_instruction *operand_of(const regal_hlo_computation *in,
                                               const regal_hlo_instruction *at,
                                               uint32_t index) {
  return &in->instruction[at->operand[index]];
}

/* -- What is element-wise -------------------------------------------------- */

static bool is_elementwise_on(const regal_hlo_module *module,
                              const regal_hlo_computation *in,
                              const regal_hlo_instruction *at,
                              uint32_t operand) {
  switch (at->opcode->opcode) {
  case REGAL_HLO_DYNAMIC_UPDATE_SLICE:
    return operand == 0;
  case REGAL_HLO_BITCAST_CONVERT:
    return at->shape.bytes == operand_of(in, at, operand)->shape.bytes;
  case REGAL_HLO_FUSION: {
    const regal_hlo_computation *fused = &module->computation[at->call[0]];
    return fused->instruction[fused->parameter[operand]].elementwise;
  }
  default:
    return at->opcode->role == REGAL_HLO_ELEMENTWISE;
  }
}

void regal_hlo_trace(regal_hlo_module *module, regal_hlo_computation *in) {
  for (uint32_t i = 0; i < in->count; i++)
    in->instruction[i].elementwise = true;
  for (uint32_t i = in->count; i-- > 0;) {
    const regal_hlo_instruction *at = &in->instruction[i];
    bool tuple = at->opcode->opcode == REGAL_HLO_TUPLE;
    for (uint32_t k = 0; k < at->operands; k++)
      if (!at->elementwise || (!tuple && !is_elementwise_on(module, in, at, k)))
        in->instruction[at->operand[k]].elementwise = false;
  }
}

/* -- Outputs that must be in place ----------------------------------------- */

typedef struct place {
  const regal_hlo_instruction *at;
  uint32_t leaf;
} place;

/* The part of a tuple that has this leaf, which is one of its leaves. */
static uint32_t part_with(const regal_hlo_shape *shape, uint32_t leaf) {
  uint32_t low = 0, high = shape->parts;
  while (high - low > 1) {
    uint32_t middle = low + (high - low) / 2;
    if (shape->part[middle].first <= leaf)
      low = middle;
    else
      high = middle;
  }
  return low;
}

/* Where a value comes from, through views. (A part without leaves may have the
 * same first leaf as the next one: the last of them is found.) */
static place follow(const regal_hlo_computation *in, place from) {
  while (from.at->opcode->role == REGAL_HLO_VIEW) {
    uint32_t operand = 0;
    if (from.at->opcode->opcode == REGAL_HLO_TUPLE) {
      operand = part_with(&from.at->shape, from.leaf);
      from.leaf -= from.at->shape.part[operand].first;
    }
    const regal_hlo_instruction *to = operand_of(in, from.at, operand);
    if (from.at->opcode->opcode == REGAL_HLO_GET_TUPLE_ELEMENT)
      from.leaf += to->shape.part[from.at->number].first;
    from.at = to;
  }
  return from;
}

bool regal_hlo_passes(const regal_hlo_computation *body, uint32_t leaf) {
  place from = follow(body, (place){&body->instruction[body->root], leaf});
  return from.at->opcode->opcode == REGAL_HLO_PARAMETER && from.leaf == leaf;
}

/* How many of its first operands a scatter writes to: operands, indices and as
 * many updates. */
static uint32_t written_operands(const regal_hlo_instruction *at) {
  switch (at->opcode->opcode) {
  case REGAL_HLO_DYNAMIC_UPDATE_SLICE:
    return at->operands ? 1 : 0;
  case REGAL_HLO_SCATTER:
    return at->operands / 2;
  case REGAL_HLO_ALL_REDUCE_START:
    return at->operands;
  default:
    return 0;
  }
}

/* The parameter of a fusion whose memory has an output's leaf. */
static const regal_hlo_instruction *
written_parameter(const regal_hlo_computation *in, uint32_t leaf,
                  uint32_t *parameter_leaf) {
  place source = follow(in, (place){&in->instruction[in->root], leaf});
  uint32_t written = written_operands(source.at);
  if (source.at->shape.leaves != written || source.leaf >= written)
    return NULL;
  place target = follow(in, (place){operand_of(in, source.at, source.leaf), 0});
  *parameter_leaf = target.leaf;
  return target.at->opcode->opcode == REGAL_HLO_PARAMETER ? target.at : NULL;
}

static void pair_fusion(const regal_hlo_module *module,
                        const regal_hlo_instruction *at,
                        regal_hlo_pairs *pairs) {
  const regal_hlo_computation *in = &module->computation[at->call[0]];
  for (uint32_t leaf = 0; leaf < at->shape.leaves; leaf++) {
    uint32_t from = 0;
    const regal_hlo_instruction *parameter = written_parameter(in, leaf, &from);
    if (parameter)
      pairs->pair(pairs, leaf, (uint32_t)parameter->number, from);
  }
}

/* What the instruction says about itself. */
static void pair_declared(const regal_hlo_computation *in,
                          const regal_hlo_instruction *at,
                          regal_hlo_pairs *pairs) {
  for (uint32_t i = 0; i < at->aliases; i++) {
    const regal_hlo_alias *alias = &at->alias[i];
    uint32_t to, from, outputs, inputs;
    if (alias->operand < 0 || alias->operand >= at->operands)
      continue;
    const regal_hlo_shape *shape =
        &operand_of(in, at, (uint32_t)alias->operand)->shape;
    if (!regal_hlo_leaves_at(&at->shape, alias->output, alias->output_length,
                             &to, &outputs) ||
        !regal_hlo_leaves_at(shape, alias->input, alias->input_length, &from,
                             &inputs) ||
        inputs != outputs)
      continue;
    for (uint32_t k = 0; k < outputs; k++)
      pairs->pair(pairs, to + k, (uint32_t)alias->operand, from + k);
  }
}

void regal_hlo_in_place(const regal_hlo_module *module,
                        const regal_hlo_computation *in,
                        const regal_hlo_instruction *at,
                        regal_hlo_pairs *pairs) {
  pair_declared(in, at, pairs);
  if (at->opcode->opcode == REGAL_HLO_FUSION)
    pair_fusion(module, at, pairs);
  if (at->opcode->opcode == REGAL_HLO_WHILE)
    for (uint32_t leaf = 0; leaf < at->shape.leaves; leaf++)
      pairs->pair(pairs, leaf, 0, leaf);
  uint32_t written = written_operands(at);
  if (at->shape.leaves == written)
    for (uint32_t i = 0; i < written; i++)
      if (operand_of(in, at, i)->shape.leaves == 1)
        pairs->pair(pairs, i, i, 0);
}

/* -- Outputs that may be in place ------------------------------------------ */

/* A product fused with an addition may be written over the other summand. */
static bool adds_to(const regal_hlo_computation *in, uint32_t parameter) {
  const regal_hlo_instruction *root = &in->instruction[in->root];
  for (uint32_t i = 0; i < 2; i++) {
    regal_hlo_opcode product = operand_of(in, root, i)->opcode->opcode;
    if (product == REGAL_HLO_DOT || product == REGAL_HLO_CONVOLUTION)
      return root->operand[1 - i] == in->parameter[parameter] &&
             operand_of(in, root, 1 - i)->users == 1;
  }
  return false;
}

static bool fusion_may_share(const regal_hlo_module *module,
                             const regal_hlo_instruction *at,
                             uint32_t operand) {
  const regal_hlo_computation *in = &module->computation[at->call[0]];
  const regal_hlo_instruction *root = &in->instruction[in->root];
  if (at->fusion == REGAL_HLO_FUSES_OUTPUT &&
      root->opcode->opcode == REGAL_HLO_ADD && root->operands == 2)
    return adds_to(in, operand);
  return in->instruction[in->parameter[operand]].elementwise;
}

/* A call whose last instruction, element-wise, is all that reads it. */
static bool call_may_share(const regal_hlo_module *module,
                           const regal_hlo_instruction *at, uint32_t operand) {
  const regal_hlo_computation *in = &module->computation[at->call[0]];
  const regal_hlo_instruction *root = &in->instruction[in->root];
  uint32_t parameter = in->parameter[operand];
  if (root->opcode->role != REGAL_HLO_ELEMENTWISE ||
      in->instruction[parameter].users != 1)
    return false;
  for (uint32_t i = 0; i < root->operands; i++)
    if (root->operand[i] == parameter)
      return true;
  return false;
}

bool regal_hlo_may_share(const regal_hlo_module *module,
                         const regal_hlo_computation *in,
                         const regal_hlo_instruction *at, uint32_t output,
                         uint32_t operand, uint32_t leaf) {
  const regal_hlo_instruction *from = operand_of(in, at, operand);
  if (!regal_hlo_same_shape(at->leaf[output], from->leaf[leaf]))
    return false;
  switch (at->opcode->opcode) {
  case REGAL_HLO_COPY:
    return false;
  case REGAL_HLO_FUSION:
    return fusion_may_share(module, at, operand);
  case REGAL_HLO_CALL:
    return call_may_share(module, at, operand);
  case REGAL_HLO_WHILE:
  case REGAL_HLO_CONDITIONAL:
    return true;
  case REGAL_HLO_DYNAMIC_UPDATE_SLICE:
  case REGAL_HLO_SCATTER:
  case REGAL_HLO_SET_DIMENSION_SIZE:
    return operand == 0;
  case REGAL_HLO_TRIANGULAR_SOLVE:
    return operand == 1;
  case REGAL_HLO_SORT:
    return from->users == 1 && operand == output;
  default:
    return is_elementwise_on(module, in, at, operand);
  }
}
