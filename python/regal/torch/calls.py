# SPDX-License-Identifier: Apache-2.0
"""Calls of a model: arguments, and where they and the results are in the model's
program."""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
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
from torch.fx.experimental.symbolic_shapes import ShapeEnv
from torch.utils import _pytree as pytree

from ..streams.access import meet
from .refusals import without_values
from .slots import without_repeats
from .trace import access_of, storage_of


@contextlib.contextmanager
def fake_tensors(numbers: Optional[ShapeEnv] = None) -> Iterator[FakeTensorMode]:
    """Inside, tensors have shapes and no values.

    :param numbers: of loops, whose ops have numbers that are not known.
    """
    mode = FakeTensorMode(
        allow_non_fake_inputs=True, shape_env=numbers, static_shapes=True
    )
    with without_values(), mode as fake:
        yield fake


def numbers_of_loops() -> ShapeEnv:
    """What tracing a loop takes. Other ops have sizes that are known."""
    return ShapeEnv(
        allow_scalar_outputs=False, allow_dynamic_output_shape_ops=False
    )


def fakes_of(values: Sequence[Any]) -> List[Any]:
    """The tensors among them without values."""
    with fake_tensors(numbers_of_loops()) as fake:
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
        self.leaves = pytree.arg_tree_leaves(*self.args, **self.kwargs)

    @property
    def spec(self) -> pytree.TreeSpec:
        """How the leaves lie in the arguments; calls do not ask for it."""
        return pytree.tree_structure((self.args, self.kwargs))


class Argument:
    """What an argument of a call must be. These are plain values, because every
    call asks for them: a fake tensor takes 4 us to say where it is, and a real
    one would keep its memory."""

    def __init__(self, example: Any):
        self._kind = _kind_of(example)
        self._text = describe(example)
        self._stride = None
        if isinstance(example, torch.Tensor):
            self._stride = example.stride()
            self._is_repeating = without_repeats(example) is not example

    def bind(self, at: int, given: Any, is_written: bool) -> Any:
        """The argument number `at` of a call, as its elements lie in the
        example: kernels of a graph have the strides built in, and numbers."""
        if _kind_of(given) != self._kind:
            raise ValueError(
                f"argument {at} is {describe(given)}; the model was captured "
                f"with {self._text}"
            )
        if self._stride is None or given.stride() == self._stride:
            return given
        if is_written or self._is_repeating:
            raise ValueError(
                f"argument {at} has strides {given.stride()}; the model was "
                f"captured with {self._stride}"
            )
        return torch.empty_strided(
            given.shape, self._stride, dtype=given.dtype, device=given.device
        ).copy_(given.detach())


@dataclasses.dataclass
class Signature:
    """Where arguments and results of a model are in its program."""

    #: As it was captured.
    call: dataclasses.InitVar[Call]
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

    def __post_init__(self, call: Call) -> None:
        self.keywords = list(call.kwargs)
        self.arguments = [Argument(leaf) for leaf in call.leaves]

    def bind(self, args: Sequence[Any], given: Call) -> List[Any]:
        """The program's inputs for a call: `args` but for what is given."""
        if list(given.kwargs) != self.keywords:
            raise ValueError(
                f"keyword arguments {', '.join(given.kwargs) or 'none'}, "
                f"expected {', '.join(self.keywords) or 'none'}"
            )
        if len(given.leaves) != len(self.places):
            raise ValueError(
                f"{len(given.leaves)} arguments, expected {len(self.places)}"
            )
        values = list(args)
        for at, (argument, place, leaf) in enumerate(
            zip(self.arguments, self.places, given.leaves)
        ):
            bound = argument.bind(at, leaf, place in self.written)
            if place is not None:
                values[place] = bound
        written = self.written.intersection(self.places)
        if written:
            _check_apart(given.leaves, [p in written for p in self.places])
        return values

    def finish(self, values: Sequence[Any], results: Sequence[Any]) -> List[Any]:
        """Writes what the model writes; what a call returns."""
        with torch.no_grad():
            for at, place in self.updates.items():
                values[place].copy_(results[at])
        found = [None if at is None else results[at] for at in self.returned]
        return _writable(found, values) if self.are_gradients else found


def _check_apart(leaves: Sequence[Any], is_written: Sequence[bool]) -> None:
    """The graph has each argument for memory of its own: kernels that read one
    do not wait for those that write another one."""
    lying_in: Dict[int, List[int]] = {}
    for at, leaf in enumerate(leaves):
        if isinstance(leaf, torch.Tensor):
            storage = storage_of(leaf)
            lying_in.setdefault(storage, []).append(at)
    for places in lying_in.values():
        for one, other in itertools.combinations(places, 2):
            if (is_written[one] or is_written[other]) and meet(
                access_of(leaves[one]), access_of(leaves[other])
            ):
                raise ValueError(
                    f"arguments {one} and {other} share memory, and the model "
                    "writes it: give it a copy"
                )


def not_writable(results: Sequence[Any], values: Sequence[Any]) -> List[int]:
    """Results that have no memory of their own: gradients of two parameters may
    be equal, one may be a number that is repeated, or an input."""
    seen = {storage_of(v) for v in values if isinstance(v, torch.Tensor)}
    found = []
    for at, value in enumerate(results):
        if isinstance(value, torch.Tensor):
            storage = storage_of(value)
            if storage in seen or without_repeats(value) is not value:
                found.append(at)
            seen.add(storage)
    return found


def _writable(results: List[Any], values: Sequence[Any]) -> List[Any]:
    found = list(results)
    for at in not_writable(results, values):
        found[at] = results[at].clone(memory_format=torch.contiguous_format)
    return found


def _kind_of(value: Any) -> Any:
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
