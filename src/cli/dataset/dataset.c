/* SPDX-License-Identifier: Apache-2.0 */
/* regal dataset pack, split, deduplicate, filter and augment: each opens its
 * inputs as one dataset, changes it, and writes it. describe and list are in
 * describe.c. */
#include "cli/dataset/dataset.h"

#include <string.h>

static regal_status open_all(regal_cli *cli, const char *const *paths,
                             int count, regal_dataset **dataset) {
  regal_status status = regal_dataset_open(cli->context, NULL, dataset);
  if (status != REGAL_OK)
    return status;
  for (int i = 0; i < count && status == REGAL_OK; i++)
    status = regal_dataset_add(*dataset, paths[i]);
  if (status == REGAL_OK)
    status = regal_dataset_set_reading(*dataset, &cli->options);
  if (status == REGAL_OK && cli->options.split[0])
    status = regal_dataset_select(*dataset, cli->options.split);
  if (status != REGAL_OK) {
    regal_dataset_free(*dataset);
    *dataset = NULL;
  }
  return status;
}

/* Ctrl-C ends it between two graphs. */
static regal_status measure(regal_cli *cli, regal_dataset *dataset,
                            bool check) {
  regal_interrupt_begin(cli->context);
  regal_status status =
      check ? regal_dataset_check(dataset, &cli->options) : REGAL_OK;
  if (status == REGAL_OK)
    status = regal_dataset_measure(dataset, &cli->options);
  regal_interrupt_end();
  return status;
}

static void say_dropped(void *state, const regal_entry *entry,
                        const char *why) {
  regal_cli *cli = state;
  char text[512];
  snprintf(text, sizeof text, "%.200s: %s", entry->name, why);
  if (!cli->options.quiet)
    regal_cli_say("dropped", text);
}

size_t regal_cli_count_split(const regal_dataset *dataset, const char *split) {
  size_t count = 0;
  for (size_t i = 0; i < regal_dataset_count(dataset); i++)
    count += !strcmp(regal_dataset_entry(dataset, i)->split, split);
  return count;
}

static void print_summary(const regal_cli *cli, const regal_dataset *dataset,
                          size_t before) {
  size_t count = regal_dataset_count(dataset);
  printf("%s: %zu graph%s", cli->options.output, count, count == 1 ? "" : "s");
  if (count < before)
    printf(", %zu dropped", before - count);
  size_t train = regal_cli_count_split(dataset, "train");
  size_t valid = regal_cli_count_split(dataset, "valid");
  size_t test = regal_cli_count_split(dataset, "test");
  if (train + valid + test)
    printf(" (train %zu, valid %zu, test %zu)", train, valid, test);
  uint32_t copies = count ? regal_dataset_entry(dataset, 0)->copies : 0;
  if (copies)
    printf(", %lu copies each", (unsigned long)copies);
  putchar('\n');
}

typedef regal_status (*edit_fn)(regal_cli *cli, regal_dataset *dataset);

/* Without an edit the index is checked, not believed. */
static regal_status make(regal_cli *cli, edit_fn edit) {
  regal_dataset *dataset;
  regal_status status = open_all(cli, cli->argument, cli->arguments, &dataset);
  if (status != REGAL_OK)
    return status;
  size_t before = regal_dataset_count(dataset);
  status = measure(cli, dataset, !edit);
  if (status == REGAL_OK && edit)
    status = edit(cli, dataset);
  if (status == REGAL_OK)
    status = regal_dataset_save(dataset, cli->options.output);
  if (status == REGAL_OK && !cli->options.quiet)
    print_summary(cli, dataset, before);
  regal_dataset_free(dataset);
  return status;
}

static regal_exit run(regal_cli *cli, edit_fn edit) {
  if (!cli->options.output[0] || !strcmp(cli->options.output, "-"))
    return regal_cli_fail(
        cli, "where to? give an archive (OUT.zip) or a new folder with -o");
  return regal_cli_status(cli, make(cli, edit));
}

enum { MOST_LIKE = REGAL_MOST_LIST / 2 }; /* a letter and a comma each */

/* The sets of --like; those that are open are counted even if one fails. */
static regal_status open_like(regal_cli *cli, regal_dataset **like,
                              size_t *count) {
  char paths[REGAL_MOST_LIST], *rest;
  snprintf(paths, sizeof paths, "%s", cli->options.like);
  for (char *path = strtok_r(paths, ",", &rest); path;
       path = strtok_r(NULL, ",", &rest)) {
    regal_status status = regal_dataset_open(cli->context, path, &like[*count]);
    if (status != REGAL_OK)
      return status;
    ++*count;
    status = measure(cli, like[*count - 1], false);
    if (status != REGAL_OK)
      return status;
  }
  return REGAL_OK;
}

static regal_status split(regal_cli *cli, regal_dataset *dataset) {
  regal_dataset *like[MOST_LIKE];
  size_t count = 0;
  regal_status status = open_like(cli, like, &count);
  if (status == REGAL_OK)
    status =
        regal_dataset_split_like(dataset, (const regal_dataset *const *)like,
                                 count, (uint64_t)cli->options.seed);
  while (count)
    regal_dataset_free(like[--count]);
  return status;
}

static regal_status deduplicate(regal_cli *cli, regal_dataset *dataset) {
  return regal_dataset_deduplicate(dataset, say_dropped, cli);
}

static regal_status filter(regal_cli *cli, regal_dataset *dataset) {
  return regal_dataset_filter(dataset, &cli->options, say_dropped, cli);
}

static regal_status augment(regal_cli *cli, regal_dataset *dataset) {
  regal_dataset_augment(dataset, (uint32_t)cli->options.copies,
                        (uint64_t)cli->options.seed);
  return REGAL_OK;
}

regal_exit regal_command_dataset_pack(regal_cli *cli) {
  return run(cli, NULL);
}

regal_exit regal_command_dataset_split(regal_cli *cli) {
  return run(cli, split);
}

regal_exit regal_command_dataset_deduplicate(regal_cli *cli) {
  return run(cli, deduplicate);
}

regal_exit regal_command_dataset_filter(regal_cli *cli) {
  return run(cli, filter);
}

regal_exit regal_command_dataset_augment(regal_cli *cli) {
  return run(cli, augment);
}

regal_status regal_cli_dataset_open(regal_cli *cli, const char *path,
                                    regal_dataset **dataset) {
  regal_status status = open_all(cli, &path, 1, dataset);
  if (status == REGAL_OK && (status = measure(cli, *dataset, false)))
    regal_dataset_free(*dataset);
  return status;
}
