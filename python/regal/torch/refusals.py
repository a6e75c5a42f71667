# SPDX-License-Identifier: Apache-2.0
"""Models and arguments of which there is no graph: each is refused with one line
that says why."""

from __future__ import annotations

import contextlib
from typing import Any, Iterator

import torch
from torch._subclasses.fake_tensor import (
    DataDependentOutputException,
    DynamicOutputShapeException,
)
from torch.fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode
from torch.overrides import TorchFunctionMode
from torch.utils import _pytree as pytree


class Refused(ValueError):
    """There is no graph of the model; the message says why."""


@contextlib.contextmanager
def refusing(what: str) -> Iterator[None]:
    """Inside, whatever PyTorch cannot do, in whichever of its parts, is refused
    with a message of one line."""
    try:
        yield
    except Refused:
        raise
    except Exception as error:
        lines = str(error).strip().splitlines() or [""]
        raise Refused(f"{what}: {type(error).__name__}: {lines[0]}") from error


@contextlib.contextmanager
def without_values() -> Iterator[None]:
    """Inside, whoever needs the value of a tensor is told why it has none."""
    try:
        yield
    except (
        DataDependentOutputException,
        DynamicOutputShapeException,
        GuardOnDataDependentSymNode,
    ) as error:
        needed = getattr(error, "func", None) or error.cond
        raise Refused(
            f"a value of a tensor decides what runs, or a size: {needed}; "
            "a plan is for one graph with known sizes"
        ) from error


#: PyTorch traces `tensor.data = other` as if it were not there.
REPLACES_DATA = (
    "the model assigns to .data of a tensor, which no graph has: write into the "
    "tensor, as by copy_()"
)


class WithoutNewData(TorchFunctionMode):
    """Inside, assignments to `.data` are refused."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        if func == torch.Tensor.data.__set__:  # made anew for each use
            raise Refused(REPLACES_DATA)
        return func(*args, **(kwargs or {}))


def check_model(model: Any, args: Any, kwargs: Any, name: str) -> None:
    """
    :param name: what the caller calls the arguments.
    """
    if not isinstance(model, torch.nn.Module):
        raise TypeError(
            f"model is a {type(model).__name__}, expected a torch.nn.Module"
        )
    if isinstance(model, torch.jit.ScriptModule):
        raise Refused(
            "model is TorchScript, of which there is no graph: give the module "
            "that it was made from"
        )
    check_arguments(args, kwargs, name)


def check_arguments(args: Any, kwargs: Any, name: str) -> None:
    if not isinstance(args, (list, tuple)):
        raise TypeError(
            f"{name} is a {type(args).__name__}, expected a tuple such as (x,)"
        )
    if kwargs is not None and not isinstance(kwargs, dict):
        name = name.replace("args", "kwargs")
        raise TypeError(
            f'{name} is a {type(kwargs).__name__}, expected a dict such as {{"x": x}}'
        )


def check_dense(what: str, value: Any) -> None:
    """Sparse and nested tensors have no storage of one size."""
    for tensor in pytree.tree_leaves(value):
        if isinstance(tensor, torch.Tensor) and (
            tensor.layout is not torch.strided or tensor.is_nested
        ):
            kind = "nested" if tensor.is_nested else str(tensor.layout)
            raise Refused(f"{what} is a {kind} tensor; a plan needs dense ones")
