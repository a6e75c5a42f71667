/* SPDX-License-Identifier: Apache-2.0 */
/* Patterns of names: what they match, and the names that are near. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>

#include "graph/pattern.h"
#include "support/sample.h"

static const struct {
  const char *pattern, *text;
  bool matches;
} cases[] = {
    {"", "", true},
    {"", "a", false},
    {"*", "", true},
    {"*", "layer3.mlp", true},
    {"layer3.*", "layer3.mlp", true},
    {"layer3.*", "layer3", false},
    {"layer3.*", "layer30", false}, /* a dot is a dot */
    {"layer3.*", "xlayer3.mlp", false},
    {"*mlp", "layer3.mlp", true},
    {"*mlp", "layer3.mlp2", false},
    {"a*b*c", "a__b__b__c", true},
    {"a*b*c", "a__b__b__d", false},
    {"a**c", "ac", true},
    {"a?c", "abc", true},
    {"a?c", "ac", false},
    {"a?c", "abbc", false},
    {"a?c",
     "a\xC3\xA4"
     "c",
     true}, /* one character of two bytes */
    {"layer[0-3]", "layer2", true},
    {"layer[0-3]", "layer4", false},
    {"layer[!0-3]", "layer4", true},
    {"layer[^0-3]", "layer3", false},
    {"layer[0-3]*", "layer12", true},
    {"x[]]", "x]", true},
    {"x[!]]", "x]", false},
    {"x[a-]", "x-", true},
    {"x[*]", "x*", true},
    {"x[*]", "xy", false},
    {"x[", "x[", true}, /* no set: a letter */
    {"x[!", "x[!", true},
    {"w[0]", "w0", true},
    {"w[0]", "w[0]", true}, /* the name as it is */
    {"a.b", "a.b", true},
    {"a.b", "axb", false},
};

static void matches_as_documented(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    if (regal_pattern_matches(cases[i].pattern, cases[i].text) !=
        cases[i].matches)
      fail_msg("'%s' and '%s'", cases[i].pattern, cases[i].text);
}

/* A greedy matcher with one point of return needs no more than the product. */
static void many_stars_are_fast(void **state) {
  (void)state;
  char text[4001], pattern[2002];
  memset(text, 'a', 4000);
  text[4000] = 0;
  for (int i = 0; i < 1000; i++)
    memcpy(pattern + 2 * i, "*a", 2);
  memcpy(pattern + 2000, "b", 2);
  assert_false(regal_pattern_matches(pattern, text));
}

static void distance_counts_changes(void **state) {
  (void)state;
  assert_int_equal(regal_pattern_distance("embed*", "embedding"), 0);
  assert_int_equal(regal_pattern_distance("embd*", "embedding"), 1);
  assert_int_equal(regal_pattern_distance("embd", "embed"), 1);
  assert_int_equal(regal_pattern_distance("kitten", "sitting"), 3);
  assert_int_equal(regal_pattern_distance("layer[0-3]", "layer7"), 1);
  assert_int_equal(regal_pattern_distance("a?c", "abc"), 0);
  assert_int_equal(regal_pattern_distance("", "abc"), 3);
  assert_int_equal(regal_pattern_distance("abc", ""), 3);
  assert_int_equal(regal_pattern_distance("*abc*", ""), 3);
}

static void names_what_is_near(void **state) {
  (void)state;
  regal_context *context;
  regal_graph *graph;
  assert_int_equal(regal_context_create(&context, NULL), REGAL_OK);
  assert_int_equal(sample_graph(context, &graph), REGAL_OK);
  assert_int_equal(regal_pattern_find(graph, "t*", 0), graph->op_of_id[4]);
  assert_int_equal(regal_pattern_find(graph, "e*", 0), graph->ops);
  assert_string_equal(regal_pattern_no_match(graph, "tin*").text,
                      "no op matches 'tin*'; near: \"twin\", \"a\", \"b\"");
  regal_graph_free(graph);
  regal_context_free(context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(matches_as_documented),
      cmocka_unit_test(many_stars_are_fast),
      cmocka_unit_test(distance_counts_changes),
      cmocka_unit_test(names_what_is_near),
  };
  return cmocka_run_group_tests_name("pattern", tests, NULL, NULL);
}
