/* SPDX-License-Identifier: Apache-2.0 */
/* What a graph asks of the machine: ops that must run on a device, which has a
 * number or a name there, and ops that must share one. The machine is not known
 * yet, so both are kept as texts, each distinct one once.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/names.h"
#include "base/text.h"
#include "graph/builder.h"

/* -- Adding ---------------------------------------------------------------- */

static regal_status check_label(const regal_builder *builder, const char *what,
                                uint32_t op, const char *text) {
  if (op >= builder->op_count)
    return regal_fail(builder->context, REGAL_MISUSE,
                      "%s of op %" PRIu32 ", but only %zu ops were added", what,
                      op, builder->op_count);
  if (!text)
    return regal_fail(builder->context, REGAL_MISUSE,
                      "%s of op %" PRIu32 ": the pointer is NULL", what, op);
  if (!*text)
    return regal_builder_fail(
        builder, op, REGAL_BAD_INPUT, "op %s: the name of its %s is empty",
        regal_quote(regal_built_name(builder, op)).text, what);
  return REGAL_OK;
}

static regal_status append(regal_builder *builder, uint32_t op,
                           const char *text, regal_built_label *label) {
  size_t size = strlen(text) + 1;
  if (!regal_builder_reserve_text(builder, size))
    return regal_fail_memory(builder->context);
  *label = (regal_built_label){builder->name_bytes, op};
  memcpy(builder->names + builder->name_bytes, text, size);
  builder->name_bytes += size;
  return REGAL_OK;
}

/* A number is kept in its shortest form; it must be one that devices have. */
static regal_status check_number(const regal_builder *builder, uint32_t op,
                                 const char *text, char *number) {
  while (*text == '0' && text[1])
    text++;
  long value = strlen(text) > 3 ? REGAL_MAX_DEVICES : strtol(text, NULL, 10);
  if (value >= REGAL_MAX_DEVICES)
    return regal_builder_fail(
        builder, op, REGAL_BAD_INPUT,
        "op %s: found device %.20s, expected 0 to %d or a name",
        regal_quote(regal_built_name(builder, op)).text, text,
        REGAL_MAX_DEVICES - 1);
  memcpy(number, text, strlen(text) + 1);
  return REGAL_OK;
}

regal_status regal_builder_set_device(regal_builder *builder, uint32_t op,
                                      const char *device) {
  char number[4];
  if (!builder)
    return REGAL_MISUSE;
  REGAL_TRY(check_label(builder, "device", op, device));
  if (regal_is_number(device)) {
    REGAL_TRY(check_number(builder, op, device, number));
    device = number;
  }
  REGAL_TRY(REGAL_BUILDER_ROOM(builder, device, "ops with a device"));
  REGAL_TRY(
      append(builder, op, device, &builder->devices[builder->device_count]));
  builder->device_count++;
  return REGAL_OK;
}

regal_status regal_builder_set_group(regal_builder *builder, uint32_t op,
                                     const char *group) {
  if (!builder)
    return REGAL_MISUSE;
  REGAL_TRY(check_label(builder, "group", op, group));
  REGAL_TRY(REGAL_BUILDER_ROOM(builder, group, "ops in groups"));
  REGAL_TRY(append(builder, op, group, &builder->groups[builder->group_count]));
  builder->group_count++;
  return REGAL_OK;
}

/* -- Laying out ------------------------------------------------------------ */

/* Numbers the texts in the order of the graph's ops, so that the graph does not
 * depend on the order of the calls. `text` has an offset for each op. */
static regal_status number_texts(regal_graph *graph, const char *texts,
                                 const size_t *text, regal_labels *labels) {
  regal_names names;
  regal_names_init(&names, graph->context);
  bool room = true;
  for (uint32_t op = 0; op < graph->ops && room; op++) {
    size_t number = REGAL_NONE, before = names.count;
    if (text[op] != SIZE_MAX)
      room = regal_names_add(&names, texts + text[op], &number);
    if (names.count > before)
      labels->begin[labels->count++] = text[op];
    labels->of[op] = (uint32_t)number;
  }
  regal_names_free(&names);
  return room ? REGAL_OK : regal_fail_memory(graph->context);
}

static regal_status fill_labels(const regal_builder *builder,
                                const uint32_t *number, regal_graph *graph,
                                const regal_built_label *built, size_t count,
                                regal_labels *labels) {
  if (!count)
    return REGAL_OK;
  regal_context *context = graph->context;
  size_t *text = regal_alloc(context, graph->ops, sizeof *text);
  labels->begin = regal_alloc(context, graph->ops, sizeof *labels->begin);
  labels->of = regal_alloc(context, graph->ops, sizeof *labels->of);
  regal_status status = REGAL_OK;
  if (!text || !labels->begin || !labels->of) {
    status = regal_fail_memory(context);
  } else {
    memset(text, 0xFF, graph->ops * sizeof *text);
    for (size_t i = 0; i < count; i++) /* the last counts */
      text[number[built[i].op]] = built[i].text;
    status = number_texts(graph, builder->names, text, labels);
  }
  regal_release(context, text);
  return status;
}

regal_status regal_builder_fill_labels(const regal_builder *builder,
                                       const uint32_t *number,
                                       regal_graph *graph) {
  REGAL_TRY(fill_labels(builder, number, graph, builder->devices,
                        builder->device_count, &graph->device));
  return fill_labels(builder, number, graph, builder->groups,
                     builder->group_count, &graph->group);
}
