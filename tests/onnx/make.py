#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the malformed ONNX models of this folder, one for each defect.

  make.py          writes NAME.onnx beside itself, and a good one,
                   tests/graphs/onnx/transformer.onnx
  make.py CORPUS   writes well-formed ones into a folder: seeds for the fuzzer

The message that each gives is in NAME.message; after a change, run test_onnx_parse
with REGAL_REFRESH=1 and review the diff.
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
sys.dont_write_bytecode = True
from wire import data, number, varint  # noqa: E402

FLOAT, INT64, BOOL = 1, 7, 9


# ONNX's messages.
def model(graph, ir_version=8):
    return number(1, ir_version) + data(7, graph) + data(8, number(2, 17))


def value(field, name, dims=None, elem=FLOAT):
    type_proto = b""
    if dims is not None:
        shape = b"".join(
            data(1, number(1, dim) if isinstance(dim, int) else data(2, dim))
            for dim in dims)
        type_proto = data(2, data(1, number(1, elem) + data(2, shape)))
    return data(field, data(1, name) + type_proto)


def take(name, dims=None, elem=FLOAT):
    return value(11, name, dims, elem)


def give(name, dims=None, elem=FLOAT):
    return value(12, name, dims, elem)


def info(name, dims=None, elem=FLOAT):
    return value(13, name, dims, elem)


def tensor(name, dims, elem=FLOAT, content=b""):
    return (b"".join(number(1, dim) for dim in dims) + number(2, elem) +
            data(8, name) + content)


def initializer(*arguments, **keywords):
    return data(5, tensor(*arguments, **keywords))


def node(op_type, inputs, outputs, name="", attributes=b"", domain=""):
    return data(1, b"".join(data(1, i) for i in inputs) +
                b"".join(data(2, o) for o in outputs) + data(3, name) +
                (data(4, op_type) if op_type else b"") + attributes +
                (data(7, domain) if domain else b""))


def graph_attribute(name, graph):
    return data(5, data(1, name) + data(6, graph) + number(20, 5))


RELU = node("Relu", ["x"], ["y"], "relu")
SMALL = take("x", [4]) + RELU + give("y", [4])


def deep(levels):
    graph = RELU
    for _ in range(levels):
        graph = node("If", ["x"], ["y"], "if",
                     graph_attribute("then_branch", graph))
    return model(take("x", [4]) + graph)


DEFECTS = {
    "no_graph": number(1, 8) + data(8, number(2, 17)),
    "no_nodes": model(take("x", [4]) + give("x")),
    "no_op_type": model(take("x", [4]) + node("", ["x"], ["y"], "odd")),
    "only_constants": model(initializer("w", [4]) +
                            node("Neg", ["w"], ["y"]) + give("y", [4])),
    "cut_in_graph": model(SMALL)[:20],
    "cut_in_version": b"\x08\x80",
    "version_overlong": b"\x08" + b"\x80" * 10 + b"\x01",
    "wire_type_of_graph": number(1, 8) + number(7, 3),
    "wire_type_of_name": model(take("x", [4]) + data(1, number(3, 7))),
    "wire_type_of_dims": model(data(5, varint(1 << 3 | 1) + b"\0" * 8)),
    "name_not_utf8": model(data(1, data(3, b"\xff\xfe"))),
    "name_zero_byte": model(data(1, data(3, b"a\0b"))),
    "length_lie": number(1, 8) + varint(7 << 3 | 2) + varint(1 << 31) + b"xx",
    "messages_too_deep": deep(40),
    "group_without_end": number(1, 8) + varint(100 << 3 | 3),
    "input_unknown": model(take("x", [4]) + node("Add", ["x", "z"], ["y"]) +
                           give("y", [4])),
    "cycle": model(take("x", [4]) +
                   node("Add", ["x", "z"], ["y"], "first") +
                   node("Neg", ["y"], ["z"], "second") +
                   info("z", [4]) + give("y", [4])),
    "input_its_own": model(take("x", [4]) +
                           node("Add", ["x", "y"], ["y"], "loop") +
                           give("y", [4])),
    "input_twice": model(take("x", [4]) + take("x", [4]) + RELU +
                         give("y", [4])),
    "input_nameless": model(take("", [4]) + SMALL),
    "initializer_twice": model(initializer("w", [4]) + initializer("w", [4]) +
                               SMALL),
    "sparse_without_values": model(data(15, b"") + SMALL),
    "output_twice": model(take("x", [4]) + RELU +
                          node("Neg", ["x"], ["y"], "again") +
                          give("y", [4])),
    "output_of_input": model(take("x", [4]) +
                             node("Neg", ["x"], ["x"], "neg")),
    "output_unknown": model(take("x", [4]) + RELU + info("y", [4]) +
                            give("z", [4])),
    "dimension_negative": model(initializer("w", [4, -3]) + SMALL),
    "tensor_too_large": model(initializer("w", [1 << 40, 1 << 40]) + SMALL),
    "total_too_large": model(
        take("x", [1 << 58]) + take("x2", [1 << 58]) + take("x3", [1 << 58]) +
        take("x4", [1 << 58]) + take("x5", [1 << 58]) + RELU +
        give("y", [4])),
    "run_time_too_large": model(
        take("x", [1 << 59]) +
        node("Conv", ["x", "w"], ["y"], "conv") +
        initializer("w", [1, 1 << 59]) + give("y", [1 << 59])),
    "loop_too_long": model(
        take("x", [4]) + initializer("m", [], INT64,
                                     number(7, (1 << 63) - 1)) +
        node("Loop", ["m", ""], ["y"], "loop", graph_attribute(
            "body", node("Neg", ["x"], ["t"]) + info("t", [4]) + give("t"))) +
        give("y", [4])),
    "body_input_unknown": model(
        take("x", [4], BOOL) +
        node("If", ["x"], ["y"], "if", graph_attribute(
            "then_branch", data(2, "branch") +
            node("Neg", ["nowhere"], ["t"], "neg") + info("t", [4]) +
            give("t"))) + give("y", [4])),
    "body_input_later": model(
        take("x", [4], BOOL) +
        node("If", ["x"], ["y"], "if", graph_attribute(
            "then_branch", data(2, "branch") +
            node("Neg", ["z"], ["t"], "first") +
            node("Neg", ["x"], ["z"], "second") + info("t", [4]) +
            info("z", [4]) + give("t"))) + give("y", [4])),
    "body_input_later_outside": model(
        take("x", [4], BOOL) +
        node("If", ["x"], ["y"], "if", graph_attribute(
            "then_branch", data(2, "branch") +
            node("Neg", ["z"], ["t"], "neg") + info("t", [4]) + give("t"))) +
        node("Neg", ["x"], ["z"], "later") + info("z", [4]) +
        give("y", [4])),
    "body_output_unknown": model(
        take("x", [4], BOOL) +
        node("If", ["x"], ["y"], "if", graph_attribute(
            "then_branch", data(2, "branch") + give("t"))) + give("y", [4])),
}

SEEDS = {
    "small": model(SMALL),
    "conv": model(take("x", ["batch", 3, 8, 8]) +
                  initializer("w", [4, 3, 3, 3]) +
                  node("Conv", ["x", "w"], ["c"], "conv") +
                  node("Relu", ["c"], ["r"]) +
                  node("Flatten", ["r"], ["f"]) +
                  info("c", ["batch", 4, 6, 6]) + info("r", [1, 4, 6, 6]) +
                  info("f", [1, 144]) + give("f")),
    "bodies": model(
        take("x", [4]) + take("b", [], BOOL) +
        initializer("m", [], INT64, number(7, 3)) +
        node("Loop", ["m", "b"], ["y"], "loop", graph_attribute(
            "body", node("Neg", ["x"], ["t"]) + info("t", [4]) +
            give("t"))) +
        node("If", ["b"], ["z"], "if", graph_attribute(
            "then_branch", node("Exp", ["y"], ["t"]) + info("t", [4]) +
            give("t")) + graph_attribute("else_branch", give("y"))) +
        info("y", [4]) + give("z", [4])),
    "einsum": model(
        take("x", [2, 3]) + initializer("w", [3, 5]) +
        node("Einsum", ["x", "w"], ["y"], "einsum", data(
            5, data(1, "equation") + data(4, "...j,jk->...k"))) +
        give("y", [2, 5])),
    "attention": model(
        take("q", [2, 5, 32]) + initializer("w", [32, 96]) +
        node("Attention", ["q", "w", "", "", ""], ["y"], "", data(
            5, data(1, "num_heads") + number(3, 4)), "com.microsoft") +
        give("y", [2, 5, 32])),
    "constants": model(
        take("x", [4, 6]) +
        node("Constant", [], ["k"], "", data(
            5, data(1, "value_ints") + number(8, 3) + number(8, 8))) +
        node("Constant", [], ["l"], "", data(
            5, data(1, "value") + data(5, tensor(
                "", [1], INT64, data(9, b"\2" + b"\0" * 7))))) +
        node("Shape", ["x"], ["s"]) + node("Mul", ["s", "k"], ["t"]) +
        node("Dropout", ["x", "", "l"], ["d", "mask"]) +
        node("Reshape", ["d", "t"], ["r"]) + node("Sum", ["r", "l"], ["y"]) +
        info("t", [2], INT64) + info("d", [4, 6]) + info("r", [3, 8]) +
        give("y", [3, 8])),
}


def ints(name, *values):
    return initializer(name, [len(values)], INT64,
                       b"".join(number(7, value) for value in values))


def attribute_ints(name, *values):
    return data(5, data(1, name) + b"".join(number(8, v) for v in values) +
                number(20, 7))


def transformer(hidden=256, heads=4):
    """One block, with names for the sizes of its input, and all shapes."""
    both, size = ["batch", "seq"], hidden // heads
    split = ["batch", heads, "seq", size]
    graph = data(2, "transformer") + take("x", both + [hidden])
    graph += ints("split", 0, 0, heads, size) + ints("join", 0, 0, hidden)
    graph += initializer("scale", []) + initializer("norm_scale", [hidden])
    made = {"scores": ["batch", heads, "seq", "seq"], "mixed": split,
            "turned": both + [heads, size], "joined": both + [hidden]}

    def add(op_type, inputs, output, dims=None, attributes=b""):
        nonlocal graph
        graph += node(op_type, inputs, [output], "/block/" + output,
                      attributes)
        graph += info(output, dims or made[output])

    for part in "qkv":
        graph += initializer("w" + part, [hidden, hidden])
        add("MatMul", ["x", "w" + part], part, both + [hidden])
        add("Reshape", [part, "split"], part + "_split", both + [heads, size])
        last = [0, 2, 3, 1] if part == "k" else [0, 2, 1, 3]
        add("Transpose", [part + "_split"], part + "_heads",
            ["batch", heads, size, "seq"] if part == "k" else split,
            attribute_ints("perm", *last))
    add("MatMul", ["q_heads", "k_heads"], "scores")
    add("Mul", ["scores", "scale"], "scaled", made["scores"])
    add("Softmax", ["scaled"], "weights", made["scores"])
    add("MatMul", ["weights", "v_heads"], "mixed")
    add("Transpose", ["mixed"], "turned", None,
        attribute_ints("perm", 0, 2, 1, 3))
    add("Reshape", ["turned", "join"], "joined")
    add("Add", ["x", "joined"], "sum", both + [hidden])
    add("LayerNormalization", ["sum", "norm_scale"], "y", both + [hidden])
    return model(graph + give("y", both + [hidden]))


def main():
    folder = pathlib.Path(sys.argv[1] if sys.argv[1:] else __file__)
    models, ending = SEEDS, ""
    if not sys.argv[1:]:
        folder, models, ending = folder.parent, DEFECTS, ".onnx"
        good = folder.parent / "graphs/onnx/transformer.onnx"
        good.parent.mkdir(exist_ok=True)
        good.write_bytes(transformer())
    for name, content in models.items():
        (folder / (name + ending)).write_bytes(content)


main()
