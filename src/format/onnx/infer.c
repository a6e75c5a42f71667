/* SPDX-License-Identifier: Apache-2.0 */
/* Shapes that the file does not have.
 *
 * ONNX's own inference knows ONNX's ops, but not those of other domains
 * (com.microsoft). The shapes of simple ones are inferred here; then ONNX's
 * inference, which stopped there, can go on from these: in turns, as long as
 * there is progress.
 */
#include "format/onnx/walk.h"

#include "graph/builder.h"

#define MOST_TURNS 16

/* -- Our own --------------------------------------------------------------- */

/* Gives output 0 a shape that needs no knowledge of ONNX's library. */
static regal_status set_own(const regal_onnx_call *call, int type,
                            const int64_t *dims, size_t rank) {
  regal_onnx *onnx = call->onnx;
  uint32_t value = call->outputs[0];
  if (onnx->values[value].type)
    type = onnx->values[value].type;
  REGAL_TRY(regal_onnx_set_shape(onnx, value, type, dims, rank));
  onnx->values[value].own_shape = onnx->values[value].shaped;
  return REGAL_OK;
}

/* The type that an element-wise op computes with: the first input's, except
 * the condition of Where. */
static int common_type(const regal_onnx_call *call) {
  const int boolean = REGAL_ONNX__TENSOR_PROTO__DATA_TYPE__BOOL;
  if (call->traits & REGAL_ONNX_BOOLEAN)
    return boolean;
  for (size_t i = 0; i < call->node->n_input; i++) {
    const regal_onnx_value *value = regal_onnx_in(call, i);
    if (value && value->type != boolean)
      return value->type;
  }
  return boolean;
}

static regal_status set_broadcast(const regal_onnx_call *call) {
  regal_onnx *onnx = call->onnx;
  size_t rank = 0;
  for (size_t i = 0; i < call->node->n_input; i++) {
    const regal_onnx_value *value = regal_onnx_in(call, i);
    if (value && !value->shaped)
      return REGAL_OK;
    if (value && value->rank > rank)
      rank = value->rank;
  }
  int64_t *dims = regal_arena_alloc(&onnx->arena, rank, sizeof *dims);
  if (!dims)
    return regal_fail_memory(onnx->context);
  for (size_t d = 0; d < rank; d++)
    dims[d] = 1;
  for (size_t i = 0; i < call->node->n_input; i++) {
    const regal_onnx_value *value = regal_onnx_in(call, i);
    for (size_t d = 0; value && d < value->rank; d++)
      if (value->dims[d] != 1)
        dims[rank - value->rank + d] = value->dims[d];
  }
  return set_own(call, common_type(call), dims, rank);
}

regal_status regal_onnx_infer_own(const regal_onnx_call *call) {
  const regal_onnx_value *first = regal_onnx_in(call, 0);
  const regal_onnx_value *output = regal_onnx_out(call, 0);
  if (!call->onnx->own_shapes || !call->row || !first || !output ||
      output->shaped)
    return REGAL_OK;
  if (call->traits & REGAL_ONNX_ELEMENTWISE)
    return set_broadcast(call);
  bool same = call->traits & REGAL_ONNX_LIKE_FIRST ||
              regal_onnx_is(call->node, "Identity") ||
              regal_onnx_is(call->node, "Dropout");
  if (!same || !first->shaped)
    return REGAL_OK;
  return set_own(call, first->type, first->dims, first->rank);
}

/* -- ONNX's ---------------------------------------------------------------- */

static regal_status make_info(regal_onnx *onnx, const regal_onnx_value *value,
                              RegalOnnx__ValueInfoProto **made) {
  struct {
    RegalOnnx__ValueInfoProto info;
    RegalOnnx__TypeProto type;
    RegalOnnx__TypeProto__Tensor tensor;
    RegalOnnx__TensorShapeProto shape;
  } *all = regal_arena_alloc(&onnx->arena, 1, sizeof *all);
  RegalOnnx__TensorShapeProto__Dimension **dims =
      regal_arena_alloc(&onnx->arena, value->rank, sizeof *dims);
  RegalOnnx__TensorShapeProto__Dimension *dim =
      regal_arena_alloc(&onnx->arena, value->rank, sizeof *dim);
  if (!all || !dims || !dim)
    return regal_fail_memory(onnx->context);
  regal_onnx__value_info_proto__init(&all->info);
  regal_onnx__type_proto__init(&all->type);
  regal_onnx__type_proto__tensor__init(&all->tensor);
  regal_onnx__tensor_shape_proto__init(&all->shape);
  for (uint32_t i = 0; i < value->rank; i++) {
    regal_onnx__tensor_shape_proto__dimension__init(&dim[i]);
    dim[i].value_case =
        REGAL_ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE;
    dim[i].dim_value = value->dims[i];
    dims[i] = &dim[i];
  }
  all->shape.n_dim = value->rank;
  all->shape.dim = dims;
  all->tensor.elem_type = value->type;
  all->tensor.shape = &all->shape;
  all->type.value_case = REGAL_ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE;
  all->type.tensor_type = &all->tensor;
  all->info.name = (char *)value->name;
  all->info.type = &all->type;
  *made = &all->info;
  return REGAL_OK;
}

static bool is_news(const regal_onnx_value *value) {
  return value->own_shape && value->scope == REGAL_ONNX_MAIN;
}

/* Adds the shapes that we have inferred to the model's value_info. */
static regal_status add_own_shapes(regal_onnx *onnx) {
  regal_onnx_graph *graph = onnx->model->graph;
  size_t count = graph->n_value_info;
  for (size_t i = 0; i < onnx->value_count; i++)
    count += is_news(&onnx->values[i]);
  RegalOnnx__ValueInfoProto **infos =
      regal_arena_alloc(&onnx->arena, count, sizeof *infos);
  if (!infos)
    return regal_fail_memory(onnx->context);
  size_t used = 0;
  for (size_t i = 0; i < onnx->value_count; i++)
    if (is_news(&onnx->values[i]))
      REGAL_TRY(make_info(onnx, &onnx->values[i], &infos[used++]));
  for (size_t i = 0; i < graph->n_value_info; i++) {
    uint32_t value =
        regal_onnx_local(onnx, REGAL_ONNX_MAIN, graph->value_info[i]->name);
    if (value == REGAL_NONE || !is_news(&onnx->values[value]))
      infos[used++] = graph->value_info[i];
  }
  graph->value_info = infos;
  graph->n_value_info = used;
  return REGAL_OK;
}

/* Puts the nodes, which are in the order of the walk or in that of the file,
 * in the other one. */
static regal_status rearrange(regal_onnx *onnx, bool as_walked) {
  regal_onnx_graph *graph = onnx->model->graph;
  RegalOnnx__NodeProto **nodes =
      regal_arena_alloc(&onnx->arena, graph->n_node, sizeof *nodes);
  if (!nodes)
    return regal_fail_memory(onnx->context);
  for (size_t i = 0; i < graph->n_node; i++)
    if (as_walked)
      nodes[i] = graph->node[onnx->order[i]];
    else
      nodes[onnx->order[i]] = graph->node[i];
  graph->node = nodes;
  return REGAL_OK;
}

/* Packs the model, has it inferred, and reads the result in its place. */
static regal_status infer_once(regal_onnx *onnx) {
  regal_text inferred;
  REGAL_TRY(rearrange(onnx, true));
  size_t size = regal_onnx__model_proto__get_packed_size(onnx->model);
  uint8_t *packed = regal_alloc(onnx->context, size, 1);
  if (!packed)
    return regal_fail_memory(onnx->context);
  regal_onnx__model_proto__pack(onnx->model, packed);
  regal_text_init(&inferred, onnx->context);
  regal_status status = regal_onnx_infer_shapes(
      onnx->context, onnx->path, packed, size, &onnx->budget, &inferred);
  regal_release(onnx->context, packed);
  if (status == REGAL_OK) {
    regal_arena_free(&onnx->arena);
    status = regal_onnx_read(onnx, inferred.bytes, inferred.size);
  }
  regal_text_free(&inferred);
  REGAL_TRY(status);
  REGAL_TRY(rearrange(onnx, false));
  REGAL_TRY(regal_onnx_set_sizes(onnx));
  return regal_onnx_walk(onnx);
}

static regal_status fail_missing(const regal_onnx *onnx) {
  const regal_onnx_names *missing = &onnx->counts.missing;
  return regal_fail(
      onnx->context, REGAL_BAD_INPUT,
      "%s: %llu tensor%s no shape, the first is %s; this regal was built "
      "without ONNX's shape inference: add shapes with "
      "onnx.shape_inference.infer_shapes, or build regal with libonnx",
      onnx->path, (unsigned long long)missing->count,
      missing->count == 1 ? " has" : "s have",
      regal_quote(missing->name[0]).text);
}

regal_status regal_onnx_infer(regal_onnx *onnx) {
  const uint64_t *missing = &onnx->counts.missing.count;
  bool can_infer = regal_onnx_known_opset() > 0;
  if (*missing && can_infer)
    REGAL_TRY(infer_once(onnx));
  for (int turn = 0; turn < MOST_TURNS && *missing; turn++) {
    uint64_t before = *missing;
    onnx->own_shapes = true;
    REGAL_TRY(regal_onnx_walk(onnx));
    if (!can_infer || !*missing || *missing == before)
      break;
    REGAL_TRY(add_own_shapes(onnx));
    REGAL_TRY(infer_once(onnx));
  }
  bool refused = *missing && !can_infer && !onnx->assumes_sizes;
  return refused ? fail_missing(onnx) : REGAL_OK;
}
