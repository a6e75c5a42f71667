#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the small models of tests/unit/test_onnx_shapes.c, which are
committed beside it: make_shape_models.py FOLDER. Needs the package onnx."""
import pathlib
import sys

import numpy
from onnx import TensorProto, helper, numpy_helper, save_model

FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64


def value(name, shape, kind=FLOAT):
    return helper.make_tensor_value_info(name, kind, shape)


def numbers(name, *items):
    return numpy_helper.from_array(numpy.array(items, numpy.int64), name)


def weights(name, *shape):
    return numpy_helper.from_array(numpy.zeros(shape, numpy.float32), name)


def model(nodes, inputs, outputs, initializers=(), opset=13, **more):
    graph = helper.make_graph(nodes, "g", inputs, outputs, initializers)
    return helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8,
        producer_name="make_shape_models.py", **more)


def chain(batch_size=7):
    """A small network that computes with the size of its batch."""
    node = helper.make_node
    return model(
        [node("Conv", ["x", "w"], ["conv"], pads=[1, 1, 1, 1]),
         node("Relu", ["conv"], ["relu"]),
         node("Shape", ["relu"], ["shape"]),
         node("Gather", ["shape", "zero"], ["batch"], axis=0),
         node("Mul", ["batch", "four"], ["rows"]),
         node("Concat", ["rows", "minus_one"], ["target"], axis=0),
         node("Reshape", ["relu", "target"], ["matrix"]),
         node("MatMul", ["matrix", "m"], ["y"])],
        [value("x", [batch_size, 3, 8, 8])], [value("y", None)],
        [weights("w", 2, 3, 3, 3), numbers("zero", 0), numbers("four", 4),
         numbers("minus_one", -1), weights("m", 32, 5)])


def chain_with_name():
    """The same, where the size is a name."""
    return chain("batch_size")


def older():
    """The size of the batch as PyTorch writes it for opset 11, and an output
    with a -1 for what is not known, as Paddle writes it."""
    node = helper.make_node
    return model(
        [node("Shape", ["x"], ["shape"]),
         node("Gather", ["shape", "zero"], ["batch"], axis=0),
         node("Unsqueeze", ["batch"], ["rows"], axes=[0]),
         node("Concat", ["rows", "minus_one"], ["target"], axis=0),
         node("Dropout", ["x"], ["same"], ratio=0.5),
         node("Reshape", ["same", "target"], ["matrix"]),
         node("Split", ["matrix"], ["left", "right"], axis=1, split=[64, 128]),
         node("ReduceSum", ["right"], ["sum"], axes=[1], keepdims=0),
         node("Identity", ["left"], ["y"])],
        [value("x", [7, 3, 8, 8])], [value("y", [-1, 64]), value("sum", [7])],
        [numpy_helper.from_array(numpy.array(0), "zero"),
         numbers("minus_one", -1)], opset=11)


def much_older():
    """The same for opset 9, where Slice and Pad have attributes only."""
    node = helper.make_node
    return model(
        [node("Shape", ["x"], ["shape"]),
         node("Slice", ["shape"], ["rows"], axes=[0], starts=[0], ends=[1]),
         node("Concat", ["rows", "minus_one"], ["target"], axis=0),
         node("Pad", ["x"], ["wide"], pads=[0, 0, 0, 1, 0, 0, 0, 1],
              value=1.0),
         node("Clip", ["wide"], ["bounded"], min=0.0, max=6.0),
         node("Reshape", ["bounded", "target"], ["y"])],
        [value("x", [7, 3, 8, 8])], [value("y", ["n", "m"])],
        [numbers("minus_one", -1)], opset=9)


def older_with_resize():
    """Inputs of Resize are others since opset 11: this one is not raised."""
    node = helper.make_node
    return model(
        [node("Resize", ["x", "scales"], ["large"]),
         node("Shape", ["large"], ["shape"]),
         node("Reshape", ["large", "shape"], ["y"])],
        [value("x", [1, 2, 3, 4])], [value("y", None)],
        [numpy_helper.from_array(numpy.array([1, 1, 2, 2], numpy.float32),
                                 "scales")], opset=10)


def older_contradiction():
    """Only when sizes are followed does the shape of the output prove wrong,
    which onnxruntime does not mind either."""
    written = older()
    written.graph.output[0].CopyFrom(value("y", [7, 8, 8]))
    return written


def newer():
    """Ops as they are after opset 17, which libonnx 1.12 does not know."""
    node = helper.make_node
    return model(
        [node("ReduceMean", ["x", "axes"], ["mean"], keepdims=0),
         node("ReduceMax", ["x"], ["all"], keepdims=1),
         node("ReduceMin", ["x", "unknown"], ["some"], keepdims=1),
         node("Gelu", ["x"], ["gelu"], approximate="tanh"),
         node("GroupNormalization", ["x", "s", "s"], ["norm"], num_groups=2),
         node("Cast", ["norm"], ["cast"], to=TensorProto.FLOAT16, saturate=1),
         node("Split", ["x"], ["left", "right"], axis=1, num_outputs=2),
         node("Relu", ["left"], ["after"]),
         node("Split", ["x"], ["uneven", "a", "b"], axis=1, num_outputs=3)],
        [value("x", [2, 4, 6]), value("unknown", [1], INT64)],
        [value(name, None) for name in ("mean", "all", "some", "gelu", "after",
                                        "right", "uneven")]
        + [value("cast", None, TensorProto.FLOAT16)],
        [numbers("axes", 1), weights("s", 4)], opset=21)


def newer_type():
    """DequantizeLinear returns the type of its scale since opset 19."""
    half = numpy_helper.from_array(numpy.ones((), numpy.float16), "scale")
    node = helper.make_node
    return model([node("DequantizeLinear", ["x", "scale"], ["y"]),
                  node("Relu", ["y"], ["z"])],
                 [value("x", [2, 3], TensorProto.INT8)],
                 [value("y", [2, 3], TensorProto.FLOAT16),
                  value("z", None, TensorProto.FLOAT16)], [half], opset=21)


def quantised():
    """Four bits by blocks, 16-bit floats of scales, and onnxruntime's own ops,
    of which nothing is declared."""
    half = numpy_helper.from_array(numpy.ones((), numpy.float16), "scale")
    zero = helper.make_tensor("zero", TensorProto.INT4, [], [0])
    short = helper.make_tensor("short", TensorProto.INT16, [], [0])
    node = helper.make_node
    made = model(
        [node("QuantizeLinear", ["x", "scale", "zero"], ["q"], block_size=2),
         node("DequantizeLinear", ["q", "scale", "zero"], ["d"], block_size=2),
         node("Transpose", ["d"], ["t"], perm=[1, 0]),
         node("QuantizeLinear", ["t", "scale", "short"], ["r"],
              domain="com.microsoft"),
         node("DequantizeLinear", ["r", "scale", "short"], ["y"],
              domain="com.microsoft")],
        [value("x", [2, 3], TensorProto.FLOAT16)], [value("y", None)],
        [half, zero, short], opset=21)
    made.graph.output[0].type.Clear()
    made.opset_import.append(helper.make_opsetid("com.microsoft", 1))
    return made


def listed_axes():
    """Axes as a list of a Constant, as recent exporters write them."""
    node = helper.make_node
    return model([node("Constant", [], ["axes"], value_ints=[0, 2]),
                  node("ReduceMean", ["x", "axes"], ["y"], keepdims=0)],
                 [value("x", [2, 3, 4])], [value("y", None)], opset=18)


def contradiction():
    return model([helper.make_node("Relu", ["x"], ["y"])],
                 [value("x", [2, 3])], [value("y", [2, 4])])


def left_out_zero():
    """As a writer with the proto3 schema has it: Flatten's axis is 0."""
    written = model([helper.make_node("Flatten", ["x"], ["y"], axis=0)],
                    [value("x", [2, 3, 4])], [value("y", None)])
    written.graph.node[0].attribute[0].ClearField("i")
    return written


def domains():
    """ONNX's own domain under its other name, and one that is not imported."""
    return model(
        [helper.make_node("Relu", ["x"], ["y"], domain="ai.onnx"),
         helper.make_node("Secret", ["y"], ["z"], domain="com.example")],
        [value("x", [5])], [value("y", None), value("z", None)])


def endless_function():
    """A function that calls itself."""
    call = helper.make_node("Self", ["x"], ["y"], domain="own")
    imports = [helper.make_opsetid("", 13), helper.make_opsetid("own", 1)]
    function = helper.make_function("own", "Self", ["x"], ["y"], [call],
                                    imports)
    written = model([call], [value("x", [1])], [value("y", None)],
                    functions=[function])
    written.opset_import.append(imports[1])
    return written


def nested_functions(depth):
    """Functions that call the next one twice: 2^depth bodies, inlined."""
    imports = [helper.make_opsetid("", 13), helper.make_opsetid("own", 1)]
    functions = []
    for i in range(depth):
        nodes = [helper.make_node("Relu", ["x"], ["y"])]
        if i + 1 < depth:
            nodes = [helper.make_node(f"F{i + 1}", ["x"], ["a"], domain="own"),
                     helper.make_node(f"F{i + 1}", ["a"], ["y"], domain="own")]
        functions.append(helper.make_function("own", f"F{i}", ["x"], ["y"],
                                              nodes, imports))
    written = model([helper.make_node("F0", ["x"], ["y"], domain="own")],
                    [value("x", [1])], [value("y", None)],
                    functions=functions)
    written.opset_import.append(imports[1])
    return written


def slow_functions():
    """As many as are allowed: some seconds."""
    return nested_functions(19)


def many_functions():
    """More than can be inlined."""
    return nested_functions(30)


def reshape_by_doubling():
    """The shape is computed, from 2^40 numbers."""
    nodes = [helper.make_node("Shape", ["x"], ["c0"])]
    for i in range(40):
        nodes.append(helper.make_node("Concat", [f"c{i}"] * 2, [f"c{i + 1}"],
                                      axis=0))
    nodes.append(helper.make_node("Reshape", ["x", "c40"], ["y"]))
    return model(nodes, [value("x", [1])], [value("y", None)])


def zip_map():
    """A classifier that returns maps, which have no shape."""
    ml = "ai.onnx.ml"
    entry = helper.make_map_type_proto(
        INT64, helper.make_tensor_type_proto(FLOAT, []))
    maps = helper.make_value_info("maps", helper.make_sequence_type_proto(entry))
    written = model(
        [helper.make_node("LinearClassifier", ["x"], ["label", "scores"],
                          "classify", domain=ml, classlabels_ints=[0, 1, 2],
                          coefficients=[1.0] * 6, intercepts=[0.0] * 3),
         helper.make_node("Normalizer", ["scores"], ["normal"], "normalize",
                          domain=ml, norm="L1"),
         helper.make_node("ZipMap", ["normal"], ["maps"], "zip", domain=ml,
                          classlabels_int64s=[0, 1, 2])],
        [value("x", [3, 2])], [value("label", [3], INT64), maps])
    written.opset_import.append(helper.make_opsetid(ml, 1))
    return written


def doubling():
    """Each Concat doubles what data propagation has to carry."""
    nodes = [helper.make_node("Shape", ["x"], ["c0"])]
    for i in range(26):
        nodes.append(helper.make_node("Concat", [f"c{i}"] * 2, [f"c{i + 1}"],
                                      axis=0))
    return model(nodes, [value("x", [1])], [value("c26", None, INT64)])


def main(folder):
    for make in (chain, chain_with_name, older, much_older,
                 older_with_resize, older_contradiction, newer, newer_type,
                 quantised, listed_axes, contradiction, left_out_zero, domains,
                 endless_function, doubling, slow_functions, many_functions,
                 reshape_by_doubling, zip_map):
        save_model(make(), str(pathlib.Path(folder) / f"{make.__name__}.onnx"))


if __name__ == "__main__":
    main(sys.argv[1])
