# SPDX-License-Identifier: Apache-2.0
"""Graphs with sizes that vary: a plan for each set of sizes that comes again.

If a model is called with another shape, Dynamo compiles it for any size of the
dimensions that differ (unless ``dynamic=False``), and the graph has inputs that
are numbers. Plans are for known sizes. So Inductor's own code for any size runs
sizes that are new, at once. Sizes that come a second time have a graph of their
own, in which the numbers are constants, and that one is planned. Models whose
inputs never have the same size twice pay for one compilation, not for plans.
"""

from __future__ import annotations

import collections
import copy
import threading
from typing import (
    Any,
    Callable,
    Counter,
    Dict,
    List,
    Optional,
    Sequence,
    Tuple,
)

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils._python_dispatch import _disable_current_modes

from .planned import warn

#: Sets of sizes that have a graph of their own.
_MOST = 8
#: How many are counted before they are forgotten.
_COUNTED = 1000

#: What such a graph is called in a warning.
VARYING = "sizes that vary"

_NUMBERS = (torch.SymInt, torch.SymFloat, torch.SymBool)


def is_any_varying(example_inputs: Sequence[Any]) -> bool:
    return bool(_varying(example_inputs))


def _varying(example_inputs: Sequence[Any]) -> List[int]:
    """Places of numbers, and of tensors whose sizes depend on them."""
    return [
        at
        for at, value in enumerate(example_inputs)
        if isinstance(value, _NUMBERS)
        or isinstance(value, torch.Tensor)
        and any(
            isinstance(n, _NUMBERS)
            for n in (*value.shape, *value.stride(), value.storage_offset())
        )
    ]


def copy_of_graph(gm: torch.fx.GraphModule) -> torch.fx.GraphModule:
    """With Dynamo's notes on it; the tensors are the same. Whoever compiles a
    graph changes it."""
    copied = torch.fx.GraphModule(gm, copy.deepcopy(gm.graph))
    copied.meta = dict(gm.meta)
    if hasattr(gm, "_param_name_to_source"):
        copied._param_name_to_source = gm._param_name_to_source
    for node, same in zip(gm.graph.nodes, copied.graph.nodes):
        if hasattr(node, "_dynamo_source"):
            same._dynamo_source = node._dynamo_source
    return copied


def with_numbers(
    gm: torch.fx.GraphModule, args: Sequence[Any]
) -> torch.fx.GraphModule:
    """The graph for these arguments: its inputs are the tensors among them."""
    known = copy_of_graph(gm)
    inputs = [n for n in known.graph.nodes if n.op == "placeholder"]
    for node, value in zip(inputs, args):
        if not isinstance(value, torch.Tensor):
            for user in list(node.users):
                user.args, user.kwargs = torch.fx.map_arg(
                    (user.args, user.kwargs),
                    lambda n: value if n is node else n,
                )
            known.graph.erase_node(node)
    for node in known.graph.nodes:
        node.meta.pop("example_value", None)  # has the sizes as symbols
    known.recompile()
    return known


def with_known_sizes(args: Sequence[Any]) -> List[torch.Tensor]:
    """The tensors among the arguments, without values."""
    mode = FakeTensorMode()
    return [
        mode.from_tensor(a, static_shapes=True)
        for a in args
        if isinstance(a, torch.Tensor)
    ]


class BySizes:
    """Calls of a graph with sizes that vary."""

    def __init__(
        self,
        gm: torch.fx.GraphModule,
        example_inputs: Sequence[Any],
        compiled: Callable,
        plan: Callable[..., Optional[Callable]],
    ):
        """
        :param compiled: serves any size.
        :param plan: makes a callable of a graph and its inputs, or None if it
            cannot be planned; then no others are tried.
        """
        self._gm, self._any, self._plan = gm, compiled, plan
        self._varying = _varying(example_inputs)
        self._tensors = [
            at
            for at, value in enumerate(example_inputs)
            if isinstance(value, torch.Tensor)
        ]
        self._known: Dict[tuple, Callable] = {}
        self._most = _MOST
        self._calls: Counter[tuple] = collections.Counter()
        self._lock = threading.Lock()

    def __call__(self, *args: Any) -> Any:
        key = self._key(args)
        known = self._known.get(key)
        if known is None and len(self._known) < self._most:
            known = self._note(key, args)
        if known is None:
            return self._any(*args)
        return known(*[args[at] for at in self._tensors])

    def _key(self, args: Sequence[Any]) -> Tuple[Any, ...]:
        return tuple(
            [
                (value.shape, value.stride())
                if isinstance(value, torch.Tensor)
                else value
                for value in (args[at] for at in self._varying)
            ]
        )

    def _note(self, key: tuple, args: Sequence[Any]) -> Optional[Callable]:
        """Counts a call; plans a graph for its sizes if it is the second."""
        with self._lock:
            if key in self._known or len(self._known) >= self._most:
                return self._known.get(key)
            if len(self._calls) == _COUNTED and key not in self._calls:
                self._calls.clear()
            self._calls[key] += 1
            if self._calls[key] == 1:
                return None
            planned = self._planned(args)
            if planned is None:
                self._most = 0
            else:
                self._known[key] = planned
            return planned

    def _planned(self, args: Sequence[Any]) -> Optional[Callable]:
        try:
            with _disable_current_modes():
                return self._plan(
                    with_numbers(self._gm, args), with_known_sizes(args)
                )
        except Exception as error:  # the code for any size can do it
            warn(VARYING, error)
            return None
