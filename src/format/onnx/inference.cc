/* SPDX-License-Identifier: Apache-2.0 */
/* ONNX's own shape inference, from Debian's libonnx (1.12 in Debian 12). The
 * one file in C++: it is compiled only where libonnx is found.
 *
 * Inference works on a copy of the model that has been made fit for it; only
 * what it found out comes back. It is not made for hostile files (it recurses
 * without end, multiplies memory), so shapes.c runs it in a process of its
 * own. Memory here is C++'s, not the context's, for the same reason.
 */
#include <climits>
#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include <google/protobuf/io/zero_copy_stream_impl.h>
#include <google/protobuf/stubs/logging.h>
#include <onnx/onnx_pb.h>
#include <onnx/shape_inference/implementation.h>

#include "format/onnx/inference.h"

namespace {

using onnx::AttributeProto;
using onnx::GraphProto;
using onnx::ModelProto;
using onnx::NodeProto;
using onnx::OpSchema;
using onnx::OpSchemaRegistry;
using onnx::TensorProto;
using onnx::TypeProto;

/* An error in the model, for the user. */
struct bad_model : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/* -- Ops that are newer than the library ---------------------------------- */

/* Newer ops whose first output is like their first input. */
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
  drop_harmless_attributes(node);
  const OpSchema *schema =
      OpSchemaRegistry::Schema(node->op_type(), newest, "");
  if (schema == nullptr && is_newer_and_keeps_shape(node->op_type())) {
    become_identity(node);
  } else if (schema != nullptr && !fits(*node, *schema) &&
             !axes.to_attribute(node)) {
    node->set_op_type("NewerThan" + std::to_string(newest));
  }
}

/* -- A model that the library accepts ------------------------------------- */

int newest_opset() {
  return OpSchemaRegistry::DomainToVersionRange::Instance().Map().at("").second;
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
    if (scope->newer && node.domain().empty())
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

/* Only the newest ops follow sizes that are computed (Shape, Gather, Mul, ...
 * Reshape). From opset 13 on, where axes became inputs, hardly any op has
 * changed its meaning; what has, does not fit. */
void raise_opset(ModelProto *model, int newest) {
  for (auto &import : *model->mutable_opset_import())
    if (import.domain().empty() && import.version() >= 13 &&
        import.version() < newest && all_fit(model->graph(), newest))
      import.set_version(newest);
}

/* Whether the model is newer than the library. */
bool make_fit(ModelProto *model) {
  scope in_model = open_scope(model->mutable_opset_import());
  make_tensors(model->mutable_graph());
  make_nodes_fit(&in_model, axes_of_reductions(model->graph()),
                 model->mutable_graph());
  raise_opset(model, in_model.newest);
  for (auto &function : *model->mutable_functions()) {
    scope in_function = open_scope(function.mutable_opset_import());
    make_tensors(&function);
    make_nodes_fit(&in_function, axes_of_reductions(function), &function);
  }
  return in_model.newer;
}

/* -- Functions of the model ----------------------------------------------- */

/* The library infers a function's body at each call. Functions that call each
 * other twice make that 2^depth bodies, from a file of a few bytes. */
class inlining {
public:
  explicit inlining(const ModelProto &model) {
    for (const onnx::FunctionProto &function : model.functions())
      functions_[function.domain() + ':' + function.name()].body = &function;
    if (!functions_.empty())
      count(model.graph(), 0);
  }

private:
  static constexpr uint64_t most_nodes = 1000000;
  static constexpr int most_depth = 200;

  struct entry {
    const onnx::FunctionProto *body = nullptr;
    uint64_t nodes = 0; /* with those of the functions that it calls */
    bool entered = false;
  };

  uint64_t count_call(entry *called, int depth) {
    if (called->nodes == 0) {
      if (called->entered || depth == most_depth)
        throw bad_model("function " + called->body->name() +
                        (called->entered ? " calls itself"
                                         : " is called too deep in others"));
      called->entered = true;
      called->nodes = 1 + count(*called->body, depth + 1);
    }
    return called->nodes;
  }

  template <class Graph> uint64_t count(const Graph &graph, int depth) {
    uint64_t nodes = 0;
    for (const NodeProto &node : graph.node()) {
      auto found = functions_.find(node.domain() + ':' + node.op_type());
      nodes +=
          found == functions_.end() ? 1 : count_call(&found->second, depth);
      for (const AttributeProto &attribute : node.attribute()) {
        if (attribute.has_g())
          nodes += count(attribute.g(), depth);
        for (const GraphProto &body : attribute.graphs())
          nodes += count(body, depth);
      }
      if (nodes > most_nodes)
        throw bad_model("the functions of the model, inlined, have more than " +
                        std::to_string(most_nodes) + " nodes");
    }
    return nodes;
  }

  std::unordered_map<std::string, entry> functions_;
};

/* -- Inference ------------------------------------------------------------ */

/* The op of "... (op_type:Relu, node name: x): ..."; "" if none is named. */
std::string op_of_error(const std::string &message) {
  const std::string before = "(op_type:";
  const size_t at = message.find(before);
  if (at == std::string::npos)
    return "";
  const size_t begin = at + before.size();
  return message.substr(begin, message.find_first_of(",)", begin) - begin);
}

/* The library has no shapes for maps (of ZipMap, say) and fails on them. */
bool is_limit_of_library(const std::string &message) {
  return message.find("type case unsupported") != std::string::npos;
}

/* Ops of no domain that is known are passed over. */
bool disable(const std::string &op, bool in_any_domain, GraphProto *graph) {
  bool found = false;
  for (NodeProto &node : *graph->mutable_node())
    if (node.op_type() == op && (in_any_domain || node.domain().empty())) {
      node.set_op_type("Disabled");
      found = true;
    }
  return found;
}

/* Shapes in the file that contradict what the library infers are an error of
 * the file; but where the op may have changed since (DequantizeLinear did), the
 * file is right, and the op is left out. So is one that the library cannot
 * infer at all. */
void infer_fit(ModelProto *model, bool newer, bool follow_sizes) {
  const ModelProto before = *model;
  const onnx::ShapeInferenceOptions options(
      /* check_type */ false, /* strict */ 0, follow_sizes);
  try {
    onnx::shape_inference::InferShapes(*model, OpSchemaRegistry::Instance(),
                                       options);
  } catch (const onnx::InferenceError &error) {
    const bool limit = is_limit_of_library(error.what());
    *model = before;
    if (!(newer || limit) ||
        !disable(op_of_error(error.what()), limit, model->mutable_graph()))
      throw;
    infer_fit(model, newer, follow_sizes);
  }
}

void infer(ModelProto *model, bool follow_sizes) {
  ModelProto copy = *model;
  const bool newer = make_fit(&copy);
  const inlining checked(copy); /* with the domains as the library sees them */
  infer_fit(&copy, newer, follow_sizes);
  GraphProto *from = copy.mutable_graph(), *to = model->mutable_graph();
  to->mutable_value_info()->Swap(from->mutable_value_info());
  to->mutable_output()->Swap(from->mutable_output());
}

/* -- In and out ----------------------------------------------------------- */

void run(const void *bytes, size_t size, bool follow_sizes, int file) {
  ModelProto model;
  /* What protobuf says of errors by itself goes to stderr. */
  google::protobuf::SetLogHandler(nullptr);
  if (size > INT_MAX)
    throw bad_model("the file is larger than 2 GiB, which is protobuf's limit");
  if (!model.ParseFromArray(bytes, static_cast<int>(size)))
    throw bad_model("this is no ONNX model (a protobuf ModelProto)");
  infer(&model, follow_sizes);
  google::protobuf::io::FileOutputStream out(file);
  if (!model.SerializeToZeroCopyStream(&out) || !out.Flush())
    throw bad_model("the inferred shapes could not be handed over");
}

} // namespace

int64_t regal_onnx_newest_opset(void) {
  try {
    return newest_opset();
  } catch (...) {
    return 0;
  }
}

regal_status regal_onnx_run_inference(const void *model, size_t size,
                                      bool follow_sizes, int file,
                                      char *message, size_t capacity) {
  try {
    run(model, size, follow_sizes, file);
    return REGAL_OK;
  } catch (const std::bad_alloc &) {
    snprintf(message, capacity, "out of memory");
    return REGAL_NO_MEMORY;
  } catch (const std::exception &error) {
    snprintf(message, capacity, "%s", error.what());
  } catch (...) {
    snprintf(message, capacity, "unknown error");
  }
  return REGAL_BAD_INPUT;
}
