/* SPDX-License-Identifier: Apache-2.0 */
/* regal actions GRAPH: what a policy chooses for a graph, as a summary and,
 * with -o, as a table of all choices. */
#include <string.h>

#include "cli/cli.h"
#include "regal_train.h"

static void print_class(const regal_action_class *class, FILE *stream) {
  char levels[48], entropies[64];
  snprintf(levels, sizeof levels,
           class->bias_levels ? "%u x %u x %u" : "%u x %u", class->mean_levels,
           class->variance_levels, class->bias_levels);
  snprintf(entropies, sizeof entropies, "%.3f nats", class->chosen_entropy);
  fprintf(stream, "%-12s%-10zu%-8u%-14s%-11zu%-14s%.3f nats\n", class->name,
          class->items, class->genes, levels, class->different, entropies,
          class->policy_entropy);
}

static void print_text(const regal_actions *actions, const char *how,
                       FILE *stream) {
  fprintf(stream, "policy      %s (%s), %llu evaluations, %s actions\n\n",
          regal_actions_policy(actions), regal_actions_kind(actions),
          (unsigned long long)regal_actions_evaluations(actions), how);
  fprintf(stream, "%-12s%-10s%-8s%-14s%-11s%-14s%s\n", "genes", "items", "each",
          "levels", "different", "entropy", "of the policy");
  for (size_t i = 0; i < regal_actions_class_count(actions); i++) {
    regal_action_class class = regal_actions_class(actions, i);
    print_class(&class, stream);
  }
}

static void print_json(const regal_actions *actions, const char *how,
                       FILE *stream) {
  fputs("{\"policy\": ", stream);
  regal_cli_print_json(regal_actions_policy(actions), stream);
  fprintf(stream,
          ", \"kind\": \"%s\", \"evaluations\": %llu, \"actions\": \"%s\",\n"
          " \"classes\": [",
          regal_actions_kind(actions),
          (unsigned long long)regal_actions_evaluations(actions), how);
  for (size_t i = 0; i < regal_actions_class_count(actions); i++) {
    regal_action_class class = regal_actions_class(actions, i);
    fprintf(stream,
            "%s\n  {\"name\": \"%s\", \"items\": %zu, \"genes\": %u, "
            "\"mean_levels\": %u, \"variance_levels\": %u, \"bias_levels\": "
            "%u,\n   \"different\": %zu, \"chosen_entropy\": %.6f, "
            "\"policy_entropy\": %.6f}",
            i ? "," : "", class.name, class.items, class.genes,
            class.mean_levels, class.variance_levels, class.bias_levels,
            class.different, class.chosen_entropy, class.policy_entropy);
  }
  fputs("]}\n", stream);
}

static regal_status report(regal_cli *cli, const regal_actions *actions) {
  const regal_options *options = &cli->options;
  const char *how = options->actions ? "sampled" : "greedy";
  bool taken = !strcmp(options->output, "-");
  FILE *stream = taken ? stderr : stdout;
  if (options->output[0]) {
    regal_status status =
        regal_actions_save(cli->context, actions, options->output);
    if (status != REGAL_OK)
      return status;
  }
  if (options->json)
    print_json(actions, how, stream);
  else
    print_text(actions, how, stream);
  return REGAL_OK;
}

static regal_status run(regal_cli *cli, const regal_problem *problem) {
  regal_actions *actions;
  regal_status status =
      regal_actions_create(cli->context, problem, &cli->options, &actions);
  if (status != REGAL_OK)
    return status;
  status = report(cli, actions);
  regal_actions_free(actions);
  return status;
}

regal_exit regal_command_actions(regal_cli *cli) {
  regal_problem *problem;
  REGAL_CLI_TRY(cli, regal_cli_load_with_notes(cli));
  REGAL_CLI_TRY(cli, regal_problem_create(cli->context, cli->graph,
                                          &cli->options, &problem));
  regal_status status = run(cli, problem);
  regal_problem_free(problem);
  return regal_cli_status(cli, status);
}
