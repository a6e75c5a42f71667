# SPDX-License-Identifier: Apache-2.0
"""Machines: what the options of group "machine" say, and calls that add to it.

A Machine knows no graph. It keeps what it was told, and says it all to the
library when a problem is made; so the same machine serves any graph, and the
library checks names, patterns and numbers against that graph.
"""
import functools
import reprlib
from typing import (Any, Dict, Iterable, List, Mapping, Optional,
                    SupportsIndex, Tuple, Union)

from ._arrays import amount, check_length, index, label, listed
from ._graph import Graph
from ._library import (Context, Handle, Options, PathLike, Quantity, encode,
                       ffi, lib, path_bytes, quantity)

Device = Union[SupportsIndex, str]
Ops = Union[SupportsIndex, str]  # an id, or a name or pattern
_Call = Tuple[str, Tuple[Any, ...], Dict[str, Any]]  # a method of _Maker

_MOST_SHOWN = 8  # calls, by repr, which a notebook shows after each call
_brief = reprlib.Repr()
_brief.maxlist, _brief.maxstring = 8, 80


def check_graph(graph: Any) -> None:
    """Fails unless it is a Graph."""
    if not isinstance(graph, Graph):
        raise TypeError(f"graph is a {type(graph).__name__}, expected a "
                        "regal.Graph")


def _op(op: Any) -> Union[int, str]:
    """An id, or a name or pattern, checked."""
    return op if isinstance(op, str) else index("op", op)


class _Maker:
    """A machine of the library for one graph, while it is made. Its methods are
    what a Machine may be told, with arguments that were checked."""

    def __init__(self, context: Context, graph: Graph, pointer: Any) -> None:
        self.context, self.graph, self.pointer = context, graph, pointer

    def check(self, status: int) -> None:
        self.context.check(status)

    def number(self, device: str) -> int:
        """The number of a device."""
        place = ffi.new("uint32_t *")
        self.check(lib.regal_machine_find_device(self.pointer, encode(device),
                                                 place))
        return int(place[0])

    def ids(self, op: Union[int, str]) -> List[int]:
        """The op with this id, or all with this name, or else all whose name
        matches this pattern."""
        if not isinstance(op, str):
            return [op]
        return self._ids_of.get(op) or self.matching(op)

    def matching(self, pattern: str) -> List[int]:
        """All ops whose name matches."""
        found = ffi.new("uint32_t[]", len(self.graph))
        count = ffi.new("uint32_t *")
        self.check(lib.regal_machine_find_ops(self.pointer, encode(pattern),
                                              found, count))
        return list(found[0:count[0]])

    @functools.cached_property
    def _ids_of(self) -> Dict[str, List[int]]:
        """By name; a machine may name thousands of ops, and a pattern is
        compared with the name of each."""
        found: Dict[str, List[int]] = {}
        for i, name in zip(self.graph.ids.tolist(), self.graph.names):
            found.setdefault(name, []).append(i)
        return found

    def pin(self, op: Union[int, str], device: str) -> None:
        number = self.number(device)
        for i in self.ids(op):
            self.check(lib.regal_machine_pin(self.pointer, i, number))

    def group(self, ops: List[Union[int, str]]) -> None:
        ids = [i for op in ops for i in self.ids(op)]
        self.check(lib.regal_machine_group(self.pointer, ids, len(ids)))

    def link(self, a: str, b: str, latency: Optional[int],
             bandwidth: Optional[int], both: bool) -> None:
        ends = self.number(a), self.number(b)
        for source, target in (ends, ends[::-1])[:2 if both else 1]:
            old = ffi.new("int64_t[2]")
            self.check(lib.regal_machine_get_link(self.pointer, source, target,
                                                  old, old + 1))
            self.check(lib.regal_machine_set_link(
                self.pointer, source, target,
                old[0] if latency is None else latency,
                old[1] if bandwidth is None else bandwidth))

    def op_time(self, op: Union[int, str], device: str, ns: Optional[int]) -> None:
        number = self.number(device)
        time = lib.REGAL_NEVER if ns is None else ns
        for i in self.ids(op):
            self.check(lib.regal_machine_set_op_time(self.pointer, i, number,
                                                     time))

    def speed(self, device: str, speed: float) -> None:
        self.check(lib.regal_machine_set_speed(self.pointer,
                                               self.number(device), speed))

    def memory_limit(self, device: str, limit: int) -> None:
        self.check(lib.regal_machine_set_memory_limit(
            self.pointer, self.number(device), limit))

    def name(self, device: str, name: str) -> None:
        self.check(lib.regal_machine_set_name(
            self.pointer, self.number(device), encode(name)))


class Machine:
    """Devices, their links, and what must run where.

    devices: how many. transfers: "blocking" or "overlapped". latency: "2us", or
    nanoseconds. bandwidth: "25GB", or bytes per second; 0 is infinite.
    memory_limit: "16GiB" or bytes, for all devices, or a list with one for each,
    whose length is then the number of devices; 0 is none. preset: a machine of
    `regal.presets()`, or a machine file, which gives everything that the other
    arguments do not. control: "wait" or "transfer". Other keyword arguments are
    options of group "machine".
    """

    def __init__(self, devices: Optional[int] = None,
                 transfers: Optional[str] = None,
                 latency: Optional[Quantity] = None,
                 bandwidth: Optional[Quantity] = None,
                 memory_limit: Union[None, Quantity, Iterable[Any]] = None,
                 preset: Optional[PathLike] = None,
                 control: Optional[str] = None, **options: Any) -> None:
        self._calls: List[_Call] = []
        limits = None
        if (isinstance(memory_limit, Iterable)
                and not isinstance(memory_limit, (str, bytes, Mapping))):
            limits, memory_limit = listed("memory_limit", memory_limit), None
            devices = len(limits) if devices is None else devices
        if "machine" in options:
            raise TypeError("Machine takes no option 'machine': it is called "
                            "preset")
        self._options = dict(options, devices=devices, transfers=transfers,
                             latency=latency, bandwidth=bandwidth,
                             memory_limit=memory_limit, preset=preset,
                             control=control)
        self.set_options(Options(Context()))  # bad values are found here
        check_length("memory_limit", limits, int(devices or 0))
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
        given = dict(self._options)
        options.set("machine", given.pop("preset"))
        options.update(given, ("machine",), "Machine")

    def __repr__(self) -> str:
        given = ", ".join(f"{name}={value!r}" for name, value
                          in self._options.items() if value is not None)
        told = "".join(
            ".{}({})".format(call, ", ".join(
                [_brief.repr(argument) for argument in arguments]
                + [f"{name}={value!r}" for name, value in named.items()
                   if value is not None]))
            for call, arguments, named in self._calls[:_MOST_SHOWN])
        more = len(self._calls) - _MOST_SHOWN
        return (f"regal.Machine({given}){told}"
                + (f" and {more} more calls" if more > 0 else ""))

    def __copy__(self) -> "Machine":
        """Another one, which may be told more."""
        made = Machine.__new__(Machine)
        made._options = dict(self._options)
        made._calls = list(self._calls)
        return made

    def _later(self, call: str, *arguments: Any, **named: Any) -> "Machine":
        """A call of _Maker when a problem is made. What it is told is data, so
        that a machine can be sent to other processes."""
        self._calls.append((call, arguments, named))
        return self

    def pin(self, op: Ops, device: Device) -> "Machine":
        """The op with an id, or all with a name, must run on the device (number
        or name). A text that is no op's name is a pattern: * ? [a-z]. The last
        call counts.
        """
        return self._later("pin", _op(op), label("device", device))

    def group(self, ops: Union[str, Iterable[Ops]]) -> "Machine":
        """These ops share a device: ids, names, patterns, or one text."""
        given = [ops] if isinstance(ops, str) else listed("ops", ops)
        return self._later("group", [_op(op) for op in given])

    def link(self, a: Device, b: Device, *,
             latency: Optional[Quantity] = None,
             bandwidth: Optional[Quantity] = None,
             both: bool = True) -> "Machine":
        """The link from device a to b, and from b to a unless `both` is false.
        What is not given stays as it is."""
        return self._later(
            "link", label("a", a), label("b", b),
            latency=None if latency is None else quantity("latency", latency),
            bandwidth=(None if bandwidth is None else
                       quantity("bandwidth", bandwidth)), both=bool(both))

    def op_time(self, op: Ops, device: Device,
                ns: Optional[int]) -> "Machine":
        """The time of an op (id, name or pattern) on one device, which no speed
        changes; None: it cannot run there. The last call counts."""
        return self._later("op_time", _op(op), label("device", device),
                           None if ns is None else amount("ns", ns))

    def speed(self, device: Device, speed: float) -> "Machine":
        """Run times on the device are divided by this."""
        return self._later("speed", label("device", device), float(speed))

    def memory_limit(self, device: Device, limit: Quantity) -> "Machine":
        """The memory of one device; 0: no limit."""
        return self._later("memory_limit", label("device", device),
                           quantity("memory_limit", limit))

    def name(self, device: Device, name: str) -> "Machine":
        """Gives a device a name."""
        encode(name)  # what is none is found here
        return self._later("name", label("device", device), name)

    def make(self, context: Context, graph: Graph) -> Handle:
        """The library's machine for a graph."""
        check_graph(graph)
        options = Options(context)
        self.set_options(options)
        handle = context.make("regal_machine", lib.regal_machine_create,
                              lib.regal_machine_free, graph.pointer,
                              options.pointer, parents=(graph.handle,))
        maker = _Maker(context, graph, handle.pointer)
        for call, arguments, named in self._calls:
            getattr(maker, call)(*arguments, **named)
        return handle

    def save(self, path: PathLike, graph: Graph) -> None:
        """Writes a machine file for the graph, which `preset` reads."""
        context = Context()
        machine = self.make(context, graph)
        context.check(lib.regal_machine_save(context.pointer, machine.pointer,
                                             path_bytes(path)))
