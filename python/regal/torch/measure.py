# SPDX-License-Identifier: Apache-2.0
"""How long each kernel takes, alone on its device.

On a GPU a kernel is captured some times in a row into a CUDA graph, which is
replayed between two events: this includes the gap between two kernels of one
stream, as a plan has it, and nothing of the host. Kernels that are the same
(the same function, the same layouts and scalars) are measured once. On a CPU
the best of a few calls counts.

Kernels run on the tensors that the program itself made. Memory is released as
the program's own order allows. A kernel that accumulates changes what later
kernels read; only times matter here.
"""

from __future__ import annotations

import time
from typing import Any, Dict, Sequence

import torch
from torch.fx import Node

from ..streams.schedule import one_stream
from .cuda import Workshop
from .trace import Traced

_IN_A_ROW = 6
_REPLAYS = 3


def _description(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return (tuple(value.shape), value.stride(), value.dtype, value.device)
    if isinstance(value, (list, tuple)):
        return tuple(_description(v) for v in value)
    if isinstance(value, dict):
        return tuple((k, _description(v)) for k, v in sorted(value.items()))
    return repr(value)


def _time_on_gpu(call, workshop: Workshop) -> float:
    """Nanoseconds of one call, launched many times from a CUDA graph."""
    stream = workshop.lanes.plain(0)
    with torch.cuda.stream(stream):
        call()
        begin = torch.cuda.Event(enable_timing=True)
        end = torch.cuda.Event(enable_timing=True)
        graph = torch.cuda.CUDAGraph()
        with workshop.recording(graph, stream):
            keep = [call() for _ in range(_IN_A_ROW)]
        graph.replay()
        best = float("inf")
        for _ in range(_REPLAYS):
            begin.record(stream)
            graph.replay()
            end.record(stream)
            end.synchronize()
            best = min(best, begin.elapsed_time(end) * 1e6 / _IN_A_ROW)
        del keep
    return best


def _time_on_cpu(call, rounds: int = 5) -> float:
    best = float("inf")
    for _ in range(rounds):
        begin = time.perf_counter_ns()
        call()
        best = min(best, time.perf_counter_ns() - begin)
    return best


def measure(traced: Traced, args: Sequence[Any]) -> None:
    """Sets `run_ns` of the program's kernels."""
    known: Dict[Any, float] = {}
    env = traced.inputs(list(args))
    workshop = Workshop() if torch.cuda.is_available() else None
    with torch.no_grad():
        for launch in one_stream(traced.program).launches:
            node = traced.kernels[launch.kernel]
            traced.release(launch.releases, env)
            ns = _measure_one(traced, node, env, known, workshop)
            traced.program.kernels[launch.kernel].run_ns = max(1, round(ns))
            traced.step(node, env)
    if workshop is not None:
        torch.cuda.synchronize()


def _measure_one(traced, node: Node, env, known, workshop) -> float:
    args, kwargs = torch.fx.map_arg(
        (node.args, dict(node.kwargs)), lambda n: traced.value(n, env)
    )
    key = (id(node.target), _description(args), _description(kwargs))
    if key not in known:
        def call():
            return node.target(*args, **kwargs)

        on_gpu = any(
            t.is_cuda for t in torch.utils._pytree.tree_leaves((args, kwargs))
            if isinstance(t, torch.Tensor)
        )
        known[key] = _time_on_gpu(call, workshop) if on_gpu else _time_on_cpu(call)
    return known[key]
