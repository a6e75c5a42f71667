# SPDX-License-Identifier: Apache-2.0
"""``regal.onnx.infer``: a graph of an ONNX model that has no shapes inside.

onnxruntime's symbolic shape inference knows more ops than ONNX's own, which the
reader uses. Here it runs first; the reader takes the model with its shapes.

- It is run as the program that it is, in a folder of its own, because it leaves
  what it has in the current folder when it cannot infer everything. Such a
  result is used, too: the reader says which shapes are missing, and whether
  they are too many.
- It copies the model several times, weights and all, and reads all external
  files. Large weights are inputs with a known shape for it, and weights without
  their values for the reader, which needs no more than their shapes. So it
  takes little memory, and models above protobuf's limit of 2 GiB work.
"""
from __future__ import annotations

import importlib.util
import math
import os
import pathlib
import subprocess
import sys
import tempfile
import warnings
from typing import Any, List, Set, Tuple, Union

try:
    import onnx as _onnx
    from onnx.external_data_helper import (load_external_data_for_tensor,
                                           uses_external_data)
except ImportError as _missing:  # the package itself needs no onnx
    raise ImportError("regal.onnx needs ONNX and onnxruntime: "
                      "pip install onnx onnxruntime sympy") from _missing

from ._graph import Graph
from ._library import PathLike

__all__ = ["infer"]

#: Elements that shapes may be computed from; larger weights are left out.
_SMALL = 1024


def infer(model: Union[PathLike, Any], *, seconds: float = 300,
          **reading: Any) -> Graph:
    """The graph of a model, with the shapes that onnxruntime infers.

    :param model: a path, or a ``ModelProto``.
    :param seconds: how long inference may take.
    :param reading: options of groups "reading" and "limits", such as
        ``dim="batch=8,seq=128"``, ``shape="x=8,3,48,192"`` or
        ``roofline="a100"``.

    Needs the packages onnxruntime and sympy. If their inference fails, a warning
    says why, and the reader has to do with ONNX's own. The ids of ops are
    positions in the model, so that ``Plan.save_onnx`` takes the model itself.
    """
    for needed in ("onnxruntime", "sympy"):
        if importlib.util.find_spec(needed) is None:
            raise ImportError("regal.onnx.infer needs onnxruntime and sympy; "
                              f"{needed} is missing: pip install {needed}")
    if isinstance(model, (str, os.PathLike)):
        name, folder = os.fspath(model), os.path.dirname(os.fspath(model))
        found = _onnx.load(name, load_external_data=False)
    else:
        name, folder = model.graph.name or "model", ""
        found = _onnx.ModelProto()
        found.CopyFrom(model)
    weights, added = _set_apart(found, folder)
    shaped = _inferred(found, name, seconds)
    _put_back(shaped, weights, added)
    return Graph.loads(shaped.SerializeToString(), name, **reading)


def _set_apart(model: Any, folder: str) -> Tuple[List[Any], Set[str]]:
    """Makes inputs of the large weights. Returns all weights, the large ones
    without their values, and the names of the inputs that were added."""
    graph = model.graph
    inputs = {i.name for i in graph.input}
    weights, added = [], set()
    for place in reversed(range(len(graph.initializer))):
        tensor = graph.initializer[place]
        if math.prod(tensor.dims) <= _SMALL and _has_values(tensor, folder):
            weights.append(_onnx.TensorProto.FromString(
                tensor.SerializeToString()))
            continue
        weights.append(_onnx.TensorProto(
            name=tensor.name, dims=tensor.dims, data_type=tensor.data_type))
        if tensor.name not in inputs:
            added.add(tensor.name)
            graph.input.append(_onnx.helper.make_tensor_value_info(
                tensor.name, tensor.data_type, tensor.dims))
        del graph.initializer[place]
    return weights[::-1], added


def _has_values(tensor: Any, folder: str) -> bool:
    """Reads them from their external file, if they are in one."""
    if uses_external_data(tensor):
        load_external_data_for_tensor(tensor, folder)
    return bool(tensor.raw_data) or any(
        len(getattr(tensor, kind + "_data")) for kind in
        ("float", "int32", "string", "int64", "double", "uint64"))


def _put_back(model: Any, weights: List[Any], added: Set[str]) -> None:
    graph = model.graph
    for place in reversed(range(len(graph.input))):
        if graph.input[place].name in added:
            del graph.input[place]
    del graph.initializer[:]
    graph.initializer.extend(weights)


def _inferred(model: Any, name: str, seconds: float) -> Any:
    """The model with what onnxruntime's program finds."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        _onnx.save(model, folder / "model.onnx")
        trouble = _run(scratch, seconds)
        for result in ("shaped.onnx", "sym_shape_infer_temp.onnx"):
            if (folder / result).exists():
                return _onnx.load(folder / result)
    warnings.warn(f"{name}: onnxruntime's shape inference failed: {trouble}",
                  stacklevel=3)
    return model


def _run(folder: str, seconds: float) -> str:
    """onnxruntime's program on the model in a folder; its last message."""
    paths = os.pathsep.join(os.path.abspath(p) for p in sys.path if p)
    try:
        done = subprocess.run(
            [sys.executable, "-m", "onnxruntime.tools.symbolic_shape_infer",
             "--auto_merge", "--input", "model.onnx", "--output",
             "shaped.onnx"], cwd=folder, capture_output=True, text=True,
            errors="replace", timeout=seconds,
            env={**os.environ, "PYTHONPATH": paths})
    except subprocess.TimeoutExpired:
        return f"it took more than {seconds} s"
    lines = done.stderr.strip().splitlines()
    return lines[-1] if lines else "no message"
