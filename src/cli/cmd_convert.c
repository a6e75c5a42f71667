/* SPDX-License-Identifier: Apache-2.0 */
/* regal convert GRAPH -o OUT: writes a graph in another format. The format
 * comes from --format or from the ending of OUT. With --plan: the graph with a
 * plan, as an ONNX model in its order or as a picture, by the ending alone. */
#include "cli/cli.h"

#include <string.h>

typedef regal_status write_fn(regal_cli *cli, const regal_result *result);

static regal_status write_onnx(regal_cli *cli, const regal_result *result) {
  return regal_plan_save_onnx(cli->context, result, cli->argument[0],
                              cli->options.output);
}

static regal_status write_dot(regal_cli *cli, const regal_result *result) {
  return regal_plan_draw(cli->context, result, REGAL_PICTURE_DOT,
                         cli->options.output);
}

static regal_status write_svg(regal_cli *cli, const regal_result *result) {
  return regal_plan_draw(cli->context, result, REGAL_PICTURE_SVG,
                         cli->options.output);
}

static const struct {
  const char *ending;
  write_fn *write;
} planned[] = {{".onnx", write_onnx}, {".dot", write_dot}, {".svg", write_svg}};
#define ENDINGS (sizeof planned / sizeof *planned)

static write_fn *find_writer(const char *path) {
  size_t length = strlen(path);
  for (size_t i = 0; i < ENDINGS; i++) {
    size_t tail = strlen(planned[i].ending);
    if (length > tail && !strcmp(path + length - tail, planned[i].ending))
      return planned[i].write;
  }
  return NULL;
}

static regal_exit convert_with_plan(regal_cli *cli) {
  regal_cli_subject subject = {0};
  const char *graph = cli->argument[0];
  write_fn *write = find_writer(cli->options.output);
  if (!write)
    return regal_cli_fail(cli,
                          "with --plan the output (-o) ends in .onnx, .dot or "
                          ".svg");
  if (write == write_onnx && (!strcmp(graph, "-") || regal_cli_is_pipe(graph)))
    return regal_cli_fail(cli, "for an .onnx output, GRAPH must be a file");
  REGAL_CLI_TRY(cli, regal_cli_load_with_notes(cli));
  regal_exit code = regal_cli_load_subject(cli, cli->options.plan, &subject);
  if (code == REGAL_EXIT_OK)
    code = regal_cli_status(cli, write(cli, subject.result));
  regal_cli_free_subject(&subject);
  return code;
}

regal_exit regal_command_convert(regal_cli *cli) {
  regal_graph_format format;
  if (cli->options.plan[0])
    return convert_with_plan(cli);
  regal_exit code = regal_cli_output_format(cli, &format);
  if (code != REGAL_EXIT_OK)
    return code;
  REGAL_CLI_TRY(cli, regal_cli_load_with_notes(cli));
  return regal_cli_status(cli, regal_graph_save(cli->context, cli->graph,
                                                cli->options.output, format));
}
