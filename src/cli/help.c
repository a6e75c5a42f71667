/* SPDX-License-Identifier: Apache-2.0 */
/* Help, all of it from the tables of commands and options. */
#include "cli/cli.h"

#include <ctype.h>
#include <string.h>

#define WIDTH 79
#define COLUMN 27

typedef struct line {
  FILE *stream;
  int at; /* column that comes next */
} line;

static void put(line *l, const char *text, size_t length) {
  fwrite(text, 1, length, l->stream);
  l->at += (int)length;
}

static void pad(line *l, int column) {
  for (; l->at < column; l->at++)
    fputc(' ', l->stream);
}

/* Puts words into lines that begin at COLUMN and end before WIDTH. */
static void put_wrapped(line *l, const char *text) {
  while (*text) {
    size_t length = strcspn(text, " ");
    if (l->at > COLUMN && l->at + (int)length + 1 > WIDTH) {
      fputc('\n', l->stream);
      l->at = 0;
    }
    if (l->at < COLUMN)
      pad(l, COLUMN);
    else if (l->at > COLUMN)
      put(l, " ", 1);
    put(l, text, length);
    text += length + strspn(text + length, " ");
  }
}

/* A bound of a range: 64, 0.5, 1e15. */
static void format_number(double value, char text[32]) {
  snprintf(text, 32, value < 1e7 ? "%.7g" : "%.2g", value);
  char *exponent = strchr(text, 'e');
  if (!exponent)
    return;
  exponent += exponent[1] == '-' ? 2 : 1;
  size_t filler = strspn(exponent, "+0");
  memmove(exponent, exponent + filler, strlen(exponent + filler) + 1);
}

static bool has_range(const regal_option_info *option) {
  return option->type == REGAL_OPTION_INTEGER ||
         option->type == REGAL_OPTION_REAL;
}

static bool has_default(const regal_option_info *option) {
  return option->type != REGAL_OPTION_FLAG && regal_option_has_default(option);
}

static void format_range(const regal_option_info *option, char text[80]) {
  char low[32], high[32];
  format_number(option->low, low);
  format_number(option->high, high);
  snprintf(text, 80, "%s to %s", low, high);
}

/* "number of devices (1 to 64; default 2)" */
static void format_help(const regal_option_info *option, char text[512]) {
  char range[80] = "";
  if (has_range(option))
    format_range(option, range);
  int used = snprintf(text, 512, "%s", option->help);
  if (!range[0] && !has_default(option))
    return;
  snprintf(text + used, 512 - (size_t)used, " (%s%s%s%s)", range,
           range[0] && has_default(option) ? "; " : "",
           has_default(option) ? "default " : "",
           has_default(option) ? option->fallback : "");
}

static const char *placeholder(const regal_option_info *option) {
  if (option->type == REGAL_OPTION_FLAG)
    return "";
  return option->choices ? option->choices : option->unit;
}

static void print_option(const regal_option_info *option, FILE *stream) {
  line l = {stream, 0};
  char head[128], help[512], letter = regal_cli_short(option->name);
  const char *value = placeholder(option);
  char short_form[8] = "";
  if (letter)
    snprintf(short_form, sizeof short_form, "-%c, ", letter);
  snprintf(head, sizeof head, "  %s--%s%s%s", short_form, option->name,
           *value ? " " : "", value);
  put(&l, head, strlen(head));
  if (l.at > COLUMN - 2) {
    fputc('\n', stream);
    l.at = 0;
  }
  format_help(option, help);
  put_wrapped(&l, help);
  fputc('\n', stream);
}

/* How one page shows a group's heading and an option. */
typedef struct page {
  void (*heading)(const char *title, FILE *stream);
  void (*option)(const regal_option_info *option, FILE *stream);
} page;

/* "Machine"; an abbreviation is in capitals: "BRKGA". */
static void format_title(const char *group, char title[32]) {
  bool abbreviation = !strcmp(group, "brkga");
  snprintf(title, 32, "%s", group);
  for (char *at = title; *at && (at == title || abbreviation); at++)
    *at = (char)toupper(*at);
}

/* Every option that `command` takes (all of them if NULL), by groups. */
static void print_groups(const page *page, const regal_command *command,
                         FILE *stream) {
  const char *group = "";
  for (size_t i = 0; i < regal_option_count(); i++) {
    const regal_option_info *option = regal_option_at(i);
    if (command && !regal_command_takes(command, option))
      continue;
    if (strcmp(group, option->group)) {
      char title[32];
      group = option->group;
      format_title(group, title);
      page->heading(title, stream);
    }
    page->option(option, stream);
  }
}

void regal_help_overview(FILE *stream) {
  fputs("regal places and schedules the ops of a neural network on one or "
        "more devices.\n\n"
        "Usage: regal COMMAND [ARGUMENTS] [OPTIONS]\n\nCommands:\n",
        stream);
  for (size_t i = 0; i < regal_command_count(); i++)
    if (!strchr(regal_command_at(i)->name, ' '))
      fprintf(stream, "  %-10s %s\n", regal_command_at(i)->name,
              regal_command_at(i)->help);
  fputs("\n'regal COMMAND --help' describes a command; 'regal --version' says "
        "which build\nthis is. Results go to stdout, everything else to "
        "stderr; the file '-' is stdin\nor stdout.\n\n"
        "Example:\n  regal optimize model.pb --devices 2 --timeline\n\n"
        "Exit codes: 0 done, 1 wrong usage or input, 2 internal error, 3 no "
        "plan fits the\nmemory limit.\n",
        stream);
}

static void print_examples(const char *examples, FILE *stream) {
  fputs("\nExamples:\n", stream);
  while (*examples) {
    size_t length = strcspn(examples, "\n");
    fprintf(stream, "  %.*s\n", (int)length, examples);
    examples += length + (examples[length] == '\n');
  }
}

static void print_heading(const char *title, FILE *stream) {
  fprintf(stream, "\n%s options:\n", title);
}

/* The commands of a group: of "dataset" pack, split... */
static void print_parts(const regal_command *command, FILE *stream) {
  if (command->run)
    return;
  fputs("\nCommands:\n", stream);
  for (size_t i = 0; i < regal_command_count(); i++) {
    const regal_command *part = regal_command_at(i);
    const char *word = regal_command_part(command, part);
    if (word)
      fprintf(stream, "  %-12s %s\n", word, part->help);
  }
  fprintf(stream, "\n'regal %s COMMAND --help' describes one.\n",
          command->name);
}

void regal_help_command(const regal_command *command, FILE *stream) {
  static const page page = {print_heading, print_option};
  fprintf(stream, "regal %s: %s.\n\nUsage: regal %s %s%s[OPTIONS]\n\n%s\n",
          command->name, command->help, command->name, command->usage,
          *command->usage ? " " : "", command->about);
  print_parts(command, stream);
  print_groups(&page, command, stream);
  print_examples(command->examples, stream);
}

/* Cells of a table: '|' would end one. */
static void print_cell(const char *text, FILE *stream) {
  for (; *text; text++) {
    if (*text == '|')
      fputc('\\', stream);
    fputc(*text, stream);
  }
  fputs(" | ", stream);
}

static void print_takers(const regal_option_info *option, FILE *stream) {
  const char *between = "";
  for (size_t i = 0; i < regal_command_count(); i++) {
    if (!regal_command_takes(regal_command_at(i), option))
      continue;
    fprintf(stream, "%s%s", between, regal_command_at(i)->name);
    between = ", ";
  }
  fputs(" |\n", stream);
}

static void print_row(const regal_option_info *option, FILE *stream) {
  char range[80] = "";
  if (has_range(option))
    format_range(option, range);
  char letter = regal_cli_short(option->name);
  if (letter)
    fprintf(stream, "| `-%c`, `--%s` | ", letter, option->name);
  else
    fprintf(stream, "| `--%s` | ", option->name);
  print_cell(placeholder(option), stream);
  print_cell(has_default(option) ? option->fallback : "", stream);
  print_cell(range, stream);
  print_cell(option->help, stream);
  print_takers(option, stream);
}

static void print_table_head(const char *title, FILE *stream) {
  fprintf(stream,
          "\n## %s\n\n| option | value | default | range | what it does | "
          "commands |\n|---|---|---|---|---|---|\n",
          title);
}

void regal_help_markdown(FILE *stream) {
  static const page page = {print_table_head, print_row};
  fputs("# Options\n\n"
        "Written by `regal options` from the table in "
        "`include/regal_options.h`, which also\nmakes the fields of "
        "`regal_options`, the command line and its `--help`. Do not edit\n"
        "this page: change the table and run `make docs`.\n",
        stream);
  print_groups(&page, NULL, stream);
}
