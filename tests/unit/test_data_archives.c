/* SPDX-License-Identifier: Apache-2.0 */
/* The archives in data/: their graphs are what their indexes say, and neither a
 * family nor a topology is on two sides of a split. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/context.h"
#include "dataset/archive/catalog.h"
#include "regal_data.h"

#define DATA REGAL_TEST_DATA "/../data/"

static const struct archive {
  const char *path;
  size_t graphs, train, valid, test;
} archives[] = {
    {DATA "torch.zip", 288, 168, 64, 56},
    {DATA "tf.zip", 119, 71, 26, 22},
    {DATA "xla.zip", 159, 120, 14, 25},
};
#define ARCHIVES (sizeof archives / sizeof *archives)

static int set_up(void **state) {
  return regal_context_create((regal_context **)state, NULL) != REGAL_OK;
}

static int tear_down(void **state) {
  bool leaked = regal_bytes_in_use(*state) != 0;
  regal_context_free(*state);
  return leaked;
}

static regal_dataset *open_dataset(void **state, const char *path) {
  regal_dataset *dataset;
  if (regal_dataset_open(*state, path, &dataset) != REGAL_OK)
    fail_msg("%s", regal_error(*state));
  return dataset;
}

/* Every graph is read, and all its figures compared. */
static void as_indexed(void **state) {
  for (size_t a = 0; a < ARCHIVES; a++) {
    regal_dataset *dataset = open_dataset(state, archives[a].path);
    assert_int_equal(regal_dataset_count(dataset), archives[a].graphs);
    for (size_t i = 0; i < archives[a].graphs; i++) {
      const regal_entry *entry = regal_dataset_entry(dataset, i);
      assert_true(entry->known);
      assert_true(*entry->family && *entry->source);
    }
    if (regal_dataset_check(dataset, NULL) != REGAL_OK)
      fail_msg("%s", regal_error(*state));
    regal_dataset_free(dataset);
  }
}

static void disjoint(void **state) {
  for (size_t a = 0; a < ARCHIVES; a++) {
    regal_dataset *dataset = open_dataset(state, archives[a].path);
    size_t counts[3] = {0};
    for (size_t i = 0; i < archives[a].graphs; i++) {
      const regal_entry *one = regal_dataset_entry(dataset, i);
      counts[0] += !strcmp(one->split, "train");
      counts[1] += !strcmp(one->split, "valid");
      counts[2] += !strcmp(one->split, "test");
      for (size_t k = 0; k < i; k++) {
        const regal_entry *two = regal_dataset_entry(dataset, k);
        if (!strcmp(one->family, two->family) ||
            one->figures.degrees == two->figures.degrees)
          assert_string_equal(one->split, two->split);
      }
    }
    assert_int_equal(counts[0], archives[a].train);
    assert_int_equal(counts[1], archives[a].valid);
    assert_int_equal(counts[2], archives[a].test);
    regal_dataset_free(dataset);
  }
}

static void assert_apart(const regal_dataset *one, const regal_dataset *two) {
  for (size_t i = 0; i < regal_dataset_count(one); i++)
    for (size_t k = 0; k < regal_dataset_count(two); k++) {
      const regal_entry *a = regal_dataset_entry(one, i);
      const regal_entry *b = regal_dataset_entry(two, k);
      if (!strcmp(a->family, b->family) ||
          a->figures.degrees == b->figures.degrees)
        assert_string_equal(a->split, b->split);
    }
}

/* No family of a test graph is in the train split of another archive. */
static void disjoint_together(void **state) {
  for (size_t a = 0; a < ARCHIVES; a++)
    for (size_t b = 0; b < a; b++) {
      regal_dataset *one = open_dataset(state, archives[a].path);
      regal_dataset *two = open_dataset(state, archives[b].path);
      assert_apart(one, two);
      regal_dataset_free(one);
      regal_dataset_free(two);
    }
}

/* The captured indexes, the provenance, and the list of 51 torch graphs. */
static void attachments(void **state) {
  regal_text text;
  for (size_t a = 0; a < ARCHIVES; a++) {
    char path[600];
    snprintf(path, sizeof path, "%s:README.md", archives[a].path);
    assert_int_equal(regal_read_input(*state, path, &text), REGAL_OK);
    regal_text_free(&text);
    snprintf(path, sizeof path, "%s:captured.csv", archives[a].path);
    assert_int_equal(regal_read_input(*state, path, &text), REGAL_OK);
    regal_text_free(&text);
  }
  regal_dataset *torch = open_dataset(state, archives[0].path);
  assert_int_equal(regal_read_input(*state, DATA "torch.zip:sample.txt", &text),
                   REGAL_OK);
  size_t listed = 0;
  for (char *rest = text.bytes, *name; (name = strtok_r(rest, "\n", &rest));
       listed++)
    assert_true(regal_dataset_find(torch, name) < 288);
  assert_int_equal(listed, 51);
  regal_text_free(&text);
  regal_dataset_free(torch);
}

/* XLA's order of each graph is a plan of it. */
static void orders(void **state) {
  regal_dataset *xla = open_dataset(state, archives[2].path);
  regal_options options;
  regal_options_init(&options);
  options.devices = 1;
  for (size_t i = 0; i < regal_dataset_count(xla); i += 10) {
    char path[700];
    regal_graph *graph;
    regal_problem *problem;
    regal_plan *plan;
    regal_cost cost;
    snprintf(path, sizeof path, "%s:%s.order", archives[2].path,
             regal_dataset_entry(xla, i)->name);
    assert_int_equal(regal_dataset_load(xla, i, 0, NULL, &graph), REGAL_OK);
    assert_int_equal(regal_problem_create(*state, graph, &options, &problem),
                     REGAL_OK);
    if (regal_plan_load(*state, problem, path, &plan) != REGAL_OK ||
        regal_verify(*state, problem, plan, &cost) != REGAL_OK)
      fail_msg("%s", regal_error(*state));
    regal_plan_free(plan);
    regal_problem_free(problem);
    regal_graph_free(graph);
  }
  regal_dataset_free(xla);
}

/* Files of a session that did not track sizes are there, but in no set. */
static void untracked(void **state) {
  regal_graph *graph;
  regal_dataset *tf = open_dataset(state, archives[1].path);
  for (size_t i = 0; i < regal_dataset_count(tf); i++)
    assert_null(strstr(regal_dataset_entry(tf, i)->file, "untracked"));
  regal_dataset_free(tf);
  assert_int_equal(regal_graph_load(*state,
                                    DATA "tf.zip:untracked/u_net_infer.pb",
                                    NULL, &graph),
                   REGAL_OK);
  bool warned = false;
  for (size_t i = 0; i < regal_graph_note_count(graph); i++)
    warned |= regal_graph_note(graph, i).kind == REGAL_NOTE_WARNING;
  assert_true(warned);
  regal_graph_free(graph);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(as_indexed),  TEST(disjoint), TEST(disjoint_together),
      TEST(attachments), TEST(orders),   TEST(untracked),
  };
  return cmocka_run_group_tests_name("data archives", tests, NULL, NULL);
}
