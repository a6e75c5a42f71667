/* SPDX-License-Identifier: Apache-2.0 */
/* Reader of bare orders, in files and in memory: what a compiler can easily
 * write.
 *
 *   # comment
 *   17        the op with id 17, on device 0
 *   18 1      the op with id 18, on device 1
 *   conv2     the op of that name, on device 0
 *   conv3 1   the op of that name, on device 1
 *
 * A line that begins with a number is about an id. Names may have blanks and
 * '#' in them: a device or a comment, which comes after a blank, is only what
 * no name ends with.
 *
 * All ops must be there, once, in a topological order. Ids of nodes that are
 * in the graph's file but are no ops of their own (joined with others by the
 * reader) are passed over.
 */
#include <stdarg.h>
#include <string.h>

#include "base/plain.h"
#include "cost/model/plan.h"
#include "format/plan/op_names.h"
#include "format/plan/plan.h"

typedef struct order_reader {
  regal_context *context;
  const regal_problem *problem;
  const char *name;   /* of the file; NULL: in memory */
  uint32_t *order;    /* [ops] */
  uint32_t *line_of;  /* [ops] where the op is, 0: nowhere */
  uint8_t *placement; /* [ops] */
  regal_op_names names;
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
  regal_print_list(problem, sizeof problem, format, arguments);
  va_end(arguments);
  if (!reader->name)
    return regal_fail(reader->context, REGAL_BAD_INPUT, "%s: %s",
                      place_of(reader, reader->line).text, problem);
  return regal_fail(reader->context, REGAL_BAD_INPUT, "%s:%u: %s", reader->name,
                    reader->line, problem);
}

/* -- Lines ----------------------------------------------------------------- */

static bool is_blank(char letter) {
  return letter == ' ' || letter == '\t' || letter == '\r';
}

static const char *skip_blanks(const char *at, const char *end) {
  while (at < end && is_blank(*at))
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

static regal_status add_op(order_reader *reader, uint32_t op, uint64_t device) {
  const regal_graph *graph = reader->problem->graph;
  uint32_t devices = reader->problem->devices;
  if (device >= devices)
    return fail_line(
        reader, "device %llu is out of range, the machine has %u device%s",
        (unsigned long long)device, devices, devices == 1 ? "" : "s");
  if (op == REGAL_NONE)
    return REGAL_OK;
  if (reader->line_of[op])
    return fail_line(reader, "id %u is there twice, first %s%s", graph->id[op],
                     reader->name ? "on " : "",
                     place_of(reader, reader->line_of[op]).text);
  reader->line_of[op] = reader->line;
  reader->placement[op] = (uint8_t)device;
  reader->order[reader->count++] = op;
  return REGAL_OK;
}

static regal_status add_id(order_reader *reader, uint64_t id, uint64_t device) {
  const regal_graph *graph = reader->problem->graph;
  if (id >= graph->file_nodes)
    return fail_line(reader, "there is no op with id %llu in the graph",
                     (unsigned long long)id);
  return add_op(reader, graph->op_of_id[id], device);
}

/* -- Names ----------------------------------------------------------------- */

static const char *trim_end(const char *begin, const char *end) {
  while (end > begin && is_blank(end[-1]))
    end--;
  return end;
}

/* The op of this name; REGAL_NAME_ABSENT also for what is too long. */
static regal_status look_up(order_reader *reader, const char *begin,
                            const char *end, uint32_t *op) {
  char name[4096];
  size_t length = (size_t)(end - begin);
  *op = REGAL_NAME_ABSENT;
  if (!length || length >= sizeof name || memchr(begin, 0, length))
    return REGAL_OK;
  memcpy(name, begin, length);
  name[length] = 0;
  REGAL_TRY(regal_op_names_lookup(&reader->names, name, op));
  if (*op == REGAL_NAME_AMBIGUOUS)
    return fail_line(reader,
                     "the graph has more than one op \"%.200s\", say which by "
                     "its id",
                     name);
  return REGAL_OK;
}

/* Where a comment begins, which is after a blank; `end` if there is none. */
static const char *find_comment(const char *begin, const char *end) {
  for (const char *at = begin + 1; at < end; at++)
    if (*at == '#' && is_blank(at[-1]))
      return trim_end(begin, at);
  return end;
}

/* A name, and perhaps a device; *op stays REGAL_NAME_ABSENT if it is none. */
static regal_status find_name(order_reader *reader, const char *begin,
                              const char *end, uint32_t *op, uint64_t *device) {
  *device = 0;
  REGAL_TRY(look_up(reader, begin, end, op));
  const char *number = end;
  while (number > begin && number[-1] >= '0' && number[-1] <= '9')
    number--;
  if (*op != REGAL_NAME_ABSENT || number == begin || number == end ||
      !is_blank(number[-1]))
    return REGAL_OK;
  const char *after = number;
  uint64_t given;
  if (!take_number(&after, end, &given))
    return REGAL_OK;
  *device = given;
  return look_up(reader, begin, trim_end(begin, number), op);
}

static regal_status read_name(order_reader *reader, const char *begin,
                              const char *end) {
  uint32_t op;
  uint64_t device;
  const char *comment = find_comment(begin, end);
  REGAL_TRY(find_name(reader, begin, end, &op, &device));
  if (op == REGAL_NAME_ABSENT && comment < end)
    REGAL_TRY(find_name(reader, begin, comment, &op, &device));
  if (op != REGAL_NAME_ABSENT)
    return add_op(reader, op, device);
  int width = end - begin < 40 ? (int)(end - begin) : 40;
  return fail_line(reader,
                   "found \"%.*s\", expected the id or name of an op, and "
                   "perhaps a device",
                   width, begin);
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
    return add_id(reader, id, device);
  return read_name(reader, begin, trim_end(begin, end));
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
  regal_op_names_init(&reader->names, context, problem->graph);
  bool complete = reader->order && reader->line_of && reader->placement;
  return complete ? REGAL_OK : regal_fail_memory(context);
}

static void close_reader(order_reader *reader) {
  regal_release(reader->context, reader->order);
  regal_release(reader->context, reader->line_of);
  regal_release(reader->context, reader->placement);
  regal_op_names_free(&reader->names);
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
    REGAL_TRY(add_id(reader, ids[i], devices ? devices[i] : 0));
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
