# SPDX-License-Identifier: Apache-2.0
"""regal.onnx.infer: models whose shapes only onnxruntime can infer."""
import subprocess
import sys

import numpy as np
import pytest

import regal
from conftest import SOURCES, run_page

onnx = pytest.importorskip("onnx", reason="onnx is not installed")
pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
pytest.importorskip("sympy", reason="sympy is not installed")

import regal.onnx  # noqa: E402
from onnx import TensorProto, helper, numpy_helper  # noqa: E402


def split_gelu(dims):
    """BiasSplitGelu halves the last dimension: ONNX does not know it."""
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, dims)
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    bias = numpy_helper.from_array(np.zeros(5120, np.float32), "bias")
    weight = numpy_helper.from_array(np.zeros((2560, 64), np.float32), "weight")
    axis = numpy_helper.from_array(np.array([0, -1, 32]), "axis")
    nodes = [
        helper.make_node("BiasSplitGelu", ["x", "bias"], ["h"],
                         domain="com.microsoft"),
        helper.make_node("MatMul", ["h", "weight"], ["m"]),
        helper.make_node("Reshape", ["m", "axis"], ["r"]),
        helper.make_node("Relu", ["r"], ["y"])]
    return helper.make_model(
        helper.make_graph(nodes, "g", [x], [y], [bias, weight, axis]),
        opset_imports=[helper.make_opsetid("", 17),
                       helper.make_opsetid("com.microsoft", 1)], ir_version=8)


def sizes(graph):
    return {op.name: op.outputs[0] for op in graph.ops}


def test_shapes_that_the_reader_cannot_infer():
    model = split_gelu(["batch", "seq", 5120])
    before = model.SerializeToString()
    with pytest.raises(regal.InputError, match="no known size"):
        regal.Graph.loads(before, dim="batch=2,seq=8")
    graph = regal.onnx.infer(model, dim="batch=2,seq=8")
    assert model.SerializeToString() == before
    assert sizes(graph) == {"inputs": 2 * 8 * 5120 * 4, "h": 2 * 8 * 2560 * 4,
                            "m": 2 * 8 * 64 * 4, "y": 2 * 8 * 64 * 4}
    # Weights are parameters, though inference saw them as inputs.
    assert graph.info.resident_bytes == (5120 + 2560 * 64) * 4


def test_dimensions_without_a_name():
    graph = regal.onnx.infer(split_gelu([2, None, 5120]), shape="x=2,8,5120")
    assert sizes(graph)["h"] == 2 * 8 * 2560 * 4


def test_files_with_external_weights_and_plans_for_them(tmp_path):
    path = tmp_path / "model.onnx"
    onnx.save(split_gelu([2, 8, 5120]), path, save_as_external_data=True,
              location="weights", size_threshold=0)
    graph = regal.onnx.infer(path)
    assert sizes(graph)["y"] == 2 * 8 * 64 * 4
    plan = regal.optimize(graph, regal.Machine(devices=1), evaluations=10)
    plan.save_onnx(tmp_path / "planned.onnx", path)
    (tmp_path / "weights").unlink()
    names = [n.output[0] for n in onnx.load(
        tmp_path / "planned.onnx", load_external_data=False).graph.node]
    assert names == ["h", "m", "r", "y"]


def test_a_model_with_all_its_shapes_is_read_as_ever():
    path = SOURCES / "tests" / "graphs" / "onnx" / "transformer.onnx"
    dim = "batch=8,seq=128"
    plain = regal.Graph.load(path, dim=dim)
    assert regal.onnx.infer(path, dim=dim).info == plain.info
    model = onnx.load(path)
    del model.graph.value_info[:]
    assert regal.onnx.infer(model, dim=dim).info == plain.info


def test_a_failed_inference_is_said_and_the_reader_decides():
    path = SOURCES / "tests" / "onnx" / "shapes" / "domains.onnx"
    with pytest.warns(UserWarning, match="shape inference failed: .*Relu"):
        with pytest.raises(regal.InputError, match="1 of 3 tensors"):
            regal.onnx.infer(path)
    with pytest.warns(UserWarning, match="took more than 0.01 s"):
        with pytest.raises(regal.InputError, match="no known size"):
            regal.onnx.infer(split_gelu([2, 8, 5120]), seconds=0.01)


def test_nothing_is_left_in_the_current_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(regal.InputError, match="of 16 tensors"):
        regal.onnx.infer(SOURCES / "tests" / "onnx" / "shapes" / "newer.onnx")
    assert not list(tmp_path.iterdir())


def test_a_missing_package_is_named():
    hide = ("import sys; sys.modules[{!r}] = None\n"
            "import importlib.util, regal\n")
    without_onnx = subprocess.run(
        [sys.executable, "-c", hide.format("onnx") + "import regal.onnx"],
        capture_output=True, text=True)
    assert "ImportError: regal.onnx needs ONNX and onnxruntime: pip install" \
        in without_onnx.stderr
    without = subprocess.run(
        [sys.executable, "-c", hide.format("onnx.nothing") +
         "found = importlib.util.find_spec\n"
         "importlib.util.find_spec = lambda n: n != 'sympy' and found(n)"
         " or None\nimport regal.onnx\nregal.onnx.infer('x')"],
        capture_output=True, text=True)
    assert "sympy is missing: pip install sympy" in without.stderr


def test_the_page_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    onnx.save(split_gelu(["batch", "seq", 5120]), "model.onnx")
    assert "graph" in run_page("docs/onnx.md")
