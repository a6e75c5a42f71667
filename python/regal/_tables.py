# SPDX-License-Identifier: Apache-2.0
"""The library's tables: methods, machines by name, options."""
from typing import List, NamedTuple, Optional

from ._library import Context, decode, encode, enum_names, ffi, lib


class MethodInfo(NamedTuple):
    """A method of search."""
    name: str
    help: str
    budget: str  # what its budget means, or "none"


class Preset(NamedTuple):
    """A machine by name; sources say where its numbers are from."""
    name: str
    about: str
    device_name: str
    devices: int
    memory_bytes: int
    bytes_per_s: int
    latency_ns: int
    overlapped: bool
    memory_source: str
    bandwidth_source: str
    latency_source: str


class OptionInfo(NamedTuple):
    """An option of the program; in Python its hyphens are underscores."""
    name: str
    type: str
    choices: List[str]
    low: float
    high: float
    unit: Optional[str]
    group: str
    help: str
    default: Optional[str]


def methods() -> List[MethodInfo]:
    """All methods that `optimize` may be given."""
    rows = (lib.regal_method_at(i) for i in range(lib.regal_method_count()))
    return [MethodInfo(*(decode(getattr(row, name)) or ""
                         for name in MethodInfo._fields)) for row in rows]


def _preset(row: object) -> Preset:
    def value(name: str) -> object:
        field = getattr(row, name)
        return field if isinstance(field, (int, bool)) else decode(field) or ""

    return Preset(*(value(name) for name in Preset._fields))  # type: ignore


def presets() -> List[Preset]:
    """All machines that `Machine(preset=...)` knows by name."""
    return [_preset(lib.regal_preset_at(i))
            for i in range(lib.regal_preset_count())]


_TYPES = enum_names("regal_option_type", "REGAL_OPTION_")


def options() -> List[OptionInfo]:
    """All options, with their groups. `optimize` takes those of the groups
    objective, search, brkga and anneal, `Machine` those of machine,
    `Graph.load` those of reading and limits."""
    rows = (lib.regal_option_at(i) for i in range(lib.regal_option_count()))
    return [OptionInfo(
        decode(row.name) or "", _TYPES[row.type],
        (decode(row.choices) or "").split("|") if row.choices else [],
        row.low, row.high, decode(row.unit), decode(row.group) or "",
        decode(row.help) or "", decode(row.fallback)) for row in rows]


def roofline_ns(device: str, number: str, flops: float, size: float) -> int:
    """The time of an op on a device of `--roofline`, in nanoseconds.

    `number` is what it computes with: "fp64", "fp32", "fp16", "bf16" or "int8";
    `size` is the bytes that it moves.
    """
    context, ns = Context(), ffi.new("int64_t *")
    context.check(lib.regal_roofline_ns(context.pointer, encode(device),
                                        encode(number), flops, size, ns))
    return int(ns[0])
