/* SPDX-License-Identifier: Apache-2.0 */
/* Events of a trace, out of the JSON.
 *
 * Kineto, the library behind torch.profiler, writes complete events ("ph": "X")
 * with a category, a start and a duration in microseconds, process, thread and
 * args. Categories have had two spellings. What is of no use here (other
 * phases, Python frames, memory) is skipped unread; what is used must be
 * well-formed.
 */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "format/costs/trace.h"

/* -- Members --------------------------------------------------------------- */

/* The first member of this name, or 0. */
static uint32_t member(const regal_json *json, uint32_t object,
                       const char *key) {
  if (json->nodes[object].kind != REGAL_JSON_OBJECT)
    return 0;
  REGAL_JSON_EACH (node, json, object)
    if (!strcmp(json->nodes[node].key, key))
      return node;
  return 0;
}

/* The text of a string or number, or "". */
static const char *text_of(const regal_json *json, uint32_t node) {
  const char *text = node ? json->nodes[node].text : NULL;
  return text ? text : "";
}

static regal_status read_time(const regal_json *json, uint32_t event,
                              const char *key, int64_t *ns) {
  char with_unit[64];
  uint32_t node = member(json, event, key);
  if (!node)
    return regal_json_fail(json, event, "the event has no \"%s\"", key);
  const char *text = text_of(json, node);
  int length = snprintf(with_unit, sizeof with_unit, "%sus", text);
  if (json->nodes[node].kind != REGAL_JSON_NUMBER ||
      length >= (int)sizeof with_unit || !regal_parse_duration(with_unit, ns))
    return regal_json_fail_value(json, node, "a number of microseconds");
  return REGAL_OK;
}

static uint32_t argument(const regal_json *json, uint32_t event,
                         const char *key) {
  uint32_t arguments = member(json, event, "args");
  return arguments ? member(json, arguments, key) : 0;
}

/* Kineto's ids are whole numbers; others are no ids. */
static regal_status read_id(const regal_json *json, uint32_t event,
                            const char *key, int64_t *id) {
  uint32_t node = argument(json, event, key);
  *id = REGAL_TRACE_NO_ID;
  if (!node)
    return REGAL_OK;
  if (json->nodes[node].kind != REGAL_JSON_NUMBER)
    return regal_json_fail_value(json, node, "a number");
  if (regal_is_number(json->nodes[node].text))
    *id = (int64_t)strtoll(json->nodes[node].text, NULL, 10);
  return REGAL_OK;
}

/* -- Shapes ---------------------------------------------------------------- */

/* 0: not the type of a tensor that we know. */
static int64_t width_of(const char *type) {
  static const struct {
    const char *type;
    int64_t width;
  } widths[] = {{"float", 4},
                {"c10::Half", 2},
                {"c10::BFloat16", 2},
                {"double", 8},
                {"long int", 8},
                {"long", 8},
                {"int", 4},
                {"short int", 2},
                {"short", 2},
                {"signed char", 1},
                {"unsigned char", 1},
                {"bool", 1},
                {"c10::complex<float>", 8}};
  for (size_t i = 0; i < sizeof widths / sizeof *widths; i++)
    if (!strcmp(type, widths[i].type))
      return widths[i].width;
  return 0;
}

static bool is_list(const regal_json *json, uint32_t node) {
  return node && json->nodes[node].kind == REGAL_JSON_ARRAY;
}

/* A list of dimensions, which is a tensor; one without any is a number. */
static regal_status read_tensor(regal_trace *trace, uint32_t dims,
                                int64_t width) {
  const regal_json *json = &trace->json;
  regal_trace_size size = {1, width};
  bool fits = true;
  REGAL_JSON_EACH (node, json, dims) {
    int64_t dim = 0;
    REGAL_TRY(regal_json_integer(json, node, 0, INT64_MAX, &dim));
    fits = fits && !__builtin_mul_overflow(size.elements, dim, &size.elements);
  }
  int64_t bytes;
  if (!fits || __builtin_mul_overflow(size.elements, width, &bytes))
    return REGAL_OK; /* nothing that a graph could have */
  if (!REGAL_RESERVE(trace->context, trace->sizes, trace->size_count,
                     trace->size_capacity))
    return regal_fail_memory(trace->context);
  trace->sizes[trace->size_count++] = size;
  return REGAL_OK;
}

/* One input: a tensor, a list of tensors, or something without dimensions. */
static regal_status read_input(regal_trace *trace, uint32_t dims,
                               const char *type) {
  const regal_json *json = &trace->json;
  REGAL_TRY(regal_json_expect(json, dims, REGAL_JSON_ARRAY));
  uint32_t first = json->nodes[dims].child;
  int64_t width = width_of(type);
  if (is_list(json, first)) {
    REGAL_JSON_EACH (node, json, dims) {
      REGAL_TRY(regal_json_expect(json, node, REGAL_JSON_ARRAY));
      REGAL_TRY(read_tensor(trace, node, 0));
    }
    return REGAL_OK;
  }
  return first || width ? read_tensor(trace, dims, width) : REGAL_OK;
}

static regal_status read_shapes(regal_trace *trace, uint32_t node,
                                regal_trace_event *event) {
  const regal_json *json = &trace->json;
  uint32_t shapes = argument(json, node, "Input Dims");
  uint32_t types = argument(json, node, "Input type");
  event->size_begin = (uint32_t)trace->size_count;
  if (shapes) {
    REGAL_TRY(regal_json_expect(json, shapes, REGAL_JSON_ARRAY));
    uint32_t type = is_list(json, types) ? json->nodes[types].child : 0;
    REGAL_JSON_EACH (dims, json, shapes) {
      REGAL_TRY(read_input(trace, dims, text_of(json, type)));
      type = type ? json->nodes[type].next : 0;
    }
  }
  event->size_end = (uint32_t)trace->size_count;
  return REGAL_OK;
}

/* -- Events ---------------------------------------------------------------- */

static bool begins_with(const char *text, const char *start) {
  return !strncmp(text, start, strlen(start));
}

static regal_trace_kind kind_of(const char *category, const char *name) {
  static const struct {
    const char *category;
    regal_trace_kind kind;
  } kinds[] = {
      {"cpu_op", REGAL_TRACE_OP},           {"Operator", REGAL_TRACE_OP},
      {"cuda_runtime", REGAL_TRACE_LAUNCH}, {"cuda_driver", REGAL_TRACE_LAUNCH},
      {"Runtime", REGAL_TRACE_LAUNCH},      {"kernel", REGAL_TRACE_KERNEL},
      {"Kernel", REGAL_TRACE_KERNEL},       {"gpu_memcpy", REGAL_TRACE_KERNEL},
      {"Memcpy", REGAL_TRACE_KERNEL},       {"gpu_memset", REGAL_TRACE_KERNEL},
      {"Memset", REGAL_TRACE_KERNEL}};
  bool is_note = !strcmp(category, "user_annotation");
  if ((is_note || !strcmp(category, "cpu_op")) &&
      (begins_with(name, "Optimizer.") ||
       begins_with(name, "enumerate(DataLoader)")))
    return REGAL_TRACE_OUTSIDE;
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (!strcmp(category, kinds[i].category))
      return kinds[i].kind;
  return REGAL_TRACE_KINDS;
}

static regal_status fill(regal_trace *trace, uint32_t node,
                         regal_trace_event *event) {
  const regal_json *json = &trace->json;
  int64_t duration = 0;
  event->process = text_of(json, member(json, node, "pid"));
  event->thread = text_of(json, member(json, node, "tid"));
  event->node = node;
  event->parent = event->op = event->call = event->key = REGAL_NONE;
  REGAL_TRY(read_time(json, node, "ts", &event->start_ns));
  REGAL_TRY(read_time(json, node, "dur", &duration));
  if (__builtin_add_overflow(event->start_ns, duration, &event->end_ns))
    return regal_json_fail(json, node, "the event ends beyond 2^63 ns");
  REGAL_TRY(read_id(json, node, "External id", &event->external));
  REGAL_TRY(read_id(json, node, "correlation", &event->correlation));
  return event->kind == REGAL_TRACE_OP ? read_shapes(trace, node, event)
                                       : REGAL_OK;
}

static regal_status read_event(regal_trace *trace, uint32_t node) {
  const regal_json *json = &trace->json;
  regal_trace_event event = {0};
  REGAL_TRY(regal_json_expect(json, node, REGAL_JSON_OBJECT));
  if (strcmp(text_of(json, member(json, node, "ph")), "X") != 0)
    return REGAL_OK;
  event.name = text_of(json, member(json, node, "name"));
  regal_trace_kind kind =
      kind_of(text_of(json, member(json, node, "cat")), event.name);
  if (kind == REGAL_TRACE_KINDS)
    return REGAL_OK;
  event.kind = (uint8_t)kind;
  REGAL_TRY(fill(trace, node, &event));
  if (!REGAL_RESERVE(trace->context, trace->events, trace->count,
                     trace->capacity))
    return regal_fail_memory(trace->context);
  trace->events[trace->count++] = event;
  trace->has_kernels = trace->has_kernels || kind == REGAL_TRACE_KERNEL;
  return REGAL_OK;
}

regal_status regal_trace_collect(regal_trace *trace) {
  const regal_json *json = &trace->json;
  uint32_t list = member(json, 0, "traceEvents");
  if (!list)
    return regal_json_fail(json, 0,
                           "found JSON without \"traceEvents\", expected a "
                           "trace of torch.profiler, or a CSV of "
                           "name,microseconds");
  REGAL_TRY(regal_json_expect(json, list, REGAL_JSON_ARRAY));
  REGAL_JSON_EACH (node, json, list)
    REGAL_TRY(read_event(trace, node));
  return REGAL_OK;
}

/* -- The file -------------------------------------------------------------- */

regal_status regal_trace_parse(regal_context *context, const char *path,
                               const char *bytes, size_t size,
                               regal_trace *trace) {
  *trace = (regal_trace){.context = context, .path = path};
  REGAL_TRY(regal_json_parse(context, path, bytes, size, &trace->json));
  regal_status status = regal_trace_collect(trace);
  if (status == REGAL_OK)
    status = regal_trace_nest(trace);
  if (status != REGAL_OK)
    regal_trace_free(trace);
  return status;
}

regal_status regal_trace_open(regal_context *context, const char *path,
                              regal_trace *trace, bool *is_trace) {
  regal_text text;
  REGAL_TRY(regal_read_file(context, path, &text));
  *is_trace = text.size && regal_json_detect(text.bytes, text.size);
  regal_status status =
      *is_trace ? regal_trace_parse(context, path, text.bytes, text.size, trace)
                : REGAL_OK;
  regal_text_free(&text);
  return status;
}

void regal_trace_free(regal_trace *trace) {
  regal_release(trace->context, trace->events);
  regal_release(trace->context, trace->sizes);
  if (trace->json.nodes)
    regal_json_free(&trace->json);
  *trace = (regal_trace){.context = trace->context};
}
