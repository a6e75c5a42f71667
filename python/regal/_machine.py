# SPDX-License-Identifier: Apache-2.0
"""Machines: what the options of group "machine" say, and calls that add to it.

A Machine knows no graph. It keeps what it was told, and says it all to the
library when a problem is made; so the same machine serves any graph, and the
library checks names, patterns and numbers against that graph.
"""
import functools
from typing import Any, Callable, Dict, List, Optional, Sequence, Union

import numpy as np

from ._arrays import amount, index
from ._graph import Graph
from ._library import (Context, Handle, InputError, Options, PathLike, encode,
                       ffi, lib, path_bytes, quantity)

Device = Union[int, str]
Ops = Union[int, str]


class _Maker:
    """A machine of the library for one graph, while it is made."""

    def __init__(self, context: Context, graph: Graph, pointer: Any) -> None:
        self.context, self.graph, self.pointer = context, graph, pointer

    def check(self, status: int) -> None:
        self.context.check(status)

    def device(self, device: Device) -> int:
        place = ffi.new("uint32_t *")
        self.check(lib.regal_machine_find_device(
            self.pointer, encode(str(device)), place))
        return int(place[0])

    def ids(self, op: Ops) -> List[int]:
        """The op with this id, or all with this name."""
        if not isinstance(op, str):
            return [index("op", op)]
        found = self._ids_of.get(op)
        if not found:
            raise InputError(f"there is no op {op!r}")
        return found

    @functools.cached_property
    def _ids_of(self) -> Dict[str, List[int]]:
        """By name; a machine may name thousands of ops."""
        found: Dict[str, List[int]] = {}
        for i, name in zip(self.graph.ids.tolist(), self.graph.names):
            found.setdefault(name, []).append(i)
        return found


class Machine:
    """Devices, their links, and what must run where.

    devices: how many. transfers: "blocking" or "overlapped". latency: "2us", or
    nanoseconds. bandwidth: "25GB", or bytes per second; 0 is infinite.
    memory_limit: "16GiB" or bytes, for all devices, or a list with one for each;
    0 is none. preset: a machine of `regal.presets()`, or a machine file, which
    gives everything that the other arguments do not. control: "wait" or
    "transfer". Other keyword arguments are options of group "machine".
    """

    def __init__(self, devices: Optional[int] = None,
                 transfers: Optional[str] = None,
                 latency: Union[None, int, str] = None,
                 bandwidth: Union[None, int, str] = None,
                 memory_limit: Union[None, int, str, Sequence[Any]] = None,
                 preset: Optional[PathLike] = None,
                 control: Optional[str] = None, **options: Any) -> None:
        self._calls: List[Callable[[_Maker], None]] = []
        limits = None
        if isinstance(memory_limit, (list, tuple, np.ndarray)):
            limits, memory_limit = list(memory_limit), None
            devices = len(limits) if devices is None else devices
        self._options = dict(options, devices=devices, transfers=transfers,
                             latency=latency, bandwidth=bandwidth,
                             memory_limit=memory_limit, machine=preset,
                             control=control)
        self.set_options(Options(Context()))  # bad values are found here
        for device, limit in enumerate(limits or ()):
            self.memory_limit(device, limit)

    @classmethod
    def from_plan(cls, path: PathLike) -> "Machine":
        """The machine that a plan file records."""
        context = Context()
        options = Options(context)
        context.check(lib.regal_plan_options(context.pointer, path_bytes(path),
                                             options.pointer))
        given: Dict[str, Any] = options.given("machine")
        given["preset"] = given.pop("machine", None)
        return cls(**given)

    def set_options(self, options: Options) -> None:
        """Sets the options that the machine consists of."""
        options.update(self._options, ("machine",), "Machine")

    def __repr__(self) -> str:
        given = ", ".join(f"{name}={value!r}" for name, value
                          in self._options.items() if value is not None)
        return f"regal.Machine({given})"

    def __copy__(self) -> "Machine":
        """Another one, which may be told more."""
        made = Machine.__new__(Machine)
        made._options = dict(self._options)
        made._calls = list(self._calls)
        return made

    def _later(self, call: Callable[[_Maker], None]) -> "Machine":
        self._calls.append(call)
        return self

    def pin(self, op: Ops, device: Device) -> "Machine":
        """The op with an id, or all whose name matches a pattern, must run on
        the device (number or name). Patterns: * ? [a-z]. The last call counts.
        """

        def call(m: _Maker) -> None:
            if isinstance(op, str):
                m.check(lib.regal_machine_pin_matching(
                    m.pointer, encode(op), encode(str(device))))
            else:
                m.check(lib.regal_machine_pin(m.pointer, index("op", op),
                                              m.device(device)))

        return self._later(call)

    def group(self, ops: Union[str, Sequence[Ops]]) -> "Machine":
        """These ops, or all whose name matches a pattern, share a device."""

        def call(m: _Maker) -> None:
            if isinstance(ops, str):
                m.check(lib.regal_machine_group_matching(m.pointer,
                                                         encode(ops)))
                return
            ids = [i for op in ops for i in m.ids(op)]
            m.check(lib.regal_machine_group(m.pointer, ids, len(ids)))

        return self._later(call)

    def link(self, a: Device, b: Device, *,
             latency: Union[None, int, str] = None,
             bandwidth: Union[None, int, str] = None,
             both: bool = True) -> "Machine":
        """The link from device a to b, and from b to a unless `both` is false.
        What is not given stays as it is."""
        latency_ns = None if latency is None else quantity("latency", latency)
        speed = None if bandwidth is None else quantity("bandwidth", bandwidth)

        def call(m: _Maker) -> None:
            ends = m.device(a), m.device(b)
            for source, target in (ends, ends[::-1])[:2 if both else 1]:
                old = ffi.new("int64_t[2]")
                m.check(lib.regal_machine_get_link(m.pointer, source, target,
                                                   old, old + 1))
                m.check(lib.regal_machine_set_link(
                    m.pointer, source, target,
                    old[0] if latency_ns is None else latency_ns,
                    old[1] if speed is None else speed))

        return self._later(call)

    def op_time(self, op: Ops, device: Device,
                ns: Optional[int]) -> "Machine":
        """The time of an op (id, or name) on one device, which no speed
        changes; None: the op cannot run there."""
        time = lib.REGAL_NEVER if ns is None else amount("ns", ns)

        def call(m: _Maker) -> None:
            number = m.device(device)
            for i in m.ids(op):
                m.check(lib.regal_machine_set_op_time(m.pointer, i, number,
                                                      time))

        return self._later(call)

    def speed(self, device: Device, speed: float) -> "Machine":
        """Run times on the device are divided by this."""
        return self._later(lambda m: m.check(lib.regal_machine_set_speed(
            m.pointer, m.device(device), float(speed))))

    def memory_limit(self, device: Device,
                     limit: Union[int, str]) -> "Machine":
        """The memory of one device; 0: no limit."""
        size = quantity("memory_limit", limit)
        return self._later(lambda m: m.check(lib.regal_machine_set_memory_limit(
            m.pointer, m.device(device), size)))

    def name(self, device: Device, name: str) -> "Machine":
        """Gives a device a name."""
        return self._later(lambda m: m.check(lib.regal_machine_set_name(
            m.pointer, m.device(device), encode(name))))

    def make(self, context: Context, graph: Graph) -> Handle:
        """The library's machine for a graph."""
        options = Options(context)
        self.set_options(options)
        handle = context.make("regal_machine", lib.regal_machine_create,
                              lib.regal_machine_free, graph.pointer,
                              options.pointer, parents=(graph.handle,))
        maker = _Maker(context, graph, handle.pointer)
        for call in self._calls:
            call(maker)
        return handle

    def save(self, path: PathLike, graph: Graph) -> None:
        """Writes a machine file for the graph, which `preset` reads."""
        context = Context()
        machine = self.make(context, graph)
        context.check(lib.regal_machine_save(context.pointer, machine.pointer,
                                             path_bytes(path)))
