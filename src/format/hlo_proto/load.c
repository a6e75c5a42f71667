/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes to a module.
 *
 * Neither message has a magic number. A CostGraphDef begins with field 1 as
 * well: a node, whose third field is a number. In an HloModuleProto the third
 * field is a computation: a message. So the first fields decide, of the file
 * (bare) or of its field 1 (HloProto).
 */
#include "format/hlo_proto/hlo_proto.h"
#include "format/proto/wire.h"
#include "graph/builder.h"

#define TAG_BYTES 5
/* Unknown fields, such as the contents of constants, are dropped. */
#define ALL_CONTENT (SIZE_MAX - 1)

enum { NAME = 1, ENTRY_NAME = 2, COMPUTATION = 3 };

/* -- Detection ------------------------------------------------------------- */

/* The number of a field with a length, and that; 0 for others. */
static uint64_t take_head(const uint8_t *bytes, size_t *at, size_t size,
                          uint64_t *length) {
  uint64_t tag;
  if (regal_wire_varint(bytes, at, size, TAG_BYTES, &tag) != REGAL_VARINT_OK ||
      (tag & 7) != REGAL_WIRE_BYTES ||
      regal_wire_varint(bytes, at, size, TAG_BYTES, length) != REGAL_VARINT_OK)
    return 0;
  return tag >> 3;
}

/* Its name, that of its entry, then a computation. (The fields of an HloProto
 * are 1 and 3.) TensorFlow's RunMetadata has the same fields, but messages
 * instead of names. */
static bool begins_module(const uint8_t *bytes, size_t at, size_t size) {
  uint64_t length, last = 0;
  while (at < size) {
    uint64_t field = take_head(bytes, &at, size, &length);
    if (field == COMPUTATION)
      return last == ENTRY_NAME;
    if ((field != NAME && field != ENTRY_NAME) || field <= last ||
        length > size - at || (length && bytes[at] < ' '))
      return false;
    last = field;
    at += (size_t)length;
  }
  return false;
}

static bool begins_hlo(const uint8_t *bytes, size_t size, bool *bare) {
  uint64_t length;
  size_t at = 0;
  *bare = begins_module(bytes, 0, size);
  return *bare || (take_head(bytes, &at, size, &length) == NAME &&
                   begins_module(bytes, at, size));
}

bool regal_hlo_proto_detect(const void *bytes, size_t size) {
  bool bare;
  return begins_hlo(bytes, size, &bare);
}

/* -- Computations ---------------------------------------------------------- */

static regal_status fail_computation(const regal_hlo_proto_reader *reader,
                                     const regal_hlo_wire_computation *at,
                                     const char *what) {
  return regal_fail(reader->module->context, REGAL_BAD_INPUT,
                    "%s: computation %s %s", reader->module->path,
                    regal_quote(at->name).text, what);
}

static regal_status fill_ids(regal_hlo_proto_reader *reader,
                             const regal_hlo_wire_computation *from,
                             const uint32_t *order, regal_hlo_id *list) {
  regal_hlo_ids *ids = &reader->instructions;
  ids->list = list;
  ids->count = (uint32_t)from->n_instructions;
  for (uint32_t i = 0; i < ids->count; i++)
    ids->list[i] =
        (regal_hlo_id){from->instructions[order ? order[i] : i]->id, i};
  uint32_t twice = regal_hlo_ids_sort(ids);
  if (twice == REGAL_NONE)
    return REGAL_OK;
  const regal_hlo_wire_instruction *at =
      from->instructions[ids->list[twice].position];
  return regal_fail(reader->module->context, REGAL_BAD_INPUT,
                    "%s: instruction %s: its id, %lld, is also that of another",
                    reader->module->path, regal_quote(at->name).text,
                    (long long)at->id);
}

static regal_status read_instructions(regal_hlo_proto_reader *reader,
                                      const regal_hlo_wire_computation *from,
                                      const uint32_t *order,
                                      regal_hlo_computation *to) {
  for (uint32_t i = 0; i < to->count; i++)
    REGAL_TRY(regal_hlo_proto_instruction(reader, from->instructions[order[i]],
                                          &to->instruction[i]));
  for (uint32_t i = 0; i < to->count; i++)
    REGAL_TRY(regal_hlo_proto_link(reader, from->instructions[order[i]],
                                   &to->instruction[i]));
  to->root = regal_hlo_ids_find(&reader->instructions, from->root_id);
  if (to->root == REGAL_NONE)
    return fail_computation(reader, from,
                            "has no instruction with its root_id");
  return REGAL_OK;
}

static regal_status read_computation(regal_hlo_proto_reader *reader,
                                     const regal_hlo_wire_computation *from,
                                     regal_hlo_computation *to) {
  regal_hlo_module *module = reader->module;
  size_t count = from->n_instructions;
  if (!count)
    return fail_computation(reader, from, "has no instructions");
  uint32_t *order = regal_arena_alloc(&module->arena, count, sizeof *order);
  regal_hlo_id *list = regal_arena_alloc(&module->arena, count, sizeof *list);
  to->name = from->name;
  to->id = from->id;
  to->count = (uint32_t)count;
  to->instruction =
      regal_arena_alloc(&module->arena, count, sizeof *to->instruction);
  if (!order || !list || !to->instruction)
    return regal_fail_memory(module->context);
  REGAL_TRY(fill_ids(reader, from, NULL, list));
  REGAL_TRY(regal_hlo_proto_order(reader, from, order));
  REGAL_TRY(fill_ids(reader, from, order, list));
  return read_instructions(reader, from, order, to);
}

static regal_status read_computations(regal_hlo_proto_reader *reader) {
  regal_hlo_module *module = reader->module;
  const regal_hlo_wire_module *from = reader->from;
  module->count = (uint32_t)from->n_computations;
  module->computation = regal_arena_alloc(&module->arena, module->count,
                                          sizeof *module->computation);
  regal_hlo_ids *ids = &reader->computations;
  ids->count = module->count;
  ids->list =
      regal_arena_alloc(&module->arena, module->count, sizeof *ids->list);
  if (!module->computation || !ids->list)
    return regal_fail_memory(module->context);
  for (uint32_t i = 0; i < module->count; i++)
    ids->list[i] = (regal_hlo_id){from->computations[i]->id, i};
  uint32_t twice = regal_hlo_ids_sort(ids);
  if (twice != REGAL_NONE)
    return fail_computation(reader,
                            from->computations[ids->list[twice].position],
                            "has the id of another");
  for (uint32_t i = 0; i < module->count; i++)
    REGAL_TRY(read_computation(reader, from->computations[i],
                               &module->computation[i]));
  return REGAL_OK;
}

/* -- The rest of the module ------------------------------------------------ */

static regal_status read_aliases(const regal_hlo_proto_reader *reader) {
  const RegalHloWire__HloInputOutputAliasProto *from =
      reader->from->input_output_alias;
  regal_hlo_module *module = reader->module;
  if (!from)
    return REGAL_OK;
  module->alias =
      regal_arena_alloc(&module->arena, from->n_entries, sizeof *module->alias);
  if (!module->alias)
    return regal_fail_memory(module->context);
  module->aliases = (uint32_t)from->n_entries;
  for (size_t i = 0; i < from->n_entries; i++)
    module->alias[i] = (regal_hlo_alias){
        .output = from->entries[i]->output_shape_index,
        .output_length = from->entries[i]->n_output_shape_index,
        .input = from->entries[i]->parameter_shape_index,
        .input_length = from->entries[i]->n_parameter_shape_index,
        .operand = from->entries[i]->parameter_number};
  return REGAL_OK;
}

static regal_status read_module(regal_hlo_proto_reader *reader) {
  regal_hlo_module *module = reader->module;
  REGAL_TRY(regal_hlo_proto_index_schedule(reader));
  REGAL_TRY(read_computations(reader));
  REGAL_TRY(read_aliases(reader));
  module->is_scheduled =
      reader->from->schedule && reader->from->schedule->n_sequences;
  module->entry = regal_hlo_ids_find(&reader->computations,
                                     reader->from->entry_computation_id);
  if (module->entry == REGAL_NONE)
    return regal_fail(module->context, REGAL_BAD_INPUT,
                      "%s: there is no computation with the id of the entry, "
                      "%lld",
                      module->path,
                      (long long)reader->from->entry_computation_id);
  return REGAL_OK;
}

/* What XLA reports: temporaries and results that no parameter has room for. */
static void read_report(const RegalHloWire__BufferAssignmentProto *from,
                        regal_hlo_module *module) {
  int64_t bytes = 0;
  if (!from || !from->n_buffer_allocations)
    return;
  for (size_t i = 0; i < from->n_buffer_allocations; i++) {
    const RegalHloWire__BufferAllocationProto *at = from->buffer_allocations[i];
    if (at->is_thread_local || at->is_constant ||
        at->is_entry_computation_parameter)
      continue;
    if (at->size < 0 || __builtin_add_overflow(bytes, at->size, &bytes))
      return;
  }
  module->reported_bytes = bytes;
}

/* -- Loading --------------------------------------------------------------- */

static regal_status unpack(regal_hlo_module *module, const void *bytes,
                           size_t size, regal_hlo_proto_reader *reader) {
  bool bare;
  ProtobufCMessage *message;
  begins_hlo(bytes, size, &bare);
  REGAL_TRY(
      regal_wire_unpack(&module->arena, module->path, bytes, size,
                        bare ? &regal_hlo_wire__hlo_module_proto__descriptor
                             : &regal_hlo_wire__hlo_proto__descriptor,
                        ALL_CONTENT, &message));
  if (bare) {
    reader->from = (regal_hlo_wire_module *)message;
    return REGAL_OK;
  }
  const RegalHloWire__HloProto *whole = (RegalHloWire__HloProto *)message;
  reader->from = whole->hlo_module;
  if (!reader->from)
    return regal_fail(module->context, REGAL_BAD_INPUT,
                      "%s: there is no module in it", module->path);
  read_report(whole->buffer_assignment, module);
  return REGAL_OK;
}

regal_status regal_hlo_proto_load(regal_context *context, const char *name,
                                  const void *bytes, size_t size,
                                  const regal_options *options,
                                  regal_graph **graph) {
  regal_hlo_module module;
  regal_hlo_init(&module, context, name);
  regal_hlo_proto_reader reader = {.module = &module};
  regal_status status = unpack(&module, bytes, size, &reader);
  if (status == REGAL_OK)
    status = read_module(&reader);
  if (status == REGAL_OK)
    status = regal_hlo_convert(&module, options, graph);
  regal_hlo_free(&module);
  return status;
}
