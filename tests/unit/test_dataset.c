/* SPDX-License-Identifier: Apache-2.0 */
/* Datasets: opened with and without an index, changed, written and read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "base/context.h"
#include "regal_data.h"
#include "support/failing_allocator.h"
#include "support/files.h"

/* -- Graph files ----------------------------------------------------------- */

#define OP(id, cost, inputs, size)                                             \
  "node { name: 'op" #id "' id: " #id " compute_cost: " #cost " " inputs       \
  " output_info { size: " #size " alias_input_port: -1 } }\n"
#define IN(id) "input_info { preceding_node: " #id " }"

static const char fork_text[] = OP(0, 1, "", 8) OP(1, 2, IN(0), 8)
    OP(2, 3, IN(0), 8) OP(3, 4, IN(1) IN(2), 8);
/* The same in-degrees as the fork, with other costs. */
static const char twin_text[] = OP(0, 5, "", 16) OP(1, 6, IN(0), 16)
    OP(2, 7, IN(0), 16) OP(3, 8, IN(1) IN(2), 16);
static const char chain_text[] =
    OP(0, 1, "", 8) OP(1, 2, IN(0), 8) OP(2, 3, IN(1), 8);
static const char single_text[] = OP(0, 1, "", 8);
static const char free_text[] = OP(0, 0, "", 0) OP(1, 0, IN(0), 0);
static const char loop_text[] =
    "node { name: 'a' id: 0 compute_cost: 1\n"
    "  input_info { preceding_node: 1 } output_info { size: 8 } }\n"
    "node { name: 'NextIteration' id: 1 compute_cost: 1\n"
    "  input_info { preceding_node: 0 } output_info { size: 8 } }\n";

static void write_samples(const char *folder) {
  static const struct {
    const char *name, *text;
  } files[] = {{"chain.pbtxt", chain_text},   {"fork.order", "0\n2\n1\n3\n"},
               {"fork.pbtxt", fork_text},     {"free.pbtxt", free_text},
               {"single.pbtxt", single_text}, {"twin.pbtxt", twin_text},
               {"chain.order", "0\n1\n2\n"},  {"notes.md", "# Notes\n"}};
  mkdir(folder, 0777);
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, files[i].name);
    files_write_text(path, files[i].text);
  }
}

/* -- What the tests share -------------------------------------------------- */

static int set_up(void **state) {
  return regal_context_create((regal_context **)state, NULL) != REGAL_OK;
}

static int tear_down(void **state) {
  bool leaked = regal_bytes_in_use(*state) != 0;
  regal_context_free(*state);
  return leaked || system("rm -rf ./*");
}

#define GOOD(call)                                                             \
  do {                                                                         \
    if ((call) != REGAL_OK)                                                    \
      fail_msg("%s", regal_error(*state));                                     \
  } while (0)
#define BAD(call, expected, message)                                           \
  do {                                                                         \
    assert_int_equal(call, expected);                                          \
    assert_string_equal(regal_error(*state), message);                         \
  } while (0)

static void assert_names(const regal_dataset *dataset, const char *expected) {
  char names[512] = "";
  for (size_t i = 0; i < regal_dataset_count(dataset); i++) {
    size_t used = strlen(names);
    snprintf(names + used, sizeof names - used, "%s%s", i ? " " : "",
             regal_dataset_entry(dataset, i)->name);
    assert_int_equal(
        regal_dataset_find(dataset, regal_dataset_entry(dataset, i)->name), i);
  }
  assert_string_equal(names, expected);
}

/* The files of a folder, sorted, with spaces between. */
static void assert_files(const char *folder, const char *expected) {
  char command[256], line[1024] = "";
  snprintf(command, sizeof command,
           "cd %s && find . -type f | sed 's,^./,,' | LC_ALL=C sort | "
           "tr '\\n' ' '",
           folder);
  FILE *pipe = popen(command, "r");
  assert_non_null(pipe);
  assert_non_null(fgets(line, sizeof line, pipe));
  pclose(pipe);
  assert_string_equal(line, expected);
}

typedef struct log {
  char text[512];
} log;

static void note(void *state, const regal_entry *entry, const char *why) {
  log *l = state;
  size_t used = strlen(l->text);
  snprintf(l->text + used, sizeof l->text - used, "%s: %s; ", entry->name, why);
}

/* -- Opening --------------------------------------------------------------- */

static void without_an_index(void **state) {
  regal_dataset *dataset;
  mkdir("set", 0777);
  mkdir("set/train", 0777);
  mkdir("set/test", 0777);
  files_write_text("set/train/a.pbtxt", fork_text);
  files_write_text("set/test/b.pbtxt", chain_text);
  files_write_text("set/c.pbtxt", chain_text);
  files_write_text("set/c.json", "{}");
  files_write_text("set/readme.txt", "no graph");
  GOOD(regal_dataset_open(*state, "set", &dataset));
  assert_names(dataset, "c c.pbtxt test/b train/a");
  assert_string_equal(regal_dataset_entry(dataset, 2)->split, "test");
  assert_string_equal(regal_dataset_entry(dataset, 3)->split, "train");
  assert_string_equal(regal_dataset_entry(dataset, 3)->file, "train/a.pbtxt");
  assert_string_equal(regal_dataset_entry(dataset, 0)->split, "");
  assert_false(regal_dataset_entry(dataset, 0)->known);
  assert_null(regal_dataset_entry(dataset, 4));
  assert_int_equal(regal_dataset_find(dataset, "nope"), 4);
  regal_dataset_free(dataset);
}

static void with_an_index(void **state) {
  regal_dataset *dataset;
  write_samples("set");
  files_write_text(
      "set/index.csv",
      "\xEF\xBB\xBFname,color,file,family,source,seed\r\n"
      "one,red,fork.pbtxt,\"a, \"\"b\"\"\",\"two\nlines\",12\r\n\r\n"
      "chain,,,,,");
  GOOD(regal_dataset_open(*state, "set", &dataset));
  assert_names(dataset, "one chain");
  const regal_entry *entry = regal_dataset_entry(dataset, 0);
  assert_string_equal(entry->family, "a, \"b\"");
  assert_string_equal(entry->source, "two\nlines");
  assert_int_equal(entry->seed, 12);
  assert_string_equal(regal_dataset_entry(dataset, 1)->file, "chain.pbtxt");
  regal_dataset_free(dataset);
}

static void wrong_indexes(void **state) {
  static const struct {
    const char *text, *message;
  } cases[] = {
      {"", "set/index.csv: is empty"},
      {"\n", "set/index.csv: is empty"},
      {"name,file\nx,none.pb\n",
       "set/index.csv:2: there is no file for \"none.pb\""},
      {"name,file\nx,../set/fork.pbtxt\n",
       "set/index.csv:2: there is no file for \"../set/fork.pbtxt\""},
      {"name\nnone\n", "set/index.csv:2: there is no file for \"none\""},
      {"name,file\nx,fork.pbtxt\nx,chain.pbtxt\n",
       "set/index.csv:3: two graphs have the name \"x\""},
      {"name,file\nx\n", "set/index.csv:2: 1 fields, expected 2"},
      {"name,name\nx,y\n", "set/index.csv:1: column 'name' occurs twice"},
      {"name,ops\nfork,-1\n", "set/index.csv:2: \"-1\" is no proper 'ops'"},
      {"name,ops\nfork,4294967296\n",
       "set/index.csv:2: \"4294967296\" is no proper 'ops'"},
      {"name,checksum\nfork,0x12\n",
       "set/index.csv:2: \"0x12\" is no proper 'checksum'"},
      {"name,runtime_room\nfork,maybe\n",
       "set/index.csv:2: \"maybe\" is no proper 'runtime_room'"},
      {"name\n\"fork\n",
       "set/index.csv:2: found a field that begins with a quote, expected one "
       "at its end, too"},
      {"name,file\n,\n", "set/index.csv:2: neither a name nor a file"},
  };
  regal_dataset *dataset;
  write_samples("set");
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    files_write_text("set/index.csv", cases[i].text);
    BAD(regal_dataset_open(*state, "set", &dataset), REGAL_BAD_INPUT,
        cases[i].message);
  }
}

/* Somebody else's index.csv is a file like any other. */
static void foreign_index(void **state) {
  regal_dataset *dataset;
  write_samples("set");
  files_write_text("set/index.csv", "graph,layers\nfork,3\n");
  GOOD(regal_dataset_open(*state, "set", &dataset));
  assert_names(dataset, "chain fork free single twin");
  GOOD(regal_dataset_measure(dataset, NULL));
  GOOD(regal_dataset_save(dataset, "out"));
  assert_files("out", "chain.order chain.pbtxt fork.order fork.pbtxt "
                      "free.pbtxt index.csv index.original.csv notes.md "
                      "single.pbtxt twin.pbtxt ");
  regal_dataset_free(dataset);
}

/* No inputs, no graphs: an index of nothing, that can be read again. */
static void empty_dataset(void **state) {
  regal_dataset *dataset;
  static const char *const paths[] = {"none.zip", "none"};
  for (size_t i = 0; i < 2; i++) {
    GOOD(regal_dataset_open(*state, NULL, &dataset));
    GOOD(regal_dataset_save(dataset, paths[i]));
    regal_dataset_free(dataset);
    GOOD(regal_dataset_open(*state, paths[i], &dataset));
    assert_int_equal(regal_dataset_count(dataset), 0);
    GOOD(regal_dataset_measure(dataset, NULL));
    regal_dataset_free(dataset);
  }
}

static void wrong_calls(void **state) {
  regal_dataset *dataset;
  regal_graph *graph;
  write_samples("set");
  assert_int_equal(regal_dataset_open(NULL, "set", &dataset), REGAL_MISUSE);
  BAD(regal_dataset_open(*state, "nowhere", &dataset), REGAL_IO,
      "nowhere: No such file or directory");
  GOOD(regal_dataset_open(*state, "set/fork.pbtxt", &dataset));
  assert_names(dataset, "fork");
  BAD(regal_dataset_add(dataset, "set"), REGAL_BAD_INPUT,
      "graph \"fork\" is both in set and in set");
  assert_names(dataset, "fork");
  BAD(regal_dataset_load(dataset, 1, 0, NULL, &graph), REGAL_MISUSE,
      "graph 1 of 1 cannot be loaded");
  BAD(regal_dataset_save(dataset, "x.zip"), REGAL_MISUSE,
      "the figures of graph \"fork\" are not known: regal_dataset_measure "
      "comes first");
  regal_dataset_free(dataset);
  regal_dataset_free(NULL);
}

/* -- Figures --------------------------------------------------------------- */

static void measured_and_checked(void **state) {
  regal_dataset *dataset;
  regal_options options;
  regal_options_init(&options);
  options.threads = 3;
  write_samples("set");
  GOOD(regal_dataset_open(*state, "set", &dataset));
  GOOD(regal_dataset_measure(dataset, &options));
  const regal_figures *figures = &regal_dataset_entry(dataset, 1)->figures;
  assert_int_equal(figures->ops, 4);
  assert_int_equal(figures->edges, 4);
  assert_int_equal(figures->work_ns, 10000);
  assert_int_equal(figures->critical_ns, 8000);
  assert_int_equal(figures->file_bytes, strlen(fork_text));
  GOOD(regal_dataset_save(dataset, "set.zip"));
  GOOD(regal_dataset_save(dataset, "out"));
  regal_dataset_free(dataset);

  GOOD(regal_dataset_open(*state, "set.zip", &dataset));
  assert_true(regal_dataset_entry(dataset, 1)->known);
  GOOD(regal_dataset_check(dataset, &options));
  regal_dataset_free(dataset);

  files_write_text("out/fork.pbtxt", twin_text);
  GOOD(regal_dataset_open(*state, "out", &dataset));
  assert_int_equal(regal_dataset_check(dataset, &options), REGAL_BAD_INPUT);
  assert_memory_equal(regal_error(*state),
                      "graph \"fork\" is not what the index says: checksum ",
                      50);
  regal_dataset_free(dataset);
}

/* What cannot be read is named, the first of several, for any threads. */
static void unreadable(void **state) {
  regal_dataset *dataset;
  regal_options options;
  regal_options_init(&options);
  write_samples("set");
  files_write_text("set/bad1.pbtxt", "node {");
  files_write_text("set/bad2.pbtxt", "node {");
  for (options.threads = 1; options.threads <= 4; options.threads++) {
    GOOD(regal_dataset_open(*state, "set", &dataset));
    assert_int_equal(regal_dataset_measure(dataset, &options), REGAL_BAD_INPUT);
    assert_memory_equal(regal_error(*state), "set/bad1.pbtxt:", 15);
    regal_dataset_free(dataset);
  }
}

/* -- Changing -------------------------------------------------------------- */

static void deduplicated(void **state) {
  regal_dataset *dataset;
  log l = {""};
  write_samples("set");
  GOOD(regal_dataset_open(*state, "set", &dataset));
  GOOD(regal_dataset_measure(dataset, NULL));
  GOOD(regal_dataset_deduplicate(dataset, note, &l));
  assert_names(dataset, "chain fork free single");
  assert_string_equal(l.text, "twin: the same in-degrees as \"fork\"; ");
  regal_dataset_free(dataset);
}

static void filtered(void **state) {
  regal_dataset *dataset;
  regal_options options;
  log l = {""}, m = {""};
  regal_options_init(&options);
  write_samples("set");
  GOOD(regal_dataset_open(*state, "set", &dataset));
  GOOD(regal_dataset_measure(dataset, NULL));
  options.objective = 1; /* memory */
  GOOD(regal_dataset_filter(dataset, &options, note, &m));
  assert_names(dataset, "chain fork twin");
  assert_string_equal(m.text, "free: no cost; single: single op; ");
  options.objective = 0;
  GOOD(regal_dataset_filter(dataset, &options, note, &l));
  assert_names(dataset, "fork twin");
  assert_string_equal(l.text, "chain: chain; ");
  /* What was dropped takes its companion along. */
  GOOD(regal_dataset_save(dataset, "out"));
  assert_files("out", "fork.order fork.pbtxt index.csv notes.md twin.pbtxt ");
  regal_dataset_free(dataset);
}

static void split_like_another(void **state) {
  regal_dataset *dataset, *other;
  write_samples("set");
  files_write_text("set/index.csv", "name,family\nchain,x\nfork,y\nfree,y\n"
                                    "single,z\ntwin,w\n");
  write_samples("other");
  files_write_text("other/index.csv",
                   "name,family,split\nchain,z,valid\nfree,y,test\n"
                   "single,u,\n");
  GOOD(regal_dataset_open(*state, "set", &dataset));
  GOOD(regal_dataset_measure(dataset, NULL));
  GOOD(regal_dataset_open(*state, "other", &other));
  const regal_dataset *like[] = {other};
  assert_int_equal(regal_dataset_split_like(dataset, like, 1, 1), REGAL_MISUSE);
  GOOD(regal_dataset_measure(other, NULL));
  GOOD(regal_dataset_split_like(dataset, like, 1, 1));
  /* chain: its in-degrees; fork and free: their family; single: its family;
   * twin: the in-degrees of fork */
  static const char *const splits[] = {"valid", "test", "test", "valid",
                                       "test"};
  for (size_t i = 0; i < 5; i++)
    assert_string_equal(regal_dataset_entry(dataset, i)->split, splits[i]);
  regal_dataset_free(other);
  files_write_text("other/index.csv",
                   "name,family,split\nchain,z,valid\nfork,z,train\n");
  GOOD(regal_dataset_open(*state, "other", &other));
  GOOD(regal_dataset_measure(other, NULL));
  like[0] = other;
  assert_int_equal(regal_dataset_split_like(dataset, like, 1, 1),
                   REGAL_BAD_INPUT);
  assert_string_equal(regal_error(*state),
                      "graph \"fork\": found split train, expected valid, "
                      "where its family or a "
                      "graph with its in-degree sequence is");
  assert_string_equal(regal_dataset_entry(dataset, 1)->split, "test");
  regal_dataset_free(other);
  regal_dataset_free(dataset);
}

static void split_and_selected(void **state) {
  regal_dataset *dataset;
  write_samples("set");
  files_write_text("set/index.csv", "name,family\nchain,x\nfork,y\nfree,y\n"
                                    "single,z\ntwin,w\n");
  GOOD(regal_dataset_open(*state, "set", &dataset));
  GOOD(regal_dataset_measure(dataset, NULL));
  GOOD(regal_dataset_split(dataset, 1));
  const char *fork = regal_dataset_entry(dataset, 1)->split;
  /* free is of the same family, twin has the same in-degrees */
  assert_string_equal(regal_dataset_entry(dataset, 2)->split, fork);
  assert_string_equal(regal_dataset_entry(dataset, 4)->split, fork);
  assert_string_equal(fork, "train");
  GOOD(regal_dataset_save(dataset, "out.zip"));
  regal_dataset_free(dataset);
  GOOD(regal_dataset_open(*state, "out.zip", &dataset));
  GOOD(regal_dataset_select(dataset, "train"));
  assert_names(dataset, "fork free twin");
  regal_dataset_free(dataset);
}

static void augmented(void **state) {
  regal_dataset *dataset;
  regal_graph *graph, *copy, *by_path;
  regal_graph_info info, copy_info, path_info;
  write_samples("set");
  GOOD(regal_dataset_open(*state, "set", &dataset));
  GOOD(regal_dataset_measure(dataset, NULL));
  regal_dataset_augment(dataset, 99, 5);
  GOOD(regal_dataset_save(dataset, "out.zip"));
  regal_dataset_free(dataset);
  GOOD(regal_dataset_open(*state, "out.zip", &dataset));
  assert_int_equal(regal_dataset_entry(dataset, 1)->copies, 99);
  assert_int_equal(regal_dataset_entry(dataset, 1)->seed, 5);
  GOOD(regal_dataset_load(dataset, 1, 0, NULL, &graph));
  GOOD(regal_dataset_load(dataset, 1, 7, NULL, &copy));
  GOOD(regal_graph_load(*state, "out.zip:fork~7", NULL, &by_path));
  regal_graph_describe(graph, &info);
  regal_graph_describe(copy, &copy_info);
  regal_graph_describe(by_path, &path_info);
  assert_true(info.checksum ==
              regal_dataset_entry(dataset, 1)->figures.checksum);
  assert_true(copy_info.checksum != info.checksum);
  assert_true(copy_info.checksum == path_info.checksum);
  assert_int_equal(copy_info.ops, 4);
  regal_graph_free(graph);
  regal_graph_free(copy);
  regal_graph_free(by_path);
  regal_dataset_free(dataset);
}

static void reading_options(void **state) {
  regal_dataset *dataset;
  regal_graph *graph;
  regal_options options;
  regal_options_init(&options);
  mkdir("set", 0777);
  files_write_text("set/loop.pbtxt", loop_text);
  GOOD(regal_dataset_open(*state, "set", &dataset));
  assert_int_equal(regal_dataset_measure(dataset, NULL), REGAL_BAD_INPUT);
  GOOD(regal_options_set(*state, &options, "loops", "cut"));
  GOOD(regal_dataset_set_reading(dataset, &options));
  assert_string_equal(regal_dataset_entry(dataset, 0)->reading, "loops=cut");
  GOOD(regal_dataset_measure(dataset, NULL));
  GOOD(regal_dataset_save(dataset, "out.zip"));
  regal_dataset_free(dataset);
  /* It is read so wherever it goes, unless somebody says otherwise. */
  GOOD(regal_graph_load(*state, "out.zip:loop", NULL, &graph));
  regal_graph_free(graph);
  GOOD(regal_options_set(*state, &options, "loops", "reject"));
  assert_int_equal(regal_graph_load(*state, "out.zip:loop", &options, &graph),
                   REGAL_BAD_INPUT);
  files_write_text("set/index.csv", "name,reading\nloop,seed=3\n");
  GOOD(regal_dataset_open(*state, "set", &dataset));
  BAD(regal_dataset_load(dataset, 0, 0, NULL, &graph), REGAL_BAD_INPUT,
      "set/loop.pbtxt: \"seed\" is no option for reading");
  regal_dataset_free(dataset);
}

/* -- Paths ----------------------------------------------------------------- */

static void paths_into_archives(void **state) {
  regal_dataset *dataset;
  regal_graph *graph;
  regal_problem *problem;
  regal_plan *plan;
  write_samples("set");
  files_write_text("a:b.pbtxt", fork_text);
  GOOD(regal_graph_load(*state, "a:b.pbtxt", NULL, &graph));
  regal_graph_free(graph);
  GOOD(regal_dataset_open(*state, "set", &dataset));
  GOOD(regal_dataset_measure(dataset, NULL));
  GOOD(regal_dataset_save(dataset, "out.zip"));
  regal_dataset_free(dataset);
  BAD(regal_graph_load(*state, "out.zip:none", NULL, &graph), REGAL_IO,
      "out.zip: no graph \"none\" in it");
  BAD(regal_graph_load(*state, "none.zip:fork", NULL, &graph), REGAL_IO,
      "none.zip:fork: No such file or directory");
  GOOD(regal_graph_load(*state, "set:fork", NULL, &graph));
  regal_graph_free(graph);
  GOOD(regal_graph_load(*state, "out.zip:fork.pbtxt", NULL, &graph));
  GOOD(regal_problem_create(*state, graph, &(regal_options){.devices = 1},
                            &problem));
  GOOD(regal_plan_load(*state, problem, "out.zip:fork.order", &plan));
  assert_int_equal(plan->step_count, 4);
  assert_int_equal(plan->steps[1].op, 2);
  regal_plan_free(plan);
  BAD(regal_plan_load(*state, problem, "out.zip:x.order", &plan), REGAL_IO,
      "out.zip: no file \"x.order\" in it");
  regal_problem_free(problem);
  regal_graph_free(graph);
}

/* Two inputs in one output: what belongs to no graph keeps apart. */
static void two_inputs(void **state) {
  regal_dataset *dataset;
  write_samples("one");
  mkdir("two", 0777);
  files_write_text("two/other.pbtxt", chain_text);
  files_write_text("two/notes.md", "other notes");
  GOOD(regal_dataset_open(*state, "one", &dataset));
  GOOD(regal_dataset_add(dataset, "two"));
  GOOD(regal_dataset_measure(dataset, NULL));
  GOOD(regal_dataset_save(dataset, "both"));
  assert_files("both", "chain.order chain.pbtxt fork.order fork.pbtxt "
                       "free.pbtxt index.csv one/notes.md other.pbtxt "
                       "single.pbtxt twin.pbtxt two/notes.md ");
  regal_dataset_free(dataset);
}

/* -- Memory ---------------------------------------------------------------- */

static regal_status whole_life(regal_context *context) {
  regal_dataset *dataset = NULL;
  regal_graph *graph = NULL;
  regal_options options;
  regal_options_init(&options);
  options.threads = 1;
  regal_status status = regal_dataset_open(context, "set.zip", &dataset);
  if (status == REGAL_OK)
    status = regal_dataset_add(dataset, "two");
  if (status == REGAL_OK)
    status = regal_dataset_measure(dataset, &options);
  if (status == REGAL_OK)
    status = regal_dataset_deduplicate(dataset, NULL, NULL);
  if (status == REGAL_OK)
    status = regal_dataset_split(dataset, 1);
  if (status == REGAL_OK)
    status = regal_dataset_load(dataset, 0, 3, NULL, &graph);
  if (status == REGAL_OK)
    status = regal_dataset_save(dataset, "new.zip");
  regal_graph_free(graph);
  regal_dataset_free(dataset);
  return status;
}

static void failing_memory(void **state) {
  regal_dataset *dataset;
  write_samples("set");
  GOOD(regal_dataset_open(*state, "set", &dataset));
  GOOD(regal_dataset_measure(dataset, NULL));
  GOOD(regal_dataset_save(dataset, "set.zip"));
  regal_dataset_free(dataset);
  mkdir("two", 0777);
  files_write_text("two/other.pbtxt", chain_text);
  for (size_t n = 2;; n++) {
    failing_allocator memory = {.fail_at = n};
    regal_allocator allocator = failing_allocator_of(&memory);
    regal_context *context;
    assert_int_equal(regal_context_create(&context, &allocator), REGAL_OK);
    regal_status status = whole_life(context);
    regal_context_free(context);
    assert_int_equal(memory.blocks, 0);
    if (!memory.failed)
      break;
    assert_int_equal(status, REGAL_NO_MEMORY);
    assert_int_not_equal(access("new.zip", F_OK), 0);
  }
  assert_int_equal(access("new.zip", F_OK), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(without_an_index),
      TEST(with_an_index),
      TEST(wrong_indexes),
      TEST(foreign_index),
      TEST(empty_dataset),
      TEST(wrong_calls),
      TEST(measured_and_checked),
      TEST(unreadable),
      TEST(deduplicated),
      TEST(filtered),
      TEST(split_and_selected),
      TEST(split_like_another),
      TEST(augmented),
      TEST(reading_options),
      TEST(paths_into_archives),
      TEST(two_inputs),
      TEST(failing_memory),
  };
  return cmocka_run_group_tests_name("dataset", tests, files_enter,
                                     files_leave);
}
