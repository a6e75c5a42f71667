# SPDX-License-Identifier: Apache-2.0
"""``regal.tensorflow.capture``: a measured CostGraphDef of a function or model.

TensorFlow writes cost graphs for sessions only: ``RunMetadata.cost_graph`` has
each node's time and the bytes of its outputs, as they were measured. A
tf.function runs without a session, so its graph is taken to one:

1. The function is traced with the arguments (``get_concrete_function``). Its
   graph takes the arguments, and what the function captures, as inputs:
   variables above all.
2. Each variable becomes one of the graph itself, which starts with its value.
   So what a training step assigns does not reach the caller's variables.
3. Another process runs that graph in a session with a cost model (session.py).
   It has a process of its own because sizes and aliases are only tracked by
   TensorFlow's BFC allocator, which has to be selected before TensorFlow makes
   its first tensor.

What the nodes of such a file mean is the reader's matter (docs/formats.md).
"""
from __future__ import annotations

import os
import pathlib
import subprocess
import sys
import tempfile
from typing import Any, Callable, Dict, List, Tuple

try:
    import tensorflow as _tf
except ImportError as _missing:  # the package itself needs no TensorFlow
    raise ImportError("regal.tensorflow needs TensorFlow: "
                      "pip install tensorflow") from _missing

from . import session as _session
from .._graph import Graph
from .._library import PathLike

__all__ = ["Capture", "capture"]

_v1 = _tf.compat.v1


class Capture:
    """A measured graph.

    ``cost_graph`` is the CostGraphDef as TensorFlow wrote it, ``graph`` what the
    reader makes of it for the search.
    """

    def __init__(self, cost_graph: bytes, name: str,
                 reading: Dict[str, Any]) -> None:
        self.cost_graph = cost_graph
        self.graph = Graph.loads(cost_graph, name, **reading)

    def save(self, path: PathLike) -> None:
        """Writes the CostGraphDef: a file that the program reads."""
        pathlib.Path(path).write_bytes(self.cost_graph)


def capture(f: Any, *args: Any, train: bool = False, steps: int = 10,
            warmup: int = 3, threads: int = 1, optimize: bool = True,
            **reading: Any) -> Capture:
    """The graph of a function or a Keras model, with measured times and sizes.

    :param f: a tf.function, a function of tensors, or a Keras model, which is
        called with ``training=False``.
    :param args: its arguments: tensors, arrays, structures of these, or Python
        values.
    :param train: the training step of a compiled Keras model; the arguments are
        ``x``, ``y`` and perhaps the weights of samples.
    :param steps: how many runs are measured; a node's time is the longest.
    :param warmup: how many runs come before.
    :param threads: of each op. Ops run one at a time.
    :param optimize: whether TensorFlow's optimizers change the graph.
    :param reading: options of groups "reading" and "limits".
    """
    if steps < 1 or warmup < 0:
        raise ValueError(f"{steps} steps after {warmup} others, expected at "
                         "least one after none")
    function = _concrete(_function(f, train), args)
    settings = {"steps": steps, "warmup": warmup, "threads": threads,
                "optimize": optimize}
    with tempfile.TemporaryDirectory() as folder:
        _write(function, _values(function, args), settings,
               pathlib.Path(folder))
        cost_graph = _measured(pathlib.Path(folder))
    return Capture(cost_graph, _name(f), reading)


def _name(f: Any) -> str:
    """How messages call the graph."""
    return str(getattr(f, "name", None) or getattr(f, "__name__", "graph"))


def _function(f: Any, train: bool) -> Callable[..., Any]:
    """What is traced."""
    if train:
        if getattr(f, "optimizer", None) is None:
            raise ValueError("train=True needs a compiled Keras model")
        # Its variables cannot be made while a step is traced.
        f.optimizer.build(f.trainable_variables)
        return lambda *batch: f.train_step(batch)
    if isinstance(f, _tf.keras.Model):
        return lambda *inputs: f(*inputs, training=False)
    if not callable(f):
        raise TypeError(f"f is {f!r}, expected a function or a Keras model")
    return f  # type: ignore[no-any-return]


def _concrete(f: Callable[..., Any], args: Tuple[Any, ...]) -> Any:
    """The function traced with arrays as tensors. Otherwise their values would
    be constants."""
    traced = f if hasattr(f, "get_concrete_function") else _tf.function(f)
    return traced.get_concrete_function(*_tensors(args))


def _tensors(args: Tuple[Any, ...]) -> Any:
    return _tf.nest.map_structure(
        lambda a: _tf.constant(a) if hasattr(a, "__array__") else a, args)


def _values(function: Any, args: Tuple[Any, ...]) -> Dict[str, Any]:
    """The values of all inputs of the function's graph, by their names."""
    captured = function.graph.captures
    own = {inner.op.name for _, inner in captured}
    inputs = [t.op.name for t in function.inputs if t.op.name not in own]
    given = [a for a in _tf.nest.flatten(_tensors(args), expand_composites=True)
             if _tf.is_tensor(a)]
    if len(given) != len(inputs):
        raise ValueError(f"{len(given)} tensors are given, the function takes "
                         f"{len(inputs)}")
    values = dict(zip(inputs, given))
    variables = {id(v.handle): v for v in function.graph.variables}
    for outer, inner in captured:
        value = variables.get(id(outer), outer)
        if value is outer and outer.dtype == _tf.resource:
            raise ValueError(f"the function uses {inner.op.name!r}, a resource "
                             "that is no variable; pass tensors instead of "
                             "datasets, tables and the like")
        values[inner.op.name] = value
    return values


def _definition(function: Any, values: Dict[str, Any]) -> Tuple[Any, List[str]]:
    """The function's graph with variables of its own, and the names of its
    inputs in the order of `values`."""
    definition = function.graph.as_graph_def()
    taken = {node.name for node in definition.node}
    names = {name: name for name in values}
    for node in definition.node:
        value = values.get(node.name)
        if isinstance(value, _tf.Variable):
            known = value.name.split(":")[0]
            names[node.name] = node.name if known in taken else known
            taken.add(known)
            node.CopyFrom(_v1.NodeDef(
                name=names[node.name], op="VarHandleOp",
                attr={"dtype": _type_attr(value.dtype),
                      "shape": _v1.AttrValue(shape=value.shape.as_proto()),
                      "shared_name": _v1.AttrValue(s=node.name.encode())}))
    for node in definition.node:
        for place, source in enumerate(node.input):
            name, colon, port = source.lstrip("^").partition(":")
            caret = source[:source.startswith("^")]
            node.input[place] = caret + names.get(name, name) + colon + port
    return definition, list(names.values())


def _type_attr(dtype: Any) -> Any:
    return _v1.AttrValue(type=dtype.as_datatype_enum)


def _write(function: Any, values: Dict[str, Any], settings: Dict[str, Any],
           folder: pathlib.Path) -> None:
    """What session.py runs."""
    definition, names = _definition(function, values)
    variables = [name for name, value in zip(names, values.values())
                 if isinstance(value, _tf.Variable)]
    fetches = [t.name for t in function.graph.outputs]
    fetches += [op.name for op in function.graph.control_outputs]
    if not fetches:
        raise ValueError("the function neither returns a tensor nor has an "
                         "effect")
    tensors = [_tf.io.serialize_tensor(_tf.convert_to_tensor(v)).numpy()
               for v in values.values()]
    _session.write(folder, definition.SerializeToString(), tensors, {
        **settings, "inputs": names, "variables": variables,
        "fetches": fetches})


def _measured(folder: pathlib.Path) -> bytes:
    """Runs session.py on the folder; the cost graph that it leaves there."""
    done = subprocess.run(
        [sys.executable, _session.__file__, str(folder)],
        capture_output=True, text=True, errors="replace",
        env={**os.environ,
             "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
             "TF_CPU_ALLOCATOR_USE_BFC": "1"})
    if done.returncode:
        raise RuntimeError("TensorFlow's session failed:\n" + done.stderr)
    return (folder / "cost_graph.pb").read_bytes()
