/* SPDX-License-Identifier: Apache-2.0 */
/* What a node means: constants fold, views vanish, the rest are ops with a run
 * time by the roofline. */
#include "format/onnx/walk.h"

#include <string.h>

#include "graph/builder.h"

#define MOST_FLOPS 1e300 /* finite */

static bool has_body(const regal_onnx_node *node) {
  for (size_t i = 0; i < node->n_attribute; i++)
    if (node->attribute[i]->g || node->attribute[i]->n_graphs)
      return true;
  return false;
}

/* Whether the inputs from `first` on are known beforehand. */
static bool are_constant(const regal_onnx_call *call, size_t first) {
  for (size_t i = first; i < call->node->n_input; i++) {
    const regal_onnx_value *value = regal_onnx_in(call, i);
    if (value && !value->constant)
      return false;
  }
  return true;
}

/* -- Folding --------------------------------------------------------------- */

static bool is_folded(const regal_onnx_call *call) {
  const regal_onnx_value *first = regal_onnx_in(call, 0);
  if (call->traits & REGAL_ONNX_RANDOM || has_body(call->node))
    return false;
  if (call->traits & REGAL_ONNX_OF_SHAPE && first && first->shaped)
    return true;
  return call->node->n_input ? are_constant(call, 0)
                             : regal_onnx_is(call->node, "Constant");
}

/* A tensor that stands for the attribute of a Constant: value_int and the
 * like. */
static regal_status make_tensor(regal_onnx *onnx, int type, int64_t *numbers,
                                size_t count, bool is_list,
                                regal_onnx_tensor **tensor) {
  *tensor = regal_arena_alloc(&onnx->arena, 1, sizeof **tensor);
  int64_t *dims = regal_arena_alloc(&onnx->arena, 1, sizeof *dims);
  if (!*tensor || !dims)
    return regal_fail_memory(onnx->context);
  regal_onnx__tensor_proto__init(*tensor);
  *dims = (int64_t)count;
  (*tensor)->data_type = type;
  (*tensor)->dims = dims;
  (*tensor)->n_dims = is_list;
  (*tensor)->int64_data = numbers;
  (*tensor)->n_int64_data = numbers ? count : 0;
  return REGAL_OK;
}

static regal_status set_constant(regal_onnx *onnx, uint32_t value,
                                 regal_onnx_attribute *content) {
  enum {
    FLOAT = REGAL_ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT,
    INT64 = REGAL_ONNX__TENSOR_PROTO__DATA_TYPE__INT64,
    STRING = REGAL_ONNX__TENSOR_PROTO__DATA_TYPE__STRING
  };
  const struct {
    const char *name;
    int type;
    int64_t *numbers; /* of the others the content does not matter */
    size_t count;
    bool is_list;
  } kinds[] = {{"value_int", INT64, &content->i, 1, false},
               {"value_ints", INT64, content->ints, content->n_ints, true},
               {"value_float", FLOAT, NULL, 1, false},
               {"value_floats", FLOAT, NULL, content->n_floats, true},
               {"value_string", STRING, NULL, 1, false},
               {"value_strings", STRING, NULL, content->n_strings, true}};
  regal_onnx_tensor *tensor = content->t;
  if (content->sparse_tensor)
    tensor = content->sparse_tensor->values;
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (!strcmp(content->name, kinds[i].name))
      REGAL_TRY(make_tensor(onnx, kinds[i].type, kinds[i].numbers,
                            kinds[i].count, kinds[i].is_list, &tensor));
  return tensor ? regal_onnx_set_tensor(onnx, value, tensor) : REGAL_OK;
}

static void set_constants(const regal_onnx_call *call, size_t first) {
  for (size_t i = first; i < call->node->n_output; i++)
    if (call->outputs[i] != REGAL_NONE)
      call->onnx->values[call->outputs[i]].constant = true;
}

static regal_status fold(const regal_onnx_call *call) {
  regal_onnx *onnx = call->onnx;
  const regal_onnx_node *node = call->node;
  onnx->counts.folded++;
  set_constants(call, 0);
  if (!regal_onnx_out(call, 0))
    return REGAL_OK;
  const regal_onnx_value *first = regal_onnx_in(call, 0);
  if (regal_onnx_is(node, "Constant"))
    for (size_t i = 0; i < node->n_attribute; i++)
      REGAL_TRY(set_constant(onnx, call->outputs[0], node->attribute[i]));
  if (call->traits & REGAL_ONNX_OF_SHAPE && first && first->shaped &&
      !regal_onnx_out(call, 0)->shaped) {
    int64_t rank = first->rank;
    return regal_onnx_set_shape(onnx, call->outputs[0],
                                REGAL_ONNX__TENSOR_PROTO__DATA_TYPE__INT64,
                                &rank, regal_onnx_is(node, "Shape") ? 1 : 0);
  }
  return regal_onnx_infer_own(call);
}

/* -- Views ----------------------------------------------------------------- */

/* Dropout is one in inference: its third input, if there is one, is false. */
static bool is_view(const regal_onnx_call *call) {
  int64_t training = 0;
  if (!(call->traits & REGAL_ONNX_VIEW) || !regal_onnx_in(call, 0) ||
      !regal_onnx_out(call, 0) || !are_constant(call, 1))
    return false;
  const regal_onnx_value *mode = regal_onnx_in(call, 2);
  if (!regal_onnx_is(call->node, "Dropout") || !mode)
    return true;
  return regal_onnx_integer(mode, &training) && !training;
}

static regal_status see(const regal_onnx_call *call) {
  regal_onnx *onnx = call->onnx;
  const regal_onnx_value *first = regal_onnx_in(call, 0);
  regal_onnx_value *output = &onnx->values[call->outputs[0]];
  onnx->counts.views++;
  output->root = first->root;
  output->constant = first->constant;
  set_constants(call, 1); /* Dropout's mask: true everywhere */
  REGAL_TRY(regal_onnx_infer_own(call));
  regal_onnx_need_size(onnx, call->outputs[0]);
  return REGAL_OK;
}

/* -- Ops ------------------------------------------------------------------- */

regal_status regal_onnx_add_read(regal_onnx *onnx, uint32_t value) {
  uint32_t root = onnx->values[value].root;
  const regal_onnx_value *read = &onnx->values[root];
  if (!read->constant && read->scope != REGAL_ONNX_MAIN)
    return REGAL_OK;
  if (read->constant)
    regal_onnx_need_size(onnx, root);
  if (!REGAL_RESERVE(onnx->context, onnx->reads, onnx->read_count,
                     onnx->read_capacity))
    return regal_fail_memory(onnx->context);
  onnx->reads[onnx->read_count++] = root;
  return REGAL_OK;
}

static regal_number number_of(const regal_onnx_call *call) {
  const regal_onnx_value *value = regal_onnx_in(call, 0);
  if (!value)
    value = regal_onnx_out(call, 0);
  unsigned bits = value ? regal_onnx_bits(value->type) : 0;
  switch (value ? value->type : 0) {
  case REGAL_ONNX__TENSOR_PROTO__DATA_TYPE__DOUBLE:
  case REGAL_ONNX__TENSOR_PROTO__DATA_TYPE__COMPLEX128:
    return REGAL_NUMBER_FP64;
  case REGAL_ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT16:
    return REGAL_NUMBER_FP16;
  case REGAL_ONNX__TENSOR_PROTO__DATA_TYPE__BFLOAT16:
    return REGAL_NUMBER_BF16;
  case REGAL_ONNX__TENSOR_PROTO__DATA_TYPE__BOOL:
    return REGAL_NUMBER_FP32;
  default:
    return bits && bits <= 8 ? REGAL_NUMBER_INT8 : REGAL_NUMBER_FP32;
  }
}

/* What an op reads and writes, in bytes. */
static double touched_bytes(const regal_onnx_call *call) {
  double bytes = 0;
  for (size_t i = 0; i < call->node->n_output; i++) {
    const regal_onnx_value *value = regal_onnx_out(call, i);
    bytes += value ? (double)value->bytes : 0;
  }
  double written = bytes;
  for (size_t i = 0; i < call->node->n_input; i++) {
    const regal_onnx_value *value = regal_onnx_in(call, i);
    double read = value ? (double)value->bytes : 0;
    bool part = i == 0 && call->traits & REGAL_ONNX_READS_PART;
    bytes += part && written < read ? written : read;
  }
  return bytes;
}

static regal_status cost(const regal_onnx_call *call, regal_onnx_work *work) {
  regal_onnx *onnx = call->onnx;
  double flops = call->row ? call->row->flops(call) : 0;
  if (!call->row)
    regal_onnx_count(&onnx->counts.unknown_types, call->node->op_type);
  if (!(flops >= 0 && flops < MOST_FLOPS)) {
    regal_onnx_count(&onnx->counts.unshaped_ops,
                     regal_onnx_node_name(call->node));
    flops = 0;
  }
  work->flops = flops;
  work->launch_ns = (double)onnx->roofline.launch_ns;
  if (!regal_roofline_time(&onnx->roofline, number_of(call), flops,
                           touched_bytes(call), &work->run_ns))
    return regal_onnx_fail(onnx, "the run time is beyond 2^62 ns");
  return REGAL_OK;
}

/* -- The node -------------------------------------------------------------- */

/* In a body its values live in the memory of the op that the body belongs to:
 * at least those of one of its nodes at a time. */
static void hold(const regal_onnx_call *call, regal_onnx_work *work) {
  const regal_onnx_value *values = call->onnx->values;
  size_t count = call->node->n_input + call->node->n_output;
  for (size_t i = 0; i < count; i++) {
    uint32_t value = call->inputs[i]; /* outputs come right behind */
    if (value == REGAL_NONE || values[value].constant ||
        values[values[value].root].scope == REGAL_ONNX_MAIN)
      continue;
    if (values[value].bytes < REGAL_MOST_TOTAL - work->temporary_bytes)
      work->temporary_bytes += values[value].bytes;
  }
}

static regal_status run(const regal_onnx_call *call, regal_onnx_work *work) {
  work->is_op = true;
  work->may_reuse = call->traits & REGAL_ONNX_ELEMENTWISE;
  REGAL_TRY(regal_onnx_infer_own(call));
  for (size_t i = 0; i < call->node->n_output; i++)
    if (call->outputs[i] != REGAL_NONE)
      regal_onnx_need_size(call->onnx, call->outputs[i]);
  for (size_t i = 0; i < call->node->n_input; i++)
    if (call->inputs[i] != REGAL_NONE)
      REGAL_TRY(regal_onnx_add_read(call->onnx, call->inputs[i]));
  if (has_body(call->node))
    REGAL_TRY(regal_onnx_run_bodies(call, work));
  else
    REGAL_TRY(cost(call, work));
  if (call->scope != REGAL_ONNX_MAIN)
    hold(call, work);
  return REGAL_OK;
}

regal_status regal_onnx_interpret(const regal_onnx_call *call,
                                  regal_onnx_work *work) {
  if (is_folded(call))
    return fold(call);
  if (is_view(call))
    return see(call);
  return run(call, work);
}
