/* SPDX-License-Identifier: Apache-2.0 */
/* Fail the n-th allocation, for n = 1, 2, ... until all is well: from the bytes
 * of a graph to a plan, a trace and a report on paper, nothing leaks, nothing
 * is half written, and the status and its message are the same everywhere. */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/context.h"
#include "support/every_method.h"
#include "support/failing_allocator.h"
#include "support/files.h"

static const char graph_text[] =
    "node { name: 'in' id: 0 output_info { size: 64 } compute_cost: 5 }\n"
    "node { name: 'left' id: 1 compute_cost: 7 temporary_memory_size: 8\n"
    "       input_info { preceding_node: 0 } output_info { size: 32 }\n"
    "       output_info { size: 16 } }\n"
    "node { name: 'right' id: 2 compute_cost: 9\n"
    "       input_info { preceding_node: 0 } output_info { size: 32 } }\n"
    "node { name: 'late' id: 3 compute_cost: 2 control_input: 1\n"
    "       output_info { size: 8 } }\n"
    "node { name: 'out' id: 4 compute_cost: 3 is_final: true\n"
    "       input_info { preceding_node: 1 }\n"
    "       input_info { preceding_node: 2 }\n"
    "       output_info { size: 16 alias_input_port: -1 } }\n";

static const char machine_text[] =
    "{\"regal_machine\": 1,\n"
    " \"devices\": [{\"name\": \"cpu\", \"memory_bytes\": 1000}, {\"speed\": "
    "2}, "
    "{}],\n"
    " \"links\": [{\"from\": 0, \"to\": 1, \"latency_ns\": 2, \"both\": "
    "true}],\n"
    " \"op_times\": [{\"op\": \"left\", \"run_ns\": [3, 4, null]}],\n"
    " \"groups\": [[\"in\", 3]]}\n";

/* One chain of calls. */
typedef struct chain {
  regal_options options;
  const char *method, *decoder;
  bool proposal, search_only;
  regal_graph *graph;
  regal_problem *problem;
  regal_proposal *guide;
  regal_result *result, *evaluated;
  regal_plan *loaded;
} chain;

static regal_status set_options(regal_context *context, chain *c) {
  regal_options_init(&c->options);
  REGAL_TRY(regal_options_set(context, &c->options, "threads", "2"));
  REGAL_TRY(regal_options_set(context, &c->options, "evaluations", "130"));
  REGAL_TRY(regal_options_set(context, &c->options, "islands", "2"));
  REGAL_TRY(regal_options_set(context, &c->options, "population", "10"));
  REGAL_TRY(regal_options_set(context, &c->options, "latency", "1ns"));
  REGAL_TRY(regal_options_set(context, &c->options, "control", "transfer"));
  REGAL_TRY(regal_options_set(context, &c->options, "machine", "machine.json"));
  REGAL_TRY(regal_options_set(context, &c->options, "decoder", c->decoder));
  give_policy(c->method, &c->options);
  return regal_options_set(context, &c->options, "method", c->method);
}

static regal_status search(regal_context *context, chain *c) {
  if (!c->proposal)
    return regal_optimize(context, c->problem, &c->options, &c->result);
  REGAL_TRY(regal_proposal_create(context, c->problem, "paper", &c->guide));
  REGAL_TRY(regal_proposal_set_beta(c->guide, "transfer", SIZE_MAX, 6, 1));
  for (size_t op = 0; op < 5; op++)
    REGAL_TRY(regal_proposal_set_beta(c->guide, "priority", op, 2,
                                      1 + (double)op / 4));
  REGAL_TRY(regal_proposal_set_bias(c->guide, "priority", 2, 0.8));
  return regal_optimize_guided(context, c->problem, &c->options, c->guide,
                               &c->result);
}

static regal_status write_files(regal_context *context, const chain *c) {
  REGAL_TRY(regal_plan_save(context, c->result, "out.plan"));
  REGAL_TRY(regal_result_save_json(context, c->result, "out.json"));
  REGAL_TRY(
      regal_trace_save(context, c->problem, c->result->plan, "out.trace"));
  REGAL_TRY(regal_graph_save(context, c->graph, "out.pb", REGAL_GRAPH_BINARY));
  return regal_graph_info_save_json(context, c->graph, "out.info");
}

static regal_status write_reports(regal_context *context, const chain *c,
                                  FILE *stream) {
  REGAL_TRY(regal_report_summary(context, c->result, stream));
  REGAL_TRY(
      regal_report_timeline(context, c->problem, c->result->plan, 60, stream));
  REGAL_TRY(regal_report_explain(context, c->problem, c->result->plan, stream));
  return regal_report_graph(context, c->graph, stream);
}

static regal_status run_chain(regal_context *context, chain *c, FILE *stream) {
  REGAL_TRY(set_options(context, c));
  REGAL_TRY(regal_graph_load_bytes(context, "test.pbtxt", graph_text,
                                   strlen(graph_text), &c->options, &c->graph));
  REGAL_TRY(regal_problem_create(context, c->graph, &c->options, &c->problem));
  REGAL_TRY(search(context, c));
  if (c->search_only)
    return REGAL_OK;
  c->result->seconds = 1; /* the length of the report depends on it */
  REGAL_TRY(write_files(context, c));
  REGAL_TRY(regal_plan_load(context, c->problem, "out.plan", &c->loaded));
  REGAL_TRY(regal_evaluate(context, c->problem, c->loaded, &c->evaluated));
  return write_reports(context, c, stream);
}

static void free_chain(chain *c) {
  regal_plan_free(c->loaded);
  regal_result_free(c->evaluated);
  regal_result_free(c->result);
  regal_proposal_free(c->guide);
  regal_problem_free(c->problem);
  regal_graph_free(c->graph);
}

/* -- Files are whole or absent --------------------------------------------- */

static const char *const written[] = {"out.plan", "out.json", "out.trace",
                                      "out.pb", "out.info"};
#define FILES (sizeof written / sizeof *written)

/* What stands there when nothing fails; made anew for each chain. */
static char *whole[FILES];

/* The bytes of a file without the one number that is never the same. */
static char *read_written(const char *path) {
  char *bytes = files_read(path);
  char *seconds = bytes ? strstr(bytes, "\"seconds\": ") : NULL;
  if (seconds)
    memset(seconds + 11, '0', strcspn(seconds + 11, ","));
  return bytes;
}

static void remove_files(void) {
  for (size_t i = 0; i < FILES; i++)
    remove(written[i]);
}

static void keep_files(void) {
  for (size_t i = 0; i < FILES; i++) {
    free(whole[i]);
    whole[i] = read_written(written[i]);
    assert_non_null(whole[i]);
    assert_true(strlen(whole[i]) > 20 || i == 3);
  }
  remove_files();
}

/* No file is half written, and no temporary ones are left beside them. */
static void check_files(void) {
  for (size_t i = 0; i < FILES; i++) {
    char *bytes = read_written(written[i]);
    if (bytes)
      assert_string_equal(bytes, whole[i]);
    free(bytes);
  }
  remove_files();
  size_t left = 0;
  DIR *folder = opendir(".");
  assert_non_null(folder);
  for (struct dirent *entry; (entry = readdir(folder));)
    left += entry->d_name[0] != '.' || strlen(entry->d_name) > 2;
  closedir(folder);
  assert_int_equal(left, 1); /* machine.json */
}

/* -- The loop -------------------------------------------------------------- */

typedef struct way {
  const char *method, *decoder;
  bool proposal;
  bool later;  /* all later allocations fail too */
  bool search; /* the chain ends with the search */
} way;

/* Runs the chain with the n-th allocation failing; true when none did. */
static bool attempt(way how, size_t n, size_t *allocations) {
  failing_allocator memory = {.fail_at = n, .fail_later = how.later};
  regal_allocator allocator = failing_allocator_of(&memory);
  regal_context *context = NULL;
  chain c = {.method = how.method,
             .decoder = how.decoder,
             .proposal = how.proposal,
             .search_only = how.search};
  char *text = NULL;
  size_t size = 0;
  FILE *stream = open_memstream(&text, &size);
  assert_non_null(stream);
  regal_status status = regal_context_create(&context, &allocator);
  if (status == REGAL_OK)
    status = run_chain(context, &c, stream);
  fclose(stream);
  free(text);
  if (status != (memory.failed ? REGAL_NO_MEMORY : REGAL_OK))
    fail_msg("%s on %s, allocation %zu: %s: %s", how.method, how.decoder, n,
             regal_status_name(status), context ? regal_error(context) : "");
  if (context) {
    assert_string_equal(regal_error(context),
                        memory.failed ? "out of memory" : "");
    free_chain(&c);
    if (regal_bytes_in_use(context))
      fail_msg("%s on %s, allocation %zu: %zu bytes leaked", how.method,
               how.decoder, n, regal_bytes_in_use(context));
  }
  regal_context_free(context);
  assert_int_equal(memory.blocks, 0);
  *allocations = memory.allocations;
  return !memory.failed;
}

/* Tries n = 1, 2, ...; returns how many allocations the chain needs. */
static size_t fail_each(way how) {
  size_t needed, tried = 0, n = 1;
  assert_true(attempt(how, 0, &needed));
  if (!how.search)
    keep_files();
  while (!attempt(how, n, &tried)) {
    check_files();
    n++;
  }
  assert_int_equal(n, needed + 1);
  assert_int_equal(tried, needed);
  check_files();
  return needed;
}

static void test_whole_chain(void **state) {
  (void)state;
  assert_true(fail_each((way){"auto", "batched", false, false, false}) > 100);
  fail_each((way){"auto", "batched", false, true, false});
}

static void test_every_method(void **state) {
  (void)state;
  for (size_t m = 0; m < regal_method_count(); m++)
    if (can_run(regal_method_at(m).name))
      fail_each((way){regal_method_at(m).name, "paper", false, false, true});
}

static void test_every_decoder(void **state) {
  (void)state;
  for (size_t d = 0; d < regal_decoder_count(); d++)
    fail_each((way){"brkga", regal_decoder_at(d).name, false, false, true});
}

/* When memory is out it usually stays so. */
static void test_proposal(void **state) {
  (void)state;
  fail_each((way){"brkga", "paper", true, false, true});
  fail_each((way){"brkga", "paper", true, true, true});
}

static int enter(void **state) {
  if (files_enter(state))
    return -1;
  files_write_text("machine.json", machine_text);
  return 0;
}

static int leave(void **state) {
  for (size_t i = 0; i < FILES; i++)
    free(whole[i]);
  return files_leave(state);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_whole_chain),
      cmocka_unit_test(test_every_method),
      cmocka_unit_test(test_every_decoder),
      cmocka_unit_test(test_proposal),
  };
  return cmocka_run_group_tests_name("allocation", tests, enter, leave);
}
