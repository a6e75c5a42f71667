# SPDX-License-Identifier: Apache-2.0
"""``regal.jax.capture``: what XLA makes of a JAX function, as a graph.

XLA optimizes a function's module, fuses its instructions, and puts them in an
order; then it assigns buffers. `capture` takes the module from there: each
instruction of the entry is an op, in XLA's order. The module, and XLA's buffer
assignment where the backend gives it, go to the library as one HloProto, which
is also what ``--xla_dump_to`` leaves behind. All rules are in its reader
(docs/xla.md).
"""
from __future__ import annotations

import functools
import pathlib
from typing import Any, Dict, List, NamedTuple, Optional

try:
    import jax as _jax
except ImportError as _missing:  # the package itself needs no JAX
    raise ImportError("regal.jax needs JAX: pip install jax") from _missing

from ._graph import Graph
from ._library import PathLike
from ._machine import Machine
from ._plan import Plan
from ._search import evaluate

__all__ = ["Capture", "Memory", "capture"]


class Memory(NamedTuple):
    """What XLA reports for its own order, in bytes (``memory_analysis()``)."""
    temporaries: int
    outputs: int
    aliases: int      # outputs that are written over donated arguments
    arguments: int

    @property
    def peak(self) -> int:
        """All of them, each once. Constants are not in XLA's report."""
        return (self.arguments + self.temporaries + self.outputs
                - self.aliases)


class Capture:
    """A compiled function.

    ``graph``: the graph for the search. ``hlo``: the module, as a serialized
    HloProto. ``memory``: what XLA reports, or None where the backend does not.
    """

    def __init__(self, hlo: bytes, name: str, memory: Optional[Memory],
                 reading: Dict[str, Any]) -> None:
        self.hlo = hlo
        self.memory = memory
        self.graph = Graph.loads(hlo, name, **reading)

    @property
    def order(self) -> List[int]:
        """The ids of ops in XLA's order."""
        return [int(op) for op in self.graph.ids]

    @functools.cached_property
    def plan(self) -> Plan:
        """XLA's order as a plan for one device."""
        return evaluate(self.graph, Machine(devices=1), order=self.order)

    @property
    def peak(self) -> int:
        """The peak of XLA's order in the model, which is `memory.peak` as XLA
        counts, and `peak_bytes[0]` of other plans for one device."""
        return int(self.plan.peak_bytes[0])

    def names(self, plan: Plan) -> List[str]:
        """The names of instructions in the order of a plan."""
        named = dict(zip(self.graph.ids, self.graph.names))
        return [named[op] for op in plan.order]

    def save(self, path: PathLike) -> None:
        """Writes the module: ``NAME.hlo.pb``, which the program reads."""
        pathlib.Path(path).write_bytes(self.hlo)


def capture(f: Any, *args: Any, donate_argnums: Any = None,
            static_argnums: Any = None,
            compiler_options: Optional[Dict[str, Any]] = None,
            reading: Optional[Dict[str, Any]] = None,
            **kwargs: Any) -> Capture:
    """The graph of a function as XLA compiles it, in XLA's order.

    :param f: a function, what ``jax.jit`` makes of one, or what ``lower`` or
        ``compile`` of that returned, for which no arguments are given.
    :param args: its arguments: arrays, ``jax.ShapeDtypeStruct``, or structures
        of these. Nothing is run. ``kwargs`` are its keyword arguments.
    :param donate_argnums, static_argnums: as for ``jax.jit``, if f is a
        function that is not jitted yet.
    :param compiler_options: for XLA, such as
        ``{"xla_disable_hlo_passes": "fusion"}``.
    :param reading: options of groups "reading" and "limits" by name, such as
        ``{"roofline": "a100"}``.
    """
    given = {name: value for name, value in (
        ("donate_argnums", donate_argnums), ("static_argnums", static_argnums))
        if value is not None}
    stage = _lowered(f, args, kwargs, given)
    if hasattr(stage, "compile"):
        stage = stage.compile(compiler_options=compiler_options)
    elif compiler_options is not None:
        raise ValueError("compiler_options are given, but f is compiled")
    module = _module(stage)
    stats = stage.memory_analysis()
    return Capture(_hlo_proto(module, stats), str(module.name), _memory(stats),
                   reading or {})


def _lowered(f: Any, args: Any, kwargs: Any, given: Dict[str, Any]) -> Any:
    """What has `compile`, or is compiled."""
    if isinstance(f, (_jax.stages.Lowered, _jax.stages.Compiled)):
        if args or kwargs or given:
            raise ValueError(f"f is {type(f).__name__}: it takes no arguments "
                             "here, expected capture(f)")
        return f
    if hasattr(f, "lower"):
        if given:
            raise ValueError(f"f is jitted: give {', '.join(given)} to jax.jit")
        return f.lower(*args, **kwargs)
    if not callable(f):
        raise TypeError(f"f is {f!r}, expected a function")
    return _jax.jit(f, **given).lower(*args, **kwargs)


def _module(compiled: Any) -> Any:
    """XLA's optimized module, with its schedule."""
    modules = compiled.runtime_executable().hlo_modules()
    if len(modules) != 1:
        raise ValueError(f"the function is {len(modules)} modules of XLA, "
                         "expected one")
    return modules[0]


def _memory(stats: Any) -> Optional[Memory]:
    if stats is None:
        return None
    return Memory(int(stats.temp_size_in_bytes),
                  int(stats.output_size_in_bytes),
                  int(stats.alias_size_in_bytes),
                  int(stats.argument_size_in_bytes))


def _hlo_proto(module: Any, stats: Any) -> bytes:
    """An HloProto: field 1 is the module, 3 the buffer assignment."""
    assignment = getattr(stats, "serialized_buffer_assignment_proto", b"")
    found = _field(1, module.as_serialized_hlo_module_proto())
    return found + (_field(3, assignment) if assignment else b"")


def _field(number: int, value: bytes) -> bytes:
    """A field of a protobuf message."""
    head, length = bytearray([number << 3 | 2]), len(value)
    while length > 127:
        head.append(length & 127 | 128)
        length >>= 7
    return bytes(head) + bytes([length]) + value
