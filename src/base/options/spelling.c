/* SPDX-License-Identifier: Apache-2.0 */
/* Edit distance (Levenshtein, and swaps of neighbours as Damerau counts them)
 * between an unknown word and those that are known.
 * More than a third of the letters wrong is another word, not a slip. */
#include "base/options/spelling.h"

#include <stdio.h>
#include <string.h>

#define LONGEST_WORD 64

static size_t smaller(size_t a, size_t b) {
  return a < b ? a : b;
}

/* Letters to insert, delete or change, and neighbours to swap, to turn `a` into
 * `b`. row[i % 3][j] is the distance from the first i letters of `a` to the
 * first j of `b`; a swap looks back two rows. */
static size_t edit_distance(const char *a, const char *b) {
  size_t row[3][LONGEST_WORD + 1], width = strlen(b), i = 0;
  for (size_t j = 0; j <= width; j++)
    row[0][j] = j;
  for (; a[i]; i++) {
    const size_t *before = row[i % 3];
    size_t *now = row[(i + 1) % 3];
    now[0] = i + 1;
    for (size_t j = 0; j < width; j++) {
      size_t changed = before[j] + (a[i] != b[j]);
      now[j + 1] = smaller(changed, 1 + smaller(before[j + 1], now[j]));
      if (i && j && a[i] == b[j - 1] && a[i - 1] == b[j])
        now[j + 1] = smaller(now[j + 1], 1 + row[(i + 2) % 3][j - 1]);
    }
  }
  return row[i % 3][width];
}

regal_suggestion regal_suggest(const char *given) {
  size_t length = strlen(given);
  return (regal_suggestion){given, NULL, length < 4 ? 2 : length / 3 + 1};
}

void regal_suggestion_consider(regal_suggestion *nearest, const char *word) {
  if (strlen(nearest->given) > LONGEST_WORD || strlen(word) > LONGEST_WORD)
    return;
  size_t found = edit_distance(nearest->given, word);
  if (found >= nearest->distance)
    return;
  nearest->distance = found;
  nearest->word = word;
}

void regal_suggestion_print(const regal_suggestion *nearest, const char *list,
                            char *text, size_t capacity) {
  if (nearest->word)
    snprintf(text, capacity, "did you mean \"%s\"?", nearest->word);
  else
    snprintf(text, capacity, "'regal %s' lists them", list);
}
