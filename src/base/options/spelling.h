/* SPDX-License-Identifier: Apache-2.0 */
/* The known word that is nearest to an unknown one. */
#ifndef REGAL_BASE_OPTIONS_SPELLING_H
#define REGAL_BASE_OPTIONS_SPELLING_H

#include <stddef.h>

typedef struct regal_suggestion {
  const char *given;
  const char *word; /* the nearest so far; NULL: none is near */
  size_t distance;  /* a word must be nearer than this */
} regal_suggestion;

/* To begin with no word; then each known one is considered. */
regal_suggestion regal_suggest(const char *given);
void regal_suggestion_consider(regal_suggestion *nearest, const char *word);
/* "did you mean "brkga"?", or else that "regal LIST" lists them. */
void regal_suggestion_print(const regal_suggestion *nearest, const char *list,
                            char *text, size_t capacity);

#endif
