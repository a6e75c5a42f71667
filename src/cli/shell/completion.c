/* SPDX-License-Identifier: Apache-2.0 */
/* regal completion SHELL: a script that completes commands, options and their
 * values, written from the tables of commands, options, methods, decoders and
 * machines. It asks the program nothing when it runs, so that a key press costs
 * no process.
 *
 * A shell is a row: what comes before all commands, for each of them, and after
 * all. Help texts are quoted for the shell, and for what the shell's completion
 * makes of them.
 */
#include "cli/cli.h"

#include <string.h>

/* -- What there is to complete --------------------------------------------- */

typedef struct names {
  const char *option;
  size_t (*count)(void);
  const char *(*at)(size_t index);
} names;

static const char *method_name(size_t index) {
  return regal_method_at(index).name;
}

static const char *decoder_name(size_t index) {
  return regal_decoder_at(index).name;
}

static const char *machine_name(size_t index) {
  return regal_preset_at(index)->name;
}

/* Options whose values are names of a table. */
static const names tables[] = {{"method", regal_method_count, method_name},
                               {"decoder", regal_decoder_count, decoder_name},
                               {"machine", regal_preset_count, machine_name}};

static const names *table_of(const regal_option_info *option) {
  for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
    if (!strcmp(tables[i].option, option->name))
      return &tables[i];
  return NULL;
}

/* The values of an option, with blanks between them; "" for any text. */
static void list_values(const regal_option_info *option, char text[2048]) {
  const names *names = table_of(option);
  size_t used = 0;
  text[0] = 0;
  if (option->choices)
    snprintf(text, 2048, "%s", option->choices);
  for (char *at = text; *at; at++)
    if (*at == '|')
      *at = ' ';
  for (size_t i = 0; names && i < names->count() && used < 2000; i++)
    used += (size_t)snprintf(text + used, 2048 - used, "%s%s", i ? " " : "",
                             names->at(i));
}

/* Files complete an option that is no number and has no list of values. */
static bool takes_file(const regal_option_info *option) {
  return option->type == REGAL_OPTION_TEXT &&
         (strstr(option->unit, "FILE") || strstr(option->unit, "PLAN") ||
          strstr(option->unit, "DIR"));
}

static bool is_flag(const regal_option_info *option) {
  return option->type == REGAL_OPTION_FLAG;
}

/* -- Quoting --------------------------------------------------------------- */

/* Within single quotes; `special` characters get a backslash. */
static void put_quoted(FILE *stream, const char *text, const char *special) {
  for (; *text; text++) {
    if (*text == '\'')
      fputs("'\\''", stream);
    else if (strchr(special, *text))
      fprintf(stream, "\\%c", *text);
    else
      fputc(*text, stream);
  }
}

/* -- bash ------------------------------------------------------------------ */

static void bash_words(FILE *stream, const regal_command *group) {
  const char *between = "";
  for (size_t i = 0; i < regal_command_count(); i++) {
    const regal_command *command = regal_command_at(i);
    const char *word = group ? regal_command_part(group, command)
                       : strchr(command->name, ' ') ? NULL
                                                    : command->name;
    if (!word)
      continue;
    fprintf(stream, "%s%s", between, word);
    between = " ";
  }
}

#define BASH_REPLY                                                             \
  "mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$word\")\n"

/* The words of a group of commands come after its name. */
static void bash_group(FILE *stream, const regal_command *group) {
  fprintf(stream,
          "  if [ \"$command\" = %s ]; then\n"
          "    if [ \"$COMP_CWORD\" -eq 2 ]; then\n"
          "      words='",
          group->name);
  bash_words(stream, group);
  fputs("'\n"
        "      " BASH_REPLY "      return\n"
        "    fi\n"
        "    command=\"$command ${COMP_WORDS[2]}\"\n"
        "  fi\n",
        stream);
}

/* What may come after an option; files after those without values. */
static void bash_values(FILE *stream, const regal_option_info *option) {
  char values[2048], letter = regal_cli_short(option->name);
  list_values(option, values);
  fprintf(stream, "  --%s%s%.1s) ", option->name, letter ? "|-" : "",
          letter ? &letter : "");
  if (values[0])
    fprintf(stream, "words='%s' ;;\n", values);
  else
    fputs("return ;;\n", stream);
}

/* bash takes "--name=value" as three words. */
static void bash_begin(FILE *stream) {
  fputs("_regal() {\n"
        "  local word=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]}\n"
        "  local before=${COMP_WORDS[COMP_CWORD-1]} words=\n"
        "  COMPREPLY=()\n"
        "  if [ \"$word\" = '=' ]; then word=; fi\n"
        "  if [ \"$before\" = '=' ]; then\n"
        "    before=${COMP_WORDS[COMP_CWORD-2]}\n"
        "  fi\n"
        "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
        "    words='",
        stream);
  bash_words(stream, NULL);
  fputs(" help --help --version'\n"
        "    " BASH_REPLY "    return\n"
        "  fi\n",
        stream);
  for (size_t i = 0; i < regal_command_count(); i++)
    if (!regal_command_at(i)->run)
      bash_group(stream, regal_command_at(i));
  fputs("  case $before in\n", stream);
  for (size_t i = 0; i < regal_option_count(); i++)
    if (!is_flag(regal_option_at(i)))
      bash_values(stream, regal_option_at(i));
  fputs("  esac\n"
        "  if [ -z \"$words\" ] && [ \"${word:0:1}\" = - ]; then\n"
        "    case $command in\n",
        stream);
}

static void bash_command(FILE *stream, const regal_command *command) {
  fprintf(stream, "    '%s') words='--help", command->name);
  for (size_t i = 0; i < regal_option_count(); i++)
    if (regal_command_takes(command, regal_option_at(i)))
      fprintf(stream, " --%s", regal_option_at(i)->name);
  fputs("' ;;\n", stream);
}

static void bash_end(FILE *stream) {
  fputs("    esac\n"
        "  fi\n"
        "  [ -z \"$words\" ] ||\n"
        "    " BASH_REPLY "}\n"
        "complete -o default -F _regal regal\n",
        stream);
}

/* -- zsh ------------------------------------------------------------------- */

#define ZSH_SPECIAL "\\[]:"

static void zsh_describe(FILE *stream, const regal_command *group) {
  for (size_t i = 0; i < regal_command_count(); i++) {
    const regal_command *command = regal_command_at(i);
    const char *word = group ? regal_command_part(group, command)
                       : strchr(command->name, ' ') ? NULL
                                                    : command->name;
    if (!word)
      continue;
    fprintf(stream, " '%s:", word);
    put_quoted(stream, command->help, ZSH_SPECIAL);
    fputc('\'', stream);
  }
}

static void zsh_group(FILE *stream, const regal_command *group) {
  fprintf(stream,
          "  if [[ $command == %s ]]; then\n"
          "    if (( CURRENT == 3 )); then\n"
          "      commands=(",
          group->name);
  zsh_describe(stream, group);
  fputs(" )\n"
        "      _describe command commands\n"
        "      return\n"
        "    fi\n"
        "    command=\"$command $words[3]\"\n"
        "    shift words\n"
        "    (( CURRENT-- ))\n"
        "  fi\n",
        stream);
}

static void zsh_begin(FILE *stream) {
  fputs("_regal() {\n"
        "  local -a commands\n"
        "  local command=$words[2]\n"
        "  if (( CURRENT == 2 )); then\n"
        "    commands=(",
        stream);
  zsh_describe(stream, NULL);
  fputs(" )\n"
        "    _describe command commands\n"
        "    return\n"
        "  fi\n",
        stream);
  for (size_t i = 0; i < regal_command_count(); i++)
    if (!regal_command_at(i)->run)
      zsh_group(stream, regal_command_at(i));
  fputs("  shift words\n"
        "  (( CURRENT-- ))\n"
        "  case $command in\n",
        stream);
}

static void zsh_option(FILE *stream, const regal_option_info *option) {
  char values[2048], letter = regal_cli_short(option->name);
  list_values(option, values);
  for (int form = letter ? 0 : 1; form < 2; form++) {
    fputs(" \\\n      '", stream);
    if (form)
      fprintf(stream, "--%s%s[", option->name, is_flag(option) ? "" : "=");
    else
      fprintf(stream, "-%c%s[", letter, is_flag(option) ? "" : "+");
    put_quoted(stream, option->help, ZSH_SPECIAL);
    fputc(']', stream);
    if (!is_flag(option)) {
      fputc(':', stream);
      put_quoted(stream, option->choices ? "value" : option->unit, ZSH_SPECIAL);
      fputc(':', stream);
    }
    if (values[0])
      fprintf(stream, "(%s)", values);
    else if (takes_file(option))
      fputs("_files", stream);
    fputc('\'', stream);
  }
}

static void zsh_command(FILE *stream, const regal_command *command) {
  fprintf(stream, "  '%s')\n    _arguments -s '--help[describe the command]'",
          command->name);
  for (size_t i = 0; i < regal_option_count(); i++)
    if (regal_command_takes(command, regal_option_at(i)))
      zsh_option(stream, regal_option_at(i));
  fputs(" \\\n      '*:file:_files' ;;\n", stream);
}

static void zsh_end(FILE *stream) {
  /* autoloaded, the file is the function; sourced, it defines it */
  fputs("  esac\n}\n"
        "if [ \"$funcstack[1]\" = _regal ]; then\n"
        "  _regal \"$@\"\n"
        "else\n"
        "  compdef _regal regal\n"
        "fi\n",
        stream);
}

/* -- fish ------------------------------------------------------------------ */

#define FISH_SPECIAL "\\"

static void fish_begin(FILE *stream) {
  for (size_t i = 0; i < regal_command_count(); i++) {
    const regal_command *command = regal_command_at(i);
    const char *space = strchr(command->name, ' ');
    if (space)
      fprintf(stream,
              "complete -c regal -n '__fish_seen_subcommand_from %.*s; and "
              "test (count (commandline -opc)) -eq 2' -f -a %s -d '",
              (int)(space - command->name), command->name, space + 1);
    else
      fprintf(stream,
              "complete -c regal -n __fish_use_subcommand -f -a %s -d '",
              command->name);
    put_quoted(stream, command->help, FISH_SPECIAL);
    fputs("'\n", stream);
  }
}

static void fish_condition(FILE *stream, const regal_command *command) {
  const char *space = strchr(command->name, ' ');
  fprintf(stream, "complete -c regal -n '__fish_seen_subcommand_from %.*s",
          space ? (int)(space - command->name) : (int)strlen(command->name),
          command->name);
  if (space)
    fprintf(stream, "; and __fish_seen_subcommand_from %s", space + 1);
  fputc('\'', stream);
}

static void fish_command(FILE *stream, const regal_command *command) {
  for (size_t i = 0; i < regal_option_count(); i++) {
    const regal_option_info *option = regal_option_at(i);
    char values[2048], letter = regal_cli_short(option->name);
    if (!regal_command_takes(command, option))
      continue;
    list_values(option, values);
    fish_condition(stream, command);
    fprintf(stream, " -l %s", option->name);
    if (letter)
      fprintf(stream, " -s %c", letter);
    if (values[0])
      fprintf(stream, " -x -a '%s'", values);
    else if (!is_flag(option))
      fputs(takes_file(option) ? " -r" : " -x", stream);
    fputs(" -d '", stream);
    put_quoted(stream, option->help, FISH_SPECIAL);
    fputs("'\n", stream);
  }
}

static void fish_end(FILE *stream) {
  (void)stream;
}

/* -- The command ----------------------------------------------------------- */

typedef struct shell {
  const char *name, *first_line;
  void (*begin)(FILE *stream);
  void (*command)(FILE *stream, const regal_command *command);
  void (*end)(FILE *stream);
} shell;

static const shell shells[] = {
    {"bash", "", bash_begin, bash_command, bash_end},
    {"zsh", "#compdef regal\n", zsh_begin, zsh_command, zsh_end},
    {"fish", "", fish_begin, fish_command, fish_end}};

regal_exit regal_command_completion(regal_cli *cli) {
  for (size_t i = 0; i < sizeof shells / sizeof *shells; i++) {
    const shell *shell = &shells[i];
    if (strcmp(shell->name, cli->argument[0]))
      continue;
    printf("%s# Completion for %s, written by 'regal completion %s'.\n",
           shell->first_line, shell->name, shell->name);
    shell->begin(stdout);
    for (size_t k = 0; k < regal_command_count(); k++)
      if (regal_command_at(k)->run)
        shell->command(stdout, regal_command_at(k));
    shell->end(stdout);
    return REGAL_EXIT_OK;
  }
  return regal_cli_fail(cli,
                        "no completion for '%.60s'; there is one for "
                        "bash, zsh and fish",
                        cli->argument[0]);
}
