/* SPDX-License-Identifier: Apache-2.0 */
/* Devices and ops by name: what a graph asks for, and options --pin and
 * --together.
 *
 * Pins have a rank: options win over a machine file, and that over the graph.
 * Within one source the later entry wins, so that '*=0,embed*=1' means all but
 * some. Groups only add up. What contradicts itself is found when a problem is
 * made (problem_places.c).
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/utf8.h"
#include "cost/model/machine.h"
#include "graph/builder.h"
#include "graph/pattern.h"

/* -- Devices --------------------------------------------------------------- */

/* Bytes of the next character of a name; one that is not UTF-8 is cut off. */
static size_t character_at(const char *name) {
  return regal_utf8_length((const unsigned char *)name, strnlen(name, 4));
}

regal_device_label regal_machine_label(const regal_machine *machine,
                                       uint32_t device) {
  enum { MOST_COLUMNS = 24 };
  regal_device_label label = {.text = ""};
  const char *name = machine->name[device];
  if (!name || !*name) {
    label.width =
        (uint32_t)snprintf(label.text, sizeof label.text, "device %u", device);
    return label;
  }
  size_t used = 0, last = 0, length;
  for (; (length = character_at(name)) && label.width < MOST_COLUMNS;
       name += length, label.width++) {
    bool control = (unsigned char)*name < ' ' || *name == 127;
    memcpy(label.text + used, control ? "?" : name, length);
    last = used;
    used += length;
  }
  if (*name)
    memcpy(label.text + last, "~", 2); /* in place of the last character */
  if (!label.width)
    label.width = 1;
  return label;
}

uint32_t regal_machine_label_width(const regal_machine *machine,
                                   uint32_t least) {
  for (uint32_t a = 0; a < machine->devices; a++) {
    uint32_t width = regal_machine_label(machine, a).width;
    least = width > least ? width : least;
  }
  return least;
}

/* "gpu0", "gpu1" or: 0 to 7 */
static void list_devices(const regal_machine *machine, char *list,
                         size_t capacity) {
  size_t used = 0;
  for (uint32_t a = 0; a < machine->devices && used < capacity; a++)
    if (machine->name[a])
      used += (size_t)snprintf(list + used, capacity - used, "%s\"%.40s\"",
                               used ? ", " : "", machine->name[a]);
  if (used >= capacity)
    memcpy(list + capacity - 4, "...", 4);
  if (!used)
    snprintf(list, capacity, "0 to %u", machine->devices - 1);
}

static regal_status fail_name(const regal_machine *machine, const char *name,
                              uint32_t count) {
  char list[200];
  if (count)
    return regal_fail(machine->context, REGAL_BAD_INPUT,
                      "there is more than one device %s, say which by its "
                      "number",
                      regal_quote(name).text);
  list_devices(machine, list, sizeof list);
  return regal_fail(machine->context, REGAL_BAD_INPUT,
                    "there is no device %s; the machine has %s",
                    regal_quote(name).text, list);
}

static regal_status find_number(const regal_machine *machine, const char *text,
                                uint32_t *device) {
  unsigned long number = strlen(text) < 9 ? strtoul(text, NULL, 10) : ULONG_MAX;
  if (number >= machine->devices)
    return regal_fail(machine->context, REGAL_BAD_INPUT,
                      "there is no device %.20s; the machine has 0 to %u", text,
                      machine->devices - 1);
  *device = (uint32_t)number;
  return REGAL_OK;
}

regal_status regal_machine_find_device(const regal_machine *machine,
                                       const char *text, uint32_t *device) {
  if (!machine)
    return REGAL_MISUSE;
  if (!text || !device)
    return regal_fail(machine->context, REGAL_MISUSE,
                      "a device is found by its name or number");
  if (regal_is_number(text))
    return find_number(machine, text, device);
  uint32_t count = 0, found = 0;
  for (uint32_t a = 0; a < machine->devices; a++)
    if (machine->name[a] && !strcmp(machine->name[a], text)) {
      found = a;
      count++;
    }
  if (count != 1)
    return fail_name(machine, text, count);
  *device = found;
  return REGAL_OK;
}

/* -- The graph ------------------------------------------------------------- */

/* The device for each of the graph's texts, when an op first needs it. */
static regal_status obey_device(regal_machine *machine, uint32_t op,
                                uint32_t *devices) {
  const regal_graph *graph = machine->graph;
  const char *text = regal_graph_label(graph, &graph->device, op);
  if (!text || (machine->pin && machine->pin[op] != REGAL_NONE))
    return REGAL_OK;
  uint32_t *device = &devices[graph->device.of[op]];
  if (*device == REGAL_NONE &&
      regal_machine_find_device(machine, text, device) != REGAL_OK) {
    char why[REGAL_MESSAGE_CAPACITY / 2];
    snprintf(why, sizeof why, "%s", regal_error(machine->context));
    return regal_fail(
        machine->context, REGAL_BAD_INPUT, "%s%sop %s (id %u): %s",
        graph->source ? graph->source : "", graph->source ? ": " : "",
        regal_quote(regal_graph_name(graph, op)).text, graph->id[op], why);
  }
  return regal_machine_set_pin(machine, op, *device);
}

static regal_status obey_group(regal_machine *machine, uint32_t op,
                               uint32_t *first) {
  const regal_labels *labels = &machine->graph->group;
  if (!labels->of || labels->of[op] == REGAL_NONE)
    return REGAL_OK;
  uint32_t *other = &first[labels->of[op]];
  if (*other == REGAL_NONE)
    *other = op;
  return regal_machine_join(machine, *other, op);
}

regal_status regal_machine_obey_graph(regal_machine *machine) {
  const regal_graph *graph = machine->graph;
  size_t devices = graph->device.count, groups = graph->group.count;
  if (!devices && !groups)
    return REGAL_OK;
  uint32_t *device =
      regal_alloc(machine->context, devices + groups, sizeof *device);
  if (!device)
    return regal_fail_memory(machine->context);
  memset(device, 0xFF, (devices + groups) * sizeof *device);
  regal_status status = REGAL_OK;
  for (uint32_t op = 0; op < graph->ops && status == REGAL_OK; op++) {
    status = obey_device(machine, op, device);
    if (status == REGAL_OK)
      status = obey_group(machine, op, device + devices);
  }
  regal_release(machine->context, device);
  return status;
}

/* -- Patterns -------------------------------------------------------------- */

static regal_status fail_pattern(const regal_machine *machine,
                                 const char *pattern) {
  return regal_fail(machine->context, REGAL_BAD_INPUT, "%s",
                    regal_pattern_no_match(machine->graph, pattern).text);
}

regal_status regal_machine_find_ops(const regal_machine *machine,
                                    const char *pattern, uint32_t *ids,
                                    uint32_t *count) {
  uint32_t found = 0;
  if (!machine)
    return REGAL_MISUSE;
  if (!pattern || !ids || !count)
    return regal_fail(machine->context, REGAL_MISUSE,
                      "ops are found by a pattern, and need a place for their "
                      "ids and number");
  REGAL_PATTERN_EACH(op, machine->graph, pattern)
  ids[found++] = machine->graph->id[op];
  if (!found)
    return fail_pattern(machine, pattern);
  *count = found;
  return REGAL_OK;
}

regal_status regal_machine_pin_matching(regal_machine *machine,
                                        const char *pattern,
                                        const char *device) {
  uint32_t found, count = 0;
  if (!machine)
    return REGAL_MISUSE;
  if (!pattern || !device)
    return regal_fail(machine->context, REGAL_MISUSE,
                      "a pin needs a pattern and a device");
  REGAL_TRY(regal_machine_find_device(machine, device, &found));
  REGAL_PATTERN_EACH(op, machine->graph, pattern) {
    REGAL_TRY(regal_machine_set_pin(machine, op, found));
    count++;
  }
  return count ? REGAL_OK : fail_pattern(machine, pattern);
}

regal_status regal_machine_group_matching(regal_machine *machine,
                                          const char *pattern) {
  if (!machine)
    return REGAL_MISUSE;
  if (!pattern)
    return regal_fail(machine->context, REGAL_MISUSE,
                      "a group needs a pattern");
  uint32_t first = regal_pattern_find(machine->graph, pattern, 0);
  REGAL_PATTERN_EACH(op, machine->graph, pattern)
  REGAL_TRY(regal_machine_join(machine, first, op));
  return first < machine->graph->ops ? REGAL_OK
                                     : fail_pattern(machine, pattern);
}

/* -- Options --------------------------------------------------------------- */

/* Names may have '=', numbers of devices have not: the last one counts. */
static regal_status pin_entry(regal_machine *machine, char *entry) {
  char *equals = strrchr(entry, '=');
  if (!equals || equals == entry || !equals[1])
    return regal_fail(machine->context, REGAL_BAD_INPUT,
                      "expected PATTERN=DEVICE, such as 'embed*=0'");
  *equals = 0;
  regal_status status = regal_machine_pin_matching(machine, entry, equals + 1);
  *equals = '=';
  return status;
}

static regal_status group_entry(regal_machine *machine, char *entry) {
  if (!*entry)
    return regal_fail(machine->context, REGAL_BAD_INPUT,
                      "expected PATTERN, such as 'layer3.*'");
  return regal_machine_group_matching(machine, entry);
}

static regal_status obey_list(regal_machine *machine, const char *name,
                              const char *list,
                              regal_status (*obey)(regal_machine *, char *)) {
  char entry[REGAL_MOST_LIST];
  for (size_t size; *list; list += size + (list[size] == ',')) {
    size = strcspn(list, ",");
    memcpy(entry, list, size);
    entry[size] = 0;
    regal_status status = obey(machine, entry);
    if (status != REGAL_BAD_INPUT) {
      REGAL_TRY(status);
      continue;
    }
    char why[REGAL_MESSAGE_CAPACITY - 200];
    snprintf(why, sizeof why, "%s", regal_error(machine->context));
    return regal_fail(machine->context, status, "--%s '%.100s': %s", name,
                      entry, why);
  }
  return REGAL_OK;
}

regal_status regal_machine_obey_options(regal_machine *machine,
                                        const regal_options *options) {
  REGAL_TRY(obey_list(machine, "pin", options->pin, pin_entry));
  return obey_list(machine, "together", options->together, group_entry);
}
