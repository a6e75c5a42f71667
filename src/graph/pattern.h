/* SPDX-License-Identifier: Apache-2.0 */
/* Patterns of names, as in a shell: * any text, ? one character, [a-z] and
 * [!a-z] one of a set. All else stands for itself: a dot is a dot. A pattern
 * also matches the name that it spells, so that names with brackets can be
 * given as they are. */
#ifndef REGAL_GRAPH_PATTERN_H
#define REGAL_GRAPH_PATTERN_H

#include "graph/graph.h"

/* O(pattern * text). */
bool regal_pattern_matches(const char *pattern, const char *text);
/* Whether the text has a character that is special in patterns. */
bool regal_is_pattern(const char *text);

/* The first op from `op` on whose name matches; graph->ops if there is none. */
uint32_t regal_pattern_find(const regal_graph *graph, const char *pattern,
                            uint32_t op);
#define REGAL_PATTERN_EACH(op, graph, pattern)                                 \
  for (uint32_t op = regal_pattern_find((graph), (pattern), 0);                \
       op < (graph)->ops; op = regal_pattern_find((graph), (pattern), op + 1))

/* How many characters of the pattern must be inserted, deleted or replaced so
 * that it matches; texts are cut off at 255 characters. */
uint32_t regal_pattern_distance(const char *pattern, const char *text);
/* "no op matches 'embd*'; near: \"embed\", \"embed_1\"" */
typedef struct regal_no_match {
  char text[640];
} regal_no_match;
regal_no_match regal_pattern_no_match(const regal_graph *graph,
                                      const char *pattern);

#endif
