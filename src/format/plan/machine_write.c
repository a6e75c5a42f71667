/* SPDX-License-Identifier: Apache-2.0 */
/* Machine files, and the "machine" object of plan files: the members that every
 * plan has, and of the others those that are not the default. */
#include "format/plan/machine.h"

static void write_list(regal_text *text, const int64_t *values,
                       uint32_t count) {
  regal_text_format(text, "[");
  for (uint32_t i = 0; i < count; i++)
    regal_text_format(text, "%s%lld", i ? ", " : "", (long long)values[i]);
  regal_text_format(text, "]");
}

static void write_limits(regal_text *text, const regal_machine *machine) {
  int64_t limits[REGAL_MAX_DEVICES];
  for (uint32_t a = 0; a < machine->devices; a++)
    limits[a] = machine->memory_limit[a] == REGAL_UNLIMITED
                    ? 0
                    : machine->memory_limit[a];
  regal_text_format(text, "\"memory_limit_bytes\": ");
  write_list(text, limits, machine->devices);
}

static void write_names(regal_text *text, const regal_machine *machine,
                        const char *indent) {
  bool any = false;
  for (uint32_t a = 0; a < machine->devices; a++)
    any |= machine->name[a] != NULL;
  if (!any)
    return;
  regal_text_format(text, ",\n%s\"names\": [", indent);
  for (uint32_t a = 0; a < machine->devices; a++) {
    regal_text_format(text, "%s", a ? ", " : "");
    regal_text_json(text, machine->name[a] ? machine->name[a] : "");
  }
  regal_text_format(text, "]");
}

static void write_speeds(regal_text *text, const regal_machine *machine,
                         const char *indent) {
  bool any = false;
  for (uint32_t a = 0; a < machine->devices; a++)
    any |= machine->speed[a] != 1;
  if (!any)
    return;
  regal_text_format(text, ",\n%s\"speeds\": [", indent);
  for (uint32_t a = 0; a < machine->devices; a++) {
    char speed[32];
    regal_print_real(speed, sizeof speed, machine->speed[a]);
    regal_text_format(text, "%s%s", a ? ", " : "", speed);
  }
  regal_text_format(text, "]");
}

/* Links that differ from the machine's default, which its diagonal keeps. */
static void write_links(regal_text *text, const regal_machine *machine,
                        const char *indent) {
  bool any = false;
  for (uint32_t a = 0; a < machine->devices; a++)
    for (uint32_t b = 0; b < machine->devices; b++) {
      int64_t latency = machine->latency_ns[a][b];
      int64_t bandwidth = machine->bandwidth[a][b];
      if (latency == machine->latency_ns[0][0] &&
          bandwidth == machine->bandwidth[0][0])
        continue;
      if (any)
        regal_text_format(text, ",\n%s ", indent);
      else
        regal_text_format(text, ",\n%s\"links\": [\n%s ", indent, indent);
      regal_text_format(text,
                        "{\"from\": %u, \"to\": %u, \"latency_ns\": %lld, "
                        "\"bandwidth_bytes_per_s\": %lld}",
                        a, b, (long long)latency, (long long)bandwidth);
      any = true;
    }
  if (any)
    regal_text_format(text, "]");
}

/* A list of all times, or an object with those that the op has. */
static void write_row(regal_text *text, const int64_t *ns, uint32_t devices,
                      uint32_t own) {
  bool all = own == devices, any = false;
  regal_text_format(text, all ? "[" : "{");
  for (uint32_t a = 0; a < devices; a++) {
    if (ns[a] == REGAL_USUAL)
      continue;
    regal_text_format(text, any ? ", " : "");
    any = true;
    if (!all)
      regal_text_format(text, "\"%u\": ", a);
    if (ns[a] == REGAL_NEVER)
      regal_text_format(text, "null");
    else
      regal_text_format(text, "%lld", (long long)ns[a]);
  }
  regal_text_format(text, all ? "]" : "}");
}

static void write_times(regal_text *text, const regal_machine *machine,
                        const regal_graph *graph, const char *indent) {
  bool any = false;
  for (uint32_t i = 0; i < machine->timed_ops; i++) {
    const int64_t *ns = machine->timed_ns + (size_t)i * machine->devices;
    uint32_t op = machine->timed_op[i], own = 0;
    for (uint32_t a = 0; a < machine->devices; a++)
      own += ns[a] != REGAL_USUAL;
    if (!own)
      continue;
    regal_text_format(text, ",\n%s%s{\"op\": ", indent,
                      any ? " " : "\"op_times\": [");
    regal_text_json(text, regal_graph_name(graph, op));
    regal_text_format(text, ", \"id\": %u, \"run_ns\": ", graph->id[op]);
    write_row(text, ns, machine->devices, own);
    regal_text_format(text, "}");
    any = true;
  }
  if (any)
    regal_text_format(text, "]");
}

static void write_pins(regal_text *text, const regal_machine *machine,
                       const regal_graph *graph, const char *indent) {
  bool any = false;
  for (uint32_t a = 0; machine->pin && a < machine->devices; a++) {
    bool here = false;
    for (uint32_t op = 0; op < graph->ops; op++) {
      if (machine->pin[op] != a)
        continue;
      if (here)
        regal_text_format(text, ", ");
      else
        regal_text_format(text, ",\n%s%s{\"device\": %u, \"ops\": [", indent,
                          any ? " " : "\"pins\": [", a);
      regal_text_format(text, "%u", graph->id[op]);
      any = here = true;
    }
    if (here)
      regal_text_format(text, "]}");
  }
  if (any)
    regal_text_format(text, "]");
}

/* Ops chained by group: a pass over them for heads and links, then one over
 * the groups, so that it stays linear. */
static void write_groups(regal_text *text, const regal_machine *machine,
                         const regal_graph *graph, const char *indent) {
  uint32_t ops = graph->ops;
  if (!machine->group)
    return;
  uint32_t *chain = regal_alloc(text->context, ops, 2 * sizeof *chain);
  if (!chain) {
    text->failed = true;
    return;
  }
  uint32_t *head = chain + ops; /* 0: none, else op + 1 */
  for (uint32_t op = ops; op-- > 0;) {
    uint32_t group = machine->group[op];
    if (group == REGAL_NONE)
      continue;
    chain[op] = head[group];
    head[group] = op + 1;
  }
  bool any = false;
  for (uint32_t group = 0; group < ops; group++) {
    if (!head[group])
      continue;
    regal_text_format(text, ",\n%s%s[", indent, any ? " " : "\"groups\": [");
    any = true;
    for (uint32_t op = head[group]; op; op = chain[op - 1])
      regal_text_format(text, "%s%u", op == head[group] ? "" : ", ",
                        graph->id[op - 1]);
    regal_text_format(text, "]");
  }
  if (any)
    regal_text_format(text, "]");
  regal_release(text->context, chain);
}

static void write_members(regal_text *text, const regal_machine *machine,
                          const regal_graph *graph, const char *indent) {
  regal_text_format(text,
                    "\"devices\": %u, \"transfers\": \"%s\", "
                    "\"control\": \"%s\", \"latency_ns\": %lld, "
                    "\"bandwidth_bytes_per_s\": %lld,\n%s",
                    machine->devices,
                    machine->overlapped ? "overlapped" : "blocking",
                    machine->control_transfers ? "transfer" : "wait",
                    (long long)machine->latency_ns[0][0],
                    (long long)machine->bandwidth[0][0], indent);
  write_limits(text, machine);
  write_names(text, machine, indent);
  write_speeds(text, machine, indent);
  write_links(text, machine, indent);
  write_times(text, machine, graph, indent);
  write_pins(text, machine, graph, indent);
  write_groups(text, machine, graph, indent);
}

void regal_machine_json(regal_text *text, const regal_machine *machine,
                        const regal_graph *graph, const char *indent) {
  regal_text_format(text, "{");
  write_members(text, machine, graph, indent);
  regal_text_format(text, "}");
}

void regal_machine_write(regal_text *text, const regal_machine *machine) {
  regal_text_format(text, "{\"regal_machine\": 1,\n ");
  write_members(text, machine, machine->graph, " ");
  regal_text_format(text, "}\n");
}
