# SPDX-License-Identifier: Apache-2.0
"""Arrays: those of a finished graph, and those that callers give, checked."""
from typing import (Any, Iterable, List, Optional, Sequence, Set, SupportsIndex,
                    Tuple, Union)

import numpy as np

from ._library import MisuseError, ffi, lib

Numbers = Iterable[SupportsIndex]
Column = Union[Sequence[SupportsIndex], np.ndarray]


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
        self.input = _array(c.input, int(self.input_begin[-1]), u32)
        self.control_begin = _array(c.control_begin, n + 1, u32)
        self.control = _array(c.control, int(self.control_begin[-1]), u32)
        self.parameter_bytes = _array(c.parameter_bytes, c.parameters, i64)
        self.parameter_begin = _array(c.parameter_begin, n + 1, u32)
        self.parameter = _array(c.parameter, int(self.parameter_begin[-1]),
                                u32)
        # The library's op numbers in the order of ids.
        self.by_id = np.argsort(self.id, kind="stable")


# -- Numbers of callers --------------------------------------------------------

MOST = (1 << 63) - 1

def whole(what: str, value: Any, low: int, high: int) -> int:
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
    return whole(what, value, -1 << 63, MOST)


def index(what: str, value: Any) -> int:
    """The number of an op, an output or a parameter. A truth value is none: it
    would be one of a mask."""
    if isinstance(value, (bool, np.bool_)):
        raise MisuseError(f"{what}: found {value!r}, expected a number")
    return whole(what, value, 0, (1 << 32) - 1)


def label(what: str, value: Any) -> str:
    """The number or the name of a device or a group, as a text. What stands for
    a missing one, such as NaN, is neither."""
    if isinstance(value, str) and value:
        return value
    try:
        return str(index(what, value))
    except MisuseError:
        raise MisuseError(f"{what}: found {value!r}, expected a number or a "
                          "name") from None


def device_label(device: Any) -> str:
    """The number or the name of a device that a graph asks for."""
    text = label("device", device)
    if text.isascii() and text.isdigit():
        whole("device", int(text), 0, lib.REGAL_MAX_DEVICES - 1)
    return text


def listed(what: str, values: Any) -> List[Any]:
    """The values in their order, which for a Series of pandas is not that of its
    labels."""
    if not isinstance(values, (str, bytes)):
        try:
            return list(values)
        except TypeError:
            pass
    raise MisuseError(f"{what}: found {values!r}, expected a list")


def final_ports(final: Any, count: int) -> Set[int]:
    """Positions of outputs, of which there are `count`; True is all of them."""
    if final is None or isinstance(final, (bool, np.bool_)):
        return set(range(count)) if final else set()
    ports = {index("final", port) for port in listed("final", final)}
    for port in ports:
        if port >= count:
            raise MisuseError(f"final: there is no output {port}, the op has "
                              f"{count}")
    return ports


# -- Arrays of callers ---------------------------------------------------------

def check_length(what: str, values: Optional[Sequence[Any]],
                 count: int) -> None:
    """Fails unless there are `count` values, or None."""
    if values is not None and len(values) != count:
        raise MisuseError(f"{what}: found {len(values)} entries, expected "
                          f"{count}")


def check_range(what: str, values: np.ndarray, low: int, high: int) -> None:
    """Fails if a value would be another one in C."""
    wrong = values[(values < low) | (values > high)]
    if wrong.size:
        raise MisuseError(f"{what}: found {wrong[0]}, expected {low} to {high}")


def numbers(what: str, values: Any) -> np.ndarray:
    """One dimension of whole numbers."""
    array = np.asarray(values)
    if array.ndim == 1 and array.dtype == object:
        return np.array([amount(what, value) for value in array], np.int64)
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


def truths(what: str, values: Any, count: int) -> List[bool]:
    """A truth value, or 0 or 1, for each of `count` things; None is False for
    all."""
    if values is None:
        return [False] * count
    array = np.asarray(values)
    if array.ndim != 1 or not (array.dtype.kind in "biuO"
                               and np.isin(array, (0, 1)).all()
                               or array.size == 0):
        raise MisuseError(f"{what}: found {values!r}, expected a list of True "
                          "and False")
    found: List[bool] = array.astype(bool).tolist()
    check_length(what, found, count)
    return found


def column_of(what: str, values: Any, count: int) -> List[Any]:
    """A text, a number or None for each op; None is None for all."""
    if values is None:
        return [None] * count
    found = listed(what, values)
    check_length(what, found, count)
    return found


def rows(what: str, columns: Any, *widths: int) -> Any:
    """Tuples of indices from columns, of which there are as many as `widths`
    allows."""
    if columns is None:
        return []
    given = listed(what, columns)
    if isinstance(columns, list) and given and all(
            isinstance(row, tuple) for row in given):
        # Two of them could be taken for two arrays.
        raise MisuseError(f"{what}: found a list of tuples, expected a tuple of "
                          f"arrays, such as tuple(zip(*{what}))")
    expected = " or ".join(map(str, widths))
    if len(given) not in widths:
        raise MisuseError(f"{what}: found {len(given)} arrays, expected "
                          f"{expected}")
    vectors = [vector(what, column) for column in given]
    if len({len(v) for v in vectors}) > 1:
        raise MisuseError(f"{what}: found {len(vectors)} arrays of lengths "
                          f"{[len(v) for v in vectors]}, expected {expected} of "
                          "one length")
    for values in vectors:
        for value in (min(values), max(values)) if values else ():
            index(what, value)
    return zip(*vectors)


def _is_pair(tensors: Any) -> bool:
    """Whether it is two arrays, not a tuple of two numbers."""
    return (isinstance(tensors, tuple) and len(tensors) == 2
            and np.ndim(tensors[0]) > 0)


def tensors_of(tensors: Any, count: int) -> Tuple[List[int], List[int]]:
    """The op and the bytes of each tensor."""
    if tensors is None:
        return [], []
    if not _is_pair(tensors):
        return list(range(count)), column("tensors", tensors, count)
    ops = vector("tensors", tensors[0])
    for op in ops:
        if not 0 <= op < count:
            raise MisuseError(f"tensors: there is no op {op}")
    sizes = vector("tensors", tensors[1])
    check_length("tensors", sizes, len(ops))
    return ops, sizes
