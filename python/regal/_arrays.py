# SPDX-License-Identifier: Apache-2.0
"""Arrays: those of a finished graph, and those that callers give, checked."""
from typing import Any, Dict, List, Optional, Sequence, Tuple

import numpy as np

from ._library import MisuseError, ffi, lib


def _array(pointer: Any, count: int, dtype: Any) -> np.ndarray:
    """A copy of a C array."""
    size = count * np.dtype(dtype).itemsize
    if not size:
        return np.empty(0, dtype)
    made: np.ndarray = np.frombuffer(ffi.buffer(pointer, size), dtype).copy()
    return made


class GraphArrays:
    """A finished graph's arrays, with the library's own op numbers."""

    def __init__(self, graph: Any) -> None:
        c = ffi.new("regal_graph_arrays *")
        lib.regal_graph_read(graph, c)
        n, u32, i64 = c.ops, np.uint32, np.int64
        self.id = _array(c.id, n, u32)
        self.op_of_id = _array(c.op_of_id, c.ids, u32)
        self.run_ns = _array(c.run_ns, n, i64)
        self.temporary_bytes = _array(c.temporary_bytes, n, i64)
        self.resident_bytes = _array(c.resident_bytes, n, i64)
        self.output_begin = _array(c.output_begin, n + 1, u32)
        self.producer = _array(c.producer, c.tensors, u32)
        self.bytes = _array(c.bytes, c.tensors, i64)
        self.is_final = _array(c.is_final, c.tensors, np.bool_)
        self.may_reuse = _array(c.may_reuse, c.tensors, np.bool_)
        self.input_begin = _array(c.input_begin, n + 1, u32)
        self.input = _array(c.input, self.input_begin[-1], u32)
        self.control_begin = _array(c.control_begin, n + 1, u32)
        self.control = _array(c.control, self.control_begin[-1], u32)
        self.parameter_bytes = _array(c.parameter_bytes, c.parameters, i64)
        self.parameter_begin = _array(c.parameter_begin, n + 1, u32)
        self.parameter = _array(c.parameter, self.parameter_begin[-1], u32)
        # The library's op numbers in the order of ids.
        self.by_id = np.argsort(self.id, kind="stable")


# -- Numbers of callers --------------------------------------------------------

def _whole(what: str, value: Any, low: int, high: int) -> int:
    """A whole number that C can hold; nothing is rounded or cut off."""
    try:
        number = int(value)
        is_whole = not isinstance(value, (str, bytes)) and number == value
    except (TypeError, ValueError, OverflowError):
        is_whole = False
    if not is_whole:
        raise MisuseError(f"{what}: found {value!r}, expected a whole number")
    if not low <= number <= high:
        raise MisuseError(f"{what}: found {number}, expected {low} to {high}")
    return number


def amount(what: str, value: Any) -> int:
    """Nanoseconds or bytes. The library says what is wrong with negative ones.
    """
    return _whole(what, value, -1 << 63, (1 << 63) - 1)


def index(what: str, value: Any) -> int:
    """The number of an op, an output or a parameter."""
    return _whole(what, value, 0, (1 << 32) - 1)


def final_ports(final: Any, count: int) -> List[int]:
    """Positions of outputs; True is all of them."""
    if final is None or isinstance(final, (bool, np.bool_)):
        return list(range(count)) if final else []
    return [index("final", port) for port in final]


# -- Arrays of callers ---------------------------------------------------------

def check_ports(what: str, ports: Sequence[int],
                outputs: Sequence[int]) -> None:
    """Fails unless all are positions in `outputs`."""
    for port in ports:
        if port >= len(outputs):
            raise MisuseError(f"{what}: there is no output {port}, the op has "
                              f"{len(outputs)}")


def check_length(what: str, values: Optional[Sequence[Any]],
                 count: int) -> None:
    """Fails unless there are `count` values, or None."""
    if values is not None and len(values) != count:
        raise MisuseError(f"{what}: found {len(values)} entries, expected "
                          f"{count}")


def numbers(what: str, values: Any) -> np.ndarray:
    """One dimension of whole numbers."""
    array = np.asarray(values)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iub"):
        raise MisuseError(f"{what}: found an array of {array.ndim} dimensions "
                          f"and type {array.dtype}, expected one dimension of "
                          "whole numbers")
    if array.dtype == np.uint64 and array.size:
        amount(what, array.max())
    return array.astype(np.int64)


def vector(what: str, values: Any) -> List[int]:
    """The same as a list; None is empty."""
    found: List[int] = [] if values is None else numbers(what, values).tolist()
    return found


def column(what: str, values: Any, count: int) -> List[int]:
    """A number for each op; None is 0 for all."""
    if values is None:
        return [0] * count
    numbers = vector(what, values)
    check_length(what, numbers, count)
    return numbers


def rows(what: str, columns: Any, *widths: int) -> Any:
    """Tuples of indices from columns, of which there are as many as `widths`
    allows."""
    if columns is None:
        return []
    vectors = [vector(what, column) for column in columns]
    if len(vectors) not in widths or len({len(v) for v in vectors}) > 1:
        raise MisuseError(f"{what}: found {len(vectors)} arrays of lengths "
                          f"{[len(v) for v in vectors]}, expected "
                          f"{' or '.join(map(str, widths))} of one length")
    for values in vectors:
        for value in (min(values), max(values)) if values else ():
            index(what, value)
    return zip(*vectors)


def _is_pair(tensors: Any) -> bool:
    """Whether it is two arrays, not a tuple of two numbers."""
    return (isinstance(tensors, tuple) and len(tensors) == 2
            and np.ndim(tensors[0]) > 0)


def places_of(tensors: Any) -> Any:
    """(op, output) of each tensor."""
    if not _is_pair(tensors):
        return [(op, 0) for op in range(len(tensors))]
    seen: Dict[int, int] = {}
    places = []
    for op in vector("tensors", tensors[0]):
        port = seen.get(op, 0)
        seen[op] = port + 1
        places.append((op, port))
    return places


def outputs_of(tensors: Any, final: Any,
               count: int) -> Tuple[List[List[int]], List[List[int]]]:
    """The bytes of each op's outputs, and those that are final."""
    sizes: List[List[int]] = [[] for _ in range(count)]
    last: List[List[int]] = [[] for _ in range(count)]
    if tensors is None:
        check_length("final", final, 0)
        return sizes, last
    if not _is_pair(tensors):
        check_length("tensors", tensors, count)
    values = vector("tensors", tensors[1] if _is_pair(tensors) else tensors)
    places = places_of(tensors)
    check_length("final", final, len(places))
    check_length("tensors", values, len(places))
    for i, (op, port) in enumerate(places):
        if not 0 <= op < count:
            raise MisuseError(f"tensors: there is no op {op}")
        sizes[op].append(values[i])
        if final is not None and final[i]:
            last[op].append(port)
    return sizes, last
