/* SPDX-License-Identifier: Apache-2.0 */
/* regal methods, regal options: print the tables of methods, decoders and
 * options, for people, as JSON, or as the page docs/options.md. */
#include "cli/cli.h"

static void print_methods(FILE *stream) {
  fputs("Methods (--method NAME):\n", stream);
  for (size_t i = 0; i < regal_method_count(); i++) {
    regal_method_info method = regal_method_at(i);
    fprintf(stream, "  %-10s %s\n  %-10s budget: %s\n", method.name,
            method.help, "", method.budget);
  }
  fputs("\nDecoders (--decoder NAME):\n", stream);
  for (size_t i = 0; i < regal_decoder_count(); i++) {
    regal_decoder_info decoder = regal_decoder_at(i);
    fprintf(stream, "  %-10s %s\n  %-10s genes: %s\n", decoder.name,
            decoder.help, "", decoder.genes);
  }
}

static void print_json(const char *key, const char *text, const char *end) {
  printf("\"%s\": ", key);
  regal_cli_print_json(text, stdout);
  fputs(end, stdout);
}

static void print_all_json(void) {
  fputs("{\"methods\": [", stdout);
  for (size_t i = 0; i < regal_method_count(); i++) {
    regal_method_info method = regal_method_at(i);
    fputs(i ? ",\n  {" : "\n  {", stdout);
    print_json("name", method.name, ", ");
    print_json("help", method.help, ", ");
    print_json("budget", method.budget, "}");
  }
  fputs("],\n \"decoders\": [", stdout);
  for (size_t i = 0; i < regal_decoder_count(); i++) {
    regal_decoder_info decoder = regal_decoder_at(i);
    fputs(i ? ",\n  {" : "\n  {", stdout);
    print_json("name", decoder.name, ", ");
    print_json("help", decoder.help, ", ");
    print_json("genes", decoder.genes, "}");
  }
  fputs("]}\n", stdout);
}

regal_exit regal_command_methods(regal_cli *cli) {
  if (cli->options.json)
    print_all_json();
  else
    print_methods(stdout);
  return REGAL_EXIT_OK;
}

regal_exit regal_command_options(regal_cli *cli) {
  (void)cli;
  regal_help_markdown(stdout);
  return REGAL_EXIT_OK;
}
