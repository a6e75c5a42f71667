/* SPDX-License-Identifier: Apache-2.0 */
/* Times and sizes of nodes, with what a file leaves open filled in (sizes by
 * shape and type, negative ones as 0), and which tensors live to the end.
 */
#include <inttypes.h>
#include <string.h>

#include "format/tensorflow/cost_graph.h"

#define NS_PER_US 1000

/* -- Sizes ----------------------------------------------------------------- */

/* Bytes of an element; 0 when the type does not say (strings, handles). */
static int64_t element_bytes(int type) {
  static const uint8_t bytes[] = {
      [REGAL__DATA_TYPE__DT_FLOAT] = 4,
      [REGAL__DATA_TYPE__DT_DOUBLE] = 8,
      [REGAL__DATA_TYPE__DT_INT32] = 4,
      [REGAL__DATA_TYPE__DT_UINT8] = 1,
      [REGAL__DATA_TYPE__DT_INT16] = 2,
      [REGAL__DATA_TYPE__DT_INT8] = 1,
      [REGAL__DATA_TYPE__DT_COMPLEX64] = 8,
      [REGAL__DATA_TYPE__DT_INT64] = 8,
      [REGAL__DATA_TYPE__DT_BOOL] = 1,
      [REGAL__DATA_TYPE__DT_QINT8] = 1,
      [REGAL__DATA_TYPE__DT_QUINT8] = 1,
      [REGAL__DATA_TYPE__DT_QINT32] = 4,
      [REGAL__DATA_TYPE__DT_BFLOAT16] = 2,
      [REGAL__DATA_TYPE__DT_QINT16] = 2,
      [REGAL__DATA_TYPE__DT_QUINT16] = 2,
      [REGAL__DATA_TYPE__DT_UINT16] = 2,
      [REGAL__DATA_TYPE__DT_COMPLEX128] = 16,
      [REGAL__DATA_TYPE__DT_HALF] = 2,
      [REGAL__DATA_TYPE__DT_UINT32] = 4,
      [REGAL__DATA_TYPE__DT_UINT64] = 8,
      [REGAL__DATA_TYPE__DT_FLOAT8_E5M2] = 1,
      [REGAL__DATA_TYPE__DT_FLOAT8_E4M3FN] = 1,
      [REGAL__DATA_TYPE__DT_FLOAT8_E4M3FNUZ] = 1,
      [REGAL__DATA_TYPE__DT_FLOAT8_E4M3B11FNUZ] = 1,
      [REGAL__DATA_TYPE__DT_FLOAT8_E5M2FNUZ] = 1,
      [REGAL__DATA_TYPE__DT_INT4] = 1, /* kept one to a byte */
      [REGAL__DATA_TYPE__DT_UINT4] = 1,
      [REGAL__DATA_TYPE__DT_INT2] = 1,
      [REGAL__DATA_TYPE__DT_UINT2] = 1,
  };
  int base = type > REGAL__DATA_TYPE__DT_FLOAT_REF - 1
                 ? type - (REGAL__DATA_TYPE__DT_FLOAT_REF - 1)
                 : type;
  if (base < 0 || (size_t)base >= sizeof bytes)
    return 0;
  return bytes[base];
}

/* Shape times type: 0 when either is not known; -1 when it overflows. */
static int64_t shaped_bytes(const regal_cost_output *output) {
  const Regal__TensorShapeProto *shape = output->shape;
  int64_t bytes = element_bytes(output->dtype);
  bool fits = true, empty = false;
  if (!bytes || !shape || shape->unknown_rank)
    return 0;
  for (size_t i = 0; i < shape->n_dim; i++) {
    if (shape->dim[i]->size < 0)
      return 0;
    empty |= !shape->dim[i]->size;
    fits = fits && !__builtin_mul_overflow(bytes, shape->dim[i]->size, &bytes);
  }
  return empty ? 0 : fits ? bytes : -1;
}

static regal_status measure_output(regal_cost_graph *cost, uint32_t index,
                                   size_t port, int64_t *bytes) {
  const regal_cost_node *node = regal_cost_node_at(cost, index);
  const regal_cost_output *output = node->output_info[port];
  *bytes = output->size;
  if (output->size < 0) {
    cost->counts.unmeasured++;
    *bytes = 0;
  }
  if (output->size != 0 || node->persistent_memory_size > 0)
    return REGAL_OK;
  *bytes = shaped_bytes(output);
  if (*bytes < 0)
    return regal_cost_fail(
        cost, index, "the shape of output %zu has more than 2^63 bytes", port);
  cost->counts.shaped += *bytes > 0;
  if (*bytes > 0 &&
      __builtin_add_overflow(cost->counts.shaped_bytes, (uint64_t)*bytes,
                             &cost->counts.shaped_bytes))
    cost->counts.shaped_bytes = UINT64_MAX;
  return REGAL_OK;
}

/* -- Times ----------------------------------------------------------------- */

static regal_status measure_time(const regal_cost_graph *cost, uint32_t index,
                                 int64_t *run_ns) {
  const regal_cost_node *node = regal_cost_node_at(cost, index);
  *run_ns = node->regal_run_ns;
  if (node->regal_run_ns)
    return REGAL_OK;
  if (__builtin_mul_overflow(node->compute_cost, (int64_t)NS_PER_US, run_ns))
    return regal_cost_fail(cost, index,
                           "compute_cost %" PRId64
                           " overflows: it is in microseconds",
                           node->compute_cost);
  return REGAL_OK;
}

static regal_status check_sign(const regal_cost_graph *cost, uint32_t index,
                               const char *field, int64_t value) {
  if (value >= 0)
    return REGAL_OK;
  return regal_cost_fail(cost, index, "%s is %" PRId64 ", expected 0 or more",
                         field, value);
}

static regal_status check_signs(const regal_cost_graph *cost, uint32_t index) {
  const regal_cost_node *node = regal_cost_node_at(cost, index);
  REGAL_TRY(check_sign(cost, index, "compute_cost", node->compute_cost));
  REGAL_TRY(check_sign(cost, index, "regal_run_ns", node->regal_run_ns));
  REGAL_TRY(check_sign(cost, index, "temporary_memory_size",
                       node->temporary_memory_size));
  return check_sign(cost, index, "persistent_memory_size",
                    node->persistent_memory_size);
}

regal_status regal_cost_measure(regal_cost_graph *cost) {
  for (uint32_t i = 0; i < cost->nodes; i++) {
    const regal_cost_node *node = regal_cost_node_at(cost, i);
    REGAL_TRY(check_signs(cost, i));
    REGAL_TRY(measure_time(cost, i, &cost->run_ns[i]));
    cost->resident[i] = node->persistent_memory_size;
    for (size_t port = 0; port < node->n_output_info; port++) {
      uint32_t tensor = cost->output_begin[i] + (uint32_t)port;
      REGAL_TRY(measure_output(cost, i, port, &cost->bytes[tensor]));
      cost->is_final[tensor] = node->is_final != 0;
    }
  }
  return REGAL_OK;
}

/* -- Results --------------------------------------------------------------- */

bool regal_cost_is_result_reader(const char *name) {
  return !strncmp(name, "_retval_", 8);
}

/* What regal wrote says for itself where the rules would be wrong. */
static void apply_own_marks(regal_cost_graph *cost, uint32_t index) {
  const regal_cost_node *node = regal_cost_node_at(cost, index);
  for (size_t port = 0; port < node->n_output_info; port++) {
    int mark = node->output_info[port]->regal_final;
    if (mark == REGAL__REGAL_FINAL__REGAL_FINAL_YES ||
        mark == REGAL__REGAL_FINAL__REGAL_FINAL_NO)
      cost->is_final[cost->output_begin[index] + port] =
          mark == REGAL__REGAL_FINAL__REGAL_FINAL_YES;
  }
}

void regal_cost_mark_results(regal_cost_graph *cost) {
  for (uint32_t i = 0; i < cost->nodes; i++) {
    if (!regal_cost_is_result_reader(regal_cost_node_at(cost, i)->name))
      continue;
    for (REGAL_ROW(j, cost->input_begin, i)) {
      if (cost->input[j].node == REGAL_NONE)
        continue;
      uint32_t tensor = regal_cost_tensor(cost, cost->input[j]);
      cost->counts.results += !cost->is_final[tensor];
      cost->is_final[tensor] = 1;
    }
  }
  for (uint32_t i = 0; i < cost->nodes; i++)
    apply_own_marks(cost, i);
}
