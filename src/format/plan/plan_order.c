/* SPDX-License-Identifier: Apache-2.0 */
/* Reader of bare orders, in files and in memory: what a compiler can easily
 * write.
 *
 *   # comment
 *   17        the op with id 17, on device 0
 *   18 1      the op with id 18, on device 1
 *
 * All ops must be there, once, in a topological order. Ids of nodes that are
 * in the graph's file but are no ops of their own (joined with others by the
 * reader) are passed over.
 */
#include <stdarg.h>
#include <string.h>

#include "cost/model/plan.h"
#include "format/plan/plan.h"

typedef struct order_reader {
  regal_context *context;
  const regal_problem *problem;
  const char *name;     /* of the file; NULL: in memory */
  uint32_t *order;      /* [ops] */
  uint32_t *line_of;    /* [ops] where the op is, 0: nowhere */
  uint8_t *placement;   /* [ops] */
  uint32_t count, line; /* in memory a line is an entry, also from 1 */
} order_reader;

/* Where something else stands: "line 7", or "order[6]". */
typedef struct order_place {
  char text[24];
} order_place;

static order_place place_of(const order_reader *reader, uint32_t line) {
  order_place place;
  if (reader->name)
    snprintf(place.text, sizeof place.text, "line %u", line);
  else
    snprintf(place.text, sizeof place.text, "order[%u]", line - 1);
  return place;
}

static regal_status fail_line(const order_reader *reader, const char *format,
                              ...) REGAL_FORMAT(2, 3);

static regal_status fail_line(const order_reader *reader, const char *format,
                              ...) {
  char problem[REGAL_MESSAGE_CAPACITY];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(problem, sizeof problem, format, arguments);
  va_end(arguments);
  if (!reader->name)
    return regal_fail(reader->context, REGAL_BAD_INPUT, "%s: %s",
                      place_of(reader, reader->line).text, problem);
  return regal_fail(reader->context, REGAL_BAD_INPUT, "%s:%u: %s", reader->name,
                    reader->line, problem);
}

/* -- Lines ----------------------------------------------------------------- */

static const char *skip_blanks(const char *at, const char *end) {
  while (at < end && (*at == ' ' || *at == '\t' || *at == '\r'))
    at++;
  return at;
}

/* Reads a number of at most 32 bits; false if there is none, or if something
 * is glued to it. */
static bool take_number(const char **at, const char *end, uint64_t *number) {
  const char *s = *at;
  *number = 0;
  for (; s < end && *s >= '0' && *s <= '9'; s++) {
    *number = *number * 10 + (uint64_t)(*s - '0');
    if (*number > UINT32_MAX)
      return false;
  }
  bool ended = s == end || *s == ' ' || *s == '\t' || *s == '\r' || *s == '#';
  if (s == *at || !ended)
    return false;
  *at = skip_blanks(s, end);
  return true;
}

static regal_status add_op(order_reader *reader, uint64_t id, uint64_t device) {
  const regal_graph *graph = reader->problem->graph;
  uint32_t devices = reader->problem->devices;
  if (id >= graph->file_nodes)
    return fail_line(reader, "there is no op with id %llu in the graph",
                     (unsigned long long)id);
  if (device >= devices)
    return fail_line(
        reader, "device %llu is out of range, the machine has %u device%s",
        (unsigned long long)device, devices, devices == 1 ? "" : "s");
  uint32_t op = graph->op_of_id[id];
  if (op == REGAL_NONE)
    return REGAL_OK;
  if (reader->line_of[op])
    return fail_line(reader, "id %llu is there twice, first %s%s",
                     (unsigned long long)id, reader->name ? "on " : "",
                     place_of(reader, reader->line_of[op]).text);
  reader->line_of[op] = reader->line;
  reader->placement[op] = (uint8_t)device;
  reader->order[reader->count++] = op;
  return REGAL_OK;
}

static regal_status read_line(order_reader *reader, const char *at,
                              const char *end) {
  uint64_t id, device = 0;
  at = skip_blanks(at, end);
  if (at == end || *at == '#')
    return REGAL_OK;
  const char *begin = at;
  bool good = take_number(&at, end, &id);
  if (good && at < end && *at != '#')
    good = take_number(&at, end, &device);
  if (good && (at == end || *at == '#'))
    return add_op(reader, id, device);
  while (end > begin && (end[-1] == '\r' || end[-1] == ' '))
    end--;
  int width = end - begin < 40 ? (int)(end - begin) : 40;
  return fail_line(reader,
                   "found \"%.*s\", expected an id and perhaps a device", width,
                   begin);
}

static regal_status read_lines(order_reader *reader, const regal_text *text) {
  const char *at = text->bytes, *end = at + text->size;
  while (at < end) {
    const char *stop = memchr(at, '\n', (size_t)(end - at));
    stop = stop ? stop : end;
    reader->line++;
    REGAL_TRY(read_line(reader, at, stop));
    at = stop + (stop < end);
  }
  return REGAL_OK;
}

/* -- Checks ---------------------------------------------------------------- */

static regal_status check_complete(const order_reader *reader) {
  const regal_graph *graph = reader->problem->graph;
  uint32_t missing = graph->ops - reader->count, op = 0;
  if (!missing)
    return REGAL_OK;
  while (reader->line_of[op])
    op++;
  return regal_fail(reader->context, REGAL_BAD_INPUT,
                    "%s: %u of %u ops %s missing, the first is \"%.200s\" "
                    "(id %u)",
                    reader->name ? reader->name : "order", missing, graph->ops,
                    missing == 1 ? "is" : "are", regal_graph_name(graph, op),
                    graph->id[op]);
}

static regal_status check_before(order_reader *reader, uint32_t before,
                                 uint32_t op) {
  const regal_graph *graph = reader->problem->graph;
  if (reader->line_of[before] < reader->line_of[op])
    return REGAL_OK;
  reader->line = reader->line_of[op];
  return fail_line(reader,
                   "op \"%.200s\" (id %u) comes before op \"%.200s\" (id %u, "
                   "%s), for which it must wait",
                   regal_graph_name(graph, op), graph->id[op],
                   regal_graph_name(graph, before), graph->id[before],
                   place_of(reader, reader->line_of[before]).text);
}

static regal_status check_topological(order_reader *reader) {
  const regal_graph *graph = reader->problem->graph;
  for (uint32_t i = 0; i < graph->ops; i++) {
    uint32_t op = reader->order[i];
    for (REGAL_ROW(k, graph->input_begin, op))
      REGAL_TRY(check_before(reader, graph->producer[graph->input[k]], op));
    for (REGAL_ROW(k, graph->control_in_begin, op))
      REGAL_TRY(check_before(reader, graph->control_in[k], op));
  }
  return REGAL_OK;
}

static regal_status make_plan(order_reader *reader, regal_plan **plan) {
  REGAL_TRY(check_complete(reader));
  REGAL_TRY(check_topological(reader));
  return regal_plan_from_order(reader->context, reader->problem, reader->order,
                               reader->placement, plan);
}

/* -- Files and memory ------------------------------------------------------ */

static regal_status open_reader(order_reader *reader, regal_context *context,
                                const regal_problem *problem,
                                const char *name) {
  uint32_t ops = problem->graph->ops;
  *reader = (order_reader){
      .context = context,
      .problem = problem,
      .name = name,
      .order = regal_alloc(context, ops, sizeof *reader->order),
      .line_of = regal_alloc(context, ops, sizeof *reader->line_of),
      .placement = regal_alloc(context, ops, sizeof *reader->placement)};
  bool complete = reader->order && reader->line_of && reader->placement;
  return complete ? REGAL_OK : regal_fail_memory(context);
}

static void close_reader(order_reader *reader) {
  regal_release(reader->context, reader->order);
  regal_release(reader->context, reader->line_of);
  regal_release(reader->context, reader->placement);
}

regal_status regal_plan_read_order(regal_context *context,
                                   const regal_problem *problem,
                                   const char *name, const regal_text *text,
                                   regal_plan **plan) {
  order_reader reader;
  regal_status status = open_reader(&reader, context, problem, name);
  if (status == REGAL_OK)
    status = read_lines(&reader, text);
  if (status == REGAL_OK)
    status = make_plan(&reader, plan);
  close_reader(&reader);
  return status;
}

static regal_status take_entries(order_reader *reader, const uint32_t *ids,
                                 const uint16_t *devices, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    reader->line = i + 1;
    REGAL_TRY(add_op(reader, ids[i], devices ? devices[i] : 0));
  }
  return REGAL_OK;
}

regal_status regal_plan_take_order(regal_context *context,
                                   const regal_problem *problem,
                                   const uint32_t *ids, const uint16_t *devices,
                                   uint32_t count, regal_plan **plan) {
  order_reader reader;
  regal_status status = open_reader(&reader, context, problem, NULL);
  if (status == REGAL_OK)
    status = take_entries(&reader, ids, devices, count);
  if (status == REGAL_OK)
    status = make_plan(&reader, plan);
  close_reader(&reader);
  return status;
}
