# SPDX-License-Identifier: Apache-2.0
"""The way to the C library: contexts, errors, options and texts.

Every Python call that needs one makes a context of its own: contexts are cheap,
hold no state that outlives them, and two threads never share one. A graph has
the context that it was made in, and is only read after that, which the library
allows from any number of threads.

An object of the library is a Handle, which also keeps what must outlive it: a
result its problem, that its graph, and all of them their context. The garbage
collector finalizes the objects of a cycle in any order. So a handle counts who
uses it, children and its own Python object alike, and the last one frees it.
The count is a set, and freeing takes from a list: both are atomic, where a
number would be read and written in two steps.
"""
import copy
import numbers
import os
from typing import Any, Callable, Dict, List, Optional, Set, Tuple, Union

from ._regal import ffi as ffi
from ._regal import lib as lib

PathLike = Union[str, "os.PathLike[str]"]
#: A number (of nanoseconds, bytes, bytes per second, seconds), or a text with
#: a unit.
Quantity = Union[float, str]


class Error(Exception):
    """A call of the library failed; the text is the library's message."""


class InputError(Error, ValueError):
    """A file or a value is malformed."""


class FileError(Error, OSError):
    """A file could not be read or written."""


class MisuseError(Error, ValueError):
    """The call itself is wrong."""


class InvalidPlanError(Error, ValueError):
    """A plan breaks a rule of the model; the message names rule and step."""


class OutOfMemoryError(Error, MemoryError):
    """An allocation failed."""


class InternalError(Error):
    """A bug in regal: two parts of it disagree. Please report it."""


_ERRORS = {
    lib.REGAL_NO_MEMORY: OutOfMemoryError,
    lib.REGAL_BAD_INPUT: InputError,
    lib.REGAL_IO: FileError,
    lib.REGAL_MISUSE: MisuseError,
    lib.REGAL_INVALID_PLAN: InvalidPlanError,
    lib.REGAL_INTERNAL: InternalError,
}


def encode(text: str) -> bytes:
    """A text for C, where it ends at its first zero."""
    if not isinstance(text, str):
        raise TypeError(f"found {text!r}, expected a str")
    if "\0" in text:
        raise MisuseError(f"found {text!r}, expected a text without \\0")
    return text.encode("utf-8", "surrogateescape")


def decode(pointer: Any) -> Optional[str]:
    """The text at a `char *`; names in files need not be UTF-8."""
    if pointer == ffi.NULL:
        return None
    text: bytes = ffi.string(pointer)
    return text.decode("utf-8", "surrogateescape")


def enum_names(kind: str, prefix: str) -> Dict[int, str]:
    """The names of C's enum, without their prefix, in lower case."""
    return {value: name[len(prefix):].lower()
            for value, name in ffi.typeof(kind).elements.items()}


class Handle:
    """An object of the library, freed after its last user.

    A `pointer` is good as long as something holds its handle: keep the handle
    in a variable while the pointer is used.
    """

    def __init__(self, pointer: Any, free: Callable[[Any], Any],
                 *parents: "Handle") -> None:
        self.pointer = pointer
        self._free: List[Callable[[Any], Any]] = [free]
        self._users: Set[int] = {id(self)}
        self._parents = parents
        for parent in parents:
            parent._users.add(id(self))

    def forget(self) -> None:
        """The library has freed the object itself."""
        self._free[:] = [lambda pointer: None]

    def _release(self, user: int) -> None:
        self._users.discard(user)
        if self._users:
            return
        try:
            free = self._free.pop()
        except IndexError:
            return
        free(self.pointer)
        for parent in self._parents:
            parent._release(id(self))

    def __del__(self) -> None:
        self._release(id(self))


class Unchanging:
    """What never changes needs no copies: a copy is the same object."""

    def __copy__(self) -> Any:
        return self

    def __deepcopy__(self, memo: Any) -> Any:
        return copy.copy(self)

    def __reduce__(self) -> Any:
        raise TypeError(f"a regal.{type(self).__name__} cannot be pickled: save "
                        "it to a file")


class Context:
    """A context of the library, and what is made in it."""

    def __init__(self) -> None:
        place = ffi.new("regal_context **")
        if lib.regal_context_create(place, ffi.NULL) != lib.REGAL_OK:
            raise OutOfMemoryError("out of memory")
        self.handle = Handle(place[0], lib.regal_context_free)
        self.pointer = self.handle.pointer

    def check(self, status: int) -> None:
        """Raises what a status means, with the library's message."""
        if status != lib.REGAL_OK:
            raise self.error(status)

    def error(self, status: int) -> Error:
        message = decode(lib.regal_error(self.pointer))
        return _ERRORS.get(status, InternalError)(
            message or decode(lib.regal_status_name(status)))

    def make(self, kind: str, create: Callable[..., int],
             free: Callable[[Any], Any], *arguments: Any,
             parents: Tuple[Handle, ...] = ()) -> Handle:
        """Calls `create(context, *arguments, &object)`."""
        place = ffi.new(kind + " **")
        try:
            self.check(create(self.pointer, *arguments, place))
        except BaseException:  # also a caller's own, after the object was made
            free(place[0])
            raise
        return Handle(place[0], free, self.handle, *parents)


def path_bytes(path: Union[bytes, PathLike]) -> bytes:
    """A path for C; open() refuses the same ones."""
    found = os.fsencode(os.fspath(path))
    if b"\0" in found:
        raise ValueError("embedded null byte")
    return found


# -- Options -------------------------------------------------------------------

# What a number without a unit means, by the type of the option.
_UNITS = {lib.REGAL_OPTION_TIME: "ns", lib.REGAL_OPTION_RATE: "B/s"}
# Numbers of nanoseconds or bytes: the smallest units.
_AMOUNTS = (lib.REGAL_OPTION_TIME, lib.REGAL_OPTION_RATE,
            lib.REGAL_OPTION_BYTES, lib.REGAL_OPTION_COST)


def _is_fraction(value: Any) -> bool:
    return (isinstance(value, numbers.Real)
            and not isinstance(value, numbers.Integral)
            and not float(value).is_integer())


def _option_text(value: Any, unit: str) -> bytes:
    if isinstance(value, bool):
        return b"true" if value else b"false"
    if isinstance(value, (bytes, os.PathLike)):
        return path_bytes(value)
    if isinstance(value, numbers.Integral):
        return encode(f"{int(value)}{unit}")
    if isinstance(value, numbers.Real):
        number = float(value)  # 1e4 is whole
        digits = int(number) if number.is_integer() else repr(number)
        return encode(f"{digits}{unit}")
    return encode(str(value))


class Options:
    """A set of the library's options, each checked when it is set."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._handle = context.make("regal_options", lib.regal_options_create,
                                    lib.regal_options_free)
        self.pointer = self._handle.pointer

    def set(self, name: str, value: Any, cost_unit: str = "") -> None:
        """Sets an option by its Python or its own name; None does nothing."""
        if value is None:
            return
        option = encode(name.replace("_", "-"))
        info = _option(option)
        kind = None if info is None else info.type
        unit = _UNITS.get(
            kind, cost_unit if kind == lib.REGAL_OPTION_COST else "")
        values = value if isinstance(value, (list, tuple)) else [value]
        if values is value and kind not in (None, lib.REGAL_OPTION_LIST):
            raise MisuseError(f"{name}: found {value!r}, expected one value")
        for one in values:
            if kind in _AMOUNTS and _is_fraction(one):
                raise MisuseError(f"{name}: found {one!r}, expected a whole "
                                  "number")
            self._context.check(lib.regal_options_set(
                self._context.pointer, self.pointer, option,
                _option_text(one, unit)))

    def update(self, given: Dict[str, Any], groups: Tuple[str, ...],
               where: str, cost_unit: str = "") -> None:
        """Sets keyword arguments, which must be options of these groups.
        `cost_unit` is that of a cost which is given as a number."""
        for name, value in given.items():
            info = _option(encode(name.replace("_", "-")))
            group = None if info is None else decode(info.group)
            if group is not None and group not in groups:
                raise TypeError(f"{where} takes no option {name!r}: it is one "
                                f"of group {group!r}")
            self.set(name, value, cost_unit)

    def given(self, group: str) -> Dict[str, str]:
        """The options of a group that have a value of their own, as texts."""
        found = {}
        text = ffi.new("char[]", lib.REGAL_MOST_LIST)
        for index in range(lib.regal_option_count()):
            info = lib.regal_option_at(index)
            if (decode(info.group) == group
                    and lib.regal_option_given(self.pointer, info.name)
                    and lib.regal_option_text(self.pointer, index, text,
                                              lib.REGAL_MOST_LIST)):
                name = decode(info.name) or ""
                found[name.replace("-", "_")] = decode(text) or ""
        return found


def _option(name: bytes) -> Any:
    """C's description of an option, or None: there is no such option."""
    index = lib.regal_option_find(name)
    if index == lib.regal_option_count():
        return None
    return lib.regal_option_at(index)


def quantity(option: str, value: Quantity) -> int:
    """The number that an option's text means, such as 2000 for latency "2us"."""
    options = Options(Context())
    options.set(option, value)
    return int(getattr(options.pointer, option))


# -- Texts ---------------------------------------------------------------------

def report_text(context: Context, write: Callable[..., int],
                *arguments: Any) -> str:
    """What a report of the library writes to a stream."""
    text, size = ffi.new("char **"), ffi.new("size_t *")
    stream = lib.open_memstream(text, size)
    if stream == ffi.NULL:
        raise OutOfMemoryError("out of memory")
    status = write(context.pointer, *arguments, stream)
    lib.fclose(stream)
    written: bytes = ffi.buffer(text[0], size[0])[:]
    lib.free(text[0])
    context.check(status)
    return written.decode("utf-8", "replace")
