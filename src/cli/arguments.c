/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the arguments: the command, then options and the command's own
 * arguments in any order. The options are those of the table in
 * regal_options.h that the command takes; the library checks their values. */
#include "cli/cli.h"

#include <string.h>

typedef struct reader {
  regal_cli *cli;
  int argc, next;
  char *const *argv;
} reader;

static const struct {
  char letter;
  const char *name;
} short_forms[] = {{'o', "output"}, {'q', "quiet"}, {'v', "verbose"}};

char regal_cli_short(const char *name) {
  for (size_t i = 0; i < sizeof short_forms / sizeof *short_forms; i++)
    if (!strcmp(short_forms[i].name, name))
      return short_forms[i].letter;
  return 0;
}

static const char *name_of_short(char letter) {
  for (size_t i = 0; i < sizeof short_forms / sizeof *short_forms; i++)
    if (short_forms[i].letter == letter)
      return short_forms[i].name;
  return NULL;
}

/* Keeps the formatted message; false. */
#define WRONG(reader, ...) (regal_cli_fail((reader)->cli, __VA_ARGS__), false)

/* -- Spelling: the known word nearest to an unknown one -------------------- */

#define LONGEST 31

static size_t least(size_t a, size_t b, size_t c) {
  size_t ab = a < b ? a : b;
  return ab < c ? ab : c;
}

/* Insertions, deletions and replacements between two words (Levenshtein);
 * `row` holds the distances from a[0..i) to every start of b. */
static size_t distance(const char *a, const char *b) {
  size_t row[LONGEST + 1], b_length = strlen(b);
  if (strlen(a) > LONGEST || b_length > LONGEST)
    return LONGEST;
  for (size_t j = 0; j <= b_length; j++)
    row[j] = j;
  for (size_t i = 0; a[i]; i++) {
    size_t diagonal = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < b_length; j++) {
      size_t replaced = diagonal + (a[i] != b[j]);
      diagonal = row[j + 1];
      row[j + 1] = least(replaced, row[j] + 1, diagonal + 1);
    }
  }
  return row[b_length];
}

typedef struct suggestion {
  const char *word, *nearest;
  size_t distance;
} suggestion;

static suggestion suggest(const char *word) {
  /* More than a third of the letters wrong is another word, not a slip. */
  return (suggestion){word, NULL, strlen(word) / 3 + 2};
}

static void consider(suggestion *best, const char *name) {
  size_t found = distance(best->word, name);
  if (found >= best->distance)
    return;
  best->distance = found;
  best->nearest = name;
}

/* -- What is wrong --------------------------------------------------------- */

/* "WHAT; did you mean 'PREFIXnearest'?", or else where `list` lists them. */
static bool unknown(reader *r, const suggestion *best, const char *prefix,
                    const char *list, const char *what) {
  if (best->nearest)
    return WRONG(r, "%s '%s%.99s'; did you mean '%s%s'?", what, prefix,
                 best->word, prefix, best->nearest);
  return WRONG(r, "%s '%s%.99s'; 'regal%s%s --help' lists them", what, prefix,
               best->word, *list ? " " : "", list);
}

static bool unknown_command(reader *r, const char *word) {
  suggestion best = suggest(word);
  for (size_t i = 0; i < regal_command_count(); i++)
    consider(&best, regal_command_at(i)->name);
  return unknown(r, &best, "", "", "no command");
}

/* A word after a group of commands that is none of them. */
static bool unknown_part(reader *r, const char *word) {
  const regal_command *group = r->cli->command;
  suggestion best = suggest(word);
  char what[64];
  for (size_t i = 0; i < regal_command_count(); i++) {
    const char *part = regal_command_part(group, regal_command_at(i));
    if (part)
      consider(&best, part);
  }
  snprintf(what, sizeof what, "'%s' has no command", group->name);
  return unknown(r, &best, "", group->name, what);
}

static bool unknown_option(reader *r, const char *name) {
  const regal_command *command = r->cli->command;
  suggestion best = suggest(name);
  for (size_t i = 0; i < regal_option_count(); i++)
    if (regal_command_takes(command, regal_option_at(i)))
      consider(&best, regal_option_at(i)->name);
  consider(&best, "help");
  return unknown(r, &best, "--", command->name, "no option");
}

/* An option that exists, but not for this command: names who takes it. */
static bool misplaced_option(reader *r, const regal_option_info *option) {
  char takers[512] = "";
  for (size_t i = 0; i < regal_command_count(); i++) {
    const regal_command *command = regal_command_at(i);
    size_t used = strlen(takers);
    if (regal_command_takes(command, option))
      snprintf(takers + used, sizeof takers - used, "%s'%s'", used ? ", " : "",
               command->name);
  }
  return WRONG(r, "'%s' takes no option '--%s'; it is for %s",
               r->cli->command->name, option->name, takers);
}

/* -- Reading --------------------------------------------------------------- */

/* The option of that name, if the command takes it. */
static bool find_option(reader *r, const char *name,
                        const regal_option_info **option) {
  size_t index = regal_option_find(name);
  if (index >= regal_option_count())
    return unknown_option(r, name);
  *option = regal_option_at(index);
  if (!regal_command_takes(r->cli->command, *option))
    return misplaced_option(r, *option);
  return true;
}

static bool set_option(reader *r, const regal_option_info *option,
                       const char *value) {
  regal_cli *cli = r->cli;
  if (regal_options_set(cli->context, &cli->options, option->name, value) ==
      REGAL_OK)
    return true;
  return WRONG(r, "%s", regal_error(cli->context));
}

/* Sets an option whose value is `attached`, or the next argument if NULL. */
static bool take_value(reader *r, const regal_option_info *option,
                       const char *attached) {
  if (attached)
    return set_option(r, option, attached);
  if (r->next < r->argc)
    return set_option(r, option, r->argv[r->next++]);
  const char *what = option->choices ? option->choices : option->unit;
  return WRONG(r, "option '--%s' needs a value: %s", option->name, what);
}

/* --name, --name VALUE or --name=VALUE; `text` starts after the dashes. */
static bool parse_long(reader *r, const char *text) {
  char name[64];
  const char *value = strchr(text, '=');
  size_t length = value ? (size_t)(value - text) : strlen(text);
  if (length >= sizeof name)
    return unknown(r, &(suggestion){.word = text}, "--", r->cli->command->name,
                   "no option");
  memcpy(name, text, length);
  name[length] = 0;
  if (!strcmp(name, "help") && !value) {
    r->cli->wants_help = true;
    return true;
  }
  const regal_option_info *option;
  if (!find_option(r, name, &option))
    return false;
  if (option->type != REGAL_OPTION_FLAG)
    return take_value(r, option, value ? value + 1 : NULL);
  if (value)
    return WRONG(r, "option '--%s' takes no value", name);
  return set_option(r, option, "true");
}

/* -q, -qv, -o PLAN or -oPLAN; `text` starts after the dash. */
static bool parse_short(reader *r, const char *text) {
  for (const char *at = text; *at; at++) {
    const char *name = name_of_short(*at);
    const regal_option_info *option;
    if (*at == 'h') {
      r->cli->wants_help = true;
      continue;
    }
    if (!name)
      return WRONG(r, "no option '-%c'; 'regal %s --help' lists them", *at,
                   r->cli->command->name);
    if (!find_option(r, name, &option))
      return false;
    if (option->type != REGAL_OPTION_FLAG)
      return take_value(r, option, at[1] ? at + 1 : NULL);
    if (!set_option(r, option, "true"))
      return false;
  }
  return true;
}

static bool take_argument(reader *r, const char *text) {
  regal_cli *cli = r->cli;
  if (cli->arguments >= cli->command->high)
    return WRONG(r, "too many arguments: '%.99s'; usage: regal %s%s%s", text,
                 cli->command->name, *cli->command->usage ? " " : "",
                 cli->command->usage);
  cli->argument[cli->arguments++] = text;
  return true;
}

static bool parse_rest(reader *r) {
  bool options_ended = false;
  while (r->next < r->argc) {
    const char *text = r->argv[r->next++];
    bool good;
    if (options_ended || text[0] != '-' || !text[1])
      good = take_argument(r, text);
    else if (!strcmp(text, "--"))
      good = options_ended = true;
    else if (text[1] == '-')
      good = parse_long(r, text + 2);
    else
      good = parse_short(r, text + 1);
    if (!good)
      return false;
  }
  return true;
}

static bool is_either(const char *text, const char *a, const char *b) {
  return !strcmp(text, a) || !strcmp(text, b);
}

/* The command that is named next; of a group the one that is named after it,
 * or the group itself where help is wanted. */
static bool parse_command(reader *r, const char *word) {
  regal_cli *cli = r->cli;
  cli->command = regal_command_find(word);
  if (!cli->command)
    return unknown_command(r, word);
  if (cli->command->run)
    return true;
  bool asks = r->next < r->argc && is_either(r->argv[r->next], "--help", "-h");
  cli->wants_help |= asks;
  if (asks || r->next >= r->argc)
    return cli->wants_help ||
           WRONG(r, "which command? 'regal %s --help' lists them", word);
  const char *part = r->argv[r->next++];
  char name[64];
  snprintf(name, sizeof name, "%s %.40s", word, part);
  const regal_command *found = regal_command_find(name);
  if (!found)
    return unknown_part(r, part);
  cli->command = found;
  return true;
}

/* "regal help" and "regal help COMMAND". */
static bool parse_help(reader *r) {
  r->cli->wants_help = true;
  if (r->next >= r->argc)
    return true;
  return parse_command(r, r->argv[r->next++]);
}

bool regal_cli_parse(regal_cli *cli, int argc, char *const *argv) {
  reader r = {cli, argc, 1, argv};
  regal_options_init(&cli->options);
  if (argc < 2)
    return WRONG(&r, "no command; 'regal --help' lists them");
  const char *word = argv[r.next++];
  cli->wants_version = !strcmp(word, "--version");
  if (cli->wants_version || is_either(word, "--help", "-h") ||
      !strcmp(word, "help"))
    return cli->wants_version || parse_help(&r);
  if (word[0] == '-')
    return WRONG(&r, "'%.99s': the command comes first; see 'regal --help'",
                 word);
  if (!parse_command(&r, word))
    return false;
  if (!cli->command->run)
    return true; /* help on a group */
  if (!parse_rest(&r))
    return false;
  if (!cli->wants_help && !cli->options.dump_config &&
      cli->arguments < cli->command->low)
    return WRONG(&r, "too few arguments; usage: regal %s %s",
                 cli->command->name, cli->command->usage);
  return true;
}
