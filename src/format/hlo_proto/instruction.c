/* SPDX-License-Identifier: Apache-2.0 */
/* One instruction of a binary module. */
#include <string.h>

#include "format/hlo_proto/hlo_proto.h"
#include "graph/builder.h"

/* -- Shapes ---------------------------------------------------------------- */

static void set_layout(const RegalHloWire__LayoutProto *layout,
                       regal_hlo_shape *to) {
  if (!layout)
    return;
  if (layout->n_minor_to_major == to->rank)
    to->minor_to_major = layout->minor_to_major;
  to->element_bits = layout->element_size_in_bits;
  if (!layout->n_tiles)
    return;
  to->tile = layout->tiles[0]->dimensions;
  to->tiled = (uint32_t)layout->tiles[0]->n_dimensions;
}

/* The reader's check of the wire format bounds how deep tuples nest. */
static bool set_shape(regal_arena *arena, const RegalHloWire__ShapeProto *from,
                      regal_hlo_shape *to) {
  to->type = (uint32_t)from->element_type;
  to->rank = (uint32_t)from->n_dimensions;
  to->dims = from->dimensions;
  set_layout(from->layout, to);
  if (to->type != REGAL_HLO_TUPLE_TYPE)
    return true;
  to->rank = 0;
  to->parts = (uint32_t)from->n_tuple_shapes;
  to->part = regal_arena_alloc(arena, to->parts, sizeof *to->part);
  for (uint32_t i = 0; to->part && i < to->parts; i++)
    if (!set_shape(arena, from->tuple_shapes[i], &to->part[i]))
      return false;
  return to->part;
}

/* -- Attributes ------------------------------------------------------------ */

static regal_hlo_fusion fusion_of(const char *kind) {
  if (!strcmp(kind, "kInput"))
    return REGAL_HLO_FUSES_INPUT;
  if (!strcmp(kind, "kOutput"))
    return REGAL_HLO_FUSES_OUTPUT;
  return strcmp(kind, "kCustom") ? REGAL_HLO_FUSES_LOOP
                                 : REGAL_HLO_FUSES_CUSTOM;
}

/* The text of the backend, beside the instruction or shared. */
static ProtobufCBinaryData
backend_config(const regal_hlo_proto_reader *reader,
               const regal_hlo_wire_instruction *from) {
  const RegalHloWire__Payload *payload = from->backend_config_payload;
  if (!payload)
    return from->backend_config;
  switch (payload->payload_source_case) {
  case REGAL_HLO_WIRE__PAYLOAD__PAYLOAD_SOURCE_VALUE:
    return payload->value;
  case REGAL_HLO_WIRE__PAYLOAD__PAYLOAD_SOURCE_ID:
    if (payload->id >= 0 && (size_t)payload->id < reader->from->n_payloads)
      return reader->from->payloads[payload->id];
    break;
  default:
    break;
  }
  return from->backend_config;
}

static void set_attributes(const regal_hlo_proto_reader *reader,
                           const regal_hlo_wire_instruction *from,
                           regal_hlo_instruction *to) {
  ProtobufCBinaryData config = backend_config(reader, from);
  to->fusion = fusion_of(from->fusion_kind);
  to->number = to->opcode->opcode == REGAL_HLO_PARAMETER
                   ? from->parameter_number
                   : from->tuple_index;
  to->kernel_output =
      from->convolution_dimension_numbers
          ? from->convolution_dimension_numbers->kernel_output_feature_dimension
          : -1;
  to->multiplies = to->opcode->opcode == REGAL_HLO_CUSTOM_CALL &&
                   regal_hlo_is_product(from->custom_call_target);
  if (to->opcode->opcode == REGAL_HLO_WHILE && config.len)
    to->trips = regal_hlo_trips((const char *)config.data, config.len);
  if (!from->dot_dimension_numbers)
    return;
  to->contracting = from->dot_dimension_numbers->lhs_contracting_dimensions;
  to->contracted =
      (uint32_t)from->dot_dimension_numbers->n_lhs_contracting_dimensions;
}

static regal_status set_aliases(regal_hlo_module *module,
                                const regal_hlo_wire_instruction *from,
                                regal_hlo_instruction *to) {
  to->aliases = (uint32_t)from->n_output_operand_aliasing;
  to->alias = regal_arena_alloc(&module->arena, to->aliases, sizeof *to->alias);
  if (!to->alias)
    return regal_fail_memory(module->context);
  for (uint32_t i = 0; i < to->aliases; i++) {
    const RegalHloWire__OutputOperandAliasing *at =
        from->output_operand_aliasing[i];
    to->alias[i] = (regal_hlo_alias){.output = at->output_shape_index,
                                     .output_length = at->n_output_shape_index,
                                     .input = at->operand_shape_index,
                                     .input_length = at->n_operand_shape_index,
                                     .operand = at->operand_index};
  }
  return REGAL_OK;
}

regal_status regal_hlo_proto_instruction(regal_hlo_proto_reader *reader,
                                         const regal_hlo_wire_instruction *from,
                                         regal_hlo_instruction *to) {
  regal_hlo_module *module = reader->module;
  to->name = from->name;
  to->opcode_name = from->opcode;
  to->opcode = regal_hlo_find_opcode(from->opcode);
  if (!from->shape)
    return regal_hlo_fail(module, to, "it has no shape");
  if (!set_shape(&module->arena, from->shape, &to->shape))
    return regal_fail_memory(module->context);
  set_attributes(reader, from, to);
  return set_aliases(module, from, to);
}

/* -- References ------------------------------------------------------------ */

static regal_status link(const regal_hlo_proto_reader *reader,
                         const regal_hlo_instruction *at,
                         const regal_hlo_ids *ids, const char *what,
                         const int64_t *from, size_t count, uint32_t **to) {
  regal_hlo_module *module = reader->module;
  *to = regal_arena_alloc(&module->arena, count, sizeof **to);
  if (!*to)
    return regal_fail_memory(module->context);
  for (size_t i = 0; i < count; i++) {
    (*to)[i] = regal_hlo_ids_find(ids, from[i]);
    if ((*to)[i] == REGAL_NONE)
      return regal_hlo_fail(module, at, "%s %lld, which is not there", what,
                            (long long)from[i]);
  }
  return REGAL_OK;
}

regal_status regal_hlo_proto_link(regal_hlo_proto_reader *reader,
                                  const regal_hlo_wire_instruction *from,
                                  regal_hlo_instruction *to) {
  const regal_hlo_ids *here = &reader->instructions;
  to->operands = (uint32_t)from->n_operand_ids;
  to->controls = (uint32_t)from->n_control_predecessor_ids;
  to->calls = (uint32_t)from->n_called_computation_ids;
  REGAL_TRY(link(reader, to, here, "reads instruction", from->operand_ids,
                 to->operands, &to->operand));
  REGAL_TRY(link(reader, to, here, "waits for instruction",
                 from->control_predecessor_ids, to->controls, &to->control));
  return link(reader, to, &reader->computations, "calls computation",
              from->called_computation_ids, to->calls, &to->call);
}
