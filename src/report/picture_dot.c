/* SPDX-License-Identifier: Apache-2.0 */
/* A plan as DOT: an op is a box in the colour of its device with its name and
 * step; what crosses devices is drawn dashed, with its bytes. */
#include "graph/graph.h"
#include "report/picture.h"

static void put_name(regal_picture *picture, uint32_t op) {
  static const char *const instead[] = {"\\\"", "\\\\"};
  regal_picture_name(&picture->text, regal_graph_name(picture->graph, op),
                     "\"\\", instead, 0);
}

static void put_op(regal_picture *picture, uint32_t op) {
  regal_text *text = &picture->text;
  uint32_t device = regal_picture_device(picture, op);
  regal_text_format(text, "  n%u [label=\"", op);
  put_name(picture, op);
  regal_text_format(text,
                    "\\nstep %u, device %u\", fillcolor=\"%s\", tooltip=\"id "
                    "%u\"];\n",
                    picture->run_step[op], device, regal_picture_color(device),
                    picture->graph->id[op]);
}

static void put_input(regal_picture *picture, uint32_t op, uint32_t tensor) {
  uint32_t from = picture->graph->producer[tensor];
  regal_text_format(&picture->text, "  n%u -> n%u", from, op);
  if (regal_picture_device(picture, from) != regal_picture_device(picture, op))
    regal_text_format(&picture->text, " [style=dashed, label=\"%s\"]",
                      regal_show_bytes(picture->graph->bytes[tensor]).text);
  regal_text_format(&picture->text, ";\n");
}

void regal_picture_dot(regal_picture *picture) {
  const regal_graph *graph = picture->graph;
  regal_text_format(&picture->text,
                    "digraph plan {\n  rankdir=LR;\n"
                    "  node [shape=box, style=filled, fontname=\"sans-serif\","
                    " fontsize=10];\n"
                    "  edge [fontname=\"sans-serif\", fontsize=9];\n");
  for (uint32_t op = 0; op < graph->ops; op++)
    put_op(picture, op);
  for (uint32_t op = 0; op < graph->ops; op++) {
    for (REGAL_ROW(k, graph->input_begin, op))
      put_input(picture, op, graph->input[k]);
    for (REGAL_ROW(k, graph->control_in_begin, op))
      regal_text_format(&picture->text, "  n%u -> n%u [style=dotted];\n",
                        graph->control_in[k], op);
  }
  regal_text_format(&picture->text, "}\n");
}
