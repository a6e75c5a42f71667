# SPDX-License-Identifier: Apache-2.0
"""Kernels of a recorded CUDA graph that start before their predecessors end.

An edge of a CUDA graph holds a kernel back until those before it have ended and
what they wrote can be seen; then it is launched, which takes a microsecond or
two. Hopper and later GPUs can launch it while the others still run, if the
kernel itself waits before it touches memory (*programmatic dependent launch*).
Inductor's kernels are given such a wait as their first instruction (inductor.py),
so they may be launched early after any kernel, on any stream: nothing that a
schedule says of memory changes. Kernels of libraries are launched as usual.

Only the edges are changed here, in the graph that was recorded: the same kernels
are launched with and without, and what is faster on the device is kept.
"""

from __future__ import annotations

import ctypes
from typing import Any, Collection, List, Optional, Tuple

from .driver import driver

#: Types of nodes and of edges, and the port at which a kernel says that others
#: may be launched; it has said so at its end at the latest.
_KERNEL_NODE = 0
_PROGRAMMATIC_EDGE = 1
_PROGRAMMATIC_PORT = 1


class _EdgeData(ctypes.Structure):
    _fields_ = [
        ("from_port", ctypes.c_ubyte),
        ("to_port", ctypes.c_ubyte),
        ("type", ctypes.c_ubyte),
        ("reserved", ctypes.c_ubyte * 5),
    ]


class _KernelParameters(ctypes.Structure):
    _fields_ = [
        ("function", ctypes.c_void_p),
        ("grid", ctypes.c_uint * 3),
        ("block", ctypes.c_uint * 3),
        ("shared_bytes", ctypes.c_uint),
        ("parameters", ctypes.c_void_p),
        ("extra", ctypes.c_void_p),
        ("kernel", ctypes.c_void_p),
        ("context", ctypes.c_void_p),
    ]


def launch_early(graph: int, names: Collection[str]) -> int:
    """Lets kernels with these names be launched while those run that they
    follow. Returns how many edges have changed.

    :param graph: a ``cudaGraph_t`` that has not been instantiated.
    """
    handle = ctypes.c_void_p(graph)
    edges = _edges(handle)
    waiting = {n for n in {after for _, after in edges} if _name_of(n) in names}
    chosen = [
        (before, after)
        for before, after in edges
        if after in waiting and _is_kernel(before)
    ]
    if chosen:
        before, after = (_handles(nodes) for nodes in zip(*chosen))
        count = ctypes.c_size_t(len(chosen))
        usual = (_EdgeData * len(chosen))()
        early = (_EdgeData * len(chosen))()
        for edge in early:
            edge.type, edge.from_port = _PROGRAMMATIC_EDGE, _PROGRAMMATIC_PORT
        driver("cuGraphRemoveDependencies_v2", handle, before, after, usual, count)
        driver("cuGraphAddDependencies_v2", handle, before, after, early, count)
    return len(chosen)


def _handles(nodes: Collection[int]) -> Any:
    return (ctypes.c_void_p * len(nodes))(*nodes)


def _edges(graph: ctypes.c_void_p) -> List[Tuple[int, int]]:
    """Those that are as usual."""
    count = ctypes.c_size_t()
    driver("cuGraphGetEdges_v2", graph, None, None, None, ctypes.byref(count))
    before, after = (_handles([0] * count.value) for _ in range(2))
    data = (_EdgeData * count.value)()
    driver(
        "cuGraphGetEdges_v2", graph, before, after, data, ctypes.byref(count)
    )
    return [
        (a, b)
        for a, b, edge in zip(before, after, data)
        if edge.type == edge.from_port == edge.to_port == 0
    ]


def _is_kernel(node: int) -> bool:
    kind = ctypes.c_int()
    driver("cuGraphNodeGetType", ctypes.c_void_p(node), ctypes.byref(kind))
    return kind.value == _KERNEL_NODE


def _name_of(node: int) -> Optional[str]:
    """Of a kernel that was launched as a function, as Triton's are."""
    if not _is_kernel(node):
        return None
    found = _KernelParameters()
    driver(
        "cuGraphKernelNodeGetParams_v2",
        ctypes.c_void_p(node),
        ctypes.byref(found),
    )
    if not found.function:
        return None
    name = ctypes.c_char_p()
    driver(
        "cuFuncGetName", ctypes.byref(name), ctypes.c_void_p(found.function)
    )
    return name.value.decode() if name.value else None
