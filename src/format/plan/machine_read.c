/* SPDX-License-Identifier: Apache-2.0 */
/* Reader of machine files; docs/formats.md has the schema.
 *
 * Plan files have the same object under "machine", so that a plan can be
 * judged on the machine that it was made for. Members are applied in a fixed
 * order, whatever their order in the file.
 */
#include "format/plan/machine.h"

#include <string.h>

#include "base/options/options.h"
#include "format/plan/plan.h"

const char *const regal_machine_keys[REGAL_MACHINE_KEYS + 1] = {
    [REGAL_KEY_VERSION] = "regal_machine",
    [REGAL_KEY_DEVICES] = "devices",
    [REGAL_KEY_TRANSFERS] = "transfers",
    [REGAL_KEY_CONTROL] = "control",
    [REGAL_KEY_LATENCY] = "latency_ns",
    [REGAL_KEY_BANDWIDTH] = "bandwidth_bytes_per_s",
    [REGAL_KEY_MEMORY] = "memory_limit_bytes",
    [REGAL_KEY_NAMES] = "names",
    [REGAL_KEY_SPEEDS] = "speeds",
    [REGAL_KEY_LINKS] = "links",
    [REGAL_KEY_TIMES] = "op_times",
    [REGAL_KEY_PINS] = "pins",
    [REGAL_KEY_GROUPS] = "groups"};

static const regal_json_node *node_at(const regal_machine_reader *reader,
                                      uint32_t node) {
  return &reader->json->nodes[node];
}

static bool given(const regal_machine_reader *reader, const char *option) {
  return regal_option_given(reader->options, option);
}

regal_status regal_json_choice(const regal_json *json, uint32_t node,
                               const char *option, int64_t *choice) {
  const char *choices = regal_option_at(regal_option_find(option))->choices;
  REGAL_TRY(regal_json_expect(json, node, REGAL_JSON_STRING));
  int index = regal_choice_index(choices, json->nodes[node].text);
  if (index < 0)
    return regal_json_fail(json, node, "found \"%.60s\", expected one of %s",
                           json->nodes[node].text, choices);
  *choice = index;
  return REGAL_OK;
}

/* -- Options --------------------------------------------------------------- */

static regal_status read_setting(const regal_json *json, uint32_t node,
                                 enum regal_machine_key key, const char *option,
                                 int64_t *value) {
  switch (key) {
  case REGAL_KEY_DEVICES:
    return regal_json_integer(json, node, 1, REGAL_MAX_DEVICES, value);
  case REGAL_KEY_LATENCY:
    return regal_json_duration(json, node, value);
  case REGAL_KEY_BANDWIDTH:
    return regal_json_rate(json, node, value);
  case REGAL_KEY_MEMORY:
    return regal_json_bytes(json, node, value);
  default:
    return regal_json_choice(json, node, option, value);
  }
}

regal_status regal_machine_read_settings(const regal_json *json,
                                         const uint32_t *found,
                                         regal_options *options) {
  const struct {
    enum regal_machine_key key;
    const char *option;
    int64_t *field;
  } settings[] = {{REGAL_KEY_DEVICES, "devices", &options->devices},
                  {REGAL_KEY_TRANSFERS, "transfers", &options->transfers},
                  {REGAL_KEY_CONTROL, "control", &options->control},
                  {REGAL_KEY_LATENCY, "latency", &options->latency},
                  {REGAL_KEY_BANDWIDTH, "bandwidth", &options->bandwidth},
                  {REGAL_KEY_MEMORY, "memory-limit", &options->memory_limit}};
  for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
    enum regal_machine_key key = settings[i].key;
    bool may_be_list = key == REGAL_KEY_DEVICES || key == REGAL_KEY_MEMORY;
    int64_t value;
    if (!found[key] || (may_be_list && regal_json_is_list(json, found[key])))
      continue;
    REGAL_TRY(read_setting(json, found[key], key, settings[i].option, &value));
    if (!regal_option_given(options, settings[i].option))
      *settings[i].field = value;
  }
  return REGAL_OK;
}

/* -- Devices --------------------------------------------------------------- */

/* Makes the machine that the file and the options say, with all devices and
 * links alike. */
static regal_status make_machine(regal_machine_reader *reader,
                                 const uint32_t *found) {
  const regal_json *json = reader->json;
  regal_options options = *reader->options;
  uint32_t devices = found[REGAL_KEY_DEVICES];
  if (regal_json_is_list(json, devices)) {
    int64_t count = regal_json_length(json, devices);
    if (count < 1 || count > REGAL_MAX_DEVICES)
      return regal_json_fail(json, devices,
                             "found %lld devices, expected 1 to %d",
                             (long long)count, REGAL_MAX_DEVICES);
    if (given(reader, "devices") && options.devices != count)
      return regal_json_fail(json, devices,
                             "found %lld devices, but --devices is %lld",
                             (long long)count, (long long)options.devices);
    options.devices = count;
  }
  REGAL_TRY(regal_machine_read_settings(json, found, &options));
  REGAL_TRY(
      regal_machine_from_options(reader->context, &options, &reader->machine));
  reader->machine->graph = reader->graph;
  return REGAL_OK;
}

/* An empty text is no name. */
static regal_status set_name(regal_machine_reader *reader, uint32_t node,
                             uint32_t device) {
  REGAL_TRY(regal_json_expect(reader->json, node, REGAL_JSON_STRING));
  return regal_machine_set_name(reader->machine, device,
                                node_at(reader, node)->text);
}

static regal_status set_speed(regal_machine_reader *reader, uint32_t node,
                              uint32_t device) {
  return regal_json_real(reader->json, node, REGAL_SLOWEST, REGAL_FASTEST,
                         &reader->machine->speed[device]);
}

static regal_status set_limit(regal_machine_reader *reader, uint32_t node,
                              uint32_t device) {
  int64_t bytes;
  REGAL_TRY(regal_json_bytes(reader->json, node, &bytes));
  if (!given(reader, "memory-limit"))
    reader->machine->memory_limit[device] = bytes ? bytes : REGAL_UNLIMITED;
  return REGAL_OK;
}

static regal_status read_device(regal_machine_reader *reader, uint32_t node,
                                uint32_t device) {
  static const char *const keys[] = {"name", "memory_bytes", "speed", NULL};
  uint32_t found[3];
  REGAL_TRY(regal_json_members(reader->json, node, true, keys, found));
  if (found[0])
    REGAL_TRY(set_name(reader, found[0], device));
  if (found[1])
    REGAL_TRY(set_limit(reader, found[1], device));
  if (found[2])
    REGAL_TRY(set_speed(reader, found[2], device));
  return REGAL_OK;
}

typedef regal_status (*device_fn)(regal_machine_reader *reader, uint32_t node,
                                  uint32_t device);

regal_status regal_machine_expect_row(const regal_machine_reader *reader,
                                      uint32_t list) {
  uint32_t devices = reader->machine->devices;
  REGAL_TRY(regal_json_expect(reader->json, list, REGAL_JSON_ARRAY));
  uint32_t length = regal_json_length(reader->json, list);
  if (length == devices)
    return REGAL_OK;
  return regal_json_fail(reader->json, list,
                         "found a list of length %u, but the machine has %u "
                         "device%s",
                         length, devices, devices == 1 ? "" : "s");
}

static regal_status read_row(regal_machine_reader *reader, uint32_t list,
                             device_fn read) {
  REGAL_TRY(regal_machine_expect_row(reader, list));
  uint32_t device = 0;
  REGAL_JSON_EACH (node, reader->json, list)
    REGAL_TRY(read(reader, node, device++));
  return REGAL_OK;
}

regal_status regal_machine_read_device(const regal_machine_reader *reader,
                                       uint32_t node, uint32_t *device) {
  int64_t number, last = reader->machine->devices - 1;
  if (node_at(reader, node)->kind == REGAL_JSON_STRING)
    return regal_machine_named_device(reader, node, node_at(reader, node)->text,
                                      device);
  if (node_at(reader, node)->kind != REGAL_JSON_NUMBER)
    return regal_json_fail_value(reader->json, node,
                                 "the number or name of a device");
  REGAL_TRY(regal_json_integer(reader->json, node, 0, last, &number));
  *device = (uint32_t)number;
  return REGAL_OK;
}

regal_status regal_machine_named_device(const regal_machine_reader *reader,
                                        uint32_t node, const char *name,
                                        uint32_t *device) {
  regal_status status =
      regal_machine_find_device(reader->machine, name, device);
  if (status == REGAL_BAD_INPUT)
    return regal_json_fail(reader->json, node, "%s",
                           regal_error(reader->context));
  return status;
}

/* -- Links ----------------------------------------------------------------- */

static regal_status read_link(regal_machine_reader *reader, uint32_t link) {
  static const char *const keys[] = {
      "from", "to", "latency_ns", "bandwidth_bytes_per_s", "both", NULL};
  const regal_json *json = reader->json;
  regal_machine *machine = reader->machine;
  uint32_t found[5];
  int64_t latency, bandwidth;
  uint32_t from, to;
  bool both = false;
  REGAL_TRY(regal_json_members(json, link, true, keys, found));
  if (!found[0] || !found[1])
    return regal_json_fail(json, link, "a link needs \"from\" and \"to\"");
  REGAL_TRY(regal_machine_read_device(reader, found[0], &from));
  REGAL_TRY(regal_machine_read_device(reader, found[1], &to));
  if (from == to)
    return regal_json_fail(json, link, "a link from device %u to itself", from);
  latency = machine->latency_ns[from][to];
  bandwidth = machine->bandwidth[from][to];
  REGAL_TRY(regal_json_duration(json, found[2], &latency));
  REGAL_TRY(regal_json_rate(json, found[3], &bandwidth));
  REGAL_TRY(regal_json_boolean(json, found[4], &both));
  for (int way = 0; way <= both; way++) {
    uint32_t a = way ? to : from, b = way ? from : to;
    if (found[2] && !given(reader, "latency"))
      machine->latency_ns[a][b] = latency;
    if (found[3] && !given(reader, "bandwidth"))
      machine->bandwidth[a][b] = bandwidth;
  }
  return REGAL_OK;
}

static regal_status read_links(regal_machine_reader *reader, uint32_t list) {
  REGAL_TRY(regal_json_expect(reader->json, list, REGAL_JSON_ARRAY));
  REGAL_JSON_EACH (node, reader->json, list)
    REGAL_TRY(read_link(reader, node));
  return REGAL_OK;
}

/* -- The whole ------------------------------------------------------------- */

/* What belongs to a single device: lists of settings, then its own object. */
static regal_status read_devices(regal_machine_reader *reader,
                                 const uint32_t *found) {
  uint32_t devices = found[REGAL_KEY_DEVICES];
  if (regal_json_is_list(reader->json, found[REGAL_KEY_MEMORY]))
    REGAL_TRY(read_row(reader, found[REGAL_KEY_MEMORY], set_limit));
  if (found[REGAL_KEY_NAMES])
    REGAL_TRY(read_row(reader, found[REGAL_KEY_NAMES], set_name));
  if (found[REGAL_KEY_SPEEDS])
    REGAL_TRY(read_row(reader, found[REGAL_KEY_SPEEDS], set_speed));
  if (regal_json_is_list(reader->json, devices))
    REGAL_TRY(read_row(reader, devices, read_device));
  return REGAL_OK;
}

static regal_status read_machine(regal_machine_reader *reader,
                                 uint32_t object) {
  uint32_t found[REGAL_MACHINE_KEYS];
  int64_t version;
  REGAL_TRY(regal_json_members(reader->json, object, true, regal_machine_keys,
                               found));
  if (!found[REGAL_KEY_VERSION] && object == 0)
    return regal_json_fail(reader->json, object,
                           "not a machine file: it has no \"regal_machine\"");
  REGAL_TRY(regal_json_integer(reader->json, found[REGAL_KEY_VERSION], 1, 1,
                               &version));
  REGAL_TRY(make_machine(reader, found));
  REGAL_TRY(read_devices(reader, found));
  if (found[REGAL_KEY_LINKS])
    REGAL_TRY(read_links(reader, found[REGAL_KEY_LINKS]));
  if (found[REGAL_KEY_TIMES])
    REGAL_TRY(regal_machine_read_times(reader, found[REGAL_KEY_TIMES]));
  if (found[REGAL_KEY_PINS])
    REGAL_TRY(regal_machine_read_pins(reader, found[REGAL_KEY_PINS]));
  if (found[REGAL_KEY_GROUPS])
    REGAL_TRY(regal_machine_read_groups(reader, found[REGAL_KEY_GROUPS]));
  return REGAL_OK;
}

/* Plan files name ops by their ids, which in another graph are other ops. */
static regal_status check_ops(const regal_json *json, uint32_t object,
                              uint32_t graph_object, const regal_graph *graph) {
  uint32_t found[REGAL_MACHINE_KEYS];
  REGAL_TRY(regal_json_members(json, object, true, regal_machine_keys, found));
  if (!graph || !graph_object ||
      !(found[REGAL_KEY_TIMES] || found[REGAL_KEY_PINS] ||
        found[REGAL_KEY_GROUPS]))
    return REGAL_OK;
  return regal_plan_check_ops(json, graph_object, graph);
}

/* The machine object of a machine file (the document) or of a plan file. */
static regal_status find_machine(const regal_json *json,
                                 const regal_graph *graph, uint32_t *object) {
  static const char *const keys[] = {"regal_plan", "machine", "graph", NULL};
  uint32_t found[3];
  *object = 0;
  REGAL_TRY(regal_json_members(json, 0, false, keys, found));
  if (!found[0])
    return REGAL_OK;
  if (!found[1])
    return regal_json_fail(json, 0, "the plan does not say its machine");
  *object = found[1];
  return check_ops(json, found[1], found[2], graph);
}

regal_status regal_machine_load(regal_context *context, const char *path,
                                const regal_graph *graph,
                                const regal_options *options,
                                regal_machine **machine) {
  regal_text text;
  regal_json json = {0};
  regal_machine_reader reader = {
      .context = context, .json = &json, .graph = graph, .options = options};
  const char *name = strcmp(path, "-") ? path : "stdin";
  REGAL_TRY(regal_read_file(context, path, &text));
  uint32_t object;
  regal_op_names_init(&reader.names, context, graph);
  regal_status status =
      regal_json_parse(context, name, text.bytes, text.size, &json);
  if (status == REGAL_OK)
    status = find_machine(&json, graph, &object);
  if (status == REGAL_OK)
    status = read_machine(&reader, object);
  if (status == REGAL_OK)
    *machine = reader.machine;
  else
    regal_machine_free(reader.machine);
  regal_op_names_free(&reader.names);
  regal_json_free(&json);
  regal_text_free(&text);
  return status;
}
