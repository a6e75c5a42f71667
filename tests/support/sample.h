/* SPDX-License-Identifier: Apache-2.0 */
/* A graph of six ops for tests of files.
 *
 *        a (id 0) --> b (1) --> d (3)      d's output is final
 *           \--> c (2) --------^           b ..> twin (4), c ..> twin (5):
 *                 b:1 --> twin (5)         control edges
 */
#ifndef REGAL_TESTS_SAMPLE_H
#define REGAL_TESTS_SAMPLE_H

#include "cost/model/problem.h"
#include "support/files.h"

static inline regal_status sample_fill(regal_builder *builder) {
  static const struct {
    const char *name;
    int64_t run_ns, outputs[2];
  } ops[] = {{"a", 100, {8, -1}},    {"b", 200, {16, 4}},
             {"c", 300, {32, -1}},   {"d", 400, {64, -1}},
             {"twin", 10, {-1, -1}}, {"twin", 20, {-1, -1}}};
  static const uint32_t inputs[][3] = {
      {1, 0, 0}, {2, 0, 0}, {3, 1, 0}, {3, 2, 0}, {5, 1, 1}};
  for (size_t i = 0; i < 6; i++) {
    uint32_t id;
    REGAL_TRY(
        regal_builder_add_op(builder, ops[i].name, ops[i].run_ns, 0, 0, &id));
    for (int port = 0; port < 2 && ops[i].outputs[port] >= 0; port++)
      REGAL_TRY(
          regal_builder_add_output(builder, id, ops[i].outputs[port], id == 3));
  }
  for (size_t i = 0; i < 5; i++)
    REGAL_TRY(regal_builder_add_input(builder, inputs[i][0], inputs[i][1],
                                      inputs[i][2]));
  REGAL_TRY(regal_builder_add_control(builder, 1, 4));
  return regal_builder_add_control(builder, 2, 5);
}

static inline regal_status sample_graph(regal_context *context,
                                        regal_graph **graph) {
  regal_builder *builder;
  REGAL_TRY(regal_builder_create(context, &builder));
  regal_status status = sample_fill(builder);
  if (status != REGAL_OK) {
    regal_builder_free(builder);
    return status;
  }
  return regal_builder_finish(builder, graph);
}

#endif
