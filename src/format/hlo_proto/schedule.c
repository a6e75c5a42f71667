/* SPDX-License-Identifier: Apache-2.0 */
/* The order in which the instructions of a computation run: its sequence in the
 * module's schedule, or else the order of the file. */
#include "format/hlo_proto/hlo_proto.h"
#include "graph/builder.h"

typedef RegalHloWire__HloScheduleProto__InstructionSequence sequence;

regal_status regal_hlo_proto_index_schedule(regal_hlo_proto_reader *reader) {
  const RegalHloWire__HloScheduleProto *schedule = reader->from->schedule;
  regal_hlo_module *module = reader->module;
  regal_hlo_ids *ids = &reader->sequences;
  ids->count = schedule ? (uint32_t)schedule->n_sequences : 0;
  ids->list = regal_arena_alloc(&module->arena, ids->count, sizeof *ids->list);
  if (!ids->list)
    return regal_fail_memory(module->context);
  for (uint32_t i = 0; i < ids->count; i++)
    ids->list[i] = (regal_hlo_id){schedule->sequences[i]->key, i};
  uint32_t twice = regal_hlo_ids_sort(ids);
  if (twice == REGAL_NONE)
    return REGAL_OK;
  return regal_fail(module->context, REGAL_BAD_INPUT,
                    "%s: the schedule has two sequences for computation %lld",
                    module->path, (long long)ids->list[twice].id);
}

static const sequence *find_sequence(const regal_hlo_proto_reader *reader,
                                     int64_t computation) {
  uint32_t found = regal_hlo_ids_find(&reader->sequences, computation);
  return found == REGAL_NONE ? NULL
                             : reader->from->schedule->sequences[found]->value;
}

static regal_status fail(const regal_hlo_proto_reader *reader,
                         const regal_hlo_wire_computation *computation,
                         const char *what, int64_t id) {
  return regal_fail(reader->module->context, REGAL_BAD_INPUT,
                    "%s: the schedule of computation %s %s %lld",
                    reader->module->path, regal_quote(computation->name).text,
                    what, (long long)id);
}

regal_status
regal_hlo_proto_order(regal_hlo_proto_reader *reader,
                      const regal_hlo_wire_computation *computation,
                      uint32_t *order) {
  const sequence *sequence = find_sequence(reader, computation->id);
  uint32_t count = (uint32_t)computation->n_instructions;
  for (uint32_t i = 0; i < count; i++)
    order[i] = sequence ? REGAL_NONE : i;
  if (!sequence)
    return REGAL_OK;
  uint8_t *seen = regal_arena_alloc(&reader->module->arena, count, 1);
  if (!seen)
    return regal_fail_memory(reader->module->context);
  if (sequence->n_instruction_ids != count)
    return fail(reader, computation, "does not have each instruction once, but",
                (int64_t)sequence->n_instruction_ids);
  for (uint32_t i = 0; i < count; i++) {
    int64_t id = sequence->instruction_ids[i];
    order[i] = regal_hlo_ids_find(&reader->instructions, id);
    if (order[i] == REGAL_NONE)
      return fail(reader, computation,
                  "has an instruction that is not there:", id);
    if (seen[order[i]]++)
      return fail(reader, computation, "has an instruction twice:", id);
  }
  return REGAL_OK;
}
