# SPDX-License-Identifier: Apache-2.0
"""Kernels that write the same at every call: run once, then left out.

Inductor computes what depends on no input anew at every call: a causal mask for
each layer of GPT-2, the offsets of each embedding bag of DLRM. A kernel of
Triton that reads nothing is such a *constant*, and so is one that reads nothing
but constants. Inductor's random numbers come from a seed that is read, so they
are none; ops of aten may have a state of their own and are never constants.
Results of the graph are computed anew, because the caller may write to them.

Kernels that do the same (the same function, layouts and numbers) share their
values: twelve equal masks take the memory of one. Large constants are computed
anew: they would take for good what a plan needs for a moment.
"""

from __future__ import annotations

import collections
from typing import Any, Dict, List

import torch
from torch.fx import Node

from .trace import Traced, is_triton, storage_of

#: Of one buffer.
_MOST_BYTES = 16 << 20


def find_constants(traced: Traced) -> List[Node]:
    """Kernels whose results depend on no input, in the graph's order."""
    program = traced.program
    writers = collections.Counter(
        b for kernel in program.kernels for b in {a.buffer for a in kernel.writes}
    )
    found: List[Node] = []
    known: set = set()
    for node, kernel in zip(traced.kernels, program.kernels):
        written = {a.buffer for a in kernel.writes}
        if (
            is_triton(node)
            and all(a.buffer in known for a in kernel.reads)
            and written.isdisjoint(program.outputs)
            and all(
                b in traced.allocator_of
                and writers[b] == 1
                and program.buffers[b].bytes <= _MOST_BYTES
                for b in written
            )
        ):
            known |= written
            found.append(node)
    return found


def fold_constants(traced: Traced) -> Traced:
    """The graph without its constants, which are computed here; the same graph
    if there are none."""
    kernels = find_constants(traced)
    if not kernels:
        return traced
    with torch.no_grad():
        values = _compute(traced, kernels)
    if torch.cuda.is_available():
        torch.cuda.synchronize()  # calls may come on other streams
    return traced.without(set(kernels), values)


def bytes_of_constants(traced: Traced) -> int:
    storages = {
        storage_of(value): value.untyped_storage().nbytes()
        for value in traced.constants.values()
    }
    return sum(storages.values())


def _compute(traced: Traced, kernels: List[Node]) -> Dict[Node, Any]:
    """The value of every allocation that these kernels fill."""
    env = traced.inputs([])
    found: Dict[Node, Any] = {}
    #: Of equal kernels: what the first of them has written.
    first_of: Dict[Any, List[int]] = {}
    #: Of each buffer: the one that has its values.
    same: Dict[int, int] = {}
    for node in kernels:
        kernel = traced.program.kernels[traced.kernel_index[node]]
        written = list(dict.fromkeys(a.buffer for a in kernel.writes))
        first = first_of.setdefault(_key(traced, node, same), written)
        same.update(zip(written, first))
        for buffer in written:
            allocator = traced.allocator_of[buffer]
            if same[buffer] != buffer:
                env[allocator] = env[traced.allocator_of[same[buffer]]]
            found[allocator] = traced.value(allocator, env)
        if first is written:
            traced.call(node, env)
    return found


def _key(traced: Traced, node: Node, same: Dict[int, int]) -> Any:
    """Equal for kernels that write the same values in the same layouts."""

    def describe(value: Any) -> Any:
        if not isinstance(value, torch.Tensor):
            return repr(value)
        return (
            same.get(traced.buffer_of(value), "written"),
            value.storage_offset(),
            tuple(value.shape),
            value.stride(),
            value.dtype,
            value.device,
            value.untyped_storage().nbytes(),
        )

    return (node.target, *map(describe, traced.arguments(node)))
