/* SPDX-License-Identifier: Apache-2.0 */
/* regal machines [NAME]: prints the table of machines that --machine knows by
 * name, or one of them as a machine file. */
#include "cli/cli.h"

#define GB 1e9
#define US 1e3

static const char *transfers_of(const regal_preset *preset) {
  return preset->overlapped ? "overlapped" : "blocking";
}

static void print_table(FILE *stream) {
  fputs("Machines (--machine NAME):\n", stream);
  for (size_t i = 0; i < regal_preset_count(); i++) {
    const regal_preset *p = regal_preset_at(i);
    fprintf(stream,
            "  %-15s %s\n"
            "  %-15s %u devices of %.4g GB, links of %.4g GB/s and %.4g us, "
            "%s\n",
            p->name, p->about, "", p->devices, (double)p->memory_bytes / GB,
            (double)p->bytes_per_s / GB, (double)p->latency_ns / US,
            transfers_of(p));
  }
  fputs("\nSources (memory, bandwidth, latency):\n", stream);
  for (size_t i = 0; i < regal_preset_count(); i++) {
    const regal_preset *p = regal_preset_at(i);
    fprintf(stream, "  %-15s %s\n  %-15s %s\n  %-15s %s\n", p->name,
            p->memory_source, "", p->bandwidth_source, "", p->latency_source);
  }
}

/* The table's texts have nothing that JSON escapes. */
static void print_json(FILE *stream) {
  fputs("{\"machines\": [", stream);
  for (size_t i = 0; i < regal_preset_count(); i++) {
    const regal_preset *p = regal_preset_at(i);
    fprintf(stream,
            "%s\n  {\"name\": \"%s\", \"about\": \"%s\", \"devices\": %u, "
            "\"memory_bytes\": %lld, \"bandwidth_bytes_per_s\": %lld, "
            "\"latency_ns\": %lld, \"transfers\": \"%s\",\n"
            "   \"sources\": {\"memory\": \"%s\",\n"
            "    \"bandwidth\": \"%s\",\n"
            "    \"latency\": \"%s\"}}",
            i ? "," : "", p->name, p->about, p->devices,
            (long long)p->memory_bytes, (long long)p->bytes_per_s,
            (long long)p->latency_ns, transfers_of(p), p->memory_source,
            p->bandwidth_source, p->latency_source);
  }
  fputs("]}\n", stream);
}

regal_exit regal_command_machines(regal_cli *cli) {
  const regal_options *options = &cli->options;
  const char *path = options->output[0] ? options->output : "-";
  if (cli->arguments)
    return regal_cli_status(
        cli, regal_preset_save(cli->context, cli->argument[0], path));
  if (options->output[0])
    return regal_cli_fail(cli, "-o needs the NAME of a machine");
  if (options->json)
    print_json(stdout);
  else
    print_table(stdout);
  return REGAL_EXIT_OK;
}
