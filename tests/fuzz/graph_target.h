/* SPDX-License-Identifier: Apache-2.0 */
/* The body of the graph targets: what any bytes must do to the reader. */
#ifndef REGAL_TESTS_GRAPH_TARGET_H
#define REGAL_TESTS_GRAPH_TARGET_H

#include "fuzz/fuzz.h"

/* Reads the bytes under every reading option; a graph that comes out is written
 * in `format`, read again, and must be the same. */
void fuzz_graph(const uint8_t *bytes, size_t size, regal_graph_format format);

#endif
