/* SPDX-License-Identifier: Apache-2.0 */
/* The command line: a user of the library like any other (only regal.h).
 *
 * Results go to stdout, everything else to stderr. main.c parses, runs the
 * command and turns what it returns into the exit code; commands.c has the
 * table of commands.
 */
#ifndef REGAL_CLI_CLI_H
#define REGAL_CLI_CLI_H

#include <pthread.h>

#include "regal.h"

#define REGAL_CLI_ARGUMENTS 4096
#define REGAL_CLI_CONFLICT 512
#define REGAL_CLI_PLANS 64 /* on a page */

/* The program's exit codes; scripts rely on them. */
typedef enum regal_exit {
  REGAL_EXIT_OK = 0,       /* a plan was found, or the job is done */
  REGAL_EXIT_INPUT = 1,    /* usage or input error */
  REGAL_EXIT_INTERNAL = 2, /* out of memory, or a bug */
  REGAL_EXIT_NO_FIT = 3    /* no plan fits the memory limit */
} regal_exit;

struct regal_command;

/* One invocation. */
typedef struct regal_cli {
  regal_context *context;
  const struct regal_command *command;
  regal_options options;
  const char *argument[REGAL_CLI_ARGUMENTS]; /* what is not an option */
  int arguments;
  bool wants_help, wants_version;
  regal_graph *graph; /* of the command, or NULL; main frees it */
  char message[1280]; /* what is wrong, when it is not the library's message */
  char conflict[REGAL_CLI_CONFLICT]; /* between options and a plan's file */
} regal_cli;

/* A command with a space in its name ("dataset pack") is a part of another,
 * whose own row has no function. */
typedef struct regal_command {
  const char *name;
  const char *help;    /* one line */
  const char *about;   /* a paragraph for --help, wrapped by hand */
  const char *usage;   /* its arguments: "GRAPH PLAN" */
  int low, high;       /* how many arguments it takes */
  const char *groups;  /* groups of options that it takes, by spaces */
  const char *singles; /* further options that it takes, by spaces */
  const char *examples;
  regal_exit (*run)(regal_cli *cli);
} regal_command;

/* commands.c */
size_t regal_command_count(void);
const regal_command *regal_command_at(size_t index);
const regal_command *regal_command_find(const char *name);
/* Whether `part` is a command of the group `command`: its last word, or NULL.
 */
const char *regal_command_part(const regal_command *command,
                               const regal_command *part);
bool regal_command_takes(const regal_command *command,
                         const regal_option_info *option);

/* arguments.c: fills `cli` and prints nothing. False, with cli->message set,
 * when the arguments are wrong. `argv` must outlive `cli`. */
bool regal_cli_parse(regal_cli *cli, int argc, char *const *argv);
/* The letter of an option's short form; 0 when it has none. */
char regal_cli_short(const char *name);

/* help.c */
void regal_help_overview(FILE *stream);
void regal_help_command(const regal_command *command, FILE *stream);
void regal_help_markdown(FILE *stream);

/* io.c */
/* One line on stderr, "WHO: MESSAGE", whatever the message quotes. */
void regal_cli_say(const char *who, const char *message);
/* Keeps the formatted message for main; returns REGAL_EXIT_INPUT. */
regal_exit regal_cli_fail(regal_cli *cli, const char *format, ...)
    REGAL_FORMAT(2, 3);
/* Keeps the library's message; returns the exit code for `status`. */
regal_exit regal_cli_status(regal_cli *cli, regal_status status);
/* Ends a command with the library's message, unless all is well. */
#define REGAL_CLI_TRY(cli, call)                                               \
  do {                                                                         \
    regal_status try_status_ = (call);                                         \
    if (try_status_ != REGAL_OK)                                               \
      return regal_cli_status((cli), try_status_);                             \
  } while (0)
/* Loads the first argument into cli->graph. */
regal_status regal_cli_load(regal_cli *cli);
/* The same, and prints what the reader had to assume, unless -q. */
regal_status regal_cli_load_with_notes(regal_cli *cli);
/* The format of the graph that is written to -o: by --format, or by the ending
 * of the file. Fails when there is no -o. */
regal_exit regal_cli_output_format(regal_cli *cli, regal_graph_format *format);
/* Says that the job ended early, and that it can be continued by the same
 * command `how`; returns REGAL_EXIT_INPUT. */
regal_exit regal_cli_stopped(regal_cli *cli, uint64_t done, uint64_t total,
                             const char *what, const char *how);
/* Fails when two of the outputs are to go to stdout. Otherwise says where the
 * readable report goes: stderr if stdout is taken. */
regal_exit regal_cli_streams(regal_cli *cli, FILE **report);
/* Prints a text as a string of JSON, escaped as regal_cli_say escapes it. */
void regal_cli_print_json(const char *text, FILE *stream);
/* Whether the path is that of a pipe, which can be read only once. */
bool regal_cli_is_pipe(const char *path);
/* Columns of the terminal behind `stream`; 80 when there is none. */
int regal_cli_columns(FILE *stream);
/* Writes the trace and the page and draws the timeline, where the options ask
 * for it. */
regal_status regal_cli_extras(regal_cli *cli, const regal_result *result,
                              FILE *report);

/* outputs.c: every file that a command reads or writes. */
#define REGAL_CLI_OUTPUTS 16
typedef struct regal_cli_file {
  char label[32]; /* as messages name it: "-o", "--trace", "GRAPH" */
  char path[REGAL_MOST_LIST];
} regal_cli_file;
/* The files that the command will write. */
size_t regal_cli_outputs(const regal_cli *cli,
                         regal_cli_file files[REGAL_CLI_OUTPUTS]);
/* Fails when an output is an input or another output, whatever their names, or
 * when two inputs are stdin. Touches nothing. */
regal_exit regal_cli_check_files(regal_cli *cli);

/* probe.c */
/* Fails when an output cannot be written: no such folder, no permission, or a
 * folder of that name. Touches nothing. */
regal_exit regal_cli_probe_outputs(regal_cli *cli);
/* Writes the plan to -o or, when that fails, to a rescue file, which the
 * message then names. */
regal_exit regal_cli_save_plan(regal_cli *cli, const regal_result *result);

/* gnuplot.c */
/* Has gnuplot run a script in a folder: its exit code, or 127 when it is not
 * installed. Neither the script's name nor the script may have text of a user's
 * in it. */
int regal_cli_gnuplot(const char *folder, const char *script);
/* Draws the log's curves into options->plot. */
regal_exit regal_cli_plot_training(regal_cli *cli);

/* plan_machine.c */
/* Sets the options of machine and objective that the plan's file has values for
 * and that are not given; `aloud`: and says so, unless -q. Keeps in
 * cli->conflict where file and options disagree. */
regal_exit regal_cli_take_plan_options(regal_cli *cli, const char *path,
                                       regal_options *options, bool aloud);
/* Adds the conflict to the message of a plan that does not fit. */
regal_exit regal_cli_blame_conflict(regal_cli *cli, regal_exit code);

/* cmd_evaluate.c: a plan of a file on its own machine. On failure, too, the
 * caller frees it. */
typedef struct regal_cli_subject {
  regal_problem *problem;
  regal_result *result;
} regal_cli_subject;

regal_exit regal_cli_load_subject(regal_cli *cli, const char *path,
                                  regal_cli_subject *subject);
void regal_cli_free_subject(regal_cli_subject *subject);

/* progress.c: a line on the terminal that is updated as the search goes on, or
 * with -v a line for each improvement. */
typedef struct regal_progress_line {
  bool on_terminal, in_bytes, drawing;
  double began, limit;  /* seconds; limit 0: there is none */
  pthread_t thread;     /* draws, if `drawing` */
  pthread_mutex_t lock; /* of the rest */
  pthread_cond_t end;   /* `ended` is set */
  bool ended, reported;
  regal_progress last; /* if `reported` */
} regal_progress_line;

void regal_progress_begin(regal_progress_line *line, regal_cli *cli);
void regal_progress_end(regal_progress_line *line, regal_cli *cli);

/* The line of a long job: rewritten on a terminal five times a second,
 * elsewhere a new one every ten seconds. Zero, apart from on_terminal, is a new
 * one. */
typedef struct regal_job_line {
  bool on_terminal, shown;
  double last; /* when it was printed last */
} regal_job_line;

regal_job_line regal_job_line_begin(void);
bool regal_job_line_is_due(const regal_job_line *line, double seconds);
void regal_job_line_print(regal_job_line *line, double seconds,
                          const char *text);
/* Removes what stands on the terminal. */
void regal_job_line_clear(regal_job_line *line);
/* "1:02:03" or "2:03"; "-:--" if nothing is known. */
void regal_cli_format_time(double seconds, char text[32]);

/* interrupt.c: SIGINT and SIGTERM ask the search to stop; the second one ends
 * the program. */
void regal_interrupt_begin(regal_context *context);
void regal_interrupt_end(void);

/* provenance.c: options that are not as they are by default */
/* With -v: which build runs with which options, so that a log says enough to
 * repeat the run. */
void regal_cli_print_banner(const regal_cli *cli);
/* The command in one line, with the options that matter for what it makes. */
/* Whether the option is set to something else than its default; `value` is
 * that. */
bool regal_cli_is_changed(const regal_cli *cli, const regal_options *defaults,
                          size_t option, char value[REGAL_MOST_LIST]);
void regal_cli_join_command(const regal_cli *cli, char *text, size_t capacity);

/* shell/config.c */
/* Sets options from --config, where the command line did not. False, with
 * cli->message set, when the file is wrong. */
bool regal_cli_read_config(regal_cli *cli);
/* Writes the options that are not the default. */
void regal_cli_dump_config(const regal_cli *cli, FILE *stream);

/* cmd_*.c */
regal_exit regal_command_optimize(regal_cli *cli);
regal_exit regal_command_evaluate(regal_cli *cli);
regal_exit regal_command_report(regal_cli *cli);
regal_exit regal_command_convert(regal_cli *cli);
regal_exit regal_command_inspect(regal_cli *cli);
regal_exit regal_command_actions(regal_cli *cli);
regal_exit regal_command_pipeline(regal_cli *cli);
regal_exit regal_command_generate(regal_cli *cli);
regal_exit regal_command_dataset_pack(regal_cli *cli);
regal_exit regal_command_dataset_split(regal_cli *cli);
regal_exit regal_command_dataset_deduplicate(regal_cli *cli);
regal_exit regal_command_dataset_filter(regal_cli *cli);
regal_exit regal_command_dataset_augment(regal_cli *cli);
regal_exit regal_command_dataset_describe(regal_cli *cli);
regal_exit regal_command_dataset_list(regal_cli *cli);
regal_exit regal_command_train(regal_cli *cli);
regal_exit regal_command_tune(regal_cli *cli);
regal_exit regal_command_bench(regal_cli *cli);
regal_exit regal_command_machines(regal_cli *cli);
regal_exit regal_command_methods(regal_cli *cli);
regal_exit regal_command_options(regal_cli *cli);
regal_exit regal_command_completion(regal_cli *cli);

#endif
