# SPDX-License-Identifier: Apache-2.0
"""Inputs that count calls, such as a position in a cache.

Trials replay a graph thousands of times. Integers that each call updates would
count on, and a position would leave the cache; so each of these replays begins
with the integers that the first call has found (`Starts` in cuda.py). Counters
that nothing else depends on, as those of BatchNorm, may count on.
"""

from __future__ import annotations

from typing import List, Set

from .trace import Traced, has_integers, tensors_of


def find_counters(traced: Traced) -> List[int]:
    """Places of inputs that trials must not change: integers that a kernel
    updates and something else depends on, if by way of other integers."""
    program = traced.program
    integers = {
        buffer
        for node, buffers in traced.buffers_of.items()
        for tensor, buffer in zip(tensors_of(traced.values.get(node)), buffers)
        if has_integers(tensor)
    }
    place_of = {
        buffer: place
        for place, node in enumerate(traced.placeholders)
        if node in traced.written_inputs
        for buffer in traced.buffers_of[node]
        if buffer in integers
    }
    passing = {
        buffer
        for buffer in integers - set(program.outputs)
        if program.buffers[buffer].role == "temporary"
    }
    #: Of each buffer: the counters that its integers depend on.
    within = {buffer: {buffer} for buffer in place_of}
    found: Set[int] = set()
    for kernel in program.kernels:
        read = set().union(*(within.get(a.buffer, ()) for a in kernel.reads))
        for buffer in {a.buffer for a in kernel.writes}:
            if buffer in passing:
                within.setdefault(buffer, set()).update(read)
            else:
                found |= read - {buffer}
    return sorted(place_of[buffer] for buffer in found)
