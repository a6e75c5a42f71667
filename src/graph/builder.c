/* SPDX-License-Identifier: Apache-2.0 */
/* Collecting the parts of a graph, in any order, with the checks that need no
 * other part. A call that fails adds nothing: the builder stays usable.
 */
#include "graph/builder.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "base/plain.h"
#include "base/utf8.h"

regal_quoted regal_quote(const char *name) {
  enum { ROOM = REGAL_QUOTED_CAPACITY - 3, HEAD = ROOM / 2, DOTS = 3 };
  regal_quoted quoted;
  size_t length = strlen(name), size = 0;
  bool cut = length > ROOM;
  size_t head = cut ? HEAD : length;
  size_t tail = cut ? ROOM - HEAD - DOTS : 0;
  char *text = quoted.text;
  text[size++] = '"';
  memcpy(text + size, name, head);
  size += head;
  if (cut) {
    memcpy(text + size, "...", DOTS);
    memcpy(text + size + DOTS, name + length - tail, tail);
    size += DOTS + tail;
  }
  text[size] = 0;
  for (char *at = text + 1; *at;) {
    size_t shown = regal_utf8_shown(at);
    if (!shown)
      *at = '?';
    at += shown ? shown : 1;
  }
  text[size++] = '"';
  text[size] = 0;
  return quoted;
}

regal_status regal_builder_fail(const regal_builder *builder, uint32_t op,
                                regal_status status, const char *format, ...) {
  char where[REGAL_MESSAGE_CAPACITY / 2] = "";
  char message[REGAL_MESSAGE_CAPACITY];
  va_list arguments;
  va_start(arguments, format);
  regal_print_list(message, sizeof message, format, arguments);
  va_end(arguments);
  if (builder->locate && op != REGAL_NONE)
    builder->locate(builder->locate_state, op, where, sizeof where);
  return regal_fail(builder->context, status, "%s%s%s", where,
                    *where ? ": " : "", message);
}

regal_status regal_builder_create(regal_context *context,
                                  regal_builder **builder) {
  if (!context || !builder)
    return REGAL_MISUSE;
  regal_builder *made = regal_alloc(context, 1, sizeof *made);
  if (!made)
    return regal_fail_memory(context);
  made->context = context;
  made->next_id = REGAL_NONE;
  *builder = made;
  return REGAL_OK;
}

void regal_builder_free(regal_builder *builder) {
  if (!builder)
    return;
  regal_context *context = builder->context;
  regal_release(context, builder->ops);
  regal_release(context, builder->outputs);
  regal_release(context, builder->inputs);
  regal_release(context, builder->controls);
  regal_release(context, builder->parameters);
  regal_release(context, builder->parameter_uses);
  regal_release(context, builder->marks);
  regal_release(context, builder->devices);
  regal_release(context, builder->groups);
  regal_release(context, builder->names);
  regal_release(context, builder);
}

void regal_builder_set_locator(regal_builder *builder, regal_locate_fn locate,
                               const void *state) {
  builder->locate = locate;
  builder->locate_state = state;
}

void regal_builder_set_next_id(regal_builder *builder, uint32_t id) {
  builder->next_id = id;
}

void regal_builder_set_file_nodes(regal_builder *builder, uint32_t nodes) {
  builder->file_nodes = nodes;
}

/* The op whose amount is judged, as it is called in messages. */
typedef struct subject {
  const regal_builder *builder;
  const char *name;
  uint32_t op;
} subject;

static regal_status check_amount(const subject *subject, const char *what,
                                 int64_t amount) {
  if (amount >= 0)
    return REGAL_OK;
  return regal_builder_fail(subject->builder, subject->op, REGAL_BAD_INPUT,
                            "op %s: %s %" PRId64 " is negative",
                            regal_quote(subject->name).text, what, amount);
}

/* Adds to a total that stays below 2^62. Neither can be negative, so that the
 * difference cannot overflow. */
static regal_status check_total(const subject *subject, const char *what,
                                int64_t *total, int64_t amount) {
  if (amount < REGAL_MOST_TOTAL - *total) {
    *total += amount;
    return REGAL_OK;
  }
  return regal_builder_fail(subject->builder, subject->op, REGAL_BAD_INPUT,
                            "op %s: with its %s of %" PRId64
                            " the graph's total is beyond 2^62",
                            regal_quote(subject->name).text, what, amount);
}

regal_status regal_builder_room(const regal_builder *builder, const char *what,
                                size_t count, void **list, size_t *capacity,
                                size_t size) {
  if (count >= REGAL_NONE - 1)
    return regal_fail(builder->context, REGAL_BAD_INPUT,
                      "the graph has more than %" PRIu32 " %s", REGAL_NONE - 1,
                      what);
  if (count < *capacity ||
      regal_reserve(builder->context, list, capacity, size))
    return REGAL_OK;
  return regal_fail_memory(builder->context);
}

bool regal_builder_reserve_text(regal_builder *builder, size_t size) {
  if (size > SIZE_MAX / 4 || builder->name_bytes > SIZE_MAX / 4)
    return false;
  size_t wanted = builder->name_capacity ? builder->name_capacity : 256;
  while (wanted - builder->name_bytes < size)
    wanted *= 2;
  if (wanted == builder->name_capacity)
    return true;
  char *grown = regal_grow(builder->context, builder->names, wanted, 1);
  if (!grown)
    return false;
  builder->names = grown;
  builder->name_capacity = wanted;
  return true;
}

static void append_op(regal_builder *builder, const regal_built_op *made,
                      const char *name) {
  size_t size = strlen(name) + 1;
  regal_built_op *op = &builder->ops[builder->op_count];
  *op = *made;
  op->name = builder->name_bytes;
  op->position = builder->next_id != REGAL_NONE ? builder->next_id
                                                : (uint32_t)builder->op_count;
  memcpy(builder->names + builder->name_bytes, name, size);
  builder->name_bytes += size;
  builder->next_id = REGAL_NONE;
  builder->op_count++;
}

regal_status regal_builder_add_op(regal_builder *builder, const char *name,
                                  int64_t run_ns, int64_t temporary_bytes,
                                  int64_t resident_bytes, uint32_t *id) {
  if (!builder)
    return REGAL_MISUSE;
  if (!name)
    return regal_fail(builder->context, REGAL_MISUSE,
                      "op %zu has no name: the pointer is NULL",
                      builder->op_count);
  REGAL_TRY(REGAL_BUILDER_ROOM(builder, op, "ops"));
  subject op = {builder, name, (uint32_t)builder->op_count};
  REGAL_TRY(check_amount(&op, "run time", run_ns));
  REGAL_TRY(check_amount(&op, "temporary memory", temporary_bytes));
  REGAL_TRY(check_amount(&op, "resident memory", resident_bytes));
  int64_t work = builder->work_ns, bytes = builder->total_bytes;
  REGAL_TRY(check_total(&op, "run time", &work, run_ns));
  REGAL_TRY(check_total(&op, "temporary memory", &bytes, temporary_bytes));
  REGAL_TRY(check_total(&op, "resident memory", &bytes, resident_bytes));
  if (!regal_builder_reserve_text(builder, strlen(name) + 1))
    return regal_fail_memory(builder->context);
  regal_built_op made = {.run_ns = run_ns,
                         .temporary_bytes = temporary_bytes,
                         .resident_bytes = resident_bytes};
  append_op(builder, &made, name);
  builder->work_ns = work;
  builder->total_bytes = bytes;
  builder->resident_bytes += resident_bytes;
  if (id)
    *id = op.op;
  return REGAL_OK;
}

regal_status regal_builder_add_output(regal_builder *builder, uint32_t op,
                                      int64_t bytes, bool is_final) {
  if (!builder)
    return REGAL_MISUSE;
  if (op >= builder->op_count)
    return regal_fail(builder->context, REGAL_MISUSE,
                      "output of op %" PRIu32 ", but only %zu ops were added",
                      op, builder->op_count);
  REGAL_TRY(REGAL_BUILDER_ROOM(builder, output, "tensors"));
  subject producer = {builder, regal_built_name(builder, op), op};
  REGAL_TRY(check_amount(&producer, "output size", bytes));
  int64_t total = builder->total_bytes;
  REGAL_TRY(check_total(&producer, "output size", &total, bytes));
  uint32_t port = builder->ops[op].outputs++;
  builder->outputs[builder->output_count++] =
      (regal_built_output){bytes, op, port, is_final, false};
  builder->total_bytes = total;
  return REGAL_OK;
}

regal_status regal_builder_add_input(regal_builder *builder, uint32_t consumer,
                                     uint32_t producer, uint32_t port) {
  if (!builder)
    return REGAL_MISUSE;
  REGAL_TRY(REGAL_BUILDER_ROOM(builder, input, "inputs"));
  builder->inputs[builder->input_count++] =
      (regal_built_input){consumer, producer, port};
  return REGAL_OK;
}

regal_status regal_builder_add_control(regal_builder *builder, uint32_t before,
                                       uint32_t after) {
  if (!builder)
    return REGAL_MISUSE;
  REGAL_TRY(REGAL_BUILDER_ROOM(builder, control, "control edges"));
  builder->controls[builder->control_count++] =
      (regal_built_control){before, after};
  return REGAL_OK;
}

/* -- Checks that need all ops ---------------------------------------------- */

static regal_status fail_port(const regal_builder *builder,
                              const regal_built_input *input) {
  uint32_t outputs = builder->ops[input->producer].outputs;
  return regal_builder_fail(
      builder, input->consumer, REGAL_BAD_INPUT,
      "op %s reads output %" PRIu32 " of op %s, which has %" PRIu32 " output%s",
      regal_quote(regal_built_name(builder, input->consumer)).text, input->port,
      regal_quote(regal_built_name(builder, input->producer)).text, outputs,
      outputs == 1 ? "" : "s");
}

/* Are both ends of an edge there? `edge` and `does` are for the message. */
static regal_status check_ends(const regal_builder *builder, const char *edge,
                               const char *does, uint32_t from, uint32_t to) {
  size_t ops = builder->op_count;
  if (to >= ops)
    return regal_fail(builder->context, REGAL_BAD_INPUT,
                      "%s is for op %" PRIu32 ", but the number of ops is %zu",
                      edge, to, ops);
  if (from >= ops)
    return regal_builder_fail(
        builder, to, REGAL_BAD_INPUT,
        "op %s %s op %" PRIu32 ", but the number of ops is %zu",
        regal_quote(regal_built_name(builder, to)).text, does, from, ops);
  return REGAL_OK;
}

static regal_status check_input(const regal_builder *builder,
                                const regal_built_input *input) {
  uint32_t producer = input->producer, consumer = input->consumer;
  REGAL_TRY(check_ends(builder, "an input", "reads from", producer, consumer));
  if (producer == consumer)
    return regal_builder_fail(
        builder, consumer, REGAL_BAD_INPUT,
        "op %s reads its own output %" PRIu32,
        regal_quote(regal_built_name(builder, consumer)).text, input->port);
  if (input->port >= builder->ops[producer].outputs)
    return fail_port(builder, input);
  return REGAL_OK;
}

static regal_status check_control(const regal_builder *builder,
                                  const regal_built_control *control) {
  uint32_t before = control->before, after = control->after;
  REGAL_TRY(check_ends(builder, "a control edge", "waits for", before, after));
  if (before == after)
    return regal_builder_fail(
        builder, after, REGAL_BAD_INPUT, "op %s waits for itself",
        regal_quote(regal_built_name(builder, after)).text);
  return REGAL_OK;
}

regal_status regal_builder_check(const regal_builder *builder) {
  if (!builder->op_count)
    return regal_fail(builder->context, REGAL_BAD_INPUT,
                      "the graph has no ops");
  if (builder->input_count + builder->control_count >= REGAL_NONE)
    return regal_fail(builder->context, REGAL_BAD_INPUT,
                      "the graph has more than %" PRIu32 " edges",
                      REGAL_NONE - 1);
  for (size_t i = 0; i < builder->input_count; i++)
    REGAL_TRY(check_input(builder, &builder->inputs[i]));
  for (size_t i = 0; i < builder->control_count; i++)
    REGAL_TRY(check_control(builder, &builder->controls[i]));
  REGAL_TRY(regal_builder_check_parameters(builder));
  return regal_builder_check_marks(builder);
}
