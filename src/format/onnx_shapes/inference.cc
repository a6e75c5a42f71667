/* SPDX-License-Identifier: Apache-2.0 */
/* ONNX's own shape inference, from Debian's libonnx (1.12 in Debian 12). This
 * and opsets.cc are in C++: they are compiled only where libonnx is found.
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

#include <google/protobuf/io/zero_copy_stream_impl.h>
#include <google/protobuf/stubs/logging.h>
#include <onnx/onnx_pb.h>
#include <onnx/shape_inference/implementation.h>

#include "format/onnx_shapes/inference.h"
#include "format/onnx_shapes/opsets.h"

namespace {

using onnx::AttributeProto;
using onnx::GraphProto;
using onnx::ModelProto;
using onnx::NodeProto;
using onnx::OpSchemaRegistry;

/* An error in the model, for the user. */
struct bad_model : std::runtime_error {
  using std::runtime_error::runtime_error;
};

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

/* With the ops that follow sizes; false where the model has none of them, or
 * they cannot be inferred. */
bool infer_raised(const ModelProto &model, bool newer, ModelProto *inferred) {
  *inferred = model;
  if (!regal_onnx_raise_opset(inferred))
    return false;
  try {
    infer_fit(inferred, newer, true);
  } catch (const onnx::InferenceError &) {
    return false;
  }
  return true;
}

void infer(ModelProto *model, bool follow_sizes) {
  ModelProto fit = *model, copy;
  const bool newer = regal_onnx_make_fit(&fit);
  const inlining checked(fit); /* with the domains as the library sees them */
  if (!follow_sizes || !infer_raised(fit, newer, &copy)) {
    copy = fit;
    infer_fit(&copy, newer, follow_sizes);
  }
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
    return OpSchemaRegistry::DomainToVersionRange::Instance()
        .Map()
        .at("")
        .second;
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
