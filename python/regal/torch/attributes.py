# SPDX-License-Identifier: Apache-2.0
"""Attributes of a model while it is traced.

A model may keep tensors in attributes that are neither parameters nor buffers:
a table that it made at its first call, or scores for whoever looks at them.
Tensors have no values while a model is traced, and no memory; none may stay.
"""

from __future__ import annotations

import contextlib
import inspect
import types
from typing import Any, Dict, Iterable, Iterator, List, Union

import torch

#: Whoever calls a graph would not see it.
WRITTEN = "the model writes to a tensor that is no buffer: register it as a buffer"

Container = Union[Dict[Any, Any], List[Any]]


@contextlib.contextmanager
def kept(model: torch.nn.Module) -> Iterator[List[torch.Tensor]]:
    """At the end the modules of the model, and objects that they have, have the
    attributes that they had at the beginning. The list has the tensors then that
    the model has replaced."""
    replaced: List[torch.Tensor] = []
    before = [(held, held.copy()) for held in _containers(model)]
    try:
        yield replaced
    finally:
        for held, copied in before:
            if not _is_same(held, copied):
                replaced += _missing(held, copied)
                held.clear()
                held.update(copied) if isinstance(held, dict) else held.extend(copied)


def _containers(model: torch.nn.Module) -> List[Container]:
    """Attributes by name, and the dictionaries and lists among them: of modules,
    and of objects that they have, such as one that makes a table. What these have
    may be anybody's, such as the loggers of the process."""
    found = _within([vars(module) for module in model.modules()])
    seen = set(map(id, found))
    objects = [
        vars(value) for held in found for value in _values(held) if _is_own(value)
    ]
    return found + [held for held in _within(objects) if id(held) not in seen]


def _within(rest: List[Any]) -> List[Container]:
    found: Dict[int, Container] = {}
    while rest:
        held = rest.pop()
        if isinstance(held, (dict, list)) and id(held) not in found:
            found[id(held)] = held
            rest += _values(held)
    return list(found.values())


def _is_own(value: Any) -> bool:
    """Whether it is an object with attributes; modules have been found."""
    return (
        isinstance(getattr(value, "__dict__", None), dict)
        and not isinstance(value, (torch.nn.Module, torch.Tensor, types.ModuleType))
        and not inspect.isroutine(value)
    )


def _values(held: Container) -> List[Any]:
    return list(held.values()) if isinstance(held, dict) else held


def _is_same(one: Container, other: Container) -> bool:
    a, b = _values(one), _values(other)
    return (
        len(a) == len(b)
        and all(x is y for x, y in zip(a, b))
        and (not isinstance(one, dict) or list(one) == list(other))
    )


def _missing(held: Container, before: Container) -> List[torch.Tensor]:
    found = set(map(id, _values(held)))
    return [
        value
        for value in _values(before)
        if isinstance(value, torch.Tensor) and id(value) not in found
    ]


def is_any_of(found: Iterable[Any], replaced: List[torch.Tensor]) -> bool:
    return not {*map(id, found)}.isdisjoint(map(id, replaced))
