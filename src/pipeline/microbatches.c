/* SPDX-License-Identifier: Apache-2.0 */
/* Microbatches by the names of ops. */
#include "pipeline/pipeline.h"

#include <string.h>

#include "base/text.h"

/* More microbatches than any graph has ops are no microbatches. */
#define MOST_DIGITS 8

/* The number at `text` with at most MOST_DIGITS digits; its end in *end. */
static bool read_number(const char *text, const char **end, uint32_t *number) {
  uint32_t digits = 0;
  *number = 0;
  for (; regal_is_digit(text[digits]); digits++) {
    if (digits == MOST_DIGITS)
      return false;
    *number = *number * 10 + (uint32_t)(text[digits] - '0');
  }
  *end = text + digits;
  return digits > 0;
}

/* F3.7, B3.7 and W3.7 are layer 7 of microbatch 3. */
static bool read_letter_name(const char *name, uint32_t *microbatch) {
  const char *end;
  uint32_t layer;
  return *name && strchr("FBW", *name) &&
         read_number(name + 1, &end, microbatch) && *end == '.' &&
         read_number(end + 1, &end, &layer) && !*end;
}

uint32_t regal_microbatch_of_name(const char *name) {
  uint32_t microbatch;
  const char *mark = strrchr(name, '#'), *end;
  if (mark && read_number(mark + 1, &end, &microbatch) && !*end)
    return microbatch;
  return read_letter_name(name, &microbatch) ? microbatch : REGAL_NONE;
}

regal_pass regal_pass_of_name(const char *name) {
  uint32_t microbatch;
  if (!read_letter_name(name, &microbatch))
    return REGAL_PASS_NONE;
  return *name == 'F'   ? REGAL_PASS_FORWARD
         : *name == 'B' ? REGAL_PASS_BACKWARD
                        : REGAL_PASS_WEIGHT;
}

typedef struct tally {
  uint64_t first, second, others; /* ops of microbatches 0, 1, and 1, 2, ... */
  uint64_t sum;                   /* of the microbatches of all ops */
  uint64_t count;                 /* one more than the largest */
} tally;

static tally count_ops(const regal_graph *graph) {
  tally found = {0};
  for (uint32_t op = 0; op < graph->ops; op++) {
    uint32_t i = regal_microbatch_of_name(regal_graph_name(graph, op));
    if (i == REGAL_NONE)
      continue;
    found.first += i == 0;
    found.second += i == 1;
    found.others += i > 0;
    found.sum += i;
    if (i >= found.count)
      found.count = (uint64_t)i + 1;
  }
  return found;
}

/* The first microbatch has no ops that add its gradients to those before it.
 * The numbers of ops are not compared one by one, but by their sums, which
 * needs no memory. */
uint32_t regal_graph_microbatches(const regal_graph *graph) {
  tally found = count_ops(graph);
  uint64_t m = found.count;
  if (!found.first || m > graph->ops ||
      found.others != (m - 1) * found.second ||
      found.sum != m * (m - 1) / 2 * found.second ||
      (m > 1 && found.second < found.first))
    return 0;
  return (uint32_t)m;
}
