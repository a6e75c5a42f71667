/* SPDX-License-Identifier: Apache-2.0 */
/* Binary modules of XLA: HloProto, as --xla_dump_hlo_as_proto writes it, and
 * the bare HloModuleProto that is in it, as JAX returns it. */
#ifndef REGAL_FORMAT_HLO_PROTO_HLO_PROTO_H
#define REGAL_FORMAT_HLO_PROTO_HLO_PROTO_H

#include "format/hlo/module.h"
#include "hlo.pb-c.h"

bool regal_hlo_proto_detect(const void *bytes, size_t size);
regal_status regal_hlo_proto_load(regal_context *context, const char *name,
                                  const void *bytes, size_t size,
                                  const regal_options *options,
                                  regal_graph **graph);

typedef RegalHloWire__HloModuleProto regal_hlo_wire_module;
typedef RegalHloWire__HloComputationProto regal_hlo_wire_computation;
typedef RegalHloWire__HloInstructionProto regal_hlo_wire_instruction;

/* An id of the file, and the position that it means. */
typedef struct regal_hlo_id {
  int64_t id;
  uint32_t position;
} regal_hlo_id;

typedef struct regal_hlo_ids {
  regal_hlo_id *list; /* by id */
  uint32_t count;
} regal_hlo_ids;

typedef struct regal_hlo_proto_reader {
  regal_hlo_module *module;
  const regal_hlo_wire_module *from;
  regal_hlo_ids computations;
  regal_hlo_ids sequences;    /* of the schedule, by their computations */
  regal_hlo_ids instructions; /* of the computation at hand */
} regal_hlo_proto_reader;

/* Sorts the list. REGAL_NONE, or an element whose id another has too. */
uint32_t regal_hlo_ids_sort(regal_hlo_ids *ids);
/* The position, or REGAL_NONE. */
uint32_t regal_hlo_ids_find(const regal_hlo_ids *ids, int64_t id);

/* One instruction, but for its operands: instruction.c. */
regal_status regal_hlo_proto_instruction(regal_hlo_proto_reader *reader,
                                         const regal_hlo_wire_instruction *from,
                                         regal_hlo_instruction *to);
/* Operands, predecessors and calls as positions. */
regal_status regal_hlo_proto_link(regal_hlo_proto_reader *reader,
                                  const regal_hlo_wire_instruction *from,
                                  regal_hlo_instruction *to);
/* Finds the sequences of the schedule. */
regal_status regal_hlo_proto_index_schedule(regal_hlo_proto_reader *reader);
/* Sets order: [instructions] file positions in the order in which they run:
 * schedule.c. */
regal_status
regal_hlo_proto_order(regal_hlo_proto_reader *reader,
                      const regal_hlo_wire_computation *computation,
                      uint32_t *order);

#endif
