# SPDX-License-Identifier: Apache-2.0
"""Calls of a model: arguments, and where they and the results are in the model's
program."""

from __future__ import annotations

import contextlib
import dataclasses
from typing import (
    Any,
    ContextManager,
    Dict,
    FrozenSet,
    Iterator,
    List,
    Optional,
    Sequence,
)

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils import _pytree as pytree

from .refusals import without_values
from .slots import empty_like, without_repeats


@contextlib.contextmanager
def fake_tensors() -> Iterator[FakeTensorMode]:
    """Inside, tensors have shapes and no values."""
    with without_values(), FakeTensorMode(allow_non_fake_inputs=True) as fake:
        yield fake


def fakes_of(values: Sequence[Any]) -> List[Any]:
    """The tensors among them without values."""
    with fake_tensors() as fake:
        return [
            fake.from_tensor(v.detach()) if isinstance(v, torch.Tensor) else v
            for v in values
        ]


def without_autocast() -> ContextManager:
    """A graph of a model has the conversions that autocast has made; whoever
    takes it apart or runs it must not make others."""
    return torch._C._DisableAutocast()


class Call:
    """Arguments of a model. By keyword they may come in any order."""

    def __init__(self, args: Sequence[Any], kwargs: Optional[Dict[str, Any]]):
        self.args, self.kwargs = tuple(args), dict(sorted((kwargs or {}).items()))
        self.leaves, self.spec = pytree.tree_flatten((self.args, self.kwargs))

    def without_values(self) -> "Call":
        """To compare others with: it takes no memory of a device."""
        return Call(*pytree.tree_unflatten(fakes_of(self.leaves), self.spec))


@dataclasses.dataclass
class Signature:
    """Where arguments and results of a model are in its program."""

    #: As it was captured.
    example: Call
    #: Of each leaf: its place among the program's inputs; None: it is none.
    places: List[Optional[int]]
    #: Of each result of a call: its place among the program's results; None:
    #: it is None.
    returned: List[Optional[int]]
    #: From results of the program to the inputs that the model writes.
    updates: Dict[int, int] = dataclasses.field(default_factory=dict)
    #: These inputs, also when the program itself writes them.
    written: FrozenSet[int] = frozenset()
    #: Whether whoever gets results may write to each of them alone.
    are_gradients: bool = False
    #: How results of a call lie in what the model returns.
    result: Any = None

    def bind(self, args: Sequence[Any], given: Call) -> List[Any]:
        """The program's inputs for a call: `args` but for what is given."""
        if list(given.kwargs) != list(self.example.kwargs):
            raise ValueError(
                f"keyword arguments {', '.join(given.kwargs) or 'none'}, "
                f"expected {', '.join(self.example.kwargs) or 'none'}"
            )
        if len(given.leaves) != len(self.places):
            raise ValueError(
                f"{len(given.leaves)} arguments, expected {len(self.places)}"
            )
        values = list(args)
        for at, (place, leaf) in enumerate(zip(self.places, given.leaves)):
            known = self.example.leaves[at]
            _check_argument(at, leaf, known)
            if place is not None:
                values[place] = _in_layout(at, leaf, known, place in self.written)
        return values

    def finish(self, values: Sequence[Any], results: Sequence[Any]) -> List[Any]:
        """Writes what the model writes; what a call returns."""
        with torch.no_grad():
            for at, place in self.updates.items():
                values[place].copy_(results[at])
        found = [None if at is None else results[at] for at in self.returned]
        return _writable(found, values) if self.are_gradients else found


def not_writable(results: Sequence[Any], values: Sequence[Any]) -> List[int]:
    """Results that have no memory of their own: gradients of two parameters may
    be equal, one may be a number that is repeated, or an input."""
    seen = {
        v.untyped_storage()._cdata for v in values if isinstance(v, torch.Tensor)
    }
    found = []
    for at, value in enumerate(results):
        if isinstance(value, torch.Tensor):
            storage = value.untyped_storage()._cdata
            if storage in seen or without_repeats(value) is not value:
                found.append(at)
            seen.add(storage)
    return found


def _writable(results: List[Any], values: Sequence[Any]) -> List[Any]:
    found = list(results)
    for at in not_writable(results, values):
        found[at] = results[at].clone(memory_format=torch.contiguous_format)
    return found


def _check_argument(at: int, given: Any, known: Any) -> None:
    """A graph is for one shape and type, and has numbers built in."""
    if _description(given) != _description(known):
        raise ValueError(
            f"argument {at} is {describe(given)}; the model was captured with "
            f"{describe(known)}"
        )


def _in_layout(
    at: int, given: Any, known: Any, is_written: bool
) -> Any:
    """The argument as its elements lie in the example: kernels of a graph have
    the strides built in."""
    if not isinstance(known, torch.Tensor) or given.stride() == known.stride():
        return given
    if is_written or without_repeats(known) is not known:
        raise ValueError(
            f"argument {at} has strides {given.stride()}; the model was captured "
            f"with {known.stride()}"
        )
    return empty_like(known).copy_(given.detach())


def _description(value: Any) -> Any:
    """Equal for arguments that a graph takes for each other."""
    if isinstance(value, torch.Tensor):
        return value.dtype, value.shape, value.device
    return repr(value)


def describe(value: Any) -> str:
    if isinstance(value, torch.Tensor):
        return (
            f"a tensor of {value.dtype} and shape {tuple(value.shape)} on "
            f"{value.device}"
        )
    return repr(value)
