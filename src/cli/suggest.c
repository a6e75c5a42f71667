/* SPDX-License-Identifier: Apache-2.0 */
/* "did you mean": the known word with the smallest edit distance to an unknown
 * one. */
#include "cli/cli.h"

#include <string.h>

#define LONGEST 31

static size_t least(size_t a, size_t b, size_t c) {
  size_t ab = a < b ? a : b;
  return ab < c ? ab : c;
}

/* Insertions, deletions and replacements between two words (Levenshtein);
 * `row` holds the distances from a[0..i) to every start of b. */
static size_t distance(const char *a, const char *b) {
  size_t row[LONGEST + 1], b_length = strlen(b);
  if (strlen(a) > LONGEST || b_length > LONGEST)
    return LONGEST;
  for (size_t j = 0; j <= b_length; j++)
    row[j] = j;
  for (size_t i = 0; a[i]; i++) {
    size_t diagonal = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < b_length; j++) {
      size_t replaced = diagonal + (a[i] != b[j]);
      diagonal = row[j + 1];
      row[j + 1] = least(replaced, row[j] + 1, diagonal + 1);
    }
  }
  return row[b_length];
}

regal_suggestion regal_suggest_begin(const char *word) {
  /* More than a third of the letters wrong is another word, not a slip. */
  return (regal_suggestion){word, NULL, strlen(word) / 3 + 2};
}

void regal_suggest_consider(regal_suggestion *suggestion, const char *name) {
  size_t found = distance(suggestion->word, name);
  if (found >= suggestion->distance)
    return;
  suggestion->distance = found;
  suggestion->nearest = name;
}
