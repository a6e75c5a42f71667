/* SPDX-License-Identifier: Apache-2.0 */
/* Folders of random graphs: what is in them, that threads and interruptions
 * change nothing, and every message. */
#include "dataset/generate/generate.h"
#include "support/failing_allocator.h"
#include "support/files.h"
#include "support/graph_sketch.h"

#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <fcntl.h>

static regal_options small(int64_t count) {
  regal_options options;
  regal_options_init(&options);
  options.count = count;
  options.nodes = 12;
  options.threads = 1;
  options.seed = 5;
  return options;
}

static regal_generation generate(regal_context *context, const char *folder,
                                 const regal_options *options) {
  regal_generation made;
  if (regal_generate(context, folder, options, NULL, NULL, &made) != REGAL_OK)
    fail_msg("%s", regal_error(context));
  return made;
}

static void run(const char *command) {
  int code = system(command);
  if (code)
    fail_msg("%s: exit status %d", command, code);
}

static void assert_same_folders(const char *a, const char *b) {
  char command[256];
  snprintf(command, sizeof command, "diff -r %s %s >&2", a, b);
  run(command);
}

/* -- Content --------------------------------------------------------------- */

/* The row's graph, from its file; it must be the one that its seed gives. */
static void check_file(regal_context *context, const char *folder,
                       const regal_spec *spec, const regal_made_row *row,
                       uint64_t place) {
  char file[64], path[128];
  regal_graph *graph, *again;
  regal_made_file(spec, row, place, file, sizeof file);
  snprintf(path, sizeof path, "%s/%s", folder, file);
  if (regal_graph_load(context, path, NULL, &graph) != REGAL_OK)
    fail_msg("%s", regal_error(context));
  assert_int_equal(
      regal_recipe_graph(context, &spec->recipe, row->draw, &again), REGAL_OK);
  assert_true(graph->checksum == row->checksum);
  assert_true(again->checksum == row->checksum);
  assert_int_equal(graph->ops, row->ops);
  assert_int_equal(graph->uses, row->edges);
  assert_int_equal(graph->controls, row->controls);
  regal_graph_free(graph);
  regal_graph_free(again);
}

static void check_folder(regal_context *context, const char *folder,
                         const regal_options *options) {
  regal_spec spec;
  char path[128];
  assert_int_equal(regal_spec_read(context, options, &spec), REGAL_OK);
  snprintf(path, sizeof path, "%s/index.csv", folder);
  char *index = files_read(path);
  assert_non_null(index);
  size_t head = strlen(regal_made_head);
  assert_memory_equal(index, regal_made_head, head);
  const char *at = index + head;
  for (uint64_t i = 0; i < spec.total; i++) {
    regal_made_row row;
    if (!regal_made_read(&spec, i, &at, &row))
      fail_msg("row %d: %.200s", (int)i, at);
    check_file(context, folder, &spec, &row, i);
  }
  assert_int_equal(*at, 0);
  free(index);
}

static void test_plain_set(void **state) {
  regal_options options = small(20);
  regal_generation made = generate(*state, "plain", &options);
  assert_int_equal(made.graphs, 20);
  assert_int_equal(made.total, 20);
  assert_int_equal(made.drawn, 20);
  assert_int_equal(made.resumed, 0);
  check_folder(*state, "plain", &options);
  run("test $(ls plain | wc -l) = 22");
  char *recipe = files_read("plain/recipe.txt");
  assert_string_equal(recipe, "regal generate 1\nseed 5\nmodel paper\n"
                              "nodes 12\nfilter no\nformat pbtxt\n");
  free(recipe);
}

/* Published sets are seeds: rows must not change between versions. */
static void test_rows_are_pinned(void **state) {
  regal_options options;
  regal_options_init(&options);
  options.count = 2;
  generate(*state, "pinned", &options);
  char *index = files_read("pinned/index.csv");
  assert_string_equal(
      index,
      "name,file,split,model,ops,edges,controls,degrees,graph_seed,brkga_1k_ns,"
      "brkga_10k_ns,draw\n"
      "graph_3b4eb158f54a38df,graph_3b4eb158f54a38df.pbtxt,,watts-strogatz,113,"
      "153,110,4a221b67b88910e7,1525168431119799367,,,0\n"
      "graph_e0fee1f5f16f024c,graph_e0fee1f5f16f024c.pbtxt,,erdos-renyi,87,146,"
      "84,7e652d20c82b9557,4575038335380946477,,,1\n");
  free(index);
}

static void test_json(void **state) {
  regal_options options = small(3);
  options.format = 3;
  generate(*state, "json", &options);
  check_folder(*state, "json", &options);
  run("test $(ls json | grep -c '^graph_[0-9a-f]*.json$') = 3");
}

static void test_layered_and_binary(void **state) {
  regal_options options = small(3);
  options.model = REGAL_RECIPE_LAYERED;
  options.nodes = 500;
  options.width = 7;
  options.format = 1;
  generate(*state, "layered", &options);
  check_folder(*state, "layered", &options);
  run("test $(ls layered | grep -c '^graph_[0-9a-f]*.pb$') = 3");
  char *recipe = files_read("layered/recipe.txt");
  assert_string_equal(recipe,
                      "regal generate 1\nseed 5\nmodel layered\nnodes 500\n"
                      "width 7\nfilter no\nformat pb\n");
  free(recipe);
}

/* Every graph of a filtered set passes, and every draw that is left out does
 * not; costs are those of method brkga with the graph's seed. */
static void test_filter(void **state) {
  regal_options options = small(2), search;
  options.filter = true;
  options.nodes = 50;
  regal_generation made = generate(*state, "filtered", &options);
  check_folder(*state, "filtered", &options);
  regal_spec spec;
  double gains = 0;
  uint64_t kept = 0;
  assert_int_equal(regal_spec_read(*state, &options, &spec), REGAL_OK);
  for (uint64_t k = 0; k < made.drawn; k++) {
    regal_draw draw = regal_recipe_draw(&spec.recipe, k);
    regal_graph *graph;
    int64_t cost[2];
    assert_int_equal(regal_recipe_graph(*state, &spec.recipe, draw, &graph),
                     REGAL_OK);
    for (int i = 0; i < 2; i++) {
      regal_result *result;
      regal_options_init(&search);
      strcpy(search.method, "brkga");
      search.evaluations = i ? 10000 : 1000;
      search.seed = (int64_t)draw.seed;
      assert_int_equal(regal_solve(*state, graph, &search, &result), REGAL_OK);
      cost[i] = result->cost.runtime_ns;
      regal_result_free(result);
    }
    char command[256];
    snprintf(command, sizeof command,
             "grep -q 'graph_%016llx.*,%lld,%lld,%d$' filtered/index.csv",
             (unsigned long long)graph->checksum, (long long)cost[0],
             (long long)cost[1], (int)k);
    bool passes = 100 * cost[1] <= 82 * cost[0];
    assert_int_equal(system(command) == 0, passes);
    gains += passes ? 1 - (double)cost[1] / (double)cost[0] : 0;
    kept += passes;
    regal_graph_free(graph);
  }
  assert_int_equal(kept, 2);
  assert_true(made.improvement == gains / 2);
}

static void assert_refused(regal_context *context, const char *folder,
                           const regal_options *options, const char *message) {
  assert_int_equal(regal_generate(context, folder, options, NULL, NULL, NULL),
                   REGAL_BAD_INPUT);
  assert_string_equal(regal_error(context), message);
}

/* A folder whose first graph is draw `number` of the stream. */
static void begin_at(regal_context *context, const char *path,
                     const regal_options *options, uint64_t number) {
  regal_spec spec;
  regal_folder folder;
  regal_pool *single;
  regal_candidate candidate;
  assert_int_equal(regal_spec_read(context, options, &spec), REGAL_OK);
  assert_int_equal(regal_pool_create(context, 1, &single), REGAL_OK);
  assert_int_equal(regal_folder_open(&folder, context, path, &spec), REGAL_OK);
  regal_candidate_make(context, single, &spec, number, &candidate);
  assert_int_equal(regal_folder_take(&folder, &candidate), REGAL_OK);
  assert_int_equal(regal_folder_flush(&folder), REGAL_OK);
  assert_int_equal(folder.graphs, 1);
  regal_text_free(&candidate.text);
  regal_folder_close(&folder);
  regal_pool_free(single);
}

/* A second graph after 2000 draws would be one in 1000 at best. What is there
 * becomes a set of its own, each time. */
static void test_too_few_are_kept(void **state) {
  regal_options options = small(2);
  options.model = REGAL_RECIPE_LAYERED;
  begin_at(*state, "rare", &options, 1999);
  for (int times = 0; times < 2; times++) {
    assert_refused(*state, "rare", &options,
                   "rare: 1 of 2000 graphs drawn differ, expected at least one "
                   "in 1000; change --nodes or --width");
    run("test $(ls rare | wc -l) = 3 && test $(wc -l < rare/index.csv) = 2");
  }
  begin_at(*state, "seldom", &options, 1998);
  assert_int_equal(generate(*state, "seldom", &options).drawn, 2000);
}

static void test_paper_set(void **state) {
  regal_options options;
  regal_options_init(&options);
  options.paper = true;
  options.count = 12;
  regal_generation made = generate(*state, "paper", &options);
  assert_int_equal(made.graphs, 12);
  assert_true(made.drawn > 12);
  assert_true(made.improvement > .18);
  check_folder(*state, "paper", &options);
  run("test $(ls paper/train | wc -l) = 10");
  run("test $(ls paper/valid | wc -l) = 1");
  run("test $(ls paper/test | wc -l) = 1");
  run("test $(cut -d, -f8 paper/index.csv | sort -u | wc -l) = 13");
  char *recipe = files_read("paper/recipe.txt");
  assert_string_equal(recipe, "regal generate 1\nseed 1\nmodel paper\nnodes 0\n"
                              "filter yes\nformat pbtxt\n"
                              "train 10\nvalid 1\ntest 1\n");
  free(recipe);
}

static void test_sizes_of_splits(void **state) {
  static const struct {
    int64_t count;
    uint64_t train, valid, test;
  } cases[] = {{0, 10000, 1000, 1000},
               {12000, 10000, 1000, 1000},
               {24000, 20000, 2000, 2000},
               {12, 10, 1, 1},
               {11, 11, 0, 0},
               {1, 1, 0, 0}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    regal_spec spec;
    regal_options options;
    regal_options_init(&options);
    options.paper = true;
    options.count = cases[i].count;
    assert_int_equal(regal_spec_read(*state, &options, &spec), REGAL_OK);
    assert_int_equal(spec.split[0].graphs, cases[i].train);
    assert_int_equal(spec.split[1].graphs, cases[i].valid);
    assert_int_equal(spec.split[2].graphs, cases[i].test);
    assert_true(spec.filter && spec.distinct);
    assert_string_equal(regal_spec_split(&spec, 0), "train");
    assert_string_equal(regal_spec_split(&spec, cases[i].train - 1), "train");
    if (cases[i].valid)
      assert_string_equal(regal_spec_split(&spec, cases[i].train), "valid");
    if (cases[i].test)
      assert_string_equal(regal_spec_split(&spec, spec.total - 1), "test");
  }
}

/* Graphs of equal topology are told apart by their costs; of a set of distinct
 * topologies only the first is taken. */
static void test_topologies_are_distinct(void **state) {
  regal_options options = small(30);
  regal_spec spec;
  regal_folder folder;
  regal_pool *single;
  options.model = REGAL_RECIPE_BARABASI_ALBERT;
  options.nodes = 5;
  assert_int_equal(regal_spec_read(*state, &options, &spec), REGAL_OK);
  assert_int_equal(regal_pool_create(*state, 1, &single), REGAL_OK);
  spec.distinct = true;
  if (regal_folder_open(&folder, *state, "distinct", &spec) != REGAL_OK)
    fail_msg("%s", regal_error(*state));
  for (uint64_t k = 0; k < 200; k++) {
    regal_candidate candidate;
    regal_candidate_make(*state, single, &spec, k, &candidate);
    assert_true(candidate.passed && candidate.finished);
    assert_int_equal(regal_folder_take(&folder, &candidate), REGAL_OK);
    regal_text_free(&candidate.text);
  }
  assert_int_equal(regal_folder_flush(&folder), REGAL_OK);
  assert_int_equal(folder.next, 200);
  assert_in_range(folder.graphs, 2, 40);
  assert_int_equal(folder.graphs, folder.degrees_seen.count);
  regal_folder_close(&folder);
  regal_pool_free(single);
  run("test $(tail -n +2 distinct/index.csv.part | cut -d, -f8 | sort | uniq "
      "-d "
      "| wc -l) = 0");
}

/* -- Threads and interruptions --------------------------------------------- */

static void test_any_number_of_threads(void **state) {
  regal_options options = small(60);
  generate(*state, "one", &options);
  options.threads = 2;
  generate(*state, "two", &options);
  options.threads = 7;
  generate(*state, "seven", &options);
  assert_same_folders("one", "two");
  assert_same_folders("one", "seven");
}

typedef struct stopper {
  regal_context *context;
  int calls, stop_at;
} stopper;

static void stop_later(void *state, const regal_generation *now) {
  stopper *stopper = state;
  assert_int_equal(now->total, 60);
  if (++stopper->calls == stopper->stop_at)
    regal_stop_request(stopper->context);
}

static void test_stop_and_go_on(void **state) {
  regal_options options = small(60);
  regal_generation made = {0};
  for (int round = 0; round < 3; round++) {
    stopper stopper = {*state, 0, 2};
    assert_int_equal(regal_generate(*state, "stopped", &options, stop_later,
                                    &stopper, &made),
                     REGAL_OK);
    regal_stop_clear(*state);
    assert_int_equal(made.graphs, 16 * (round + 1));
    assert_int_equal(made.resumed, 16 * round);
    assert_int_equal(access("stopped/index.csv", F_OK), -1);
  }
  made = generate(*state, "stopped", &options);
  assert_int_equal(made.resumed, 48);
  assert_int_equal(made.graphs, 60);
  assert_same_folders("one", "stopped");
  made = generate(*state, "stopped", &options); /* nothing is left to do */
  assert_int_equal(made.resumed, 60);
  assert_same_folders("one", "stopped");
}

/* A stop while graphs are being judged: none is half done. */
static void test_stop_at_once(void **state) {
  regal_options options = small(60);
  regal_generation made;
  regal_stop_request(*state);
  made = generate(*state, "at_once", &options);
  assert_int_equal(made.graphs, 0);
  regal_stop_clear(*state);
  generate(*state, "at_once", &options);
  assert_same_folders("one", "at_once");
}

static regal_context *alarmed;

static void stop_now(int number) {
  (void)number;
  regal_stop_request(alarmed);
}

/* A stop while graphs are being judged on two threads: of those that are not
 * finished none is lost, though later ones may be finished. */
static void test_stop_in_a_batch(void **state) {
  regal_options options = small(3);
  options.filter = true;
  options.nodes = 50;
  generate(*state, "judged", &options);
  options.threads = 2;
  alarmed = *state;
  signal(SIGALRM, stop_now);
  for (useconds_t delay = 10000; delay <= 80000; delay += 10000) {
    ualarm(delay, 0);
    generate(*state, "alarmed", &options);
    ualarm(0, 0);
    regal_stop_clear(*state);
  }
  signal(SIGALRM, SIG_DFL);
  generate(*state, "alarmed", &options);
  assert_same_folders("judged", "alarmed");
}

/* An allocator that ends the process. */
static void *resize_or_die(void *left, void *block, size_t old_bytes,
                           size_t new_bytes) {
  (void)old_bytes;
  if ((*(size_t *)left)-- == 0)
    raise(SIGKILL);
  if (new_bytes)
    return realloc(block, new_bytes);
  free(block);
  return NULL;
}

/* Ends the process at some moment, again and again: in turns at an allocation,
 * which is sure to come before the end at first, and after some time, which on
 * a busy machine may be too late. */
static void test_kill(void **state) {
  regal_options options = small(60);
  (void)state;
  int kills = 0, status = 1;
  for (useconds_t delay = 300; status != 0 && kills < 1000; delay += 300) {
    size_t left = kills % 2 ? SIZE_MAX : 10 + 10 * (size_t)kills;
    regal_allocator allocator = {resize_or_die, &left};
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
      regal_context *context;
      regal_context_create(&context, &allocator);
      _exit(regal_generate(context, "killed", &options, NULL, NULL, NULL) !=
            REGAL_OK);
    }
    if (kills % 2) {
      usleep(delay);
      kill(child, SIGKILL);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(status == 0 || WIFSIGNALED(status));
    kills += status != 0;
  }
  assert_int_equal(status, 0);
  assert_true(kills > 0);
  assert_same_folders("one", "killed");
}

/* What a kill, or a full disk, may leave behind. */
static void test_repairs(void **state) {
  static const char *const damages[] = {
      /* a row that was cut short */
      "head -c 2000 index.csv > index.csv.part; rm index.csv",
      /* no whole row, no whole header, nothing */
      "head -c 100 index.csv > index.csv.part; rm index.csv",
      "head -c 20 index.csv > index.csv.part; rm index.csv", "rm index.csv",
      ": > index.csv",
      /* temporary files */
      "touch graph_12.pbtxt.tmp-1-0 index.csv.part.tmp-77-1",
      /* a graph that is gone */
      "rm $(sed -n 30p index.csv | cut -d, -f2)",
      /* rows that are not as they were written */
      "sed -i '20s/,12,/,012,/' index.csv",
      "sed -i '20s/paper/p/; 25s/graph_/graph-/' index.csv",
      "sed -i '20s/[0-9]*$/7/' index.csv", "sed -i '20s/$/,/' index.csv",
      "sed -i 20p index.csv", "printf 'x\\0y' >> index.csv"};
  regal_options options = small(60);
  for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
    char command[256];
    snprintf(command, sizeof command,
             "rm -rf hurt; cp -r one hurt; cd hurt; %s", damages[i]);
    run(command);
    generate(*state, "hurt", &options);
    assert_same_folders("one", "hurt");
  }
}

static void test_growing_a_set(void **state) {
  regal_options options = small(20);
  generate(*state, "grown", &options);
  options.count = 60;
  regal_generation made = generate(*state, "grown", &options);
  assert_int_equal(made.resumed, 20);
  assert_same_folders("one", "grown");
}

/* -- Errors ---------------------------------------------------------------- */

static void expect(regal_context *context, const char *folder,
                   const regal_options *options, regal_status status,
                   const char *message) {
  regal_generation made = {.graphs = 77};
  assert_int_equal(regal_generate(context, folder, options, NULL, NULL, &made),
                   status);
  assert_string_equal(regal_error(context), message);
  assert_int_equal(made.graphs, 77);
}

static void test_wrong_options(void **state) {
  regal_options options = small(0);
  expect(*state, "wrong", &options, REGAL_BAD_INPUT,
         "how many graphs? give --count (or --paper)");
  options = small(1);
  options.paper = true;
  expect(*state, "wrong", &options, REGAL_BAD_INPUT,
         "--paper fixes what --model and --nodes say");
  options.nodes = 0;
  options.model = REGAL_RECIPE_LAYERED;
  expect(*state, "wrong", &options, REGAL_BAD_INPUT,
         "--paper fixes what --model and --nodes say");
  options = small(1);
  options.nodes = 4;
  expect(*state, "wrong", &options, REGAL_BAD_INPUT,
         "--nodes: 5 to 10000, unless --model is layered");
  options.nodes = 10001;
  expect(*state, "wrong", &options, REGAL_BAD_INPUT,
         "--nodes: 5 to 10000, unless --model is layered");
  expect(*state, NULL, &options, REGAL_MISUSE,
         "generating graphs needs a folder and options");
  expect(*state, "wrong", NULL, REGAL_MISUSE,
         "generating graphs needs a folder and options");
  assert_int_equal(regal_generate(NULL, "wrong", &options, NULL, NULL, NULL),
                   REGAL_MISUSE);
  assert_int_equal(access("wrong", F_OK), -1);
}

static void test_wrong_folders(void **state) {
  regal_options options = small(1);
  expect(*state, "no/where", &options, REGAL_IO,
         "no/where: No such file or directory");
  files_write_text("file", "");
  expect(*state, "file", &options, REGAL_IO, "file: Not a directory");
  run("mkdir mine && touch mine/letter.txt");
  expect(*state, "mine", &options, REGAL_BAD_INPUT,
         "mine is not empty, and has no recipe.txt of regal generate");
  generate(*state, "other", &options);
  options.seed = 6;
  expect(*state, "other", &options, REGAL_BAD_INPUT,
         "other holds graphs of another recipe: 'seed 5' there, 'seed 6' here");
  options.seed = 5;
  options.paper = true;
  options.nodes = 0;
  expect(*state, "other", &options, REGAL_BAD_INPUT,
         "other holds graphs of another recipe: 'nodes 12' there, 'nodes 0' "
         "here");
  options = small(20);
  expect(*state, "one", &options, REGAL_BAD_INPUT,
         "one already holds 60 graphs, more than the 20 asked for");
  run("mkdir -p inside && cp one/recipe.txt inside && mkdir inside/index.csv");
  expect(*state, "inside", &options, REGAL_IO,
         "inside/index.csv: is a directory, expected a file");
}

static void test_two_at_once(void **state) {
  regal_options options = small(60);
  int file = open("one", O_RDONLY);
  assert_int_equal(flock(file, LOCK_EX), 0);
  expect(*state, "one", &options, REGAL_IO,
         "one: another call is generating graphs here");
  close(file);
  generate(*state, "one", &options);
}

static void test_failing_allocations(void **state) {
  (void)state;
  regal_options options = small(3);
  regal_context *plain;
  regal_context_create(&plain, NULL);
  generate(plain, "three", &options);
  regal_context_free(plain);
  for (size_t n = 2;; n++) {
    failing_allocator memory = {.fail_at = n};
    regal_allocator allocator = failing_allocator_of(&memory);
    regal_context *context;
    assert_int_equal(regal_context_create(&context, &allocator), REGAL_OK);
    run("rm -rf scarce");
    regal_status status =
        regal_generate(context, "scarce", &options, NULL, NULL, NULL);
    assert_int_equal(status, memory.failed ? REGAL_NO_MEMORY : REGAL_OK);
    assert_string_equal(regal_error(context),
                        memory.failed ? "out of memory" : "");
    assert_int_equal(regal_bytes_in_use(context), 0);
    regal_context_free(context);
    assert_int_equal(memory.blocks, 0);
    if (memory.failed && n % 8 == 0) { /* what it left is of use */
      regal_context_create(&plain, NULL);
      generate(plain, "scarce", &options);
      regal_context_free(plain);
      assert_same_folders("three", "scarce");
    }
    if (!memory.failed)
      return assert_in_range(n, 100, 1000);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      CONTEXT_TEST(test_plain_set),
      CONTEXT_TEST(test_rows_are_pinned),
      CONTEXT_TEST(test_layered_and_binary),
      CONTEXT_TEST(test_json),
      CONTEXT_TEST(test_filter),
      CONTEXT_TEST(test_too_few_are_kept),
      CONTEXT_TEST(test_paper_set),
      CONTEXT_TEST(test_sizes_of_splits),
      CONTEXT_TEST(test_topologies_are_distinct),
      CONTEXT_TEST(test_any_number_of_threads),
      CONTEXT_TEST(test_stop_and_go_on),
      CONTEXT_TEST(test_stop_at_once),
      CONTEXT_TEST(test_stop_in_a_batch),
      CONTEXT_TEST(test_kill),
      CONTEXT_TEST(test_repairs),
      CONTEXT_TEST(test_growing_a_set),
      CONTEXT_TEST(test_wrong_options),
      CONTEXT_TEST(test_wrong_folders),
      CONTEXT_TEST(test_two_at_once),
      CONTEXT_TEST(test_failing_allocations),
  };
  return cmocka_run_group_tests_name("generate", tests, files_enter,
                                     files_leave);
}
