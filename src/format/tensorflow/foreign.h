/* SPDX-License-Identifier: Apache-2.0 */
/* Files that are no CostGraphDef, though no other reader takes them, and what
 * they are: models in formats that regal does not read, above all. The message
 * names the format, rather than the byte at which it ceases to be a cost graph.
 */
#ifndef REGAL_FORMAT_TENSORFLOW_FOREIGN_H
#define REGAL_FORMAT_TENSORFLOW_FOREIGN_H

#include <stddef.h>

#define REGAL_GRAPH_DEF                                                        \
  "a GraphDef of TensorFlow, which has neither sizes nor times; regal reads "  \
  "the CostGraphDef of a run, or the model converted to ONNX (tf2onnx)"

/* "a zip archive; ...": what the file is and what to do about it. NULL: nothing
 * that is known here. */
const char *regal_foreign_kind(const void *bytes, size_t size);

#endif
