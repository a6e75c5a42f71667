# SPDX-License-Identifier: Apache-2.0
"""How long each kernel takes, alone on its device.

On a GPU a kernel is captured some times in a row into a CUDA graph, which is
replayed between two events: this includes the gap between two kernels of one
stream, as a plan has it, and nothing of the host. Kernels that are the same
(the same function, the same layouts and scalars) are measured once; those that
have several configurations keep the one that is the fastest so. On a CPU the
best of a few calls counts.

Kernels run on the tensors that the program itself made. Memory is released as
the program's own order allows. A kernel that accumulates changes what later
kernels read; only times matter here. But integers may be indices, which must not
grow beyond what they point into: kernels that change some in place are measured
on copies.
"""

from __future__ import annotations

import functools
import time
from typing import Any, Callable, Dict, Optional, Sequence

import torch
from torch.fx import Node

from ..streams.schedule import one_stream
from .cuda import RECORDING, Workshop, drawing
from .slots import copy_of
from .trace import Traced, has_integers

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


def _time_on_gpu(workshop: Workshop, call: Callable) -> float:
    """Nanoseconds of one call, launched many times from a CUDA graph."""
    with RECORDING:
        return _time_on_lane(workshop, workshop.lanes.plain(0), call)


def _time_on_lane(
    workshop: Workshop, stream: torch.cuda.Stream, call: Callable
) -> float:
    stream.wait_stream(torch.cuda.current_stream())  # for what it reads
    with torch.cuda.stream(stream):
        call()
        begin = torch.cuda.Event(enable_timing=True)
        end = torch.cuda.Event(enable_timing=True)
        graph = torch.cuda.CUDAGraph()
        with workshop.recording(graph, stream):
            keep = [call() for _ in range(_IN_A_ROW)]
        best = float("inf")
        for _ in range(_REPLAYS):
            graph.replay()  # while it runs, the host launches the next one
            begin.record(stream)
            graph.replay()
            end.record(stream)
            end.synchronize()
            best = min(best, begin.elapsed_time(end) * 1e6 / _IN_A_ROW)
        del keep
    return best


def _time_on_cpu(call: Callable, rounds: int = 5) -> float:
    best = float("inf")
    for _ in range(rounds):
        begin = time.perf_counter_ns()
        call()
        best = min(best, time.perf_counter_ns() - begin)
    return best


def measure(
    traced: Traced, args: Sequence[Any], workshop: Optional[Workshop] = None
) -> None:
    """Sets `run_ns` of the program's kernels."""
    known: Dict[Any, float] = {}
    env = traced.inputs(list(args))
    if workshop is None and torch.cuda.is_available():
        workshop = Workshop()
    with torch.no_grad():
        for launch in one_stream(traced.program).launches:
            node = traced.kernels[launch.kernel]
            traced.release(launch.releases, env)
            ns = _measure_one(traced, node, env, known, workshop)
            traced.program.kernels[launch.kernel].run_ns = max(1, round(ns))
            with drawing(traced.draws):
                traced.step(node, env)
    if workshop is not None:
        torch.cuda.synchronize()


def _without_counts(traced, node: Node, env) -> Any:
    """The kernel's arguments; of integers that it changes in place, copies."""
    kernel = traced.program.kernels[traced.kernel_index[node]]
    changed = {a.buffer for a in kernel.reads} & {a.buffer for a in kernel.writes}

    def value_of(n: Node) -> Any:
        value = traced.value(n, env)
        is_changed = changed.intersection(traced.buffers_of[n])
        if is_changed and isinstance(value, torch.Tensor) and has_integers(value):
            return copy_of(value)
        return value

    return torch.fx.map_arg((node.args, dict(node.kwargs)), value_of)


def _measure_one(traced, node: Node, env, known, workshop) -> float:
    args, kwargs = torch.fx.map_arg(
        (node.args, dict(node.kwargs)), lambda n: traced.value(n, env)
    )
    key = (id(node.target), _description(args), _description(kwargs))
    if key not in known:
        args, kwargs = _without_counts(traced, node, env)
        on_gpu = any(
            t.is_cuda for t in torch.utils._pytree.tree_leaves((args, kwargs))
            if isinstance(t, torch.Tensor)
        )
        time_ns = (
            functools.partial(_time_on_gpu, workshop) if on_gpu else _time_on_cpu
        )
        if hasattr(node.target, "tune"):
            node.target.tune(args, time_ns)
        known[key] = time_ns(lambda: node.target(*args, **kwargs))
    return known[key]
