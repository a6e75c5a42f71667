/* SPDX-License-Identifier: Apache-2.0 */
/* The reader of graphs, on CostGraphDef in its text form. */
#include "fuzz/graph_target.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  fuzz_graph(bytes, size, REGAL_GRAPH_TEXT);
  return 0;
}
