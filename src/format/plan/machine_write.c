/* SPDX-License-Identifier: Apache-2.0 */
/* The "machine" object of a plan file: the members that every plan has, and of
 * the others those that are not the default. */
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

static void write_times(regal_text *text, const regal_machine *machine,
                        const regal_graph *graph, const char *indent) {
  const int64_t *ns = machine->timed_ns;
  for (uint32_t i = 0; i < machine->timed_ops; i++) {
    uint32_t op = machine->timed_op[i];
    regal_text_format(text, ",\n%s%s{\"op\": ", indent,
                      i ? " " : "\"op_times\": [");
    regal_text_json(text, regal_graph_name(graph, op));
    regal_text_format(text, ", \"id\": %u, \"run_ns\": [", graph->id[op]);
    for (uint32_t a = 0; a < machine->devices; a++, ns++)
      if (*ns == REGAL_NEVER)
        regal_text_format(text, "%snull", a ? ", " : "");
      else
        regal_text_format(text, "%s%lld", a ? ", " : "", (long long)*ns);
    regal_text_format(text, "]}");
  }
  if (machine->timed_ops)
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
  uint32_t *head = chain + ops, groups = 0; /* 0: none, else op + 1 */
  for (uint32_t op = ops; op-- > 0;) {
    uint32_t group = machine->group[op];
    if (group == REGAL_NONE)
      continue;
    chain[op] = head[group];
    head[group] = op + 1;
    groups = group >= groups ? group + 1 : groups;
  }
  for (uint32_t group = 0; group < groups; group++) {
    regal_text_format(text, ",\n%s%s[", indent, group ? " " : "\"groups\": [");
    for (uint32_t op = head[group]; op; op = chain[op - 1])
      regal_text_format(text, "%s%u", op == head[group] ? "" : ", ",
                        graph->id[op - 1]);
    regal_text_format(text, "]");
  }
  if (groups)
    regal_text_format(text, "]");
  regal_release(text->context, chain);
}

void regal_machine_json(regal_text *text, const regal_machine *machine,
                        const regal_graph *graph, const char *indent) {
  regal_text_format(text,
                    "{\"devices\": %u, \"transfers\": \"%s\", "
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
  write_groups(text, machine, graph, indent);
  regal_text_format(text, "}");
}
