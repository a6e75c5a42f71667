/* SPDX-License-Identifier: Apache-2.0 */
/* Pictures, drawn by gnuplot.
 *
 * gnuplot's language runs commands: a file name that begins with '<' or '|' is
 * a pipe to a shell, a newline begins a command, and an argument that begins
 * with '-' is an option. So no name of the user's gets into a script or onto
 * its command line. It runs in a private folder, where the script, the data and
 * the picture have names of ours: the data are a symbolic link, and the picture
 * is read from there and saved where the user wants it. Settings files of
 * gnuplot (~/.gnuplot) are not read.
 */
#define _XOPEN_SOURCE 700

#include "cli/cli.h"
#include "regal_bench.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

int regal_cli_gnuplot(const char *folder, const char *script) {
  int status;
  fflush(NULL);
  pid_t child = fork();
  if (child < 0)
    return 127;
  if (child == 0) {
    if (!chdir(folder))
      execlp("gnuplot", "gnuplot", "-d", script, (char *)NULL);
    _exit(127);
  }
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR)
      return 127;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

/* -- A private folder ------------------------------------------------------ */

#define SCRIPT "draw.gp"
#define DATA "data.csv"
#define PICTURE "picture.svg"

typedef struct workshop {
  char folder[PATH_MAX];
} workshop;

static const char *path_in(const workshop *w, const char *name,
                           char path[PATH_MAX + 32]) {
  snprintf(path, PATH_MAX + 32, "%s/%s", w->folder, name);
  return path;
}

static bool open_workshop(workshop *w) {
  const char *parent = getenv("TMPDIR");
  int length = snprintf(w->folder, sizeof w->folder, "%s/regal-XXXXXX",
                        parent && *parent ? parent : "/tmp");
  if (length >= (int)sizeof w->folder) {
    errno = ENAMETOOLONG;
    return false;
  }
  return mkdtemp(w->folder) != NULL;
}

static void close_workshop(const workshop *w) {
  static const char *const names[] = {SCRIPT, DATA, PICTURE};
  char path[PATH_MAX + 32];
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    unlink(path_in(w, names[i], path));
  rmdir(w->folder);
}

static bool link_data(const workshop *w, const char *data) {
  char target[PATH_MAX], path[PATH_MAX + 32];
  return realpath(data, target) && !symlink(target, path_in(w, DATA, path));
}

/* The whole picture, to be freed; NULL when there is none. */
static char *read_picture(const workshop *w, size_t *size) {
  char path[PATH_MAX + 32];
  struct stat info;
  FILE *file = fopen(path_in(w, PICTURE, path), "rb");
  char *bytes = NULL;
  *size = 0;
  if (file && !fstat(fileno(file), &info) && info.st_size > 0 &&
      (bytes = malloc((size_t)info.st_size)))
    *size = fread(bytes, 1, (size_t)info.st_size, file);
  if (file)
    fclose(file);
  return bytes;
}

/* -- The curves of a training run ------------------------------------------ */

static void put_panel(FILE *file, const char *title, int column) {
  fprintf(file,
          "set title '%s'\n"
          "plot '" DATA "' using 1:%d every ::1 with dots lt 6, "
          "'" DATA "' using 1:%d every ::1 smooth bezier lt 1\n",
          title, column, column);
}

static void put_validation(FILE *file) {
  fputs("set title 'validation: improvement over BRKGA, %'\n"
        "plot '" DATA "' using 1:10 every ::1 with linespoints lt 2\n",
        file);
}

static void put_script(FILE *file, bool validated) {
  fprintf(file,
          "%sset terminal svg size 960,640 dynamic font 'sans,12' background "
          "'white'\nset output '" PICTURE "'\nunset key\nset xlabel 'step'\n"
          "set multiplot layout 2,2\n",
          regal_figure_style());
  put_panel(file, "improvement of episodes over standard BRKGA, %", 4);
  if (validated)
    put_validation(file);
  else
    put_panel(file, "learning rate", 7);
  put_panel(file, "entropy of an op''s choices, nats", 5);
  put_panel(file, "norm of the gradient", 6);
  fputs("unset multiplot\n", file);
}

static bool write_script(const workshop *w, bool validated) {
  char path[PATH_MAX + 32];
  FILE *file = fopen(path_in(w, SCRIPT, path), "w");
  if (!file)
    return false;
  put_script(file, validated);
  bool failed = ferror(file) != 0;
  return fclose(file) == 0 && !failed;
}

static regal_exit save_picture(regal_cli *cli, const workshop *w) {
  size_t size;
  char *bytes = read_picture(w, &size);
  regal_exit code =
      bytes ? regal_cli_status(
                  cli,
                  regal_file_save(cli->context, cli->options.plot, bytes, size))
            : regal_cli_fail(cli, "gnuplot has drawn nothing");
  free(bytes);
  return code;
}

static regal_exit draw(regal_cli *cli, const workshop *w, const char *log) {
  if (!link_data(w, log))
    return regal_cli_fail(cli, "%.200s: %s", log, strerror(errno));
  if (!write_script(w, cli->options.valid_graphs > 0))
    return regal_cli_fail(cli, "%.200s: %s", w->folder, strerror(errno));
  int code = regal_cli_gnuplot(w->folder, SCRIPT);
  if (code == 127)
    return regal_cli_fail(
        cli, "gnuplot was not found: %.200s has the data, no picture", log);
  if (code)
    return regal_cli_fail(cli, "gnuplot failed to draw %.200s", log);
  return save_picture(cli, w);
}

regal_exit regal_cli_plot_training(regal_cli *cli) {
  const regal_options *options = &cli->options;
  char log[1100];
  workshop w;
  snprintf(log, sizeof log, "%s%s",
           options->log[0] ? options->log : options->output,
           options->log[0] ? "" : ".csv");
  if (!open_workshop(&w))
    return regal_cli_fail(cli, "%.200s: %s", w.folder, strerror(errno));
  regal_exit code = draw(cli, &w, log);
  close_workshop(&w);
  return code;
}
