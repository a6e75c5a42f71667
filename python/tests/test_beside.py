# SPDX-License-Identifier: Apache-2.0
"""regal beside torch, onnx and onnxruntime in one process, whichever comes
first: all of them bring protobuf, and some a copy of onnx, with registries that
must not meet. Runs with those that are installed."""
import importlib.util
import itertools
import subprocess
import sys

import pytest

OTHERS = [name for name in ("torch", "onnx", "onnxruntime")
          if importlib.util.find_spec(name)]

IMPORTS = """
import importlib, sys
for name in sys.argv[1:]:
    importlib.import_module(name)
import regal
"""

# A model without shapes inside: regal asks its own libonnx for them.
WORK = """
if "onnx" in sys.argv:
    import onnx
    from onnx import TensorProto, helper
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 3])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, ["m", "n"])
    w = helper.make_tensor("w", TensorProto.FLOAT, [3, 4], [0.5] * 12)
    model = helper.make_model(
        helper.make_graph([helper.make_node("MatMul", ["x", "w"], ["h"]),
                           helper.make_node("Relu", ["h"], ["y"])],
                          "g", [x], [y], [w]),
        opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    for _ in range(2):
        onnx.checker.check_model(model)
        onnx.shape_inference.infer_shapes(model)
        graph = regal.Graph.loads(model.SerializeToString())
        relu = [op for op in graph.ops if op.outputs == [32]]
        assert len(relu) == 2, graph.ops
        regal.optimize(graph, evaluations=10)
    if "onnxruntime" in sys.argv:
        import numpy, onnxruntime
        session = onnxruntime.InferenceSession(
            model.SerializeToString(), providers=["CPUExecutionProvider"])
        ones = numpy.ones((2, 3), numpy.float32)
        assert session.run(None, {"x": ones})[0][0, 0] == 1.5
if "torch" in sys.argv:
    import torch
    torch.nn.Linear(3, 4)(torch.ones(2, 3)).sum().backward()
graph = regal.Graph()
graph.add_op("a", run_ns=5)
assert regal.optimize(graph).runtime_ns == 5
"""


def orders():
    """Each package first once, and regal last and first."""
    for others in itertools.islice(itertools.permutations(OTHERS), 0, None, 2):
        yield ("regal", *others)
        yield (*others, "regal")


@pytest.mark.skipif(not OTHERS, reason="neither torch, onnx nor onnxruntime")
@pytest.mark.parametrize("order", list(orders()), ids="-".join)
def test_imports_in_any_order(order):
    subprocess.run([sys.executable, "-c", IMPORTS + WORK, *order], check=True,
                   timeout=300)
