/* SPDX-License-Identifier: Apache-2.0 */
/* Patterns of names: matching, and the names that a pattern nearly matches.
 *
 * Matching is greedy with one point of return, the last star: what was matched
 * before that star need never be matched otherwise. The distance is
 * Levenshtein's, where a star stands for any text at no cost: the classic table
 * of (start of the pattern, start of the text), of which one row is kept.
 */
#include "graph/pattern.h"

#include <string.h>

#include "graph/builder.h"

/* -- One element of a pattern ---------------------------------------------- */

/* Bytes of the character at `text`: a byte and the UTF-8 bytes that follow. */
static size_t character(const char *text) {
  size_t bytes = 1;
  while (((unsigned char)text[bytes] & 0xC0) == 0x80)
    bytes++;
  return bytes;
}

/* The end of a set that begins at `pattern`, or NULL: its bracket is a letter.
 * A ] right at the start is one of the set. */
static const char *end_of_set(const char *pattern) {
  const char *at = pattern + 1;
  if (*pattern != '[')
    return NULL;
  if (*at == '!' || *at == '^')
    at++;
  const char *end = *at ? strchr(at + 1, ']') : NULL;
  return end ? end + 1 : NULL;
}

static bool is_in_set(const char *set, const char *end, char letter) {
  const char *at = set + 1;
  bool negated = *at == '!' || *at == '^', found = false;
  for (at += negated; at < end - 1; at++) {
    unsigned char low = (unsigned char)*at, high = low;
    if (at[1] == '-' && at + 2 < end - 1) {
      high = (unsigned char)at[2];
      at += 2;
    }
    found |= (unsigned char)letter >= low && (unsigned char)letter <= high;
  }
  return found != negated;
}

/* The end of the pattern's first element, which is not a star. */
static const char *next_element(const char *pattern) {
  const char *end = end_of_set(pattern);
  return end ? end : pattern + (*pattern == '?' ? 1 : character(pattern));
}

/* Whether the first element matches the first character. */
static bool element_matches(const char *pattern, const char *text) {
  const char *end = end_of_set(pattern);
  if (!*text)
    return false;
  if (*pattern == '?')
    return true;
  if (end)
    return is_in_set(pattern, end, *text);
  size_t bytes = character(pattern);
  return bytes == character(text) && !memcmp(pattern, text, bytes);
}

/* -- Matching -------------------------------------------------------------- */

static bool matches(const char *pattern, const char *text) {
  const char *after_star = NULL, *retry = NULL;
  for (;;) {
    if (*pattern == '*') {
      after_star = ++pattern;
      retry = text;
    } else if (!*pattern && !*text) {
      return true;
    } else if (*pattern && element_matches(pattern, text)) {
      pattern = next_element(pattern);
      text += character(text);
    } else if (after_star && *retry) {
      retry += character(retry);
      pattern = after_star;
      text = retry;
    } else {
      return false;
    }
  }
}

bool regal_pattern_matches(const char *pattern, const char *text) {
  return !strcmp(pattern, text) || matches(pattern, text);
}

bool regal_is_pattern(const char *text) {
  return strpbrk(text, "*?[") != NULL;
}

uint32_t regal_pattern_find(const regal_graph *graph, const char *pattern,
                            uint32_t op) {
  while (op < graph->ops &&
         !regal_pattern_matches(pattern, regal_graph_name(graph, op)))
    op++;
  return op;
}

/* -- What is near ---------------------------------------------------------- */

#define LONGEST 255 /* bytes of a text that are compared */
#define NEAREST 3   /* names that a message has */

static uint32_t least(uint32_t a, uint32_t b) {
  return a < b ? a : b;
}

/* row[i]: the distance of the pattern so far from the text's first i bytes. */
static void add_element(const char *pattern, const char *text, uint32_t length,
                        uint32_t *row) {
  bool star = *pattern == '*';
  uint32_t diagonal = row[0];
  row[0] += !star;
  for (uint32_t i = 0; i < length; i++) {
    uint32_t above = row[i + 1];
    uint32_t replaced = diagonal + !element_matches(pattern, text + i);
    row[i + 1] =
        star ? least(above, row[i]) : least(replaced, least(above, row[i]) + 1);
    diagonal = above;
  }
}

uint32_t regal_pattern_distance(const char *pattern, const char *text) {
  uint32_t row[LONGEST + 1], elements = 0;
  uint32_t length = (uint32_t)strnlen(text, LONGEST);
  for (uint32_t i = 0; i <= length; i++)
    row[i] = i;
  for (; *pattern && elements < LONGEST; elements++) {
    add_element(pattern, text, length, row);
    pattern = *pattern == '*' ? pattern + 1 : next_element(pattern);
  }
  return row[length];
}

typedef struct near_name {
  uint32_t distance, op;
} near_name;

/* Keeps the nearest, each name once; the earlier op where they are equal. */
static void keep_near(const regal_graph *graph, near_name *best,
                      near_name candidate) {
  const char *name = regal_graph_name(graph, candidate.op);
  for (int i = 0; i < NEAREST; i++)
    if (best[i].op != REGAL_NONE &&
        !strcmp(regal_graph_name(graph, best[i].op), name))
      return;
  int at = NEAREST - 1; /* the last one is given up */
  for (; at > 0 && candidate.distance < best[at - 1].distance; at--)
    best[at] = best[at - 1];
  best[at] = candidate;
}

regal_no_match regal_pattern_no_match(const regal_graph *graph,
                                      const char *pattern) {
  regal_no_match result;
  near_name best[NEAREST];
  for (int i = 0; i < NEAREST; i++)
    best[i] = (near_name){UINT32_MAX, REGAL_NONE};
  for (uint32_t op = 0; op < graph->ops; op++) {
    const char *name = regal_graph_name(graph, op);
    uint32_t distance = *name ? regal_pattern_distance(pattern, name) : 0;
    if (*name && distance < best[NEAREST - 1].distance)
      keep_near(graph, best, (near_name){distance, op});
  }
  int used = snprintf(result.text, sizeof result.text, "no op matches '%.100s'",
                      pattern);
  for (int i = 0; i < NEAREST && best[i].op != REGAL_NONE; i++)
    used += snprintf(result.text + used, sizeof result.text - (size_t)used,
                     "%s%s", i ? ", " : "; near: ",
                     regal_quote(regal_graph_name(graph, best[i].op)).text);
  return result;
}
