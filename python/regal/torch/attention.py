# SPDX-License-Identifier: Apache-2.0
"""Attention with dropout, whose random state is on the GPU wherever it runs.

The memory-efficient attention of PyTorch (2.11) returns the state of its dropout
for the backward pass: on the GPU where the forward pass is recorded in a CUDA
graph, otherwise on the host. The backward pass takes a pointer to it for one of
the side on which it runs itself: on the GPU where it is recorded. A plan is
recorded, but its kernels are also measured, and now and then launched, one by
one; and one of the two graphs may be left to Inductor. Taken for a pointer of
the wrong side, the state would end the process.
"""

from __future__ import annotations

import functools
from typing import Any, Callable, Dict, List, Sequence

import torch
from torch.fx import GraphModule, Node

_ATEN = torch.ops.aten
_FORWARD = {
    _ATEN._scaled_dot_product_efficient_attention.default,
    _ATEN._efficient_attention_forward.default,
}
_BACKWARD = {
    _ATEN._scaled_dot_product_efficient_attention_backward.default,
    _ATEN._efficient_attention_backward.default,
}
#: Arguments of the backward pass, and results of the forward pass.
_STATES = ("philox_seed", "philox_offset")


class OnGpu:
    """One of these ops, with its random state on the GPU."""

    def __init__(self, op: Any):
        self.op = op
        self.__name__ = op.__name__
        #: As tracing asks for them (trace.py).
        self._schema, self.tags = op._schema, op.tags
        self._given = _places(op._schema.arguments)
        self._found = _places(op._schema.returns)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        own = list(args)
        for at in self._given:
            own[at] = _where_it_is_read(own[at])
        results = list(self.op(*own, **kwargs))
        for at in self._found:
            results[at] = results[at].to(results[0].device)
        return tuple(results)


def _places(described: Sequence[Any]) -> List[int]:
    return [at for at, x in enumerate(described) if x.name in _STATES]


def _where_it_is_read(state: torch.Tensor) -> torch.Tensor:
    """The state for a backward pass that runs now."""
    if not torch.cuda.is_current_stream_capturing():
        return state.cpu()
    if not state.is_cuda:
        raise RuntimeError("the random state of attention's dropout is on the host")
    return state


#: One for each op: kernels that are the same are measured once.
_on_gpu = functools.lru_cache(maxsize=None)(OnGpu)


def keep_states_on_gpu(gm: GraphModule) -> None:
    """Lets attention with dropout have its state there."""
    found = [
        node
        for node in gm.graph.nodes
        if node.op == "call_function" and _has_state(node)
    ]
    for node in found:
        node.target = _on_gpu(node.target)
    if found:
        gm.recompile()


def _has_state(node: Node) -> bool:
    if node.target not in _FORWARD | _BACKWARD:
        return False
    given = _by_name(node)
    is_trained = node.target in _BACKWARD or given.get("compute_log_sumexp")
    return bool(is_trained and given.get("dropout_p"))


def _by_name(node: Node) -> Dict[str, Any]:
    """Arguments of an op of aten, but for defaults."""
    names = [argument.name for argument in node.target._schema.arguments]
    return {**dict(zip(names, node.args)), **node.kwargs}


def states_among_inputs(gm: GraphModule) -> List[int]:
    """Inputs of a graph of aten's ops that are states: of a backward pass."""
    placeholders = gm.graph.find_nodes(op="placeholder")
    states = {
        _by_name(node)[name]
        for node in gm.graph.nodes
        if node.target in _BACKWARD and _has_state(node)
        for name in _STATES
    }
    return [at for at, node in enumerate(placeholders) if node in states]


def with_states(call: Callable, states: Sequence[int]) -> Callable:
    """Inductor's own code for a backward pass with these inputs, after a forward
    pass that may be planned."""

    def call_where_it_is_read(args: List[Any]) -> Any:
        for at in states:
            args[at] = _where_it_is_read(args[at])
        return call(args)

    call_where_it_is_read._boxed_call = True  # the list is given over
    return call_where_it_is_read
