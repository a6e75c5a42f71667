/* SPDX-License-Identifier: Apache-2.0 */
/* While loops. Every cycle of a real file goes through a data edge that leaves
 * a NextIteration node; without these edges the loop's body counts once.
 */
#include <string.h>

#include "format/tensorflow/cost_graph.h"

enum { LOOPS_REJECT, LOOPS_CUT }; /* the choices of --loops */

static bool is_next_iteration(const char *name) {
  return strstr(name, "NextIteration") || strstr(name, "next_iteration");
}

void regal_cost_cut_loops(regal_cost_graph *cost) {
  if (cost->options->loops != LOOPS_CUT)
    return;
  for (uint32_t i = 0; i < cost->input_begin[cost->nodes]; i++) {
    regal_source *source = &cost->input[i];
    if (!is_next_iteration(regal_cost_node_at(cost, source->node)->name))
      continue;
    source->node = REGAL_NONE;
    cost->counts.cut++;
  }
}
