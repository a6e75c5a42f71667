/* SPDX-License-Identifier: Apache-2.0 */
/* Models of older and newer opsets, made fit for the one that the library knows
 * best. */
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <onnx/defs/schema.h>
#include <onnx/defs/tensor_proto_util.h>

#include "format/onnx_shapes/inference.h"
#include "format/onnx_shapes/opsets.h"

namespace {

using onnx::AttributeProto;
using onnx::GraphProto;
using onnx::ModelProto;
using onnx::NodeProto;
using onnx::OpSchema;
using onnx::OpSchemaRegistry;
using onnx::TensorProto;

/* -- Ops that are newer than the library ---------------------------------- */

/* Ops since opset 18 whose first output is like their first input. Libraries
 * that know them may not say so: GroupNormalization in 1.17. */
bool is_newer_and_keeps_shape(const std::string &op) {
  static const std::unordered_set<std::string> names = {
      "BitwiseNot", "Gelu",  "GroupNormalization",
      "Mish",       "Swish", "RMSNormalization"};
  return names.count(op) != 0;
}

/* Newer attributes that have no say in shapes. (Where Split's num_outputs does
 * not divide, the older Split infers nothing.) */
bool is_newer_and_harmless(const std::string &attribute) {
  static const std::unordered_set<std::string> names = {
      "antialias", "num_outputs", "round_mode", "saturate"};
  return names.count(attribute) != 0;
}

void become_identity(NodeProto *node) {
  node->set_op_type("Identity");
  node->clear_attribute();
  while (node->input_size() > 1)
    node->mutable_input()->RemoveLast();
  while (node->output_size() > 1)
    node->mutable_output()->RemoveLast();
}

/* QuantizeLinear and DequantizeLinear have the shape of their first input, and
 * the type of another one: of types and attributes that the library does not
 * know, or of another domain. CastLike is the same and takes any type. */
bool become_cast_like(NodeProto *node) {
  const bool quantize = node->op_type() == "QuantizeLinear";
  const int like = quantize ? 2 : 1;
  if (!(quantize || node->op_type() == "DequantizeLinear") ||
      node->input_size() <= like || node->input(like).empty())
    return false;
  node->set_op_type("CastLike");
  node->clear_domain();
  node->clear_attribute();
  node->set_input(1, node->input(like));
  while (node->input_size() > 2)
    node->mutable_input()->RemoveLast();
  return true;
}

/* Since opset 18 every reduction takes its axes as an input; before, most had
 * them as an attribute. */
class axes_of_reductions {
public:
  explicit axes_of_reductions(const onnx::FunctionProto &function) {
    add_constants(function.node());
  }
  explicit axes_of_reductions(const GraphProto &graph) {
    for (const TensorProto &tensor : graph.initializer())
      tensors_[tensor.name()] = &tensor;
    add_constants(graph.node());
  }

  bool to_attribute(NodeProto *node) const {
    if (node->op_type().compare(0, 6, "Reduce") != 0 || node->input_size() != 2)
      return false;
    if (!node->input(1).empty()) {
      auto found = tensors_.find(node->input(1));
      if (found == tensors_.end() ||
          found->second->data_type() != TensorProto::INT64)
        return false;
      AttributeProto *axes = node->add_attribute();
      axes->set_name("axes");
      axes->set_type(AttributeProto::INTS);
      for (int64_t axis : onnx::ParseData<int64_t>(found->second))
        axes->add_ints(axis);
      if (axes->ints_size() == 0)
        node->mutable_attribute()->RemoveLast();
    }
    node->mutable_input()->RemoveLast();
    return true;
  }

private:
  template <class Nodes> void add_constants(const Nodes &nodes) {
    for (const NodeProto &node : nodes)
      if (node.op_type() == "Constant" && node.output_size() == 1)
        for (const AttributeProto &attribute : node.attribute())
          if (attribute.name() == "value" && attribute.has_t())
            tensors_[node.output(0)] = &attribute.t();
  }

  std::unordered_map<std::string, const TensorProto *> tensors_;
};

/* Whether the op, as the schema knows it, can be what the node means. */
bool fits(const NodeProto &node, const OpSchema &schema) {
  if (node.input_size() > schema.max_input() ||
      node.output_size() > schema.max_output())
    return false;
  for (const AttributeProto &attribute : node.attribute())
    if (schema.attributes().count(attribute.name()) == 0)
      return false;
  return true;
}

void drop_harmless_attributes(NodeProto *node) {
  auto *attributes = node->mutable_attribute();
  for (int i = attributes->size(); i-- > 0;)
    if (is_newer_and_harmless(attributes->Get(i).name()))
      attributes->DeleteSubrange(i, 1);
}

/* The library would take the newest op that it knows and infer wrong shapes
 * where a newer one means something else. It is better to infer none: an op of
 * no domain that is known is passed over. */
void make_older(const axes_of_reductions &axes, int newest, NodeProto *node) {
  if (become_cast_like(node))
    return;
  drop_harmless_attributes(node);
  const OpSchema *schema =
      OpSchemaRegistry::Schema(node->op_type(), newest, "");
  if (schema != nullptr && !fits(*node, *schema) && !axes.to_attribute(node))
    node->set_op_type("NewerThan" + std::to_string(newest));
}

/* -- A model that the library accepts ------------------------------------- */

int newest_opset() {
  return static_cast<int>(regal_onnx_newest_opset());
}

/* Where nodes are: a model or a function of it with its imports, and whether it
 * imports newer ops than the library knows. */
struct scope {
  google::protobuf::RepeatedPtrField<onnx::OperatorSetIdProto> *imports;
  std::unordered_set<std::string> imported;
  int newest;
  bool newer;
};

/* Every domain must be imported, and "ai.onnx" is another name of "". */
void import_domain(scope *scope, NodeProto *node) {
  if (node->domain() == "ai.onnx")
    node->clear_domain();
  if (scope->imported.insert(node->domain()).second) {
    auto *import = scope->imports->Add();
    import->set_domain(node->domain());
    import->set_version(1);
  }
}

/* Writers with the proto3 schema leave out zeros, which the library, with
 * proto2, takes for "not given". */
void restore_zero(AttributeProto *attribute) {
  if (attribute->has_ref_attr_name() && !attribute->ref_attr_name().empty())
    return;
  if (attribute->type() == AttributeProto::INT && !attribute->has_i())
    attribute->set_i(0);
  else if (attribute->type() == AttributeProto::FLOAT && !attribute->has_f())
    attribute->set_f(0);
  else if (attribute->type() == AttributeProto::STRING && !attribute->has_s())
    attribute->set_s("");
}

/* A list of integers of a Constant becomes the tensor that the library looks
 * for when it follows sizes. */
void make_tensor(NodeProto *node) {
  if (node->op_type() != "Constant" || node->attribute_size() != 1)
    return;
  AttributeProto *attribute = node->mutable_attribute(0);
  const bool is_list = attribute->name() == "value_ints";
  if (!is_list && attribute->name() != "value_int")
    return;
  TensorProto *tensor = attribute->mutable_t();
  tensor->set_data_type(TensorProto::INT64);
  if (is_list)
    tensor->add_dims(attribute->ints_size());
  for (int64_t number : attribute->ints())
    tensor->add_int64_data(number);
  if (!is_list)
    tensor->add_int64_data(attribute->i());
  attribute->set_name("value");
  attribute->set_type(AttributeProto::TENSOR);
}

template <class Graph> void make_tensors(Graph *graph) {
  for (NodeProto &node : *graph->mutable_node()) {
    make_tensor(&node);
    for (AttributeProto &attribute : *node.mutable_attribute())
      if (attribute.has_g())
        make_tensors(attribute.mutable_g());
  }
}

template <class Graph>
void make_nodes_fit(scope *scope, const axes_of_reductions &axes,
                    Graph *graph) {
  for (NodeProto &node : *graph->mutable_node()) {
    import_domain(scope, &node);
    if (node.domain() == "com.microsoft")
      become_cast_like(&node);
    else if (node.domain().empty() && is_newer_and_keeps_shape(node.op_type()))
      become_identity(&node);
    else if (node.domain().empty() && scope->newer)
      make_older(axes, scope->newest, &node);
    for (AttributeProto &attribute : *node.mutable_attribute()) {
      restore_zero(&attribute);
      if (attribute.has_g())
        make_nodes_fit(scope, axes_of_reductions(attribute.g()),
                       attribute.mutable_g());
    }
  }
}

template <class Imports> scope open_scope(Imports *imports) {
  scope scope = {imports, {}, newest_opset(), false};
  for (auto &import : *imports) {
    if (import.domain() == "ai.onnx")
      import.clear_domain();
    scope.imported.insert(import.domain());
    if (import.domain().empty() && import.version() > scope.newest) {
      scope.newer = true;
      import.set_version(scope.newest);
    }
  }
  return scope;
}

bool all_fit(const GraphProto &graph, int newest) {
  for (const NodeProto &node : graph.node()) {
    const OpSchema *schema =
        OpSchemaRegistry::Schema(node.op_type(), newest, "");
    if (node.domain().empty() && (!schema || !fits(node, *schema)))
      return false;
    for (const AttributeProto &attribute : node.attribute())
      if (attribute.has_g() && !all_fit(attribute.g(), newest))
        return false;
  }
  return true;
}

/* -- Ops that are older than those that follow sizes ----------------------- */

/* What has become of attributes of an op since opset 9. */
struct changed_op {
  const char *name;
  std::vector<const char *> inputs;  /* became inputs, behind the first one */
  std::vector<const char *> dropped; /* became inputs with no say in shapes */
};

const changed_op *find_changed(const NodeProto &node) {
  static const std::vector<changed_op> changed = {
      {"Clip", {}, {"min", "max"}},
      {"Dropout", {}, {"ratio"}},
      {"Pad", {"pads"}, {"value"}},
      {"ReduceSum", {"axes"}, {}},
      {"Slice", {"starts", "ends", "axes"}, {}},
      {"Split", {"split"}, {}},
      {"Squeeze", {"axes"}, {}},
      {"Unsqueeze", {"axes"}, {}}};
  for (const changed_op &op : changed)
    if (node.op_type() == op.name)
      return &op;
  return nullptr;
}

int find_attribute(const NodeProto &node, const char *name) {
  int at = node.attribute_size();
  while (at-- > 0 && node.attribute(at).name() != name)
    continue;
  return at;
}

/* Moves an attribute of the node to an initializer that it reads. */
void make_input(GraphProto *graph, NodeProto *node, int at) {
  const AttributeProto &attribute = node->attribute(at);
  TensorProto *tensor = graph->add_initializer();
  tensor->set_name("regal:" + attribute.name() + ":" + node->output(0));
  tensor->set_data_type(TensorProto::INT64);
  tensor->add_dims(attribute.ints_size());
  for (int64_t number : attribute.ints())
    tensor->add_int64_data(number);
  node->add_input(tensor->name());
  node->mutable_attribute()->DeleteSubrange(at, 1);
}

void make_node_newer(GraphProto *graph, NodeProto *node) {
  const changed_op *op = node->domain().empty() ? find_changed(*node) : nullptr;
  if (!op || node->output_size() == 0 || node->input_size() != 1)
    return;
  for (const char *name : op->inputs) {
    const int at = find_attribute(*node, name);
    if (at < 0)
      break;
    make_input(graph, node, at);
  }
  for (const char *name : op->dropped) {
    const int at = find_attribute(*node, name);
    if (at >= 0)
      node->mutable_attribute()->DeleteSubrange(at, 1);
  }
}

void make_nodes_newer(GraphProto *graph) {
  for (NodeProto &node : *graph->mutable_node()) {
    make_node_newer(graph, &node);
    for (AttributeProto &attribute : *node.mutable_attribute())
      if (attribute.has_g())
        make_nodes_newer(attribute.mutable_g());
  }
}

/* Whether it has ops that were given other inputs, or another meaning. */
bool has_old_resize(const GraphProto &graph) {
  for (const NodeProto &node : graph.node()) {
    if (node.op_type() == "Resize" || node.op_type() == "Upsample")
      return true;
    for (const AttributeProto &attribute : node.attribute())
      if (attribute.has_g() && has_old_resize(attribute.g()))
        return true;
  }
  return false;
}

bool can_raise(const GraphProto &graph, int64_t version, int newest) {
  return version < newest &&
         (version >= 11 || (version >= 9 && !has_old_resize(graph)));
}

/* Some exporters write -1 for a dimension that is not known. */
template <class Values> void forget_negative_dims(Values *values) {
  for (auto &value : *values)
    if (value.type().tensor_type().has_shape())
      for (auto &dim : *value.mutable_type()
                            ->mutable_tensor_type()
                            ->mutable_shape()
                            ->mutable_dim())
        if (dim.dim_value() < 0)
          dim.clear_value();
}

} // namespace

bool regal_onnx_make_fit(ModelProto *model) {
  scope in_model = open_scope(model->mutable_opset_import());
  make_tensors(model->mutable_graph());
  make_nodes_fit(&in_model, axes_of_reductions(model->graph()),
                 model->mutable_graph());
  forget_negative_dims(model->mutable_graph()->mutable_value_info());
  forget_negative_dims(model->mutable_graph()->mutable_output());
  for (auto &function : *model->mutable_functions()) {
    scope in_function = open_scope(function.mutable_opset_import());
    make_tensors(&function);
    make_nodes_fit(&in_function, axes_of_reductions(function), &function);
  }
  return in_model.newer;
}

bool regal_onnx_raise_opset(ModelProto *model) {
  const int newest = newest_opset();
  GraphProto *graph = model->mutable_graph();
  for (auto &import : *model->mutable_opset_import()) {
    if (!import.domain().empty() ||
        !can_raise(*graph, import.version(), newest))
      continue;
    if (import.version() < 13)
      make_nodes_newer(graph);
    import.set_version(newest);
    return all_fit(*graph, newest);
  }
  return false;
}
